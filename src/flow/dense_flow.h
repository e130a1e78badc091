/* SPDX-License-Identifier: Apache-2.0 */
/* The lattice-Boltzmann method as a user of the grid: a population field, the storage its links through walls need, one
 * step operation for each parity, and what the step touches in halos, all derived from the streaming rule
 * (kernel/dense.h). */
#ifndef LMI_DENSE_FLOW_H
#define LMI_DENSE_FLOW_H

#include "flow.h"

typedef struct lmi_dense_flow {
  lmi_flow base;
  lmi_partition partition;
  lmi_dense_kernels kernels;
  lmi_plane_shape shape;
  lmi_field fields[2]; /* two for the two-grid pattern, else the first alone */
  int field_count;
  lmk_step *steps;        /* period x slabs: what the launches read */
  const void **arguments; /* pointers into steps, as the schedule wants them */
  lmi_schedule schedule;
  int64_t replayed; /* steps since the state was last set: its parity counts, not the solver's step */
} lmi_dense_flow;

/* Tells a memory profiler, if one is attached, which group lies where in host memory. */
void lmi_dense_flow_name_memory(const lmi_dense_flow *flow);

#endif
