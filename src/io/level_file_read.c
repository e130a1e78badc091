/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"
#include "field_format.h"
#include "level_file.h"

struct lmi_level_reader {
  lamina_context *ctx;
  lmi_store *store;
  lmi_level_layout layout;
  lmi_field_array arrays[LMI_LEVEL_FILE_MAX_ARRAYS]; /* components and precision */
  size_t index[LMI_LEVEL_FILE_MAX_ARRAYS][LMI_MAX_LEVELS];
  void *piece;
  size_t piece_bytes;
};

static lamina_status read_layout(lmi_level_reader *reader, lmi_field_frame *frame)
{
  int64_t cells[3], count = 0;
  double origin[3], spacing[3];
  LMI_TRY(lmi_store_get_ints(reader->store, LMI_FIELD_GROUP, "cells", cells, LMI_COUNT(cells)));
  LMI_TRY(lmi_store_get_ints(reader->store, LMI_FIELD_GROUP, "levels", &count, 1));
  LMI_TRY(lmi_store_get_reals(reader->store, LMI_FIELD_ROOT, "Origin", origin, LMI_COUNT(origin)));
  LMI_TRY(lmi_store_get_reals(reader->store, LMI_FIELD_GROUP, "finest_spacing_m", spacing, LMI_COUNT(spacing)));
  LMI_REQUIRE(reader->ctx,
              count >= 2 && count <= LMI_MAX_LEVELS && cells[0] > 0 && cells[1] > 0 && cells[2] > 0 &&
                cells[0] < INT32_MAX && cells[1] < INT32_MAX && cells[2] < INT32_MAX,
              LAMINA_ERROR_CASE, "the file is damaged: it claims %lld levels over no cells", (long long)count);
  frame->cells = (lamina_int3){cells[0], cells[1], cells[2]};
  frame->origin = (lamina_real3){origin[0], origin[1], origin[2]};
  frame->spacing = (lamina_real3){spacing[0], spacing[1], spacing[2]};
  return lmi_level_layout_read(reader->ctx, reader->store, cells, (int)count, &reader->layout);
}

lamina_status lmi_level_reader_create(lamina_context *ctx, lmi_store *store, lmi_field_frame *frame,
                                      lmi_level_reader **reader)
{
  *reader = NULL;
  lmi_level_reader *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  *made = (lmi_level_reader){.ctx = ctx, .store = store};
  const lamina_status status = read_layout(made, frame);
  if (status == LAMINA_OK)
    *reader = made;
  else
    lmi_level_reader_destroy(made);
  return status;
}

static lamina_status hold_piece(lmi_level_reader *reader, size_t bytes)
{
  if (bytes <= reader->piece_bytes)
    return LAMINA_OK;
  lmi_free(reader->ctx, reader->piece);
  reader->piece = NULL;
  reader->piece_bytes = 0;
  LMI_TRY(lmi_alloc_array(reader->ctx, bytes, 1, &reader->piece));
  reader->piece_bytes = bytes;
  return LAMINA_OK;
}

lamina_status lmi_level_reader_find(lmi_level_reader *reader, size_t index, const char *name, lmi_field_array *array,
                                    char **unit)
{
  char path[LMI_FIELD_PATH_BYTES];
  const int count = reader->layout.count;
  LMI_REQUIRE(reader->ctx, index < LMI_LEVEL_FILE_MAX_ARRAYS, LAMINA_ERROR_CASE,
              "the file is damaged: it lists more than %d fields on levels", (int)LMI_LEVEL_FILE_MAX_ARRAYS);
  for (int level = 0; level < count; level++) {
    const lmi_layout_level *l = &reader->layout.level[level];
    lmi_store_array stored = {.rows = l->rows, .plane_count = l->first_piece[l->box_count]};
    size_t *at = &reader->index[index][level];
    LMI_TRY(lmi_store_find_array(reader->store, lmi_level_array_path(count, level, name, path), &stored, at));
    const int components = stored.rank == 1 ? 1 : 3;
    LMI_REQUIRE(reader->ctx,
                stored.dims[0] == l->cells && (stored.rank == 1 || (stored.rank == 2 && stored.dims[1] == 3)) &&
                  (level == 0 || (components == array->components && stored.precision == array->precision)),
                LAMINA_ERROR_CASE, "the file is damaged: field %s has not the shape of level %d", name, level);
    *array = (lmi_field_array){.components = components, .precision = stored.precision};
    LMI_TRY(hold_piece(reader, lmi_store_plane_bytes(reader->store, *at)));
  }
  reader->arrays[index] = *array;
  return lmi_store_get_text(reader->store, lmi_level_array_path(count, 0, name, path), "unit", unit);
}

