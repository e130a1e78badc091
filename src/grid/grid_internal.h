/* SPDX-License-Identifier: Apache-2.0 */
/* The structs behind the handles of lamina/grid.h, for the files of this folder. */
#ifndef LMI_GRID_INTERNAL_H
#define LMI_GRID_INTERNAL_H

#include "classes.h"
#include "field.h"
#include "schedule.h"

struct lamina_grid {
  lamina_context *ctx;
  lamina_domain domain;
  lmi_extent extent;
  uint32_t stencil;
  lmi_partition partition;
  lmi_device *device;
  lmi_classes classes;
  lamina_group *groups;
  size_t group_count;
};

struct lamina_field {
  lamina_grid *grid;
  char *name;
  lamina_precision type;
  int components;
  int64_t row, origin; /* places (kernel/cells.h) */
  lmi_field storage;
};

struct lamina_kernel {
  lamina_grid *grid;
  lamina_kernel_options options;
  const lmi_kernel *function;
  lmk_cells *slabs;         /* what the launches of each slab read */
  const void **arguments;   /* pointers into slabs, as the schedule wants them */
  lmk_class_spans *classes; /* by slab, then by class served */
  double *plane_results;    /* of the whole domain */
  char *not_a_number, *scratch;
};

struct lamina_schedule {
  lamina_grid *grid;
  lmi_schedule plan;
  lmi_transfers made;
};

/* Offsets of a neighbour along the axes of the storage: in two dimensions y counts planes. */
lmk_neighbour lmi_neighbour(const lmi_extent *extent, int number);

/* Whether a slab's neighbours in a stencil lie in other planes. */
bool lmi_stencil_crosses(const lmi_extent *extent, uint32_t stencil);

/* Address of a component at a position of the storage, which may lie in the frame: plane z of slab p. */
char *lmi_cell_address(const lamina_field *field, int p, int component, int64_t x, int64_t y, int64_t z);

#endif
