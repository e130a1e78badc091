/* SPDX-License-Identifier: Apache-2.0 */
/* `forces` and `probes` of a case: series during the run, and at its end what they say: means with their statistical
 * error, the Strouhal number, and whether that is what was expected. The end reads the series files back, so that a
 * resumed run judges as an unbroken one. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ranks.h"
#include "io/case_measure.h"
#include "io/safe_file.h"
#include "simulation.h"
#include "time_series.h"

enum { MOST_COLUMNS = 8, DRAG_COLUMN = 0, LIFT_COLUMN = 1 };

/* ---- forces ---- */

/* Newton a lattice unit of force; in two dimensions newton per metre of depth. */
static double force_unit(const lamina_case *flow)
{
  const lamina_units *u = &flow->units;
  const double per_depth = u->density * pow(u->cell_size, 3.0) / (u->time_step * u->time_step);
  return flow->dimension == 2 ? per_depth : per_depth * u->cell_size;
}

static size_t force_columns(const lamina_case *flow, const char *names[MOST_COLUMNS])
{
  static const char *const SOLID[] = {"drag_coefficient", "lift_coefficient", "force_x_n",    "force_y_n",
                                      "force_z_n",        "torque_x_n_m",     "torque_y_n_m", "torque_z_n_m"};
  static const char *const FLAT[] = {"drag_coefficient", "lift_coefficient", "force_x_n_per_m", "force_y_n_per_m",
                                     "torque_z_n"};
  const bool is_flat = flow->dimension == 2;
  const size_t count = is_flat ? LMI_COUNT(FLAT) : LMI_COUNT(SOLID);
  for (size_t i = 0; i < count; i++)
    names[i] = is_flat ? FLAT[i] : SOLID[i];
  return count;
}

static lamina_status take_force(const lmi_simulation *sim, const lmi_case_force *force, double values[MOST_COLUMNS])
{
  const lamina_case *flow = sim->flow;
  lamina_body_load load;
  LMI_TRY(lamina_solver_body_load(sim->solver, force->number, &load));
  const double unit = force_unit(flow), h = flow->units.cell_size;
  const double f[3] = {load.force.x * unit, load.force.y * unit, load.force.z * unit};
  const double pressure = 0.5 * flow->units.density * force->reference_speed * force->reference_speed;
  for (int k = 0; k < 2; k++) {
    const double *d = force->direction[k];
    values[k] = (f[0] * d[0] + f[1] * d[1] + f[2] * d[2]) / (pressure * force->reference_area);
  }
  size_t at = 2;
  for (int a = 0; a < flow->dimension && a < 3; a++)
    values[at++] = f[a];
  if (flow->dimension == 3) {
    values[at++] = load.torque.x * unit * h;
    values[at++] = load.torque.y * unit * h;
  }
  values[at] = load.torque.z * unit * h;
  return LAMINA_OK;
}

static void force_name(const lamina_case *flow, size_t index, char *name, size_t capacity)
{
  char safe[80];
  lamina_body_info info;
  const int body = flow->forces[index].number;
  const bool has_name = lamina_geometry_get_body(flow->geometry, body, &info);
  snprintf(safe, sizeof safe, "%.60s", has_name ? info.name : "body");
  for (char *c = safe; *c != '\0'; c++)
    if (strchr("/\\ :*?\"<>|", *c) != NULL)
      *c = '-';
  snprintf(name, capacity, "force-%s.csv", safe);
  for (size_t i = 0; i < index; i++)
    if (flow->forces[i].number == body)
      snprintf(name, capacity, "force-%s-%zu.csv", safe, index + 1);
}

/* ---- probes ---- */

static size_t probe_columns(const lamina_case *flow, const char *names[MOST_COLUMNS])
{
  static const char *const NAMES[] = {"pressure_pa", "velocity_x_m_per_s", "velocity_y_m_per_s", "velocity_z_m_per_s"};
  const size_t count = flow->dimension == 2 ? 3 : 4;
  for (size_t i = 0; i < count; i++)
    names[i] = NAMES[i];
  return count;
}

