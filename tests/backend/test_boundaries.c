/* SPDX-License-Identifier: Apache-2.0 */
/* Open faces, slip and curved, spinning bodies on the sparse grid: streaming, partitions, threads and grouping change
 * no bit of the populations or of the loads; a state that was written and read goes on to the same bits; half-way is
 * what interpolation gives where a surface cuts links in their middle. */
#include "support/test.h"

#include <math.h>

#include "flow_setup.h"
#include <lamina/geometry.h>

typedef struct variant {
  lamina_streaming streaming;
  int partitions, threads;
  lamina_grouping grouping;
} variant;

typedef struct outcome {
  unsigned char *state;
  size_t bytes;
  lamina_body_load load;
} outcome;

typedef struct scene {
  lamina_lattice lattice;
  lamina_precision precision;
  lamina_curved curved;
  int faces; /* 0: inlet, outflow, slip, wall; 1: pressure to pressure, slip all round; 2: Zou-He, an edge of open faces
              */
  bool force;
} scene;

static lamina_geometry *make_body(lamina_context *ctx, const scene *s, lamina_int3 n)
{
  lamina_geometry *geometry = NULL;
  int body = 0;
  assert_int_equal(lamina_geometry_create(ctx, &geometry), LAMINA_OK);
  const lamina_real3 centre = {0.4 * (double)n.x + 0.13, 0.5 * (double)n.y - 0.21, 0.5 * (double)n.z};
  if (s->lattice == LAMINA_D2Q9) {
    const lamina_cylinder cylinder = {{centre.x, centre.y, 0}, {centre.x, centre.y, 1}, 4.3, true};
    assert_int_equal(lamina_geometry_add_cylinder(geometry, &cylinder, &body), LAMINA_OK);
  } else {
    assert_int_equal(lamina_geometry_add_sphere(geometry, centre, 3.7, &body), LAMINA_OK);
  }
  const lamina_body_motion motion = {.spin = {0, 0, 0.01}, .centre = centre};
  if (s->curved == LAMINA_CURVED_BOUZIDI)
    assert_int_equal(lamina_geometry_set_motion(geometry, body, &motion), LAMINA_OK);
  return geometry;
}

static void set_faces(const scene *s, lamina_solver_options *options, const lamina_real3 *profile)
{
  const int faces = 2 * lamina_lattice_dimension(s->lattice);
  const lamina_face slip = {.kind = LAMINA_FACE_SLIP}, wall = {.kind = LAMINA_FACE_WALL};
  for (int face = 2; face < faces; face++)
    options->faces[face] = s->faces == 1 || face == 3 ? slip : wall;
  if (s->faces == 2)
    options->faces[2] = (lamina_face){.kind = LAMINA_FACE_PRESSURE};
  options->faces[0] = (lamina_face){.kind = LAMINA_FACE_VELOCITY,
                                    .method = s->faces == 2 ? LAMINA_FACE_ZOU_HE : LAMINA_FACE_REGULARIZED,
                                    .velocity = {0.03, 0.01, 0},
                                    .profile = s->faces == 0 ? profile : NULL};
  options->faces[1] = (lamina_face){.kind = LAMINA_FACE_OUTFLOW, .method = LAMINA_FACE_ZOU_HE};
  if (s->faces == 1) {
    options->faces[0] = (lamina_face){.kind = LAMINA_FACE_PRESSURE, .density = 1.002};
    options->faces[1] = (lamina_face){.kind = LAMINA_FACE_PRESSURE, .density = 0.999};
  }
}

enum { STEPS = 7, MOST_FACE_CELLS = 1024 };

