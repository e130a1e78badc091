/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Ranks change no bit: every variant on the checking backend, spread over all ranks and 1 to 3 partitions each, against
 * the judge, which every rank computes by itself. */
#include "ranks_case.h"

#include "backend/flow_setup.h"

typedef struct variant {
  lamina_layout layout;
  lamina_streaming streaming;
  int partitions, threads;
  bool no_overlap;
} variant;

static const variant judge = {LAMINA_LAYOUT_SOA, LAMINA_TWO_GRID, 1, 1, false};

enum { STEPS = 5, MOST_THREADS = 2 };

/* Joining takes longer than a run: one context for each number of threads, and one for the judge. */
typedef struct contexts {
  lamina_context *alone, *joined[MOST_THREADS];
  int ranks;
} contexts;

static contexts open_contexts(void)
{
  contexts c = {.alone = make_context(1, false)};
  for (int t = 0; t < MOST_THREADS; t++)
    c.joined[t] = make_context(t + 1, true);
  c.ranks = lamina_rank_count(c.joined[0]);
  return c;
}

static void close_contexts(const contexts *c)
{
  lamina_context_destroy(c->alone);
  for (int t = 0; t < MOST_THREADS; t++)
    lamina_context_destroy(c->joined[t]);
}

/* More threads than the processors of a small machine spend their time waiting for each other. */
static int threads_for(const contexts *c, int number)
{
  return c->ranks <= 2 ? 1 + number % MOST_THREADS : 1;
}

static unsigned char *run_variant(lamina_context *ctx, lamina_solver_options options, const variant *v, size_t *bytes)
{
  options.layout = v->layout;
  options.streaming = v->streaming;
  options.partitions = v->partitions;
  options.no_overlap = v->no_overlap;
  options.backend = LAMINA_BACKEND_CHECK;
  int dimension = lamina_lattice_dimension(options.lattice);
  lamina_solver *solver = NULL;
  if (lamina_solver_create(ctx, &options, &solver) != LAMINA_OK ||
      lamina_solver_initialise(solver, random_start, &dimension) != LAMINA_OK ||
      lamina_solver_run(solver, STEPS) != LAMINA_OK)
    fail_msg("%s %s %s, %d ranks x %d slabs: %s", lamina_lattice_name(options.lattice), lamina_layout_name(v->layout),
             lamina_streaming_name(v->streaming), lamina_rank_count(ctx), v->partitions, lamina_error_message(ctx));
  unsigned char *state = copy_state(solver, bytes);
  lamina_solver_destroy(solver);
  return state;
}

static void compare(const contexts *c, const lamina_solver_options *options, const variant *v,
                    const unsigned char *expected)
{
  size_t bytes = 0;
  unsigned char *found = run_variant(c->joined[v->threads - 1], *options, v, &bytes);
  if (memcmp(found, expected, bytes) != 0)
    fail_msg("%s %s %s: %s %s, %d slabs a rank, %d threads, overlap %s differs from the judge",
             lamina_lattice_name(options->lattice), lamina_collision_name(options->collision),
             lamina_precision_name(options->precision), lamina_layout_name(v->layout),
             lamina_streaming_name(v->streaming), v->partitions, v->threads, v->no_overlap ? "off" : "on");
  free(found);
}

/* How many slabs a rank may have: slabs of one plane, then of two and three, are among them with 7 and 9 planes. */
static int most_partitions(const lamina_solver_options *options, int ranks)
{
  const lamina_index planes = options->lattice == LAMINA_D2Q9 ? options->cells.y : options->cells.z;
  const int fitting = (int)(planes / ranks);
  return fitting < 3 ? fitting : 3;
}

/* Every `stride`-th of the layouts, streamings, partitions and overlaps; the box, the force and the precision go round
 * with them. */
