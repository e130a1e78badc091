/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "probe.h"

#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "limits.h"

static const double REPETITION_SECONDS = 0.04;
static const uint64_t LEAST_ARRAY_BYTES = (uint64_t)64 << 20;

static lamina_status select_processors(lamina_context *ctx, lmi_probe_site *site)
{
  const int node = site->placement.cpu_node;
  hwloc_bitmap_copy(site->processors, hwloc_topology_get_allowed_cpuset(site->topology));
  hwloc_get_cpubind(site->topology, site->processors, HWLOC_CPUBIND_THREAD);
  if (node == LAMINA_NODE_ANY)
    return LAMINA_OK;
  const hwloc_obj_t object = node >= 0 ? hwloc_get_numanode_obj_by_os_index(site->topology, (unsigned)node) : NULL;
  LMI_REQUIRE(ctx, object != NULL, LAMINA_ERROR_ARGUMENT, "there is no NUMA node %d for threads", node);
  hwloc_bitmap_and(site->processors, object->cpuset, hwloc_topology_get_allowed_cpuset(site->topology));
  LMI_REQUIRE(ctx, !hwloc_bitmap_iszero(site->processors), LAMINA_ERROR_ARGUMENT,
              "NUMA node %d has no processors this process may use; it can only hold memory", node);
  return LAMINA_OK;
}

lamina_status lmi_probe_site_open(lamina_context *ctx, lamina_placement placement, lmi_probe_site *site)
{
  *site = (lmi_probe_site){.placement = placement};
  LMI_TRY(lmi_require_kernels(ctx)); /* the loops of the probes are compiled like those of the solver */
  LMI_REQUIRE(ctx, hwloc_topology_init(&site->topology) == 0, LAMINA_ERROR_SYSTEM, "hwloc could not be started");
  lamina_status status = LAMINA_OK;
  site->processors = hwloc_bitmap_alloc();
  if (site->processors == NULL || hwloc_topology_load(site->topology) != 0)
    LMI_TRY_GOTO(status, lmi_fail(ctx, LAMINA_ERROR_SYSTEM, "hwloc could not read this machine's topology"), cleanup);
  LMI_TRY_GOTO(status, select_processors(ctx, site), cleanup);
  const int node = placement.memory_node;
  if (node != LAMINA_NODE_ANY) {
    const hwloc_obj_t object = node >= 0 ? hwloc_get_numanode_obj_by_os_index(site->topology, (unsigned)node) : NULL;
    if (object == NULL || object->attr->numanode.local_memory == 0)
      LMI_TRY_GOTO(status,
                   lmi_fail(ctx, LAMINA_ERROR_ARGUMENT, "NUMA node %d %s", node,
                            object == NULL ? "does not exist" : "has no memory"),
                   cleanup);
  }
cleanup:
  if (status != LAMINA_OK)
    lmi_probe_site_close(site);
  return status;
}

void lmi_probe_site_close(lmi_probe_site *site)
{
  hwloc_bitmap_free(site->processors);
  if (site->topology != NULL)
    hwloc_topology_destroy(site->topology);
  *site = (lmi_probe_site){0};
}

hwloc_bitmap_t lmi_probe_bind(const lmi_probe_site *site, int index)
{
  hwloc_bitmap_t before = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
  const int usable = hwloc_bitmap_weight(site->processors);
  if (before != NULL && one != NULL && usable > 0 &&
      hwloc_get_cpubind(site->topology, before, HWLOC_CPUBIND_THREAD) == 0) {
    int processor = hwloc_bitmap_first(site->processors);
    for (int skip = index % usable; skip > 0; skip--)
      processor = hwloc_bitmap_next(site->processors, processor);
    hwloc_bitmap_only(one, (unsigned)processor);
    hwloc_set_cpubind(site->topology, one, HWLOC_CPUBIND_THREAD);
  } else {
    hwloc_bitmap_free(before);
    before = NULL;
  }
  hwloc_bitmap_free(one);
  return before;
}

void lmi_probe_unbind(const lmi_probe_site *site, hwloc_bitmap_t before)
{
  if (before != NULL)
    hwloc_set_cpubind(site->topology, before, HWLOC_CPUBIND_THREAD);
  hwloc_bitmap_free(before);
}

lamina_status lmi_probe_array_create(lamina_context *ctx, const lmi_probe_site *site, size_t bytes, bool small_pages,
                                     lmi_probe_array *array)
{
  *array = (lmi_probe_array){0};
  lmi_memory_limits limits;
  LMI_TRY(lmi_memory_limits_read(ctx, "", &limits));
  if (limits.total_bytes != 0 && bytes > limits.available_bytes) {
    char wanted[32], left[32];
    return lmi_fail(ctx, LAMINA_ERROR_MEMORY, "the probe needs %s and %s is left (%s); ask for fewer cells or bytes",
                    lmi_format_bytes((double)bytes, wanted), lmi_format_bytes((double)limits.available_bytes, left),
                    limits.ruled_by);
  }
  LMI_TRY(lmi_alloc_pages(ctx, bytes, &array->memory));
  array->bytes = bytes;
  if (small_pages)
    madvise(array->memory, bytes, MADV_NOHUGEPAGE);
  if (site->placement.memory_node != LAMINA_NODE_ANY) {
    hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
    if (nodes != NULL) {
      hwloc_bitmap_only(nodes, (unsigned)site->placement.memory_node);
      hwloc_set_area_membind(site->topology, array->memory, bytes, nodes, HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET);
    }
    hwloc_bitmap_free(nodes);
  }
  return LAMINA_OK;
}

