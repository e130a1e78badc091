/* SPDX-License-Identifier: Apache-2.0 */
/* lamina schedule: what a scheduler gains that knows who disturbs whom. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "injector_file.h"
#include "lamina/scheduling.h"
#include "machine_table.h"
#include "number_list.h"

struct schedule_values {
  bool json, live;
  const char *example, *random, *aware, *plot, *slurm, *levels, *calibration, *output, *state;
  double share, seconds, step;
  int64_t runs, seed, injector_threads;
};

static const struct schedule_values defaults = {.random = "0,50",
                                                .aware = "0,20",
                                                .calibration = "lamina-inject.json",
                                                .share = NAN,
                                                .step = 60,
                                                .runs = 100,
                                                .seed = 1};

static const lmi_option options[] = {
  LMI_OPTION_TEXT(struct schedule_values, example, "example", "NAME",
                  "instead of a file, a curve after the paper's text: hypre, nekrs, hpl"),
  LMI_OPTION_NUMBER(struct schedule_values, share, "share", "PERCENT", 1, 99,
                    "which share of the file (default: the only one)"),
  LMI_OPTION_NUMBER(struct schedule_values, seconds, "seconds", "S", 0.001, 1e9,
                    "length of the undisturbed job (default: as measured; examples: 600)"),
  LMI_OPTION_NUMBER(struct schedule_values, step, "step", "S", 0.1, 1e7, "seconds between two levels (default: 60)"),
  LMI_OPTION_TEXT(struct schedule_values, random, "random", "LOW,HIGH",
                  "levels under any neighbours, in percent (default: 0,50)"),
  LMI_OPTION_TEXT(struct schedule_values, aware, "aware", "LOW,HIGH",
                  "levels under chosen neighbours, in percent (default: 0,20)"),
  LMI_OPTION_INTEGER(struct schedule_values, runs, "runs", "N", 1, 1e6, "runs of each policy (default: 100)"),
  LMI_OPTION_INTEGER(struct schedule_values, seed, "seed", "N", 0, 1e15, "of the draws (default: 1)"),
  LMI_OPTION_FLAG(struct schedule_values, live, "live", "run the program behind -- beside the injector, in turns"),
  LMI_OPTION_TEXT(struct schedule_values, state, "state", "FILE",
                  "live: each run is kept here; an aborted study goes on from it"),
  LMI_OPTION_INTEGER(struct schedule_values, injector_threads, "injector-threads", "N", 1, 4095,
                     "live: processors for the injector (default: a quarter, at least one)"),
  LMI_OPTION_TEXT(struct schedule_values, calibration, "calibration", "FILE",
                  "live: of the injector (default: lamina-inject.json; made when missing)"),
  LMI_OPTION_TEXT(struct schedule_values, output, "output", "FILE",
                  "live: what the program prints (default: it is dropped)"),
  LMI_OPTION_TEXT(struct schedule_values, levels, "levels", "FILE",
                  "write the levels of the first random run, for `lamina inject --levels`"),
  LMI_OPTION_TEXT(struct schedule_values, slurm, "slurm", "DIR", "write settings for Slurm into this folder"),
  LMI_OPTION_TEXT(struct schedule_values, plot, "plot", "NAME", "draw NAME.svg; data and script are kept beside it"),
  LMI_OPTION_FLAG(struct schedule_values, json, "json", "print one JSON object"),
  {0}};

static const char *const examples[] = {"lamina interfere --json -- ./solver > solver.json; lamina schedule solver.json",
                                       "from a measured curve",
                                       "lamina schedule --example hypre --slurm settings",
                                       "from the paper's text, with settings for Slurm",
                                       "lamina schedule --live --runs 10 --step 5 --state study.txt -- ./solver",
                                       "the program itself beside the injector",
                                       NULL};

static lamina_status read_range(const lmi_call *call, const char *option, const char *text, double range[2])
{
  double numbers[LMI_MOST_NUMBERS];
  size_t count = 0;
  LMI_TRY(lmi_number_list(call, option, text, (lmi_bounds){0, 100}, numbers, &count));
  if (count != 2 || numbers[0] > numbers[1])
    return lmi_usage_error(call, "--%s %s: two rising levels such as 0,50 are needed", option, text);
  range[0] = numbers[0];
  range[1] = numbers[1];
  return LAMINA_OK;
}

/* In live mode a file or an example only serves the Slurm settings, and may be missing. */
static lamina_status read_curve(lmi_call *call, lamina_sensitivity_curve *curve, bool *has_curve)
{
  const struct schedule_values *values = call->values;
  *has_curve = values->example != NULL || call->argument_count > 0;
  if (values->example != NULL)
    return lamina_sensitivity_curve_example(call->ctx, values->example, curve);
  if (call->argument_count > 0)
    return lamina_sensitivity_curve_read(call->ctx, call->arguments[0], values->share, curve);
  return LAMINA_OK;
}

