/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "traced.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

traced_run traced;

int traced_close(void **state)
{
  (void)state;
  lamina_profile_destroy(traced.profile);
  lamina_context_destroy(traced.ctx);
  traced = (traced_run){0};
  return 0;
}

int traced_plain(char **argv, const char *variable, const char *value)
{
  int status = 0;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (variable != NULL)
      setenv(variable, value, 1);
    if (freopen("out", "w", stdout) == NULL || freopen("err", "w", stderr) == NULL)
      _exit(99);
    execvp(argv[0], argv);
    _exit(127);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

void traced_with(lmi_trace_options options, char **command)
{
  char reason[512], here[4000], folder[4096];
  lmi_trace_launch launch;
  if (!lmi_trace_is_available(reason, sizeof reason))
    LMI_SKIP("%s", reason);
  assert_non_null(getcwd(here, sizeof here));
  snprintf(folder, sizeof folder, "%s/run-XXXXXX", here); /* an earlier test may have left profiles here */
  assert_non_null(mkdtemp(folder));
  options.folder = folder;
  assert_int_equal(lamina_context_create(NULL, &traced.ctx), LAMINA_OK);
  assert_int_equal(lmi_trace_prepare(traced.ctx, &options, command, &launch), LAMINA_OK);
  traced.wait_status = traced_plain(launch.argv, launch.variable, launch.value);
  lmi_trace_launch_free(traced.ctx, &launch);
  if (lamina_profile_read(traced.ctx, folder, &traced.profile) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(traced.ctx));
}

void traced_command(char **command)
{
  traced_with((lmi_trace_options){.l1 = "32K,8", .l2 = "256K,8", .llc = "1M,16"}, command);
}

void traced_target(const char *word)
{
  char *command[] = {LMI_TRACE_TARGET, (char *)(uintptr_t)word, NULL};
  traced_command(command);
}

const lamina_counts *traced_phase(const char *name)
{
  size_t count;
  const lamina_profile_phase *phases = lamina_profile_phases(traced.profile, &count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(phases[i].name, name) == 0)
      return &phases[i].counts;
  fail_msg("no phase %s", name);
  return NULL;
}

const lamina_profile_object *traced_object(const char *part)
{
  size_t count;
  const lamina_profile_object *objects = lamina_profile_objects(traced.profile, &count);
  for (size_t i = 0; i < count; i++)
    if (strstr(objects[i].name, part) != NULL)
      return &objects[i];
  fail_msg("no object %s", part);
  return NULL;
}

void traced_assert_within(uint64_t value, uint64_t expected, double share)
{
  if (fabs((double)value - (double)expected) > share * (double)expected)
    fail_msg("%llu, expected %llu within %g", (unsigned long long)value, (unsigned long long)expected, share);
}
