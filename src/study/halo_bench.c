/* SPDX-License-Identifier: Apache-2.0 */
/* Halo exchange measured in three ways: alone, under computation, and before it; each against the paper's model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/solver_internal.h"
#include "transport_fit.h"

enum { MAX_REPETITIONS = 1000 };
static const double EXCHANGE_SECONDS = 0.02;

lamina_halo_bench lamina_halo_bench_default(void)
{
  lamina_halo_bench bench = {.solver = lamina_solver_options_default(), .repetitions = 5, .seconds = 0.1};
  bench.solver.cells = (lamina_int3){64, 64, 64};
  bench.solver.streaming = LAMINA_TWO_GRID;
  return bench;
}

static lamina_status check_bench(lamina_context *ctx, const lamina_halo_bench *bench)
{
  LMI_REQUIRE(ctx, bench->repetitions >= 1 && bench->repetitions <= MAX_REPETITIONS, LAMINA_ERROR_ARGUMENT,
              "%d repetitions: 1 to %d are possible", bench->repetitions, (int)MAX_REPETITIONS);
  LMI_REQUIRE(ctx, bench->seconds > 0.0 && isfinite(bench->seconds), LAMINA_ERROR_ARGUMENT,
              "%g seconds a repetition: the time must be positive", bench->seconds);
  LMI_REQUIRE(ctx, bench->solver.partitions >= 2, LAMINA_ERROR_ARGUMENT,
              "%d partitions: at least 2 are needed to exchange anything", bench->solver.partitions);
  return LAMINA_OK;
}

/* The copies of a schedule without its launches, there and back: what computing would have written since the last
 * exchange is written by the way back, by another thread than the one that reads it next. */
typedef struct exchange {
  lmi_copy *back;
  lmi_phase *phases;
  lmi_step_phases *steps;
} exchange;

static void turn_back(const lmi_phase *phase, lmi_copy *back)
{
  for (size_t i = 0; i < phase->copy_count; i++) {
    const lmi_copy *copy = &phase->copies[(i + 1) % phase->copy_count];
    back[i] = *copy;
    back[i].target = (void *)(uintptr_t)copy->source;
    back[i].source = copy->target;
    back[i].target_partition = copy->source_partition;
    back[i].source_partition = copy->target_partition;
  }
}

static void fill_exchange(const lmi_program *program, exchange *made)
{
  lmi_copy *back = made->back;
  lmi_phase *next = made->phases;
  for (size_t s = 0; s < program->step_count; s++) {
    made->steps[s].phases = next;
    for (size_t p = 0; p < program->steps[s].phase_count; p++) {
      const lmi_phase *phase = &program->steps[s].phases[p];
      if (phase->copy_count == 0)
        continue;
      turn_back(phase, back);
      *next++ = (lmi_phase){.copies = phase->copies, .copy_count = phase->copy_count};
      *next++ = (lmi_phase){.copies = back, .copy_count = phase->copy_count};
      back += phase->copy_count;
    }
    made->steps[s].phase_count = (size_t)(next - made->steps[s].phases);
  }
}

static lamina_status time_exchange(lamina_context *ctx, const lamina_solver *solver, double *step_us)
{
  const lmi_program *program = &solver->flow->schedule->program;
  lamina_status status = LAMINA_OK;
  size_t phases = 0, copies = 0;
  exchange made = {NULL, NULL, NULL};
  for (size_t s = 0; s < program->step_count; s++)
    for (size_t p = 0; p < program->steps[s].phase_count; p++, phases++)
      copies += program->steps[s].phases[p].copy_count;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, copies, &made.back), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 2 * phases, &made.phases), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, program->step_count, &made.steps), cleanup);
  fill_exchange(program, &made);
  const lmi_program there_and_back = {
    .steps = made.steps, .step_count = program->step_count, .version = program->version};
  status = lmi_time_copies(solver->flow->device, &there_and_back, EXCHANGE_SECONDS, step_us);
  *step_us /= 2.0;