static void compare_variants(const contexts *c, lamina_lattice lattice, lamina_collision collision, int stride)
{
  int number = 0, ran = 0;
  for (int box = 0; box < BOXES; box++) {
    lamina_solver_options options = box_options(lattice, box, box % 2 == 1);
    options.collision = collision;
    options.precision = box < 2 ? LAMINA_F64 : LAMINA_F32;
    size_t bytes = 0;
    unsigned char *expected = run_variant(c->alone, options, &judge, &bytes);
    for (int layout = 0; layout < 4; layout++)
      for (int streaming = 0; streaming < 3; streaming++)
        for (int partitions = 1; partitions <= most_partitions(&options, c->ranks); partitions++)
          for (int overlap = 0; overlap < 2; overlap++) {
            if ((number++ + box) % stride != 0)
              continue;
            const variant v = {(lamina_layout)layout, (lamina_streaming)streaming, partitions, threads_for(c, number),
                               overlap == 0};
            compare(c, &options, &v, expected);
            ran++;
          }
    free(expected);
  }
  assert_true(ran > 0);
}

static void compare_collisions(lamina_lattice lattice)
{
  const contexts c = open_contexts();
  compare_variants(&c, lattice, LAMINA_BGK, 3);
  compare_variants(&c, lattice, LAMINA_TRT, 5);
  if (lattice != LAMINA_D3Q19)
    compare_variants(&c, lattice, LAMINA_CUMULANT, 5);
  close_contexts(&c);
}

static void d2q9_is_equal_on_any_ranks(void **state)
{
  (void)state;
  compare_collisions(LAMINA_D2Q9);
}

static void d3q19_is_equal_on_any_ranks(void **state)
{
  (void)state;
  compare_collisions(LAMINA_D3Q19);
}

static void d3q27_is_equal_on_any_ranks(void **state)
{
  (void)state;
  compare_collisions(LAMINA_D3Q27);
}

/* Slabs of one, two and three planes on each rank, and planes that the ranks do not divide. */
static void thin_and_uneven_slabs_are_equal(void **state)
{
  (void)state;
  const contexts c = open_contexts();
  const int ranks = c.ranks;
  for (int planes = ranks; planes <= 3 * ranks + 1; planes++)
    for (int streaming = 0; streaming < 3; streaming++)
      for (int box = 0; box < 2; box++) {
        lamina_solver_options options = box_options(LAMINA_D3Q19, box, false);
        options.cells = (lamina_int3){9, 4, planes};
        size_t bytes = 0;
        unsigned char *expected = run_variant(c.alone, options, &judge, &bytes);
        const variant v = {LAMINA_LAYOUT_DISAGGREGATED, (lamina_streaming)streaming, 1, 1, planes % 2 == 0};
        compare(&c, &options, &v, expected);
        free(expected);
      }
  close_contexts(&c);
}

/* A hundred runs in which every rank and every message is late at random. */
static void late_messages_change_nothing(void **state)
{
  (void)state;
  setenv("LAMINA_CHECK_DELAY_US", "300", 1);
  lamina_solver_options options = box_options(LAMINA_D3Q19, 0, true);
  size_t bytes = 0;
  const contexts c = open_contexts();
  unsigned char *expected = run_variant(c.alone, options, &judge, &bytes);
  for (int i = 0; i < 100; i++) {
    const variant v = {i % 2 == 0 ? LAMINA_LAYOUT_PLANE : LAMINA_LAYOUT_DISAGGREGATED, (lamina_streaming)(i % 3), 1,
                       threads_for(&c, i), i % 5 == 0};
    compare(&c, &options, &v, expected);
  }
  free(expected);
  close_contexts(&c);
}

LMI_RANKS_MAIN(cmocka_unit_test(d2q9_is_equal_on_any_ranks), cmocka_unit_test(d3q19_is_equal_on_any_ranks),
               cmocka_unit_test(d3q27_is_equal_on_any_ranks), cmocka_unit_test(thin_and_uneven_slabs_are_equal),
               cmocka_unit_test(late_messages_change_nothing))
