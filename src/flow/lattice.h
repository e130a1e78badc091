/* SPDX-License-Identifier: Apache-2.0 */
/* Velocity sets as tables, in rank order (kernel/lattice_*.h), for code that is not specialised to a lattice. */
#ifndef LMI_LATTICE_H
#define LMI_LATTICE_H

#include <stdint.h>

#include <lamina/types.h>

typedef struct lmi_lattice {
  int dimension, velocities;
  int crossing; /* velocities that cross an upper face of the plane axis: the last ones; the first ones cross a lower */
  int8_t c[27][4]; /* x, y, z of the kernels: in two dimensions the second axis of the box is z, and y is 0 */
  double weight[27];
} lmi_lattice;

/* NULL for a value outside the list. */
const lmi_lattice *lmi_lattice_get(lamina_lattice lattice);

#endif
