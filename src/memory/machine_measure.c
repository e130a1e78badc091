/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine_internal.h"
#include "sysfs.h"

enum { MAX_THREAD_COUNTS = 64, TRAFFIC_KINDS = 5, STREAM_KINDS = 2, FLOP_WIDTHS = 4, LATENCY_KINDS = 2 };
static const lamina_index LARGEST_CELLS = (lamina_index)256 * 256 * 256;

/* One walk over everything there is to measure; `rows` counts what the progress shows. */
typedef struct machine_survey {
  lamina_context *ctx;
  lamina_machine *machine;
  const lamina_measure_options *options;
  int done, total;
} machine_survey;

lamina_measure_options lamina_measure_options_default(void)
{
  return (lamina_measure_options){.repetitions = 7};
}

static void announce(machine_survey *survey, const char *what, int cpu_node, int memory_node, int threads)
{
  char text[160];
  snprintf(text, sizeof text, "%s, %d thread%s, node %d to node %d", what, threads, threads == 1 ? "" : "s", cpu_node,
           memory_node);
  if (survey->options->progress != NULL)
    survey->options->progress(survey->options->user, text, survey->done, survey->total);
  survey->done++;
}

/* 1, 2, 4, ... and all, unless the caller has a list. Remote pairs get all only: they are about the link. */
static int choose_threads(const machine_survey *survey, const lamina_node *node, bool local, int *counts)
{
  const lamina_measure_options *options = survey->options;
  int used = 0;
  int most = node->processors;
  if (survey->machine->processors_allowed > 0 && most > survey->machine->processors_allowed)
    most = survey->machine->processors_allowed;
  if (options->threads != NULL) {
    for (size_t i = 0; i < options->thread_count && used < MAX_THREAD_COUNTS; i++)
      counts[used++] = options->threads[i];
    return used;
  }
  for (int threads = 1; local && threads < most; threads *= 2)
    counts[used++] = threads;
  counts[used++] = most > 0 ? most : 1;
  return used;
}

/* Nodes that were assumed, not read, cannot be bound to. */
static lamina_placement placement_of(const lamina_machine *machine, int cpu_node, int memory_node)
{
  if (machine->node_count == 1)
    return (lamina_placement){LAMINA_NODE_ANY, LAMINA_NODE_ANY};
  return (lamina_placement){cpu_node, memory_node};
}

static lamina_status measure_traffic(machine_survey *survey, lamina_bandwidth_row *row)
{
  lamina_traffic_probe probe = lamina_traffic_probe_default();
  lamina_bandwidth result;
  probe.traffic = row->traffic;
  probe.threads = row->threads;
  probe.array_bytes = survey->options->array_bytes;
  probe.repetitions = survey->options->repetitions;
  probe.placement = placement_of(survey->machine, row->cpu_node, row->memory_node);
  announce(survey, lamina_traffic_name(row->traffic), row->cpu_node, row->memory_node, row->threads);
  const lamina_status status = lamina_machine_traffic(survey->ctx, &probe, &result);
  if (status == LAMINA_UNAVAILABLE) {
    lamina_error_clear(survey->ctx);
    result.gb_per_s = (lamina_spread){NAN, NAN, NAN};
    result.placed = false;
  } else {
    LMI_TRY(status);
  }
  row->gb_per_s = result.gb_per_s;
  row->placed = result.placed;
  return LAMINA_OK;
}