cleanup:
  lmi_free(ctx, made.back);
  lmi_free(ctx, made.phases);
  lmi_free(ctx, made.steps);
  return status;
}

static lamina_status time_steps(lamina_solver *solver, lamina_index steps, double *seconds)
{
  const double start = lmi_clock_seconds();
  LMI_TRY(lamina_solver_run(solver, steps));
  *seconds = lmi_clock_seconds() - start;
  return LAMINA_OK;
}

static int compare_doubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static lamina_spread spread_of(double *samples, int count)
{
  qsort(samples, (size_t)count, sizeof *samples, compare_doubles);
  return (lamina_spread){samples[count / 2], samples[0], samples[count - 1]};
}

/* With and without overlap in turn: the speed of a shared machine drifts by more than they differ. */
static lamina_status time_both(lamina_solver *const solvers[2], const lamina_halo_bench *bench, lamina_halo_row *row)
{
  const lamina_int3 n = lamina_solver_get_options(solvers[0])->cells;
  double mlups[2][MAX_REPETITIONS], seconds = 0.0;
  for (int i = 0; i < 2; i++)
    LMI_TRY(time_steps(solvers[i], 4, &seconds));
  LMI_TRY(time_steps(solvers[0], 4, &seconds));
  row->steps = 2 * (lamina_index)fmin(fmax(2.0 * bench->seconds / fmax(seconds, 1e-9), 1.0), 1e6);
  for (int r = 0; r < bench->repetitions; r++)
    for (int i = 0; i < 2; i++) {
      LMI_TRY(time_steps(solvers[i], row->steps, &seconds));
      mlups[i][r] = 1e-6 * (double)(n.x * n.y * n.z) * (double)row->steps / seconds;
    }
  row->mlups = spread_of(mlups[0], bench->repetitions);
  row->mlups_no_overlap = spread_of(mlups[1], bench->repetitions);
  return LAMINA_OK;
}

static void describe(const lamina_solver *solver, const lamina_transport *transport, lamina_halo_row *row)
{
  const lmi_schedule *schedule = solver->flow->schedule;
  lamina_solver_info info;
  lamina_solver_get_info(solver, &info);
  row->alpha = info.alpha;
  row->beta_values = info.beta_values;
  row->partitions = solver->flow->partition->count;
  row->threads = lamina_context_thread_count(solver->ctx);
  row->bytes = schedule->traffic.bytes / row->partitions;
  /* Threads take turns at the messages of their slabs; slabs of a device send side by side. */
  const bool on_device = solver->options.backend == LAMINA_BACKEND_CUDA;
  const double share = on_device ? 1.0 : (double)row->partitions / row->threads;
  row->model_us =
    transport->sync_us + share * (row->alpha * transport->setup_us + row->bytes / (1e3 * transport->gb_per_s));
}

lamina_status lamina_halo_bench_run(lamina_context *ctx, const lamina_halo_bench *bench,
                                    const lamina_transport *transport, lamina_halo_row *row)
{
  lamina_status status = LAMINA_OK;
  lamina_solver *solvers[2] = {NULL, NULL};
  memset(row, 0, sizeof *row);
  LMI_TRY(check_bench(ctx, bench));
  for (int i = 0; i < 2; i++) {
    lamina_solver_options options = bench->solver;
    if (lamina_lattice_dimension(options.lattice) == 2)
      options.cells.z = 1;
    for (int face = 0; face < LAMINA_FACE_COUNT; face++)
      options.faces[face] = (lamina_face){.kind = LAMINA_FACE_PERIODIC};
    options.no_overlap = i == 1;
    options.copy_messages = true;
    LMI_TRY_GOTO(status, lamina_solver_create(ctx, &options, &solvers[i]), cleanup);
  }
  describe(solvers[0], transport, row);
  LMI_TRY_GOTO(status, time_both(solvers, bench, row), cleanup);
  /* Last: copies without steps leave halos that belong to no state. */
  status = time_exchange(ctx, solvers[0], &row->measured_us);
cleanup:
  for (int i = 0; i < 2; i++)
    lamina_solver_destroy(solvers[i]);
  return status;
}
