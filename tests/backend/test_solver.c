/* SPDX-License-Identifier: Apache-2.0 */
/* What a solver promises besides its results: memory, faults, restarts, conservation, refusals. */
#include "support/test.h"

#include <math.h>

#include "base/base.h"
#include "flow_setup.h"
#include "support/failing_allocator.h"

static lamina_context *context_with(int threads)
{
  lamina_context_options options = lamina_context_options_default();
  options.threads = threads;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  return ctx;
}

static void the_time_loop_allocates_nothing(void **state)
{
  (void)state;
  lamina_context *ctx = context_with(2);
  lamina_solver_options options = box_options(LAMINA_D3Q19, 1, true);
  options.partitions = 3;
  lamina_solver *solver = NULL;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
  const uint64_t before = lmi_allocation_count(ctx);
  assert_int_equal(lamina_solver_run(solver, 20), LAMINA_OK);
  assert_int_equal(lamina_solver_set_wall_velocity(solver, LAMINA_FACE_Z_HIGH, (lamina_real3){0.02, 0, 0}), LAMINA_OK);
  assert_int_equal(lamina_solver_run(solver, 21), LAMINA_OK);
  assert_int_equal(lmi_allocation_count(ctx), before);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

/* In place one lattice is held: 19 x 4 bytes and the outsides of walls, at most 80 bytes a cell from 128 cells on. */
static void an_in_place_run_holds_one_lattice(void **state)
{
  (void)state;
  lamina_solver_options options = box_options(LAMINA_D3Q19, 1, false);
  options.cells = (lamina_int3){128, 128, 128};
  const double cells = 128.0 * 128.0 * 128.0;
  const double bytes = (double)lamina_solver_memory_estimate(&options);
  assert_true(bytes > 76.0 * cells && bytes <= 80.0 * cells);

  options.cells = (lamina_int3){40, 41, 42};
  lamina_context *ctx = context_with(1);
  lamina_solver *solver = NULL;
  lamina_solver_info info;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
  lamina_solver_get_info(solver, &info);
  assert_int_equal(info.bytes, lamina_solver_memory_estimate(&options));
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

/* One cell starts with a density that overflows; the fault is found in the step and at the cell next to it or itself.
 */
static void spoil_one_cell(void *user, lamina_real3 centre, lamina_cell_state *cell)
{
  (void)user;
  if (centre.x == 20.5 && centre.y == 2.5 && centre.z == 4.5)
    cell->density = INFINITY;
}

static void a_fault_names_step_and_cell(void **state)
{
  (void)state;
  for (int streaming = 0; streaming < 3; streaming++)
    for (int threads = 1; threads <= 3; threads++) {
      lamina_context *ctx = context_with(threads);
      lamina_solver_options options = box_options(LAMINA_D3Q19, 1, false);
      options.streaming = (lamina_streaming)streaming;
      options.partitions = 2;
      lamina_solver *solver = NULL;
      assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
      assert_int_equal(lamina_solver_initialise(solver, spoil_one_cell, NULL), LAMINA_OK);
      assert_int_equal(lamina_solver_run(solver, 10), LAMINA_ERROR_DIVERGED);
      assert_int_equal(lamina_solver_step(solver), 1);
      const char *message = lamina_error_message(ctx);
      assert_non_null(strstr(message, "step 1 "));
      assert_non_null(strstr(message, ", 3)")); /* the first plane that the cell's populations reach */
      lamina_solver_destroy(solver);
      lamina_context_destroy(ctx);
    }
}

static void a_state_moves_between_any_two_solvers(void **state)
{
  (void)state;
  lamina_context *ctx = context_with(2);
  int dimension = 3;
  for (int streaming = 0; streaming < 3; streaming++)
    for (int at = 0; at < 3; at++) {
      lamina_solver_options options = box_options(LAMINA_D3Q19, 1, true);
      lamina_solver *unbroken = NULL, *resumed = NULL;
      assert_int_equal(lamina_solver_create(ctx, &options, &unbroken), LAMINA_OK);
      assert_int_equal(lamina_solver_initialise(unbroken, random_start, &dimension), LAMINA_OK);
      assert_int_equal(lamina_solver_run(unbroken, 4 + at), LAMINA_OK);
      options.streaming = (lamina_streaming)streaming;
      options.layout = LAMINA_LAYOUT_AOS;
      options.partitions = 3;
      assert_int_equal(lamina_solver_create(ctx, &options, &resumed), LAMINA_OK);
      const size_t plane_bytes = (size_t)lamina_solver_plane_bytes(unbroken);
      void *plane = malloc(plane_bytes);
      for (lamina_index z = 0; z < lamina_solver_plane_count(unbroken); z++) {
        assert_int_equal(lamina_solver_get_plane(unbroken, z, plane), LAMINA_OK);
        assert_int_equal(lamina_solver_set_plane(resumed, z, plane), LAMINA_OK);
      }
      free(plane);
      lamina_solver_set_step(resumed, lamina_solver_step(unbroken));
      assert_int_equal(lamina_solver_run(unbroken, 5), LAMINA_OK);
      assert_int_equal(lamina_solver_run(resumed, 5), LAMINA_OK);
      assert_int_equal(lamina_solver_step(resumed), lamina_solver_step(unbroken));
      size_t bytes = 0;
      unsigned char *a = copy_state(unbroken, &bytes), *b = copy_state(resumed, &bytes);
      assert_memory_equal(a, b, bytes);
      free(a);
      free(b);
      lamina_solver_destroy(unbroken);
      lamina_solver_destroy(resumed);
    }
  lamina_context_destroy(ctx);
}

/* A closed cavity keeps its mass to round-off; a periodic box its momentum too. */
static void mass_and_momentum_stay(void **state)
{
  (void)state;
  lamina_context *ctx = context_with(2);
  int dimension = 3;
  for (int box = 0; box < 2; box++) {
    lamina_solver_options options = box_options(LAMINA_D3Q27, box, false);
    options.precision = LAMINA_F64;
    options.collision = LAMINA_CUMULANT;
    lamina_solver *solver = NULL;
    lamina_totals first, last;
    assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
    assert_int_equal(lamina_solver_initialise(solver, random_start, &dimension), LAMINA_OK);
    assert_int_equal(lamina_solver_totals(solver, &first), LAMINA_OK);
    assert_int_equal(lamina_solver_run(solver, 2000), LAMINA_OK);
    assert_int_equal(lamina_solver_totals(solver, &last), LAMINA_OK);
    assert_true(fabs(last.mass_excess - first.mass_excess) < 1e-12 * first.mass);
    for (int a = 0; a < 3 && box == 0; a++)
      assert_true(fabs(last.momentum[a] - first.momentum[a]) < 1e-12 * first.mass);
    lamina_solver_destroy(solver);
  }
  lamina_context_destroy(ctx);
}

static void totals_do_not_depend_on_slabs_and_threads(void **state)
{
  (void)state;
  lamina_totals expected;
  int dimension = 3;
  for (int i = 0; i < 4; i++) {
    lamina_context *ctx = context_with(1 + i);
    lamina_solver_options options = box_options(LAMINA_D3Q19, 2, true);
    options.partitions = 1 + 2 * i;
    options.layout = (lamina_layout)i;
    lamina_solver *solver = NULL;
    lamina_totals totals;
    assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
    assert_int_equal(lamina_solver_initialise(solver, random_start, &dimension), LAMINA_OK);
    assert_int_equal(lamina_solver_run(solver, 9), LAMINA_OK);
    memset(&totals, 0, sizeof totals);
    assert_int_equal(lamina_solver_totals(solver, &totals), LAMINA_OK);
    if (i == 0)
      expected = totals;
    assert_true(totals.mass == expected.mass && totals.kinetic_energy == expected.kinetic_energy);
    assert_true(totals.enstrophy == expected.enstrophy && totals.momentum[0] == expected.momentum[0]);
    lamina_solver_destroy(solver);
    lamina_context_destroy(ctx);
  }
}

typedef struct refusal {
  void (*spoil)(lamina_solver_options *options);
  const char *words; /* what the sentence must hold */
} refusal;

static void spoil_cells(lamina_solver_options *o)
{
  o->cells.y = 0;
}
static void spoil_huge(lamina_solver_options *o)
{
  o->cells = (lamina_int3){1 << 20, 1 << 20, 1 << 20};
}
static void spoil_omega(lamina_solver_options *o)
{
  o->omega = 2.0;
}
static void spoil_nan(lamina_solver_options *o)
{
  o->omega = NAN;
}
static void spoil_pair(lamina_solver_options *o)
{
  o->faces[LAMINA_FACE_X_LOW].kind = LAMINA_FACE_PERIODIC;
}
static void spoil_normal(lamina_solver_options *o)
{
  o->faces[LAMINA_FACE_Z_HIGH].velocity.z = 0.1;
}
static void spoil_slabs(lamina_solver_options *o)
{
  o->partitions = 8;
}
static void spoil_cumulant(lamina_solver_options *o)
{
  o->collision = LAMINA_CUMULANT;
}
static void spoil_flat(lamina_solver_options *o)
{
  o->lattice = LAMINA_D2Q9;
}
static void spoil_name(lamina_solver_options *o)
{
  o->layout = (lamina_layout)17;
}

static void wrong_options_are_refused_with_their_value(void **state)
{
  (void)state;
  static const refusal refusals[] = {
    {spoil_cells, "37 x 0 x 7"}, {spoil_huge, "2^40"},      {spoil_omega, "omega is 2"}, {spoil_nan, "omega is nan"},
    {spoil_pair, "x-"},          {spoil_normal, "normal"},  {spoil_slabs, "at most 7"},  {spoil_cumulant, "d3q27"},
    {spoil_flat, "must be 1"},   {spoil_name, "layout 17"},
  };
  lamina_context *ctx = context_with(1);
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    lamina_solver_options options = box_options(LAMINA_D3Q19, 1, false);
    refusals[i].spoil(&options);
    lamina_solver *solver = (lamina_solver *)&options;
    assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_ERROR_ARGUMENT);
    assert_null(solver);
    if (strstr(lamina_error_message(ctx), refusals[i].words) == NULL)
      fail_msg("refusal %zu says \"%s\", without \"%s\"", i, lamina_error_message(ctx), refusals[i].words);
    lamina_error_clear(ctx);
  }
  lamina_context_destroy(ctx);
}

