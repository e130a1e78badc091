/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint: the populations of a solver and what it takes to know that they belong to a case. HDF5 under a seal
 * (hdf5_store.h), one plane of populations at a time. A new one takes the old one's place by rename only when it is
 * complete and on the disk, so a killed run always leaves the last complete one. Of a grid of levels each level's own
 * cells are kept, whatever partitions it had.
 *
 * Under several ranks each writes and reads the planes that are its own: writing, opening and restoring are collective,
 * and a checkpoint does not know how many ranks wrote it. */
#ifndef LMI_CHECKPOINT_H
#define LMI_CHECKPOINT_H

#include <lamina/solver.h>

/* What the caller adds and gets back. */
typedef struct lmi_checkpoint_note {
  const char *case_hash; /* compared on restore; any short text */
  const char *state;     /* the run's own state, JSON by custom; NULL or "": none */
  double time;           /* s */
} lmi_checkpoint_note;

/* Writes the solver's populations to `path`. Errors: MEMORY, FILE (with the system's reason); then `path` is as it was.
 */
LAMINA_NODISCARD lamina_status lmi_checkpoint_write(lamina_context *ctx, const char *path, const lamina_solver *solver,
                                                    const lmi_checkpoint_note *note);

typedef struct lmi_checkpoint lmi_checkpoint;

/* Opens and checks everything but the populations. Errors: FILE (cannot be opened), CASE (not a checkpoint, truncated,
 * damaged, of a newer version). */
LAMINA_NODISCARD lamina_status lmi_checkpoint_open(lamina_context *ctx, const char *path, lmi_checkpoint **checkpoint);

/* What it says of itself; lives until close. `solver` holds cells, lattice, collision, precision, omega, magic,
 * smagorinsky and the kinds of the faces; wall velocities and the force may change during a run and are the case hash's
 * business. */
typedef struct lmi_checkpoint_content {
  lmi_checkpoint_note note;
  lamina_index step;
  lamina_solver_options solver;
  const char *version; /* of the lamina that wrote it */
} lmi_checkpoint_content;
const lmi_checkpoint_content *lmi_checkpoint_get_content(const lmi_checkpoint *checkpoint);

/* Puts the populations and the step into a solver of the same content. `case_hash` NULL skips that comparison. Errors:
 * CASE when something differs (named with both values) or a plane is damaged; after the latter the solver holds a
 * mixture: destroy it. */
LAMINA_NODISCARD lamina_status lmi_checkpoint_restore(lmi_checkpoint *checkpoint, lamina_solver *solver,
                                                      const char *case_hash);
void lmi_checkpoint_close(lmi_checkpoint *checkpoint);

#endif
