/* SPDX-License-Identifier: Apache-2.0 */
/* What the measurements of one device and of a pair share: an opened device, something to time, and its clock. */
#ifndef LMI_CUDA_PROBE_H
#define LMI_CUDA_PROBE_H

#include <lamina/accelerator.h>

#include "cuda_internal.h"

/* A chain: so many of a thing one after the other, as one `work`. */
enum { LMI_PROBE_MAX_REPETITIONS = 1000, LMI_PROBE_CHAIN = 200 };

typedef struct lmi_cuda_probe {
  lmi_cuda_device *cuda;
  lmi_cu_module module;
  lmi_cu_function streams, copy, empty;
  lmi_cu_address memory[2];
  void *host;
  lmi_cu_event begin, end;
  lmi_cu_graph_exec graph;
} lmi_cuda_probe;

/* One thing to time: puts `times` of it on the first device's stream, or has that stream wait for it. */
typedef struct lmi_cuda_work {
  lamina_status (*issue)(const lmi_cuda_probe *probe, const struct lmi_cuda_work *work, int times);
  lamina_accelerator_probe shape;
  lamina_link link;
  uint64_t bytes;
} lmi_cuda_work;

LAMINA_NODISCARD lamina_status lmi_probe_open(lamina_context *ctx, const lamina_accelerator_probe *shape,
                                              const lmi_device_options *options, lmi_cuda_probe *probe);
void lmi_probe_close(lmi_cuda_probe *probe);

/* Milliseconds of one `work`: warmed up, then samples long enough for the device's clock. */
LAMINA_NODISCARD lamina_status lmi_probe_time(const lmi_cuda_probe *probe, const lmi_cuda_work *work, int repetitions,
                                              lamina_spread *ms);

/* Microseconds of one link of a chain, put on the stream or captured as a graph. */
LAMINA_NODISCARD lamina_status lmi_probe_time_chain(lmi_cuda_probe *probe, const lmi_cuda_work *chain, int repetitions,
                                                    bool in_graph, lamina_spread *us);

#endif
