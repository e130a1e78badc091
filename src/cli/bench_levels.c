/* SPDX-License-Identifier: Apache-2.0 */
/* lamina bench levels: the cavity with refined walls, Table 5 of arXiv 2503.07898, at its sizes or any. */
#include <math.h>
#include <stdio.h>

#include "cli.h"
#include <lamina/bench.h>
#include <lamina/host.h>
#include <lamina/version.h>

struct bench_levels_values {
  bool json, paper, one_by_one;
  int64_t cells, threads, repetitions;
  double seconds;
  int lattice, precision, collision, distribution, backend;
};

static const struct bench_levels_values defaults = {.repetitions = 5, .seconds = 0.5};

#define NAME_ROW(enumerator, value, name, text) name,
static const char *const lattices[] = {"default", LAMINA_LATTICE_LIST(NAME_ROW) NULL};
static const char *const precisions[] = {"default", LAMINA_PRECISION_LIST(NAME_ROW) NULL};
static const char *const collisions[] = {"default", LAMINA_COLLISION_LIST(NAME_ROW) NULL};
static const char *const backends[] = {"default", LAMINA_BACKEND_LIST(NAME_ROW) NULL};
#undef NAME_ROW
static const char *const names[] = {"default", "512x3", "512x4", "480x3", "480x4", "320x3", "320x4", NULL};

static const lmi_option options[] = {
  LMI_OPTION_INTEGER(struct bench_levels_values, cells, "cells", "N", 16, 2048,
                     "finest cells along each axis, a multiple of 8 (default: a quarter of the paper's)"),
  LMI_OPTION_FLAG(struct bench_levels_values, paper, "paper", "at the sizes of the paper: 512, 480, 320 cells"),
  LMI_OPTION_CHOICE(struct bench_levels_values, distribution, "distribution", names,
                    "where levels begin, as in the paper at that size and number of levels (default: all)"),
  LMI_OPTION_CHOICE(struct bench_levels_values, lattice, "lattice", lattices, "velocity set (default: d3q19)"),
  LMI_OPTION_CHOICE(struct bench_levels_values, precision, "precision", precisions, "arithmetic (default: f32)"),
  LMI_OPTION_CHOICE(struct bench_levels_values, collision, "collision", collisions, "collision (default: bgk)"),
  LMI_OPTION_CHOICE(struct bench_levels_values, backend, "backend", backends, "processor or device (default: cpu)"),
  LMI_OPTION_FLAG(struct bench_levels_values, one_by_one, "one-by-one",
                  "keep one scheme in memory at a time, for sizes near what fits"),
  LMI_OPTION_INTEGER(struct bench_levels_values, threads, "threads", "N", 1, 4096, "threads (default: all usable)"),
  LMI_OPTION_INTEGER(struct bench_levels_values, repetitions, "repetitions", "N", 1, 1000,
                     "rounds of measurements a row (default: 5)"),
  LMI_OPTION_NUMBER(struct bench_levels_values, seconds, "seconds", "S", 0.001, 3600.0,
                    "length of one measurement (default: 0.5)"),
  LMI_OPTION_FLAG(struct bench_levels_values, json, "json", "print one JSON object"),
  {0}};

static void make_bench(const struct bench_levels_values *values, const lamina_level_distribution *d,
                       lamina_level_bench *bench)
{
  *bench = lamina_level_bench_default();
  bench->repetitions = (int)values->repetitions;
  bench->seconds = values->seconds;
  const lamina_index cells = values->paper ? d->cells : values->cells > 0 ? values->cells : d->cells / 4;
  bench->one_by_one = values->one_by_one;
  bench->solver.cells = (lamina_int3){cells, cells, cells};
  bench->solver.levels = d->levels;
  for (int l = 0; l < d->levels; l++)
    bench->thresholds[l] = d->thresholds[l];
  if (values->lattice > 0)
    bench->solver.lattice = (lamina_lattice)(values->lattice - 1);
  if (values->precision > 0)
    bench->solver.precision = (lamina_precision)(values->precision - 1);
  if (values->collision > 0)
    bench->solver.collision = (lamina_collision)(values->collision - 1);
  if (values->backend > 0)
    bench->solver.backend = (lamina_backend)(values->backend - 1);
}

/* ---- text ---- */

static void print_row(const lamina_solver_options *solver, const lamina_level_distribution *d,
                      const lamina_level_row *row)
{
  static const lamina_level_scheme ORDER[] = {LAMINA_LEVELS_BASELINE, LAMINA_LEVELS_FINEST_FUSED,
                                              LAMINA_LEVELS_COARSE_FUSED, LAMINA_LEVELS_VOLUMETRIC,
                                              LAMINA_LEVELS_PACKETS};
  printf("%s at %lld^3: cells", d->name, (long long)solver->cells.x);
  for (int l = 0; l < d->levels; l++)
    printf(" %lld (%.1f %% of blocks at jumps)", (long long)row->levels[l].cells,
           100.0 * (double)row->levels[l].jump_blocks / (double)row->levels[l].blocks);
  printf(", %.1f bytes a cell\n", row->bytes_per_cell);
  for (size_t i = 0; i < LMI_COUNT(ORDER); i++) {
    const lamina_level_scheme scheme = ORDER[i];
    const lamina_spread *mlups = &row->mlups[scheme], *share = &row->share[scheme], *gain = &row->gain[scheme];
    printf("  %-12s %8.1f  %7.1f to %-7.1f  x %.3f (%.3f to %.3f)", lamina_level_scheme_name(scheme), mlups->median,
           mlups->low, mlups->high, gain->median, gain->low, gain->high);
    if (isnan(share->median))
      printf("  share not measured: %s\n", row->ceiling_reason);
    else
      printf("  %5.1f %% of %.1f\n", 100.0 * share->median, row->ceiling_mlups.median);
  }
}

