/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of levels: balance, repairs, refusals; and its links: that every population is used exactly once. */
#include "support/test.h"

#include <stdlib.h>

#include "flow/level_flow.h"
#include "level_setup.h"

typedef struct setting {
  lamina_lattice lattice;
  level_shape shape;
  int count;
  int64_t coarse; /* cells of the coarsest level along an axis */
  bool walls;
} setting;

/* Positions are in kernel axes: in two dimensions z is the second axis. */
static bool refine(void *user, int level, const int64_t low[3], const int64_t high[3])
{
  const setting *s = user;
  const int dimension = lamina_lattice_dimension(s->lattice);
  const double cells = (double)(s->coarse << (s->count - 1));
  double p[3];
  for (int a = 0; a < 3; a++)
    p[a] = 0.5 * (double)(low[a] + high[a]) / cells;
  if (dimension == 2) {
    p[1] = p[2];
    p[2] = 0.5;
  }
  return level_shape_refines(s->shape, level, dimension, p);
}

static lmi_levels_request request_of(const setting *s)
{
  const bool flat = lamina_lattice_dimension(s->lattice) == 2;
  const int64_t n = s->coarse << (s->count - 1);
  const bool wraps = !s->walls;
  return (lmi_levels_request){
    .cells = {n, flat ? 1 : n, n},
    .is_flat = flat,
    .wraps = {wraps, flat || wraps, wraps},
    .count = s->count,
    .refine = refine,
    .user = (void *)s,
  };
}

typedef struct stack {
  lamina_context *ctx;
  lamina_solver_options options;
  lmi_levels levels;
  lmi_level_source sources[LMI_MAX_LEVELS];
  lmi_blocks blocks[LMI_MAX_LEVELS];
  lmi_level_links links;
  const lmi_lattice *lattice;
} stack;

static void make_stack(const setting *s, lmi_level_scheme scheme, stack *made)
{
  *made = (stack){.lattice = lmi_lattice_get(s->lattice), .options = lamina_solver_options_default()};
  made->options.lattice = s->lattice;
  for (int face = 0; face < 2 * lamina_lattice_dimension(s->lattice) && s->walls; face++)
    made->options.faces[face].kind = LAMINA_FACE_WALL;
  assert_int_equal(lamina_context_create(NULL, &made->ctx), LAMINA_OK);
  const lmi_levels_request request = request_of(s);
  if (lmi_levels_create(made->ctx, &request, &made->levels) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(made->ctx));
  for (int l = 0; l < s->count; l++) {
    made->sources[l] = (lmi_level_source){&made->levels, l};
    assert_int_equal(lmi_level_make_blocks(made->ctx, &made->options, &made->sources[l], &made->blocks[l]), LAMINA_OK);
  }
  const lmi_velocities velocities = {made->lattice->velocities, made->lattice->c, made->lattice->weight};
  assert_int_equal(lmi_level_links_create(made->ctx, &made->levels, made->blocks, &velocities, scheme, &made->links),
                   LAMINA_OK);
}

static void free_stack(stack *s)
{
  lmi_level_links_free(s->ctx, &s->links);
  for (int l = 0; l < LMI_MAX_LEVELS; l++)
    lmi_blocks_free(s->ctx, &s->blocks[l]);
  lmi_levels_free(s->ctx, &s->levels);
  lamina_context_destroy(s->ctx);
}

/* ---- balance ---- */

