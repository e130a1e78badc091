/* SPDX-License-Identifier: Apache-2.0 */
/* What `lamina voxelize` says and draws. */
#include <math.h>
#include <string.h>

#include "io/image.h"
#include "voxelize.h"

/* ---- numbers ---- */

/* From cells to metres. */
static lamina_real3 to_metres(const lmi_voxelization *v, lamina_real3 p)
{
  const double h = v->frame.spacing.x;
  const lamina_real3 o = v->frame.origin;
  return (lamina_real3){o.x + h * p.x, o.y + h * p.y, o.z + h * p.z};
}

static double cube(double x)
{
  return x * x * x;
}

static json_t *triple(lamina_real3 p)
{
  return json_pack("[f, f, f]", p.x, p.y, p.z);
}

/* ---- JSON ---- */

static json_t *open_json(const lmi_open_edges *open)
{
  json_t *edges = json_array();
  for (size_t i = 0; i < open->count && i < LMI_COUNT(open->from); i++)
    json_array_append_new(edges, json_pack("[o, o]", triple(open->from[i]), triple(open->to[i])));
  if (open->count == 0)
    return json_pack("{s:I, s:n, s:n, s:o}", "count", (json_int_t)0, "low_m", "high_m", "first_m", edges);
  return json_pack("{s:I, s:o, s:o, s:o}", "count", (json_int_t)open->count, "low_m", triple(open->low), "high_m",
                   triple(open->high), "first_m", edges);
}

static json_t *repair_json(const lmi_stl *stl)
{
  if (!stl->is_repaired)
    return json_null();
  return json_pack("{s:I, s:I, s:I, s:I}", "open_edges_before", (json_int_t)stl->open_before, "facets_added",
                   (json_int_t)stl->facets_added, "facets_removed", (json_int_t)stl->facets_removed, "corners_joined",
                   (json_int_t)stl->vertices_joined);
}

static json_t *thin_json(const lmi_voxelization *v)
{
  json_t *list = json_array();
  const double h = v->frame.spacing.x;
  for (size_t i = 0; i < v->thin_count && i < LMI_MOST_THIN_PARTS; i++) {
    const lmi_thin_part *part = &v->thin[i];
    json_array_append_new(list, json_pack("{s:o, s:o, s:b, s:o}", "low_m", triple(to_metres(v, part->low)), "high_m",
                                          triple(to_metres(v, part->high)), "whole_body", part->is_whole,
                                          "largest_cell_m", lmi_json_number(part->keep * h)));
  }
  return list;
}

static json_t *cells_json(const lmi_voxelization *v)
{
  if (!v->is_voxelized)
    return json_null();
  const double h = v->frame.spacing.x;
  const lamina_int3 n = v->frame.cells;
  return json_pack("{s:[I, I, I], s:o, s:f, s:I, s:I, s:f, s:I, s:o, s:o, s:f}", "box", (json_int_t)n.x,
                   (json_int_t)n.y, (json_int_t)n.z, "origin_m", triple(v->frame.origin), "cell_size_m", h, "solid",
                   (json_int_t)v->voxels.solid_count, "fluid", (json_int_t)(n.x * n.y * n.z - v->voxels.solid_count),
                   "volume_m3", (double)v->voxels.solid_count * cube(h), "thin_part_count", (json_int_t)v->thin_count,
                   "thin_parts", thin_json(v), "mask",
                   v->values->out != NULL ? json_string(v->values->out) : json_null(), "voxelize_seconds",
                   v->voxelize_seconds);
}

static json_t *body_json(const lmi_voxelization *v)
{
  if (!v->is_voxelized)
    return json_null();
  const double h = v->frame.spacing.x;
  return json_pack("{s:o, s:f, s:o, s:[f, f, f], s:I, s:b, s:b}", "volume_m3",
                   lmi_json_number(v->body.volume * cube(h)), "surface_m2", v->body.surface * h * h, "centre_m",
                   triple(to_metres(v, v->body.centre)), "shadow_m2", v->shadows[0], v->shadows[1], v->shadows[2],
                   "shells", (json_int_t)v->body.shell_count, "faced_inward", v->body.is_inward, "is_oriented",
                   v->body.is_oriented);
}

static json_t *report_json(const lmi_voxelization *v)
{
  const lmi_stl *stl = &v->stl;
  return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "file", v->path, "format",
                   stl->is_text ? "text" : "binary", "facets", (json_int_t)stl->facet_count, "solids",
                   (json_int_t)stl->solid_count, "vertices", (json_int_t)stl->mesh.vertex_count, "facets_left_out",
                   (json_int_t)stl->collapsed_count, "low_m", triple(stl->low), "high_m", triple(stl->high),
                   "open_edges", open_json(&stl->open), "repair", repair_json(stl), "body", body_json(v), "cells",
                   cells_json(v), "read_seconds", v->read_seconds);
}

/* ---- text ---- */

static void print_file(const lmi_voxelization *v)
{
  const lmi_stl *stl = &v->stl;
  printf("%s: %s STL, %zu facet%s", v->path, stl->is_text ? "text" : "binary", stl->facet_count,
         stl->facet_count == 1 ? "" : "s");
  if (stl->solid_count > 1)
    printf(" in %zu solids", stl->solid_count);
  printf(", %zu corners\n", stl->mesh.vertex_count);
  if (stl->collapsed_count > 0)
    printf("  %zu facets without area were left out\n", stl->collapsed_count);
  if (stl->trailing_bytes > 0)
    printf("  %zu bytes behind the last facet were left out\n", stl->trailing_bytes);
  if (stl->lacks_end)
    printf("  the last line, endsolid, is missing\n");
  printf("  from (%g, %g, %g) to (%g, %g, %g) m, with %g m a unit of the file\n", stl->low.x, stl->low.y, stl->low.z,
         stl->high.x, stl->high.y, stl->high.z, v->values->scale);
  if (stl->is_repaired)
    printf("  repaired: %zu open edges before, %zu corners joined, %zu facets added, %zu taken out\n", stl->open_before,
           stl->vertices_joined, stl->facets_added, stl->facets_removed);
}

