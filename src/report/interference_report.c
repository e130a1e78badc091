/* SPDX-License-Identifier: Apache-2.0 */
/* The interference study as text, as JSON and as a picture. */
#include <jansson.h>
#include <lamina/interference.h>

#include <math.h>
#include <string.h>

#include "json_output.h"
#include "picture.h"

static const char ONE_ROUND[] = "one round gives no confidence interval; use --runs 3 or more";

static json_t *number(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

/* ---- JSON ---- */

static json_t *five_json(const lamina_five_numbers *five)
{
  json_t *object = json_object();
  json_object_set_new(object, "min", number(five->min));
  json_object_set_new(object, "q1", number(five->q1));
  json_object_set_new(object, "median", number(five->median));
  json_object_set_new(object, "q3", number(five->q3));
  json_object_set_new(object, "max", number(five->max));
  return object;
}

static json_t *point_json(const lamina_interference *result, const lamina_sensitivity_point *point)
{
  json_t *object = json_object();
  json_object_set_new(object, "loi", json_real(point->loi));
  json_object_set_new(object, "share", number(point->share));
  if (result->share_reason[0] != '\0')
    json_object_set_new(object, "share_reason", json_string(result->share_reason));
  json_object_set_new(object, "performance", number(point->performance));
  json_object_set_new(object, "low", number(point->low));
  json_object_set_new(object, "high", number(point->high));
  if (point->reason[0] != '\0')
    json_object_set_new(object, "reason", json_string(point->reason));
  else if (!isfinite(point->low))
    json_object_set_new(object, "reason", json_string(ONE_ROUND));
  json_object_set_new(object, "seconds", number(point->seconds));
  json_object_set_new(object, "achieved_share", number(point->achieved_share));
  if (point->loi > 0) {
    json_object_set_new(object, "achieved_loi", number(point->achieved_loi));
    json_object_set_new(object, "beside_loi", number(point->beside_loi));
  }
  return object;
}

static json_t *coefficient_json(const lamina_interference *result)
{
  json_t *object = five_json(&result->coefficient), *series = json_array();
  for (size_t i = 0; i < result->series_count; i++)
    json_array_append_new(
      series, json_pack("[o, o]", number(result->series[i].seconds), number(result->series[i].coefficient)));
  if (result->sample_count == 0)
    json_object_set_new(object, "reason", json_string("the program ended before the probe had done one piece of work"));
  json_object_set_new(object, "samples", json_integer((json_int_t)result->sample_count));
  json_object_set_new(object, "idle", five_json(&result->idle));
  json_object_set_new(object, "idle_piece_seconds", number(result->idle_piece_seconds));
  json_object_set_new(object, "over_time", series);
  json_t *phases = json_array();
  for (size_t i = 0; i < result->phase_count; i++) {
    const lamina_coefficient_phase *phase = &result->phases[i];
    json_t *entry = five_json(&phase->coefficient);
    json_object_set_new(entry, "phase", phase->name[0] != '\0' ? json_string(phase->name) : json_null());
    json_object_set_new(entry, "samples", json_integer((json_int_t)phase->sample_count));
    json_array_append_new(phases, entry);
  }
  json_object_set_new(object, "phases", phases);
  return object;
}

static lamina_status print_json(lamina_context *ctx, const lamina_interference *result, FILE *stream)
{
  json_t *points = json_array();
  for (size_t i = 0; i < result->point_count; i++)
    json_array_append_new(points, point_json(result, &result->points[i]));
  json_t *object =
    json_pack("{s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:f, s:o, s:o}", "lamina_interference", 1, "program",
              result->program, "processor", result->processor, "exit_code", result->exit_code, "runs", result->runs,
              "program_processors", result->program_processors, "injector_threads", result->injector_threads,
              "peak_gb_per_s", result->peak_gb_per_s, "sensitivity", points, "coefficient", coefficient_json(result));
  LMI_REQUIRE(ctx, object != NULL, LAMINA_ERROR_MEMORY, "no memory for the JSON of the study");
  if (result->remark[0] != '\0')
    json_object_set_new(object, "remark", json_string(result->remark));
  return lmi_json_print(ctx, object, "the study", stream);
}

/* ---- text ---- */

static void print_cell(FILE *stream, double value, int width, int digits)
{
  if (isfinite(value))
    fprintf(stream, " %*.*f", width, digits, value);
  else
    fprintf(stream, " %*s", width, "n/a");
}

static void print_five(FILE *stream, const char *name, const lamina_five_numbers *five)
{
  fprintf(stream, "%-24s", name);
  const double values[] = {five->min, five->q1, five->median, five->q3, five->max};
  for (size_t i = 0; i < LMI_COUNT(values); i++)
    print_cell(stream, values[i], 8, 3);
  fprintf(stream, "\n");
}

static void print_points(const lamina_interference *result, FILE *stream)
{
  fprintf(stream, "share  placed  level  reached  beside   seconds  performance  95 %% interval\n");
  for (size_t i = 0; i < result->point_count; i++) {
    const lamina_sensitivity_point *point = &result->points[i];
    print_cell(stream, point->share, 4, 0);
    print_cell(stream, point->achieved_share, 7, 1);
    print_cell(stream, point->loi, 6, 0);
    print_cell(stream, point->loi > 0 ? point->achieved_loi : 0, 8, 1);
    print_cell(stream, point->loi > 0 ? point->beside_loi : 0, 7, 1);
    print_cell(stream, point->seconds, 9, 3);
    print_cell(stream, point->performance, 12, 3);
    if (isfinite(point->low))
      fprintf(stream, "  %.3f to %.3f", point->low, point->high);
    else
      fprintf(stream, "  %s", point->reason[0] != '\0' ? point->reason : "n/a (one round)");
    fprintf(stream, "\n");
  }
}

static lamina_status print_text(const lamina_interference *result, FILE *stream)
{
  fprintf(stream, "%s: %d round%s, on %d processor%s; injector on %d, level 100 = %.1f GB/s\n\n", result->program,
          result->runs, result->runs == 1 ? "" : "s", result->program_processors,
          result->program_processors == 1 ? "" : "s", result->injector_threads, result->peak_gb_per_s);
  print_points(result, stream);
  fprintf(stream, "\ninterference coefficient      min       q1   median       q3      max\n");
  print_five(stream, "beside the program", &result->coefficient);
  for (size_t i = 0; i < result->phase_count; i++) {
    char name[96];
    snprintf(name, sizeof name, "  %.21s", result->phases[i].name[0] != '\0' ? result->phases[i].name : "(no phase)");
    print_five(stream, name, &result->phases[i].coefficient);
  }
  print_five(stream, "idle machine", &result->idle);
  fprintf(stream, "%zu pieces of work, each %.2f ms on the idle machine\n", result->sample_count,
          1e3 * result->idle_piece_seconds);
  if (result->share_reason[0] != '\0')
    fprintf(stream, "\nremark: no shares: %s\n", result->share_reason);
  if (result->remark[0] != '\0')
    fprintf(stream, "remark: %s\n", result->remark);
  if (result->exit_code != 0)
    fprintf(stream, "remark: the program ended with %d in all runs\n", result->exit_code);
  return LAMINA_OK;
}

lamina_status lamina_interference_print(lamina_context *ctx, const lamina_interference *result,
                                        lamina_interference_form form, FILE *stream)
{
  return form == LAMINA_INTERFERENCE_JSON ? print_json(ctx, result, stream) : print_text(result, stream);
}

/* ---- picture ---- */

static bool is_same_share(double a, double b)
{
  return a == b || (isnan(a) && isnan(b));
}

/* Curves of shares are blocks of the data file, two blank lines apart, as gnuplot's index wants them. */
static void write_curves(const lamina_interference *result, FILE *data)
{
  for (size_t i = 0; i < result->point_count; i++) {
    const lamina_sensitivity_point *point = &result->points[i];
    if (i > 0 && !is_same_share(point->share, point[-1].share))
      fprintf(data, "\n\n");
    if (isfinite(point->performance))
      fprintf(data, "%g %.6f %.6f %.6f\n", point->loi, point->performance,
              isfinite(point->low) ? point->low : point->performance,
              isfinite(point->high) ? point->high : point->performance);
  }
  fprintf(data, "\n\n%g %g %g %g %g\n", result->coefficient.min, result->coefficient.q1, result->coefficient.median,
          result->coefficient.q3, result->coefficient.max);
}

static size_t write_plot_list(const lamina_interference *result, const char *name, FILE *script)
{
  size_t curve = 0;
  fprintf(script, "plot ");
  for (size_t i = 0; i < result->point_count; i++) {
    const double share = result->points[i].share;
    if (i > 0 && is_same_share(share, result->points[i - 1].share))
      continue;
    fprintf(script, "%s'%s.dat' index %zu using 1:3:4 with filledcurves lt %zu fs transparent solid 0.2 notitle, ",
            curve > 0 ? ", " : "", name, curve, curve + 1);
    fprintf(script, "'' index %zu using 1:2 with linespoints lt %zu pt 7 ps 0.6 ", curve, curve + 1);
    if (isfinite(share))
      fprintf(script, "title '%g %% in the pool'", share);
    else
      fprintf(script, "title 'one memory'");
    curve++;
  }
  fprintf(script, "\n");
  return curve;
}

lamina_status lamina_interference_plot(lamina_context *ctx, const lamina_interference *result, const char *path)
{
  lmi_picture picture = {0};
  LMI_TRY(lmi_picture_open(ctx, path, &picture));
  write_curves(result, picture.data);
  lmi_picture_begin(&picture, 760, 380);
  fprintf(picture.script, "set multiplot\nset size 0.74,1\nset xlabel 'level of interference, %%'\n"
                          "set ylabel 'performance relative to level 0'\nset yrange [*<0.9:*]\n");
  const size_t curves = write_plot_list(result, picture.name, picture.script);
  fprintf(picture.script,
          "unset key\nset origin 0.74,0\nset size 0.26,1\nunset xlabel\nset ylabel 'interference coefficient'\n"
          "set xrange [0:2]\nset yrange [*<0.98:1.02<*]\nunset xtics\nset boxwidth 0.6\n"
          "plot '%s.dat' index %zu using (1):2:1:5:4 with candlesticks lt 1 fs transparent solid 0.3 whiskerbars 0.5, "
          "'' index %zu using (1):3:3:3:3 with candlesticks lt -1\nunset multiplot\n",
          picture.name, curves, curves);
  return lmi_picture_finish(ctx, &picture);
}
