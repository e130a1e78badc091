/* SPDX-License-Identifier: Apache-2.0 */
/* Steers the study: a probe beside the program, then rounds of the program beside the injector. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "five_numbers.h"
#include "interference_phases.h"
#include "interference_study.h"
#include "memory/injector.h"
#include "memory/reference_probe.h"

enum { MOST_LEVELS = 64, MOST_SHARES = 16, MOST_RUNS = 1000, SERIES_POINTS = 200 };
static const double IDLE_SECONDS = 1.0, LEVEL_SLACK = 0.7, MISSED_LEVEL = 3;
static const double QUIET_SPREAD = 1.2; /* of the quartiles of the idle probe */

lamina_interference_plan lamina_interference_plan_default(void)
{
  static const double levels[] = {0, 10, 20, 30, 40, 50}, shares[] = {25, 50, 75};
  return (lamina_interference_plan){.levels = levels,
                                    .level_count = LMI_COUNT(levels),
                                    .shares = shares,
                                    .share_count = LMI_COUNT(shares),
                                    .runs = 5,
                                    .local_node = LAMINA_NODE_ANY,
                                    .pool_node = LAMINA_NODE_ANY};
}

static lamina_status check(lamina_context *ctx, const lamina_interference_plan *plan)
{
  LMI_REQUIRE(ctx, plan->argv != NULL && plan->argv[0] != NULL && plan->argv[0][0] != '\0', LAMINA_ERROR_ARGUMENT,
              "there is no program to run");
  LMI_REQUIRE(ctx, plan->calibration != NULL, LAMINA_ERROR_ARGUMENT, "there is no calibration of the injector");
  LMI_REQUIRE(ctx, plan->runs >= 1 && plan->runs <= MOST_RUNS, LAMINA_ERROR_ARGUMENT,
              "%d runs of each point; 1 to %d are allowed", plan->runs, MOST_RUNS);
  LMI_REQUIRE(ctx, plan->level_count <= MOST_LEVELS && plan->share_count <= MOST_SHARES, LAMINA_ERROR_ARGUMENT,
              "%zu levels and %zu shares; at most %d and %d are allowed", plan->level_count, plan->share_count,
              MOST_LEVELS, MOST_SHARES);
  for (size_t i = 0; i < plan->level_count; i++)
    LMI_REQUIRE(ctx, plan->levels[i] >= 0 && plan->levels[i] <= 100, LAMINA_ERROR_ARGUMENT,
                "a level of interference of %g percent; 0 to 100 are allowed", plan->levels[i]);
  for (size_t i = 0; i < plan->share_count; i++)
    LMI_REQUIRE(ctx, plan->shares[i] > 0 && plan->shares[i] <= 99, LAMINA_ERROR_ARGUMENT,
                "a share of %g percent in the pool; above 0, at most 99 are allowed", plan->shares[i]);
  return LAMINA_OK;
}

void lmi_study_tell(lmi_study *study, const char *what)
{
  if (study->plan->progress != NULL)
    study->plan->progress(study->plan->user, what, study->done, study->total);
}

/* ---- one run of the program ---- */

lamina_status lmi_study_program(lmi_study *study, bool is_watched, lmi_program_result *run)
{
  const lmi_program program = {.argv = study->plan->argv,
                               .output = study->output,
                               .is_watched = is_watched,
                               .watched_node = study->pool_node,
                               .phases = study->phases};
  lamina_context *ctx = study->ctx;
  lmi_processor_split_use(&study->split, study->split.program);
  const lamina_status status = lmi_program_run(ctx, &program, run);
  lmi_processor_split_use(&study->split, study->split.all);
  LMI_TRY(status);
  const int expected = study->has_run ? study->result->exit_code : run->exit_code;
  study->has_run = true;
  study->result->exit_code = run->exit_code;
  LMI_REQUIRE(ctx, run->start_error[0] == '\0', LAMINA_ERROR_SYSTEM, "%s", run->start_error);
  LMI_REQUIRE(ctx, run->signal == 0, LAMINA_ERROR_SYSTEM, "the program was ended by signal %d (%s)", run->signal,
              strsignal(run->signal));
  LMI_REQUIRE(ctx, run->exit_code == expected, LAMINA_ERROR_SYSTEM,
              "the program ended with %d, and before that with %d: runs that differ cannot be compared", run->exit_code,
              expected);
  return LAMINA_OK;
}

