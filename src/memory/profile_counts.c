/* SPDX-License-Identifier: Apache-2.0 */
/* Names of what is counted, and what follows from counts alone. */
#include <math.h>
#include <string.h>

#include "profile_store.h"

#define COUNT_CASE(name, value, text) \
  case name:                          \
    return text;
#define NAME_CASE(name, value, text, description) COUNT_CASE(name, value, text)

const char *lamina_count_name(lamina_count count)
{
  switch (count) {
    LAMINA_COUNT_LIST(COUNT_CASE)
  default: return NULL;
  }
}

const char *lamina_profile_source_name(lamina_profile_source source)
{
  switch (source) {
    LAMINA_PROFILE_SOURCE_LIST(NAME_CASE)
  default: return NULL;
  }
}

const char *lamina_object_kind_name(lamina_object_kind kind)
{
  switch (kind) {
    LAMINA_OBJECT_KIND_LIST(NAME_CASE)
  default: return NULL;
  }
}

lamina_counts lmi_counts_none(void)
{
  lamina_counts counts;
  for (int i = 0; i < LAMINA_COUNT_COUNT; i++)
    counts.of[i] = LAMINA_UNCOUNTED;
  return counts;
}

/* An unknown part makes no false total: what one side lacks, the sum lacks, unless the sum is still empty. */
static uint64_t add_known(uint64_t sum, uint64_t term)
{
  if (sum == LAMINA_UNCOUNTED)
    return term;
  return term == LAMINA_UNCOUNTED ? sum : sum + term;
}

void lmi_counts_add(lamina_counts *sum, const lamina_counts *term)
{
  for (int i = 0; i < LAMINA_COUNT_COUNT; i++)
    sum->of[i] = add_known(sum->of[i], term->of[i]);
}

uint64_t lamina_counts_flops(const lamina_counts *counts)
{
  static const uint64_t weights[] = {1, 1, 2, 4, 4, 8, 8, 16};
  uint64_t flops = LAMINA_UNCOUNTED;
  for (size_t i = 0; i < LMI_COUNT(weights); i++) {
    const uint64_t instructions = counts->of[LAMINA_COUNT_FP_F64 + i];
    if (instructions != LAMINA_UNCOUNTED)
      flops = add_known(flops, weights[i] * instructions);
  }
  return flops;
}

uint64_t lamina_counts_memory_bytes(const lamina_counts *counts)
{
  const uint64_t read = counts->of[LAMINA_COUNT_MEMORY_READ_LINES];
  const uint64_t written = counts->of[LAMINA_COUNT_MEMORY_WRITE_LINES];
  if (read == LAMINA_UNCOUNTED)
    return LAMINA_UNCOUNTED;
  return 64 * (read + (written == LAMINA_UNCOUNTED ? 0 : written));
}

double lamina_counts_intensity(const lamina_counts *counts)
{
  const uint64_t flops = lamina_counts_flops(counts);
  const uint64_t bytes = lamina_counts_memory_bytes(counts);
  if (flops == LAMINA_UNCOUNTED || bytes == LAMINA_UNCOUNTED || bytes == 0)
    return NAN;
  return (double)flops / (double)bytes;
}

/* Into [0, 1], where counters read at different moments may leave it. */
static double clamp(double value, bool *was_clamped)
{
  *was_clamped = value < 0 || value > 1;
  return value < 0 ? 0 : value > 1 ? 1 : value;
}

lamina_prefetch lamina_counts_prefetch(const lamina_counts *counts)
{
  const uint64_t issued = counts->of[LAMINA_COUNT_L2_PREFETCHES];
  const uint64_t useless = counts->of[LAMINA_COUNT_L2_PREFETCHES_USELESS];
  const uint64_t lines_in = counts->of[LAMINA_COUNT_L2_LINES_IN];
  lamina_prefetch result = {.accuracy = NAN, .coverage = NAN};
  if (issued == LAMINA_UNCOUNTED || useless == LAMINA_UNCOUNTED)
    return result;
  const double useful = (double)issued - (double)useless;
  if (issued > 0)
    result.accuracy = clamp(useful / (double)issued, &result.accuracy_clamped);
  if (lines_in != LAMINA_UNCOUNTED && lines_in != useless)
    result.coverage = clamp(useful / ((double)lines_in - (double)useless), &result.coverage_clamped);
  return result;
}

double lamina_prefetch_excess(const lamina_counts *on, const lamina_counts *off)
{
  const uint64_t bytes_on = lamina_counts_memory_bytes(on);
  const uint64_t bytes_off = lamina_counts_memory_bytes(off);
  if (bytes_on == LAMINA_UNCOUNTED || bytes_off == LAMINA_UNCOUNTED || bytes_off == 0)
    return NAN;
  return (double)bytes_on / (double)bytes_off - 1;
}

double lamina_prefetch_gain(double seconds_on, double seconds_off)
{
  return seconds_on > 0 && seconds_off > 0 ? seconds_off / seconds_on - 1 : NAN;
}
