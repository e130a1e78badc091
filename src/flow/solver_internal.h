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

/* DIVERGED with step and the first non-finite cell from a plane on. */
LAMINA_NODISCARD lamina_status lmi_solver_report_fault(const lamina_solver *solver, lamina_index plane);

#endif
