/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of refined regions that the tests of levels share, as functions of a place in units of the box. */
#ifndef LEVEL_SETUP_H
#define LEVEL_SETUP_H

#include <math.h>
#include <stdbool.h>

typedef enum level_shape { SHAPE_STRIPE, SHAPE_BOX, SHAPE_CROSS, SHAPE_CORNER, SHAPE_SPECKLES, SHAPES } level_shape;

/* Half widths of the region that is refined to a level. */
static const double level_widths[4] = {0.14, 0.26, 0.36, 0.42};

static inline bool level_speckle(int level, const double p[3])
{
  unsigned h = (unsigned)(p[0] * 4096) * 7919u + (unsigned)(p[1] * 4096) * 104729u + (unsigned)(p[2] * 4096) * 1299709u;
  h = (h ^ (h >> 13)) * 0x5bd1e995u;
  return level == 0 && (h >> 16) % 97u == 0;
}

/* Is a place refined to `level`? A stripe across y (x in two dimensions has no part in it), a box, a cross with concave
 * corners, a box in the corner that touches walls, single cells all over. */
static inline bool level_shape_refines(level_shape shape, int level, int dimension, const double p[3])
{
  const double a = level_widths[level], dx = fabs(p[0] - 0.5), dy = fabs(p[1] - 0.5), dz = fabs(p[2] - 0.5);
  const bool flat = dimension == 2;
  switch (shape) {
  case SHAPE_STRIPE: return dy < a;
  case SHAPE_BOX: return dx < a && dy < a && (flat || dz < a);
  case SHAPE_CROSS: {
    const double b = 0.44;
    return ((dx < a && dy < b) || (dy < a && dx < b)) && (flat || dz < a + 0.06);
  }
  case SHAPE_CORNER: return p[0] < 2 * a && p[1] < 2 * a && (flat || p[2] < 2 * a);
  case SHAPE_SPECKLES: return level_speckle(level, p);
  case SHAPES: break;
  }
  return false;
}

#endif
