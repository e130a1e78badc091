/* SPDX-License-Identifier: Apache-2.0 */
#include "level_links.h"

#include <math.h>
#include <string.h>

enum { MAX_TERMS = 512, WEIGHT_SLOTS = 8192, MAX_WEIGHTS = WEIGHT_SLOTS / 2 };

typedef struct sum_term {
  int32_t cell;
  int q, from;
  double weight;
} sum_term;

typedef struct builder {
  lamina_context *ctx;
  const lmi_levels *levels;
  const lmi_level_blocks *blocks;
  const lmi_velocities *velocities;
  lmi_level_scheme scheme;
  lmi_level_links *links;
  int16_t slots[WEIGHT_SLOTS]; /* of weights, by hash: number + 1 */
  sum_term sum[MAX_TERMS];
  int sum_count;
  double wall_mass[6][3]; /* by face, what a unit of its velocity along an axis adds in a step of the coarsest level */
  size_t link_room, term_room, aside_room;
} builder;

/* ---- places ---- */

static void step_back(const builder *b, int q, const int64_t at[3], int64_t there[3])
{
  for (int a = 0; a < 3; a++)
    there[a] = at[a] - b->velocities->c[q][a];
}

static int opposite(const builder *b, int q)
{
  return b->velocities->count - 1 - q;
}

/* The cell of the next level that holds one of `level`. */
static void parent_of(const builder *b, const int64_t at[3], int64_t parent[3])
{
  for (int a = 0; a < 3; a++)
    parent[a] = at[a] / lmi_levels_ratio(b->levels, a);
}

static int sub_cells(const builder *b)
{
  return b->levels->is_flat ? 4 : 8;
}

/* Sub-cell s of a cell, on the finer level. */
static void sub_cell(const builder *b, const int64_t at[3], int s, int64_t sub[3])
{
  int bit = 0;
  for (int a = 0; a < 3; a++) {
    const bool divided = lmi_levels_ratio(b->levels, a) == 2;
    sub[a] = divided ? 2 * at[a] + (s >> bit & 1) : at[a];
    bit += divided;
  }
}

/* The one wall between a cell and the place it gets a population of velocity c from; -1 where there are several. */
static int crossed_wall(const builder *b, int level, const int64_t at[3], const int c[3])
{
  const int64_t *cells = b->levels->level[level].cells;
  int wall = -1, crossed = 0;
  for (int a = 0; a < 3; a++) {
    const int64_t from = at[a] - c[a];
    if (b->levels->wraps[a] || (from >= 0 && from < cells[a]))
      continue;
    wall = 2 * a + (from >= 0);
    crossed++;
  }
  return crossed == 1 ? wall : -1;
}

/* The wall whose motion adds to f_q of a cell; -1: none. With whole walls only where it also adds to the population of
 * the opposite velocity along the wall, so that the cell gets no mass. */
static int wall_of(const builder *b, int level, const int64_t at[3], int q)
{
  const int8_t *given = b->velocities->c[q];
  int c[3] = {given[0], given[1], given[2]};
  const int wall = crossed_wall(b, level, at, c);
  if (!b->links->whole_walls)
    return wall;
  for (int a = 0; a < 3; a++)
    c[a] = a == wall / 2 ? c[a] : -c[a];
  return wall >= 0 && crossed_wall(b, level, at, c) == wall ? wall : -1;
}

/* ---- sums ---- */

static void add_term(builder *b, int from, int32_t cell, int q, double weight)
{
  for (int i = 0; i < b->sum_count; i++) {
    sum_term *term = &b->sum[i];
    if (term->from == from && term->cell == cell && term->q == q) {
      term->weight += weight;
      return;
    }
  }
  LMI_ASSERT(b->sum_count < MAX_TERMS);
  b->sum[b->sum_count++] = (sum_term){cell, q, from, weight};
}

static void add_cell(builder *b, int from, int level, const int64_t at[3], int q, double weight)
{
  add_term(b, from, lmi_level_cell_number(b->levels, level, &b->blocks[level], at), q, weight);
}

static void add_wall(builder *b, int level, const int64_t at[3], int q, double weight)
{
  const int wall = wall_of(b, level, at, q);
  if (wall >= 0)
    add_term(b, LMK_FROM_WALL, wall, q, weight);
}

/* To a packet, or to what bounces of a population. */
static void add_part_of_wall(builder *b, int level, const int64_t at[3], int q, double weight)
{
  if (!b->links->whole_walls)
    add_wall(b, level, at, q, weight);
}

/* When, in halves of the coarse step, the packet of direction q at a place of `level` enters a cell of that level: 1,
 * 2, or 0 when it stays coarse. */
