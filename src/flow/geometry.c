/* SPDX-License-Identifier: Apache-2.0 */
/* The list of bodies, and the ones that are given by a few numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geometry_internal.h"

static const double PI = 3.14159265358979323846;

/* ---- fixed coordinates ---- */

bool lmi_to_fixed(double value, int64_t *fixed)
{
  *fixed = 0;
  if (!(fabs(value) <= 131071.0))
    return false;
  *fixed = llrint(value * (double)LMI_FIXED_ONE);
  return true;
}

lmi_centres lmi_centres_make(const lmi_voxel_grid *grid)
{
  const int64_t step = LMI_FIXED_ONE << grid->level;
  lmi_centres centres = {.first = {step / 2, step / 2, step / 2},
                         .step = {step, step, step},
                         .count = {grid->cells.x, grid->cells.y, grid->cells.z}};
  if (grid->is_flat) {
    centres.first[2] = LMI_FIXED_ONE / 2;
    centres.step[2] = LMI_FIXED_ONE;
  }
  return centres;
}

void lmi_centres_range(const lmi_centres *centres, int axis, int64_t low, int64_t high, lamina_index *begin,
                       lamina_index *end)
{
  const int64_t first = centres->first[axis], step = centres->step[axis];
  const lamina_index count = centres->count[axis];
  const lamina_index from = -lmi_floor_divide(-(low - first), step), to = lmi_floor_divide(high - first, step) + 1;
  *begin = from < 0 ? 0 : from > count ? count : from;
  *end = to < *begin ? *begin : to > count ? count : to;
}

/* ---- placement ---- */

lamina_pose lamina_pose_default(void)
{
  return (lamina_pose){.scale = 1.0};
}

/* Exact at quarter turns. */
static void turn(double degrees, double *cosine, double *sine)
{
  const double rest = fmod(degrees, 360.0);
  const double quarters = rest / 90.0;
  if (quarters == rint(quarters)) {
    static const double COSINES[4] = {1, 0, -1, 0};
    const int quarter = ((int)quarters % 4 + 4) % 4;
    *cosine = COSINES[quarter];
    *sine = COSINES[(quarter + 3) % 4];
    return;
  }
  *cosine = cos(rest * PI / 180.0);
  *sine = sin(rest * PI / 180.0);
}

lmi_transform lmi_transform_make(const lamina_pose *placement)
{
  const lamina_pose stand = placement != NULL ? *placement : lamina_pose_default();
  double cx, sx, cy, sy, cz, sz;
  turn(stand.rotate.x, &cx, &sx);
  turn(stand.rotate.y, &cy, &sy);
  turn(stand.rotate.z, &cz, &sz);
  return (lmi_transform){.scale = stand.scale,
                         .matrix = {{cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx},
                                    {sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx},
                                    {-sy, cy * sx, cy * cx}},
                         .move = {stand.at.x, stand.at.y, stand.at.z}};
}

void lmi_transform_apply(const lmi_transform *transform, const double from[3], double to[3])
{
  for (int a = 0; a < 3; a++) {
    const double *row = transform->matrix[a];
    to[a] = transform->scale * (row[0] * from[0] + row[1] * from[1] + row[2] * from[2]) + transform->move[a];
  }
}

void lmi_mesh_place(double *vertices, size_t vertex_count, const lamina_pose *placement)
{
  const lmi_transform transform = lmi_transform_make(placement);
  for (size_t i = 0; i < vertex_count; i++) {
    const double from[3] = {vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]};
    lmi_transform_apply(&transform, from, &vertices[3 * i]);
  }
}

/* ---- the list ---- */

lamina_status lamina_geometry_create(lamina_context *context, lamina_geometry **geometry)
{
  *geometry = NULL;
  lamina_geometry *made = NULL;
  LMI_TRY(LMI_ALLOC(context, 1, &made));
  made->ctx = context;
  *geometry = made;
  return LAMINA_OK;
}

void lamina_geometry_destroy(lamina_geometry *geometry)
{
  if (geometry == NULL)
    return;
  lamina_context *ctx = geometry->ctx;
  for (int i = 0; i < geometry->count; i++) {
    lmi_body *body = &geometry->bodies[i];
    lmi_free(ctx, body->name);
    lmi_free(ctx, body->vertices);
    lmi_free(ctx, body->triangles);
    lmi_free(ctx, body->tree.nodes);
  }
  lmi_free(ctx, geometry->bodies);
  lmi_free(ctx, geometry);
}

