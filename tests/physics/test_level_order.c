/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the scheme at jumps between levels: Taylor-Green vortices with a refined region, flows along walls that
 * jumps run into. Errors are taken at the centre of each leaf and weighed by its volume. */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include <lamina/lamina.h>

#include "flow/initial_state.h"
#include "unit/level_setup.h"

static const double PI = 3.14159265358979323846;

typedef struct setting {
  lamina_solver_options options;
  level_shape shape;
  lamina_refinement refinement;
  double coarse_viscosity;
} setting;

static bool shape_mask(void *user, int level, lamina_real3 low, lamina_real3 high)
{
  const setting *s = user;
  const lamina_int3 n = s->options.cells;
  const double p[3] = {0.5 * (low.x + high.x) / (double)n.x, 0.5 * (low.y + high.y) / (double)n.y,
                       0.5 * (low.z + high.z) / (double)n.z};
  if (s->shape == SHAPE_STRIPE) { /* across x: its jumps run into the walls of y */
    const double turned[3] = {p[1], p[0], p[2]};
    return level_shape_refines(s->shape, level, 2, turned);
  }
  return level_shape_refines(s->shape, level, lamina_lattice_dimension(s->options.lattice), p);
}

/* `coarse` cells of the coarsest level along each axis; omega and everything else are of the finest. */
static void make_setting(lamina_lattice lattice, level_shape shape, int levels, lamina_index coarse, setting *s)
{
  const lamina_index n = coarse << (levels - 1);
  *s = (setting){.options = lamina_solver_options_default(), .shape = shape, .coarse_viscosity = 1.0 / 30.0};
  s->options.lattice = lattice;
  s->options.precision = LAMINA_F64;
  s->options.cells = (lamina_int3){n, n, lamina_lattice_dimension(lattice) == 3 ? n : 1};
  s->options.omega = 1.0 / (0.5 + 3.0 * s->coarse_viscosity * (double)(1 << (levels - 1)));
  s->options.grid = LAMINA_GRID_LEVELS;
  s->options.levels = levels;
  s->refinement = (lamina_refinement){.kind = LAMINA_REFINE_MASK, .mask = shape_mask, .user = s};
  s->options.refinements = &s->refinement;
  s->options.refinement_count = 1;
}

/* What the flow should be at a place, in finest cells, after some steps of the coarsest level. */
typedef void exact_velocity(const setting *s, double coarse_steps, const double at[3], double velocity[2]);

typedef struct fields {
  double *density, *velocity[3];
  uint8_t *levels;
} fields;

static fields read_all(const lamina_solver *solver, lamina_int3 n)
{
  const size_t cells = (size_t)(n.x * n.y * n.z);
  fields f = {malloc(cells * sizeof(double)), {NULL, NULL, NULL}, malloc(cells)};
  for (int a = 0; a < 3; a++)
    f.velocity[a] = malloc(cells * sizeof(double));
  const lamina_fields wanted = {f.density, {f.velocity[0], f.velocity[1], f.velocity[2]}};
  assert_int_equal(lamina_solver_read(solver, (lamina_box){{0, 0, 0}, n}, &wanted), LAMINA_OK);
  assert_int_equal(lamina_solver_read_levels(solver, (lamina_int3){0, 0, 0}, n, f.levels), LAMINA_OK);
  return f;
}

static void free_fields(fields *f)
{
  free(f->density);
  free(f->levels);
  for (int a = 0; a < 3; a++)
    free(f->velocity[a]);
}

/* The mean of a velocity component over the finest cells of the leaf whose lowest one is at `place`: what the leaf has
 * at its centre, since coarse cells are read as linear functions. */
static double leaf_mean(const double *values, lamina_int3 n, const lamina_index place[3], lamina_index length)
{
  const lamina_index depth = n.z == 1 ? 1 : length;
  double sum = 0.0;
  for (lamina_index z = place[2]; z < place[2] + depth; z++)
    for (lamina_index y = place[1]; y < place[1] + length; y++)
      for (lamina_index x = place[0]; x < place[0] + length; x++)
        sum += values[(z * n.y + y) * n.x + x];
  return sum / (double)(length * length * depth);
}

/* Relative L2 norm of the error of the velocity. */
static double error_of(const lamina_solver *solver, const setting *s, exact_velocity *exact, double coarse_steps)
{
  const lamina_int3 n = s->options.cells;
  fields f = read_all(solver, n);
  double difference = 0.0, norm = 0.0;
  for (size_t i = 0; i < (size_t)(n.x * n.y * n.z); i++) {
    const lamina_index place[3] = {(lamina_index)i % n.x, (lamina_index)i / n.x % n.y, (lamina_index)i / n.x / n.y};
    const lamina_index length = (lamina_index)1 << f.levels[i];
    const double half = 0.5 * (double)length, depth = n.z == 1 ? 1.0 : (double)length;
    if (place[0] % length != 0 || place[1] % length != 0 || (n.z > 1 && place[2] % length != 0))
      continue;
    const double at[3] = {(double)place[0] + half, (double)place[1] + half, (double)place[2] + half};
    const double volume = (double)(length * length) * depth;
    double u[3] = {0.0, 0.0, 0.0};
    exact(s, coarse_steps, at, u);
    for (int a = 0; a < 3; a++) {
      const double d = leaf_mean(f.velocity[a], n, place, length) - u[a];
      difference += volume * d * d;
      norm += volume * u[a] * u[a];
    }
  }
  free_fields(&f);
  return sqrt(difference / norm);
}

