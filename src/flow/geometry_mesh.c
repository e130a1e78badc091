/* SPDX-License-Identifier: Apache-2.0 */
/* A mesh becomes a body: placed, rounded to the grid, corners that meet welded, closed or refused; then measured. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geometry_internal.h"

static lamina_status check_mesh(lamina_context *ctx, const lamina_mesh *mesh, const lamina_pose *placement)
{
  LMI_REQUIRE(ctx, mesh->triangle_count > 0, LAMINA_ERROR_ARGUMENT, "a mesh without triangles");
  LMI_REQUIRE(ctx, mesh->triangle_count < UINT32_MAX / 8 && mesh->vertex_count < UINT32_MAX, LAMINA_ERROR_ARGUMENT,
              "a mesh of %zu triangles; at most %u", mesh->triangle_count, UINT32_MAX / 8 - 1);
  for (size_t i = 0; i < 3 * mesh->triangle_count; i++)
    LMI_REQUIRE(ctx, mesh->triangles[i] < mesh->vertex_count, LAMINA_ERROR_ARGUMENT,
                "triangle %zu names the vertex %u; there are %zu", i / 3, mesh->triangles[i], mesh->vertex_count);
  if (placement == NULL)
    return LAMINA_OK;
  LMI_REQUIRE(ctx, placement->scale > 0 && isfinite(placement->scale), LAMINA_ERROR_ARGUMENT,
              "scale %g; it must be above 0", placement->scale);
  const double sum = placement->rotate.x + placement->rotate.y + placement->rotate.z;
  LMI_REQUIRE(ctx, isfinite(sum), LAMINA_ERROR_ARGUMENT, "the angles of rotate are not finite");
  return LAMINA_OK;
}

/* ---- rounding and welding ---- */

static lamina_status place_vertices(lamina_context *ctx, const lamina_mesh *mesh, const lmi_transform *transform,
                                    lmi_fixed3 *fixed)
{
  for (size_t i = 0; i < mesh->vertex_count; i++) {
    double at[3];
    lmi_transform_apply(transform, &mesh->vertices[3 * i], at);
    for (int a = 0; a < 3; a++)
      LMI_REQUIRE(
        ctx, lmi_to_fixed(at[a], &fixed[i][a]), LAMINA_ERROR_ARGUMENT,
        "vertex %zu of a mesh lies at %g cells along %c; at most 131071 cells from the origin: check scale and "
        "place (STL files have no unit; most are in millimetres: scale 0.001)",
        i, at[a], "xyz"[a]);
  }
  return LAMINA_OK;
}

/* Moves distinct vertices to the front and takes their numbers over. */
static void compact_vertices(const lamina_mesh *mesh, const uint32_t *numbers, lmi_body *body)
{
  size_t next = 0;
  for (size_t i = 0; i < mesh->vertex_count; i++)
    if (numbers[i] == next) {
      memmove(body->vertices[next], body->vertices[i], sizeof(lmi_fixed3));
      next++;
    }
  body->triangle_count = 0;
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    const uint32_t *t = &mesh->triangles[3 * i];
    const uint32_t a = numbers[t[0]], b = numbers[t[1]], c = numbers[t[2]];
    if (a == b || b == c || c == a)
      continue;
    uint32_t *to = body->triangles[body->triangle_count++];
    to[0] = a, to[1] = b, to[2] = c;
  }
}

static lamina_status weld_mesh(lamina_context *ctx, const lamina_mesh *mesh, lmi_body *body)
{
  uint32_t *numbers = NULL;
  LMI_TRY(LMI_ALLOC(ctx, mesh->vertex_count, &numbers));
  lamina_status status = lmi_weld(ctx, body->vertices[0], mesh->vertex_count, numbers, &body->vertex_count);
  if (status == LAMINA_OK)
    compact_vertices(mesh, numbers, body);
  lmi_free(ctx, numbers);
  if (status == LAMINA_OK && body->triangle_count == 0)
    status = lmi_fail(ctx, LAMINA_ERROR_ARGUMENT,
                      "all %zu triangles of a mesh are smaller than 2^-22 of a cell: check scale and unit",
                      mesh->triangle_count);
  return status;
}

/* ---- measuring ---- */

static void bound_mesh(lmi_body *body)
{
  for (int a = 0; a < 3; a++)
    body->bounds.low[a] = body->bounds.high[a] = body->vertices[0][a];
  for (size_t i = 0; i < body->vertex_count; i++)
    for (int a = 0; a < 3; a++) {
      const int64_t x = body->vertices[i][a];
      body->bounds.low[a] = x < body->bounds.low[a] ? x : body->bounds.low[a];
      body->bounds.high[a] = x > body->bounds.high[a] ? x : body->bounds.high[a];
    }
}

/* Corners relative to the lowest corner of the bounds, in cells. */
static void corners_of(const lmi_body *body, size_t triangle, double p[3][3])
{
  for (int k = 0; k < 3; k++)
    for (int a = 0; a < 3; a++)
      p[k][a] = lmi_from_fixed(body->vertices[body->triangles[triangle][k]][a] - body->bounds.low[a]);
}

