/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduling study on a machine: a program beside an injector whose level changes with time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory/injector.h"
#include "memory/processor_split.h"
#include "memory/program_run.h"
#include "scheduling_study.h"

enum { GRID = 11 }; /* settled levels; between them the time an element is interpolated */
static const double RESTING_FLOPS = 100000;

typedef struct live {
  lamina_context *ctx;
  const lamina_scheduling_plan *plan;
  const lamina_live_plan *what;
  lamina_scheduling *result;
  lmi_processor_split split;
  lamina_injector_setting setting;
  double grid_levels[GRID], grid_flops[GRID];
  int output;
  FILE *state;
  int exit_code;
  bool has_run;
  double *level_seconds; /* of each run, in the order in which they are made */
} live;

/* ---- levels over time ---- */

/* Turns the injector's screw while the program runs. */
typedef struct driver {
  const live *study;
  lamina_injector *injector;
  int run;
  double range[2];
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool has_ended;
  double level_seconds;
} driver;

static double flops_at(const live *study, double level)
{
  const double *levels = study->grid_levels, *flops = study->grid_flops;
  if (level < 0.5 * levels[0])
    return RESTING_FLOPS;
  if (level <= levels[0])
    return flops[0] * levels[0] / level;
  size_t i = 1;
  while (i + 1 < GRID && levels[i] < level)
    i++;
  /* Traffic goes with 1 / time, and time is straight in the flops. */
  const double a = 1 / levels[i - 1], b = 1 / levels[i];
  return flops[i - 1] + (1 / level - a) / (b - a) * (flops[i] - flops[i - 1]);
}

static struct timespec in_seconds(double seconds)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  const double sum = (double)time.tv_nsec * 1e-9 + seconds;
  time.tv_sec += (time_t)floor(sum);
  time.tv_nsec = (long)(1e9 * (sum - floor(sum)));
  return time;
}

static void *drive(void *argument)
{
  driver *me = argument;
  const live *study = me->study;
  pthread_mutex_lock(&me->lock);
  for (int64_t step = 0; !me->has_ended; step++) {
    const double level = lamina_scheduling_level(study->plan->seed, me->run, step, me->range[0], me->range[1]);
    const double start = lmi_clock_seconds();
    const struct timespec end = in_seconds(study->plan->step_seconds);
    lmi_injector_set_flops(me->injector, flops_at(study, level));
    while (!me->has_ended && pthread_cond_timedwait(&me->wake, &me->lock, &end) != ETIMEDOUT)
      ;
    me->level_seconds += level * (lmi_clock_seconds() - start);
  }
  pthread_mutex_unlock(&me->lock);
  return NULL;
}

static lamina_status start_driver(driver *made, pthread_t *thread)
{
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&made->wake, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_init(&made->lock, NULL);
  const int error_number = pthread_create(thread, NULL, drive, made);
  LMI_REQUIRE(made->study->ctx, error_number == 0, LAMINA_ERROR_SYSTEM,
              "the thread that sets the levels cannot start: %s", strerror(error_number));
  return LAMINA_OK;
}

static void end_driver(driver *made, pthread_t thread)
{
  pthread_mutex_lock(&made->lock);
  made->has_ended = true;
  pthread_cond_signal(&made->wake);
  pthread_mutex_unlock(&made->lock);
  pthread_join(thread, NULL);
  pthread_cond_destroy(&made->wake);
  pthread_mutex_destroy(&made->lock);
}

/* ---- runs ---- */

static lamina_status check_end(live *study, const lmi_program_result *run)
{
  const int expected = study->has_run ? study->exit_code : run->exit_code;
  study->has_run = true;
  study->exit_code = run->exit_code;
  LMI_REQUIRE(study->ctx, run->start_error[0] == '\0', LAMINA_ERROR_SYSTEM, "%s", run->start_error);
  LMI_REQUIRE(study->ctx, run->signal == 0, LAMINA_ERROR_SYSTEM, "the program was ended by signal %d (%s)", run->signal,
              strsignal(run->signal));
  LMI_REQUIRE(study->ctx, run->exit_code == expected, LAMINA_ERROR_SYSTEM,
              "the program ended with %d, and before that with %d: runs that differ cannot be compared", run->exit_code,
              expected);
  return LAMINA_OK;
}

static lamina_status run_program(live *study, lmi_program_result *run)
{
  const lmi_program program = {.argv = study->what->argv, .output = study->output};
  lmi_processor_split_use(&study->split, study->split.program);
  const lamina_status status = lmi_program_run(study->ctx, &program, run);
  lmi_processor_split_use(&study->split, study->split.all);
  LMI_TRY(status);
  return check_end(study, run);
}

