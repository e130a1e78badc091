/* SPDX-License-Identifier: Apache-2.0 */
/* Sensitivity curves out of files of `lamina interfere --json`, and examples after the paper. */
#include <jansson.h>
#include <lamina/scheduling.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "memory/json_input.h"

enum { FORMAT = 1 };

static double number_of(const json_t *object, const char *key)
{
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static bool is_share(double found, double asked)
{
  return isnan(asked) ? isnan(found) : fabs(found - asked) < 0.5;
}

/* "25, 50, 75" or "none (one memory)". */
static void list_shares(const json_t *rows, char *text, size_t size)
{
  double last = (double)NAN;
  text[0] = '\0';
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const double share = number_of(json_array_get(rows, i), "share");
    if (isfinite(share) && share != last && strlen(text) + 16 < size)
      snprintf(text + strlen(text), size - strlen(text), "%s%g", text[0] != '\0' ? ", " : "", share);
    last = share;
  }
  if (text[0] == '\0')
    snprintf(text, size, "none (one memory)");
}

static lamina_status take_point(lamina_context *ctx, const char *path, const json_t *row,
                                lamina_sensitivity_curve *curve)
{
  const double level = number_of(row, "loi"), performance = number_of(row, "performance");
  if (!isfinite(performance))
    return LAMINA_OK;
  const double last = curve->count > 0 ? curve->levels[curve->count - 1] : -1;
  LMI_REQUIRE(ctx, performance > 0 && performance < 1000 && level > last && curve->count < LAMINA_CURVE_POINTS,
              LAMINA_ERROR_CASE, "%s: sensitivity %zu: levels must rise and performance be positive (%g at %g)", path,
              curve->count + 1, performance, level);
  if (curve->count == 0)
    curve->seconds = number_of(row, "seconds");
  curve->levels[curve->count] = level;
  curve->performance[curve->count++] = performance;
  return LAMINA_OK;
}

/* A share that was not named must be the only one there is. */
static lamina_status find_share(lamina_context *ctx, const char *path, const json_t *rows, double *share)
{
  char shares[128];
  bool is_found = false;
  list_shares(rows, shares, sizeof shares);
  LMI_REQUIRE(ctx, isfinite(*share) || strchr(shares, ',') == NULL, LAMINA_ERROR_CASE,
              "%s has several shares, %s: choose one with --share", path, shares);
  if (isnan(*share))
    *share = number_of(json_array_get(rows, 0), "share");
  for (size_t i = 0; i < json_array_size(rows); i++)
    is_found = is_found || is_share(number_of(json_array_get(rows, i), "share"), *share);
  LMI_REQUIRE(ctx, is_found, LAMINA_ERROR_CASE, "%s has no share of %g percent; shares: %s", path, *share, shares);
  return LAMINA_OK;
}

static lamina_status take_file(lamina_context *ctx, const char *path, const json_t *file, double share,
                               lamina_sensitivity_curve *curve)
{
  const json_t *rows = json_object_get(file, "sensitivity"), *coefficient = json_object_get(file, "coefficient");
  const json_int_t format = json_integer_value(json_object_get(file, "lamina_interference"));
  const char *program = json_string_value(json_object_get(file, "program"));
  LMI_REQUIRE(ctx, format >= 1 && json_array_size(rows) > 0, LAMINA_ERROR_CASE,
              "%s is no result of `lamina interfere --json`", path);
  LMI_REQUIRE(ctx, format <= FORMAT, LAMINA_ERROR_CASE, "%s has format %d; this program knows up to %d", path,
              (int)format, FORMAT);
  LMI_TRY(find_share(ctx, path, rows, &share));
  snprintf(curve->name, sizeof curve->name, "%s", program != NULL ? program : "program");
  snprintf(curve->source, sizeof curve->source, "%s", path);
  curve->share = share;
  curve->coefficient_median = number_of(coefficient, "median");
  curve->coefficient_q3 = number_of(coefficient, "q3");
  for (size_t i = 0; i < json_array_size(rows); i++)
    if (is_share(number_of(json_array_get(rows, i), "share"), share))
      LMI_TRY(take_point(ctx, path, json_array_get(rows, i), curve));
  LMI_REQUIRE(ctx, curve->count >= 2 && curve->levels[0] == 0, LAMINA_ERROR_CASE,
              "%s: level 0 and at least one other that was measured are needed", path);
  return LAMINA_OK;
}

lamina_status lamina_sensitivity_curve_read(lamina_context *ctx, const char *path, double share,
                                            lamina_sensitivity_curve *curve)
{
  json_t *file = NULL;
  *curve = (lamina_sensitivity_curve){.share = NAN, .seconds = NAN};
  LMI_TRY(lmi_json_input(ctx, path, &file));
  const lamina_status status = take_file(ctx, path, file, share, curve);
  json_decref(file);
  return status;
}

#define NAME(word, loss_percent, text) " " word
#define EXAMPLE_NAMES LAMINA_SCHEDULING_EXAMPLE_LIST(NAME)

lamina_status lamina_sensitivity_curve_example(lamina_context *ctx, const char *name, lamina_sensitivity_curve *curve)
{
  static const struct {
    const char *name;
    double loss;
  } examples[] = {
#define EXAMPLE(word, loss_percent, text) {word, loss_percent},
    LAMINA_SCHEDULING_EXAMPLE_LIST(EXAMPLE)
#undef EXAMPLE
  };
  *curve = (lamina_sensitivity_curve){.share = 50,
                                      .seconds = NAN,
                                      .coefficient_median = NAN,
                                      .coefficient_q3 = NAN,
                                      .count = 2,
                                      .levels = {0, 50},
                                      .performance = {1, NAN}};
  for (size_t i = 0; i < LMI_COUNT(examples); i++)
    if (strcmp(examples[i].name, name) == 0)
      curve->performance[1] = 1 - 0.01 * examples[i].loss;
  LMI_REQUIRE(ctx, isfinite(curve->performance[1]), LAMINA_ERROR_ARGUMENT,
              "there is no example \"%s\"; there are" EXAMPLE_NAMES, name);
  snprintf(curve->name, sizeof curve->name, "%s", name);
  snprintf(curve->source, sizeof curve->source,
           "example: %g %% lost at level 50 with half of the footprint in the pool (SC23, section 6.1), straight line",
           100 * (1 - curve->performance[1]));
  return LAMINA_OK;
}

double lamina_sensitivity_curve_at(const lamina_sensitivity_curve *curve, double level)
{
  if (curve->count == 0 || level < 0 || level > curve->levels[curve->count - 1])
    return (double)NAN;
  size_t i = 1;
  while (i + 1 < curve->count && curve->levels[i] < level)
    i++;
  if (curve->count == 1)
    return curve->performance[0];
  const double part = (level - curve->levels[i - 1]) / (curve->levels[i] - curve->levels[i - 1]);
  return curve->performance[i - 1] + part * (curve->performance[i] - curve->performance[i - 1]);
}
