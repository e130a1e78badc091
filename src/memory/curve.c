/* SPDX-License-Identifier: Apache-2.0 */
/* The bandwidth-capacity scaling curve (Wahlgren et al., SC23, section 4.1): pages in descending order of accesses, and
 * how much of all accesses the first k of m hold. The sums are whole numbers; percents are made of them only when asked
 * for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile_store.h"

enum { REPLICATES = 200 };

struct lamina_curve {
  lamina_context *ctx;
  uint64_t bins, total;
  uint64_t *counts;     /* descending */
  uint64_t *cumulative; /* bins + 1 sums */
  bool is_sampled;
};

/* ---- from pages to bins ---- */

typedef struct bin {
  uint64_t number, count;
  int process;
} bin;

static int compare_places(const void *a, const void *b)
{
  const bin *x = a, *y = b;
  if (x->process != y->process)
    return x->process < y->process ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_descending(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x > y ? -1 : x < y;
}

/* What counts of a page; false when the source did not count it. */
static bool page_count(const lamina_profile *profile, const lmi_profile_page *page, const lamina_curve_options *options,
                       uint64_t *count)
{
  *count = 0;
  for (uint32_t i = 0; i < page->count_count; i++) {
    const lmi_profile_page_counts *counts = &profile->counts.data[page->first_count + i];
    const uint64_t value = options->metric == LAMINA_CURVE_MISSES ? counts->misses : counts->accesses;
    if (value == LAMINA_UNCOUNTED)
      return false;
    if (options->phase <= 0 || (uint32_t)options->phase - 1 == counts->phase)
      *count += value;
  }
  return true;
}

static lamina_status gather(const lamina_profile *profile, const lamina_curve_options *options, uint64_t pages_per_bin,
                            bin *bins)
{
  for (size_t i = 0; i < profile->pages.count; i++) {
    const lmi_profile_page *page = &profile->pages.data[i];
    bins[i] = (bin){.number = page->number / pages_per_bin, .process = page->process};
    LMI_REQUIRE(profile->ctx, page_count(profile, page, options, &bins[i].count), LAMINA_UNAVAILABLE,
                "the source '%s' did not count %s per page", lamina_profile_source_name(profile->summary.source),
                options->metric == LAMINA_CURVE_MISSES ? "lines from memory" : "accesses");
  }
  return LAMINA_OK;
}

/* Lives of one page, and pages of one bin, are put together; returns how many bins there are. */
static uint64_t combine(bin *bins, size_t count, uint64_t *counts)
{
  uint64_t used = 0;
  if (count > 1)
    qsort(bins, count, sizeof *bins, compare_places);
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && compare_places(&bins[i - 1], &bins[i]) == 0)
      counts[used - 1] += bins[i].count;
    else
      counts[used++] = bins[i].count;
  }
  return used;
}

static void accumulate(lamina_curve *curve)
{
  if (curve->bins > 1)
    qsort(curve->counts, curve->bins, sizeof *curve->counts, compare_descending);
  for (uint64_t i = 0; i < curve->bins; i++)
    curve->cumulative[i + 1] = curve->cumulative[i] + curve->counts[i];
  curve->total = curve->cumulative[curve->bins];
}

static lamina_status check_options(const lamina_profile *profile, const lamina_curve_options *options,
                                   uint64_t *pages_per_bin)
{
  const uint64_t page = profile->summary.page_bytes;
  const uint64_t wanted = options->bin_bytes == 0 ? page : options->bin_bytes;
  LMI_REQUIRE(profile->ctx, wanted >= page && wanted % page == 0, LAMINA_ERROR_ARGUMENT,
              "bins of %llu bytes: must be a multiple of the profile's pages of %llu bytes", (unsigned long long)wanted,
              (unsigned long long)page);
  LMI_REQUIRE(profile->ctx, options->phase <= (int)profile->phases.count, LAMINA_ERROR_ARGUMENT,
              "phase %d: the profile has %zu", options->phase, profile->phases.count);
  *pages_per_bin = wanted / page;
  return LAMINA_OK;
}

lamina_status lamina_profile_curve(const lamina_profile *profile, const lamina_curve_options *options,
                                   lamina_curve **curve)
{
  lamina_context *ctx = profile->ctx;
  lamina_status status = LAMINA_OK;
  lamina_curve *made = NULL;
  bin *bins = NULL;
  uint64_t pages_per_bin = 1;
  *curve = NULL;
  LMI_TRY(check_options(profile, options, &pages_per_bin));
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 1, &made), cleanup);
  made->ctx = ctx;
  made->is_sampled = profile->summary.source != LAMINA_SOURCE_TRACE;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, profile->pages.count, &bins), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, profile->pages.count, &made->counts), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, profile->pages.count + 1, &made->cumulative), cleanup);
  LMI_TRY_GOTO(status, gather(profile, options, pages_per_bin, bins), cleanup);
  made->bins = combine(bins, profile->pages.count, made->counts);
  accumulate(made);
  *curve = made;
  made = NULL;
cleanup:
  lmi_free(ctx, bins);
  lamina_curve_destroy(made);
  return status;
}

void lamina_curve_destroy(lamina_curve *curve)
{
  if (curve == NULL)
    return;
  lamina_context *ctx = curve->ctx;
  lmi_free(ctx, curve->counts);
  lmi_free(ctx, curve->cumulative);
  lmi_free(ctx, curve);
}

/* ---- readings ---- */

uint64_t lamina_curve_bins(const lamina_curve *curve)
{
  return curve->bins;
}