static lamina_status run_beside_levels(live *study, int run, const double range[2], double *seconds,
                                       double *level_seconds)
{
  driver levels = {.study = study, .run = run, .range = {range[0], range[1]}};
  lmi_program_result program = {0};
  pthread_t thread;
  lmi_processor_split_use(&study->split, study->split.injector);
  lamina_status status = lamina_inject_start(study->ctx, &study->setting, &levels.injector);
  if (status == LAMINA_OK)
    status = start_driver(&levels, &thread);
  lmi_processor_split_use(&study->split, study->split.all);
  if (status == LAMINA_OK) {
    status = run_program(study, &program);
    end_driver(&levels, thread);
  }
  lamina_inject_stop(levels.injector, NULL);
  *seconds = program.seconds;
  *level_seconds = levels.level_seconds;
  return status;
}

/* ---- what was done before ---- */

static const char HEADER[] =
  "# lamina schedule --live, seed %" PRIu64 ", step %.17g s, levels %.17g %.17g %.17g %.17g\n";

static void print_header(const lamina_scheduling_plan *plan, char *line, size_t size)
{
  snprintf(line, size, HEADER, plan->seed, plan->step_seconds, plan->random[0], plan->random[1], plan->aware[0],
           plan->aware[1]);
}

/* Takes the runs of a state file, in the order in which they were made; gives how many. A line that an abort cut short
 * is no run. */
static lamina_status read_state(live *study, FILE *file, int *done)
{
  char line[256], header[256], policy[16];
  int run = 0;
  print_header(study->plan, header, sizeof header);
  LMI_REQUIRE(study->ctx, fgets(line, sizeof line, file) != NULL && strcmp(line, header) == 0, LAMINA_ERROR_CASE,
              "%s is of another study (seed, step or levels differ): name another file", study->what->state);
  for (*done = 0; *done < 2 * study->plan->runs && fgets(line, sizeof line, file) != NULL; (*done)++) {
    char seconds[64], level_seconds[64];
    double values[2];
    lamina_policy_result *policies[] = {&study->result->random, &study->result->aware};
    if (strchr(line, '\n') == NULL)
      break;
    LMI_REQUIRE(study->ctx,
                sscanf(line, "%15s %d %63s %63s", policy, &run, seconds, level_seconds) == 4 && run == *done / 2 &&
                  strcmp(policy, *done % 2 == 0 ? "random" : "aware") == 0 && lmi_parse_double(seconds, &values[0]) &&
                  lmi_parse_double(level_seconds, &values[1]) && values[0] > 0,
                LAMINA_ERROR_CASE, "%s:%d: not a run of this study", study->what->state, *done + 2);
    policies[*done % 2]->runs[run] = values[0];
    study->level_seconds[*done] = values[1];
  }
  return LAMINA_OK;
}

