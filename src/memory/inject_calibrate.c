/* SPDX-License-Identifier: Apache-2.0 */
/* Which setting makes which traffic. Time an element is what is interpolated: it is flat while memory bounds and then
 * grows linearly with the flops, so straight lines between the measured points fit it. */
#include <jansson.h>
#include <lamina/inject.h>
#include <lamina/tiers.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inject_fit.h"
#include "json_input.h"

enum { FORMAT = 1, MOST_POINTS = 65536 };
static const double FLOPS[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024};
static const double BYTES_PER_ELEMENT = 16;

lamina_calibrate_options lamina_calibrate_options_default(void)
{
  return (lamina_calibrate_options){.seconds = 0.3, .placement = {LAMINA_NODE_ANY, LAMINA_NODE_ANY}};
}

/* Pool adjacent violators: the least-squares fit that never rises. Blocks of equal value are merged from the left. */
void lmi_fit_falling(const double *values, size_t count, double *fitted, size_t *sizes)
{
  size_t blocks = 0;
  for (size_t i = 0; i < count; i++) {
    fitted[blocks] = values[i];
    sizes[blocks++] = 1;
    while (blocks > 1 && fitted[blocks - 2] < fitted[blocks - 1]) {
      const double left = (double)sizes[blocks - 2], right = (double)sizes[blocks - 1];
      fitted[blocks - 2] = (left * fitted[blocks - 2] + right * fitted[blocks - 1]) / (left + right);
      sizes[blocks - 2] += sizes[blocks - 1];
      blocks--;
    }
  }
  for (size_t i = count; blocks > 0; blocks--) { /* spread the blocks out again, from the right */
    const double value = fitted[blocks - 1];
    for (size_t k = sizes[blocks - 1]; k > 0; k--)
      fitted[--i] = value;
  }
}

lamina_status lmi_fit_points(lamina_context *ctx, lamina_calibration_point *points, size_t count)
{
  double *values = NULL, *fitted = NULL;
  size_t *sizes = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &values), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &fitted), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &sizes), cleanup);
  for (size_t i = 0; i < count; i++)
    values[i] = points[i].gb_per_s;
  lmi_fit_falling(values, count, fitted, sizes);
  for (size_t i = 0; i < count; i++)
    points[i].fitted_gb_per_s = fitted[i];
cleanup:
  lmi_free(ctx, values);
  lmi_free(ctx, fitted);
  lmi_free(ctx, sizes);
  return status;
}

static lamina_status measure_point(lamina_context *ctx, const lamina_calibrate_options *options, int done, int total,
                                   lamina_injector_calibration *calibration)
{
  lamina_calibration_point *point = &calibration->points[calibration->point_count];
  lamina_injector_setting setting = lamina_injector_setting_default();
  lamina_injection result;
  char text[96];
  setting.threads = point->threads;
  setting.flops_per_element = point->flops_per_element;
  setting.array_bytes = options->array_bytes;
  setting.placement = options->placement;
  snprintf(text, sizeof text, "%d thread%s, %g flops an element", setting.threads, setting.threads == 1 ? "" : "s",
           setting.flops_per_element);
  if (options->progress != NULL)
    options->progress(options->user, text, done, total);
  LMI_TRY(lamina_inject_run(ctx, &setting, options->seconds, &result));
  point->gb_per_s = result.gb_per_s;
  calibration->array_bytes = result.array_bytes;
  calibration->point_count++;
  return LAMINA_OK;
}

static lamina_status sweep(lamina_context *ctx, const lamina_calibrate_options *options, int most,
                           lamina_injector_calibration *calibration)
{
  const int total = most * (int)LMI_COUNT(FLOPS);
  for (int threads = 1; threads <= most; threads++) {
    lamina_calibration_point *first = &calibration->points[calibration->point_count];
    for (size_t i = 0; i < LMI_COUNT(FLOPS); i++) {
      calibration->points[calibration->point_count] =
        (lamina_calibration_point){.threads = threads, .flops_per_element = FLOPS[i]};
      LMI_TRY(measure_point(ctx, options, (int)calibration->point_count, total, calibration));
    }
    LMI_TRY(lmi_fit_points(ctx, first, LMI_COUNT(FLOPS)));
  }
  for (size_t i = 0; i < calibration->point_count; i++)
    if (calibration->points[i].fitted_gb_per_s > calibration->peak_gb_per_s)
      calibration->peak_gb_per_s = calibration->points[i].fitted_gb_per_s;
  return LAMINA_OK;
}

