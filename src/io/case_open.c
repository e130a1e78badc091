/* SPDX-License-Identifier: Apache-2.0 */
#include "case_open.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "velocity_table.h"

/* Above this Reynolds number of one cell bgk and trt were seen to turn non-finite at an inlet
 * (docs/theory/boundaries.md).
 */
static const double CELL_REYNOLDS_WARNED = 2.0;

/* ---- reading ---- */

#define AT(field) offsetof(lmi_case_boundary, field)

static const lmi_case_word METHODS[] = {
  {"regularized", LAMINA_FACE_REGULARIZED}, {"zou_he", LAMINA_FACE_ZOU_HE}, {NULL, 0}};

#define METHOD                                                                             \
  {                                                                                        \
    .name = "method", .read = lmi_case_read_choice, .offset = AT(method), .words = METHODS \
  }
#define RAMP                                                                                         \
  {                                                                                                  \
    .name = "ramp", .read = lmi_case_read_real, .offset = AT(ramp), .high = 1e12, .above_low = true, \
    .dimension = LMI_DIMENSION_TIME, .hint = "the time from rest to full strength"                   \
  }

static const lmi_case_key SPEED = {.name = "at",
                                   .read = lmi_case_read_vector,
                                   .offset = AT(velocity),
                                   .low = -1e12,
                                   .high = 1e12,
                                   .dimension = LMI_DIMENSION_SPEED};
static const lmi_case_key PRESSURE = {.name = "at",
                                      .read = lmi_case_read_real,
                                      .offset = AT(pressure),
                                      .low = -1e15,
                                      .high = 1e15,
                                      .dimension = LMI_DIMENSION_PRESSURE};

static lamina_status read_velocity(lmi_case_reader *reader, const lmi_tree_node *node, lmi_case_boundary *boundary)
{
  const lmi_case_key keys[] = {
    SPEED,
    {.name = "profile",
     .read = lmi_case_read_text,
     .offset = AT(profile),
     .low = 1,
     .high = 1000,
     .hint = "uniform, parabolic, or a CSV file"},
    RAMP,
    METHOD,
  };
  boundary->kind = LMI_BOUNDARY_VELOCITY;
  if (node->kind == LMI_TREE_LIST)
    return lmi_case_read_vector(reader, node, &SPEED, &boundary->velocity);
  LMI_TRY(lmi_case_read_map(reader, node, keys, LMI_COUNT(keys), boundary));
  const char *profile = boundary->profile.value;
  const bool is_table = profile != NULL && strcmp(profile, "uniform") != 0 && strcmp(profile, "parabolic") != 0;
  const size_t length = profile != NULL ? strlen(profile) : 0;
  if (is_table && (length < 5 || strcmp(profile + length - 4, ".csv") != 0))
    return lmi_case_fail(reader, boundary->profile.where,
                         "'%.60s' is no profile; uniform, parabolic, or a file NAME.csv", profile);
  if (is_table && boundary->velocity.where != NULL)
    return lmi_case_fail(reader, boundary->velocity.where, "the table %.60s holds the velocities; leave `at` away",
                         profile);
  if (!is_table && boundary->velocity.where == NULL)
    return lmi_case_fail(reader, node, "needs its velocity: [x, y, z], or {at: [x, y, z], profile: parabolic}");
  return LAMINA_OK;
}

static lamina_status read_pressure(lmi_case_reader *reader, const lmi_tree_node *node, lmi_case_boundary *boundary)
{
  const lmi_case_key keys[] = {PRESSURE, RAMP, METHOD};
  boundary->kind = LMI_BOUNDARY_PRESSURE;
  if (node->kind != LMI_TREE_MAP)
    return lmi_case_read_real(reader, node, &PRESSURE, &boundary->pressure);
  LMI_TRY(lmi_case_read_map(reader, node, keys, LMI_COUNT(keys), boundary));
  if (boundary->pressure.where == NULL)
    return lmi_case_fail(reader, node, "needs its pressure: {pressure: 0}, or {pressure: {at: 0, ramp: T}}");
  return LAMINA_OK;
}

static lamina_status read_outflow(lmi_case_reader *reader, const lmi_tree_node *node, lmi_case_boundary *boundary)
{
  lmi_case_key pressure = PRESSURE;
  pressure.name = "pressure";
  const lmi_case_key keys[] = {pressure, METHOD};
  boundary->kind = LMI_BOUNDARY_OUTFLOW;
  return lmi_case_read_map(reader, node, keys, LMI_COUNT(keys), boundary);
}

