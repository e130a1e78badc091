/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware events that a user names himself, by libpfm4. For what the checked table has not; the numbers become remarks
 * of the profile, without a meaning of ours. */
#ifndef LMI_NAMED_EVENTS_H
#define LMI_NAMED_EVENTS_H

#include <sys/types.h>

#include "base/base.h"

struct perf_event_attr;

/* Encodes "UNIT::EVENT:MASK". Errors: ARGUMENT (not known here, with libpfm4's reason), UNAVAILABLE (a build without
 * libpfm4). */
LAMINA_NODISCARD lamina_status lmi_event_encode(lamina_context *ctx, const char *name,
                                                struct perf_event_attr *attribute);

typedef struct lmi_named_events lmi_named_events;

/* Opens each for the process `pid` and what it starts, from its next exec on. A name that cannot be encoded fails; one
 * that the system does not open is told by _text. Nothing for count 0: *events is NULL. */
LAMINA_NODISCARD lamina_status lmi_named_events_open(lamina_context *ctx, const char *const *names, size_t count,
                                                     pid_t pid, lmi_named_events **events);

/* "NAME: 123456 (counted 50 % of the time)", or why not; of the event with that number. */
void lmi_named_events_text(const lmi_named_events *events, size_t index, char *text, size_t size);
size_t lmi_named_events_count(const lmi_named_events *events); /* 0 for NULL */
void lmi_named_events_close(lmi_named_events *events);

#endif
