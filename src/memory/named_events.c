/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "named_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf_ring.h"

typedef struct named_event {
  const char *name;
  int fd, error_number;
} named_event;

struct lmi_named_events {
  lamina_context *ctx;
  named_event *events;
  size_t count;
};

static lamina_status open_event(lamina_context *ctx, const char *name, pid_t pid, named_event *event)
{
  struct perf_event_attr attribute = {.size = sizeof attribute};
  LMI_TRY(lmi_event_encode(ctx, name, &attribute));
  attribute.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attribute.disabled = attribute.enable_on_exec = attribute.inherit = 1;
  event->name = name;
  event->fd = lmi_perf_event_open(&attribute, pid, -1, -1, 0);
  event->error_number = event->fd < 0 ? errno : 0;
  return LAMINA_OK;
}

lamina_status lmi_named_events_open(lamina_context *ctx, const char *const *names, size_t count, pid_t pid,
                                    lmi_named_events **events)
{
  lmi_named_events *made = NULL;
  *events = NULL;
  if (count == 0)
    return LAMINA_OK;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 1, &made), cleanup);
  made->ctx = ctx;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &made->events), cleanup);
  for (; made->count < count && status == LAMINA_OK; made->count += status == LAMINA_OK)
    status = open_event(ctx, names[made->count], pid, &made->events[made->count]);
cleanup:
  if (status != LAMINA_OK)
    lmi_named_events_close(made);
  else
    *events = made;
  return status;
}

void lmi_named_events_text(const lmi_named_events *events, size_t index, char *text, size_t size)
{
  const named_event *event = &events->events[index];
  uint64_t words[3] = {0}; /* value, time enabled, time running */
  if (event->fd < 0)
    snprintf(text, size, "%s: not counted (%s)", event->name, strerror(event->error_number));
  else if (read(event->fd, words, sizeof words) != (ssize_t)sizeof words || words[2] == 0)
    snprintf(text, size, "%s: not counted (it never had a counter)", event->name);
  else
    snprintf(text, size, "%s: %.0f (counted %.0f %% of the time)", event->name,
             (double)words[0] * (double)words[1] / (double)words[2], 100 * (double)words[2] / (double)words[1]);
}

size_t lmi_named_events_count(const lmi_named_events *events)
{
  return events != NULL ? events->count : 0;
}

void lmi_named_events_close(lmi_named_events *events)
{
  if (events == NULL)
    return;
  for (size_t i = 0; i < events->count; i++)
    if (events->events[i].fd >= 0)
      close(events->events[i].fd);
  lmi_free(events->ctx, events->events);
  lmi_free(events->ctx, events);
}
