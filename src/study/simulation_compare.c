/* SPDX-License-Identifier: Apache-2.0 */
/* The flow against what is known: closed forms over all cells, the decay of a wave, the peak of the dissipation, the
 * mass. */
#include <math.h>
#include <stdio.h>

#include "flow/exact_flow.h"
#include "flow/initial_state.h"
#include "simulation.h"

static const double PI = 3.14159265358979323846;

/* Peak dissipation of the Taylor-Green vortex at Re 1600 in units of V^3 / L: spectral results lie between 0.0127 and
 * 0.0129, at 9 L / V. */
static const double TAYLOR_GREEN_PEAK = 0.0128;
static const double TAYLOR_GREEN_REYNOLDS = 1600.0;

typedef struct exact_problem {
  lmi_exact kind;
  int flow_axis, normal_axis, second_axis;
  lmi_channel channel;
  lmi_stokes2 stokes2;
  lmi_duct duct;
  double low_speed, high_speed; /* of the walls of a Couette flow */
  double height;
  double speed, wave_number, decay; /* of the Taylor-Green vortex */
} exact_problem;

static double default_gate(lmi_exact kind)
{
  switch (kind) {
  case LMI_EXACT_POISEUILLE:
  case LMI_EXACT_COUETTE: return 1e-9;
  case LMI_EXACT_POISEUILLE_SLIP: return 1e-6;
  case LMI_EXACT_DISSIPATION_PEAK: return 0.1;
  case LMI_EXACT_MASS: return 1e-12;
  default: return 0.01;
  }
}

/* ---- what the case must be ---- */

static lamina_status fail_unfit(const lamina_case *flow, const lmi_case_output *output, const char *needs)
{
  char place[256];
  return lmi_fail(flow->ctx, LAMINA_ERROR_CASE, "%s: output: compare %s needs %s",
                  lmi_tree_place(output->where, place, sizeof place), output->compare.value, needs);
}

static bool is_wall(const lamina_case *flow, int axis)
{
  return flow->faces[2 * axis].kind != LMI_BOUNDARY_PERIODIC;
}

static double extent(const lamina_case *flow, int axis)
{
  const lamina_int3 n = flow->solver.cells;
  return (double)(axis == 0 ? n.x : axis == 1 ? n.y : n.z) * flow->units.cell_size;
}

/* The first axis with walls (normal), the second one (or -1), and how many. */
static int wall_axes(const lamina_case *flow, int *normal, int *second)
{
  int count = 0;
  *normal = *second = -1;
  for (int axis = 0; axis < flow->dimension; axis++)
    if (is_wall(flow, axis)) {
      *(count == 0 ? normal : second) = axis;
      count++;
    }
  return count;
}

/* The axis of the only component that is not 0; -1 when there is none or more than one. */
static int only_axis(const double v[3])
{
  int axis = -1;
  for (int a = 0; a < 3; a++)
    if (v[a] != 0.0) {
      if (axis >= 0)
        return -1;
      axis = a;
    }
  return axis;
}

static bool walls_at_rest(const lamina_case *flow)
{
  for (int face = 0; face < 2 * flow->dimension; face++)
    for (int a = 0; a < 3; a++)
      if (flow->faces[face].velocity.value[a] != 0.0)
        return false;
  return true;
}

static lamina_status prepare_channel(const lamina_case *flow, const lmi_case_output *output, exact_problem *p)
{
  p->flow_axis = only_axis(flow->force.value);
  if (wall_axes(flow, &p->normal_axis, &p->second_axis) != 1 || p->flow_axis < 0 || p->flow_axis == p->normal_axis ||
      !walls_at_rest(flow))
    return fail_unfit(flow, output, "two resting walls, the other faces periodic, and a force along them");
  p->height = extent(flow, p->normal_axis);
  p->channel = (lmi_channel){
    .acceleration = flow->force.value[p->flow_axis], .viscosity = flow->units.viscosity, .height = p->height};
  if (p->kind != LMI_EXACT_POISEUILLE_SLIP)
    return LAMINA_OK;
  if (flow->solver.collision != LAMINA_BGK && flow->solver.collision != LAMINA_TRT)
    return fail_unfit(flow, output, "collision bgk or trt");
  const double half = flow->units.tau - 0.5;
  const double magic = flow->solver.collision == LAMINA_TRT ? flow->solver.magic : half * half;
  p->channel.slip = lmi_exact_poiseuille_slip(&p->channel, flow->units.cell_size, magic);
  return LAMINA_OK;
}

