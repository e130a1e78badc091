/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of 64 cells of each level that hold a leaf, sorted by (partition, class, Morton code of the place):
 * spans of equal treatment lie side by side. */
#ifndef LMI_LEVEL_BLOCKS_H
#define LMI_LEVEL_BLOCKS_H

#include "level_stack.h"

/* What a block's cells meet within one cell: leaves of their own level alone; also the outside of the box; also another
 * level. */
typedef enum lmi_block_class { LMI_BLOCK_PLAIN, LMI_BLOCK_WALL, LMI_BLOCK_JUMP, LMI_BLOCK_CLASSES } lmi_block_class;

typedef struct lmi_block_span {
  int64_t first, count;
} lmi_block_span;

typedef struct lmi_level_blocks {
  int64_t count;
  int64_t *word;            /* place of block b in the level */
  int32_t *number;          /* block at a place, -1: none */
  int32_t (*neighbour)[27]; /* (dz + 1) * 9 + (dy + 1) * 3 + dx + 1; the block itself: none */
  int partitions;
  lmi_block_span *spans; /* partition * LMI_BLOCK_CLASSES + class */
} lmi_level_blocks;

/* Every level's blocks are dealt to partitions in slabs along z; a level may leave some empty. */
LAMINA_NODISCARD lamina_status lmi_level_blocks_create(lamina_context *ctx, const lmi_levels *levels, int level,
                                                       int partitions, lmi_level_blocks *blocks);
void lmi_level_blocks_free(lamina_context *ctx, lmi_level_blocks *blocks);

/* Do the cells along an axis fill whole words, so that a periodic axis joins words cell on cell? */
bool lmi_level_wraps_whole(const lmi_levels *levels, int level, int axis);

/* Number of a leaf cell: 64 * block + bit. */
int32_t lmi_level_cell_number(const lmi_levels *levels, int level, const lmi_level_blocks *blocks, const int64_t at[3]);

#endif
