/* SPDX-License-Identifier: Apache-2.0 */
/* Halo exchange measured in three ways: alone, under computation, and before it; each against the paper's model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ranks.h"
#include "base/spread.h"
#include "flow/solver_internal.h"
#include "timing.h"
#include "transport_fit.h"

enum { MAX_REPETITIONS = 1000 };
/* The exchange alone and the ping-pong it is compared with take turns: so often, and so long each. */
enum { TURNS = 15 };
static const double TURN_SECONDS = 0.004;

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
  const int ranks = lamina_rank_count(ctx);
  LMI_REQUIRE(ctx, ranks > 1 || bench->solver.partitions >= 2, LAMINA_ERROR_ARGUMENT,
              "%d partitions: at least 2 are needed to exchange anything", bench->solver.partitions);
  LMI_REQUIRE(ctx, ranks == 1 || bench->solver.partitions <= 1, LAMINA_ERROR_ARGUMENT,
              "%d partitions on each rank: the model is one transport, so 1 partition a rank is measured",
              bench->solver.partitions);
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
      if (phase->exchange != NULL)
        *next++ = (lmi_phase){.exchange = phase->exchange};
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

/* Model and measurement of one exchange. */
typedef struct exchange_times {
  double messages, bytes; /* that one thread or rank sends */
  double field_bytes;     /* of one slab */
  double model[TURNS], measured[TURNS], ratio[TURNS];
} exchange_times;

static lamina_status take_turns(lamina_solver *solver, const lmi_program *program, bool there_and_back,
                                const lamina_transport *given, exchange_times *t)
{
  lamina_status status = LAMINA_OK;
  lmi_ping_pong *game = NULL;
  lamina_transport transport = *given;
  if (given->point_count > 0)
    LMI_TRY(lmi_ping_pong_open(solver->ctx, t->field_bytes, &game));
  for (int turn = 0; turn < TURNS; turn++) {
    if (game != NULL)
      LMI_TRY_GOTO(status, lmi_ping_pong_refresh(game, t->messages, t->bytes, TURN_SECONDS, &transport), cleanup);
    t->model[turn] = lamina_transport_time(&transport, t->messages, t->bytes);
    LMI_TRY_GOTO(status, lmi_time_copies(solver->flow->device, program, TURN_SECONDS, &t->measured[turn]), cleanup);
    if (there_and_back)
      t->measured[turn] /= 2.0;
    t->ratio[turn] = t->model[turn] / t->measured[turn];
  }
cleanup:
  lmi_ping_pong_close(game);
  return status;
}

static lamina_status time_exchange(lamina_solver *solver, const lamina_transport *transport, exchange_times *t)
{
  lamina_context *ctx = solver->ctx;
  const lmi_program *program = &solver->flow->schedule->program;
  lamina_status status = LAMINA_OK;
  size_t phases = 0, copies = 0;
  exchange made = {NULL, NULL, NULL};
  for (size_t s = 0; s < program->step_count; s++)
    for (size_t p = 0; p < program->steps[s].phase_count; p++, phases++)
      copies += program->steps[s].phases[p].copy_count;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, copies, &made.back), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 3 * phases, &made.phases), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, program->step_count, &made.steps), cleanup);
  fill_exchange(program, &made);
  const lmi_program there_and_back = {
    .steps = made.steps, .step_count = program->step_count, .version = program->version, .agrees = program->agrees};
  status = take_turns(solver, &there_and_back, copies > 0, transport, t);
cleanup:
  lmi_free(ctx, made.back);
  lmi_free(ctx, made.phases);
  lmi_free(ctx, made.steps);
  return status;
}

static lamina_status compare_exchange(lamina_solver *solver, const lamina_transport *transport, lamina_halo_row *row)
{
  /* Threads take turns at the messages of their slabs; slabs of a device, and ranks, send side by side. */
  const bool side_by_side = solver->options.backend == LAMINA_BACKEND_CUDA || row->ranks > 1;
  const double share = side_by_side ? 1.0 : (double)row->partitions / row->threads;
  const int fields = solver->options.streaming == LAMINA_TWO_GRID ? 2 : 1;
  lamina_solver_info info;
  lamina_solver_get_info(solver, &info);
  exchange_times t = {.messages = share * row->alpha,
                      .bytes = share * row->bytes,
                      .field_bytes = (double)info.bytes / (fields * row->partitions)};
  LMI_TRY(time_exchange(solver, transport, &t));
  row->model_us = lmi_spread_of(t.model, TURNS).median;
  row->measured_us = lmi_spread_of(t.measured, TURNS).median;
  row->model_over_measured = lmi_spread_of(t.ratio, TURNS);
  return LAMINA_OK;
}