/* The only key of a map, or the word itself. */
static const char *first_word(const lmi_tree_node *node)
{
  if (node->kind == LMI_TREE_SCALAR)
    return node->text;
  const bool has_one = node->kind == LMI_TREE_MAP && node->first != NULL && node->first->next == NULL;
  return has_one ? node->first->key : "";
}

bool lmi_case_is_open_face(const lmi_tree_node *node)
{
  static const char *const WORDS[] = {"velocity", "pressure", "outflow", "slip"};
  for (size_t i = 0; i < LMI_COUNT(WORDS); i++)
    if (strcmp(first_word(node), WORDS[i]) == 0)
      return true;
  return false;
}

lamina_status lmi_case_read_open_face(lmi_case_reader *reader, const lmi_tree_node *node, lmi_case_boundary *boundary)
{
  const char *word = first_word(node);
  const bool is_word = node->kind == LMI_TREE_SCALAR;
  lamina_status status = LAMINA_OK;
  boundary->where = node;
  if (is_word && strcmp(word, "slip") == 0) {
    boundary->kind = LMI_BOUNDARY_SLIP;
    return LAMINA_OK;
  }
  if (is_word && strcmp(word, "outflow") == 0) {
    boundary->kind = LMI_BOUNDARY_OUTFLOW;
    return LAMINA_OK;
  }
  if (is_word)
    return lmi_case_fail(reader, node, "%s needs a value: {velocity: [x, y, z]}, {pressure: 0}", word);
  const size_t length = lmi_case_enter(reader, word);
  if (strcmp(word, "velocity") == 0)
    status = read_velocity(reader, node->first, boundary);
  else if (strcmp(word, "pressure") == 0)
    status = read_pressure(reader, node->first, boundary);
  else if (strcmp(word, "outflow") == 0)
    status = read_outflow(reader, node->first, boundary);
  else
    status = lmi_case_fail(reader, node->first, "takes no value; write `slip`");
  if (status == LAMINA_OK)
    lmi_case_leave(reader, length);
  return status;
}

bool lmi_case_has_open_kind(const lmi_case_boundary *boundary)
{
  return boundary->kind >= LMI_BOUNDARY_VELOCITY;
}

/* ---- profiles ---- */

static const char *const FACE_NAMES[LAMINA_FACE_COUNT] = {"x-", "x+", "y-", "y+", "z-", "z+"};

static lamina_index along(lamina_int3 n, int axis)
{
  return axis == 0 ? n.x : axis == 1 ? n.y : n.z;
}

/* Between two walls the parabola falls to 0; along an axis without them nothing changes. */
static bool has_walls(const lamina_case *flow, int axis)
{
  for (int side = 0; side < 2; side++) {
    const lmi_boundary_kind kind = flow->faces[2 * axis + side].kind;
    if (kind != LMI_BOUNDARY_WALL && kind != LMI_BOUNDARY_OSCILLATING)
      return false;
  }
  return true;
}

/* A profile in the making: velocities in m/s at the cells of a face. */
typedef struct profile_shape {
  const lamina_case *flow;
  const lmi_case_boundary *boundary;
  const lmi_velocity_table *table; /* NULL: parabola */
  int axes[2];
} profile_shape;

static void velocity_at(const profile_shape *shape, const lamina_index at[2], double velocity[3])
{
  const lamina_case *flow = shape->flow;
  double factor = 1.0;
  for (int k = 0; k < 2; k++) {
    const int axis = shape->axes[k];
    const double place = (double)at[k] + 0.5;
    if (shape->table != NULL && shape->table->axis == axis)
      lmi_velocity_table_at(shape->table, place * flow->units.cell_size, velocity);
    const double share = place / (double)along(flow->solver.cells, axis);
    if (shape->table == NULL && axis < flow->dimension && has_walls(flow, axis))
      factor *= 4.0 * share * (1.0 - share);
  }
  for (int a = 0; shape->table == NULL && a < 3; a++)
    velocity[a] = factor * shape->boundary->velocity.value[a];
}

static lamina_status make_profile(lamina_case *flow, int face, const lmi_velocity_table *table)
{
  const int normal = face / 2, first = normal == 0 ? 1 : 0, second = normal == 2 ? 1 : 2;
  const profile_shape shape = {flow, &flow->faces[face], table, {first, second}};
  const lamina_index count[2] = {along(flow->solver.cells, first), along(flow->solver.cells, second)};
  lamina_real3 *profile = NULL;
  const double unit = flow->units.velocity_unit;
  LMI_TRY(LMI_ALLOC(flow->ctx, (size_t)(count[0] * count[1]), &profile));
  flow->profiles[face] = profile;
  flow->solver.faces[face].profile = profile;
  for (lamina_index j = 0; j < count[1]; j++)
    for (lamina_index i = 0; i < count[0]; i++) {
      double u[3] = {0, 0, 0};
      velocity_at(&shape, (const lamina_index[2]){i, j}, u);
      profile[i + count[0] * j] = (lamina_real3){u[0] / unit, u[1] / unit, u[2] / unit};
    }
  return LAMINA_OK;
}

