/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that lamina/phase.h appends: "TIME PID KIND ADDRESS BYTES NAME", TIME in nanoseconds of UTC. */
#ifndef LMI_PHASE_MARKS_H
#define LMI_PHASE_MARKS_H

#include "base/base.h"

typedef struct lmi_phase_mark {
  int64_t utc_ns;
  uint32_t pid;
  char kind; /* '+' a phase starts, '-' it stops, '=' an object has a name; others are no marks */
  uint64_t address, bytes;
  const char *name; /* in the line */
} lmi_phase_mark;

/* What stands in a line without its end. */
lmi_phase_mark lmi_phase_mark_of(const char *line);

/* What the program was doing from `utc_ns` until the next stretch begins. */
typedef struct lmi_phase_stretch {
  int64_t utc_ns;
  char name[64]; /* "" outside of phases */
} lmi_phase_stretch;

/* The phases in a file of marks, of the process that marked first (of ranks: one of them). Free with lmi_free. Errors:
 * FILE, MEMORY. */
LAMINA_NODISCARD lamina_status lmi_phase_stretches(lamina_context *ctx, const char *path, lmi_phase_stretch **stretches,
                                                   size_t *count);

#endif
