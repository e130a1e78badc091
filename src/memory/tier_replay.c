/* SPDX-License-Identifier: Apache-2.0 */
/* Tier emulation: pages are put into tiers in the order of their first touches, as Linux's first-touch policy with a
 * full node would, and each tier's traffic is summed phase by phase. */
#include <math.h>
#include <stdlib.h>

#include "profile_store.h"

#include <lamina/placement.h>

enum { LINE_BYTES = 64, ANY = -1 };
static const double TOLERANCE = 0.05, DEFAULT_OUTSTANDING = 10;

#define TEXT_CASE(name, text) \
  case name:                  \
    return text;
#define NAME_OF(name, value, text, description) TEXT_CASE(name, text)
#define DESCRIPTION_OF(name, value, text, description) TEXT_CASE(name, description)

const char *lamina_tier_reading_name(lamina_tier_reading reading)
{
  switch (reading) {
    LAMINA_TIER_READING_LIST(NAME_OF)
  default: return NULL;
  }
}

const char *lamina_tier_reading_text(lamina_tier_reading reading)
{
  switch (reading) {
    LAMINA_TIER_READING_LIST(DESCRIPTION_OF)
  default: return NULL;
  }
}

lamina_tier_reading lamina_tier_read(double r_access, double r_cap, double r_bw)
{
  const double low = r_cap < r_bw ? r_cap : r_bw, high = r_cap > r_bw ? r_cap : r_bw;
  if (isnan(r_access))
    return LAMINA_READING_NONE;
  if (r_access > high + TOLERANCE)
    return LAMINA_READING_EXCESS;
  return r_access < low - TOLERANCE ? LAMINA_READING_UNUSED : LAMINA_READING_BALANCED;
}

lamina_replay_options lamina_replay_options_default(void)
{
  return (lamina_replay_options){.outstanding_lines = DEFAULT_OUTSTANDING};
}

/* ---- the order of events ---- */

/* A touch or a release of one page life. */
typedef struct event {
  uint64_t order;
  uint32_t page;
  bool is_release;
} event;

/* Releases before touches of the same number: other processes count for themselves. */
static int compare_events(const void *a, const void *b)
{
  const event *x = a, *y = b;
  if (x->order != y->order)
    return x->order < y->order ? -1 : 1;
  if (x->is_release != y->is_release)
    return x->is_release ? -1 : 1;
  return x->page < y->page ? -1 : x->page > y->page;
}

typedef struct run {
  const lamina_profile *profile;
  const lamina_replay_options *options;
  lamina_replay *result;
  event *events;
  size_t event_count;
  int8_t *tier;   /* of each page; ANY before it is touched */
  bool *is_fixed; /* its object has a place of its own */
  uint64_t free_pages[LAMINA_TIERS_MAX], resident[LAMINA_TIERS_MAX];
} run;

static lamina_status list_events(run *r)
{
  const lamina_profile *profile = r->profile;
  lamina_context *ctx = profile->ctx;
  LMI_TRY(LMI_ALLOC(ctx, 2 * profile->pages.count, &r->events));
  for (size_t i = 0; i < profile->pages.count; i++) {
    const lmi_profile_page *page = &profile->pages.data[i];
    LMI_REQUIRE(ctx, page->touched != 0 || page->count_count == 0, LAMINA_UNAVAILABLE,
                "the source '%s' does not know in which order pages were touched: record with --source trace",
                lamina_profile_source_name(profile->summary.source));
    if (page->touched == 0)
      continue;
    r->events[r->event_count++] = (event){.order = page->touched, .page = (uint32_t)i};
    if (page->released > page->touched)
      r->events[r->event_count++] = (event){.order = page->released, .page = (uint32_t)i, .is_release = true};
  }
  if (r->event_count > 1)
    qsort(r->events, r->event_count, sizeof *r->events, compare_events);
  return LAMINA_OK;
}

static uint64_t peak_pages(const run *r)
{
  uint64_t live = 0, peak = 0;
  for (size_t i = 0; i < r->event_count; i++) {
    live += r->events[i].is_release ? (uint64_t)-1 : 1;
    peak = live > peak ? live : peak;
  }
  return peak;
}

/* ---- tiers ---- */

