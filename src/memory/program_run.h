/* SPDX-License-Identifier: Apache-2.0 */
/* One timed run of somebody else's program, and how much memory its tree of processes held on a node. */
#ifndef LMI_PROGRAM_RUN_H
#define LMI_PROGRAM_RUN_H

#include <sys/types.h>

#include "base/base.h"

typedef struct lmi_program {
  char *const *argv;
  int output;         /* descriptor for its standard output and error; it has an empty standard input */
  bool is_watched;    /* look at its footprint meanwhile: such a run is not for timing */
  int watched_node;   /* whose part of the footprint is told */
  const char *phases; /* file that lamina/phase.h appends its marks to; NULL: none */
} lmi_program;

typedef struct lmi_program_result {
  double seconds;
  int exit_code; /* 128 + n when signal n ended it */
  int signal;
  char start_error[160];                /* "" when it ran */
  uint64_t peak_bytes, peak_node_bytes; /* of a watched run, at the moment of the greatest sum */
} lmi_program_result;

/* Errors: SYSTEM, MEMORY. A program that cannot start is no error: see start_error. */
LAMINA_NODISCARD lamina_status lmi_program_run(lamina_context *ctx, const lmi_program *program,
                                               lmi_program_result *result);

/* Resident bytes of a process and all its descendants, and those of them on a node. */
LAMINA_NODISCARD lamina_status lmi_tree_footprint(lamina_context *ctx, pid_t pid, int node, uint64_t *bytes,
                                                  uint64_t *node_bytes);

#endif
