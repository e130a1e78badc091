/* SPDX-License-Identifier: Apache-2.0 */
/* How the cells of levels lie in a field file (VTKHDF OverlappingAMR), for its writer and its reader. Each level is a
 * list of boxes of its own cells, and an array of a level is one flat list: box after box, x fastest. The pieces that
 * are written, read and checked at a time are the planes of a box; in two dimensions its rows.
 *
 * The format knows no flat grids whose cells hide coarser ones, so fields in two dimensions are one coarsest cell thick
 * and repeat themselves in the layers of finer levels. */
#ifndef LMI_LEVEL_LAYOUT_H
#define LMI_LEVEL_LAYOUT_H

#include "grid/level_stack.h"
#include "hdf5_store.h"

/* Of a box: low and high cell along x, y and z, both inside; what the format calls AMRBox. */
typedef int32_t lmi_level_extent[6];

typedef struct lmi_layout_level {
  size_t box_count;
  lmi_level_extent *boxes;
  uint64_t *first_piece; /* by box, one more than there are */
  uint64_t *rows;        /* cells of each piece */
  uint64_t cells;
} lmi_layout_level;

typedef struct lmi_level_layout {
  int count;
  bool is_flat;
  lmi_layout_level level[LMI_MAX_LEVELS]; /* 0 is the finest, as everywhere but in the names of the file */
} lmi_level_layout;

/* Where the levels of a solver exist. */
LAMINA_NODISCARD lamina_status lmi_level_layout_create(lamina_context *ctx, const lmi_levels *levels,
                                                       lmi_level_layout *layout);

/* What a file says. CASE where its boxes do not lie in `cells` (finest), or the coarsest level does not fill it. */
LAMINA_NODISCARD lamina_status lmi_level_layout_read(lamina_context *ctx, lmi_store *store, const int64_t cells[3],
                                                     int count, lmi_level_layout *layout);
void lmi_level_layout_free(lamina_context *ctx, lmi_level_layout *layout);

/* Which piece of a box lies at plane z, or at row y of a layer in two dimensions. */
uint64_t lmi_level_piece(const lmi_level_layout *layout, int level, size_t box, int64_t place, int64_t layer);

/* "/VTKHDF/Level0/NAME", Level0 being the coarsest; `buffer` holds LMI_FIELD_PATH_BYTES. */
const char *lmi_level_path(int count, int level, const char *name, char *buffer);
const char *lmi_level_array_path(int count, int level, const char *name, char *buffer); /* in its CellData */

#endif
