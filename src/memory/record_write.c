/* SPDX-License-Identifier: Apache-2.0 */
/* From what was observed to profile files: one for each program image of each process. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_counts.h"
#include "profile_store.h"
#include "rates.h"
#include "recorder.h"

static const uint64_t UNSEEN_PAGE = UINT64_C(1)
                                    << 50; /* above every address: pages that are resident but were not seen */
static const uint64_t MOST_UNSEEN_PAGES = UINT64_C(1) << 20;

enum { MOST_RATES = 100000 }; /* a day and more; what comes later is in the phases */

static bool is_single_image(const lmi_recorder *recorder)
{
  return recorder->observed.process_count == 1;
}

/* Seconds of the process in each phase: between the changes, from its start to its end. */
static void sum_phase_seconds(const lmi_observed_process *process, size_t phase_count, double *seconds)
{
  uint64_t from = process->started;
  uint32_t phase = 0;
  for (size_t i = 0; i < phase_count; i++)
    seconds[i] = 0;
  for (size_t i = 0; i <= process->change_count; i++) {
    const uint64_t until = i < process->change_count ? process->changes[i].time : process->stopped;
    if (until > from)
      seconds[phase] += 1e-9 * (double)(until - from);
    if (i < process->change_count)
      phase = process->changes[i].phase;
    from = until > from ? until : from;
  }
}

static void uncount(uint64_t *values, size_t count)
{
  for (size_t i = 0; i < count; i++)
    values[i] = LAMINA_UNCOUNTED;
}

/* Counters belong to the whole tree of processes: they go to phases only where there is one process. */
static void count_phase(const lmi_recorder *recorder, const lmi_observed_process *process, uint32_t phase,
                        lamina_profile_phase *record)
{
  if (recorder->counts == NULL || !is_single_image(recorder))
    return;
  uint64_t from = process->started;
  uint32_t current = 0;
  for (size_t i = 0; i <= process->change_count; i++) {
    const uint64_t until = i < process->change_count ? process->changes[i].time : process->stopped;
    if (current == phase && until > from)
      lmi_event_counts_between(recorder->counts, from, until, &record->counts, record->tier_lines);
    if (i < process->change_count)
      current = process->changes[i].phase;
    from = until;
  }
}

static lamina_status write_phases(lmi_recorder *recorder, const lmi_observed_process *process, lamina_profile *profile,
                                  uint32_t *phase_map)
{
  const size_t count = recorder->observed.phase_count;
  double *seconds = NULL;
  LMI_TRY(LMI_ALLOC(recorder->ctx, count, &seconds));
  sum_phase_seconds(process, count, seconds);
  lamina_status status = LAMINA_OK;
  for (uint32_t i = 0; i < count && status == LAMINA_OK; i++) {
    size_t index = 0;
    lamina_profile_phase phase = {
      .name = recorder->observed.phase_names[i], .seconds = seconds[i], .counts = lmi_counts_none()};
    if (i > 0 && seconds[i] <= 0)
      continue; /* of another process */
    uncount(phase.tier_lines, LAMINA_TIERS_MAX);
    count_phase(recorder, process, i, &phase);
    status = lmi_memory_profile_add_phase(profile, &phase, &index);
    phase_map[i] = (uint32_t)index;
  }
  lmi_free(recorder->ctx, seconds);
  return status;
}

static lamina_status write_objects(const lmi_observed_process *process, lamina_profile *profile, uint32_t *object_map)
{
  object_map[0] = 0; /* "(other)" is there from the start */
  profile->objects.data[0].accesses = process->objects[0].accesses;
  if (profile->summary.source == LAMINA_SOURCE_PERF)
    profile->objects.data[0].misses = process->objects[0].accesses;
  for (size_t i = 1; i < process->object_count; i++) {
    const lmi_observed_object *seen = &process->objects[i];
    size_t index = 0;
    lamina_profile_object object = {.name = seen->name,
                                    .kind = seen->kind,
                                    .blocks = seen->blocks,
                                    .bytes_total = seen->bytes,
                                    .bytes_peak = seen->bytes,
                                    .last_release = LAMINA_UNCOUNTED,
                                    .accesses = seen->accesses,
                                    .misses = LAMINA_UNCOUNTED,
                                    .writebacks = LAMINA_UNCOUNTED};
    if (profile->summary.source == LAMINA_SOURCE_PERF)
      object.misses = seen->accesses;
    LMI_TRY(lmi_memory_profile_add_object(profile, &object, &index));
    object_map[i] = (uint32_t)index;
  }
  return LAMINA_OK;
}

