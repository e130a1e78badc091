/* SPDX-License-Identifier: Apache-2.0 */
#include "spread.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

lamina_spread lmi_spread_of(double *values, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (isnan(values[i]))
      return (lamina_spread){.median = (double)NAN, .low = (double)NAN, .high = (double)NAN};
  qsort(values, count, sizeof *values, by_size);
  return (lamina_spread){
    .median = 0.5 * (values[(count - 1) / 2] + values[count / 2]), .low = values[0], .high = values[count - 1]};
}
