/* SPDX-License-Identifier: Apache-2.0 */
/* The groupings of boundary blocks, in turns on the same channel. */
#include <math.h>
#include <stdlib.h>

#include "base/spread.h"
#include "flow/block_flow.h"
#include "flow/solver_internal.h"
#include "timing.h"
#include <lamina/bench.h>

enum { MAX_REPETITIONS = 1000, GROUPINGS = LAMINA_GROUPING_NAIVE + 1 };

static const double INLET_SPEED = 0.05;
static const double OMEGA = 1.7;

/* What the paper's Table 2 counts: a vector for each cell (naive), an index for each cell (bitmask). */
enum { VECTOR_VALUES = 3, INDEX_BYTES = 4, POPCOUNT_BYTES_A_BLOCK = 12 };

lamina_register_bench lamina_register_bench_default(void)
{
  lamina_register_bench bench = {.solver = lamina_solver_options_default(), .repetitions = 5, .seconds = 0.2};
  bench.solver.cells = (lamina_int3){128, 128, 128};
  return bench;
}

static void make_channel(lamina_solver_options *options)
{
  const bool flat = lamina_lattice_dimension(options->lattice) == 2;
  options->grid = LAMINA_GRID_SPARSE;
  options->omega = OMEGA;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    options->faces[face] = (lamina_face){.kind = LAMINA_FACE_PERIODIC};
  options->faces[LAMINA_FACE_X_LOW] = (lamina_face){.kind = LAMINA_FACE_VELOCITY, .velocity = {INLET_SPEED, 0.0, 0.0}};
  options->faces[LAMINA_FACE_X_HIGH] = (lamina_face){.kind = LAMINA_FACE_PRESSURE, .density = 1.0};
  if (flat)
    options->cells.z = 1;
}

static double model_bytes(lamina_grouping grouping, const lamina_register_row *row, size_t real_bytes)
{
  const double plain = (double)(row->blocks - row->special_blocks), all = (double)row->blocks;
  switch (grouping) {
  case LAMINA_GROUPING_MEMORY: return 0.0;
  case LAMINA_GROUPING_BITMASK: return all * LMK_BLOCK_CELLS * INDEX_BYTES;
  case LAMINA_GROUPING_POPCOUNT: return all * POPCOUNT_BYTES_A_BLOCK;
  case LAMINA_GROUPING_NAIVE: return plain * LMK_BLOCK_CELLS * VECTOR_VALUES * (double)real_bytes;
  }
  return NAN;
}

static void describe(lamina_solver *const solvers[GROUPINGS], lamina_register_row *rows)
{
  lamina_solver_info least;
  lamina_solver_get_info(solvers[LAMINA_GROUPING_MEMORY], &least);
  for (int g = 0; g < GROUPINGS; g++) {
    const lmi_block_flow *flow = (const lmi_block_flow *)solvers[g]->flow;
    lamina_solver_info info;
    lamina_solver_get_info(solvers[g], &info);
    rows[g].blocks = info.blocks;
    rows[g].special_blocks = 0;
    for (int p = 0; p < flow->blocks.layers.count; p++)
      rows[g].special_blocks += flow->blocks.parts[p].special_blocks;
    rows[g].threads = lamina_context_thread_count(solvers[g]->ctx);
    rows[g].model_extra_bytes = model_bytes((lamina_grouping)g, &rows[g], solvers[g]->flow->element_bytes);
    rows[g].allocated_extra_bytes = (double)(info.bytes + info.table_bytes) - (double)(least.bytes + least.table_bytes);
  }
}

static lamina_status measure(lamina_solver *const solvers[GROUPINGS], const lamina_register_bench *bench,
                             lamina_register_row *rows)
{
  double mlups[GROUPINGS][MAX_REPETITIONS], ratio[GROUPINGS][MAX_REPETITIONS], seconds = 0.0;
  lamina_solver_info info;
  lamina_solver_get_info(solvers[0], &info);
  for (int g = 0; g < GROUPINGS; g++)
    LMI_TRY(lmi_time_steps(solvers[g], 2, &seconds));
  LMI_TRY(lmi_time_steps(solvers[0], 2, &seconds));
  const lamina_index steps = 2 * lmi_times_within(bench->seconds, seconds);
  for (int r = 0; r < bench->repetitions; r++) {
    for (int g = 0; g < GROUPINGS; g++) {
      LMI_TRY(lmi_time_steps(solvers[g], steps, &seconds));
      mlups[g][r] = 1e-6 * (double)info.cells * (double)steps / seconds;
    }
    for (int g = 0; g < GROUPINGS; g++)
      ratio[g][r] = mlups[g][r] / mlups[LAMINA_GROUPING_MEMORY][r];
  }
  for (int g = 0; g < GROUPINGS; g++) {
    rows[g].steps = steps;
    rows[g].mlups = lmi_spread_of(mlups[g], (size_t)bench->repetitions);
    rows[g].to_memory = lmi_spread_of(ratio[g], (size_t)bench->repetitions);
  }
  return LAMINA_OK;
}

lamina_status lamina_register_bench_run(lamina_context *ctx, const lamina_register_bench *bench,
                                        lamina_register_row *rows)
{
  LMI_REQUIRE(ctx, bench->repetitions >= 1 && bench->repetitions <= MAX_REPETITIONS, LAMINA_ERROR_ARGUMENT,
              "%d repetitions: 1 to %d are possible", bench->repetitions, (int)MAX_REPETITIONS);
  LMI_REQUIRE(ctx, bench->seconds > 0.0 && isfinite(bench->seconds), LAMINA_ERROR_ARGUMENT,
              "%g seconds a repetition: the time must be positive", bench->seconds);
  lamina_status status = LAMINA_OK;
  lamina_solver *solvers[GROUPINGS] = {NULL};
  for (int g = 0; g < GROUPINGS; g++) {
    lamina_solver_options options = bench->solver;
    make_channel(&options);
    options.grouping = (lamina_grouping)g;
    LMI_TRY_GOTO(status, lamina_solver_create(ctx, &options, &solvers[g]), cleanup);
  }
  describe(solvers, rows);
  status = measure(solvers, bench, rows);
cleanup:
  for (int g = 0; g < GROUPINGS; g++)
    lamina_solver_destroy(solvers[g]);
  return status;
}