/* ---- the interference coefficient ---- */

static lamina_status start_probe(lmi_study *study, lmi_reference **reference)
{
  lmi_processor_split_use(&study->split, study->split.injector);
  const lamina_placement placement = {LAMINA_NODE_ANY, study->pool_node};
  const lamina_status status =
    lmi_reference_start(study->ctx, placement, study->plan->calibration->array_bytes, reference);
  lmi_processor_split_use(&study->split, study->split.all);
  return status;
}

/* Five numbers of the pieces, as multiples of `unit` (of their own median when that is NAN). */
static lamina_status summarise(lmi_study *study, const lmi_reference_sample *samples, size_t count, double *unit,
                               lamina_five_numbers *numbers)
{
  double *values = NULL;
  LMI_TRY(LMI_ALLOC(study->ctx, count, &values));
  for (size_t i = 0; i < count; i++)
    values[i] = samples[i].seconds;
  *numbers = lamina_five_numbers_of(values, count);
  lmi_free(study->ctx, values);
  if (!isfinite(*unit))
    *unit = numbers->median;
  double *const all[] = {&numbers->min, &numbers->q1, &numbers->median, &numbers->q3, &numbers->max};
  for (size_t i = 0; i < LMI_COUNT(all); i++)
    *all[i] /= *unit;
  return LAMINA_OK;
}

/* Medians of equal stretches of the run: phases of the program show as levels. */
static lamina_status make_series(lmi_study *study, const lmi_reference_sample *samples, size_t count)
{
  lamina_interference *result = study->result;
  const size_t points = count < SERIES_POINTS ? count : SERIES_POINTS;
  double *values = NULL;
  LMI_TRY(LMI_ALLOC(study->ctx, points, &result->series));
  LMI_TRY(LMI_ALLOC(study->ctx, count, &values));
  for (size_t p = 0; p < points; p++) {
    const size_t first = p * count / points, next = (p + 1) * count / points;
    for (size_t i = first; i < next; i++)
      values[i - first] = samples[i].seconds / result->idle_piece_seconds;
    result->series[p].seconds = samples[next - 1].at_seconds;
    result->series[p].coefficient = lamina_five_numbers_of(values, next - first).median;
  }
  result->series_count = points;
  lmi_free(study->ctx, values);
  return LAMINA_OK;
}

static lamina_status probe_idle(lmi_study *study)
{
  lmi_reference *reference = NULL;
  size_t count = 0;
  lmi_study_tell(study, "the probe on the idle machine");
  LMI_TRY(start_probe(study, &reference));
  lmi_sleep_seconds(IDLE_SECONDS);
  lmi_reference_stop(reference);
  const lmi_reference_sample *samples = lmi_reference_samples(reference, &count);
  study->result->idle_piece_seconds = (double)NAN;
  const lamina_status status =
    summarise(study, samples, count, &study->result->idle_piece_seconds, &study->result->idle);
  lmi_reference_free(reference);
  const lamina_five_numbers *idle = &study->result->idle;
  if (status == LAMINA_OK && idle->q3 > QUIET_SPREAD * idle->q1)
    snprintf(
      study->result->remark, sizeof study->result->remark,
      "the machine was not idle: without the program the probe's quartiles were %.2f and %.2f; measure again when "
      "nothing else runs",
      idle->q1, idle->q3);
  return status;
}