static lamina_status take_probe(const lmi_simulation *sim, const lmi_case_probe *probe, double values[MOST_COLUMNS])
{
  const lamina_units *units = &sim->flow->units;
  const lamina_fields fields = {.density = &values[0], .velocity = {&values[1], &values[2], &values[3]}};
  LMI_TRY(lamina_solver_read(sim->solver, (lamina_box){probe->cell, {1, 1, 1}}, &fields));
  values[0] = (values[0] - 1.0) / 3.0 * units->pressure_unit;
  for (int a = 0; a < 3; a++)
    values[1 + a] *= units->velocity_unit;
  return LAMINA_OK;
}

static void probe_name(const lamina_case *flow, size_t index, char *name, size_t capacity)
{
  const char *given = flow->probes[index].name.value;
  if (given != NULL)
    snprintf(name, capacity, "probe-%.60s.csv", given);
  else
    snprintf(name, capacity, "probe-%zu.csv", index + 1);
}

/* ---- both: forces first, then probes ---- */

static size_t measure_count(const lamina_case *flow)
{
  return flow->force_count + flow->probe_count;
}

static const lmi_case_span *measure_span(const lamina_case *flow, size_t index)
{
  return index < flow->force_count ? &flow->forces[index].every : &flow->probes[index - flow->force_count].every;
}

static void measure_name(const lamina_case *flow, size_t index, char *name, size_t capacity)
{
  if (index < flow->force_count)
    force_name(flow, index, name, capacity);
  else
    probe_name(flow, index - flow->force_count, name, capacity);
}

static lamina_status append(lmi_simulation *sim, size_t index)
{
  double values[MOST_COLUMNS];
  lmi_output_state *state = &sim->measures[index];
  const lamina_case *flow = sim->flow;
  if (index < flow->force_count)
    LMI_TRY(take_force(sim, &flow->forces[index], values));
  else
    LMI_TRY(take_probe(sim, &flow->probes[index - flow->force_count], values));
  state->written_step = lamina_solver_step(sim->solver);
  if (!lmi_simulation_writes(sim))
    return LAMINA_OK;
  return lmi_series_append(state->series, state->written_step, lmi_simulation_time(sim), values);
}

static lamina_status open_one(lmi_simulation *sim, size_t index, lamina_index resume_step)
{
  const char *names[MOST_COLUMNS];
  char name[128], path[4096];
  const size_t count =
    index < sim->flow->force_count ? force_columns(sim->flow, names) : probe_columns(sim->flow, names);
  measure_name(sim->flow, index, name, sizeof name);
  LMI_TRY(lmi_simulation_path(sim, name, path, sizeof path));
  if (lmi_simulation_writes(sim))
    LMI_TRY(lmi_series_open(sim->ctx, path, names, count, resume_step, &sim->measures[index].series));
  return lmi_simulation_add_file(sim, name);
}

lamina_status lmi_measures_start(lmi_simulation *sim, lamina_index resume_step)
{
  const lamina_case *flow = sim->flow;
  const size_t count = measure_count(flow);
  LMI_TRY(LMI_ALLOC(sim->ctx, count + 1, &sim->measures));
  for (size_t i = 0; i < count; i++) {
    const lmi_case_span *span = measure_span(flow, i);
    sim->measures[i].written_step = -1;
    lmi_due_start(&sim->measures[i].due, flow, span, true, lamina_solver_step(sim->solver));
    LMI_TRY(lmi_ranks_settle(sim->ctx, open_one(sim, i, resume_step)));
  }
  return LAMINA_OK;
}

lamina_index lmi_measures_next(const lmi_simulation *sim)
{
  lamina_index next = INT64_MAX;
  for (size_t i = 0; i < measure_count(sim->flow); i++)
    if (sim->measures[i].due.next < next)
      next = sim->measures[i].due.next;
  return next;
}