/* Every place belongs to one leaf; two cells around a refined one exist on its level. */
static void check_balance(const lmi_levels *levels)
{
  double volume = 0.0;
  for (int l = 0; l < levels->count; l++) {
    const lmi_level *level = &levels->level[l];
    int64_t leaves = 0;
    for (int64_t word = 0; word < level->words[0] * level->words[1] * level->words[2]; word++)
      for (int bit = 0; bit < 64; bit++) {
        int64_t at[3];
        lmi_level_cell(levels, l, word, bit, at);
        if (at[0] >= level->cells[0] || at[1] >= level->cells[1] || at[2] >= level->cells[2])
          continue;
        const lmi_place place = lmi_levels_place(levels, l, at);
        leaves += place == LMI_PLACE_LEAF;
        if (place != LMI_PLACE_FINER)
          continue;
        const int depth = levels->is_flat ? 0 : 2;
        for (int dz = -2; dz <= 2; dz++)
          for (int dy = -depth; dy <= depth; dy++)
            for (int dx = -2; dx <= 2; dx++) {
              int64_t there[3] = {at[0] + dx, at[1] + dy, at[2] + dz};
              assert_int_not_equal(lmi_levels_place(levels, l, there), LMI_PLACE_COARSER);
            }
      }
    assert_int_equal(leaves, level->leaf_count);
    volume += (double)leaves * pow(levels->is_flat ? 4.0 : 8.0, l);
  }
  const int64_t *cells = levels->level[0].cells;
  assert_true(volume == (double)(cells[0] * cells[1] * cells[2]));
}

/* ---- every population is used once ---- */

enum { MAX_STATES = 8 };

/* How much of each population is used, in volumes of its own cell: by level, and by the number of the level's step in a
 * step of the coarsest. */
typedef struct uses {
  double *of[LMI_MAX_LEVELS][MAX_STATES];
} uses;

static size_t slot(const stack *s, int32_t cell, int q)
{
  return (size_t)cell * (size_t)s->lattice->velocities + (size_t)q;
}

static const lmk_jump_link *find_link(const lmi_link_list *list, int32_t block, int bit, int q)
{
  for (uint32_t i = list->first[block]; i < list->first[block + 1]; i++)
    if (lmk_jump_bit(list->links[i]) == bit && lmk_jump_q(list->links[i]) == q)
      return &list->links[i];
  return NULL;
}

/* Adds the uses of one link by step k of `level`; returns the sum of its weights. */
static double count_link(const stack *s, int level, int k, const lmi_link_list *list, const lmk_jump_link *link,
                         uses *counted)
{
  const double ratio = s->levels.is_flat ? 4.0 : 8.0;
  const lmk_jump_pattern *pattern = &s->links.patterns[lmk_jump_pattern_of(*link)];
  double total = 0.0;
  for (uint32_t i = 0; i < pattern->count; i++) {
    const lmk_jump_term *term = &s->links.terms[pattern->first + i];
    const int32_t cell = list->cells[link->first + i];
    const size_t at = slot(s, cell, term->q);
    assert_true(term->weight_f32 == (float)term->weight);
    if (term->from == LMK_FROM_WALL)
      continue;
    total += term->weight;
    if (term->from == LMK_FROM_OWN)
      counted->of[level][k][at] += term->weight;
    else if (term->from == LMK_FROM_COARSE)
      counted->of[level + 1][k / 2][at] += term->weight / ratio;
    else if (term->from == LMK_FROM_OLD)
      counted->of[level - 1][2 * k][at] += term->weight * ratio;
    else if (term->from == LMK_FROM_NEW)
      counted->of[level - 1][2 * k + 1][at] += term->weight * ratio;
    else {
      const lmk_aside_entry *aside = &s->links.level[level].aside[cell];
      assert_int_equal(aside->q, term->q);
      counted->of[level][k - 1][slot(s, aside->cell, aside->q)] += term->weight;
    }
  }
  return total;
}

/* Where streaming on the level finds f_q of a cell: in its neighbour, or in itself when the link is cut. */
static size_t plain_source(const stack *s, int level, int32_t block, int bit, int q)
{
  const lmi_block_part *part = &s->blocks[level].parts[0];
  const lmk_block_grid grid = lmi_blocks_grid(&s->blocks[level], 0, 0, LMK_TWO_GRID);
  const int8_t *c = s->lattice->c[q];
  for (int32_t k = part->link_first[block]; k < part->link_first[block + 1]; k++)
    if (part->links[k].bit == bit && part->links[k].q == q)
      return slot(s, 64 * block + bit, s->lattice->velocities - 1 - q);
  const lmk_block_cell from = lmk_block_neighbour(&grid, (lmk_block_cell){block, bit}, -c[0], -c[1], -c[2]);
  assert_true(from.block >= 0);
  return slot(s, 64 * from.block + from.bit, q);
}

