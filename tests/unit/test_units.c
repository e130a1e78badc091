/* SPDX-License-Identifier: Apache-2.0 */
/* SI and lattice units (lbm-spec 1.10), numbers with units, and the judgement on speed and relaxation time. */
#include "support/test.h"

#include <math.h>

#include "flow/units.h"
#include "io/case_quantity.h"

static lmi_units_input cavity(double reynolds, double lattice_speed)
{
  return (lmi_units_input){.cells_x = 100,
                           .length = 2.0,
                           .reference_length = 2.0,
                           .speed = 3.0,
                           .fastest = 3.0,
                           .density = 1.2,
                           .reynolds = reynolds,
                           .lattice_speed = lattice_speed};
}

/* By hand: dx = 0.02 m, dt = dx 0.1 / 3 = 6.6667e-4 s, viscosity = 3 2 / 100 = 0.06 m2/s = 0.1 in the lattice, tau =
 * 0.8. */
static void conversion_agrees_with_the_hand(void **state)
{
  (void)state;
  const lmi_units_input input = cavity(100, 0.1);
  const lamina_units u = lmi_units_make(&input);
  assert_true(fabs(u.cell_size - 0.02) < 1e-15);
  assert_true(fabs(u.time_step - 0.02 / 30.0) < 1e-15);
  assert_true(fabs(u.viscosity - 0.06) < 1e-15);
  assert_true(fabs(u.lattice_viscosity - 0.1) < 1e-14);
  assert_true(fabs(u.tau - 0.8) < 1e-14);
  assert_true(fabs(u.velocity_unit - 30.0) < 1e-12);
  assert_true(fabs(u.pressure_unit - 1.2 * 900.0) < 1e-9);
  assert_true(fabs(u.mach - 0.1 * sqrt(3.0)) < 1e-14);
}

static void a_given_tau_decides_the_time_step(void **state)
{
  (void)state;
  lmi_units_input input = cavity(100, 0);
  input.tau = 0.65;
  const lamina_units u = lmi_units_make(&input);
  assert_true(u.tau == 0.65);
  assert_true(fabs(u.lattice_speed - 0.05 * 100 / 100) < 1e-14);
  assert_true(fabs(u.viscosity * u.time_step / (u.cell_size * u.cell_size) - 0.05) < 1e-14);
}

/* Slow viscous flows get a lattice speed that keeps tau at 1. */
static void the_default_speed_keeps_tau_moderate(void **state)
{
  (void)state;
  const lmi_units_input fast = cavity(1000, 0), slow = cavity(20, 0);
  assert_true(fabs(lmi_units_make(&fast).lattice_speed - 0.1) < 1e-15);
  assert_true(fabs(lmi_units_make(&slow).tau - 1.0) < 1e-12);
}

static size_t judge(double reynolds, double lattice_speed, lamina_collision collision, lmi_finding *findings)
{
  const lmi_units_input input = cavity(reynolds, lattice_speed);
  const lamina_units units = lmi_units_make(&input);
  lamina_solver_options options = lamina_solver_options_default();
  options.collision = collision;
  return lmi_units_judge(&units, &input, &options, findings);
}

/* users.md K1-16: speed 1 and viscosity 0.001 in the lattice, Re 1e5: Mach 1.7, tau 0.503. */
static void a_lid_at_mach_1_7_is_refused_with_the_number_to_change(void **state)
{
  (void)state;
  lmi_finding findings[LMI_MAX_FINDINGS];
  const size_t count = judge(1e5, 1.0, LAMINA_BGK, findings);
  assert_true(count >= 1);
  assert_true(findings[0].is_refused);
  assert_non_null(strstr(findings[0].text, "Mach 1.73"));
  assert_non_null(strstr(findings[0].text, "tau 0.503"));
  assert_non_null(strstr(findings[0].text, "lower lattice_speed from 1 to"));
}

static void a_small_tau_is_warned_about_by_collision(void **state)
{
  (void)state;
  lmi_finding findings[LMI_MAX_FINDINGS];
  assert_int_equal(judge(1e4, 0.05, LAMINA_BGK, findings), 1);
  assert_int_equal(findings[0].judgement, LMI_TAU_LOW);
  assert_false(findings[0].is_refused);
  assert_non_null(strstr(findings[0].text, "take 400 cells"));
  assert_int_equal(judge(1e4, 0.05, LAMINA_CUMULANT, findings), 0);
}

