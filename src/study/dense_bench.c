/* SPDX-License-Identifier: Apache-2.0 */
/* The lid-driven cavity against the streams ceiling, in pairs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/spread.h"
#include "ceiling.h"
#include "timing.h"
#include <lamina/bench.h>

enum { MAX_REPETITIONS = 1000 };

/* Fast enough to be compressible by a percent, slow enough to be stable at any size. */
static const double LID_SPEED = 0.05;
static const double OMEGA = 1.7;

lamina_dense_bench lamina_dense_bench_default(void)
{
  lamina_dense_bench bench = {.solver = lamina_solver_options_default(), .repetitions = 5, .seconds = 0.5};
  bench.solver.cells = (lamina_int3){256, 256, 256};
  return bench;
}

static void make_cavity(lamina_solver_options *options)
{
  const bool flat = lamina_lattice_dimension(options->lattice) == 2;
  for (int face = 0; face < (flat ? LAMINA_FACE_Z_LOW : LAMINA_FACE_COUNT); face++)
    options->faces[face] = (lamina_face){.kind = LAMINA_FACE_WALL};
  options->faces[flat ? LAMINA_FACE_Y_HIGH : LAMINA_FACE_Z_HIGH].velocity.x = LID_SPEED;
  if (flat)
    options->cells.z = 1;
  options->omega = OMEGA;
}

static double cell_count(const lamina_solver_options *options)
{
  return (double)options->cells.x * (double)options->cells.y * (double)options->cells.z;
}

/* An even number of steps that lasts about as long as asked: in-place patterns alternate between two kinds. */
static lamina_status choose_steps(lamina_solver *solver, double wanted_seconds, lamina_index *steps)
{
  double seconds = 0.0;
  LMI_TRY(lmi_time_steps(solver, 2, &seconds));
  LMI_TRY(lmi_time_steps(solver, 2, &seconds));
  *steps = 2 * lmi_times_within(wanted_seconds, seconds);
  return LAMINA_OK;
}

static lamina_status measure(lamina_context *ctx, lamina_solver *solver, const lamina_dense_bench *bench,
                             lamina_dense_row *row)
{
  const lamina_solver_options *options = lamina_solver_get_options(solver);
  double mlups[MAX_REPETITIONS], ceiling[MAX_REPETITIONS], share[MAX_REPETITIONS];
  LMI_TRY(choose_steps(solver, bench->seconds, &row->steps));
  for (int i = 0; i < bench->repetitions; i++) {
    double seconds = 0.0;
    LMI_TRY(lmi_time_steps(solver, row->steps, &seconds));
    mlups[i] = 1e-6 * cell_count(options) * (double)row->steps / seconds;
    ceiling[i] = lmi_measure_ceiling(ctx, options, (lamina_index)cell_count(options), row->ceiling_reason,
                                     sizeof row->ceiling_reason);
    share[i] = mlups[i] / ceiling[i];
  }
  row->mlups = lmi_spread_of(mlups, (size_t)bench->repetitions);
  row->ceiling_mlups = lmi_spread_of(ceiling, (size_t)bench->repetitions);
  row->share = lmi_spread_of(share, (size_t)bench->repetitions);
  return LAMINA_OK;
}

lamina_status lamina_dense_bench_run(lamina_context *ctx, const lamina_dense_bench *bench, lamina_dense_row *row)
{
  memset(row, 0, sizeof *row);
  LMI_REQUIRE(ctx, bench->repetitions >= 1 && bench->repetitions <= MAX_REPETITIONS, LAMINA_ERROR_ARGUMENT,
              "%d repetitions: 1 to %d are possible", bench->repetitions, (int)MAX_REPETITIONS);
  LMI_REQUIRE(ctx, bench->seconds > 0.0 && isfinite(bench->seconds), LAMINA_ERROR_ARGUMENT,
              "%g seconds a repetition: the time must be positive", bench->seconds);
  lamina_solver_options options = bench->solver;
  make_cavity(&options);
  lamina_solver *solver = NULL;
  LMI_TRY(lamina_solver_create(ctx, &options, &solver));
  const lamina_status status = measure(ctx, solver, bench, row);
  lamina_solver_info info;
  lamina_solver_get_info(solver, &info);
  row->bytes_per_cell = info.bytes_per_cell;
  row->gb_per_s =
    2.0 * lamina_lattice_velocities(options.lattice) * lmi_stored_bytes(&options) * row->mlups.median * 1e-3;
  row->threads = lamina_context_thread_count(ctx);
  lamina_solver_destroy(solver);
  return status;
}
