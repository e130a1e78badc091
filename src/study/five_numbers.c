/* SPDX-License-Identifier: Apache-2.0 */
/* The few statistics that the studies need. */
#include "five_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double lmi_quantile(const double *sorted, size_t count, double part)
{
  if (count == 0)
    return (double)NAN;
  const double place = part * (double)(count - 1);
  const size_t below = (size_t)floor(place);
  const size_t above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

lamina_five_numbers lamina_five_numbers_of(double *values, size_t count)
{
  qsort(values, count, sizeof *values, by_size);
  return (lamina_five_numbers){.min = lmi_quantile(values, count, 0),
                               .q1 = lmi_quantile(values, count, 0.25),
                               .median = lmi_quantile(values, count, 0.5),
                               .q3 = lmi_quantile(values, count, 0.75),
                               .max = lmi_quantile(values, count, 1)};
}

static double median_of(double *values, size_t count)
{
  qsort(values, count, sizeof *values, by_size);
  return lmi_quantile(values, count, 0.5);
}

static uint64_t next_random(uint64_t *state)
{
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

/* One of `count` with replacement, the same rounds of both. `above` NULL: its median is given. */
static double draw_ratio(const double *above, double above_median, const double *below, size_t count, double *scratch,
                         uint64_t *state)
{
  double *first = scratch, *second = scratch + count;
  for (size_t i = 0; i < count; i++) {
    const size_t round = (size_t)(next_random(state) % count);
    first[i] = above != NULL ? above[round] : above_median;
    second[i] = below[round];
  }
  return (above != NULL ? median_of(first, count) : above_median) / median_of(second, count);
}

lamina_status lmi_ratio_of_medians(lamina_context *ctx, const double *above, const double *below, size_t count,
                                   lmi_ratio_band *band)
{
  enum { DRAWS = 2000 };
  double *scratch = NULL, *ratios = NULL;
  uint64_t state = 1;
  *band = (lmi_ratio_band){NAN, NAN, NAN};
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 2 * count, &scratch), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, DRAWS, &ratios), cleanup);
  memcpy(scratch, above, count * sizeof *scratch);
  memcpy(scratch + count, below, count * sizeof *scratch);
  const double above_median = median_of(scratch, count);
  band->ratio = above_median / median_of(scratch + count, count);
  for (size_t i = 0; i < DRAWS && count > 1; i++)
    ratios[i] = draw_ratio(above == below ? NULL : above, above_median, below, count, scratch, &state);
  if (count > 1) {
    qsort(ratios, DRAWS, sizeof *ratios, by_size);
    band->low = lmi_quantile(ratios, DRAWS, 0.025);
    band->high = lmi_quantile(ratios, DRAWS, 0.975);
  }
cleanup:
  lmi_free(ctx, scratch);
  lmi_free(ctx, ratios);
  return status;
}
