/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of product.md: source, processes, phases, footprint, objects, curve, prefetch, warnings; one object a
 * profile. */
#include <jansson.h>
#include <math.h>

#include "memory_report_internal.h"

enum { MOST_CURVE_POINTS = 512, MOST_FOOTPRINT_POINTS = 4096 };

static json_t *number(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count_value(uint64_t value)
{
  return value == LAMINA_UNCOUNTED ? json_null() : json_integer((json_int_t)value);
}

/* One entry a tier; null when there is not even one. */
static json_t *tier_counts(const uint64_t *values, int tiers)
{
  json_t *array = tiers > 0 ? json_array() : json_null();
  for (int t = 0; t < tiers; t++)
    json_array_append_new(array, count_value(values[t]));
  return array;
}

static json_t *tier_numbers(const double *values, int tiers)
{
  json_t *array = tiers > 0 ? json_array() : json_null();
  for (int t = 0; t < tiers; t++)
    json_array_append_new(array, number(values[t]));
  return array;
}

static json_t *phase_entry(const lamina_memory_report *report, const lmi_report_profile *profile,
                           const lmi_report_phase *phase)
{
  const int tiers = lamina_profile_get_summary(profile->profile)->tier_count;
  json_t *entry = json_pack("{s:s}", "name", phase->name);
  json_object_set_new(entry, "seconds", number(phase->seconds));
  json_object_set_new(entry, "flops", count_value(phase->flops));
  json_object_set_new(entry, "bytes", count_value(phase->bytes));
  json_object_set_new(entry, "bytes_by_tier", tier_counts(phase->tier_bytes, tiers));
  json_object_set_new(entry, "intensity", number(phase->intensity));
  json_object_set_new(entry, "gflop_per_s", number(phase->gflop_per_s));
  json_object_set_new(entry, "gb_per_s", number(phase->gb_per_s));
  json_object_set_new(entry, "samples", count_value(phase->samples));
  json_object_set_new(entry, "r_access", tier_numbers(phase->tier_access, tiers));
  json_object_set_new(entry, "r_cap", tier_numbers(profile->tier_capacity_share, tiers));
  json_object_set_new(entry, "r_bw", tier_numbers(report->tier_bandwidth_share, tiers));
  if (phase->flops == LAMINA_UNCOUNTED && phase->bytes == LAMINA_UNCOUNTED)
    json_object_set_new(entry, "reason", json_string("this source counts no flops and no bytes"));
  return entry;
}

static json_t *process_entries(const lmi_report_profile *profile)
{
  size_t count = 0;
  const lamina_profile_process *processes = lamina_profile_processes(profile->profile, &count);
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *entry = json_pack("{s:i, s:i, s:s, s:s}", "pid", processes[i].pid, "parent", processes[i].parent, "command",
                              processes[i].command, "ended", processes[i].ended);
    json_object_set_new(entry, "rank", processes[i].rank >= 0 ? json_integer(processes[i].rank) : json_null());
    json_object_set_new(entry, "footprint_bytes", count_value(processes[i].footprint_bytes));
    json_array_append_new(array, entry);
  }
  return array;
}

static json_t *object_entries(const lmi_report_profile *profile)
{
  size_t count = 0;
  const lamina_profile_object *objects = lamina_profile_objects(profile->profile, &count);
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *entry = json_pack("{s:s, s:s}", "site", objects[i].name, "kind", lamina_object_kind_name(objects[i].kind));
    json_object_set_new(entry, "bytes", count_value(objects[i].bytes_total));
    json_object_set_new(entry, "bytes_peak", count_value(objects[i].bytes_peak));
    json_object_set_new(entry, "blocks", count_value(objects[i].blocks));
    json_object_set_new(entry, "accesses", count_value(objects[i].accesses));
    json_object_set_new(entry, "misses", count_value(objects[i].misses));
    json_object_set_new(entry, "share_percent", number(lmi_report_object_share(profile, &objects[i])));
    json_array_append_new(array, entry);
  }
  return array;
}

static json_t *footprint_entries(const lmi_report_profile *profile)
{
  const int tiers = lamina_profile_get_summary(profile->profile)->tier_count;
  const lamina_footprint_point *points = profile->footprint;
  const size_t count = profile->footprint_count;
  const size_t step = count / MOST_FOOTPRINT_POINTS + 1;
  json_t *array = json_array();
  for (size_t i = 0; i < count; i += step)
    json_array_append_new(array, json_pack("{s:f, s:o}", "seconds", points[i].seconds, "bytes_by_tier",
                                           tier_counts(points[i].tier_bytes, tiers > 0 ? tiers : 1)));
  return array;
}

static json_t *rate_entry(const lmi_rate *rate)
{
  json_t *entry = json_object();
  const bool has_flops = rate->flops != LAMINA_UNCOUNTED, has_bytes = rate->bytes != LAMINA_UNCOUNTED;
  const double flops = has_flops ? (double)rate->flops : (double)NAN;
  const double bytes = has_bytes ? (double)rate->bytes : (double)NAN;
  json_object_set_new(entry, "seconds", json_real(rate->seconds));
  json_object_set_new(entry, "gflop_per_s", number(1e-9 * flops / rate->length));
  json_object_set_new(entry, "gb_per_s", number(1e-9 * bytes / rate->length));
  json_object_set_new(entry, "intensity", number(bytes > 0 ? flops / bytes : (double)NAN));
  return entry;
}

