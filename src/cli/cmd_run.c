/* SPDX-License-Identifier: Apache-2.0 */
/* lamina run: a case from its file to its results. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/ranks.h"
#include "case_options.h"
#include <lamina/mpi.h>

struct run_values {
  lmi_case_options flow;
  bool json, resume, quiet;
  const char *out, *machine;
};

static const struct run_values defaults = {.out = "out"};

static const lmi_option options[] = {
  LMI_CASE_OPTIONS(struct run_values, flow),
  LMI_OPTION_TEXT(struct run_values, out, "out", "DIR", "where the results go (default: out)"),
  LMI_OPTION_FLAG(struct run_values, resume, "resume", "go on from the checkpoint in the output folder"),
  LMI_OPTION_TEXT(struct run_values, machine, "machine", "FILE", "ceilings of this machine (default: machine.json)"),
  LMI_OPTION_FLAG(struct run_values, quiet, "quiet", "no progress row"),
  LMI_OPTION_FLAG(struct run_values, json, "json", "print one JSON object"),
  {0}};

static const char description[] = "Checks the case, prints how its units map to the lattice and the memory it takes,\n"
                                  "runs it and writes its outputs. Ctrl-C and SIGTERM end it with a checkpoint.\n"
                                  "Under mpirun all ranks work on the one case (docs/user/mpi.md).\n"
                                  "The exit code is 5 when the flow turns non-finite or a comparison misses its gate.\n"
                                  "docs/user/case-file.md has the keys of a case file.";

static const char *const examples[] = {"lamina run cases/cavity2d.yaml",
                                       "the lid-driven cavity, compared with Ghia et al.",
                                       "lamina run cases/cavity2d.yaml --set fluid.reynolds=1000 --out re1000",
                                       "another Reynolds number",
                                       "lamina run cases/cavity2d.yaml --resume",
                                       "goes on from the last checkpoint",
                                       NULL};

/* Set by the first SIGINT or SIGTERM; the second one ends the program at once. */
static volatile sig_atomic_t stop_asked;

static void ask_stop(int signal_number)
{
  (void)signal_number;
  stop_asked = 1;
}