lamina_status lmi_measures_write(lmi_simulation *sim, bool is_end)
{
  const lamina_index step = lamina_solver_step(sim->solver);
  for (size_t i = 0; i < measure_count(sim->flow); i++) {
    lmi_output_state *state = &sim->measures[i];
    if ((state->due.next <= step || is_end) && state->written_step != step)
      LMI_TRY(lmi_ranks_settle(sim->ctx, append(sim, i)));
    lmi_due_advance(&state->due, sim->flow, step);
  }
  return LAMINA_OK;
}

lamina_status lmi_measures_finish(lmi_simulation *sim)
{
  lamina_status status = LAMINA_OK;
  for (size_t i = 0; sim->measures != NULL && i < measure_count(sim->flow); i++) {
    const lamina_status closed = lmi_series_close(sim->measures[i].series);
    sim->measures[i].series = NULL;
    if (status == LAMINA_OK)
      status = closed;
  }
  return status;
}

/* ---- what a force's series says ---- */

/* Times, drag and lift coefficients of a series file from a time on. */
typedef struct force_series {
  size_t count;
  double *time, *drag, *lift;
} force_series;

static void free_series(lamina_context *ctx, force_series *series)
{
  lmi_free(ctx, series->time);
  lmi_free(ctx, series->drag);
  lmi_free(ctx, series->lift);
  *series = (force_series){0};
}

static bool parse_row(char *row, double values[4])
{
  for (int i = 0; i < 4; i++) {
    char *end = strchr(row, ',');
    if (end != NULL)
      *end = '\0';
    if (!lmi_parse_double(row, &values[i]))
      return false;
    if (end == NULL)
      return i == 3;
    row = end + 1;
  }
  return true;
}

static size_t count_rows(const char *text)
{
  size_t rows = 0;
  for (const char *c = text; *c != '\0'; c++)
    rows += *c == '\n';
  return rows;
}

static lamina_status read_series(const lmi_simulation *sim, size_t index, force_series *series)
{
  static const size_t MOST_BYTES = (size_t)1 << 31;
  char name[128], path[4096], *text = NULL;
  size_t bytes = 0;
  lamina_context *ctx = sim->ctx;
  *series = (force_series){0};
  force_name(sim->flow, index, name, sizeof name);
  LMI_TRY(lmi_simulation_path(sim, name, path, sizeof path));
  LMI_TRY(lmi_file_read_all(ctx, path, MOST_BYTES, &text, &bytes));
  const size_t rows = count_rows(text);
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, rows, &series->time), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, rows, &series->drag), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, rows, &series->lift), cleanup);
  const lmi_case_span *from = &sim->flow->forces[index].from;
  char *rest = text;
  for (char *row = strsep(&rest, "\n"); row != NULL; row = strsep(&rest, "\n")) {
    double values[4]; /* step, time, drag, lift */
    if (!parse_row(row, values) || !lmi_case_span_is_over(from, values[0], values[1]))
      continue;
    series->time[series->count] = values[1];
    series->drag[series->count] = values[2];
    series->lift[series->count++] = values[3];
  }
cleanup:
  lmi_free(ctx, text);
  if (status != LAMINA_OK)
    free_series(ctx, series);
  return status;
}

