/* SPDX-License-Identifier: Apache-2.0 */
/* The cuda backend from inside: devices, kernels, streams and the captured period of a program. */
#ifndef LMI_CUDA_INTERNAL_H
#define LMI_CUDA_INTERNAL_H

#include "cuda_api.h"
#include "cuda_compile.h"
#include "cuda_shape.h"
#include "kernel/prelude_host.h"

#include "kernel/dense.h"

#include "kernel/block.h"
#include "kernel/boundary_data.h"
#include "kernel/dense_device.h"

#include "kernel/block_device.h"
#include "kernel/totals.h"

enum { LMI_CUDA_MAX_UNITS = 16, LMI_CUDA_MAX_PARTITIONS = 1 << (LMK_FAULT_STEP_SHIFT - LMK_FAULT_PARTITION_SHIFT) };

/* A buffer on the device and its twin on the host, for planes on their way; `moved`: the last copy is through. */
typedef struct lmi_cuda_stage {
  lmi_cu_address memory;
  void *pinned; /* NULL: the system pins no memory */
  lmi_cu_event moved;
} lmi_cuda_stage;

enum { LMI_CUDA_STAGES = 2 };

/* One physical device. */
typedef struct lmi_cuda_unit {
  lmi_cu_device device;
  lmi_cu_context context;
  int ordinal, architecture;
  char name[64];
  lmi_cu_stream stream; /* of everything but partitions */
  lmi_cu_event done;    /* the end of what was last put on it */
  lmi_cu_address watch; /* lmk_watch */
  lmi_cuda_stage stages[LMI_CUDA_STAGES];
  size_t stage_bytes; /* of each */
} lmi_cuda_unit;

typedef enum lmi_cuda_role {
  LMI_CUDA_STEP,
  LMI_CUDA_IMPORT,
  LMI_CUDA_EXPORT,
  LMI_CUDA_MOMENTS,
  LMI_CUDA_SETTLE,
  LMI_CUDA_ROLES
} lmi_cuda_role;

/* Which text a set of kernels is made of: over rows, over blocks, over blocks with boundary data. */
typedef enum lmi_cuda_text { LMI_CUDA_DENSE, LMI_CUDA_BLOCKS, LMI_CUDA_SPECIAL } lmi_cuda_text;

struct lmi_kernel {
  lmi_cuda_role role;
  lmi_cuda_shape shape;
  int64_t nx, ny;
  bool direct;                                      /* steps reach into neighbouring slabs themselves */
  bool joined;                                      /* and all slabs of a step are launched as one */
  bool is_blocks;                                   /* arguments are those of kernel/block.h */
  size_t value_bytes;                               /* of an element in canonical order */
  lmi_cu_function functions[LMI_CUDA_MAX_UNITS][2]; /* by unit and, for steps, by parity; over blocks: simple, any */
};

/* The kernels of one key, on every unit. */
typedef struct lmi_cuda_set {
  lmi_dense_key key;
  lmi_cuda_text text;
  lmi_kernel kernels[LMI_CUDA_ROLES]; /* by role; a text has not all of them */
  lmi_cu_function advance[LMI_CUDA_MAX_UNITS], meet[LMI_CUDA_MAX_UNITS];
  lmi_cu_module modules[LMI_CUDA_MAX_UNITS];
  struct lmi_cuda_set *next;
} lmi_cuda_set;

/* Two streams a partition: messages fly on the second. Events mark the end of what was last put on each. */
typedef struct lmi_cuda_lane {
  int unit;
  lmi_cu_stream compute, copy;
  lmi_cu_event computed, copied;
} lmi_cuda_lane;

/* Steps captured as a graph: one for all devices, or each device's own when they meet (cuda_meet.c). */
typedef struct lmi_cuda_capture {
  lmi_cu_graph_exec exec[LMI_CUDA_MAX_UNITS];
  int64_t steps;
} lmi_cuda_capture;

enum { LMI_CUDA_CAPTURES = 2 };

