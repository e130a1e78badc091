/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <lamina/phase.h>

#include "base/ranks.h"
#include "flow/initial_state.h"
#include "io/checkpoint.h"
#include "simulation.h"

static const double PI = 3.14159265358979323846;

/* Seconds between two calls of the progress function, about. */
static const double CALL_INTERVAL = 0.2;

static const char CHECKPOINT_NAME[] = "checkpoint.h5";

lamina_run_options lamina_run_options_default(void)
{
  return (lamina_run_options){.folder = "out"};
}

/* ---- small parts ---- */

double *lmi_simulation_plane(const lmi_simulation *sim, int i)
{
  return sim->work + (size_t)i * sim->plane_cells;
}

bool lmi_simulation_writes(const lmi_simulation *sim)
{
  return lamina_rank(sim->ctx) == 0;
}

double lmi_simulation_time(const lmi_simulation *sim)
{
  return (double)lamina_solver_step(sim->solver) * sim->flow->units.time_step;
}

lamina_status lmi_simulation_totals(lmi_simulation *sim, const lamina_totals **totals)
{
  const lamina_index step = lamina_solver_step(sim->solver);
  *totals = &sim->totals;
  if (sim->totals_step == step)
    return LAMINA_OK;
  LMI_TRY(lamina_solver_totals(sim->solver, &sim->totals));
  sim->totals_step = step;
  return LAMINA_OK;
}

double lmi_simulation_mass_drift(const lmi_simulation *sim, const lamina_totals *totals)
{
  const double start = sim->monitor.start_excess;
  return (totals->mass_excess - start) / ((double)sim->result->cells + start);
}

lamina_status lmi_simulation_path(const lmi_simulation *sim, const char *name, char *buffer, size_t capacity)
{
  const int length = snprintf(buffer, capacity, "%s/%s", sim->options->folder, name);
  LMI_REQUIRE(sim->ctx, length > 0 && (size_t)length < capacity, LAMINA_ERROR_FILE,
              "the path %.40s.../%s is longer than %zu characters", sim->options->folder, name, capacity - 1);
  return LAMINA_OK;
}

/* Room for one more element of an array of the result. */
static lamina_status grow(lmi_simulation *sim, size_t count, size_t *capacity, size_t size, void **array)
{
  if (count < *capacity)
    return LAMINA_OK;
  const size_t wanted = *capacity == 0 ? 16 : 2 * *capacity;
  void *grown = NULL;
  LMI_TRY(lmi_alloc_array(sim->ctx, wanted, size, &grown));
  if (count > 0)
    memcpy(grown, *array, count * size);
  lmi_free(sim->ctx, *array);
  *array = grown;
  *capacity = wanted;
  return LAMINA_OK;
}

lamina_status lmi_simulation_add_file(lmi_simulation *sim, const char *name)
{
  lamina_run_result *result = sim->result;
  for (size_t i = 0; i < result->file_count; i++)
    if (strcmp(result->files[i], name) == 0)
      return LAMINA_OK;
  LMI_TRY(grow(sim, result->file_count, &sim->file_capacity, sizeof *result->files, (void **)&result->files));
  LMI_TRY(lmi_string_copy(sim->ctx, name, &result->files[result->file_count]));
  result->file_count++;
  return LAMINA_OK;
}

lamina_status lmi_simulation_add_reference(lmi_simulation *sim, const lamina_run_reference *reference)
{
  lamina_run_result *result = sim->result;
  LMI_TRY(grow(sim, result->reference_count, &sim->reference_capacity, sizeof *result->references,
               (void **)&result->references));
  result->references[result->reference_count++] = *reference;
  return LAMINA_OK;
}

void lamina_run_result_destroy(lamina_run_result *result)
{
  if (result == NULL)
    return;
  lamina_context *ctx = result->context;
  for (size_t i = 0; i < result->file_count; i++)
    lmi_free(ctx, result->files[i]);
  lmi_free(ctx, result->files);
  lmi_free(ctx, result->references);
  lmi_free(ctx, result->forces);
  lmi_free(ctx, result->json);
  lmi_free(ctx, result);
}

/* ---- setting up ---- */

