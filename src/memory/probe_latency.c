/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <omp.h>
#include <stdatomic.h>

#include "probe.h"
#include "probe_kernels.h"

static const double CHASE_SECONDS = 0.05;
static const uint64_t LOAD_ARRAY_BYTES = (uint64_t)64 << 20;

typedef struct latency_set {
  char *lines; /* one pointer in each */
  int64_t line_count;
  char *load;         /* one array for each thread that makes load */
  int64_t load_lines; /* of each */
  lmi_stream_kernel *update;
  atomic_bool stop;
  atomic_int started;
} latency_set;

lamina_latency_probe lamina_latency_probe_default(void)
{
  return (lamina_latency_probe){.repetitions = 7, .placement = {LAMINA_NODE_ANY, LAMINA_NODE_ANY}};
}

static uint64_t next_random(uint64_t *state)
{
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 (Steele, Lea, Flood 2014) */
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Sattolo's shuffle of the pointers themselves: one cycle through all lines, no second array. */
static void make_cycle(char *lines, int64_t count)
{
  uint64_t state = 1;
  for (int64_t i = 0; i < count; i++)
    *(void **)(void *)(lines + i * LMI_LINE_BYTES) = lines + i * LMI_LINE_BYTES;
  for (int64_t i = count - 1; i > 0; i--) {
    void **a = (void **)(void *)(lines + i * LMI_LINE_BYTES);
    void **b = (void **)(void *)(lines + (int64_t)(next_random(&state) % (uint64_t)i) * LMI_LINE_BYTES);
    void *kept = *a;
    *a = *b;
    *b = kept;
  }
}

/* Updates its own array until told to stop; returns the bytes moved. */
static double make_load(latency_set *set, int index)
{
  char *array = set->load + (int64_t)index * set->load_lines * LMI_LINE_BYTES;
  enum { BLOCK_LINES = 4096 };
  double moved = 0;
  for (int64_t at = 0; !atomic_load_explicit(&set->stop, memory_order_relaxed); at += BLOCK_LINES) {
    if (at + BLOCK_LINES > set->load_lines)
      at = 0;
    set->update(array + at * LMI_LINE_BYTES, 0, BLOCK_LINES, 64);
    moved += 2.0 * BLOCK_LINES * LMI_LINE_BYTES;
  }
  return moved;
}

/* Nanoseconds a load of each repetition; the chase goes on where it stopped, so that nothing it finds is warm. */
static void chase(latency_set *set, int repetitions, double *ns)
{
  const void *at = set->lines;
  int64_t count = 4096;
  double seconds = 0;
  while (seconds < 0.25 * CHASE_SECONDS) { /* finds a count that takes long enough */
    const double start = lmi_clock_seconds();
    at = lmi_kernel_chase(at, count);
    seconds = lmi_clock_seconds() - start;
    if (seconds < 0.25 * CHASE_SECONDS)
      count *= 2;
  }
  count *= 4;
  for (int repetition = 0; repetition < repetitions; repetition++) {
    const double start = lmi_clock_seconds();
    at = lmi_kernel_chase(at, count);
    ns[repetition] = 1e9 * (lmi_clock_seconds() - start) / (double)count;
  }
  const void *volatile sink = at; /* the chase must not be left out */
  (void)sink;
}

/* Thread 0 chases; the others make load until it is done. Returns the traffic of the load in GB/s. */
static double run(const lmi_probe_site *site, latency_set *set, int threads, int repetitions, double *ns)
{
  double moved = 0, seconds = 0;
  atomic_init(&set->stop, false);
  atomic_init(&set->started, 1);
#pragma omp parallel num_threads(threads) reduction(+ : moved)
  {
    const int thread = omp_get_thread_num();
    hwloc_bitmap_t before = lmi_probe_bind(site, thread);
    if (thread == 0)
      make_cycle(set->lines, set->line_count);
    else
      set->update(set->load + (thread - 1) * set->load_lines * LMI_LINE_BYTES, 0, set->load_lines, 0);
#pragma omp barrier
    const double start = lmi_clock_seconds();
    if (thread == 0) {
      chase(set, repetitions, ns);
      atomic_store(&set->stop, true);
      seconds = lmi_clock_seconds() - start;
    } else {
      moved += make_load(set, thread - 1);
    }
    lmi_probe_unbind(site, before);
  }
  return seconds > 0 ? 1e-9 * moved / seconds : 0;
}

lamina_status lamina_machine_latency(lamina_context *ctx, const lamina_latency_probe *probe, lamina_latency *result)
{
  *result = (lamina_latency){0};
  int threads = probe->load_threads + 1;
  uint64_t bytes = probe->array_bytes;
  LMI_TRY(lmi_probe_check_counts(ctx, &threads, probe->repetitions));
  if (bytes == 0)
    LMI_TRY(lmi_probe_default_bytes(ctx, &bytes));
  latency_set set = {.line_count = (int64_t)(bytes / LMI_LINE_BYTES), .update = lmi_stream_kernel_find(1, 8)};
  LMI_REQUIRE(ctx, set.line_count >= 2, LAMINA_ERROR_ARGUMENT,
              "a chase through %llu bytes; at least two lines are needed", (unsigned long long)bytes);
  set.load_lines = (int64_t)(LOAD_ARRAY_BYTES / LMI_LINE_BYTES);

  lmi_probe_site site;
  lmi_probe_array array = {0};
  double *ns = NULL;
  LMI_TRY(lmi_probe_site_open(ctx, probe->placement, &site));
  lamina_status status = LAMINA_OK;
  const size_t load_bytes = (size_t)probe->load_threads * LOAD_ARRAY_BYTES;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)probe->repetitions, &ns), cleanup);
  LMI_TRY_GOTO(status, lmi_probe_array_create(ctx, &site, (size_t)bytes + load_bytes, false, &array), cleanup);
  set.lines = array.memory;
  set.load = set.lines + set.line_count * LMI_LINE_BYTES;
  result->load_gb_per_s = run(&site, &set, threads, probe->repetitions, ns);
  result->ns = lmi_spread_of(ns, (size_t)probe->repetitions);
  result->array_bytes = bytes;
  result->placed = lmi_probe_array_is_placed(&site, &array);
cleanup:
  lmi_probe_array_destroy(ctx, &array);
  lmi_free(ctx, ns);
  lmi_probe_site_close(&site);
  return status;
}