/* Markers of the program, if it has any. */
static lamina_status divide_by_phase(lmi_study *study, const char *marks, const lmi_reference *reference)
{
  size_t count = 0, stretch_count = 0;
  lmi_phase_stretch *stretches = NULL;
  const lmi_reference_sample *samples = lmi_reference_samples(reference, &count);
  LMI_TRY(lmi_phase_stretches(study->ctx, marks, &stretches, &stretch_count));
  const lamina_status status = lmi_coefficients_by_phase(study->ctx, samples, count, lmi_reference_utc_ns(reference),
                                                         stretches, stretch_count, study->result);
  lmi_free(study->ctx, stretches);
  return status;
}

static lamina_status evaluate(lmi_study *study, const char *marks, const lmi_reference *reference)
{
  size_t count = 0;
  const lmi_reference_sample *samples = lmi_reference_samples(reference, &count);
  study->result->sample_count = count;
  LMI_TRY(summarise(study, samples, count, &study->result->idle_piece_seconds, &study->result->coefficient));
  LMI_TRY(make_series(study, samples, count));
  return divide_by_phase(study, marks, reference);
}

static lamina_status probe_beside_program(lmi_study *study)
{
  lmi_reference *reference = NULL;
  lmi_program_result run;
  lmi_text marks = {0};
  lamina_status status = LAMINA_OK;
  lmi_study_tell(study, "the program beside the probe");
  LMI_TRY_GOTO(status, lmi_phase_file_make(study->ctx, &marks), cleanup);
  LMI_TRY_GOTO(status, start_probe(study, &reference), cleanup);
  study->phases = marks.data;
  status = lmi_study_program(study, false, &run);
  study->phases = NULL;
  lmi_reference_stop(reference);
  if (status == LAMINA_OK)
    status = evaluate(study, marks.data, reference);
cleanup:
  if (marks.data != NULL)
    unlink(marks.data);
  lmi_reference_free(reference);
  lmi_text_free(study->ctx, &marks);
  return status;
}

/* ---- the sensitivity curve ---- */

/* The fewest threads that reach a level, as far as the injector has processors. */
static lamina_status choose(lmi_study *study, double loi, lamina_injector_setting *setting)
{
  lamina_status status = LAMINA_OK;
  for (int threads = 1; threads <= study->result->injector_threads; threads++) {
    status = lamina_inject_choose(study->ctx, study->plan->calibration, loi, threads, setting);
    if (status != LAMINA_ERROR_ARGUMENT)
      return status;
    lamina_error_clear(study->ctx);
  }
  setting->threads = study->result->injector_threads; /* settling shows how far they get */
  setting->flops_per_element = 1;
  return LAMINA_OK;
}

/* Brings the injector to a level and leaves it running. */
static lamina_status start_level(lmi_study *study, double loi, lmi_study_run *run, lamina_injector **injector)
{
  lamina_injector_setting setting;
  double reached = 0;
  const lamina_settle_options options = {.wanted_gb_per_s = 0.01 * loi * study->peak_gb_per_s,
                                         .slack_gb_per_s = 0.01 * LEVEL_SLACK * study->peak_gb_per_s,
                                         .loi = loi,
                                         .most_threads = study->result->injector_threads};
  LMI_TRY(choose(study, loi, &setting));
  setting.placement = (lamina_placement){LAMINA_NODE_ANY, study->pool_node};
  lmi_processor_split_use(&study->split, study->split.injector);
  lamina_status status = lamina_inject_settle(study->ctx, study->plan->calibration, &options, &setting, &reached);
  if (status == LAMINA_OK)
    status = lamina_inject_start(study->ctx, &setting, injector);
  lmi_processor_split_use(&study->split, study->split.all);
  run->achieved_loi = 100 * reached / study->peak_gb_per_s;
  return status;
}

static lamina_status run_level(lmi_study *study, double loi, lmi_study_run *run)
{
  lamina_injector *injector = NULL;
  lamina_injection injection;
  lmi_program_result program;
  char text[64];
  snprintf(text, sizeof text, "level of interference %g", loi);
  lmi_study_tell(study, text);
  study->done++;
  *run = (lmi_study_run){NAN, NAN, NAN};
  if (loi > 0)
    LMI_TRY(start_level(study, loi, run, &injector));
  const double bytes = injector != NULL ? lmi_injector_bytes(injector) : 0;
  const lamina_status status = lmi_study_program(study, false, &program);
  if (injector != NULL && status == LAMINA_OK)
    run->beside_loi = 1e-7 * (lmi_injector_bytes(injector) - bytes) / program.seconds / study->peak_gb_per_s;
  lamina_inject_stop(injector, &injection);
  run->seconds = program.seconds;
  return status;
}