static lamina_status check_tiers(const lamina_profile *profile, const lamina_replay_options *options)
{
  lamina_context *ctx = profile->ctx;
  LMI_REQUIRE(ctx, options->tier_count >= 1 && options->tier_count <= LAMINA_TIERS_MAX, LAMINA_ERROR_ARGUMENT,
              "%d tiers: 1 to %d are allowed", options->tier_count, LAMINA_TIERS_MAX);
  LMI_REQUIRE(ctx, options->fast_percent >= 0 && options->fast_percent <= 100, LAMINA_ERROR_ARGUMENT,
              "%g %% of the footprint in the fast tier: 0 to 100 are allowed", options->fast_percent);
  for (int i = 0; i < options->tier_count; i++)
    LMI_REQUIRE(ctx, options->tiers[i].gb_per_s > 0 && options->tiers[i].latency_ns > 0, LAMINA_ERROR_ARGUMENT,
                "tier '%s': bandwidth %g GB/s and latency %g ns must be above 0", options->tiers[i].name,
                options->tiers[i].gb_per_s, options->tiers[i].latency_ns);
  return LAMINA_OK;
}

static void set_capacities(run *r, uint64_t peak)
{
  const uint64_t page_bytes = r->profile->summary.page_bytes;
  lamina_replay *result = r->result;
  const int last = r->options->tier_count - 1;
  double sum = 0;
  result->peak_bytes = peak * page_bytes;
  result->tier_count = r->options->tier_count;
  for (int tier = 0; tier <= last; tier++)
    sum += r->options->tiers[tier].gb_per_s;
  for (int tier = 0; tier <= last; tier++) {
    uint64_t capacity = r->options->tiers[tier].capacity_bytes;
    if (tier == 0 && r->options->fast_percent > 0)
      capacity = (uint64_t)(r->options->fast_percent / 100 * (double)peak) * page_bytes;
    if (tier == last || (capacity == 0 && !(tier == 0 && r->options->fast_percent > 0)))
      capacity = UINT64_MAX;
    result->capacity_bytes[tier] = capacity;
    r->free_pages[tier] = capacity == UINT64_MAX ? UINT64_MAX : capacity / page_bytes;
    result->r_bw[tier] = r->options->tiers[tier].gb_per_s / sum;
  }
}

/* ---- objects with a place of their own ---- */

typedef struct heat {
  uint64_t lines;
  uint32_t page, object;
} heat;

static uint64_t lines_of(const lamina_profile *profile, const lmi_profile_page *page)
{
  uint64_t lines = 0;
  for (uint32_t i = 0; i < page->count_count; i++) {
    const lmi_profile_page_counts *counts = &profile->counts.data[page->first_count + i];
    lines += counts->misses == LAMINA_UNCOUNTED ? counts->accesses : counts->misses;
    lines += counts->writebacks == UINT32_MAX ? 0 : counts->writebacks;
  }
  return lines;
}

static int compare_heat(const void *a, const void *b)
{
  const heat *x = a, *y = b;
  if (x->object != y->object)
    return x->object < y->object ? -1 : 1;
  if (x->lines != y->lines)
    return x->lines > y->lines ? -1 : 1;
  return x->page < y->page ? -1 : x->page > y->page;
}

/* Gives the hottest pages of each object with a place their tier. */
static void fix_object(run *r, const heat *pages, size_t count)
{
  const lamina_object_placement *place = &r->options->objects[pages[0].object];
  if (place->tier < 0 || place->tier >= r->options->tier_count)
    return;
  const size_t fixed = (size_t)(place->fraction * (double)count + 0.5);
  for (size_t i = 0; i < count; i++) {
    const int tier = i < fixed ? place->tier : place->rest;
    if (tier < 0 || tier >= r->options->tier_count)
      break;
    r->tier[pages[i].page] = (int8_t)tier;
    r->is_fixed[pages[i].page] = true;
  }
}

static lamina_status fix_objects(run *r)
{
  const lamina_profile *profile = r->profile;
  heat *pages = NULL;
  if (r->options->objects == NULL)
    return LAMINA_OK;
  LMI_TRY(LMI_ALLOC(profile->ctx, profile->pages.count, &pages));
  for (size_t i = 0; i < profile->pages.count; i++)
    pages[i] = (heat){.lines = lines_of(profile, &profile->pages.data[i]),
                      .page = (uint32_t)i,
                      .object = profile->pages.data[i].object};
  if (profile->pages.count > 1)
    qsort(pages, profile->pages.count, sizeof *pages, compare_heat);
  for (size_t first = 0, end; first < profile->pages.count; first = end) {
    for (end = first; end < profile->pages.count && pages[end].object == pages[first].object;)
      end++;
    fix_object(r, &pages[first], end - first);
  }
  lmi_free(profile->ctx, pages);
  return LAMINA_OK;
}

