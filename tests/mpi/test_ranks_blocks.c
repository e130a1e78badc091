/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The sparse grid over ranks: populations, loads on bodies, totals and what info() says are those of one rank, which
 * every rank computes by itself. On the checking backend, so that values that no message brought are poison. */
#include "ranks_case.h"

#include <math.h>

#include "backend/flow_setup.h"
#include <lamina/geometry.h>

enum { STEPS = 7, MOST_PROFILE_CELLS = 1024 };

/* Faces: periodic with walls across y, a tunnel (inlet with a profile, outflow, slip, wall), a tunnel along the axis
 * that is cut, and pressures with slip all round. */
typedef enum faces { CLOSED, TUNNEL, TUNNEL_ALONG, PRESSURES, FACE_SETS } faces;

typedef struct scene {
  lamina_lattice lattice;
  lamina_precision precision;
  faces faces;
  lamina_curved curved;
  lamina_index planes;
} scene;

typedef struct variant {
  lamina_streaming streaming;
  lamina_grouping grouping;
  int partitions;
  bool no_overlap;
} variant;

static const variant judge = {LAMINA_TWO_GRID, LAMINA_GROUPING_MEMORY, 1, false};

typedef struct outcome {
  unsigned char *state;
  size_t bytes;
  lamina_body_load load;
  lamina_totals totals;
  lamina_solver_info info;
} outcome;

static void set_faces(const scene *s, lamina_solver_options *options)
{
  static lamina_real3 profile[MOST_PROFILE_CELLS];
  const int dimension = lamina_lattice_dimension(s->lattice);
  const lamina_face slip = {.kind = LAMINA_FACE_SLIP}, wall = {.kind = LAMINA_FACE_WALL, .velocity = {0.02, 0, 0}};
  const int along = s->faces == TUNNEL_ALONG ? 2 * (dimension - 1) : 0;
  for (int face = 0; face < 2 * dimension; face++)
    options->faces[face] = s->faces == CLOSED ? face / 2 == 1 ? wall : (lamina_face){.kind = LAMINA_FACE_PERIODIC}
                           : face == 3 ? wall
                                              : slip;
  for (int i = 0; i < MOST_PROFILE_CELLS; i++)
    profile[i] = (lamina_real3){0.02 + 0.001 * (i % 7), 0.002 * (i % 3), 0};
  if (s->faces == TUNNEL || s->faces == TUNNEL_ALONG) {
    options->faces[along] = (lamina_face){.kind = LAMINA_FACE_VELOCITY, .profile = profile};
    options->faces[along + 1] = (lamina_face){.kind = LAMINA_FACE_OUTFLOW};
  } else if (s->faces == PRESSURES) {
    options->faces[0] = (lamina_face){.kind = LAMINA_FACE_PRESSURE, .density = 1.002};
    options->faces[1] = (lamina_face){.kind = LAMINA_FACE_PRESSURE, .density = 0.999};
  }
}

static lamina_geometry *make_body(lamina_context *ctx, const scene *s, lamina_int3 n)
{
  lamina_geometry *geometry = NULL;
  int body = 0;
  const lamina_real3 centre = {0.4 * (double)n.x + 0.13, 0.5 * (double)n.y - 0.21, 0.5 * (double)n.z};
  assert_int_equal(lamina_geometry_create(ctx, &geometry), LAMINA_OK);
  if (lamina_lattice_dimension(s->lattice) == 2) {
    const lamina_cylinder cylinder = {{centre.x, centre.y, 0}, {centre.x, centre.y, 1}, 3.3, true};
    assert_int_equal(lamina_geometry_add_cylinder(geometry, &cylinder, &body), LAMINA_OK);
  } else {
    assert_int_equal(lamina_geometry_add_sphere(geometry, centre, 3.7, &body), LAMINA_OK);
  }
  const lamina_body_motion motion = {.spin = {0, 0, 0.01}, .centre = centre};
  if (s->curved == LAMINA_CURVED_BOUZIDI)
    assert_int_equal(lamina_geometry_set_motion(geometry, body, &motion), LAMINA_OK);
  return geometry;
}

