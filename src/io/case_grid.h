/* SPDX-License-Identifier: Apache-2.0 */
/* The key `grid` of a case: dense, sparse, or levels with their refinement. */
#ifndef LMI_CASE_GRID_H
#define LMI_CASE_GRID_H

#include "case_read.h"

/* `grid: WORD` or `grid: {kind: WORD, ...}`. Target: lmi_case_grid. */
lmi_case_read_value lmi_case_read_grid;

/* What the keys of the grid must hold together; fills the grid's part of flow->solver. After the units. */
LAMINA_NODISCARD lamina_status lmi_case_check_grid(lamina_case *flow);

/* Steps come in multiples of this: one step of the coarsest level. */
lamina_index lmi_case_step_stride(const lamina_case *flow);

#endif
