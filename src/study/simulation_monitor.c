/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "simulation.h"

/* The steady criterion looks four times in one L/U, the dissipation ten times: its peak is broad. */
static const double STEADY_INTERVAL = 0.25;
static const double DISSIPATION_INTERVAL = 0.1;

static lmi_case_span turnovers(const lamina_case *flow, double count)
{
  const lamina_units *units = &flow->units;
  const double steps = ceil(count * units->reference_length / units->reference_speed / units->time_step);
  return (lmi_case_span){.is_steps = true, .steps = (lamina_index)fmax(1.0, fmin(steps, 1e12))};
}

static bool wants_dissipation(const lamina_case *flow)
{
  for (size_t i = 0; i < flow->output_count; i++)
    if (flow->outputs[i].exact.value == LMI_EXACT_DISSIPATION_PEAK)
      return true;
  return false;
}

static int probes_along(const lamina_case *flow)
{
  return flow->dimension == 2 ? 10 : 5;
}

/* A regular set of cells, away from the walls: 10 x 10 in two dimensions, 5 x 5 x 5 in three. */
static void place_probes(lmi_simulation *sim)
{
  const lamina_int3 cells = sim->flow->solver.cells;
  const int along = probes_along(sim->flow);
  const int deep = sim->flow->dimension == 2 ? 1 : along;
  lmi_monitor *m = &sim->monitor;
  m->probe_count = 0;
  for (int k = 0; k < deep; k++)
    for (int j = 0; j < along; j++)
      for (int i = 0; i < along; i++)
        m->probes[m->probe_count++] = (lamina_int3){
          (2 * i + 1) * cells.x / (2 * along), (2 * j + 1) * cells.y / (2 * along), (2 * k + 1) * cells.z / (2 * deep)};
}

lamina_status lmi_monitor_start(lmi_simulation *sim)
{
  lmi_monitor *m = &sim->monitor;
  const lamina_case *flow = sim->flow;
  const lamina_index step = lamina_solver_step(sim->solver);
  m->steady_due.next = INT64_MAX;
  m->dissipation_due.next = INT64_MAX;
  if (step == 0) {
    m->probe_step = m->energy_step = -1;
    m->steady_change = -1.0;
    const lamina_totals *totals = NULL;
    LMI_TRY(lmi_simulation_totals(sim, &totals));
    m->start_excess = totals->mass_excess;
  }
  place_probes(sim);
  if (flow->steady.where != NULL) {
    const lmi_case_span span = turnovers(flow, STEADY_INTERVAL);
    lmi_due_start(&m->steady_due, flow, &span, true, step);
  }
  if (wants_dissipation(flow)) {
    const lmi_case_span span = turnovers(flow, DISSIPATION_INTERVAL);
    lmi_due_start(&m->dissipation_due, flow, &span, true, step);
  }
  return LAMINA_OK;
}

lamina_index lmi_monitor_next(const lmi_simulation *sim)
{
  const lmi_monitor *m = &sim->monitor;
  return m->steady_due.next < m->dissipation_due.next ? m->steady_due.next : m->dissipation_due.next;
}

/* Reads the row of cells through probe i into the work space and takes the probes that lie on it; a read of one cell
 * costs as much. */
static lamina_status look_along_row(lmi_simulation *sim, size_t first, size_t count, double *greatest)
{
  lmi_monitor *m = &sim->monitor;
  const lamina_int3 at = m->probes[first];
  double *row[3] = {lmi_simulation_plane(sim, 0), lmi_simulation_plane(sim, 1), lmi_simulation_plane(sim, 2)};
  const lamina_box box = {{0, at.y, at.z}, {sim->flow->solver.cells.x, 1, 1}};
  const lamina_fields fields = {.velocity = {row[0], row[1], row[2]}};
  LMI_TRY(lamina_solver_read(sim->solver, box, &fields));
  for (size_t i = first; i < first + count; i++)
    for (int a = 0; a < 3; a++) {
      const double now = row[a][m->probes[i].x];
      *greatest = fmax(*greatest, fabs(now - m->probe_velocity[i][a]));
      m->probe_velocity[i][a] = now;
    }
  return LAMINA_OK;
}

static lamina_status look_at_probes(lmi_simulation *sim, lamina_index step)
{
  lmi_monitor *m = &sim->monitor;
  const lamina_units *units = &sim->flow->units;
  const size_t along = (size_t)probes_along(sim->flow);
  double greatest = 0;
  for (size_t first = 0; first < m->probe_count; first += along)
    LMI_TRY(look_along_row(sim, first, along, &greatest));
  const double turnover = units->reference_length / units->cell_size / units->lattice_speed; /* steps */
  if (m->probe_step >= 0)
    m->steady_change = greatest / units->lattice_speed * turnover / (double)(step - m->probe_step);
  m->probe_step = step;
  return LAMINA_OK;
}

