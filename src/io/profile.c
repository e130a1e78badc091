/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"

/* ---- taking a line out of cells ---- */

static lamina_index part(lamina_int3 value, int axis)
{
  return axis == 0 ? value.x : axis == 1 ? value.y : value.z;
}

static double real_part(lamina_real3 value, int axis)
{
  return axis == 0 ? value.x : axis == 1 ? value.y : value.z;
}

/* The two rows of cells beside the line in one direction across it, and the weight of the second. */
typedef struct rows_across {
  lamina_index first, count;
  double weight;
} rows_across;

static lamina_status find_rows(lamina_context *ctx, const lmi_profile_line *line, int axis, rows_across *rows)
{
  static const char letters[] = "xyz";
  const lamina_index cells = part(line->cells, axis);
  const double low = real_part(line->origin, axis), spacing = real_part(line->spacing, axis);
  const double at = real_part(line->through, axis);
  const double place = (at - low) / spacing - 0.5; // in cells from the first centre
  LMI_REQUIRE(ctx, place >= -0.5 - 1e-9 && place <= (double)cells - 0.5 + 1e-9, LAMINA_ERROR_ARGUMENT,
              "the line at %c = %g lies outside the domain (%g to %g)", letters[axis], at, low,
              low + (double)cells * spacing);
  *rows = (rows_across){.first = 0, .count = 1, .weight = 0.0};
  if (cells == 1)
    return LAMINA_OK;
  const double last = (double)(cells - 2);
  rows->first = (lamina_index)fmin(fmax(floor(place), 0.0), last);
  rows->weight = place - (double)rows->first;
  rows->count = 2;
  return LAMINA_OK;
}

/* Offset in a box read x fastest. */
static size_t cell_in(lamina_int3 count, const lamina_index at[3])
{
  return (size_t)((at[2] * count.y + at[1]) * count.x + at[0]);
}

static double weigh(const double *values, lamina_int3 count, const rows_across rows[3], int axis, lamina_index i)
{
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  double sum = 0.0;
  for (lamina_index kb = 0; kb < rows[b].count; kb++)
    for (lamina_index kc = 0; kc < rows[c].count; kc++) {
      lamina_index at[3] = {0};
      at[axis] = i;
      at[b] = kb;
      at[c] = kc;
      const double weight =
        (kb == 0 ? 1.0 - rows[b].weight : rows[b].weight) * (kc == 0 ? 1.0 - rows[c].weight : rows[c].weight);
      if (weight != 0.0) // a solid neighbour of no weight must not spoil the line
        sum += weight * values[cell_in(count, at)];
    }
  return sum;
}

static void add_sample(lmi_profile *profile, double position, double value)
{
  profile->position[profile->count] = position;
  profile->value[profile->count] = value;
  profile->count++;
}

static void fill_profile(lmi_profile *profile, const lmi_profile_line *line, const rows_across rows[3],
                         lamina_int3 count, const double *values)
{
  const lamina_index cells = part(line->cells, line->axis);
  const double low = real_part(line->origin, line->axis), spacing = real_part(line->spacing, line->axis);
  if (line->has_low_wall)
    add_sample(profile, low, line->low_wall);
  for (lamina_index i = 0; i < cells; i++)
    add_sample(profile, low + ((double)i + 0.5) * spacing, weigh(values, count, rows, line->axis, i));
  if (line->has_high_wall)
    add_sample(profile, low + (double)cells * spacing, line->high_wall);
}

static lamina_status read_box(lamina_context *ctx, lamina_box box, lmi_cell_reader *reader, void *user, double **values)
{
  LMI_TRY(LMI_ALLOC(ctx, (size_t)(box.count.x * box.count.y * box.count.z), values));
  return reader(user, box, *values);
}

lamina_status lmi_profile_take(lamina_context *ctx, const lmi_profile_line *line, lmi_cell_reader *reader, void *user,
                               lmi_profile *profile)
{
  *profile = (lmi_profile){.ctx = ctx};
  LMI_REQUIRE(ctx, line->axis >= 0 && line->axis <= 2, LAMINA_ERROR_ARGUMENT, "there is no axis %d (0, 1, 2)",
              line->axis);
  rows_across rows[3] = {0};
  for (int axis = 0; axis < 3; axis++)
    if (axis != line->axis)
      LMI_TRY(find_rows(ctx, line, axis, &rows[axis]));
  rows[line->axis] = (rows_across){.first = 0, .count = part(line->cells, line->axis)};
  const lamina_box box = {{rows[0].first, rows[1].first, rows[2].first}, {rows[0].count, rows[1].count, rows[2].count}};

  const size_t samples = (size_t)part(line->cells, line->axis) + 2;
  double *values = NULL;
  lamina_status status = LMI_ALLOC(ctx, samples, &profile->position);
  if (status == LAMINA_OK)
    status = LMI_ALLOC(ctx, samples, &profile->value);
  if (status == LAMINA_OK)
    status = read_box(ctx, box, reader, user, &values);
  if (status == LAMINA_OK)
    fill_profile(profile, line, rows, box.count, values);
  else
    lmi_profile_free(profile);
  lmi_free(ctx, values);
  return status;
}