static lamina_solver *make_solver(lamina_context *ctx, const scene *s, const variant *v, lamina_geometry **geometry)
{
  static lamina_real3 profile[MOST_FACE_CELLS];
  lamina_solver_options options = lamina_solver_options_default();
  const bool flat = s->lattice == LAMINA_D2Q9;
  options.lattice = s->lattice;
  options.collision = LAMINA_REGULARIZED;
  options.precision = s->precision;
  options.cells = flat ? (lamina_int3){41, 29, 1} : (lamina_int3){23, 14, 13};
  options.omega = 1.5;
  options.grid = LAMINA_GRID_SPARSE;
  options.curved = s->curved;
  options.loads = true;
  options.streaming = v->streaming;
  options.partitions = v->partitions;
  options.grouping = v->grouping;
  if (s->force)
    options.force = (lamina_real3){1e-4, 2e-5, flat ? 0 : -1e-5};
  for (int i = 0; i < MOST_FACE_CELLS; i++)
    profile[i] = (lamina_real3){0.02 + 0.001 * (i % 7), 0.002 * (i % 3), 0};
  set_faces(s, &options, profile);
  *geometry = make_body(ctx, s, options.cells);
  options.geometry = *geometry;
  lamina_solver *solver = NULL;
  if (lamina_solver_create(ctx, &options, &solver) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  return solver;
}

static lamina_context *make_context(int threads)
{
  lamina_context *ctx = NULL;
  lamina_context_options options = lamina_context_options_default();
  options.threads = threads;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  return ctx;
}

static outcome compute(const scene *s, const variant *v)
{
  lamina_context *ctx = make_context(v->threads);
  lamina_geometry *geometry = NULL;
  lamina_solver *solver = make_solver(ctx, s, v, &geometry);
  int dimension = lamina_lattice_dimension(s->lattice);
  assert_int_equal(lamina_solver_initialise(solver, random_start, &dimension), LAMINA_OK);
  assert_int_equal(lamina_solver_run(solver, 3), LAMINA_OK);
  assert_int_equal(lamina_solver_run(solver, STEPS - 3), LAMINA_OK);
  outcome found;
  found.state = copy_state(solver, &found.bytes);
  assert_int_equal(lamina_solver_body_load(solver, 1, &found.load), LAMINA_OK);
  assert_true(isfinite(found.load.force.x) && found.load.force.x != 0);
  lamina_solver_destroy(solver);
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
  return found;
}

static void compare_variants(const scene *s)
{
  static const variant JUDGE = {LAMINA_TWO_GRID, 1, 1, LAMINA_GROUPING_MEMORY};
  static const variant OTHERS[] = {
    {LAMINA_TWO_GRID, 2, 2, LAMINA_GROUPING_MEMORY},      {LAMINA_ESOTERIC_PULL, 1, 1, LAMINA_GROUPING_MEMORY},
    {LAMINA_ESOTERIC_PULL, 3, 2, LAMINA_GROUPING_MEMORY}, {LAMINA_AA, 1, 3, LAMINA_GROUPING_MEMORY},
    {LAMINA_AA, 2, 2, LAMINA_GROUPING_BITMASK},           {LAMINA_TWO_GRID, 1, 2, LAMINA_GROUPING_BITMASK},
    {LAMINA_TWO_GRID, 2, 1, LAMINA_GROUPING_POPCOUNT},    {LAMINA_ESOTERIC_PULL, 2, 2, LAMINA_GROUPING_NAIVE},
  };
  const outcome judge = compute(s, &JUDGE);
  for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
    const outcome other = compute(s, &OTHERS[i]);
    if (memcmp(judge.state, other.state, judge.bytes) != 0)
      fail_msg("variant %zu of %s faces %d differs", i, lamina_lattice_name(s->lattice), s->faces);
    assert_memory_equal(&judge.load, &other.load, sizeof judge.load);
    free(other.state);
  }
  free(judge.state);
}

static void variants_change_no_bit(void **state)
{
  (void)state;
  for (int faces = 0; faces < 3; faces++) {
    compare_variants(&(scene){LAMINA_D2Q9, LAMINA_F64, LAMINA_CURVED_BOUZIDI, faces, faces == 1});
    compare_variants(&(scene){LAMINA_D3Q19, LAMINA_F32, LAMINA_CURVED_BOUZIDI, faces, faces == 0});
    compare_variants(&(scene){LAMINA_D3Q27, LAMINA_F64, LAMINA_CURVED_HALFWAY, faces, false});
  }
}