/* ---- JSON ---- */

static json_t *spread_json(const lamina_spread *spread)
{
  json_t *object = json_object();
  json_object_set_new(object, "median", lmi_json_number(spread->median));
  json_object_set_new(object, "min", lmi_json_number(spread->low));
  json_object_set_new(object, "max", lmi_json_number(spread->high));
  return object;
}

static json_t *levels_json(const lamina_level_distribution *d, const lamina_level_row *row)
{
  json_t *list = json_array();
  for (int l = 0; l < d->levels; l++) {
    const lamina_level_info *level = &row->levels[l];
    json_array_append_new(list,
                          json_pack("{s:f, s:I, s:I, s:I, s:I}", "threshold", d->thresholds[l], "cells",
                                    (json_int_t)level->cells, "blocks", (json_int_t)level->blocks, "wall_blocks",
                                    (json_int_t)level->wall_blocks, "jump_blocks", (json_int_t)level->jump_blocks));
  }
  return list;
}

static json_t *row_json(const lamina_solver_options *solver, const lamina_level_distribution *d,
                        const lamina_level_row *row)
{
  json_t *schemes = json_object();
  for (int scheme = 0; scheme < LAMINA_LEVEL_SCHEMES; scheme++)
    json_object_set_new(schemes, lamina_level_scheme_name((lamina_level_scheme)scheme),
                        json_pack("{s:o, s:o, s:o}", "mlups", spread_json(&row->mlups[scheme]), "share",
                                  spread_json(&row->share[scheme]), "gain", spread_json(&row->gain[scheme])));
  json_t *object =
    json_pack("{s:s, s:s, s:s, s:s, s:I, s:i, s:o, s:o, s:o, s:f}", "distribution", d->name, "lattice",
              lamina_lattice_name(solver->lattice), "precision", lamina_precision_name(solver->precision), "collision",
              lamina_collision_name(solver->collision), "cells_across", (json_int_t)solver->cells.x, "threads",
              row->threads, "levels", levels_json(d, row), "schemes", schemes, "ceiling_mlups",
              spread_json(&row->ceiling_mlups), "bytes_per_cell", row->bytes_per_cell);
  if (isnan(row->ceiling_mlups.median))
    json_object_set_new(object, "reason", json_string(row->ceiling_reason));
  return object;
}

/* A distribution that this size cannot hold (its coarsest level would be empty) costs its row, not the others. */
static lamina_status skip_row(lmi_call *call, const lamina_level_distribution *d, json_t *rows)
{
  const char *reason = lamina_error_message(call->ctx);
  if (rows != NULL)
    json_array_append_new(rows, json_pack("{s:s, s:n, s:s}", "distribution", d->name, "schemes", "reason", reason));
  else
    printf("%s: not measured: %s\n", d->name, reason);
  lamina_error_clear(call->ctx);
  return LAMINA_OK;
}

static lamina_status run_rows(lmi_call *call, json_t *rows)
{
  const struct bench_levels_values *values = call->values;
  for (size_t i = 0; lamina_level_distribution_get(i) != NULL; i++) {
    const lamina_level_distribution *d = lamina_level_distribution_get(i);
    lamina_level_bench bench;
    lamina_level_row row;
    if (values->distribution > 0 && (size_t)values->distribution != i + 1)
      continue;
    make_bench(values, d, &bench);
    const lamina_status status = lamina_level_bench_run(call->ctx, &bench, &row);
    if (status == LAMINA_ERROR_ARGUMENT && values->distribution == 0) {
      LMI_TRY(skip_row(call, d, rows));
      continue;
    }
    LMI_TRY(status);
    if (rows != NULL)
      json_array_append_new(rows, row_json(&bench.solver, d, &row));
    else
      print_row(&bench.solver, d, &row);
    fflush(stdout);
  }
  return LAMINA_OK;
}

static lamina_status bench_levels_run(lmi_call *call)
{
  const struct bench_levels_values *values = call->values;
  LMI_TRY(lmi_call_open(call, (int)values->threads));
  if (values->paper && values->cells > 0)
    return lmi_usage_error(call, "--paper and --cells say two sizes; keep one");
  if (!values->json) {
    printf("lid-driven cavity with refined walls, %d threads; million updates of cells in their own steps;\n"
           "gain over the baseline; ceiling: as many streams, read and written in place\n",
           lamina_context_thread_count(call->ctx));
    return run_rows(call, NULL);
  }
  char machine[96];
  lmi_name_processor(call, machine, sizeof machine);
  json_t *rows = json_array();
  return lmi_print_rows(call, run_rows(call, rows), machine, rows);
}

const lmi_command lmi_bench_levels = {
  .name = "levels",
  .summary = "speed of the solver on levels: the published scheme unfused and fused, and packets",
  .group = LMI_GROUP_SIMULATE,
  .options = options,
  LMI_VALUES(defaults),
  .run = bench_levels_run,
};
