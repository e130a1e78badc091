/* SPDX-License-Identifier: Apache-2.0 */
#include "level_stack.h"

int64_t lmi_levels_ratio(const lmi_levels *levels, int axis)
{
  return levels->is_flat && axis == 1 ? 1 : 2;
}

int64_t lmi_level_word(const lmi_levels *levels, int level, const int64_t at[3])
{
  const lmi_level *l = &levels->level[level];
  const int *s = levels->shape;
  return ((at[2] >> s[2]) * l->words[1] + (at[1] >> s[1])) * l->words[0] + (at[0] >> s[0]);
}

int lmi_level_bit(const lmi_levels *levels, const int64_t at[3])
{
  const int *s = levels->shape;
  const int64_t x = at[0] & ((1 << s[0]) - 1), y = at[1] & ((1 << s[1]) - 1), z = at[2] & ((1 << s[2]) - 1);
  return (int)(x + (y << s[0]) + (z << (s[0] + s[1])));
}

void lmi_level_cell(const lmi_levels *levels, int level, int64_t word, int bit, int64_t at[3])
{
  const lmi_level *l = &levels->level[level];
  const int *s = levels->shape;
  const int64_t place[3] = {word % l->words[0], word / l->words[0] % l->words[1], word / l->words[0] / l->words[1]};
  at[0] = (place[0] << s[0]) + (bit & ((1 << s[0]) - 1));
  at[1] = (place[1] << s[1]) + ((bit >> s[0]) & ((1 << s[1]) - 1));
  at[2] = (place[2] << s[2]) + (bit >> (s[0] + s[1]));
}

/* false where the place is outside the box. */
static bool wrap_place(const lmi_levels *levels, int level, int64_t at[3])
{
  const int64_t *cells = levels->level[level].cells;
  for (int a = 0; a < 3; a++) {
    if (at[a] >= 0 && at[a] < cells[a])
      continue;
    if (!levels->wraps[a])
      return false;
    at[a] = (at[a] % cells[a] + cells[a]) % cells[a];
  }
  return true;
}

lmi_place lmi_levels_place(const lmi_levels *levels, int level, int64_t at[3])
{
  if (!wrap_place(levels, level, at))
    return LMI_PLACE_OUTSIDE;
  const lmi_level *l = &levels->level[level];
  const int64_t word = lmi_level_word(levels, level, at);
  const uint64_t bit = UINT64_C(1) << lmi_level_bit(levels, at);
  if (l->leaf[word] & bit)
    return LMI_PLACE_LEAF;
  return l->finer[word] & bit ? LMI_PLACE_FINER : LMI_PLACE_COARSER;
}

/* The 27 offsets around a cell, itself included, as an index from 0; 9 of them in two dimensions. */
static bool offset_exists(const lmi_levels *levels, int i)
{
  return !levels->is_flat || i / 3 % 3 == 1;
}

static void offset_of(int i, const int64_t at[3], int64_t there[3])
{
  there[0] = at[0] + i % 3 - 1;
  there[1] = at[1] + i / 3 % 3 - 1;
  there[2] = at[2] + i / 9 - 1;
}

bool lmi_levels_is_ring(const lmi_levels *levels, int level, const int64_t at[3])
{
  if (level == 0)
    return false;
  for (int i = 0; i < 27; i++) {
    if (!offset_exists(levels, i))
      continue;
    int64_t there[3];
    offset_of(i, at, there);
    if (lmi_levels_place(levels, level, there) == LMI_PLACE_FINER)
      return true;
  }
  return false;
}

bool lmi_levels_is_near(const lmi_levels *levels, int level, const int64_t at[3], bool *is_ring)
{
  bool is_near = false;
  *is_ring = false;
  for (int i = 0; i < 27; i++) {
    if (!offset_exists(levels, i))
      continue;
    int64_t there[3];
    offset_of(i, at, there);
    const lmi_place place = lmi_levels_place(levels, level, there);
    is_near = is_near || place == LMI_PLACE_FINER || place == LMI_PLACE_COARSER;
    *is_ring = *is_ring || place == LMI_PLACE_FINER;
  }
  return is_near;
}

uint64_t lmi_level_elsewhere(const lmi_levels *levels, int level, int64_t word)
{
  const lmi_level *l = &levels->level[level];
  int64_t first[3];
  lmi_level_cell(levels, level, word, 0, first);
  uint64_t inside = 0;
  bool is_whole = true;
  for (int a = 0; a < 3; a++)
    is_whole = is_whole && first[a] + (INT64_C(1) << levels->shape[a]) <= l->cells[a];
  for (int bit = 0; bit < LMI_LEVEL_WORD_CELLS && !is_whole; bit++) {
    int64_t at[3];
    lmi_level_cell(levels, level, word, bit, at);
    inside |= (uint64_t)(at[0] < l->cells[0] && at[1] < l->cells[1] && at[2] < l->cells[2]) << bit;
  }
  return ~l->leaf[word] & (is_whole ? ~(uint64_t)0 : inside);
}

