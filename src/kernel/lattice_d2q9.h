/* SPDX-License-Identifier: Apache-2.0 */
/* D2Q9. Inside, a two-dimensional box lies in the x-z plane with one row a plane (ny = 1), so that the last axis of the
 * box is the axis of planes in two and three dimensions alike.
 *
 * A lattice is a list of pairs of opposite velocities. Ranks are sorted by memory offset (z, then y, then x), hence
 *   opposite(r) = Q - 1 - r,   rest = (Q - 1) / 2 = LMK_REST,   pair k = ranks LMK_REST + 1 + k and LMK_REST - 1 - k,
 * the upper rank of a pair points forward in memory, and the ranks that cross an upper plane are the last LMK_CROSSING
 * (lbm-spec 1.1). X(k, cx, cy, cz, weight) names the upper rank of pair k. */
#define LMK_Q 9
#define LMK_CROSSING 3
#define LMK_HAS_Y 0
#define LMK_W_REST (4.0 / 9.0)
#define LMK_PAIRS(X)         \
  X(0, 1, 0, 0, 1.0 / 9.0)   \
  X(1, -1, 0, 1, 1.0 / 36.0) \
  X(2, 0, 0, 1, 1.0 / 9.0)   \
  X(3, 1, 0, 1, 1.0 / 36.0)
