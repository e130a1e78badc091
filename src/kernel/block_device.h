/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the device's kernels over blocks, filled by the host from lmk_block_step and lmk_block_planes (block.h).
 * All pointers are the device's. How many blocks a thread block has and how many cells a thread is compiled in:
 * LMK_BLOCK_GROUP, LMK_LANES. */
#ifndef LMK_BLOCK_DEVICE_H
#define LMK_BLOCK_DEVICE_H

/* What a kernel must know of a block before it reads any population, side by side in one line of 128 bytes: the 27
 * neighbours (the block itself where there is none: nothing that lies there is used), the group of link words (-1: no
 * link is cut and every cell has fluid), flags, one number that is free, and the active cells. */
enum { LMK_ENTRIES = 32, LMK_ENTRY_GROUP = LMK_BLOCK_NEIGHBOURS, LMK_ENTRY_FLAGS, LMK_ENTRY_FREE, LMK_ENTRY_ACTIVE };

/* Flags: bit w - 1 says that some link meets wall w, then whether a cell is special; from LMK_FLAG_EXTENTS on the
 * extents, 0 where no axis ends in the block. */
enum { LMK_FLAG_SPECIAL = 7, LMK_FLAG_EXTENTS = 8 };

/* Link words, 64 a group: bit q says that f_q of the cell comes back instead of arriving. */
#define LMK_WORD_EMPTY 0x80000000u /* the cell has no fluid; then all bits are set */

enum { LMK_PLANE_THREADS = 256, LMK_SETTLE_THREADS = 256 };

typedef struct lmk_device_block_step {
  lmk_block_grid grid;
  const int32_t *entries; /* LMK_ENTRIES a block */
  const uint32_t *words;
  const void *source;
  void *target;
  lmk_watch *watch;
  double omega, omega_minus, tau, les;
  double force[3];
  double momentum[LMK_BLOCK_WALLS][LMK_MAX_VELOCITIES];
  int32_t moving;     /* walls that add momentum, as in the flags */
  int32_t first, end; /* blocks of this launch */
  int32_t serves;     /* LMK_SERVE_* */
  int32_t parity;
  uint32_t step, partition;
  lmk_boundary boundary;
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

typedef struct lmk_device_settle {
  lmk_settle settle;
  double *row_sums; /* room for one a row of every outflow */
} lmk_device_settle;

#endif
