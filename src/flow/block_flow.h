/* SPDX-License-Identifier: Apache-2.0 */
/* The lattice-Boltzmann method on blocks of 64 cells where there is fluid (grid/blocks.h, kernel/block.h). */
#ifndef LMI_BLOCK_FLOW_H
#define LMI_BLOCK_FLOW_H

#include "boundary_cells.h"
#include "flow.h"
#include "grid/block_schedule.h"
#include "voxels.h"

enum { LMI_BLOCK_PERIOD = 2 };

typedef struct lmi_block_flow {
  lmi_flow base;
  lmi_blocks blocks;
  lmi_block_kernels kernels;
  lmi_voxels voxels; /* while the flow is made; its words stay for the marks */
  bool has_voxels;
  lmk_boundary *sets;          /* the special cells of each partition; NULL: none anywhere */
  int field_count;             /* two for the two-grid pattern */
  void **fields[2];            /* populations, by partition; NULL in those of other ranks */
  void **sent;                 /* in place: what was sent into cut links, by partition */
  uint64_t bytes, table_bytes; /* of all ranks */
  lmi_block_launch *launches;
  size_t launch_count;
  lmk_block_step *steps; /* period x launches */
  const void **arguments;
  lmk_settle settles[LMI_BLOCK_PERIOD]; /* of outflows, before each step */
  const void *settle_arguments[LMI_BLOCK_PERIOD];
  lmi_schedule schedule;
  int64_t replayed; /* steps since the state was last set */
} lmi_block_flow;

#endif
