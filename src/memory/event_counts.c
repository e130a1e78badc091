/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "event_counts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "event_table.h"
#include "observed.h"
#include "perf_ring.h"

enum { MOST_ROWS = 32, REMARK_BYTES = 1024 };
static const uint64_t LEAST_INTERVAL_NS = 20000000, LONGEST_INTERVAL_NS = 1000000000;

typedef struct note {
  uint64_t time;
  double values[MOST_ROWS]; /* scaled */
} note;

struct lmi_event_counts {
  lamina_context *ctx;
  const lmi_event_table *table;
  int fds[MOST_ROWS]; /* one a row of the table; -1: did not open, or is a sample */
  size_t open_count;
  note *notes;
  size_t note_count, note_capacity;
  uint64_t started_ns;
  double running;
  char remark[REMARK_BYTES];
};

static void open_row(lmi_event_counts *counts, size_t row, pid_t pid)
{
  const lmi_event_row *event = &counts->table->rows[row];
  struct perf_event_attr attribute = {.size = sizeof attribute,
                                      .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
                                      .disabled = 1,
                                      .enable_on_exec = 1,
                                      .inherit = 1,
                                      .exclude_kernel = 1,
                                      .exclude_hv = 1};
  counts->fds[row] = -1;
  if (event->precise > 0)
    return;
  if (lmi_event_attribute("", event, &attribute))
    counts->fds[row] = lmi_perf_event_open(&attribute, pid, -1, -1, 0);
  const size_t used = strlen(counts->remark);
  if (counts->fds[row] >= 0)
    counts->open_count++;
  else
    snprintf(counts->remark + used, sizeof counts->remark - used, "; not counted: %s", event->name);
}

lamina_status lmi_event_counts_open(lamina_context *ctx, pid_t pid, lmi_event_counts **counts)
{
  const lmi_event_table *table = NULL;
  *counts = NULL;
  LMI_TRY(lmi_event_table_here(ctx, "", &table));
  if (table == NULL)
    return LAMINA_OK;
  LMI_TRY(LMI_ALLOC(ctx, 1, counts));
  (*counts)->ctx = ctx;
  (*counts)->table = table;
  (*counts)->running = 1;
  (*counts)->started_ns = lmi_monotonic_ns();
  char coverage[320];
  lmi_event_coverage("", table, coverage, sizeof coverage);
  snprintf((*counts)->remark, sizeof(*counts)->remark, "events of %s: %s%s", table->model, table->remark, coverage);
  for (size_t row = 0; row < MOST_ROWS; row++)
    (*counts)->fds[row] = -1;
  for (size_t row = 0; row < table->count && row < MOST_ROWS; row++)
    open_row(*counts, row, pid);
  if ((*counts)->open_count == 0) {
    lmi_event_counts_close(*counts);
    *counts = NULL;
  }
  return LAMINA_OK;
}

/* value x enabled / running: what the event would have counted had it had a counter all the time. */
static double read_scaled(lmi_event_counts *counts, size_t row)
{
  uint64_t words[3] = {0};
  if (counts->fds[row] < 0 || read(counts->fds[row], words, sizeof words) != (ssize_t)sizeof words || words[2] == 0)
    return 0;
  const double share = (double)words[2] / (double)words[1];
  if (share < counts->running)
    counts->running = share;
  return (double)words[0] / share;
}

lamina_status lmi_event_counts_tick(lamina_context *ctx, lmi_event_counts *counts, uint64_t now_ns)
{
  uint64_t interval = (now_ns - counts->started_ns) / 50;
  if (interval < LEAST_INTERVAL_NS)
    interval = LEAST_INTERVAL_NS;
  if (interval > LONGEST_INTERVAL_NS)
    interval = LONGEST_INTERVAL_NS;
  if (counts->note_count > 0 && now_ns < counts->notes[counts->note_count - 1].time + interval)
    return LAMINA_OK;
  LMI_TRY(
    lmi_observed_grow(ctx, (void **)&counts->notes, &counts->note_capacity, counts->note_count, sizeof *counts->notes));
  note *made = &counts->notes[counts->note_count++];
  made->time = now_ns;
  for (size_t row = 0; row < counts->table->count && row < MOST_ROWS; row++)
    made->values[row] = read_scaled(counts, row);
  return LAMINA_OK;
}

static double value_at(const lmi_event_counts *counts, size_t row, uint64_t time)
{
  const note *before = NULL;
  for (size_t i = 0; i < counts->note_count; i++) {
    const note *here = &counts->notes[i];
    if (here->time >= time) {
      if (before == NULL)
        return here->time > counts->started_ns && time > counts->started_ns
                 ? here->values[row] * (double)(time - counts->started_ns) / (double)(here->time - counts->started_ns)
                 : 0;
      const double part = (double)(time - before->time) / (double)(here->time - before->time);
      return before->values[row] + part * (here->values[row] - before->values[row]);
    }
    before = here;
  }
  return before != NULL ? before->values[row] : 0;
}

static void add_count(uint64_t *sum, double value)
{
  const uint64_t whole = value > 0 ? (uint64_t)value : 0;
  *sum = *sum == LAMINA_UNCOUNTED ? whole : *sum + whole;
}

void lmi_event_counts_between(const lmi_event_counts *counts, uint64_t from_ns, uint64_t to_ns, lamina_counts *result,
                              uint64_t *tier_lines)
{
  uint64_t all = LAMINA_UNCOUNTED;
  for (size_t row = 0; row < counts->table->count && row < MOST_ROWS; row++) {
    const lmi_meaning meaning = counts->table->rows[row].meaning;
    if (counts->fds[row] < 0)
      continue;
    const double value = value_at(counts, row, to_ns) - value_at(counts, row, from_ns);
    if (lmi_meaning_count(meaning) >= 0)
      add_count(&result->of[lmi_meaning_count(meaning)], value);
    else if (meaning == LMI_MEANING_LOCAL_LINES)
      add_count(&tier_lines[0], value);
    else if (meaning == LMI_MEANING_REMOTE_LINES)
      add_count(&tier_lines[1], value);
    else if (meaning == LMI_MEANING_READ_LINES)
      add_count(&all, value);
  }
  if (all != LAMINA_UNCOUNTED)
    add_count(&result->of[LAMINA_COUNT_MEMORY_READ_LINES], (double)all);
  else if (tier_lines[0] != LAMINA_UNCOUNTED && tier_lines[1] != LAMINA_UNCOUNTED)
    add_count(&result->of[LAMINA_COUNT_MEMORY_READ_LINES], (double)tier_lines[0] + (double)tier_lines[1]);
}

double lmi_event_counts_running(const lmi_event_counts *counts)
{
  return counts->running;
}

const char *lmi_event_counts_remark(const lmi_event_counts *counts)
{
  return counts->remark;
}

void lmi_event_counts_close(lmi_event_counts *counts)
{
  if (counts == NULL)
    return;
  for (size_t row = 0; row < MOST_ROWS; row++)
    if (counts->fds[row] >= 0)
      close(counts->fds[row]);
  lmi_free(counts->ctx, counts->notes);
  lmi_free(counts->ctx, counts);
}
