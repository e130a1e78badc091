/* SPDX-License-Identifier: Apache-2.0 */
/* What a series of equally spaced samples says: its mean with the error that the correlation of its samples leaves, and
 * the frequency of an oscillation. Unknown is NAN, never 0. */
#ifndef LMI_TIME_SERIES_H
#define LMI_TIME_SERIES_H

#include <stddef.h>

typedef struct lmi_series_mean {
  double mean, deviation; /* of the samples */
  double low, high;
  double correlation; /* integrated correlation time, in samples: 1/2 where they are independent; NAN: not known */
  double error;       /* standard error of the mean; NAN where the series is too short to tell */
} lmi_series_mean;

/* The error is sqrt(2 correlation deviation^2 / count). The correlation is summed up to the first lag that is six times
 * the sum itself (Sokal); where no such lag lies in the first quarter of the series nothing is claimed. */
lmi_series_mean lmi_series_find_mean(const double *values, size_t count);

typedef struct lmi_series_period {
  size_t cycles;    /* whole ones that were seen */
  double frequency; /* per sample; NAN with less than two cycles */
  double error;     /* standard error from the scatter of the cycles; NAN with less than three */
} lmi_series_period;

/* From the passages upwards through the middle between the extremes, each counted only after the series was clearly
 * below. */
lmi_series_period lmi_series_find_period(const double *values, size_t count);

#endif
