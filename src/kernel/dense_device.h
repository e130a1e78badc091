/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the device's kernels over a dense slab, filled by the host from lmk_step and lmk_planes (dense.h). What
 * decides addresses inside a plane is compiled in, not passed: LMK_NX, LMK_NY, LMK_ROW, LMK_COLUMN, LMK_LANES. */
#ifndef LMK_DENSE_DEVICE_H
#define LMK_DENSE_DEVICE_H

/* One a device. Steps of a replay count on from `base`; `fault` is the smallest key of a non-finite plane so far:
 * step, partition and plane in this order of weight, so that the smallest is the first. The rest is for meetings of
 * devices: how many this one has been to, what the slabs below and above have told, whether it waited in vain. */
typedef struct lmk_watch {
  uint64_t base, fault;
  uint64_t meetings, told[2], lost;
} lmk_watch;

/* The watches of a device and of those with the slabs beside its own; NULL where there is none. */
typedef struct lmk_device_meeting {
  lmk_watch *own, *lower, *upper;
} lmk_device_meeting;

enum { LMK_FAULT_STEP_SHIFT = 34, LMK_FAULT_PARTITION_SHIFT = 24 };

/* Faces as bits: 1 << x low, 1 << x high, 1 << y low, ... */
typedef struct lmk_device_slab {
  lmk_span spans[LMK_MAX_SPANS];
  int64_t beside[2]; /* LMK_JOINED: where the planes below and above begin, in elements from this slab's own field */
  int64_t beside_component[2];
  int32_t span_count;
  int32_t low_planes;
  int32_t planes; /* of the slab */
  int32_t walls, wraps;
  int32_t joins; /* 1: the plane below is a neighbour's, 2: the one above */
} lmk_device_slab;

/* A slab's part of a launch. */
typedef struct lmk_device_part {
  lmk_device_slab slab;
  void *source, *target;
  int32_t first_plane, end_plane; /* of this launch */
  uint32_t partition;
} lmk_device_part;

/* Parts of one launch; as many as fit into the 4 KiB that arguments may take. A text that joins no slabs has one. */
enum { LMK_MAX_PARTS = 8 };
#ifndef LMK_PARTS
#define LMK_PARTS LMK_MAX_PARTS
#endif

typedef struct lmk_device_step {
  lmk_watch *watch;
  lmk_device_slab neighbour[2]; /* the slab below, above: where its field is stored to as well (LMK_DIRECT) */
  void *neighbour_target[2];    /* NULL where there is none */
  double omega, omega_minus, tau, les;
  double force[3];
  double momentum[LMK_FACES][LMK_MAX_VELOCITIES]; /* what a moving wall adds to f_q: 6 w c.u */
  int32_t moving;                                 /* faces whose momentum is not zero */
  int32_t first_row;                              /* of this launch */
  int32_t part_count;
  uint32_t step; /* after watch->base */
  int32_t
    first_layer[LMK_MAX_PARTS]; /* of thread blocks along z that work on each part; together, as all are looked at */
  lmk_device_part parts[LMK_PARTS];
} lmk_device_step;

typedef struct lmk_device_planes {
  lmk_device_slab slab;
  void *field, *buffer;
  int32_t parity;                            /* of the last step done */
  int32_t first_plane, end_plane, first_row; /* of this launch */
  int32_t buffer_plane;                      /* the plane `buffer` begins with */
} lmk_device_planes;

#endif
