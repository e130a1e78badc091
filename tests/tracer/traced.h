/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs under the tracer, for tests: one run at a time, its profile read. Skips where there is no tracer. */
#ifndef LMI_TRACED_H
#define LMI_TRACED_H

#include "support/test.h"

#include <lamina/memory_profile.h>

#include "memory/trace_launch.h"

typedef struct traced_run {
  lamina_context *ctx;
  lamina_profile *profile;
  int wait_status;
} traced_run;

extern traced_run traced;

/* Teardown of every case that traces. */
int traced_close(void **state);

/* Runs argv with its output in the files "out" and "err"; the wait status. */
int traced_plain(char **argv, const char *variable, const char *value);

/* Caches of 32 KiB, 256 KiB and 1 MiB unless options say otherwise. */
void traced_with(lmi_trace_options options, char **command);
void traced_command(char **command);
/* What one word makes trace_target do. */
void traced_target(const char *word);

const lamina_counts *traced_phase(const char *name);
/* The hottest object whose name has the part. */
const lamina_profile_object *traced_object(const char *part);
void traced_assert_within(uint64_t value, uint64_t expected, double share);

#endif
