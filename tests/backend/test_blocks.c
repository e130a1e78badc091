/* SPDX-License-Identifier: Apache-2.0 */
/* The sparse grid gives the dense grid's bits on a full box, for every lattice, collision, precision, streaming,
 * partition and thread count; all of it on the checking backend, whose memory is poisoned. */
#include <math.h>

#include "equal_bits.h"

static void compare(const lamina_solver_options *options, const variant *v, int steps)
{
  size_t bytes = 0;
  unsigned char *expected = run_variant(*options, &judge, steps, &bytes);
  unsigned char *found = run_variant(*options, v, steps, &bytes);
  if (memcmp(found, expected, bytes) != 0)
    fail_msg("%s %s %s force %d, %lld x %lld x %lld cells, faces %d%d%d: sparse %s with %d partitions, %d threads, %d "
             "steps differs from dense",
             lamina_lattice_name(options->lattice), lamina_collision_name(options->collision),
             lamina_precision_name(options->precision), options->force.x != 0.0, (long long)options->cells.x,
             (long long)options->cells.y, (long long)options->cells.z, (int)options->faces[0].kind,
             (int)options->faces[2].kind, (int)options->faces[4].kind, lamina_streaming_name(v->streaming),
             v->partitions, v->threads, steps);
  free(expected);
  free(found);
}

/* Whole blocks, and boxes whose ends cut blocks. */
static const lamina_int3 boxes_3d[] = {{8, 8, 12}, {37, 5, 7}, {4, 4, 4}, {1, 2, 9}, {13, 12, 17}};
static const lamina_int3 boxes_2d[] = {{16, 24, 1}, {37, 9, 1}, {3, 17, 1}};

static lamina_solver_options draw(lamina_lattice lattice, int number)
{
  lamina_solver_options options = box_options(lattice, number % BOXES, number / 3 % 2 != 0);
  if (lattice == LAMINA_D2Q9)
    options.cells = boxes_2d[number % 3];
  else
    options.cells = boxes_3d[number % 5];
  return options;
}

static void compare_boxes(lamina_lattice lattice)
{
  static const int threads[] = {1, 2, 3, 8};
  int number = 0;
  for (int collision = 0; collision < 5; collision++) {
    if (collision == LAMINA_CUMULANT && lattice == LAMINA_D3Q19)
      continue;
    for (int precision = 0; precision < 2; precision++)
      for (int streaming = 0; streaming < 3; streaming++)
        for (int box = 0; box < BOXES; box++, number++) {
          lamina_solver_options options = draw(lattice, number + number / 20);
          options.collision = (lamina_collision)collision;
          options.precision = (lamina_precision)precision;
          const lamina_index planes = lattice == LAMINA_D2Q9 ? options.cells.y : options.cells.z;
          const lamina_index layers = lattice == LAMINA_D2Q9 ? (planes + 7) / 8 : (planes + 3) / 4;
          const variant v = {LAMINA_LAYOUT_PLANE, (lamina_streaming)streaming, 1 + number % (int)layers,
                             threads[number / 3 % 4], LAMINA_GRID_SPARSE};
          compare(&options, &v, 5 + number % 2);
        }
  }
}

static void d2q9_gives_the_bits_of_dense(void **state)
{
  (void)state;
  compare_boxes(LAMINA_D2Q9);
}

static void d3q19_gives_the_bits_of_dense(void **state)
{
  (void)state;
  compare_boxes(LAMINA_D3Q19);
}

static void d3q27_gives_the_bits_of_dense(void **state)
{
  (void)state;
  compare_boxes(LAMINA_D3Q27);
}

/* Every size from one cell to more than two blocks, periodic and not, and as many partitions as there are layers. */
static void any_size_and_any_number_of_partitions(void **state)
{
  (void)state;
  int number = 0;
  for (int size = 1; size <= 9; size++)
    for (int box = 0; box < BOXES; box++, number++)
      for (int partitions = 1; partitions <= (size + 3) / 4; partitions++) {
        lamina_solver_options options = box_options(LAMINA_D3Q19, box, true);
        options.cells = (lamina_int3){1 + (size * 5) % 9, 1 + (size * 7) % 10, size};
        const variant v = {LAMINA_LAYOUT_PLANE, (lamina_streaming)(number % 3), partitions, 1 + number % 3,
                           LAMINA_GRID_SPARSE};
        compare(&options, &v, 5);
      }
}

static void more_partitions_than_layers_are_refused(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  lamina_solver_options options = lamina_solver_options_default();
  options.cells = (lamina_int3){8, 8, 9};
  options.grid = LAMINA_GRID_SPARSE;
  options.partitions = 4;
  lamina_solver *solver = NULL;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_ERROR_ARGUMENT);
  assert_non_null(strstr(lamina_error_message(ctx), "at most 3 partitions"));
  assert_null(solver);
  lamina_context_destroy(ctx);
}

