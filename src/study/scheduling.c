/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduling study without a machine: progress along a sensitivity curve. */
#include <lamina/scheduling.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scheduling_study.h"

enum { MOST_RUNS = 1000000, MOST_STEPS = 10000000 };

lamina_scheduling_plan lamina_scheduling_plan_default(void)
{
  return (lamina_scheduling_plan){.step_seconds = 60, .random = {0, 50}, .aware = {0, 20}, .runs = 100, .seed = 1};
}

/* SplitMix64 (Steele, Lea and Flood 2014): any place of its sequence is computed at once, so a run that is repeated
 * sees the levels it saw before. */
static uint64_t mix(uint64_t value)
{
  value += UINT64_C(0x9e3779b97f4a7c15);
  value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
  return value ^ (value >> 31);
}

double lamina_scheduling_level(uint64_t seed, int run, int64_t step, double low, double high)
{
  const uint64_t bits = mix(mix(mix(seed) + (uint64_t)run) + (uint64_t)step);
  return low + (high - low) * ((double)(bits >> 11) * 0x1p-53);
}

static lamina_status check_range(lamina_context *ctx, const char *name, const double range[2])
{
  LMI_REQUIRE(ctx, range[0] >= 0 && range[0] <= range[1] && range[1] <= 100, LAMINA_ERROR_ARGUMENT,
              "levels of the %s policy from %g to %g; they must rise between 0 and 100", name, range[0], range[1]);
  return LAMINA_OK;
}

lamina_status lmi_scheduling_check(lamina_context *ctx, const lamina_scheduling_plan *plan)
{
  LMI_TRY(check_range(ctx, "random", plan->random));
  LMI_TRY(check_range(ctx, "aware", plan->aware));
  LMI_REQUIRE(ctx, plan->runs >= 1 && plan->runs <= MOST_RUNS, LAMINA_ERROR_ARGUMENT,
              "%d runs of each policy; 1 to %d are allowed", plan->runs, MOST_RUNS);
  LMI_REQUIRE(ctx, plan->step_seconds >= 0.1 && plan->step_seconds <= 1e7, LAMINA_ERROR_ARGUMENT,
              "a new level every %g s; 0.1 to 1e7 are allowed", plan->step_seconds);
  LMI_REQUIRE(ctx, plan->work_seconds >= 0 && plan->work_seconds <= 1e9, LAMINA_ERROR_ARGUMENT,
              "a job of %g s; 0 to 1e9 are allowed", plan->work_seconds);
  return LAMINA_OK;
}

static lamina_status check_model(lamina_context *ctx, const lamina_scheduling_plan *plan, double work)
{
  LMI_TRY(lmi_scheduling_check(ctx, plan));
  LMI_REQUIRE(ctx, plan->curve != NULL && plan->curve->count > 0, LAMINA_ERROR_ARGUMENT,
              "there is no sensitivity curve");
  const double last = plan->curve->levels[plan->curve->count - 1], most = fmax(plan->random[1], plan->aware[1]);
  LMI_REQUIRE(ctx, most <= last, LAMINA_ERROR_ARGUMENT,
              "levels up to %g, and %s was measured up to %g: measure further, or lower --random and --aware", most,
              plan->curve->name, last);
  LMI_REQUIRE(ctx, isfinite(work) && work > 0, LAMINA_ERROR_ARGUMENT,
              "how long the undisturbed job takes is not known: say it with --seconds");
  LMI_REQUIRE(ctx, work / plan->step_seconds <= MOST_STEPS, LAMINA_ERROR_ARGUMENT,
              "a job of %g s in steps of %g s; at most %d steps are allowed", work, plan->step_seconds, MOST_STEPS);
  return LAMINA_OK;
}

