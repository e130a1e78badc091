/* SPDX-License-Identifier: Apache-2.0 */
#include "level_trace.h"

#include <math.h>

/* ---- places ---- */

static void step_back(const lmi_trace *t, int q, const int64_t at[3], int64_t there[3])
{
  for (int a = 0; a < 3; a++)
    there[a] = at[a] - t->velocities.c[q][a];
}

static int opposite(const lmi_trace *t, int q)
{
  return t->velocities.count - 1 - q;
}

/* The cell of the next level that holds one of `level`. */
static void parent_of(const lmi_trace *t, const int64_t at[3], int64_t parent[3])
{
  for (int a = 0; a < 3; a++)
    parent[a] = at[a] / lmi_levels_ratio(t->levels, a);
}

static int sub_cells(const lmi_trace *t)
{
  return t->levels->is_flat ? 4 : 8;
}

/* Sub-cell s of a cell, on the finer level. */
static void sub_cell(const lmi_trace *t, const int64_t at[3], int s, int64_t sub[3])
{
  int bit = 0;
  for (int a = 0; a < 3; a++) {
    const bool divided = lmi_levels_ratio(t->levels, a) == 2;
    sub[a] = divided ? 2 * at[a] + (s >> bit & 1) : at[a];
    bit += divided;
  }
}

/* The one wall between a cell and the place it gets a population of velocity c from; -1 where there are several. */
static int crossed_wall(const lmi_trace *t, int level, const int64_t at[3], const int c[3])
{
  const int64_t *cells = t->levels->level[level].cells;
  int wall = -1, crossed = 0;
  for (int a = 0; a < 3; a++) {
    const int64_t from = at[a] - c[a];
    if (t->levels->wraps[a] || (from >= 0 && from < cells[a]))
      continue;
    wall = 2 * a + (from >= 0);
    crossed++;
  }
  return crossed == 1 ? wall : -1;
}

int lmi_trace_wall(const lmi_trace *t, int level, const int64_t at[3], int q)
{
  const int8_t *given = t->velocities.c[q];
  int c[3] = {given[0], given[1], given[2]};
  const int wall = crossed_wall(t, level, at, c);
  if (!t->whole_walls)
    return wall;
  for (int a = 0; a < 3; a++)
    c[a] = a == wall / 2 ? c[a] : -c[a];
  return wall >= 0 && crossed_wall(t, level, at, c) == wall ? wall : -1;
}

/* ---- sums ---- */

static void add_term(lmi_trace *t, int from, int32_t cell, int q, double weight)
{
  for (int i = 0; i < t->count; i++) {
    lmi_trace_term *term = &t->terms[i];
    if (term->from == from && term->cell == cell && term->q == q) {
      term->weight += weight;
      return;
    }
  }
  LMI_ASSERT(t->count < LMI_TRACE_TERMS);
  t->terms[t->count++] = (lmi_trace_term){cell, q, from, weight};
}

/* 64 * block + bit of a leaf. */
static int32_t cell_number(const lmi_trace *t, int level, const int64_t at[3])
{
  const int32_t block = t->numbers[level][lmi_level_word(t->levels, level, at)];
  return LMI_LEVEL_WORD_CELLS * block + lmi_level_bit(t->levels, at);
}

static void add_cell(lmi_trace *t, int from, int level, const int64_t at[3], int q, double weight)
{
  add_term(t, from, cell_number(t, level, at), q, weight);
}

static void add_wall(lmi_trace *t, int level, const int64_t at[3], int q, double weight)
{
  const int wall = lmi_trace_wall(t, level, at, q);
  if (wall >= 0)
    add_term(t, LMK_FROM_WALL, 1 + wall, q, weight);
}

/* To a packet, or to what bounces of a population. */
static void add_part_of_wall(lmi_trace *t, int level, const int64_t at[3], int q, double weight)
{
  if (!t->whole_walls)
    add_wall(t, level, at, q, weight);
}

/* When, in halves of the coarse step, the packet of direction q at a place of `level` enters a cell of that level: 1,
 * 2, or 0 when it stays coarse. */
