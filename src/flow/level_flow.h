/* SPDX-License-Identifier: Apache-2.0 */
/* The lattice-Boltzmann method on a stack of levels (lbm-spec 7). Each level keeps its state after collision in two
 * buffers and pulls from one into the other; the finer level's two buffers hold what it had at the start and after the
 * first half of the coarser step, so nothing is accumulated and there are no ghost cells. */
#ifndef LMI_LEVEL_FLOW_H
#define LMI_LEVEL_FLOW_H

#include "flow.h"
#include "grid/level_links.h"

/* Buffers and arguments of one level. Level l takes step k of a coarse step in half k % 2 of the coarser level's; its
 * state before it lies in buffer k % 2. Only the coarsest level has no halves: it changes buffers every step.
 * `steps` and `jumps` are by the buffer the coarser level starts its step with, and by half. */
typedef struct lmi_level_state {
  void *buffers[2];
  void *aside;
  lmk_block_step steps[2][2];
  lmk_jumps jumps[2][2];
  lmk_aside keep;
} lmi_level_state;

/* What a level's blocks are made from, and a user's callbacks see. */
typedef struct lmi_level_source {
  const lmi_levels *levels;
  int level;
} lmi_level_source;

typedef struct lmi_level_flow {
  lmi_flow base;
  lmi_level_scheme scheme;
  bool fuses_finest, fuses_coarse; /* blocks away from jumps stream and collide at once, on those levels */
  bool overlaps;                   /* they run beside the finer level */
  lmi_levels levels;
  lmi_level_source sources[LMI_MAX_LEVELS];
  lmi_blocks blocks[LMI_MAX_LEVELS]; /* one partition each */
  lmi_level_links links;
  lmi_level_state state[LMI_MAX_LEVELS];
  lmi_block_kernels kernels;
  lmi_partition partition;
  lmi_schedule schedule;
  double force[3];
  int64_t replayed; /* steps of the coarsest level since the state was set */
} lmi_level_flow;

/* The blocks of a level of `levels`, which the callbacks go on reading; `source` must stay as long. */
LAMINA_NODISCARD lamina_status lmi_level_make_blocks(lamina_context *ctx, const lamina_solver_options *options,
                                                     const lmi_level_source *source, lmi_blocks *blocks);

/* The options as one level sees them: its rate and its force in its own lattice units (lbm-spec 7.1). */
lamina_solver_options lmi_level_options(const lamina_solver_options *options, int level);

/* The stack of levels that the refinements of `options` ask for. */
LAMINA_NODISCARD lamina_status lmi_level_refine(lamina_context *ctx, const lamina_solver_options *options,
                                                lmi_levels *levels);

/* The program of two steps of the coarsest level. */
LAMINA_NODISCARD lamina_status lmi_level_program(lamina_context *ctx, lmi_level_flow *flow);

/* Planes [first, first + count) of one level, in its own cells, between its state and `buffer` in canonical order
 * (kernel/dense.h, lmk_planes): cells that are not of the level are zeros there. */
LAMINA_NODISCARD lamina_status lmi_level_move(const lmi_level_flow *flow, int level, int what, int64_t first,
                                              int64_t count, void *buffer);

/* ops->planes, initialise, levels. */
lamina_status lmi_level_planes(const lmi_flow *base, int what, int64_t first, int64_t count, void *buffer);
lamina_status lmi_level_initialise(lmi_flow *base, const lamina_solver_options *options,
                                   lamina_initial_function *function, void *user);
void lmi_level_read_levels(const lmi_flow *base, int64_t first, int64_t count, uint8_t *levels);

#endif
