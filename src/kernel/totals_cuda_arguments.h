/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the device's kernels over moments, filled by the host. Needs totals.h before it. */
#ifndef LMK_TOTALS_CUDA_ARGUMENTS_H
#define LMK_TOTALS_CUDA_ARGUMENTS_H

enum { LMK_TOTALS_THREADS = 128 };

typedef struct lmk_device_totals {
  lmk_totals totals;
  lmk_sums *columns;  /* one for each x, segment and summed plane, in this order of pace */
  lmk_sums *segments; /* one for each segment and summed plane */
} lmk_device_totals;

#endif
