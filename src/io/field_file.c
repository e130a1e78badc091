/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of the file (VTKHDF 1.0, and what h5py users look for):
 *
 *   /VTKHDF            attributes Version, Type = "ImageData", WholeExtent, Origin, Spacing, Direction
 *   /VTKHDF/CellData/NAME    z, y, x[, component]; attribute unit
 *   /lamina            attributes step, time_s, arrays (names, one a line), attributes (names)
 *   /lamina/attributes       the caller's texts
 *
 * WholeExtent counts points: 0..cells. A field of one plane still has two layers of points, so it is a slab one cell
 * thick. */
#include "field_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "field_format.h"
#include "hdf5_store.h"

struct lmi_field_writer {
  lamina_context *ctx;
  lmi_store *store;
  lamina_int3 cells;
  size_t array_count;
  int components[LMI_FIELD_MAX_ARRAYS];
  lamina_precision precision[LMI_FIELD_MAX_ARRAYS];
  void *plane; /* one plane of the largest array, as it stands in the file */
};

/* Names become links of the file and lines of a list. */
static bool is_usable_name(const char *name)
{
  return name != NULL && name[0] != '\0' && name[0] != '.' && strlen(name) <= LMI_FIELD_NAME_BYTES &&
         strpbrk(name, "/\n") == NULL;
}

static lamina_status check_arrays(lamina_context *ctx, const lmi_field_content *content)
{
  LMI_REQUIRE(ctx, content->array_count >= 1 && content->array_count <= LMI_FIELD_MAX_ARRAYS, LAMINA_ERROR_ARGUMENT,
              "%zu fields in one file (1 to %d are possible)", content->array_count, (int)LMI_FIELD_MAX_ARRAYS);
  for (size_t i = 0; i < content->array_count; i++) {
    const lmi_field_array *array = &content->arrays[i];
    LMI_REQUIRE(ctx, is_usable_name(array->name), LAMINA_ERROR_ARGUMENT,
                "a field cannot be named \"%s\": 1 to %d letters without a slash or line end, no point in front",
                array->name != NULL ? array->name : "", (int)LMI_FIELD_NAME_BYTES);
    LMI_REQUIRE(ctx, array->components == 1 || array->components == 3, LAMINA_ERROR_ARGUMENT,
                "field %s has %d components (1 or 3 are possible)", array->name, array->components);
    for (size_t j = 0; j < i; j++)
      LMI_REQUIRE(ctx, strcmp(array->name, content->arrays[j].name) != 0, LAMINA_ERROR_ARGUMENT,
                  "two fields are named %s", array->name);
  }
  for (size_t i = 0; i < content->attribute_count; i++)
    LMI_REQUIRE(ctx, is_usable_name(content->attributes[i].name), LAMINA_ERROR_ARGUMENT,
                "an attribute cannot be named \"%s\"",
                content->attributes[i].name != NULL ? content->attributes[i].name : "");
  return LAMINA_OK;
}

static lamina_status check_frame(lamina_context *ctx, const lmi_field_frame *frame)
{
  const lamina_int3 cells = frame->cells;
  LMI_REQUIRE(ctx,
              cells.x >= 1 && cells.y >= 1 && cells.z >= 1 && cells.x < INT32_MAX && cells.y < INT32_MAX &&
                cells.z < INT32_MAX,
              LAMINA_ERROR_ARGUMENT,
              "a field of %" PRId64 " x %" PRId64 " x %" PRId64 " cells cannot be written (1 to 2^31 - 2 each)",
              cells.x, cells.y, cells.z);
  const lamina_real3 spacing = frame->spacing;
  LMI_REQUIRE(ctx, spacing.x > 0 && spacing.y > 0 && spacing.z > 0, LAMINA_ERROR_ARGUMENT,
              "cells of %g x %g x %g m cannot be written (> 0 each)", spacing.x, spacing.y, spacing.z);
  return LAMINA_OK;
}

