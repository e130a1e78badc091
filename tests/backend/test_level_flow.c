/* SPDX-License-Identifier: Apache-2.0 */
/* The grid of levels against the packet scheme written plainly, and what both must keep: mass and momentum to
 * round-off, uniform flow, the same bits for any number of partitions and threads, and from run to run. */
#include "support/test.h"

#include <math.h>

#include "flow/level_flow.h"
#include "flow/solver_internal.h"
#include "flow_setup.h"
#include "naive_levels.h"
#include "unit/level_setup.h"

typedef struct setting {
  lamina_solver_options options;
  level_shape shape;
  lamina_refinement refinement;
} setting;

static bool shape_mask(void *user, int level, lamina_real3 low, lamina_real3 high)
{
  const setting *s = user;
  const lamina_int3 n = s->options.cells;
  const double p[3] = {0.5 * (low.x + high.x) / (double)n.x, 0.5 * (low.y + high.y) / (double)n.y,
                       0.5 * (low.z + high.z) / (double)n.z};
  return level_shape_refines(s->shape, level, lamina_lattice_dimension(s->options.lattice), p);
}

/* A box of `coarse` coarsest cells along each axis; 0: periodic, 1: walls with a moving lid, 2: walls across the last
 * axis. */
static void make_setting(lamina_lattice lattice, level_shape shape, int levels, lamina_index coarse, int walls,
                         setting *s)
{
  const int dimension = lamina_lattice_dimension(lattice);
  const lamina_index n = coarse << (levels - 1);
  *s = (setting){.options = lamina_solver_options_default(), .shape = shape};
  s->options.lattice = lattice;
  s->options.precision = LAMINA_F64;
  s->options.cells = (lamina_int3){n, n, dimension == 3 ? n : 1};
  s->options.omega = 1.3;
  s->options.grid = LAMINA_GRID_LEVELS;
  s->options.levels = levels;
  s->options.backend = LAMINA_BACKEND_CHECK;
  for (int face = 0; face < 2 * dimension; face++)
    if (walls == 1 || (walls == 2 && face / 2 == dimension - 1))
      s->options.faces[face].kind = LAMINA_FACE_WALL;
  if (walls != 0)
    s->options.faces[2 * dimension - 1].velocity = (lamina_real3){0.05, dimension == 3 ? 0.02 : 0.0, 0.0};
  s->refinement = (lamina_refinement){.kind = LAMINA_REFINE_MASK, .mask = shape_mask, .user = s};
  s->options.refinements = &s->refinement;
  s->options.refinement_count = 1;
}

static lamina_context *context_of(int threads)
{
  lamina_context *ctx = NULL;
  lamina_context_options options = lamina_context_options_default();
  options.threads = threads;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  return ctx;
}

