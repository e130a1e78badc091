/* SPDX-License-Identifier: Apache-2.0 */
/* Flows with a closed form, through the shipped cases. Gates are what the scheme must give, not what it gave yesterday.
 */
#include "flow_case.h"

#include <math.h>

/* Half-way walls and the magic parameter 3/16: exact at any relaxation time (lbm-spec 8.4). */
static void trt_channel_is_exact_at_any_tau(void **state)
{
  (void)state;
  static const char *const TAUS[] = {"relaxation_time=0.6", "relaxation_time=0.9", "relaxation_time=1.2"};
  for (size_t i = 0; i < LMI_COUNT(TAUS); i++) {
    const double error =
      flow_case_error("poiseuille.yaml", OVERRIDES(TAUS[i], "fluid.speed=2e-4", "run.steps=40000"), "poiseuille");
    assert_true(error < 1e-11);
  }
}

static void trt_channel_is_exact_on_three_cells(void **state)
{
  (void)state;
  assert_true(
    flow_case_error("poiseuille.yaml",
                    OVERRIDES("domain.cells=[2, 3]", "domain.length=6.6666666666666667 mm", "fluid.speed=2e-4"),
                    "poiseuille") < 1e-12);
}

/* u_s = (g / 2 nu)(4 magic / 3 - 1/4) to six digits, for both collisions and lattices. */
static void bgk_slips_by_the_formula(void **state)
{
  (void)state;
  assert_true(flow_case_error("poiseuille-bgk.yaml", NULL, "poiseuille_slip") < 1e-6);
  assert_true(flow_case_error("poiseuille-bgk.yaml", OVERRIDES("relaxation_time=1.3", "fluid.speed=1e-4"),
                              "poiseuille_slip") < 1e-6);
  assert_true(flow_case_error("poiseuille-bgk.yaml", OVERRIDES("collision=trt", "magic=0.25"), "poiseuille_slip") <
              1e-6);
}

/* The slip is there: without it the same flow is off by 0.5 %, so the formula above is not satisfied by chance. */
static void bgk_without_the_slip_is_off(void **state)
{
  (void)state;
  const double error =
    flow_case_error("poiseuille-bgk.yaml",
                    OVERRIDES("output.1.compare=poiseuille", "relaxation_time=1", "fluid.speed=2e-4"), "poiseuille");
  assert_true(error > 0.004 && error < 0.007);
}

static void three_dimensional_channels_are_exact(void **state)
{
  (void)state;
  static const char *const LATTICES[] = {"lattice=d3q19", "lattice=d3q27"};
  for (size_t i = 0; i < LMI_COUNT(LATTICES); i++) {
    const char *const overrides[] = {LATTICES[i],
                                     "domain.cells=[2, 8, 3]",
                                     "domain.length=2.5 mm",
                                     "boundaries.z-=periodic",
                                     "boundaries.z+=periodic",
                                     "fluid.speed=2e-4",
                                     "output.0=null",
                                     "output.0.compare=poiseuille",
                                     "run.steps=5000",
                                     NULL};
    assert_true(flow_case_error("poiseuille.yaml", overrides, "poiseuille") < 1e-11);
  }
}

static void couette_is_a_straight_line(void **state)
{
  (void)state;
  assert_true(flow_case_error("couette.yaml", NULL, "couette") < 1e-11);
  assert_true(flow_case_error("couette.yaml", OVERRIDES("collision=trt"), "couette") < 1e-11);
  assert_true(flow_case_error("couette.yaml", OVERRIDES("boundaries.y-={moving_wall: [-5e-4, 0]}"), "couette") < 1e-11);
}

/* A wall that lags one step is off by 2 pi / 2010 = 3.1e-3 in phase. */
static void an_oscillating_wall_keeps_its_phase(void **state)
{
  (void)state;
  assert_true(flow_case_error("stokes2.yaml", NULL, "stokes2") < 5e-4);
}

static void duct_agrees_with_the_series(void **state)
{
  (void)state;
  const double coarse = flow_case_error(
    "duct.yaml", OVERRIDES("domain.cells=[2, 8, 8]", "domain.length=2.5 mm", "run.steps=2000", "fluid.speed=2e-4"),
    "duct");
  const double fine = flow_case_error(
    "duct.yaml", OVERRIDES("domain.cells=[2, 16, 16]", "domain.length=1.25 mm", "run.steps=8000", "fluid.speed=2e-4"),
    "duct");
  print_message("order %.3f\n", log2(coarse / fine));
  assert_true(fine < 2e-3);
  assert_true(log2(coarse / fine) > 1.8);
}

static double taylor_green_error(const char *cells, const char *collision)
{
  return flow_case_error("taylor_green_2d.yaml", OVERRIDES(cells, collision, "output.3=null"), "taylor_green");
}

/* Diffusive scaling: the relaxation time stays, speed and error fall with the cells. */
static void taylor_green_converges_with_order_two(void **state)
{
  (void)state;
  static const char *const COLLISIONS[] = {"collision=trt", "collision=cumulant", "collision=regularized"};
  for (size_t i = 0; i < LMI_COUNT(COLLISIONS); i++) {
    const double coarse = taylor_green_error("domain.cells=[32, 32]", COLLISIONS[i]);
    const double middle = taylor_green_error("domain.cells=[64, 64]", COLLISIONS[i]);
    const double fine = taylor_green_error("domain.cells=[128, 128]", COLLISIONS[i]);
    print_message("%s: orders %.3f and %.3f\n", COLLISIONS[i], log2(coarse / middle), log2(middle / fine));
    assert_true(log2(coarse / middle) > 1.9);
    assert_true(log2(middle / fine) > 1.9);
  }
}

/* The same by the case's own entry: how far the order stays below two. */
static void the_case_measures_its_order(void **state)
{
  (void)state;
  assert_true(flow_case_error("taylor_green_2d.yaml", NULL, "taylor_green-order") < 0.1);
}

/* lbm-spec 1.7: viscosity of a shear wave carried across itself. */
static void cumulant_does_not_see_the_mean_flow(void **state)
{
  (void)state;
  assert_true(flow_case_error("galilean.yaml", NULL, "shear_wave") < 0.006);
  assert_true(flow_case_error("galilean.yaml",
                              OVERRIDES("lattice=d3q27", "domain.cells=[24, 3, 3]", "initial.velocity=[1, 0, 0]"),
                              "shear_wave") < 0.006);
}

static void bgk_sees_the_mean_flow(void **state)
{
  (void)state;
  const double error = flow_case_error("galilean.yaml", OVERRIDES("collision=bgk"), "shear_wave");
  assert_true(error > 0.10 && error < 0.14);
}

LMI_TEST_MAIN(cmocka_unit_test(trt_channel_is_exact_at_any_tau), cmocka_unit_test(trt_channel_is_exact_on_three_cells),
              cmocka_unit_test(bgk_slips_by_the_formula), cmocka_unit_test(bgk_without_the_slip_is_off),
              cmocka_unit_test(three_dimensional_channels_are_exact), cmocka_unit_test(couette_is_a_straight_line),
              cmocka_unit_test(an_oscillating_wall_keeps_its_phase), cmocka_unit_test(duct_agrees_with_the_series),
              cmocka_unit_test(taylor_green_converges_with_order_two), cmocka_unit_test(the_case_measures_its_order),
              cmocka_unit_test(cumulant_does_not_see_the_mean_flow), cmocka_unit_test(bgk_sees_the_mean_flow))