static void measure(lmi_body *body)
{
  double volume = 0, surface = 0, moment[3] = {0, 0, 0};
  for (size_t i = 0; i < body->triangle_count; i++) {
    double p[3][3], u[3], v[3], n[3];
    corners_of(body, i, p);
    for (int a = 0; a < 3; a++) {
      u[a] = p[1][a] - p[0][a];
      v[a] = p[2][a] - p[0][a];
    }
    for (int a = 0; a < 3; a++)
      n[a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
    const double six = p[0][0] * n[0] + p[0][1] * n[1] + p[0][2] * n[2];
    volume += six / 6.0;
    surface += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int a = 0; a < 3; a++)
      moment[a] += six * (p[0][a] + p[1][a] + p[2][a]) / 24.0;
  }
  lamina_body_info *info = &body->info;
  const lmi_tree_box *b = &body->bounds;
  info->low = (lamina_real3){lmi_from_fixed(b->low[0]), lmi_from_fixed(b->low[1]), lmi_from_fixed(b->low[2])};
  info->high = (lamina_real3){lmi_from_fixed(b->high[0]), lmi_from_fixed(b->high[1]), lmi_from_fixed(b->high[2])};
  info->is_inward = info->is_oriented && volume < 0;
  info->volume = info->is_oriented ? fabs(volume) : (double)NAN;
  info->surface = surface;
  const double c = 1.0 / volume;
  info->centre = (lamina_real3){info->low.x + c * moment[0], info->low.y + c * moment[1], info->low.z + c * moment[2]};
  if (!info->is_oriented || volume == 0.0)
    info->centre = (lamina_real3){0.5 * (info->low.x + info->high.x), 0.5 * (info->low.y + info->high.y),
                                  0.5 * (info->low.z + info->high.z)};
  info->motion.centre = info->centre;
}

/* ---- shells: what hangs together by corners ---- */

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

static lamina_status count_shells(lamina_context *ctx, lmi_body *body)
{
  uint32_t *parent = NULL;
  LMI_TRY(LMI_ALLOC(ctx, body->vertex_count, &parent));
  for (size_t i = 0; i < body->vertex_count; i++)
    parent[i] = (uint32_t)i;
  bool *is_used = NULL;
  lamina_status status = LMI_ALLOC(ctx, body->vertex_count, &is_used);
  for (size_t i = 0; status == LAMINA_OK && i < body->triangle_count; i++)
    for (int k = 0; k < 3; k++) {
      const uint32_t a = root_of(parent, body->triangles[i][k]), b = root_of(parent, body->triangles[i][(k + 1) % 3]);
      is_used[body->triangles[i][k]] = true;
      parent[a > b ? a : b] = a > b ? b : a;
    }
  for (size_t i = 0; status == LAMINA_OK && i < body->vertex_count; i++)
    body->info.shell_count += is_used[i] && parent[i] == i;
  lmi_free(ctx, is_used);
  lmi_free(ctx, parent);
  return status;
}

/* ---- closed or not ---- */

static lamina_status require_closed(lamina_context *ctx, lmi_body *body)
{
  double *vertices = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 3 * body->vertex_count, &vertices));
  for (size_t i = 0; i < 3 * body->vertex_count; i++)
    vertices[i] = lmi_from_fixed(body->vertices[i / 3][i % 3]);
  const lamina_mesh mesh = {vertices, body->vertex_count, body->triangles[0], body->triangle_count};
  lmi_open_edges open;
  lamina_status status = lmi_mesh_find_open_edges(ctx, &mesh, &open, &body->info.is_oriented);
  lmi_free(ctx, vertices);
  char text[256];
  if (status == LAMINA_OK && open.count > 0)
    status = lmi_fail(ctx, LAMINA_ERROR_ARGUMENT,
                      "a mesh that is not closed has no inside: %s (in cells); close it, or read it with repair",
                      lmi_open_edges_describe(&open, sizeof text, text));
  return status;
}

static lamina_status fill_mesh(lamina_context *ctx, const lamina_mesh *mesh, const lamina_pose *placement,
                               lmi_body *body)
{
  const lmi_transform transform = lmi_transform_make(placement);
  LMI_TRY(LMI_ALLOC(ctx, mesh->vertex_count, &body->vertices));
  LMI_TRY(LMI_ALLOC(ctx, mesh->triangle_count, &body->triangles));
  LMI_TRY(place_vertices(ctx, mesh, &transform, body->vertices));
  LMI_TRY(weld_mesh(ctx, mesh, body));
  LMI_TRY(require_closed(ctx, body));
  bound_mesh(body);
  measure(body);
  LMI_TRY(count_shells(ctx, body));
  body->info.kind = LAMINA_BODY_MESH;
  body->info.triangle_count = body->triangle_count;
  return lmi_triangle_tree_build(ctx, body);
}

lamina_status lamina_geometry_add_mesh(lamina_geometry *geometry, const lamina_mesh *mesh, const lamina_pose *placement,
                                       int *number)
{
  lamina_context *ctx = geometry->ctx;
  LMI_TRY(check_mesh(ctx, mesh, placement));
  lmi_body *body = NULL;
  LMI_TRY(lmi_geometry_reserve(geometry, &body));
  const lamina_status status = fill_mesh(ctx, mesh, placement, body);
  if (status != LAMINA_OK) {
    lmi_free(ctx, body->name);
    lmi_free(ctx, body->vertices);
    lmi_free(ctx, body->triangles);
    lmi_free(ctx, body->tree.nodes);
    return status;
  }
  geometry->count++;
  if (number != NULL)
    *number = geometry->count;
  return LAMINA_OK;
}
