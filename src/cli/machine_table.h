/* SPDX-License-Identifier: Apache-2.0 */
/* A machine as tables for people; shared by `lamina machine` and `lamina bench machine`. */
#ifndef LMI_MACHINE_TABLE_H
#define LMI_MACHINE_TABLE_H

#include "cli.h"
#include "lamina/tiers.h"

/* Nodes, tiers, limits, remarks. */
void lmi_machine_print_nodes(const lamina_machine *machine);

/* What was measured; says so when nothing was. */
void lmi_machine_print_measured(const lamina_machine *machine);

/* lamina_measure_options.progress: one row on stderr that is written over on a terminal, a line each elsewhere. */
void lmi_machine_progress(void *user, const char *text, int done, int total);
void lmi_machine_progress_end(void);

/* Does nothing for so long. */
void lmi_machine_rest(double seconds);

#endif