static int by_number(const void *a, const void *b)
{
  const lmi_observed_page *x = a, *y = b;
  if (x->number != y->number)
    return x->number < y->number ? -1 : 1;
  return (x->phase > y->phase) - (x->phase < y->phase);
}

static lamina_status write_page(lamina_profile *profile, const lmi_observed_page *first, size_t count,
                                const uint32_t *phase_map, const uint32_t *object_map)
{
  lmi_profile_page page = {.number = first->number - 1, .object = object_map[first->object], .tier = -1};
  for (size_t i = 0; i < count; i++) {
    if (first[i].touched != 0 && (page.touched == 0 || first[i].touched < page.touched))
      page.touched = first[i].touched;
    if (first[i].tier_above > 0)
      page.tier = (int16_t)(first[i].tier_above - 1);
  }
  LMI_TRY(lmi_memory_profile_add_page(profile, &page));
  for (size_t i = 0; i < count; i++) {
    if (first[i].samples == 0)
      continue;
    const bool are_misses = profile->summary.source == LAMINA_SOURCE_PERF;
    LMI_TRY(lmi_memory_profile_add_page_counts(
      profile, &(lmi_profile_page_counts){.phase = phase_map[first[i].phase],
                                          .writebacks = UINT32_MAX,
                                          .accesses = first[i].samples,
                                          .misses = are_misses ? first[i].samples : LAMINA_UNCOUNTED}));
  }
  return LAMINA_OK;
}

/* Huge pages fault once and file pages may not fault at all: what is resident beyond the pages that were seen is
 * written as pages without a sample, so that shares of the footprint are right. */
static lamina_status write_unseen(const lmi_observed_process *process, lamina_profile *profile, uint64_t seen)
{
  const uint64_t resident = process->peak_bytes / profile->summary.page_bytes;
  uint64_t missing = resident > seen ? resident - seen : 0;
  if (missing > MOST_UNSEEN_PAGES)
    missing = MOST_UNSEEN_PAGES;
  for (uint64_t i = 0; i < missing; i++)
    LMI_TRY(lmi_memory_profile_add_page(profile, &(lmi_profile_page){.number = UNSEEN_PAGE + i, .tier = -1}));
  profile->summary.page_count = seen + missing;
  return LAMINA_OK;
}

static lamina_status write_pages(lmi_recorder *recorder, const lmi_observed_process *process, lamina_profile *profile,
                                 const uint32_t *phase_map, const uint32_t *object_map)
{
  lmi_observed_page *sorted = NULL;
  size_t count = 0;
  uint64_t distinct = 0;
  LMI_TRY(LMI_ALLOC(recorder->ctx, process->page_count, &sorted));
  for (size_t i = 0; i < process->page_capacity; i++)
    if (process->pages[i].number != 0)
      sorted[count++] = process->pages[i];
  qsort(sorted, count, sizeof *sorted, by_number);
  lamina_status status = LAMINA_OK;
  for (size_t i = 0, next = 0; i < count && status == LAMINA_OK; i = next) {
    for (next = i + 1; next < count && sorted[next].number == sorted[i].number; next++)
      ;
    status = write_page(profile, &sorted[i], next - i, phase_map, object_map);
    distinct++;
  }
  lmi_free(recorder->ctx, sorted);
  LMI_TRY(status);
  return write_unseen(process, profile, distinct);
}

/* Which node is which tier, where there are several. */
static lamina_status write_tier_names(const lmi_recorder *recorder, lamina_profile *profile)
{
  const lamina_machine *machine = recorder->machine;
  lmi_text text = {0};
  lamina_status status = LAMINA_OK;
  for (size_t t = 0; machine->tier_count > 1 && t < machine->tier_count && status == LAMINA_OK; t++) {
    status =
      lmi_text_append(recorder->ctx, &text, "%stier %zu: %s, node", t > 0 ? "; " : "", t, machine->tiers[t].name);
    for (size_t i = 0; i < machine->node_count && status == LAMINA_OK; i++)
      if (machine->nodes[i].tier == (int)t)
        status = lmi_text_append(recorder->ctx, &text, " %d", machine->nodes[i].id);
  }
  if (status == LAMINA_OK && text.length > 0)
    status = lmi_memory_profile_add_remark(profile, "%s", text.data);
  lmi_text_free(recorder->ctx, &text);
  return status;
}

