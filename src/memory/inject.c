/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <lamina/inject.h>

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <time.h>

#include "inject_kernel.h"
#include "probe.h"

enum { BLOCK_LINES = 1024 };
static const double MOST_FLOPS = 100000, LEAST_SECONDS = 0.001, MOST_SECONDS = 1e7;

/* A thread's progress, alone on its cache line. */
typedef struct progress {
  _Alignas(LMI_LINE_BYTES) atomic_uint_fast64_t lines;
} progress;

typedef struct injector {
  const lamina_injector_setting *setting;
  double *values;
  int64_t lines;
  progress *done; /* one a thread */
  atomic_bool stop;
  atomic_int ready;
} injector;

lamina_injector_setting lamina_injector_setting_default(void)
{
  return (lamina_injector_setting){
    .threads = 1, .flops_per_element = 1, .placement = {LAMINA_NODE_ANY, LAMINA_NODE_ANY}};
}

/* Whole counts on either side of a fraction, in the proportion that gives it. */
static int next_flops(double wanted, double *carry)
{
  const double exact = wanted + *carry;
  const double whole = fmax(1, floor(exact + 0.5));
  *carry = exact - whole;
  return (int)whole;
}

static void work(injector *in, int thread)
{
  int64_t begin = 0, end = 0;
  double carry = 0;
  const int threads = in->setting->threads;
  lmi_probe_share(in->lines, thread, threads, &begin, &end);
  for (int64_t i = begin * 8; i < end * 8; i++)
    in->values[i] = 1;
  atomic_fetch_add(&in->ready, 1);
  for (int64_t at = begin; !atomic_load_explicit(&in->stop, memory_order_relaxed);) {
    const int64_t lines = end - at < BLOCK_LINES ? end - at : BLOCK_LINES;
    lmi_inject_lines(in->values + at * 8, lines, next_flops(in->setting->flops_per_element, &carry), 0);
    atomic_fetch_add_explicit(&in->done[thread].lines, (uint_fast64_t)lines, memory_order_relaxed);
    at = at + lines < end ? at + lines : begin;
  }
}

static double sum_lines(const injector *in)
{
  double sum = 0;
  for (int i = 0; i < in->setting->threads; i++)
    sum += (double)atomic_load_explicit(&in->done[i].lines, memory_order_relaxed);
  return sum;
}

static void sleep_seconds(double seconds)
{
  const double whole = floor(seconds);
  struct timespec left = {.tv_sec = (time_t)whole, .tv_nsec = (long)(1e9 * (seconds - whole))};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) != 0)
    ; /* a signal came: the rest is in `left` */
}

/* Waits for the arrays to be touched, then measures from one moment to another. */
static void supervise(injector *in, double seconds, lamina_injection *result)
{
  while (atomic_load(&in->ready) < in->setting->threads)
    sleep_seconds(0.001);
  const double lines = sum_lines(in), start = lmi_clock_seconds();
  sleep_seconds(seconds);
  const double stop = lmi_clock_seconds(), more = sum_lines(in);
  atomic_store(&in->stop, true);
  result->seconds = stop - start;
  result->gb_per_s = 1e-9 * (more - lines) * 2 * LMI_LINE_BYTES / result->seconds;
}

static lamina_status check(lamina_context *ctx, const lamina_injector_setting *setting, double seconds)
{
  LMI_REQUIRE(ctx, setting->threads >= 1 && setting->threads < LMI_PROBE_MAX_THREADS, LAMINA_ERROR_ARGUMENT,
              "an injector of %d threads; 1 to %d are allowed", setting->threads, LMI_PROBE_MAX_THREADS - 1);
  LMI_REQUIRE(ctx, setting->flops_per_element >= 1 && setting->flops_per_element <= MOST_FLOPS, LAMINA_ERROR_ARGUMENT,
              "%g flops an element; 1 to %g are allowed", setting->flops_per_element, MOST_FLOPS);
  LMI_REQUIRE(ctx, seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS, LAMINA_ERROR_ARGUMENT,
              "injecting for %g s; %g to %g are allowed", seconds, LEAST_SECONDS, MOST_SECONDS);
  return LAMINA_OK;
}

lamina_status lamina_inject_run(lamina_context *ctx, const lamina_injector_setting *setting, double seconds,
                                lamina_injection *result)
{
  *result = (lamina_injection){0};
  uint64_t bytes = setting->array_bytes;
  LMI_TRY(check(ctx, setting, seconds));
  if (bytes == 0)
    LMI_TRY(lmi_probe_default_bytes(ctx, &bytes));
  injector in = {.setting = setting, .lines = (int64_t)(bytes / LMI_LINE_BYTES)};
  LMI_REQUIRE(ctx, in.lines >= setting->threads, LAMINA_ERROR_ARGUMENT,
              "an array of %llu bytes has less than a line a thread", (unsigned long long)bytes);
  lmi_probe_site site;
  lmi_probe_array array = {0};
  LMI_TRY(lmi_probe_site_open(ctx, setting->placement, &site));
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)setting->threads, &in.done), cleanup);
  LMI_TRY_GOTO(status, lmi_probe_array_create(ctx, &site, (size_t)bytes, false, &array), cleanup);
  in.values = array.memory;
  /* One thread more than workers: it sleeps, looks at the clock and stops the others. */
#pragma omp parallel num_threads(setting->threads + 1)
  {
    const int thread = omp_get_thread_num();
    if (thread == 0) {
      supervise(&in, seconds, result);
    } else {
      hwloc_bitmap_t before = lmi_probe_bind(&site, thread - 1);
      work(&in, thread - 1);
      lmi_probe_unbind(&site, before);
    }
  }
  result->array_bytes = bytes;
  result->placed = lmi_probe_array_is_placed(&site, &array);
cleanup:
  lmi_probe_array_destroy(ctx, &array);
  lmi_free(ctx, in.done);
  lmi_probe_site_close(&site);
  return status;
}
