/* SPDX-License-Identifier: Apache-2.0 */
/* What a step over blocks of a level gets beside the blocks: populations that no neighbour on the level supplies. On
 * such a link f_q of a cell is a sum of weights times populations that lie in one of a few places: in this level, in
 * the coarser level's state at the start of its step, in the finer level's states at the start and in the middle of
 * this level's step, or set aside. Weights depend on the geometry alone and add up to 1, so that shifted populations
 * need no care; what a moving wall adds is one more term. Which terms make the scheme of a jump is grid/level_links.c's
 * affair.
 *
 * Many links have the same weights and kinds of sources: these are a pattern, and a link is the number of one with a
 * list of cells. Along a plane jump a few hundred patterns serve all links.
 *
 * Every level is one section that begins at element 0. Component q of cell 64 * block + bit is element
 * (block * Q + q) * 64 + bit. Include dense.h before it. */
#ifndef LMK_JUMP_H
#define LMK_JUMP_H

enum {
  LMK_FROM_OWN,                   /* this level, before its step */
  LMK_FROM_COARSE,                /* the coarser level, at the start of its step */
  LMK_FROM_OLD,                   /* the finer level, at the start of this step */
  LMK_FROM_NEW,                   /* the finer level, after its first half of this step */
  LMK_FROM_ASIDE,                 /* populations of this level kept from the start of the coarser step */
  LMK_FROM_MEMORY,                /* those above lie in fields */
  LMK_FROM_WALL = LMK_FROM_MEMORY /* cell = 1 + face: the momentum that wall gives to f_q */
};

typedef struct lmk_jump_term {
  double weight;
  float weight_f32; /* the same, rounded once */
  uint8_t q, from;
  uint8_t unused[2];
} lmk_jump_term;

/* Terms [first, first + count) of the table. */
typedef struct lmk_jump_pattern {
  uint32_t first, count;
} lmk_jump_pattern;

/* f_q of a cell of a block, by a pattern, from `cells` [first, ...). */
typedef struct lmk_jump_link {
  uint32_t first;
  uint32_t packed; /* pattern << 11 | q << 6 | bit */
} lmk_jump_link;

enum { LMK_JUMP_MAX_PATTERNS = 1 << 21 };

/* The links of block b are those in [first[b], first[b + 1]), by rising bit, then q: none away from jumps. */
typedef struct lmk_jumps {
  const uint32_t *first;
  const lmk_jump_link *links;
  const int32_t *cells;
  const lmk_jump_pattern *patterns;
  const lmk_jump_term *terms;
  const void *from[LMK_FROM_MEMORY]; /* fields, by kind of source */
  int64_t link_count, cell_count, pattern_count, term_count;
} lmk_jumps;

LMK_INLINE int lmk_jump_bit(lmk_jump_link link)
{
  return (int)(link.packed & 63u);
}

LMK_INLINE int lmk_jump_q(lmk_jump_link link)
{
  return (int)(link.packed >> 6 & 31u);
}

LMK_INLINE uint32_t lmk_jump_pattern_of(lmk_jump_link link)
{
  return link.packed >> 11;
}

/* Populations to be kept before their field is written again: component q of a cell, which entry i keeps as component q
 * of cell i. A launch is over runs of LMK_ASIDE_RUN entries. */
typedef struct lmk_aside_entry {
  int32_t cell, q;
} lmk_aside_entry;

enum { LMK_ASIDE_RUN = 256 };

typedef struct lmk_aside {
  const void *source;
  void *target;
  const lmk_aside_entry *entries;
  int64_t count;
  int32_t velocities;
} lmk_aside;

LMK_INLINE int64_t lmk_cell_element(int32_t cell, int q, int velocities)
{
  return (((int64_t)(cell >> 6) * velocities + q) << 6) + (cell & 63);
}

#endif
