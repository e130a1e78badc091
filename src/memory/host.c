/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <lamina/host.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "counters.h"
#include "sysfs.h"

enum { CAP_BIT_SYS_ADMIN = 21, CAP_BIT_PERFMON = 38, MAX_INDEX = 16, MAX_GROUP_BYTES = 2048 };

/* The text behind "key<blanks>:" in a file of such lines, copied up to the end of the line. */
static bool line_value(const char *text, const char *key, char *value, size_t bytes)
{
  const size_t length = strlen(key);
  for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, key, length) != 0)
      continue;
    const char *at = line + length + strspn(line + length, " \t");
    if (*at != ':')
      continue;
    at += 1 + strspn(at + 1, " \t");
    snprintf(value, bytes, "%.*s", (int)strcspn(at, "\n"), at);
    return true;
  }
  return false;
}

/* True when `word` is one of the blank-separated words that follow `key` in cpuinfo. */
static bool has_flag(const char *cpuinfo, const char *word)
{
  const char *flags = strstr(cpuinfo, "\nflags");
  const char *end = flags != NULL ? strchr(flags + 1, '\n') : NULL;
  const size_t length = strlen(word);
  for (const char *at = flags; at != NULL && (at = strstr(at, word)) != NULL && (end == NULL || at < end); at += length)
    if (at[-1] == ' ' && (at[length] == ' ' || at[length] == '\n' || at[length] == '\0'))
      return true;
  return false;
}

static lamina_status read_processor(lamina_context *ctx, const char *root, lamina_host *host)
{
  lmi_text cpuinfo = {0};
  const lamina_status status = lmi_sysfs_whole(ctx, root, "/proc/cpuinfo", &cpuinfo);
  if (status == LAMINA_OK && cpuinfo.data != NULL) {
    if (!line_value(cpuinfo.data, "model name", host->processor, sizeof host->processor))
      line_value(cpuinfo.data, "Model", host->processor, sizeof host->processor);
    host->has_avx2 = has_flag(cpuinfo.data, "avx2");
    host->has_fma = has_flag(cpuinfo.data, "fma");
    host->has_avx512 = has_flag(cpuinfo.data, "avx512f");
    host->is_virtual = has_flag(cpuinfo.data, "hypervisor");
  }
  lmi_text_free(ctx, &cpuinfo);
  lmi_sysfs_text(root, host->kernel, sizeof host->kernel, "/proc/sys/kernel/osrelease");
  return status;
}

static uint64_t cache_bytes(const char *text)
{
  char *end = NULL;
  const uint64_t value = strtoull(text, &end, 10);
  return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

static void add_cache(lamina_host *host, const lamina_cache *found)
{
  for (int i = 0; i < host->cache_count; i++) {
    lamina_cache *known = &host->caches[i];
    if (known->level == found->level && known->bytes == found->bytes && strcmp(known->type, found->type) == 0) {
      known->count++;
      return;
    }
  }
  if (host->cache_count < LAMINA_MAX_CACHES)
    host->caches[host->cache_count++] = *found;
}

/* Counts each cache at the first processor that shares it. */
static void read_caches_of(const char *root, int cpu, lamina_host *host)
{
  for (int index = 0; index < MAX_INDEX; index++) {
    char folder[96], size[32], shared[256];
    lamina_cache cache = {.count = 1};
    int64_t level = 0;
    snprintf(folder, sizeof folder, "/sys/devices/system/cpu/cpu%d/cache/index%d", cpu, index);
    if (!lmi_sysfs_int64(root, &level, "%s/level", folder))
      return;
    if (!lmi_sysfs_text(root, size, sizeof size, "%s/size", folder) ||
        !lmi_sysfs_text(root, cache.type, sizeof cache.type, "%s/type", folder))
      continue;
    cache.level = (int)level;
    cache.bytes = cache_bytes(size);
    const bool is_known = lmi_sysfs_text(root, shared, sizeof shared, "%s/shared_cpu_list", folder);
    if (cache.bytes > 0 && (!is_known || shared[0] == '\0' || strtol(shared, NULL, 10) == cpu))
      add_cache(host, &cache);
  }
}

static lamina_status read_caches(lamina_context *ctx, const char *root, lamina_host *host)
{
  lmi_id_list online;
  LMI_TRY(lmi_id_list_read(ctx, root, "/sys/devices/system/cpu/online", &online));
  for (size_t i = 0; i < online.count; i++)
    read_caches_of(root, online.ids[i], host);
  lmi_id_list_free(ctx, &online);
  return LAMINA_OK;
}

static double smaller(double a, double b)
{
  return isnan(a) || b < a ? b : a;
}

/* "200000 100000": two processors' worth; "max 100000": no limit. */
static double quota_v2(const char *root, const char *folder)
{
  char text[64];
  double quota = 0, period = 0;
  if (!lmi_sysfs_text(root, text, sizeof text, "%s/cpu.max", folder))
    return NAN;
  char *blank = strchr(text, ' ');
  if (blank == NULL)
    return NAN;
  *blank = '\0';
  return lmi_parse_double(text, &quota) && lmi_parse_double(blank + 1, &period) && period > 0 ? quota / period : NAN;
}

static double quota_v1(const char *root, const char *folder)
{
  int64_t quota = -1, period = 0;
  if (!lmi_sysfs_int64(root, &quota, "%s/cpu.cfs_quota_us", folder) ||
      !lmi_sysfs_int64(root, &period, "%s/cpu.cfs_period_us", folder) || quota <= 0 || period <= 0)
    return NAN;
  return (double)quota / (double)period;
}

/* The tightest quota from the process's own cgroup up to the top. */
static double tightest_quota(const char *root, const char *mount, const char *group,
                             double (*read)(const char *root, const char *folder))
{
  char folder[MAX_GROUP_BYTES];
  const int written = snprintf(folder, sizeof folder, "%s%s", mount, strcmp(group, "/") == 0 ? "" : group);
  double tightest = NAN;
  if (written < 0 || (size_t)written >= sizeof folder)
    return tightest;
  for (;;) {
    tightest = smaller(tightest, read(root, folder));
    char *slash = strrchr(folder, '/');
    if (strlen(folder) <= strlen(mount) || slash == NULL)
      return tightest;
    *slash = '\0';
  }
}

/* One line of /proc/self/cgroup: "0::/group" for v2, "4:cpu,cpuacct:/group" for v1. */
static double quota_of_line(const char *root, char *line)
{
  char *names = strchr(line, ':');
  char *group = names != NULL ? strchr(names + 1, ':') : NULL;
  if (group == NULL)
    return NAN;
  *group++ = '\0';
  names++;
  if (names[0] == '\0')
    return tightest_quota(root, "/sys/fs/cgroup", group, quota_v2);
  for (char *rest = names, *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ","))
    if (strcmp(name, "cpu") == 0)
      return tightest_quota(root, "/sys/fs/cgroup/cpu", group, quota_v1);
  return NAN;
}