/* What a checkpoint does: planes out of one solver into another, in the middle of a run, at an odd step. */
static void a_state_goes_on_to_the_same_bits(void **state)
{
  (void)state;
  for (int faces = 0; faces < 3; faces++) {
    const scene s = {LAMINA_D3Q19, LAMINA_F32, LAMINA_CURVED_BOUZIDI, faces, true};
    const variant first = {LAMINA_ESOTERIC_PULL, 2, 2, LAMINA_GROUPING_MEMORY}, second = {LAMINA_TWO_GRID, 1, 1, 0};
    lamina_context *ctx = make_context(2);
    lamina_geometry *geometry[2];
    lamina_solver *a = make_solver(ctx, &s, &first, &geometry[0]), *b = make_solver(ctx, &s, &second, &geometry[1]);
    int dimension = 3;
    size_t bytes = 0;
    assert_int_equal(lamina_solver_initialise(a, random_start, &dimension), LAMINA_OK);
    assert_int_equal(lamina_solver_run(a, 5), LAMINA_OK);
    unsigned char *middle = copy_state(a, &bytes);
    const size_t plane = (size_t)lamina_solver_plane_bytes(a);
    for (lamina_index z = 0; z < lamina_solver_plane_count(b); z++)
      assert_int_equal(lamina_solver_set_plane(b, z, middle + (size_t)z * plane), LAMINA_OK);
    lamina_solver_set_step(b, 5);
    assert_int_equal(lamina_solver_run(a, 6), LAMINA_OK);
    assert_int_equal(lamina_solver_run(b, 6), LAMINA_OK);
    unsigned char *end_a = copy_state(a, &bytes), *end_b = copy_state(b, &bytes);
    assert_memory_equal(end_a, end_b, bytes);
    free(middle);
    free(end_a);
    free(end_b);
    lamina_solver_destroy(a);
    lamina_solver_destroy(b);
    lamina_geometry_destroy(geometry[0]);
    lamina_geometry_destroy(geometry[1]);
    lamina_context_destroy(ctx);
  }
}

/* A box whose faces lie half-way between cells. */
static void half_way_is_interpolation_in_the_middle(void **state)
{
  (void)state;
  unsigned char *found[2];
  size_t bytes = 0;
  for (int curved = 0; curved < 2; curved++) {
    lamina_context *ctx = make_context(1);
    lamina_geometry *geometry = NULL;
    assert_int_equal(lamina_geometry_create(ctx, &geometry), LAMINA_OK);
    assert_int_equal(lamina_geometry_add_box(geometry, (lamina_real3){8, 6, 0}, (lamina_real3){14, 12, 1}, NULL, NULL),
                     LAMINA_OK);
    lamina_solver_options options = lamina_solver_options_default();
    options.lattice = LAMINA_D2Q9;
    options.precision = LAMINA_F64;
    options.cells = (lamina_int3){24, 20, 1};
    options.omega = 1.7;
    options.grid = LAMINA_GRID_SPARSE;
    options.geometry = geometry;
    options.curved = (lamina_curved)curved;
    lamina_solver *solver = NULL;
    int dimension = 2;
    assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
    assert_int_equal(lamina_solver_initialise(solver, random_start, &dimension), LAMINA_OK);
    assert_int_equal(lamina_solver_run(solver, 20), LAMINA_OK);
    found[curved] = copy_state(solver, &bytes);
    lamina_solver_destroy(solver);
    lamina_geometry_destroy(geometry);
    lamina_context_destroy(ctx);
  }
  assert_memory_equal(found[0], found[1], bytes);
  free(found[0]);
  free(found[1]);
}

/* With all faces closed or periodic, what a body gains the fluid loses, step by step, to round-off. */
static void force_is_the_momentum_the_fluid_loses(void **state)
{
  (void)state;
  for (int curved = 0; curved < 2; curved++) {
    lamina_context *ctx = make_context(2);
    lamina_geometry *geometry = NULL;
    assert_int_equal(lamina_geometry_create(ctx, &geometry), LAMINA_OK);
    assert_int_equal(lamina_geometry_add_sphere(geometry, (lamina_real3){8.2, 7.1, 7.7}, 3.3, NULL), LAMINA_OK);
    lamina_solver_options options = lamina_solver_options_default();
    options.precision = LAMINA_F64;
    options.cells = (lamina_int3){17, 14, 16};
    options.omega = 1.4;
    options.grid = LAMINA_GRID_SPARSE;
    options.geometry = geometry;
    options.curved = (lamina_curved)curved;
    options.loads = true;
    lamina_solver *solver = NULL;
    int dimension = 3;
    assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
    assert_int_equal(lamina_solver_initialise(solver, random_start, &dimension), LAMINA_OK);
    lamina_totals before, after;
    lamina_body_load load;
    assert_int_equal(lamina_solver_run(solver, 3), LAMINA_OK);
    assert_int_equal(lamina_solver_totals(solver, &before), LAMINA_OK);
    assert_int_equal(lamina_solver_run(solver, 1), LAMINA_OK);
    assert_int_equal(lamina_solver_totals(solver, &after), LAMINA_OK);
    assert_int_equal(lamina_solver_body_load(solver, 1, &load), LAMINA_OK);
    const double force[3] = {load.force.x, load.force.y, load.force.z};
    for (int a = 0; a < 3; a++)
      assert_true(fabs(before.momentum[a] - after.momentum[a] - force[a]) < 1e-12);
    lamina_solver_destroy(solver);
    lamina_geometry_destroy(geometry);
    lamina_context_destroy(ctx);
  }
}

