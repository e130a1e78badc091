/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "memory_report_internal.h"

static const double SHARES[] = {1, 5, 10, 20, 50, 80};
static const double CAPACITIES[] = {50, 80, 90, 99};

/* "n/a" in place of what was not measured. */
static const char *real(double value, int digits, const char *unit, char *buffer, size_t size)
{
  if (isfinite(value))
    snprintf(buffer, size, "%.*f%s", digits, value, unit);
  else
    snprintf(buffer, size, "n/a");
  return buffer;
}

static const char *count_text(uint64_t value, char *buffer, size_t size)
{
  if (value == LAMINA_UNCOUNTED)
    snprintf(buffer, size, "n/a");
  else
    snprintf(buffer, size, "%.4g", (double)value);
  return buffer;
}

static const char *bytes_text(uint64_t value, char *buffer, size_t size)
{
  if (value == LAMINA_UNCOUNTED)
    snprintf(buffer, size, "n/a");
  else
    lmi_format_bytes((double)value, buffer);
  return buffer;
}

static void print_head(const lmi_report_profile *profile, FILE *stream)
{
  size_t count = 0;
  char a[32], b[32];
  const lamina_profile_summary *summary = lamina_profile_get_summary(profile->profile);
  const lamina_profile_process *processes = lamina_profile_processes(profile->profile, &count);
  fprintf(stream, "%s: source %s, %s samples, %llu pages of %s\n", profile->path,
          lamina_profile_source_name(summary->source), count_text(summary->sample_count, a, sizeof a),
          (unsigned long long)summary->page_count, bytes_text(summary->page_bytes, b, sizeof b));
  for (size_t place = 0; place < count && place < LMI_REPORT_MOST_OBJECTS; place++) {
    const lamina_profile_process *process = &processes[lmi_report_process_at(processes, count, place)];
    fprintf(stream, "  process %d", process->pid);
    if (process->rank >= 0)
      fprintf(stream, " (rank %d)", process->rank);
    fprintf(stream, ", %s, %s: %.100s\n", process->ended, bytes_text(process->footprint_bytes, a, sizeof a),
            process->command);
  }
  if (count > LMI_REPORT_MOST_OBJECTS)
    fprintf(stream, "  ... and %zu more\n", count - LMI_REPORT_MOST_OBJECTS);
}

static void print_phase(const lmi_report_profile *profile, const lmi_report_phase *phase, FILE *stream)
{
  char a[32], b[32], c[32], d[32], e[32], f[32], g[32];
  const double share =
    profile->total.samples > 0 ? 100.0 * (double)phase->samples / (double)profile->total.samples : (double)NAN;
  fprintf(stream, "  %-24.24s %10s %10s %10s %10s %10s %10s %10s\n", phase->name,
          real(phase->seconds, 3, "", a, sizeof a), count_text(phase->flops, b, sizeof b),
          bytes_text(phase->bytes, c, sizeof c), real(phase->intensity, 2, "", d, sizeof d),
          real(phase->gflop_per_s, 2, "", e, sizeof e), real(phase->gb_per_s, 2, "", f, sizeof f),
          real(share, 1, " %", g, sizeof g));
}

static void print_phases(const lmi_report_profile *profile, FILE *stream)
{
  fprintf(stream, "\n  %-24s %10s %10s %10s %10s %10s %10s %10s\n", "phase", "seconds", "flops", "bytes", "flop/byte",
          "GFLOP/s", "GB/s", "samples");
  for (size_t i = 0; i < profile->phase_count; i++)
    print_phase(profile, &profile->phases[i], stream);
  if (profile->phase_count > 1)
    print_phase(profile, &profile->total, stream);
}

