/* SPDX-License-Identifier: Apache-2.0 */
/* One row of boundary_text.c: the boundary text for a lattice (LMI_LEAVE_LATTICE, its header) and a precision
 * (LMK_REAL) under the name LMI_LEAVE. Takes its parameters away again, so it has no guard. */
#include LMI_LEAVE_LATTICE

#include "kernel/boundary.h"

void LMI_LEAVE(const void *g, const lmk_boundary *set, int64_t item)
{
  LMK_NAME(leave_boundary)((const LMK_REAL *)g, set, item, 1);
}
#include "kernel/lattice_none.h"

#undef LMI_LEAVE
#undef LMI_LEAVE_LATTICE
#undef LMK_SUFFIX
