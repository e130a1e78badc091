/* SPDX-License-Identifier: Apache-2.0 */
/* May this process use performance counters, and why not? Trying is one part, judging what came out another: the judge
 * is a plain function, so that a test can show it every machine. */
#ifndef LMI_COUNTERS_H
#define LMI_COUNTERS_H

#include <lamina/host.h>

/* Result of opening one event: 0, an errno value, or NOT_TRIED. */
enum { LMI_COUNTER_NOT_TRIED = -1 };

typedef struct lmi_counter_trial {
  int hardware; /* cycles of this process in user mode */
  int software; /* its clock */
} lmi_counter_trial;

lmi_counter_trial lmi_counters_try(void);

/* Fills hardware_counters, software_counters, counters_reason and counters_fix from the trial and from what the other
 * fields of `host` say about permissions. */
void lmi_counters_judge(lamina_host *host, lmi_counter_trial trial);

#endif
