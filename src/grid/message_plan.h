/* SPDX-License-Identifier: Apache-2.0 */
/* What of a step goes to other ranks. All ranks plan the same copies in the same order, and each keeps its end of those
 * that cross between ranks: that order is the tag, so both ends agree without a word. */
#ifndef LMI_MESSAGE_PLAN_H
#define LMI_MESSAGE_PLAN_H

#include "schedule.h"

typedef struct lmi_message_plan {
  const lmi_partition *partition;
  lmi_message *list; /* this rank's ends; room for all copies of a step, NULL with one rank */
  size_t count;
  int tag; /* messages between any ranks so far in the step */
} lmi_message_plan;

/* Before the copies of a step. */
void lmi_message_plan_begin(lmi_message_plan *plan);

/* Takes a copy whose ends are on two ranks: true, also where both are others'. A copy inside one rank: false. The end
 * of another rank needs no address. */
bool lmi_message_plan_take(lmi_message_plan *plan, const lmi_copy *copy);

/* The messages of the step as one exchange, which the schedule keeps; *exchange is NULL without any. */
LAMINA_NODISCARD lamina_status lmi_message_plan_end(lmi_message_plan *plan, lmi_device *device, lmi_schedule *schedule,
                                                    lmi_exchange **exchange);

#endif