static lamina_status prepare_couette(const lamina_case *flow, const lmi_case_output *output, exact_problem *p)
{
  const bool has_walls = wall_axes(flow, &p->normal_axis, &p->second_axis) == 1;
  const lmi_case_boundary *low = has_walls ? &flow->faces[2 * p->normal_axis] : NULL;
  const lmi_case_boundary *high = has_walls ? &flow->faces[2 * p->normal_axis + 1] : NULL;
  double sum[3] = {0};
  for (int a = 0; has_walls && a < 3; a++)
    sum[a] = fabs(low->velocity.value[a]) + fabs(high->velocity.value[a]);
  p->flow_axis = only_axis(sum);
  if (!has_walls || p->flow_axis < 0 || low->kind != LMI_BOUNDARY_WALL || high->kind != LMI_BOUNDARY_WALL)
    return fail_unfit(flow, output, "two walls that move along one axis, and the other faces periodic");
  p->height = extent(flow, p->normal_axis);
  p->low_speed = low->velocity.value[p->flow_axis];
  p->high_speed = high->velocity.value[p->flow_axis];
  return LAMINA_OK;
}

static lamina_status prepare_stokes2(const lamina_case *flow, const lmi_case_output *output, exact_problem *p)
{
  const bool has_walls = wall_axes(flow, &p->normal_axis, &p->second_axis) == 1;
  const lmi_case_boundary *low = has_walls ? &flow->faces[2 * p->normal_axis] : NULL;
  p->flow_axis = has_walls ? only_axis(low->velocity.value) : -1;
  if (p->flow_axis < 0 || low->kind != LMI_BOUNDARY_OSCILLATING ||
      only_axis(flow->faces[2 * p->normal_axis + 1].velocity.value) >= 0)
    return fail_unfit(flow, output,
                      "an oscillating wall on a low face, a resting one opposite, and the other faces periodic");
  p->height = extent(flow, p->normal_axis);
  p->stokes2 = (lmi_stokes2){low->velocity.value[p->flow_axis], low->period.value, flow->units.viscosity, p->height};
  return LAMINA_OK;
}

static lamina_status prepare_duct(const lamina_case *flow, const lmi_case_output *output, exact_problem *p)
{
  p->flow_axis = only_axis(flow->force.value);
  if (flow->dimension != 3 || wall_axes(flow, &p->normal_axis, &p->second_axis) != 2 || p->flow_axis < 0 ||
      is_wall(flow, p->flow_axis) || !walls_at_rest(flow))
    return fail_unfit(flow, output, "four resting walls in three dimensions and a force along the periodic axis");
  p->duct = (lmi_duct){flow->force.value[p->flow_axis], flow->units.viscosity, extent(flow, p->normal_axis),
                       extent(flow, p->second_axis)};
  return LAMINA_OK;
}

static lamina_status prepare(const lamina_case *flow, const lmi_case_output *output, exact_problem *p)
{
  *p = (exact_problem){.kind = (lmi_exact)output->exact.value};
  const int initial = flow->initial.kind.value;
  p->speed = flow->initial.speed.value;
  p->wave_number = 2.0 * PI / extent(flow, 0);
  p->decay = 2.0 * flow->units.viscosity * p->wave_number * p->wave_number;
  switch (p->kind) {
  case LMI_EXACT_POISEUILLE:
  case LMI_EXACT_POISEUILLE_SLIP: return prepare_channel(flow, output, p);
  case LMI_EXACT_COUETTE: return prepare_couette(flow, output, p);
  case LMI_EXACT_STOKES2: return prepare_stokes2(flow, output, p);
  case LMI_EXACT_DUCT: return prepare_duct(flow, output, p);
  case LMI_EXACT_TAYLOR_GREEN:
    return initial == LMI_INITIAL_TAYLOR_GREEN ? LAMINA_OK : fail_unfit(flow, output, "`initial: taylor_green`");
  case LMI_EXACT_SHEAR_WAVE:
    return initial == LMI_INITIAL_SHEAR_WAVE ? LAMINA_OK : fail_unfit(flow, output, "`initial: {kind: shear_wave}`");
  case LMI_EXACT_DISSIPATION_PEAK:
    if (initial != LMI_INITIAL_TAYLOR_GREEN_3D ||
        fabs(flow->units.reynolds - TAYLOR_GREEN_REYNOLDS) > 1e-6 * TAYLOR_GREEN_REYNOLDS)
      return fail_unfit(flow, output,
                        "`initial: taylor_green_3d` at Reynolds number 1600 (reference_length = length / 2 pi)");
    return LAMINA_OK;
  default: return LAMINA_OK;
  }
}

