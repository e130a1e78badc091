/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of the file (VTKHDF 1.0):
 *
 *   /VTKHDF            attributes Version, Type = "OverlappingAMR", GridDescription, Origin
 *   /VTKHDF/LevelL     L from 0, the coarsest; attribute Spacing
 *   /VTKHDF/LevelL/AMRBox          box, low and high cell along x, y, z
 *   /VTKHDF/LevelL/CellData/NAME   cell[, component]; attribute unit
 *   /lamina            as in files of one box, and cells (finest) and levels */
#include "level_file.h"

#include <string.h>

#include "base/base.h"
#include "base/ranks.h"
#include "field_format.h"

struct lmi_level_writer {
  lamina_context *ctx;
  lmi_store *store;
  lmi_level_layout layout;
  int64_t width[LMI_MAX_LEVELS]; /* of a plane over the whole box */
  size_t array_count;
  int components[LMI_LEVEL_FILE_MAX_ARRAYS];
  lamina_precision precision[LMI_LEVEL_FILE_MAX_ARRAYS];
  void *piece;
};

static size_t array_index(const lmi_level_writer *writer, int level, size_t array)
{
  return (size_t)level * writer->array_count + array;
}

/* ---- making ---- */

static lamina_status put_level(lmi_level_writer *writer, const lmi_field_content *content, int level)
{
  char path[LMI_FIELD_PATH_BYTES];
  const int count = writer->layout.count;
  const lmi_layout_level *l = &writer->layout.level[level];
  const double scale = (double)(INT64_C(1) << level);
  const lamina_real3 finest = content->frame.spacing;
  const double spacing[3] = {scale * finest.x, scale * finest.y, scale * finest.z};
  LMI_TRY(
    lmi_store_put_reals(writer->store, lmi_level_path(count, level, "", path), "Spacing", spacing, LMI_COUNT(spacing)));
  LMI_TRY(lmi_store_put_group(writer->store, lmi_level_path(count, level, "PointData", path)));
  LMI_TRY(lmi_store_put_group(writer->store, lmi_level_path(count, level, "FieldData", path)));
  for (size_t i = 0; i < content->array_count; i++)
    LMI_TRY(lmi_store_put_text(writer->store, lmi_level_array_path(count, level, content->arrays[i].name, path), "unit",
                               content->arrays[i].unit != NULL ? content->arrays[i].unit : ""));
  return lmi_store_put_table(writer->store, lmi_level_path(count, level, "AMRBox", path), l->boxes[0], l->box_count,
                             LMI_COUNT(l->boxes[0]));
}

static lamina_status put_description(lmi_level_writer *writer, const lmi_field_content *content)
{
  const lmi_field_frame *frame = &content->frame;
  const int64_t version[2] = {1, 0}, count = writer->layout.count;
  const int64_t cells[3] = {frame->cells.x, frame->cells.y, frame->cells.z};
  const double origin[3] = {frame->origin.x, frame->origin.y, frame->origin.z};
  const double spacing[3] = {frame->spacing.x, frame->spacing.y, frame->spacing.z};
  lmi_store *store = writer->store;
  LMI_TRY(lmi_store_put_ints(store, LMI_FIELD_ROOT, "Version", version, LMI_COUNT(version)));
  LMI_TRY(lmi_store_put_text(store, LMI_FIELD_ROOT, "Type", LMI_FIELD_TYPE_LEVELS));
  LMI_TRY(lmi_store_put_text(store, LMI_FIELD_ROOT, "GridDescription", "XYZ"));
  LMI_TRY(lmi_store_put_reals(store, LMI_FIELD_ROOT, "Origin", origin, LMI_COUNT(origin)));
  LMI_TRY(lmi_store_put_ints(store, LMI_FIELD_GROUP, "cells", cells, LMI_COUNT(cells)));
  LMI_TRY(lmi_store_put_ints(store, LMI_FIELD_GROUP, "levels", &count, 1));
  LMI_TRY(lmi_store_put_reals(store, LMI_FIELD_GROUP, "finest_spacing_m", spacing, LMI_COUNT(spacing)));
  for (int level = 0; level < writer->layout.count; level++)
    LMI_TRY(put_level(writer, content, level));
  return lmi_field_put_texts(writer->ctx, store, content);
}

static lamina_status allocate_piece(lmi_level_writer *writer)
{
  size_t largest = 0;
  for (size_t i = 0; i < (size_t)writer->layout.count * writer->array_count; i++) {
    const size_t bytes = lmi_store_plane_bytes(writer->store, i);
    largest = bytes > largest ? bytes : largest;
  }
  return lmi_alloc_array(writer->ctx, largest, 1, &writer->piece);
}

