/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine's memory and processors can do, measured. Each probe sets up its own arrays, repeats its work and
 * gives median, least and greatest; bytes are those that the program names (an ordinary store to a line that is not in
 * a cache makes the hardware read it first, which is not counted).
 *
 *   lamina_stream_probe probe = lamina_stream_probe_default();
 *   probe.streams = 19;
 *   probe.element_bytes = 4;
 *   probe.cells = 256 * 256 * 256;
 *   lamina_bandwidth ceiling;
 *   if (lamina_machine_stream_ceiling(context, &probe, &ceiling) == LAMINA_OK)
 *     printf("%.1f GB/s\n", ceiling.gb_per_s.median);
 *
 * A probe binds its threads for the time of the call and gives the caller's thread its old binding back. Anything else
 * that runs at the same time shows in the numbers. */
#ifndef LAMINA_MACHINE_H
#define LAMINA_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include <lamina/context.h>
#include <lamina/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the repetitions of one measurement. */
typedef struct lamina_spread {
  double median, low, high;
} lamina_spread;

enum { LAMINA_NODE_ANY = -1 };

/* Where a probe runs: `cpu_node` binds the threads to the processors of that NUMA node, `memory_node` its arrays to
 * that node's memory. LAMINA_NODE_ANY leaves the choice to the system. Node numbers are the system's own and may have
 * holes. */
typedef struct lamina_placement {
  int cpu_node, memory_node;
} lamina_placement;

typedef struct lamina_bandwidth {
  lamina_spread gb_per_s;         /* 1e9 bytes a second, read plus written */
  lamina_spread million_elements; /* million elements (cells, for streams) a second */
  uint64_t array_bytes;           /* memory that was worked on */
  int threads, repetitions;
  bool placed; /* false: a memory node was asked for and the pages are not (all) there */
} lamina_bandwidth;

/* `streams` arrays of `cells` elements, all read and then all written in place in one pass: what a lattice-Boltzmann
 * step in place does to memory, without its arithmetic. It is the ceiling of the solver. */
typedef struct lamina_stream_probe {
  int streams;              /* 1, 9, 19 or 27; default 19 */
  int element_bytes;        /* 4 or 8; default 4 */
  lamina_index cells;       /* >= 1; default 256^3 */
  lamina_index plane_cells; /* cells of one plane for LAMINA_LAYOUT_PLANE; 0: cells^(2/3). Ignored for SoA */
  lamina_layout
    layout;    /* LAMINA_LAYOUT_SOA (each stream one array) or LAMINA_LAYOUT_PLANE (all streams of a plane together) */
  int threads; /* 0: the context's */
  int repetitions;       /* 1 to 1000; default 7 */
  int skew_lines;        /* cache lines added between the bases of two streams, 0 to 4096; default 5 */
  int prefetch_elements; /* software prefetch distance, 0 (none) to 65536; default 64 */
  bool small_pages;      /* no huge pages */
  lamina_placement placement;
} lamina_stream_probe;

LAMINA_API lamina_stream_probe lamina_stream_probe_default(void);

/* Errors: ARGUMENT, MEMORY (also when the arrays exceed what this machine or its cgroup has left; nothing is allocated
 * then). */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_machine_stream_ceiling(lamina_context *context,
                                                                        const lamina_stream_probe *probe,
                                                                        lamina_bandwidth *result);

/* X(enumerator, value, name, bytes read plus written per byte of one array, text) */
#define LAMINA_TRAFFIC_LIST(X)                                                                      \
  X(LAMINA_TRAFFIC_READ, 0, "read", 1, "every byte read once")                                      \
  X(LAMINA_TRAFFIC_WRITE, 1, "write", 1, "every byte written once with ordinary stores")            \
  X(LAMINA_TRAFFIC_COPY, 2, "copy", 2, "one array into another with ordinary stores")               \
  X(LAMINA_TRAFFIC_COPY_STREAMING, 3, "copy_streaming", 2, "copy with stores that pass the caches") \
  X(LAMINA_TRAFFIC_UPDATE, 4, "update", 2, "every element read and written back")

typedef enum lamina_traffic {
#define LAMINA_TRAFFIC_ENUM(name, value, word, factor, text) name = value,
  LAMINA_TRAFFIC_LIST(LAMINA_TRAFFIC_ENUM)
#undef LAMINA_TRAFFIC_ENUM
} lamina_traffic;

/* "read", "copy_streaming", ...; NULL for a value outside the list. */
LAMINA_API const char *lamina_traffic_name(lamina_traffic traffic);

typedef struct lamina_traffic_probe {
  lamina_traffic traffic;
  uint64_t array_bytes; /* of one array (a copy uses two); 0: four times the last-level caches, capped by free memory */
  int threads;          /* 0: the context's */
  int repetitions;      /* 1 to 1000; default 7 */
  lamina_placement placement;
} lamina_traffic_probe;

LAMINA_API lamina_traffic_probe lamina_traffic_probe_default(void);

/* Errors: as above; UNAVAILABLE for streaming stores on a processor that has none. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_machine_traffic(lamina_context *context,
                                                                 const lamina_traffic_probe *probe,
                                                                 lamina_bandwidth *result);

/* Time of one load that waits for the one before it: a chase through one random cycle over all lines of an array. */
typedef struct lamina_latency_probe {
  uint64_t array_bytes; /* 0: four times the last-level caches, capped by free memory */
  int load_threads;     /* 0: idle memory; else so many other threads update arrays of their own meanwhile */
  int repetitions;      /* 1 to 1000; default 7 */
  lamina_placement placement;
} lamina_latency_probe;

typedef struct lamina_latency {
  lamina_spread ns;
  uint64_t array_bytes;
  double load_gb_per_s; /* traffic of the other threads meanwhile; 0 when none were asked for */
  bool placed;
} lamina_latency;

LAMINA_API lamina_latency_probe lamina_latency_probe_default(void);
LAMINA_API LAMINA_NODISCARD lamina_status lamina_machine_latency(lamina_context *context,
                                                                 const lamina_latency_probe *probe,
                                                                 lamina_latency *result);

/* Multiply-add chains in registers: the processor's ceiling for one vector width. */
typedef struct lamina_flops_probe {
  int width_bits;    /* 0 (scalar), 128, 256, 512 */
  int element_bytes; /* 4 or 8 */
  int threads;       /* 0: the context's */
  int repetitions;   /* 1 to 1000; default 7 */
} lamina_flops_probe;

typedef struct lamina_flops {
  lamina_spread gflop_per_s; /* a fused multiply-add counts two */
  int threads;
} lamina_flops;

LAMINA_API lamina_flops_probe lamina_flops_probe_default(void);

/* Errors: ARGUMENT; UNAVAILABLE when this processor (or this build) lacks vectors of that width. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_machine_flops(lamina_context *context, const lamina_flops_probe *probe,
                                                               lamina_flops *result);

#ifdef __cplusplus
}
#endif

#endif
