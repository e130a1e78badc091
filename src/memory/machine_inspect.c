/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "limits.h"
#include "machine_internal.h"
#include "sysfs.h"

lamina_status lmi_machine_remark(lamina_context *ctx, lamina_machine *machine, const char *format, ...)
{
  char sentence[512];
  char **grown = NULL;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  LMI_TRY(LMI_ALLOC(ctx, machine->remark_count + 1, &grown));
  if (machine->remark_count > 0)
    memcpy(grown, machine->remarks, machine->remark_count * sizeof *grown);
  lmi_free(ctx, machine->remarks);
  machine->remarks = grown;
  LMI_TRY(lmi_string_copy(ctx, sentence, &grown[machine->remark_count]));
  machine->remark_count++;
  return LAMINA_OK;
}

/* "model name : X" on x86, "Processor" or "CPU part" elsewhere: the first that is there. */
static void read_processor_name(const char *text, char *name, size_t size)
{
  static const char *const keys[] = {"model name", "Processor", "cpu\t", "uarch"};
  for (size_t i = 0; i < LMI_COUNT(keys); i++) {
    const char *line = strstr(text, keys[i]);
    const char *colon = line != NULL ? strchr(line, ':') : NULL;
    if (colon == NULL)
      continue;
    colon += strspn(colon, ": \t");
    snprintf(name, size, "%.*s", (int)strcspn(colon, "\n"), colon);
    return;
  }
}

static lamina_status count_list(lamina_context *ctx, const char *root, const char *path, int *count)
{
  lmi_id_list list = {0};
  LMI_TRY(lmi_id_list_read(ctx, root, path, &list));
  *count = (int)list.count;
  lmi_id_list_free(ctx, &list);
  return LAMINA_OK;
}

/* Processors that are possible or present but not on line, as a list of ids. */
static lamina_status list_offline(lamina_context *ctx, const char *root, lamina_machine *machine)
{
  lmi_id_list present = {0}, online = {0};
  LMI_TRY(lmi_id_list_read(ctx, root, "/sys/devices/system/cpu/present", &present));
  lamina_status status = lmi_id_list_read(ctx, root, "/sys/devices/system/cpu/online", &online);
  size_t used = 0;
  for (size_t i = 0; status == LAMINA_OK && i < present.count; i++) {
    if (lmi_id_list_has(&online, present.ids[i]) || used + 12 >= sizeof machine->offline)
      continue;
    used += (size_t)snprintf(machine->offline + used, sizeof machine->offline - used, "%s%d", used > 0 ? "," : "",
                             present.ids[i]);
  }
  lmi_id_list_free(ctx, &present);
  lmi_id_list_free(ctx, &online);
  return status;
}

static lamina_status count_allowed(lamina_context *ctx, const char *root, lamina_machine *machine)
{
  lmi_text text = {0};
  lmi_id_list list = {0};
  machine->processors_allowed = machine->processors_online;
  LMI_TRY(lmi_sysfs_whole(ctx, root, "/proc/self/status", &text));
  char *line = text.data != NULL ? strstr(text.data, "Cpus_allowed_list:") : NULL;
  lamina_status status = LAMINA_OK;
  if (line != NULL) {
    line += strlen("Cpus_allowed_list:");
    line[strcspn(line, "\n")] = '\0';
    status = lmi_id_list_parse(ctx, line, &list);
    if (status == LAMINA_OK && list.count > 0)
      machine->processors_allowed = (int)list.count;
  }
  lmi_id_list_free(ctx, &list);
  lmi_text_free(ctx, &text);
  return status;
}

static lamina_status read_processors(lamina_context *ctx, const char *root, lamina_machine *machine)
{
  lmi_text text = {0};
  LMI_TRY(count_list(ctx, root, "/sys/devices/system/cpu/possible", &machine->processors_possible));
  LMI_TRY(count_list(ctx, root, "/sys/devices/system/cpu/online", &machine->processors_online));
  if (machine->processors_online == 0 && root[0] == '\0')
    machine->processors_online = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (machine->processors_possible == 0)
    machine->processors_possible = machine->processors_online;
  LMI_TRY(list_offline(ctx, root, machine));
  LMI_TRY(count_allowed(ctx, root, machine));
  const lamina_status status = lmi_sysfs_whole(ctx, root, "/proc/cpuinfo", &text);
  if (text.data != NULL)
    read_processor_name(text.data, machine->processor, sizeof machine->processor);
  lmi_text_free(ctx, &text);
  LMI_TRY(status);
  return lmi_last_level_cache_bytes(ctx, root, &machine->last_level_cache_bytes);
}

static lamina_status read_memory(lamina_context *ctx, const char *root, lamina_machine *machine)
{
  lmi_memory_limits limits;
  LMI_TRY(lmi_memory_limits_read(ctx, root, &limits));
  LMI_REQUIRE(ctx, limits.total_bytes > 0, LAMINA_ERROR_FILE, "%s/proc/meminfo cannot be read; is /proc mounted?",
              root);
  machine->total_bytes = limits.total_bytes;
  machine->available_bytes = limits.available_bytes;
  machine->limit_bytes = limits.limit_bytes;
  snprintf(machine->limit_ruled_by, sizeof machine->limit_ruled_by, "%s", limits.ruled_by);
  return LAMINA_OK;
}