/* Room for placed pages is set aside for the whole run: what is touched earlier must not take it. */
static void reserve_fixed(run *r)
{
  uint64_t live[LAMINA_TIERS_MAX] = {0}, peak[LAMINA_TIERS_MAX] = {0};
  for (size_t i = 0; i < r->event_count; i++) {
    const uint32_t page = r->events[i].page;
    if (!r->is_fixed[page])
      continue;
    const int tier = r->tier[page];
    live[tier] += r->events[i].is_release ? (uint64_t)-1 : 1;
    peak[tier] = live[tier] > peak[tier] ? live[tier] : peak[tier];
  }
  for (int tier = 0; tier < r->options->tier_count; tier++)
    if (r->free_pages[tier] != UINT64_MAX)
      r->free_pages[tier] -= peak[tier] < r->free_pages[tier] ? peak[tier] : r->free_pages[tier];
}

/* ---- the run ---- */

static int first_with_room(const run *r)
{
  int tier = 0;
  while (r->free_pages[tier] == 0)
    tier++; /* the last has no limit */
  return tier;
}

static void apply(run *r, const event *happened)
{
  const uint32_t page = happened->page;
  if (!r->is_fixed[page]) {
    if (!happened->is_release)
      r->tier[page] = (int8_t)first_with_room(r);
    uint64_t *room = &r->free_pages[r->tier[page]];
    if (*room != UINT64_MAX)
      *room += happened->is_release ? 1 : (uint64_t)-1;
  }
  r->resident[r->tier[page]] += happened->is_release ? (uint64_t)-1 : 1;
}

static void place_pages(run *r, uint64_t peak)
{
  const uint64_t page_bytes = r->profile->summary.page_bytes;
  uint64_t live = 0;
  bool is_at_peak = false;
  for (size_t i = 0; i < r->event_count; i++) {
    apply(r, &r->events[i]);
    live += r->events[i].is_release ? (uint64_t)-1 : 1;
    if (live < peak || is_at_peak)
      continue;
    is_at_peak = true;
    for (int tier = 0; tier < r->options->tier_count; tier++) {
      r->result->resident_bytes[tier] = r->resident[tier] * page_bytes;
      r->result->r_cap[tier] = (double)r->resident[tier] / (double)peak;
    }
  }
}

static void sum_lines(run *r, uint64_t *object_lines)
{
  const lamina_profile *profile = r->profile;
  const int tiers = r->options->tier_count;
  for (size_t i = 0; i < profile->pages.count; i++) {
    const lmi_profile_page *page = &profile->pages.data[i];
    for (uint32_t j = 0; j < page->count_count && r->tier[i] >= 0; j++) {
      const lmi_profile_page_counts *counts = &profile->counts.data[page->first_count + j];
      const uint64_t lines = (counts->misses == LAMINA_UNCOUNTED ? counts->accesses : counts->misses) +
                             (counts->writebacks == UINT32_MAX ? 0 : counts->writebacks);
      r->result->phases[counts->phase].lines[r->tier[i]] += lines;
      r->result->total.lines[r->tier[i]] += lines;
      object_lines[page->object * (size_t)tiers + (size_t)r->tier[i]] += lines;
    }
  }
}

/* Demand misses: what no prefetcher hid. Threads wait for them with `outstanding` under way at once. */
static double latency_seconds(const run *r, const lamina_replay_phase *phase, const lamina_counts *counts)
{
  const uint64_t demand = counts->of[LAMINA_COUNT_LLC_MISSES], read = counts->of[LAMINA_COUNT_MEMORY_READ_LINES];
  const double threads = r->profile->threads.count > 0 ? (double)r->profile->threads.count : 1;
  double waited = 0;
  if (demand == LAMINA_UNCOUNTED || read == LAMINA_UNCOUNTED || read == 0)
    return NAN;
  for (int tier = 0; tier < r->options->tier_count; tier++)
    if (!isnan(phase->r_access[tier]))
      waited += phase->r_access[tier] * (double)demand * r->options->tiers[tier].latency_ns * 1e-9;
  waited /= threads * r->options->outstanding_lines;
  return waited > phase->bandwidth_seconds ? waited : phase->bandwidth_seconds;
}