static void print_open(const lmi_open_edges *open)
{
  char text[256];
  if (open->count == 0) {
    printf("  closed: 0 open edges\n");
    return;
  }
  printf("  %s:\n", lmi_open_edges_describe(open, sizeof text, text));
  for (size_t i = 0; i < open->count && i < LMI_COUNT(open->from); i++)
    printf("    (%g, %g, %g) to (%g, %g, %g)\n", open->from[i].x, open->from[i].y, open->from[i].z, open->to[i].x,
           open->to[i].y, open->to[i].z);
  if (open->count > LMI_COUNT(open->from))
    printf("    and %zu more\n", open->count - LMI_COUNT(open->from));
}

static void print_body(const lmi_voxelization *v)
{
  const double h = v->frame.spacing.x;
  if (v->body.is_oriented)
    printf("  volume %.6g m3, ", v->body.volume * cube(h));
  else
    printf("  volume not known (see below), ");
  printf("surface %.6g m2, shadow along x, y, z %.5g, %.5g, %.5g m2\n", v->body.surface * h * h, v->shadows[0],
         v->shadows[1], v->shadows[2]);
  if (v->body.shell_count > 1)
    printf("  %zu shells: overlapping ones are united, one turned inward inside another is a cavity\n",
           v->body.shell_count);
  if (v->body.is_inward)
    printf("  the facets face inward; taken as if they faced outward\n");
  if (!v->body.is_oriented)
    printf("  neighbouring facets do not agree on where outside is; inside was found by counting crossings\n");
}

static void print_thin(const lmi_voxelization *v)
{
  const double h = v->frame.spacing.x;
  for (size_t i = 0; i < v->thin_count && i < LMI_MOST_THIN_PARTS; i++) {
    const lmi_thin_part *part = &v->thin[i];
    const lamina_real3 low = to_metres(v, part->low), high = to_metres(v, part->high);
    printf("  warning: %s from (%g, %g, %g) to (%g, %g, %g) m has no cell",
           part->is_whole ? "the whole body" : "a thin part", low.x, low.y, low.z, high.x, high.y, high.z);
    if (isfinite(part->keep))
      printf("; cells of %.3g m or less would keep it\n", part->keep * h);
    else
      printf("; smaller cells would keep it\n");
  }
  if (v->thin_count > LMI_MOST_THIN_PARTS)
    printf("  and %zu more thin parts without a cell\n", v->thin_count - LMI_MOST_THIN_PARTS);
}

static void print_cells(const lmi_voxelization *v)
{
  const double h = v->frame.spacing.x, volume = v->body.volume * cube(h);
  const double solid = (double)v->voxels.solid_count * cube(h);
  const lamina_int3 n = v->frame.cells;
  printf("  %lld solid cells of %g m in a box of %lld x %lld x %lld: %.6g m3", (long long)v->voxels.solid_count, h,
         (long long)n.x, (long long)n.y, (long long)n.z, solid);
  if (volume > 0)
    printf(", %+.2f %% against the mesh", 100 * (solid - volume) / volume);
  printf("\n");
  print_thin(v);
  if (v->values->out != NULL)
    printf("  wrote %s\n", v->values->out);
  if (v->values->preview != NULL)
    printf("  wrote %s\n", v->values->preview);
}

lamina_status lmi_voxelize_print(const lmi_voxelization *v)
{
  if (v->values->json)
    return lmi_print_json(v->call, report_json(v));
  print_file(v);
  print_open(&v->stl.open);
  if (v->is_voxelized) {
    print_body(v);
    print_cells(v);
  }
  return LAMINA_OK;
}

/* ---- the picture ---- */

static lamina_index count_along(const lmi_voxels *voxels, int axis, lamina_index u, lamina_index v)
{
  const lamina_index counts[3] = {voxels->grid.cells.x, voxels->grid.cells.y, voxels->grid.cells.z};
  lamina_index at[3], solid = 0;
  at[axis == 0 ? 1 : 0] = u;
  at[axis == 2 ? 1 : 2] = v;
  for (at[axis] = 0; at[axis] < counts[axis]; at[axis]++)
    solid += lmi_voxels_is_solid(voxels, (lamina_int3){at[0], at[1], at[2]});
  return solid;
}

lamina_status lmi_voxelize_preview(const lmi_voxelization *v)
{
  const int axis = v->values->axis;
  const lamina_index counts[3] = {v->frame.cells.x, v->frame.cells.y, v->frame.cells.z};
  const lamina_index width = counts[axis == 0 ? 1 : 0], height = counts[axis == 2 ? 1 : 2];
  double *depth = NULL;
  LMI_TRY(LMI_ALLOC(v->ctx, (size_t)(width * height), &depth));
  for (lamina_index i = 0; i < width * height; i++) {
    const lamina_index solid = count_along(&v->voxels, axis, i % width, i / width);
    depth[i] = solid > 0 ? (double)solid * v->frame.spacing.x : (double)NAN;
  }
  char title[128];
  snprintf(title, sizeof title, "solid cells along %c, %lld in all", "xyz"[axis], (long long)v -> voxels.solid_count);
  lmi_image_options look = lmi_image_options_default();
  look.title = title;
  look.unit = "m";
  const lmi_image_data data = {.width = width, .height = height, .values = depth};
  const lamina_status status = lmi_image_write(v->ctx, v->values->preview, &data, &look, NULL);
  lmi_free(v->ctx, depth);
  return status;
}