static lamina_status check_memory(lamina_context *ctx, const lamina_case *flow)
{
  lamina_plan plan = {0};
  LMI_TRY(lmi_case_memory(ctx, flow, &plan));
  const uint64_t ranks_elsewhere = (uint64_t)(lamina_rank_count(ctx) - lmi_local_rank_count(ctx));
  const uint64_t here_bytes = plan.total_bytes - plan.total_bytes / (uint64_t)lamina_rank_count(ctx) *
                                                   ranks_elsewhere; /* all have about as much */
  if (plan.available_bytes == 0 || here_bytes <= plan.available_bytes)
    return LAMINA_OK;
  char needed[32], available[32], place[256];
  const lamina_int3 n = flow->solver.cells;
  return lmi_fail(ctx, LAMINA_ERROR_MEMORY,
                  "%s: domain.cells: %lld x %lld x %lld cells take %s, and this machine has %s left (%s); at most "
                  "about %lld cells along x "
                  "fit in this shape",
                  lmi_tree_place(flow->cells_where, place, sizeof place), (long long)n.x, (long long)n.y,
                  (long long)n.z, lmi_format_bytes((double)here_bytes, needed),
                  lmi_format_bytes((double)plan.available_bytes, available), plan.limited_by,
                  (long long)plan.fitting_cells_x);
}

/* Makes the folder and those above it. */
static lamina_status make_folder(lamina_context *ctx, const char *folder)
{
  char path[4096];
  const size_t length = strlen(folder);
  LMI_REQUIRE(ctx, length > 0 && length < sizeof path - 64, LAMINA_ERROR_ARGUMENT,
              "the output folder's name has %zu characters; 1 to %zu", length, sizeof path - 65);
  memcpy(path, folder, length + 1);
  for (size_t i = 1; i <= length; i++) {
    if (path[i] != '/' && path[i] != '\0')
      continue;
    const char kept = path[i];
    path[i] = '\0';
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
      return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "cannot make the output folder %s", path);
    path[i] = kept;
  }
  struct stat info;
  LMI_REQUIRE(ctx, stat(folder, &info) == 0 && S_ISDIR(info.st_mode), LAMINA_ERROR_FILE,
              "%s is not a folder; give another one with --out", folder);
  return LAMINA_OK;
}

static lamina_status initialise(lmi_simulation *sim)
{
  const lamina_case *flow = sim->flow;
  const lamina_units *units = &flow->units;
  lmi_initial_state state = {
    .speed = flow->initial.speed.value / units->velocity_unit,
    .length = (double)flow->solver.cells.x,
    .steepness = flow->initial.steepness.value,
    .perturbation = flow->initial.perturbation.value,
  };
  for (int a = 0; a < 3; a++)
    state.mean[a] = flow->initial.velocity.value[a] / units->velocity_unit;
  static lamina_initial_function *const FUNCTIONS[] = {
    [LMI_INITIAL_REST] = NULL,
    [LMI_INITIAL_UNIFORM] = lmi_initial_uniform,
    [LMI_INITIAL_TAYLOR_GREEN] = lmi_initial_taylor_green,
    [LMI_INITIAL_TAYLOR_GREEN_3D] = lmi_initial_taylor_green_3d,
    [LMI_INITIAL_SHEAR_LAYER] = lmi_initial_shear_layer,
    [LMI_INITIAL_SHEAR_WAVE] = lmi_initial_shear_wave,
  };
  lamina_initial_function *function = FUNCTIONS[flow->initial.kind.value];
  return function == NULL ? LAMINA_OK : lamina_solver_initialise(sim->solver, function, &state);
}

/* Before anything is made: a mistyped folder must not be left behind empty. */
static lamina_status require_checkpoint(const lmi_simulation *sim)
{
  char path[4096];
  struct stat info;
  LMI_TRY(lmi_simulation_path(sim, CHECKPOINT_NAME, path, sizeof path));
  LMI_REQUIRE(sim->ctx, stat(path, &info) == 0, LAMINA_ERROR_FILE,
              "nothing to resume: there is no %s; run without --resume, or give the folder of that run with --out",
              path);
  return LAMINA_OK;
}

static lamina_status restore(lmi_simulation *sim, const char *path)
{
  lmi_checkpoint *checkpoint = NULL;
  LMI_TRY(lmi_checkpoint_open(sim->ctx, path, &checkpoint));
  lamina_status status = lmi_checkpoint_restore(checkpoint, sim->solver, sim->flow->physics_hash);
  if (status == LAMINA_OK)
    status = lmi_monitor_load(sim, lmi_checkpoint_get_content(checkpoint)->note.state);
  lmi_checkpoint_close(checkpoint);
  return status;
}