static lamina_solver *make_solver(lamina_context *ctx, const scene *s, const variant *v)
{
  lamina_solver_options options = lamina_solver_options_default();
  const bool flat = lamina_lattice_dimension(s->lattice) == 2;
  options.lattice = s->lattice;
  options.collision = LAMINA_REGULARIZED;
  options.precision = s->precision;
  options.cells = flat ? (lamina_int3){23, s->planes, 1} : (lamina_int3){15, 11, s->planes};
  options.omega = 1.5;
  options.grid = LAMINA_GRID_SPARSE;
  options.backend = LAMINA_BACKEND_CHECK;
  options.curved = s->curved;
  options.loads = true;
  options.streaming = v->streaming;
  options.grouping = v->grouping;
  options.partitions = v->partitions;
  options.no_overlap = v->no_overlap;
  set_faces(s, &options);
  lamina_geometry *geometry = make_body(ctx, s, options.cells);
  options.geometry = geometry;
  lamina_solver *solver = NULL;
  int dimension = lamina_lattice_dimension(s->lattice);
  if (lamina_solver_create(ctx, &options, &solver) != LAMINA_OK ||
      lamina_solver_initialise(solver, random_start, &dimension) != LAMINA_OK)
    fail_msg("%s, %d planes, %d ranks x %d: %s", lamina_lattice_name(s->lattice), (int)s->planes,
             lamina_rank_count(ctx), v->partitions, lamina_error_message(ctx));
  lamina_geometry_destroy(geometry);
  return solver;
}

static outcome compute(lamina_context *ctx, const scene *s, const variant *v)
{
  outcome found;
  lamina_solver *solver = make_solver(ctx, s, v);
  assert_int_equal(lamina_solver_run(solver, 3), LAMINA_OK);
  assert_int_equal(lamina_solver_run(solver, STEPS - 3), LAMINA_OK);
  found.state = copy_state(solver, &found.bytes);
  assert_int_equal(lamina_solver_body_load(solver, 1, &found.load), LAMINA_OK);
  assert_int_equal(lamina_solver_totals(solver, &found.totals), LAMINA_OK);
  lamina_solver_get_info(solver, &found.info);
  lamina_solver_destroy(solver);
  return found;
}

static void compare(lamina_context *joined, const scene *s, const variant *v, const outcome *expected)
{
  outcome found = compute(joined, s, v);
  const bool equal = memcmp(found.state, expected->state, expected->bytes) == 0;
  const bool same_load = memcmp(&found.load, &expected->load, sizeof found.load) == 0;
  const bool same_totals = memcmp(&found.totals, &expected->totals, sizeof found.totals) == 0;
  if (!equal || !same_load || !same_totals)
    fail_msg("%s %s, faces %d, %s %s, %d planes, %d ranks x %d, overlap %s: %s%s%sdiffers from one rank",
             lamina_lattice_name(s->lattice), lamina_precision_name(s->precision), (int)s->faces,
             lamina_streaming_name(v->streaming), lamina_grouping_name(v->grouping), (int)s->planes,
             lamina_rank_count(joined), v->partitions, v->no_overlap ? "off" : "on", equal ? "" : "state ",
             same_load ? "" : "load ", same_totals ? "" : "totals ");
  assert_int_equal(found.info.cells, expected->info.cells);
  assert_int_equal(found.info.blocks, expected->info.blocks);
  free(found.state);
}

