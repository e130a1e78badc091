/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "prefetch_switch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sysfs.h"

enum { REGISTER = 0x1a4, L2_PREFETCHERS_OFF = 3, PROCESSORS_MOST = 8192 };

/* "key : value" of the first processor in cpuinfo. */
static bool cpuinfo_has(const char *cpuinfo, const char *key, const char *value)
{
  const char *line = strstr(cpuinfo, key);
  const char *colon = line != NULL ? strchr(line, ':') : NULL;
  if (colon == NULL)
    return false;
  colon += strspn(colon, ": \t");
  const size_t length = strlen(value);
  return strncmp(colon, value, length) == 0 && (colon[length] == '\n' || colon[length] == '\0');
}

static lamina_status check_processor(lamina_context *ctx, const char *root)
{
  lmi_text cpuinfo = {0};
  LMI_TRY(lmi_sysfs_whole(ctx, root, "/proc/cpuinfo", &cpuinfo));
  const bool is_known = cpuinfo.data != NULL && cpuinfo_has(cpuinfo.data, "vendor_id", "GenuineIntel") &&
                        cpuinfo_has(cpuinfo.data, "cpu family", "6");
  lmi_text_free(ctx, &cpuinfo);
  LMI_REQUIRE(ctx, is_known, LAMINA_UNAVAILABLE,
              "how to switch the prefetchers of this processor is not known (MSR 0x1a4 is Intel's, family 6): use the "
              "model, --source trace");
  return LAMINA_OK;
}

static lamina_status open_register(lamina_context *ctx, const char *path, lmi_prefetch_register *opened)
{
  opened->file = open(path, O_RDWR | O_CLOEXEC);
  const int why = errno;
  if (opened->file >= 0 &&
      pread(opened->file, &opened->before, sizeof opened->before, REGISTER) == (ssize_t)sizeof opened->before)
    return LAMINA_OK;
  if (opened->file >= 0)
    close(opened->file);
  return lmi_fail(ctx, LAMINA_UNAVAILABLE,
                  "%s: %s; switching prefetchers needs root and the msr module (modprobe msr), and a system that lets "
                  "registers be written; or use the model, --source trace",
                  path, strerror(opened->file < 0 ? why : EIO));
}

/* Every processor that has a register; their numbers may have holes. */
static lamina_status open_registers(lamina_context *ctx, const char *root, lmi_prefetch_switch *prefetchers)
{
  char path[4096];
  lamina_status status = LAMINA_OK;
  snprintf(path, sizeof path, "%s/dev/cpu", root);
  DIR *folder = opendir(path);
  LMI_REQUIRE(ctx, folder != NULL, LAMINA_UNAVAILABLE,
              "%s is not there: switching prefetchers needs the msr module (modprobe msr) and root; or use the model, "
              "--source trace",
              path);
  for (const struct dirent *entry = readdir(folder); entry != NULL && status == LAMINA_OK; entry = readdir(folder)) {
    int64_t number;
    if (!lmi_parse_int64(entry->d_name, &number) || prefetchers->count == PROCESSORS_MOST)
      continue;
    snprintf(path, sizeof path, "%s/dev/cpu/%d/msr", root, (int)number);
    status = open_register(ctx, path, &prefetchers->registers[prefetchers->count]);
    prefetchers->count += status == LAMINA_OK;
  }
  closedir(folder);
  LMI_TRY(status);
  LMI_REQUIRE(ctx, prefetchers->count > 0, LAMINA_UNAVAILABLE,
              "%s/dev/cpu has no processor: switching prefetchers needs the msr module (modprobe msr)", root);
  return LAMINA_OK;
}

static void restore(const lmi_prefetch_switch *prefetchers)
{
  for (size_t i = 0; i < prefetchers->count; i++) {
    const lmi_prefetch_register *one = &prefetchers->registers[i];
    const ssize_t written = pwrite(one->file, &one->before, sizeof one->before, REGISTER);
    (void)written; /* nothing better can be done */
  }
}

/* In the guardian: deaf to what ends the others, until the lifeline breaks. */
static _Noreturn void guard(const lmi_prefetch_switch *prefetchers, int broken)
{
  char byte;
  setsid();
  for (int number = 1; number < NSIG; number++)
    signal(number, SIG_IGN);
  prctl(PR_SET_NAME, "lamina-guardian");
  while (read(broken, &byte, 1) < 0 && errno == EINTR)
    ;
  restore(prefetchers);
  _exit(0);
}

static lamina_status start_guardian(lamina_context *ctx, lmi_prefetch_switch *prefetchers)
{
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_SYSTEM, errno, "no pipe for the guardian of the prefetchers");
  prefetchers->guardian = fork();
  if (prefetchers->guardian == 0) {
    close(ends[1]);
    guard(prefetchers, ends[0]);
  }
  close(ends[0]);
  prefetchers->lifeline = ends[1];
  if (prefetchers->guardian > 0)
    return LAMINA_OK;
  close(ends[1]);
  prefetchers->lifeline = -1;
  return lmi_fail_errno(ctx, LAMINA_ERROR_SYSTEM, errno, "the guardian of the prefetchers cannot be started");
}

static lamina_status switch_off(lamina_context *ctx, const lmi_prefetch_switch *prefetchers)
{
  for (size_t i = 0; i < prefetchers->count; i++) {
    const uint64_t value = prefetchers->registers[i].before | L2_PREFETCHERS_OFF;
    uint64_t found = 0;
    if (pwrite(prefetchers->registers[i].file, &value, sizeof value, REGISTER) != (ssize_t)sizeof value ||
        pread(prefetchers->registers[i].file, &found, sizeof found, REGISTER) != (ssize_t)sizeof found ||
        found != value)
      return lmi_fail(
        ctx, LAMINA_UNAVAILABLE,
        "the system does not let MSR 0x1a4 be written (locked down, or a virtual machine): use the model, "
        "--source trace");
  }
  return LAMINA_OK;
}

lamina_status lmi_prefetch_switch_open(lamina_context *ctx, const char *root, lmi_prefetch_switch *prefetchers)
{
  *prefetchers = (lmi_prefetch_switch){.lifeline = -1};
  root = root != NULL ? root : "";
  LMI_TRY(check_processor(ctx, root));
  LMI_TRY(LMI_ALLOC(ctx, PROCESSORS_MOST, &prefetchers->registers));
  lamina_status status = open_registers(ctx, root, prefetchers);
  if (status == LAMINA_OK)
    status = start_guardian(ctx, prefetchers);
  if (status == LAMINA_OK)
    status = switch_off(ctx, prefetchers);
  if (status != LAMINA_OK)
    lmi_prefetch_switch_close(ctx, prefetchers);
  return status;
}

void lmi_prefetch_switch_close(lamina_context *ctx, lmi_prefetch_switch *prefetchers)
{
  if (prefetchers->registers == NULL)
    return;
  if (prefetchers->guardian > 0) {
    restore(prefetchers);
    close(prefetchers->lifeline);
    while (waitpid(prefetchers->guardian, NULL, 0) < 0 && errno == EINTR)
      ;
  }
  for (size_t i = 0; i < prefetchers->count; i++)
    close(prefetchers->registers[i].file);
  lmi_free(ctx, prefetchers->registers);
  *prefetchers = (lmi_prefetch_switch){.lifeline = -1};
}
