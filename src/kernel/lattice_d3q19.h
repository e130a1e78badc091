/* SPDX-License-Identifier: Apache-2.0 */
/* D3Q19; the rules of the list stand in lattice_d2q9.h. */
#define LMK_Q 19
#define LMK_CROSSING 5
#define LMK_HAS_Y 1
#define LMK_W_REST (1.0 / 3.0)
#define LMK_PAIRS(X)         \
  X(0, 1, 0, 0, 1.0 / 18.0)  \
  X(1, -1, 1, 0, 1.0 / 36.0) \
  X(2, 0, 1, 0, 1.0 / 18.0)  \
  X(3, 1, 1, 0, 1.0 / 36.0)  \
  X(4, 0, -1, 1, 1.0 / 36.0) \
  X(5, -1, 0, 1, 1.0 / 36.0) \
  X(6, 0, 0, 1, 1.0 / 18.0)  \
  X(7, 1, 0, 1, 1.0 / 36.0)  \
  X(8, 0, 1, 1, 1.0 / 36.0)
