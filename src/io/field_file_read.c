/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "field_file.h"
#include "field_format.h"
#include "hdf5_store.h"
#include "level_file.h"

struct lmi_field_file {
  lamina_context *ctx;
  char *path;
  lmi_store *store;
  lmi_level_reader *levels;  /* NULL: one box */
  lmi_field_content content; /* points into what follows */
  lmi_field_array *arrays;
  lmi_text_pair *attributes;
  char *array_names, *attribute_names; /* the lists, cut into lines */
  char *units[LMI_FIELD_MAX_ARRAYS];
  char **values;
  size_t store_index[LMI_FIELD_MAX_ARRAYS];
  void *plane; /* one plane of the largest array */
};

const char *lmi_field_path(const char *name, char *buffer)
{
  snprintf(buffer, LMI_FIELD_PATH_BYTES, "/VTKHDF/CellData/%s", name);
  return buffer;
}

static size_t count_lines(const char *text)
{
  size_t lines = 0;
  for (; *text != '\0'; text++)
    lines += *text == '\n';
  return lines;
}

/* Ends the line at `at` and returns the start of the next. */
static char *cut_line(char *at)
{
  char *end = strchr(at, '\n');
  *end = '\0';
  return end + 1;
}

static lamina_status read_box(lmi_field_file *file)
{
  int64_t extent[6];
  double origin[3], spacing[3];
  lmi_field_frame *frame = &file->content.frame;
  LMI_TRY(lmi_store_get_ints(file->store, "/VTKHDF", "WholeExtent", extent, LMI_COUNT(extent)));
  LMI_TRY(lmi_store_get_reals(file->store, "/VTKHDF", "Origin", origin, LMI_COUNT(origin)));
  LMI_TRY(lmi_store_get_reals(file->store, "/VTKHDF", "Spacing", spacing, LMI_COUNT(spacing)));
  frame->cells = (lamina_int3){extent[1], extent[3], extent[5]};
  frame->origin = (lamina_real3){origin[0], origin[1], origin[2]};
  frame->spacing = (lamina_real3){spacing[0], spacing[1], spacing[2]};
  LMI_REQUIRE(file->ctx,
              extent[0] == 0 && extent[2] == 0 && extent[4] == 0 && extent[1] > 0 && extent[3] > 0 && extent[5] > 0,
              LAMINA_ERROR_CASE, "%s is damaged: it claims no cells", file->path);
  return LAMINA_OK;
}

static lamina_status read_geometry(lmi_field_file *file)
{
  char *type = NULL;
  lmi_field_frame *frame = &file->content.frame;
  LMI_TRY(lmi_store_get_ints(file->store, LMI_FIELD_GROUP, "step", &frame->step, 1));
  LMI_TRY(lmi_store_get_reals(file->store, LMI_FIELD_GROUP, "time_s", &frame->time, 1));
  LMI_TRY(lmi_store_get_text(file->store, LMI_FIELD_ROOT, "Type", &type));
  const bool has_levels = strcmp(type, LMI_FIELD_TYPE_LEVELS) == 0;
  lmi_free(file->ctx, type);
  return has_levels ? lmi_level_reader_create(file->ctx, file->store, frame, &file->levels) : read_box(file);
}

static lamina_status read_level_array(lmi_field_file *file, size_t i, const char *name)
{
  lmi_field_array *array = &file->arrays[i];
  LMI_TRY(lmi_level_reader_find(file->levels, i, name, array, &file->units[i]));
  array->name = name;
  array->unit = file->units[i];
  return LAMINA_OK;
}

/* The array's shape must be that of the box. */
static lamina_status read_array(lmi_field_file *file, size_t i, const char *name)
{
  char path[LMI_FIELD_PATH_BYTES];
  lmi_field_path(name, path);
  lmi_store_array stored = {0};
  LMI_TRY(lmi_store_find_array(file->store, path, &stored, &file->store_index[i]));
  const lamina_int3 cells = file->content.frame.cells;
  const bool is_box = stored.rank >= 3 && stored.dims[0] == (uint64_t)cells.z && stored.dims[1] == (uint64_t)cells.y &&
                      stored.dims[2] == (uint64_t)cells.x && (stored.rank == 3 || stored.dims[3] == 3);
  LMI_REQUIRE(file->ctx, is_box, LAMINA_ERROR_CASE, "%s is damaged: field %s has not the shape of the box", file->path,
              name);
  LMI_TRY(lmi_store_get_text(file->store, path, "unit", &file->units[i]));
  file->arrays[i] = (lmi_field_array){
    .name = name, .unit = file->units[i], .components = stored.rank == 3 ? 1 : 3, .precision = stored.precision};
  return LAMINA_OK;
}