lamina_status lamina_inject_calibrate(lamina_context *ctx, const lamina_calibrate_options *options,
                                      lamina_injector_calibration **calibration)
{
  lamina_machine *machine = NULL;
  lamina_injector_calibration *made = NULL;
  const int most = options->most_threads > 0 ? options->most_threads : lamina_context_thread_count(ctx);
  *calibration = NULL;
  LMI_REQUIRE(ctx, most <= MOST_POINTS / (int)LMI_COUNT(FLOPS), LAMINA_ERROR_ARGUMENT,
              "calibrating %d thread counts; at most %d are allowed", most, MOST_POINTS / (int)LMI_COUNT(FLOPS));
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lamina_machine_inspect(ctx, NULL, &machine), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 1, &made), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)most * LMI_COUNT(FLOPS), &made->points), cleanup);
  snprintf(made->processor, sizeof made->processor, "%s", machine->processor);
  snprintf(made->host, sizeof made->host, "%s", machine->host);
  made->placement = options->placement;
  LMI_TRY_GOTO(status, sweep(ctx, options, most, made), cleanup);
  *calibration = made;
  made = NULL;
cleanup:
  lamina_machine_destroy(ctx, machine);
  lamina_injector_calibration_destroy(ctx, made);
  return status;
}

/* Flops between the points a (fewer flops, more traffic) and b that give `wanted` GB/s. */
double lmi_interpolate_flops(const lamina_calibration_point *a, const lamina_calibration_point *b, double wanted)
{
  const double time_a = BYTES_PER_ELEMENT / a->fitted_gb_per_s, time_b = BYTES_PER_ELEMENT / b->fitted_gb_per_s;
  const double part = time_b > time_a ? (BYTES_PER_ELEMENT / wanted - time_a) / (time_b - time_a) : 0;
  return a->flops_per_element + part * (b->flops_per_element - a->flops_per_element);
}

/* false when these threads do not make so much traffic. Less than the last point: its slope goes on. */
static bool solve(const lamina_calibration_point *points, size_t count, double wanted, double *flops)
{
  if (count < 2 || points[0].fitted_gb_per_s < wanted)
    return false;
  size_t i = 1;
  while (i + 1 < count && points[i].fitted_gb_per_s > wanted)
    i++;
  *flops = lmi_interpolate_flops(&points[i - 1], &points[i], wanted);
  return true;
}

lamina_status lamina_inject_choose(lamina_context *ctx, const lamina_injector_calibration *calibration, double loi,
                                   int threads, lamina_injector_setting *setting)
{
  const double wanted = 0.01 * loi * calibration->peak_gb_per_s;
  double most = 0;
  *setting = lamina_injector_setting_default();
  setting->array_bytes = calibration->array_bytes;
  setting->placement = calibration->placement;
  LMI_REQUIRE(ctx, loi > 0 && loi <= 1000, LAMINA_ERROR_ARGUMENT,
              "a level of interference of %g; above 0, at most 1000", loi);
  for (size_t first = 0, next = 0; first < calibration->point_count; first = next) {
    const lamina_calibration_point *points = &calibration->points[first];
    for (next = first; next < calibration->point_count && calibration->points[next].threads == points->threads; next++)
      ;
    if (threads != 0 && points->threads != threads)
      continue;
    setting->threads = points->threads;
    if (solve(points, next - first, wanted, &setting->flops_per_element))
      return LAMINA_OK;
    most = fmax(most, points[0].fitted_gb_per_s);
  }
  LMI_REQUIRE(ctx, most > 0, LAMINA_ERROR_ARGUMENT, "the calibration has no points for %d threads", threads);
  LMI_REQUIRE(ctx, threads == 0, LAMINA_ERROR_ARGUMENT, "%d threads reach a level of interference of %.0f, not %g",
              threads, 100 * most / calibration->peak_gb_per_s, loi);
  setting->flops_per_element = 1; /* above 100: all threads */
  return LAMINA_OK;
}

void lamina_injector_calibration_destroy(lamina_context *ctx, lamina_injector_calibration *calibration)
{
  if (calibration == NULL)
    return;
  lmi_free(ctx, calibration->points);
  lmi_free(ctx, calibration);
}

/* ---- file ---- */

