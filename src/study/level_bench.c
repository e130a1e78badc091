/* SPDX-License-Identifier: Apache-2.0 */
/* The cavity with refined walls: the published scheme unfused and fused away from jumps, the packets, and the streams
 * ceiling, in turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/spread.h"
#include "timing.h"
#include <lamina/bench.h>

enum { MAX_REPETITIONS = 1000, SCHEMES = 3 };

static const double LID_SPEED = 0.05;
static const double OMEGA = 1.7;

lamina_level_bench lamina_level_bench_default(void)
{
  lamina_level_bench bench = {
    .solver = lamina_solver_options_default(),
    .thresholds = {0.0, 0.25, 0.4375},
    .repetitions = 5,
    .seconds = 0.5,
  };
  bench.solver.cells = (lamina_int3){128, 128, 128};
  bench.solver.levels = 3;
  return bench;
}

/* A running benchmark: one solver for each scheme. */
typedef struct level_run {
  lamina_context *ctx;
  const lamina_level_bench *bench;
  lamina_solver_options options;
  lamina_refinement refinements[LAMINA_MAX_LEVELS];
  lamina_solver *solvers[SCHEMES];
  lamina_index steps;
  double updates_per_step;
} level_run;

static void make_cavity(level_run *run)
{
  lamina_solver_options *options = &run->options;
  *options = run->bench->solver;
  const bool flat = lamina_lattice_dimension(options->lattice) == 2;
  for (int face = 0; face < (flat ? LAMINA_FACE_Z_LOW : LAMINA_FACE_COUNT); face++)
    options->faces[face] = (lamina_face){.kind = LAMINA_FACE_WALL};
  options->faces[flat ? LAMINA_FACE_Y_HIGH : LAMINA_FACE_Z_HIGH].velocity.x = LID_SPEED;
  if (flat)
    options->cells.z = 1;
  options->omega = OMEGA;
  options->grid = LAMINA_GRID_LEVELS;
  options->refinements = run->refinements;
  options->refinement_count = (size_t)(options->levels - 1);
  for (int l = 0; l < options->levels - 1; l++)
    run->refinements[l] = (lamina_refinement){
      .kind = LAMINA_REFINE_WALLS,
      .level = l,
      .distance = run->bench->thresholds[l + 1] * 0.5 * (double)options->cells.x,
    };
}

static lamina_status make_solvers(level_run *run)
{
  for (int scheme = 0; scheme < SCHEMES; scheme++) {
    run->options.level_scheme = (lamina_level_scheme)scheme;
    LMI_TRY(lamina_solver_create(run->ctx, &run->options, &run->solvers[scheme]));
  }
  return LAMINA_OK;
}

/* Whole pairs of steps of the coarsest level that last about as long as asked. */
static lamina_status choose_steps(level_run *run, int step_stride)
{
  double seconds = 0.0;
  for (int scheme = 0; scheme < SCHEMES; scheme++)
    LMI_TRY(lmi_time_steps(run->solvers[scheme], 2 * step_stride, &seconds));
  LMI_TRY(lmi_time_steps(run->solvers[LAMINA_LEVELS_PACKETS], 2 * step_stride, &seconds));
  run->steps = 2 * step_stride * lmi_times_within(run->bench->seconds, seconds);
  return LAMINA_OK;
}

/* A ceiling that cannot be measured costs the share, not the benchmark. */
static double measure_ceiling(const level_run *run, lamina_index cells, lamina_level_row *row)
{
  lamina_stream_probe probe = lamina_stream_probe_default();
  lamina_bandwidth bandwidth;
  probe.streams = lamina_lattice_velocities(run->options.lattice);
  probe.element_bytes = run->options.precision == LAMINA_F64 ? 8 : 4;
  probe.cells = cells;
  probe.layout = LAMINA_LAYOUT_SOA;
  probe.repetitions = 1;
  if (lamina_machine_stream_ceiling(run->ctx, &probe, &bandwidth) == LAMINA_OK)
    return bandwidth.million_elements.median;
  snprintf(row->ceiling_reason, sizeof row->ceiling_reason, "%s", lamina_error_message(run->ctx));
  lamina_error_clear(run->ctx);
  return NAN;
}