static int entry_half(const lmi_trace *t, int level, const int64_t at[3], int q)
{
  const int o = opposite(t, q);
  int64_t there[3], next[3];
  step_back(t, o, at, there);
  const lmi_place place = lmi_levels_place(t->levels, level, there);
  if (place == LMI_PLACE_LEAF)
    return 1;
  if (place == LMI_PLACE_OUTSIDE)
    step_back(t, q, at, next); /* it bounced and is back in its place */
  else
    step_back(t, o, there, next);
  return lmi_levels_place(t->levels, level, next) == LMI_PLACE_LEAF ? 2 : 0;
}

/* h of lbm-spec 7.7 for the packets of (coarse cell, q) that enter in the given half. */
static double time_shift(const lmi_trace *t, int level, const int64_t coarse[3], int q, int half)
{
  int entering[3] = {0, 0, 0};
  for (int s = 0; s < sub_cells(t); s++) {
    int64_t sub[3];
    sub_cell(t, coarse, s, sub);
    entering[entry_half(t, level, sub, q)]++;
  }
  if (half == 0 || entering[1] == 0 || entering[2] == 0)
    return 0.0;
  const double larger = fmax(entering[1], entering[2]);
  return half == 1 ? -0.25 * entering[2] / larger : 0.25 * entering[1] / larger;
}

/* weight * (slope along an axis of f*_q in a coarse cell), from the leaves of its own level beside it. */
static void add_slope(lmi_trace *t, int from, int level, const int64_t coarse[3], int axis, int q, double weight)
{
  int64_t low[3] = {coarse[0], coarse[1], coarse[2]}, high[3] = {coarse[0], coarse[1], coarse[2]};
  low[axis]--;
  high[axis]++;
  const bool has_low = lmi_levels_place(t->levels, level, low) == LMI_PLACE_LEAF;
  const bool has_high = lmi_levels_place(t->levels, level, high) == LMI_PLACE_LEAF;
  if (weight == 0.0 || (!has_low && !has_high))
    return;
  const double scale = has_low && has_high ? 0.5 * weight : weight;
  add_cell(t, from, level, has_high ? high : coarse, q, scale);
  add_cell(t, from, level, has_low ? low : coarse, q, -scale);
}

/* weight * the packet of f*_q that lies at a place of `level`, in a coarse cell; `half` says when it enters a fine
 * cell, 0 for never. */
static void add_packet(lmi_trace *t, int from, int level, const int64_t place[3], int q, int half, double weight)
{
  int64_t at[3] = {place[0], place[1], place[2]}, coarse[3];
  lmi_levels_place(t->levels, level, at);
  parent_of(t, at, coarse);
  add_cell(t, from, level + 1, coarse, q, weight);
  if (t->scheme != LMI_LEVEL_PACKETS || !lmi_levels_is_ring(t->levels, level + 1, coarse))
    return;
  const double h = time_shift(t, level, coarse, q, half);
  for (int a = 0; a < 3; a++)
    if (lmi_levels_ratio(t->levels, a) == 2) {
      const double offset = (at[a] & 1 ? 0.25 : -0.25) + h * t->velocities.c[q][a];
      add_slope(t, from, level + 1, coarse, a, q, weight * offset);
    }
}

/* ---- links of a fine cell beside a coarse one ---- */

/* (x, q) whose upstream place y lies in a coarse cell. */
static void add_exploded(lmi_trace *t, int level, const int64_t y[3], int q, int half)
{
  int64_t z[3];
  if (half == 0 || t->scheme == LMI_LEVEL_VOLUMETRIC) {
    add_packet(t, LMK_FROM_COARSE, level, y, q, 1, 1.0);
    return;
  }
  step_back(t, q, y, z);
  const lmi_place place = lmi_levels_place(t->levels, level, z);
  if (place == LMI_PLACE_LEAF) { /* the packet left a fine cell in the first half and cut a coarse corner */
    add_cell(t, LMK_FROM_ASIDE, level, z, q, 1.0);
  } else if (place == LMI_PLACE_OUTSIDE) {
    add_packet(t, LMK_FROM_COARSE, level, y, opposite(t, q), 2, 1.0);
    add_part_of_wall(t, level, y, q, 1.0);
  } else {
    add_packet(t, LMK_FROM_COARSE, level, z, q, 2, 1.0);
  }
}

/* ---- links of a coarse cell beside a fine one ---- */

