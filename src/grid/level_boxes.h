/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the box where a level exists (its leaves, and what is finer), as boxes of its cells that do not overlap:
 * what formats of nested grids ask for. The coarsest level is one box. */
#ifndef LMI_LEVEL_BOXES_H
#define LMI_LEVEL_BOXES_H

#include "level_stack.h"

typedef struct lmi_level_box {
  int64_t first[3], count[3]; /* cells of the level */
} lmi_level_box;

typedef struct lmi_level_boxes {
  size_t count;
  lmi_level_box *boxes;
} lmi_level_boxes;

/* Sorted by their lowest cell, x fastest: the same levels make the same boxes. Errors: MEMORY. */
LAMINA_NODISCARD lamina_status lmi_level_boxes_create(lamina_context *ctx, const lmi_levels *levels, int level,
                                                      lmi_level_boxes *boxes);
void lmi_level_boxes_free(lamina_context *ctx, lmi_level_boxes *boxes);

#endif