static lamina_context *new_context(void)
{
  lamina_context *ctx = NULL;
  lamina_context_options options = lamina_context_options_default();
  options.threads = 2;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  return ctx;
}

/* ---- Taylor-Green ---- */

static double taylor_green_speed(const setting *s)
{
  return 0.04 * 16.0 / ((double)s->options.cells.x / (double)(1 << (s->options.levels - 1)));
}

static double decay_rate(const setting *s) /* per step of the coarsest level */
{
  const double coarse = (double)s->options.cells.x / (double)(1 << (s->options.levels - 1));
  const double k = 2.0 * PI / coarse;
  return 2.0 * s->coarse_viscosity * k * k;
}

static void exact_taylor_green(const setting *s, double coarse_steps, const double at[3], double velocity[2])
{
  const double k = 2.0 * PI / (double)s->options.cells.x;
  const double u = taylor_green_speed(s) * exp(-decay_rate(s) * coarse_steps);
  lmi_taylor_green_velocity(u, k, at[0], at[1], velocity);
}

static double taylor_green_error(const setting *s)
{
  lamina_context *ctx = new_context();
  lamina_solver *solver = NULL;
  lmi_initial_state start = {.speed = taylor_green_speed(s), .length = (double)s->options.cells.x};
  if (lamina_solver_create(ctx, &s->options, &solver) != LAMINA_OK ||
      lamina_solver_initialise(solver, lmi_initial_taylor_green, &start) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  const lamina_index steps = (lamina_index)(log(2.0) / decay_rate(s) + 0.5);
  if (lamina_solver_run(solver, steps << (s->options.levels - 1)) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  const double error = error_of(solver, s, exact_taylor_green, (double)steps);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
  return error;
}

/* Errors for doubled numbers of cells; returns the order of the last doubling. */
static double taylor_green_order(lamina_lattice lattice, lamina_collision collision, level_shape shape, int levels,
                                 lamina_level_scheme scheme, lamina_index coarse, int doublings)
{
  double before = 0.0, order = 0.0;
  for (int i = 0; i <= doublings; i++) {
    setting s;
    make_setting(lattice, shape, levels, coarse << i, &s);
    s.options.collision = collision;
    s.options.level_scheme = scheme;
    const double error = taylor_green_error(&s);
    order = i > 0 ? log2(before / error) : 0.0;
    print_message("%s %s shape %d, %d levels, %s, %d coarse cells: error %.3e order %.2f\n",
                  lamina_lattice_name(lattice), lamina_collision_name(collision), shape, levels,
                  lamina_level_scheme_name(scheme), (int)(coarse << i), error, order);
    before = error;
  }
  return order;
}

static void second_order_in_2d(void **state)
{
  (void)state;
  assert_true(taylor_green_order(LAMINA_D2Q9, LAMINA_BGK, SHAPE_BOX, 3, LAMINA_LEVELS_PACKETS, 16, 2) >= 1.9);
  assert_true(taylor_green_order(LAMINA_D2Q9, LAMINA_BGK, SHAPE_CROSS, 2, LAMINA_LEVELS_PACKETS, 16, 2) >= 1.9);
}

static void second_order_in_2d_with_each_collision(void **state)
{
  (void)state;
  for (int collision = LAMINA_TRT; collision <= LAMINA_SMAGORINSKY; collision++)
    assert_true(
      taylor_green_order(LAMINA_D2Q9, (lamina_collision)collision, SHAPE_BOX, 3, LAMINA_LEVELS_PACKETS, 16, 2) >= 1.9);
}

static void second_order_in_3d(void **state)
{
  (void)state;
  assert_true(taylor_green_order(LAMINA_D3Q19, LAMINA_BGK, SHAPE_BOX, 3, LAMINA_LEVELS_PACKETS, 8, 2) >= 1.9);
  assert_true(taylor_green_order(LAMINA_D3Q27, LAMINA_BGK, SHAPE_BOX, 3, LAMINA_LEVELS_PACKETS, 8, 2) >= 1.9);
}

static void second_order_in_3d_with_cumulants_and_eddies(void **state)
{
  (void)state;
  assert_true(taylor_green_order(LAMINA_D3Q27, LAMINA_CUMULANT, SHAPE_BOX, 3, LAMINA_LEVELS_PACKETS, 8, 2) >= 1.9);
  assert_true(taylor_green_order(LAMINA_D3Q19, LAMINA_SMAGORINSKY, SHAPE_BOX, 3, LAMINA_LEVELS_PACKETS, 8, 2) >= 1.9);
}

/* The published scheme, for comparison: the loss of an order is what the packets are for. */
static void volumetric_is_of_first_order(void **state)
{
  (void)state;
  const double order = taylor_green_order(LAMINA_D2Q9, LAMINA_BGK, SHAPE_BOX, 3, LAMINA_LEVELS_VOLUMETRIC, 16, 2);
  assert_true(order > 0.7 && order < 1.4);
}

/* ---- walls that a jump runs into ---- */

static void exact_poiseuille(const setting *s, double coarse_steps, const double at[3], double velocity[2])
{
  (void)coarse_steps;
  const double h = (double)s->options.cells.y, viscosity = (1.0 / s->options.omega - 0.5) / 3.0;
  velocity[0] = 0.5 * s->options.force.x / viscosity * at[1] * (h - at[1]);
  velocity[1] = 0.0;
}

static void exact_couette(const setting *s, double coarse_steps, const double at[3], double velocity[2])
{
  (void)coarse_steps;
  velocity[0] = s->options.faces[LAMINA_FACE_Y_HIGH].velocity.x * at[1] / (double)s->options.cells.y;
  velocity[1] = 0.0;
}

typedef struct wall_start {
  const setting *setting;
  exact_velocity *exact;
} wall_start;

static void start_exactly(void *user, lamina_real3 centre, lamina_cell_state *state)
{
  const wall_start *start = user;
  const double at[3] = {centre.x, centre.y, centre.z};
  start->exact(start->setting, 0.0, at, state->velocity);
}

/* Started near the steady state, run until it has settled: a few diffusion times. */
static double wall_error(lamina_lattice lattice, lamina_collision collision, exact_velocity *exact, int levels,
                         lamina_index coarse)
{
  setting s;
  make_setting(lattice, SHAPE_STRIPE, levels, coarse, &s);
  s.options.collision = collision;
  s.options.faces[LAMINA_FACE_Y_LOW].kind = s.options.faces[LAMINA_FACE_Y_HIGH].kind = LAMINA_FACE_WALL;
  const double h = (double)s.options.cells.y, u = 0.02 * 16.0 / (double)coarse;
  if (exact == exact_poiseuille)
    s.options.force.x = 8.0 * u * (1.0 / s.options.omega - 0.5) / 3.0 / (h * h);
  else
    s.options.faces[LAMINA_FACE_Y_HIGH].velocity.x = u;
  lamina_context *ctx = new_context();
  lamina_solver *solver = NULL;
  wall_start start = {&s, exact};
  if (lamina_solver_create(ctx, &s.options, &solver) != LAMINA_OK ||
      lamina_solver_initialise(solver, start_exactly, &start) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  const lamina_index steps = (lamina_index)(1.5 * (double)(coarse * coarse) / (PI * PI * s.coarse_viscosity));
  lamina_totals before, after;
  assert_int_equal(lamina_solver_totals(solver, &before), LAMINA_OK);
  if (lamina_solver_run(solver, steps << (levels - 1)) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  assert_int_equal(lamina_solver_totals(solver, &after), LAMINA_OK);
  assert_true(fabs(after.mass - before.mass) / before.mass < 1e-12);
  const double error = error_of(solver, &s, exact, 0.0);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
  return error;
}

static double wall_order(lamina_lattice lattice, lamina_collision collision, exact_velocity *exact, int levels,
                         lamina_index coarse, int doublings)
{
  double before = 0.0, order = 0.0;
  for (int i = 0; i <= doublings; i++) {
    const double error = wall_error(lattice, collision, exact, levels, coarse << i);
    order = i > 0 ? log2(before / error) : 0.0;
    print_message("%s %s %s, %d levels, %d coarse cells: error %.3e order %.2f\n", lamina_lattice_name(lattice),
                  lamina_collision_name(collision), exact == exact_couette ? "couette" : "poiseuille", levels,
                  (int)(coarse << i), error, order);
    before = error;
  }
  return order;
}

static void poiseuille_with_jumps_into_walls(void **state)
{
  (void)state;
  assert_true(wall_order(LAMINA_D2Q9, LAMINA_TRT, exact_poiseuille, 2, 8, 2) >= 1.8);
  assert_true(wall_order(LAMINA_D2Q9, LAMINA_BGK, exact_poiseuille, 3, 16, 1) >= 1.8);
}

static void couette_with_jumps_into_the_moving_wall(void **state)
{
  (void)state;
  assert_true(wall_order(LAMINA_D2Q9, LAMINA_TRT, exact_couette, 2, 8, 2) >= 1.8);
  assert_true(wall_order(LAMINA_D2Q9, LAMINA_BGK, exact_couette, 3, 16, 1) >= 1.8);
}

LMI_TEST_MAIN(cmocka_unit_test(second_order_in_2d), cmocka_unit_test(second_order_in_2d_with_each_collision),
              cmocka_unit_test(second_order_in_3d), cmocka_unit_test(second_order_in_3d_with_cumulants_and_eddies),
              cmocka_unit_test(volumetric_is_of_first_order), cmocka_unit_test(poiseuille_with_jumps_into_walls),
              cmocka_unit_test(couette_with_jumps_into_the_moving_wall))
