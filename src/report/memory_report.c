/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_report_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/profile_store.h"

static const double LINE_BYTES = 64;

/* ---- the machine's side ---- */

/* Peak of a tier: the best reading bandwidth of each of its nodes, added. */
static double tier_peak(const lamina_machine *machine, int tier)
{
  double sum = 0;
  for (size_t i = 0; i < machine->node_count; i++) {
    double best = NAN;
    for (size_t k = 0; k < machine->bandwidth_count; k++) {
      const lamina_bandwidth_row *row = &machine->bandwidth[k];
      if (machine->nodes[i].tier == tier && row->memory_node == machine->nodes[i].id &&
          !(row->gb_per_s.median <= best) && isfinite(row->gb_per_s.median))
        best = row->gb_per_s.median;
    }
    if (isfinite(best))
      sum += best;
  }
  return sum > 0 ? sum : NAN;
}

static void read_roofs(lamina_memory_report *report)
{
  double sum = 0;
  report->gflop_per_s = NAN;
  for (int t = 0; t < LAMINA_TIERS_MAX; t++)
    report->tier_gb_per_s[t] = report->tier_bandwidth_share[t] = NAN;
  if (report->machine == NULL)
    return;
  const int tiers =
    (int)report->machine->tier_count < LAMINA_TIERS_MAX ? (int)report->machine->tier_count : LAMINA_TIERS_MAX;
  for (int t = 0; t < tiers; t++) {
    report->tier_gb_per_s[t] = tier_peak(report->machine, t);
    sum += report->tier_gb_per_s[t];
  }
  for (int t = 0; t < tiers && isfinite(sum); t++)
    report->tier_bandwidth_share[t] = report->tier_gb_per_s[t] / sum;
  for (size_t i = 0; i < report->machine->flops_count; i++)
    if (!(report->machine->flops[i].gflop_per_s.median <= report->gflop_per_s) &&
        report->machine->flops[i].element_bytes == 8)
      report->gflop_per_s = report->machine->flops[i].gflop_per_s.median;
}

/* ---- phases ---- */

static void rate_phase(lmi_report_phase *phase, const lamina_counts *counts)
{
  phase->flops = lamina_counts_flops(counts);
  phase->bytes = lamina_counts_memory_bytes(counts);
  phase->intensity = lamina_counts_intensity(counts);
  const bool timed = isfinite(phase->seconds) && phase->seconds > 0;
  phase->gflop_per_s = timed && phase->flops != LAMINA_UNCOUNTED ? 1e-9 * (double)phase->flops / phase->seconds : NAN;
  phase->gb_per_s = timed && phase->bytes != LAMINA_UNCOUNTED ? 1e-9 * (double)phase->bytes / phase->seconds : NAN;
}

static void set_ratios(lmi_report_phase *phase, const double *weights, int tiers)
{
  double sum = 0;
  for (int t = 0; t < LAMINA_TIERS_MAX; t++)
    phase->tier_access[t] = NAN;
  for (int t = 0; t < tiers; t++)
    sum += weights[t];
  for (int t = 0; t < tiers && sum > 0; t++)
    phase->tier_access[t] = weights[t] / sum;
}

