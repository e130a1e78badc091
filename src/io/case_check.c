/* SPDX-License-Identifier: Apache-2.0 */
/* What the keys of a case must hold together; then defaults, lattice units and the options of the solver. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case_bodies.h"
#include "case_grid.h"
#include "case_measure.h"
#include "case_open.h"
#include "case_output.h"
#include "case_read.h"

static const char *const FACE_NAMES[LAMINA_FACE_COUNT] = {"x-", "x+", "y-", "y+", "z-", "z+"};

/* "FILE:LINE: PATH: sentence" outside the readers. */
#define FAIL_AT(flow, node, path_, ...) \
  lmi_case_fail(&(lmi_case_reader){.ctx = (flow)->ctx, .flow = (flow), .path = path_}, (node), __VA_ARGS__)

static lamina_status fail_missing(lamina_case *flow, const char *key, const char *advice)
{
  const char *dot = strchr(key, '.');
  const lmi_tree_node *map = flow->tree->root;
  if (dot != NULL) {
    char parent[32];
    snprintf(parent, sizeof parent, "%.*s", (int)(dot - key), key);
    const lmi_tree_node *found = lmi_tree_find(map, parent);
    map = found != NULL ? found : map;
  }
  char place[256];
  return lmi_fail(flow->ctx, LAMINA_ERROR_CASE, "%s: %s is missing; %s", lmi_tree_place(map, place, sizeof place), key,
                  advice);
}

/* ---- domain and model ---- */

static lamina_status check_required(lamina_case *flow)
{
  if (flow->cells_where == NULL)
    return fail_missing(flow, "domain.cells", "write `cells: [nx, ny]` or `cells: [nx, ny, nz]`");
  if (flow->length.where == NULL)
    return fail_missing(flow, "domain.length", "write the domain's length along x in metres, `length: 1.0`");
  if (flow->speed.where == NULL)
    return fail_missing(flow, "fluid.speed", "write a typical speed of the flow in m/s, `speed: 1.0`");
  if (flow->reynolds.where == NULL && flow->viscosity.where == NULL)
    return fail_missing(flow, "fluid.reynolds", "write `reynolds: 100`, or `viscosity:` in m2/s");
  if (flow->reynolds.where != NULL && flow->viscosity.where != NULL)
    return FAIL_AT(
      flow, flow->viscosity.where, "fluid.viscosity",
      "reynolds is given too and decides the viscosity; keep one of the two (--set fluid.reynolds=null takes it away)");
  if (flow->until.where == NULL && flow->steps.where == NULL && flow->steady.where == NULL)
    return fail_missing(flow, "run.until", "say when to stop: `until: 10 s`, `steps: 1000` or `steady: 1e-6`");
  if (flow->until.where != NULL && flow->steps.where != NULL)
    return FAIL_AT(flow, flow->steps.where, "run.steps", "until is given too; keep one of the two");
  return LAMINA_OK;
}

static lamina_status check_domain(lamina_case *flow)
{
  if (flow->lattice.where == NULL)
    flow->lattice.value = flow->cell_count == 2 ? LAMINA_D2Q9 : LAMINA_D3Q19;
  flow->dimension = lamina_lattice_dimension((lamina_lattice)flow->lattice.value);
  lamina_int3 cells = {flow->cells[0].value, flow->cells[1].value, flow->cell_count == 3 ? flow->cells[2].value : 1};
  if (flow->dimension == 3 && flow->cell_count == 2)
    return FAIL_AT(flow, flow->cells_where, "domain.cells",
                   "two numbers, but lattice %s is three-dimensional; add the third, or take d2q9",
                   lamina_lattice_name((lamina_lattice)flow->lattice.value));
  if (flow->dimension == 2 && cells.z != 1)
    return FAIL_AT(
      flow, flow->cells_where, "domain.cells",
      "%lld cells along z, but lattice d2q9 is two-dimensional; leave the third number away, or take d3q19",
      (long long)cells.z);
  const double product = (double)cells.x * (double)cells.y * (double)cells.z;
  if (product >= 1099511627776.0)
    return FAIL_AT(flow, flow->cells_where, "domain.cells",
                   "%.4g cells in all; the solver takes less than 2^40 = 1.0995e+12", product);
  flow->solver = lamina_solver_options_default();
  flow->solver.cells = cells;
  flow->solver.lattice = (lamina_lattice)flow->lattice.value;
  return LAMINA_OK;
}