/* ---- making ---- */

static lamina_status check_request(lamina_context *ctx, const lmi_levels_request *request)
{
  LMI_REQUIRE(ctx, request->count >= 2 && request->count <= LMI_MAX_LEVELS, LAMINA_ERROR_ARGUMENT,
              "%d levels: 2 to %d are possible", request->count, (int)LMI_MAX_LEVELS);
  const int64_t unit = INT64_C(1) << (request->count - 1);
  for (int a = 0; a < 3; a++) {
    if (request->is_flat && a == 1)
      continue;
    const int64_t cells = request->cells[a];
    const int64_t lower = cells / unit * unit > 0 ? cells / unit * unit : unit;
    LMI_REQUIRE(ctx, cells % unit == 0, LAMINA_ERROR_ARGUMENT,
                "%d levels need a box of multiples of %lld cells along every axis, not %lld; %lld and %lld are the "
                "nearest",
                request->count, (long long)unit, (long long)cells, (long long)lower,
                (long long)(cells / unit * unit + unit));
  }
  return LAMINA_OK;
}

static int64_t word_count(const lmi_level *level)
{
  return level->words[0] * level->words[1] * level->words[2];
}

static lamina_status allocate_level(lamina_context *ctx, const lmi_levels_request *request, int level,
                                    lmi_levels *levels)
{
  lmi_level *l = &levels->level[level];
  for (int a = 0; a < 3; a++) {
    const bool divided = lmi_levels_ratio(levels, a) == 2;
    l->cells[a] = divided ? request->cells[a] >> level : 1;
    l->words[a] = ((l->cells[a] - 1) >> levels->shape[a]) + 1;
  }
  LMI_TRY(LMI_ALLOC(ctx, (size_t)word_count(l), &l->leaf));
  return LMI_ALLOC(ctx, (size_t)word_count(l), &l->finer);
}

static void set_finer(lmi_levels *levels, int level, const int64_t at[3])
{
  levels->level[level].finer[lmi_level_word(levels, level, at)] |= UINT64_C(1) << lmi_level_bit(levels, at);
}

static bool is_finer(const lmi_levels *levels, int level, const int64_t at[3])
{
  return levels->level[level].finer[lmi_level_word(levels, level, at)] >> lmi_level_bit(levels, at) & 1;
}

/* Steps `at` to the next cell of the level, x fastest; false after the last. */
static bool next_cell(const lmi_level *level, int64_t at[3])
{
  for (int a = 0; a < 3; a++) {
    if (++at[a] < level->cells[a])
      return true;
    at[a] = 0;
  }
  return false;
}

static void mark_wanted(const lmi_levels_request *request, int level, lmi_levels *levels)
{
  int64_t at[3] = {0, 0, 0};
  do {
    int64_t low[3], high[3];
    for (int a = 0; a < 3; a++) {
      const int64_t length = lmi_levels_ratio(levels, a) == 2 ? INT64_C(1) << level : 1;
      low[a] = at[a] * length;
      high[a] = low[a] + length;
    }
    if (request->refine(request->user, level - 1, low, high))
      set_finer(levels, level, at);
  } while (next_cell(&levels->level[level], at));
}

/* Two own cells around a refined one exist: their parents, and all that touch these, are refined. */
static void mark_graded(int level, lmi_levels *levels)
{
  const lmi_level *below = &levels->level[level - 1];
  int64_t at[3] = {0, 0, 0};
  do {
    if (!is_finer(levels, level - 1, at))
      continue;
    int64_t parent[3];
    for (int a = 0; a < 3; a++)
      parent[a] = at[a] / lmi_levels_ratio(levels, a);
    for (int i = 0; i < 27; i++) {
      int64_t there[3];
      offset_of(i, parent, there);
      if (!offset_exists(levels, i) || !wrap_place(levels, level, there) || is_finer(levels, level, there))
        continue;
      set_finer(levels, level, there);
      levels->level[level].graded++;
    }
  } while (next_cell(below, at));
}

/* A cell between two refined ones: no room for a slope, and packets from both sides would meet in it. */
static bool is_gap(const lmi_levels *levels, int level, const int64_t at[3])
{
  for (int a = 0; a < 3; a++) {
    if (lmi_levels_ratio(levels, a) == 1)
      continue;
    int64_t low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
    low[a]--;
    high[a]++;
    if (wrap_place(levels, level, low) && wrap_place(levels, level, high) && is_finer(levels, level, low) &&
        is_finer(levels, level, high))
      return true;
  }
  return false;
}