static lamina_status open_state(live *study, int *done)
{
  char header[256];
  *done = 0;
  if (study->what->state == NULL)
    return LAMINA_OK;
  FILE *file = fopen(study->what->state, "r");
  if (file != NULL) {
    const lamina_status status = read_state(study, file, done);
    fclose(file);
    LMI_TRY(status);
  }
  study->state = fopen(study->what->state, "w"); /* written anew: a line that was cut short is gone */
  if (study->state == NULL)
    return lmi_fail_errno(study->ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", study->what->state);
  print_header(study->plan, header, sizeof header);
  fputs(header, study->state);
  return LAMINA_OK;
}

static lamina_status keep(live *study, int number)
{
  char numbers[2][32];
  const lamina_policy_result *policy = number % 2 == 0 ? &study->result->random : &study->result->aware;
  if (study->state == NULL)
    return LAMINA_OK;
  fprintf(study->state, "%s %d %s %s\n", number % 2 == 0 ? "random" : "aware", number / 2,
          lmi_format_double(policy->runs[number / 2], numbers[0]),
          lmi_format_double(study->level_seconds[number], numbers[1]));
  LMI_REQUIRE(study->ctx, fflush(study->state) == 0, LAMINA_ERROR_FILE, "%s cannot be written", study->what->state);
  return LAMINA_OK;
}

/* ---- steering ---- */

static void tell(const live *study, const char *text, int done)
{
  if (study->what->progress != NULL)
    study->what->progress(study->what->user, text, done, 2 * study->plan->runs + GRID);
}

/* The flops of a grid of levels, on the machine as it is, with one thread count for all of them. */
static lamina_status settle_grid(live *study)
{
  const double most = fmax(study->plan->random[1], study->plan->aware[1]);
  double peak = 0, reached = 0;
  LMI_TRY(lamina_inject_peak(study->ctx, study->what->calibration, &peak));
  lmi_processor_split_use(&study->split, study->split.injector);
  lamina_status status = LAMINA_OK;
  for (int i = GRID - 1; i >= 0 && status == LAMINA_OK; i--) {
    const double level = most * (i + 1) / GRID;
    const lamina_settle_options options = {.wanted_gb_per_s = 0.01 * level * peak,
                                           .slack_gb_per_s = 0.007 * peak,
                                           .loi = level,
                                           .most_threads = study->setting.threads};
    tell(study, "settling the levels", GRID - 1 - i);
    status = lamina_inject_settle(study->ctx, study->what->calibration, &options, &study->setting, &reached);
    study->grid_levels[i] = 100 * reached / peak;
    study->grid_flops[i] = study->setting.flops_per_element;
  }
  lmi_processor_split_use(&study->split, study->split.all);
  LMI_TRY(status);
  for (int i = 1; i < GRID; i++)
    if (study->grid_levels[i] <= study->grid_levels[i - 1]) /* noise where memory bounds */
      study->grid_levels[i] = study->grid_levels[i - 1] * 1.0001;
  if (study->grid_levels[GRID - 1] < most - 3)
    snprintf(study->result->remark, sizeof study->result->remark,
             "%d thread(s) of the injector reach a level of %.0f here: levels above were not made",
             study->setting.threads, study->grid_levels[GRID - 1]);
  return LAMINA_OK;
}

static lamina_status run_all(live *study, int done)
{
  double sums[2] = {0, 0};
  for (int number = 0; number < 2 * study->plan->runs; number++) {
    const bool is_random = number % 2 == 0;
    lamina_policy_result *policy = is_random ? &study->result->random : &study->result->aware;
    if (number >= done) {
      tell(study, is_random ? "random" : "interference-aware", GRID + number);
      LMI_TRY(run_beside_levels(study, number / 2, is_random ? study->plan->random : study->plan->aware,
                                &policy->runs[number / 2], &study->level_seconds[number]));
    }
    sums[number % 2] += study->level_seconds[number];
    LMI_TRY(keep(study, number));
  }
  LMI_TRY(lmi_policy_summarise(study->ctx, study->plan->runs, sums[0], &study->result->random));
  return lmi_policy_summarise(study->ctx, study->plan->runs, sums[1], &study->result->aware);
}

static lamina_status run_study(live *study)
{
  int done = 0;
  lmi_program_result run;
  const char *output = study->what->output != NULL ? study->what->output : "/dev/null";
  LMI_TRY(LMI_ALLOC(study->ctx, 2 * (size_t)study->plan->runs, &study->level_seconds));
  LMI_TRY(lmi_processor_split_open(study->ctx, LAMINA_NODE_ANY, study->what->injector_threads, &study->split));
  study->setting = lamina_injector_setting_default();
  study->setting.threads = hwloc_bitmap_weight(study->split.injector);
  study->setting.array_bytes = study->what->calibration->array_bytes;
  study->setting.placement = study->what->calibration->placement;
  study->output = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (study->output < 0)
    return lmi_fail_errno(study->ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", output);
  LMI_TRY(run_program(study, &run)); /* undisturbed, and a program that fails fails at once */
  study->result->work_seconds = run.seconds;
  LMI_TRY(open_state(study, &done));
  if (done < 2 * study->plan->runs)
    LMI_TRY(settle_grid(study));
  LMI_TRY(run_all(study, done));
  lmi_scheduling_compare(study->result);
  return LAMINA_OK;
}

lamina_status lamina_scheduling_live(lamina_context *ctx, const lamina_scheduling_plan *plan,
                                     const lamina_live_plan *what, int *exit_code, lamina_scheduling **result)
{
  live study = {.ctx = ctx, .plan = plan, .what = what, .output = -1};
  *result = NULL;
  *exit_code = 0;
  LMI_TRY(lmi_scheduling_check(ctx, plan));
  LMI_REQUIRE(ctx, what->argv != NULL && what->argv[0] != NULL && what->calibration != NULL, LAMINA_ERROR_ARGUMENT,
              "a program and a calibration of the injector are needed");
  LMI_TRY(lmi_scheduling_create(ctx, plan, &study.result));
  study.result->is_live = true;
  snprintf(study.result->name, sizeof study.result->name, "%s", what->argv[0]);
  const lamina_status status = run_study(&study);
  *exit_code = study.exit_code;
  if (study.output >= 0)
    close(study.output);
  if (study.state != NULL)
    fclose(study.state);
  lmi_processor_split_close(&study.split);
  lmi_free(ctx, study.level_seconds);
  if (status != LAMINA_OK)
    lamina_scheduling_destroy(ctx, study.result);
  else
    *result = study.result;
  return status;
}