static lamina_status check_backend(lamina_case *flow)
{
  lamina_solver_options *solver = &flow->solver;
  if (flow->backend.where != NULL)
    solver->backend = (lamina_backend)flow->backend.value;
  if (flow->device_count > 0 && solver->backend != LAMINA_BACKEND_CUDA)
    return FAIL_AT(flow, flow->devices_where, "devices",
                   "backend %s has no devices; write `backend: cuda`, or leave devices away",
                   lamina_backend_name(solver->backend));
  if (flow->storage.where != NULL)
    solver->storage = (lamina_storage)flow->storage.value;
  if (solver->storage == LAMINA_STORAGE_F16 &&
      (solver->precision != LAMINA_F32 || solver->backend != LAMINA_BACKEND_CUDA))
    return FAIL_AT(flow, flow->storage.where, "storage",
                   "f16 goes with precision f32 and backend cuda, this is %s on %s",
                   lamina_precision_name(solver->precision), lamina_backend_name(solver->backend));
  solver->device_count = flow->device_count;
  for (int i = 0; i < flow->device_count; i++)
    solver->devices[i] = (int)flow->devices[i].value;
  return LAMINA_OK;
}

static lamina_status check_collision(lamina_case *flow)
{
  lamina_solver_options *solver = &flow->solver;
  if (flow->collision.where != NULL)
    solver->collision = (lamina_collision)flow->collision.value;
  if (flow->smagorinsky.where != NULL) {
    if (solver->collision != LAMINA_BGK && solver->collision != LAMINA_SMAGORINSKY)
      return FAIL_AT(flow, flow->smagorinsky.where, "smagorinsky",
                     "goes with collision bgk only, this is %s; leave one of the two away",
                     lamina_collision_name(solver->collision));
    solver->collision = LAMINA_SMAGORINSKY;
    solver->smagorinsky = flow->smagorinsky.value;
  }
  if (flow->magic.where != NULL) {
    if (solver->collision != LAMINA_TRT)
      return FAIL_AT(flow, flow->magic.where, "magic",
                     "goes with collision trt only, this is %s; leave one of the two away",
                     lamina_collision_name(solver->collision));
    solver->magic = flow->magic.value;
  }
  if (solver->collision == LAMINA_CUMULANT && solver->lattice == LAMINA_D3Q19)
    return FAIL_AT(flow, flow->collision.where, "collision",
                   "cumulant needs lattice d3q27 or d2q9, this is d3q19; write `lattice: d3q27`");
  if (flow->precision.where != NULL)
    solver->precision = (lamina_precision)flow->precision.value;
  if (flow->layout.where != NULL)
    solver->layout = (lamina_layout)flow->layout.value;
  if (flow->streaming.where != NULL)
    solver->streaming = (lamina_streaming)flow->streaming.value;
  const lamina_index planes = flow->dimension == 3 ? solver->cells.z : solver->cells.y;
  if (flow->partitions.where != NULL) {
    if (flow->partitions.value > planes)
      return FAIL_AT(flow, flow->partitions.where, "partitions",
                     "%lld slabs for %lld planes of cells along %c; at most %lld", (long long)flow->partitions.value,
                     (long long)planes, flow->dimension == 3 ? 'z' : 'y', (long long)planes);
    solver->partitions = (int)flow->partitions.value;
  }
  return check_backend(flow);
}

/* ---- boundaries ---- */