static void catch_signals(void)
{
  struct sigaction action = {.sa_handler = ask_stop, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

/* Seconds between two lines where stderr is not a terminal. */
static const double LINE_INTERVAL = 5.0;

typedef struct progress_state {
  bool is_terminal, is_quiet, has_row;
  double last_line;
} progress_state;

static void format_row(const lamina_run_progress *p, char *row, size_t capacity)
{
  char left[32] = "?", share[32] = "", steady[48] = "";
  if (p->seconds_left >= 0)
    lmi_format_duration(p->seconds_left, left);
  if (p->share >= 0)
    snprintf(share, sizeof share, " (%.0f %% of the ceiling)", 100.0 * p->share);
  if (p->steady_change >= 0)
    snprintf(steady, sizeof steady, ", change %.1e", p->steady_change);
  snprintf(row, capacity, "%5.1f %%  step %lld of %lld, %.4g s  %.4g MLUPS, %.3g GB/s%s%s, at most %s left",
           100.0 * (double)p->step / (double)p->steps, (long long)p->step, (long long)p->steps, p->time, p->mlups,
           p->gb_per_s, share, steady, left);
}

static bool show_progress(void *user, const lamina_run_progress *progress)
{
  progress_state *state = user;
  if (state->is_quiet)
    return !stop_asked;
  char row[256];
  format_row(progress, row, sizeof row);
  if (state->is_terminal) {
    fprintf(stderr, "\r%s\033[K", row);
    state->has_row = true;
  } else if (progress->elapsed_seconds - state->last_line >= LINE_INTERVAL) {
    fprintf(stderr, "%s\n", row);
    state->last_line = progress->elapsed_seconds;
  }
  fflush(stderr);
  return !stop_asked;
}

/* "+- ?" where the series is too short to tell. */
static void print_mean(const char *name, const lamina_run_mean *mean)
{
  if (isfinite(mean->error))
    printf("  %s %.6g +- %.2g (%.6g to %.6g)", name, mean->mean, mean->error, mean->low, mean->high);
  else
    printf("  %s %.6g +- ? (%.6g to %.6g)", name, mean->mean, mean->low, mean->high);
}

static void print_force(const lamina_run_force *f)
{
  if (f->samples == 0) {
    printf("  force on %s: no sample to take means of\n", f->body);
    return;
  }
  printf("  force on %s (area %.6g m2, speed %.6g m/s, %zu samples):", f->body, f->area, f->speed, f->samples);
  print_mean("drag coefficient", &f->drag);
  print_mean("lift", &f->lift);
  if (isfinite(f->strouhal))
    printf("  Strouhal number %.5g +- %.2g", f->strouhal, f->strouhal_error);
  printf("\n");
}

static void print_summary(const lamina_run_result *r, const char *folder)
{
  char duration[32], peak[32], ending[48] = "";
  if (r->is_steady)
    snprintf(ending, sizeof ending, ", steady");
  printf("%s: step %lld, %.6g s of flow%s, in %s\n", r->was_interrupted ? "stopped" : "done", (long long)r->last_step,
         r->flow_time, ending, lmi_format_duration(r->seconds, duration));
  if (r->mlups > 0) {
    printf("  %.4g MLUPS, %.3g GB/s", r->mlups, r->gb_per_s);
    if (r->ceiling_mlups > 0)
      printf(", %.0f %% of the ceiling (%.0f MLUPS)", 100.0 * r->share, r->ceiling_mlups);
    printf("\n");
  }
  printf("  mass drift %.2e, greatest speed %.5g m/s, peak memory %s\n", r->mass_drift, r->max_speed,
         lmi_format_bytes((double)r->peak_bytes, peak));
  if (r->wants_steady && !r->is_steady && !r->was_interrupted)
    printf("  not steady yet: the criterion was not met before the end\n");
  for (size_t i = 0; i < r->force_count; i++)
    print_force(&r->forces[i]);
  for (size_t i = 0; i < r->reference_count; i++)
    printf("  %s  %s\n", r->references[i].passed ? "passed" : "FAILED", r->references[i].text);
  printf("  files in %s:", folder);
  for (size_t i = 0; i < r->file_count; i++)
    printf(" %s", r->files[i]);
  printf("\n");
}

static lamina_status print_start(lmi_call *call, const lamina_case *flow, FILE *stream, const char *machine_file)
{
  lamina_plan plan;
  LMI_TRY(lamina_case_plan(call->ctx, flow, machine_file, &plan));
  char needed[32], available[32];
  lmi_print_units(stream, flow);
  fprintf(stream, "  memory %s", lmi_format_bytes((double)plan.total_bytes, needed));
  if (plan.available_bytes > 0)
    fprintf(stream, " of %s (%s)", lmi_format_bytes((double)plan.available_bytes, available), plan.limited_by);
  if (lamina_rank_count(call->ctx) > 1)
    fprintf(stream, ", %d ranks of", lamina_rank_count(call->ctx));
  else
    fputc(',', stream);
  fprintf(stream, " %d threads\n", lamina_context_thread_count(call->ctx));
  if (lamina_rank_count(call->ctx) > 1 && lamina_case_solver_options(flow)->backend == LAMINA_BACKEND_CUDA)
    fprintf(stream, "  messages of ranks: %s\n",
            lmi_ranks_take_device_memory(call->ctx)
              ? "device memory, which this MPI library takes"
              : "through pinned memory of the host, for this MPI library takes no device memory");
  fflush(stream);
  return LAMINA_OK;
}

static lamina_status run_flow(lmi_call *call, const lamina_case *flow)
{
  const struct run_values *values = call->values;
  const char *machine_file = lmi_machine_file(values->machine);
  const bool speaks = lamina_rank(call->ctx) == 0;
  if (speaks)
    LMI_TRY(print_start(call, flow, values->json ? stderr : stdout, machine_file));

  progress_state state = {.is_terminal = isatty(STDERR_FILENO) == 1, .is_quiet = values->quiet || !speaks};
  lamina_run_options run = lamina_run_options_default();
  run.folder = values->out;
  run.resume = values->resume;
  run.machine_file = machine_file;
  run.progress = show_progress;
  run.progress_user = &state;
  catch_signals();
  lamina_run_result *result = NULL;
  const lamina_status status = lamina_case_run(call->ctx, flow, &run, &result);
  if (state.has_row)
    fputc('\n', stderr);
  if (result != NULL && values->json)
    printf("%s\n", result->json);
  else if (result != NULL)
    print_summary(result, values->out);
  lamina_run_result_destroy(result);
  return status;
}

static lamina_status run_run(lmi_call *call)
{
  const struct run_values *values = call->values;
  lamina_case *flow = NULL;
  lamina_status status = lmi_load_case(call, call->arguments[0], &values->flow, &flow);
  if (status == LAMINA_OK)
    status = run_flow(call, flow);
  lamina_case_destroy(flow);
  return status;
}

const lmi_command lmi_command_run = {
  .name = "run",
  .summary = "runs a case and writes its results",
  .group = LMI_GROUP_SIMULATE,
  .flags = LMI_TAKES_RANKS,
  .arguments = "CASE.yaml",
  .least = 1,
  .most = 1,
  .options = options,
  LMI_VALUES(defaults),
  .description = description,
  .examples = examples,
  .run = run_run,
};
