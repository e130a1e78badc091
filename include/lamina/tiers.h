/* SPDX-License-Identifier: Apache-2.0 */
/* The tiers of this machine's memory: which NUMA nodes there are, who has processors, which kinds of memory they form,
 * what limits this process, and what was measured on them (lamina_machine_measure). A machine can be read below a root
 * prefix: a folder with copies of /proc and /sys of another machine.
 *
 *   lamina_machine *machine = NULL;
 *   if (lamina_machine_inspect(context, NULL, &machine) == LAMINA_OK)
 *     for (size_t i = 0; i < machine->tier_count; i++)
 *       printf("%s\n", machine->tiers[i].name);
 *   lamina_machine_destroy(context, machine);
 *
 * Words as in hwloc/memattrs.h: a node with memory is a target, one with processors an initiator. Tier 0 is the
 * fastest. */
#ifndef LAMINA_TIERS_H
#define LAMINA_TIERS_H

#include <stdio.h>

#include <lamina/accelerator.h>
#include <lamina/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LAMINA_TIER_NAME_BYTES = 32 };

typedef struct lamina_node {
  int id;                  /* the system's number; there may be holes */
  int processors;          /* on line; 0: the node only has memory */
  uint64_t capacity_bytes; /* 0: the node has no memory */
  uint64_t free_bytes;
  uint64_t huge_page_bytes;    /* reserved for huge pages of any size, part of the capacity */
  bool allowed;                /* this process may allocate here (cpuset) */
  int tier;                    /* position in tiers; -1 without memory */
  int kernel_tier;             /* N of the kernel's memory_tierN; -1: the kernel says nothing */
  int nearest_memory_node;     /* itself when it has memory; -1: unknown */
  double latency_ns, gb_per_s; /* reading, as the firmware states it (HMAT); NAN: not stated */
} lamina_node;

typedef struct lamina_tier {
  char name[LAMINA_TIER_NAME_BYTES]; /* DRAM, HBM, pool, ... */
  uint64_t capacity_bytes;
  int node_count;
} lamina_tier;

/* One measured bandwidth: threads on cpu_node, arrays on memory_node (LAMINA_NODE_ANY: a machine without nodes). */
typedef struct lamina_bandwidth_row {
  int cpu_node, memory_node, threads, streams; /* streams 0: one of lamina_traffic; else that many, in place */
  lamina_traffic traffic;
  int element_bytes; /* of streams */
  lamina_spread gb_per_s;
  bool placed;
} lamina_bandwidth_row;

typedef struct lamina_latency_row {
  int cpu_node, memory_node, load_threads;
  lamina_spread ns;
  double load_gb_per_s;
  bool placed;
} lamina_latency_row;

typedef struct lamina_flops_row {
  int width_bits, element_bytes, threads;
  lamina_spread gflop_per_s; /* NAN: not measured, see reason */
  char reason[96];
} lamina_flops_row;

/* A GPU: its memory is a tier, and so is host memory seen from it (the link). */
typedef struct lamina_accelerator_row {
  lamina_accelerator device;
  lamina_spread stream_gb_per_s[2]; /* 19 streams in place, f32 and f64 */
  lamina_spread link_gb_per_s[4];   /* by lamina_link; NAN: not measured */
} lamina_accelerator_row;

typedef struct lamina_machine {
  char processor[96]; /* model name; "" when unknown */
  char host[65];
  lamina_node *nodes; /* in rising order of id */
  size_t node_count;
  int *distances; /* node_count x node_count, row = from; 10: local; 0: unknown */
  lamina_tier *tiers;
  size_t tier_count;

  int processors_possible, processors_online, processors_allowed;
  char offline[256];   /* list of processors that are off line, "" for none */
  uint64_t page_bytes; /* base page */
  uint64_t last_level_cache_bytes;
  uint64_t total_bytes, available_bytes;
  uint64_t limit_bytes;    /* of the tightest memory cgroup; UINT64_MAX: none */
  char limit_ruled_by[16]; /* who sets available_bytes: host, cgroup v1, cgroup v2 */
  int numa_balancing;      /* /proc/sys/kernel/numa_balancing; -1: unknown */
  int demotion;            /* 0, 1; -1: unknown */
  char huge_pages[16];     /* always, madvise, never; "" unknown */
  char **remarks;          /* what a reader should know before believing the rest */
  size_t remark_count;

  lamina_bandwidth_row *bandwidth;
  size_t bandwidth_count;
  lamina_latency_row *latency;
  size_t latency_count;
  lamina_flops_row *flops;
  size_t flops_count;
  lamina_accelerator_row *accelerators;
  size_t accelerator_count;
  char accelerator_reason[160]; /* why there are none; "" before lamina_machine_measure */
} lamina_machine;

/* Reads nodes, tiers and limits; measures nothing. `root` NULL: this machine. Missing files are no error: a system
 * without NUMA is one node 0. Errors: MEMORY; FILE when not even /proc/meminfo is there. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_machine_inspect(lamina_context *context, const char *root,
                                                                 lamina_machine **machine);

/* Replaces the tiers by those of a JSON file: {"tiers": [{"name": "fast", "nodes": "0-1"}, ...]}, fastest first. Each
 * node with memory must be in exactly one. Errors: CASE (the file is missing, or what is wrong in it). */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_machine_set_tiers(lamina_context *context, lamina_machine *machine,
                                                                   const char *path);

typedef struct lamina_measure_options {
  const int *threads; /* rising list; NULL: 1, 2, 4, ... and all processors of the node */
  size_t thread_count;
  int repetitions;      /* 1 to 1000; default 7 */
  uint64_t array_bytes; /* 0: from the caches, see lamina_traffic_probe */
  /* Called before each probe with what it is and how many are done; NULL for none. */
  void (*progress)(void *user, const char *text, int done, int total);
  void *user;
} lamina_measure_options;

LAMINA_API lamina_measure_options lamina_measure_options_default(void);

/* Measures each pair of a node with processors and a node with memory, and the flop ceilings, and fills bandwidth,
 * latency, flops. Takes about a second a row. Only for a machine that was inspected without a root. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_machine_measure(lamina_context *context, lamina_machine *machine,
                                                                 const lamina_measure_options *options);

/* The machine file: JSON, documented in docs/user/memory.md. print gives it on a stream; save writes a temporary file
 * and renames it; load refuses a file of a newer major version (CASE), and
 * leaves accelerators out. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_machine_print_json(lamina_context *context,
                                                                    const lamina_machine *machine, FILE *stream);
LAMINA_API LAMINA_NODISCARD lamina_status lamina_machine_save(lamina_context *context, const lamina_machine *machine,
                                                              const char *path);
LAMINA_API LAMINA_NODISCARD lamina_status lamina_machine_load(lamina_context *context, const char *path,
                                                              lamina_machine **machine);

/* The node with this id, or NULL. */
LAMINA_API const lamina_node *lamina_machine_node(const lamina_machine *machine, int id);

LAMINA_API void lamina_machine_destroy(lamina_context *context, lamina_machine *machine);

#ifdef __cplusplus
}
#endif

#endif