/* Counters know the tier of every line; else the samples are sorted by where their pages lay. phase SIZE_MAX: all. */
static void split_by_tier(const lamina_profile *profile, size_t phase, const uint64_t *tier_lines,
                          lmi_report_phase *out)
{
  double by_lines[LAMINA_TIERS_MAX] = {0}, by_pages[LAMINA_TIERS_MAX] = {0};
  const int tiers = profile->summary.tier_count;
  bool counted = tiers > 0;
  for (int t = 0; t < LAMINA_TIERS_MAX; t++) {
    out->tier_bytes[t] = tier_lines[t] == LAMINA_UNCOUNTED ? LAMINA_UNCOUNTED : tier_lines[t] * (uint64_t)LINE_BYTES;
    if (t < tiers && tier_lines[t] == LAMINA_UNCOUNTED)
      counted = false;
    if (t < tiers && tier_lines[t] != LAMINA_UNCOUNTED)
      by_lines[t] = (double)tier_lines[t];
  }
  out->samples = 0;
  for (size_t i = 0; i < profile->pages.count; i++) {
    const lmi_profile_page *page = &profile->pages.data[i];
    for (uint32_t k = 0; k < page->count_count; k++) {
      const lmi_profile_page_counts *counts = &profile->counts.data[page->first_count + k];
      if (phase != SIZE_MAX && counts->phase != phase)
        continue;
      const uint64_t weight = counts->misses != LAMINA_UNCOUNTED ? counts->misses : counts->accesses;
      out->samples += weight;
      if (page->tier >= 0 && page->tier < tiers)
        by_pages[page->tier] += (double)weight;
    }
  }
  set_ratios(out, counted ? by_lines : by_pages, tiers);
}

static lamina_status derive_phases(lamina_context *ctx, lmi_report_profile *out)
{
  const lamina_profile *profile = out->profile;
  uint64_t sum[LAMINA_TIERS_MAX];
  lamina_counts total = lmi_counts_none();
  size_t count = 0;
  const lamina_profile_phase *phases = lamina_profile_phases(profile, &count);
  for (int t = 0; t < LAMINA_TIERS_MAX; t++)
    sum[t] = LAMINA_UNCOUNTED;
  LMI_TRY(LMI_ALLOC(ctx, count, &out->phases));
  out->total = (lmi_report_phase){.name = "all"};
  for (size_t i = 0; i < count; i++) {
    out->phases[i] = (lmi_report_phase){.name = phases[i].name, .seconds = phases[i].seconds};
    rate_phase(&out->phases[i], &phases[i].counts);
    split_by_tier(profile, i, phases[i].tier_lines, &out->phases[i]);
    lmi_counts_add(&total, &phases[i].counts);
    out->total.seconds += phases[i].seconds;
    for (int t = 0; t < LAMINA_TIERS_MAX; t++)
      if (phases[i].tier_lines[t] != LAMINA_UNCOUNTED)
        sum[t] = sum[t] == LAMINA_UNCOUNTED ? phases[i].tier_lines[t] : sum[t] + phases[i].tier_lines[t];
  }
  out->phase_count = count;
  rate_phase(&out->total, &total);
  split_by_tier(profile, SIZE_MAX, sum, &out->total);
  return LAMINA_OK;
}

/* ---- footprint, objects, curve ---- */

