/* SPDX-License-Identifier: Apache-2.0 */
#include "lattice.h"

#include <stddef.h>

/* The lists of the kernel headers, expanded into both ranks of each pair. */
#define UP(k, cx, cy, cz, w) [(LMK_Q - 1) / 2 + 1 + (k)] = {(cx), (cy), (cz), 0},
#define DOWN(k, cx, cy, cz, w) [(LMK_Q - 1) / 2 - 1 - (k)] = {-(cx), -(cy), -(cz), 0},
#define UP_WEIGHT(k, cx, cy, cz, w) [(LMK_Q - 1) / 2 + 1 + (k)] = (w),
#define DOWN_WEIGHT(k, cx, cy, cz, w) [(LMK_Q - 1) / 2 - 1 - (k)] = (w),
#define LATTICE_TABLE(dimension_)                                                                                   \
  {                                                                                                                 \
    .dimension = (dimension_), .velocities = LMK_Q, .crossing = LMK_CROSSING, .c = {LMK_PAIRS(UP) LMK_PAIRS(DOWN)}, \
    .weight = {[(LMK_Q - 1) / 2] = LMK_W_REST, LMK_PAIRS(UP_WEIGHT) LMK_PAIRS(DOWN_WEIGHT)},                        \
  }

#include "kernel/lattice_d2q9.h"
static const lmi_lattice d2q9 = LATTICE_TABLE(2);
#include "kernel/lattice_none.h"

#include "kernel/lattice_d3q19.h"
static const lmi_lattice d3q19 = LATTICE_TABLE(3);
#include "kernel/lattice_none.h"

#include "kernel/lattice_d3q27.h"
static const lmi_lattice d3q27 = LATTICE_TABLE(3);
#include "kernel/lattice_none.h"

const lmi_lattice *lmi_lattice_get(lamina_lattice lattice)
{
  switch (lattice) {
  case LAMINA_D2Q9: return &d2q9;
  case LAMINA_D3Q19: return &d3q19;
  case LAMINA_D3Q27: return &d3q27;
  }
  return NULL;
}
