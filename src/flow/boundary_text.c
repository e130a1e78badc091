/* SPDX-License-Identifier: Apache-2.0 */
/* The boundary text of the kernels, compiled for the host outside of any kernel: what a cell leaves for its next step
 * is found from populations after collision by the very operations of a step, so that a state that was set goes on to
 * the same bits as one that was computed. */
#include "boundary_text.h"

#include "kernel/naming.h"

#define LMK_REAL float
#define LMK_SUFFIX d2q9_f32_import
#include "kernel/lattice_d2q9.h"

#include "kernel/boundary.h"
void lmi_leave_d2q9_f32(const void *g, const lmk_boundary *set, int64_t item)
{
  LMK_NAME(leave_boundary)((const LMK_REAL *)g, set, item, 1);
}
#include "kernel/lattice_none.h"
#undef LMK_SUFFIX

#define LMK_SUFFIX d3q19_f32_import
#include "kernel/lattice_d3q19.h"

#include "kernel/boundary.h"
void lmi_leave_d3q19_f32(const void *g, const lmk_boundary *set, int64_t item)
{
  LMK_NAME(leave_boundary)((const LMK_REAL *)g, set, item, 1);
}
#include "kernel/lattice_none.h"
#undef LMK_SUFFIX

#define LMK_SUFFIX d3q27_f32_import
#include "kernel/lattice_d3q27.h"

#include "kernel/boundary.h"
void lmi_leave_d3q27_f32(const void *g, const lmk_boundary *set, int64_t item)
{
  LMK_NAME(leave_boundary)((const LMK_REAL *)g, set, item, 1);
}
#include "kernel/lattice_none.h"
#undef LMK_SUFFIX
#undef LMK_REAL

#define LMK_REAL double
#define LMK_SUFFIX d2q9_f64_import
#include "kernel/lattice_d2q9.h"

#include "kernel/boundary.h"
void lmi_leave_d2q9_f64(const void *g, const lmk_boundary *set, int64_t item)
{
  LMK_NAME(leave_boundary)((const LMK_REAL *)g, set, item, 1);
}
#include "kernel/lattice_none.h"
#undef LMK_SUFFIX

#define LMK_SUFFIX d3q19_f64_import
#include "kernel/lattice_d3q19.h"

#include "kernel/boundary.h"
void lmi_leave_d3q19_f64(const void *g, const lmk_boundary *set, int64_t item)
{
  LMK_NAME(leave_boundary)((const LMK_REAL *)g, set, item, 1);
}
#include "kernel/lattice_none.h"
#undef LMK_SUFFIX

#define LMK_SUFFIX d3q27_f64_import
#include "kernel/lattice_d3q27.h"

#include "kernel/boundary.h"
void lmi_leave_d3q27_f64(const void *g, const lmk_boundary *set, int64_t item)
{
  LMK_NAME(leave_boundary)((const LMK_REAL *)g, set, item, 1);
}
