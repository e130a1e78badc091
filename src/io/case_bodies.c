/* SPDX-License-Identifier: Apache-2.0 */
#include "case_bodies.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

#define AT(field) offsetof(lmi_case_body, field)

#define POINT(name_, field)                                                                         \
  {                                                                                                 \
    .name = (name_), .read = lmi_case_read_vector, .offset = AT(field), .low = -1e12, .high = 1e12, \
    .dimension = LMI_DIMENSION_LENGTH                                                               \
  }
#define LENGTH(name_, field)                                                                           \
  {                                                                                                    \
    .name = (name_), .read = lmi_case_read_real, .offset = AT(field), .high = 1e12, .above_low = true, \
    .dimension = LMI_DIMENSION_LENGTH                                                                  \
  }

static const lmi_case_word AXES[] = {{"x", 0}, {"y", 1}, {"z", 2}, {NULL, 0}};
static const lmi_case_word ANSWERS[] = {{"false", 0}, {"true", 1}, {"no", 0}, {"yes", 1}, {NULL, 0}};

/* A body has one shape. */
static lamina_status begin_shape(lmi_case_reader *reader, const lmi_tree_node *node, lmi_case_body *body,
                                 lmi_case_shape shape)
{
  if (body->shape != LMI_SHAPE_NONE)
    return lmi_case_fail(reader, node, "a second shape; write one entry of the list for each body");
  body->shape = shape;
  return LAMINA_OK;
}

static lamina_status read_stl(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key, void *target)
{
  lmi_case_body *body = target;
  LMI_TRY(begin_shape(reader, node, body, LMI_SHAPE_STL));
  return lmi_case_read_text(reader, node, key, &body->stl);
}

static lamina_status read_sphere(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                 void *target)
{
  static const lmi_case_key KEYS[] = {POINT("centre", centre), LENGTH("radius", radius)};
  (void)key;
  lmi_case_body *body = target;
  LMI_TRY(begin_shape(reader, node, body, LMI_SHAPE_SPHERE));
  LMI_TRY(lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), body));
  if (body->centre.where == NULL || body->radius.where == NULL)
    return lmi_case_fail(reader, node, "needs both: {centre: [x, y, z], radius: r}");
  return LAMINA_OK;
}

static lamina_status read_cylinder(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                   void *target)
{
  static const lmi_case_key KEYS[] = {
    POINT("centre", centre),  LENGTH("radius", radius),
    POINT("from", from),      POINT("to", to),
    LENGTH("length", length), {.name = "axis", .read = lmi_case_read_choice, .offset = AT(axis), .words = AXES},
  };
  (void)key;
  lmi_case_body *body = target;
  LMI_TRY(begin_shape(reader, node, body, LMI_SHAPE_CYLINDER));
  LMI_TRY(lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), body));
  const bool has_ends = body->from.where != NULL && body->to.where != NULL;
  const bool has_centre = body->centre.where != NULL;
  const bool has_more = body->axis.where != NULL || body->length.where != NULL;
  const bool has_one_end = (body->from.where != NULL) != (body->to.where != NULL);
  if (body->radius.where == NULL || has_ends == has_centre || has_one_end || (has_ends && has_more))
    return lmi_case_fail(
      reader, node,
      "needs {from: [x, y, z], to: [x, y, z], radius: r}, or {centre: [x, y, z], axis: z, radius: r}, "
      "with length: l or through the whole box");
  return LAMINA_OK;
}

static lamina_status read_box(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key, void *target)
{
  static const lmi_case_key KEYS[] = {POINT("from", from), POINT("to", to)};
  (void)key;
  lmi_case_body *body = target;
  LMI_TRY(begin_shape(reader, node, body, LMI_SHAPE_BOX));
  LMI_TRY(lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), body));
  if (body->from.where == NULL || body->to.where == NULL)
    return lmi_case_fail(reader, node, "needs both: {from: [x, y, z], to: [x, y, z]}");
  for (int a = 0; a < body->from.count && a < body->to.count; a++)
    if (!(body->from.value[a] < body->to.value[a]))
      return lmi_case_fail(reader, body->to.where, "to lies at %g m along %c, from at %g m; to must be above from",
                           body->to.value[a], "xyz"[a], body -> from.value[a]);
  return LAMINA_OK;
}