static int entry_half(const builder *b, int level, const int64_t at[3], int q)
{
  const int o = opposite(b, q);
  int64_t there[3], next[3];
  step_back(b, o, at, there);
  const lmi_place place = lmi_levels_place(b->levels, level, there);
  if (place == LMI_PLACE_LEAF)
    return 1;
  if (place == LMI_PLACE_OUTSIDE)
    step_back(b, q, at, next); /* it bounced and is back in its place */
  else
    step_back(b, o, there, next);
  return lmi_levels_place(b->levels, level, next) == LMI_PLACE_LEAF ? 2 : 0;
}

/* h of lbm-spec 7.7 for the packets of (coarse cell, q) that enter in the given half. */
static double time_shift(const builder *b, int level, const int64_t coarse[3], int q, int half)
{
  int entering[3] = {0, 0, 0};
  for (int s = 0; s < sub_cells(b); s++) {
    int64_t sub[3];
    sub_cell(b, coarse, s, sub);
    entering[entry_half(b, level, sub, q)]++;
  }
  if (half == 0 || entering[1] == 0 || entering[2] == 0)
    return 0.0;
  const double larger = fmax(entering[1], entering[2]);
  return half == 1 ? -0.25 * entering[2] / larger : 0.25 * entering[1] / larger;
}

/* weight * (slope along an axis of f*_q in a coarse cell), from the leaves of its own level beside it. */
static void add_slope(builder *b, int from, int level, const int64_t coarse[3], int axis, int q, double weight)
{
  int64_t low[3] = {coarse[0], coarse[1], coarse[2]}, high[3] = {coarse[0], coarse[1], coarse[2]};
  low[axis]--;
  high[axis]++;
  const bool has_low = lmi_levels_place(b->levels, level, low) == LMI_PLACE_LEAF;
  const bool has_high = lmi_levels_place(b->levels, level, high) == LMI_PLACE_LEAF;
  if (weight == 0.0 || (!has_low && !has_high))
    return;
  const double scale = has_low && has_high ? 0.5 * weight : weight;
  add_cell(b, from, level, has_high ? high : coarse, q, scale);
  add_cell(b, from, level, has_low ? low : coarse, q, -scale);
}

/* weight * the packet of f*_q that lies at a place of `level`, in a coarse cell; `half` says when it enters a fine
 * cell, 0 for never. */
static void add_packet(builder *b, int from, int level, const int64_t place[3], int q, int half, double weight)
{
  int64_t at[3] = {place[0], place[1], place[2]}, coarse[3];
  lmi_levels_place(b->levels, level, at);
  parent_of(b, at, coarse);
  add_cell(b, from, level + 1, coarse, q, weight);
  if (b->scheme != LMI_LEVEL_PACKETS || !lmi_levels_is_ring(b->levels, level + 1, coarse))
    return;
  const double h = time_shift(b, level, coarse, q, half);
  for (int a = 0; a < 3; a++)
    if (lmi_levels_ratio(b->levels, a) == 2) {
      const double offset = (at[a] & 1 ? 0.25 : -0.25) + h * b->velocities->c[q][a];
      add_slope(b, from, level + 1, coarse, a, q, weight * offset);
    }
}

/* ---- links of a fine cell beside a coarse one ---- */

static lamina_status keep_aside(builder *b, int level, const int64_t at[3], int q, int64_t *entry);

/* (x, q) whose upstream place y lies in a coarse cell. */
static lamina_status add_exploded(builder *b, int level, const int64_t y[3], int q, int half)
{
  int64_t z[3];
  if (half == 0 || b->scheme == LMI_LEVEL_VOLUMETRIC) {
    add_packet(b, LMK_FROM_COARSE, level, y, q, 1, 1.0);
    return LAMINA_OK;
  }
  step_back(b, q, y, z);
  const lmi_place place = lmi_levels_place(b->levels, level, z);
  if (place == LMI_PLACE_LEAF) { /* the packet left a fine cell in the first half and cut a coarse corner */
    int64_t entry = 0;
    LMI_TRY(keep_aside(b, level, z, q, &entry));
    add_term(b, LMK_FROM_ASIDE, (int32_t)(entry / b->velocities->count), (int)(entry % b->velocities->count), 1.0);
  } else if (place == LMI_PLACE_OUTSIDE) {
    add_packet(b, LMK_FROM_COARSE, level, y, opposite(b, q), 2, 1.0);
    add_part_of_wall(b, level, y, q, 1.0);
  } else {
    add_packet(b, LMK_FROM_COARSE, level, z, q, 2, 1.0);
  }
  return LAMINA_OK;
}