/* The base page of a recorded machine stands in its smaps; 4 KiB is never assumed for a live one. */
static lamina_status read_page_size(lamina_context *ctx, const char *root, lamina_machine *machine)
{
  lmi_text text = {0};
  machine->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  if (root[0] == '\0')
    return LAMINA_OK;
  LMI_TRY(lmi_sysfs_whole(ctx, root, "/proc/self/smaps", &text));
  const char *line = text.data != NULL ? strstr(text.data, "MMUPageSize:") : NULL;
  if (line != NULL)
    machine->page_bytes = strtoull(line + strlen("MMUPageSize:"), NULL, 10) * 1024;
  lmi_text_free(ctx, &text);
  return LAMINA_OK;
}

/* Settings that move pages behind a measurement's back. */
static lamina_status read_switches(lamina_context *ctx, const char *root, lamina_machine *machine)
{
  char text[64];
  int64_t number = -1;
  machine->numa_balancing = lmi_sysfs_int64(root, &number, "/proc/sys/kernel/numa_balancing") ? (int)number : -1;
  machine->demotion = -1;
  if (lmi_sysfs_text(root, text, sizeof text, "/sys/kernel/mm/numa/demotion_enabled"))
    machine->demotion = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
  if (lmi_sysfs_text(root, text, sizeof text, "/sys/kernel/mm/transparent_hugepage/enabled")) {
    const char *chosen = strchr(text, '[');
    if (chosen != NULL)
      snprintf(machine->huge_pages, sizeof machine->huge_pages, "%.*s", (int)strcspn(chosen + 1, "]"), chosen + 1);
  }
  if (machine->numa_balancing > 0 && machine->node_count > 1)
    LMI_TRY(lmi_machine_remark(ctx, machine, "numa_balancing is %d: the kernel moves pages between nodes by itself",
                               machine->numa_balancing));
  return LAMINA_OK;
}

/* Memory that was plugged in later is missing in the nodes' own files on some virtual machines. */
static lamina_status compare_totals(lamina_context *ctx, lamina_machine *machine)
{
  uint64_t sum = 0;
  char nodes[32], host[32];
  for (size_t i = 0; i < machine->node_count; i++)
    sum += machine->nodes[i].capacity_bytes;
  const uint64_t total = machine->total_bytes;
  const uint64_t difference = sum > total ? sum - total : total - sum;
  if (difference <= total / 8)
    return LAMINA_OK;
  return lmi_machine_remark(ctx, machine, "the nodes state %s in all, the host %s: do not trust the nodes' capacities",
                            lmi_format_bytes((double)sum, nodes), lmi_format_bytes((double)total, host));
}

lamina_status lamina_machine_inspect(lamina_context *ctx, const char *root, lamina_machine **machine)
{
  *machine = NULL;
  lamina_machine *made = NULL;
  if (root == NULL)
    root = "";
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 1, &made), cleanup);
  made->limit_bytes = UINT64_MAX;
  lmi_sysfs_text(root, made->host, sizeof made->host, "/proc/sys/kernel/hostname");
  LMI_TRY_GOTO(status, read_processors(ctx, root, made), cleanup);
  LMI_TRY_GOTO(status, read_memory(ctx, root, made), cleanup);
  LMI_TRY_GOTO(status, read_page_size(ctx, root, made), cleanup);
  LMI_TRY_GOTO(status, lmi_nodes_read(ctx, root, made), cleanup);
  LMI_TRY_GOTO(status, read_switches(ctx, root, made), cleanup);
  LMI_TRY_GOTO(status, compare_totals(ctx, made), cleanup);
  LMI_TRY_GOTO(status, lmi_tiers_assign(ctx, made), cleanup);
  *machine = made;
cleanup:
  if (status != LAMINA_OK)
    lamina_machine_destroy(ctx, made);
  return status;
}

const lamina_node *lamina_machine_node(const lamina_machine *machine, int id)
{
  for (size_t i = 0; i < machine->node_count; i++)
    if (machine->nodes[i].id == id)
      return &machine->nodes[i];
  return NULL;
}

void lamina_machine_destroy(lamina_context *ctx, lamina_machine *machine)
{
  if (machine == NULL)
    return;
  for (size_t i = 0; i < machine->remark_count; i++)
    lmi_free(ctx, machine->remarks[i]);
  lmi_free(ctx, machine->remarks);
  lmi_free(ctx, machine->nodes);
  lmi_free(ctx, machine->distances);
  lmi_free(ctx, machine->tiers);
  lmi_free(ctx, machine->bandwidth);
  lmi_free(ctx, machine->latency);
  lmi_free(ctx, machine->flops);
  lmi_free(ctx, machine->accelerators);
  lmi_free(ctx, machine);
}
