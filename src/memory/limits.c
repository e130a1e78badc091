/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sysfs.h"

/* Kernels write "no limit" of cgroup v1 as the largest multiple of the page size: anything near 2^63. */
static const uint64_t NO_LIMIT_V1 = (uint64_t)1 << 62;

static uint64_t meminfo_bytes(const char *text, const char *key)
{
  const char *line = strstr(text, key);
  return line != NULL ? strtoull(line + strlen(key), NULL, 10) * 1024 : 0;
}

/* One cgroup: its limit and what is left below it. A limit of 0 or "max" does not count. */
static void apply_cgroup(const char *root, const char *folder, bool v2, lmi_memory_limits *limits)
{
  char text[64];
  const char *limit_name = v2 ? "memory.max" : "memory.limit_in_bytes";
  const char *used_name = v2 ? "memory.current" : "memory.usage_in_bytes";
  if (!lmi_sysfs_text(root, text, sizeof text, "%s/%s", folder, limit_name))
    return;
  char *end = NULL;
  const uint64_t limit = strtoull(text, &end, 10);
  if (end == text || limit == 0 || limit >= NO_LIMIT_V1)
    return;
  int64_t used = 0;
  if (!lmi_sysfs_int64(root, &used, "%s/%s", folder, used_name) || used < 0)
    used = 0;
  const uint64_t left = (uint64_t)used < limit ? limit - (uint64_t)used : 0;
  if (limit < limits->limit_bytes)
    limits->limit_bytes = limit;
  if (left < limits->available_bytes) {
    limits->available_bytes = left;
    limits->ruled_by = v2 ? "cgroup v2" : "cgroup v1";
  }
}

/* From the process's own cgroup up to the top: every ancestor limits. */
static void apply_ancestors(const char *root, const char *mount, const char *group, bool v2, lmi_memory_limits *limits)
{
  char folder[2048];
  const int written = snprintf(folder, sizeof folder, "%s%s", mount, group);
  if (written < 0 || (size_t)written >= sizeof folder)
    return;
  const size_t top = strlen(mount);
  while (strlen(folder) > top) {
    apply_cgroup(root, folder, v2, limits);
    char *slash = strrchr(folder + top, '/');
    if (slash == NULL)
      break;
    *slash = '\0';
  }
  apply_cgroup(root, mount, v2, limits);
}

static void apply_cgroups(const char *root, char *text, lmi_memory_limits *limits)
{
  char *rest = text;
  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
    char *names = strchr(line, ':');
    char *group = names != NULL ? strchr(names + 1, ':') : NULL;
    if (group == NULL)
      continue;
    *group++ = '\0';
    names++;
    if (names[0] == '\0') {
      apply_ancestors(root, "/sys/fs/cgroup", group, true, limits);
      apply_ancestors(root, "/sys/fs/cgroup/unified", group, true, limits);
    } else if (strstr(names, "memory") != NULL) {
      apply_ancestors(root, "/sys/fs/cgroup/memory", group, false, limits);
    }
  }
}

lamina_status lmi_memory_limits_read(lamina_context *ctx, const char *root, lmi_memory_limits *limits)
{
  *limits = (lmi_memory_limits){.limit_bytes = UINT64_MAX, .ruled_by = "host"};
  lmi_text meminfo = {0}, groups = {0};
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lmi_sysfs_whole(ctx, root, "/proc/meminfo", &meminfo), cleanup);
  if (meminfo.data == NULL)
    goto cleanup;
  limits->total_bytes = meminfo_bytes(meminfo.data, "MemTotal:");
  limits->available_bytes = meminfo_bytes(meminfo.data, "MemAvailable:");
  LMI_TRY_GOTO(status, lmi_sysfs_whole(ctx, root, "/proc/self/cgroup", &groups), cleanup);
  if (groups.data != NULL)
    apply_cgroups(root, groups.data, limits);
cleanup:
  lmi_text_free(ctx, &meminfo);
  lmi_text_free(ctx, &groups);
  return status;
}

static uint64_t parse_cache_size(const char *text)
{
  char *end = NULL;
  const uint64_t value = strtoull(text, &end, 10);
  return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

/* The largest level of one processor, counted only by the first processor that shares it. */
static uint64_t last_level_of(const char *root, int cpu)
{
  int64_t best_level = 0;
  uint64_t bytes = 0;
  for (int index = 0; index < 16; index++) {
    char type[32], size[32], shared[256];
    int64_t level = 0;
    if (!lmi_sysfs_int64(root, &level, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, index))
      break;
    if (level <= best_level ||
        !lmi_sysfs_text(root, type, sizeof type, "/sys/devices/system/cpu/cpu%d/cache/index%d/type", cpu, index) ||
        strcmp(type, "Instruction") == 0 ||
        !lmi_sysfs_text(root, size, sizeof size, "/sys/devices/system/cpu/cpu%d/cache/index%d/size", cpu, index))
      continue;
    best_level = level;
    bytes = parse_cache_size(size);
    if (lmi_sysfs_text(root, shared, sizeof shared, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu,
                       index) &&
        shared[0] != '\0' && strtol(shared, NULL, 10) != cpu)
      bytes = 0;
  }
  return bytes;
}

lamina_status lmi_last_level_cache_bytes(lamina_context *ctx, const char *root, uint64_t *bytes)
{
  *bytes = 0;
  lmi_id_list online;
  LMI_TRY(lmi_id_list_read(ctx, root, "/sys/devices/system/cpu/online", &online));
  for (size_t i = 0; i < online.count; i++)
    *bytes += last_level_of(root, online.ids[i]);
  lmi_id_list_free(ctx, &online);
  return LAMINA_OK;
}