/* ---- links of a coarse cell beside a fine one ---- */

/* What arrives in sub-cell `sub` (a place of the finer level) with q, if it comes from a fine cell; false if not. */
static bool add_from_fine(builder *b, int fine, const int64_t sub[3], int q, double weight)
{
  const int o = opposite(b, q);
  int64_t middle[3], start[3];
  step_back(b, q, sub, middle);
  const lmi_place place = lmi_levels_place(b->levels, fine, middle);
  if (place == LMI_PLACE_LEAF) {
    add_cell(b, LMK_FROM_NEW, fine, middle, q, weight);
    return true;
  }
  if (place == LMI_PLACE_OUTSIDE) {
    step_back(b, o, sub, start);
    if (lmi_levels_place(b->levels, fine, start) != LMI_PLACE_LEAF)
      return false;
    add_cell(b, LMK_FROM_OLD, fine, start, o, weight);
    add_part_of_wall(b, fine, sub, q, weight);
    return true;
  }
  step_back(b, q, middle, start);
  if (lmi_levels_place(b->levels, fine, start) != LMI_PLACE_LEAF)
    return false;
  add_cell(b, LMK_FROM_OLD, fine, start, q, weight);
  return true;
}

/* The packets that stay on the coarse level: those of the cell upstream, or the cell's own from a wall. */
static void add_remaining(builder *b, int level, const int64_t at[3], int q, uint32_t remaining, double weight)
{
  int64_t from[3];
  step_back(b, q, at, from);
  const bool bounces = lmi_levels_place(b->levels, level, from) == LMI_PLACE_OUTSIDE;
  for (int s = 0; s < sub_cells(b); s++) {
    int64_t sub[3];
    if (!(remaining >> s & 1))
      continue;
    sub_cell(b, bounces ? at : from, s, sub);
    add_packet(b, LMK_FROM_OWN, level - 1, sub, bounces ? opposite(b, q) : q, 0, weight);
    if (bounces)
      add_part_of_wall(b, level, at, q, weight);
  }
}

static void add_coalesced(builder *b, int level, const int64_t at[3], int q)
{
  const double weight = 1.0 / sub_cells(b);
  uint32_t remaining = 0;
  for (int s = 0; s < sub_cells(b); s++) {
    int64_t sub[3];
    sub_cell(b, at, s, sub);
    if (!add_from_fine(b, level - 1, sub, q, weight))
      remaining |= 1u << s;
  }
  if (remaining != 0)
    add_remaining(b, level, at, q, remaining, weight);
  if (b->links->whole_walls)
    add_wall(b, level, at, q, 1.0);
}

/* The volumetric scheme: the mean, over both halves, of the fine cells that face the coarse one. */
static void add_mean(builder *b, int level, const int64_t at[3], int q)
{
  int64_t faces[8][3];
  int count = 0;
  for (int s = 0; s < sub_cells(b); s++) {
    int64_t sub[3];
    sub_cell(b, at, s, sub);
    step_back(b, q, sub, faces[count]);
    count += lmi_levels_place(b->levels, level - 1, faces[count]) == LMI_PLACE_LEAF;
  }
  for (int i = 0; i < count; i++) {
    add_cell(b, LMK_FROM_NEW, level - 1, faces[i], q, 0.5 / count);
    add_cell(b, LMK_FROM_OLD, level - 1, faces[i], q, 0.5 / count);
  }
}

/* ---- one population ---- */

static bool crosses_broken_end(const builder *b, int level, const int64_t at[3], int q)
{
  for (int a = 0; a < 3; a++) {
    const int64_t from = at[a] - b->velocities->c[q][a];
    const bool wraps = from < 0 || from >= b->levels->level[level].cells[a];
    if (wraps && !lmi_level_wraps_whole(b->levels, level, a))
      return true;
  }
  return false;
}

/* A sum that is just what streaming from `from` would bring needs no link. */
static bool is_plain(const builder *b, int level, const int64_t from[3], int q)
{
  const sum_term *only = b->sum;
  return b->sum_count == 1 && only->from == LMK_FROM_OWN && only->q == q && fabs(only->weight - 1.0) < 1e-12 &&
         only->cell == lmi_level_cell_number(b->levels, level, &b->blocks[level], from);
}

