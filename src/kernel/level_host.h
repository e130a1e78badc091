/* SPDX-License-Identifier: Apache-2.0 */
/* The host's traversal of a level of blocks, on the collision of rows_host.h: pull from one buffer into another.
 *
 * Traffic: 3 Q sizeof(LMK_SCALAR) bytes a cell (read, write-allocate, write). The populations of a block are gathered
 * into a buffer of the first-level cache, row by row, from the blocks around it; links put theirs in; then the buffer
 * runs through the pipeline of vectors, which stores into the target. */

#if LMK_HAS_Y
#define LMK_BLOCK_X 4
#define LMK_BLOCK_Y 4
#define LMK_BLOCK_Z 4
#define LMK_ROW_AFTER(side, own) __builtin_shufflevector(side, own, 3, 4, 5, 6)
#define LMK_ROW_BEFORE(own, side) __builtin_shufflevector(own, side, 1, 2, 3, 4)
#else
#define LMK_BLOCK_X 8
#define LMK_BLOCK_Y 1
#define LMK_BLOCK_Z 8
#define LMK_ROW_AFTER(side, own) __builtin_shufflevector(side, own, 7, 8, 9, 10, 11, 12, 13, 14)
#define LMK_ROW_BEFORE(own, side) __builtin_shufflevector(own, side, 1, 2, 3, 4, 5, 6, 7, 8)
#endif

typedef LMK_SCALAR LMK_NAME(block_row) __attribute__((vector_size(LMK_BLOCK_X * sizeof(LMK_SCALAR)), may_alias));

/* f_q of a block: each row of cells is one of a block beside it, shifted where the velocity has a part along x. */
LMK_INLINE void LMK_NAME(gather_component)(const LMK_SCALAR *source, const int64_t *base, int q, int cx, int cy, int cz,
                                           LMK_SCALAR *lanes)
{
  LMK_UNROLL
  for (int row = 0; row < LMK_BLOCK_Y * LMK_BLOCK_Z; row++) {
    const int y = row % LMK_BLOCK_Y - cy, z = row / LMK_BLOCK_Y - cz;
    const int dy = y < 0 ? -1 : y >= LMK_BLOCK_Y, dz = z < 0 ? -1 : z >= LMK_BLOCK_Z;
    const int beside = (dz + 1) * 9 + (dy + 1) * 3 + 1;
    const int inside = ((z & (LMK_BLOCK_Z - 1)) * LMK_BLOCK_Y + (y & (LMK_BLOCK_Y - 1))) * LMK_BLOCK_X;
    LMK_NAME(block_row) own, side, shifted;
    memcpy(&own, source + base[beside] + q * 64 + inside, sizeof own);
    shifted = own;
    if (cx != 0) {
      memcpy(&side, source + base[beside - cx] + q * 64 + inside, sizeof side);
      shifted = cx > 0 ? LMK_ROW_AFTER(side, own) : LMK_ROW_BEFORE(own, side);
    }
    memcpy(lanes + row * LMK_BLOCK_X, &shifted, sizeof shifted);
  }
}

static __attribute__((noinline)) void LMK_NAME(gather_block)(const lmk_level_step *step, int64_t block,
                                                             LMK_SCALAR (*lanes)[64])
{
  const LMK_SCALAR *source = step->from[LMK_FROM_OWN];
  int64_t base[27];
  for (int i = 0; i < 27; i++)
    base[i] = (int64_t)step->neighbour[block][i] * LMK_Q * 64;
  LMK_NAME(gather_component)(source, base, LMK_REST, 0, 0, 0, lanes[LMK_REST]);
#define LMK_GATHER_PAIR(k, cx, cy, cz, w)                                            \
  LMK_NAME(gather_component)(source, base, LMK_UP(k), cx, cy, cz, lanes[LMK_UP(k)]); \
  LMK_NAME(gather_component)(source, base, LMK_DOWN(k), -(cx), -(cy), -(cz), lanes[LMK_DOWN(k)]);
  LMK_PAIRS(LMK_GATHER_PAIR)
#undef LMK_GATHER_PAIR
}