static int by_seconds(const void *a, const void *b)
{
  const lamina_footprint_point *x = a, *y = b;
  return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static void add_point(lamina_footprint_point *sum, const lamina_footprint_point *term)
{
  for (int t = 0; t < LAMINA_TIERS_MAX; t++)
    if (term->tier_bytes[t] != LAMINA_UNCOUNTED)
      sum->tier_bytes[t] =
        sum->tier_bytes[t] != LAMINA_UNCOUNTED ? sum->tier_bytes[t] + term->tier_bytes[t] : term->tier_bytes[t];
}

/* All processes were looked at in one moment, so points of equal times are parts of one footprint. */
static lamina_status merge_footprint(lamina_context *ctx, lmi_report_profile *out)
{
  size_t count = 0;
  const lamina_footprint_point *points = lamina_profile_footprint(out->profile, &count);
  LMI_TRY(LMI_ALLOC(ctx, count, &out->footprint));
  if (count > 0)
    memcpy(out->footprint, points, count * sizeof *points);
  qsort(out->footprint, count, sizeof *points, by_seconds);
  for (size_t i = 0; i < count; i++) {
    lamina_footprint_point *last = out->footprint_count > 0 ? &out->footprint[out->footprint_count - 1] : NULL;
    if (last != NULL && last->seconds == out->footprint[i].seconds)
      add_point(last, &out->footprint[i]);
    else
      out->footprint[out->footprint_count++] = out->footprint[i];
  }
  return LAMINA_OK;
}

static void find_peak(lmi_report_profile *out)
{
  for (size_t i = 0; i < out->footprint_count; i++) {
    const lamina_footprint_point *point = &out->footprint[i];
    uint64_t sum = 0;
    for (int t = 0; t < LAMINA_TIERS_MAX; t++)
      sum += point->tier_bytes[t] != LAMINA_UNCOUNTED ? point->tier_bytes[t] : 0;
    if (sum <= out->peak_sum)
      continue;
    out->peak_sum = sum;
    out->peak_seconds = point->seconds;
    memcpy(out->peak_bytes, point->tier_bytes, sizeof out->peak_bytes);
  }
  for (int t = 0; t < LAMINA_TIERS_MAX; t++)
    out->tier_capacity_share[t] = out->peak_sum > 0 && out->peak_bytes[t] != LAMINA_UNCOUNTED
                                    ? (double)out->peak_bytes[t] / (double)out->peak_sum
                                    : NAN;
}

static uint64_t object_weight(const lamina_profile_object *object)
{
  return object->misses != LAMINA_UNCOUNTED     ? object->misses
         : object->accesses != LAMINA_UNCOUNTED ? object->accesses
                                                : 0;
}

double lmi_report_object_share(const lmi_report_profile *profile, const lamina_profile_object *object)
{
  return profile->object_total > 0 ? 100.0 * (double)object_weight(object) / (double)profile->object_total
                                   : (double)NAN;
}

/* Few samples on many pages say nothing about a page; bins of 2 MiB, as the paper's own tools have them, gather more of
 * them. */
static uint64_t curve_bin(const lamina_profile *profile)
{
  const uint64_t large = (uint64_t)2 << 20;
  const lamina_profile_summary *summary = lamina_profile_get_summary(profile);
  const bool is_sampled = summary->sample_count != LAMINA_UNCOUNTED && summary->page_count > 0;
  if (!is_sampled || summary->sample_count / summary->page_count >= 10 || summary->page_bytes >= large ||
      large % summary->page_bytes != 0)
    return summary->page_bytes;
  return large;
}

/* The paper's curve is of misses; a source without them gives the curve of its samples, and says so. */
static lamina_status derive_curve(lamina_context *ctx, lmi_report_profile *out)
{
  lamina_curve_options options = {.metric = LAMINA_CURVE_MISSES, .bin_bytes = curve_bin(out->profile)};
  lamina_status status = lamina_profile_curve(out->profile, &options, &out->curve);
  out->curve_is_of_misses = status == LAMINA_OK;
  out->curve_bin_bytes = options.bin_bytes;
  if (status == LAMINA_UNAVAILABLE) {
    lamina_error_clear(ctx);
    options.metric = LAMINA_CURVE_ACCESSES;
    status = lamina_profile_curve(out->profile, &options, &out->curve);
  }
  if (status != LAMINA_UNAVAILABLE)
    return status;
  status = lmi_string_copy(ctx, lamina_error_message(ctx), &out->curve_reason);
  lamina_error_clear(ctx);
  return status;
}

static lamina_status derive(lamina_context *ctx, const char *path, lmi_report_profile *out)
{
  size_t count = 0;
  LMI_TRY(lmi_string_copy(ctx, path, &out->path));
  LMI_TRY(lamina_profile_read(ctx, path, &out->profile));
  LMI_TRY(lmi_rates_read(ctx, path, &out->rates, &out->rate_count));
  LMI_TRY(derive_phases(ctx, out));
  LMI_TRY(merge_footprint(ctx, out));
  find_peak(out);
  const lamina_profile_object *objects = lamina_profile_objects(out->profile, &count);
  for (size_t i = 0; i < count; i++)
    out->object_total += object_weight(&objects[i]);
  return derive_curve(ctx, out);
}

/* ---- what the forms ask for ---- */

size_t lmi_report_process_at(const lamina_profile_process *processes, size_t count, size_t place)
{
  for (size_t i = 0; i < count; i++) {
    const uint64_t mine = processes[i].footprint_bytes + 1; /* UNCOUNTED becomes 0 */
    size_t larger = 0;
    for (size_t k = 0; k < count; k++) {
      const uint64_t other = processes[k].footprint_bytes + 1;
      larger += other > mine || (other == mine && k < i);
    }
    if (larger == place)
      return i;
  }
  return 0;
}

const char *lmi_report_tier_name(const lamina_memory_report *report, int index, char *buffer, size_t size)
{
  if (report->machine != NULL && index < (int)report->machine->tier_count)
    snprintf(buffer, size, "%s", report->machine->tiers[index].name);
  else
    snprintf(buffer, size, "tier %d", index);
  return buffer;
}

const char *lmi_report_reading(const lamina_memory_report *report, const lmi_report_profile *profile,
                               const lmi_report_phase *phase, char *buffer, size_t size)
{
  const double slack = 0.05;
  const int tiers = lamina_profile_get_summary(profile->profile)->tier_count;
  const double access = tiers > 1 ? phase->tier_access[1] : (double)NAN, capacity = profile->tier_capacity_share[1];
  const double bandwidth = report->tier_bandwidth_share[1];
  buffer[0] = '\0';
  if (!isfinite(access) || !isfinite(capacity) || !isfinite(bandwidth))
    return buffer;
  const double low = fmin(capacity, bandwidth), high = fmax(capacity, bandwidth);
  if (access < low - slack)
    snprintf(buffer, size,
             "the slower tier's bandwidth is not used up: fine if the program waits for latency, else some cold "
             "data may move there");
  else if (access > high + slack)
    snprintf(buffer, size,
             "more of the accesses go to the slower tier than its share of bandwidth and capacity: move the hottest "
             "objects up");
  else
    snprintf(buffer, size, "accesses are spread as bandwidth and capacity are: little to gain from moving data");
  return buffer;
}

lamina_status lamina_memory_report_create(lamina_context *ctx, const char *const *paths, size_t count,
                                          const char *machine, lamina_memory_report **report)
{
  lamina_memory_report *made = NULL;
  *report = NULL;
  LMI_REQUIRE(ctx, count >= 1 && count <= LAMINA_REPORT_MOST_PROFILES, LAMINA_ERROR_ARGUMENT,
              "a report of %zu profiles; 1 to %d are allowed", count, LAMINA_REPORT_MOST_PROFILES);
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 1, &made), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &made->profiles), cleanup);
  made->profile_count = count;
  for (size_t i = 0; i < count; i++)
    LMI_TRY_GOTO(status, derive(ctx, paths[i], &made->profiles[i]), cleanup);
  if (machine != NULL)
    LMI_TRY_GOTO(status, lamina_machine_load(ctx, machine, &made->machine), cleanup);
  read_roofs(made);
  *report = made;
cleanup:
  if (status != LAMINA_OK)
    lamina_memory_report_destroy(ctx, made);
  return status;
}

lamina_status lamina_memory_report_print(lamina_context *ctx, const lamina_memory_report *report,
                                         lamina_report_form form, FILE *stream)
{
  return form == LAMINA_REPORT_JSON ? lmi_report_json(ctx, report, stream) : lmi_report_text(ctx, report, stream);
}

void lamina_memory_report_destroy(lamina_context *ctx, lamina_memory_report *report)
{
  if (report == NULL)
    return;
  for (size_t i = 0; i < report->profile_count; i++) {
    lmi_report_profile *profile = &report->profiles[i];
    lamina_curve_destroy(profile->curve);
    lamina_profile_destroy(profile->profile);
    lmi_free(ctx, profile->path);
    lmi_free(ctx, profile->curve_reason);
    lmi_free(ctx, profile->phases);
    lmi_free(ctx, profile->footprint);
    lmi_free(ctx, profile->rates);
  }
  lmi_free(ctx, report->profiles);
  lamina_machine_destroy(ctx, report->machine);
  lmi_free(ctx, report);
}
