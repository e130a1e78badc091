/* SPDX-License-Identifier: Apache-2.0 */
/* How rows, planes and thread blocks are cut for a device, from a key alone: decided before anything is opened. */
#ifndef LMI_CUDA_SHAPE_H
#define LMI_CUDA_SHAPE_H

#include "device/device.h"

typedef struct lmi_cuda_shape {
  lmi_plane_shape plane;
  int lanes;            /* cells a thread updates: one vector */
  int block[3];         /* threads along x (vectors of a row), y, z */
  int element_bits;     /* as stored */
  int least_blocks;     /* of a multiprocessor: it bounds the registers of a thread */
  int least_blocks_any; /* over blocks: of the kernel for any addresses */
  int rounds;           /* over blocks: how often a thread block takes its number of blocks */
  double rest_density;  /* the unit of populations as stored (kernel/moments.h) */
  int64_t origin;       /* place of cell (0, 0) */
} lmi_cuda_shape;

lmi_cuda_shape lmi_cuda_shape_for(const lmi_dense_key *key);

/* Of kernels over blocks: lanes, block[0], rounds, both bounds, element_bits and rest_density count. */
lmi_cuda_shape lmi_cuda_block_shape_for(const lmi_dense_key *key);

#endif
