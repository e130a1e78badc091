/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The injector of the host link on the emulated driver: what it says it moved is what the memory shows. */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include <lamina/inject.h>

#include "device/cuda/cuda_link.h"

enum { ARRAY_BYTES = 1 << 18 };

typedef struct link_test {
  lamina_context *ctx;
  lamina_link_injector *injector;
} link_test;

static link_test open_link(void)
{
  link_test test = {0};
  if (system("gcc --version > compiler.txt 2>&1") != 0)
    LMI_SKIP("there is no gcc to compile kernels with");
  setenv("LAMINA_CUDA_DRIVER", CUDA_EMULATOR, 1);
  setenv("LAMINA_NVRTC", CUDA_EMULATOR, 1);
  setenv("LAMINA_KERNEL_CACHE", "kernels", 1);
  assert_int_equal(lamina_context_create(NULL, &test.ctx), LAMINA_OK);
  if (lamina_link_injector_create(test.ctx, 0, ARRAY_BYTES, &test.injector) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(test.ctx));
  return test;
}

static void close_link(link_test *test)
{
  lamina_link_injector_destroy(test->injector);
  lamina_context_destroy(test->ctx);
}

/* x -> x/2 + 1/2 twice from 1 + 2^k ends at 1 + 2^(k - 2): how far an element fell says how often it was swept. */
static void traffic_is_what_the_memory_shows(void **state)
{
  (void)state;
  link_test test = open_link();
  lamina_link_traffic traffic;
  int64_t count = 0;
  double sweeps = 0, probe[4] = {0};
  double *values = lmi_link_values(test.injector, &count);
  for (int64_t i = 0; i < count; i++)
    values[i] = 1 + ldexp(1, 1000);
  const lamina_link_run run = {.blocks = 2, .flops_per_element = 4, .seconds = 0.001};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(lamina_link_injector_run(test.injector, &run, &traffic), LAMINA_OK);
    assert_true(traffic.seconds >= 0.001);
    sweeps -= (double)traffic.bytes / 16;
  }
  for (int64_t i = 0; i < count; i++)
    sweeps += (1000 - log2(values[i])) / 2; /* far above 1 the ones do not show */
  assert_true(fabs(sweeps) <= 0.001 * (double)count);
  const lamina_link_run probe_only = {.probe_blocks = 1, .seconds = 0.001, .probe_seconds = probe, .probe_room = 4};
  assert_int_equal(lamina_link_injector_run(test.injector, &probe_only, &traffic), LAMINA_OK);
  assert_int_equal(traffic.bytes, 0);
  assert_true(traffic.probe_count >= 1);
  assert_true(fabs(probe[0] - 0.001) < 1e-9); /* the emulated clock's answer */
  close_link(&test);
}

static void settings_out_of_range_are_refused(void **state)
{
  (void)state;
  link_test test = open_link();
  lamina_link_traffic traffic;
  lamina_link_injector *other = NULL;
  const lamina_link_run runs[] = {{.seconds = 1},
                                  {.blocks = 65536, .flops_per_element = 1, .seconds = 1},
                                  {.blocks = -1, .probe_blocks = 1, .flops_per_element = 1, .seconds = 1},
                                  {.blocks = 1, .flops_per_element = 0.5, .seconds = 1},
                                  {.blocks = 1, .flops_per_element = (double)NAN, .seconds = 1},
                                  {.blocks = 1, .flops_per_element = 1, .seconds = 0}};
  for (size_t i = 0; i < LMI_COUNT(runs); i++)
    assert_int_equal(lamina_link_injector_run(test.injector, &runs[i], &traffic), LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lamina_link_injector_create(test.ctx, 0, 100, &other), LAMINA_ERROR_ARGUMENT);
  assert_null(other);
  assert_int_not_equal(lamina_link_injector_create(test.ctx, 7, ARRAY_BYTES, &other), LAMINA_OK);
  assert_null(other);
  close_link(&test);
}

/* Rising levels need falling flops; the probe is heard beside the injection. */
static void levels_run_and_stop_by_themselves(void **state)
{
  (void)state;
  link_test test = open_link();
  lamina_calibration_point points[] = {{.threads = 2, .flops_per_element = 1, .fitted_gb_per_s = 4},
                                       {.threads = 2, .flops_per_element = 101, .fitted_gb_per_s = 1}};
  const lamina_injector_calibration calibration = {
    .peak_gb_per_s = 4, .points = points, .point_count = 2, .array_bytes = ARRAY_BYTES};
  double probe[64];
  lamina_link_injection result;
  lamina_link_level level = {
    .loi = 150, .seconds = 0.01, .probe_blocks = 1, .probe_seconds = probe, .probe_room = LMI_COUNT(probe)};
  assert_int_equal(lamina_link_inject(test.ctx, test.injector, &calibration, &level, &result), LAMINA_OK);
  assert_int_equal(result.blocks, 3);
  assert_true(result.flops_per_element == 1);
  assert_true(result.probe_count > 0 && result.gb_per_s > 0 && result.peak_gb_per_s > 0);
  level.loi = 0;
  assert_int_equal(lamina_link_inject(test.ctx, test.injector, &calibration, &level, &result), LAMINA_ERROR_ARGUMENT);
  close_link(&test);
}

LMI_TEST_MAIN(cmocka_unit_test(traffic_is_what_the_memory_shows), cmocka_unit_test(settings_out_of_range_are_refused),
              cmocka_unit_test(levels_run_and_stop_by_themselves))
