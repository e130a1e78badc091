/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

static const double MOST_SECONDS = 60.0;

extern char **environ;

/* Waits, and ends what takes too long. */
static lamina_status wait_for(lamina_context *ctx, pid_t child, int *state)
{
  const double end = lmi_clock_seconds() + MOST_SECONDS;
  for (;;) {
    const pid_t done = waitpid(child, state, WNOHANG);
    if (done == child)
      return LAMINA_OK;
    if (done < 0 && errno != EINTR)
      return lmi_fail_errno(ctx, LAMINA_ERROR_SYSTEM, errno, "cannot wait for gnuplot");
    if (lmi_clock_seconds() > end) {
      kill(child, SIGKILL);
      waitpid(child, state, 0);
      return lmi_fail(ctx, LAMINA_ERROR_SYSTEM, "gnuplot was ended after %g s", MOST_SECONDS);
    }
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
}

/* The first line of what gnuplot said, without the blank ones. */
static lamina_status tell(lamina_context *ctx, int said, const char *script)
{
  char text[512] = {0};
  const ssize_t bytes = pread(said, text, sizeof text - 1, 0);
  const char *line = bytes > 0 ? text + strspn(text, " \n\t") : "";
  return lmi_fail(ctx, LAMINA_ERROR_SYSTEM, "gnuplot cannot draw %s: %.*s", script, (int)strcspn(line, "\n"), line);
}

static lamina_status spawn(lamina_context *ctx, const char *folder, const char *name, int said, pid_t *child)
{
  posix_spawn_file_actions_t actions;
  int failure = posix_spawn_file_actions_init(&actions);
  if (failure != 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_SYSTEM, failure, "cannot start gnuplot");
  posix_spawn_file_actions_addchdir_np(&actions, folder);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, said, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
  char program[] = "gnuplot", script[4096];
  snprintf(script, sizeof script, "./%s", name); // a name that begins with - is no option
  char *const arguments[] = {program, script, NULL};
  failure = posix_spawnp(child, program, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT)
    return lmi_fail(ctx, LAMINA_UNAVAILABLE, "gnuplot is not installed (Debian: gnuplot-nox)");
  if (failure != 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_SYSTEM, failure, "cannot start gnuplot");
  return LAMINA_OK;
}

static lamina_status run(lamina_context *ctx, const char *folder, const char *name, int said)
{
  pid_t child = 0;
  int state = 0;
  LMI_TRY(spawn(ctx, folder, name, said, &child));
  LMI_TRY(wait_for(ctx, child, &state));
  if (WIFEXITED(state) && WEXITSTATUS(state) == 127)
    return lmi_fail(ctx, LAMINA_UNAVAILABLE, "gnuplot is not installed (Debian: gnuplot-nox)");
  if (!WIFEXITED(state) || WEXITSTATUS(state) != 0)
    return tell(ctx, said, name);
  return LAMINA_OK;
}

lamina_status lmi_gnuplot_run(lamina_context *ctx, const char *script_path)
{
  char folder[4096] = ".";
  const char *slash = strrchr(script_path, '/');
  const char *name = slash != NULL ? slash + 1 : script_path;
  LMI_REQUIRE(ctx, strlen(script_path) < sizeof folder - 8, LAMINA_ERROR_ARGUMENT, "the name %.60s... is too long",
              script_path);
  if (slash != NULL)
    snprintf(folder, sizeof folder, "%.*s", slash == script_path ? 1 : (int)(slash - script_path), script_path);
  const int said = memfd_create("lamina-gnuplot", MFD_CLOEXEC);
  if (said < 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_SYSTEM, errno, "cannot listen to gnuplot");
  const lamina_status status = run(ctx, folder, name, said);
  close(said);
  return status;
}
