/* SPDX-License-Identifier: Apache-2.0 */
/* The cavity with refined walls: the published scheme unfused, fused away from jumps on all levels, on the finest and
 * on the others alone, the packets, and the streams ceiling. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/spread.h"
#include "ceiling.h"
#include "timing.h"
#include <lamina/bench.h>

enum { MAX_REPETITIONS = 1000, SCHEMES = LAMINA_LEVEL_SCHEMES };

#define COUNT_ONE(enumerator, value, name, text) +1
static_assert((0 LAMINA_LEVEL_SCHEME_LIST(COUNT_ONE)) == SCHEMES, "a scheme without a place in lamina_level_row");
#undef COUNT_ONE

static const lamina_level_distribution DISTRIBUTIONS[] = {
  {"512x3", 512, 3, {0.0, 0.25, 0.4375}}, {"512x4", 512, 4, {0.0, 120.0 / 512.0, 200.0 / 512.0, 400.0 / 512.0}},
  {"480x3", 480, 3, {0.0, 0.2, 0.4}},     {"480x4", 480, 4, {0.0, 0.2, 0.4, 2.0 / 3.0}},
  {"320x3", 320, 3, {0.0, 0.2, 0.4}},     {"320x4", 320, 4, {0.0, 0.2, 0.4, 0.7}},
};

const lamina_level_distribution *lamina_level_distribution_get(size_t index)
{
  return index < LMI_COUNT(DISTRIBUTIONS) ? &DISTRIBUTIONS[index] : NULL;
}

static const double LID_SPEED = 0.05;
static const double OMEGA = 1.7;

lamina_level_bench lamina_level_bench_default(void)
{
  lamina_level_bench bench = {
    .solver = lamina_solver_options_default(),
    .thresholds = {0.0, 0.25, 0.4375}, /* of 512x3 */
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
  lamina_index steps, cells;
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

static lamina_status open_scheme(level_run *run, int scheme)
{
  run->options.level_scheme = (lamina_level_scheme)scheme;
  return lamina_solver_create(run->ctx, &run->options, &run->solvers[scheme]);
}

/* Open, and warm. */
static lamina_status ready_scheme(level_run *run, int scheme)
{
  double seconds = 0.0;
  if (run->solvers[scheme] == NULL)
    LMI_TRY(open_scheme(run, scheme));
  return lmi_time_steps(run->solvers[scheme], run->steps, &seconds);
}

static void close_scheme(level_run *run, int scheme)
{
  lamina_solver_destroy(run->solvers[scheme]);
  run->solvers[scheme] = NULL;
}

/* What does not depend on the scheme; whole pairs of steps of the coarsest level that last about as long as asked. */
static lamina_status describe(level_run *run, lamina_level_row *row)
{
  double seconds = 0.0;
  lamina_solver_info info;
  lamina_solver *solver = run->solvers[LAMINA_LEVELS_PACKETS];
  lamina_solver_get_info(solver, &info);
  run->cells = info.cells;
  run->updates_per_step = info.updates_per_step;
  LMI_TRY(lmi_time_steps(solver, 2 * info.step_stride, &seconds));
  LMI_TRY(lmi_time_steps(solver, 2 * info.step_stride, &seconds));
  run->steps = 2 * info.step_stride * lmi_times_within(run->bench->seconds, seconds);
  row->bytes_per_cell = (double)(info.bytes + info.table_bytes) / (double)info.cells;
  row->steps = run->steps;
  row->threads = lamina_context_thread_count(run->ctx);
  return LAMINA_OK;
}

/* ---- measuring ---- */

typedef struct samples {
  double mlups[SCHEMES][MAX_REPETITIONS], ceiling[SCHEMES][MAX_REPETITIONS];
} samples;

static lamina_status time_scheme(const level_run *run, int scheme, double *mlups)
{
  double seconds = 0.0;
  LMI_TRY(lmi_time_steps(run->solvers[scheme], run->steps, &seconds));
  *mlups = 1e-6 * run->updates_per_step * (double)run->steps / seconds;
  return LAMINA_OK;
}

static double measure_ceiling(const level_run *run, lamina_level_row *row)
{
  return lmi_measure_ceiling(run->ctx, &run->options, run->cells, row->ceiling_reason, sizeof row->ceiling_reason);
}

/* All schemes in each repetition, then the ceiling they share. */
static lamina_status measure_in_turn(level_run *run, lamina_level_row *row, samples *taken)
{
  for (int scheme = 0; scheme < SCHEMES; scheme++)
    LMI_TRY(ready_scheme(run, scheme));
  for (int i = 0; i < run->bench->repetitions; i++) {
    for (int scheme = 0; scheme < SCHEMES; scheme++)
      LMI_TRY(time_scheme(run, scheme, &taken->mlups[scheme][i]));
    const double ceiling = measure_ceiling(run, row);
    for (int scheme = 0; scheme < SCHEMES; scheme++)
      taken->ceiling[scheme][i] = ceiling;
  }
  return LAMINA_OK;
}