static lamina_status create_store(lmi_level_writer *writer, const char *path, const lmi_field_content *content)
{
  char paths[LMI_STORE_MAX_ARRAYS][LMI_FIELD_PATH_BYTES];
  lmi_store_array arrays[LMI_STORE_MAX_ARRAYS];
  const lmi_store_kind kind = {.name = lmi_field_kind.name, .version = LMI_FIELD_VERSION_LEVELS};
  const int count = writer->layout.count;
  for (int level = 0; level < count; level++)
    for (size_t i = 0; i < content->array_count; i++) {
      const lmi_layout_level *l = &writer->layout.level[level];
      const size_t at = array_index(writer, level, i);
      arrays[at] = (lmi_store_array){.path = lmi_level_array_path(count, level, content->arrays[i].name, paths[at]),
                                     .precision = content->arrays[i].precision,
                                     .rank = content->arrays[i].components == 1 ? 1 : 2,
                                     .dims = {l->cells, 3},
                                     .rows = l->rows,
                                     .plane_count = l->first_piece[l->box_count]};
    }
  return lmi_store_create(writer->ctx, path, kind, arrays, (size_t)count * content->array_count, &writer->store);
}

static lamina_status begin_file(lmi_level_writer *writer, const char *path, const lmi_field_content *content,
                                const lmi_levels *levels)
{
  writer->array_count = content->array_count;
  for (size_t i = 0; i < content->array_count; i++) {
    writer->components[i] = content->arrays[i].components;
    writer->precision[i] = content->arrays[i].precision;
  }
  for (int level = 0; level < levels->count; level++)
    writer->width[level] = levels->level[level].cells[0];
  LMI_TRY(lmi_level_layout_create(writer->ctx, levels, &writer->layout));
  LMI_TRY(create_store(writer, path, content));
  LMI_TRY(allocate_piece(writer));
  return put_description(writer, content);
}

lamina_status lmi_level_writer_create(lamina_context *ctx, const char *path, const lmi_field_content *content,
                                      const lmi_levels *levels, lmi_level_writer **writer)
{
  *writer = NULL;
  LMI_TRY(lmi_field_check(ctx, content));
  LMI_REQUIRE(ctx, content->array_count <= LMI_LEVEL_FILE_MAX_ARRAYS, LAMINA_ERROR_ARGUMENT,
              "%zu fields on levels in one file (1 to %d are possible)", content->array_count,
              (int)LMI_LEVEL_FILE_MAX_ARRAYS);
  LMI_REQUIRE(ctx, lamina_rank_count(ctx) == 1, LAMINA_UNAVAILABLE, "%s: levels are written by one rank, not %d", path,
              lamina_rank_count(ctx));
  lmi_level_writer *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  const lamina_status status = begin_file(made, path, content, levels);
  if (status == LAMINA_OK)
    *writer = made;
  else
    lmi_level_writer_destroy(made);
  return status;
}

/* ---- planes ---- */

/* The part of a plane that lies in a box, as it stands in the file. */
static void pack_piece(const lmi_level_writer *writer, size_t array, const int32_t *box, int64_t width,
                       const double *const components[])
{
  const int64_t y_first = writer->layout.is_flat ? 0 : box[2], y_last = writer->layout.is_flat ? 0 : box[3];
  const int count = writer->components[array];
  const bool is_f64 = writer->precision[array] == LAMINA_F64;
  size_t at = 0;
  for (int64_t y = y_first; y <= y_last; y++)
    for (int64_t x = box[0]; x <= box[1]; x++)
      for (int c = 0; c < count; c++, at++) {
        const double value = components[c][y * width + x];
        if (is_f64)
          ((double *)writer->piece)[at] = value;
        else
          ((float *)writer->piece)[at] = (float)value;
      }
}

static lamina_status write_box(lmi_level_writer *writer, int level, size_t array, size_t b, int64_t place)
{
  const int32_t *box = writer->layout.level[level].boxes[b];
  const int64_t layers = writer->layout.is_flat ? (int64_t)box[5] + 1 : 1;
  for (int64_t layer = 0; layer < layers; layer++)
    LMI_TRY(lmi_store_write_plane(writer->store, array_index(writer, level, array),
                                  lmi_level_piece(&writer->layout, level, b, place, layer), writer->piece));
  return LAMINA_OK;
}

lamina_status lmi_level_writer_plane(lmi_level_writer *writer, int level, size_t array, int64_t place,
                                     const double *const components[])
{
  LMI_REQUIRE(writer->ctx, level >= 0 && level < writer->layout.count && array < writer->array_count,
              LAMINA_ERROR_ARGUMENT, "there is no field %zu on a level %d to write", array, level);
  const lmi_layout_level *l = &writer->layout.level[level];
  const int axis = writer->layout.is_flat ? 1 : 2;
  for (size_t b = 0; b < l->box_count; b++) {
    const int32_t *box = l->boxes[b];
    if (place < box[2 * axis] || place > box[2 * axis + 1])
      continue;
    pack_piece(writer, array, box, writer->width[level], components);
    LMI_TRY(write_box(writer, level, array, b, place));
  }
  return LAMINA_OK;
}

lamina_status lmi_level_writer_finish(lmi_level_writer *writer)
{
  return lmi_store_finish(writer->store);
}

void lmi_level_writer_destroy(lmi_level_writer *writer)
{
  if (writer == NULL)
    return;
  lmi_store_close(writer->store);
  lmi_level_layout_free(writer->ctx, &writer->layout);
  lmi_free(writer->ctx, writer->piece);
  lmi_free(writer->ctx, writer);
}