/* ---- a box of finest cells ---- */

typedef struct request {
  lmi_level_reader *reader;
  size_t index;
  int64_t first[3], end[3]; /* in finest cells */
  double *const *components;
} request;

static double value_at(const request *r, size_t cell, int component)
{
  const lmi_field_array *array = &r->reader->arrays[r->index];
  const size_t at = cell * (size_t)array->components + (size_t)component;
  return array->precision == LAMINA_F64 ? ((const double *)r->reader->piece)[at]
                                        : (double)((const float *)r->reader->piece)[at];
}

static int64_t larger(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* The finest cells of the request along an axis that lie in cells [low, high] of a level; false where there are none.
 */
static bool overlap(const request *r, int level, int axis, int64_t low, int64_t high, int64_t range[2])
{
  range[0] = larger(r->first[axis], low << level);
  range[1] = smaller(r->end[axis], (high + 1) << level);
  return range[0] < range[1];
}

/* Fills what the piece that was read covers: x along the box, y and z as given in finest cells. */
static void spread_piece(const request *r, int level, const int32_t *box, const int64_t range[3][2])
{
  const bool is_flat = r->reader->layout.is_flat;
  const int64_t width = (int64_t)box[1] - box[0] + 1, nx = r->end[0] - r->first[0], ny = r->end[1] - r->first[1];
  for (int64_t z = range[2][0]; z < range[2][1]; z++)
    for (int64_t y = range[1][0]; y < range[1][1]; y++) {
      const int64_t row = is_flat ? 0 : ((y >> level) - box[2]) * width;
      const int64_t to = ((z - r->first[2]) * ny + y - r->first[1]) * nx - r->first[0];
      for (int c = 0; c < r->reader->arrays[r->index].components; c++)
        for (int64_t x = range[0][0]; x < range[0][1] && r->components[c] != NULL; x++)
          r->components[c][to + x] = value_at(r, (size_t)(row + (x >> level) - box[0]), c);
    }
}

static lamina_status read_level_box(const request *r, int level, size_t b)
{
  lmi_level_reader *reader = r->reader;
  const int32_t *box = reader->layout.level[level].boxes[b];
  const int axis = reader->layout.is_flat ? 1 : 2; /* along which pieces follow each other */
  int64_t range[3][2] = {{0, 0}, {0, 0}, {0, 1}};
  if (!overlap(r, level, 0, box[0], box[1], range[0]) || !overlap(r, level, 1, box[2], box[3], range[1]) ||
      (!reader->layout.is_flat && !overlap(r, level, 2, box[4], box[5], range[2])))
    return LAMINA_OK;
  const int64_t first = range[axis][0] >> level, last = (range[axis][1] - 1) >> level;
  for (int64_t place = first; place <= last; place++) {
    int64_t part[3][2] = {{range[0][0], range[0][1]}, {range[1][0], range[1][1]}, {range[2][0], range[2][1]}};
    (void)overlap(r, level, axis, place, place, part[axis]);
    LMI_TRY(lmi_store_read_plane(reader->store, reader->index[r->index][level],
                                 lmi_level_piece(&reader->layout, level, b, place, 0), reader->piece));
    spread_piece(r, level, box, (const int64_t(*)[2])part);
  }
  return LAMINA_OK;
}

lamina_status lmi_level_reader_read(lmi_level_reader *reader, size_t index, lamina_box box, double *const components[])
{
  const request r = {
    .reader = reader,
    .index = index,
    .first = {box.first.x, box.first.y, box.first.z},
    .end = {box.first.x + box.count.x, box.first.y + box.count.y, box.first.z + box.count.z},
    .components = components,
  };
  for (int level = reader->layout.count - 1; level >= 0; level--) /* finer cells over coarser ones */
    for (size_t b = 0; b < reader->layout.level[level].box_count; b++)
      LMI_TRY(read_level_box(&r, level, b));
  return LAMINA_OK;
}

void lmi_level_reader_destroy(lmi_level_reader *reader)
{
  if (reader == NULL)
    return;
  lmi_level_layout_free(reader->ctx, &reader->layout);
  lmi_free(reader->ctx, reader->piece);
  lmi_free(reader->ctx, reader);
}