static size_t plane_bytes(const lmi_field_file *file, size_t i)
{
  const lamina_int3 cells = file->content.frame.cells;
  const lmi_field_array *array = &file->arrays[i];
  const size_t value = array->precision == LAMINA_F64 ? sizeof(double) : sizeof(float);
  return (size_t)(cells.x * cells.y) * (size_t)array->components * value;
}

static lamina_status read_arrays(lmi_field_file *file)
{
  LMI_TRY(lmi_store_get_text(file->store, LMI_FIELD_GROUP, "arrays", &file->array_names));
  const size_t count = count_lines(file->array_names);
  LMI_REQUIRE(file->ctx, count >= 1 && count <= LMI_FIELD_MAX_ARRAYS, LAMINA_ERROR_CASE,
              "%s is damaged: it lists %zu fields", file->path, count);
  LMI_TRY(LMI_ALLOC(file->ctx, count, &file->arrays));
  file->content.arrays = file->arrays;
  size_t largest = 0;
  char *line = file->array_names;
  for (size_t i = 0; i < count; i++) {
    char *next = cut_line(line);
    LMI_TRY(file->levels != NULL ? read_level_array(file, i, line) : read_array(file, i, line));
    const size_t bytes = plane_bytes(file, i);
    largest = bytes > largest ? bytes : largest;
    line = next;
  }
  file->content.array_count = count;
  return lmi_alloc_array(file->ctx, largest, 1, &file->plane);
}

static lamina_status read_attributes(lmi_field_file *file)
{
  LMI_TRY(lmi_store_get_text(file->store, LMI_FIELD_GROUP, "attributes", &file->attribute_names));
  const size_t count = count_lines(file->attribute_names);
  LMI_TRY(LMI_ALLOC(file->ctx, count, &file->attributes));
  LMI_TRY(LMI_ALLOC(file->ctx, count, &file->values));
  file->content.attributes = file->attributes;
  file->content.attribute_count = count;
  char *line = file->attribute_names;
  for (size_t i = 0; i < count; i++) {
    char *next = cut_line(line);
    LMI_TRY(lmi_store_get_text(file->store, LMI_FIELD_ATTRIBUTES, line, &file->values[i]));
    file->attributes[i] = (lmi_text_pair){.name = line, .value = file->values[i]};
    line = next;
  }
  return LAMINA_OK;
}

static lamina_status read_content(lmi_field_file *file, const char *path)
{
  LMI_TRY(lmi_string_copy(file->ctx, path, &file->path));
  LMI_TRY(lmi_store_open(file->ctx, path, lmi_field_kind, &file->store));
  LMI_TRY(read_geometry(file));
  LMI_TRY(read_arrays(file));
  return read_attributes(file);
}

lamina_status lmi_field_file_open(lamina_context *ctx, const char *path, lmi_field_file **file)
{
  *file = NULL;
  lmi_field_file *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  const lamina_status status = read_content(made, path);
  if (status == LAMINA_OK)
    *file = made;
  else
    lmi_field_file_close(made);
  return status;
}

const lmi_field_content *lmi_field_file_content(const lmi_field_file *file)
{
  return &file->content;
}

size_t lmi_field_file_find(const lmi_field_file *file, const char *name)
{
  size_t i = 0;
  while (i < file->content.array_count && strcmp(file->arrays[i].name, name) != 0)
    i++;
  return i;
}

const char *lmi_field_file_attribute(const lmi_field_file *file, const char *name)
{
  for (size_t i = 0; i < file->content.attribute_count; i++)
    if (strcmp(file->attributes[i].name, name) == 0)
      return file->attributes[i].value;
  return NULL;
}

/* One row of one component out of a plane. */
static void unpack_row(const void *plane, lamina_precision precision, size_t first, size_t stride, lamina_index count,
                       double *row)
{
  if (precision == LAMINA_F64) {
    const double *values = (const double *)plane + first;
    for (lamina_index i = 0; i < count; i++)
      row[i] = values[(size_t)i * stride];
  } else {
    const float *values = (const float *)plane + first;
    for (lamina_index i = 0; i < count; i++)
      row[i] = (double)values[(size_t)i * stride];
  }
}