/* Keys that fit some shapes only. */
static lamina_status check_keys(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_body *body)
{
  if (body->shape == LMI_SHAPE_NONE)
    return lmi_case_fail(reader, node, "has no shape; give one of stl, sphere, cylinder, box");
  const bool is_stl = body->shape == LMI_SHAPE_STL;
  if (body->scale.where != NULL && !is_stl)
    return lmi_case_fail(reader, body->scale.where,
                         "scale goes with stl only; give the other shapes their size in metres");
  if (body->repair.where != NULL && !is_stl)
    return lmi_case_fail(reader, body->repair.where, "repair goes with stl only");
  if (body->rotate.where != NULL && !is_stl && body->shape != LMI_SHAPE_BOX)
    return lmi_case_fail(reader, body->rotate.where, "rotate goes with stl and box; a cylinder has from and to");
  if (body->at.where != NULL && !is_stl && body->shape != LMI_SHAPE_BOX)
    return lmi_case_fail(reader, body->at.where, "at goes with stl and box; a sphere or cylinder has its centre");
  if (body->rotate.where != NULL && body->rotate.count != 3)
    return lmi_case_fail(reader, body->rotate.where, "needs three angles, [x, y, z] in degrees");
  return LAMINA_OK;
}

static lamina_status read_body(lmi_case_reader *reader, const lmi_tree_node *node, lmi_case_body *body)
{
  static const lmi_case_key KEYS[] = {
    {.name = "stl", .read = read_stl, .low = 1, .high = 1000},
    {.name = "sphere", .read = read_sphere},
    {.name = "cylinder", .read = read_cylinder},
    {.name = "box", .read = read_box},
    {.name = "name", .read = lmi_case_read_text, .offset = AT(name), .low = 1, .high = 40},
    {.name = "scale",
     .read = lmi_case_read_real,
     .offset = AT(scale),
     .high = 1e12,
     .above_low = true,
     .hint = "metres a unit of the file, 0.001 for millimetres"},
    {.name = "rotate",
     .read = lmi_case_read_vector,
     .offset = AT(rotate),
     .low = -360,
     .high = 360,
     .hint = "degrees about x, then y, then z"},
    POINT("at", at),
    {.name = "repair", .read = lmi_case_read_choice, .offset = AT(repair), .words = ANSWERS},
    {.name = "velocity",
     .read = lmi_case_read_vector,
     .offset = AT(velocity),
     .low = -1e12,
     .high = 1e12,
     .dimension = LMI_DIMENSION_SPEED,
     .hint = "of the surface, while the body stays in place"},
    {.name = "spin",
     .read = lmi_case_read_vector,
     .offset = AT(spin),
     .low = -1e12,
     .high = 1e12,
     .hint = "radians a second about x, y, z through the centre"},
  };
  body->where = node;
  LMI_TRY(lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), body));
  return check_keys(reader, node, body);
}

lamina_status lmi_case_read_bodies(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                   void *target)
{
  (void)key;
  lamina_case *flow = target;
  char what[64];
  if (node->kind != LMI_TREE_LIST)
    return lmi_case_fail(reader, node, "%s is not a list; write `- {sphere: {centre: [x, y, z], radius: r}}` below it",
                         lmi_tree_describe(node, what, sizeof what));
  size_t count = 0;
  for (const lmi_tree_node *child = node->first; child != NULL; child = child->next)
    count++;
  if (count > LMI_CASE_MAX_BODIES)
    return lmi_case_fail(reader, node, "%zu bodies; at most %d", count, LMI_CASE_MAX_BODIES);
  lmi_free(reader->ctx, flow->bodies);
  flow->bodies = NULL;
  LMI_TRY(LMI_ALLOC(reader->ctx, count, &flow->bodies));
  flow->body_count = 0;
  for (const lmi_tree_node *child = node->first; child != NULL; child = child->next) {
    const size_t length = lmi_case_enter_entry(reader, flow->body_count);
    LMI_TRY(read_body(reader, child, &flow->bodies[flow->body_count]));
    lmi_case_leave(reader, length);
    flow->body_count++;
  }
  return LAMINA_OK;
}

/* ---- making ---- */

/* "FILE:LINE: bodies.2: sentence" */
static lamina_status fail_body(lamina_case *flow, size_t index, const char *sentence)
{
  lmi_case_reader reader = {.ctx = flow->ctx, .flow = flow};
  snprintf(reader.path, sizeof reader.path, "bodies.%zu", index);
  return lmi_case_fail(&reader, flow->bodies[index].where, "%s", sentence);
}

