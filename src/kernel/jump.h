/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels over a level of blocks get beside the blocks themselves: populations that no plain neighbour supplies.
 * On such a link f_q of a cell is a sum of weights times populations that lie in one of a few places: in this level, in
 * the coarser level's state at the start of its step, in the finer level's states at the start and in the middle of
 * this level's step, or set aside. Weights depend on the geometry alone and add up to 1, so that shifted populations
 * need no care; what a moving wall adds is one more term. Which terms make the scheme of a jump is grid/level_links.c's
 * affair.
 *
 * Include dense.h before it. Element of component q of a cell: (block * Q + q) * 64 + bit, with cell = 64 * block +
 * bit. */
#ifndef LMK_JUMP_H
#define LMK_JUMP_H

enum {
  LMK_FROM_OWN,    /* this level, before its step */
  LMK_FROM_COARSE, /* the coarser level, at the start of its step */
  LMK_FROM_OLD,    /* the finer level, at the start of this step */
  LMK_FROM_NEW,    /* the finer level, after its first half of this step */
  LMK_FROM_ASIDE,  /* populations of this level kept from the start of the coarser step */
  LMK_FROM_WALL,   /* cell = face: the momentum a moving wall gives to f_q */
  LMK_FROM_COUNT
};

typedef struct lmk_term {
  int32_t cell;
  uint8_t q, from;
  uint16_t weight; /* in the table of weights */
} lmk_term;

/* f_q of the cell at `bit` of its block is the sum of terms [first, first + count). */
typedef struct lmk_link {
  uint32_t first;
  uint16_t count;
  uint8_t q, bit;
} lmk_link;

/* The links of block b are those in [first[b], first[b + 1]): none for a plain one. */
typedef struct lmk_links {
  const uint32_t *first;
  const lmk_link *links;
  const lmk_term *terms;
} lmk_links;

/* What a launch over blocks of a level does: stream and collide from one buffer into the other; the first half of that;
 * the second half, in place. */
enum { LMK_LEVEL_STEP, LMK_LEVEL_STREAM, LMK_LEVEL_COLLIDE };

/* Arguments of a launch over blocks [first, first + count) of a level. Blocks are 4 x 4 x 4 cells, 8 x 1 x 8 in two
 * dimensions. */
typedef struct lmk_level_step {
  const void *from[LMK_FROM_COUNT]; /* populations, by kind of source; the level's own state first */
  void *target;
  const int32_t (*neighbour)[27]; /* (dz + 1) * 9 + (dy + 1) * 3 + dx + 1; the block itself where there is none */
  const uint64_t *leaf;           /* by block: cells that belong to the level; the others stay at rest */
  lmk_links links;
  const void *weights; /* in the arithmetic type */
  lmk_rates rates;
} lmk_level_step;

/* Populations to be kept before their buffer is written again: component q of a cell. Entry i becomes component i %
 * velocities of cell i / velocities of the target. A launch is over runs of LMK_ASIDE_RUN entries. */
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