static lamina_status read_quota(lamina_context *ctx, const char *root, lamina_host *host)
{
  lmi_text groups = {0};
  const lamina_status status = lmi_sysfs_whole(ctx, root, "/proc/self/cgroup", &groups);
  if (status == LAMINA_OK && groups.data != NULL)
    for (char *rest = groups.data, *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n"))
      host->processor_quota = smaller(host->processor_quota, quota_of_line(root, line));
  lmi_text_free(ctx, &groups);
  return status;
}

static int read_int(const char *root, const char *path)
{
  int64_t value = 0;
  const bool is_read = lmi_sysfs_int64(root, &value, "%s", path);
  return is_read && value >= -1 && value <= 1000 ? (int)value : LAMINA_HOST_UNKNOWN;
}

static lamina_status read_permissions(lamina_context *ctx, const char *root, lamina_host *host)
{
  lmi_text self = {0};
  host->perf_event_paranoid = read_int(root, "/proc/sys/kernel/perf_event_paranoid");
  host->ptrace_scope = read_int(root, "/proc/sys/kernel/yama/ptrace_scope");
  const lamina_status status = lmi_sysfs_whole(ctx, root, "/proc/self/status", &self);
  if (status == LAMINA_OK && self.data != NULL) {
    char value[64];
    if (line_value(self.data, "Seccomp", value, sizeof value))
      host->seccomp = (int)strtol(value, NULL, 10);
    if (line_value(self.data, "CapEff", value, sizeof value)) {
      const uint64_t effective = strtoull(value, NULL, 16);
      host->has_perfmon = ((effective >> CAP_BIT_PERFMON) & 1) != 0 || ((effective >> CAP_BIT_SYS_ADMIN) & 1) != 0;
    }
  }
  lmi_text_free(ctx, &self);
  return status;
}

lamina_status lamina_host_read(lamina_context *context, const char *root, lamina_host *host)
{
  *host = (lamina_host){.processor_quota = NAN, .seccomp = LAMINA_HOST_UNKNOWN};
  LMI_TRY(read_processor(context, root, host));
  LMI_TRY(read_caches(context, root, host));
  LMI_TRY(read_quota(context, root, host));
  LMI_TRY(read_permissions(context, root, host));
  const lmi_counter_trial not_tried = {LMI_COUNTER_NOT_TRIED, LMI_COUNTER_NOT_TRIED};
  lmi_counters_judge(host, root == NULL ? lmi_counters_try() : not_tried);
  return LAMINA_OK;
}
