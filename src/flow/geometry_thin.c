/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of bodies that no cell shows. Points are strewn over the triangles, about one a cell; where no cell around such
 * a point is solid, the part of the body behind it has vanished. How thick it is there, seen along the axis nearest to
 * the normal, is the size of cells that would keep it: then each row of centres across has one inside. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry_internal.h"

enum { MOST_SAMPLES = 256 }; /* along an edge */

/* What was found at a triangle. */
typedef struct loss {
  float area;      /* of the surface that lost its cells, in fine cells^2; 0: none */
  float thickness; /* infinite: not known */
} loss;

typedef struct search {
  const lmi_voxels *voxels;
  const lmi_body *body;
  lmi_centres centres;
  double cell; /* in fixed units */
  loss *losses;
  uint32_t *parent; /* of vertices: those joined by triangles with losses */
} search;

/* ---- one point ---- */

/* A solid cell within one cell of that which holds the point; also true near the faces of the box, where what lies
 * behind is not known. */
static bool is_shown(const search *s, const double point[3])
{
  lamina_index at[3];
  for (int a = 0; a < 3; a++) {
    at[a] = (lamina_index)floor(point[a] / s->cell);
    if (at[a] < 1 || at[a] >= s->centres.count[a] - 1)
      return true;
  }
  for (int i = 0; i < 27; i++) {
    static const int OFFSET[3] = {0, -1, 1}; /* the cell itself first */
    const lamina_int3 cell = {at[0] + OFFSET[i % 3], at[1] + OFFSET[i / 3 % 3], at[2] + OFFSET[i / 9]};
    if (lmi_voxels_is_solid(s->voxels, cell))
      return true;
  }
  return false;
}

/* From a point of the surface inward along an axis to the other side, in cells of the finest level. */
static double thickness_at(const search *s, const double point[3], const double normal[3])
{
  int axis = 0;
  for (int a = 1; a < 3; a++)
    axis = fabs(normal[a]) > fabs(normal[axis]) ? a : axis;
  const double outward = s->body->info.is_inward ? -normal[axis] : normal[axis];
  const int64_t inward = outward > 0 ? -1 : 1, nudge = 4;
  lmi_fixed3 start, way = {0, 0, 0};
  for (int a = 0; a < 3; a++)
    start[a] = llrint(point[a]);
  start[axis] += inward * nudge;
  way[axis] = inward * 4 * s->centres.step[0];
  double part = 0;
  if (!lmi_body_first_hit(s->body, start, way, 1.0, &part))
    return (double)INFINITY;
  return lmi_from_fixed(nudge) + part * 4 * lmi_from_fixed(s->centres.step[0]);
}

/* ---- one triangle ---- */

typedef struct corners {
  double p[3][3], normal[3], area; /* fixed units; area in fine cells^2 */
  int samples;                     /* along an edge */
} corners;

