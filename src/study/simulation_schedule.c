/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "io/case_grid.h"
#include "simulation.h"

/* Multiples are rounded from the span itself, so that a thousand frames do not drift by a thousand roundings. */
static lamina_index step_of(const lamina_case *flow, const lmi_case_span *span, int64_t count)
{
  const lamina_index stride = lmi_case_step_stride(flow);
  if (span->is_steps && span->steps % stride == 0)
    return count <= INT64_MAX / span->steps ? count * span->steps : INT64_MAX;
  /* What is asked for more often than once a step comes every step. */
  const double period = span->is_steps ? (double)span->steps : span->seconds / flow->units.time_step;
  const double step = round((double)count * fmax(1.0, period / (double)stride));
  return step < 9e18 / (double)stride ? (lamina_index)step * stride : INT64_MAX;
}

void lmi_due_start(lmi_due *due, const lamina_case *flow, const lmi_case_span *span, bool repeats,
                   lamina_index after_step)
{
  *due = (lmi_due){.span = *span, .repeats = repeats, .count = 0, .next = INT64_MAX};
  if (span->where == NULL && span->steps == 0 && span->seconds <= 0)
    return;
  if (!repeats) {
    const lamina_index step = lmi_case_span_steps(flow, span);
    due->next = step > after_step ? step : INT64_MAX;
    return;
  }
  /* Near the right multiple at once: a resumed run may stand at step 1e9. */
  const double period = (double)lmi_case_span_steps(flow, span);
  due->count = (int64_t)fmax(0.0, floor((double)after_step / period) - 2.0);
  due->next = -1;
  lmi_due_advance(due, flow, after_step);
}

void lmi_due_advance(lmi_due *due, const lamina_case *flow, lamina_index step)
{
  if (!due->repeats) {
    if (due->next <= step)
      due->next = INT64_MAX;
    return;
  }
  while (due->next <= step) {
    due->count++;
    due->next = step_of(flow, &due->span, due->count);
  }
}