/* By the second, as long as that stays a table: of a long run every n-th. */
static void print_rates(const lmi_report_profile *profile, FILE *stream)
{
  enum { MOST_ROWS = 30 };
  char a[32], b[32], c[32];
  const size_t step = profile->rate_count / MOST_ROWS + 1;
  if (profile->rate_count == 0)
    return;
  fprintf(stream, "\n  second       GFLOP/s       GB/s  flop/byte\n");
  for (size_t i = 0; i < profile->rate_count; i += step) {
    const lmi_rate *rate = &profile->rates[i];
    const double flops = rate->flops != LAMINA_UNCOUNTED ? (double)rate->flops : (double)NAN;
    const double bytes = rate->bytes != LAMINA_UNCOUNTED ? (double)rate->bytes : (double)NAN;
    fprintf(stream, "  %6.0f %13s %10s %10s\n", rate->seconds, real(1e-9 * flops / rate->length, 3, "", a, sizeof a),
            real(1e-9 * bytes / rate->length, 3, "", b, sizeof b),
            real(bytes > 0 ? flops / bytes : (double)NAN, 3, "", c, sizeof c));
  }
}

static void print_tiers(const lamina_memory_report *report, const lmi_report_profile *profile, FILE *stream)
{
  const int tiers = lamina_profile_get_summary(profile->profile)->tier_count;
  char name[LAMINA_TIER_NAME_BYTES], a[32], b[32], c[32], d[32], reading[256];
  if (profile->peak_sum > 0)
    fprintf(stream, "\n  footprint: %s at most, at %.3f s\n", bytes_text(profile->peak_sum, a, sizeof a),
            profile->peak_seconds);
  if (tiers < 2) {
    fprintf(stream, "  one tier of memory: the ratios between tiers do not apply\n");
    return;
  }
  fprintf(stream, "  %-16s %12s %10s %10s %10s\n", "tier", "resident", "R_cap", "R_BW", "R_access");
  for (int t = 0; t < tiers && t < LAMINA_TIERS_MAX; t++)
    fprintf(stream, "  %-16s %12s %10s %10s %10s\n", lmi_report_tier_name(report, t, name, sizeof name),
            bytes_text(profile->peak_sum > 0 ? profile->peak_bytes[t] : LAMINA_UNCOUNTED, a, sizeof a),
            real(100 * profile->tier_capacity_share[t], 1, " %", b, sizeof b),
            real(100 * report->tier_bandwidth_share[t], 1, " %", c, sizeof c),
            real(100 * profile->total.tier_access[t], 1, " %", d, sizeof d));
  for (size_t i = 0; i < profile->phase_count; i++)
    if (lmi_report_reading(report, profile, &profile->phases[i], reading, sizeof reading)[0] != '\0')
      fprintf(stream, "  %s: R_access of the slower tier %.1f %%: %s\n", profile->phases[i].name,
              100 * profile->phases[i].tier_access[1], reading);
}

static void print_objects(const lmi_report_profile *profile, FILE *stream)
{
  size_t count = 0;
  const lamina_profile_object *objects = lamina_profile_objects(profile->profile, &count);
  if (profile->object_total == 0)
    return;
  fprintf(stream, "\n  objects, hottest first%38s %12s %8s %8s\n", "", "bytes", "blocks", "share");
  for (size_t i = 0; i < count && i < LMI_REPORT_MOST_OBJECTS; i++) {
    char a[32], b[32];
    if (lmi_report_object_share(profile, &objects[i]) <= 0)
      break;
    fprintf(stream, "  %-60.60s %12s %8s %6.1f %%\n", objects[i].name, bytes_text(objects[i].bytes_total, a, sizeof a),
            count_text(objects[i].blocks, b, sizeof b), lmi_report_object_share(profile, &objects[i]));
  }
}

