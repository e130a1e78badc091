/* SPDX-License-Identifier: Apache-2.0 */
/* From nodes to tiers. In this order: the kernel's own tiers, when it made more than one; else nodes with processors
 * (DRAM), nodes without that the firmware calls faster (HBM), nodes without by their distance (pool). */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_input.h"
#include "machine_internal.h"
#include "sysfs.h"

enum { FASTER = -1, WITH_PROCESSORS = 0, UNKNOWN_DISTANCE = 1 << 20 };

static int kernel_tier_count(const lamina_machine *machine)
{
  int first = -1, count = 0;
  for (size_t i = 0; i < machine->node_count; i++) {
    const lamina_node *node = &machine->nodes[i];
    if (node->capacity_bytes == 0 || node->kernel_tier < 0)
      continue;
    if (count == 0 || (count == 1 && node->kernel_tier != first))
      count++;
    if (first < 0)
      first = node->kernel_tier;
  }
  return count;
}

/* Bandwidth that the firmware states for nodes with processors; NAN when it states none. */
static double firmware_dram_bandwidth(const lamina_machine *machine)
{
  for (size_t i = 0; i < machine->node_count; i++)
    if (machine->nodes[i].processors > 0 && machine->nodes[i].capacity_bytes > 0)
      return machine->nodes[i].gb_per_s;
  return NAN;
}

static int least_distance(const lamina_machine *machine, size_t target)
{
  const size_t n = machine->node_count;
  int best = UNKNOWN_DISTANCE;
  for (size_t from = 0; from < n; from++) {
    const int distance = machine->distances[from * n + target];
    if (machine->nodes[from].processors > 0 && distance > 0 && distance < best)
      best = distance;
  }
  return best;
}

/* Nodes of one rank form a tier; a smaller rank is faster. */
static int rank_of(const lamina_machine *machine, size_t index, bool by_kernel, double dram)
{
  const lamina_node *node = &machine->nodes[index];
  if (by_kernel)
    return node->kernel_tier >= 0 ? node->kernel_tier : UNKNOWN_DISTANCE;
  if (node->processors > 0)
    return WITH_PROCESSORS;
  if (node->gb_per_s > 1.5 * dram) /* false when either is NAN */
    return FASTER;
  return least_distance(machine, index);
}

static int by_value(const void *a, const void *b)
{
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

static void name_tiers(lamina_machine *machine)
{
  size_t dram = machine->tier_count;
  for (size_t i = 0; i < machine->node_count; i++) {
    const lamina_node *node = &machine->nodes[i];
    if (node->tier >= 0 && node->processors > 0 && (size_t)node->tier < dram)
      dram = (size_t)node->tier;
  }
  if (dram == machine->tier_count)
    dram = 0;
  for (size_t i = 0; i < machine->tier_count; i++) {
    lamina_tier *tier = &machine->tiers[i];
    const char *base = i < dram ? "HBM" : i == dram ? "DRAM" : "pool";
    const size_t repeat = i < dram ? i : i > dram ? i - dram - 1 : 0;
    if (repeat == 0)
      snprintf(tier->name, sizeof tier->name, "%s", base);
    else
      snprintf(tier->name, sizeof tier->name, "%s %zu", base, repeat + 1);
  }
}

static void sum_tiers(lamina_machine *machine)
{
  for (size_t i = 0; i < machine->node_count; i++) {
    const lamina_node *node = &machine->nodes[i];
    if (node->tier < 0)
      continue;
    machine->tiers[node->tier].capacity_bytes += node->capacity_bytes;
    machine->tiers[node->tier].node_count++;
  }
}

static lamina_status remark_on_kernel_tiers(lamina_context *ctx, lamina_machine *machine, int kernel_tiers)
{
  size_t with_memory = 0;
  for (size_t i = 0; i < machine->node_count; i++)
    with_memory += machine->nodes[i].capacity_bytes > 0;
  if (with_memory < 2 || kernel_tiers != 1)
    return LAMINA_OK;
  char balancing[16] = "unknown", demotion[16] = "unknown";
  if (machine->numa_balancing >= 0)
    snprintf(balancing, sizeof balancing, "%d", machine->numa_balancing);
  if (machine->demotion >= 0)
    snprintf(demotion, sizeof demotion, "%s", machine->demotion > 0 ? "true" : "false");
  return lmi_machine_remark(ctx, machine,
                            "the kernel holds all nodes in one memory tier: nothing will be demoted or promoted "
                            "(demotion_enabled %s, numa_balancing %s)",
                            demotion, balancing);
}

lamina_status lmi_tiers_assign(lamina_context *ctx, lamina_machine *machine)
{
  int *ranks = NULL, *sorted = NULL;
  size_t count = 0, distinct = 0;
  const int kernel_tiers = kernel_tier_count(machine);
  const double dram = firmware_dram_bandwidth(machine);
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, machine->node_count, &ranks), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, machine->node_count, &sorted), cleanup);
  for (size_t i = 0; i < machine->node_count; i++) {
    ranks[i] = rank_of(machine, i, kernel_tiers > 1, dram);
    if (machine->nodes[i].capacity_bytes > 0)
      sorted[count++] = ranks[i];
  }
  qsort(sorted, count, sizeof *sorted, by_value);
  for (size_t i = 0; i < count; i++)
    if (distinct == 0 || sorted[distinct - 1] != sorted[i])
      sorted[distinct++] = sorted[i];
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, distinct, &machine->tiers), cleanup);
  machine->tier_count = distinct;
  for (size_t i = 0; i < machine->node_count; i++)
    for (size_t t = 0; t < distinct; t++)
      if (machine->nodes[i].capacity_bytes > 0 && sorted[t] == ranks[i])
        machine->nodes[i].tier = (int)t;
  name_tiers(machine);
  sum_tiers(machine);
  LMI_TRY_GOTO(status, remark_on_kernel_tiers(ctx, machine, kernel_tiers), cleanup);
