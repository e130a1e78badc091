/* SPDX-License-Identifier: Apache-2.0 */
/* What a backend is: memory, kernels, and the replay of a program. Backends are rows of one list (LMI_BACKENDS); a
 * layer above never includes a backend's folder.
 *
 * A program is the life of one period of steps, decided beforehand: for each step a list of phases, each phase a set of
 * items that may run in any order and at the same time, all of which end before the next phase begins. Replaying
 * decides, allocates and looks up nothing. */
#ifndef LMI_DEVICE_H
#define LMI_DEVICE_H

#include "base/base.h"
#include "base/ranks.h"
#include <lamina/kernel.h>
#include <lamina/types.h>

typedef struct lmi_device lmi_device;
struct lmk_totals;
struct lmk_sums;
typedef struct lmi_kernel lmi_kernel;

/* Which kernels a dense lattice-Boltzmann slab needs: everything a text is specialised by. */
typedef struct lmi_dense_key {
  lamina_lattice lattice;
  lamina_collision collision;
  lamina_precision precision;
  lamina_storage storage;
  lamina_streaming streaming;
  lamina_layout layout;
  bool force;
  int64_t nx, ny; /* cells of a row, rows of a plane: 1 in two dimensions */
  /* Faces joined inside a slab; z is not where several slabs are neighbours. */
  bool wraps_x, wraps_y, wraps_z;
  bool direct;  /* where it can, a step reaches into neighbouring slabs, and no messages are sent */
  bool joined;  /* a backend's own: it does so in place, for one memory holds them all */
  bool special; /* of blocks: some have cells with boundary data */
} lmi_dense_key;

/* How the places of one component in one plane are arranged (kernel/dense.h); numbers of places. */
typedef struct lmi_plane_shape {
  int64_t row, spare_row, column;
  int64_t places; /* of a plane */
  bool packed;    /* planes follow each other without the skew that caches of a host need */
} lmi_plane_shape;

/* All take lmk_planes as arguments but `step`, which takes lmk_step (kernel/dense.h). Owned by the device. */
typedef struct lmi_dense_kernels {
  const lmi_kernel *step, *import_planes, *export_planes, *moments;
} lmi_dense_kernels;

/* Over blocks of a partition. Steps take lmk_block_step, those over planes lmk_block_planes (kernel/block.h). `special`
 * is the step for launches that may meet cells with boundary data, `jump` that for blocks that touch another level;
 * `stream` and `collide` are the two halves of either, and `aside` takes lmk_aside over runs of entries
 * (kernel/jump.h); `settle` takes lmk_settle (kernel/boundary_data.h) and comes before all launches of a step, the host
 * settles where it is NULL. What a backend does not have is NULL. Owned by the device. */
typedef struct lmi_block_kernels {
  const lmi_kernel *step, *special, *settle, *jump, *stream, *collide, *aside;
  const lmi_kernel *import_planes, *export_planes, *moments;
} lmi_block_kernels;

/* `rows` runs of `bytes`, each `pitch` bytes after the one before on both sides; one run in every layout but AoS. */
typedef struct lmi_copy {
  void *target;
  const void *source;
  size_t bytes, rows, pitch;
  int target_partition, source_partition;
} lmi_copy;

typedef struct lmi_launch {
  const lmi_kernel *kernel;
  const void *arguments; /* read at each replay: they may change between replays */
  int64_t first, count;  /* planes */
  int partition;
} lmi_launch;

typedef struct lmi_phase {
  const lmi_copy *copies;
  size_t copy_count;
  const lmi_launch *launches;
  size_t launch_count;
  lmi_exchange *exchange; /* messages with other ranks, started first and complete when the phase ends; NULL: none */
} lmi_phase;

typedef struct lmi_step_phases {
  const lmi_phase *phases;
  size_t phase_count;
} lmi_step_phases;

/* Steps repeat with period `step_count` (1; 2 where the parity of in-place streaming alternates). `version` grows
 * whenever arguments of a launch change, so that a backend that captured them knows. */
typedef struct lmi_program {
  const lmi_step_phases *steps;
  size_t step_count;
  uint64_t version;
  bool agrees; /* after each step all ranks agree on the first fault: then replay is collective */
} lmi_program;

/* What replays moved between slabs: copies and messages of the program that this rank carried out or sent, and the
 * bytes in them. */
typedef struct lmi_transfers {
  uint64_t messages, bytes;
} lmi_transfers;

/* Where a replay met the first non-finite value. */
typedef struct lmi_fault {
  bool found;
  int64_t step; /* of this replay, from 0 */
  int partition;
  int64_t plane;
} lmi_fault;

typedef struct lmi_device_options {
  int threads;         /* of a host backend */
  const int *ordinals; /* devices of an accelerator backend; NULL: the first */
  int ordinal_count;
} lmi_device_options;