static lamina_status print_curve(const lmi_report_profile *profile, FILE *stream)
{
  if (profile->curve == NULL) {
    fprintf(stream, "\n  no scaling curve: %s\n", profile->curve_reason);
    return LAMINA_OK;
  }
  if (profile->object_total == 0) {
    fprintf(stream, "\n  no scaling curve: no accesses were recorded\n");
    return LAMINA_OK;
  }
  const double per_bin = lamina_curve_samples_per_bin(profile->curve);
  char bin[32];
  fprintf(stream, "\n  scaling curve, in bins of %s\n  hottest part of the footprint  ",
          lmi_format_bytes((double)profile->curve_bin_bytes, bin));
  for (size_t i = 0; i < LMI_COUNT(SHARES); i++)
    fprintf(stream, " %11.0f %%", SHARES[i]);
  fprintf(stream, "\n  share of the %-18s", profile->curve_is_of_misses ? "lines from memory" : "accesses");
  for (size_t i = 0; i < LMI_COUNT(SHARES); i++)
    fprintf(stream, " %11.1f %%", lamina_curve_share(profile->curve, SHARES[i]));
  if (isfinite(per_bin)) {
    fprintf(stream, "\n  95 %% band                      ");
    for (size_t i = 0; i < LMI_COUNT(SHARES); i++) {
      double low = NAN, high = NAN;
      char band[32];
      LMI_TRY(lamina_curve_band(profile->curve, SHARES[i], &low, &high));
      snprintf(band, sizeof band, "%.1f to %.1f", low, high);
      fprintf(stream, " %13s", band);
    }
  }
  fprintf(stream, "\n  footprint that holds 50, 80, 90, 99 %% of it: ");
  for (size_t i = 0; i < LMI_COUNT(CAPACITIES); i++)
    fprintf(stream, "%s%.2f %%", i > 0 ? ", " : "", lamina_curve_capacity(profile->curve, CAPACITIES[i]));
  fprintf(stream, "; Gini %.3f\n", lamina_curve_gini(profile->curve));
  if (isfinite(per_bin) && per_bin < 10)
    fprintf(stream, "  only %.2f samples a bin: the curve leans to the left (10 are needed); sample longer or faster\n",
            per_bin);
  return LAMINA_OK;
}

static void print_prefetch(const lmi_report_profile *profile, FILE *stream)
{
  size_t count = 0;
  const lamina_profile_process *processes = lamina_profile_processes(profile->profile, &count);
  for (size_t i = 0; i < count; i++) {
    const lamina_prefetch prefetch = lamina_counts_prefetch(&processes[i].counts);
    if (!isfinite(prefetch.accuracy) && !isfinite(prefetch.coverage))
      continue;
    fprintf(stream, "  prefetching of process %d: accuracy %.1f %%%s, coverage %.1f %%%s\n", processes[i].pid,
            100 * prefetch.accuracy, prefetch.accuracy_clamped ? " (clamped)" : "", 100 * prefetch.coverage,
            prefetch.coverage_clamped ? " (clamped)" : "");
  }
}

static void print_remarks(const lmi_report_profile *profile, FILE *stream)
{
  size_t count = 0;
  const char *const *remarks = lamina_profile_remarks(profile->profile, &count);
  for (size_t i = 0; i < count; i++)
    fprintf(stream, "%s  remark: %s\n", i == 0 ? "\n" : "", remarks[i]);
}

static void print_distances(const lamina_memory_report *report, FILE *stream)
{
  for (size_t i = 0; i < report->profile_count; i++)
    for (size_t j = i + 1; j < report->profile_count; j++)
      if (report->profiles[i].curve != NULL && report->profiles[j].curve != NULL)
        fprintf(stream, "curves of %s and %s: %.1f points apart at most\n", report->profiles[i].path,
                report->profiles[j].path, lamina_curve_distance(report->profiles[i].curve, report->profiles[j].curve));
}

lamina_status lmi_report_text(lamina_context *ctx, const lamina_memory_report *report, FILE *stream)
{
  for (size_t i = 0; i < report->profile_count; i++) {
    const lmi_report_profile *profile = &report->profiles[i];
    print_head(profile, stream);
    print_phases(profile, stream);
    print_rates(profile, stream);
    print_tiers(report, profile, stream);
    print_objects(profile, stream);
    LMI_TRY(print_curve(profile, stream));
    print_prefetch(profile, stream);
    print_remarks(profile, stream);
    fprintf(stream, "\n");
  }
  print_distances(report, stream);
  LMI_REQUIRE(ctx, ferror(stream) == 0, LAMINA_ERROR_FILE, "the report could not be written");
  return LAMINA_OK;
}
