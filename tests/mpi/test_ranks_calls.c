/* SPDX-License-Identifier: Apache-2.0 */
/* Public calls under ranks: what is read is what one rank reads, failures are the same on all, and a context that did
 * not join stays one of one rank. */
#include "ranks_case.h"

#include "backend/flow_setup.h"
#include "base/ranks.h"

static lamina_solver *make_solver(lamina_context *ctx, const lamina_solver_options *options)
{
  int dimension = lamina_lattice_dimension(options->lattice);
  lamina_solver *solver = NULL;
  if (lamina_solver_create(ctx, options, &solver) != LAMINA_OK ||
      lamina_solver_initialise(solver, random_start, &dimension) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  return solver;
}

typedef struct reading {
  lamina_totals totals;
  lamina_solver_info info;
  double density[1024], velocity[3][1024];
} reading;

/* Padding of structs is not compared: both are zeroed first and filled by the same code. */
static void read_all(const lamina_solver_options *options, bool joins, reading *r)
{
  memset(r, 0, sizeof *r);
  lamina_context *ctx = make_context(1, joins);
  lamina_solver *solver = make_solver(ctx, options);
  assert_int_equal(lamina_solver_run(solver, 7), LAMINA_OK);
  assert_int_equal(lamina_solver_totals(solver, &r->totals), LAMINA_OK);
  const lamina_int3 n = options->cells;
  const lamina_box box = {{1, 1, 0}, {n.x - 2, n.y - 2, n.z}};
  const lamina_fields fields = {r->density, {r->velocity[0], r->velocity[1], r->velocity[2]}};
  assert_int_equal(lamina_solver_read(solver, box, &fields), LAMINA_OK);
  lamina_solver_get_info(solver, &r->info);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

static void readings_do_not_depend_on_ranks(void **state)
{
  (void)state;
  for (int box = 0; box < BOXES; box++)
    for (int lattice = 0; lattice < 2; lattice++) {
      static reading one, many;
      lamina_solver_options options = box_options((lamina_lattice)lattice, box, true);
      options.precision = LAMINA_F64;
      read_all(&options, false, &one);
      options.partitions = 2;
      read_all(&options, true, &many);
      assert_memory_equal(one.density, many.density, sizeof one.density);
      assert_memory_equal(one.velocity, many.velocity, sizeof one.velocity);
      assert_true(one.totals.mass == many.totals.mass && one.totals.mass_excess == many.totals.mass_excess);
      assert_true(one.totals.kinetic_energy == many.totals.kinetic_energy);
      assert_true(one.totals.enstrophy == many.totals.enstrophy);
      assert_true(one.totals.max_speed == many.totals.max_speed);
      assert_memory_equal(one.totals.momentum, many.totals.momentum, sizeof one.totals.momentum);
    }
}

/* One cell so fast that its neighbours become non-finite after some steps. */
static void burst(void *user, lamina_real3 centre, lamina_cell_state *state)
{
  const lamina_real3 *where = user;
  if (centre.x == where->x && centre.y == where->y && centre.z == where->z)
    state->velocity[0] = state->velocity[2] = 40.0;
}

static void a_fault_is_told_as_by_one_rank(void **state)
{
  (void)state;
  char expected[512] = "";
  for (int joins = 0; joins < 2; joins++)
    for (int partitions = 1; partitions < 3; partitions++) {
      lamina_context *ctx = make_context(1, joins == 1);
      lamina_solver_options options = box_options(LAMINA_D3Q19, 0, false);
      options.partitions = partitions;
      lamina_solver *solver = NULL;
      lamina_real3 where = {20.5, 2.5, 4.5};
      assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
      assert_int_equal(lamina_solver_initialise(solver, burst, &where), LAMINA_OK);
      assert_int_equal(lamina_solver_run(solver, 1000), LAMINA_ERROR_DIVERGED);
      if (expected[0] == '\0')
        snprintf(expected, sizeof expected, "%s", lamina_error_message(ctx));
      assert_string_equal(lamina_error_message(ctx), expected);
      lamina_solver_destroy(solver);
      lamina_context_destroy(ctx);
    }
}

static void more_slabs_than_planes_are_refused(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(1, true);
  lamina_solver_options options = box_options(LAMINA_D3Q19, 0, false);
  options.cells = (lamina_int3){8, 8, 3};
  options.partitions = 2;
  lamina_solver *solver = NULL;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_ERROR_ARGUMENT);
  assert_null(solver);
  assert_non_null(strstr(lamina_error_message(ctx), "at most 1 ranks with 2 partitions"));
  lamina_context_destroy(ctx);
}

/* The sentence and the status of the lowest rank that failed reach all. */
static void one_failure_is_everyones(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(1, true);
  const int rank = lamina_rank(ctx);
  lamina_status own = LAMINA_OK;
  if (rank > 0)
    own = lmi_fail(ctx, rank == 1 ? LAMINA_ERROR_FILE : LAMINA_ERROR_MEMORY, "rank %d has no room", rank);
  assert_int_equal(lmi_ranks_settle(ctx, own), LAMINA_ERROR_FILE);
  assert_string_equal(lamina_error_message(ctx), "rank 1 has no room");
  lamina_error_clear(ctx);
  assert_int_equal(lmi_ranks_settle(ctx, LAMINA_OK), LAMINA_OK);
  lamina_context_destroy(ctx);
}

static void joining_twice_is_refused(void **state)
{
  (void)state;
  lamina_context *ctx = make_context(1, false);
  assert_int_equal(lamina_rank_count(ctx), 1);
  assert_int_equal(lamina_ranks_join(ctx, NULL), LAMINA_OK);
  assert_true(lamina_rank_count(ctx) > 1);
  assert_int_equal(lamina_ranks_join(ctx, NULL), LAMINA_ERROR_ARGUMENT);
  lamina_context_destroy(ctx);
}

LMI_RANKS_MAIN(cmocka_unit_test(readings_do_not_depend_on_ranks), cmocka_unit_test(a_fault_is_told_as_by_one_rank),
               cmocka_unit_test(more_slabs_than_planes_are_refused), cmocka_unit_test(one_failure_is_everyones),
               cmocka_unit_test(joining_twice_is_refused))
