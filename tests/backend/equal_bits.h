/* SPDX-License-Identifier: Apache-2.0 */
/* The rule that never bends: layout, streaming, partitions, threads and overlap change no bit. Every variant runs on
 * the checking backend, whose memory is poisoned, against the judge. */
#ifndef EQUAL_BITS_H
#define EQUAL_BITS_H

#include "support/test.h"

#include "flow_setup.h"

typedef struct variant {
  lamina_layout layout;
  lamina_streaming streaming;
  int partitions, threads;
  lamina_grid_kind grid;
} variant;

static const variant judge = {LAMINA_LAYOUT_SOA, LAMINA_TWO_GRID, 1, 1, LAMINA_GRID_DENSE};

static inline unsigned char *run_variant(lamina_solver_options options, const variant *v, int steps, size_t *bytes)
{
  lamina_context_options context_options = lamina_context_options_default();
  context_options.threads = v->threads;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&context_options, &ctx), LAMINA_OK);
  options.grid = v->grid;
  options.layout = v->layout;
  options.streaming = v->streaming;
  options.partitions = v->partitions;
  options.no_overlap = v->threads == 2;
  options.backend = LAMINA_BACKEND_CHECK;
  int dimension = lamina_lattice_dimension(options.lattice);
  lamina_solver *solver = NULL;
  if (lamina_solver_create(ctx, &options, &solver) != LAMINA_OK ||
      lamina_solver_initialise(solver, random_start, &dimension) != LAMINA_OK ||
      lamina_solver_run(solver, steps) != LAMINA_OK)
    fail_msg("%s %s %s %s, %d slabs: %s", lamina_lattice_name(options.lattice),
             lamina_collision_name(options.collision), lamina_layout_name(v->layout),
             lamina_streaming_name(v->streaming), v->partitions, lamina_error_message(ctx));
  unsigned char *state = copy_state(solver, bytes);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
  return state;
}

/* Every `stride`-th variant from `first` on; returns how many ran. */
static inline int compare_variants(const lamina_solver_options *options, int steps, int stride, int first)
{
  static const int partitions[] = {1, 2, 3, 5, 7};
  static const int threads[] = {1, 2, 3, 8};
  size_t bytes = 0;
  unsigned char *expected = run_variant(*options, &judge, steps, &bytes);
  int number = 0, ran = 0;
  for (int layout = 0; layout < 4; layout++)
    for (int streaming = 0; streaming < 3; streaming++)
      for (int p = 0; p < 5; p++)
        for (int t = 0; t < 4; t++) {
          if ((number++ + stride - first % stride) % stride != 0)
            continue;
          const variant v = {(lamina_layout)layout, (lamina_streaming)streaming, partitions[p], threads[t],
                             LAMINA_GRID_DENSE};
          unsigned char *found = run_variant(*options, &v, steps, &bytes);
          if (memcmp(found, expected, bytes) != 0)
            fail_msg("%s %s %s force %d: %s %s with %d slabs and %d threads differs from the judge",
                     lamina_lattice_name(options->lattice), lamina_collision_name(options->collision),
                     lamina_precision_name(options->precision), options->force.x != 0.0, lamina_layout_name(v.layout),
                     lamina_streaming_name(v.streaming), v.partitions, v.threads);
          free(found);
          ran++;
        }
  free(expected);
  return ran;
}

/* All collisions, precisions, boxes and forces of a lattice, each with every `stride`-th variant, the first one moving
 * on so that all variants are met. */
static inline void compare_lattice(lamina_lattice lattice, int stride)
{
  int first = 0, ran = 0;
  for (int collision = 0; collision < 5; collision++) {
    if (collision == LAMINA_CUMULANT && lattice == LAMINA_D3Q19)
      continue;
    for (int precision = 0; precision < 2; precision++)
      for (int box = 0; box < BOXES; box++)
        for (int force = 0; force < 2; force++) {
          lamina_solver_options options = box_options(lattice, box, force);
          options.collision = (lamina_collision)collision;
          options.precision = (lamina_precision)precision;
          ran += compare_variants(&options, 6 + first % 2, stride, first);
          first++;
        }
  }
  assert_true(ran > 0);
}

#endif