static lamina_status read_table(lamina_case *flow, int face, lmi_case_reader *reader)
{
  const lmi_case_boundary *boundary = &flow->faces[face];
  const char *name = boundary->profile.value, *slash = strrchr(flow->path, '/');
  const int folder = name[0] != '/' && slash != NULL ? (int)(slash - flow->path) + 1 : 0;
  lmi_velocity_table table = {0};
  lmi_text path = {0};
  lamina_status status = lmi_text_append(flow->ctx, &path, "%.*s%s", folder, flow->path, name);
  if (status == LAMINA_OK)
    status = lmi_velocity_table_read(flow->ctx, path.data, &table);
  if (status == LAMINA_OK && (table.axis == face / 2 || table.axis >= flow->dimension))
    status = lmi_case_fail(reader, boundary->profile.where, "%s is a table along %c, which is no axis of face %s", name,
                           "xyz"[table.axis], FACE_NAMES[face]);
  if (status == LAMINA_OK)
    status = make_profile(flow, face, &table);
  lmi_velocity_table_free(flow->ctx, &table);
  lmi_text_free(flow->ctx, &path);
  return status;
}

/* ---- into the solver ---- */

static lamina_face_kind solver_kind(lmi_boundary_kind kind)
{
  switch (kind) {
  case LMI_BOUNDARY_VELOCITY: return LAMINA_FACE_VELOCITY;
  case LMI_BOUNDARY_PRESSURE: return LAMINA_FACE_PRESSURE;
  case LMI_BOUNDARY_OUTFLOW: return LAMINA_FACE_OUTFLOW;
  default: break;
  }
  return LAMINA_FACE_SLIP;
}

static lamina_status fill_density(lamina_case *flow, int face, lmi_case_reader *reader)
{
  const lmi_case_boundary *boundary = &flow->faces[face];
  const double excess = 3.0 * boundary->pressure.value / flow->units.pressure_unit;
  if (!(fabs(excess) <= 0.2))
    return lmi_case_fail(reader, boundary->pressure.where,
                         "%.4g Pa are a density of %.3g in lattice units; it must stay within 1 +- 0.2: lower "
                         "lattice_speed from %.3g to %.3g",
                         boundary->pressure.value, 1.0 + excess, flow->units.lattice_speed,
                         flow->units.lattice_speed * sqrt(0.05 / fabs(excess)));
  flow->solver.faces[face].density = 1.0 + excess;
  return LAMINA_OK;
}

static lamina_status fill_face(lamina_case *flow, int face)
{
  lmi_case_reader reader = {.ctx = flow->ctx, .flow = flow, .path = "boundaries"};
  lmi_case_boundary *boundary = &flow->faces[face];
  lamina_face *target = &flow->solver.faces[face];
  const double unit = flow->units.velocity_unit, *v = boundary->velocity.value;
  (void)lmi_case_enter(&reader, FACE_NAMES[face]);
  if (flow->dimension == 2 && v[2] != 0.0)
    return lmi_case_fail(&reader, boundary->velocity.where,
                         "the flow has two dimensions; the third component must be 0");
  target->kind = solver_kind(boundary->kind);
  target->method = (lamina_face_method)boundary->method.value;
  /* The populations along an outflow keep the profile of what leaves better when they are left alone. */
  if (boundary->method.where == NULL && boundary->kind == LMI_BOUNDARY_OUTFLOW)
    target->method = LAMINA_FACE_ZOU_HE;
  target->velocity = (lamina_real3){v[0] / unit, v[1] / unit, v[2] / unit};
  if (boundary->kind == LMI_BOUNDARY_PRESSURE || boundary->kind == LMI_BOUNDARY_OUTFLOW)
    LMI_TRY(fill_density(flow, face, &reader));
  if (boundary->profile.value == NULL || strcmp(boundary->profile.value, "uniform") == 0)
    return LAMINA_OK;
  if (strcmp(boundary->profile.value, "parabolic") == 0)
    return make_profile(flow, face, NULL);
  return read_table(flow, face, &reader);
}