/* Up through the levels in even rounds and down in odd ones, the undisturbed run first. */
static lamina_status run_round(lmi_study *study, int round, lmi_study_run *runs)
{
  const lamina_placement placement = {LAMINA_NODE_ANY, study->pool_node};
  lamina_injector_calibration calibration = *study->plan->calibration;
  calibration.placement = placement;
  LMI_TRY(lamina_inject_peak(study->ctx, &calibration, &study->peak_gb_per_s));
  study->peaks[study->peak_count++] = study->peak_gb_per_s;
  for (size_t i = 0; i < study->level_count; i++) {
    const size_t level = i == 0 || round % 2 == 0 ? i : study->level_count - i;
    LMI_TRY(run_level(study, study->levels[level], &runs[level * (size_t)study->plan->runs + (size_t)round]));
  }
  return LAMINA_OK;
}

static double median_of(lmi_study *study, const lmi_study_run *runs, size_t field)
{
  double *values = study->scratch;
  size_t count = 0;
  for (int i = 0; i < study->plan->runs; i++) {
    const double value = *(const double *)((const char *)&runs[i] + field);
    if (isfinite(value))
      values[count++] = value;
  }
  return lamina_five_numbers_of(values, count).median;
}

static lamina_status fill_point(lmi_study *study, const lmi_study_run *undisturbed, const lmi_study_run *runs,
                                double loi, lamina_sensitivity_point *point)
{
  const size_t count = (size_t)study->plan->runs;
  point->loi = loi;
  point->seconds = median_of(study, runs, offsetof(lmi_study_run, seconds));
  point->achieved_loi = median_of(study, runs, offsetof(lmi_study_run, achieved_loi));
  point->beside_loi = median_of(study, runs, offsetof(lmi_study_run, beside_loi));
  point->performance = point->low = point->high = (double)NAN;
  if (loi > 0 && point->achieved_loi < loi - MISSED_LEVEL) {
    snprintf(point->reason, sizeof point->reason, "%d thread%s of the injector reach%s a level of %.0f here, not %g",
             study->result->injector_threads, study->result->injector_threads == 1 ? "" : "s",
             study->result->injector_threads == 1 ? "es" : "", point->achieved_loi, loi);
    return LAMINA_OK;
  }
  lmi_ratio_band band;
  double *above = study->scratch, *below = study->scratch + count;
  for (size_t i = 0; i < count; i++) {
    above[i] = undisturbed[i].seconds;
    below[i] = runs[i].seconds;
  }
  LMI_TRY(lmi_ratio_of_medians(study->ctx, above, loi > 0 ? below : above, count, &band));
  point->performance = band.ratio;
  point->low = band.low;
  point->high = band.high;
  return LAMINA_OK;
}

lamina_status lmi_study_levels(lmi_study *study, double share, double achieved_share)
{
  const size_t runs = (size_t)study->plan->runs;
  lmi_study_run *all = NULL;
  LMI_TRY(LMI_ALLOC(study->ctx, study->level_count * runs, &all));
  lamina_status status = LAMINA_OK;
  for (int round = 0; round < study->plan->runs && status == LAMINA_OK; round++)
    status = run_round(study, round, all);
  for (size_t i = 0; i < study->level_count && status == LAMINA_OK; i++) {
    lamina_sensitivity_point *point = &study->result->points[study->result->point_count++];
    status = fill_point(study, all, &all[i * runs], study->levels[i], point);
    point->share = share;
    point->achieved_share = achieved_share;
  }
  lmi_free(study->ctx, all);
  return status;
}

/* ---- from the plan to the result ---- */