/* A copy of a host's table on a device. */
typedef struct lmi_cuda_mirror {
  const void *host;
  size_t bytes;
  int unit;
  bool is_sent; /* its name is the address of what was copied, as it is not for tables made for the device */
  lmi_cu_address memory;
  struct lmi_cuda_mirror *next;
} lmi_cuda_mirror;

/* A text of its own, compiled for one unit. */
typedef struct lmi_cuda_module {
  char *text;
  int unit;
  lmi_cu_module module;
  struct lmi_cuda_module *next;
} lmi_cuda_module;

/* Memory that grows as it is asked for. */
typedef struct lmi_cuda_room {
  lmi_cu_address memory;
  size_t bytes;
} lmi_cuda_room;

typedef struct lmi_cuda_device {
  lmi_device base;
  lmi_cuda_api api;
  lmi_nvrtc_api nvrtc;
  int driver;
  lmi_cuda_unit units[LMI_CUDA_MAX_UNITS];
  int unit_count;
  bool reaches_all;   /* every device, the memory of every other */
  bool graphs;        /* periods are captured; off where the driver captures nothing across devices */
  bool early;         /* steps start before the ones they wait for have ended */
  bool meetings;      /* devices with one slab each tell each other themselves that a step is done */
  lmi_cuda_set *sets; /* all that were asked for, the newest first */
  lmi_cuda_mirror *mirrors;
  lmi_cuda_module *modules;
  lmi_cuda_room sums; /* of totals, on the first unit */
  lmi_cuda_lane *lanes;
  int lane_count;
  lmi_cu_event fork; /* the start of what is recorded */
  const lmi_step_phases *captured_steps;
  uint64_t captured_version;
  lmi_cuda_capture captures[LMI_CUDA_CAPTURES];
} lmi_cuda_device;

static inline int lmi_cuda_unit_of(const lmi_cuda_device *cuda, int partition)
{
  return partition % cuda->unit_count;
}

/* Makes the unit's context the current one of this thread. */
LAMINA_NODISCARD lamina_status lmi_cuda_enter(const lmi_cuda_device *cuda, int unit);

/* cuda_launch.c */
LAMINA_NODISCARD lamina_status lmi_cuda_launch_step(const lmi_cuda_device *cuda, const lmi_launch *launch,
                                                    uint64_t step, lmi_cu_stream stream);
LAMINA_NODISCARD lamina_status lmi_cuda_launch_planes(const lmi_cuda_device *cuda, const lmi_launch *launch,
                                                      lmi_cu_address buffer, int64_t first, int64_t count);

/* All slabs of a step that are joined. */
LAMINA_NODISCARD lamina_status lmi_cuda_launch_joined(const lmi_cuda_device *cuda, const lmi_step_phases *step,
                                                      uint64_t index, lmi_cu_stream stream);
/* A whole slab's launch of a step whose kernels store into their neighbours. */
LAMINA_NODISCARD lamina_status lmi_cuda_launch_slab(const lmi_cuda_device *cuda, const lmi_step_phases *step,
                                                    int partition, uint64_t index, lmi_cu_stream stream);
/* Lets the steps that follow on the unit's stream count on from here. */
LAMINA_NODISCARD lamina_status lmi_cuda_advance_watch(const lmi_cuda_device *cuda, int unit, uint64_t steps);

/* cuda_meet.c: steps of devices that meet, each on its own stream. */
LAMINA_NODISCARD lamina_status lmi_cuda_record_meetings(const lmi_cuda_device *cuda, const lmi_program *program,
                                                        int64_t start, int64_t count);
LAMINA_NODISCARD lamina_status lmi_cuda_capture_meetings(const lmi_cuda_device *cuda, const lmi_program *program,
                                                         int64_t steps, lmi_cuda_capture *capture);
LAMINA_NODISCARD lamina_status lmi_cuda_launch_meetings(const lmi_cuda_device *cuda, const lmi_cuda_capture *capture);

/* cuda_tables.c: tables of the host, copied once and kept; NULL has no copy. */
LAMINA_NODISCARD lamina_status lmi_cuda_add_table(lmi_cuda_device *cuda, int unit, const void *host, const void *data,
                                                  size_t bytes);