cleanup:
  lmi_free(ctx, ranks);
  lmi_free(ctx, sorted);
  return status;
}

static lamina_status take_tier(lamina_context *ctx, lamina_machine *machine, const char *path, const json_t *entry,
                               size_t position)
{
  const char *name = json_string_value(json_object_get(entry, "name"));
  const char *list = json_string_value(json_object_get(entry, "nodes"));
  LMI_REQUIRE(ctx, name != NULL && list != NULL && name[0] != '\0' && strlen(name) < LAMINA_TIER_NAME_BYTES,
              LAMINA_ERROR_CASE, "%s: tier %zu needs \"name\" (up to %d characters) and \"nodes\" (such as \"0-1\")",
              path, position + 1, LAMINA_TIER_NAME_BYTES - 1);
  lmi_id_list nodes = {0};
  lamina_status status = lmi_id_list_parse(ctx, list, &nodes);
  if (status == LAMINA_ERROR_ARGUMENT) /* a word of the file, not of the caller */
    return lmi_fail_within(ctx, LAMINA_ERROR_CASE, "%s: tier %s", path, name);
  LMI_TRY(status);
  for (size_t i = 0; i < nodes.count && status == LAMINA_OK; i++) {
    lamina_node *node = (lamina_node *)(uintptr_t)lamina_machine_node(machine, nodes.ids[i]);
    if (node == NULL || node->capacity_bytes == 0)
      status = lmi_fail(ctx, LAMINA_ERROR_CASE, "%s: tier %s names node %d, which %s", path, name, nodes.ids[i],
                        node == NULL ? "this machine does not have" : "has no memory");
    else if (node->tier >= 0)
      status = lmi_fail(ctx, LAMINA_ERROR_CASE, "%s: node %d is in two tiers", path, nodes.ids[i]);
    else
      node->tier = (int)position;
  }
  lmi_id_list_free(ctx, &nodes);
  snprintf(machine->tiers[position].name, LAMINA_TIER_NAME_BYTES, "%s", name);
  return status;
}

lamina_status lamina_machine_set_tiers(lamina_context *ctx, lamina_machine *machine, const char *path)
{
  json_t *file = NULL;
  LMI_TRY(lmi_json_input(ctx, path, &file));
  const json_t *tiers = json_object_get(file, "tiers");
  const size_t count = json_array_size(tiers);
  lamina_status status = LAMINA_OK;
  lamina_tier *made = NULL;
  if (count == 0)
    LMI_TRY_GOTO(status, lmi_fail(ctx, LAMINA_ERROR_CASE, "%s has no \"tiers\" array", path), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &made), cleanup);
  lmi_free(ctx, machine->tiers);
  machine->tiers = made;
  machine->tier_count = count;
  for (size_t i = 0; i < machine->node_count; i++)
    machine->nodes[i].tier = -1;
  for (size_t i = 0; i < count; i++)
    LMI_TRY_GOTO(status, take_tier(ctx, machine, path, json_array_get(tiers, i), i), cleanup);
  for (size_t i = 0; i < machine->node_count; i++)
    if (machine->nodes[i].capacity_bytes > 0 && machine->nodes[i].tier < 0)
      LMI_TRY_GOTO(status, lmi_fail(ctx, LAMINA_ERROR_CASE, "%s: node %d is in no tier", path, machine->nodes[i].id),
                   cleanup);
  sum_tiers(machine);
cleanup:
  json_decref(file);
  return status;
}