/* Leaves the terms of f_q of a cell in b->sum; none where plain streaming is right. */
static lamina_status find_terms(builder *b, int level, const int64_t at[3], bool ring, int q, int half)
{
  int64_t from[3];
  b->sum_count = 0;
  step_back(b, q, at, from);
  const lmi_place place = lmi_levels_place(b->levels, level, from);
  if (place == LMI_PLACE_COARSER)
    return add_exploded(b, level, from, q, half);
  if (place == LMI_PLACE_FINER && b->scheme == LMI_LEVEL_VOLUMETRIC)
    add_mean(b, level, at, q);
  else if (ring && b->scheme != LMI_LEVEL_VOLUMETRIC)
    add_coalesced(b, level, at, q);
  else if (place == LMI_PLACE_OUTSIDE) {
    add_cell(b, LMK_FROM_OWN, level, at, opposite(b, q), 1.0);
    add_wall(b, level, at, q, 1.0);
  } else {
    add_cell(b, LMK_FROM_OWN, level, from, q, 1.0);
  }
  if (place == LMI_PLACE_LEAF && is_plain(b, level, from, q) && !crosses_broken_end(b, level, at, q))
    b->sum_count = 0;
  return LAMINA_OK;
}

/* ---- lists that grow ---- */

static lamina_status grow(lamina_context *ctx, void **memory, size_t size, size_t used, size_t *room)
{
  if (used < *room)
    return LAMINA_OK;
  void *larger = NULL;
  const size_t wanted = *room < 1024 ? 1024 : *room * 2;
  LMI_TRY(lmi_alloc_array(ctx, wanted, size, &larger));
  if (used > 0)
    memcpy(larger, *memory, used * size);
  lmi_free(ctx, *memory);
  *memory = larger;
  *room = wanted;
  return LAMINA_OK;
}

static lamina_status keep_aside(builder *b, int level, const int64_t at[3], int q, int64_t *entry)
{
  lmi_level_link_set *set = &b->links->level[level];
  void *memory = set->aside;
  LMI_TRY(grow(b->ctx, &memory, sizeof *set->aside, (size_t)set->aside_count, &b->aside_room));
  set->aside = memory;
  *entry = set->aside_count;
  set->aside[set->aside_count++] = (lmk_aside_entry){lmi_level_cell_number(b->levels, level, &b->blocks[level], at), q};
  return LAMINA_OK;
}

static size_t hash_weight(double weight)
{
  uint64_t bits;
  memcpy(&bits, &weight, sizeof bits);
  bits *= UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(bits >> 40) % WEIGHT_SLOTS;
}

/* The weight's number in the table. */
static lamina_status number_weight(builder *b, double weight, uint16_t *number)
{
  lmi_level_links *links = b->links;
  size_t slot = hash_weight(weight);
  while (b->slots[slot] != 0 && links->weights[b->slots[slot] - 1] != weight)
    slot = (slot + 1) % WEIGHT_SLOTS;
  if (b->slots[slot] == 0) {
    LMI_REQUIRE(b->ctx, links->weight_count < MAX_WEIGHTS, LAMINA_ERROR_ARGUMENT,
                "the jumps between levels need more than %d different weights", (int)MAX_WEIGHTS);
    links->weights[links->weight_count++] = weight;
    b->slots[slot] = (int16_t)links->weight_count;
  }
  *number = (uint16_t)(b->slots[slot] - 1);
  return LAMINA_OK;
}

static void count_wall_mass(builder *b, int level, const sum_term *term)
{
  const int top = b->levels->count - 1;
  const double volume = pow(sub_cells(b), level), steps = level == top ? 1.0 : pow(2.0, top - 1 - level);
  for (int a = 0; a < 3; a++)
    b->wall_mass[term->cell][a] +=
      volume * steps * term->weight * b->velocities->weight[term->q] * b->velocities->c[term->q][a];
}

/* Does a wall that moves in its own plane add mass? */
static bool walls_add_mass(const builder *b)
{
  for (int face = 0; face < 6; face++)
    for (int a = 0; a < 3; a++)
      if (a != face / 2 && fabs(b->wall_mass[face][a]) > 1e-9)
        return true;
  return false;
}