static corners corners_of(const search *s, size_t triangle)
{
  corners c;
  double u[3], v[3], w[3], longest = 0, square = 0;
  for (int k = 0; k < 3; k++)
    for (int a = 0; a < 3; a++)
      c.p[k][a] = (double)s->body->vertices[s->body->triangles[triangle][k]][a];
  for (int a = 0; a < 3; a++) {
    u[a] = (c.p[1][a] - c.p[0][a]) / (double)LMI_FIXED_ONE;
    v[a] = (c.p[2][a] - c.p[0][a]) / (double)LMI_FIXED_ONE;
    w[a] = u[a] - v[a];
  }
  for (int a = 0; a < 3; a++) {
    c.normal[a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
    square += c.normal[a] * c.normal[a];
  }
  longest = fmax(u[0] * u[0] + u[1] * u[1] + u[2] * u[2], v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  longest = sqrt(fmax(longest, w[0] * w[0] + w[1] * w[1] + w[2] * w[2])) * (double)LMI_FIXED_ONE / s->cell;
  c.area = 0.5 * sqrt(square);
  c.samples = (int)fmin(MOST_SAMPLES, fmax(1.0, ceil(longest)));
  return c;
}

static loss look_at(const search *s, size_t triangle)
{
  const corners c = corners_of(s, triangle);
  const int n = c.samples;
  loss found = {0, INFINITY};
  int lost = 0, all = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n - i; j++, all++) {
      const double f = (i + 1.0 / 3.0) / n, g = (j + 1.0 / 3.0) / n;
      double point[3];
      for (int a = 0; a < 3; a++)
        point[a] = c.p[0][a] + f * (c.p[1][a] - c.p[0][a]) + g * (c.p[2][a] - c.p[0][a]);
      if (is_shown(s, point))
        continue;
      if (lost++ == 0)
        found.thickness = (float)thickness_at(s, point, c.normal);
    }
  found.area = (float)(c.area * lost / all);
  return found;
}

/* ---- parts ---- */

typedef struct part {
  lmi_thin_part thin;
  double area;
  size_t triangles;
} part;

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

static size_t join_lost(search *s)
{
  size_t lost = 0;
  for (size_t i = 0; i < s->body->vertex_count; i++)
    s->parent[i] = (uint32_t)i;
  for (size_t i = 0; i < s->body->triangle_count; i++)
    for (int k = 0; k < 3 && s->losses[i].area > 0; k++) {
      const uint32_t *t = s->body->triangles[i];
      const uint32_t a = root_of(s->parent, t[k]), b = root_of(s->parent, t[(k + 1) % 3]);
      s->parent[a > b ? a : b] = a > b ? b : a;
      lost += k == 0;
    }
  return lost;
}

/* A triangle with losses, under the vertex that stands for its part. */
typedef struct lost_triangle {
  uint32_t root;
  float thickness, area;
  uint32_t triangle;
} lost_triangle;

static int compare_lost(const void *left, const void *right)
{
  const lost_triangle *a = left, *b = right;
  if (a->root != b->root)
    return a->root < b->root ? -1 : 1;
  if (a->thickness != b->thickness)
    return a->thickness < b->thickness ? -1 : 1;
  return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

static void widen(lmi_thin_part *thin, const lmi_body *body, size_t triangle, bool is_first)
{
  for (int k = 0; k < 3; k++) {
    const int64_t *v = body->vertices[body->triangles[triangle][k]];
    const lamina_real3 p = {lmi_from_fixed(v[0]), lmi_from_fixed(v[1]), lmi_from_fixed(v[2])};
    if (is_first && k == 0)
      thin->low = thin->high = p;
    thin->low = (lamina_real3){fmin(thin->low.x, p.x), fmin(thin->low.y, p.y), fmin(thin->low.z, p.z)};
    thin->high = (lamina_real3){fmax(thin->high.x, p.x), fmax(thin->high.y, p.y), fmax(thin->high.z, p.z)};
  }
}

/* Keeps the largest parts, in falling order. */
static void insert_part(const part *new, size_t capacity, lmi_thin_part *parts, double *areas, size_t *count)
{
  size_t at = *count < capacity ? *count : capacity;
  for (; at > 0 && areas[at - 1] < new->area; at--)
    if (at < capacity) {
      parts[at] = parts[at - 1];
      areas[at] = areas[at - 1];
    }
  if (at < capacity) {
    parts[at] = new->thin;
    areas[at] = new->area;
  }
  (*count)++;
}

/* The thickness that half of the lost surface does not exceed; the list rises in thickness. */
static double median_thickness(const lost_triangle *lost, size_t count, double area)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += lost[i].area;
    if (2 * sum >= area)
      return lost[i].thickness;
  }
  return lost[count - 1].thickness;
}

/* The runs of one root in the sorted list are the parts. */
static void collect_parts(const search *s, int number, const lost_triangle *lost, size_t lost_count, size_t capacity,
                          lmi_thin_part *parts, double *areas, size_t *count)
{
  static const double LEAST_AREA = 2.0; /* cells^2: less is the tip of a sharp edge */
  const double cell = s->cell / (double)LMI_FIXED_ONE;
  for (size_t begin = 0, end = 0; begin < lost_count; begin = end) {
    part new = {.thin = {.body = number}};
    for (end = begin; end < lost_count && lost[end].root == lost[begin].root; end++) {
      new.area += lost[end].area;
      widen(&new.thin, s->body, lost[end].triangle, end == begin);
    }
    new.thin.keep = median_thickness(lost + begin, end - begin, new.area);
    new.thin.is_whole = s->voxels->body_counts[number - 1] == 0;
    if (new.area >= LEAST_AREA * cell *cell || new.thin.is_whole)
      insert_part(&new, capacity, parts, areas, count);
  }
}

static lamina_status list_lost(lamina_context *ctx, search *s, lost_triangle **list, size_t *count)
{
  *count = join_lost(s);
  LMI_TRY(LMI_ALLOC(ctx, *count, list));
  size_t next = 0;
  for (size_t i = 0; i < s->body->triangle_count; i++)
    if (s->losses[i].area > 0)
      (*list)[next++] = (lost_triangle){root_of(s->parent, s->body->triangles[i][0]), s->losses[i].thickness,
                                        s->losses[i].area, (uint32_t)i};
  qsort(*list, *count, sizeof **list, compare_lost);
  return LAMINA_OK;
}

typedef struct thin_list {
  size_t capacity, count;
  lmi_thin_part *parts;
  double *areas;
} thin_list;