static void what_the_precision_cannot_hold_is_refused(void **state)
{
  (void)state;
  lmi_finding findings[LMI_MAX_FINDINGS];
  assert_true(judge(1e10, 0.05, LAMINA_CUMULANT, findings) >= 1);
  assert_int_equal(findings[0].judgement, LMI_TAU_UNREPRESENTABLE);
  assert_true(findings[0].is_refused);
}

static void moderate_numbers_pass_without_a_word(void **state)
{
  (void)state;
  lmi_finding findings[LMI_MAX_FINDINGS];
  assert_int_equal(judge(100, 0.1, LAMINA_BGK, findings), 0);
}

static void quantities_with_units_are_read(void **state)
{
  (void)state;
  const struct {
    const char *text;
    lmi_dimension dimension;
    double value;
  } good[] = {
    {"10 s", LMI_DIMENSION_TIME, 10},
    {"20 ms", LMI_DIMENSION_TIME, 0.02},
    {"20ms", LMI_DIMENSION_TIME, 0.02},
    {"1 h", LMI_DIMENSION_TIME, 3600},
    {"5 mm", LMI_DIMENSION_LENGTH, 0.005},
    {"1e-6 m2/s", LMI_DIMENSION_VISCOSITY, 1e-6},
    {"36 km/h", LMI_DIMENSION_SPEED, 10},
    {"-2.5e3", LMI_DIMENSION_NONE, -2500},
    {"1 g/cm3", LMI_DIMENSION_DENSITY, 1000},
    {"+.5", LMI_DIMENSION_NONE, 0.5},
    {"9.81 m/s2", LMI_DIMENSION_ACCELERATION, 9.81},
  };
  for (size_t i = 0; i < LMI_COUNT(good); i++) {
    double value = 0;
    assert_int_equal(lmi_quantity_parse(good[i].text, good[i].dimension, &value), LMI_QUANTITY_OK);
    assert_true(fabs(value - good[i].value) <= 1e-15 * fabs(good[i].value));
  }
}

static void bad_quantities_are_told_apart(void **state)
{
  (void)state;
  const struct {
    const char *text;
    lmi_dimension dimension;
    lmi_quantity_fault fault;
  } bad[] = {
    {"", LMI_DIMENSION_NONE, LMI_QUANTITY_NOT_A_NUMBER},
    {"abc", LMI_DIMENSION_TIME, LMI_QUANTITY_NOT_A_NUMBER},
    {"1,5", LMI_DIMENSION_NONE, LMI_QUANTITY_NOT_A_NUMBER},
    {"1.2.3", LMI_DIMENSION_NONE, LMI_QUANTITY_NOT_A_NUMBER},
    {"--1", LMI_DIMENSION_NONE, LMI_QUANTITY_NOT_A_NUMBER},
    {".nan", LMI_DIMENSION_NONE, LMI_QUANTITY_NOT_FINITE},
    {"-inf", LMI_DIMENSION_NONE, LMI_QUANTITY_NOT_FINITE},
    {"1e400", LMI_DIMENSION_NONE, LMI_QUANTITY_NOT_FINITE},
    {"1e308 h", LMI_DIMENSION_TIME, LMI_QUANTITY_NOT_FINITE},
    {"10 parsec", LMI_DIMENSION_LENGTH, LMI_QUANTITY_UNKNOWN_UNIT},
    {"10 s", LMI_DIMENSION_LENGTH, LMI_QUANTITY_UNKNOWN_UNIT},
    {"3 m", LMI_DIMENSION_NONE, LMI_QUANTITY_UNKNOWN_UNIT},
    {"0x10", LMI_DIMENSION_NONE, LMI_QUANTITY_UNKNOWN_UNIT},
  };
  for (size_t i = 0; i < LMI_COUNT(bad); i++) {
    double value = 0;
    assert_int_equal(lmi_quantity_parse(bad[i].text, bad[i].dimension, &value), bad[i].fault);
  }
}

LMI_TEST_MAIN(cmocka_unit_test(conversion_agrees_with_the_hand), cmocka_unit_test(a_given_tau_decides_the_time_step),
              cmocka_unit_test(the_default_speed_keeps_tau_moderate),
              cmocka_unit_test(a_lid_at_mach_1_7_is_refused_with_the_number_to_change),
              cmocka_unit_test(a_small_tau_is_warned_about_by_collision),
              cmocka_unit_test(what_the_precision_cannot_hold_is_refused),
              cmocka_unit_test(moderate_numbers_pass_without_a_word), cmocka_unit_test(quantities_with_units_are_read),
              cmocka_unit_test(bad_quantities_are_told_apart))