static void unpack_plane(const lmi_field_file *file, const lmi_field_array *array, lamina_box box, lamina_index z,
                         double *const components[])
{
  const size_t stride = (size_t)array->components;
  for (int c = 0; c < array->components; c++) {
    if (components[c] == NULL)
      continue;
    for (lamina_index y = 0; y < box.count.y; y++) {
      const size_t cell = (size_t)((box.first.y + y) * file->content.frame.cells.x + box.first.x);
      double *row = components[c] + (z * box.count.y + y) * box.count.x;
      unpack_row(file->plane, array->precision, cell * stride + (size_t)c, stride, box.count.x, row);
    }
  }
}

static bool is_inside(lamina_index first, lamina_index count, lamina_index cells)
{
  return first >= 0 && count >= 1 && first < cells && count <= cells - first;
}

lamina_status lmi_field_file_read(lmi_field_file *file, size_t array, lamina_box box, double *const components[])
{
  LMI_REQUIRE(file->ctx, array < file->content.array_count, LAMINA_ERROR_ARGUMENT, "%s has no field number %zu",
              file->path, array);
  const lamina_int3 cells = file->content.frame.cells;
  LMI_REQUIRE(file->ctx,
              is_inside(box.first.x, box.count.x, cells.x) && is_inside(box.first.y, box.count.y, cells.y) &&
                is_inside(box.first.z, box.count.z, cells.z),
              LAMINA_ERROR_ARGUMENT,
              "cells %" PRId64 ",%" PRId64 ",%" PRId64 " + %" PRId64 " x %" PRId64 " x %" PRId64
              " are not all in %s (%" PRId64 " x %" PRId64 " x %" PRId64 ")",
              box.first.x, box.first.y, box.first.z, box.count.x, box.count.y, box.count.z, file->path, cells.x,
              cells.y, cells.z);
  if (file->levels != NULL)
    return lmi_level_reader_read(file->levels, array, box, components);
  for (lamina_index z = 0; z < box.count.z; z++) {
    LMI_TRY(lmi_store_read_plane(file->store, file->store_index[array], (uint64_t)(box.first.z + z), file->plane));
    unpack_plane(file, &file->arrays[array], box, z, components);
  }
  return LAMINA_OK;
}

/* A plane of a file of levels as one of a box would stand there. */
static lamina_status fill_plane(lmi_field_file *file, size_t index, lamina_index z)
{
  const lamina_int3 cells = file->content.frame.cells;
  const lmi_field_array *array = &file->arrays[index];
  const size_t count = (size_t)(cells.x * cells.y), stride = (size_t)array->components;
  double *values = NULL;
  LMI_TRY(LMI_ALLOC(file->ctx, stride * count, &values));
  const lamina_status status =
    lmi_level_reader_read(file->levels, index, (lamina_box){{0, 0, z}, {cells.x, cells.y, 1}},
                          (double *const[]){values, values + count, values + 2 * count});
  for (size_t i = 0; i < stride * count && status == LAMINA_OK; i++) {
    const double value = values[i % stride * count + i / stride];
    if (array->precision == LAMINA_F64)
      ((double *)file->plane)[i] = value;
    else
      ((float *)file->plane)[i] = (float)value;
  }
  lmi_free(file->ctx, values);
  return status;
}

lamina_status lmi_field_file_read_plane(lmi_field_file *file, size_t array, lamina_index z, const void **plane,
                                        size_t *bytes)
{
  LMI_REQUIRE(file->ctx, array < file->content.array_count && z >= 0 && z < file->content.frame.cells.z,
              LAMINA_ERROR_ARGUMENT, "%s has no plane %" PRId64 " of a field number %zu", file->path, z, array);
  if (file->levels != NULL)
    LMI_TRY(fill_plane(file, array, z));
  else
    LMI_TRY(lmi_store_read_plane(file->store, file->store_index[array], (uint64_t)z, file->plane));
  *plane = file->plane;
  *bytes = plane_bytes(file, array);
  return LAMINA_OK;
}

void lmi_field_file_close(lmi_field_file *file)
{
  if (file == NULL)
    return;
  lamina_context *ctx = file->ctx;
  lmi_level_reader_destroy(file->levels);
  lmi_store_close(file->store);
  for (size_t i = 0; i < LMI_FIELD_MAX_ARRAYS; i++)
    lmi_free(ctx, file->units[i]);
  for (size_t i = 0; file->values != NULL && i < file->content.attribute_count; i++)
    lmi_free(ctx, file->values[i]);
  lmi_free(ctx, file->values);
  lmi_free(ctx, file->arrays);
  lmi_free(ctx, file->attributes);
  lmi_free(ctx, file->array_names);
  lmi_free(ctx, file->attribute_names);
  lmi_free(ctx, file->plane);
  lmi_free(ctx, file->path);
  lmi_free(ctx, file);
}
