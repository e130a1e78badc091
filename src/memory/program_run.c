/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "program_run.h"

#include <lamina/record.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch.h"
#include "numa_maps.h"
#include "sysfs.h"

enum { WATCH_MILLISECONDS = 20, WAIT_MILLISECONDS = 1000, MOST_DEPTH = 64 };

bool lamina_find_program(const char *name, char *path, size_t size)
{
  if (strchr(name, '/') != NULL) {
    const int length = snprintf(path, size, "%s", name);
    return length > 0 && (size_t)length < size && access(path, X_OK) == 0;
  }
  const char *folder = getenv("PATH");
  while (folder != NULL && *folder != '\0') {
    const size_t length = strcspn(folder, ":");
    const int whole = snprintf(path, size, "%.*s/%s", (int)length, folder, name);
    if (length > 0 && whole > 0 && (size_t)whole < size && access(path, X_OK) == 0)
      return true;
    folder += length + (folder[length] == ':');
  }
  return false;
}

static lamina_status add_process(lamina_context *ctx, pid_t pid, int node, uint64_t *bytes, uint64_t *node_bytes)
{
  char path[64];
  lmi_text text = {0};
  const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  snprintf(path, sizeof path, "/proc/%d/numa_maps", (int)pid);
  LMI_TRY(lmi_sysfs_whole(ctx, "", path, &text));
  char *rest = text.data;
  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
    lmi_numa_mapping mapping;
    if (!lmi_numa_maps_line(line, page_bytes, &mapping))
      continue;
    *bytes += mapping.total_bytes;
    for (size_t i = 0; i < mapping.node_count; i++)
      if (mapping.nodes[i].node == node)
        *node_bytes += mapping.nodes[i].bytes;
  }
  lmi_text_free(ctx, &text);
  return LAMINA_OK;
}

/* Depth bounds the recursion: a tree that deep is nobody's program. */
static lamina_status add_tree(lamina_context *ctx, pid_t pid, int node, int depth, uint64_t sums[2])
{
  char path[64];
  LMI_TRY(add_process(ctx, pid, node, &sums[0], &sums[1]));
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = depth < MOST_DEPTH ? opendir(path) : NULL;
  if (tasks == NULL)
    return LAMINA_OK;
  lamina_status status = LAMINA_OK;
  for (const struct dirent *entry = readdir(tasks); entry != NULL && status == LAMINA_OK; entry = readdir(tasks)) {
    char children[4096];
    if (entry->d_name[0] == '.' ||
        !lmi_sysfs_text("", children, sizeof children, "/proc/%d/task/%s/children", (int)pid, entry->d_name))
      continue;
    char *at = children;
    for (long child = strtol(at, &at, 10); child > 0 && status == LAMINA_OK; child = strtol(at, &at, 10))
      status = add_tree(ctx, (pid_t)child, node, depth + 1, sums);
  }
  closedir(tasks);
  return status;
}

lamina_status lmi_tree_footprint(lamina_context *ctx, pid_t pid, int node, uint64_t *bytes, uint64_t *node_bytes)
{
  uint64_t sums[2] = {0, 0};
  const lamina_status status = add_tree(ctx, pid, node, 0, sums);
  *bytes = sums[0];
  *node_bytes = sums[1];
  return status;
}

static lamina_status watch(lamina_context *ctx, const lmi_program *program, pid_t pid, lmi_program_result *result)
{
  uint64_t bytes = 0, node_bytes = 0;
  LMI_TRY(lmi_tree_footprint(ctx, pid, program->watched_node, &bytes, &node_bytes));
  if (bytes > result->peak_bytes) {
    result->peak_bytes = bytes;
    result->peak_node_bytes = node_bytes;
  }
  return LAMINA_OK;
}

static lamina_status follow(lamina_context *ctx, const lmi_program *program, lmi_launch *launch,
                            lmi_program_result *result)
{
  int wait_status = 0;
  lamina_status status = LAMINA_OK;
  while (!lmi_launch_has_ended(launch, &wait_status)) {
    lmi_launch_wait(launch, NULL, program->is_watched ? WATCH_MILLISECONDS : WAIT_MILLISECONDS);
    lmi_launch_forward_signals(launch);
    if (program->is_watched && status == LAMINA_OK)
      status = watch(ctx, program, launch->pid, result);
  }
  result->signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  result->exit_code = WIFSIGNALED(wait_status) ? 128 + result->signal : WEXITSTATUS(wait_status);
  return status;
}

/* Our environment with the place of the marks. */
static lamina_status make_environment(lamina_context *ctx, const char *phases, lmi_text *assignment,
                                      char ***environment)
{
  static const char name[] = "LAMINA_PHASES=";
  size_t count = 0, used = 0;
  if (phases == NULL)
    return LAMINA_OK;
  while (environ[count] != NULL)
    count++;
  LMI_TRY(lmi_text_append(ctx, assignment, "%s%s", name, phases));
  LMI_TRY(LMI_ALLOC(ctx, count + 2, environment));
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], name, strlen(name)) != 0)
      (*environment)[used++] = environ[i];
  (*environment)[used] = assignment->data;
  return LAMINA_OK;
}

lamina_status lmi_program_run(lamina_context *ctx, const lmi_program *program, lmi_program_result *result)
{
  lmi_launch launch;
  lmi_text assignment = {0};
  char **environment = NULL;
  lamina_status status = LAMINA_OK;
  *result = (lmi_program_result){0};
  LMI_TRY_GOTO(status, make_environment(ctx, program->phases, &assignment, &environment), cleanup);
  const lmi_launch_world world = {.environment = environment, .output = program->output};
  LMI_TRY_GOTO(status, lmi_launch_prepare(ctx, program->argv, &world, &launch), cleanup);
  const double start = lmi_clock_seconds();
  const int error_number = lmi_launch_go(&launch);
  if (error_number != 0)
    snprintf(result->start_error, sizeof result->start_error, "%s: %s", program->argv[0], strerror(error_number));
  status = follow(ctx, program, &launch, result);
  result->seconds = lmi_clock_seconds() - start;
  lmi_launch_close(&launch);
cleanup:
  lmi_free(ctx, environment);
  lmi_text_free(ctx, &assignment);
  return status;
}
