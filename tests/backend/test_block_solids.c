/* SPDX-License-Identifier: Apache-2.0 */
/* The sparse grid around bodies: against the plain judge, and the same bits from every grouping, streaming, number of
 * partitions and threads. */
#include <math.h>

#include "support/test.h"

#include "flow_setup.h"
#include "naive_flow.h"
#include "support/failing_allocator.h"
#include <lamina/geometry.h>

/* Boxes and balls strewn over a box of cells, some of them of a single cell, some across its faces. */
static lamina_geometry *strew(lamina_context *ctx, lamina_int3 cells, unsigned seed)
{
  lamina_geometry *geometry = NULL;
  assert_int_equal(lamina_geometry_create(ctx, &geometry), LAMINA_OK);
  for (unsigned i = 0; i < 9; i++) {
    const lamina_real3 number = {(double)i, 1.0, 0.0};
    const double x = (scatter(number, seed + 1) + 0.5) * (double)cells.x,
                 y = (scatter(number, seed + 2) + 0.5) * (double)cells.y;
    const double z = cells.z > 1 ? (scatter(number, seed + 3) + 0.5) * (double)cells.z : 0.5;
    const double size = 0.4 + 2.0 * (scatter(number, seed + 4) + 0.5);
    if (i % 3 == 0)
      assert_int_equal(lamina_geometry_add_sphere(geometry, (lamina_real3){x, y, z}, size, NULL), LAMINA_OK);
    else
      assert_int_equal(lamina_geometry_add_box(geometry, (lamina_real3){x - size, y - 0.5 * size, z - size},
                                               (lamina_real3){x + size, y + 0.7 * size, z + size}, NULL, NULL),
                       LAMINA_OK);
  }
  return geometry;
}

typedef struct solid_variant {
  lamina_grouping grouping;
  lamina_streaming streaming;
  int partitions, threads;
} solid_variant;

static lamina_solver *make_solver(lamina_context *ctx, lamina_solver_options options, const solid_variant *v,
                                  unsigned seed)
{
  lamina_geometry *geometry = strew(ctx, options.cells, seed);
  options.grid = LAMINA_GRID_SPARSE;
  options.backend = LAMINA_BACKEND_CHECK;
  options.grouping = v->grouping;
  options.streaming = v->streaming;
  options.partitions = v->partitions;
  options.geometry = geometry;
  lamina_solver *solver = NULL;
  int dimension = lamina_lattice_dimension(options.lattice);
  if (lamina_solver_create(ctx, &options, &solver) != LAMINA_OK ||
      lamina_solver_initialise(solver, random_start, &dimension) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  lamina_geometry_destroy(geometry);
  return solver;
}

static void compare_with_judge(lamina_solver_options options, const solid_variant *v, unsigned seed)
{
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  lamina_solver *solver = make_solver(ctx, options, v, seed);
  const lamina_int3 n = options.cells;
  const size_t cells = (size_t)(n.x * n.y * n.z);
  unsigned char *solid = malloc(cells);
  double *density = malloc(cells * sizeof *density), *speed = malloc(cells * sizeof *speed);
  const lamina_box box = {{0, 0, 0}, n};
  assert_int_equal(lamina_solver_read_marks(solver, box, solid), LAMINA_OK);
  int dimension = lamina_lattice_dimension(options.lattice);
  naive_flow *naive = naive_create(&options, random_start, &dimension);
  naive_set_solid(naive, solid);
  size_t solids = 0;
  for (int round = 0; round < 3; round++) {
    assert_int_equal(lamina_solver_run(solver, 3), LAMINA_OK);
    naive_run(naive, 3);
    const lamina_fields fields = {.density = density, .velocity = {speed}};
    assert_int_equal(lamina_solver_read(solver, box, &fields), LAMINA_OK);
    for (size_t i = 0; i < cells; i++) {
      double expected[4] = {1.0, 0.0, 0.0, 0.0};
      const lamina_int3 at = {(lamina_index)i % n.x, (lamina_index)i / n.x % n.y, (lamina_index)i / n.x / n.y};
      solids += solid[i] != 0;
      if (solid[i] == 0)
        naive_read(naive, at, expected);
      if (!(fabs(density[i] - expected[0]) < 1e-12) || !(fabs(speed[i] - expected[1]) < 1e-12))
        fail_msg("cell %zu: density %.15g, speed %.15g instead of %.15g, %.15g", i, density[i], speed[i], expected[0],
                 expected[1]);
    }
  }
  assert_true(solids > 0 && solids < 3 * cells);
  naive_destroy(naive);
  free(solid);
  free(density);
  free(speed);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

static void flows_around_solids_as_the_judge(void **state)
{
  (void)state;
  unsigned seed = 0;
  for (int lattice = 0; lattice < 3; lattice++)
    for (int streaming = 0; streaming < 3; streaming++)
      for (int box = 0; box < BOXES; box++, seed++) {
        lamina_solver_options options = box_options((lamina_lattice)lattice, box, seed % 2 != 0);
        options.precision = LAMINA_F64;
        options.collision = seed % 3 == 0 ? LAMINA_TRT : LAMINA_BGK;
        options.cells = lattice == LAMINA_D2Q9 ? (lamina_int3){21, 19, 1} : (lamina_int3){14, 9, 11};
        const solid_variant v = {LAMINA_GROUPING_MEMORY, (lamina_streaming)streaming, 1 + (int)(seed % 3), 1};
        compare_with_judge(options, &v, seed);
      }
}

static unsigned char *run_bits(const lamina_solver_options *options, const solid_variant *v, size_t *bytes)
{
  lamina_context_options context_options = lamina_context_options_default();
  context_options.threads = v->threads;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&context_options, &ctx), LAMINA_OK);
  lamina_solver *solver = make_solver(ctx, *options, v, 77);
  if (lamina_solver_run(solver, 7) != LAMINA_OK)
    fail_msg("%s: %s", lamina_grouping_name(v->grouping), lamina_error_message(ctx));
  unsigned char *state = copy_state(solver, bytes);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
  return state;
}