static lamina_status check_wall_velocity(lamina_case *flow, int face, const lmi_case_boundary *boundary,
                                         const char *path)
{
  const lmi_case_vector *velocity = &boundary->velocity;
  if (velocity->where == NULL || lmi_case_has_open_kind(boundary))
    return LAMINA_OK;
  const int axis = face / 2;
  if (velocity->value[axis] != 0.0)
    return FAIL_AT(flow, velocity->where, "boundaries",
                   "%s: the wall moves along %c, out of its own plane (%.6g m/s); that component must be 0", path,
                   "xyz"[axis], velocity -> value[axis]);
  if (flow->dimension == 2 && velocity->value[2] != 0.0)
    return FAIL_AT(flow, velocity->where, "boundaries",
                   "%s: the flow has two dimensions; the third component must be 0", path);
  return LAMINA_OK;
}

static lamina_status check_face(lamina_case *flow, int face)
{
  lmi_case_boundary *boundary = &flow->faces[face];
  if (flow->dimension == 2 && face / 2 == 2) {
    if (boundary->where != NULL)
      return FAIL_AT(flow, boundary->where, "boundaries",
                     "%s: the flow has two dimensions, there is no such face; leave it away", FACE_NAMES[face]);
    boundary->kind = LMI_BOUNDARY_PERIODIC;
    return LAMINA_OK;
  }
  if (boundary->where == NULL && flow->all.where != NULL && flow->all.kind != LMI_BOUNDARY_PERIODIC &&
      !lmi_case_has_open_kind(&flow->all) && flow->all.velocity.where != NULL)
    return FAIL_AT(flow, flow->all.where, "boundaries.all",
                   "a moving wall on all faces cannot be; say which face moves, `z+: {moving_wall: ...}`");
  if (boundary->where == NULL)
    *boundary = flow->all;
  if (boundary->where == NULL) {
    char key[24];
    snprintf(key, sizeof key, "boundaries.%s", FACE_NAMES[face]);
    return fail_missing(flow, key,
                        "each face needs one: write `all: wall` or `all: periodic`, then the faces that differ");
  }
  return check_wall_velocity(flow, face, boundary, FACE_NAMES[face]);
}

static lamina_status check_boundaries(lamina_case *flow)
{
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    LMI_TRY(check_face(flow, face));
  for (int face = 0; face < LAMINA_FACE_COUNT; face += 2) {
    const bool low = flow->faces[face].kind == LMI_BOUNDARY_PERIODIC;
    const bool high = flow->faces[face + 1].kind == LMI_BOUNDARY_PERIODIC;
    if (low != high)
      return FAIL_AT(flow, flow->faces[low ? face : face + 1].where, "boundaries",
                     "%s is periodic, %s is not; a periodic face needs its opposite to be periodic too",
                     FACE_NAMES[low ? face : face + 1], FACE_NAMES[low ? face + 1 : face]);
  }
  return LAMINA_OK;
}

/* ---- initial state ---- */

static bool all_periodic(const lamina_case *flow)
{
  for (int face = 0; face < 2 * flow->dimension; face++)
    if (flow->faces[face].kind != LMI_BOUNDARY_PERIODIC)
      return false;
  return true;
}

