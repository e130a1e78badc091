/* SPDX-License-Identifier: Apache-2.0 */
/* What a dense slab of cells looks like to a kernel: where component c of cell (x, y, z) lies, and where a population
 * is written and read in each streaming pattern. One text for the host and the device; nothing here depends on the
 * precision.
 *
 * Storage. A plane holds nx * ny cells, then (in three dimensions) one spare row, then one column of ny + 1 entries:
 * the places outside the box that links through y and x walls need. Neighbouring planes outside the slab are halo
 * planes; at a wall they play the same part. An element lies at base + component * component_stride + (plane - first) *
 * plane_stride + place * stride of the span its plane belongs to: AoS, SoA, the disaggregated layout and plane order
 * are four fillings of this struct (src/grid/layout.c).
 *
 * Streaming. A pattern is one rule: at a step of parity e the population f*_q of cell x is written into slot `slot` of
 * the place x + shift c_q. All else follows (lbm-spec 2.4, 2.5): the next step finds f_q where the upstream cell wrote
 * it, and on a link that a wall cuts it finds its own f*_opposite where it wrote that. */
#ifndef LMK_DENSE_H
#define LMK_DENSE_H

enum { LMK_MAX_SPANS = 5, LMK_FACES = 6, LMK_MAX_VELOCITIES = 27 };

/* Planes of equal treatment, stored together. Units: elements. */
typedef struct lmk_span {
  int64_t first; /* stored plane it begins with */
  int64_t base;
  int64_t component_stride;
} lmk_span;

enum { LMK_TWO_GRID, LMK_ESOTERIC_PULL, LMK_AA };

/* What lies behind a face of the slab. */
enum { LMK_FACE_WRAP, LMK_FACE_WALL, LMK_FACE_NEIGHBOUR };

typedef struct lmk_dense {
  int64_t nx, ny, nz;   /* cells of the slab; ny = 1 in two dimensions */
  int64_t origin;       /* place of cell (0, 0) in a plane */
  int64_t row;          /* places between rows */
  int64_t spare_row;    /* place of (0, outside) in a plane */
  int64_t column;       /* place of (outside, 0); entry y, entry ny for the spare row */
  int64_t plane_stride; /* elements between planes of one span */
  int64_t stride;       /* elements between neighbouring cells: 1, or the number of components in AoS */
  int32_t low_planes;   /* halo planes stored below plane 0: 0 or 1 */
  int32_t span_count;
  lmk_span spans[LMK_MAX_SPANS];
  int32_t streaming;
  int32_t faces[LMK_FACES]; /* x low, x high, y low, ... */
  double wall_velocity[LMK_FACES][3];
  int32_t velocities;
  int8_t c[LMK_MAX_VELOCITIES][4]; /* cx, cy, cz, 0 by rank */
  double weight[LMK_MAX_VELOCITIES];
} lmk_dense;

/* Relaxation and force, in double; kernels convert them once. les = 18 sqrt(2) C^2 (lbm-spec 1.8). */
typedef struct lmk_rates {
  double omega, omega_minus, les;
  double force[3];
} lmk_rates;

/* Arguments of a step kernel over planes [first, first + count) of one slab. source == target unless two grids are
 * used. */
typedef struct lmk_step {
  lmk_dense dense;
  lmk_rates rates;
  void *source, *target;
  int32_t parity;
  const struct lmk_step *lower, *upper; /* the same step of the neighbouring slabs; NULL where there is none */
} lmk_step;

/* Arguments of the kernels that move planes between a slab and canonical order: for each plane, for each velocity in
 * rank order, nx * ny cells, x fastest (import, export), or density - 1 and the three momenta of the populations
 * (moments, double). step.parity is that of the last step done (1 before the first), step.target its field. `buffer`
 * begins with plane `first`. */
typedef struct lmk_planes {
  lmk_step step;
  void *buffer;
  int64_t first;
} lmk_planes;

/* First element of component `component` in plane z (-1 and nz are the halos). */
LMK_INLINE int64_t lmk_plane_element(const lmk_dense *d, int component, int64_t z)
{
  const int64_t stored = z + d->low_planes;
  int s = d->span_count - 1;
  while (s > 0 && stored < d->spans[s].first)
    s--;
  return d->spans[s].base + component * d->spans[s].component_stride + (stored - d->spans[s].first) * d->plane_stride;
}

/* Where a pattern writes f*_q at a step of parity e: slot of the place x + shift c_q. */
typedef struct lmk_target {
  int32_t shift, slot;
} lmk_target;

LMK_INLINE lmk_target lmk_stream_target(int streaming, int parity, int q, int velocities)
{
  const int opposite = velocities - 1 - q, rest = (velocities - 1) / 2;
  lmk_target target;
  target.shift = 0;
  target.slot = q;
  if (streaming == LMK_ESOTERIC_PULL) {
    target.shift = q > rest;
    target.slot = parity ? opposite : q;
  } else if (streaming == LMK_AA) {
    target.shift = parity;
    target.slot = parity ? q : opposite;
  }
  return target;
}

#endif
