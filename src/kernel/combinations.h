/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels are shipped: the one list, read by the build (one object a row, precision and force) and by both
 * backends. X(lattice, collision, file): the file is the collision's text for that lattice. */
#define LMK_COMBINATIONS(X)                  \
  X(d2q9, bgk, collide_bgk)                  \
  X(d2q9, trt, collide_trt)                  \
  X(d2q9, regularized, collide_regularized)  \
  X(d2q9, cumulant, collide_cumulant_d2q9)   \
  X(d2q9, smagorinsky, collide_smagorinsky)  \
  X(d3q19, bgk, collide_bgk)                 \
  X(d3q19, trt, collide_trt)                 \
  X(d3q19, regularized, collide_regularized) \
  X(d3q19, smagorinsky, collide_smagorinsky) \
  X(d3q27, bgk, collide_bgk)                 \
  X(d3q27, trt, collide_trt)                 \
  X(d3q27, regularized, collide_regularized) \
  X(d3q27, cumulant, collide_cumulant_d3q27) \
  X(d3q27, smagorinsky, collide_smagorinsky)
