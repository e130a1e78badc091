/* SPDX-License-Identifier: Apache-2.0 */
#include "mask_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "safe_file.h"

static bool ends_in(const char *path, const char *ending)
{
  const size_t length = strlen(path), end = strlen(ending);
  return length > end && strcmp(path + length - end, ending) == 0;
}

lamina_status lmi_mask_file_check_name(lamina_context *ctx, const char *path)
{
  LMI_REQUIRE(ctx, ends_in(path, ".vti") || ends_in(path, ".vtkhdf"), LAMINA_ERROR_ARGUMENT,
              "the mask '%s' ends neither in .vti nor in .vtkhdf; give it one of these names", path);
  return LAMINA_OK;
}

/* ---- XML ImageData ---- */

static lamina_status append_head(lamina_context *ctx, lmi_text *head, const lmi_field_frame *frame, bool is_wide)
{
  char numbers[6][32], extent[96];
  snprintf(extent, sizeof extent, "0 %" PRId64 " 0 %" PRId64 " 0 %" PRId64, frame->cells.x, frame->cells.y,
           frame->cells.z);
  return lmi_text_append(
    ctx, head,
    "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n"
    "<ImageData WholeExtent=\"%s\" Origin=\"%s %s %s\" Spacing=\"%s %s %s\">\n<Piece Extent=\"%s\">\n"
    "<CellData Scalars=\"body\">\n<DataArray type=\"%s\" Name=\"body\" format=\"appended\" offset=\"0\"/>\n"
    "</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_",
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "LittleEndian" : "BigEndian", extent,
    lmi_format_double(frame->origin.x, numbers[0]), lmi_format_double(frame->origin.y, numbers[1]),
    lmi_format_double(frame->origin.z, numbers[2]), lmi_format_double(frame->spacing.x, numbers[3]),
    lmi_format_double(frame->spacing.y, numbers[4]), lmi_format_double(frame->spacing.z, numbers[5]), extent,
    is_wide ? "UInt16" : "UInt8");
}

/* One plane as bytes, or as pairs of bytes. */
static void fill_plane(const lmi_voxels *voxels, lamina_index z, bool is_wide, void *plane)
{
  const lamina_int3 cells = voxels->grid.cells;
  uint8_t *narrow = plane;
  uint16_t *wide = plane;
  for (lamina_index y = 0; y < cells.y; y++)
    for (lamina_index x = 0; x < cells.x; x++) {
      const int body = lmi_voxels_body(voxels, (lamina_int3){x, y, z});
      if (is_wide)
        wide[y * cells.x + x] = (uint16_t)body;
      else
        narrow[y * cells.x + x] = (uint8_t)body;
    }
}

static lamina_status write_planes(const lmi_safe_file *out, const lmi_voxels *voxels, bool is_wide, void *plane)
{
  static const char TAIL[] = "\n</AppendedData>\n</VTKFile>\n";
  const lamina_int3 cells = voxels->grid.cells;
  const size_t plane_bytes = (size_t)(cells.x * cells.y) * (is_wide ? 2 : 1);
  const uint64_t bytes = (uint64_t)plane_bytes * (uint64_t)cells.z;
  LMI_TRY(lmi_safe_file_write(out, &bytes, sizeof bytes));
  for (lamina_index z = 0; z < cells.z; z++) {
    fill_plane(voxels, z, is_wide, plane);
    LMI_TRY(lmi_safe_file_write(out, plane, plane_bytes));
  }
  return lmi_safe_file_write(out, TAIL, sizeof TAIL - 1);
}

static lamina_status write_vti(lamina_context *ctx, const char *path, const lmi_voxels *voxels,
                               const lmi_field_frame *frame)
{
  const bool is_wide = lamina_geometry_body_count(voxels->geometry) > 255;
  lmi_text head = {0};
  lmi_safe_file out = {.ctx = ctx, .descriptor = -1};
  uint16_t *plane = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, append_head(ctx, &head, frame, is_wide), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)(frame->cells.x * frame->cells.y), &plane), cleanup);
  LMI_TRY_GOTO(status, lmi_safe_file_create(ctx, path, &out), cleanup);
  LMI_TRY_GOTO(status, lmi_safe_file_write(&out, head.data, head.length), cleanup);
  LMI_TRY_GOTO(status, write_planes(&out, voxels, is_wide, plane), cleanup);
  LMI_TRY_GOTO(status, lmi_safe_file_commit(&out), cleanup);

cleanup:
  lmi_safe_file_discard(&out);
  lmi_free(ctx, plane);
  lmi_text_free(ctx, &head);
  return status;
}

/* ---- VTKHDF ---- */

static lamina_status write_fields(lmi_field_writer *writer, const lmi_voxels *voxels, double *plane)
{
  const lamina_int3 cells = voxels->grid.cells;
  for (lamina_index z = 0; z < cells.z; z++) {
    for (lamina_index i = 0; i < cells.x * cells.y; i++)
      plane[i] = lmi_voxels_body(voxels, (lamina_int3){i % cells.x, i / cells.x, z});
    LMI_TRY(lmi_field_writer_plane(writer, 0, z, (const double *const[]){plane}));
  }
  return lmi_field_writer_finish(writer);
}

static lamina_status write_vtkhdf(lamina_context *ctx, const char *path, const lmi_voxels *voxels,
                                  const lmi_field_frame *frame)
{
  const lmi_field_array array = {.name = "body", .unit = "", .components = 1, .precision = LAMINA_F32};
  const lmi_field_content content = {.frame = *frame, .arrays = &array, .array_count = 1};
  lmi_field_writer *writer = NULL;
  double *plane = NULL;
  LMI_TRY(LMI_ALLOC(ctx, (size_t)(frame->cells.x * frame->cells.y), &plane));
  lamina_status status = lmi_field_writer_create(ctx, path, &content, &writer);
  if (status == LAMINA_OK)
    status = write_fields(writer, voxels, plane);
  lmi_field_writer_destroy(writer);
  lmi_free(ctx, plane);
  return status;
}

lamina_status lmi_mask_file_write(lamina_context *ctx, const char *path, const lmi_voxels *voxels,
                                  const lmi_field_frame *frame)
{
  LMI_TRY(lmi_mask_file_check_name(ctx, path));
  return ends_in(path, ".vti") ? write_vti(ctx, path, voxels, frame) : write_vtkhdf(ctx, path, voxels, frame);
}
