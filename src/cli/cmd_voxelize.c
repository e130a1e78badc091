/* SPDX-License-Identifier: Apache-2.0 */
/* lamina voxelize: an STL file, checked and turned into cells. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "io/mask_file.h"
#include "voxelize.h"

static const struct voxelize_values defaults = {.scale = 1.0, .axis = 2};

static const char *const axes[] = {"x", "y", "z", NULL};

static const lmi_option options[] = {
  LMI_OPTION_INTEGER(struct voxelize_values, cells, "cells", "N", 1, 131000,
                     "cells along the longest side of the body (default: 64)"),
  LMI_OPTION_NUMBER(struct voxelize_values, spacing, "spacing", "METRES", 1e-12, 1e12,
                    "size of a cell instead; cell faces then lie on its multiples"),
  LMI_OPTION_NUMBER(struct voxelize_values, scale, "scale", "FACTOR", 1e-12, 1e12,
                    "metres a unit of the file: 0.001 for millimetres (default: 1)"),
  LMI_OPTION_TEXT(struct voxelize_values, rotate, "rotate", "X,Y,Z", "degrees about x, then y, then z"),
  LMI_OPTION_FLAG(struct voxelize_values, repair, "repair", "close holes and take out stray triangles first"),
  LMI_OPTION_TEXT(struct voxelize_values, out, "out", "FILE",
                  "write the cells as FILE.vti or FILE.vtkhdf for ParaView"),
  LMI_OPTION_TEXT(struct voxelize_values, preview, "preview", "FILE.png", "draw the body as its cells show it"),
  LMI_OPTION_CHOICE(struct voxelize_values, axis, "axis", axes, "direction of view of the preview (default: z)"),
  LMI_OPTION_INTEGER(struct voxelize_values, threads, "threads", "N", 1, 4096, "worker threads (default: all usable)"),
  LMI_OPTION_FLAG(struct voxelize_values, quiet, "quiet", "no progress row"),
  LMI_OPTION_FLAG(struct voxelize_values, json, "json", "print one JSON object"),
  {0}};

static const char *const examples[] = {"lamina voxelize car.stl --scale 0.001 --cells 200 --preview car.png",
                                       "a car in millimetres, its length in 200 cells, with a picture",
                                       "lamina voxelize part.stl --spacing 0.5 --out part.vti",
                                       "cells of half a unit, as a mask that overlays the STL in ParaView",
                                       "lamina voxelize scan.stl --repair",
                                       "closes holes first",
                                       NULL};

/* ---- progress ---- */

static void show(const lmi_voxelization *v, const char *what, double share)
{
  if (v->values->quiet || isatty(STDERR_FILENO) != 1)
    return;
  fprintf(stderr, "\r%s", what);
  if (share > 0)
    fprintf(stderr, " %3.0f %%", 100 * share);
  fprintf(stderr, "\033[K");
  fflush(stderr);
}

static void show_share(void *user, double share)
{
  const lmi_voxelization *v = user;
  char text[64];
  snprintf(text, sizeof text, "voxelizing %zu triangles", v->stl.mesh.triangle_count);
  show(v, text, share);
}

static void clear_row(const lmi_voxelization *v)
{
  if (!v->values->quiet && isatty(STDERR_FILENO) == 1)
    fprintf(stderr, "\r\033[K");
}

/* ---- the box ---- */

static lamina_status parse_angles(const lmi_voxelization *v, lamina_real3 *rotate)
{
  const char *text = v->values->rotate;
  double angles[3] = {0, 0, 0};
  const char *at = text;
  for (int a = 0; text != NULL && a < 3; a++) {
    const size_t length = strcspn(at, ",");
    char number[64] = "";
    if (length < sizeof number)
      memcpy(number, at, length);
    const bool is_last = at[length] == '\0';
    if (!lmi_parse_double(number, &angles[a]) || is_last != (a == 2))
      return lmi_fail(v->ctx, LAMINA_ERROR_ARGUMENT, "--rotate %s: three angles in degrees are needed, as in 90,0,45",
                      text);
    at += length + (is_last ? 0 : 1);
  }
  *rotate = (lamina_real3){angles[0], angles[1], angles[2]};
  return LAMINA_OK;
}

/* Cells left free around the body, so that its surface shows all around. */
enum { MARGIN = 2 };

static lamina_status lay_box(lmi_voxelization *v)
{
  const double low[3] = {v->stl.low.x, v->stl.low.y, v->stl.low.z};
  const double high[3] = {v->stl.high.x, v->stl.high.y, v->stl.high.z};
  const double longest = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
  const bool is_given = v->values->spacing > 0;
  const double h = is_given ? v->values->spacing : longest / (double)(v->values->cells > 0 ? v->values->cells : 64);
  double origin[3], counts[3];
  for (int a = 0; a < 3; a++) {
    const double extent = high[a] - low[a];
    counts[a] = is_given ? ceil(high[a] / h) - floor(low[a] / h) : fmax(1.0, ceil(extent / h - 1e-6));
    origin[a] = is_given ? floor(low[a] / h) * h : 0.5 * (low[a] + high[a] - counts[a] * h);
    counts[a] += 2 * MARGIN;
    origin[a] -= MARGIN * h;
    LMI_REQUIRE(v->ctx, counts[a] <= 131071, LAMINA_ERROR_ARGUMENT,
                "cells of %g m make %.4g of them along %c, at most 131071; take larger ones (the body is %g m long)", h,
                counts[a], "xyz"[a], longest);
  }
  LMI_REQUIRE(v->ctx, counts[0] * counts[1] * counts[2] < 1e12, LAMINA_ERROR_ARGUMENT,
              "cells of %g m make %.3g of them; at most 1e12: take larger ones", h, counts[0] * counts[1] * counts[2]);
  v->frame = (lmi_field_frame){
    .cells = {(lamina_index)counts[0], (lamina_index)counts[1], (lamina_index)counts[2]},
    .origin = {origin[0], origin[1], origin[2]},
    .spacing = {h, h, h},
  };
  return LAMINA_OK;
}