/* Doubles the room where it is used up. */
static lamina_status grow(lamina_geometry *geometry)
{
  lamina_context *ctx = geometry->ctx;
  LMI_REQUIRE(ctx, geometry->count < LAMINA_MAX_BODIES, LAMINA_ERROR_ARGUMENT, "more than %d bodies",
              LAMINA_MAX_BODIES);
  if (geometry->count < geometry->capacity)
    return LAMINA_OK;
  const int capacity = geometry->capacity > 0 ? 2 * geometry->capacity : 4;
  lmi_body *bodies = NULL;
  LMI_TRY(LMI_ALLOC(ctx, (size_t)capacity, &bodies));
  if (geometry->count > 0)
    memcpy(bodies, geometry->bodies, (size_t)geometry->count * sizeof *bodies);
  lmi_free(ctx, geometry->bodies);
  geometry->bodies = bodies;
  geometry->capacity = capacity;
  return LAMINA_OK;
}

lamina_status lmi_geometry_reserve(lamina_geometry *geometry, lmi_body **body)
{
  *body = NULL;
  LMI_TRY(grow(geometry));
  char name[24];
  snprintf(name, sizeof name, "body %d", geometry->count + 1);
  lmi_body *made = &geometry->bodies[geometry->count];
  memset(made, 0, sizeof *made);
  made->axis = -1;
  LMI_TRY(lmi_string_copy(geometry->ctx, name, &made->name));
  *body = made;
  return LAMINA_OK;
}

/* The body becomes one of the list. */
static void keep(lamina_geometry *geometry, int *number)
{
  geometry->count++;
  if (number != NULL)
    *number = geometry->count;
}

static lamina_status fix_point(lamina_context *ctx, const char *what, lamina_real3 point, lmi_fixed3 fixed)
{
  const double values[3] = {point.x, point.y, point.z};
  for (int a = 0; a < 3; a++)
    LMI_REQUIRE(ctx, lmi_to_fixed(values[a], &fixed[a]), LAMINA_ERROR_ARGUMENT,
                "%s lies at %g cells along %c; at most 131071 cells from the origin: check its unit", what, values[a],
                "xyz"[a]);
  return LAMINA_OK;
}

static lamina_status fix_radius(lamina_context *ctx, const char *what, double radius, int64_t *fixed)
{
  LMI_REQUIRE(ctx, radius > 0, LAMINA_ERROR_ARGUMENT, "the radius of a %s is %g cells; it must be above 0", what,
              radius);
  LMI_REQUIRE(ctx, lmi_to_fixed(radius, fixed) && *fixed > 0, LAMINA_ERROR_ARGUMENT,
              "the radius of a %s is %g cells; allowed 1e-6 to 131071: check its unit", what, radius);
  return LAMINA_OK;
}

static lamina_real3 to_real3(const double v[3])
{
  return (lamina_real3){v[0], v[1], v[2]};
}

/* What follows from the bounds: the corners, and the middle as the centre. */
static void note_bounds(lmi_body *body)
{
  double low[3], high[3], middle[3];
  for (int a = 0; a < 3; a++) {
    low[a] = lmi_from_fixed(body->bounds.low[a]);
    high[a] = lmi_from_fixed(body->bounds.high[a]);
    middle[a] = 0.5 * (low[a] + high[a]);
  }
  body->info.low = to_real3(low);
  body->info.high = to_real3(high);
  body->info.centre = to_real3(middle);
  body->info.motion.centre = body->info.centre;
  body->info.is_oriented = true;
}

lamina_status lamina_geometry_add_sphere(lamina_geometry *geometry, lamina_real3 centre, double radius, int *number)
{
  lamina_context *ctx = geometry->ctx;
  lmi_fixed3 at = {0, 0, 0};
  int64_t fixed = 0;
  LMI_TRY(fix_radius(ctx, "sphere", radius, &fixed));
  LMI_TRY(fix_point(ctx, "the centre of a sphere", centre, at));
  lmi_body *body = NULL;
  LMI_TRY(lmi_geometry_reserve(geometry, &body));
  body->radius = fixed;
  for (int a = 0; a < 3; a++) {
    body->from[a] = at[a];
    body->bounds.low[a] = at[a] - fixed;
    body->bounds.high[a] = at[a] + fixed;
  }
  note_bounds(body);
  const double r = lmi_from_fixed(fixed);
  body->info.kind = LAMINA_BODY_SPHERE;
  body->info.volume = 4.0 / 3.0 * PI * r * r * r;
  body->info.surface = 4.0 * PI * r * r;
  keep(geometry, number);
  return LAMINA_OK;
}

/* Half the extent of a disc of this radius, normal to the unit vector, along axis a; rounded outward. */
static int64_t disc_extent(const lmi_body *body, const double unit[3], int a)
{
  const double share = sqrt(fmax(0.0, 1.0 - unit[a] * unit[a]));
  return (int64_t)ceil((double)body->radius * share);
}