/* Drag of a sphere that moves along x in a closed box with two faces of slip; of its upper half where the lower face is
 * a plane of symmetry through its centre. */
static double drag_of(lamina_curved curved, bool is_half)
{
  lamina_context *ctx = make_context(2);
  lamina_geometry *geometry = NULL;
  lamina_solver_options options = lamina_solver_options_default();
  lamina_solver *solver = NULL;
  lamina_body_load load;
  int body = 0;
  const lamina_real3 centre = {10.3, 7.6, is_half ? 0.0 : 8.0};
  const lamina_body_motion motion = {.velocity = {0.03, 0.0, 0.0}};
  assert_int_equal(lamina_geometry_create(ctx, &geometry), LAMINA_OK);
  assert_int_equal(lamina_geometry_add_sphere(geometry, centre, 3.7, &body), LAMINA_OK);
  assert_int_equal(lamina_geometry_set_motion(geometry, body, &motion), LAMINA_OK);
  options.precision = LAMINA_F64;
  options.cells = (lamina_int3){24, 16, is_half ? 8 : 16};
  options.omega = 1.3;
  options.grid = LAMINA_GRID_SPARSE;
  options.geometry = geometry;
  options.curved = curved;
  options.loads = true;
  options.faces[LAMINA_FACE_Z_LOW].kind = options.faces[LAMINA_FACE_Z_HIGH].kind = LAMINA_FACE_SLIP;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
  assert_int_equal(lamina_solver_run(solver, 60), LAMINA_OK);
  assert_int_equal(lamina_solver_body_load(solver, body, &load), LAMINA_OK);
  lamina_solver_destroy(solver);
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
  return load.force.x;
}

/* Links that run through a plane of symmetry into the body are its links too. Half-way this is exact; interpolation
 * falls back to it where what it needs arrives through the plane. */
static void half_a_body_has_half_the_drag(void **state)
{
  (void)state;
  for (int curved = 0; curved < 2; curved++) {
    const double whole = drag_of((lamina_curved)curved, false), half = drag_of((lamina_curved)curved, true);
    const double most = curved == LAMINA_CURVED_HALFWAY ? 1e-10 : 1e-3;
    if (!(fabs(whole) > 1e-4 && fabs(2.0 * half / whole - 1.0) < most))
      fail_msg("curved %d: whole %.15g, twice the half %.15g", curved, whole, 2.0 * half);
  }
}

static void refusals_name_the_way_out(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(1);
  lamina_solver_options options = lamina_solver_options_default();
  options.cells = (lamina_int3){8, 8, 8};
  lamina_solver *solver = NULL;
  lamina_body_load load;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
  assert_int_equal(lamina_solver_body_load(solver, 1, &load), LAMINA_ERROR_ARGUMENT);
  assert_non_null(strstr(lamina_error_message(ctx), "options.loads"));
  lamina_error_clear(ctx);
  assert_int_equal(lamina_solver_scale_face(solver, LAMINA_FACE_X_LOW, 0.5), LAMINA_ERROR_ARGUMENT);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(variants_change_no_bit), cmocka_unit_test(a_state_goes_on_to_the_same_bits),
              cmocka_unit_test(half_way_is_interpolation_in_the_middle),
              cmocka_unit_test(force_is_the_momentum_the_fluid_loses), cmocka_unit_test(half_a_body_has_half_the_drag),
              cmocka_unit_test(refusals_name_the_way_out))