static lamina_status measure(level_run *run, lamina_index cells, lamina_level_row *row)
{
  double mlups[SCHEMES][MAX_REPETITIONS], share[SCHEMES][MAX_REPETITIONS], gain[SCHEMES][MAX_REPETITIONS];
  double ceiling[MAX_REPETITIONS];
  const int repetitions = run->bench->repetitions;
  for (int i = 0; i < repetitions; i++) {
    for (int scheme = 0; scheme < SCHEMES; scheme++) {
      double seconds = 0.0;
      LMI_TRY(lmi_time_steps(run->solvers[scheme], run->steps, &seconds));
      mlups[scheme][i] = 1e-6 * run->updates_per_step * (double)run->steps / seconds;
    }
    ceiling[i] = measure_ceiling(run, cells, row);
    for (int scheme = 0; scheme < SCHEMES; scheme++) {
      share[scheme][i] = mlups[scheme][i] / ceiling[i];
      gain[scheme][i] = mlups[scheme][i] / mlups[LAMINA_LEVELS_BASELINE][i];
    }
  }
  for (int scheme = 0; scheme < SCHEMES; scheme++) {
    row->mlups[scheme] = lmi_spread_of(mlups[scheme], (size_t)repetitions);
    row->share[scheme] = lmi_spread_of(share[scheme], (size_t)repetitions);
    row->gain[scheme] = lmi_spread_of(gain[scheme], (size_t)repetitions);
  }
  row->ceiling_mlups = lmi_spread_of(ceiling, (size_t)repetitions);
  return LAMINA_OK;
}

static lamina_status run_bench(level_run *run, lamina_level_row *row)
{
  lamina_solver_info info;
  make_cavity(run);
  LMI_TRY(lamina_levels_plan(run->ctx, &run->options, row->levels));
  LMI_TRY(make_solvers(run));
  lamina_solver_get_info(run->solvers[LAMINA_LEVELS_PACKETS], &info);
  run->updates_per_step = info.updates_per_step;
  LMI_TRY(choose_steps(run, info.step_stride));
  LMI_TRY(measure(run, info.cells, row));
  row->bytes_per_cell = (double)(info.bytes + info.table_bytes) / (double)info.cells;
  row->steps = run->steps;
  row->threads = lamina_context_thread_count(run->ctx);
  return LAMINA_OK;
}

lamina_status lamina_level_bench_run(lamina_context *ctx, const lamina_level_bench *bench, lamina_level_row *row)
{
  memset(row, 0, sizeof *row);
  LMI_REQUIRE(ctx, bench->repetitions >= 1 && bench->repetitions <= MAX_REPETITIONS, LAMINA_ERROR_ARGUMENT,
              "%d repetitions: 1 to %d are possible", bench->repetitions, (int)MAX_REPETITIONS);
  LMI_REQUIRE(ctx, bench->seconds > 0.0 && isfinite(bench->seconds), LAMINA_ERROR_ARGUMENT,
              "%g seconds a repetition: the time must be positive", bench->seconds);
  LMI_REQUIRE(ctx, bench->solver.levels >= 2 && bench->solver.levels <= LAMINA_MAX_LEVELS, LAMINA_ERROR_ARGUMENT,
              "%d levels: 2 to %d are possible", bench->solver.levels, (int)LAMINA_MAX_LEVELS);
  level_run run = {.ctx = ctx, .bench = bench};
  const lamina_status status = run_bench(&run, row);
  for (int scheme = 0; scheme < SCHEMES; scheme++)
    lamina_solver_destroy(run.solvers[scheme]);
  return status;
}
