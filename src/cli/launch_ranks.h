/* SPDX-License-Identifier: Apache-2.0 */
/* The program under mpirun: what the launcher says before MPI is started, joining, and the common end. */
#ifndef LMI_LAUNCH_RANKS_H
#define LMI_LAUNCH_RANKS_H

#include "cli.h"

/* Whether this process is one of several that a launcher started for a command that spreads over them, and not the
 * first: it prints nothing of its own. From the launcher's environment, so it is known before MPI runs. */
bool lmi_is_follower(const lmi_call *call);

/* Joins the ranks that a launcher started; nothing where none did. Errors: UNAVAILABLE in a build without MPI, where
 * every process would run the whole case by itself. */
LAMINA_NODISCARD lamina_status lmi_call_join_ranks(lmi_call *call);

/* Meets the other ranks before the program ends. *speaks: this one tells what failed. False: the others did not come,
 * and lmi_call_end_ranks must end them. */
bool lmi_call_meet_ranks(lmi_call *call, lamina_status status, bool *speaks);
void lmi_call_end_ranks(lmi_call *call, int exit_code);

#endif
