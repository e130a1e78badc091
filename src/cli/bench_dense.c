/* SPDX-License-Identifier: Apache-2.0 */
/* lamina bench dense: the lid-driven cavity on the dense grid, each row beside the ceiling of the same minutes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include <lamina/accelerator.h>
#include <lamina/bench.h>
#include <lamina/host.h>
#include <lamina/version.h>

struct bench_dense_values {
  bool json;
  int64_t cells, threads, repetitions, partitions;
  double seconds;
  int lattice, precision, storage, collision, layout, streaming, backend, grid;
  lmi_word_list devices;
};

static const struct bench_dense_values defaults = {.cells = 256, .repetitions = 5, .seconds = 0.5};

/* Position 0 of a choice is "not given"; the rest are the names of the public list, in its order. */
#define NAME_ROW(enumerator, value, name, text) name,
static const char *const lattices[] = {"default", LAMINA_LATTICE_LIST(NAME_ROW) NULL};
static const char *const precisions[] = {"default", LAMINA_PRECISION_LIST(NAME_ROW) NULL};
static const char *const storages[] = {"default", LAMINA_STORAGE_LIST(NAME_ROW) NULL};
static const char *const collisions[] = {"default", LAMINA_COLLISION_LIST(NAME_ROW) NULL};
static const char *const layouts[] = {"default", LAMINA_LAYOUT_LIST(NAME_ROW) NULL};
static const char *const streamings[] = {"default", LAMINA_STREAMING_LIST(NAME_ROW) NULL};
static const char *const grids[] = {"default", LAMINA_GRID_LIST(NAME_ROW) NULL};
static const char *const backends[] = {"default", LAMINA_BACKEND_LIST(NAME_ROW) NULL};
#undef NAME_ROW

static const lmi_option options[] = {
  LMI_OPTION_INTEGER(struct bench_dense_values, cells, "cells", "N", 1, 16384, "cells along each axis (default: 256)"),
  LMI_OPTION_CHOICE(struct bench_dense_values, lattice, "lattice", lattices, "velocity set (default: d3q19 and d3q27)"),
  LMI_OPTION_CHOICE(struct bench_dense_values, precision, "precision", precisions, "arithmetic (default: f32 and f64)"),
  LMI_OPTION_CHOICE(struct bench_dense_values, storage, "storage", storages, "of populations (default: full)"),
  LMI_OPTION_CHOICE(struct bench_dense_values, collision, "collision", collisions, "collision (default: bgk)"),
  LMI_OPTION_CHOICE(struct bench_dense_values, layout, "layout", layouts, "memory layout (default: plane)"),
  LMI_OPTION_CHOICE(struct bench_dense_values, streaming, "streaming", streamings, "pattern (default: esoteric_pull)"),
  LMI_OPTION_CHOICE(struct bench_dense_values, grid, "grid", grids, "the same cavity on another grid (default: dense)"),
  LMI_OPTION_CHOICE(struct bench_dense_values, backend, "backend", backends, "where it runs (default: cpu)"),
  LMI_OPTION_LIST(struct bench_dense_values, devices, "device", "N", "device ordinal; may be given several times"),
  LMI_OPTION_INTEGER(struct bench_dense_values, partitions, "partitions", "N", 1, 4096, "slabs (default: one)"),
  LMI_OPTION_INTEGER(struct bench_dense_values, threads, "threads", "N", 1, 4096, "threads (default: all usable)"),
  LMI_OPTION_INTEGER(struct bench_dense_values, repetitions, "repetitions", "N", 1, 1000,
                     "pairs of measurements a row (default: 5)"),
  LMI_OPTION_NUMBER(struct bench_dense_values, seconds, "seconds", "S", 0.001, 3600.0,
                    "length of one measurement (default: 0.5)"),
  LMI_OPTION_FLAG(struct bench_dense_values, json, "json", "print one JSON object"),
  {0}};

