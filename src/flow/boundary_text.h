/* SPDX-License-Identifier: Apache-2.0 */
/* leave_boundary() of kernel/boundary.h at an odd step, for populations in canonical velocity order. */
#ifndef LMI_BOUNDARY_TEXT_H
#define LMI_BOUNDARY_TEXT_H

#include "kernel/prelude_host.h"

#include "kernel/dense.h"

#include "kernel/boundary_data.h"

typedef void lmi_leave_function(const void *g, const lmk_boundary *set, int64_t item);

lmi_leave_function lmi_leave_d2q9_f32, lmi_leave_d3q19_f32, lmi_leave_d3q27_f32, lmi_leave_d2q9_f64,
  lmi_leave_d3q19_f64, lmi_leave_d3q27_f64;

#endif
