/* SPDX-License-Identifier: Apache-2.0 */
/* Means and frequencies of series whose statistics are known. */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "study/time_series.h"

static uint64_t seed;

static double uniform(void)
{
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 11) / 9007199254740992.0;
}

static double normal(void)
{
  return sqrt(-2.0 * log(1.0 - uniform())) * cos(6.283185307179586 * uniform());
}

/* x_i = a x_{i-1} + noise has the correlation time (1 + a) / (2 (1 - a)) and a mean of known scatter. */
static void check_autoregression(double a, size_t count, double tolerance)
{
  double *x = malloc(count * sizeof *x), squares = 0.0, claimed = 0.0;
  const int repeats = 40;
  seed = 7;
  for (int r = 0; r < repeats; r++) {
    double value = normal() / sqrt(1 - a * a);
    for (size_t i = 0; i < count; i++) {
      x[i] = 3.0 + value;
      value = a * value + normal();
    }
    const lmi_series_mean m = lmi_series_find_mean(x, count);
    assert_true(fabs(m.correlation / ((1 + a) / (2 * (1 - a))) - 1) < tolerance);
    squares += (m.mean - 3.0) * (m.mean - 3.0) / repeats;
    claimed += m.error * m.error / repeats;
  }
  /* The scatter of 40 means is known to about a tenth. */
  assert_true(fabs(sqrt(squares / claimed) - 1) < 0.35);
  free(x);
}

static void independent_samples(void **state)
{
  (void)state;
  check_autoregression(0.0, 4000, 0.25);
}

static void correlated_samples_know_less(void **state)
{
  (void)state;
  check_autoregression(0.9, 40000, 0.3);
}

/* A trend over the whole series: nothing can be said about its error. */
static void a_short_series_claims_nothing(void **state)
{
  (void)state;
  double x[100];
  for (int i = 0; i < 100; i++)
    x[i] = i;
  const lmi_series_mean m = lmi_series_find_mean(x, 100);
  assert_true(m.mean == 49.5 && m.low == 0 && m.high == 99);
  assert_true(isnan(m.error) && isnan(m.correlation));
  assert_true(isnan(lmi_series_find_mean(x, 0).mean));
  assert_true(isnan(lmi_series_find_mean(x, 1).error));
}

static void a_constant_has_no_error(void **state)
{
  (void)state;
  const double x[5] = {2, 2, 2, 2, 2};
  const lmi_series_mean m = lmi_series_find_mean(x, 5);
  assert_true(m.mean == 2 && m.error == 0 && m.deviation == 0);
  assert_true(isnan(lmi_series_find_period(x, 5).frequency));
}

static void the_frequency_of_a_noisy_wave(void **state)
{
  (void)state;
  enum { COUNT = 2000 };
  static double x[COUNT];
  seed = 3;
  for (int i = 0; i < COUNT; i++)
    x[i] = 1.0 + sin(6.283185307179586 * 0.01234 * i + 0.3) + 0.02 * normal();
  const lmi_series_period p = lmi_series_find_period(x, COUNT);
  assert_int_equal(p.cycles, 23);
  assert_true(fabs(p.frequency / 0.01234 - 1) < 1e-3);
  assert_true(p.error > 0 && p.error < 1e-4);
}

LMI_TEST_MAIN(cmocka_unit_test(independent_samples), cmocka_unit_test(correlated_samples_know_less),
              cmocka_unit_test(a_short_series_claims_nothing), cmocka_unit_test(a_constant_has_no_error),
              cmocka_unit_test(the_frequency_of_a_noisy_wave))
