/* SPDX-License-Identifier: Apache-2.0 */
/* Slabs along the last axis: any number up to the planes of that axis, sizes that differ by at most one. Every rank has
 * the same number of them, and knows all; those of one rank follow each other. */
#ifndef LMI_PARTITION_H
#define LMI_PARTITION_H

#include "base/base.h"

typedef struct lmi_slab {
  int64_t first, planes; /* of the whole box */
  int lower, upper;      /* neighbouring slabs, -1 at an end of the box */
  int rank;              /* whose it is */
} lmi_slab;

typedef struct lmi_partition {
  int count;                /* of all ranks */
  int own_first, own_count; /* slabs of this rank */
  bool is_periodic;
  lmi_slab *slabs;
} lmi_partition;

/* `count` slabs on each rank of the context. Errors: ARGUMENT when there are more slabs than planes (the sentence names
 * the largest usable number), MEMORY. Not collective. */
LAMINA_NODISCARD lamina_status lmi_partition_create(lamina_context *ctx, int64_t planes, int count, bool is_periodic,
                                                    lmi_partition *partition);
void lmi_partition_free(lamina_context *ctx, lmi_partition *partition);

/* The slab that owns a plane. */
int lmi_partition_owner(const lmi_partition *partition, int64_t plane);

bool lmi_partition_is_own(const lmi_partition *partition, int slab);

/* The planes of a rank: all its slabs together. */
void lmi_partition_planes(const lmi_partition *partition, int rank, int64_t *first, int64_t *count);

#endif
