/* SPDX-License-Identifier: Apache-2.0 */
/* Many streams read and written in place. Two findings shape the layout: bases that lie a multiple of 4 KiB apart
 * compete for the same cache sets, so each base is moved on by a few lines; and the hardware prefetchers follow fewer
 * streams than a lattice has, so the kernel prefetches for itself. */
#include "probe.h"
#include "probe_kernels.h"

#include <math.h>

enum { MAX_SKEW_LINES = 4096, MAX_PREFETCH = 65536, PAGE_BYTES = 4096 };
static const lamina_index MAX_CELLS = (lamina_index)1 << 40;

typedef struct stream_set {
  lmi_stream_kernel *kernel;
  char *base;
  int streams, element_bytes;
  int64_t lines, plane_lines;          /* of one stream */
  ptrdiff_t stream_bytes, plane_bytes; /* from one stream (of a plane), from one plane to the next */
  int prefetch;
} stream_set;

lamina_stream_probe lamina_stream_probe_default(void)
{
  return (lamina_stream_probe){
    .streams = 19,
    .element_bytes = 4,
    .cells = (lamina_index)256 * 256 * 256,
    .layout = LAMINA_LAYOUT_SOA,
    .repetitions = 7,
    .skew_lines = 5,
    .prefetch_elements = 64,
    .placement = {LAMINA_NODE_ANY, LAMINA_NODE_ANY},
  };
}

static lamina_status check(lamina_context *ctx, const lamina_stream_probe *probe)
{
  LMI_REQUIRE(ctx, lmi_stream_kernel_find(probe->streams, probe->element_bytes) != NULL, LAMINA_ERROR_ARGUMENT,
              "a probe of %d streams of %d-byte elements; there are 1, 9, 19 and 27 streams of 4 or 8 bytes",
              probe->streams, probe->element_bytes);
  LMI_REQUIRE(ctx, probe->cells >= 1 && probe->cells <= MAX_CELLS, LAMINA_ERROR_ARGUMENT,
              "a probe of %lld cells; 1 to 2^40 are allowed", (long long)probe->cells);
  LMI_REQUIRE(ctx, probe->layout == LAMINA_LAYOUT_SOA || probe->layout == LAMINA_LAYOUT_PLANE, LAMINA_ERROR_ARGUMENT,
              "the stream probe knows the layouts soa and plane only");
  LMI_REQUIRE(ctx, probe->plane_cells >= 0 && probe->plane_cells <= probe->cells, LAMINA_ERROR_ARGUMENT,
              "planes of %lld cells; 0 to %lld are allowed", (long long)probe->plane_cells, (long long)probe->cells);
  LMI_REQUIRE(ctx, probe->skew_lines >= 0 && probe->skew_lines <= MAX_SKEW_LINES, LAMINA_ERROR_ARGUMENT,
              "a skew of %d lines; 0 to %d are allowed", probe->skew_lines, MAX_SKEW_LINES);
  LMI_REQUIRE(ctx, probe->prefetch_elements >= 0 && probe->prefetch_elements <= MAX_PREFETCH, LAMINA_ERROR_ARGUMENT,
              "a prefetch distance of %d elements; 0 to %d are allowed", probe->prefetch_elements, MAX_PREFETCH);
  return LAMINA_OK;
}

static int64_t round_up(int64_t value, int64_t multiple)
{
  return (value + multiple - 1) / multiple * multiple;
}