typedef struct lmi_device_ops {
  const char *name;
  lamina_status (*open)(lamina_context *ctx, const lmi_device_options *options, lmi_device **device);
  void (*close)(lmi_device *device);

  /* How planes of this key are stored; NULL: rows without gaps, then the spare row, then the column. */
  void (*shape_plane)(const lmi_dense_key *key, lmi_plane_shape *shape);

  /* Refuses, before anything is allocated, fields of `bytes` for `cells` cells in all, dealt evenly over `partitions`,
   * for which there is no room; the sentence says what would fit. NULL: allocate() finds out. */
  lamina_status (*require_room)(lmi_device *device, uint64_t bytes, uint64_t cells, int partitions);

  /* Memory of one partition, untouched: every element is written before it is read. */
  lamina_status (*allocate)(lmi_device *device, int partition, size_t bytes, void **memory);
  void (*release)(lmi_device *device, int partition, void *memory, size_t bytes);

  lamina_status (*dense_kernels)(lmi_device *device, const lmi_dense_key *key, lmi_dense_kernels *kernels);

  /* Kernels of blocks; of the key only lattice, collision, precision, storage, streaming, force and special count.
   * NULL: this backend has none. */
  lamina_status (*block_kernels)(lmi_device *device, const lmi_dense_key *key, lmi_block_kernels *kernels);
  bool crosses_jumps; /* those between levels are among them */

  /* Arrays in host memory that launches work on copies of, named by their addresses: there, and back. Blocking, between
   * replays; a launch may point into an array that was sent. NULL: launches work on the arrays themselves. */
  lamina_status (*send_table)(lmi_device *device, const void *table, size_t bytes);
  lamina_status (*fetch_table)(lmi_device *device, void *table, size_t bytes);

  /* A kernel of a user over cells of one type; takes lmk_cells as arguments (kernel/cells.h), its fields in host
   * memory. Owned by the device. NULL: this backend runs none. */
  lamina_status (*cells_kernel)(lmi_device *device, const lamina_kernel_text *text, lamina_precision type,
                                const lmi_kernel **kernel);

  /* Messages with other ranks from and into memory that allocate() gave; to be destroyed before the device is closed.
   * NULL: MPI reaches that memory itself, so lmi_exchange_create serves. */
  lamina_status (*exchange)(lmi_device *device, const lmi_message *messages, size_t count, lmi_exchange **exchange);

  /* Runs steps [start, start + count) of a program that repeats, or stops after the step in which a value becomes
   * non-finite and says where. Blocking; collective where the program agrees or holds messages. */
  lamina_status (*replay)(lmi_device *device, const lmi_program *program, int64_t start, int64_t count,
                          lmi_fault *fault);

  /* All transfers since the device was opened. NULL: they are not counted. */
  void (*transfers)(const lmi_device *device, lmi_transfers *transfers);

  /* Runs one launch now; lmk_planes.buffer is host memory. Blocking. */
  lamina_status (*run_planes)(lmi_device *device, const lmi_launch *launch, size_t bytes_per_plane);

  /* The same for moments that stay: the buffer is memory of partition 0. NULL where sum_planes is. */
  lamina_status (*keep_planes)(lmi_device *device, const lmi_launch *launch, size_t bytes_per_plane);

  /* Between memory of the host and memory that allocate() gave for a partition. Blocking. NULL: they are one. */
  lamina_status (*send)(lmi_device *device, int partition, void *memory, const void *host, size_t bytes);
  lamina_status (*fetch)(lmi_device *device, int partition, void *host, const void *memory, size_t bytes);

  /* Sums of planes whose moments and marks lie in memory of partition 0 (kernel/totals.h): into `segments`, host
   * memory, those of each segment of each plane. Blocking. NULL: the host sums. */
  lamina_status (*sum_planes)(lmi_device *device, const struct lmk_totals *totals, struct lmk_sums *segments);
} lmi_device_ops;

struct lmi_device {
  const lmi_device_ops *ops;
  lamina_context *ctx;
};

/* X(name): lmi_<name>_ops is the backend's table. */
#define LMI_BACKENDS(X) \
  X(cpu)                \
  X(check)              \
  X(cuda)

#define LMI_DECLARE_BACKEND(name) extern const lmi_device_ops lmi_##name##_ops;
LMI_BACKENDS(LMI_DECLARE_BACKEND)
#undef LMI_DECLARE_BACKEND

/* For a replay whose program agrees: the first fault of all ranks after step `step`, in the order partition, plane.
 * Collective. */
LAMINA_NODISCARD lamina_status lmi_agree_on_fault(lamina_context *ctx, int64_t step, lmi_fault *fault);

/* The backend of that name, or NULL. */
const lmi_device_ops *lmi_backend_find(const char *name);

#endif
