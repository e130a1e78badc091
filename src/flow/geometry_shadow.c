/* SPDX-License-Identifier: Apache-2.0 */
/* The area of a body's shadow along an axis. A mesh is drawn on a fine raster; overhangs count once. */
#include <math.h>
#include <string.h>

#include "geometry_internal.h"

enum { RASTER = 1536 }; /* cells along either side of the bounds */

typedef struct shadow {
  int u, v;                /* the axes of the raster */
  double low[2], scale[2]; /* raster cells a fixed unit */
  lamina_index width, height;
  uint8_t *is_dark;
} shadow;

static double edge_side(const double a[2], const double b[2], double x, double y)
{
  return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}

static lamina_index clamp(double x, lamina_index count)
{
  return x < 0 ? 0 : x > (double)count ? count : (lamina_index)x;
}

static void draw(shadow *s, const lmi_body *body, size_t triangle)
{
  double p[3][2];
  for (int k = 0; k < 3; k++) {
    const int64_t *vertex = body->vertices[body->triangles[triangle][k]];
    p[k][0] = ((double)vertex[s->u] - s->low[0]) * s->scale[0];
    p[k][1] = ((double)vertex[s->v] - s->low[1]) * s->scale[1];
  }
  const double facing = edge_side(p[0], p[1], p[2][0], p[2][1]);
  if (facing == 0 || (body->info.is_oriented && facing < 0)) /* front and back have the same outline */
    return;
  const double x_low = fmin(p[0][0], fmin(p[1][0], p[2][0])), x_high = fmax(p[0][0], fmax(p[1][0], p[2][0]));
  const double y_low = fmin(p[0][1], fmin(p[1][1], p[2][1])), y_high = fmax(p[0][1], fmax(p[1][1], p[2][1]));
  const double sign = facing > 0 ? 1 : -1;
  for (lamina_index j = clamp(y_low, s->height); j < clamp(y_high + 1, s->height); j++)
    for (lamina_index i = clamp(x_low, s->width); i < clamp(x_high + 1, s->width); i++) {
      const double x = (double)i + 0.5, y = (double)j + 0.5;
      if (sign * edge_side(p[0], p[1], x, y) >= 0 && sign * edge_side(p[1], p[2], x, y) >= 0 &&
          sign * edge_side(p[2], p[0], x, y) >= 0)
        s->is_dark[j * s->width + i] = 1;
    }
}

static lamina_status mesh_shadow(lamina_context *ctx, const lmi_body *body, int axis, double *area)
{
  shadow s = {.u = (axis + 1) % 3, .v = (axis + 2) % 3};
  const double wide = (double)(body->bounds.high[s.u] - body->bounds.low[s.u]);
  const double high = (double)(body->bounds.high[s.v] - body->bounds.low[s.v]);
  s.low[0] = (double)body->bounds.low[s.u];
  s.low[1] = (double)body->bounds.low[s.v];
  s.scale[0] = RASTER / fmax(1.0, wide);
  s.scale[1] = RASTER / fmax(1.0, high);
  s.width = s.height = RASTER;
  LMI_TRY(LMI_ALLOC(ctx, (size_t)(s.width * s.height), &s.is_dark));
  for (size_t i = 0; i < body->triangle_count; i++)
    draw(&s, body, i);
  lamina_index dark = 0;
  for (lamina_index i = 0; i < s.width * s.height; i++)
    dark += s.is_dark[i];
  lmi_free(ctx, s.is_dark);
  const double one = (double)LMI_FIXED_ONE;
  *area = (double)dark / ((s.scale[0] * one) * (s.scale[1] * one));
  return LAMINA_OK;
}

/* A cylinder shows its mantle as a rectangle and its caps as one ellipse. */
static double cylinder_shadow(const lmi_body *body, int axis, double depth)
{
  static const double PI = 3.14159265358979323846;
  const double r = lmi_from_fixed(body->radius);
  double d[3], square = 0;
  for (int a = 0; a < 3; a++) {
    d[a] = lmi_from_fixed(body->to[a] - body->from[a]);
    square += d[a] * d[a];
  }
  const double along = fabs(d[axis]) / sqrt(square);
  const double length = body->is_endless ? depth : sqrt(square);
  if (body->is_endless && along > 0)
    return along == 1.0 ? PI * r * r : (double)INFINITY;
  return 2 * r * length * sqrt(fmax(0.0, 1 - along * along)) + PI * r * r * along;
}

lamina_status lamina_geometry_shadow(const lamina_geometry *geometry, int number, int axis, double depth, double *area)
{
  *area = 0;
  LMI_REQUIRE(geometry->ctx, number >= 1 && number <= geometry->count && axis >= 0 && axis <= 2, LAMINA_ERROR_ARGUMENT,
              "there is no shadow of body %d along axis %d; bodies 1 to %d, axes 0 to 2", number, axis,
              geometry->count);
  const lmi_body *body = &geometry->bodies[number - 1];
  const lmi_tree_box *b = &body->bounds;
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  const double wide = lmi_from_fixed(b->high[u] - b->low[u]), high = lmi_from_fixed(b->high[v] - b->low[v]);
  switch (body->info.kind) {
  case LAMINA_BODY_MESH: return mesh_shadow(geometry->ctx, body, axis, area);
  case LAMINA_BODY_CYLINDER: *area = cylinder_shadow(body, axis, depth); break;
  case LAMINA_BODY_SPHERE: *area = 0.25 * 3.14159265358979323846 * wide * wide; break;
  case LAMINA_BODY_BOX: *area = wide * high; break;
  }
  return LAMINA_OK;
}