/* Advances S(level) seconds of work a second until none is left. */
static double run_model(const lamina_scheduling_plan *plan, const double range[2], double work, int run,
                        double *level_seconds)
{
  double seconds = 0;
  for (int64_t step = 0; work > 0; step++) {
    const double level = lamina_scheduling_level(plan->seed, run, step, range[0], range[1]);
    const double rate = lamina_sensitivity_curve_at(plan->curve, level);
    const double spent = fmin(plan->step_seconds, work / rate);
    work = spent < plan->step_seconds ? 0 : work - rate * spent;
    seconds += spent;
    *level_seconds += level * spent;
  }
  return seconds;
}

lamina_status lmi_policy_summarise(lamina_context *ctx, int runs, double level_seconds, lamina_policy_result *policy)
{
  double *sorted = NULL, sum = 0;
  LMI_TRY(LMI_ALLOC(ctx, (size_t)runs, &sorted));
  memcpy(sorted, policy->runs, (size_t)runs * sizeof *sorted);
  for (int i = 0; i < runs; i++)
    sum += policy->runs[i];
  policy->seconds = lamina_five_numbers_of(sorted, (size_t)runs);
  policy->mean_seconds = sum / runs;
  policy->mean_level = level_seconds / sum;
  lmi_free(ctx, sorted);
  return LAMINA_OK;
}

lamina_status lmi_scheduling_create(lamina_context *ctx, const lamina_scheduling_plan *plan, lamina_scheduling **result)
{
  lamina_scheduling *made = NULL;
  *result = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 1, &made), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)plan->runs, &made->random.runs), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)plan->runs, &made->aware.runs), cleanup);
  made->step_seconds = plan->step_seconds;
  made->runs = plan->runs;
  made->seed = plan->seed;
  made->random.low = plan->random[0];
  made->random.high = plan->random[1];
  made->aware.low = plan->aware[0];
  made->aware.high = plan->aware[1];
  *result = made;
cleanup:
  if (status != LAMINA_OK)
    lamina_scheduling_destroy(ctx, made);
  return status;
}

void lmi_scheduling_compare(lamina_scheduling *result)
{
  result->speedup_percent = 100 * (result->random.mean_seconds / result->aware.mean_seconds - 1);
  result->q3_change_percent = 100 * (result->aware.seconds.q3 / result->random.seconds.q3 - 1);
  if (result->work_seconds < result->step_seconds)
    snprintf(
      result->remark, sizeof result->remark,
      "the job (%.3g s) is shorter than a step (%.3g s): each run saw one level; --seconds or --step change that",
      result->work_seconds, result->step_seconds);
}

static lamina_status model_policy(lamina_context *ctx, const lamina_scheduling_plan *plan, const double range[2],
                                  double work, lamina_policy_result *policy)
{
  double level_seconds = 0;
  for (int run = 0; run < plan->runs; run++)
    policy->runs[run] = run_model(plan, range, work, run, &level_seconds);
  return lmi_policy_summarise(ctx, plan->runs, level_seconds, policy);
}

lamina_status lamina_scheduling_model(lamina_context *ctx, const lamina_scheduling_plan *plan,
                                      lamina_scheduling **result)
{
  lamina_scheduling *made = NULL;
  *result = NULL;
  const double work = plan->work_seconds > 0 ? plan->work_seconds : plan->curve != NULL ? plan->curve->seconds : 0;
  LMI_TRY(check_model(ctx, plan, work));
  LMI_TRY(lmi_scheduling_create(ctx, plan, &made));
  snprintf(made->name, sizeof made->name, "%s", plan->curve->name);
  made->work_seconds = work;
  lamina_status status = model_policy(ctx, plan, plan->random, work, &made->random);
  if (status == LAMINA_OK)
    status = model_policy(ctx, plan, plan->aware, work, &made->aware);
  if (status != LAMINA_OK) {
    lamina_scheduling_destroy(ctx, made);
    return status;
  }
  lmi_scheduling_compare(made);
  *result = made;
  return LAMINA_OK;
}

void lamina_scheduling_destroy(lamina_context *ctx, lamina_scheduling *result)
{
  if (result == NULL)
    return;
  lmi_free(ctx, result->random.runs);
  lmi_free(ctx, result->aware.runs);
  lmi_free(ctx, result);
}