static void messages_are_two_a_partition(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  for (int streaming = 0; streaming < 3; streaming++) {
    lamina_solver_options options = lamina_solver_options_default();
    options.cells = (lamina_int3){16, 8, 32};
    options.grid = LAMINA_GRID_SPARSE;
    options.streaming = (lamina_streaming)streaming;
    options.partitions = 4;
    lamina_solver *solver = NULL;
    assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
    lamina_solver_info info;
    lamina_solver_get_info(solver, &info);
    assert_int_equal(info.alpha, 2);
    assert_int_equal(info.beta_values, 2 * 5 * 16 * 8);
    assert_int_equal(info.blocks, 4 * 2 * 8);
    lamina_solver_destroy(solver);
  }
  lamina_context_destroy(ctx);
}

/* What one grid holds goes on in the other, also from an odd step. */
static void a_state_moves_between_grids(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  for (int number = 0; number < 9; number++) {
    lamina_solver_options options = box_options(LAMINA_D3Q19, number % BOXES, true);
    options.cells = (lamina_int3){9, 6, 13};
    options.backend = LAMINA_BACKEND_CHECK;
    lamina_solver *solvers[3];
    int dimension = 3;
    for (int i = 0; i < 3; i++) {
      options.grid = i == 1 ? LAMINA_GRID_SPARSE : LAMINA_GRID_DENSE;
      options.streaming = (lamina_streaming)((number + i) % 3);
      options.partitions = 1 + (number + i) % 3;
      assert_int_equal(lamina_solver_create(ctx, &options, &solvers[i]), LAMINA_OK);
      assert_int_equal(lamina_solver_initialise(solvers[i], random_start, &dimension), LAMINA_OK);
    }
    unsigned char *plane = malloc((size_t)lamina_solver_plane_bytes(solvers[0]));
    for (int i = 0; i < 2; i++) {
      assert_int_equal(lamina_solver_run(solvers[i], 3), LAMINA_OK);
      for (lamina_index z = 0; z < options.cells.z; z++) {
        assert_int_equal(lamina_solver_get_plane(solvers[i], z, plane), LAMINA_OK);
        assert_int_equal(lamina_solver_set_plane(solvers[i + 1], z, plane), LAMINA_OK);
      }
    }
    assert_int_equal(lamina_solver_run(solvers[2], 2), LAMINA_OK);
    lamina_solver *straight = NULL;
    assert_int_equal(lamina_solver_create(ctx, &options, &straight), LAMINA_OK);
    assert_int_equal(lamina_solver_initialise(straight, random_start, &dimension), LAMINA_OK);
    assert_int_equal(lamina_solver_run(straight, 8), LAMINA_OK);
    size_t bytes = 0;
    unsigned char *expected = copy_state(straight, &bytes), *found = copy_state(solvers[2], &bytes);
    assert_memory_equal(found, expected, bytes);
    lamina_totals totals[2];
    assert_int_equal(lamina_solver_totals(straight, &totals[0]), LAMINA_OK);
    assert_int_equal(lamina_solver_totals(solvers[2], &totals[1]), LAMINA_OK);
    assert_memory_equal(&totals[0], &totals[1], sizeof totals[0]);
    free(expected);
    free(found);
    free(plane);
    lamina_solver_destroy(straight);
    for (int i = 0; i < 3; i++)
      lamina_solver_destroy(solvers[i]);
  }
  lamina_context_destroy(ctx);
}

static void diverge(void *user, lamina_real3 centre, lamina_cell_state *cell)
{
  (void)user;
  if (centre.x == 6.5 && centre.y == 2.5 && centre.z == 9.5)
    cell->velocity[1] = (double)NAN;
}

/* The plane of a fault is found inside the block, and the loop allocates nothing. */
static void a_fault_names_its_cell(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  lamina_solver_options options = box_options(LAMINA_D3Q19, 1, false);
  options.cells = (lamina_int3){9, 6, 13};
  options.grid = LAMINA_GRID_SPARSE;
  lamina_solver *solver = NULL;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
  assert_int_equal(lamina_solver_initialise(solver, diverge, NULL), LAMINA_OK);
  assert_int_equal(lamina_solver_run(solver, 5), LAMINA_ERROR_DIVERGED);
  assert_non_null(strstr(lamina_error_message(ctx), "in step 1 at cell ("));
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(d2q9_gives_the_bits_of_dense), cmocka_unit_test(d3q19_gives_the_bits_of_dense),
              cmocka_unit_test(d3q27_gives_the_bits_of_dense), cmocka_unit_test(any_size_and_any_number_of_partitions),
              cmocka_unit_test(a_state_moves_between_grids), cmocka_unit_test(a_fault_names_its_cell),
              cmocka_unit_test(more_partitions_than_layers_are_refused), cmocka_unit_test(messages_are_two_a_partition))