/* What arrives in sub-cell `sub` (a place of the finer level) with q, if it comes from a fine cell; false if not. */
static bool add_from_fine(lmi_trace *t, int fine, const int64_t sub[3], int q, double weight)
{
  const int o = opposite(t, q);
  int64_t middle[3], start[3];
  step_back(t, q, sub, middle);
  const lmi_place place = lmi_levels_place(t->levels, fine, middle);
  if (place == LMI_PLACE_LEAF) {
    add_cell(t, LMK_FROM_NEW, fine, middle, q, weight);
    return true;
  }
  if (place == LMI_PLACE_OUTSIDE) {
    step_back(t, o, sub, start);
    if (lmi_levels_place(t->levels, fine, start) != LMI_PLACE_LEAF)
      return false;
    add_cell(t, LMK_FROM_OLD, fine, start, o, weight);
    add_part_of_wall(t, fine, sub, q, weight);
    return true;
  }
  step_back(t, q, middle, start);
  if (lmi_levels_place(t->levels, fine, start) != LMI_PLACE_LEAF)
    return false;
  add_cell(t, LMK_FROM_OLD, fine, start, q, weight);
  return true;
}

/* The packets that stay on the coarse level: those of the cell upstream, or the cell's own from a wall. */
static void add_remaining(lmi_trace *t, int level, const int64_t at[3], int q, uint32_t remaining, double weight)
{
  int64_t from[3];
  step_back(t, q, at, from);
  const bool bounces = lmi_levels_place(t->levels, level, from) == LMI_PLACE_OUTSIDE;
  for (int s = 0; s < sub_cells(t); s++) {
    int64_t sub[3];
    if (!(remaining >> s & 1))
      continue;
    sub_cell(t, bounces ? at : from, s, sub);
    add_packet(t, LMK_FROM_OWN, level - 1, sub, bounces ? opposite(t, q) : q, 0, weight);
    if (bounces)
      add_part_of_wall(t, level, at, q, weight);
  }
}

static void add_coalesced(lmi_trace *t, int level, const int64_t at[3], int q)
{
  const double weight = 1.0 / sub_cells(t);
  uint32_t remaining = 0;
  for (int s = 0; s < sub_cells(t); s++) {
    int64_t sub[3];
    sub_cell(t, at, s, sub);
    if (!add_from_fine(t, level - 1, sub, q, weight))
      remaining |= 1u << s;
  }
  if (remaining != 0)
    add_remaining(t, level, at, q, remaining, weight);
  if (t->whole_walls)
    add_wall(t, level, at, q, 1.0);
}

/* The volumetric scheme: the mean, over both halves, of the fine cells that face the coarse one. */
static void add_mean(lmi_trace *t, int level, const int64_t at[3], int q)
{
  int64_t faces[8][3];
  int count = 0;
  for (int s = 0; s < sub_cells(t); s++) {
    int64_t sub[3];
    sub_cell(t, at, s, sub);
    step_back(t, q, sub, faces[count]);
    count += lmi_levels_place(t->levels, level - 1, faces[count]) == LMI_PLACE_LEAF;
  }
  for (int i = 0; i < count; i++) {
    add_cell(t, LMK_FROM_NEW, level - 1, faces[i], q, 0.5 / count);
    add_cell(t, LMK_FROM_OLD, level - 1, faces[i], q, 0.5 / count);
  }
}

/* ---- one population ---- */

/* Nothing but what streaming brings from `from`. */
static bool is_plain(const lmi_trace *t, int level, const int64_t from[3], int q)
{
  const lmi_trace_term *only = t->terms;
  return t->count == 1 && only->from == LMK_FROM_OWN && only->q == q && fabs(only->weight - 1.0) < 1e-12 &&
         only->cell == cell_number(t, level, from);
}

void lmi_trace_population(lmi_trace *t, int level, const int64_t at[3], bool is_ring, int q, int half)
{
  int64_t from[3];
  t->count = 0;
  step_back(t, q, at, from);
  const lmi_place place = lmi_levels_place(t->levels, level, from);
  if (place == LMI_PLACE_COARSER) {
    add_exploded(t, level, from, q, half);
  } else if (t->scheme == LMI_LEVEL_VOLUMETRIC) {
    if (place == LMI_PLACE_FINER)
      add_mean(t, level, at, q);
  } else if (is_ring) {
    add_coalesced(t, level, at, q);
    if (place == LMI_PLACE_LEAF && is_plain(t, level, from, q))
      t->count = 0;
  }
}