static lamina_status read_devices(lmi_call *call, const lmi_word_list *list, lamina_solver_options *solver)
{
  if (list->count > LAMINA_MAX_DEVICES)
    return lmi_usage_error(call, "%zu devices: at most %d are possible", list->count, (int)LAMINA_MAX_DEVICES);
  for (size_t i = 0; i < list->count; i++) {
    int64_t ordinal = 0;
    if (!lmi_parse_int64(list->words[i], &ordinal) || ordinal < 0 || ordinal > 1023)
      return lmi_usage_error(call, "--device %s: a number from 0 is needed", list->words[i]);
    solver->devices[i] = (int)ordinal;
  }
  solver->device_count = (int)list->count;
  return LAMINA_OK;
}

static lamina_status make_bench(lmi_call *call, lamina_dense_bench *bench)
{
  const struct bench_dense_values *values = call->values;
  *bench = lamina_dense_bench_default();
  bench->repetitions = (int)values->repetitions;
  bench->seconds = values->seconds;
  lamina_solver_options *solver = &bench->solver;
  solver->cells = (lamina_int3){values->cells, values->cells, values->cells};
  solver->partitions = (int)values->partitions;
  if (values->storage > 0)
    solver->storage = (lamina_storage)(values->storage - 1);
  if (values->collision > 0)
    solver->collision = (lamina_collision)(values->collision - 1);
  if (values->layout > 0)
    solver->layout = (lamina_layout)(values->layout - 1);
  if (values->streaming > 0)
    solver->streaming = (lamina_streaming)(values->streaming - 1);
  if (values->grid > 0)
    solver->grid = (lamina_grid_kind)(values->grid - 1);
  if (values->backend > 0)
    solver->backend = (lamina_backend)(values->backend - 1);
  return read_devices(call, &values->devices, solver);
}

static json_t *row_json(const lamina_solver_options *solver, const lamina_dense_row *row)
{
  const json_int_t cells = solver->cells.x * solver->cells.y * solver->cells.z;
  json_t *object = json_pack(
    "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:i}", "lattice", lamina_lattice_name(solver->lattice), "precision",
    lamina_precision_name(solver->precision), "storage", lamina_storage_name(solver->storage), "collision",
    lamina_collision_name(solver->collision), "streaming", lamina_streaming_name(solver->streaming), "layout",
    lamina_layout_name(solver->layout), "grid", lamina_grid_kind_name(solver->grid), "backend",
    lamina_backend_name(solver->backend), "cells", cells, "threads", row->threads);
  json_object_set_new(object, "partitions", json_integer(solver->partitions > 0 ? solver->partitions : 1));
  json_object_set_new(object, "mlups", lmi_json_number(row->mlups.median));
  json_object_set_new(object, "mlups_min", lmi_json_number(row->mlups.low));
  json_object_set_new(object, "mlups_max", lmi_json_number(row->mlups.high));
  json_object_set_new(object, "gb_per_s", lmi_json_number(row->gb_per_s));
  json_object_set_new(object, "bytes_per_cell", lmi_json_number(row->bytes_per_cell));
  json_object_set_new(object, "ceiling_mlups", lmi_json_number(row->ceiling_mlups.median));
  json_object_set_new(object, "ceiling_mlups_min", lmi_json_number(row->ceiling_mlups.low));
  json_object_set_new(object, "ceiling_mlups_max", lmi_json_number(row->ceiling_mlups.high));
  json_object_set_new(object, "share", lmi_json_number(row->share.median));
  json_object_set_new(object, "share_min", lmi_json_number(row->share.low));
  json_object_set_new(object, "share_max", lmi_json_number(row->share.high));
  if (isnan(row->share.median))
    json_object_set_new(object, "reason", json_string(row->ceiling_reason));
  return object;
}