static void count_step(const stack *s, int level, int k, uses *counted)
{
  const lmi_link_list *list = &s->links.level[level].half[k % 2];
  const lmi_block_part *part = &s->blocks[level].parts[0];
  for (int32_t block = 0; block < part->blocks; block++)
    for (uint64_t leaves = part->active[block]; leaves != 0; leaves &= leaves - 1)
      for (int q = 0; q < s->lattice->velocities; q++) {
        const int bit = __builtin_ctzll(leaves);
        const lmk_jump_link *link = find_link(list, block, bit, q);
        if (link != NULL)
          assert_true(fabs(count_link(s, level, k, list, link, counted) - 1.0) < 1e-12);
        else
          counted->of[level][k][plain_source(s, level, block, bit, q)] += 1;
      }
}

static void check_used_once(const stack *s, int level, int k, const double *used)
{
  const lmi_block_part *part = &s->blocks[level].parts[0];
  for (int32_t block = 0; block < part->blocks; block++)
    for (int bit = 0; bit < 64; bit++)
      for (int q = 0; q < s->lattice->velocities; q++) {
        const bool leaf = part->active[block] >> bit & 1;
        const double found = used[slot(s, 64 * block + bit, q)];
        if (fabs(found - leaf) > 1e-12) {
          const lamina_int3 at = lmi_blocks_cell(&s->blocks[level], 0, block, bit);
          fail_msg("level %d step %d cell (%d, %d, %d) q %d (leaf %d) is used %.17g times", level, k, (int)at.x,
                   (int)at.y, (int)at.z, q, leaf, found);
        }
      }
}

/* Links to other levels belong to blocks of the kind that says so. */
static void check_kinds(const stack *s, int level)
{
  const lmi_block_part *part = &s->blocks[level].parts[0];
  const lmi_block_run *jump = &part->runs[0][LMI_BLOCK_JUMP];
  const lmi_link_list *list = &s->links.level[level].half[0];
  assert_int_equal(part->runs[0][LMI_BLOCK_PLAIN].count + jump->count, part->blocks);
  for (int32_t block = 0; block < part->blocks; block++)
    if (list->first[block + 1] > list->first[block])
      assert_in_range(block, jump->first, jump->first + jump->count - 1);
}

/* One step of the coarsest level with all it contains: each population of each state is used exactly once. */
static void check_links(const stack *s)
{
  uses *counted = calloc(1, sizeof *counted);
  const int levels = s->levels.count;
  for (int l = 0; l < levels; l++)
    for (int k = 0; k < 1 << (levels - 1 - l); k++)
      counted->of[l][k] = calloc((size_t)s->blocks[l].parts[0].elements, sizeof(double));
  for (int l = 0; l < levels; l++)
    check_kinds(s, l);
  for (int l = 0; l < levels; l++)
    for (int k = 0; k < 1 << (levels - 1 - l); k++)
      count_step(s, l, k, counted);
  for (int l = 0; l < levels; l++)
    for (int k = 0; k < 1 << (levels - 1 - l); k++) {
      check_used_once(s, l, k, counted->of[l][k]);
      free(counted->of[l][k]);
    }
  free(counted);
}

static void check_shapes(lamina_lattice lattice, int count, int64_t coarse, bool walls)
{
  for (int shape = 0; shape < SHAPES; shape++) {
    const setting s = {lattice, (level_shape)shape, count, coarse, walls};
    stack made;
    make_stack(&s, LMI_LEVEL_PACKETS, &made);
    check_balance(&made.levels);
    check_links(&made);
    free_stack(&made);
  }
}

static void uses_each_population_once_in_2d(void **state)
{
  (void)state;
  check_shapes(LAMINA_D2Q9, 2, 16, false);
  check_shapes(LAMINA_D2Q9, 2, 16, true);
  check_shapes(LAMINA_D2Q9, 2, 19, true);
  check_shapes(LAMINA_D2Q9, 2, 19, false);
}