/* Rising, each once, 0 first. */
static void sort_levels(lmi_study *study)
{
  double last = 0;
  study->levels[study->level_count++] = 0;
  for (;;) {
    double next = INFINITY;
    for (size_t i = 0; i < study->plan->level_count; i++)
      if (study->plan->levels[i] > last && study->plan->levels[i] < next)
        next = study->plan->levels[i];
    if (!isfinite(next))
      return;
    study->levels[study->level_count++] = last = next;
  }
}

static lamina_status join_words(lamina_context *ctx, char *const argv[], char **joined)
{
  lmi_text text = {0};
  lamina_status status = LAMINA_OK;
  for (size_t i = 0; argv[i] != NULL && status == LAMINA_OK; i++)
    status = lmi_text_append(ctx, &text, "%s%s", i > 0 ? " " : "", argv[i]);
  if (status == LAMINA_OK)
    status = lmi_string_copy(ctx, text.data, joined);
  lmi_text_free(ctx, &text);
  return status;
}

static lamina_status prepare(lmi_study *study)
{
  const lamina_interference_plan *plan = study->plan;
  lamina_interference *result = study->result;
  sort_levels(study);
  LMI_TRY(lmi_study_find_nodes(study));
  const size_t rounds = (size_t)plan->runs, shares = study->pool_node != LAMINA_NODE_ANY ? plan->share_count : 1;
  LMI_TRY(lmi_processor_split_open(study->ctx, study->local_node, plan->injector_threads, &study->split));
  result->runs = plan->runs;
  result->program_processors = hwloc_bitmap_weight(study->split.program);
  result->injector_threads = hwloc_bitmap_weight(study->split.injector);
  study->total = (int)(shares * study->level_count * rounds) + 2;
  LMI_TRY(join_words(study->ctx, plan->argv, &result->program));
  LMI_TRY(LMI_ALLOC(study->ctx, shares * study->level_count, &result->points));
  LMI_TRY(LMI_ALLOC(study->ctx, rounds * shares, &study->peaks));
  LMI_TRY(LMI_ALLOC(study->ctx, 2 * rounds, &study->scratch));
  const char *output = plan->output != NULL ? plan->output : "/dev/null";
  study->output = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (study->output < 0)
    return lmi_fail_errno(study->ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", output);
  return LAMINA_OK;
}

static lamina_status run_study(lmi_study *study)
{
  LMI_TRY(prepare(study));
  LMI_TRY(probe_idle(study));
  study->done++;
  LMI_TRY(probe_beside_program(study));
  study->done++;
  if (study->pool_node == LAMINA_NODE_ANY)
    LMI_TRY(lmi_study_levels(study, (double)NAN, (double)NAN));
  else
    LMI_TRY(lmi_study_shares(study));
  study->result->peak_gb_per_s = lamina_five_numbers_of(study->peaks, study->peak_count).median;
  return LAMINA_OK;
}

lamina_status lamina_interference_run(lamina_context *ctx, const lamina_interference_plan *plan, int *exit_code,
                                      lamina_interference **result)
{
  lmi_study study = {.ctx = ctx, .plan = plan, .output = -1};
  *result = NULL;
  *exit_code = 0;
  LMI_TRY(check(ctx, plan));
  LMI_TRY(LMI_ALLOC(ctx, 1, &study.result));
  const lamina_status status = run_study(&study);
  *exit_code = study.result->exit_code;
  if (study.output >= 0)
    close(study.output);
  lmi_processor_split_close(&study.split);
  lmi_free(ctx, study.peaks);
  lmi_free(ctx, study.scratch);
  if (status != LAMINA_OK)
    lamina_interference_destroy(ctx, study.result);
  else
    *result = study.result;
  return status;
}

void lamina_interference_destroy(lamina_context *ctx, lamina_interference *result)
{
  if (result == NULL)
    return;
  lmi_free(ctx, result->program);
  lmi_free(ctx, result->points);
  lmi_free(ctx, result->series);
  lmi_free(ctx, result->phases);
  lmi_free(ctx, result);
}
