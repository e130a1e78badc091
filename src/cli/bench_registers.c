/* SPDX-License-Identifier: Apache-2.0 */
/* lamina bench registers: what keeping boundary blocks apart costs and gains, one row a grouping. */
#include <stdio.h>

#include "cli.h"
#include <lamina/bench.h>
#include <lamina/host.h>
#include <lamina/version.h>

struct bench_registers_values {
  bool json;
  int64_t cells, threads, repetitions;
  double seconds;
  int lattice, precision, collision, streaming;
};

static const struct bench_registers_values defaults = {.cells = 128, .repetitions = 5, .seconds = 0.2};

#define NAME_ROW(enumerator, value, name, text) name,
static const char *const lattices[] = {"default", LAMINA_LATTICE_LIST(NAME_ROW) NULL};
static const char *const precisions[] = {"default", LAMINA_PRECISION_LIST(NAME_ROW) NULL};
static const char *const collisions[] = {"default", LAMINA_COLLISION_LIST(NAME_ROW) NULL};
static const char *const streamings[] = {"default", LAMINA_STREAMING_LIST(NAME_ROW) NULL};
static const char *const groupings[] = {LAMINA_GROUPING_LIST(NAME_ROW) NULL};
#undef NAME_ROW

enum { GROUPINGS = sizeof groupings / sizeof *groupings - 1 };

/* The registers of a kernel are a device's affair. */
static const char *const no_registers = "a host compiler reports none; see docs/dev/cuda.md for those of devices";

static const lmi_option options[] = {
  LMI_OPTION_INTEGER(struct bench_registers_values, cells, "cells", "N", 8, 4096,
                     "cells along each axis (default: 128)"),
  LMI_OPTION_CHOICE(struct bench_registers_values, lattice, "lattice", lattices,
                    "velocity set (default: d3q19 and d3q27)"),
  LMI_OPTION_CHOICE(struct bench_registers_values, precision, "precision", precisions, "arithmetic (default: f32)"),
  LMI_OPTION_CHOICE(struct bench_registers_values, collision, "collision", collisions, "collision (default: bgk)"),
  LMI_OPTION_CHOICE(struct bench_registers_values, streaming, "streaming", streamings,
                    "pattern (default: esoteric_pull)"),
  LMI_OPTION_INTEGER(struct bench_registers_values, threads, "threads", "N", 1, 4096, "threads (default: all usable)"),
  LMI_OPTION_INTEGER(struct bench_registers_values, repetitions, "repetitions", "N", 1, 1000,
                     "turns of all groupings (default: 5)"),
  LMI_OPTION_NUMBER(struct bench_registers_values, seconds, "seconds", "S", 0.001, 3600.0,
                    "length of one measurement (default: 0.2)"),
  LMI_OPTION_FLAG(struct bench_registers_values, json, "json", "print one JSON object"),
  {0}};

static lamina_register_bench make_bench(const struct bench_registers_values *values, lamina_lattice lattice)
{
  lamina_register_bench bench = lamina_register_bench_default();
  bench.repetitions = (int)values->repetitions;
  bench.seconds = values->seconds;
  bench.solver.cells = (lamina_int3){values->cells, values->cells, values->cells};
  bench.solver.lattice = lattice;
  if (values->precision > 0)
    bench.solver.precision = (lamina_precision)(values->precision - 1);
  if (values->collision > 0)
    bench.solver.collision = (lamina_collision)(values->collision - 1);
  if (values->streaming > 0)
    bench.solver.streaming = (lamina_streaming)(values->streaming - 1);
  return bench;
}