static lamina_solver *solver_of(lamina_context *ctx, const lamina_solver_options *options,
                                lamina_initial_function *start, void *user)
{
  lamina_solver *solver = NULL;
  if (lamina_solver_create(ctx, options, &solver) != LAMINA_OK ||
      lamina_solver_initialise(solver, start, user) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  return solver;
}

static int stride_of(const lamina_solver *solver)
{
  lamina_solver_info info;
  lamina_solver_get_info(solver, &info);
  return info.step_stride;
}

/* ---- against the judge ---- */

static int level_at(void *user, lamina_index x, lamina_index y, lamina_index z)
{
  const lamina_solver *solver = user;
  uint8_t level = 0;
  assert_int_equal(lamina_solver_read_levels(solver, (lamina_int3){x, y, z}, (lamina_int3){1, 1, 1}, &level),
                   LAMINA_OK);
  return level;
}

static bool has_whole_walls(const lamina_solver *solver)
{
  return ((const lmi_level_flow *)solver->flow)->links.whole_walls;
}

/* Over all populations: a plane holds each velocity's cells, x fastest; its place is z, in two dimensions y. */
static double largest_difference(const lamina_solver *solver, const naive_levels *naive, lamina_int3 n)
{
  const int velocities = lamina_lattice_velocities(lamina_solver_get_options(solver)->lattice);
  const bool flat = n.z == 1;
  const lamina_index rows = flat ? 1 : n.y, planes = flat ? n.y : n.z;
  size_t bytes = 0;
  double *found = (double *)(void *)copy_state(solver, &bytes), largest = 0.0;
  const double *next = found;
  for (lamina_index plane = 0; plane < planes; plane++)
    for (int q = 0; q < velocities; q++)
      for (lamina_index y = 0; y < rows; y++)
        for (lamina_index x = 0; x < n.x; x++) {
          double expected = 0.0, rest = 0.0;
          naive_levels_read(naive, (lamina_int3){x, flat ? plane : y, flat ? 0 : plane}, q, &expected, &rest);
          const double difference = fabs(*next++ + rest - expected);
          if (!(difference <= largest))
            largest = difference;
        }
  free(found);
  return largest;
}

static void compare(setting *s, double bound)
{
  lamina_context *ctx = context_of(1);
  int dimension = lamina_lattice_dimension(s->options.lattice);
  lamina_solver *solver = solver_of(ctx, &s->options, random_start, &dimension);
  naive_levels *naive =
    naive_levels_create(&s->options, has_whole_walls(solver), level_at, solver, random_start, &dimension);
  for (int chunk = 0; chunk < 3; chunk++) {
    const double difference = largest_difference(solver, naive, s->options.cells);
    if (!(difference <= bound))
      fail_msg("%s %s shape %d, %d levels, walls %d, after %d steps: differs by %.3g, allowed %.3g",
               lamina_lattice_name(s->options.lattice), lamina_collision_name(s->options.collision), s->shape,
               s->options.levels, s->options.faces[0].kind, 2 * chunk, difference, bound);
    if (lamina_solver_run(solver, 2 * stride_of(solver)) != LAMINA_OK)
      fail_msg("%s", lamina_error_message(ctx));
    naive_levels_step(naive);
    naive_levels_step(naive);
  }
  naive_levels_destroy(naive);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

static void compare_shapes(lamina_lattice lattice, int levels, lamina_index coarse)
{
  static const lamina_collision collisions[] = {LAMINA_BGK, LAMINA_TRT, LAMINA_REGULARIZED, LAMINA_SMAGORINSKY};
  for (int shape = 0; shape < SHAPES; shape++)
    for (int walls = 0; walls < 3; walls++) {
      setting s;
      if (shape == SHAPE_SPECKLES && levels > 2)
        continue;
      make_setting(lattice, (level_shape)shape, levels, coarse, walls, &s);
      s.options.collision = collisions[(shape + walls) % 4];
      if ((shape + walls) % 2 == 0)
        s.options.force = (lamina_real3){1e-4, 2e-4, lattice == LAMINA_D2Q9 ? 0.0 : -1e-4};
      s.options.partitions = 1 + walls;
      compare(&s, 2e-14);
    }
}

static void equals_the_judge_in_2d(void **state)
{
  (void)state;
  compare_shapes(LAMINA_D2Q9, 2, 16);
  compare_shapes(LAMINA_D2Q9, 2, 13);
  compare_shapes(LAMINA_D2Q9, 3, 16);
}

static void equals_the_judge_in_3d(void **state)
{
  (void)state;
  compare_shapes(LAMINA_D3Q19, 2, 8);
  compare_shapes(LAMINA_D3Q27, 2, 7);
}

static void equals_the_judge_on_three_levels_in_3d(void **state)
{
  (void)state;
  setting s;
  make_setting(LAMINA_D3Q19, SHAPE_BOX, 3, 8, 0, &s);
  compare(&s, 2e-14);
}

/* ---- what is kept ---- */

static lamina_totals totals_of(const lamina_solver *solver)
{
  lamina_totals totals;
  assert_int_equal(lamina_solver_totals(solver, &totals), LAMINA_OK);
  return totals;
}

static void check_kept(lamina_lattice lattice, lamina_collision collision, level_shape shape, int levels,
                       lamina_index coarse, int walls)
{
  setting s;
  make_setting(lattice, shape, levels, coarse, walls, &s);
  s.options.collision = collision;
  lamina_context *ctx = context_of(2);
  int dimension = lamina_lattice_dimension(lattice);
  lamina_solver *solver = solver_of(ctx, &s.options, random_start, &dimension);
  const lamina_totals before = totals_of(solver);
  if (lamina_solver_run(solver, 40 * stride_of(solver)) != LAMINA_OK)
    fail_msg("%s %d %d %d: %s", lamina_lattice_name(lattice), shape, levels, walls, lamina_error_message(ctx));
  const lamina_totals after = totals_of(solver);
  const double mass = fabs(after.mass - before.mass) / before.mass;
  double momentum = 0.0;
  for (int a = 0; a < dimension; a++)
    momentum = fmax(momentum, fabs(after.momentum[a] - before.momentum[a]) / before.mass);
  if (mass > 2e-14 || (walls == 0 && momentum > 2e-14))
    fail_msg("%s %s shape %d, %d levels, walls %d: mass drifts by %.3g, momentum by %.3g", lamina_lattice_name(lattice),
             lamina_collision_name(collision), shape, levels, walls, mass, momentum);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

static void keeps_mass_and_momentum_in_2d(void **state)
{
  (void)state;
  for (int levels = 2; levels <= 4; levels++)
    for (int shape = 0; shape < SHAPES; shape++)
      for (int walls = 0; walls < 3; walls++) {
        if (shape == SHAPE_SPECKLES && levels > 2)
          continue;
        check_kept(LAMINA_D2Q9, LAMINA_BGK, (level_shape)shape, levels, 32, walls);
        check_kept(LAMINA_D2Q9, LAMINA_CUMULANT, (level_shape)shape, levels, 32, walls);
      }
}

static void keeps_mass_and_momentum_in_3d(void **state)
{
  (void)state;
  for (int shape = 0; shape < SHAPES; shape++) {
    check_kept(LAMINA_D3Q19, LAMINA_SMAGORINSKY, (level_shape)shape, 2, 9, shape % 2);
    check_kept(LAMINA_D3Q27, LAMINA_CUMULANT, (level_shape)shape, 2, 8, 1 - shape % 2);
  }
  check_kept(LAMINA_D3Q19, LAMINA_BGK, SHAPE_BOX, 3, 10, 0);
  check_kept(LAMINA_D3Q19, LAMINA_BGK, SHAPE_CROSS, 3, 12, 1);
  check_kept(LAMINA_D3Q27, LAMINA_TRT, SHAPE_CORNER, 3, 8, 1);
}

static void four_levels_keep_mass_in_3d(void **state)
{
  (void)state;
  check_kept(LAMINA_D3Q19, LAMINA_BGK, SHAPE_CROSS, 4, 12, 1);
}

static void drift(void *user, lamina_real3 centre, lamina_cell_state *state)
{
  (void)centre;
  const int dimension = *(const int *)user;
  for (int a = 0; a < dimension; a++)
    state->velocity[a] = 0.03 + 0.01 * a;
}

static void check_uniform(lamina_lattice lattice, level_shape shape, int levels, lamina_index coarse)
{
  setting s;
  make_setting(lattice, shape, levels, coarse, 0, &s);
  lamina_context *ctx = context_of(2);
  int dimension = lamina_lattice_dimension(lattice);
  lamina_solver *solver = solver_of(ctx, &s.options, drift, &dimension);
  assert_int_equal(lamina_solver_run(solver, 20 * stride_of(solver)), LAMINA_OK);
  const lamina_int3 n = s.options.cells;
  const size_t cells = (size_t)(n.x * n.y * n.z);
  double *found[4];
  for (int i = 0; i < 4; i++)
    found[i] = malloc(cells * sizeof(double));
  const lamina_fields fields = {found[0], {found[1], found[2], found[3]}};
  assert_int_equal(lamina_solver_read(solver, (lamina_box){{0, 0, 0}, n}, &fields), LAMINA_OK);
  for (size_t i = 0; i < cells; i++) {
    assert_true(fabs(found[0][i] - 1.0) < 1e-14);
    for (int a = 0; a < dimension; a++)
      assert_true(fabs(found[1 + a][i] - (0.03 + 0.01 * a)) < 1e-14);
  }
  for (int i = 0; i < 4; i++)
    free(found[i]);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

static void uniform_flow_stays_uniform(void **state)
{
  (void)state;
  for (int shape = 0; shape < SHAPES; shape++) {
    check_uniform(LAMINA_D2Q9, (level_shape)shape, shape == SHAPE_SPECKLES ? 2 : 3, 24);
    check_uniform(LAMINA_D3Q19, (level_shape)shape, 2, 8);
    check_uniform(LAMINA_D3Q27, (level_shape)shape, 2, 8);
  }
}

/* ---- bits ---- */

static unsigned char *state_after(setting *s, int partitions, int threads, bool no_overlap, lamina_backend backend,
                                  size_t *bytes)
{
  s->options.partitions = partitions;
  s->options.no_overlap = no_overlap;
  s->options.backend = backend;
  lamina_context *ctx = context_of(threads);
  int dimension = lamina_lattice_dimension(s->options.lattice);
  lamina_solver *solver = solver_of(ctx, &s->options, random_start, &dimension);
  assert_int_equal(lamina_solver_run(solver, 3 * stride_of(solver)), LAMINA_OK);
  unsigned char *state = copy_state(solver, bytes);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
  return state;
}

static void partitions_threads_and_order_change_no_bit(void **state)
{
  (void)state;
  static const lamina_lattice lattices[] = {LAMINA_D2Q9, LAMINA_D3Q19};
  for (int l = 0; l < 2; l++)
    for (int scheme = 0; scheme < 3; scheme++)
      for (int precision = 0; precision < 2; precision++) {
        setting s;
        size_t bytes = 0;
        make_setting(lattices[l], SHAPE_CROSS, 3, l == 0 ? 24 : 12, 1, &s);
        s.options.level_scheme = (lamina_level_scheme)scheme;
        s.options.precision = (lamina_precision)precision;
        unsigned char *expected = state_after(&s, 1, 1, true, LAMINA_BACKEND_CPU, &bytes);
        for (int variant = 0; variant < 4; variant++) {
          unsigned char *found = state_after(&s, 1 + variant, 1 + (variant + 1) % 3, variant == 1,
                                             variant == 3 ? LAMINA_BACKEND_CHECK : LAMINA_BACKEND_CPU, &bytes);
          assert_memory_equal(found, expected, bytes);
          free(found);
        }
        free(expected);
      }
}

/* Fused or not, and on whichever levels, the published scheme is the same arithmetic. */
static void baseline_and_volumetric_are_equal(void **state)
{
  (void)state;
  static const lamina_level_scheme OTHERS[] = {LAMINA_LEVELS_BASELINE, LAMINA_LEVELS_FINEST_FUSED,
                                               LAMINA_LEVELS_COARSE_FUSED};
  size_t bytes = 0;
  setting s;
  make_setting(LAMINA_D3Q19, SHAPE_CROSS, 3, 12, 1, &s);
  s.options.level_scheme = LAMINA_LEVELS_VOLUMETRIC;
  unsigned char *fused = state_after(&s, 1, 2, false, LAMINA_BACKEND_CPU, &bytes);
  for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
    s.options.level_scheme = OTHERS[i];
    unsigned char *apart = state_after(&s, 1, 2, false, LAMINA_BACKEND_CPU, &bytes);
    assert_memory_equal(fused, apart, bytes);
    free(apart);
  }
  s.options.level_scheme = LAMINA_LEVELS_PACKETS;
  unsigned char *packets = state_after(&s, 1, 2, false, LAMINA_BACKEND_CPU, &bytes);
  assert_memory_not_equal(packets, fused, bytes);
  free(fused);
  free(packets);
}

/* A state written and read back goes on as if nothing had been. */
static void a_restored_state_goes_on_in_the_same_bits(void **state)
{
  (void)state;
  setting s;
  size_t bytes = 0, again = 0;
  make_setting(LAMINA_D2Q9, SHAPE_BOX, 3, 24, 1, &s);
  lamina_context *ctx = context_of(2);
  int dimension = 2;
  lamina_solver *first = solver_of(ctx, &s.options, random_start, &dimension);
  lamina_solver *second = solver_of(ctx, &s.options, drift, &dimension);
  assert_int_equal(lamina_solver_run(second, 3 * stride_of(second)), LAMINA_OK);
  assert_int_equal(lamina_solver_run(first, 5 * stride_of(first)), LAMINA_OK);
  unsigned char *kept = copy_state(first, &bytes);
  const size_t plane = (size_t)lamina_solver_plane_bytes(first);
  for (lamina_index z = 0; z < lamina_solver_plane_count(first); z++)
    assert_int_equal(lamina_solver_set_plane(second, z, kept + (size_t)z * plane), LAMINA_OK);
  lamina_solver_set_step(second, lamina_solver_step(first));
  assert_int_equal(lamina_solver_run(first, 7 * stride_of(first)), LAMINA_OK);
  assert_int_equal(lamina_solver_run(second, 7 * stride_of(second)), LAMINA_OK);
  unsigned char *ends[2] = {copy_state(first, &bytes), copy_state(second, &again)};
  assert_memory_equal(ends[0], ends[1], bytes);
  free(kept);
  free(ends[0]);
  free(ends[1]);
  lamina_solver_destroy(first);
  lamina_solver_destroy(second);
  lamina_context_destroy(ctx);
}

/* ---- refusals ---- */

static void expect_refusal(const lamina_solver_options *options, const char *words)
{
  lamina_context *ctx = context_of(1);
  lamina_solver *solver = NULL;
  assert_int_not_equal(lamina_solver_create(ctx, options, &solver), LAMINA_OK);
  if (strstr(lamina_error_message(ctx), words) == NULL)
    fail_msg("'%s' does not say '%s'", lamina_error_message(ctx), words);
  lamina_context_destroy(ctx);
}

static void refuses_with_the_way_out(void **state)
{
  (void)state;
  setting s;
  make_setting(LAMINA_D2Q9, SHAPE_BOX, 3, 24, 1, &s);
  s.options.levels = 0;
  expect_refusal(&s.options, "0 levels: 2 to 8 are possible");
  s.options.levels = 3;
  s.refinement.level = 2;
  expect_refusal(&s.options, "refinement 1 asks for level 2: of 3 levels, 0 to 1");
  s.refinement = (lamina_refinement){.kind = LAMINA_REFINE_BOX, .low = {3, 0, 0}, .high = {3, 5, 0}};
  expect_refusal(&s.options, "goes from 3 to 3 along x: it is empty");
  s.refinement = (lamina_refinement){.kind = LAMINA_REFINE_WALLS, .distance = -1};
  expect_refusal(&s.options, "-1 cells from walls");
  s.refinement = (lamina_refinement){.kind = LAMINA_REFINE_WALLS, .distance = 1000};
  expect_refusal(&s.options, "has no cells");
  s.refinement = (lamina_refinement){.kind = LAMINA_REFINE_WALLS, .distance = 8};
  s.options.cells.x = 98;
  expect_refusal(&s.options, "multiples of 4 cells");
  s.options.cells.x = 96;
  s.options.faces[0].kind = LAMINA_FACE_VELOCITY;
  expect_refusal(&s.options, "knows walls and periodic faces only");
  s.options.faces[0].kind = LAMINA_FACE_WALL;
  lamina_context *ctx = context_of(1);
  int dimension = 2;
  lamina_solver *solver = solver_of(ctx, &s.options, drift, &dimension);
  assert_int_equal(lamina_solver_run(solver, 6), LAMINA_ERROR_ARGUMENT);
  assert_non_null(strstr(lamina_error_message(ctx), "only multiples of 4"));
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(equals_the_judge_in_2d), cmocka_unit_test(equals_the_judge_in_3d),
              cmocka_unit_test(equals_the_judge_on_three_levels_in_3d), cmocka_unit_test(keeps_mass_and_momentum_in_2d),
              cmocka_unit_test(keeps_mass_and_momentum_in_3d), cmocka_unit_test(four_levels_keep_mass_in_3d),
              cmocka_unit_test(uniform_flow_stays_uniform),
              cmocka_unit_test(partitions_threads_and_order_change_no_bit),
              cmocka_unit_test(baseline_and_volumetric_are_equal),
              cmocka_unit_test(a_restored_state_goes_on_in_the_same_bits), cmocka_unit_test(refuses_with_the_way_out))