static lamina_run_force summarise(const lmi_simulation *sim, size_t index, const force_series *series)
{
  const lmi_case_force *force = &sim->flow->forces[index];
  lamina_body_info info;
  lamina_run_force found = {.area = force->reference_area,
                            .speed = force->reference_speed,
                            .length = force->reference_length,
                            .samples = series->count};
  if (lamina_geometry_get_body(sim->flow->geometry, force->number, &info))
    snprintf(found.body, sizeof found.body, "%.60s", info.name);
  const lmi_series_mean drag = lmi_series_find_mean(series->drag, series->count);
  const lmi_series_mean lift = lmi_series_find_mean(series->lift, series->count);
  const lmi_series_period period = lmi_series_find_period(series->lift, series->count);
  found.drag = (lamina_run_mean){drag.mean, drag.error, drag.low, drag.high};
  found.lift = (lamina_run_mean){lift.mean, lift.error, lift.low, lift.high};
  found.strouhal = found.strouhal_error = (double)NAN;
  /* A lift that hardly moves has no frequency worth the name. */
  const bool oscillates = lift.high - lift.low > 1e-3 * fabs(drag.mean);
  if (series->count > 1 && oscillates) {
    /* The last sample may lie closer: a run ends where it ends. */
    const double spacing = series->time[1] - series->time[0];
    const double scale = force->reference_length / force->reference_speed / spacing;
    found.strouhal = period.frequency * scale;
    found.strouhal_error = period.error * scale;
  }
  return found;
}

static double measured(const lamina_run_force *found, lmi_force_expectation what)
{
  switch (what) {
  case LMI_EXPECT_DRAG: return found->drag.mean;
  case LMI_EXPECT_LIFT: return found->lift.mean;
  case LMI_EXPECT_DRAG_MAX: return found->drag.high;
  case LMI_EXPECT_LIFT_MAX: return found->lift.high;
  default: break;
  }
  return found->strouhal;
}

/* How far a number lies outside its interval, in units of half its width. */
static lamina_status judge(lmi_simulation *sim, const lmi_case_force *force, const lamina_run_force *found)
{
  for (int i = 0; i < LMI_EXPECT_COUNT; i++) {
    const lmi_case_vector *range = &force->expect[i];
    if (range->where == NULL)
      continue;
    const double low = range->value[0], high = range->value[1];
    const double value = measured(found, (lmi_force_expectation)i);
    lamina_run_reference entry = {.gate = 0.5 * (high - low), .max_error = fabs(value - 0.5 * (low + high))};
    entry.passed = value >= low && value <= high;
    snprintf(entry.name, sizeof entry.name, "%.24s-%s", found->body,
             lmi_force_expectation_name((lmi_force_expectation)i));
    snprintf(entry.text, sizeof entry.text, "%s: %.6g, expected %.6g to %.6g", entry.name, value, low, high);
    LMI_TRY(lmi_simulation_add_reference(sim, &entry));
  }
  return LAMINA_OK;
}

lamina_status lmi_measures_sum_up(lmi_simulation *sim)
{
  const lamina_case *flow = sim->flow;
  LMI_TRY(LMI_ALLOC(sim->ctx, flow->force_count, &sim->result->forces));
  for (size_t i = 0; i < flow->force_count; i++) {
    force_series series;
    LMI_TRY(read_series(sim, i, &series));
    lamina_run_force *found = &sim->result->forces[sim->result->force_count++];
    *found = summarise(sim, i, &series);
    free_series(sim->ctx, &series);
    LMI_TRY(judge(sim, &flow->forces[i], found));
  }
  return LAMINA_OK;
}

/* ---- ramps ---- */

bool lmi_ramps_are_on(const lmi_simulation *sim, lamina_index step)
{
  const double time = (double)step * sim->flow->units.time_step;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    const lmi_case_boundary *boundary = &sim->flow->faces[face];
    if (boundary->ramp.where != NULL && time < boundary->ramp.value + sim->flow->units.time_step)
      return true;
  }
  return false;
}

lamina_status lmi_ramps_set(lmi_simulation *sim)
{
  const double time = ((double)lamina_solver_step(sim->solver) + 1.0) * sim->flow->units.time_step;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    const lmi_case_boundary *boundary = &sim->flow->faces[face];
    if (boundary->ramp.where != NULL)
      LMI_TRY(lamina_solver_scale_face(sim->solver, (lamina_face_index)face, lmi_case_ramp(boundary, time)));
  }
  return LAMINA_OK;
}