static void bound_cylinder(lmi_body *body, double length)
{
  double unit[3];
  for (int a = 0; a < 3; a++)
    unit[a] = (double)(body->to[a] - body->from[a]) / length;
  for (int a = 0; a < 3; a++) {
    const int64_t extent = a == body->axis ? 0 : body->axis >= 0 ? body->radius : disc_extent(body, unit, a);
    const bool swap = body->from[a] > body->to[a];
    body->bounds.low[a] = (swap ? body->to[a] : body->from[a]) - extent;
    body->bounds.high[a] = (swap ? body->from[a] : body->to[a]) + extent;
    if (body->is_endless && unit[a] != 0.0) {
      body->bounds.low[a] = -4 * LMI_FIXED_MOST;
      body->bounds.high[a] = 4 * LMI_FIXED_MOST;
    }
  }
}

/* An endless cylinder has no size along its axis; its centre is the middle of the line that was given. */
static void describe_cylinder(lmi_body *body, double length)
{
  note_bounds(body);
  const double r = lmi_from_fixed(body->radius), l = body->is_endless ? (double)INFINITY : length;
  double middle[3], low[3], high[3];
  for (int a = 0; a < 3; a++) {
    middle[a] = 0.5 * (lmi_from_fixed(body->from[a]) + lmi_from_fixed(body->to[a]));
    const bool is_open = body->is_endless && body->from[a] != body->to[a];
    low[a] = is_open ? (double)-INFINITY : lmi_from_fixed(body->bounds.low[a]);
    high[a] = is_open ? (double)INFINITY : lmi_from_fixed(body->bounds.high[a]);
  }
  body->info.kind = LAMINA_BODY_CYLINDER;
  body->info.centre = body->info.motion.centre = to_real3(middle);
  body->info.low = to_real3(low);
  body->info.high = to_real3(high);
  body->info.volume = PI * r * r * l;
  body->info.surface = 2 * PI * r * (l + (body->is_endless ? 0 : r));
}

lamina_status lamina_geometry_add_cylinder(lamina_geometry *geometry, const lamina_cylinder *cylinder, int *number)
{
  lamina_context *ctx = geometry->ctx;
  lmi_fixed3 from = {0, 0, 0}, to = {0, 0, 0};
  int64_t radius = 0;
  LMI_TRY(fix_radius(ctx, "cylinder", cylinder->radius, &radius));
  LMI_TRY(fix_point(ctx, "one end of a cylinder", cylinder->from, from));
  LMI_TRY(fix_point(ctx, "one end of a cylinder", cylinder->to, to));
  int directions = 0, axis = -1;
  double square = 0;
  for (int a = 0; a < 3; a++)
    if (from[a] != to[a]) {
      directions++;
      axis = a;
      square += (double)(to[a] - from[a]) * (double)(to[a] - from[a]);
    }
  LMI_REQUIRE(ctx, directions > 0, LAMINA_ERROR_ARGUMENT,
              "both ends of a cylinder lie at (%g, %g, %g); they must differ", cylinder->from.x, cylinder->from.y,
              cylinder->from.z);
  lmi_body *body = NULL;
  LMI_TRY(lmi_geometry_reserve(geometry, &body));
  memcpy(body->from, from, sizeof from);
  memcpy(body->to, to, sizeof to);
  body->radius = radius;
  body->axis = directions == 1 ? axis : -1;
  body->is_endless = cylinder->is_endless;
  bound_cylinder(body, sqrt(square));
  describe_cylinder(body, sqrt(square) / (double)LMI_FIXED_ONE);
  keep(geometry, number);
  return LAMINA_OK;
}

/* ---- boxes ---- */