static lamina_status write_levels(lmi_call *call, const lamina_scheduling_plan *plan, double seconds)
{
  const struct schedule_values *values = call->values;
  FILE *file = fopen(values->levels, "w");
  if (file == NULL)
    return lmi_fail_errno(call->ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", values->levels);
  fprintf(file, "# SECONDS PERCENT, seed %llu\n", (unsigned long long)plan->seed);
  for (int64_t step = 0; (double)step * plan->step_seconds < seconds; step++)
    fprintf(file, "%g %.1f\n", plan->step_seconds,
            lamina_scheduling_level(plan->seed, 0, step, plan->random[0], plan->random[1]));
  const bool failed = ferror(file) != 0;
  LMI_REQUIRE(call->ctx, fclose(file) == 0 && !failed, LAMINA_ERROR_FILE, "%s could not be written", values->levels);
  return LAMINA_OK;
}

static lamina_status show(lmi_call *call, const lamina_scheduling_plan *plan, const lamina_scheduling *result,
                          const lamina_sensitivity_curve *curve)
{
  const struct schedule_values *values = call->values;
  LMI_TRY(lamina_scheduling_print(call->ctx, result, curve,
                                  values->json ? LAMINA_INTERFERENCE_JSON : LAMINA_INTERFERENCE_TEXT, stdout));
  if (values->levels != NULL)
    LMI_TRY(write_levels(call, plan, result->random.runs[0]));
  if (values->slurm != NULL)
    LMI_TRY(lamina_scheduling_save_slurm(call->ctx, result, curve, values->slurm));
  if (values->slurm != NULL)
    fprintf(stderr, "lamina: wrote %s/slurm.conf.part and %s/job.sbatch.part\n", values->slurm, values->slurm);
  if (values->plot == NULL)
    return LAMINA_OK;
  LMI_TRY(lamina_scheduling_plot(call->ctx, result, values->plot));
  fprintf(stderr, "lamina: wrote %s.svg (its data and script: %s.dat, %s.gp)\n", values->plot, values->plot,
          values->plot);
  return LAMINA_OK;
}

static lamina_status run_live(lmi_call *call, const lamina_scheduling_plan *plan, lamina_scheduling **result)
{
  const struct schedule_values *values = call->values;
  lamina_injector_calibration *calibration = NULL;
  int exit_code = 0;
  const lmi_injector_file file = {.path = values->calibration, .placement = {LAMINA_NODE_ANY, LAMINA_NODE_ANY}};
  LMI_TRY(lmi_injector_require_program(call));
  LMI_TRY(lmi_injector_load_or_calibrate(call, &file, &calibration));
  const lamina_live_plan live = {.argv = call->program,
                                 .calibration = calibration,
                                 .injector_threads = (int)values->injector_threads,
                                 .output = values->output,
                                 .state = values->state,
                                 .progress = lmi_machine_progress};
  const lamina_status status = lamina_scheduling_live(call->ctx, plan, &live, &exit_code, result);
  lmi_machine_progress_end();
  lamina_injector_calibration_destroy(call->ctx, calibration);
  if (status != LAMINA_OK && exit_code == 126)
    call->exit_code = exit_code;
  return status;
}

static lamina_status check_words(const lmi_call *call)
{
  const struct schedule_values *values = call->values;
  const bool has_curve = values->example != NULL || call->argument_count > 0;
  if (values->example != NULL && call->argument_count > 0)
    return lmi_usage_error(call, "a file and --example: choose one");
  if (!isnan(values->share) && call->argument_count == 0)
    return lmi_usage_error(call, "--share chooses from a file of `lamina interfere --json`, and there is none");
  if (values->live != (call->program_count > 0))
    return lmi_usage_error(call, "--live and a program behind -- belong together");
  if (!has_curve && !values->live)
    return lmi_usage_error(call, "say which curve: a file of `lamina interfere --json`, or --example NAME");
  if (values->slurm != NULL && !has_curve)
    return lmi_usage_error(call, "--slurm needs a curve: a file of `lamina interfere --json`, or --example NAME");
  return LAMINA_OK;
}

static lamina_status schedule_run(lmi_call *call)
{
  const struct schedule_values *values = call->values;
  lamina_scheduling_plan plan = lamina_scheduling_plan_default();
  lamina_sensitivity_curve curve;
  lamina_scheduling *result = NULL;
  bool has_curve = false;
  LMI_TRY(check_words(call));
  LMI_TRY(read_range(call, "random", values->random, plan.random));
  LMI_TRY(read_range(call, "aware", values->aware, plan.aware));
  LMI_TRY(lmi_call_open(call, 0));
  LMI_TRY(read_curve(call, &curve, &has_curve));
  plan.curve = has_curve ? &curve : NULL;
  plan.work_seconds = values->seconds > 0 ? values->seconds : values->example != NULL ? 600 : 0;
  plan.step_seconds = values->step;
  plan.runs = (int)values->runs;
  plan.seed = (uint64_t)values->seed;
  lamina_status status =
    values->live ? run_live(call, &plan, &result) : lamina_scheduling_model(call->ctx, &plan, &result);
  if (status == LAMINA_OK)
    status = show(call, &plan, result, plan.curve);
  lamina_scheduling_destroy(call->ctx, result);
  return status;
}

const lmi_command lmi_command_schedule = {
  .name = "schedule",
  .summary = "what a scheduler gains that knows who disturbs whom at the memory",
  .group = LMI_GROUP_MEASURE,
  .flags = LMI_TAKES_PROGRAM,
  .arguments = "[CURVE.json]",
  .least = 0,
  .most = 1,
  .options = options,
  LMI_VALUES(defaults),
  .description = "Two policies: neighbours at random (levels of interference from 0 to 50 %, a new one each\n"
                 "minute), and neighbours chosen so that they disturb little (0 to 20 %). Times of many runs\n"
                 "follow from the program's sensitivity curve, or, with --live, from running it.",
  .examples = examples,
  .run = schedule_run,
};