static lamina_status check_initial(lamina_case *flow)
{
  lmi_case_initial *initial = &flow->initial;
  const int kind = initial->kind.value;
  if (kind == LMI_INITIAL_UNIFORM && initial->velocity.where == NULL)
    return FAIL_AT(flow, initial->where, "initial", "uniform needs its velocity: {kind: uniform, velocity: [x, y, z]}");
  if (initial->velocity.where != NULL && kind != LMI_INITIAL_UNIFORM && kind != LMI_INITIAL_SHEAR_WAVE)
    return FAIL_AT(flow, initial->velocity.where, "initial.velocity", "goes with uniform and shear_wave only");
  if (initial->speed.where != NULL && kind < LMI_INITIAL_TAYLOR_GREEN)
    return FAIL_AT(flow, initial->speed.where, "initial.speed",
                   "goes with the vortices and waves only; uniform has a velocity");
  if ((initial->steepness.where != NULL || initial->perturbation.where != NULL) && kind != LMI_INITIAL_SHEAR_LAYER)
    return FAIL_AT(flow, initial->where, "initial", "steepness and perturbation go with shear_layer only");
  if (kind >= LMI_INITIAL_TAYLOR_GREEN && !all_periodic(flow))
    return FAIL_AT(flow, initial->where, "initial", "this start needs `boundaries: {all: periodic}`");
  if (kind == LMI_INITIAL_TAYLOR_GREEN_3D && flow->dimension == 2)
    return FAIL_AT(flow, initial->where, "initial", "taylor_green_3d needs three dimensions; taylor_green has two");
  const lamina_int3 cells = flow->solver.cells;
  const bool is_cubic =
    cells.x == cells.y && (flow->dimension == 2 || cells.x == cells.z || kind != LMI_INITIAL_TAYLOR_GREEN_3D);
  if ((kind == LMI_INITIAL_TAYLOR_GREEN || kind == LMI_INITIAL_TAYLOR_GREEN_3D) && !is_cubic)
    return FAIL_AT(flow, flow->cells_where, "domain.cells",
                   "the Taylor-Green vortex needs as many cells along each axis");
  if (initial->speed.where == NULL)
    initial->speed.value = flow->speed.value;
  if (initial->steepness.where == NULL)
    initial->steepness.value = 80.0;
  if (initial->perturbation.where == NULL)
    initial->perturbation.value = 0.05;
  return LAMINA_OK;
}

/* ---- units ---- */

static double norm(const lmi_case_vector *v)
{
  return sqrt(v->value[0] * v->value[0] + v->value[1] * v->value[1] + v->value[2] * v->value[2]);
}

static double fastest_speed(const lamina_case *flow)
{
  double fastest = flow->speed.value;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    fastest = fmax(fastest, norm(&flow->faces[face].velocity));
  double start = norm(&flow->initial.velocity);
  if (flow->initial.kind.value >= LMI_INITIAL_TAYLOR_GREEN)
    start += flow->initial.speed.value;
  return fmax(fastest, start);
}

static lamina_status check_units(lamina_case *flow)
{
  if (flow->lattice_speed.where != NULL && flow->relaxation_time.where != NULL)
    return FAIL_AT(flow, flow->relaxation_time.where, "relaxation_time",
                   "lattice_speed is given too; either decides the time step, keep one");
  flow->units_input = (lmi_units_input){
    .cells_x = flow->solver.cells.x,
    .length = flow->length.value,
    .reference_length = flow->reference_length.where != NULL ? flow->reference_length.value : flow->length.value,
    .speed = flow->speed.value,
    .fastest = fastest_speed(flow),
    .density = flow->density.where != NULL ? flow->density.value : 1.0,
    .reynolds = flow->reynolds.value,
    .viscosity = flow->viscosity.value,
    .lattice_speed = flow->lattice_speed.value,
    .tau = flow->relaxation_time.value,
  };
  flow->units = lmi_units_make(&flow->units_input);
  flow->solver.omega = flow->units.omega;

  const lmi_tree_node *where = flow->lattice_speed.where != NULL     ? flow->lattice_speed.where
                               : flow->relaxation_time.where != NULL ? flow->relaxation_time.where
                                                                     : flow->speed.where;
  lmi_finding findings[LMI_MAX_FINDINGS];
  const size_t count = lmi_units_judge(&flow->units, &flow->units_input, &flow->solver, findings);
  for (size_t i = 0; i < count; i++) {
    if (findings[i].is_refused)
      return FAIL_AT(flow, where, "units", "%s", findings[i].text);
    snprintf(flow->warnings[flow->warning_count++], LMI_FINDING_BYTES, "%s", findings[i].text);
  }
  return LAMINA_OK;
}

