/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels over a level of blocks get beside the blocks themselves: populations that no plain neighbour supplies.
 * On such a link f_q of a cell is a sum of weights times populations that lie in one of a few places: in this level, in
 * the coarser level's state at the start of its step, in the finer level's states at the start and in the middle of
 * this level's step, or set aside. Weights depend on the geometry alone and add up to 1, so that shifted populations
 * need no care; what a moving wall adds is one more term. Which terms make the scheme of a jump is grid/level_links.c's
 * affair.
 *
 * Element of component q of a cell: (block * Q + q) * 64 + bit, with cell = 64 * block + bit. */
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

LMK_INLINE int64_t lmk_cell_element(int32_t cell, int q, int velocities)
{
  return (((int64_t)(cell >> 6) * velocities + q) << 6) + (cell & 63);
}

#endif