lamina_status lmi_compare_check(const lamina_case *flow)
{
  exact_problem problem;
  for (size_t i = 0; i < flow->output_count; i++)
    if (flow->outputs[i].exact.value != LMI_EXACT_NONE)
      LMI_TRY(prepare(flow, &flow->outputs[i], &problem));
  return LAMINA_OK;
}

/* ---- over all cells ---- */

static void expected(const exact_problem *p, const double at[3], double time, double u[3])
{
  u[0] = u[1] = u[2] = 0.0;
  switch (p->kind) {
  case LMI_EXACT_POISEUILLE:
  case LMI_EXACT_POISEUILLE_SLIP: u[p->flow_axis] = lmi_exact_poiseuille(&p->channel, at[p->normal_axis]); return;
  case LMI_EXACT_COUETTE:
    u[p->flow_axis] = lmi_exact_couette(p->low_speed, p->high_speed, p->height, at[p->normal_axis]);
    return;
  case LMI_EXACT_STOKES2: u[p->flow_axis] = lmi_exact_stokes2(&p->stokes2, at[p->normal_axis], time); return;
  case LMI_EXACT_DUCT: u[p->flow_axis] = lmi_exact_duct(&p->duct, at[p->normal_axis], at[p->second_axis]); return;
  default: lmi_taylor_green_velocity(p->speed * exp(-p->decay * time), p->wave_number, at[0], at[1], u);
  }
}

typedef struct error_sums {
  double max_error, max_exact, square_error, square_exact;
} error_sums;

static void add_cell(error_sums *sums, const double found[3], const double exact[3])
{
  for (int a = 0; a < 3; a++) {
    const double error = fabs(found[a] - exact[a]);
    sums->max_error = fmax(sums->max_error, error);
    sums->max_exact = fmax(sums->max_exact, fabs(exact[a]));
    sums->square_error += error * error;
    sums->square_exact += exact[a] * exact[a];
  }
}

static lamina_status compare_cells(const lmi_simulation *sim, const exact_problem *p, error_sums *sums)
{
  const lamina_int3 n = sim->flow->solver.cells;
  const double h = sim->flow->units.cell_size;
  const double unit = sim->flow->units.velocity_unit;
  const double time = lmi_simulation_time(sim);
  const double *u[3] = {lmi_simulation_plane(sim, 0), lmi_simulation_plane(sim, 1), lmi_simulation_plane(sim, 2)};
  const lamina_fields fields = {
    .velocity = {lmi_simulation_plane(sim, 0), lmi_simulation_plane(sim, 1), lmi_simulation_plane(sim, 2)}};
  for (lamina_index z = 0; z < n.z; z++)
    for (lamina_index y = 0; y < n.y; y++) {
      LMI_TRY(lamina_solver_read(sim->solver, (lamina_box){{0, y, z}, {n.x, 1, 1}}, &fields));
      for (lamina_index x = 0; x < n.x; x++) {
        const double at[3] = {((double)x + 0.5) * h, ((double)y + 0.5) * h, ((double)z + 0.5) * h};
        const double found[3] = {u[0][x] * unit, u[1][x] * unit, u[2][x] * unit};
        double exact[3];
        expected(p, at, time, exact);
        add_cell(sums, found, exact);
      }
    }
  return LAMINA_OK;
}