static lamina_status put_geometry(lmi_store *store, const lmi_field_frame *frame)
{
  const int64_t version[2] = {1, 0};
  const int64_t extent[6] = {0, frame->cells.x, 0, frame->cells.y, 0, frame->cells.z};
  const double origin[3] = {frame->origin.x, frame->origin.y, frame->origin.z};
  const double spacing[3] = {frame->spacing.x, frame->spacing.y, frame->spacing.z};
  const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  LMI_TRY(lmi_store_put_ints(store, LMI_FIELD_ROOT, "Version", version, LMI_COUNT(version)));
  LMI_TRY(lmi_store_put_text(store, LMI_FIELD_ROOT, "Type", LMI_FIELD_TYPE_BOX));
  LMI_TRY(lmi_store_put_ints(store, LMI_FIELD_ROOT, "WholeExtent", extent, LMI_COUNT(extent)));
  LMI_TRY(lmi_store_put_reals(store, LMI_FIELD_ROOT, "Origin", origin, LMI_COUNT(origin)));
  LMI_TRY(lmi_store_put_reals(store, LMI_FIELD_ROOT, "Spacing", spacing, LMI_COUNT(spacing)));
  return lmi_store_put_reals(store, LMI_FIELD_ROOT, "Direction", direction, LMI_COUNT(direction));
}

static lamina_status list_texts(lamina_context *ctx, lmi_store *store, const lmi_field_content *content,
                                lmi_text *names)
{
  for (size_t i = 0; i < content->array_count; i++)
    LMI_TRY(lmi_text_append(ctx, names, "%s\n", content->arrays[i].name));
  LMI_TRY(lmi_store_put_text(store, LMI_FIELD_GROUP, "arrays", names->data));
  names->length = 0;
  LMI_TRY(lmi_text_append(ctx, names, "%s", ""));
  for (size_t i = 0; i < content->attribute_count; i++) {
    const lmi_text_pair *pair = &content->attributes[i];
    LMI_TRY(lmi_store_put_text(store, LMI_FIELD_ATTRIBUTES, pair->name, pair->value));
    LMI_TRY(lmi_text_append(ctx, names, "%s\n", pair->name));
  }
  return lmi_store_put_text(store, LMI_FIELD_GROUP, "attributes", names->data);
}

lamina_status lmi_field_put_texts(lamina_context *ctx, lmi_store *store, const lmi_field_content *content)
{
  lmi_text names = {0};
  LMI_TRY(lmi_store_put_ints(store, LMI_FIELD_GROUP, "step", &content->frame.step, 1));
  LMI_TRY(lmi_store_put_reals(store, LMI_FIELD_GROUP, "time_s", &content->frame.time, 1));
  const lamina_status status = list_texts(ctx, store, content, &names);
  lmi_text_free(ctx, &names);
  return status;
}

static lamina_status put_units(lmi_store *store, const lmi_field_content *content)
{
  char path[LMI_FIELD_PATH_BYTES];
  for (size_t i = 0; i < content->array_count; i++)
    LMI_TRY(lmi_store_put_text(store, lmi_field_path(content->arrays[i].name, path), "unit",
                               content->arrays[i].unit != NULL ? content->arrays[i].unit : ""));
  return LAMINA_OK;
}

static lamina_status allocate_plane(lmi_field_writer *writer)
{
  size_t largest = 0;
  for (size_t i = 0; i < writer->array_count; i++)
    if (lmi_store_plane_bytes(writer->store, i) > largest)
      largest = lmi_store_plane_bytes(writer->store, i);
  return lmi_alloc_array(writer->ctx, largest, 1, &writer->plane);
}

