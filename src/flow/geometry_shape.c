/* SPDX-License-Identifier: Apache-2.0 */
/* Spheres, cylinders and boxes: which centres they hold, and where a way first meets them. Inside is decided in
 * integers; only cylinders along no axis are decided in doubles, summed by size so that a turned one gives the turned
 * cells. */
#include <math.h>

#include "geometry_internal.h"

/* ---- inside ---- */

static lmi_wide square(int64_t x)
{
  return (lmi_wide)x * x;
}

/* a + b + c, the smallest first: the same for any order of the three. */
static double sum_by_size(double a, double b, double c)
{
  double v[3] = {a, b, c};
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < 2; i++)
      if (fabs(v[i]) > fabs(v[i + 1])) {
        const double swap = v[i];
        v[i] = v[i + 1];
        v[i + 1] = swap;
      }
  return v[0] + v[1] + v[2];
}

static bool tilted_holds(const lmi_body *body, const lmi_fixed3 point)
{
  double q[3], d[3], c[3];
  for (int a = 0; a < 3; a++) {
    q[a] = lmi_from_fixed(point[a] - body->from[a]);
    d[a] = lmi_from_fixed(body->to[a] - body->from[a]);
  }
  for (int a = 0; a < 3; a++)
    c[a] = q[(a + 1) % 3] * d[(a + 2) % 3] - q[(a + 2) % 3] * d[(a + 1) % 3];
  const double length2 = sum_by_size(d[0] * d[0], d[1] * d[1], d[2] * d[2]);
  const double along = sum_by_size(q[0] * d[0], q[1] * d[1], q[2] * d[2]);
  const double aside = sum_by_size(c[0] * c[0], c[1] * c[1], c[2] * c[2]);
  const double r = lmi_from_fixed(body->radius);
  return (body->is_endless || (along >= 0 && along <= length2)) && aside <= r * r * length2;
}

static bool shape_holds(const lmi_body *body, const lmi_fixed3 point)
{
  for (int a = 0; a < 3; a++)
    if (point[a] < body->bounds.low[a] || point[a] > body->bounds.high[a])
      return false;
  if (body->info.kind == LAMINA_BODY_BOX)
    return true;
  if (body->info.kind == LAMINA_BODY_CYLINDER && body->axis < 0)
    return tilted_holds(body, point);
  lmi_wide sum = 0;
  for (int a = 0; a < 3; a++)
    if (a != body->axis)
      sum += square(point[a] - body->from[a]);
  return sum <= square(body->radius);
}

static uint64_t shape_word(const lmi_body *body, const lmi_mask *mask, const lamina_index block[3])
{
  const lmi_centres *centres = &mask->centres;
  uint64_t word = 0;
  for (int bit = 0; bit < 64; bit++) {
    const lamina_index cell[3] = {4 * block[0] + (bit & 3), 4 * block[1] + (bit >> 2 & 3), 4 * block[2] + (bit >> 4)};
    lmi_fixed3 point;
    bool is_inside = true;
    for (int a = 0; a < 3; a++) {
      point[a] = centres->first[a] + cell[a] * centres->step[a];
      is_inside = is_inside && cell[a] < centres->count[a];
    }
    if (is_inside && shape_holds(body, point))
      word |= (uint64_t)1 << bit;
  }
  return word;
}

void lmi_mask_shape(lamina_context *ctx, const lmi_body *body, const lmi_mask *mask)
{
  const lamina_index rows = mask->count[1] * mask->count[2];
#pragma omp parallel for num_threads(lamina_context_thread_count(ctx)) schedule(dynamic, 4)
  for (lamina_index row = 0; row < rows; row++)
    for (lamina_index x = 0; x < mask->count[0]; x++) {
      const lamina_index block[3] = {mask->first[0] + x, mask->first[1] + row % mask->count[1],
                                     mask->first[2] + row / mask->count[1]};
      *lmi_mask_word(mask, block) = shape_word(body, mask, block);
    }
}

/* ---- first hit ---- */