static lamina_status resume(lmi_simulation *sim)
{
  char path[4096], sentence[512];
  LMI_TRY(lmi_simulation_path(sim, CHECKPOINT_NAME, path, sizeof path));
  const lamina_status status = restore(sim, path);
  if (status != LAMINA_ERROR_CASE)
    return status;
  snprintf(sentence, sizeof sentence, "%s", lamina_error_message(sim->ctx));
  lamina_error_clear(sim->ctx);
  return lmi_fail(sim->ctx, status, "%s; run without --resume, or give another folder with --out", sentence);
}

static lamina_status set_up(lmi_simulation *sim)
{
  const lamina_case *flow = sim->flow;
  sim->plane_cells = lmi_case_plane_cells(flow);
  sim->chunk = 1;
  sim->totals_step = -1;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    sim->oscillates = sim->oscillates || flow->faces[face].kind == LMI_BOUNDARY_OSCILLATING;
  LMI_TRY(lmi_case_ceiling(sim->ctx, flow, sim->options->machine_file, &sim->ceiling_gb_per_s, &sim->ceiling_reason));
  LMI_TRY(LMI_ALLOC(sim->ctx, LMI_WORK_PLANES * sim->plane_cells, &sim->work));
  LMI_TRY(LMI_ALLOC(sim->ctx, flow->output_count + 1, &sim->outputs));
  LMI_TRY(lamina_solver_create(sim->ctx, &flow->solver, &sim->solver));
  lamina_solver_get_info(sim->solver, &sim->info);
  LMI_TRY(sim->options->resume ? resume(sim) : initialise(sim));
  const lamina_index step = lamina_solver_step(sim->solver);
  sim->result->first_step = step;
  sim->last_call_step = step;
  LMI_TRY(lmi_monitor_start(sim));
  lmi_due_start(&sim->checkpoint_due, flow, &flow->checkpoint_every, true, step);
  LMI_TRY(lmi_measures_start(sim, sim->options->resume ? step : -1));
  LMI_TRY(lmi_statistics_start(sim, sim->options->resume));
  return lmi_outputs_start(sim, sim->options->resume ? step : -1);
}

/* ---- the time loop ---- */

static lamina_status write_checkpoint(lmi_simulation *sim)
{
  char path[4096], *state = NULL;
  LMI_TRY(lmi_simulation_path(sim, CHECKPOINT_NAME, path, sizeof path));
  LMI_TRY(lmi_monitor_save(sim, &state));
  const lmi_checkpoint_note note = {sim->flow->physics_hash, state, lmi_simulation_time(sim)};
  const lamina_status status = lmi_checkpoint_write(sim->ctx, path, sim->solver, &note);
  lmi_free(sim->ctx, state);
  LMI_TRY(status);
  LMI_TRY(lmi_statistics_save(sim));
  return lmi_simulation_add_file(sim, CHECKPOINT_NAME);
}

/* Adds to the solver's sentence which number to change. */
static lamina_status explain_divergence(lmi_simulation *sim)
{
  const lamina_units *units = &sim->flow->units;
  const lamina_collision collision = sim->flow->solver.collision;
  const double limit = lmi_units_cell_reynolds_limit(collision);
  char sentence[320], advice[200];
  snprintf(sentence, sizeof sentence, "%s", lamina_error_message(sim->ctx));
  if (units->mach > LMI_MACH_WARNED)
    snprintf(advice, sizeof advice, "the speed is Mach %.2f: lower lattice_speed from %.3g to %.3g", units->mach,
             units->lattice_speed, units->lattice_speed * 0.17 / units->mach);
  else if (units->cell_reynolds > 0.5 * limit)
    snprintf(advice, sizeof advice,
             "the Reynolds number of one cell is %.3g (tau %.5g): take %.0f cells along x, or %s", units->cell_reynolds,
             units->tau, ceil((double)sim->flow->solver.cells.x * units->cell_reynolds / (0.5 * limit)),
             collision == LAMINA_CUMULANT ? "a lower Reynolds number" : "collision cumulant");
  else
    snprintf(advice, sizeof advice,
             "Mach %.2f and tau %.4g are moderate: check force and boundaries, or halve lattice_speed (%.3g)",
             units->mach, units->tau, units->lattice_speed);
  lamina_error_clear(sim->ctx);
  return lmi_fail(sim->ctx, LAMINA_ERROR_DIVERGED, "%s; %s", sentence, advice);
}