static json_t *row_json(const lamina_register_bench *bench, int grouping, const lamina_register_row *row)
{
  json_t *object = json_pack(
    "{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:i}", "lattice", lamina_lattice_name(bench->solver.lattice), "precision",
    lamina_precision_name(bench->solver.precision), "collision", lamina_collision_name(bench->solver.collision),
    "streaming", lamina_streaming_name(bench->solver.streaming), "grouping", groupings[grouping], "cells_along_axis",
    (json_int_t)bench->solver.cells.x, "blocks", (json_int_t)row->blocks, "special_blocks",
    (json_int_t)row->special_blocks, "threads", row->threads);
  json_object_set_new(object, "mlups", lmi_json_number(row->mlups.median));
  json_object_set_new(object, "mlups_min", lmi_json_number(row->mlups.low));
  json_object_set_new(object, "mlups_max", lmi_json_number(row->mlups.high));
  json_object_set_new(object, "to_memory_grouping", lmi_json_number(row->to_memory.median));
  json_object_set_new(object, "model_extra_bytes", lmi_json_number(row->model_extra_bytes));
  json_object_set_new(object, "allocated_extra_bytes", lmi_json_number(row->allocated_extra_bytes));
  json_object_set_new(object, "registers", json_null());
  json_object_set_new(object, "registers_reason", json_string(no_registers));
  return object;
}

/* Less than the memory grouping keeps is possible: that one has data for every cell of a special block. */
static void print_row(const lamina_register_bench *bench, int grouping, const lamina_register_row *row)
{
  const double mib = 1.0 / (1 << 20);
  printf("%-6s %-4s %-11s %4lld^%d %-9s %8lld %7lld %8.1f  %7.1f to %-7.1f %6.2f  %+9.2f %+9.2f\n",
         lamina_lattice_name(bench->solver.lattice), lamina_precision_name(bench->solver.precision),
         lamina_collision_name(bench->solver.collision), (long long)bench->solver.cells.x,
         lamina_lattice_dimension(bench->solver.lattice), groupings[grouping], (long long)row->blocks,
         (long long)row->special_blocks, row->mlups.median, row->mlups.low, row->mlups.high, row->to_memory.median,
         mib * row->model_extra_bytes, mib * row->allocated_extra_bytes);
}

static lamina_status run_lattice(lmi_call *call, lamina_lattice lattice, json_t *rows)
{
  const lamina_register_bench bench = make_bench(call->values, lattice);
  lamina_register_row measured[GROUPINGS];
  LMI_TRY(lamina_register_bench_run(call->ctx, &bench, measured));
  for (int g = 0; g < GROUPINGS; g++) {
    if (rows != NULL)
      json_array_append_new(rows, row_json(&bench, g, &measured[g]));
    else
      print_row(&bench, g, &measured[g]);
  }
  fflush(stdout);
  return LAMINA_OK;
}

static lamina_status run_rows(lmi_call *call, json_t *rows)
{
  const struct bench_registers_values *values = call->values;
  static const lamina_lattice standard[] = {LAMINA_D3Q19, LAMINA_D3Q27};
  if (values->lattice > 0)
    return run_lattice(call, (lamina_lattice)(values->lattice - 1), rows);
  for (size_t i = 0; i < sizeof standard / sizeof *standard; i++)
    LMI_TRY(run_lattice(call, standard[i], rows));
  return LAMINA_OK;
}

static lamina_status bench_registers_run(lmi_call *call)
{
  const struct bench_registers_values *values = call->values;
  LMI_TRY(lmi_call_open(call, (int)values->threads));
  if (!values->json) {
    printf("channel of blocks with a regularized inlet and outlet, %d threads; MiB beyond the memory grouping\n",
           lamina_context_thread_count(call->ctx));
    printf("%-6s %-4s %-11s %6s %-9s %8s %7s %8s  %-18s %6s  %9s %9s\n", "set", "", "collision", "cells", "grouping",
           "blocks", "special", "MLUPS", "min to max", "ratio", "model MiB", "MiB");
    return run_rows(call, NULL);
  }
  char machine[96];
  lmi_name_processor(call, machine, sizeof machine);
  json_t *rows = json_array();
  return lmi_print_rows(call, run_rows(call, rows), machine, rows);
}

const lmi_command lmi_bench_registers = {
  .name = "registers",
  .summary = "ways to keep boundary blocks apart: speed and storage",
  .description = "Table 2 of arXiv 2503.07898: a naive kernel for all blocks, two kernels over all blocks with an\n"
                 "index a cell (bitmask) or counted from a mask (popcount), and blocks grouped in memory. All give\n"
                 "the same bits.",
  .group = LMI_GROUP_SIMULATE,
  .options = options,
  LMI_VALUES(defaults),
  .run = bench_registers_run,
};
