/* SPDX-License-Identifier: Apache-2.0 */
/* The published comparisons at the sizes of their gates: minutes. */
#include "flow_case.h"

#include <math.h>

static void expect_all_passed(const char *name, const char *const *overrides)
{
  flow_case made = flow_case_run(name, overrides);
  assert_true(made.result->reference_count > 0);
  for (size_t i = 0; i < made.result->reference_count; i++)
    assert_true(made.result->references[i].passed);
  flow_case_end(&made);
}

static void ghia_re100_on_128_cells(void **state)
{
  (void)state;
  expect_all_passed("cavity2d.yaml", NULL);
}

static void ghia_re400_on_128_cells(void **state)
{
  (void)state;
  expect_all_passed("cavity2d.yaml", OVERRIDES("fluid.reynolds=400"));
}

static void ghia_and_botella_re1000_on_128_cells(void **state)
{
  (void)state;
  expect_all_passed("cavity2d-re1000.yaml", NULL);
}

static void a_closed_cavity_keeps_its_mass_for_long(void **state)
{
  (void)state;
  flow_case made =
    flow_case_run("cavity2d.yaml", OVERRIDES("domain.cells=[32, 32]", "run={steps: 100000}", "output=null"));
  print_message("drift %.2e\n", made.result->mass_drift);
  assert_true(fabs(made.result->mass_drift) < 1e-12);
  flow_case_end(&made);
}

/* Halving the lattice speed at the same Reynolds number quarters the compressibility error (lbm-spec 10). */
static void the_mach_error_falls_with_the_square(void **state)
{
  (void)state;
  static const char *const SPEEDS[] = {"lattice_speed=0.16", "lattice_speed=0.08", "lattice_speed=0.01"};
  double energy[3];
  for (size_t i = 0; i < 3; i++) {
    flow_case made =
      flow_case_run("cavity2d.yaml", OVERRIDES("domain.cells=[32, 32]", SPEEDS[i], "run={until: 20 s}", "output=null"));
    energy[i] = made.result->max_speed;
    flow_case_end(&made);
  }
  const double ratio = (energy[0] - energy[2]) / (energy[1] - energy[2]);
  print_message("ratio %.3f\n", ratio);
  assert_true(ratio > 3.2 && ratio < 4.8);
}

LMI_TEST_MAIN(cmocka_unit_test(ghia_re100_on_128_cells), cmocka_unit_test(ghia_re400_on_128_cells),
              cmocka_unit_test(ghia_and_botella_re1000_on_128_cells),
              cmocka_unit_test(a_closed_cavity_keeps_its_mass_for_long),
              cmocka_unit_test(the_mach_error_falls_with_the_square))