/* SoA is one plane that holds all cells. Only whole lines take part: cells are rounded up to them. */
static size_t lay_out(const lamina_stream_probe *probe, stream_set *set)
{
  const int64_t line_elements = (int64_t)LMI_LINE_BYTES / probe->element_bytes;
  int64_t plane = probe->cells;
  if (probe->layout == LAMINA_LAYOUT_PLANE)
    plane = probe->plane_cells > 0 ? probe->plane_cells : llround(pow((double)probe->cells, 2.0 / 3.0));
  set->kernel = lmi_stream_kernel_find(probe->streams, probe->element_bytes);
  set->streams = probe->streams;
  set->element_bytes = probe->element_bytes;
  set->prefetch = probe->prefetch_elements;
  set->plane_lines = round_up(plane, line_elements) / line_elements;
  set->lines = round_up(probe->cells, line_elements) / line_elements;
  set->stream_bytes =
    (ptrdiff_t)(round_up(set->plane_lines * LMI_LINE_BYTES, PAGE_BYTES) + (int64_t)probe->skew_lines * LMI_LINE_BYTES);
  set->plane_bytes = set->stream_bytes * probe->streams;
  const int64_t planes = (set->lines + set->plane_lines - 1) / set->plane_lines;
  return (size_t)(planes * set->plane_bytes);
}

/* Calls for each run of lines that lies within one plane. */
static void for_runs(const stream_set *set, int thread, int threads, void (*run)(const stream_set *, char *, int64_t))
{
  int64_t at = 0, end = 0;
  lmi_probe_share(set->lines, thread, threads, &at, &end);
  while (at < end) {
    const int64_t plane = at / set->plane_lines, within = at % set->plane_lines;
    int64_t lines = set->plane_lines - within;
    if (lines > end - at)
      lines = end - at;
    run(set, set->base + plane * set->plane_bytes + within * LMI_LINE_BYTES, lines);
    at += lines;
  }
}

static void update_run(const stream_set *set, char *first, int64_t lines)
{
  set->kernel(first, set->stream_bytes / set->element_bytes, lines, set->prefetch);
}

static void touch_run(const stream_set *set, char *first, int64_t lines)
{
  for (int q = 0; q < set->streams; q++) {
    void *base = first + q * set->stream_bytes;
    const int64_t elements = lines * LMI_LINE_BYTES / set->element_bytes;
    for (int64_t i = 0; i < elements; i++) {
      if (set->element_bytes == 4)
        ((float *)base)[i] = 1;
      else
        ((double *)base)[i] = 1;
    }
  }
}

static void update_work(void *user, int thread, int threads, int64_t sweeps)
{
  for (int64_t sweep = 0; sweep < sweeps; sweep++)
    for_runs(user, thread, threads, update_run);
}

static void touch_work(void *user, int thread, int threads, int64_t sweeps)
{
  (void)sweeps;
  for_runs(user, thread, threads, touch_run);
}

lamina_status lamina_machine_stream_ceiling(lamina_context *ctx, const lamina_stream_probe *probe,
                                            lamina_bandwidth *result)
{
  *result = (lamina_bandwidth){0};
  int threads = probe->threads;
  LMI_TRY(check(ctx, probe));
  LMI_TRY(lmi_probe_check_counts(ctx, &threads, probe->repetitions));

  lmi_probe_site site;
  lmi_probe_array array = {0};
  stream_set set = {0};
  lamina_spread seconds;
  const size_t bytes = lay_out(probe, &set);
  LMI_TRY(lmi_probe_site_open(ctx, probe->placement, &site));
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lmi_probe_array_create(ctx, &site, bytes, probe->small_pages, &array), cleanup);
  set.base = array.memory;
  const lmi_probe_plan plan = {update_work, &set, threads, probe->repetitions};
  LMI_TRY_GOTO(status, lmi_probe_run(ctx, &site, &plan, touch_work, &seconds), cleanup);

  const double elements = (double)set.lines * (LMI_LINE_BYTES / (double)probe->element_bytes);
  result->gb_per_s = lmi_spread_rate(2e-9 * (double)set.lines * LMI_LINE_BYTES * probe->streams, seconds);
  result->million_elements = lmi_spread_rate(1e-6 * elements, seconds);
  result->array_bytes = bytes;
  result->threads = threads;
  result->repetitions = probe->repetitions;
  result->placed = lmi_probe_array_is_placed(&site, &array);
cleanup:
  lmi_probe_array_destroy(ctx, &array);
  lmi_probe_site_close(&site);
  return status;
}
