/* SPDX-License-Identifier: Apache-2.0 */
/* Components over the slabs of a partition: one piece of device memory a slab, in one layout. Pieces of other ranks
 * have a layout and no memory. */
#ifndef LMI_FIELD_H
#define LMI_FIELD_H

#include "device/device.h"
#include "layout.h"
#include "partition.h"

typedef struct lmi_field_piece {
  lmi_layout layout;
  void *memory;
  size_t bytes;
} lmi_field_piece;

typedef struct lmi_field {
  lmi_device *device;
  const lmi_partition *partition; /* must outlive the field */
  lmi_layout_request request;     /* planes is 0: it differs from slab to slab */
  lmi_field_piece *pieces;
} lmi_field;

LAMINA_NODISCARD lamina_status lmi_field_create(lmi_device *device, const lmi_partition *partition,
                                                const lmi_layout_request *request, lmi_field *field);
void lmi_field_free(lmi_field *field);

/* Of all ranks. */
uint64_t lmi_field_bytes(const lmi_field *field);

/* Bytes that create() would ask for. */
LAMINA_NODISCARD lamina_status lmi_field_estimate(lamina_context *ctx, const lmi_partition *partition,
                                                  const lmi_layout_request *request, uint64_t *bytes);

#endif
