/* SPDX-License-Identifier: Apache-2.0 */
/* NUMA nodes as /sys/devices/system/node shows them. Lists are parsed, never counted: ids may start at 4 and have
 * holes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine_internal.h"
#include "sysfs.h"

#define NODE_FOLDER "/sys/devices/system/node"
#define TIERING_FOLDER "/sys/devices/virtual/memory_tiering"

enum { LARGEST_KERNEL_TIER = 1024 };

/* "Node 3 MemTotal:   1024 kB": the number behind the key. */
static uint64_t node_meminfo(const char *text, const char *key)
{
  const char *at = strstr(text, key);
  return at != NULL ? strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

/* Reserved huge pages of every size the node offers. */
static uint64_t huge_page_bytes(const char *root, int id)
{
  char folder[4096];
  uint64_t bytes = 0;
  snprintf(folder, sizeof folder, "%s" NODE_FOLDER "/node%d/hugepages", root, id);
  DIR *open = opendir(folder);
  if (open == NULL)
    return 0;
  for (const struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
    unsigned long long kib = 0;
    int64_t pages = 0;
    if (sscanf(entry->d_name, "hugepages-%llukB", &kib) == 1 &&
        lmi_sysfs_int64(root, &pages, NODE_FOLDER "/node%d/hugepages/%s/nr_hugepages", id, entry->d_name) && pages > 0)
      bytes += (uint64_t)pages * kib * 1024;
  }
  closedir(open);
  return bytes;
}

static double firmware_number(const char *root, int id, const char *name)
{
  int64_t value = 0;
  if (lmi_sysfs_int64(root, &value, NODE_FOLDER "/node%d/access0/initiators/%s", id, name) && value > 0)
    return (double)value;
  return NAN;
}

static lamina_status read_node(lamina_context *ctx, const char *root, int id, lamina_node *node)
{
  char path[96];
  lmi_text meminfo = {0};
  lmi_id_list processors = {0}, online = {0};
  *node = (lamina_node){.id = id, .tier = -1, .kernel_tier = -1, .nearest_memory_node = -1, .allowed = true};
  node->latency_ns = firmware_number(root, id, "read_latency");
  node->gb_per_s = 1e-3 * firmware_number(root, id, "read_bandwidth"); /* the file is in MB/s */
  node->huge_page_bytes = huge_page_bytes(root, id);

  lamina_status status = LAMINA_OK;
  snprintf(path, sizeof path, NODE_FOLDER "/node%d/meminfo", id);
  LMI_TRY_GOTO(status, lmi_sysfs_whole(ctx, root, path, &meminfo), cleanup);
  if (meminfo.data != NULL) {
    node->capacity_bytes = node_meminfo(meminfo.data, "MemTotal:");
    node->free_bytes = node_meminfo(meminfo.data, "MemFree:");
  }
  snprintf(path, sizeof path, NODE_FOLDER "/node%d/cpulist", id);
  LMI_TRY_GOTO(status, lmi_id_list_read(ctx, root, path, &processors), cleanup);
  LMI_TRY_GOTO(status, lmi_id_list_read(ctx, root, "/sys/devices/system/cpu/online", &online), cleanup);
  for (size_t i = 0; i < processors.count; i++)
    node->processors += online.count == 0 || lmi_id_list_has(&online, processors.ids[i]);
cleanup:
  lmi_text_free(ctx, &meminfo);
  lmi_id_list_free(ctx, &processors);
  lmi_id_list_free(ctx, &online);
  return status;
}

/* A row of SLIT has one number for each node on line, in rising order of id. */
static lamina_status read_distances(lamina_context *ctx, const char *root, lamina_machine *machine)
{
  const size_t n = machine->node_count;
  LMI_TRY(LMI_ALLOC(ctx, n * n, &machine->distances));
  bool odd = false;
  for (size_t i = 0; i < n; i++) {
    char path[96];
    lmi_text text = {0};
    snprintf(path, sizeof path, NODE_FOLDER "/node%d/distance", machine->nodes[i].id);
    const lamina_status status = lmi_sysfs_whole(ctx, root, path, &text);
    char *at = text.data;
    size_t count = 0;
    for (char *end = at; at != NULL; at = end, count++) {
      const long value = strtol(at, &end, 10);
      if (end == at)
        break;
      if (count < n)
        machine->distances[i * n + count] = (int)value;
    }
    if (count != n) {
      odd = odd || count != 0;
      for (size_t j = 0; j < n; j++)
        machine->distances[i * n + j] = 0;
    }
    lmi_text_free(ctx, &text);
    LMI_TRY(status);
  }
  return odd ? lmi_machine_remark(ctx, machine, "the table of distances does not fit the nodes on line; it is not used")
             : LAMINA_OK;
}

/* The least distance wins; unknown distances lose against known ones; ties go to the lower id. */
static void find_nearest_memory(lamina_machine *machine)
{
  const size_t n = machine->node_count;
  for (size_t i = 0; i < n; i++) {
    int best = INT32_MAX;
    for (size_t j = 0; j < n; j++) {
      if (machine->nodes[j].capacity_bytes == 0)
        continue;
      const int known = machine->distances[i * n + j];
      const int distance = i == j ? 0 : known > 0 ? known : INT32_MAX - 1;
      if (distance < best) {
        best = distance;
        machine->nodes[i].nearest_memory_node = machine->nodes[j].id;
      }
    }
  }
}

/* memory_tierN/nodelist says which nodes the kernel holds in tier N; a smaller N is faster. */
static lamina_status read_kernel_tiers(lamina_context *ctx, const char *root, lamina_machine *machine)
{
  for (int tier = 0; tier < LARGEST_KERNEL_TIER; tier++) {
    char path[96], text[512];
    snprintf(path, sizeof path, TIERING_FOLDER "/memory_tier%d/nodelist", tier);
    if (!lmi_sysfs_text(root, text, sizeof text, "%s", path))
      continue;
    lmi_id_list nodes = {0};
    LMI_TRY(lmi_id_list_parse(ctx, text, &nodes));
    for (size_t i = 0; i < machine->node_count; i++)
      if (lmi_id_list_has(&nodes, machine->nodes[i].id))
        machine->nodes[i].kernel_tier = tier;
    lmi_id_list_free(ctx, &nodes);
  }
  return LAMINA_OK;
}

static lamina_status read_allowed(lamina_context *ctx, const char *root, lamina_machine *machine)
{
  lmi_text status_text = {0};
  lmi_id_list allowed = {0};
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lmi_sysfs_whole(ctx, root, "/proc/self/status", &status_text), cleanup);
  char *line = status_text.data != NULL ? strstr(status_text.data, "Mems_allowed_list:") : NULL;
  if (line == NULL)
    goto cleanup;
  line += strlen("Mems_allowed_list:");
  line[strcspn(line, "\n")] = '\0';
  LMI_TRY_GOTO(status, lmi_id_list_parse(ctx, line, &allowed), cleanup);
  for (size_t i = 0; i < machine->node_count; i++)
    machine->nodes[i].allowed = allowed.count == 0 || lmi_id_list_has(&allowed, machine->nodes[i].id);
cleanup:
  lmi_text_free(ctx, &status_text);
  lmi_id_list_free(ctx, &allowed);
  return status;
}