static void close_gaps(int level, lmi_levels *levels)
{
  lmi_level *l = &levels->level[level];
  for (bool again = true; again;) {
    again = false;
    int64_t at[3] = {0, 0, 0};
    do {
      if (is_finer(levels, level, at) || !is_gap(levels, level, at))
        continue;
      if (l->closed++ == 0)
        for (int a = 0; a < 3; a++)
          l->first_closed[a] = at[a];
      set_finer(levels, level, at);
      again = true;
    } while (next_cell(l, at));
  }
}

static void mark_leaves(int level, lmi_levels *levels)
{
  lmi_level *l = &levels->level[level];
  int64_t at[3] = {0, 0, 0};
  do {
    int64_t parent[3];
    for (int a = 0; a < 3; a++)
      parent[a] = at[a] / lmi_levels_ratio(levels, a);
    const bool exists = level == levels->count - 1 || is_finer(levels, level + 1, parent);
    if (!exists || is_finer(levels, level, at))
      continue;
    l->leaf[lmi_level_word(levels, level, at)] |= UINT64_C(1) << lmi_level_bit(levels, at);
    l->leaf_count++;
  } while (next_cell(l, at));
}

static lamina_status check_levels(lamina_context *ctx, const lmi_levels *levels)
{
  const int top = levels->count - 1;
  for (int level = 0; level < top; level++)
    LMI_REQUIRE(ctx, levels->level[level].leaf_count > 0, LAMINA_ERROR_ARGUMENT,
                "level %d of %d has no cells: %s; ask for fewer levels or refine other places", level, levels->count,
                level == 0 ? "nothing is refined so far" : "what is refined to it lies inside finer levels");
  LMI_REQUIRE(
    ctx, levels->level[top].leaf_count > 0, LAMINA_ERROR_ARGUMENT,
    "the coarsest level, %d, has no cells: the finer ones and the two cells around them fill the box; ask for "
    "fewer levels or refine less",
    top);
  return LAMINA_OK;
}

static void tell_repairs(lamina_context *ctx, const lmi_levels *levels)
{
  for (int level = 1; level < levels->count; level++) {
    const lmi_level *l = &levels->level[level];
    if (l->graded > 0)
      lmi_log(ctx, LAMINA_LOG_REMARK,
              "level %d: %lld cells more were refined, so that two cells of level %d lie around everything finer",
              level, (long long)l->graded, level - 1);
    const int64_t *at = l->first_closed;
    if (l->closed > 0)
      lmi_log(ctx, LAMINA_LOG_WARNING,
              "level %d: %lld cells lay between refined ones with no neighbour of their own level, the first at (%lld, "
              "%lld, %lld); they were refined too",
              level, (long long)l->closed, (long long)at[0], (long long)(levels->is_flat ? at[2] : at[1]),
              (long long)(levels->is_flat ? at[1] : at[2]));
  }
}

lamina_status lmi_levels_create(lamina_context *ctx, const lmi_levels_request *request, lmi_levels *levels)
{
  lamina_status status = LAMINA_OK;
  *levels = (lmi_levels){.count = request->count, .is_flat = request->is_flat};
  for (int a = 0; a < 3; a++) {
    levels->wraps[a] = request->wraps[a];
    levels->shape[a] = request->is_flat ? (a == 1 ? 0 : 3) : 2;
  }
  LMI_TRY_GOTO(status, check_request(ctx, request), cleanup);
  for (int level = 0; level < request->count; level++)
    LMI_TRY_GOTO(status, allocate_level(ctx, request, level, levels), cleanup);
  for (int level = 1; level < request->count; level++) {
    mark_wanted(request, level, levels);
    if (level > 1)
      mark_graded(level, levels);
    close_gaps(level, levels);
  }
  for (int level = request->count - 1; level >= 0; level--)
    mark_leaves(level, levels);
  LMI_TRY_GOTO(status, check_levels(ctx, levels), cleanup);
  tell_repairs(ctx, levels);

cleanup:
  if (status != LAMINA_OK)
    lmi_levels_free(ctx, levels);
  return status;
}

void lmi_levels_free(lamina_context *ctx, lmi_levels *levels)
{
  for (int level = 0; level < LMI_MAX_LEVELS; level++) {
    lmi_free(ctx, levels->level[level].leaf);
    lmi_free(ctx, levels->level[level].finer);
  }
  *levels = (lmi_levels){0};
}