void *lmi_cuda_table(const lmi_cuda_device *cuda, int unit, const void *host);
/* Arrays that were sent lie on the first device, which the others reach. */
void *lmi_cuda_sent(const lmi_cuda_device *cuda, const void *inside);
LAMINA_NODISCARD lamina_status lmi_cuda_send_table(lmi_device *device, const void *table, size_t bytes);
LAMINA_NODISCARD lamina_status lmi_cuda_fetch_table(lmi_device *device, void *table, size_t bytes);
void lmi_cuda_free_tables(lmi_cuda_device *cuda);

/* cuda_blocks.c. What launches need is copied before the first of them. */
LAMINA_NODISCARD lamina_status lmi_cuda_block_kernels(lmi_device *device, const lmi_dense_key *key,
                                                      lmi_block_kernels *kernels);
LAMINA_NODISCARD lamina_status lmi_cuda_prepare_blocks(lmi_cuda_device *cuda, const lmi_program *program);
LAMINA_NODISCARD lamina_status lmi_cuda_launch_blocks(const lmi_cuda_device *cuda, const lmi_launch *launch,
                                                      uint64_t step, lmi_cu_stream stream);
LAMINA_NODISCARD lamina_status lmi_cuda_launch_settle(const lmi_cuda_device *cuda, const lmi_launch *launch,
                                                      lmi_cu_stream stream);
LAMINA_NODISCARD lamina_status lmi_cuda_launch_block_planes(lmi_cuda_device *cuda, const lmi_launch *launch,
                                                            lmi_cu_address buffer, int64_t first, int64_t count,
                                                            size_t bytes_per_plane);

/* cuda_module.c: functions of texts that are no dense or block kernels. Compiled when first asked for, and kept. */
LAMINA_NODISCARD lamina_status lmi_cuda_module_function(lmi_cuda_device *cuda, int unit, const char *kernel_name,
                                                        const char *text, const char *function_name,
                                                        lmi_cu_function *function);
void lmi_cuda_free_modules(lmi_cuda_device *cuda);
LAMINA_NODISCARD lamina_status lmi_cuda_require_bytes(lmi_cuda_device *cuda, int unit, size_t bytes,
                                                      lmi_cuda_room *room);

/* cuda_exchange.c */
LAMINA_NODISCARD lamina_status lmi_cuda_exchange(lmi_device *device, const lmi_message *messages, size_t count,
                                                 lmi_exchange **exchange);

/* cuda_totals.c */
LAMINA_NODISCARD lamina_status lmi_cuda_sum_planes(lmi_device *device, const lmk_totals *totals, lmk_sums *segments);

/* cuda_device.c */
LAMINA_NODISCARD lamina_status lmi_cuda_require_set(lmi_cuda_device *cuda, const lmi_dense_key *key, lmi_cuda_text text,
                                                    const lmi_cuda_set **found);

/* cuda_planes.c */
LAMINA_NODISCARD lamina_status lmi_cuda_keep_planes(lmi_device *device, const lmi_launch *launch,
                                                    size_t bytes_per_plane);
LAMINA_NODISCARD lamina_status lmi_cuda_send(lmi_device *device, int partition, void *memory, const void *host,
                                             size_t bytes);
LAMINA_NODISCARD lamina_status lmi_cuda_fetch(lmi_device *device, int partition, void *host, const void *memory,
                                              size_t bytes);
void lmi_cuda_free_staging(const lmi_cuda_device *cuda, lmi_cuda_unit *unit);
LAMINA_NODISCARD lamina_status lmi_cuda_run_planes(lmi_device *device, const lmi_launch *launch,
                                                   size_t bytes_per_plane);

/* cuda_replay.c */
LAMINA_NODISCARD lamina_status lmi_cuda_instantiate(const lmi_cuda_device *cuda, lmi_cu_graph graph,
                                                    lmi_cu_graph_exec *exec);
LAMINA_NODISCARD lamina_status lmi_cuda_replay(lmi_device *device, const lmi_program *program, int64_t start,
                                               int64_t count, lmi_fault *fault);
void lmi_cuda_drop_captures(lmi_cuda_device *cuda);
void lmi_cuda_free_lanes(lmi_cuda_device *cuda);

#endif
