/* SPDX-License-Identifier: Apache-2.0 */
/* The host's kernels over blocks: one text a lattice and precision moves populations (block_host.h), one a combination
 * collides runs of cells (rows_host.h). Host only. */
#ifndef LMK_BLOCK_ROWS_H
#define LMK_BLOCK_ROWS_H

#include "block.h"
#include "rows.h"

/* Updates rows->cells cells, whole vectors, from read to write; whether all are finite. */
typedef bool lmk_update_run_function(const lmk_rows *rows, const lmk_rates *rates);

/* Both halves of a step at once; populations as they arrive into the target; the rest of the step, in the target. The
 * halves apart are for two grids in one section. */
enum { LMK_WHOLE_STEP, LMK_STREAM_ONLY, LMK_COLLIDE_ONLY };

/* Updates blocks [first, first + count); returns the first with a non-finite cell, or -1. `part`: LMK_WHOLE_STEP, ...
 */
typedef int64_t lmk_update_blocks_function(const lmk_block_step *step, lmk_update_run_function *run, int part,
                                           int64_t first, int64_t count);

#endif
