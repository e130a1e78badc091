/* SPDX-License-Identifier: Apache-2.0 */
/* What run and plan share: the options that stand for keys of the case file, loading it, the units table. */
#ifndef LMI_CASE_OPTIONS_H
#define LMI_CASE_OPTIONS_H

#include <lamina/case.h>

#include "cli.h"

/* Options that are short for --set KEY=VALUE. */
typedef struct lmi_case_options {
  lmi_word_list set;
  const char *backend, *devices, *layout, *streaming;
  int64_t threads, partitions;
} lmi_case_options;

#define LMI_CASE_OPTIONS(type, field)                                                                             \
  LMI_OPTION_LIST(type, field.set, "set", "KEY=VALUE", "lay a value over the case file: fluid.reynolds=400"),     \
    LMI_OPTION_TEXT(type, field.backend, "backend", "NAME", "where it runs: cpu, cuda"),                          \
    LMI_OPTION_TEXT(type, field.devices, "devices", "LIST", "GPUs to use: 0,1"),                                  \
    LMI_OPTION_TEXT(type, field.layout, "layout", "NAME", "plane, disaggregated, soa, aos"),                      \
    LMI_OPTION_TEXT(type, field.streaming, "streaming", "NAME", "esoteric_pull, aa, two_grid"),                   \
    LMI_OPTION_INTEGER(type, field.threads, "threads", "N", 1, 4096, "worker threads (default: as many as pay)"), \
    LMI_OPTION_INTEGER(type, field.partitions, "partitions", "N", 1, 65536, "slabs along the last axis (default: 1)")

/* Loads the case into a context that has the threads it asks for; both are set in `call` and *flow. */
LAMINA_NODISCARD lamina_status lmi_load_case(lmi_call *call, const char *path, const lmi_case_options *options,
                                             lamina_case **flow);

/* Cells, time step, Reynolds, tau, Mach and the warnings. */
void lmi_print_units(FILE *stream, const lamina_case *flow);

/* The machine file: the one given, or machine.json in the current folder when there is one, or NULL. */
const char *lmi_machine_file(const char *given);

/* "3.2 s", "4 min 10 s", "2 h 5 min" into buffer (32 bytes); returns it. */
const char *lmi_format_duration(double seconds, char *buffer);

#endif
