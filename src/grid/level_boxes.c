/* SPDX-License-Identifier: Apache-2.0 */
#include "level_boxes.h"

#include <string.h>

/* A level exists where the coarser one is refined: boxes are made of refined coarse cells, which halves the work in
 * each direction, and come out as even numbers of cells. `left` are those in no box yet. */
typedef struct cover {
  lamina_context *ctx;
  const lmi_levels *levels;
  int coarse;
  uint64_t *left;
  lmi_level_box *boxes;
  size_t count, room;
} cover;

static bool is_left(const cover *c, int64_t x, int64_t y, int64_t z)
{
  const int64_t at[3] = {x, y, z};
  return c->left[lmi_level_word(c->levels, c->coarse, at)] >> lmi_level_bit(c->levels, at) & 1;
}

/* Is the whole range along x, at rows [y, y + ny) and planes [z, z + nz), in no box yet? */
static bool all_left(const cover *c, const lmi_level_box *range)
{
  for (int64_t z = 0; z < range->count[2]; z++)
    for (int64_t y = 0; y < range->count[1]; y++)
      for (int64_t x = 0; x < range->count[0]; x++)
        if (!is_left(c, range->first[0] + x, range->first[1] + y, range->first[2] + z))
          return false;
  return true;
}

/* As far as it goes along x, then as far as whole rows go along y, then whole layers along z. */
static lmi_level_box grow_box(const cover *c, const int64_t at[3])
{
  const int64_t *cells = c->levels->level[c->coarse].cells;
  lmi_level_box box = {.first = {at[0], at[1], at[2]}, .count = {1, 1, 1}};
  for (int axis = 0; axis < 3; axis++)
    for (;;) {
      lmi_level_box next = box;
      next.first[axis] = box.first[axis] + box.count[axis];
      next.count[axis] = 1;
      if (next.first[axis] >= cells[axis] || !all_left(c, &next))
        break;
      box.count[axis]++;
    }
  return box;
}

static void take_box(const cover *c, const lmi_level_box *box)
{
  for (int64_t z = 0; z < box->count[2]; z++)
    for (int64_t y = 0; y < box->count[1]; y++)
      for (int64_t x = 0; x < box->count[0]; x++) {
        const int64_t at[3] = {box->first[0] + x, box->first[1] + y, box->first[2] + z};
        c->left[lmi_level_word(c->levels, c->coarse, at)] &= ~(UINT64_C(1) << lmi_level_bit(c->levels, at));
      }
}

static lamina_status add_box(cover *c, const lmi_level_box *box)
{
  if (c->count == c->room) {
    lmi_level_box *more = NULL;
    const size_t room = c->room == 0 ? 64 : 2 * c->room;
    LMI_TRY(LMI_ALLOC(c->ctx, room, &more));
    if (c->count > 0)
      memcpy(more, c->boxes, c->count * sizeof *more);
    lmi_free(c->ctx, c->boxes);
    c->boxes = more;
    c->room = room;
  }
  c->boxes[c->count] = *box;
  for (int a = 0; a < 3; a++) {
    c->boxes[c->count].first[a] *= lmi_levels_ratio(c->levels, a);
    c->boxes[c->count].count[a] *= lmi_levels_ratio(c->levels, a);
  }
  c->count++;
  return LAMINA_OK;
}

static lamina_status cover_cells(cover *c)
{
  const int64_t *cells = c->levels->level[c->coarse].cells;
  for (int64_t z = 0; z < cells[2]; z++)
    for (int64_t y = 0; y < cells[1]; y++)
      for (int64_t x = 0; x < cells[0]; x++) {
        const int64_t at[3] = {x, y, z};
        if (!is_left(c, x, y, z))
          continue;
        const lmi_level_box box = grow_box(c, at);
        take_box(c, &box);
        LMI_TRY(add_box(c, &box));
      }
  return LAMINA_OK;
}

lamina_status lmi_level_boxes_create(lamina_context *ctx, const lmi_levels *levels, int level, lmi_level_boxes *boxes)
{
  *boxes = (lmi_level_boxes){0};
  if (level == levels->count - 1) {
    LMI_TRY(LMI_ALLOC(ctx, 1, &boxes->boxes));
    memcpy(boxes->boxes[0].count, levels->level[level].cells, sizeof boxes->boxes[0].count);
    boxes->count = 1;
    return LAMINA_OK;
  }
  cover c = {.ctx = ctx, .levels = levels, .coarse = level + 1};
  const lmi_level *coarse = &levels->level[level + 1];
  const size_t words = (size_t)(coarse->words[0] * coarse->words[1] * coarse->words[2]);
  LMI_TRY(LMI_ALLOC(ctx, words, &c.left));
  memcpy(c.left, coarse->finer, words * sizeof *c.left);
  const lamina_status status = cover_cells(&c);
  lmi_free(ctx, c.left);
  *boxes = (lmi_level_boxes){c.count, c.boxes};
  if (status != LAMINA_OK)
    lmi_level_boxes_free(ctx, boxes);
  return status;
}

void lmi_level_boxes_free(lamina_context *ctx, lmi_level_boxes *boxes)
{
  lmi_free(ctx, boxes->boxes);
  *boxes = (lmi_level_boxes){0};
}
