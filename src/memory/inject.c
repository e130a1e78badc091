/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <lamina/inject.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "inject_kernel.h"
#include "injector.h"
#include "probe.h"
#include "uncore.h"

enum { BLOCK_LINES = 1024 };
static const double MOST_FLOPS = 100000, LEAST_SECONDS = 0.001, MOST_SECONDS = 1e7, WINDOW_SECONDS = 0.05;

/* One thread, alone on its cache line: nobody else writes there while it works. */
typedef struct worker {
  _Alignas(LMI_LINE_BYTES) atomic_uint_fast64_t lines;
  lamina_injector *injector;
  pthread_t thread;
  int index;
} worker;

struct lamina_injector {
  lamina_context *ctx;
  int threads, started;
  _Atomic double flops;
  atomic_bool stop;
  atomic_int ready;
  lmi_probe_site site;
  lmi_probe_array array;
  double *values;
  int64_t lines;
  worker *workers;
  double first_lines, first_seconds; /* where the measurement began */
};

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

static void *work(void *argument)
{
  worker *me = argument;
  lamina_injector *in = me->injector;
  int64_t begin = 0, end = 0;
  double carry = 0;
  hwloc_bitmap_free(lmi_probe_bind(&in->site, me->index)); /* the thread ends here: its old binding is of no use */
  lmi_probe_share(in->lines, me->index, in->threads, &begin, &end);
  for (int64_t i = begin * 8; i < end * 8; i++)
    in->values[i] = 1;
  atomic_fetch_add(&in->ready, 1);
  for (int64_t at = begin; !atomic_load_explicit(&in->stop, memory_order_relaxed);) {
    const int64_t lines = end - at < BLOCK_LINES ? end - at : BLOCK_LINES;
    const double flops = atomic_load_explicit(&in->flops, memory_order_relaxed);
    lmi_inject_lines(in->values + at * 8, lines, next_flops(flops, &carry), 0);
    atomic_fetch_add_explicit(&me->lines, (uint_fast64_t)lines, memory_order_relaxed);
    at = at + lines < end ? at + lines : begin;
  }
  return NULL;
}

double lmi_injector_bytes(const lamina_injector *in)
{
  double sum = 0;
  for (int i = 0; i < in->started; i++)
    sum += (double)atomic_load_explicit(&in->workers[i].lines, memory_order_relaxed);
  return sum * 2 * LMI_LINE_BYTES;
}

void lmi_injector_set_flops(lamina_injector *in, double flops)
{
  atomic_store(&in->flops, fmin(MOST_FLOPS, fmax(1, flops)));
}

double lmi_injector_flops(const lamina_injector *in)
{
  return atomic_load(&in->flops);
}

void lmi_sleep_seconds(double seconds)
{
  const double whole = floor(seconds);
  struct timespec left = {.tv_sec = (time_t)whole, .tv_nsec = (long)(1e9 * (seconds - whole))};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) != 0)
    ; /* a signal came: the rest is in `left` */
}

double lmi_injector_watch(const lamina_injector *in, double seconds)
{
  const double bytes = lmi_injector_bytes(in), start = lmi_clock_seconds();
  lmi_sleep_seconds(seconds);
  const double more = lmi_injector_bytes(in), stop = lmi_clock_seconds();
  return 1e-9 * (more - bytes) / (stop - start);
}

static lamina_status check(lamina_context *ctx, const lamina_injector_setting *setting)
{
  LMI_REQUIRE(ctx, setting->threads >= 1 && setting->threads < LMI_PROBE_MAX_THREADS, LAMINA_ERROR_ARGUMENT,
              "an injector of %d threads; 1 to %d are allowed", setting->threads, LMI_PROBE_MAX_THREADS - 1);
  LMI_REQUIRE(ctx, setting->flops_per_element >= 1 && setting->flops_per_element <= MOST_FLOPS, LAMINA_ERROR_ARGUMENT,
              "%g flops an element; 1 to %g are allowed", setting->flops_per_element, MOST_FLOPS);
  return LAMINA_OK;
}

static lamina_status make_array(lamina_injector *in, const lamina_injector_setting *setting)
{
  uint64_t bytes = setting->array_bytes;
  if (bytes == 0)
    LMI_TRY(lmi_probe_default_bytes(in->ctx, &bytes));
  in->lines = (int64_t)(bytes / LMI_LINE_BYTES);
  LMI_REQUIRE(in->ctx, in->lines >= setting->threads, LAMINA_ERROR_ARGUMENT,
              "an array of %llu bytes has less than a line a thread", (unsigned long long)bytes);
  LMI_TRY(lmi_probe_site_open(in->ctx, setting->placement, &in->site));
  LMI_TRY(lmi_probe_array_create(in->ctx, &in->site, (size_t)bytes, false, &in->array));
  in->values = in->array.memory;
  return LAMINA_OK;
}

