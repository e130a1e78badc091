/* SPDX-License-Identifier: Apache-2.0 */
/* What the model and the live form of the scheduling study share. */
#ifndef LMI_SCHEDULING_STUDY_H
#define LMI_SCHEDULING_STUDY_H

#include <lamina/scheduling.h>

#include "base/base.h"

/* What a plan of either form must keep. */
LAMINA_NODISCARD lamina_status lmi_scheduling_check(lamina_context *ctx, const lamina_scheduling_plan *plan);

/* An empty result for a plan. */
LAMINA_NODISCARD lamina_status lmi_scheduling_create(lamina_context *ctx, const lamina_scheduling_plan *plan,
                                                     lamina_scheduling **result);

/* Five numbers and means of policy->runs; level_seconds: the integral of the level over all runs. */
LAMINA_NODISCARD lamina_status lmi_policy_summarise(lamina_context *ctx, int runs, double level_seconds,
                                                    lamina_policy_result *policy);

/* From both policies to what the aware one gains. */
void lmi_scheduling_compare(lamina_scheduling *result);

#endif
