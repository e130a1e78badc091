/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of levels read from one end of the box to the other, a layer of coarsest cells at a time: then the means of
 * fine cells, which coarse places beneath them show, are at hand, and memory is a few planes whatever the box. */
#ifndef LMI_LEVEL_SLAB_H
#define LMI_LEVEL_SLAB_H

#include "grid/level_stack.h"
#include <lamina/solver.h>

typedef struct lmi_level_slab lmi_level_slab;

/* The levels of a solver, kernels' axes; NULL on other grids. */
const lmi_levels *lmi_solver_levels(const lamina_solver *solver);

/* UNAVAILABLE on other grids. */
LAMINA_NODISCARD lamina_status lmi_level_slab_create(const lamina_solver *solver, lmi_level_slab **slab);

/* How many layers there are. */
int64_t lmi_level_slab_count(const lmi_level_slab *slab);

/* Takes layer `index` of the solver's state. */
LAMINA_NODISCARD lamina_status lmi_level_slab_read(lmi_level_slab *slab, int64_t index);

/* Plane `plane` (of the level, in the layer that was read) into density and velocity in the axes of the box, lattice
 * units, x fastest. Leaves have their own state; refined places the mean of what is in them, the velocity weighted by
 * mass; density 1 at rest where the level does not exist. NULL arrays are skipped. */
void lmi_level_slab_plane(const lmi_level_slab *slab, int level, int64_t plane, const lamina_fields *fields);

void lmi_level_slab_destroy(lmi_level_slab *slab);

#endif