/* Of a point in metres; in two dimensions everything lies in the plane through the centres. */
static lamina_real3 to_cells(const lamina_case *flow, const lmi_case_vector *v)
{
  const double h = flow->units.cell_size;
  return (lamina_real3){v->value[0] / h, v->value[1] / h, flow->dimension == 2 ? 0.5 : v->value[2] / h};
}

/* Relative names are relative to the folder of the case file. */
static lamina_status path_of(const lamina_case *flow, const lmi_case_body *body, lmi_text *path)
{
  const char *name = body->stl.value, *slash = strrchr(flow->path, '/');
  const int folder = name[0] != '/' && slash != NULL ? (int)(slash - flow->path) + 1 : 0;
  return lmi_text_append(flow->ctx, path, "%.*s%s", folder, flow->path, name);
}

static lamina_status add_stl(lamina_case *flow, const lmi_case_body *body)
{
  const double h = flow->units.cell_size, scale = body->scale.where != NULL ? body->scale.value : 1.0;
  const lamina_pose placement = {
    .scale = scale / h,
    .rotate = {body->rotate.value[0], body->rotate.value[1], body->rotate.value[2]},
    .at = {body->at.value[0] / h, body->at.value[1] / h, body->at.value[2] / h},
  };
  lmi_text path = {0};
  lamina_status status = path_of(flow, body, &path);
  if (status == LAMINA_OK)
    status = lamina_geometry_add_stl(flow->geometry, path.data, &placement, body->repair.value == 1, NULL);
  lmi_text_free(flow->ctx, &path);
  return status;
}

static lamina_status add_cylinder(lamina_case *flow, const lmi_case_body *body)
{
  const double h = flow->units.cell_size;
  lamina_cylinder cylinder = {.radius = body->radius.value / h};
  if (body->from.where != NULL) {
    cylinder.from = to_cells(flow, &body->from);
    cylinder.to = to_cells(flow, &body->to);
    return lamina_geometry_add_cylinder(flow->geometry, &cylinder, NULL);
  }
  const int axis = body->axis.where != NULL ? body->axis.value : 2;
  const double half = body->length.where != NULL ? 0.5 * body->length.value / h : 0.5;
  const lamina_real3 centre = to_cells(flow, &body->centre);
  const lamina_real3 reach = {axis == 0 ? half : 0, axis == 1 ? half : 0, axis == 2 ? half : 0};
  cylinder.from = (lamina_real3){centre.x - reach.x, centre.y - reach.y, centre.z - reach.z};
  cylinder.to = (lamina_real3){centre.x + reach.x, centre.y + reach.y, centre.z + reach.z};
  cylinder.is_endless = body->length.where == NULL;
  return lamina_geometry_add_cylinder(flow->geometry, &cylinder, NULL);
}

static lamina_status add_box(lamina_case *flow, const lmi_case_body *body)
{
  const double h = flow->units.cell_size;
  lamina_real3 low = to_cells(flow, &body->from), high = to_cells(flow, &body->to);
  if (flow->dimension == 2) {
    low.z = -1;
    high.z = 2;
  }
  const lamina_pose placement = {
    .scale = 1.0,
    .rotate = {body->rotate.value[0], body->rotate.value[1], body->rotate.value[2]},
    .at = {body->at.value[0] / h, body->at.value[1] / h, body->at.value[2] / h},
  };
  return lamina_geometry_add_box(flow->geometry, low, high, &placement, NULL);
}

static lamina_status set_motion(lamina_case *flow, const lmi_case_body *body, int number)
{
  lamina_body_info info;
  if (!lamina_geometry_get_body(flow->geometry, number, &info) ||
      (body->velocity.where == NULL && body->spin.where == NULL))
    return LAMINA_OK;
  const double u = flow->units.velocity_unit, dt = flow->units.time_step;
  const double *velocity = body->velocity.value, *spin = body->spin.value;
  const lamina_body_motion motion = {
    .velocity = {velocity[0] / u, velocity[1] / u, velocity[2] / u},
    .spin = {spin[0] * dt, spin[1] * dt, spin[2] * dt},
    .centre = info.centre,
  };
  return lamina_geometry_set_motion(flow->geometry, number, &motion);
}

