/* SPDX-License-Identifier: Apache-2.0 */
/* The boundary text of the kernels, compiled for the host outside of any kernel: what a cell leaves for its next step
 * is found from populations after collision by the very operations of a step, so that a state that was set goes on to
 * the same bits as one that was computed. */
#include "boundary_text.h"

#include "kernel/naming.h"

#define LMK_REAL float
#define LMK_SUFFIX d2q9_f32_import
#define LMI_LEAVE lmi_leave_d2q9_f32
#define LMI_LEAVE_LATTICE "kernel/lattice_d2q9.h"
#include "boundary_leave.h"

#define LMK_SUFFIX d3q19_f32_import
#define LMI_LEAVE lmi_leave_d3q19_f32
#define LMI_LEAVE_LATTICE "kernel/lattice_d3q19.h"
#include "boundary_leave.h"

#define LMK_SUFFIX d3q27_f32_import
#define LMI_LEAVE lmi_leave_d3q27_f32
#define LMI_LEAVE_LATTICE "kernel/lattice_d3q27.h"
#include "boundary_leave.h"

#undef LMK_REAL

#define LMK_REAL double
#define LMK_SUFFIX d2q9_f64_import
#define LMI_LEAVE lmi_leave_d2q9_f64
#define LMI_LEAVE_LATTICE "kernel/lattice_d2q9.h"
#include "boundary_leave.h"

#define LMK_SUFFIX d3q19_f64_import
#define LMI_LEAVE lmi_leave_d3q19_f64
#define LMI_LEAVE_LATTICE "kernel/lattice_d3q19.h"
#include "boundary_leave.h"

#define LMK_SUFFIX d3q27_f64_import
#define LMI_LEAVE lmi_leave_d3q27_f64
#define LMI_LEAVE_LATTICE "kernel/lattice_d3q27.h"
#include "boundary_leave.h"

#undef LMK_REAL
