/* SPDX-License-Identifier: Apache-2.0 */
/* What every benchmark of a solver does: advance it by the clock, and choose how many steps one measurement takes. */
#ifndef LMI_TIMING_H
#define LMI_TIMING_H

#include "base/base.h"
#include <lamina/solver.h>

/* Collective: all ranks get the first one's clock, and so take the same decisions from it. */
LAMINA_NODISCARD lamina_status lmi_time_steps(lamina_solver *solver, lamina_index steps, double *seconds);

/* How many times something that took `once` seconds fits into `wanted`: 1 to a million. */
lamina_index lmi_times_within(double wanted, double once);

#endif
