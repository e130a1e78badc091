/* SPDX-License-Identifier: Apache-2.0 */
/* What an accelerator's memory and links can do: the ceilings its kernels are judged by, measured on the spot.
 *
 *   lamina_accelerator_probe probe = lamina_accelerator_probe_default();
 *   lamina_accelerator_stream_ceiling(context, &probe, &bandwidth);   19 streams in place: the ceiling of d3q19
 *
 * UNAVAILABLE with the reason where there is no device, no driver or no run-time compiler. */
#ifndef LAMINA_ACCELERATOR_H
#define LAMINA_ACCELERATOR_H

#include <stdbool.h>

#include <lamina/context.h>
#include <lamina/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamina_accelerator {
  char name[64];
  int compute_capability; /* 90: 9.0 */
  int multiprocessors;
  int driver_version; /* 13000: CUDA 13.0 */
  uint64_t memory_bytes, free_bytes, l2_bytes;
} lamina_accelerator;

LAMINA_API LAMINA_NODISCARD lamina_status lamina_accelerator_read(lamina_context *context, int ordinal,
                                                                  lamina_accelerator *accelerator);

/* As lamina_stream_probe, on a device: `streams` arrays read and written in place in one pass. */
typedef struct lamina_accelerator_probe {
  int ordinal;             /* default 0 */
  int streams;             /* 1 to 32; default 19 */
  int element_bytes;       /* 2, 4 or 8; default 4 */
  lamina_index cells;      /* >= 1, even; default 256^3 */
  lamina_index tile_cells; /* so many cells' streams lie together; 0: each stream is one array (SoA) */
  int repetitions;         /* 1 to 1000; default 5 */
} lamina_accelerator_probe;

LAMINA_API lamina_accelerator_probe lamina_accelerator_probe_default(void);

/* `threads` of the result is 0. Errors: ARGUMENT, MEMORY, DEVICE. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_accelerator_stream_ceiling(lamina_context *context,
                                                                            const lamina_accelerator_probe *probe,
                                                                            lamina_bandwidth *result);

/* X(enumerator, value, name, bytes moved per byte, text) */
#define LAMINA_LINK_LIST(X)                                                          \
  X(LAMINA_LINK_DEVICE_COPY, 0, "device_copy", 2, "copy inside the device's memory") \
  X(LAMINA_LINK_TO_DEVICE, 1, "host_to_device", 1, "copy from pinned host memory")   \
  X(LAMINA_LINK_TO_HOST, 2, "device_to_host", 1, "copy into pinned host memory")     \
  X(LAMINA_LINK_READ_HOST, 3, "device_reads_host", 1, "a kernel reads pinned host memory")

typedef enum lamina_link {
#define LAMINA_LINK_ENUM(name, value, word, factor, text) name = value,
  LAMINA_LINK_LIST(LAMINA_LINK_ENUM)
#undef LAMINA_LINK_ENUM
} lamina_link;

/* "device_copy", ...; NULL for a value outside the list. */
LAMINA_API const char *lamina_link_name(lamina_link link);

/* Rate of one way of moving `bytes` (a multiple of 16), median of `repetitions`. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_accelerator_link(lamina_context *context, int ordinal,
                                                                  lamina_link link, uint64_t bytes, int repetitions,
                                                                  lamina_bandwidth *result);

/* Background traffic on the link between a device and the host's memory, after LBench (lamina/inject.h): a kernel reads
 * pinned host memory and writes it back, with flops between the two. It goes in launches of a few milliseconds, so that
 * it ends with the call, and with the process. The probe is the same kernel on a stream of its own, always the same
 * piece of work: its time over that beside no injection is the link's interference coefficient. */
typedef struct lamina_link_injector lamina_link_injector;

/* array_bytes 0: 256 MiB; a third is the probe's. Errors: ARGUMENT, MEMORY, DEVICE, UNAVAILABLE. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_link_injector_create(lamina_context *context, int ordinal,
                                                                      uint64_t array_bytes,
                                                                      lamina_link_injector **injector);
LAMINA_API void lamina_link_injector_destroy(lamina_link_injector *injector); /* NULL does nothing */

typedef struct lamina_link_run {
  int blocks;               /* of 256 threads, 1 to 65535; 0: no injection */
  int probe_blocks;         /* 0: no probe */
  double flops_per_element; /* 1 to 1e6; a fraction is kept by mixing neighbouring whole numbers */
  double seconds;           /* 0.001 to 1e7 */
  double *probe_seconds;    /* takes the times of the first probe_room pieces of the probe; may be NULL */
  size_t probe_room;
} lamina_link_run;

typedef struct lamina_link_traffic {
  double seconds, gb_per_s; /* of the injector alone: bytes read and bytes written together */
  uint64_t bytes;
  size_t probe_count;
} lamina_link_traffic;

/* Blocking. Errors: ARGUMENT, DEVICE. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_link_injector_run(lamina_link_injector *injector,
                                                                   const lamina_link_run *run,
                                                                   lamina_link_traffic *traffic);

/* What it costs to start something, microseconds each. In a graph: one of many in a captured chain. */
typedef struct lamina_accelerator_setup {
  lamina_spread launch_us, copy_us;
  lamina_spread graph_launch_us, graph_copy_us;
} lamina_accelerator_setup;

LAMINA_API LAMINA_NODISCARD lamina_status lamina_accelerator_measure_setup(lamina_context *context, int ordinal,
                                                                           int repetitions,
                                                                           lamina_accelerator_setup *setup);

/* How two devices of one host reach each other. */
typedef struct lamina_accelerator_peer {
  bool direct;                                /* kernels of each may use the other's memory */
  bool native_atomics;                        /* over the link: NVLink has them, PCIe has not */
  int performance_rank;                       /* the driver's; 0 is the fastest link of this host */
  bool in_graphs;                             /* the driver captures copies between them */
  lamina_spread copy_us, graph_copy_us;       /* starting a small copy, one of a chain; the second if in_graphs */
  lamina_spread gb_per_s, gb_per_s_both_ways; /* of large copies: from one to the other; at once, summed */
} lamina_accelerator_peer;

LAMINA_API LAMINA_NODISCARD lamina_status lamina_accelerator_measure_peer(lamina_context *context, int from, int to,
                                                                          int repetitions,
                                                                          lamina_accelerator_peer *peer);

#ifdef __cplusplus
}
#endif

#endif