const uint64_t *lamina_curve_cumulative(const lamina_curve *curve)
{
  return curve->cumulative;
}

/* Percent of the accesses in the first `percent` of the bins, along straight lines between the points. */
static double share_of(const uint64_t *cumulative, uint64_t bins, double percent)
{
  const uint64_t total = cumulative[bins];
  const double position = percent <= 0 ? 0 : percent >= 100 ? (double)bins : percent / 100 * (double)bins;
  const uint64_t below = (uint64_t)position < bins ? (uint64_t)position : bins;
  const double fraction = position - (double)below;
  double held = (double)cumulative[below];
  if (below < bins)
    held += fraction * (double)(cumulative[below + 1] - cumulative[below]);
  return 100 * held / (double)total;
}

double lamina_curve_share(const lamina_curve *curve, double percent)
{
  return curve->total == 0 ? NAN : share_of(curve->cumulative, curve->bins, percent);
}

double lamina_curve_capacity(const lamina_curve *curve, double percent)
{
  uint64_t low = 0, high = curve->bins;
  if (curve->total == 0)
    return NAN;
  while (low < high) { /* the least k with cumulative[k] >= percent of the total */
    const uint64_t middle = low + (high - low) / 2;
    if (100 * (double)curve->cumulative[middle] >= percent * (double)curve->total)
      high = middle;
    else
      low = middle + 1;
  }
  return 100 * (double)low / (double)curve->bins;
}

double lamina_curve_gini(const lamina_curve *curve)
{
  double weighted = 0;
  if (curve->total == 0)
    return NAN;
  for (uint64_t i = 0; i < curve->bins; i++) /* rank 1 is the coldest */
    weighted += (double)(curve->bins - i) * (double)curve->counts[i];
  const double bins = (double)curve->bins;
  return 2 * weighted / (bins * (double)curve->total) - (bins + 1) / bins;
}

/* Both are made of straight lines, so the largest distance lies at a point of one of them. */
static double distance_at_points(const lamina_curve *points, const lamina_curve *other)
{
  double largest = 0;
  for (uint64_t k = 0; k <= points->bins; k++) {
    const double percent = 100 * (double)k / (double)points->bins;
    const double here = 100 * (double)points->cumulative[k] / (double)points->total;
    const double distance = fabs(here - share_of(other->cumulative, other->bins, percent));
    largest = distance > largest ? distance : largest;
  }
  return largest;
}

double lamina_curve_distance(const lamina_curve *a, const lamina_curve *b)
{
  if (a->total == 0 || b->total == 0)
    return NAN;
  const double from_a = distance_at_points(a, b), from_b = distance_at_points(b, a);
  return from_a > from_b ? from_a : from_b;
}

double lamina_curve_samples_per_bin(const lamina_curve *curve)
{
  return curve->is_sampled && curve->bins > 0 ? (double)curve->total / (double)curve->bins : NAN;
}

/* ---- the band of a sampled curve ---- */

static double uniform(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

/* A Poisson number of mean `mean`: products of uniforms where it is small, a rounded normal number where it is large.
 */
static uint64_t poisson(double mean, uint64_t *state)
{
  if (mean > 50) {
    const double normal = sqrt(-2 * log(uniform(state))) * cos(2 * 3.14159265358979323846 * uniform(state));
    const double value = mean + sqrt(mean) * normal + 0.5;
    return value > 0 ? (uint64_t)value : 0;
  }
  const double limit = exp(-mean);
  uint64_t count = 0;
  for (double product = uniform(state); product > limit; product *= uniform(state))
    count++;
  return count;
}

/* One resampled curve's share; `counts` and `sums` are room for it. */
static double replicate(const lamina_curve *curve, double percent, uint64_t *counts, uint64_t *sums, uint64_t *state)
{
  for (uint64_t i = 0; i < curve->bins; i++)
    counts[i] = curve->counts[i] == 0 ? 0 : poisson((double)curve->counts[i], state);
  qsort(counts, curve->bins, sizeof *counts, compare_descending);
  for (uint64_t i = 0; i < curve->bins; i++)
    sums[i + 1] = sums[i] + counts[i];
  return sums[curve->bins] > 0 ? share_of(sums, curve->bins, percent) : 0;
}

static int compare_reals(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

lamina_status lamina_curve_band(const lamina_curve *curve, double percent, double *low, double *high)
{
  lamina_context *ctx = curve->ctx;
  lamina_status status = LAMINA_OK;
  double shares[REPLICATES];
  uint64_t *counts = NULL, *sums = NULL, state = UINT64_C(0x9E3779B97F4A7C15);
  *low = *high = lamina_curve_share(curve, percent);
  if (!curve->is_sampled || curve->total == 0)
    return LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, curve->bins, &counts), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, curve->bins + 1, &sums), cleanup);
  for (int i = 0; i < REPLICATES; i++)
    shares[i] = replicate(curve, percent, counts, sums, &state);
  qsort(shares, REPLICATES, sizeof *shares, compare_reals);
  /* Resampling adds the noise once more that made the curve lean to the left: what it moved up is taken off (basic
   * bootstrap), and the curve itself stays in the band. */
  const double share = *low;
  *low = fmax(0, fmin(share, 2 * share - shares[REPLICATES * 975 / 1000 - 1]));
  *high = fmin(100, fmax(share, 2 * share - shares[REPLICATES * 25 / 1000]));
cleanup:
  lmi_free(ctx, counts);
  lmi_free(ctx, sums);
  return status;
}
