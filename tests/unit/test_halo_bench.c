/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of a transport on samples whose law is known, and the rows of bench halo. */
#include "support/test.h"

#include <math.h>

#include "base/base.h"
#include "study/transport_fit.h"

static void expect_near(double value, double expected)
{
  if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
    fail_msg("%.12g, not %.12g", value, expected);
}

static void a_known_law_is_found(void **state)
{
  (void)state;
  lamina_transport_point samples[12];
  lamina_transport transport = {.point_count = 0};
  for (int i = 0; i < 12; i++) {
    const double messages = 1 << i % 4, bytes = messages * 1000.0 * (1 + i / 4);
    samples[i] = (lamina_transport_point){messages, bytes, 2.5 + 0.125 * messages + bytes / 8e3};
  }
  lmi_transport_fit(samples, 12, &transport);
  expect_near(transport.sync_us, 2.5);
  expect_near(transport.setup_us, 0.125);
  expect_near(transport.gb_per_s, 8.0);
}

/* All samples alike: nothing can be told apart, and nothing is printed as 0. */
static void what_was_not_measured_is_not_a_number(void **state)
{
  (void)state;
  lamina_transport_point samples[3] = {{1, 1000, 1}, {1, 1000, 1}, {1, 1000, 1}};
  lamina_transport transport = {.point_count = 0};
  lmi_transport_fit(samples, 3, &transport);
  assert_true(isnan(transport.gb_per_s) || isnan(transport.setup_us) || isnan(transport.sync_us));
}

/* A transport with two protocols: each size is predicted by its own, and what was measured is met within 15 %. */
static void the_protocol_of_the_size_predicts(void **state)
{
  (void)state;
  lamina_transport transport = {.sync_us = (double)NAN, .setup_us = (double)NAN, .gb_per_s = (double)NAN};
  for (int size = 0; size < 24; size++)
    for (int count = 0; count < 4; count++) {
      const double messages = 1 << count, length = 1088.0 * pow(2.0, 0.5 * size), bytes = messages * length;
      const double us = size < 12 ? 1.0 + 0.5 * messages + bytes / 2e3 : 1.0 + 9.0 * messages + bytes / 2e4;
      transport.points[transport.point_count++] = (lamina_transport_point){messages, bytes, us};
    }
  for (int i = 0; i < transport.point_count; i++) {
    const lamina_transport_point *p = &transport.points[i];
    const double ratio = lamina_transport_time(&transport, p->messages, p->bytes) / p->us;
    if (!(fabs(ratio - 1.0) < 0.15))
      fail_msg("%g messages of %g bytes: %g times what it took", p->messages, p->bytes, ratio);
  }
  const double far = lamina_transport_time(&transport, 10, 10 * 600e3) / (1.0 + 90.0 + 10 * 600e3 / 2e4);
  assert_true(fabs(far - 1.0) < 0.05);
  assert_true(lamina_transport_time(&transport, 2, 8) <
              lamina_transport_time(&transport, 2, 1e9)); /* beyond both ends */
}

static lamina_context *make_context(void)
{
  const lamina_context_options options = {.threads = 2};
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  if (lmi_require_kernels(ctx) != LAMINA_OK)
    LMI_SKIP("%s", lamina_error_message(ctx));
  return ctx;
}

static void rows_hold_counts_and_times(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_halo_bench bench = lamina_halo_bench_default();
  const lamina_transport transport = {.name = "known", .sync_us = 1.0, .setup_us = 0.5, .gb_per_s = 2.0};
  lamina_halo_row row;
  bench.solver.cells = (lamina_int3){8, 8, 8};
  bench.solver.partitions = 4;
  bench.solver.layout = LAMINA_LAYOUT_SOA;
  bench.repetitions = 1;
  bench.seconds = 0.001;
  assert_int_equal(lamina_halo_bench_run(ctx, &bench, &transport, &row), LAMINA_OK);
  assert_int_equal(row.alpha, 10);
  assert_int_equal(row.beta_values, 10 * 64);
  assert_true(row.bytes >= 10 * 64 * 4);
  expect_near(row.model_us, 1.0 + 2 * (10 * 0.5 + row.bytes / 2e3));
  assert_true(row.model_over_measured.median > 0 && row.measured_us > 0 && row.mlups.median > 0 &&
              row.mlups_no_overlap.median > 0);
  lamina_context_destroy(ctx);
}

static void refuse(lamina_context *ctx, const lamina_halo_bench *bench, lamina_status status, const char *words)
{
  const lamina_transport transport = {.name = "known", .sync_us = 1.0, .setup_us = 0.5, .gb_per_s = 2.0};
  lamina_halo_row row;
  lamina_error_clear(ctx);
  assert_int_equal(lamina_halo_bench_run(ctx, bench, &transport, &row), status);
  if (strstr(lamina_error_message(ctx), words) == NULL)
    fail_msg("'%s' lacks '%s'", lamina_error_message(ctx), words);
}

static void bad_options_are_refused(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_halo_bench bench = lamina_halo_bench_default();
  refuse(ctx, &bench, LAMINA_ERROR_ARGUMENT, "at least 2");
  bench.solver.partitions = 65;
  refuse(ctx, &bench, LAMINA_ERROR_ARGUMENT, "65");
  bench.solver.partitions = 2;
  bench.repetitions = 0;
  refuse(ctx, &bench, LAMINA_ERROR_ARGUMENT, "0 repetitions");
  bench.repetitions = 1;
  bench.seconds = (double)NAN;
  refuse(ctx, &bench, LAMINA_ERROR_ARGUMENT, "must be positive");
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(a_known_law_is_found), cmocka_unit_test(the_protocol_of_the_size_predicts),
              cmocka_unit_test(what_was_not_measured_is_not_a_number), cmocka_unit_test(rows_hold_counts_and_times),
              cmocka_unit_test(bad_options_are_refused))
