/* SPDX-License-Identifier: Apache-2.0 */
/* The lattice-Boltzmann method as a user of the grid: a population field, the storage its links through walls need, one
 * step operation for each parity, and what the step touches in halos, all derived from the streaming rule
 * (kernel/dense.h). */
#ifndef LMI_DENSE_FLOW_H
#define LMI_DENSE_FLOW_H

#include "grid/schedule.h"
#include "lattice.h"
#include <lamina/solver.h>

typedef struct lmi_dense_flow {
  const lmi_lattice *lattice;
  lmi_device *device;
  lmi_partition partition;
  lmi_dense_kernels kernels;
  lmi_plane_shape shape;
  lmi_field fields[2]; /* two for the two-grid pattern, else the first alone */
  int field_count;
  lmk_step *steps;        /* period x slabs: what the launches read */
  const void **arguments; /* pointers into steps, as the schedule wants them */
  lmi_schedule schedule;
  int64_t replayed;     /* steps since the state was last set: its parity counts, not the solver's step */
  size_t element_bytes; /* of a population in canonical order; stored ones may be smaller */
  int64_t nx, ny, nz;   /* cells as the kernels see them: the last axis of the box is z */
} lmi_dense_flow;

/* The box as kernels see it: (nx, ny, nz), or (nx, 1, ny) in two dimensions. */
lamina_int3 lmi_kernel_cells(const lamina_solver_options *options);

LAMINA_NODISCARD lamina_status lmi_dense_flow_create(lamina_context *ctx, const lamina_solver_options *options,
                                                     lmi_dense_flow *flow);
void lmi_dense_flow_free(lamina_context *ctx, lmi_dense_flow *flow);

/* Tells a memory profiler, if one is attached, which group lies where in host memory. */
void lmi_dense_flow_name_memory(const lmi_dense_flow *flow);

/* Bytes of all fields. */
LAMINA_NODISCARD lamina_status lmi_dense_flow_estimate(lamina_context *ctx, const lamina_solver_options *options,
                                                       uint64_t *bytes);

/* Rates, force and wall velocities of `options` into the arguments of the launches. */
void lmi_dense_flow_update(lmi_dense_flow *flow, const lamina_solver_options *options);

/* update(), and the kernels with or without a force term as options->force asks for. */
LAMINA_NODISCARD lamina_status lmi_dense_flow_set_force(lamina_context *ctx, lmi_dense_flow *flow,
                                                        const lamina_solver_options *options);

/* Advances; on a non-finite value `fault` says where (plane of the whole box). */
LAMINA_NODISCARD lamina_status lmi_dense_flow_run(lmi_dense_flow *flow, int64_t steps, lmi_fault *fault);

enum { LMI_PLANES_IMPORT, LMI_PLANES_EXPORT, LMI_PLANES_MOMENTS };

/* Moves planes [first, first + count) of the whole box between the field and `buffer` (kernel/dense.h, lmk_planes). The
 * slab boundaries inside the range are the callee's affair. Import sets the state: call it for all planes, then
 * restart(). */
LAMINA_NODISCARD lamina_status lmi_dense_flow_planes(const lmi_dense_flow *flow, int what, int64_t first, int64_t count,
                                                     void *buffer);
void lmi_dense_flow_restart(lmi_dense_flow *flow);

#endif
