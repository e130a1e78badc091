/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LMI_SOLVER_INTERNAL_H
#define LMI_SOLVER_INTERNAL_H

#include "flow.h"

struct lamina_solver {
  lamina_context *ctx;
  lamina_solver_options options;
  lmi_flow *flow;
  lamina_index step;
};

/* How many planes of `plane_bytes` to move at once: enough work for all threads, a bounded buffer. */
lamina_index lmi_chunk_planes(const lamina_solver *solver, size_t plane_bytes);

/* Moments of planes of this rank, and marks where the grid has any; either may be NULL. Not collective. */
LAMINA_NODISCARD lamina_status lmi_solver_load_planes(const lamina_solver *solver, lamina_index first,
                                                      lamina_index count, double *moments, uint8_t *marks);

/* ---- ranks: not collective unless said ---- */

/* The planes that this rank holds: all, with one rank. */
void lmi_solver_own_planes(const lamina_solver *solver, lamina_index *first, lamina_index *count);

/* How many planes from `plane` on, at most `most`, one rank holds, and which. */
lamina_index lmi_solver_planes_of_rank(const lamina_solver *solver, lamina_index plane, lamina_index most, int *rank);

/* lamina_solver_get_plane and lamina_solver_read for planes of this rank alone. */
LAMINA_NODISCARD lamina_status lmi_solver_get_own_plane(const lamina_solver *solver, lamina_index plane,
                                                        void *populations);
LAMINA_NODISCARD lamina_status lmi_solver_read_own(const lamina_solver *solver, lamina_box box,
                                                   const lamina_fields *fields);
LAMINA_NODISCARD lamina_status lmi_solver_read_own_marks(const lamina_solver *solver, lamina_box box, uint8_t *marks);

/* Gives all ranks the values of all planes, `plane_bytes` each, of which each has filled in those of its own planes.
 * Collective. */
LAMINA_NODISCARD lamina_status lmi_solver_share_planes(const lamina_solver *solver, void *values, size_t plane_bytes);

/* DIVERGED with step and the first non-finite cell from a plane on. Collective. */
LAMINA_NODISCARD lamina_status lmi_solver_report_fault(const lamina_solver *solver, lamina_index plane);

#endif