/* A kernel without NUMA, a container that hides the folder: all memory is node 0. */
static lamina_status assume_one_node(lamina_context *ctx, lamina_machine *machine)
{
  LMI_TRY(LMI_ALLOC(ctx, 1, &machine->nodes));
  LMI_TRY(LMI_ALLOC(ctx, 1, &machine->distances));
  machine->node_count = 1;
  machine->distances[0] = 10;
  machine->nodes[0] = (lamina_node){.processors = machine->processors_online,
                                    .capacity_bytes = machine->total_bytes,
                                    .free_bytes = machine->available_bytes,
                                    .allowed = true,
                                    .kernel_tier = -1,
                                    .latency_ns = NAN,
                                    .gb_per_s = NAN};
  return lmi_machine_remark(ctx, machine, "no NUMA nodes are shown in " NODE_FOLDER "; all memory is taken as node 0");
}

lamina_status lmi_nodes_read(lamina_context *ctx, const char *root, lamina_machine *machine)
{
  lmi_id_list online = {0};
  LMI_TRY(lmi_id_list_read(ctx, root, NODE_FOLDER "/online", &online));
  if (online.count == 0) {
    lmi_id_list_free(ctx, &online);
    return assume_one_node(ctx, machine);
  }
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, online.count, &machine->nodes), cleanup);
  machine->node_count = online.count;
  for (size_t i = 0; i < online.count; i++)
    LMI_TRY_GOTO(status, read_node(ctx, root, online.ids[i], &machine->nodes[i]), cleanup);
  LMI_TRY_GOTO(status, read_distances(ctx, root, machine), cleanup);
  find_nearest_memory(machine);
  LMI_TRY_GOTO(status, read_kernel_tiers(ctx, root, machine), cleanup);
  LMI_TRY_GOTO(status, read_allowed(ctx, root, machine), cleanup);
cleanup:
  lmi_id_list_free(ctx, &online);
  return status;
}
