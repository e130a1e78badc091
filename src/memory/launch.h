/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a program that waits at its first instruction's door until the observer is ready, and learning how it ends.
 */
#ifndef LMI_LAUNCH_H
#define LMI_LAUNCH_H

#include <signal.h>
#include <sys/types.h>

#include "base/base.h"

typedef struct lmi_launch {
  pid_t pid;
  int gate;      /* written to: the child may go */
  int verdict;   /* read from: errno of a failed exec */
  int pid_fd;    /* readable once it ended; -1 on old kernels */
  int signal_fd; /* what was sent to us meanwhile */
  sigset_t mask_before;
} lmi_launch;

/* What the program starts with. Processors and memory policy are those of the calling thread. */
typedef struct lmi_launch_world {
  char *const *environment; /* NULL: ours */
  int output;               /* its standard output and error, with an empty standard input; -1: ours, all three */
} lmi_launch_world;

/* Forks; the child waits. Errors: SYSTEM. */
LAMINA_NODISCARD lamina_status lmi_launch_prepare(lamina_context *ctx, char *const argv[],
                                                  const lmi_launch_world *world, lmi_launch *launch);

/* Lets the child go. 0 when the program runs, else the errno value of exec. */
int lmi_launch_go(lmi_launch *launch);

/* Ends a child that was never let go. */
void lmi_launch_cancel(lmi_launch *launch);

/* Hands signals on, without waiting: SIGTERM and SIGHUP always, SIGINT and SIGQUIT only when a process sent them (the
 * terminal sends them to the program as well). */
void lmi_launch_forward_signals(const lmi_launch *launch);

/* Waits until it ended, a signal came for us, or `events` (may be NULL) have something; at most `milliseconds`. */
struct lmi_perf_set;
void lmi_launch_wait(const lmi_launch *launch, const struct lmi_perf_set *events, int milliseconds);

/* true once it ended; then *wait_status is filled. Does not wait. */
bool lmi_launch_has_ended(lmi_launch *launch, int *wait_status);

/* Gives back descriptors and the signal mask. */
void lmi_launch_close(lmi_launch *launch);

#endif
