/* SPDX-License-Identifier: Apache-2.0 */
/* From kernels and what each declares to touch, to a program: transfers, private planes while they fly, boundary planes
 * after.
 *
 * A kernel says for each field which components it reads in the halo planes (they must be fetched from the neighbour's
 * boundary plane before) and which it writes there (they must be pushed to the neighbour's boundary plane after). Pull
 * needs the first, in-place streaming both: it borrows slots and gives them back. Both become copies of component
 * ranges of one plane, from the field's own memory into the field's own memory: no packing, no staging (arXiv
 * 2503.07898, section 3; lbm-spec 2.6). */
#ifndef LMI_SCHEDULE_H
#define LMI_SCHEDULE_H

#include "field.h"

/* Sets of components as bits. `low` is the halo plane below the slab, `high` the one above. */
typedef struct lmi_halo_access {
  uint32_t read_low, read_high, write_low, write_high;
} lmi_halo_access;

/* What an operation does to the slab's own cells of a field. A halo that was fetched stays valid over operations that
 * are known to leave the field alone. */
typedef enum lmi_own_access { LMI_OWN_UNKNOWN, LMI_OWN_READ, LMI_OWN_WRITTEN } lmi_own_access;

typedef struct lmi_access {
  const lmi_field *field;
  lmi_halo_access halo;
  lmi_own_access own;
} lmi_access;

/* One kernel of the period; each field stands once in its accesses. `arguments[p]` are those of slab p and are read at
 * each replay. */
typedef struct lmi_operation {
  const lmi_kernel *kernel;
  const void *const *arguments;
  const lmi_access *accesses;
  size_t access_count;
} lmi_operation;

/* Messages, summed over all slabs of all ranks. */
typedef struct lmi_message_count {
  double messages; /* contiguous ranges moved */
  double values;   /* cells times components in them, without padding */
  double bytes;    /* as moved */
} lmi_message_count;

typedef struct lmi_schedule {
  lmi_program program;
  lmi_message_count traffic; /* of one step, averaged over the period */
  lmi_message_count period;
  int exchanges; /* steps of the period before which something is sent */
  lmi_copy *copies;
  lmi_exchange **messages; /* with other ranks: at most one set a step */
  size_t message_sets;
  lmi_launch *launches;
  lmi_phase *phases;
  lmi_step_phases *steps;
} lmi_schedule;

typedef struct lmi_schedule_options {
  bool overlap;            /* private planes run while messages fly */
  bool stops_on_fault;     /* its kernels find non-finite values: all ranks stop after the same step */
  int64_t cells_per_plane; /* for the count of values */
} lmi_schedule_options;

/* Plans one step for each operation; the last is followed by the first again. Fields, arguments and kernels are kept by
 * reference. All ranks plan the same steps; nothing is sent meanwhile. */
LAMINA_NODISCARD lamina_status lmi_schedule_create(lamina_context *ctx, const lmi_partition *partition,
                                                   const lmi_operation *operations, size_t operation_count,
                                                   const lmi_schedule_options *options, lmi_schedule *schedule);
void lmi_schedule_free(lamina_context *ctx, lmi_schedule *schedule);

#endif
