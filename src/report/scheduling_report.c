/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduling study as text, as JSON, as a picture, and as settings for Slurm. */
#include <jansson.h>
#include <lamina/scheduling.h>

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "json_output.h"
#include "picture.h"

static json_t *number(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

/* ---- JSON ---- */

static json_t *policy_json(const char *name, const lamina_policy_result *policy, int runs)
{
  json_t *all = json_array();
  for (int i = 0; i < runs; i++)
    json_array_append_new(all, json_real(policy->runs[i]));
  const lamina_five_numbers *five = &policy->seconds;
  return json_pack("{s:s, s:[f, f], s:{s:f, s:f, s:f, s:f, s:f}, s:f, s:f, s:o}", "name", name, "levels", policy->low,
                   policy->high, "seconds", "min", five->min, "q1", five->q1, "median", five->median, "q3", five->q3,
                   "max", five->max, "mean_seconds", policy->mean_seconds, "mean_level", policy->mean_level,
                   "runs_seconds", all);
}

static json_t *curve_json(const lamina_sensitivity_curve *curve)
{
  json_t *points = json_array(), *object = json_object();
  for (size_t i = 0; i < curve->count; i++)
    json_array_append_new(points,
                          json_pack("{s:f, s:f}", "loi", curve->levels[i], "performance", curve->performance[i]));
  json_object_set_new(object, "source", json_string(curve->source));
  json_object_set_new(object, "share", number(curve->share));
  if (!isfinite(curve->share))
    json_object_set_new(object, "share_reason", json_string("measured on one memory, without a pool"));
  json_object_set_new(object, "coefficient_q3", number(curve->coefficient_q3));
  if (!isfinite(curve->coefficient_q3))
    json_object_set_new(object, "coefficient_reason", json_string("the curve comes without a measured coefficient"));
  json_object_set_new(object, "points", points);
  return object;
}

static lamina_status print_json(lamina_context *ctx, const lamina_scheduling *result,
                                const lamina_sensitivity_curve *curve, FILE *stream)
{
  json_t *policies = json_array();
  json_array_append_new(policies, policy_json("random", &result->random, result->runs));
  json_array_append_new(policies, policy_json("aware", &result->aware, result->runs));
  json_t *object =
    json_pack("{s:i, s:s, s:s, s:f, s:f, s:i, s:I, s:o, s:f, s:f}", "lamina_schedule", 1, "mode",
              result->is_live ? "live" : "model", "program", result->name, "work_seconds", result->work_seconds,
              "step_seconds", result->step_seconds, "runs", result->runs, "seed", (json_int_t)result->seed, "policies",
              policies, "speedup_percent", result->speedup_percent, "q3_change_percent", result->q3_change_percent);
  LMI_REQUIRE(ctx, object != NULL, LAMINA_ERROR_MEMORY, "no memory for the JSON of the study");
  if (curve != NULL)
    json_object_set_new(object, "curve", curve_json(curve));
  if (result->remark[0] != '\0')
    json_object_set_new(object, "remark", json_string(result->remark));
  return lmi_json_print(ctx, object, "the study", stream);
}

/* ---- text ---- */

static void print_policy(FILE *stream, const char *name, const lamina_policy_result *policy)
{
  const lamina_five_numbers *five = &policy->seconds;
  fprintf(stream, "%-20s %3g to %3g %7.1f  %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", name, policy->low, policy->high,
          policy->mean_level, five->min, five->q1, five->median, five->q3, five->max, policy->mean_seconds);
}

static lamina_status print_text(const lamina_scheduling *result, const lamina_sensitivity_curve *curve, FILE *stream)
{
  fprintf(stream, "%s: %.2f s undisturbed, a new level every %g s, %d run%s of each policy, seed %llu, %s\n",
          result->name, result->work_seconds, result->step_seconds, result->runs, result->runs == 1 ? "" : "s",
          (unsigned long long)result->seed, result->is_live ? "run on this machine" : "from its sensitivity curve");
  if (curve != NULL)
    fprintf(stream, "curve: %s\n", curve->source);
  fprintf(stream,
          "\nseconds                  levels    mean        min        q1    median        q3       max      mean\n");
  print_policy(stream, "random", &result->random);
  print_policy(stream, "interference-aware", &result->aware);
  fprintf(stream, "\ninterference-aware: %.1f %% faster in the mean, third quartile %+.1f %%\n",
          result->speedup_percent, result->q3_change_percent);
  if (result->remark[0] != '\0')
    fprintf(stream, "remark: %s\n", result->remark);
  return LAMINA_OK;
}

lamina_status lamina_scheduling_print(lamina_context *ctx, const lamina_scheduling *result,
                                      const lamina_sensitivity_curve *curve, lamina_interference_form form,
                                      FILE *stream)
{
  return form == LAMINA_INTERFERENCE_JSON ? print_json(ctx, result, curve, stream) : print_text(result, curve, stream);
}

/* ---- picture ---- */

lamina_status lamina_scheduling_plot(lamina_context *ctx, const lamina_scheduling *result, const char *path)
{
  lmi_picture picture = {0};
  LMI_TRY(lmi_picture_open(ctx, path, &picture));
  const lamina_five_numbers *five[] = {&result->random.seconds, &result->aware.seconds};
  for (size_t i = 0; i < LMI_COUNT(five); i++)
    fprintf(picture.data, "%zu %.6f %.6f %.6f %.6f %.6f\n", i + 1, five[i]->min, five[i]->q1, five[i]->median,
            five[i]->q3, five[i]->max);
  lmi_picture_begin(&picture, 480, 380);
  fprintf(picture.script,
          "unset key\nset ylabel 'seconds'\nset xrange [0.4:2.6]\nset boxwidth 0.5\n"
          "set xtics ('random, %g to %g %%%%' 1, 'aware, %g to %g %%%%' 2)\n"
          "plot '%s.dat' using 1:3:2:6:5 with candlesticks lt 1 fs transparent solid 0.3 whiskerbars 0.5, "
          "'' using 1:4:4:4:4 with candlesticks lt -1\n",
          result->random.low, result->random.high, result->aware.low, result->aware.high, picture.name);
  return lmi_picture_finish(ctx, &picture);
}

/* ---- Slurm ---- */

static lamina_status open_in(lamina_context *ctx, const char *folder, const char *name, FILE **file)
{
  lmi_text path = {0};
  LMI_TRY(lmi_text_append(ctx, &path, "%s/%s", folder, name));
  *file = fopen(path.data, "w");
  const lamina_status status =
    *file != NULL ? LAMINA_OK : lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", path.data);
  lmi_text_free(ctx, &path);
  return status;
}

static lamina_status close_in(lamina_context *ctx, const char *folder, FILE *file)
{
  const bool failed = ferror(file) != 0;
  LMI_REQUIRE(ctx, fclose(file) == 0 && !failed, LAMINA_ERROR_FILE, "the settings in %s could not be written", folder);
  return LAMINA_OK;
}

/* What neighbours lose to this job, in whole percent: the third quartile, so that its busy phase counts. */
static int disturbance_of(const lamina_sensitivity_curve *curve)
{
  const double percent = 100 * (curve->coefficient_q3 - 1);
  return percent < 1 ? 1 : percent > 100 ? 100 : (int)ceil(percent - 1e-6);
}

static lamina_status write_job(lamina_context *ctx, const lamina_scheduling *result,
                               const lamina_sensitivity_curve *curve, const char *folder)
{
  FILE *file = NULL;
  LMI_TRY(open_in(ctx, folder, "job.sbatch.part", &file));
  fprintf(file, "# For the job script of: %s\n# Sensitivity: %s\n", result->name, curve->source);
  const double last = curve->levels[curve->count - 1];
  fprintf(file, "# Loses %.1f %% of its speed at a level of interference of %g.\n",
          100 * (1 - curve->performance[curve->count - 1]), last);
  if (isfinite(curve->coefficient_q3)) {
    fprintf(file, "# Interference coefficient: median %.3f, third quartile %.3f.\n", curve->coefficient_median,
            curve->coefficient_q3);
    fprintf(file, "#SBATCH --licenses=pool_disturbance:%d\n", disturbance_of(curve));
  } else {
    fprintf(file, "# How much it disturbs others was not measured: `lamina interfere -- CMD` does, then write\n"
                  "# #SBATCH --licenses=pool_disturbance:N with N the third quartile's excess over 1, in percent.\n");
  }
  return close_in(ctx, folder, file);
}

lamina_status lamina_scheduling_save_slurm(lamina_context *ctx, const lamina_scheduling *result,
                                           const lamina_sensitivity_curve *curve, const char *folder)
{
  FILE *file = NULL;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "the folder %s cannot be made", folder);
  LMI_TRY(open_in(ctx, folder, "slurm.conf.part", &file));
  fprintf(
    file,
    "# For slurm.conf of a cluster whose nodes share one pool of memory.\n"
    "# One licence stands for one percent by which a job slows the injector's reference (its interference\n"
    "# coefficient). Slow-downs are taken to add up. A job waits while the budget is used up, so that the level of\n"
    "# interference stays within that of the aware policy: up to %g instead of %g.\n"
    "# Expected for %s: %.1f %% faster in the mean, third quartile %+.1f %%.\n"
    "# With several pools: one licence each (pool0_disturbance, ...), asked for together with the pool's nodes.\n"
    "Licenses=pool_disturbance:%d\n",
    result->aware.high, result->random.high, result->name, result->speedup_percent, result->q3_change_percent,
    (int)fmax(1, floor(result->aware.high)));
  LMI_TRY(close_in(ctx, folder, file));
  return write_job(ctx, result, curve, folder);
}