/* The least of two roots of a t^2 + 2 b t + c = 0 that lies in (0, most]; written without cancellation. */
static bool first_root(double a, double b, double c, double most, double *part)
{
  const double discriminant = b * b - a * c;
  if (a == 0 || discriminant < 0)
    return false;
  const double q = -(b + copysign(sqrt(discriminant), b));
  const double t1 = q / a, t2 = q != 0 ? c / q : t1;
  const double low = fmin(t1, t2), high = fmax(t1, t2);
  *part = low > 0 ? low : high;
  return *part > 0 && *part <= most;
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool hit_sphere(const lmi_body *body, const double q[3], const double w[3], double most, double *part)
{
  const double r = lmi_from_fixed(body->radius);
  return first_root(dot(w, w), dot(q, w), dot(q, q) - r * r, most, part);
}

/* The caps and the mantle apart; the nearest counts. `q` is the start relative to `from`. */
static bool hit_cylinder(const lmi_body *body, const double q[3], const double w[3], double most, double *part)
{
  double d[3];
  for (int a = 0; a < 3; a++)
    d[a] = lmi_from_fixed(body->to[a] - body->from[a]);
  const double length2 = dot(d, d), qd = dot(q, d) / length2, wd = dot(w, d) / length2;
  const double r = lmi_from_fixed(body->radius);
  double qa[3], wa[3]; /* what is normal to the axis */
  for (int a = 0; a < 3; a++) {
    qa[a] = a == body->axis ? 0 : q[a] - qd * d[a];
    wa[a] = a == body->axis ? 0 : w[a] - wd * d[a];
  }
  bool is_hit = first_root(dot(wa, wa), dot(qa, wa), dot(qa, qa) - r * r, most, part);
  if (body->is_endless)
    return is_hit;
  is_hit = is_hit && qd + *part * wd >= 0 && qd + *part * wd <= 1;
  for (int cap = 0; cap < 2 && wd != 0; cap++) {
    const double t = (cap - qd) / wd;
    double square_aside = 0;
    for (int a = 0; a < 3; a++)
      square_aside += (qa[a] + t * wa[a]) * (qa[a] + t * wa[a]);
    if (t > 0 && t <= most && square_aside <= r * r && (!is_hit || t < *part)) {
      *part = t;
      is_hit = true;
    }
  }
  return is_hit;
}

/* Where the way enters the last of the three slabs, if that is before it leaves the first. */
static bool hit_box(const lmi_body *body, const lmi_fixed3 start, const lmi_fixed3 way, double most, double *part)
{
  double enter = 0, leave = most;
  for (int a = 0; a < 3; a++) {
    const double low = (double)(body->bounds.low[a] - start[a]), high = (double)(body->bounds.high[a] - start[a]);
    if (way[a] == 0 && (low > 0 || high < 0))
      return false;
    if (way[a] == 0)
      continue;
    const double t1 = low / (double)way[a], t2 = high / (double)way[a];
    enter = fmax(enter, fmin(t1, t2));
    leave = fmin(leave, fmax(t1, t2));
  }
  *part = enter > 0 ? enter : leave;
  return enter <= leave && *part > 0 && *part <= most;
}

/* ---- triangles ---- */

typedef struct ray {
  const lmi_body *body;
  const int64_t *start;
  double way[3], most, part;
  bool is_hit;
} ray;

static void cross(const double a[3], const double b[3], double c[3])
{
  for (int k = 0; k < 3; k++)
    c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Keeps the nearest hit. Edges are given a hair of width, so that a way through an edge misses neither triangle. */
static bool meet_triangle(void *user, size_t triangle)
{
  static const double HAIR = 1e-9;
  ray *r = user;
  double p[3][3], u[3], v[3], n[3], c[3], volumes[3];
  for (int k = 0; k < 3; k++)
    for (int a = 0; a < 3; a++)
      p[k][a] = lmi_from_fixed(r->body->vertices[r->body->triangles[triangle][k]][a] - r->start[a]);
  for (int a = 0; a < 3; a++) {
    u[a] = p[1][a] - p[0][a];
    v[a] = p[2][a] - p[0][a];
  }
  cross(u, v, n);
  const double facing = dot(n, r->way);
  if (facing == 0)
    return true;
  const double t = dot(n, p[0]) / facing;
  if (!(t > 0 && t <= r->most) || (r->is_hit && t >= r->part))
    return true;
  for (int k = 0; k < 3; k++) {
    cross(p[k], p[(k + 1) % 3], c);
    volumes[k] = dot(c, r->way);
  }
  const double hair = HAIR * (fabs(volumes[0]) + fabs(volumes[1]) + fabs(volumes[2]));
  const double sign = facing > 0 ? 1 : -1;
  if (sign * volumes[0] < -hair || sign * volumes[1] < -hair || sign * volumes[2] < -hair)
    return true;
  r->part = t;
  r->is_hit = true;
  return true;
}

static bool hit_mesh(const lmi_body *body, const lmi_fixed3 start, const lmi_fixed3 way, double most, double *part)
{
  ray r = {.body = body, .start = start, .most = most};
  lmi_tree_box box;
  for (int a = 0; a < 3; a++) {
    const int64_t end = start[a] + (int64_t)ceil(most * (double)way[a]), other = start[a];
    box.low[a] = (end < other ? end : other) - 1;
    box.high[a] = (end > other ? end : other) + 1;
    r.way[a] = lmi_from_fixed(way[a]);
  }
  lmi_triangle_tree_visit(body, &box, meet_triangle, &r);
  *part = r.part;
  return r.is_hit;
}

bool lmi_body_first_hit(const lmi_body *body, const lmi_fixed3 start, const lmi_fixed3 way, double most, double *part)
{
  *part = 0;
  for (int a = 0; a < 3; a++) {
    const int64_t end = start[a] + (int64_t)(most * (double)way[a]);
    const int64_t low = (end < start[a] ? end : start[a]) - 1, high = (end > start[a] ? end : start[a]) + 1;
    if (high < body->bounds.low[a] || low > body->bounds.high[a])
      return false;
  }
  if (body->info.kind == LAMINA_BODY_MESH)
    return hit_mesh(body, start, way, most, part);
  if (body->info.kind == LAMINA_BODY_BOX)
    return hit_box(body, start, way, most, part);
  double q[3], w[3];
  for (int a = 0; a < 3; a++) {
    q[a] = lmi_from_fixed(start[a] - body->from[a]);
    w[a] = lmi_from_fixed(way[a]);
  }
  return body->info.kind == LAMINA_BODY_SPHERE ? hit_sphere(body, q, w, most, part)
                                               : hit_cylinder(body, q, w, most, part);
}
