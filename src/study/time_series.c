/* SPDX-License-Identifier: Apache-2.0 */
#include "time_series.h"

#include <math.h>
#include <stdbool.h>

/* How many correlation times the window of the sum must hold (Sokal 1997 takes about six). */
static const double WINDOW = 6.0;

static double covariance(const double *values, size_t count, double mean, size_t lag)
{
  double sum = 0.0;
  for (size_t i = 0; i + lag < count; i++)
    sum += (values[i] - mean) * (values[i + lag] - mean);
  return sum / (double)(count - lag);
}

static double correlation_time(const double *values, size_t count, double mean, double variance)
{
  double time = 0.5;
  for (size_t lag = 1; lag <= count / 4; lag++) {
    time += covariance(values, count, mean, lag) / variance;
    if ((double)lag >= WINDOW * time)
      return fmax(time, 0.5);
  }
  return (double)NAN;
}

lmi_series_mean lmi_series_find_mean(const double *values, size_t count)
{
  const double unknown = (double)NAN;
  lmi_series_mean found = {unknown, unknown, unknown, unknown, unknown, unknown};
  if (count == 0)
    return found;
  double sum = 0.0;
  found.low = found.high = values[0];
  for (size_t i = 0; i < count; i++) {
    sum += values[i];
    found.low = fmin(found.low, values[i]);
    found.high = fmax(found.high, values[i]);
  }
  found.mean = sum / (double)count;
  const double variance = covariance(values, count, found.mean, 0);
  found.deviation = sqrt(variance);
  if (!(variance > 0.0)) {
    found.correlation = 0.5;
    found.error = count > 1 ? 0.0 : unknown;
    return found;
  }
  found.correlation = correlation_time(values, count, found.mean, variance);
  found.error = sqrt(2.0 * found.correlation * variance / (double)count);
  return found;
}

lmi_series_period lmi_series_find_period(const double *values, size_t count)
{
  lmi_series_period found = {0, (double)NAN, (double)NAN};
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    low = fmin(low, values[i]);
    high = fmax(high, values[i]);
  }
  const double middle = 0.5 * (low + high), clearly_below = middle - 0.25 * (high - low);
  double first = 0.0, last = 0.0, squares = 0.0;
  size_t passages = 0;
  bool was_below = false;
  for (size_t i = 1; i < count && high > low; i++) {
    was_below = was_below || values[i - 1] < clearly_below;
    if (!was_below || !(values[i - 1] < middle && values[i] >= middle))
      continue;
    const double at = (double)(i - 1) + (middle - values[i - 1]) / (values[i] - values[i - 1]);
    if (passages > 0)
      squares += (at - last) * (at - last);
    else
      first = at;
    last = at;
    passages++;
    was_below = false;
  }
  if (passages < 3)
    return found;
  const double cycles = (double)(passages - 1), period = (last - first) / cycles;
  found.cycles = passages - 1;
  found.frequency = 1.0 / period;
  if (passages > 3) {
    const double variance = fmax(0.0, squares / cycles - period * period) * cycles / (cycles - 1.0);
    found.error = sqrt(variance / cycles) / (period * period);
  }
  return found;
}