void lmi_probe_array_destroy(lamina_context *ctx, lmi_probe_array *array)
{
  if (array->memory != NULL)
    lmi_free_pages(ctx, array->memory, array->bytes);
  *array = (lmi_probe_array){0};
}

bool lmi_probe_array_is_placed(const lmi_probe_site *site, const lmi_probe_array *array)
{
  enum { SAMPLES = 64 };
  const int node = site->placement.memory_node;
  if (node == LAMINA_NODE_ANY)
    return true;
  hwloc_bitmap_t found = hwloc_bitmap_alloc();
  bool placed = found != NULL;
  const size_t step = array->bytes / SAMPLES > 0 ? array->bytes / SAMPLES : 1;
  for (size_t at = 0; placed && at < array->bytes; at += step)
    placed = hwloc_get_area_memlocation(site->topology, (const char *)array->memory + at, 1, found,
                                        HWLOC_MEMBIND_BYNODESET) == 0 &&
             hwloc_bitmap_isset(found, (unsigned)node);
  hwloc_bitmap_free(found);
  return placed;
}

lamina_status lmi_probe_default_bytes(lamina_context *ctx, uint64_t *bytes)
{
  lmi_memory_limits limits;
  LMI_TRY(lmi_last_level_cache_bytes(ctx, "", bytes));
  LMI_TRY(lmi_memory_limits_read(ctx, "", &limits));
  *bytes *= 4;
  if (*bytes < LEAST_ARRAY_BYTES)
    *bytes = LEAST_ARRAY_BYTES;
  if (limits.total_bytes != 0 && *bytes > limits.available_bytes / 8)
    *bytes = limits.available_bytes / 8;
  *bytes &= ~(uint64_t)4095;
  LMI_REQUIRE(ctx, *bytes > 0, LAMINA_ERROR_MEMORY, "no memory is left for a probe");
  return LAMINA_OK;
}

/* The clock runs from before the threads are woken to after the last is done; a repetition is long against that. */
static double timed(const lmi_probe_site *site, const lmi_probe_plan *plan, lmi_probe_work *work, int64_t sweeps)
{
  double seconds = 0;
#pragma omp parallel num_threads(plan->threads) shared(seconds)
  {
    const int thread = omp_get_thread_num();
    hwloc_bitmap_t before = lmi_probe_bind(site, thread);
#pragma omp barrier
    const double start = lmi_clock_seconds();
    work(plan->user, thread, omp_get_num_threads(), sweeps);
#pragma omp barrier
    if (thread == 0)
      seconds = lmi_clock_seconds() - start;
    lmi_probe_unbind(site, before);
  }
  return seconds;
}

lamina_status lmi_probe_run(lamina_context *ctx, const lmi_probe_site *site, const lmi_probe_plan *plan,
                            lmi_probe_work *touch, lamina_spread *seconds)
{
  double *times = NULL;
  LMI_TRY(LMI_ALLOC(ctx, (size_t)plan->repetitions, &times));
  if (touch != NULL)
    timed(site, plan, touch, 1);
  timed(site, plan, plan->work, 1); /* warms caches, TLBs and clocks */
  const double once = timed(site, plan, plan->work, 1);
  const int64_t sweeps = once > 0 && once < REPETITION_SECONDS ? (int64_t)(REPETITION_SECONDS / once) + 1 : 1;
  for (int repetition = 0; repetition < plan->repetitions; repetition++)
    times[repetition] = timed(site, plan, plan->work, sweeps) / (double)sweeps;
  *seconds = lmi_spread_of(times, (size_t)plan->repetitions);
  lmi_free(ctx, times);
  return LAMINA_OK;
}

lamina_spread lmi_spread_rate(double amount, lamina_spread seconds)
{
  return (lamina_spread){.median = amount / seconds.median, .low = amount / seconds.high, .high = amount / seconds.low};
}

void lmi_probe_share(int64_t lines, int thread, int threads, int64_t *begin, int64_t *end)
{
  const int64_t each = lines / threads, rest = lines % threads;
  *begin = thread * each + (thread < rest ? thread : rest);
  *end = *begin + each + (thread < rest ? 1 : 0);
}

lamina_status lmi_probe_check_counts(lamina_context *ctx, int *threads, int repetitions)
{
  if (*threads == 0)
    *threads = lamina_context_thread_count(ctx);
  LMI_REQUIRE(ctx, *threads >= 1 && *threads <= LMI_PROBE_MAX_THREADS, LAMINA_ERROR_ARGUMENT,
              "a probe of %d threads; 1 to %d are allowed", *threads, LMI_PROBE_MAX_THREADS);
  LMI_REQUIRE(ctx, repetitions >= 1 && repetitions <= LMI_PROBE_MAX_REPETITIONS, LAMINA_ERROR_ARGUMENT,
              "%d repetitions of a probe; 1 to %d are allowed", repetitions, LMI_PROBE_MAX_REPETITIONS);
  return LAMINA_OK;
}
