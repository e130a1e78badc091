/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reference_probe.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "inject_kernel.h"
#include "probe.h"

enum { MOST_SAMPLES = 1 << 16, PIECE_LINES = 1 << 19 }; /* 32 MiB, read and written: some milliseconds */

struct lmi_reference {
  lamina_context *ctx;
  lmi_probe_site site;
  lmi_probe_array array;
  int64_t lines;
  pthread_t thread;
  bool is_running;
  atomic_bool stop;
  atomic_int ready;
  lmi_reference_sample *samples;
  int64_t utc_ns;
  size_t count, stride; /* every stride-th piece is kept */
};

static void keep(lmi_reference *reference, size_t piece, lmi_reference_sample sample)
{
  if (piece % reference->stride != 0)
    return;
  if (reference->count == MOST_SAMPLES) { /* every second one goes: a long run is still covered evenly */
    for (size_t i = 0; i < MOST_SAMPLES / 2; i++)
      reference->samples[i] = reference->samples[2 * i];
    reference->count = MOST_SAMPLES / 2;
    reference->stride *= 2;
    if (piece % reference->stride != 0)
      return;
  }
  reference->samples[reference->count++] = sample;
}

static void *work(void *argument)
{
  lmi_reference *reference = argument;
  double *values = reference->array.memory;
  hwloc_bitmap_free(lmi_probe_bind(&reference->site, 0));
  for (int64_t i = 0; i < 8 * reference->lines; i++)
    values[i] = 1;
  struct timespec utc;
  clock_gettime(CLOCK_REALTIME, &utc);
  reference->utc_ns = (int64_t)utc.tv_sec * 1000000000 + utc.tv_nsec;
  atomic_store(&reference->ready, 1);
  const double start = lmi_clock_seconds();
  double before = start;
  int64_t at = 0;
  for (size_t piece = 0; !atomic_load_explicit(&reference->stop, memory_order_relaxed); piece++) {
    if (at + PIECE_LINES > reference->lines)
      at = 0;
    const int64_t lines = reference->lines < PIECE_LINES ? reference->lines : PIECE_LINES;
    lmi_inject_lines(values + 8 * at, lines, 1, 0);
    at += lines;
    const double now = lmi_clock_seconds();
    keep(reference, piece, (lmi_reference_sample){now - start, now - before});
    before = now;
  }
  return NULL;
}

static lamina_status prepare(lmi_reference *reference, lamina_placement placement, uint64_t bytes)
{
  lamina_context *ctx = reference->ctx;
  if (bytes == 0)
    LMI_TRY(lmi_probe_default_bytes(ctx, &bytes));
  reference->lines = (int64_t)(bytes / LMI_LINE_BYTES);
  reference->stride = 1;
  LMI_REQUIRE(ctx, reference->lines >= 1, LAMINA_ERROR_ARGUMENT, "an array of %llu bytes has less than a line",
              (unsigned long long)bytes);
  LMI_TRY(LMI_ALLOC(ctx, MOST_SAMPLES, &reference->samples));
  LMI_TRY(lmi_probe_site_open(ctx, placement, &reference->site));
  LMI_TRY(lmi_probe_array_create(ctx, &reference->site, (size_t)bytes, false, &reference->array));
  const int error_number = pthread_create(&reference->thread, NULL, work, reference);
  if (error_number != 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_SYSTEM, error_number, "the thread of the probe cannot start");
  reference->is_running = true;
  while (atomic_load(&reference->ready) == 0)
    sched_yield();
  return LAMINA_OK;
}

lamina_status lmi_reference_start(lamina_context *ctx, lamina_placement placement, uint64_t array_bytes,
                                  lmi_reference **reference)
{
  lmi_reference *made = NULL;
  *reference = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  const lamina_status status = prepare(made, placement, array_bytes);
  if (status != LAMINA_OK)
    lmi_reference_free(made);
  else
    *reference = made;
  return status;
}

void lmi_reference_stop(lmi_reference *reference)
{
  if (!reference->is_running)
    return;
  atomic_store(&reference->stop, true);
  pthread_join(reference->thread, NULL);
  reference->is_running = false;
}

const lmi_reference_sample *lmi_reference_samples(const lmi_reference *reference, size_t *count)
{
  *count = reference->count;
  return reference->samples;
}

int64_t lmi_reference_utc_ns(const lmi_reference *reference)
{
  return reference->utc_ns;
}

void lmi_reference_free(lmi_reference *reference)
{
  if (reference == NULL)
    return;
  lmi_reference_stop(reference);
  lmi_probe_array_destroy(reference->ctx, &reference->array);
  lmi_probe_site_close(&reference->site);
  lmi_free(reference->ctx, reference->samples);
  lmi_free(reference->ctx, reference);
}
