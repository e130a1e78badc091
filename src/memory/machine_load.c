/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a machine file back. Every number is checked for its type: a file from elsewhere, or half a file, ends in a
 * sentence. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json_input.h"
#include "machine_internal.h"

enum { FORMAT = 1, MOST_ROWS = 1 << 20 };

static double number_at(const json_t *object, const char *key)
{
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static int64_t integer_at(const json_t *object, const char *key, int64_t missing)
{
  const json_t *value = json_object_get(object, key);
  return json_is_integer(value) ? (int64_t)json_integer_value(value) : missing;
}

static void text_at(const json_t *object, const char *key, char *buffer, size_t size)
{
  const char *value = json_string_value(json_object_get(object, key));
  snprintf(buffer, size, "%s", value != NULL ? value : "");
}

static lamina_spread spread_at(const json_t *object, const char *name)
{
  char low[64], high[64];
  snprintf(low, sizeof low, "%s_min", name);
  snprintf(high, sizeof high, "%s_max", name);
  return (lamina_spread){number_at(object, name), number_at(object, low), number_at(object, high)};
}

static void take_summary(const json_t *entry, lamina_machine *machine)
{
  text_at(entry, "host", machine->host, sizeof machine->host);
  text_at(entry, "processor", machine->processor, sizeof machine->processor);
  text_at(entry, "offline", machine->offline, sizeof machine->offline);
  text_at(entry, "limit_ruled_by", machine->limit_ruled_by, sizeof machine->limit_ruled_by);
  text_at(entry, "huge_pages", machine->huge_pages, sizeof machine->huge_pages);
  machine->processors_possible = (int)integer_at(entry, "processors_possible", 0);
  machine->processors_online = (int)integer_at(entry, "processors_online", 0);
  machine->processors_allowed = (int)integer_at(entry, "processors_allowed", 0);
  machine->page_bytes = (uint64_t)integer_at(entry, "page_bytes", 0);
  machine->last_level_cache_bytes = (uint64_t)integer_at(entry, "last_level_cache_bytes", 0);
  machine->total_bytes = (uint64_t)integer_at(entry, "total_bytes", 0);
  machine->available_bytes = (uint64_t)integer_at(entry, "available_bytes", 0);
  machine->limit_bytes = (uint64_t)integer_at(entry, "limit_bytes", -1);
  machine->numa_balancing = (int)integer_at(entry, "numa_balancing", -1);
  const json_t *demotion = json_object_get(entry, "demotion");
  machine->demotion = json_is_boolean(demotion) ? json_is_true(demotion) : -1;
}

static lamina_status take_nodes(lamina_context *ctx, const char *path, const json_t *entries, lamina_machine *machine)
{
  const size_t n = json_array_size(entries);
  LMI_REQUIRE(ctx, n > 0 && n < 4096, LAMINA_ERROR_CASE, "%s has no list of nodes", path);
  LMI_TRY(LMI_ALLOC(ctx, n, &machine->nodes));
  LMI_TRY(LMI_ALLOC(ctx, n * n, &machine->distances));
  machine->node_count = n;
  for (size_t i = 0; i < n; i++) {
    const json_t *entry = json_array_get(entries, i);
    const json_t *distances = json_object_get(entry, "distances");
    machine->nodes[i] = (lamina_node){.id = (int)integer_at(entry, "id", -1),
                                      .processors = (int)integer_at(entry, "processors", 0),
                                      .capacity_bytes = (uint64_t)integer_at(entry, "capacity_bytes", 0),
                                      .free_bytes = (uint64_t)integer_at(entry, "free_bytes", 0),
                                      .huge_page_bytes = (uint64_t)integer_at(entry, "huge_page_bytes", 0),
                                      .allowed = json_is_true(json_object_get(entry, "allowed")),
                                      .tier = -1,
                                      .kernel_tier = (int)integer_at(entry, "kernel_tier", -1),
                                      .nearest_memory_node = (int)integer_at(entry, "nearest_memory_node", -1),
                                      .latency_ns = number_at(entry, "firmware_latency_ns"),
                                      .gb_per_s = number_at(entry, "firmware_gb_per_s")};
    LMI_REQUIRE(ctx, machine->nodes[i].id >= 0, LAMINA_ERROR_CASE, "%s: node %zu of the list has no id", path, i);
    for (size_t j = 0; j < n; j++)
      machine->distances[i * n + j] = (int)json_integer_value(json_array_get(distances, j));
  }
  return LAMINA_OK;
}

static void take_kind(const char *kind, lamina_bandwidth_row *row)
{
  int streams = 0, bits = 0;
  if (kind == NULL)
    return;
  if (sscanf(kind, "streams%d_f%d", &streams, &bits) == 2) {
    row->streams = streams;
    row->element_bytes = bits / 8;
    return;
  }
  for (int i = 0; lamina_traffic_name((lamina_traffic)i) != NULL; i++)
    if (strcmp(kind, lamina_traffic_name((lamina_traffic)i)) == 0)
      row->traffic = (lamina_traffic)i;
}

static void take_rows(const json_t *tier, int node, lamina_machine *machine)
{
  size_t i = 0;
  const json_t *entry = NULL;
  json_array_foreach(json_object_get(tier, "bandwidth"), i, entry)
  {
    lamina_bandwidth_row *row = &machine->bandwidth[machine->bandwidth_count++];
    *row = (lamina_bandwidth_row){.cpu_node = (int)integer_at(entry, "cpu_node", LAMINA_NODE_ANY),
                                  .memory_node = node,
                                  .threads = (int)integer_at(entry, "threads", 0),
                                  .gb_per_s = spread_at(entry, "gb_per_s"),
                                  .placed = json_is_true(json_object_get(entry, "placement_enforced"))};
    take_kind(json_string_value(json_object_get(entry, "kind")), row);
  }
  json_array_foreach(json_object_get(tier, "latency"), i, entry) machine->latency[machine->latency_count++] =
    (lamina_latency_row){.cpu_node = (int)integer_at(entry, "cpu_node", LAMINA_NODE_ANY),
                         .memory_node = node,
                         .load_threads = (int)integer_at(entry, "load_threads", 0),
                         .ns = spread_at(entry, "latency_ns"),
                         .load_gb_per_s = number_at(entry, "load_gb_per_s"),
                         .placed = json_is_true(json_object_get(entry, "placement_enforced"))};
}

/* Entries come tier by tier: a name that differs from the one before begins a new tier. */
static lamina_status take_tiers(lamina_context *ctx, const char *path, const json_t *entries, lamina_machine *machine)
{
  size_t i = 0, bandwidth = 0, latency = 0;
  const json_t *entry = NULL;
  json_array_foreach(entries, i, entry)
  {
    bandwidth += json_array_size(json_object_get(entry, "bandwidth"));
    latency += json_array_size(json_object_get(entry, "latency"));
  }
  LMI_REQUIRE(ctx, json_array_size(entries) > 0 && bandwidth < MOST_ROWS && latency < MOST_ROWS, LAMINA_ERROR_CASE,
              "%s has no list of tiers", path);
  LMI_TRY(LMI_ALLOC(ctx, json_array_size(entries), &machine->tiers));
  LMI_TRY(LMI_ALLOC(ctx, bandwidth, &machine->bandwidth));
  LMI_TRY(LMI_ALLOC(ctx, latency, &machine->latency));
  json_array_foreach(entries, i, entry)
  {
    char name[LAMINA_TIER_NAME_BYTES];
    const int id = (int)integer_at(entry, "node", -1);
    text_at(entry, "name", name, sizeof name);
    lamina_node *node = (lamina_node *)(uintptr_t)lamina_machine_node(machine, id);
    LMI_REQUIRE(ctx, node != NULL, LAMINA_ERROR_CASE, "%s: tier %s names node %d, which is not in its list of nodes",
                path, name, id);
    if (machine->tier_count == 0 || strcmp(machine->tiers[machine->tier_count - 1].name, name) != 0)
      memcpy(machine->tiers[machine->tier_count++].name, name, sizeof name);
    node->tier = (int)machine->tier_count - 1;
    machine->tiers[node->tier].capacity_bytes += node->capacity_bytes;
    machine->tiers[node->tier].node_count++;
    take_rows(entry, id, machine);
  }
  return LAMINA_OK;
}

static lamina_status take_flops(lamina_context *ctx, const json_t *entries, lamina_machine *machine)
{
  size_t i = 0;
  const json_t *entry = NULL;
  LMI_TRY(LMI_ALLOC(ctx, json_array_size(entries), &machine->flops));
  json_array_foreach(entries, i, entry)
  {
    lamina_flops_row *row = &machine->flops[machine->flops_count++];
    *row = (lamina_flops_row){.width_bits = (int)integer_at(entry, "width", 0),
                              .element_bytes = (int)integer_at(entry, "element_bytes", 0),
                              .threads = (int)integer_at(entry, "threads", 0),
                              .gflop_per_s = spread_at(entry, "gflop_per_s")};
    text_at(entry, "reason", row->reason, sizeof row->reason);
  }
  return LAMINA_OK;
}

static lamina_status take_file(lamina_context *ctx, const char *path, const json_t *file, lamina_machine *machine)
{
  const int64_t format = integer_at(file, "lamina_machine", 0);
  LMI_REQUIRE(ctx, format > 0, LAMINA_ERROR_CASE, "%s is not a machine file; `lamina machine` writes one", path);
  LMI_REQUIRE(ctx, format <= FORMAT, LAMINA_ERROR_CASE, "%s has format %lld and this program knows %d; measure again",
              path, (long long)format, FORMAT);
  take_summary(json_object_get(file, "machine"), machine);
  LMI_TRY(take_nodes(ctx, path, json_object_get(file, "nodes"), machine));
  LMI_TRY(take_tiers(ctx, path, json_object_get(file, "tiers"), machine));
  LMI_TRY(take_flops(ctx, json_object_get(file, "flops"), machine));
  size_t i = 0;
  const json_t *remark = NULL;
  json_array_foreach(json_object_get(file, "remarks"), i, remark) if (json_is_string(remark))
    LMI_TRY(lmi_machine_remark(ctx, machine, "%s", json_string_value(remark)));
  return LAMINA_OK;
}

lamina_status lamina_machine_load(lamina_context *ctx, const char *path, lamina_machine **machine)
{
  *machine = NULL;
  lamina_machine *made = NULL;
  json_t *file = NULL;
  LMI_TRY(lmi_json_input(ctx, path, &file));
  lamina_status status = LMI_ALLOC(ctx, 1, &made);
  if (status == LAMINA_OK)
    status = take_file(ctx, path, file, made);
  json_decref(file);
  if (status == LAMINA_OK)
    *machine = made;
  else
    lamina_machine_destroy(ctx, made);
  return status;
}