/* What a reader must know before believing the numbers. */
static lamina_status write_remarks(const lmi_recorder *recorder, const lmi_observed_process *process,
                                   const lamina_record_result *result, lamina_profile *profile)
{
  const uint64_t tried = process->samples + process->unresolved;
  uint64_t busiest = 0;
  for (size_t i = 0; i < LMI_COUNT(recorder->processor_samples); i++)
    if (recorder->processor_samples[i] > busiest)
      busiest = recorder->processor_samples[i];
  LMI_TRY(lmi_memory_profile_add_remark(
    profile, "%s", recorder->source != NULL ? recorder->source->says : "resident pages over time only"));
  if (result->reason[0] != '\0')
    LMI_TRY(lmi_memory_profile_add_remark(profile, "not used here: %s", result->reason));
  if (tried > 0)
    LMI_TRY(lmi_memory_profile_add_remark(profile, "%llu of %llu samples gave an address",
                                          (unsigned long long)process->samples, (unsigned long long)tried));
  if (result->lost > 0)
    LMI_TRY(lmi_memory_profile_add_remark(profile, "%llu records were lost because the program was faster than we",
                                          (unsigned long long)result->lost));
  if (recorder->sample_count >= 1000 && busiest == recorder->sample_count && process->thread_count > 1)
    LMI_TRY(
      lmi_memory_profile_add_remark(profile,
                                    "one processor gave all samples although %zu threads ran: the others were not "
                                    "sampled, or the program ran on one processor",
                                    process->thread_count));
  if (recorder->counts != NULL)
    LMI_TRY(lmi_memory_profile_add_remark(profile, "%s; counted for at least %.0f %% of the time",
                                          lmi_event_counts_remark(recorder->counts),
                                          100 * lmi_event_counts_running(recorder->counts)));
  for (size_t i = 0; i < lmi_named_events_count(recorder->named); i++) {
    char text[320];
    lmi_named_events_text(recorder->named, i, text, sizeof text);
    LMI_TRY(
      lmi_memory_profile_add_remark(profile, "%s%s", text, is_single_image(recorder) ? "" : ", in all processes"));
  }
  if (recorder->uncore_remark[0] != '\0')
    LMI_TRY(lmi_memory_profile_add_remark(profile, "%s", recorder->uncore_remark));
  if (!recorder->has_numa_maps)
    LMI_TRY(lmi_memory_profile_add_remark(profile,
                                          "the kernel shows no numa_maps: the footprint is the resident set, all of it "
                                          "counted for the first tier"));
  if (recorder->machine->numa_balancing > 0)
    LMI_TRY(lmi_memory_profile_add_remark(profile, "numa_balancing was on: pages may have moved by themselves"));
  return LAMINA_OK;
}

static lamina_status write_process(lmi_recorder *recorder, const lmi_observed_process *process, lamina_profile *profile)
{
  lamina_profile_process record = {.command = process->command,
                                   .ended = process->ended,
                                   .pid = (int)process->pid,
                                   .parent = (int)process->parent,
                                   .rank = process->rank,
                                   .footprint_bytes = process->peak_bytes,
                                   .counts = lmi_counts_none()};
  uint64_t tier_lines[LAMINA_TIERS_MAX];
  uncount(tier_lines, LAMINA_TIERS_MAX);
  if (record.footprint_bytes == 0)
    record.footprint_bytes =
      process->touches > 0 ? process->touches << recorder->observed.page_shift : LAMINA_UNCOUNTED;
  if (recorder->counts != NULL && is_single_image(recorder))
    lmi_event_counts_between(recorder->counts, process->started, process->stopped, &record.counts, tier_lines);
  LMI_TRY(lmi_memory_profile_add_process(profile, &record, NULL));
  for (size_t i = 0; i < process->thread_count; i++)
    LMI_TRY(lmi_memory_profile_add_thread(
      profile, &(lamina_profile_thread){.process = 0, .id = (int)process->threads[i].id, .counts = lmi_counts_none()}));
  for (size_t i = 0; i < process->footprint_count; i++)
    LMI_TRY(lmi_memory_profile_add_footprint(profile, &process->footprint[i]));
  return LAMINA_OK;
}