static lamina_status add_body(lamina_case *flow, size_t index)
{
  const lmi_case_body *body = &flow->bodies[index];
  const int number = (int)index + 1;
  lamina_status status = LAMINA_OK;
  switch (body->shape) {
  case LMI_SHAPE_STL: status = add_stl(flow, body); break;
  case LMI_SHAPE_CYLINDER: status = add_cylinder(flow, body); break;
  case LMI_SHAPE_BOX: status = add_box(flow, body); break;
  case LMI_SHAPE_SPHERE:
    status = lamina_geometry_add_sphere(flow->geometry, to_cells(flow, &body->centre),
                                        body->radius.value / flow->units.cell_size, NULL);
    break;
  case LMI_SHAPE_NONE: break;
  }
  if (status == LAMINA_OK && body->name.where != NULL)
    status = lamina_geometry_name_body(flow->geometry, number, body->name.value);
  if (status == LAMINA_OK)
    status = set_motion(flow, body, number);
  if (status == LAMINA_OK || status == LAMINA_ERROR_MEMORY || status == LAMINA_UNAVAILABLE)
    return status;
  char place[256];
  lmi_tree_place(body->where, place, sizeof place);
  return lmi_fail_within(flow->ctx, LAMINA_ERROR_CASE, "%s: bodies.%zu", place, index);
}

/* ---- judging ---- */

/* What STL files are most often wrong by. */
static const char *unit_hint(const lmi_case_body *body, double size, double box, double cell)
{
  if (body->shape != LMI_SHAPE_STL)
    return "";
  if (size > 20 * box)
    return "; STL files have no unit: for one in millimetres write scale: 0.001";
  return size < cell ? "; STL files have no unit: scale says how many metres one unit is" : "";
}

static void warn(lamina_case *flow, const char *text)
{
  if (flow->warning_count < LMI_COUNT(flow->warnings))
    snprintf(flow->warnings[flow->warning_count++], sizeof flow->warnings[0], "%s", text);
}

/* How the facets of a mesh face is worth knowing, though it changes no cell. */
static void warn_of_facing(lamina_case *flow, const lamina_body_info *info)
{
  char text[LMI_FINDING_BYTES];
  if (info->is_inward)
    snprintf(text, sizeof text, "the facets of %.100s face inward; taken as if they faced outward", info->name);
  else
    snprintf(text, sizeof text,
             "neighbouring facets of %.100s do not agree on where outside is; taken by counting crossings", info->name);
  if (info->is_inward || !info->is_oriented)
    warn(flow, text);
}

static lamina_status check_place(lamina_case *flow, size_t index)
{
  lamina_body_info info;
  if (!lamina_geometry_get_body(flow->geometry, (int)index + 1, &info))
    return LAMINA_OK;
  const double h = flow->units.cell_size;
  const lamina_int3 n = flow->solver.cells;
  const double box[3] = {(double)n.x, (double)n.y, (double)n.z};
  const double low[3] = {info.low.x, info.low.y, info.low.z}, high[3] = {info.high.x, info.high.y, info.high.z};
  const double size = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
  const char *hint = unit_hint(&flow->bodies[index], size, fmax(box[0], fmax(box[1], box[2])), 1.0);
  for (int a = 0; a < flow->dimension; a++)
    if (high[a] <= 0 || low[a] >= box[a]) {
      char sentence[320];
      snprintf(sentence, sizeof sentence,
               "%s lies outside the box: from %g to %g m along %c, the box reaches from 0 to %g m%s", info.name,
               low[a] * h, high[a] * h, "xyz"[a], box[a] * h, hint);
      return fail_body(flow, index, sentence);
    }
  warn_of_facing(flow, &info);
  if (hint[0] != '\0') {
    char text[LMI_FINDING_BYTES];
    snprintf(text, sizeof text, "%.100s is %.3g m long, the box %.3g m%s", info.name, size * h,
             fmax(box[0], fmax(box[1], box[2])) * h, hint);
    warn(flow, text);
  }
  return LAMINA_OK;
}

