/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Counting one's own user mode needs perf_event_paranoid <= 2; some distributions add 3 and 4, which forbid even that.
 */
enum { PARANOID_LIMIT = 2 };

static int try_event(uint32_t type, uint64_t config)
{
  struct perf_event_attr attributes = {
    .type = type, .size = sizeof attributes, .config = config, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1};
  const long descriptor = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0)
    return errno;
  close((int)descriptor);
  return 0;
}

lmi_counter_trial lmi_counters_try(void)
{
  const lmi_counter_trial trial = {
    .hardware = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
    .software = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK),
  };
  return trial;
}

static lamina_counter_state state_of(const lamina_host *host, int error)
{
  if (error == LMI_COUNTER_NOT_TRIED)
    return LAMINA_COUNTERS_NOT_TRIED;
  if (error == 0)
    return LAMINA_COUNTERS_WORK;
  if (error != EPERM && error != EACCES)
    return LAMINA_COUNTERS_ABSENT;
  const bool is_forbidden = host->perf_event_paranoid > PARANOID_LIMIT && !host->has_perfmon;
  return is_forbidden ? LAMINA_COUNTERS_FORBIDDEN : LAMINA_COUNTERS_SANDBOXED;
}

static void explain_absent(lamina_host *host, int error)
{
  if (error == ENOSYS)
    snprintf(host->counters_reason, sizeof host->counters_reason, "this kernel has no perf_event_open");
  else
    snprintf(host->counters_reason, sizeof host->counters_reason, "no hardware counters%s (%s)",
             host->is_virtual ? ": this virtual machine does not pass them on" : "", strerror(error));
  snprintf(host->counters_fix, sizeof host->counters_fix,
           "measure here with 'record --source clock' or '--source trace'; for counters use the bare machine%s",
           host->is_virtual ? " or a guest with a virtual PMU" : "");
}

static void explain_sandbox(lamina_host *host)
{
  char paranoid[48] = "";
  if (host->perf_event_paranoid != LAMINA_HOST_UNKNOWN)
    snprintf(paranoid, sizeof paranoid, ", not perf_event_paranoid (%d)", host->perf_event_paranoid);
  snprintf(host->counters_reason, sizeof host->counters_reason,
           "perf_event_open is refused by a sandbox%s: seccomp mode %d, CAP_PERFMON %s", paranoid,
           host->seccomp == LAMINA_HOST_UNKNOWN ? -1 : host->seccomp, host->has_perfmon ? "set" : "not set (CapEff)");
  snprintf(host->counters_fix, sizeof host->counters_fix,
           "start the container with --cap-add PERFMON and a seccomp profile that allows perf_event_open");
}

void lmi_counters_judge(lamina_host *host, lmi_counter_trial trial)
{
  host->hardware_counters = state_of(host, trial.hardware);
  host->software_counters = state_of(host, trial.software);
  host->counters_reason[0] = host->counters_fix[0] = '\0';
  switch (host->hardware_counters) {
  case LAMINA_COUNTERS_WORK: break;
  case LAMINA_COUNTERS_ABSENT: explain_absent(host, trial.hardware); break;
  case LAMINA_COUNTERS_SANDBOXED: explain_sandbox(host); break;
  case LAMINA_COUNTERS_FORBIDDEN:
    snprintf(host->counters_reason, sizeof host->counters_reason,
             "kernel.perf_event_paranoid is %d; counting one's own programs needs %d or less, or CAP_PERFMON",
             host->perf_event_paranoid, PARANOID_LIMIT);
    snprintf(host->counters_fix, sizeof host->counters_fix,
             "as root: sysctl kernel.perf_event_paranoid=%d; until then 'record --source trace' works", PARANOID_LIMIT);
    break;
  case LAMINA_COUNTERS_NOT_TRIED:
    snprintf(host->counters_reason, sizeof host->counters_reason, "a recorded machine: counters cannot be tried");
    break;
  }
}

const char *lamina_counter_state_name(lamina_counter_state state)
{
  switch (state) {
#define STATE_NAME(name, value, text) \
  case name: return text;
    LAMINA_COUNTER_STATE_LIST(STATE_NAME)
  }
  return NULL;
}