static lamina_status begin_file(lmi_field_writer *writer, const char *path, const lmi_field_content *content)
{
  char paths[LMI_FIELD_MAX_ARRAYS][LMI_FIELD_PATH_BYTES];
  lmi_store_array arrays[LMI_FIELD_MAX_ARRAYS];
  const lamina_int3 cells = content->frame.cells;
  for (size_t i = 0; i < content->array_count; i++) {
    const lmi_field_array *array = &content->arrays[i];
    writer->components[i] = array->components;
    writer->precision[i] = array->precision;
    arrays[i] = (lmi_store_array){.path = lmi_field_path(array->name, paths[i]),
                                  .precision = array->precision,
                                  .rank = array->components == 1 ? 3 : 4,
                                  .dims = {(uint64_t)cells.z, (uint64_t)cells.y, (uint64_t)cells.x, 3}};
  }
  const lmi_store_kind kind = {.name = lmi_field_kind.name, .version = LMI_FIELD_VERSION_BOX};
  LMI_TRY(lmi_store_create(writer->ctx, path, kind, arrays, content->array_count, &writer->store));
  lamina_status status = allocate_plane(writer);
  if (status == LAMINA_OK)
    status = put_geometry(writer->store, &content->frame);
  if (status == LAMINA_OK)
    status = put_units(writer->store, content);
  if (status == LAMINA_OK)
    status = lmi_field_put_texts(writer->ctx, writer->store, content);
  return lmi_store_begin_planes(writer->store, status);
}

lamina_status lmi_field_check(lamina_context *ctx, const lmi_field_content *content)
{
  LMI_TRY(check_frame(ctx, &content->frame));
  return check_arrays(ctx, content);
}

lamina_status lmi_field_writer_create(lamina_context *ctx, const char *path, const lmi_field_content *content,
                                      lmi_field_writer **writer)
{
  *writer = NULL;
  LMI_TRY(lmi_field_check(ctx, content));
  lmi_field_writer *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  made->cells = content->frame.cells;
  made->array_count = content->array_count;
  const lamina_status status = begin_file(made, path, content);
  if (status == LAMINA_OK)
    *writer = made;
  else
    lmi_field_writer_destroy(made);
  return status;
}

static void pack_plane_f32(float *plane, size_t cells, int components, const double *const values[])
{
  for (int c = 0; c < components; c++)
    for (size_t i = 0; i < cells; i++)
      plane[i * (size_t)components + (size_t)c] = (float)values[c][i];
}

static void pack_plane_f64(double *plane, size_t cells, int components, const double *const values[])
{
  for (int c = 0; c < components; c++)
    for (size_t i = 0; i < cells; i++)
      plane[i * (size_t)components + (size_t)c] = values[c][i];
}

lamina_status lmi_field_writer_plane(lmi_field_writer *writer, size_t array, lamina_index z,
                                     const double *const components[])
{
  LMI_REQUIRE(writer->ctx, array < writer->array_count && z >= 0 && z < writer->cells.z, LAMINA_ERROR_ARGUMENT,
              "there is no plane %" PRId64 " of field %zu to write", z, array);
  const size_t cells = (size_t)(writer->cells.x * writer->cells.y);
  if (writer->precision[array] == LAMINA_F64)
    pack_plane_f64(writer->plane, cells, writer->components[array], components);
  else
    pack_plane_f32(writer->plane, cells, writer->components[array], components);
  return lmi_store_write_plane(writer->store, array, (uint64_t)z, writer->plane);
}

lamina_status lmi_field_writer_finish(lmi_field_writer *writer)
{
  return lmi_store_finish(writer->store);
}

void lmi_field_writer_destroy(lmi_field_writer *writer)
{
  if (writer == NULL)
    return;
  lmi_store_close(writer->store);
  lmi_free(writer->ctx, writer->plane);
  lmi_free(writer->ctx, writer);
}

static lamina_status write_planes(lmi_field_writer *writer, const double *const *const data[])
{
  const size_t plane = (size_t)(writer->cells.x * writer->cells.y);
  for (size_t i = 0; i < writer->array_count; i++)
    for (lamina_index z = 0; z < writer->cells.z; z++) {
      const double *components[3] = {NULL};
      for (int c = 0; c < writer->components[i]; c++)
        components[c] = data[i][c] + (size_t)z * plane;
      LMI_TRY(lmi_field_writer_plane(writer, i, z, components));
    }
  return lmi_field_writer_finish(writer);
}

lamina_status lmi_field_file_write(lamina_context *ctx, const char *path, const lmi_field_content *content,
                                   const double *const *const data[])
{
  lmi_field_writer *writer = NULL;
  LMI_TRY(lmi_field_writer_create(ctx, path, content, &writer));
  const lamina_status status = write_planes(writer, data);
  lmi_field_writer_destroy(writer);
  return status;
}