static void compare_variants(lamina_lattice lattice, lamina_curved curved, lamina_index planes)
{
  lamina_context *alone = make_context(1, false), *joined = make_context(1, true);
  const int side = lamina_lattice_dimension(lattice) == 2 ? 8 : 4, ranks = lamina_rank_count(joined);
  const int layers = (int)((planes + side - 1) / side);
  for (int set = 0; set < FACE_SETS; set++) {
    const scene s = {lattice, set % 2 == 0 ? LAMINA_F32 : LAMINA_F64, (faces)set, curved, planes};
    const outcome expected = compute(alone, &s, &judge);
    assert_true(isfinite(expected.load.force.x) && expected.load.force.x != 0.0);
    for (int i = 0; i < 6; i++) {
      const int fitting = layers / ranks, wanted = 1 + i % 2;
      const variant v = {(lamina_streaming)(i % 3), (lamina_grouping)((i + set) % 4),
                         wanted < fitting ? wanted : fitting, i % 4 == 3};
      if (fitting > 0)
        compare(joined, &s, &v, &expected);
    }
    free(expected.state);
  }
  lamina_context_destroy(joined);
  lamina_context_destroy(alone);
}

static void d2q9_blocks_are_equal_on_any_ranks(void **state)
{
  (void)state;
  compare_variants(LAMINA_D2Q9, LAMINA_CURVED_HALFWAY, 45);
  compare_variants(LAMINA_D2Q9, LAMINA_CURVED_BOUZIDI, 33); /* the last layer is one plane */
}

static void d3q19_blocks_are_equal_on_any_ranks(void **state)
{
  (void)state;
  compare_variants(LAMINA_D3Q19, LAMINA_CURVED_HALFWAY, 29); /* the last layer is one plane */
  compare_variants(LAMINA_D3Q19, LAMINA_CURVED_BOUZIDI, 16);
}

static void d3q27_blocks_are_equal_on_any_ranks(void **state)
{
  (void)state;
  compare_variants(LAMINA_D3Q27, LAMINA_CURVED_BOUZIDI, 18);
}

/* Runs in which every rank and every message is late at random. */
static void late_messages_between_blocks_change_nothing(void **state)
{
  (void)state;
  setenv("LAMINA_CHECK_DELAY_US", "300", 1);
  lamina_context *alone = make_context(1, false), *joined = make_context(1, true);
  const scene s = {LAMINA_D3Q19, LAMINA_F32, TUNNEL, LAMINA_CURVED_BOUZIDI, 20};
  const outcome expected = compute(alone, &s, &judge);
  for (int i = 0; i < 100; i++) {
    const variant v = {(lamina_streaming)(i % 3), (lamina_grouping)(i % 4), 1, i % 5 == 0};
    compare(joined, &s, &v, &expected);
  }
  free(expected.state);
  lamina_context_destroy(joined);
  lamina_context_destroy(alone);
}

/* More ranks than layers of blocks: the same refusal everywhere, with the number that fits. */
static void too_many_ranks_for_blocks_are_told(void **state)
{
  (void)state;
  lamina_context *joined = make_context(1, true);
  lamina_solver_options options = lamina_solver_options_default();
  options.grid = LAMINA_GRID_SPARSE;
  options.cells = (lamina_int3){8, 8, 4};
  lamina_solver *solver = NULL;
  assert_int_equal(lamina_solver_create(joined, &options, &solver),
                   lamina_rank_count(joined) > 1 ? LAMINA_ERROR_ARGUMENT : LAMINA_OK);
  if (lamina_rank_count(joined) > 1)
    assert_non_null(strstr(lamina_error_message(joined), "at most 1 ranks with 1 partitions each"));
  lamina_solver_destroy(solver);
  lamina_context_destroy(joined);
}

LMI_RANKS_MAIN(cmocka_unit_test(d2q9_blocks_are_equal_on_any_ranks),
               cmocka_unit_test(d3q19_blocks_are_equal_on_any_ranks),
               cmocka_unit_test(d3q27_blocks_are_equal_on_any_ranks),
               cmocka_unit_test(late_messages_between_blocks_change_nothing),
               cmocka_unit_test(too_many_ranks_for_blocks_are_told))
