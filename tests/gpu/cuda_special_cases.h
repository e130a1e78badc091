/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks with boundary data on a device against the processor: populations and loads to the bit. Follows cuda_cases.h.
 */
#ifndef CUDA_SPECIAL_CASES_H
#define CUDA_SPECIAL_CASES_H

#include <lamina/geometry.h>

/* What differs between the cases; faces x low, x high, and both of y. */
typedef struct special_case {
  lamina_lattice lattice;
  lamina_collision collision;
  lamina_precision precision;
  lamina_face_kind inlet, outlet, sides;
  lamina_face_method method;
  lamina_curved curved;
  lamina_grouping grouping;
  int partitions;
} special_case;

typedef struct special_outcome {
  char *planes;
  size_t bytes;
  lamina_body_load loads[4][2];
} special_outcome;

static lamina_solver_options special_options(const special_case *c)
{
  lamina_solver_options options = lamina_solver_options_default();
  options.grid = LAMINA_GRID_SPARSE;
  options.streaming = LAMINA_TWO_GRID;
  options.lattice = c->lattice;
  options.collision = c->collision;
  options.precision = c->precision;
  options.omega = 1.6;
  options.curved = c->curved;
  options.loads = true;
  options.grouping = c->grouping;
  options.partitions = c->partitions;
  options.cells = c->lattice == LAMINA_D2Q9 ? (lamina_int3){37, 26, 1} : (lamina_int3){21, 14, 18};
  options.faces[LAMINA_FACE_X_LOW] =
    (lamina_face){.kind = c->inlet, .velocity = {0.04, 0.01, 0.0}, .density = 1.01, .method = c->method};
  options.faces[LAMINA_FACE_X_HIGH] = (lamina_face){.kind = c->outlet, .density = 1.0, .method = c->method};
  options.faces[LAMINA_FACE_Y_LOW].kind = options.faces[LAMINA_FACE_Y_HIGH].kind = c->sides;
  if (c->sides == LAMINA_FACE_WALL)
    options.faces[LAMINA_FACE_Y_HIGH].velocity.x = 0.02;
  return options;
}

/* A ball that turns and a box at rest. */
static lamina_geometry *special_bodies(lamina_context *ctx, bool is_flat)
{
  lamina_geometry *geometry = NULL;
  int ball = 0;
  const double z = is_flat ? 0.5 : 8.3;
  assert_int_equal(lamina_geometry_create(ctx, &geometry), LAMINA_OK);
  assert_int_equal(lamina_geometry_add_sphere(geometry, (lamina_real3){9.2, 6.1, z}, 3.4, &ball), LAMINA_OK);
  assert_int_equal(lamina_geometry_add_box(geometry, (lamina_real3){15.2, 8.1, z - 2.0},
                                           (lamina_real3){18.0, 11.0, z + 3.1}, NULL, NULL),
                   LAMINA_OK);
  const lamina_body_motion turn = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.01}, {9.2, 6.1, z}};
  assert_int_equal(lamina_geometry_set_motion(geometry, ball, &turn), LAMINA_OK);
  return geometry;
}