static void print_row(const lamina_solver_options *solver, const lamina_dense_row *row)
{
  printf("%-6s %-4s %-5s %-11s %-13s %-13s %5lld^%d %8.1f  %7.1f to %-7.1f %7.1f", lamina_lattice_name(solver->lattice),
         lamina_precision_name(solver->precision), lamina_storage_name(solver->storage),
         lamina_collision_name(solver->collision), lamina_streaming_name(solver->streaming),
         solver->grid == LAMINA_GRID_DENSE ? lamina_layout_name(solver->layout) : lamina_grid_kind_name(solver->grid),
         (long long)solver->cells.x, lamina_lattice_dimension(solver->lattice), row->mlups.median, row->mlups.low,
         row->mlups.high, row->gb_per_s);
  if (isnan(row->share.median))
    printf("   not measured: %s\n", row->ceiling_reason);
  else
    printf("  %8.1f   %5.1f %% (%.1f to %.1f)\n", row->ceiling_mlups.median, 100.0 * row->share.median,
           100.0 * row->share.low, 100.0 * row->share.high);
}

/* One lattice in one precision; prints it or adds it to `rows`. */
static lamina_status run_row(lmi_call *call, lamina_dense_bench *bench, json_t *rows)
{
  lamina_dense_row row;
  LMI_TRY(lamina_dense_bench_run(call->ctx, bench, &row));
  lamina_solver_options shown = bench->solver;
  if (lamina_lattice_dimension(shown.lattice) == 2)
    shown.cells.z = 1;
  if (rows != NULL)
    json_array_append_new(rows, row_json(&shown, &row));
  else
    print_row(&shown, &row);
  fflush(stdout);
  return LAMINA_OK;
}

static lamina_status run_rows(lmi_call *call, lamina_dense_bench *bench, json_t *rows)
{
  const struct bench_dense_values *values = call->values;
  static const lamina_lattice standard[] = {LAMINA_D3Q19, LAMINA_D3Q27};
  for (size_t l = 0; l < (values->lattice > 0 ? 1 : LMI_COUNT(standard)); l++)
    for (int p = 0; p < (values->precision > 0 ? 1 : 2); p++) {
      bench->solver.lattice = values->lattice > 0 ? (lamina_lattice)(values->lattice - 1) : standard[l];
      bench->solver.precision = values->precision > 0 ? (lamina_precision)(values->precision - 1) : (lamina_precision)p;
      LMI_TRY(run_row(call, bench, rows));
    }
  return LAMINA_OK;
}

/* The processor, or the device that the rows ran on. */
static void name_machine(lmi_call *call, const lamina_solver_options *solver, char *name, size_t size)
{
  lamina_accelerator device;
  const int ordinal = solver->device_count > 0 ? solver->devices[0] : 0;
  if (solver->backend == LAMINA_BACKEND_CUDA && lamina_accelerator_read(call->ctx, ordinal, &device) == LAMINA_OK)
    snprintf(name, size, "%s", device.name);
  else
    lmi_name_processor(call, name, size);
  lamina_error_clear(call->ctx);
}

static lamina_status bench_dense_run(lmi_call *call)
{
  const struct bench_dense_values *values = call->values;
  LMI_TRY(lmi_call_open(call, (int)values->threads));
  lamina_dense_bench bench;
  LMI_TRY(make_bench(call, &bench));
  if (!values->json) {
    printf("lid-driven cavity with walls, %d threads; ceiling: as many streams, read and written in place\n",
           lamina_context_thread_count(call->ctx));
    printf("%-6s %-4s %-5s %-11s %-13s %-13s %7s %8s  %-18s %7s  %8s   %s\n", "set", "", "store", "collision",
           "streaming", "layout", "cells", "MLUPS", "min to max", "GB/s", "ceiling", "share");
    return run_rows(call, &bench, NULL);
  }
  char machine[96];
  name_machine(call, &bench.solver, machine, sizeof machine);
  json_t *rows = json_array();
  return lmi_print_rows(call, run_rows(call, &bench, rows), machine, rows);
}

const lmi_command lmi_bench_dense = {
  .name = "dense",
  .summary = "speed of the solver on the dense grid against the ceiling of the same run",
  .group = LMI_GROUP_SIMULATE,
  .options = options,
  LMI_VALUES(defaults),
  .run = bench_dense_run,
};
