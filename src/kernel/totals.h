/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over cells from planes of moments (density - 1 and three momenta in double, as lmk_planes of dense.h gives
 * them). One text for the host and the device, and one order: cells along y within a segment of LMK_SEGMENT_ROWS rows,
 * then the columns of the segment along x, then segments, then planes. So threads of a device that stand side by side
 * read side by side, and no sum depends on who made it.
 *
 * Axes are the kernels'; in two dimensions z is the box's y, and ny is 1. */
#ifndef LMK_TOTALS_H
#define LMK_TOTALS_H

enum { LMK_SEGMENT_ROWS = 16 };

/* What a derivative finds beyond a face of the box. */
enum { LMK_BEYOND_WRAPS, LMK_BEYOND_WALL, LMK_BEYOND_OPEN };

typedef struct lmk_totals {
  const double *moments; /* of the planes from `window` on, those beside the summed ones included where they exist */
  const uint8_t *marks;  /* of the same planes: not 0 where there is no fluid; NULL: all is fluid */
  int64_t window;        /* may be -1: the last plane, when z wraps */
  int64_t first, count;  /* planes to sum */
  int64_t nx, ny, nz;
  int32_t is_flat;
  int32_t beyond[6]; /* x low, x high, y low, ... */
  double wall_velocity[6][3];
  double half_force[3];
} lmk_totals;

typedef struct lmk_sums {
  double mass, momentum[3], energy, enstrophy, fastest; /* density - 1; square of the speed */
  int32_t cells, not_finite;
} lmk_sums;

/* Where a derivative is sampled: the neighbour's velocity; past a wall, the wall's at half the distance; past an open
 * face, none: distance 0. */
typedef struct lmk_sample {
  double value, distance;
} lmk_sample;

LMK_INLINE int64_t lmk_segments(const lmk_totals *t)
{
  return (t->ny + LMK_SEGMENT_ROWS - 1) / LMK_SEGMENT_ROWS;
}

LMK_INLINE int lmk_mark_at(const lmk_totals *t, int64_t cell, int64_t z)
{
  return t->marks != 0 ? t->marks[(z - t->window) * t->nx * t->ny + cell] : 0;
}

/* The populations are those after collision: their momentum is half a step of the force ahead (Guo 2002). */
LMK_INLINE double lmk_velocity_at(const lmk_totals *t, int64_t cell, int64_t z, int axis)
{
  const int64_t cells = t->nx * t->ny;
  const double *plane = t->moments + 4 * (z - t->window) * cells;
  return (plane[(axis + 1) * cells + cell] - t->half_force[axis]) / (1.0 + plane[cell]);
}

LMK_INLINE lmk_sample lmk_sample_velocity(const lmk_totals *t, int64_t x, int64_t y, int64_t z, int along,
                                          int direction, int component)
{
  const int64_t n = along == 0 ? t->nx : along == 1 ? t->ny : t->nz;
  const int face = 2 * along + (direction > 0);
  int64_t at = (along == 0 ? x : along == 1 ? y : z) + direction;
  lmk_sample sample;
  sample.value = 0.0;
  sample.distance = 0.0;
  if (at < 0 || at >= n) {
    if (t->beyond[face] == LMK_BEYOND_OPEN)
      return sample;
    if (t->beyond[face] == LMK_BEYOND_WALL) {
      sample.value = t->wall_velocity[face][component];
      sample.distance = 0.5;
      return sample;
    }
    if (along < 2) /* the window holds the plane behind the last one */
      at = at < 0 ? at + n : at - n;
  }
  x = along == 0 ? at : x;
  y = along == 1 ? at : y;
  z = along == 2 ? at : z;
  sample.distance = 0.5;
  if (lmk_mark_at(t, y * t->nx + x, z) != 0)
    return sample;
  sample.distance = 1.0;
  sample.value = lmk_velocity_at(t, y * t->nx + x, z, component);
  return sample;
}

