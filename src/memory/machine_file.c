/* SPDX-License-Identifier: Apache-2.0 */
/* The machine file. `tiers` is what product.md promises (one entry a node with memory); `nodes`, `machine` and the row
 * fields beside it hold the rest, so that a file read back is the machine that was written. */
#define _GNU_SOURCE
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine_internal.h"

enum { FORMAT = 1 };

static json_t *number(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count_or_null(uint64_t value, bool known)
{
  return known ? json_integer((json_int_t)value) : json_null();
}

static void set_spread(json_t *object, const char *name, lamina_spread spread)
{
  char key[64];
  json_object_set_new(object, name, number(spread.median));
  snprintf(key, sizeof key, "%s_min", name);
  json_object_set_new(object, key, number(spread.low));
  snprintf(key, sizeof key, "%s_max", name);
  json_object_set_new(object, key, number(spread.high));
}

static const char *row_kind(const lamina_bandwidth_row *row, char *buffer, size_t size)
{
  if (row->streams > 0)
    snprintf(buffer, size, "streams%d_f%d", row->streams, 8 * row->element_bytes);
  else
    snprintf(buffer, size, "%s", lamina_traffic_name(row->traffic));
  return buffer;
}

static json_t *bandwidth_rows(const lamina_machine *machine, int memory_node)
{
  json_t *rows = json_array();
  for (size_t i = 0; i < machine->bandwidth_count; i++) {
    const lamina_bandwidth_row *row = &machine->bandwidth[i];
    char kind[32];
    if (row->memory_node != memory_node)
      continue;
    json_t *object = json_pack("{s:s, s:i, s:i}", "kind", row_kind(row, kind, sizeof kind), "cpu_node", row->cpu_node,
                               "threads", row->threads);
    set_spread(object, "gb_per_s", row->gb_per_s);
    json_object_set_new(object, "placement_enforced", json_boolean(row->placed));
    json_array_append_new(rows, object);
  }
  return rows;
}

/* The local, idle latency: from the node itself, or from its nearest processors when it has none. */
static double best_latency(const lamina_machine *machine, int memory_node)
{
  double best = NAN;
  for (size_t i = 0; i < machine->latency_count; i++) {
    const lamina_latency_row *row = &machine->latency[i];
    if (row->memory_node == memory_node && row->load_threads == 0 && !(row->ns.median >= best))
      best = row->ns.median;
  }
  return best;
}

static json_t *latency_rows(const lamina_machine *machine, int memory_node)
{
  json_t *rows = json_array();
  for (size_t i = 0; i < machine->latency_count; i++) {
    const lamina_latency_row *row = &machine->latency[i];
    if (row->memory_node != memory_node)
      continue;
    json_t *object = json_pack("{s:i, s:i}", "cpu_node", row->cpu_node, "load_threads", row->load_threads);
    set_spread(object, "latency_ns", row->ns);
    json_object_set_new(object, "load_gb_per_s", row->load_threads > 0 ? number(row->load_gb_per_s) : json_null());
    json_object_set_new(object, "placement_enforced", json_boolean(row->placed));
    json_array_append_new(rows, object);
  }
  return rows;
}

static json_t *tier_entries(const lamina_machine *machine)
{
  json_t *tiers = json_array();
  for (size_t t = 0; t < machine->tier_count; t++) {
    for (size_t i = 0; i < machine->node_count; i++) {
      const lamina_node *node = &machine->nodes[i];
      if (node->tier != (int)t)
        continue;
      json_t *entry = json_pack("{s:s, s:i, s:I}", "name", machine->tiers[t].name, "node", node->id, "capacity_bytes",
                                (json_int_t)node->capacity_bytes);
      const double latency = best_latency(machine, node->id);
      json_object_set_new(entry, "latency_ns", number(latency));
      if (!isfinite(latency))
        json_object_set_new(entry, "reason", json_string("not measured"));
      json_object_set_new(entry, "bandwidth", bandwidth_rows(machine, node->id));
      json_object_set_new(entry, "latency", latency_rows(machine, node->id));
      json_array_append_new(tiers, entry);
    }
  }
  return tiers;
}

static json_t *flop_entries(const lamina_machine *machine)
{
  json_t *flops = json_array();
  for (size_t i = 0; i < machine->flops_count; i++) {
    const lamina_flops_row *row = &machine->flops[i];
    json_t *entry = json_pack("{s:i, s:i, s:i}", "width", row->width_bits, "element_bytes", row->element_bytes,
                              "threads", row->threads);
    set_spread(entry, "gflop_per_s", row->gflop_per_s);
    if (row->reason[0] != '\0')
      json_object_set_new(entry, "reason", json_string(row->reason));
    json_array_append_new(flops, entry);
  }
  return flops;
}

/* A device is two tiers: its own memory, and the host's through its link. */
static json_t *accelerator_entries(const lamina_machine *machine)
{
  json_t *devices = json_array();
  for (size_t i = 0; i < machine->accelerator_count; i++) {
    const lamina_accelerator_row *row = &machine->accelerators[i];
    json_t *entry = json_pack("{s:s, s:i, s:s, s:I}", "name", "GPUMemory", "device", (int)i, "model", row->device.name,
                              "capacity_bytes", (json_int_t)row->device.memory_bytes);
    set_spread(entry, "streams19_f32_gb_per_s", row->stream_gb_per_s[0]);
    set_spread(entry, "streams19_f64_gb_per_s", row->stream_gb_per_s[1]);
    for (int link = 0; lamina_link_name((lamina_link)link) != NULL; link++) {
      char key[64];
      snprintf(key, sizeof key, "%s_gb_per_s", lamina_link_name((lamina_link)link));
      set_spread(entry, key, row->link_gb_per_s[link]);
    }
    json_array_append_new(devices, entry);
  }
  return devices;
}

static json_t *node_entries(const lamina_machine *machine)
{
  json_t *nodes = json_array();
  const size_t n = machine->node_count;
  for (size_t i = 0; i < n; i++) {
    const lamina_node *node = &machine->nodes[i];
    json_t *distances = json_array();
    for (size_t j = 0; j < n; j++)
      json_array_append_new(distances,
                            count_or_null((uint64_t)machine->distances[i * n + j], machine->distances[i * n + j] > 0));
    json_t *entry =
      json_pack("{s:i, s:i, s:I, s:I, s:I, s:b, s:o}", "id", node->id, "processors", node->processors, "capacity_bytes",
                (json_int_t)node->capacity_bytes, "free_bytes", (json_int_t)node->free_bytes, "huge_page_bytes",
                (json_int_t)node->huge_page_bytes, "allowed", node->allowed, "distances", distances);
    json_object_set_new(entry, "tier", node->tier >= 0 ? json_string(machine->tiers[node->tier].name) : json_null());
    json_object_set_new(entry, "kernel_tier", count_or_null((uint64_t)node->kernel_tier, node->kernel_tier >= 0));
    json_object_set_new(entry, "nearest_memory_node",
                        count_or_null((uint64_t)node->nearest_memory_node, node->nearest_memory_node >= 0));
    json_object_set_new(entry, "firmware_latency_ns", number(node->latency_ns));
    json_object_set_new(entry, "firmware_gb_per_s", number(node->gb_per_s));
    json_array_append_new(nodes, entry);
  }
  return nodes;
}

static json_t *summary_entry(const lamina_machine *machine)
{
  json_t *entry = json_pack(
    "{s:s, s:s, s:i, s:i, s:i, s:s, s:I, s:I, s:I, s:I, s:s, s:s}", "host", machine->host, "processor",
    machine->processor, "processors_possible", machine->processors_possible, "processors_online",
    machine->processors_online, "processors_allowed", machine->processors_allowed, "offline", machine->offline,
    "page_bytes", (json_int_t)machine->page_bytes, "last_level_cache_bytes",
    (json_int_t)machine->last_level_cache_bytes, "total_bytes", (json_int_t)machine->total_bytes, "available_bytes",
    (json_int_t)machine->available_bytes, "limit_ruled_by", machine->limit_ruled_by, "huge_pages", machine->huge_pages);
  json_object_set_new(entry, "limit_bytes", count_or_null(machine->limit_bytes, machine->limit_bytes != UINT64_MAX));
  json_object_set_new(entry, "numa_balancing",
                      count_or_null((uint64_t)machine->numa_balancing, machine->numa_balancing >= 0));
  json_object_set_new(entry, "demotion", machine->demotion >= 0 ? json_boolean(machine->demotion) : json_null());
  return entry;
}

static json_t *machine_to_json(const lamina_machine *machine)
{
  json_t *remarks = json_array();
  for (size_t i = 0; i < machine->remark_count; i++)
    json_array_append_new(remarks, json_string(machine->remarks[i]));
  return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "lamina_machine", FORMAT, "machine",
                   summary_entry(machine), "tiers", tier_entries(machine), "flops", flop_entries(machine), "nodes",
                   node_entries(machine), "accelerators", accelerator_entries(machine), "accelerator_reason",
                   machine->accelerator_reason, "remarks", remarks);
}

