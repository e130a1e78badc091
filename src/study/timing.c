/* SPDX-License-Identifier: Apache-2.0 */
#include "timing.h"

#include "base/ranks.h"
#include "flow/solver_internal.h"

lamina_status lmi_time_steps(lamina_solver *solver, lamina_index steps, double *seconds)
{
  const double start = lmi_clock_seconds();
  LMI_TRY(lamina_solver_run(solver, steps));
  *seconds = lmi_clock_seconds() - start;
  return lmi_ranks_broadcast(solver->ctx, 0, seconds, sizeof *seconds);
}

lamina_index lmi_times_within(double wanted, double once)
{
  const double times = once > 0.0 ? wanted / once : 1.0;
  return (lamina_index)(times < 1.0 ? 1.0 : times > 1e6 ? 1e6 : times);
}