/* Appends b->sum as the link of (bit, q), without terms that cancelled. */
static lamina_status emit_link(builder *b, int level, lmi_link_list *list, int q, int bit)
{
  void *memory = list->links;
  LMI_TRY(grow(b->ctx, &memory, sizeof *list->links, (size_t)list->link_count, &b->link_room));
  list->links = memory;
  lmk_link *link = &list->links[list->link_count++];
  *link = (lmk_link){.first = (uint32_t)list->term_count, .q = (uint8_t)q, .bit = (uint8_t)bit};
  for (int i = 0; i < b->sum_count; i++) {
    const sum_term *term = &b->sum[i];
    if (fabs(term->weight) < 1e-12)
      continue;
    memory = list->terms;
    LMI_TRY(grow(b->ctx, &memory, sizeof *list->terms, (size_t)list->term_count, &b->term_room));
    list->terms = memory;
    lmk_term *made = &list->terms[list->term_count++];
    if (term->from == LMK_FROM_WALL)
      count_wall_mass(b, level, term);
    *made = (lmk_term){.cell = term->cell, .q = (uint8_t)term->q, .from = (uint8_t)term->from};
    LMI_TRY(number_weight(b, term->weight, &made->weight));
    link->count++;
  }
  LMI_REQUIRE(b->ctx, list->term_count < UINT32_MAX - MAX_TERMS, LAMINA_ERROR_ARGUMENT,
              "the jumps between levels have more than 2^32 terms: refine whole regions, not scattered cells");
  return LAMINA_OK;
}

static lamina_status list_block(builder *b, int level, int64_t block, int half, lmi_link_list *list)
{
  const int64_t word = b->blocks[level].word[block];
  const uint64_t leaves = b->levels->level[level].leaf[word];
  for (int bit = 0; bit < 64; bit++) {
    if (!(leaves >> bit & 1))
      continue;
    int64_t at[3];
    lmi_level_cell(b->levels, level, word, bit, at);
    const bool ring = lmi_levels_is_ring(b->levels, level, at);
    for (int q = 0; q < b->velocities->count; q++) {
      LMI_TRY(find_terms(b, level, at, ring, q, half));
      if (b->sum_count > 0)
        LMI_TRY(emit_link(b, level, list, q, bit));
    }
  }
  return LAMINA_OK;
}

static lamina_status list_level(builder *b, int level, int half)
{
  lmi_link_list *list = &b->links->level[level].half[half];
  const lmi_level_blocks *blocks = &b->blocks[level];
  b->link_room = b->term_room = b->aside_room = 0;
  LMI_TRY(LMI_ALLOC(b->ctx, (size_t)blocks->count + 1, &list->first));
  for (int p = 0; p < blocks->partitions; p++)
    for (int class = 0; class < LMI_BLOCK_CLASSES; class ++) {
      const lmi_block_span *span = &blocks->spans[p * LMI_BLOCK_CLASSES + class];
      for (int64_t i = span->first; i < span->first + span->count; i++) {
        list->first[i] = (uint32_t)list->link_count;
        if (class != LMI_BLOCK_PLAIN)
          LMI_TRY(list_block(b, level, i, half, list));
      }
    }
  list->first[blocks->count] = (uint32_t)list->link_count;
  return LAMINA_OK;
}

static void free_lists(lamina_context *ctx, lmi_level_links *links)
{
  for (int level = 0; level < LMI_MAX_LEVELS; level++) {
    lmi_level_link_set *set = &links->level[level];
    for (int half = 0; half < 2; half++) {
      lmi_free(ctx, set->half[half].first);
      lmi_free(ctx, set->half[half].links);
      lmi_free(ctx, set->half[half].terms);
    }
    lmi_free(ctx, set->aside);
    *set = (lmi_level_link_set){0};
  }
}

static lamina_status list_all(builder *b)
{
  memset(b->wall_mass, 0, sizeof b->wall_mass);
  for (int level = 0; level < b->levels->count; level++)
    for (int half = 0; half < (level == b->levels->count - 1 ? 1 : 2); half++)
      LMI_TRY(list_level(b, level, half));
  return LAMINA_OK;
}

lamina_status lmi_level_links_create(lamina_context *ctx, const lmi_levels *levels, const lmi_level_blocks *blocks,
                                     const lmi_velocities *velocities, lmi_level_scheme scheme, lmi_level_links *links)
{
  lamina_status status = LAMINA_OK;
  builder *b = NULL;
  *links = (lmi_level_links){0};
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 1, &b), cleanup);
  *b = (builder){
    .ctx = ctx, .levels = levels, .blocks = blocks, .velocities = velocities, .scheme = scheme, .links = links};
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, MAX_WEIGHTS, &links->weights), cleanup);
  LMI_TRY_GOTO(status, list_all(b), cleanup);
  if (walls_add_mass(b)) {
    free_lists(ctx, links);
    links->whole_walls = true;
    LMI_TRY_GOTO(status, list_all(b), cleanup);
  }

cleanup:
  lmi_free(ctx, b);
  if (status != LAMINA_OK)
    lmi_level_links_free(ctx, links);
  return status;
}

void lmi_level_links_free(lamina_context *ctx, lmi_level_links *links)
{
  free_lists(ctx, links);
  lmi_free(ctx, links->weights);
  *links = (lmi_level_links){0};
}
