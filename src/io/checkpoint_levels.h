/* SPDX-License-Identifier: Apache-2.0 */
/* The populations of a stack of levels in a checkpoint: each level's own cells, plane by plane, in the order of their
 * places, so that neither partitions nor threads show. For checkpoint.c only. */
#ifndef LMI_CHECKPOINT_LEVELS_H
#define LMI_CHECKPOINT_LEVELS_H

#include "flow/solver_internal.h"
#include "grid/level_stack.h"
#include "hdf5_store.h"

/* What the arrays of a solver's levels look like in a file. */
typedef struct lmi_level_states {
  lamina_context *ctx;
  const lamina_solver *solver;
  const lmi_levels *levels;
  uint64_t *rows[LMI_MAX_LEVELS]; /* cells of the level in each of its planes */
  lmi_store_array arrays[LMI_MAX_LEVELS];
} lmi_level_states;

/* The solver's grid must be one of levels. */
LAMINA_NODISCARD lamina_status lmi_level_states_create(lamina_context *ctx, const lamina_solver *solver,
                                                       lmi_level_states *states);
void lmi_level_states_free(lmi_level_states *states);

/* How many levels, by which scheme, and where they are refined, as attributes of `group`. */
LAMINA_NODISCARD lamina_status lmi_level_states_put(const lmi_level_states *states, lmi_store *store,
                                                    const char *group);
LAMINA_NODISCARD lamina_status lmi_level_states_write(const lmi_level_states *states, lmi_store *store);

/* CASE where the file, named in the sentence, has other levels than the solver. */
LAMINA_NODISCARD lamina_status lmi_level_states_compare(const lmi_level_states *states, lmi_store *store,
                                                        const char *group, const char *path);

/* Puts the populations into the solver. CASE when a plane is damaged; then the solver holds a mixture. */
LAMINA_NODISCARD lamina_status lmi_level_states_read(const lmi_level_states *states, lmi_store *store);

#endif
