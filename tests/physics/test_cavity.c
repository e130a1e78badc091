/* SPDX-License-Identifier: Apache-2.0 */
/* The sliding lid at a size that takes a second; test_cavity_slow.c has the sizes of the gates. */
#include "flow_case.h"

#include <math.h>

static void ghia_re100_on_64_cells(void **state)
{
  (void)state;
  flow_case made = flow_case_run("cavity2d.yaml", OVERRIDES("domain.cells=[64, 64]"));
  assert_int_equal(made.result->reference_count, 3);
  assert_true(made.result->is_steady);
  for (size_t i = 0; i < 2; i++)
    assert_true(made.result->references[i].max_error <= 0.012);
  flow_case_end(&made);
}

/* A link that crosses two walls counts as at rest: else the lid's corners leak (lbm-spec section 5). */
static void a_closed_cavity_keeps_its_mass(void **state)
{
  (void)state;
  static const char *const COLLISIONS[] = {"collision=bgk", "collision=cumulant"};
  for (size_t i = 0; i < LMI_COUNT(COLLISIONS); i++) {
    flow_case made = flow_case_run(
      "cavity2d.yaml", OVERRIDES("domain.cells=[24, 24]", "run={steps: 10000}", "output=null", COLLISIONS[i]));
    print_message("drift %.2e\n", made.result->mass_drift);
    assert_true(fabs(made.result->mass_drift) < 1e-12);
    flow_case_end(&made);
  }
}

static void a_cube_keeps_its_mass(void **state)
{
  (void)state;
  flow_case made =
    flow_case_run("cavity3d.yaml", OVERRIDES("domain.cells=[16, 16, 16]", "run={steps: 2000}", "output=null",
                                             "precision=f64", "fluid.reynolds=100", "checkpoint=null"));
  assert_true(fabs(made.result->mass_drift) < 1e-12);
  flow_case_end(&made);
}

/* users.md K1-18: one cell thick in a three-dimensional lattice, everything periodic: nothing drains, nothing slows. */
static void one_cell_thick_keeps_mass_and_momentum(void **state)
{
  (void)state;
  const char *const overrides[] = {"lattice=d3q19",
                                   "collision=bgk",
                                   "domain.cells=[64, 64, 1]",
                                   "run={steps: 1000}",
                                   "initial={kind: uniform, velocity: [1, 0, 0.6]}",
                                   "lattice_speed=0.05",
                                   "relaxation_time=null",
                                   "output=[{series: [momentum], every: 1000 steps}]",
                                   NULL};
  flow_case made = flow_case_run("taylor_green_2d.yaml", overrides);
  const double speed = sqrt(1.0 + 0.36);
  assert_true(fabs(made.result->mass_drift) < 1e-13);
  assert_true(fabs(made.result->max_speed - speed) < 1e-12);
  flow_case_end(&made);
}

/* users.md K1-17: eight cells between walls are a height of eight, not seven or nine. F H^2 / (8 nu) with F = 1e-5, nu
 * = 1/6. */
static void eight_cells_are_a_height_of_eight(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  lamina_solver *solver = NULL;
  lamina_context_options context_options = lamina_context_options_default();
  context_options.threads = 1;
  assert_int_equal(lamina_context_create(&context_options, &ctx), LAMINA_OK);
  lamina_solver_options options = lamina_solver_options_default();
  options.cells = (lamina_int3){4, 8, 1};
  options.lattice = LAMINA_D2Q9;
  options.precision = LAMINA_F64;
  options.omega = 1.0;
  options.force.x = 1e-5;
  options.faces[LAMINA_FACE_Y_LOW].kind = options.faces[LAMINA_FACE_Y_HIGH].kind = LAMINA_FACE_WALL;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
  assert_int_equal(lamina_solver_run(solver, 5000), LAMINA_OK);
  double u[8] = {0};
  const lamina_fields fields = {.velocity = {u, NULL, NULL}};
  assert_int_equal(lamina_solver_read(solver, (lamina_box){{1, 0, 0}, {1, 8, 1}}, &fields), LAMINA_OK);
  /* 4.750e-4 at the two middle nodes: 4.725e-4 of the parabola and the slip of BGK at tau = 1. */
  assert_true(fabs(u[3] - 4.75e-4) < 1e-9);
  assert_true(fabs(u[4] - u[3]) < 1e-15);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(ghia_re100_on_64_cells), cmocka_unit_test(a_closed_cavity_keeps_its_mass),
              cmocka_unit_test(a_cube_keeps_its_mass), cmocka_unit_test(one_cell_thick_keeps_mass_and_momentum),
              cmocka_unit_test(eight_cells_are_a_height_of_eight))