static lamina_status search_mesh(lamina_context *ctx, const lmi_voxels *voxels, int number, thin_list *list)
{
  search s = {.voxels = voxels, .body = &voxels->geometry->bodies[number - 1]};
  s.centres = lmi_centres_make(&voxels->grid);
  s.cell = (double)s.centres.step[0];
  lost_triangle *lost = NULL;
  size_t lost_count = 0;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, s.body->triangle_count, &s.losses), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, s.body->vertex_count, &s.parent), cleanup);
  const int64_t triangles = (int64_t)s.body->triangle_count;
#pragma omp parallel for num_threads(lamina_context_thread_count(ctx)) schedule(dynamic, 256)
  for (int64_t i = 0; i < triangles; i++)
    s.losses[i] = look_at(&s, (size_t)i);
  LMI_TRY_GOTO(status, list_lost(ctx, &s, &lost, &lost_count), cleanup);
  collect_parts(&s, number, lost, lost_count, list->capacity, list->parts, list->areas, &list->count);

cleanup:
  lmi_free(ctx, lost);
  lmi_free(ctx, s.parent);
  lmi_free(ctx, s.losses);
  return status;
}

/* ---- shapes ---- */

/* The side of the largest cube (in two dimensions, square) with sides along the axes that fits in. */
static double cube_within(const lmi_body *body, bool is_flat)
{
  const double r = lmi_from_fixed(body->radius);
  double least = (double)INFINITY, extent[3];
  for (int a = 0; a < 3; a++) {
    extent[a] = lmi_from_fixed(body->bounds.high[a] - body->bounds.low[a]);
    if (!is_flat || a < 2)
      least = fmin(least, extent[a]);
  }
  if (body->info.kind == LAMINA_BODY_SPHERE)
    return is_flat ? sqrt(2.0) * r : 2 * r / sqrt(3.0);
  if (body->info.kind == LAMINA_BODY_CYLINDER && body->axis < 0)
    return fmin(2 * r / sqrt(3.0), least);
  if (body->info.kind == LAMINA_BODY_CYLINDER && (!is_flat || body->axis == 2))
    return fmin(sqrt(2.0) * r, extent[body->axis]);
  return least;
}

/* Cells that the bounds of a body reach, and whether one of them is solid. */
static bool meets_box(const lmi_voxels *voxels, const lmi_body *body, bool *has_solid)
{
  const lmi_centres centres = lmi_centres_make(&voxels->grid);
  lamina_index begin[3], end[3];
  *has_solid = false;
  for (int a = 0; a < 3; a++) {
    const int64_t box = centres.count[a] * centres.step[a];
    if (body->bounds.high[a] < 0 || body->bounds.low[a] > box)
      return false;
    lmi_centres_range(&centres, a, body->bounds.low[a], body->bounds.high[a], &begin[a], &end[a]);
  }
  for (lamina_index z = begin[2]; z < end[2]; z++)
    for (lamina_index y = begin[1]; y < end[1]; y++)
      for (lamina_index x = begin[0]; x < end[0] && !*has_solid; x++)
        *has_solid = lmi_voxels_is_solid(voxels, (lamina_int3){x, y, z});
  return true;
}

static lamina_status search_body(lamina_context *ctx, const lmi_voxels *voxels, int number, thin_list *list)
{
  const lmi_body *body = &voxels->geometry->bodies[number - 1];
  bool has_solid = voxels->body_counts[number - 1] > 0;
  if (!has_solid && !meets_box(voxels, body, &has_solid))
    return LAMINA_OK;
  if (body->info.kind == LAMINA_BODY_MESH && !voxels->grid.is_flat)
    LMI_TRY(search_mesh(ctx, voxels, number, list));
  else if (!has_solid) {
    const part whole = {.thin = {.body = number,
                                 .low = body->info.low,
                                 .high = body->info.high,
                                 .keep = cube_within(body, voxels->grid.is_flat),
                                 .is_whole = true},
                        .area = body->info.surface};
    insert_part(&whole, list->capacity, list->parts, list->areas, &list->count);
  }
  return LAMINA_OK;
}

lamina_status lmi_geometry_find_thin(lamina_context *ctx, const lmi_voxels *voxels, size_t capacity,
                                     lmi_thin_part *parts, size_t *count)
{
  *count = 0;
  thin_list list = {.capacity = capacity, .parts = parts};
  LMI_TRY(LMI_ALLOC(ctx, capacity, &list.areas));
  lamina_status status = LAMINA_OK;
  for (int number = 1; status == LAMINA_OK && number <= voxels->geometry->count; number++)
    status = search_body(ctx, voxels, number, &list);
  lmi_free(ctx, list.areas);
  *count = list.count;
  return status;
}