/* Walls are met half a step after the state they start from. */
static lamina_status move_walls(lmi_simulation *sim)
{
  const lamina_units *units = &sim->flow->units;
  const double time = ((double)lamina_solver_step(sim->solver) + 0.5) * units->time_step;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    const lmi_case_boundary *boundary = &sim->flow->faces[face];
    if (boundary->kind != LMI_BOUNDARY_OSCILLATING)
      continue;
    const double phase = cos(2.0 * PI * time / boundary->period.value) / units->velocity_unit;
    const double *v = boundary->velocity.value;
    LMI_TRY(lamina_solver_set_wall_velocity(sim->solver, (lamina_face_index)face,
                                            (lamina_real3){v[0] * phase, v[1] * phase, v[2] * phase}));
  }
  return LAMINA_OK;
}

/* Tells the caller how far it is and asks whether to go on. On every rank: a signal may reach any of them. */
static void call_progress(lmi_simulation *sim)
{
  const lamina_case *flow = sim->flow;
  const lamina_index step = lamina_solver_step(sim->solver);
  const double cells = sim->info.updates_per_step;
  const double seconds = sim->result->seconds - sim->last_call_seconds;
  const double updates = (double)(step - sim->last_call_step) * cells;
  if (sim->options->progress == NULL)
    return;
  lamina_run_progress progress = {
    .step = step,
    .steps = flow->last_step,
    .time = lmi_simulation_time(sim),
    .elapsed_seconds = lmi_clock_seconds() - sim->loop_start,
    .mlups = seconds > 0 ? updates / seconds * 1e-6 : 0.0,
    .seconds_left = -1.0,
    .share = -1.0,
    .steady_change = flow->steady.where != NULL ? sim->monitor.steady_change : -1.0,
  };
  progress.gb_per_s = progress.mlups * sim->info.bytes_per_update * 1e-3;
  if (sim->ceiling_gb_per_s > 0)
    progress.share = progress.gb_per_s / sim->ceiling_gb_per_s;
  const lamina_index done = step - sim->result->first_step;
  if (done > 0)
    progress.seconds_left = progress.elapsed_seconds / (double)done * (double)(flow->last_step - step);
  sim->last_call_seconds = sim->result->seconds;
  sim->last_call_step = step;
  sim->last_call_clock = lmi_clock_seconds();
  sim->stopped = !sim->options->progress(sim->options->progress_user, &progress);
}

/* Each rank has a clock of its own: what follows from it is the first rank's to decide, and one that was asked to stop
 * stops all. */
static lamina_status agree_on_pace(lmi_simulation *sim, bool *is_time)
{
  lamina_index pace[2] = {sim->chunk, *is_time};
  LMI_TRY(lmi_ranks_broadcast(sim->ctx, 0, pace, sizeof pace));
  sim->chunk = pace[0];
  *is_time = pace[1] != 0;
  return LAMINA_OK;
}

static lamina_status agree_on_stop(lmi_simulation *sim)
{
  int64_t goes_on = !sim->stopped;
  LMI_TRY(lmi_ranks_least(sim->ctx, &goes_on, 1));
  sim->stopped = goes_on == 0;
  return LAMINA_OK;
}

static lamina_index least(lamina_index a, lamina_index b)
{
  return a < b ? a : b;
}

/* One call of the solver, as many steps as take about CALL_INTERVAL, at most to `target`. */
static lamina_status advance(lmi_simulation *sim, lamina_index target)
{
  const lamina_index step = lamina_solver_step(sim->solver);
  const lamina_index stride = sim->info.step_stride;
  const lamina_index whole = (sim->chunk + stride - 1) / stride * stride;
  const bool ramps = lmi_ramps_are_on(sim, step);
  const lamina_index steps = sim->oscillates || ramps ? stride : least(target - step, whole);
  if (sim->oscillates)
    LMI_TRY(move_walls(sim));
  if (ramps)
    LMI_TRY(lmi_ramps_set(sim));
  const double start = lmi_clock_seconds();
  const lamina_status status = lamina_solver_run(sim->solver, steps);
  const double seconds = lmi_clock_seconds() - start;
  sim->result->seconds += seconds;
  if (status == LAMINA_ERROR_DIVERGED)
    return explain_divergence(sim);
  LMI_TRY(status);
  if (steps == whole && seconds > 0) {
    const double fitting = fmin((double)steps * CALL_INTERVAL / seconds, 4.0 * (double)steps);
    sim->chunk = (lamina_index)fmax(1.0, fmin(fitting, 1e7));
  }
  return LAMINA_OK;
}