void lmi_profile_free(lmi_profile *profile)
{
  if (profile->ctx == NULL)
    return;
  lmi_free(profile->ctx, profile->position);
  lmi_free(profile->ctx, profile->value);
  *profile = (lmi_profile){0};
}

/* ---- between the samples ---- */

/* The polynomial through `count` samples from `first` on, by Lagrange. */
static double polynomial(const lmi_profile *profile, size_t first, size_t count, double position)
{
  double sum = 0.0;
  for (size_t i = first; i < first + count; i++) {
    double term = profile->value[i];
    for (size_t j = first; j < first + count; j++)
      if (j != i)
        term *= (position - profile->position[j]) / (profile->position[i] - profile->position[j]);
    sum += term;
  }
  return sum;
}

double lmi_profile_at(const lmi_profile *profile, double position)
{
  const size_t order = profile->count < 4 ? profile->count : 4;
  if (order == 0)
    return (double)NAN;
  size_t above = 0; // the first sample beyond the position
  while (above < profile->count && profile->position[above] <= position)
    above++;
  if (above > 0 && profile->position[above - 1] == position)
    return profile->value[above - 1];
  size_t first = above > order / 2 ? above - order / 2 : 0;
  if (first + order > profile->count)
    first = profile->count - order;
  return polynomial(profile, first, order, position);
}

double lmi_profile_extremum(const lmi_profile *profile, int sign, double *position)
{
  size_t best = 0;
  for (size_t i = 1; i < profile->count; i++)
    if (sign * profile->value[i] > sign * profile->value[best])
      best = i;
  double at = profile->count > 0 ? profile->position[best] : (double)NAN;
  double value = profile->count > 0 ? profile->value[best] : (double)NAN;
  if (best > 0 && best + 1 < profile->count) {
    const double *x = &profile->position[best], *y = &profile->value[best];
    const double left = (y[0] - y[-1]) / (x[0] - x[-1]), right = (y[1] - y[0]) / (x[1] - x[0]);
    const double curvature = (right - left) / (x[1] - x[-1]);
    if (curvature != 0.0) {
      at = 0.5 * (x[-1] + x[0]) - 0.5 * left / curvature; // where the slope of the parabola is 0
      value = polynomial(profile, best - 1, 3, at);
    }
  }
  if (position != NULL)
    *position = at;
  return value;
}

/* ---- against a reference ---- */

static void compare_points(const lmi_profile *profile, lmi_profile_scale scale, lmi_comparison *c)
{
  double squares = 0.0;
  for (size_t i = 0; i < c->reference->point_count; i++) {
    const lmi_reference_point *point = &c->reference->points[i];
    if (point->is_excluded)
      continue;
    const double found = lmi_profile_at(profile, scale.origin + point->position * scale.length) / scale.value;
    const double error = fabs(found - point->value);
    squares += error * error;
    c->points++;
    if (!isnan(c->max_error) && !(error <= c->max_error)) { // a NaN counts as the largest
      c->max_error = error;
      c->max_error_position = point->position;
    }
  }
  c->rms_error = c->points > 0 ? sqrt(squares / (double)c->points) : (double)NAN;
}

static void compare_extrema(const lmi_profile *profile, lmi_profile_scale scale, lmi_comparison *c)
{
  c->max_extremum_error = (double)NAN;
  for (size_t i = 0; i < c->reference->extremum_count; i++) {
    const lmi_reference_extremum *extremum = &c->reference->extrema[i];
    const double found = lmi_profile_extremum(profile, extremum->sign, NULL) / scale.value;
    const double error = fabs(found - extremum->value) / fabs(extremum->value);
    c->max_extremum_error = i == 0 ? error : fmax(c->max_extremum_error, error);
  }
}

lmi_comparison lmi_profile_compare(const lmi_profile *profile, const lmi_reference *reference, lmi_profile_scale scale,
                                   double gate)
{
  lmi_comparison c = {.reference = reference, .gate = gate > 0.0 ? gate : reference->gate};
  compare_points(profile, scale, &c);
  compare_extrema(profile, scale, &c);
  const bool points_pass = c.gate <= 0.0 || c.max_error <= c.gate;
  const bool extrema_pass = reference->extremum_gate <= 0.0 || c.max_extremum_error <= reference->extremum_gate;
  c.passed = c.points > 0 && isfinite(c.max_error) && points_pass && extrema_pass;
  return c;
}