static lamina_real3 to_lattice(const lmi_case_vector *v, double unit)
{
  return (lamina_real3){v->value[0] / unit, v->value[1] / unit, v->value[2] / unit};
}

static lamina_status fill_solver(lamina_case *flow)
{
  lamina_solver_options *solver = &flow->solver;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    const lmi_case_boundary *boundary = &flow->faces[face];
    solver->faces[face].kind = boundary->kind == LMI_BOUNDARY_PERIODIC ? LAMINA_FACE_PERIODIC : LAMINA_FACE_WALL;
    solver->faces[face].velocity = to_lattice(&boundary->velocity, flow->units.velocity_unit);
  }
  LMI_TRY(lmi_case_fill_open_faces(flow));
  if (flow->dimension == 2 && flow->force.value[2] != 0.0)
    return FAIL_AT(flow, flow->force.where, "force", "the flow has two dimensions; the third component must be 0");
  if (flow->dimension == 2 && flow->initial.velocity.value[2] != 0.0)
    return FAIL_AT(flow, flow->initial.velocity.where, "initial.velocity",
                   "the flow has two dimensions; the third component must be 0");
  solver->force = to_lattice(&flow->force, flow->units.acceleration_unit);
  const double strongest = fmax(fabs(solver->force.x), fmax(fabs(solver->force.y), fabs(solver->force.z)));
  if (strongest > 0.1)
    return FAIL_AT(
      flow, flow->force.where, "force",
      "%.3g in lattice units; it must stay far below 1, at most 0.1: lower lattice_speed from %.3g to %.3g", strongest,
      flow->units.lattice_speed, flow->units.lattice_speed * sqrt(0.01 / strongest));
  return LAMINA_OK;
}

/* ---- times ---- */

/* The nearest multiple of the stride, at least one. */
static lamina_index whole_steps(const lamina_case *flow, double steps)
{
  const double stride = (double)lmi_case_step_stride(flow);
  return (lamina_index)(stride * fmax(1.0, fmin(9e15 / stride, round(steps / stride))));
}

lamina_index lmi_case_span_steps(const lamina_case *flow, const lmi_case_span *span)
{
  return whole_steps(flow, span->is_steps ? (double)span->steps : span->seconds / flow->units.time_step);
}

bool lmi_case_span_is_over(const lmi_case_span *span, double step, double seconds)
{
  return span->is_steps ? step >= (double)span->steps : seconds >= span->seconds;
}

static lamina_status check_run(lamina_case *flow)
{
  /* A steady run without an end gives up after this many reference lengths of flow. */
  static const double MOST_TURNOVERS = 1000.0;
  const double time_step = flow->units.time_step;
  if (flow->steps.where != NULL)
    flow->last_step = whole_steps(flow, (double)flow->steps.value);
  else if (flow->until.where != NULL)
    flow->last_step = lmi_case_span_steps(flow, &flow->until);
  else
    flow->last_step = whole_steps(
      flow, fmin(1e12, ceil(MOST_TURNOVERS * flow->units.reference_length / flow->units.reference_speed / time_step)));
  if (flow->last_step > 1000000000000)
    return FAIL_AT(flow, flow->until.where, "run.until", "%.6g s are %lld steps of %.3g s; at most 1e12 steps",
                   flow->until.seconds, (long long)flow->last_step, time_step);
  for (size_t i = 0; i < flow->output_count; i++) {
    const lmi_case_output *output = &flow->outputs[i];
    if (output->at.where != NULL && lmi_case_span_steps(flow, &output->at) > flow->last_step)
      return FAIL_AT(flow, output->at.where, "output", "at %s lies behind the end of the run (step %lld of %lld)",
                     output->at.where->text, (long long)lmi_case_span_steps(flow, &output->at),
                     (long long)flow->last_step);
  }
  return LAMINA_OK;
}

/* ---- what a checkpoint must agree with ---- */