/* What two solvers of the same flow reached, and the ratios of the pairs. */
typedef struct pair_times {
  lamina_spread mlups[2], ratio;
  lamina_index steps;
} pair_times;

/* In turn: the speed of a shared machine drifts by more than two variants differ. */
static lamina_status time_pair(lamina_solver *const solvers[2], int repetitions, double wanted_seconds, pair_times *t)
{
  const lamina_int3 n = lamina_solver_get_options(solvers[0])->cells;
  double mlups[2][MAX_REPETITIONS], ratios[MAX_REPETITIONS], seconds = 0.0;
  for (int i = 0; i < 2; i++)
    LMI_TRY(lmi_time_steps(solvers[i], 4, &seconds));
  LMI_TRY(lmi_time_steps(solvers[0], 4, &seconds));
  t->steps = 2 * lmi_times_within(2.0 * wanted_seconds, seconds);
  for (int r = 0; r < repetitions; r++) {
    for (int i = 0; i < 2; i++) {
      LMI_TRY(lmi_time_steps(solvers[i], t->steps, &seconds));
      mlups[i][r] = 1e-6 * (double)(n.x * n.y * n.z) * (double)t->steps / seconds;
    }
    ratios[r] = mlups[0][r] / mlups[1][r];
  }
  t->ratio = lmi_spread_of(ratios, (size_t)repetitions);
  for (int i = 0; i < 2; i++)
    t->mlups[i] = lmi_spread_of(mlups[i], (size_t)repetitions);
  return LAMINA_OK;
}

static lamina_status time_both(lamina_solver *const solvers[2], const lamina_halo_bench *bench, lamina_halo_row *row)
{
  pair_times t = {.steps = 0};
  LMI_TRY(time_pair(solvers, bench->repetitions, bench->seconds, &t));
  row->steps = t.steps;
  row->mlups = t.mlups[0];
  row->mlups_no_overlap = t.mlups[1];
  return LAMINA_OK;
}

static void describe(const lamina_solver *solver, lamina_halo_row *row)
{
  const lmi_schedule *schedule = solver->flow->schedule;
  lamina_solver_info info;
  lamina_solver_get_info(solver, &info);
  row->alpha = info.alpha;
  row->beta_values = info.beta_values;
  row->partitions = solver->flow->partition->count;
  row->threads = lamina_context_thread_count(solver->ctx);
  row->bytes = schedule->traffic.bytes / row->partitions;
  row->ranks = lamina_rank_count(solver->ctx);
}

/* A periodic box of these options. */
static lamina_status create_periodic(lamina_context *ctx, const lamina_solver_options *given, lamina_solver **solver)
{
  lamina_solver_options options = *given;
  if (lamina_lattice_dimension(options.lattice) == 2)
    options.cells.z = 1;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    options.faces[face] = (lamina_face){.kind = LAMINA_FACE_PERIODIC};
  return lamina_solver_create(ctx, &options, solver);
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
    options.no_overlap = i == 1;
    options.copy_messages = true;
    LMI_TRY_GOTO(status, create_periodic(ctx, &options, &solvers[i]), cleanup);
  }
  describe(solvers[0], row);
  LMI_TRY_GOTO(status, time_both(solvers, bench, row), cleanup);
  /* Last: copies without steps leave halos that belong to no state. */
  status = compare_exchange(solvers[0], transport, row);
cleanup:
  for (int i = 0; i < 2; i++)
    lamina_solver_destroy(solvers[i]);
  return status;
}

lamina_status lamina_layout_pair_run(lamina_context *ctx, const lamina_halo_bench *bench, lamina_layout first,
                                     lamina_layout second, lamina_layout_pair *pair)
{
  lamina_status status = LAMINA_OK;
  lamina_solver *solvers[2] = {NULL, NULL};
  pair_times t = {.steps = 0};
  memset(pair, 0, sizeof *pair);
  for (int i = 0; i < 2; i++) {
    lamina_solver_options options = bench->solver;
    options.layout = i == 0 ? first : second;
    LMI_TRY_GOTO(status, create_periodic(ctx, &options, &solvers[i]), cleanup);
  }
  LMI_TRY_GOTO(status, time_pair(solvers, bench->repetitions, bench->seconds, &t), cleanup);
  *pair = (lamina_layout_pair){first, second, t.mlups[0], t.mlups[1], t.ratio};
cleanup:
  for (int i = 0; i < 2; i++)
    lamina_solver_destroy(solvers[i]);
  return status;
}