/* An inlet and an outlet, and bodies with interpolated surfaces: blocks of both kinds. */
static lamina_solver_options open_channel(lamina_lattice lattice, lamina_precision precision)
{
  lamina_solver_options options = lamina_solver_options_default();
  options.lattice = lattice;
  options.precision = precision;
  options.omega = 1.5;
  options.curved = LAMINA_CURVED_BOUZIDI;
  options.cells = lattice == LAMINA_D2Q9 ? (lamina_int3){33, 26, 1} : (lamina_int3){22, 13, 18};
  options.faces[LAMINA_FACE_X_LOW] = (lamina_face){.kind = LAMINA_FACE_VELOCITY, .velocity = {0.04, 0.0, 0.0}};
  options.faces[LAMINA_FACE_X_HIGH] = (lamina_face){.kind = LAMINA_FACE_PRESSURE, .density = 1.0};
  options.faces[LAMINA_FACE_Y_LOW].kind = options.faces[LAMINA_FACE_Y_HIGH].kind = LAMINA_FACE_WALL;
  return options;
}

static void groupings_partitions_and_threads_change_no_bit(void **state)
{
  (void)state;
  static const solid_variant plainest = {LAMINA_GROUPING_NAIVE, LAMINA_TWO_GRID, 1, 1};
  static const int threads[] = {1, 3, 2};
  for (int lattice = 0; lattice < 3; lattice++) {
    const lamina_solver_options options = open_channel((lamina_lattice)lattice, (lamina_precision)(lattice % 2));
    size_t bytes = 0;
    unsigned char *expected = run_bits(&options, &plainest, &bytes);
    int number = 0;
    for (int grouping = 0; grouping < 4; grouping++)
      for (int streaming = 0; streaming < 3; streaming++)
        for (int partitions = 1; partitions <= 4; partitions += 1 + lattice, number++) {
          const solid_variant v = {(lamina_grouping)grouping, (lamina_streaming)streaming, partitions,
                                   threads[number % 3]};
          unsigned char *found = run_bits(&options, &v, &bytes);
          if (memcmp(found, expected, bytes) != 0)
            fail_msg("%s: %s grouping, %s, %d partitions, %d threads differs", lamina_lattice_name(options.lattice),
                     lamina_grouping_name(v.grouping), lamina_streaming_name(v.streaming), v.partitions, v.threads);
          free(found);
        }
    free(expected);
  }
}

static lamina_solver_info info_of(lamina_grouping grouping)
{
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  lamina_solver_options options = open_channel(LAMINA_D3Q19, LAMINA_F32);
  options.grid = LAMINA_GRID_SPARSE;
  options.grouping = grouping;
  lamina_solver *solver = NULL;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
  lamina_solver_info info;
  lamina_solver_get_info(solver, &info);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
  return info;
}

