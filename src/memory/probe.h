/* SPDX-License-Identifier: Apache-2.0 */
/* What the probes share: arrays that lie where they were asked for, threads that run where they were asked to,
 * repetitions. */
#ifndef LMI_PROBE_H
#define LMI_PROBE_H

#include <hwloc.h>

#include "base/base.h"
#include "base/spread.h"
#include "lamina/machine.h"

enum { LMI_PROBE_MAX_REPETITIONS = 1000, LMI_PROBE_MAX_THREADS = 4096 };

/* The processors and nodes that a probe uses. Zero before _open; _close takes zeros. */
typedef struct lmi_probe_site {
  hwloc_topology_t topology;
  hwloc_bitmap_t processors; /* allowed, of the asked node */
  lamina_placement placement;
} lmi_probe_site;

/* Errors: ARGUMENT for a node that does not exist, has no processors (cpu_node) or no memory (memory_node). */
LAMINA_NODISCARD lamina_status lmi_probe_site_open(lamina_context *ctx, lamina_placement placement,
                                                   lmi_probe_site *site);
void lmi_probe_site_close(lmi_probe_site *site);

/* Binds the calling thread, the `index`-th of a probe, to one processor of the site, and gives the binding it had; the
 * thread hands that back to lmi_probe_unbind. A refusal leaves the thread where it was. */
hwloc_bitmap_t lmi_probe_bind(const lmi_probe_site *site, int index);
void lmi_probe_unbind(const lmi_probe_site *site, hwloc_bitmap_t before);

/* Untouched memory on the site's node. Refuses, before allocating, what this machine or cgroup has not left. */
typedef struct lmi_probe_array {
  void *memory;
  size_t bytes;
} lmi_probe_array;

LAMINA_NODISCARD lamina_status lmi_probe_array_create(lamina_context *ctx, const lmi_probe_site *site, size_t bytes,
                                                      bool small_pages, lmi_probe_array *array);
void lmi_probe_array_destroy(lamina_context *ctx, lmi_probe_array *array);

/* true when no node was asked for, or the touched pages (a sample of them) lie on it. */
bool lmi_probe_array_is_placed(const lmi_probe_site *site, const lmi_probe_array *array);

/* Four times the last-level caches, at least 64 MiB, at most an eighth of what is left: the size of one array. */
LAMINA_NODISCARD lamina_status lmi_probe_default_bytes(lamina_context *ctx, uint64_t *bytes);

/* `work` does its share of `sweeps` passes; called once on each of `threads` bound threads, which start together. */
typedef void lmi_probe_work(void *user, int thread, int threads, int64_t sweeps);

typedef struct lmi_probe_plan {
  lmi_probe_work *work;
  void *user;
  int threads, repetitions;
} lmi_probe_plan;

/* Seconds of one sweep: a repetition does as many as take about 40 ms. `touch` runs once before, on the same threads,
 * and may be NULL. */
LAMINA_NODISCARD lamina_status lmi_probe_run(lamina_context *ctx, const lmi_probe_site *site,
                                             const lmi_probe_plan *plan, lmi_probe_work *touch, lamina_spread *seconds);

/* A rate from times: amount / seconds, with low and high exchanged. */
lamina_spread lmi_spread_rate(double amount, lamina_spread seconds);

/* The lines [*begin, *end) of `lines` that are this thread's. */
void lmi_probe_share(int64_t lines, int thread, int threads, int64_t *begin, int64_t *end);

/* Checks threads and repetitions; 0 threads become the context's. */
LAMINA_NODISCARD lamina_status lmi_probe_check_counts(lamina_context *ctx, int *threads, int repetitions);

#endif