static lamina_status measure_streams(machine_survey *survey, lamina_bandwidth_row *row)
{
  lamina_stream_probe probe = lamina_stream_probe_default();
  lamina_bandwidth result;
  char what[32];
  const uint64_t room = survey->machine->available_bytes / 4;
  const lamina_index fits = (lamina_index)(room / (uint64_t)(row->streams * row->element_bytes));
  probe.streams = row->streams;
  probe.element_bytes = row->element_bytes;
  probe.cells = fits < LARGEST_CELLS ? fits : LARGEST_CELLS;
  probe.threads = row->threads;
  probe.repetitions = survey->options->repetitions;
  probe.placement = placement_of(survey->machine, row->cpu_node, row->memory_node);
  snprintf(what, sizeof what, "%d streams of %d bytes", row->streams, row->element_bytes);
  announce(survey, what, row->cpu_node, row->memory_node, row->threads);
  LMI_TRY(lamina_machine_stream_ceiling(survey->ctx, &probe, &result));
  row->gb_per_s = result.gb_per_s;
  row->placed = result.placed;
  return LAMINA_OK;
}

static lamina_status measure_pair(machine_survey *survey, const lamina_node *from, const lamina_node *to)
{
  int counts[MAX_THREAD_COUNTS];
  lamina_machine *machine = survey->machine;
  const int used = choose_threads(survey, from, from->id == to->id, counts);
  for (int i = 0; i < used; i++) {
    for (int kind = 0; kind < TRAFFIC_KINDS + STREAM_KINDS; kind++) {
      lamina_bandwidth_row *row = &machine->bandwidth[machine->bandwidth_count];
      *row = (lamina_bandwidth_row){.cpu_node = from->id, .memory_node = to->id, .threads = counts[i]};
      if (kind < TRAFFIC_KINDS) {
        row->traffic = (lamina_traffic)kind;
        LMI_TRY(measure_traffic(survey, row));
      } else {
        row->streams = 19;
        row->element_bytes = kind == TRAFFIC_KINDS ? 4 : 8;
        LMI_TRY(measure_streams(survey, row));
      }
      machine->bandwidth_count++;
    }
  }
  return LAMINA_OK;
}

/* Idle, and with all other processors of the node making load. */
static lamina_status measure_latency(machine_survey *survey, const lamina_node *from, const lamina_node *to)
{
  lamina_machine *machine = survey->machine;
  for (int kind = 0; kind < LATENCY_KINDS; kind++) {
    lamina_latency_probe probe = lamina_latency_probe_default();
    lamina_latency result;
    probe.array_bytes = survey->options->array_bytes;
    probe.repetitions = survey->options->repetitions;
    probe.placement = placement_of(machine, from->id, to->id);
    probe.load_threads = kind == 0 ? 0 : from->processors - 1;
    if (kind == 1 && probe.load_threads < 1)
      break;
    announce(survey, kind == 0 ? "idle latency" : "loaded latency", from->id, to->id, 1 + probe.load_threads);
    LMI_TRY(lamina_machine_latency(survey->ctx, &probe, &result));
    machine->latency[machine->latency_count++] = (lamina_latency_row){.cpu_node = from->id,
                                                                      .memory_node = to->id,
                                                                      .load_threads = probe.load_threads,
                                                                      .ns = result.ns,
                                                                      .load_gb_per_s = result.load_gb_per_s,
                                                                      .placed = result.placed};
  }
  return LAMINA_OK;
}

static lamina_status measure_flops(machine_survey *survey)
{
  static const int widths[FLOP_WIDTHS] = {0, 128, 256, 512};
  lamina_machine *machine = survey->machine;
  for (int i = 0; i < 2 * FLOP_WIDTHS; i++) {
    lamina_flops_row *row = &machine->flops[machine->flops_count];
    lamina_flops_probe probe = lamina_flops_probe_default();
    lamina_flops result;
    probe.width_bits = widths[i / 2];
    probe.element_bytes = i % 2 == 0 ? 4 : 8;
    probe.threads = machine->processors_allowed;
    probe.repetitions = survey->options->repetitions;
    announce(survey, "flop ceiling", LAMINA_NODE_ANY, LAMINA_NODE_ANY, probe.threads);
    *row = (lamina_flops_row){
      .width_bits = probe.width_bits, .element_bytes = probe.element_bytes, .threads = probe.threads};
    const lamina_status status = lamina_machine_flops(survey->ctx, &probe, &result);
    if (status == LAMINA_UNAVAILABLE) {
      row->gflop_per_s = (lamina_spread){NAN, NAN, NAN};
      snprintf(row->reason, sizeof row->reason, "%s", lamina_error_message(survey->ctx));
      lamina_error_clear(survey->ctx);
    } else {
      LMI_TRY(status);
      row->gflop_per_s = result.gflop_per_s;
    }
    machine->flops_count++;
  }
  return LAMINA_OK;
}