static void finish_phase(const run *r, lamina_replay_phase *phase, const lamina_counts *counts)
{
  const int tiers = r->options->tier_count;
  uint64_t sum = 0;
  for (int tier = 0; tier < tiers; tier++)
    sum += phase->lines[tier];
  for (int tier = 0; tier < tiers; tier++) {
    const double seconds = (double)phase->lines[tier] * LINE_BYTES / (1e9 * r->options->tiers[tier].gb_per_s);
    phase->r_access[tier] = sum > 0 ? (double)phase->lines[tier] / (double)sum : NAN;
    phase->bandwidth_seconds = seconds > phase->bandwidth_seconds ? seconds : phase->bandwidth_seconds;
    if (tier > 0)
      phase->reading[tier] = lamina_tier_read(phase->r_access[tier], r->result->r_cap[tier], r->result->r_bw[tier]);
  }
  phase->latency_seconds = latency_seconds(r, phase, counts);
}

static void finish(run *r, const uint64_t *object_lines)
{
  const lamina_profile *profile = r->profile;
  const size_t tiers = (size_t)r->options->tier_count;
  lamina_counts all = lmi_counts_none();
  for (size_t i = 0; i < profile->phases.count; i++) {
    lmi_counts_add(&all, &profile->phases.data[i].counts);
    finish_phase(r, &r->result->phases[i], &profile->phases.data[i].counts);
  }
  finish_phase(r, &r->result->total, &all);
  for (size_t i = 0; i < profile->objects.count; i++) {
    uint64_t sum = 0;
    for (size_t tier = 0; tier < tiers; tier++)
      sum += object_lines[i * tiers + tier];
    for (size_t tier = 0; tier < tiers; tier++)
      r->result->object_share[i * tiers + tier] = sum > 0 ? (double)object_lines[i * tiers + tier] / (double)sum : NAN;
  }
}

static lamina_status allocate_result(const lamina_profile *profile, const lamina_replay_options *options,
                                     lamina_replay *result)
{
  result->phase_count = profile->phases.count;
  result->total.name = "(all)";
  LMI_TRY(LMI_ALLOC(profile->ctx, result->phase_count, &result->phases));
  LMI_TRY(LMI_ALLOC(profile->ctx, profile->objects.count * (size_t)options->tier_count, &result->object_share));
  for (size_t i = 0; i < result->phase_count; i++)
    result->phases[i].name = profile->phases.data[i].name;
  return LAMINA_OK;
}

static lamina_status replay(run *r)
{
  lamina_context *ctx = r->profile->ctx;
  lamina_status status = LAMINA_OK;
  uint64_t *object_lines = NULL;
  LMI_TRY(allocate_result(r->profile, r->options, r->result));
  LMI_TRY(LMI_ALLOC(ctx, r->profile->pages.count, &r->tier));
  LMI_TRY(LMI_ALLOC(ctx, r->profile->pages.count, &r->is_fixed));
  LMI_TRY(LMI_ALLOC(ctx, r->profile->objects.count * (size_t)r->options->tier_count, &object_lines));
  for (size_t i = 0; i < r->profile->pages.count; i++)
    r->tier[i] = ANY;
  LMI_TRY_GOTO(status, list_events(r), cleanup);
  const uint64_t peak = peak_pages(r);
  set_capacities(r, peak);
  LMI_TRY_GOTO(status, fix_objects(r), cleanup);
  reserve_fixed(r);
  place_pages(r, peak);
  sum_lines(r, object_lines);
  finish(r, object_lines);
cleanup:
  lmi_free(ctx, object_lines);
  return status;
}

lamina_status lamina_profile_replay(const lamina_profile *profile, const lamina_replay_options *options,
                                    lamina_replay **result)
{
  lamina_context *ctx = profile->ctx;
  run r = {.profile = profile, .options = options};
  *result = NULL;
  LMI_TRY(check_tiers(profile, options));
  LMI_TRY(LMI_ALLOC(ctx, 1, &r.result));
  const lamina_status status = replay(&r);
  lmi_free(ctx, r.events);
  lmi_free(ctx, r.tier);
  lmi_free(ctx, r.is_fixed);
  if (status == LAMINA_OK)
    *result = r.result;
  else
    lamina_replay_destroy(ctx, r.result);
  return status;
}

void lamina_replay_destroy(lamina_context *context, lamina_replay *result)
{
  if (result == NULL)
    return;
  lmi_free(context, result->phases);
  lmi_free(context, result->object_share);
  lmi_free(context, result);
}
