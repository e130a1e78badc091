/* SPDX-License-Identifier: Apache-2.0 */
#include "message_plan.h"

enum { TAGS = 32768 };

void lmi_message_plan_begin(lmi_message_plan *plan)
{
  plan->count = 0;
  plan->tag = 0;
}

bool lmi_message_plan_take(lmi_message_plan *plan, const lmi_copy *copy)
{
  const lmi_slab *source = &plan->partition->slabs[copy->source_partition];
  const lmi_slab *target = &plan->partition->slabs[copy->target_partition];
  if (source->rank == target->rank)
    return false;
  const int tag = plan->tag++ % TAGS;
  const bool sends = lmi_partition_is_own(plan->partition, copy->source_partition);
  if (!sends && !lmi_partition_is_own(plan->partition, copy->target_partition))
    return true;
  plan->list[plan->count++] = (lmi_message){
    .memory = sends ? (void *)(uintptr_t)copy->source : copy->target,
    .bytes = copy->bytes,
    .rows = copy->rows,
    .pitch = copy->pitch,
    .partition = sends ? copy->source_partition : copy->target_partition,
    .peer = sends ? target->rank : source->rank,
    .tag = tag,
    .is_receive = !sends,
  };
  return true;
}

lamina_status lmi_message_plan_end(lmi_message_plan *plan, lmi_device *device, lmi_schedule *schedule,
                                   lmi_exchange **exchange)
{
  *exchange = NULL;
  if (plan->count == 0)
    return LAMINA_OK;
  LMI_TRY(device->ops->exchange != NULL ? device->ops->exchange(device, plan->list, plan->count, exchange)
                                        : lmi_exchange_create(device->ctx, plan->list, plan->count, exchange));
  schedule->messages[schedule->message_sets++] = *exchange;
  return LAMINA_OK;
}