/* ---- the work ---- */

static lamina_status read_stl(lmi_voxelization *v)
{
  lamina_pose placement = lamina_pose_default();
  placement.scale = v->values->scale;
  LMI_TRY(parse_angles(v, &placement.rotate));
  if (v->values->out != NULL)
    LMI_TRY(lmi_mask_file_check_name(v->ctx, v->values->out));
  show(v, "reading", 0);
  const double start = lmi_clock_seconds();
  LMI_TRY(lmi_input_status(lmi_stl_read(v->ctx, v->path, v->values->repair, &v->stl)));
  v->read_seconds = lmi_clock_seconds() - start;
  lmi_stl_place(&v->stl, &placement);
  return lay_box(v);
}

static lamina_status make_body(lmi_voxelization *v)
{
  const double h = v->frame.spacing.x;
  const lamina_real3 o = v->frame.origin;
  const lamina_pose to_cells = {.scale = 1.0 / h, .at = {-o.x / h, -o.y / h, -o.z / h}};
  LMI_TRY(lamina_geometry_create(v->ctx, &v->geometry));
  LMI_TRY(lamina_geometry_add_mesh(v->geometry, &v->stl.mesh, &to_cells, NULL));
  if (!lamina_geometry_get_body(v->geometry, 1, &v->body))
    return lmi_fail(v->ctx, LAMINA_ERROR_ARGUMENT, "%s gave no body", v->path);
  for (int axis = 0; axis < 3; axis++) {
    LMI_TRY(lamina_geometry_shadow(v->geometry, 1, axis, 0, &v->shadows[axis]));
    v->shadows[axis] *= h * h;
  }
  return LAMINA_OK;
}

static lamina_status voxelize(lmi_voxelization *v)
{
  const lmi_voxel_grid grid = {.cells = v->frame.cells};
  const lmi_voxelize_options how = {.progress = show_share, .progress_user = v};
  const double start = lmi_clock_seconds();
  show_share(v, 0);
  LMI_TRY(make_body(v));
  LMI_TRY(lmi_geometry_voxelize(v->ctx, v->geometry, &grid, &how, &v->voxels));
  v->voxelize_seconds = lmi_clock_seconds() - start;
  v->is_voxelized = true;
  show(v, "looking for thin parts", 0);
  return lmi_geometry_find_thin(v->ctx, &v->voxels, LMI_MOST_THIN_PARTS, v->thin, &v->thin_count);
}

static lamina_status write_files(const lmi_voxelization *v)
{
  if (v->values->out != NULL)
    LMI_TRY(lmi_mask_file_write(v->ctx, v->values->out, &v->voxels, &v->frame));
  return v->values->preview != NULL ? lmi_voxelize_preview(v) : LAMINA_OK;
}

/* An open mesh is described as far as it goes, and then refused. */
static lamina_status work(lmi_voxelization *v)
{
  LMI_TRY(read_stl(v));
  const bool is_closed = v->stl.open.count == 0;
  lamina_status status = is_closed ? voxelize(v) : LAMINA_OK;
  if (status == LAMINA_OK && is_closed)
    status = write_files(v);
  clear_row(v);
  LMI_TRY(status);
  LMI_TRY(lmi_voxelize_print(v));
  return lmi_stl_require_closed(v->ctx, v->path, &v->stl);
}

static lamina_status voxelize_run(lmi_call *call)
{
  const struct voxelize_values *values = call->values;
  if (values->cells > 0 && values->spacing > 0)
    return lmi_usage_error(call, "--cells and --spacing both give the size of a cell; keep one");
  LMI_TRY(lmi_call_open(call, (int)values->threads));
  lmi_voxelization v = {.call = call, .ctx = call->ctx, .values = values, .path = call->arguments[0]};
  const lamina_status status = work(&v);
  if (status != LAMINA_OK)
    clear_row(&v);
  lmi_voxels_free(v.ctx, &v.voxels);
  lamina_geometry_destroy(v.geometry);
  lmi_stl_free(v.ctx, &v.stl);
  return status;
}

const lmi_command lmi_command_voxelize = {
  .name = "voxelize",
  .summary = "checks an STL file and turns it into cells",
  .group = LMI_GROUP_SIMULATE,
  .arguments = "FILE.stl",
  .least = 1,
  .most = 1,
  .options = options,
  LMI_VALUES(defaults),
  .description = "Reads any dialect of STL, binary or text, says where the mesh is open, what it measures,\n"
                 "how many cells it takes and which thin parts no cell shows. A cell is solid when its\n"
                 "centre lies inside the body or on its surface. The exit code is 3 when the file is\n"
                 "damaged or the mesh is not closed. docs/user/bodies.md has more.",
  .examples = examples,
  .run = voxelize_run,
};