/* Whether the pair can be measured: processors here, memory there, and this process may use it. */
static bool is_pair(const lamina_node *from, const lamina_node *to)
{
  return from->processors > 0 && to->capacity_bytes > 0 && to->allowed;
}

static lamina_status make_room(machine_survey *survey)
{
  lamina_machine *machine = survey->machine;
  int counts[MAX_THREAD_COUNTS];
  size_t pairs = 0, rows = 0;
  for (size_t i = 0; i < machine->node_count; i++) {
    for (size_t j = 0; j < machine->node_count; j++) {
      if (!is_pair(&machine->nodes[i], &machine->nodes[j]))
        continue;
      rows += (size_t)choose_threads(survey, &machine->nodes[i], i == j, counts) * (TRAFFIC_KINDS + STREAM_KINDS);
      pairs++;
    }
  }
  lmi_free(survey->ctx, machine->bandwidth);
  lmi_free(survey->ctx, machine->latency);
  lmi_free(survey->ctx, machine->flops);
  machine->bandwidth = NULL;
  machine->latency = NULL;
  machine->flops = NULL;
  machine->bandwidth_count = machine->latency_count = machine->flops_count = 0;
  survey->total = (int)(rows + LATENCY_KINDS * pairs + 2 * FLOP_WIDTHS);
  LMI_TRY(LMI_ALLOC(survey->ctx, rows, &machine->bandwidth));
  LMI_TRY(LMI_ALLOC(survey->ctx, LATENCY_KINDS * pairs, &machine->latency));
  return LMI_ALLOC(survey->ctx, 2 * FLOP_WIDTHS, &machine->flops);
}

/* A machine that did something else meanwhile shows in the spread of the repetitions. */
static lamina_status judge_quiet(lamina_context *ctx, lamina_machine *machine)
{
  const double wide = 1.5;
  size_t restless = 0;
  for (size_t i = 0; i < machine->bandwidth_count; i++)
    restless += machine->bandwidth[i].gb_per_s.high > wide * machine->bandwidth[i].gb_per_s.low;
  for (size_t i = 0; i < machine->flops_count; i++)
    restless += machine->flops[i].gflop_per_s.high > wide * machine->flops[i].gflop_per_s.low;
  if (restless == 0)
    return LAMINA_OK;
  return lmi_machine_remark(ctx, machine,
                            "%zu of %zu rates spread by more than half: something else was running; measure again",
                            restless, machine->bandwidth_count + machine->flops_count);
}

lamina_status lamina_machine_measure(lamina_context *ctx, lamina_machine *machine,
                                     const lamina_measure_options *options)
{
  machine_survey survey = {.ctx = ctx, .machine = machine, .options = options};
  LMI_TRY(make_room(&survey));
  for (size_t i = 0; i < machine->node_count; i++) {
    for (size_t j = 0; j < machine->node_count; j++) {
      if (!is_pair(&machine->nodes[i], &machine->nodes[j]))
        continue;
      LMI_TRY(measure_pair(&survey, &machine->nodes[i], &machine->nodes[j]));
      LMI_TRY(measure_latency(&survey, &machine->nodes[i], &machine->nodes[j]));
    }
  }
  LMI_TRY(measure_flops(&survey));
  LMI_TRY(judge_quiet(ctx, machine));
  return lmi_accelerators_measure(ctx, machine, options);
}
