/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of grids over one box, each cell of a level twice as long as those of the level below it: level 0 is the
 * finest, level count - 1 covers what nothing finer does. Each place of the box belongs to one leaf cell of one level.
 *
 * The rule that the jumps between levels need (lbm-spec 7.6): around a refined cell, two cells of its own level in
 * every direction exist on that level, as leaves or refined. It is kept by refining more than was asked for, never
 * less.
 *
 * Positions are in the axes of the kernels: in two dimensions the second axis of the box is z, and y has one cell on
 * every level. */
#ifndef LMI_LEVEL_STACK_H
#define LMI_LEVEL_STACK_H

#include "base/base.h"

enum { LMI_MAX_LEVELS = 8, LMI_LEVEL_WORD_CELLS = 64 };

/* Whether cells of `level` + 1 that span the finest cells [low, high) shall be divided into cells of `level`. */
typedef bool lmi_refine_function(void *user, int level, const int64_t low[3], const int64_t high[3]);

typedef struct lmi_levels_request {
  int64_t cells[3]; /* of the box, in finest cells */
  bool is_flat;     /* two dimensions */
  bool wraps[3];    /* periodic axes */
  int count;        /* of levels */
  lmi_refine_function *refine;
  void *user;
} lmi_levels_request;

/* Cells in words of 64: 4 x 4 x 4, or 8 x 1 x 8 in two dimensions; bit = x + y * 4 + z * 16, or x + z * 8. */
typedef struct lmi_level {
  int64_t cells[3], words[3]; /* of the box */
  uint64_t *leaf, *finer;     /* by place of the word, x fastest: cells of this level; cells that are refined */
  int64_t leaf_count;
  int64_t graded, closed; /* cells refined beyond what was asked for: to keep the rule, to close gaps of one cell */
  int64_t first_closed[3];
} lmi_level;

typedef struct lmi_levels {
  int count;
  bool is_flat;
  bool wraps[3];
  int shape[3]; /* binary logarithm of the cells of a word along each axis */
  lmi_level level[LMI_MAX_LEVELS];
} lmi_levels;

/* Errors: ARGUMENT (a box that the levels do not divide, a level without cells: which, and the way out), MEMORY. What
 * was refined beyond the request is told through the log. */
LAMINA_NODISCARD lamina_status lmi_levels_create(lamina_context *ctx, const lmi_levels_request *request,
                                                 lmi_levels *levels);
void lmi_levels_free(lamina_context *ctx, lmi_levels *levels);

/* What lies at a place of a level: outside the box, a leaf of that level, something finer, something coarser. */
typedef enum lmi_place { LMI_PLACE_OUTSIDE, LMI_PLACE_LEAF, LMI_PLACE_FINER, LMI_PLACE_COARSER } lmi_place;

/* Wraps `at` into the box along periodic axes. */
lmi_place lmi_levels_place(const lmi_levels *levels, int level, int64_t at[3]);

/* How many cells of `level` one of the next level is long along an axis: 2, or 1 along y in two dimensions. */
int64_t lmi_levels_ratio(const lmi_levels *levels, int axis);

/* Does a cell touch a refined one, by face, edge or corner? */
bool lmi_levels_is_ring(const lmi_levels *levels, int level, const int64_t at[3]);

/* Does a leaf touch a cell of another level, by face, edge or corner? *is_ring: a finer one. */
bool lmi_levels_is_near(const lmi_levels *levels, int level, const int64_t at[3], bool *is_ring);

/* Cells of a word that are no leaves of the level but inside the box. */
uint64_t lmi_level_elsewhere(const lmi_levels *levels, int level, int64_t word);

/* The word of a cell and its bit in it; the first cell of a word. */
int64_t lmi_level_word(const lmi_levels *levels, int level, const int64_t at[3]);
int lmi_level_bit(const lmi_levels *levels, const int64_t at[3]);
void lmi_level_cell(const lmi_levels *levels, int level, int64_t word, int bit, int64_t at[3]);

#endif