static lamina_status advance_to(lmi_simulation *sim, lamina_index target)
{
  while (lamina_solver_step(sim->solver) < target && !sim->stopped) {
    LMI_TRY(advance(sim, target));
    bool is_time = lmi_clock_seconds() - sim->last_call_clock >= 0.5 * CALL_INTERVAL;
    LMI_TRY(agree_on_pace(sim, &is_time));
    if (!is_time)
      continue;
    call_progress(sim);
    LMI_TRY(agree_on_stop(sim));
  }
  return LAMINA_OK;
}

/* The parts of a run as phases, so that `lamina record -- lamina run ...` tells them apart. */
typedef lamina_status run_part(lmi_simulation *sim);

static lamina_status in_phase(lmi_simulation *sim, const char *name, run_part *part)
{
  lamina_phase_start(name);
  const lamina_status status = part(sim);
  lamina_phase_stop();
  return status;
}

static lamina_status advance_to_next(lmi_simulation *sim)
{
  const lamina_index due = least(lmi_outputs_next(sim), least(lmi_monitor_next(sim), sim->checkpoint_due.next));
  const lamina_index measured = least(lmi_measures_next(sim), lmi_statistics_next(sim));
  return advance_to(sim, least(least(due, measured), sim->flow->last_step));
}

static lamina_status look_and_write(lmi_simulation *sim)
{
  LMI_TRY(lmi_monitor_look(sim));
  LMI_TRY(lmi_measures_write(sim, false));
  LMI_TRY(lmi_statistics_look(sim));
  LMI_TRY(lmi_outputs_write(sim, false));
  if (!sim->stopped && sim->checkpoint_due.next > lamina_solver_step(sim->solver))
    return LAMINA_OK;
  LMI_TRY(write_checkpoint(sim));
  lmi_due_advance(&sim->checkpoint_due, sim->flow, lamina_solver_step(sim->solver));
  return LAMINA_OK;
}

static lamina_status loop(lmi_simulation *sim)
{
  const lamina_index last = sim->flow->last_step;
  sim->loop_start = sim->last_call_clock = lmi_clock_seconds();
  while (lamina_solver_step(sim->solver) < last && !sim->stopped && !lmi_monitor_is_steady(sim)) {
    LMI_TRY(in_phase(sim, "steps", advance_to_next));
    LMI_TRY(in_phase(sim, "output", look_and_write));
  }
  return LAMINA_OK;
}

/* ---- the end ---- */

static lamina_status sum_up(lmi_simulation *sim)
{
  lamina_run_result *result = sim->result;
  const lamina_totals *totals = NULL;
  LMI_TRY(lmi_simulation_totals(sim, &totals));
  result->last_step = lamina_solver_step(sim->solver);
  result->flow_time = lmi_simulation_time(sim);
  result->mass_drift = lmi_simulation_mass_drift(sim, totals);
  result->max_speed = totals->max_speed * sim->flow->units.velocity_unit;
  result->wants_steady = sim->flow->steady.where != NULL;
  result->is_steady = lmi_monitor_is_steady(sim);
  result->was_interrupted = sim->stopped;
  const double updates = (double)(result->last_step - result->first_step) * sim->info.updates_per_step;
  result->mlups = result->seconds > 0 ? updates / result->seconds * 1e-6 : 0.0;
  result->gb_per_s = result->mlups * sim->info.bytes_per_update * 1e-3;
  if (sim->ceiling_gb_per_s > 0) {
    result->ceiling_mlups = sim->ceiling_gb_per_s * 1e3 / sim->info.bytes_per_update;
    result->share = result->mlups / result->ceiling_mlups;
  }
  struct rusage usage;
  int64_t peak_bytes = getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
  LMI_TRY(lmi_ranks_sum(sim->ctx, &peak_bytes, 1));
  result->peak_bytes = (uint64_t)peak_bytes;
  return LAMINA_OK;
}