static void expect_ok(lamina_context *ctx, lamina_status status)
{
  if (status != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
}

/* Steps in portions with what may change between them: ramps, densities, a force, the state itself. */
static void run_portions(lamina_context *ctx, lamina_solver *solver, const special_case *c, special_outcome *outcome)
{
  static const lamina_index portions[4] = {1, 19, 6, 18};
  for (int i = 0; i < 4; i++) {
    expect_ok(ctx, lamina_solver_run(solver, portions[i]));
    for (int body = 1; body <= 2; body++)
      expect_ok(ctx, lamina_solver_body_load(solver, body, &outcome->loads[i][body - 1]));
    if (i == 0 && c->inlet <= LAMINA_FACE_PRESSURE)
      expect_ok(ctx, lamina_solver_scale_face(solver, LAMINA_FACE_X_LOW, 0.7));
    if (i == 1)
      expect_ok(ctx, lamina_solver_scale_motion(solver, 1, 0.5));
    if (i == 2)
      expect_ok(ctx, lamina_solver_set_force(solver, (lamina_real3){1e-5, 2e-6, 0.0}));
  }
}

static special_outcome run_special(const special_case *c, lamina_backend backend)
{
  special_outcome outcome = {0};
  lamina_context *ctx = NULL;
  lamina_solver *solver = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  lamina_solver_options options = special_options(c);
  lamina_geometry *geometry = special_bodies(ctx, c->lattice == LAMINA_D2Q9);
  options.backend = backend;
  options.geometry = geometry;
  expect_ok(ctx, lamina_solver_create(ctx, &options, &solver));
  expect_ok(ctx, lamina_solver_initialise(solver, random_case_start, NULL));
  run_portions(ctx, solver, c, &outcome);
  const size_t plane = (size_t)lamina_solver_plane_bytes(solver);
  const lamina_index planes = c->lattice == LAMINA_D2Q9 ? options.cells.y : options.cells.z;
  outcome.bytes = plane * (size_t)planes;
  outcome.planes = malloc(outcome.bytes);
  for (lamina_index z = 0; z < planes; z++)
    expect_ok(ctx, lamina_solver_get_plane(solver, z, outcome.planes + (size_t)z * plane));
  lamina_solver_destroy(solver);
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
  return outcome;
}

static void compare_special(const special_case *cases, size_t count)
{
  cuda_setup();
  for (size_t i = 0; i < count; i++) {
    special_outcome host = run_special(&cases[i], LAMINA_BACKEND_CPU);
    special_outcome device = run_special(&cases[i], LAMINA_BACKEND_CUDA);
    if (memcmp(host.planes, device.planes, host.bytes) != 0)
      fail_msg("case %zu: populations differ", i);
    if (memcmp(host.loads, device.loads, sizeof host.loads) != 0)
      fail_msg("case %zu: loads differ, %.17g and %.17g", i, host.loads[3][0].force.x, device.loads[3][0].force.x);
    assert_true(host.loads[3][0].force.x != 0.0);
    free(host.planes);
    free(device.planes);
  }
}

static void open_faces_agree_with_the_processor(void **state)
{
  (void)state;
  static const special_case cases[] = {
    {LAMINA_D3Q19, LAMINA_BGK, LAMINA_F32, LAMINA_FACE_VELOCITY, LAMINA_FACE_PRESSURE, LAMINA_FACE_WALL,
     LAMINA_FACE_REGULARIZED, LAMINA_CURVED_BOUZIDI, LAMINA_GROUPING_MEMORY, 1},
    {LAMINA_D3Q19, LAMINA_BGK, LAMINA_F32, LAMINA_FACE_PRESSURE, LAMINA_FACE_OUTFLOW, LAMINA_FACE_SLIP,
     LAMINA_FACE_ZOU_HE, LAMINA_CURVED_HALFWAY, LAMINA_GROUPING_BITMASK, 2},
    {LAMINA_D3Q19, LAMINA_BGK, LAMINA_F32, LAMINA_FACE_VELOCITY, LAMINA_FACE_OUTFLOW, LAMINA_FACE_WALL,
     LAMINA_FACE_ZOU_HE, LAMINA_CURVED_BOUZIDI, LAMINA_GROUPING_POPCOUNT, 3},
    {LAMINA_D3Q27, LAMINA_CUMULANT, LAMINA_F64, LAMINA_FACE_VELOCITY, LAMINA_FACE_OUTFLOW, LAMINA_FACE_SLIP,
     LAMINA_FACE_REGULARIZED, LAMINA_CURVED_BOUZIDI, LAMINA_GROUPING_NAIVE, 1},
    {LAMINA_D2Q9, LAMINA_BGK, LAMINA_F64, LAMINA_FACE_VELOCITY, LAMINA_FACE_OUTFLOW, LAMINA_FACE_WALL,
     LAMINA_FACE_REGULARIZED, LAMINA_CURVED_BOUZIDI, LAMINA_GROUPING_MEMORY, 2},
    {LAMINA_D2Q9, LAMINA_BGK, LAMINA_F64, LAMINA_FACE_OUTFLOW, LAMINA_FACE_OUTFLOW, LAMINA_FACE_OUTFLOW,
     LAMINA_FACE_REGULARIZED, LAMINA_CURVED_BOUZIDI, LAMINA_GROUPING_MEMORY, 1},
  };
  compare_special(cases, sizeof cases / sizeof *cases);
}

#endif
