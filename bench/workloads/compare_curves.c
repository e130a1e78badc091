/* SPDX-License-Identifier: Apache-2.0 */
/* How far a sampled scaling curve lies from the exact one of the same program, in points of percent.
 *
 *   compare_curves EXACT SAMPLED BIN_KIB       two profile folders; bins of so many KiB
 *
 * One line, tab-separated: bins of the exact profile, samples a bin, the distance to the curve of all accesses and to
 * that of lines from memory, then the share in the hottest tenth: exact accesses, exact lines, samples with the 95 %
 * band. */
#include <stdio.h>
#include <stdlib.h>

#include <lamina/memory_profile.h>

enum { EXACT_ACCESSES, EXACT_LINES, SAMPLED, CURVES };

static const double TENTH = 10;

static lamina_status make_curves(const lamina_profile *exact, const lamina_profile *sampled, uint64_t bin_bytes,
                                 lamina_curve *curves[CURVES])
{
  const lamina_curve_options accesses = {.metric = LAMINA_CURVE_ACCESSES, .bin_bytes = bin_bytes};
  const lamina_curve_options lines = {.metric = LAMINA_CURVE_MISSES, .bin_bytes = bin_bytes};
  lamina_status status = lamina_profile_curve(exact, &accesses, &curves[EXACT_ACCESSES]);
  if (status == LAMINA_OK)
    status = lamina_profile_curve(exact, &lines, &curves[EXACT_LINES]);
  if (status == LAMINA_OK)
    status = lamina_profile_curve(sampled, &accesses, &curves[SAMPLED]);
  return status;
}

static lamina_status print_distances(lamina_curve *const curves[CURVES])
{
  double low = 0, high = 0;
  const lamina_status status = lamina_curve_band(curves[SAMPLED], TENTH, &low, &high);
  printf("%llu\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f (%.1f to %.1f)\n",
         (unsigned long long)lamina_curve_bins(curves[EXACT_LINES]), lamina_curve_samples_per_bin(curves[SAMPLED]),
         lamina_curve_distance(curves[EXACT_ACCESSES], curves[SAMPLED]),
         lamina_curve_distance(curves[EXACT_LINES], curves[SAMPLED]), lamina_curve_share(curves[EXACT_ACCESSES], TENTH),
         lamina_curve_share(curves[EXACT_LINES], TENTH), lamina_curve_share(curves[SAMPLED], TENTH), low, high);
  return status;
}

int main(int count, char **arguments)
{
  lamina_context *context = NULL;
  lamina_profile *exact = NULL, *sampled = NULL;
  lamina_curve *curves[CURVES] = {NULL};
  const long kib = count == 4 ? strtol(arguments[3], NULL, 10) : 0;
  if (kib < 4 || kib % 4 != 0) {
    fprintf(stderr, "usage: compare_curves EXACT SAMPLED BIN_KIB, a multiple of 4\n");
    return 2;
  }
  lamina_status status = lamina_context_create(NULL, &context);
  if (status == LAMINA_OK)
    status = lamina_profile_read(context, arguments[1], &exact);
  if (status == LAMINA_OK)
    status = lamina_profile_read(context, arguments[2], &sampled);
  if (status == LAMINA_OK)
    status = make_curves(exact, sampled, (uint64_t)kib << 10, curves);
  if (status == LAMINA_OK)
    status = print_distances(curves);
  if (status != LAMINA_OK)
    fprintf(stderr, "compare_curves: %s\n", context != NULL ? lamina_error_message(context) : "no memory");
  for (int i = 0; i < CURVES; i++)
    lamina_curve_destroy(curves[i]);
  lamina_profile_destroy(exact);
  lamina_profile_destroy(sampled);
  lamina_context_destroy(context);
  return status == LAMINA_OK ? 0 : 1;
}
