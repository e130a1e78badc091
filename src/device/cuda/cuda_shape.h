/* SPDX-License-Identifier: Apache-2.0 */
/* How rows, planes and thread blocks are cut for a device, from a key alone: decided before anything is opened. */
#ifndef LMI_CUDA_SHAPE_H
#define LMI_CUDA_SHAPE_H

#include "device/device.h"

typedef struct lmi_cuda_shape {
  lmi_plane_shape plane;
  int lanes;           /* cells a thread updates: one vector */
  int block[3];        /* threads along x (vectors of a row), y, z */
  int element_bits;    /* as stored */
  int least_blocks;    /* of a multiprocessor: it bounds the registers of a thread */
  double rest_density; /* the unit of populations as stored (kernel/moments.h) */
  int64_t origin;      /* place of cell (0, 0) */
} lmi_cuda_shape;

lmi_cuda_shape lmi_cuda_shape_for(const lmi_dense_key *key);

#endif