static lamina_status fill(lmi_recorder *recorder, const lmi_observed_process *process,
                          const lamina_record_result *result, lamina_profile *profile)
{
  uint32_t *phase_map = NULL, *object_map = NULL;
  lamina_status status = LAMINA_OK;
  profile->summary.page_bytes = (uint64_t)1 << recorder->observed.page_shift;
  profile->summary.sample_count = process->samples;
  profile->summary.tier_count =
    (int)(recorder->machine->tier_count < LAMINA_TIERS_MAX ? recorder->machine->tier_count : LAMINA_TIERS_MAX);
  if (recorder->source == &lmi_source_clock)
    profile->summary.sample_period = (uint64_t)(1e9 / recorder->options.clock_hz);
  else if (recorder->source == &lmi_source_perf)
    profile->summary.sample_period = recorder->options.sample_period;
  LMI_TRY_GOTO(status, LMI_ALLOC(recorder->ctx, recorder->observed.phase_count, &phase_map), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(recorder->ctx, process->object_count, &object_map), cleanup);
  LMI_TRY_GOTO(status, write_process(recorder, process, profile), cleanup);
  LMI_TRY_GOTO(status, write_phases(recorder, process, profile, phase_map), cleanup);
  LMI_TRY_GOTO(status, write_objects(process, profile, object_map), cleanup);
  LMI_TRY_GOTO(status, write_pages(recorder, process, profile, phase_map, object_map), cleanup);
  LMI_TRY_GOTO(status, write_remarks(recorder, process, result, profile), cleanup);
  LMI_TRY_GOTO(status, write_tier_names(recorder, profile), cleanup);
cleanup:
  lmi_free(recorder->ctx, phase_map);
  lmi_free(recorder->ctx, object_map);
  return status;
}

static lamina_status write_one(lmi_recorder *recorder, const lmi_observed_process *process,
                               const lamina_record_result *result)
{
  lamina_profile *profile = NULL;
  lmi_text path = {0};
  const lamina_profile_source kind = recorder->source != NULL ? recorder->source->kind : LAMINA_SOURCE_FAULT;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lmi_memory_profile_create(recorder->ctx, kind, &profile), cleanup);
  LMI_TRY_GOTO(status, fill(recorder, process, result, profile), cleanup);
  LMI_TRY_GOTO(status, lmi_text_append(recorder->ctx, &path, "%s/process.%u", recorder->folder, process->pid), cleanup);
  if (process->image > 0)
    LMI_TRY_GOTO(status, lmi_text_append(recorder->ctx, &path, ".%d", process->image), cleanup);
  LMI_TRY_GOTO(status, lmi_text_append(recorder->ctx, &path, ".profile"), cleanup);
  LMI_TRY_GOTO(status, lmi_memory_profile_write(profile, path.data), cleanup);
cleanup:
  lmi_text_free(recorder->ctx, &path);
  lamina_profile_destroy(profile);
  return status;
}

/* Each second of the whole tree of processes, which is what the counters belong to. */
static lamina_status write_rates(lmi_recorder *recorder, double seconds)
{
  const size_t count = seconds < MOST_RATES ? (size_t)ceil(seconds) : (size_t)MOST_RATES;
  lmi_rate *rates = NULL;
  if (recorder->counts == NULL || count == 0)
    return LAMINA_OK;
  LMI_TRY(LMI_ALLOC(recorder->ctx, count, &rates));
  for (size_t i = 0; i < count; i++) {
    lamina_counts counts = lmi_counts_none();
    uint64_t tier_lines[LAMINA_TIERS_MAX];
    const double end = fmin((double)i + 1, seconds);
    uncount(tier_lines, LAMINA_TIERS_MAX);
    lmi_event_counts_between(recorder->counts, recorder->started_ns + (uint64_t)i * 1000000000,
                             recorder->started_ns + (uint64_t)(1e9 * end), &counts, tier_lines);
    rates[i] = (lmi_rate){.seconds = (double)i,
                          .length = end - (double)i,
                          .flops = lamina_counts_flops(&counts),
                          .bytes = lamina_counts_memory_bytes(&counts)};
  }
  const lamina_status status = lmi_rates_write(recorder->ctx, recorder->folder, rates, count);
  lmi_free(recorder->ctx, rates);
  return status;
}

lamina_status lmi_recorder_write(lmi_recorder *recorder, const lamina_record_result *result)
{
  LMI_TRY(write_rates(recorder, result->seconds));
  for (size_t i = 0; i < recorder->observed.process_count; i++)
    LMI_TRY(write_one(recorder, recorder->observed.processes[i], result));
  return LAMINA_OK;
}