static void warn_of_collision(lamina_case *flow)
{
  const lamina_collision collision = flow->solver.collision;
  const bool is_plain = collision == LAMINA_BGK || collision == LAMINA_TRT;
  if (!is_plain || flow->units.cell_reynolds <= CELL_REYNOLDS_WARNED ||
      flow->warning_count == LMI_COUNT(flow->warnings))
    return;
  snprintf(flow->warnings[flow->warning_count++], LMI_FINDING_BYTES,
           "open faces with collision %s often turn non-finite where the Reynolds number of one cell is above %.0f, "
           "here %.3g (tau %.4g); take collision %s",
           lamina_collision_name(collision), CELL_REYNOLDS_WARNED, flow->units.cell_reynolds, flow->units.tau,
           flow->solver.lattice == LAMINA_D3Q19 ? "regularized" : "cumulant");
}

/* m3/s through a face into the box, of a depth of one cell in two dimensions. */
static double flux_into(const lamina_case *flow, int face)
{
  const lamina_int3 n = flow->solver.cells;
  const lamina_face *given = &flow->solver.faces[face];
  const int axis = face / 2;
  const lamina_index count = n.x * n.y * n.z / along(n, axis);
  const double h = flow->units.cell_size, sign = face % 2 == 0 ? 1.0 : -1.0;
  double sum = 0;
  for (lamina_index i = 0; i < count; i++) {
    const lamina_real3 u = given->profile != NULL ? given->profile[i] : given->velocity;
    sum += axis == 0 ? u.x : axis == 1 ? u.y : u.z;
  }
  return sign * sum * flow->units.velocity_unit * h * h;
}

/* What comes in through faces of given velocity must leave somewhere. */
static void warn_of_flux(lamina_case *flow)
{
  double net = 0, gross = 0;
  for (int face = 0; face < 2 * flow->dimension; face++) {
    const lmi_boundary_kind kind = flow->faces[face].kind;
    if (kind == LMI_BOUNDARY_PRESSURE || kind == LMI_BOUNDARY_OUTFLOW)
      return;
    const double flux = kind == LMI_BOUNDARY_VELOCITY ? flux_into(flow, face) : 0;
    net += flux;
    gross += fabs(flux);
  }
  if (!(fabs(net) > 1e-6 * gross) || flow->warning_count == LMI_COUNT(flow->warnings))
    return;
  const double depth = flow->dimension == 2 ? flow->units.cell_size : 1.0;
  snprintf(flow->warnings[flow->warning_count++], LMI_FINDING_BYTES,
           "the faces of given velocity bring in %.4g %s more than they take out, and no face lets it out: the density "
           "%s without end; make one of them `outflow` or `{pressure: 0}`",
           net / depth, flow->dimension == 2 ? "m2/s" : "m3/s", net > 0 ? "rises" : "falls");
}

lamina_status lmi_case_fill_open_faces(lamina_case *flow)
{
  bool any = false, any_but_slip = false;
  for (int face = 0; face < 2 * flow->dimension; face++) {
    if (!lmi_case_has_open_kind(&flow->faces[face]))
      continue;
    any = true;
    any_but_slip = any_but_slip || flow->faces[face].kind != LMI_BOUNDARY_SLIP;
    LMI_TRY(fill_face(flow, face));
  }
  if (any && flow->solver.grid == LAMINA_GRID_DENSE)
    flow->solver.grid = LAMINA_GRID_SPARSE;
  if (any_but_slip)
    warn_of_flux(flow);
  if (any_but_slip)
    warn_of_collision(flow);
  return LAMINA_OK;
}

lamina_status lmi_case_describe_open_faces(const lamina_case *flow, lmi_text *text)
{
  for (int face = 0; face < 2 * flow->dimension; face++) {
    const lmi_case_boundary *b = &flow->faces[face];
    const lamina_face *f = &flow->solver.faces[face];
    if (!lmi_case_has_open_kind(b))
      continue;
    LMI_TRY(lmi_text_append(flow->ctx, text, ", open %s %d method %d density %.17g ramp %.17g profile %s",
                            FACE_NAMES[face], (int)f->kind, (int)f->method, f->density, b->ramp.value,
                            b->profile.value != NULL ? b->profile.value : "uniform"));
  }
  return LAMINA_OK;
}

double lmi_case_ramp(const lmi_case_boundary *boundary, double time)
{
  if (boundary->ramp.where == NULL || time >= boundary->ramp.value)
    return 1.0;
  return 0.5 * (1.0 - cos(3.14159265358979323846 * fmax(time, 0.0) / boundary->ramp.value));
}