static void warn_of_thin(lamina_case *flow, const lmi_thin_part *part)
{
  const double h = flow->units.cell_size;
  lamina_body_info info;
  char text[LMI_FINDING_BYTES], keep[64] = "smaller cells would keep it";
  if (!lamina_geometry_get_body(flow->geometry, part->body, &info))
    return;
  if (isfinite(part->keep))
    snprintf(keep, sizeof keep, "cells of %.3g m or less would keep it", part->keep * h);
  snprintf(text, sizeof text, "%s of %.60s, at (%g, %g, %g) m, is too thin for cells of %.3g m and has none; %s",
           part->is_whole ? "the whole" : "a part", info.name, 0.5 * (part->low.x + part->high.x) * h,
           0.5 * (part->low.y + part->high.y) * h, 0.5 * (part->low.z + part->high.z) * h, h, keep);
  warn(flow, text);
}

/* Boxes larger than this are counted by the solver alone: a plan must not need their memory. */
static const double MOST_COUNTED_CELLS = 2147483648.0;

static lamina_status count_cells(lamina_case *flow)
{
  enum { MOST_PARTS = 3 };
  lamina_context *ctx = flow->ctx;
  const lamina_int3 n = flow->solver.cells;
  if ((double)n.x * (double)n.y * (double)n.z > MOST_COUNTED_CELLS)
    return LAMINA_OK;
  const lmi_voxel_grid grid = {.cells = n, .is_flat = flow->dimension == 2};
  lmi_voxels voxels;
  lmi_thin_part parts[MOST_PARTS];
  size_t count = 0;
  const lamina_status made = lmi_geometry_voxelize(ctx, flow->geometry, &grid, NULL, &voxels);
  if (made == LAMINA_ERROR_ARGUMENT)
    return lmi_fail_within(ctx, LAMINA_ERROR_CASE, "%s: bodies", flow->path);
  LMI_TRY(made);
  lamina_status status = LMI_ALLOC(ctx, flow->body_count, &flow->body_cells);
  if (status == LAMINA_OK)
    status = lmi_geometry_find_thin(ctx, &voxels, MOST_PARTS, parts, &count);
  if (status == LAMINA_OK) {
    memcpy(flow->body_cells, voxels.body_counts, flow->body_count * sizeof *flow->body_cells);
    flow->solid_cells = voxels.solid_count;
    for (size_t i = 0; i < count && i < MOST_PARTS; i++)
      warn_of_thin(flow, &parts[i]);
  }
  lmi_voxels_free(ctx, &voxels);
  return status;
}

lamina_status lmi_case_check_bodies(lamina_case *flow)
{
  lmi_case_reader reader = {.ctx = flow->ctx, .flow = flow, .path = "curved"};
  if (flow->body_count == 0 && flow->curved.where != NULL)
    return lmi_case_fail(&reader, flow->curved.where,
                         "says how the surfaces of bodies are met, but there are no bodies");
  if (flow->body_count == 0)
    return LAMINA_OK;
  flow->solver.curved = (lamina_curved)flow->curved.value;
  LMI_TRY(lamina_geometry_create(flow->ctx, &flow->geometry));
  for (size_t i = 0; i < flow->body_count; i++) {
    LMI_TRY(add_body(flow, i));
    LMI_TRY(check_place(flow, i));
  }
  LMI_TRY(count_cells(flow));
  flow->solver.geometry = flow->geometry;
  if (flow->solver.grid == LAMINA_GRID_DENSE)
    flow->solver.grid = LAMINA_GRID_SPARSE;
  return LAMINA_OK;
}

lamina_status lmi_case_describe_bodies(const lamina_case *flow, lmi_text *text)
{
  if (flow->geometry != NULL)
    LMI_TRY(lmi_text_append(flow->ctx, text, ", curved %s", lamina_curved_name(flow->solver.curved)));
  for (int number = 1; number <= lamina_geometry_body_count(flow->geometry); number++) {
    lamina_body_info info;
    if (!lamina_geometry_get_body(flow->geometry, number, &info))
      continue;
    const lamina_real3 u = info.motion.velocity, w = info.motion.spin, c = info.centre;
    LMI_TRY(lmi_text_append(flow->ctx, text,
                            ", body %d %d at %.17g %.17g %.17g, %.17g %.17g %.17g to %.17g %.17g %.17g, volume %.17g, "
                            "triangles %zu, motion %.17g %.17g %.17g %.17g %.17g %.17g",
                            number, (int)info.kind, c.x, c.y, c.z, info.low.x, info.low.y, info.low.z, info.high.x,
                            info.high.y, info.high.z, info.volume, info.triangle_count, u.x, u.y, u.z, w.x, w.y, w.z));
  }
  return LAMINA_OK;
}
