/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of 64 cells where there is fluid, sorted by one key: (partition, section, kind, place). What kernels
 * read of them stands in kernel/block.h. A level of a stack of grids is such a set of blocks too: what is fluid of
 * another level lies `elsewhere`.
 *
 * Partitions are runs of layers of blocks along the last axis, so that a partition has two neighbours at most and what
 * crosses a face is one range of components of one plane. Sections are those of the disaggregated layout: blocks that
 * touch the partition below, private blocks, blocks that touch the one above; halo blocks follow, one plane each. The
 * kind says whether a block has cells with boundary data, and whether it touches another level; sorting by the first is
 * the memory grouping (arXiv 2503.07898, section 4), by the second that of section 5. */
#ifndef LMI_BLOCKS_H
#define LMI_BLOCKS_H

#include "base/base.h"
#include "kernel/prelude_host.h"

#include "kernel/dense.h"

#include "kernel/block.h"
#include "partition.h"
#include <lamina/types.h>

/* Bits of the block at (x, y, z), counted in blocks: cells that are solid, cells that another level has; of the active
 * ones, those with boundary data. Called from several threads. */
typedef uint64_t lmi_block_solid(const void *user, lamina_int3 block);
typedef uint64_t lmi_block_elsewhere(const void *user, lamina_int3 block);
typedef uint64_t lmi_block_special(const void *user, lamina_int3 block, uint64_t active);

typedef struct lmi_block_request {
  lamina_int3 cells; /* of the box, in the kernels' axes */
  bool is_flat;      /* y is one cell thick: blocks of 8 x 1 x 8 */
  int partitions;    /* on each rank */
  int velocities;
  const int8_t (*c)[4];
  bool is_periodic[3];
  bool is_wall[LMK_FACES];        /* faces whose links carry 1 + face; others that are not periodic cut links at rest */
  lmi_block_solid *solid;         /* NULL: none */
  lmi_block_elsewhere *elsewhere; /* NULL: none. Links into such cells are not cut: jumps supply them (jump.h) */
  lmi_block_special *special;     /* NULL: none */
  const void *user;
  lamina_grouping grouping;
  bool on_curve; /* sorted along a Morton curve: neighbours are near on all axes. Else row by row: a host's next block
                  * is the neighbour along x, and what the ones after it meet is known (docs/dev/performance.md) */
} lmi_block_request;

/* Blocks of a section by kind. Special ones lie apart with grouping MEMORY alone. */
typedef enum lmi_block_kind {
  LMI_BLOCK_PLAIN,
  LMI_BLOCK_JUMP, /* a cell of it touches one elsewhere, by face, edge or corner */
  LMI_BLOCK_SPECIAL,
  LMI_BLOCK_SPECIAL_JUMP,
  LMI_BLOCK_KINDS
} lmi_block_kind;

typedef struct lmi_block_run {
  int32_t first, count;
} lmi_block_run;

/* Sections of a partition in storage order; any may be empty or, like halos at an end of the box, not there (-1). With
 * one layer of blocks lower_boundary and upper_boundary are the same. */
typedef struct lmi_block_part {
  int32_t blocks, stored; /* own; with halos */
  int32_t section_count;
  lmk_block_section sections[LMK_BLOCK_SECTIONS];
  int lower_boundary, private_section, upper_boundary, lower_halo, upper_halo;
  int64_t elements; /* of a field of `velocities` components */
  int64_t cells;    /* with fluid */
  int64_t first_layer, layers;
  int top_plane; /* of a block of the top layer: the last plane inside the box */
  int32_t *neighbours;
  uint64_t *active;
  uint32_t *extents;
  int32_t *link_first;
  lmk_block_link *links;
  int64_t link_count;
  uint8_t *kinds;
  uint64_t *special;
  int64_t special_blocks, special_cells;
  int32_t *items; /* as the grouping wants it, or NULL */
  int64_t item_count;
  int32_t section_items[LMK_BLOCK_SECTIONS]; /* MEMORY: first item of the section's special blocks */
  int32_t section_plain[LMK_BLOCK_SECTIONS]; /* MEMORY: plain blocks at the head of each section */
  lmi_block_run runs[LMK_BLOCK_SECTIONS][LMI_BLOCK_KINDS];
  int32_t *layer_first, *layer_blocks, *places;
  uint64_t table_bytes;
} lmi_block_part;

typedef struct lmi_blocks {
  lmi_block_request request;
  lamina_int3 box;       /* in blocks */
  lmi_partition layers;  /* of blocks */
  lmi_partition planes;  /* the same slabs in planes of cells */
  lmi_block_part *parts; /* layers.count; those of other ranks have sizes and sections, but no tables */
  int64_t cells, blocks; /* with fluid, of all ranks */
  int64_t special_blocks;
  uint64_t table_bytes; /* of this rank */
} lmi_blocks;

/* Not collective: every rank looks at the whole box. Errors: ARGUMENT when there are more partitions than layers, no
 * cell with fluid, or more blocks than 2^31; MEMORY. */
LAMINA_NODISCARD lamina_status lmi_blocks_create(lamina_context *ctx, const lmi_block_request *request,
                                                 lmi_blocks *blocks);
void lmi_blocks_free(lamina_context *ctx, lmi_blocks *blocks);

/* The tables of a partition as a kernel reads them; `section` chooses the item rule of MEMORY. */
lmk_block_grid lmi_blocks_grid(const lmi_blocks *blocks, int part, int section, int streaming);

/* Cell of the box (kernels' axes), and the item of a special cell. */
lamina_int3 lmi_blocks_cell(const lmi_blocks *blocks, int part, int32_t block, int bit);
int32_t lmi_blocks_item(const lmi_blocks *blocks, int part, int32_t block, int bit);

/* The place of the block at an offset of -1, 0, 1 along each axis from another; false where there is none. */
bool lmi_blocks_beside(const lmi_blocks *blocks, const int32_t *place, const int offset[3], int64_t at[3]);

/* Does a periodic axis end inside a block? */
bool lmi_blocks_are_ragged(const lmi_block_request *request);

/* Layers along the last axis of a box of so many cells: the most partitions there can be. */
int64_t lmi_block_layers(int64_t planes, bool is_flat);

/* ---- between blocks.c and block_tables.c ---- */

/* Every block of the box: its active cells and its number in its partition (-1: none). */
typedef struct lmi_block_map {
  uint64_t *active;
  int32_t *number;
} lmi_block_map;

LAMINA_NODISCARD lamina_status lmi_blocks_make_tables(lamina_context *ctx, lmi_blocks *blocks,
                                                      const lmi_block_map *map);

#endif
