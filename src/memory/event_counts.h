/* SPDX-License-Identifier: Apache-2.0 */
/* Counting a program's hardware events, children included. Everything may be missing; what is missing stays uncounted
 * and is named. */
#ifndef LMI_EVENT_COUNTS_H
#define LMI_EVENT_COUNTS_H

#include <sys/types.h>

#include "base/base.h"
#include "lamina/memory_profile.h"

typedef struct lmi_event_counts lmi_event_counts;

/* Opens what this processor's table has. *counts is NULL when there is no table or no event opens (never an error by
 * itself). */
LAMINA_NODISCARD lamina_status lmi_event_counts_open(lamina_context *ctx, pid_t pid, lmi_event_counts **counts);

/* Notes the counts of this moment, if enough time has passed: phases are cut from these notes. */
LAMINA_NODISCARD lamina_status lmi_event_counts_tick(lamina_context *ctx, lmi_event_counts *counts, uint64_t now_ns);

/* Counts between two times (linear between notes), scaled where the counters had to share the hardware. tier_lines:
 * local in 0, remote in 1, the rest uncounted. */
void lmi_event_counts_between(const lmi_event_counts *counts, uint64_t from_ns, uint64_t to_ns, lamina_counts *result,
                              uint64_t *tier_lines);

/* Least share of the time in which an event was really counted; 1: no sharing. */
double lmi_event_counts_running(const lmi_event_counts *counts);

/* What the numbers mean and which events are missing. */
const char *lmi_event_counts_remark(const lmi_event_counts *counts);

void lmi_event_counts_close(lmi_event_counts *counts);

#endif