/* The paper's Table 2: an index a cell, a vector a cell, nothing. */
static void groupings_store_what_they_must(void **state)
{
  (void)state;
  const lamina_solver_info memory = info_of(LAMINA_GROUPING_MEMORY), bitmask = info_of(LAMINA_GROUPING_BITMASK),
                           popcount = info_of(LAMINA_GROUPING_POPCOUNT), naive = info_of(LAMINA_GROUPING_NAIVE);
  const uint64_t blocks = (uint64_t)memory.blocks;
  assert_int_equal(bitmask.table_bytes - popcount.table_bytes, blocks * (64 - 1) * 4);
  assert_true(naive.table_bytes - memory.table_bytes >= (blocks - 6 * 4 * 5) * 64 * 3 * 4);
  assert_int_equal(naive.bytes, memory.bytes);
}

/* A channel network with few fluid cells: memory follows the blocks that hold them, not the box. */
static void memory_follows_the_fluid(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  lamina_geometry *geometry = NULL;
  assert_int_equal(lamina_geometry_create(ctx, &geometry), LAMINA_OK);
  const lamina_real3 lows[] = {{-1, -1, -1}, {-1, 16, -1}, {-1, 8, -1}, {-1, 8, 16}};
  const lamina_real3 highs[] = {{257, 8, 65}, {257, 65, 65}, {257, 16, 8}, {257, 16, 65}};
  for (int i = 0; i < 4; i++)
    assert_int_equal(lamina_geometry_add_box(geometry, lows[i], highs[i], NULL, NULL), LAMINA_OK);
  lamina_solver_options options = lamina_solver_options_default();
  options.cells = (lamina_int3){256, 64, 64};
  options.grid = LAMINA_GRID_SPARSE;
  options.geometry = geometry;
  lamina_solver *solver = NULL;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
  lamina_solver_info info;
  lamina_solver_get_info(solver, &info);
  assert_in_range(info.cells, 256 * 7 * 7, 256 * 8 * 8);
  assert_in_range(info.blocks, 64 * 2 * 2, 64 * 3 * 3);
  assert_true(info.bytes + info.table_bytes < (uint64_t)info.blocks * 64 * 100);
  assert_int_equal(lamina_solver_run(solver, 4), LAMINA_OK);
  lamina_solver_destroy(solver);
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
}

/* Every allocation of a solver around bodies fails once; and the time loop makes none. */
static void each_failing_allocation_ends_cleanly(void **state)
{
  (void)state;
  uint64_t failures = 0;
  for (uint64_t n = 1;; n++) {
    lmi_failing_allocator heap = lmi_failing_allocator_make(n);
    const lamina_allocator interface = lmi_failing_allocator_interface(&heap);
    lamina_context_options context_options = lamina_context_options_default();
    context_options.threads = 1;
    context_options.allocator = &interface;
    lamina_context *ctx = NULL;
    lamina_geometry *geometry = NULL;
    lamina_solver *solver = NULL;
    lamina_status status = lamina_context_create(&context_options, &ctx);
    if (status == LAMINA_OK)
      status = lamina_geometry_create(ctx, &geometry);
    if (status == LAMINA_OK)
      status = lamina_geometry_add_sphere(geometry, (lamina_real3){10, 6, 9}, 3.3, NULL);
    lamina_solver_options options = open_channel(LAMINA_D3Q19, LAMINA_F32);
    options.grid = LAMINA_GRID_SPARSE;
    options.grouping = LAMINA_GROUPING_BITMASK;
    options.geometry = geometry;
    options.partitions = 2;
    if (status == LAMINA_OK)
      status = lamina_solver_create(ctx, &options, &solver);
    if (status == LAMINA_OK) {
      const uint64_t before = heap.calls;
      status = lamina_solver_run(solver, 3);
      assert_int_equal(heap.calls, before);
    }
    assert_int_equal(status, heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    lamina_solver_destroy(solver);
    lamina_geometry_destroy(geometry);
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    if (!heap.has_failed)
      break;
    failures++;
  }
  assert_true(failures > 30);
}

LMI_TEST_MAIN(cmocka_unit_test(flows_around_solids_as_the_judge),
              cmocka_unit_test(groupings_partitions_and_threads_change_no_bit),
              cmocka_unit_test(each_failing_allocation_ends_cleanly), cmocka_unit_test(groupings_store_what_they_must),
              cmocka_unit_test(memory_follows_the_fluid))