/* Each scheme with a ceiling of its own: memory for one. */
static lamina_status measure_one_by_one(level_run *run, lamina_level_row *row, samples *taken)
{
  for (int scheme = 0; scheme < SCHEMES; scheme++) {
    LMI_TRY(ready_scheme(run, scheme));
    for (int i = 0; i < run->bench->repetitions; i++) {
      LMI_TRY(time_scheme(run, scheme, &taken->mlups[scheme][i]));
      taken->ceiling[scheme][i] = measure_ceiling(run, row);
    }
    close_scheme(run, scheme);
  }
  return LAMINA_OK;
}

/* lmi_spread_of sorts what it gets; ratios need the order of the measurements. */
static lamina_spread spread_of(const double *values, size_t count)
{
  double sorted[MAX_REPETITIONS];
  memcpy(sorted, values, count * sizeof *values);
  return lmi_spread_of(sorted, count);
}

static void summarise(const level_run *run, const samples *taken, lamina_level_row *row)
{
  const size_t repetitions = (size_t)run->bench->repetitions;
  double share[MAX_REPETITIONS], gain[MAX_REPETITIONS];
  const lamina_spread baseline = spread_of(taken->mlups[LAMINA_LEVELS_BASELINE], repetitions);
  for (int scheme = 0; scheme < SCHEMES; scheme++) {
    const double *mlups = taken->mlups[scheme];
    for (size_t i = 0; i < repetitions; i++) {
      share[i] = mlups[i] / taken->ceiling[scheme][i];
      gain[i] = mlups[i] / (run->bench->one_by_one ? baseline.median : taken->mlups[LAMINA_LEVELS_BASELINE][i]);
    }
    row->mlups[scheme] = spread_of(mlups, repetitions);
    row->share[scheme] = lmi_spread_of(share, repetitions);
    row->gain[scheme] = lmi_spread_of(gain, repetitions);
  }
  row->ceiling_mlups = spread_of(taken->ceiling[LAMINA_LEVELS_PACKETS], repetitions);
}

static lamina_status run_bench(level_run *run, samples *taken, lamina_level_row *row)
{
  make_cavity(run);
  LMI_TRY(lamina_levels_plan(run->ctx, &run->options, row->levels));
  LMI_TRY(open_scheme(run, LAMINA_LEVELS_PACKETS));
  LMI_TRY(describe(run, row));
  LMI_TRY(run->bench->one_by_one ? measure_one_by_one(run, row, taken) : measure_in_turn(run, row, taken));
  summarise(run, taken, row);
  return LAMINA_OK;
}

static lamina_status check_bench(lamina_context *ctx, const lamina_level_bench *bench)
{
  LMI_REQUIRE(ctx, bench->repetitions >= 1 && bench->repetitions <= MAX_REPETITIONS, LAMINA_ERROR_ARGUMENT,
              "%d repetitions: 1 to %d are possible", bench->repetitions, (int)MAX_REPETITIONS);
  LMI_REQUIRE(ctx, bench->seconds > 0.0 && isfinite(bench->seconds), LAMINA_ERROR_ARGUMENT,
              "%g seconds a repetition: the time must be positive", bench->seconds);
  LMI_REQUIRE(ctx, bench->solver.levels >= 2 && bench->solver.levels <= LAMINA_MAX_LEVELS, LAMINA_ERROR_ARGUMENT,
              "%d levels: 2 to %d are possible", bench->solver.levels, (int)LAMINA_MAX_LEVELS);
  return LAMINA_OK;
}

lamina_status lamina_level_bench_plan(lamina_context *ctx, const lamina_level_bench *bench, lamina_level_info *levels)
{
  LMI_TRY(check_bench(ctx, bench));
  level_run run = {.ctx = ctx, .bench = bench};
  make_cavity(&run);
  return lamina_levels_plan(ctx, &run.options, levels);
}

lamina_status lamina_level_bench_run(lamina_context *ctx, const lamina_level_bench *bench, lamina_level_row *row)
{
  samples *taken = NULL;
  memset(row, 0, sizeof *row);
  LMI_TRY(check_bench(ctx, bench));
  LMI_TRY(LMI_ALLOC(ctx, 1, &taken));
  level_run run = {.ctx = ctx, .bench = bench};
  const lamina_status status = run_bench(&run, taken, row);
  for (int scheme = 0; scheme < SCHEMES; scheme++)
    close_scheme(&run, scheme);
  lmi_free(ctx, taken);
  return status;
}