static json_t *to_json(const lamina_injector_calibration *calibration)
{
  json_t *points = json_array();
  for (size_t i = 0; i < calibration->point_count; i++) {
    const lamina_calibration_point *point = &calibration->points[i];
    json_array_append_new(points, json_pack("{s:i, s:f, s:f, s:f, s:f}", "threads", point->threads, "flops_per_element",
                                            point->flops_per_element, "gb_per_s", point->gb_per_s, "fitted_gb_per_s",
                                            point->fitted_gb_per_s, "loi",
                                            100 * point->fitted_gb_per_s / calibration->peak_gb_per_s));
  }
  return json_pack("{s:i, s:s, s:s, s:i, s:i, s:I, s:f, s:o}", "lamina_injector", FORMAT, "processor",
                   calibration->processor, "host", calibration->host, "cpu_node", calibration->placement.cpu_node,
                   "memory_node", calibration->placement.memory_node, "array_bytes",
                   (json_int_t)calibration->array_bytes, "peak_gb_per_s", calibration->peak_gb_per_s, "points", points);
}

lamina_status lamina_injector_calibration_save(lamina_context *ctx, const lamina_injector_calibration *calibration,
                                               const char *path)
{
  json_t *object = to_json(calibration);
  lmi_text temporary = {0};
  LMI_REQUIRE(ctx, object != NULL, LAMINA_ERROR_MEMORY, "no memory for the JSON of the calibration");
  lamina_status status = lmi_text_append(ctx, &temporary, "%s.%d.part", path, (int)getpid());
  if (status == LAMINA_OK && (json_dump_file(object, temporary.data, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0 ||
                              rename(temporary.data, path) != 0)) {
    status = lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", path);
    unlink(temporary.data);
  }
  json_decref(object);
  lmi_text_free(ctx, &temporary);
  return status;
}

static lamina_status take_points(lamina_context *ctx, const char *path, const json_t *entries,
                                 lamina_injector_calibration *calibration)
{
  const size_t count = json_array_size(entries);
  LMI_REQUIRE(ctx, count >= 2 && count <= MOST_POINTS, LAMINA_ERROR_CASE, "%s has no list of points", path);
  LMI_TRY(LMI_ALLOC(ctx, count, &calibration->points));
  for (size_t i = 0; i < count; i++) {
    const json_t *entry = json_array_get(entries, i);
    lamina_calibration_point *point = &calibration->points[i];
    point->threads = (int)json_integer_value(json_object_get(entry, "threads"));
    point->flops_per_element = json_number_value(json_object_get(entry, "flops_per_element"));
    point->gb_per_s = json_number_value(json_object_get(entry, "gb_per_s"));
    point->fitted_gb_per_s = json_number_value(json_object_get(entry, "fitted_gb_per_s"));
    LMI_REQUIRE(ctx, point->threads > 0 && point->flops_per_element >= 1 && point->fitted_gb_per_s > 0,
                LAMINA_ERROR_CASE, "%s: point %zu is not one", path, i + 1);
  }
  calibration->point_count = count;
  return LAMINA_OK;
}

lamina_status lamina_injector_calibration_load(lamina_context *ctx, const char *path,
                                               lamina_injector_calibration **calibration)
{
  lamina_injector_calibration *made = NULL;
  *calibration = NULL;
  json_t *file = NULL;
  LMI_TRY(lmi_json_input(ctx, path, &file));
  const json_int_t format = json_integer_value(json_object_get(file, "lamina_injector"));
  lamina_status status = LAMINA_OK;
  if (format < 1 || format > FORMAT)
    LMI_TRY_GOTO(status,
                 lmi_fail(ctx, LAMINA_ERROR_CASE,
                          "%s is no calibration that this program knows; make one with "
                          "`lamina inject --calibrate`",
                          path),
                 cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 1, &made), cleanup);
  const char *processor = json_string_value(json_object_get(file, "processor"));
  const char *host = json_string_value(json_object_get(file, "host"));
  snprintf(made->processor, sizeof made->processor, "%s", processor != NULL ? processor : "");
  snprintf(made->host, sizeof made->host, "%s", host != NULL ? host : "");
  made->placement.cpu_node = (int)json_integer_value(json_object_get(file, "cpu_node"));
  made->placement.memory_node = (int)json_integer_value(json_object_get(file, "memory_node"));
  made->array_bytes = (uint64_t)json_integer_value(json_object_get(file, "array_bytes"));
  made->peak_gb_per_s = json_number_value(json_object_get(file, "peak_gb_per_s"));
  LMI_TRY_GOTO(status, take_points(ctx, path, json_object_get(file, "points"), made), cleanup);
  if (!(made->peak_gb_per_s > 0))
    LMI_TRY_GOTO(status, lmi_fail(ctx, LAMINA_ERROR_CASE, "%s has no peak traffic", path), cleanup);
  *calibration = made;
  made = NULL;
cleanup:
  json_decref(file);
  lamina_injector_calibration_destroy(ctx, made);
  return status;
}
