/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the device's kernels over blocks, filled by the host from lmk_block_step and lmk_block_planes (block.h).
 * All pointers are the device's. */
#ifndef LMK_BLOCK_DEVICE_H
#define LMK_BLOCK_DEVICE_H

/* A thread has one cell. Four blocks to a thread block: more hide no more latency, fewer leave room. */
enum { LMK_BLOCK_THREADS = 256 };

typedef struct lmk_device_block_step {
  lmk_block_grid grid;
  const int32_t *near;   /* of each block: its group of words; -1: no link of it is cut */
  const uint32_t *words; /* 64 a group: bit q says that f_q of the cell comes back instead of arriving */
  const void *source;
  void *target;
  lmk_watch *watch;
  double omega, omega_minus, tau, les;
  double force[3];
  double momentum[LMK_BLOCK_WALLS][LMK_MAX_VELOCITIES];
  int32_t has_momentum;
  int32_t first, end; /* blocks of this launch */
  uint32_t step, partition;
} lmk_device_block_step;

/* One plane of cells, through the blocks of its layer. */
typedef struct lmk_device_block_planes {
  lmk_block_grid grid;
  const int32_t *layer_blocks, *places;
  void *field, *buffer; /* the buffer begins with this plane */
  int64_t nx, ny;
  int32_t blocks; /* of the layer */
  int32_t height; /* of the plane in its blocks */
} lmk_device_block_planes;

#endif