/* What no plain neighbour supplies; and rest where no cell of this level is. */
static __attribute__((noinline)) void LMK_NAME(put_links)(const lmk_level_step *step, int64_t block,
                                                          LMK_SCALAR (*lanes)[64])
{
  const LMK_SCALAR *weights = step->weights;
  const lmk_links *links = &step->links;
  for (uint32_t i = links->first[block]; i < links->first[block + 1]; i++) {
    const lmk_link *link = &links->links[i];
    LMK_SCALAR sum = 0;
    for (uint32_t t = link->first; t < link->first + link->count; t++) {
      const lmk_term *term = &links->terms[t];
      const LMK_SCALAR *source = step->from[term->from];
      sum = _Generic(sum, float
                     : lmk_fma_f32, double
                     : lmk_fma_f64)(weights[term->weight], source[lmk_cell_element(term->cell, term->q, LMK_Q)], sum);
    }
    lanes[link->q][link->bit] = sum;
  }
  for (uint64_t idle = ~step->leaf[block]; idle != 0; idle &= idle - 1)
    for (int q = 0; q < LMK_Q; q++)
      lanes[q][__builtin_ctzll(idle)] = 0;
}

/* 0 * (density - 1), summed: 0 while all cells are finite. */
static __attribute__((noinline)) LMK_SCALAR LMK_NAME(collide_block)(LMK_SCALAR *read, LMK_SCALAR *write,
                                                                    const LMK_NAME(constants) * constants)
{
  static const lmk_rows no_rows;
  LMK_SCALAR *from[LMK_Q], *to[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++) {
    from[q] = read + q * 64;
    to[q] = write + q * 64;
  }
  const LMK_NAME(constants) local = *constants;
  const LMK_NAME(row) row = {from, to, &no_rows, &local};
  LMK_NAME(vector) at = {0, LMK_INNER}, next = {0, LMK_INNER};
  LMK_NAME(moments) m;
  LMK_REAL probe = LMK_C(0);
  LMK_NAME(take_moments)(&row, at, &m);
  for (; at.x < 64;
       at = next) { /* behind the last one nothing comes: the moments of the first are found again, for nothing */
    next.x = at.x + LMK_NAME(WIDTH);
    const LMK_NAME(vector) after = {next.x & 63, LMK_INNER};
    probe += LMK_NAME(update_vector)(&row, at, after, false, &m);
  }
  return LMK_NAME(sum_of_lanes)(probe);
}

/* Blocks [first, first + count): returns the first with a non-finite cell, or -1. */
int64_t LMK_NAME(update_level)(const lmk_level_step *step, int what, int64_t first, int64_t count);
int64_t LMK_NAME(update_level)(const lmk_level_step *step, int what, int64_t first, int64_t count)
{
  const lmk_rates *rates = &step->rates;
  const LMK_NAME(constants) constants = {
    .omega = LMK_C(rates->omega),
    .omega_minus = LMK_C(rates->omega_minus),
    .tau = LMK_C(1.0 / rates->omega),
    .les = LMK_C(rates->les),
    .fx = LMK_C(rates->force[0]),
    .fy = LMK_C(rates->force[1]),
    .fz = LMK_C(rates->force[2]),
  };
  int64_t bad = -1;
  for (int64_t block = first; block < first + count; block++) {
    _Alignas(64) LMK_SCALAR gathered[LMK_Q][64];
    LMK_SCALAR *target = (LMK_SCALAR *)step->target + block * LMK_Q * 64;
    LMK_SCALAR *lanes = target;
    if (what != LMK_LEVEL_COLLIDE) {
      LMK_NAME(gather_block)(step, block, gathered);
      if (step->links.first[block] < step->links.first[block + 1] || ~step->leaf[block] != 0)
        LMK_NAME(put_links)(step, block, gathered);
      lanes = gathered[0];
    }
    if (what == LMK_LEVEL_STREAM)
      memcpy(target, gathered, sizeof gathered);
    else if (!(LMK_NAME(collide_block)(lanes, target, &constants) == 0) && bad < 0)
      bad = block;
  }
  return bad;
}

#undef LMK_BLOCK_X
#undef LMK_BLOCK_Y
#undef LMK_BLOCK_Z
#undef LMK_ROW_AFTER
#undef LMK_ROW_BEFORE
