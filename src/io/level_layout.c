/* SPDX-License-Identifier: Apache-2.0 */
#include "level_layout.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "field_format.h"
#include "grid/level_boxes.h"

const char *lmi_level_path(int count, int level, const char *name, char *buffer)
{
  snprintf(buffer, LMI_FIELD_PATH_BYTES, "/VTKHDF/Level%d%s%s", count - 1 - level, name[0] != '\0' ? "/" : "", name);
  return buffer;
}

const char *lmi_level_array_path(int count, int level, const char *name, char *buffer)
{
  snprintf(buffer, LMI_FIELD_PATH_BYTES, "/VTKHDF/Level%d/CellData/%s", count - 1 - level, name);
  return buffer;
}

static int64_t length(const lmi_level_extent box, int axis)
{
  return (int64_t)box[2 * axis + 1] - box[2 * axis] + 1;
}

static int64_t pieces_of(const lmi_level_layout *layout, const lmi_level_extent box)
{
  return layout->is_flat ? length(box, 1) * length(box, 2) : length(box, 2);
}

uint64_t lmi_level_piece(const lmi_level_layout *layout, int level, size_t box, int64_t place, int64_t layer)
{
  const lmi_layout_level *l = &layout->level[level];
  const int64_t piece =
    layout->is_flat ? layer * length(l->boxes[box], 1) + place - l->boxes[box][2] : place - l->boxes[box][4];
  return l->first_piece[box] + (uint64_t)piece;
}

/* Pieces and cells, from the boxes. */
static lamina_status count_pieces(lamina_context *ctx, lmi_level_layout *layout, int level)
{
  lmi_layout_level *l = &layout->level[level];
  LMI_TRY(LMI_ALLOC(ctx, l->box_count + 1, &l->first_piece));
  for (size_t b = 0; b < l->box_count; b++)
    l->first_piece[b + 1] = l->first_piece[b] + (uint64_t)pieces_of(layout, l->boxes[b]);
  LMI_TRY(LMI_ALLOC(ctx, (size_t)l->first_piece[l->box_count], &l->rows));
  for (size_t b = 0; b < l->box_count; b++)
    for (uint64_t piece = l->first_piece[b]; piece < l->first_piece[b + 1]; piece++) {
      l->rows[piece] = (uint64_t)(length(l->boxes[b], 0) * (layout->is_flat ? 1 : length(l->boxes[b], 1)));
      l->cells += l->rows[piece];
    }
  return LAMINA_OK;
}

/* From the kernels' axes to those of the file. */
static void put_extent(const lmi_level_box *box, bool is_flat, int64_t layers, lmi_level_extent extent)
{
  const int64_t first[3] = {box->first[0], box->first[is_flat ? 2 : 1], is_flat ? 0 : box->first[2]};
  const int64_t count[3] = {box->count[0], box->count[is_flat ? 2 : 1], is_flat ? layers : box->count[2]};
  for (int a = 0; a < 3; a++) {
    extent[2 * a] = (int32_t)first[a];
    extent[2 * a + 1] = (int32_t)(first[a] + count[a] - 1);
  }
}

static lamina_status lay_out_level(lamina_context *ctx, const lmi_levels *levels, int level, lmi_level_layout *layout)
{
  lmi_level_boxes found = {0};
  lmi_layout_level *l = &layout->level[level];
  LMI_TRY(lmi_level_boxes_create(ctx, levels, level, &found));
  lamina_status status = LMI_ALLOC(ctx, found.count, &l->boxes);
  l->box_count = status == LAMINA_OK ? found.count : 0;
  for (size_t b = 0; b < l->box_count; b++)
    put_extent(&found.boxes[b], levels->is_flat, INT64_C(1) << (levels->count - 1 - level), l->boxes[b]);
  lmi_level_boxes_free(ctx, &found);
  return status == LAMINA_OK ? count_pieces(ctx, layout, level) : status;
}

lamina_status lmi_level_layout_create(lamina_context *ctx, const lmi_levels *levels, lmi_level_layout *layout)
{
  *layout = (lmi_level_layout){.count = levels->count, .is_flat = levels->is_flat};
  lamina_status status = LAMINA_OK;
  for (int level = 0; level < levels->count && status == LAMINA_OK; level++)
    status = lay_out_level(ctx, levels, level, layout);
  if (status != LAMINA_OK)
    lmi_level_layout_free(ctx, layout);
  return status;
}

/* ---- from a file ---- */

static bool boxes_fit(const lmi_level_layout *layout, int level, const int64_t cells[3])
{
  const lmi_layout_level *l = &layout->level[level];
  const bool is_coarsest = level == layout->count - 1;
  bool fits = l->box_count > 0 && (!is_coarsest || l->box_count == 1);
  for (size_t b = 0; b < l->box_count; b++)
    for (int a = 0; a < 3; a++) {
      const int64_t end = layout->is_flat && a == 2 ? INT64_C(1) << (layout->count - 1 - level) : cells[a] >> level;
      const int32_t *range = l->boxes[b] + 2 * a;
      fits = fits && range[0] >= 0 && range[0] <= range[1] && range[1] < end;
      fits = fits && (!is_coarsest || (range[0] == 0 && range[1] == end - 1));
    }
  return fits;
}

static lamina_status read_level(lamina_context *ctx, lmi_store *store, const int64_t cells[3], int level,
                                lmi_level_layout *layout)
{
  char path[LMI_FIELD_PATH_BYTES];
  int32_t *values = NULL;
  lmi_layout_level *l = &layout->level[level];
  LMI_TRY(lmi_store_get_table(store, lmi_level_path(layout->count, level, "AMRBox", path), LMI_COUNT(l->boxes[0]),
                              &l->box_count, &values));
  l->boxes = (lmi_level_extent *)(void *)values;
  LMI_REQUIRE(ctx, boxes_fit(layout, level, cells), LAMINA_ERROR_CASE,
              "the file is damaged: the boxes of its level %d do not lie in %lld x %lld x %lld cells", level,
              (long long)cells[0], (long long)cells[1], (long long)cells[2]);
  return count_pieces(ctx, layout, level);
}

lamina_status lmi_level_layout_read(lamina_context *ctx, lmi_store *store, const int64_t cells[3], int count,
                                    lmi_level_layout *layout)
{
  *layout = (lmi_level_layout){.count = count, .is_flat = cells[2] == 1};
  lamina_status status = LAMINA_OK;
  for (int level = 0; level < count && status == LAMINA_OK; level++)
    status = read_level(ctx, store, cells, level, layout);
  if (status != LAMINA_OK)
    lmi_level_layout_free(ctx, layout);
  return status;
}

void lmi_level_layout_free(lamina_context *ctx, lmi_level_layout *layout)
{
  for (int level = 0; level < LMI_MAX_LEVELS; level++) {
    lmi_free(ctx, layout->level[level].boxes);
    lmi_free(ctx, layout->level[level].first_piece);
    lmi_free(ctx, layout->level[level].rows);
  }
  *layout = (lmi_level_layout){0};
}
