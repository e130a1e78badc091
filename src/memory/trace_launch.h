/* SPDX-License-Identifier: Apache-2.0 */
/* How to run a program under the exact tracer (tracer/, a Valgrind tool): the command line, the environment, the caches
 * to model, and whether the program can run there at all.
 *
 *   lmi_trace_launch launch;
 *   LMI_TRY(lmi_trace_prepare(ctx, &(lmi_trace_options){.folder = folder}, argv, &launch));
 *   ... setenv(launch.variable, launch.value) in the child, execvp(launch.argv[0], launch.argv) ...
 *   lmi_trace_launch_free(ctx, &launch);
 *
 * The tracer writes process.PID.profile files into the folder itself, one for each process and each exec. */
#ifndef LMI_TRACE_LAUNCH_H
#define LMI_TRACE_LAUNCH_H

#include "base/base.h"

/* Zero is the default of every field but the folder. */
typedef struct lmi_trace_options {
  const char *folder;        /* absolute, exists */
  const char *root;          /* prefix of /sys; NULL: the live machine */
  const char *l1, *l2, *llc; /* "SIZE,WAYS" (48K,12), l2 also "none"; NULL: this machine's */
  bool no_stream_prefetch, no_adjacent_prefetch;
} lmi_trace_options;

typedef struct lmi_trace_launch {
  char **argv;          /* NULL-terminated */
  const char *variable; /* environment variable the launcher needs ... */
  char *value;          /* ... and its value */
  char caches[320];     /* which caches are modelled, and why these */
  char warning[512];    /* "" or what may go wrong, with the way out */
} lmi_trace_launch;

/* Errors: UNAVAILABLE (valgrind or the tool is not installed; the program needs AVX-512), ARGUMENT, MEMORY. */
LAMINA_NODISCARD lamina_status lmi_trace_prepare(lamina_context *ctx, const lmi_trace_options *options,
                                                 char *const command[], lmi_trace_launch *launch);
void lmi_trace_launch_free(lamina_context *ctx, lmi_trace_launch *launch);

/* true when the tracer could be used here; else `reason` (of `size` bytes) says what is missing and how to get it. */
bool lmi_trace_is_available(char *reason, size_t size);

/* Looks for AVX-512 (EVEX) instructions in the functions of an x86-64 program file. Functions that are chosen by what
 * the processor offers (their names say so: _evex, avx512) do not count: under Valgrind they are not chosen. */
typedef struct lmi_evex_found {
  uint64_t instructions;
  char function[128]; /* of the first one; "" when it has no symbol */
} lmi_evex_found;

/* A file that is no x86-64 ELF program has none. Errors: MEMORY. */
LAMINA_NODISCARD lamina_status lmi_find_evex(lamina_context *ctx, const char *path, lmi_evex_found *found);

#endif