/* Every allocation of a small life fails in turn. */
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
    lamina_status status = lamina_context_create(&context_options, &ctx);
    lamina_solver *solver = NULL;
    lamina_totals totals;
    lamina_solver_options options = box_options(LAMINA_D3Q19, 1, true);
    options.partitions = 2;
    options.streaming = LAMINA_TWO_GRID;
    if (status == LAMINA_OK)
      status = lamina_solver_create(ctx, &options, &solver);
    if (status == LAMINA_OK)
      status = lamina_solver_run(solver, 2);
    if (status == LAMINA_OK)
      status = lamina_solver_totals(solver, &totals);
    assert_int_equal(status, heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    lamina_solver_destroy(solver);
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    if (!heap.has_failed)
      break;
    failures++;
  }
  assert_true(failures > 10);
}

LMI_TEST_MAIN(cmocka_unit_test(the_time_loop_allocates_nothing), cmocka_unit_test(an_in_place_run_holds_one_lattice),
              cmocka_unit_test(a_fault_names_step_and_cell), cmocka_unit_test(a_state_moves_between_any_two_solvers),
              cmocka_unit_test(mass_and_momentum_stay), cmocka_unit_test(totals_do_not_depend_on_slabs_and_threads),
              cmocka_unit_test(wrong_options_are_refused_with_their_value),
              cmocka_unit_test(each_failing_allocation_ends_cleanly))