/* Second order where there is a neighbour or a wall on both sides. */
LMK_INLINE double lmk_derivative(const lmk_totals *t, int64_t x, int64_t y, int64_t z, int along, int component)
{
  const lmk_sample low = lmk_sample_velocity(t, x, y, z, along, -1, component);
  const lmk_sample high = lmk_sample_velocity(t, x, y, z, along, 1, component);
  if (low.distance == 1.0 && high.distance == 1.0)
    return 0.5 * (high.value - low.value);
  if (low.distance == 0.5 && high.distance == 0.5)
    return high.value - low.value;
  const double own = lmk_velocity_at(t, y * t->nx + x, z, component);
  if (low.distance == 0.0)
    return high.distance > 0.0 ? (high.value - own) / high.distance : 0.0;
  if (high.distance == 0.0)
    return (own - low.value) / low.distance;
  if (low.distance == 0.5)
    return (high.value + 3.0 * own - 4.0 * low.value) / 3.0;
  return (4.0 * high.value - 3.0 * own - low.value) / 3.0;
}

LMK_INLINE double lmk_enstrophy(const lmk_totals *t, int64_t x, int64_t y, int64_t z)
{
  if (t->is_flat) {
    const double curl = lmk_derivative(t, x, y, z, 0, 2) - lmk_derivative(t, x, y, z, 2, 0);
    return 0.5 * curl * curl;
  }
  double sum = 0.0;
  LMK_UNROLL
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    const double curl = lmk_derivative(t, x, y, z, b, c) - lmk_derivative(t, x, y, z, c, b);
    sum = sum + 0.5 * curl * curl;
  }
  return sum;
}

LMK_INLINE void lmk_clear_sums(lmk_sums *sums)
{
  sums->mass = sums->energy = sums->enstrophy = sums->fastest = 0.0;
  sums->momentum[0] = sums->momentum[1] = sums->momentum[2] = 0.0;
  sums->cells = sums->not_finite = 0;
}

LMK_INLINE void lmk_add_sums(lmk_sums *sums, const lmk_sums *more)
{
  sums->mass = sums->mass + more->mass;
  for (int axis = 0; axis < 3; axis++)
    sums->momentum[axis] = sums->momentum[axis] + more->momentum[axis];
  sums->energy = sums->energy + more->energy;
  sums->enstrophy = sums->enstrophy + more->enstrophy;
  sums->fastest = more->fastest > sums->fastest ? more->fastest : sums->fastest;
  sums->cells = sums->cells + more->cells;
  sums->not_finite = sums->not_finite | more->not_finite;
}

/* The cells of one column of a segment of plane z. */
LMK_INLINE void lmk_sum_column(const lmk_totals *t, int64_t x, int64_t segment, int64_t z, lmk_sums *sums)
{
  const int64_t begin = segment * LMK_SEGMENT_ROWS;
  const int64_t end = begin + LMK_SEGMENT_ROWS < t->ny ? begin + LMK_SEGMENT_ROWS : t->ny;
  lmk_clear_sums(sums);
  for (int64_t y = begin; y < end; y++) {
    const int64_t cell = y * t->nx + x;
    if (lmk_mark_at(t, cell, z) != 0)
      continue;
    const double excess = t->moments[4 * (z - t->window) * t->nx * t->ny + cell];
    lmk_sums own;
    own.energy = 0.0;
    for (int axis = 0; axis < 3; axis++) {
      const double u = lmk_velocity_at(t, cell, z, axis);
      own.energy = own.energy + u * u;
      own.momentum[axis] = (1.0 + excess) * u;
    }
    own.mass = excess;
    own.fastest = own.energy;
    own.energy = 0.5 * own.fastest;
    own.enstrophy = lmk_enstrophy(t, x, y, z);
    own.cells = 1;
    own.not_finite = !(excess - excess == 0.0) || !(own.fastest - own.fastest == 0.0);
    lmk_add_sums(sums, &own);
  }
}

#endif