/* Dissipation in units of U^3 / L from the loss of kinetic energy, dated at the middle of the interval. */
static lamina_status look_at_energy(lmi_simulation *sim, lamina_index step)
{
  lmi_monitor *m = &sim->monitor;
  const lamina_units *units = &sim->flow->units;
  const lamina_totals *totals = NULL;
  LMI_TRY(lmi_simulation_totals(sim, &totals));
  const lamina_int3 n = sim->flow->solver.cells;
  const double cells = (double)n.x * (double)n.y * (double)n.z;
  const double length = units->reference_length / units->cell_size;
  const double speed = units->lattice_speed;
  const double scale = length / (speed * speed * speed);
  const double energy = totals->kinetic_energy / cells;
  if (m->energy_step >= 0) {
    const double dissipation = (m->energy - energy) / (double)(step - m->energy_step) * scale;
    const double time = 0.5 * (double)(step + m->energy_step) * speed / length;
    if (dissipation > m->peak_dissipation) {
      m->peak_dissipation = dissipation;
      m->peak_time = time;
    }
  }
  m->peak_enstrophy_dissipation =
    fmax(m->peak_enstrophy_dissipation, 2.0 * units->lattice_viscosity * totals->enstrophy / cells * scale);
  m->energy = energy;
  m->energy_step = step;
  return LAMINA_OK;
}

lamina_status lmi_monitor_look(lmi_simulation *sim)
{
  lmi_monitor *m = &sim->monitor;
  const lamina_index step = lamina_solver_step(sim->solver);
  if (m->steady_due.next <= step) {
    LMI_TRY(look_at_probes(sim, step));
    lmi_due_advance(&m->steady_due, sim->flow, step);
  }
  if (m->dissipation_due.next <= step) {
    LMI_TRY(look_at_energy(sim, step));
    lmi_due_advance(&m->dissipation_due, sim->flow, step);
  }
  return LAMINA_OK;
}

bool lmi_monitor_is_steady(const lmi_simulation *sim)
{
  const lmi_monitor *m = &sim->monitor;
  return sim->flow->steady.where != NULL && m->steady_change >= 0 && m->steady_change < sim->flow->steady.value;
}

/* ---- in a checkpoint ---- */

static json_t *probes_json(const lmi_monitor *m)
{
  json_t *list = json_array();
  for (size_t i = 0; list != NULL && i < m->probe_count; i++)
    for (int a = 0; a < 3; a++)
      json_array_append_new(list, json_real(m->probe_velocity[i][a]));
  return list;
}

lamina_status lmi_monitor_save(const lmi_simulation *sim, char **text)
{
  const lmi_monitor *m = &sim->monitor;
  *text = NULL;
  json_t *object = json_pack("{s:f, s:I, s:f, s:f, s:I, s:f, s:f, s:f}", "start_excess", m->start_excess, "probe_step",
                             (json_int_t)m->probe_step, "steady_change", m->steady_change, "energy", m->energy,
                             "energy_step", (json_int_t)m->energy_step, "peak_dissipation", m->peak_dissipation,
                             "peak_time", m->peak_time, "peak_enstrophy_dissipation", m->peak_enstrophy_dissipation);
  if (object != NULL && m->probe_step >= 0)
    json_object_set_new(object, "probe_velocity", probes_json(m));
  char *dumped = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(object);
  LMI_REQUIRE(sim->ctx, dumped != NULL, LAMINA_ERROR_MEMORY, "out of memory for the checkpoint's state");
  const lamina_status status = lmi_string_copy(sim->ctx, dumped, text);
  free(dumped);
  return status;
}

static void load_probes(lmi_monitor *m, const json_t *list)
{
  for (size_t i = 0; i < LMI_PROBES_MAX; i++)
    for (size_t a = 0; a < 3; a++)
      m->probe_velocity[i][a] = json_number_value(json_array_get(list, 3 * i + a));
}

lamina_status lmi_monitor_load(lmi_simulation *sim, const char *text)
{
  lmi_monitor *m = &sim->monitor;
  json_error_t error;
  json_t *object = json_loads(text != NULL ? text : "", 0, &error);
  LMI_REQUIRE(sim->ctx, json_is_object(object), LAMINA_ERROR_CASE, "the checkpoint's state cannot be read (%s)",
              error.text);
  json_int_t probe_step = -1, energy_step = -1;
  const int failed = json_unpack(object, "{s:F, s:I, s:F, s:F, s:I, s:F, s:F, s:F}", "start_excess", &m->start_excess,
                                 "probe_step", &probe_step, "steady_change", &m->steady_change, "energy", &m->energy,
                                 "energy_step", &energy_step, "peak_dissipation", &m->peak_dissipation, "peak_time",
                                 &m->peak_time, "peak_enstrophy_dissipation", &m->peak_enstrophy_dissipation);
  m->probe_step = probe_step;
  m->energy_step = energy_step;
  load_probes(m, json_object_get(object, "probe_velocity"));
  json_decref(object);
  LMI_REQUIRE(sim->ctx, failed == 0, LAMINA_ERROR_CASE, "the checkpoint's state lacks entries");
  return LAMINA_OK;
}
