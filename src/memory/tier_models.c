/* SPDX-License-Identifier: Apache-2.0 */
/* From what was measured on a machine to the tiers of a model. */
#include "lamina/placement.h"

static bool is_in_tier(const lamina_machine *machine, int node, int tier)
{
  const lamina_node *found = lamina_machine_node(machine, node);
  return (found != NULL && found->tier == tier) || (node == LAMINA_NODE_ANY && tier == 0);
}

/* 0: not measured. */
static double best_bandwidth(const lamina_machine *machine, int tier)
{
  double best = 0;
  for (size_t i = 0; i < machine->bandwidth_count; i++) {
    const lamina_bandwidth_row *row = &machine->bandwidth[i];
    if (row->streams == 0 && row->traffic == LAMINA_TRAFFIC_READ && is_in_tier(machine, row->memory_node, tier) &&
        row->gb_per_s.median > best)
      best = row->gb_per_s.median;
  }
  return best;
}

static double least_latency(const lamina_machine *machine, int tier)
{
  double least = 0;
  for (size_t i = 0; i < machine->latency_count; i++) {
    const lamina_latency_row *row = &machine->latency[i];
    if (row->load_threads == 0 && is_in_tier(machine, row->memory_node, tier) && row->ns.median > 0 &&
        (least == 0 || row->ns.median < least))
      least = row->ns.median;
  }
  return least;
}

static int first_node(const lamina_machine *machine, int tier)
{
  for (size_t i = 0; i < machine->node_count; i++)
    if (machine->nodes[i].tier == tier)
      return machine->nodes[i].id;
  return -1;
}

int lamina_tier_models(const lamina_machine *machine, lamina_tier_model tiers[LAMINA_TIERS_MAX])
{
  int count = 0;
  for (; count < LAMINA_TIERS_MAX && (size_t)count < machine->tier_count; count++) {
    const double bandwidth = best_bandwidth(machine, count), latency = least_latency(machine, count);
    if (bandwidth <= 0 || latency <= 0)
      break;
    tiers[count] = (lamina_tier_model){.name = machine->tiers[count].name,
                                       .capacity_bytes = machine->tiers[count].capacity_bytes,
                                       .gb_per_s = bandwidth,
                                       .latency_ns = latency,
                                       .node = first_node(machine, count)};
  }
  return count;
}