lamina_status lamina_machine_print_json(lamina_context *ctx, const lamina_machine *machine, FILE *stream)
{
  json_t *object = machine_to_json(machine);
  LMI_REQUIRE(ctx, object != NULL, LAMINA_ERROR_MEMORY, "no memory for the JSON of this machine");
  const int failed = json_dumpf(object, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
  json_decref(object);
  LMI_REQUIRE(ctx, failed == 0 && fputc('\n', stream) != EOF, LAMINA_ERROR_FILE, "the JSON could not be written: %s",
              strerror(errno));
  return LAMINA_OK;
}

lamina_status lamina_machine_save(lamina_context *ctx, const lamina_machine *machine, const char *path)
{
  lmi_text temporary = {0};
  LMI_TRY(lmi_text_append(ctx, &temporary, "%s.%d.part", path, (int)getpid()));
  FILE *stream = fopen(temporary.data, "we");
  lamina_status status = LAMINA_OK;
  if (stream == NULL) {
    status = lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", path);
  } else {
    status = lamina_machine_print_json(ctx, machine, stream);
    const bool synced = fflush(stream) == 0 && fsync(fileno(stream)) == 0;
    const bool closed = fclose(stream) == 0;
    if (status == LAMINA_OK && (!synced || !closed || rename(temporary.data, path) != 0))
      status = lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", path);
    if (status != LAMINA_OK)
      unlink(temporary.data);
  }
  lmi_text_free(ctx, &temporary);
  return status;
}