/* Nothing on other grids: their checkpoints fit each other. */
static lamina_status describe_levels(const lamina_case *flow, lmi_text *text)
{
  const lamina_solver_options *s = &flow->solver;
  if (s->grid != LAMINA_GRID_LEVELS)
    return LAMINA_OK;
  LMI_TRY(lmi_text_append(flow->ctx, text, ", %d levels, %s", s->levels, lamina_level_scheme_name(s->level_scheme)));
  for (size_t i = 0; i < s->refinement_count; i++) {
    const lamina_refinement *r = &s->refinements[i];
    LMI_TRY(lmi_text_append(flow->ctx, text, ", refine %d %d %.17g %.17g %.17g %.17g %.17g %.17g %.17g", (int)r->kind,
                            r->level, r->distance, r->low[0], r->low[1], r->low[2], r->high[0], r->high[1],
                            r->high[2]));
  }
  return LAMINA_OK;
}

static lamina_status describe_physics(lamina_case *flow)
{
  lmi_text text = {0};
  lamina_context *ctx = flow->ctx;
  lamina_status status = LAMINA_OK;
  const lamina_solver_options *s = &flow->solver;
  LMI_TRY_GOTO(status,
               lmi_text_append(ctx, &text, "cells %lldx%lldx%lld, lattice %s, collision %s", (long long)s->cells.x,
                               (long long)s->cells.y, (long long)s->cells.z, lamina_lattice_name(s->lattice),
                               lamina_collision_name(s->collision)),
               cleanup);
  LMI_TRY_GOTO(
    status,
    lmi_text_append(ctx, &text,
                    ", precision %s, storage %s, omega %.17g, magic %.17g, smagorinsky %.17g, time step %.17g s",
                    lamina_precision_name(s->precision), lamina_storage_name(s->storage), s->omega, s->magic,
                    s->smagorinsky, flow->units.time_step),
    cleanup);
  LMI_TRY_GOTO(status, lmi_text_append(ctx, &text, ", force %.17g %.17g %.17g", s->force.x, s->force.y, s->force.z),
               cleanup);
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    const lamina_real3 u = s->faces[face].velocity;
    LMI_TRY_GOTO(status,
                 lmi_text_append(ctx, &text, ", %s %d %.17g %.17g %.17g %.17g", FACE_NAMES[face],
                                 (int)flow->faces[face].kind, u.x, u.y, u.z, flow->faces[face].period.value),
                 cleanup);
  }
  const lmi_case_initial *initial = &flow->initial;
  LMI_TRY_GOTO(status,
               lmi_text_append(ctx, &text, ", initial %d %.17g %.17g %.17g %.17g %.17g %.17g", initial->kind.value,
                               initial->velocity.value[0], initial->velocity.value[1], initial->velocity.value[2],
                               initial->speed.value, initial->steepness.value, initial->perturbation.value),
               cleanup);
  LMI_TRY_GOTO(status, lmi_case_describe_bodies(flow, &text), cleanup);
  LMI_TRY_GOTO(status, describe_levels(flow, &text), cleanup);
  LMI_TRY_GOTO(status, lmi_case_describe_open_faces(flow, &text), cleanup);
  flow->physics = text.data;
  lmi_case_hash(flow->physics, flow->physics_hash);
  return LAMINA_OK;

cleanup:
  lmi_text_free(ctx, &text);
  return status;
}

lamina_status lmi_case_check(lamina_case *flow)
{
  LMI_TRY(check_required(flow));
  LMI_TRY(check_domain(flow));
  LMI_TRY(check_collision(flow));
  LMI_TRY(check_boundaries(flow));
  LMI_TRY(check_initial(flow));
  LMI_TRY(check_units(flow));
  LMI_TRY(fill_solver(flow));
  LMI_TRY(lmi_case_check_bodies(flow));
  LMI_TRY(lmi_case_check_grid(flow));
  LMI_TRY(check_run(flow));
  LMI_TRY(lmi_case_check_measures(flow));
  LMI_TRY(lmi_case_check_outputs(flow));
  return describe_physics(flow);
}
