/* SPDX-License-Identifier: Apache-2.0 */
/* Classification (step two of the method): what user properties say of each cell, as one class number, and for every
 * class the spans of neighbouring cells it consists of, in the order of planes, rows and cells. */
#ifndef LMI_CLASSES_H
#define LMI_CLASSES_H

#include "device/device.h"
#include "kernel/prelude_host.h"

#include "kernel/dense.h"

#include "kernel/cells.h"
#include <lamina/grid.h>

typedef struct lmi_class_spans {
  int values[LAMINA_MAX_PROPERTIES]; /* what each property says */
  int64_t *first;                    /* planes + 1 entries (kernel/cells.h) */
  lmk_cell_span *spans;
} lmi_class_spans;

typedef struct lmi_classes {
  int property_count;
  int count; /* at least 1 */
  lmi_class_spans *classes;
  bool is_plain; /* no properties: one class of all cells, whose spans are the rows and are not stored */
} lmi_classes;

/* The cells as planes see them (schedule.h): in two dimensions ny is 1 and y counts planes. */
typedef struct lmi_extent {
  int64_t nx, ny, nz;
  bool is_flat;
} lmi_extent;

/* Asks every property of every cell. Errors: ARGUMENT (a class out of its bounds, with the cell), MEMORY. */
LAMINA_NODISCARD lamina_status lmi_classes_create(lamina_context *ctx, const lmi_extent *extent,
                                                  const lamina_property *properties, int count, lmi_classes *classes);
void lmi_classes_free(lamina_context *ctx, lmi_classes *classes);

/* Whether a kernel that serves these classes by property (0: all) runs on the cells of this class. */
bool lmi_class_is_served(const lmi_class_spans *spans, const uint32_t serves[LAMINA_MAX_PROPERTIES]);

#endif