static void set_rates(json_t *object, const lmi_report_profile *profile)
{
  json_t *array = json_array();
  for (size_t i = 0; i < profile->rate_count; i++)
    json_array_append_new(array, rate_entry(&profile->rates[i]));
  json_object_set_new(object, "per_second", profile->rate_count > 0 ? array : json_null());
  if (profile->rate_count > 0)
    return;
  json_decref(array);
  json_object_set_new(object, "per_second_reason", json_string("no counters of the processor were read"));
}

/* [percent of pages, percent of accesses]; evenly thinned. */
static json_t *curve_entries(const lmi_report_profile *profile)
{
  if (profile->curve == NULL)
    return json_null();
  json_t *array = json_array();
  const uint64_t bins = lamina_curve_bins(profile->curve);
  const uint64_t points = bins < MOST_CURVE_POINTS ? bins : MOST_CURVE_POINTS;
  for (uint64_t i = 0; i <= points; i++) {
    const double percent = points > 0 ? 100.0 * (double)i / (double)points : 0;
    json_array_append_new(array, json_pack("[f, o]", percent, number(lamina_curve_share(profile->curve, percent))));
  }
  return array;
}

static json_t *prefetch_entry(const lmi_report_profile *profile)
{
  size_t count = 0;
  const lamina_profile_process *processes = lamina_profile_processes(profile->profile, &count);
  const lamina_prefetch prefetch = count > 0 ? lamina_counts_prefetch(&processes[0].counts)
                                             : (lamina_prefetch){.accuracy = (double)NAN, .coverage = (double)NAN};
  json_t *entry = json_object();
  json_object_set_new(entry, "accuracy", number(prefetch.accuracy));
  json_object_set_new(entry, "coverage", number(prefetch.coverage));
  json_object_set_new(entry, "excess", json_null());
  json_object_set_new(entry, "gain", json_null());
  json_object_set_new(entry, "reason",
                      json_string(isfinite(prefetch.accuracy)
                                    ? "excess and gain need a second run without the prefetcher"
                                    : "this source counts no prefetches"));
  return entry;
}

static json_t *profile_entry(const lamina_memory_report *report, const lmi_report_profile *profile)
{
  size_t count = 0;
  const lamina_profile_summary *summary = lamina_profile_get_summary(profile->profile);
  const char *const *remarks = lamina_profile_remarks(profile->profile, &count);
  json_t *phases = json_array(), *warnings = json_array();
  for (size_t i = 0; i < profile->phase_count; i++)
    json_array_append_new(phases, phase_entry(report, profile, &profile->phases[i]));
  for (size_t i = 0; i < count; i++)
    json_array_append_new(warnings, json_string(remarks[i]));
  json_t *entry = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path", profile->path, "source",
                            lamina_profile_source_name(summary->source), "processes", process_entries(profile),
                            "phases", phases, "total", phase_entry(report, profile, &profile->total), "footprint",
                            footprint_entries(profile), "objects", object_entries(profile), "curve",
                            curve_entries(profile), "prefetch", prefetch_entry(profile), "warnings", warnings);
  set_rates(entry, profile);
  json_object_set_new(entry, "samples", count_value(summary->sample_count));
  json_object_set_new(entry, "page_bytes", count_value(summary->page_bytes));
  json_object_set_new(entry, "pages", count_value(summary->page_count));
  json_object_set_new(entry, "peak_bytes", profile->peak_sum > 0 ? count_value(profile->peak_sum) : json_null());
  json_object_set_new(entry, "curve_of",
                      json_string(profile->curve == NULL        ? "nothing"
                                  : profile->curve_is_of_misses ? "misses"
                                                                : "accesses"));
  if (profile->curve != NULL) {
    json_object_set_new(entry, "curve_bin_bytes", count_value(profile->curve_bin_bytes));
    json_object_set_new(entry, "gini", number(lamina_curve_gini(profile->curve)));
    json_object_set_new(entry, "samples_per_bin", number(lamina_curve_samples_per_bin(profile->curve)));
  } else {
    json_object_set_new(entry, "curve_reason", json_string(profile->curve_reason));
  }
  return entry;
}

/* One profile is one object; several are an object with an array. */
lamina_status lmi_report_json(lamina_context *ctx, const lamina_memory_report *report, FILE *stream)
{
  json_t *object = NULL;
  if (report->profile_count == 1) {
    object = profile_entry(report, &report->profiles[0]);
  } else {
    json_t *profiles = json_array();
    for (size_t i = 0; i < report->profile_count; i++)
      json_array_append_new(profiles, profile_entry(report, &report->profiles[i]));
    object = json_pack("{s:o}", "profiles", profiles);
  }
  LMI_REQUIRE(ctx, object != NULL, LAMINA_ERROR_MEMORY, "no memory for the JSON of the report");
  const bool written =
    json_dumpf(object, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', stream) != EOF;
  json_decref(object);
  LMI_REQUIRE(ctx, written, LAMINA_ERROR_FILE, "the report could not be written");
  return LAMINA_OK;
}