static lamina_status start_workers(lamina_injector *in)
{
  LMI_TRY(LMI_ALLOC(in->ctx, (size_t)in->threads, &in->workers));
  for (int i = 0; i < in->threads; i++) {
    worker *made = &in->workers[i];
    made->injector = in;
    made->index = i;
    const int error_number = pthread_create(&made->thread, NULL, work, made);
    if (error_number != 0)
      return lmi_fail_errno(in->ctx, LAMINA_ERROR_SYSTEM, error_number, "thread %d of the injector cannot start", i);
    in->started++;
  }
  while (atomic_load(&in->ready) < in->threads)
    lmi_sleep_seconds(0.001);
  in->first_lines = lmi_injector_bytes(in);
  in->first_seconds = lmi_clock_seconds();
  return LAMINA_OK;
}

lamina_status lamina_inject_start(lamina_context *ctx, const lamina_injector_setting *setting,
                                  lamina_injector **injector)
{
  *injector = NULL;
  LMI_TRY(check(ctx, setting));
  lamina_injector *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  made->threads = setting->threads;
  atomic_init(&made->flops, setting->flops_per_element);
  lamina_status status = make_array(made, setting);
  if (status == LAMINA_OK)
    status = start_workers(made);
  if (status != LAMINA_OK)
    lamina_inject_stop(made, NULL);
  else
    *injector = made;
  return status;
}

void lamina_inject_stop(lamina_injector *in, lamina_injection *result)
{
  if (in == NULL)
    return;
  const double seconds = lmi_clock_seconds() - in->first_seconds;
  const double bytes = in->workers != NULL ? lmi_injector_bytes(in) - in->first_lines : 0;
  atomic_store(&in->stop, true);
  for (int i = 0; i < in->started; i++)
    pthread_join(in->workers[i].thread, NULL);
  if (result != NULL)
    *result = (lamina_injection){.channel_gb_per_s = NAN,
                                 .seconds = seconds,
                                 .gb_per_s = seconds > 0 ? 1e-9 * bytes / seconds : 0,
                                 .array_bytes = in->array.bytes,
                                 .placed = lmi_probe_array_is_placed(&in->site, &in->array)};
  lmi_probe_array_destroy(in->ctx, &in->array);
  lmi_probe_site_close(&in->site);
  lmi_free(in->ctx, in->workers);
  lmi_free(in->ctx, in);
}

/* Steers towards a mean over all of the time: what was missed so far is asked for within the next half second. */
static void hold(lamina_injector *in, double gb_per_s, double seconds)
{
  const double horizon = 0.5, most_step = 1.3;
  const double start = lmi_clock_seconds(), bytes = lmi_injector_bytes(in);
  for (double now = start; now < start + seconds; now = lmi_clock_seconds()) {
    const double rate = lmi_injector_watch(in, fmin(WINDOW_SECONDS, start + seconds - now));
    const double missed = gb_per_s * (lmi_clock_seconds() - start) - 1e-9 * (lmi_injector_bytes(in) - bytes);
    const double wanted = fmax(0.1 * gb_per_s, gb_per_s + missed / horizon);
    lmi_injector_set_flops(in, lmi_injector_flops(in) * fmin(most_step, fmax(1 / most_step, rate / wanted)));
  }
}

/* Where the channels cannot be asked, the injector's own count stands alone. */
static lamina_status open_channels(lamina_context *ctx, lmi_uncore **channels, char *reason, size_t size)
{
  const lamina_status status = lmi_uncore_open(ctx, channels);
  if (status != LAMINA_UNAVAILABLE)
    return status;
  snprintf(reason, size, "%s", lamina_error_message(ctx));
  lamina_error_clear(ctx);
  return LAMINA_OK;
}

static double channel_rate(lmi_uncore *channels, double seconds)
{
  lmi_uncore_sum sum;
  if (channels == NULL)
    return (double)NAN;
  lmi_uncore_read(channels, &sum);
  return 1e-9 * (sum.bytes[LMI_UNCORE_READ] + sum.bytes[LMI_UNCORE_WRITE]) / seconds;
}

lamina_status lamina_inject_run(lamina_context *ctx, const lamina_injector_setting *setting, double seconds,
                                lamina_injection *result)
{
  lamina_injector *in = NULL;
  lmi_uncore *channels = NULL;
  char reason[sizeof result->channel_reason] = "";
  *result = (lamina_injection){0};
  LMI_REQUIRE(ctx, seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS, LAMINA_ERROR_ARGUMENT,
              "injecting for %g s; %g to %g are allowed", seconds, LEAST_SECONDS, MOST_SECONDS);
  LMI_REQUIRE(ctx, setting->hold_gb_per_s >= 0 && isfinite(setting->hold_gb_per_s), LAMINA_ERROR_ARGUMENT,
              "holding %g GB/s; a positive number is needed, or 0 for a fixed setting", setting->hold_gb_per_s);
  LMI_TRY(lamina_inject_start(ctx, setting, &in));
  const lamina_status status = open_channels(ctx, &channels, reason, sizeof reason);
  if (status == LAMINA_OK && setting->hold_gb_per_s > 0)
    hold(in, setting->hold_gb_per_s, seconds);
  else if (status == LAMINA_OK)
    lmi_sleep_seconds(seconds);
  const double by_channels = channel_rate(channels, seconds);
  lmi_uncore_close(channels);
  lamina_inject_stop(in, result);
  result->channel_gb_per_s = by_channels;
  memcpy(result->channel_reason, reason, sizeof reason);
  return status;
}
