/* SPDX-License-Identifier: Apache-2.0 */
/* D3Q27; the rules of the list stand in lattice_d2q9.h. */
#define LMK_Q 27
#define LMK_CROSSING 9
#define LMK_HAS_Y 1
#define LMK_W_REST (8.0 / 27.0)
#define LMK_PAIRS(X)           \
  X(0, 1, 0, 0, 2.0 / 27.0)    \
  X(1, -1, 1, 0, 1.0 / 54.0)   \
  X(2, 0, 1, 0, 2.0 / 27.0)    \
  X(3, 1, 1, 0, 1.0 / 54.0)    \
  X(4, -1, -1, 1, 1.0 / 216.0) \
  X(5, 0, -1, 1, 1.0 / 54.0)   \
  X(6, 1, -1, 1, 1.0 / 216.0)  \
  X(7, -1, 0, 1, 1.0 / 54.0)   \
  X(8, 0, 0, 1, 2.0 / 27.0)    \
  X(9, 1, 0, 1, 1.0 / 54.0)    \
  X(10, -1, 1, 1, 1.0 / 216.0) \
  X(11, 0, 1, 1, 1.0 / 54.0)   \
  X(12, 1, 1, 1, 1.0 / 216.0)