static lamina_status add_turned_box(lamina_geometry *geometry, const double low[3], const double high[3],
                                    const lamina_pose *placement, int *number)
{
  static const uint32_t TRIANGLES[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                            {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  double corners[8][3];
  for (int i = 0; i < 8; i++)
    for (int a = 0; a < 3; a++)
      corners[i][a] = (i >> a) & 1 ? high[a] : low[a];
  const lamina_mesh mesh = {.vertices = corners[0], .vertex_count = 8, .triangles = TRIANGLES[0], .triangle_count = 12};
  return lamina_geometry_add_mesh(geometry, &mesh, placement, number);
}

static bool is_quarter(double degrees)
{
  return fmod(degrees, 90.0) == 0.0;
}

lamina_status lamina_geometry_add_box(lamina_geometry *geometry, lamina_real3 low, lamina_real3 high,
                                      const lamina_pose *placement, int *number)
{
  lamina_context *ctx = geometry->ctx;
  const double lows[3] = {low.x, low.y, low.z}, highs[3] = {high.x, high.y, high.z};
  for (int a = 0; a < 3; a++)
    LMI_REQUIRE(ctx, lows[a] < highs[a], LAMINA_ERROR_ARGUMENT,
                "a box reaches from %g to %g cells along %c; the second must be above the first", lows[a], highs[a],
                "xyz"[a]);
  const lamina_real3 rotate = placement != NULL ? placement->rotate : (lamina_real3){0, 0, 0};
  if (!is_quarter(rotate.x) || !is_quarter(rotate.y) || !is_quarter(rotate.z))
    return add_turned_box(geometry, lows, highs, placement, number);

  const lmi_transform transform = lmi_transform_make(placement);
  double ends[2][3];
  lmi_fixed3 fixed[2];
  lmi_transform_apply(&transform, lows, ends[0]);
  lmi_transform_apply(&transform, highs, ends[1]);
  LMI_TRY(fix_point(ctx, "a corner of a box", to_real3(ends[0]), fixed[0]));
  LMI_TRY(fix_point(ctx, "a corner of a box", to_real3(ends[1]), fixed[1]));
  lmi_body *body = NULL;
  LMI_TRY(lmi_geometry_reserve(geometry, &body));
  double e[3];
  for (int a = 0; a < 3; a++) {
    const int lower = fixed[0][a] <= fixed[1][a] ? 0 : 1;
    body->bounds.low[a] = fixed[lower][a];
    body->bounds.high[a] = fixed[1 - lower][a];
    e[a] = lmi_from_fixed(body->bounds.high[a] - body->bounds.low[a]);
  }
  note_bounds(body);
  body->info.kind = LAMINA_BODY_BOX;
  body->info.volume = e[0] * e[1] * e[2];
  body->info.surface = 2 * (e[0] * e[1] + e[1] * e[2] + e[2] * e[0]);
  keep(geometry, number);
  return LAMINA_OK;
}

/* ---- asking ---- */

lamina_context *lmi_geometry_context(const lamina_geometry *geometry)
{
  return geometry->ctx;
}

int lamina_geometry_body_count(const lamina_geometry *geometry)
{
  return geometry != NULL ? geometry->count : 0;
}

bool lamina_geometry_get_body(const lamina_geometry *geometry, int number, lamina_body_info *info)
{
  memset(info, 0, sizeof *info);
  if (number < 1 || number > lamina_geometry_body_count(geometry))
    return false;
  const lmi_body *body = &geometry->bodies[number - 1];
  *info = body->info;
  info->name = body->name;
  return true;
}

lamina_status lamina_geometry_name_body(lamina_geometry *geometry, int number, const char *name)
{
  LMI_REQUIRE(geometry->ctx, number >= 1 && number <= geometry->count, LAMINA_ERROR_ARGUMENT,
              "there is no body %d; there are %d", number, geometry->count);
  char *copy = NULL;
  LMI_TRY(lmi_string_copy(geometry->ctx, name, &copy));
  lmi_free(geometry->ctx, geometry->bodies[number - 1].name);
  geometry->bodies[number - 1].name = copy;
  return LAMINA_OK;
}

lamina_status lamina_geometry_set_motion(lamina_geometry *geometry, int number, const lamina_body_motion *motion)
{
  LMI_REQUIRE(geometry->ctx, number >= 1 && number <= geometry->count, LAMINA_ERROR_ARGUMENT,
              "there is no body %d; there are %d", number, geometry->count);
  const lamina_real3 u = motion->velocity, w = motion->spin, c = motion->centre;
  const double sum = u.x + u.y + u.z + w.x + w.y + w.z + c.x + c.y + c.z;
  LMI_REQUIRE(geometry->ctx, isfinite(sum), LAMINA_ERROR_ARGUMENT, "the motion of body %d is not finite", number);
  geometry->bodies[number - 1].info.motion = *motion;
  return LAMINA_OK;
}

lamina_real3 lmi_geometry_surface_velocity(const lamina_geometry *geometry, int number, lamina_real3 point)
{
  const lamina_body_motion *motion = &geometry->bodies[number - 1].info.motion;
  const lamina_real3 w = motion->spin;
  const double x = point.x - motion->centre.x, y = point.y - motion->centre.y, z = point.z - motion->centre.z;
  return (lamina_real3){motion->velocity.x + (w.y * z - w.z * y), motion->velocity.y + (w.z * x - w.x * z),
                        motion->velocity.z + (w.x * y - w.y * x)};
}