static lamina_status judge_cells(lmi_simulation *sim, const exact_problem *p, lamina_run_reference *entry)
{
  error_sums sums = {0};
  LMI_TRY(compare_cells(sim, p, &sums));
  if (p->kind == LMI_EXACT_TAYLOR_GREEN) {
    entry->max_error = sqrt(sums.square_error / sums.square_exact);
    snprintf(entry->text, sizeof entry->text, "%.30s: error of the velocity %.3e of its norm (gate %.1e)", entry->name,
             entry->max_error, entry->gate);
    return LAMINA_OK;
  }
  const double scale = p->kind == LMI_EXACT_STOKES2 ? fabs(p->stokes2.speed) : sums.max_exact;
  entry->max_error = sums.max_error / scale;
  snprintf(entry->text, sizeof entry->text, "%.30s: largest deviation %.3e of the greatest speed (gate %.1e)",
           entry->name, entry->max_error, entry->gate);
  return LAMINA_OK;
}

/* ---- single numbers ---- */

/* The viscosity out of the decay of v = A sin k(x - U t): the phase is free, so both parts are projected. */
static lamina_status judge_wave(lmi_simulation *sim, const exact_problem *p, lamina_run_reference *entry)
{
  const lamina_int3 n = sim->flow->solver.cells;
  const double h = sim->flow->units.cell_size;
  double *v = lmi_simulation_plane(sim, 0);
  const lamina_fields fields = {.velocity = {NULL, v, NULL}};
  double sine = 0, cosine = 0;
  LMI_TRY(lamina_solver_read(sim->solver, (lamina_box){{0, 0, 0}, {n.x, 1, 1}}, &fields));
  for (lamina_index x = 0; x < n.x; x++) {
    const double phase = p->wave_number * ((double)x + 0.5) * h;
    sine += v[x] * sin(phase);
    cosine += v[x] * cos(phase);
  }
  const double amplitude = 2.0 / (double)n.x * hypot(sine, cosine) * sim->flow->units.velocity_unit;
  const double viscosity = -log(amplitude / p->speed) / (p->wave_number * p->wave_number * lmi_simulation_time(sim));
  const double ratio = viscosity / sim->flow->units.viscosity;
  entry->max_error = fabs(ratio - 1.0);
  snprintf(entry->text, sizeof entry->text, "%.30s: decays with %.4f of the viscosity (gate 1 +- %.3g)", entry->name,
           ratio, entry->gate);
  return LAMINA_OK;
}

static void judge_peak(const lmi_simulation *sim, lamina_run_reference *entry)
{
  const lmi_monitor *m = &sim->monitor;
  entry->max_error = fabs(m->peak_dissipation / TAYLOR_GREEN_PEAK - 1.0);
  snprintf(entry->text, sizeof entry->text,
           "%.30s: %.5f V3/L at %.2f L/V, known 0.0128 at 9; from enstrophy %.5f (gate %.0f %%)", entry->name,
           m->peak_dissipation, m->peak_time, m->peak_enstrophy_dissipation, 100.0 * entry->gate);
}

static lamina_status judge_mass(lmi_simulation *sim, lamina_run_reference *entry)
{
  const lamina_totals *totals = NULL;
  LMI_TRY(lmi_simulation_totals(sim, &totals));
  entry->max_error = fabs(lmi_simulation_mass_drift(sim, totals));
  snprintf(entry->text, sizeof entry->text, "%.30s: changed by %.2e of itself (gate %.1e)", entry->name,
           entry->max_error, entry->gate);
  return LAMINA_OK;
}

lamina_status lmi_compare_exact(lmi_simulation *sim, const lmi_case_output *output)
{
  exact_problem problem;
  LMI_TRY(prepare(sim->flow, output, &problem));
  lamina_run_reference entry = {.gate = output->gate.where != NULL ? output->gate.value : default_gate(problem.kind)};
  snprintf(entry.name, sizeof entry.name, "%.40s", output->compare.value);
  lamina_status status = LAMINA_OK;
  if (problem.kind == LMI_EXACT_SHEAR_WAVE)
    status = judge_wave(sim, &problem, &entry);
  else if (problem.kind == LMI_EXACT_MASS)
    status = judge_mass(sim, &entry);
  else if (problem.kind == LMI_EXACT_DISSIPATION_PEAK)
    judge_peak(sim, &entry);
  else
    status = judge_cells(sim, &problem, &entry);
  LMI_TRY(status);
  entry.passed = entry.max_error <= entry.gate;
  return lmi_simulation_add_reference(sim, &entry);
}
