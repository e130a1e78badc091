/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of the probes do what their bytes claim; wrong questions are refused. Times are not judged. */
#include "support/test.h"

#include <lamina/machine.h>

#include "base/base.h"
#include "memory/probe_kernels.h"

enum { LINES = 1000, LINE_FLOATS = 16 };

static lamina_context *ctx;

static int make_context(void **state)
{
  (void)state;
  return lamina_context_create(NULL, &ctx) == LAMINA_OK ? 0 : -1;
}

static int destroy_context(void **state)
{
  (void)state;
  lamina_context_destroy(ctx);
  return 0;
}

/* Each of 19 streams gets the mean of itself and its opposite, on every element and on nothing else. */
static void streams_update_every_element(void **state)
{
  (void)state;
  enum { STRIDE = LINES * LINE_FLOATS + 5 * LINE_FLOATS };
  float *values = NULL;
  assert_int_equal(LMI_ALLOC(ctx, (size_t)19 * STRIDE, &values), LAMINA_OK);
  for (int q = 0; q < 19; q++)
    for (int i = 0; i < STRIDE; i++)
      values[q * STRIDE + i] = (float)(q + i % 7);
  lmi_stream_kernel_find(19, 4)(values, STRIDE, LINES, 64);
  for (int q = 0; q < 19; q++)
    for (int i = 0; i < STRIDE; i++)
      assert_true(values[q * STRIDE + i] == (i < LINES * LINE_FLOATS ? 9 + (float)(i % 7) : (float)(q + i % 7)));
  lmi_free(ctx, values);
}

static void only_compiled_shapes_are_found(void **state)
{
  (void)state;
  static const int streams[] = {1, 9, 19, 27};
  for (size_t i = 0; i < LMI_COUNT(streams); i++) {
    assert_non_null(lmi_stream_kernel_find(streams[i], 4));
    assert_non_null(lmi_stream_kernel_find(streams[i], 8));
  }
  assert_null(lmi_stream_kernel_find(15, 4));
  assert_null(lmi_stream_kernel_find(19, 2));
}

static void reads_and_copies_reach_every_byte(void **state)
{
  (void)state;
  uint64_t *from = NULL, *to = NULL, sum = 0;
  assert_int_equal(LMI_ALLOC(ctx, (size_t)LINES * 8, &from), LAMINA_OK);
  assert_int_equal(LMI_ALLOC(ctx, (size_t)LINES * 8 + 8, &to), LAMINA_OK);
  for (size_t i = 0; i < (size_t)LINES * 8; i++)
    sum += from[i] = i * i + 3;
  assert_true(lmi_kernel_read(from, LINES) == sum);
  lmi_kernel_copy(to, from, LINES);
  assert_memory_equal(to, from, (size_t)LINES * 64);
  assert_true(to[(size_t)LINES * 8] == 0);
  lmi_kernel_write(to, LINES);
  assert_true(to[0] == 1 && to[3] == 4 && to[(size_t)LINES * 8 - 1] == 4 && to[(size_t)LINES * 8] == 0);
  if (lmi_kernel_copy_streaming() != NULL) {
    lmi_kernel_copy_streaming()(to, from, LINES);
    assert_memory_equal(to, from, (size_t)LINES * 64);
  }
  lmi_free(ctx, from);
  lmi_free(ctx, to);
}

static void a_chase_follows_the_pointers(void **state)
{
  (void)state;
  const void *ring[8];
  for (int i = 0; i < 8; i++)
    ring[i] = &ring[(i + 3) % 8];
  assert_ptr_equal(lmi_kernel_chase(&ring[0], 8), &ring[0]);
  assert_ptr_equal(lmi_kernel_chase(&ring[0], 4), &ring[4]);
}

static void results_are_consistent(void **state)
{
  (void)state;
  lamina_stream_probe probe = lamina_stream_probe_default();
  lamina_bandwidth plane, soa;
  probe.cells = 50 * 50 * 50;
  probe.repetitions = 3;
  assert_int_equal(lamina_machine_stream_ceiling(ctx, &probe, &soa), LAMINA_OK);
  probe.layout = LAMINA_LAYOUT_PLANE;
  probe.plane_cells = 2500;
  probe.threads = 3; /* more threads than planes divide by */
  assert_int_equal(lamina_machine_stream_ceiling(ctx, &probe, &plane), LAMINA_OK);
  assert_int_equal(plane.threads, 3);
  assert_true(soa.gb_per_s.low > 0 && soa.gb_per_s.low <= soa.gb_per_s.median &&
              soa.gb_per_s.median <= soa.gb_per_s.high);
  /* 19 streams of 4 bytes, read and written: 152 bytes an element */
  assert_true(soa.gb_per_s.median * 1000 / soa.million_elements.median > 151.99);
  assert_true(soa.gb_per_s.median * 1000 / soa.million_elements.median < 152.01);
  assert_true(plane.array_bytes >= 125000 * 76);
}

static void wrong_questions_are_refused(void **state)
{
  (void)state;
  lamina_stream_probe probe = lamina_stream_probe_default();
  lamina_bandwidth result;
  probe.streams = 20;
  assert_int_equal(lamina_machine_stream_ceiling(ctx, &probe, &result), LAMINA_ERROR_ARGUMENT);
  assert_non_null(strstr(lamina_error_message(ctx), "20 streams"));
  probe = lamina_stream_probe_default();
  probe.cells = (lamina_index)1 << 40; /* 76 TiB */
  assert_int_equal(lamina_machine_stream_ceiling(ctx, &probe, &result), LAMINA_ERROR_MEMORY);
  probe.cells = 0;
  assert_int_equal(lamina_machine_stream_ceiling(ctx, &probe, &result), LAMINA_ERROR_ARGUMENT);
  probe = lamina_stream_probe_default();
  probe.placement.memory_node = 4095;
  assert_int_equal(lamina_machine_stream_ceiling(ctx, &probe, &result), LAMINA_ERROR_ARGUMENT);
  lamina_traffic_probe traffic = lamina_traffic_probe_default();
  traffic.repetitions = 0;
  assert_int_equal(lamina_machine_traffic(ctx, &traffic, &result), LAMINA_ERROR_ARGUMENT);
  traffic = lamina_traffic_probe_default();
  traffic.traffic = (lamina_traffic)77;
  assert_int_equal(lamina_machine_traffic(ctx, &traffic, &result), LAMINA_ERROR_ARGUMENT);
  lamina_latency_probe latency = lamina_latency_probe_default();
  lamina_latency time;
  latency.array_bytes = 64;
  assert_int_equal(lamina_machine_latency(ctx, &latency, &time), LAMINA_ERROR_ARGUMENT);
  lamina_flops_probe flops = lamina_flops_probe_default();
  lamina_flops rate;
  flops.width_bits = 100;
  assert_int_equal(lamina_machine_flops(ctx, &flops, &rate), LAMINA_ERROR_ARGUMENT);
}

LMI_TEST_MAIN(cmocka_unit_test_setup_teardown(streams_update_every_element, make_context, destroy_context),
              cmocka_unit_test(only_compiled_shapes_are_found),
              cmocka_unit_test_setup_teardown(reads_and_copies_reach_every_byte, make_context, destroy_context),
              cmocka_unit_test(a_chase_follows_the_pointers),
              cmocka_unit_test_setup_teardown(results_are_consistent, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(wrong_questions_are_refused, make_context, destroy_context))
