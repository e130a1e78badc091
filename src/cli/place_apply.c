/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "place_apply.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, EXEC_FAILED = 127 };

/* Where things are while the program runs. */
typedef struct apply {
  lmi_call *call;
  char plan[PATH_BYTES], folder[64];
  const char *library;
} apply;

static lamina_status find_library(apply *work)
{
  static const char *const places[] = {LMI_PLACE_BUILT, LMI_PLACE_INSTALLED};
  for (size_t i = 0; i < LMI_COUNT(places) && work->library == NULL; i++)
    if (access(places[i], R_OK) == 0)
      work->library = places[i];
  LMI_REQUIRE(work->call->ctx, work->library != NULL, LAMINA_UNAVAILABLE,
              "the placing library is neither at %s nor at %s: build or install lamina whole", places[0], places[1]);
  return LAMINA_OK;
}

/* The program would only whisper it: the plan is looked at here. */
static lamina_status check_plan(apply *work, const char *path)
{
  lamina_context *ctx = work->call->ctx;
  char first[32] = "";
  if (realpath(path, work->plan) == NULL)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s", path);
  FILE *file = fopen(work->plan, "r");
  if (file == NULL)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s", path);
  const bool is_plan = fgets(first, sizeof first, file) != NULL && strcmp(first, "lamina-plan 1\n") == 0;
  char last[8] = "";
  const bool is_whole =
    fseek(file, -4, SEEK_END) == 0 && fgets(last, sizeof last, file) != NULL && strcmp(last, "end\n") == 0;
  fclose(file);
  LMI_REQUIRE(ctx, is_plan, LAMINA_ERROR_CASE,
              "%s: not a plan of version 1 (its first line must be 'lamina-plan 1'); make one with "
              "'lamina place PROFILE --plan %s'",
              path, path);
  LMI_REQUIRE(ctx, is_whole, LAMINA_ERROR_CASE, "%s: truncated, its last line must be 'end': make the plan again",
              path);
  return LAMINA_OK;
}

/* In the child, behind fork. */
static _Noreturn void become_program(const apply *work)
{
  char preload[2 * PATH_BYTES], report[128];
  const char *others = getenv("LD_PRELOAD");
  snprintf(preload, sizeof preload, "%s%s%s", work->library, others != NULL ? ":" : "", others != NULL ? others : "");
  snprintf(report, sizeof report, "%s/report", work->folder);
  setenv("LD_PRELOAD", preload, 1);
  setenv("LAMINA_PLACE_PLAN", work->plan, 1);
  setenv("LAMINA_PLACE_REPORT", report, 1);
  execvp(work->call->program[0], work->call->program);
  fprintf(stderr, "lamina place: %s: %s\n", work->call->program[0], strerror(errno));
  _exit(EXEC_FAILED);
}

/* The terminal sends its signals to the program as well: the program decides. */
static lamina_status run_program(apply *work)
{
  int status = 0;
  void (*const interrupt)(int) = signal(SIGINT, SIG_IGN);
  void (*const quit)(int) = signal(SIGQUIT, SIG_IGN);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    become_program(work);
  }
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  signal(SIGINT, interrupt);
  signal(SIGQUIT, quit);
  if (child < 0)
    return lmi_fail_errno(work->call->ctx, LAMINA_ERROR_SYSTEM, errno, "the program cannot be started");
  work->call->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return LAMINA_OK;
}

/* ---- what was placed ---- */

/* "site BLOCKS BYTES FAST SLOW ... ELSEWHERE NAME"; true when it is a site that allocated nothing. */
static bool print_site(char *line)
{
  unsigned long long blocks, bytes, fast, slow, elsewhere;
  int name = 0;
  char size[32];
  if (sscanf(line, "site %llu %llu %llu %llu %llu %n", &blocks, &bytes, &fast, &slow, &elsewhere, &name) < 5 ||
      name == 0)
    return false;
  if (blocks == 0)
    return true;
  line[strcspn(line, "\n")] = '\0';
  fprintf(stderr, "  %10s in %llu blocks: %llu pages fast, %llu slow, %llu elsewhere  %s\n",
          lmi_format_bytes((double)bytes, size), blocks, fast, slow, elsewhere, line + name);
  return false;
}

static void print_denials(const char *line)
{
  unsigned long long calls;
  int number;
  if (sscanf(line, "denied %llu %d", &calls, &number) == 2 && calls > 0)
    fprintf(stderr,
            "lamina: placement not enforced: %llu calls refused (%s); does the plan name nodes of this machine?\n",
            calls, strerror(number));
}

static void print_report(const char *path)
{
  char text[512];
  int unmet = 0;
  FILE *file = fopen(path, "r");
  if (file == NULL)
    return;
  fprintf(stderr, "lamina: placed in process %s\n", strrchr(path, '.') + 1);
  while (fgets(text, sizeof text, file) != NULL) {
    if (strncmp(text, "error ", 6) == 0)
      fprintf(stderr, "lamina: the plan was not used: %s", text + 6);
    print_denials(text);
    unmet += print_site(text);
  }
  fclose(file);
  if (unmet > 0)
    fprintf(stderr,
            "  %d site%s of the plan allocated no block of a page or more here: left where the system puts them\n",
            unmet, unmet == 1 ? "" : "s");
}

static void take_reports(const apply *work)
{
  DIR *folder = opendir(work->folder);
  if (folder == NULL)
    return;
  for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    char path[512];
    if (strncmp(entry->d_name, "report.", 7) != 0)
      continue;
    snprintf(path, sizeof path, "%s/%s", work->folder, entry->d_name);
    print_report(path);
    unlink(path);
  }
  closedir(folder);
  rmdir(work->folder);
}

lamina_status lmi_place_apply(lmi_call *call, const char *plan)
{
  apply work = {.call = call, .folder = "/tmp/lamina-place-XXXXXX"};
  LMI_TRY(lmi_call_open(call, 1));
  LMI_TRY(check_plan(&work, plan));
  LMI_TRY(find_library(&work));
  if (mkdtemp(work.folder) == NULL)
    return lmi_fail_errno(call->ctx, LAMINA_ERROR_FILE, errno, "no folder can be made in /tmp");
  const lamina_status status = run_program(&work);
  take_reports(&work);
  return status;
}
