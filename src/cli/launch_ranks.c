/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "launch_ranks.h"

#include <stdlib.h>
#include <time.h>

#include "base/ranks.h"

/* Seconds a rank that failed waits for the others: they come at once when they failed alike, and never while they wait
 * for a message of it. */
static const double PATIENCE = 8.0;

/* Before ranks are joined nobody can be met, and a launcher ends all as soon as one has failed: the first rank, which
 * speaks, gets this much time to do so. */
static const struct timespec HEAD_START = {.tv_sec = 2};

/* A number that a launcher puts into the environment; -1 when none of these is there. */
static int64_t launcher_number(const char *const *names)
{
  int64_t value = 0;
  for (; *names != NULL; names++) {
    const char *text = getenv(*names);
    if (text != NULL && lmi_parse_int64(text, &value))
      return value;
  }
  return -1;
}

/* Open MPI, MPICH and Intel MPI (Hydra). A process that Slurm started without mpirun has the numbers of its PMI. */
static int64_t launched_count(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
  return launcher_number(names);
}

static int64_t launched_rank(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", NULL};
  return launcher_number(names);
}

bool lmi_is_follower(const lmi_call *call)
{
  return (call->command->flags & LMI_TAKES_RANKS) != 0 && launched_rank() > 0;
}

lamina_status lmi_call_join_ranks(lmi_call *call)
{
  if ((call->command->flags & LMI_TAKES_RANKS) == 0 || (launched_count() < 0 && launched_rank() < 0))
    return LAMINA_OK;
  if (launched_count() == 1)
    return LAMINA_OK;
  lamina_ranks_options options = lamina_ranks_options_default();
  options.starts_mpi = true;
  const lamina_status status = lamina_ranks_join(call->ctx, &options);
  if (status == LAMINA_UNAVAILABLE)
    return lmi_fail_within(call->ctx, status, "started by mpirun as one of several ranks");
  return status;
}

bool lmi_call_meet_ranks(lmi_call *call, lamina_status status, bool *speaks)
{
  *speaks = !lmi_is_follower(call);
  if (call->ctx == NULL || lamina_rank_count(call->ctx) == 1) {
    if (status != LAMINA_OK && lmi_is_follower(call))
      nanosleep(&HEAD_START, NULL);
    return true;
  }
  const bool came = lmi_ranks_meet_at_end(call->ctx, status, PATIENCE, speaks);
  if (!came)
    *speaks = true;
  return came;
}

void lmi_call_end_ranks(lmi_call *call, int exit_code)
{
  fflush(stdout);
  fflush(stderr);
  lmi_ranks_end_all(call->ctx, exit_code);
}