static lamina_status verdict(const lmi_simulation *sim)
{
  const lamina_run_result *result = sim->result;
  if (result->was_interrupted)
    return lmi_fail(
      sim->ctx, LAMINA_INTERRUPTED, "stopped at step %lld of %lld; %s/%s holds the state, go on with --resume",
      (long long)result->last_step, (long long)sim->flow->last_step, sim->options->folder, CHECKPOINT_NAME);
  size_t failed = 0;
  const lamina_run_reference *first = NULL;
  for (size_t i = 0; i < result->reference_count; i++)
    if (!result->references[i].passed) {
      failed++;
      first = first == NULL ? &result->references[i] : first;
    }
  if (first != NULL)
    return lmi_fail(sim->ctx, LAMINA_ERROR_CHECK, "%zu of %zu comparisons missed the gate; the first is %s", failed,
                    result->reference_count, first->text);
  return LAMINA_OK;
}

static lamina_status write_end(lmi_simulation *sim)
{
  LMI_TRY(lmi_measures_write(sim, true));
  LMI_TRY(lmi_outputs_write(sim, true));
  LMI_TRY(lmi_statistics_write(sim));
  return sim->flow->checkpoint_every.where != NULL ? write_checkpoint(sim) : LAMINA_OK;
}

static lamina_status prepare_folder(const lmi_simulation *sim)
{
  if (!lmi_simulation_writes(sim))
    return LAMINA_OK;
  return sim->options->resume ? require_checkpoint(sim) : make_folder(sim->ctx, sim->options->folder);
}

static lamina_status run(lmi_simulation *sim)
{
  LMI_TRY(lmi_ranks_settle(sim->ctx, check_memory(sim->ctx, sim->flow)));
  LMI_TRY(lmi_compare_check(sim->flow));
  LMI_TRY(lmi_ranks_settle(sim->ctx, prepare_folder(sim)));
  LMI_TRY(in_phase(sim, "initialise", set_up));
  LMI_TRY(loop(sim));
  if (!sim->stopped)
    LMI_TRY(in_phase(sim, "output", write_end));
  LMI_TRY(lmi_ranks_settle(sim->ctx, lmi_outputs_finish(sim)));
  LMI_TRY(lmi_ranks_settle(sim->ctx, lmi_measures_finish(sim)));
  if (!sim->stopped)
    LMI_TRY(lmi_ranks_settle(sim->ctx, lmi_measures_sum_up(sim)));
  LMI_TRY(sum_up(sim));
  return lmi_ranks_settle(sim->ctx, lmi_run_record_write(sim));
}

lamina_status lamina_case_run(lamina_context *context, const lamina_case *flow, const lamina_run_options *options,
                              lamina_run_result **out)
{
  *out = NULL;
  const lamina_run_options defaults = lamina_run_options_default();
  lmi_simulation sim = {.ctx = context, .flow = flow, .options = options != NULL ? options : &defaults};
  LMI_REQUIRE(context, flow->ctx == context && sim.options->folder != NULL, LAMINA_ERROR_ARGUMENT,
              "lamina_case_run needs the context the case was loaded with, and an output folder");
  LMI_TRY(LMI_ALLOC(context, 1, &sim.result));
  sim.result->context = context;
  const lamina_int3 n = flow->solver.cells;
  sim.result->cells = n.x * n.y * n.z;

  lamina_status status = run(&sim);
  if (status == LAMINA_OK)
    status = verdict(&sim);
  const lamina_status closed = lmi_outputs_finish(&sim);
  if (status == LAMINA_OK)
    status = closed;
  lamina_solver_destroy(sim.solver);
  const lamina_status measures_closed = lmi_measures_finish(&sim);
  if (status == LAMINA_OK)
    status = measures_closed;
  lmi_statistics_free(&sim);
  lmi_free(context, sim.outputs);
  lmi_free(context, sim.measures);
  lmi_free(context, sim.work);
  if (status == LAMINA_OK || status == LAMINA_ERROR_CHECK || status == LAMINA_INTERRUPTED)
    *out = sim.result;
  else
    lamina_run_result_destroy(sim.result);
  return status;
}