static void uses_each_population_once_in_3d(void **state)
{
  (void)state;
  check_shapes(LAMINA_D3Q19, 2, 10, false);
  check_shapes(LAMINA_D3Q19, 2, 9, true);
  check_shapes(LAMINA_D3Q27, 2, 8, true);
  check_shapes(LAMINA_D3Q27, 2, 9, false);
}

static void stays_balanced_on_many_levels(void **state)
{
  (void)state;
  check_shapes(LAMINA_D2Q9, 3, 24, true);
  check_shapes(LAMINA_D2Q9, 4, 32, false);
  check_shapes(LAMINA_D3Q19, 3, 12, false);
}

/* ---- repairs and refusals ---- */

/* Two boxes of level 1 cells that leave a gap of one cell, or only touch at an edge. */
static bool refine_pair(void *user, int level, const int64_t low[3], const int64_t high[3])
{
  const bool touching = *(const bool *)user;
  const double x = 0.5 * (double)(low[0] + high[0]), z = 0.5 * (double)(low[2] + high[2]);
  const bool first = x > 8 && x < 16 && z > 8 && z < 16;
  const bool second = touching ? (x > 16 && x < 24 && z > 16 && z < 24) : (x > 18 && x < 24 && z > 8 && z < 16);
  return level == 0 && (first || second);
}

static void closes_gaps_of_one_cell(void **state)
{
  (void)state;
  for (int touching = 0; touching < 2; touching++) {
    lamina_context *ctx = NULL;
    lmi_levels levels;
    bool touches = touching != 0;
    const lmi_levels_request request = {.cells = {32, 1, 32},
                                        .is_flat = true,
                                        .wraps = {true, true, true},
                                        .count = 2,
                                        .refine = refine_pair,
                                        .user = &touches};
    assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
    assert_int_equal(lmi_levels_create(ctx, &request, &levels), LAMINA_OK);
    assert_int_equal(levels.level[1].closed, touching ? 0 : 4);
    check_balance(&levels);
    lmi_levels_free(ctx, &levels);
    lamina_context_destroy(ctx);
  }
}

static bool refine_nothing(void *user, int level, const int64_t low[3], const int64_t high[3])
{
  (void)user;
  (void)level;
  (void)low;
  (void)high;
  return false;
}

static bool refine_all(void *user, int level, const int64_t low[3], const int64_t high[3])
{
  (void)user;
  (void)level;
  (void)low;
  (void)high;
  return true;
}

static void expect_refusal(lmi_levels_request request, const char *words)
{
  lamina_context *ctx = NULL;
  lmi_levels levels;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lmi_levels_create(ctx, &request, &levels), LAMINA_ERROR_ARGUMENT);
  if (strstr(lamina_error_message(ctx), words) == NULL)
    fail_msg("'%s' does not say '%s'", lamina_error_message(ctx), words);
  lamina_context_destroy(ctx);
}

static void refuses_what_cannot_be_refined(void **state)
{
  (void)state;
  lmi_levels_request request = {
    .cells = {32, 32, 32}, .wraps = {true, true, true}, .count = 3, .refine = refine_nothing};
  expect_refusal(request, "level 0 of 3 has no cells");
  request.refine = refine_all;
  expect_refusal(request, "level 1 of 3 has no cells");
  request.count = 2;
  expect_refusal(request, "the coarsest level, 1, has no cells");
  request.cells[1] = 33;
  expect_refusal(request, "multiples of 2 cells along every axis, not 33; 32 and 34");
  request.count = 1;
  expect_refusal(request, "1 levels: 2 to 8");
}

LMI_TEST_MAIN(cmocka_unit_test(uses_each_population_once_in_2d), cmocka_unit_test(uses_each_population_once_in_3d),
              cmocka_unit_test(stays_balanced_on_many_levels), cmocka_unit_test(closes_gaps_of_one_cell),
              cmocka_unit_test(refuses_what_cannot_be_refined))
