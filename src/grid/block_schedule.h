/* SPDX-License-Identifier: Apache-2.0 */
/* The program of a block grid: what crosses faces, while private blocks run, then the blocks that touch a face. */
#ifndef LMI_BLOCK_SCHEDULE_H
#define LMI_BLOCK_SCHEDULE_H

#include "blocks.h"
#include "schedule.h"

/* Blocks [first, first + count) of a section with one kernel. `arguments[e]` are those of step e of the period. */
typedef struct lmi_block_launch {
  const lmi_kernel *kernel;
  const void *const *arguments;
  int part, section;
  int32_t serves; /* LMK_SERVE_*: which of its blocks */
  int64_t first, count;
} lmi_block_launch;

/* Rows of a table over the planes of the box: a row of plane z has `runs` runs of `bytes`, `pitch` apart, from
 * first + z x bytes on. */
typedef struct lmi_shared_rows {
  void *first[2]; /* what steps 0 and 1 of the period read */
  size_t bytes, runs, pitch;
} lmi_shared_rows;

typedef struct lmi_block_program {
  const lmi_blocks *blocks;
  const lmi_block_launch *launches;
  size_t launch_count;
  /* One a step of the period: what it touches in halos, and the memory of each partition it reads and writes there. */
  const lmi_halo_access *halos;
  void *const *const *read_memory;
  void *const *const *written_memory;
  size_t step_count;
  size_t element_bytes;
  bool overlap;
  /* Host memory that lies at the same place on every rank, and of which a partition reads the rows beside its own in
   * its neighbours: sent between ranks alone. */
  const lmi_shared_rows *shared;
  size_t shared_count;
  /* What comes before all launches of a step, or NULL; arguments by step. */
  const lmi_kernel *settle;
  const void *const *settle_arguments;
} lmi_block_program;

/* All ranks plan the same steps. The device is that of all memory named. */
LAMINA_NODISCARD lamina_status lmi_block_schedule_create(lmi_device *device, const lmi_block_program *program,
                                                         lmi_schedule *schedule);

#endif
