/* SPDX-License-Identifier: Apache-2.0 */
/* The host's traversal: rows of cells. One text for every streaming pattern and layout, because these differ only in
 * where a row reads and writes each population (docs/dev/kernels.md).
 *
 * Traffic: 2 Q sizeof(LMK_REAL) bytes a cell in place (read and written once); two grids add the write-allocate.
 *
 * The body of the fast loop is one cache line of cells a stream, all streams prefetched ahead. Row ends, rows along
 * moving walls, short rows and strided layouts go through a staged block: populations are gathered into a line-sized
 * buffer, the few lanes that a wall or the far end of the row supplies are put in, and the same collision runs on the
 * buffer. */

#include "rows.h"

#ifndef LMK_BLOCK_LINES
#define LMK_BLOCK_LINES 1
#endif
/* Cells of a cache line, and of a block. */
enum { LMK_NAME(LINE) = 64 / sizeof(LMK_REAL), LMK_NAME(LANES) = LMK_BLOCK_LINES * LMK_NAME(LINE) };

/* First half of a cell's update: populations to the collision's state, kept by lane. The bodies of vector loops must
 * stay functions with arrays of their own: written into the loop, gcc privatises the array and leaves the loop scalar
 * without a word. */
LMK_INLINE LMK_REAL LMK_NAME(prepare_cell)(LMK_REAL *const *read, int64_t x, int lane,
                                           const LMK_NAME(constants) * constants, LMK_REAL (*states)[LMK_NAME(LANES)])
{
  LMK_REAL g[LMK_Q], state[LMK_STATE];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    g[q] = read[q][x + lane];
  const LMK_REAL drho = LMK_NAME(prepare)(g, constants, state);
  LMK_UNROLL
  for (int i = 0; i < LMK_STATE; i++)
    states[i][lane] = state[i];
  return drho;
}

/* Second half, stored. In-place rows away from walls write f*_q where they read f_opposite: half the pointers
 * (write == NULL). Pair by pair, each loaded and stored on its own: the slots of a pair are nobody else's in every
 * streaming pattern, and 27 populations do not fit 16 registers. */
#if LMK_PAIRWISE
LMK_INLINE void LMK_NAME(finish_cell)(LMK_REAL *const *read, LMK_REAL *const *write, int64_t x,
                                      const LMK_NAME(constants) * constants, const LMK_REAL *state)
{
  const LMK_NAME(relaxation) r = LMK_NAME(begin)(constants, state);
#define LMK_FINISH_PAIR(k, cx, cy, cz, w)                             \
  {                                                                   \
    LMK_REAL up = read[LMK_UP(k)][x], down = read[LMK_DOWN(k)][x];    \
    LMK_NAME(finish_pair)(&r, cx, cy, cz, w, &up, &down);             \
    (write != NULL ? write[LMK_UP(k)] : read[LMK_DOWN(k)])[x] = up;   \
    (write != NULL ? write[LMK_DOWN(k)] : read[LMK_UP(k)])[x] = down; \
  }
  LMK_PAIRS(LMK_FINISH_PAIR)
#undef LMK_FINISH_PAIR
  (write != NULL ? write : read)[LMK_REST][x] = LMK_NAME(finish_rest)(&r, read[LMK_REST][x]);
}
#else
LMK_INLINE void LMK_NAME(finish_cell)(LMK_REAL *const *read, LMK_REAL *const *write, int64_t x,
                                      const LMK_NAME(constants) * constants, const LMK_REAL *state)
{
  LMK_REAL g[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    g[q] = read[q][x];
  LMK_NAME(finish_whole)(g, constants, state);
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    (write != NULL ? write[q] : read[LMK_Q - 1 - q])[x] = g[q];
}
#endif

LMK_INLINE void LMK_NAME(finish_lane)(LMK_REAL *const *read, LMK_REAL *const *write, int64_t x, int lane,
                                      const LMK_NAME(constants) * constants, LMK_REAL (*states)[LMK_NAME(LANES)])
{
  LMK_REAL state[LMK_STATE];
  LMK_UNROLL
  for (int i = 0; i < LMK_STATE; i++)
    state[i] = states[i][lane];
  LMK_NAME(finish_cell)(read, write, x + lane, constants, state);
}

/* A block of LANES cells: all prepared, then all finished, so that the vectors of a block overlap. */
LMK_INLINE LMK_REAL LMK_NAME(update_block)(LMK_REAL *const *read, LMK_REAL *const *write, int64_t x,
                                           const LMK_NAME(constants) * constants)
{
  _Alignas(64) LMK_REAL states[LMK_STATE][LMK_NAME(LANES)];
  LMK_REAL probe = LMK_C(0);
#pragma omp simd reduction(+ : probe)
  for (int lane = 0; lane < LMK_NAME(LANES); lane++)
    probe = LMK_FMA(LMK_C(0), LMK_NAME(prepare_cell)(read, x, lane, constants, states), probe);
#pragma omp simd
  for (int lane = 0; lane < LMK_NAME(LANES); lane++)
    LMK_NAME(finish_lane)(read, write, x, lane, constants, states);
  return probe;
}

/* Velocity components along x by rank, as a table: only staged blocks look them up. */
static const int8_t LMK_NAME(cx)[LMK_Q] = {
#define LMK_CX_OF_PAIR(k, cx, cy, cz, w) [LMK_UP(k)] = (cx), [LMK_DOWN(k)] = -(cx),
  LMK_PAIRS(LMK_CX_OF_PAIR)
#undef LMK_CX_OF_PAIR
};

/* Any part of a row, any stride, with the momentum of a moving wall. */
static void LMK_NAME(gather)(const lmk_rows *rows, int64_t x, int count, LMK_REAL (*block)[LMK_NAME(LANES)])
{
  for (int q = 0; q < LMK_Q; q++) {
    const LMK_REAL *source = (const LMK_REAL *)rows->read[q] + x * rows->stride;
    const LMK_REAL add = (LMK_REAL)rows->add[q];
    for (int i = 0; i < count; i++)
      block[q][i] = source[i * rows->stride] + add;
    for (int i = count; i < LMK_NAME(LANES); i++)
      block[q][i] = LMK_C(0);
  }
}

/* A whole line of neighbouring cells away from moving walls: the two of every long row. */
LMK_INLINE void LMK_NAME(gather_line)(const lmk_rows *rows, int64_t x, LMK_REAL (*block)[LMK_NAME(LANES)])
{
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    memcpy(block[q], (const LMK_REAL *)rows->read[q] + x, sizeof block[q]);
}

/* What enters through the ends of the row takes the place of what lies past them. */
LMK_INLINE void LMK_NAME(gather_ends)(const lmk_rows *rows, int count, bool at_low, bool at_high,
                                      LMK_REAL (*block)[LMK_NAME(LANES)])
{
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++) {
    const int cx = LMK_NAME(cx)[q];
    if (cx > 0 && at_low)
      block[q][0] = *(const LMK_REAL *)rows->edge_read[q] + (LMK_REAL)rows->edge_add[q];
    if (cx < 0 && at_high)
      block[q][count - 1] = *(const LMK_REAL *)rows->edge_read[q] + (LMK_REAL)rows->edge_add[q];
  }
}

/* A population that leaves the row through an end goes to edge_write, never past the end of the row: what lies there
 * belongs to the next row. */
static void LMK_NAME(scatter)(const lmk_rows *rows, int64_t x, int count, bool at_low, bool at_high,
                              LMK_REAL (*block)[LMK_NAME(LANES)])
{
  for (int q = 0; q < LMK_Q; q++) {
    LMK_REAL *target = (LMK_REAL *)rows->write[q] + x * rows->stride;
    const int cx = LMK_NAME(cx)[q];
    const bool leaves_low = cx < 0 && at_low, leaves_high = cx > 0 && at_high;
    if (leaves_low)
      *(LMK_REAL *)rows->edge_write[q] = block[q][0];
    if (leaves_high)
      *(LMK_REAL *)rows->edge_write[q] = block[q][count - 1];
    for (int i = leaves_low; i < count - leaves_high; i++)
      target[i * rows->stride] = block[q][i];
  }
}

/* scatter() of a whole line at one end of a long row, in moves of constant size. */
LMK_INLINE void LMK_NAME(scatter_line)(const lmk_rows *rows, int64_t x, const bool low,
                                       LMK_REAL (*block)[LMK_NAME(LANES)])
{
  const int last = LMK_NAME(LANES) - 1;
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++) {
    LMK_REAL *target = (LMK_REAL *)rows->write[q] + x;
    const int cx = LMK_NAME(cx)[q];
    if (low && cx < 0) {
      *(LMK_REAL *)rows->edge_write[q] = block[q][0];
      memcpy(target + 1, block[q] + 1, (size_t)last * sizeof(LMK_REAL));
    } else if (!low && cx > 0) {
      *(LMK_REAL *)rows->edge_write[q] = block[q][last];
      memcpy(target, block[q], (size_t)last * sizeof(LMK_REAL));
    } else {
      memcpy(target, block[q], sizeof block[q]);
    }
  }
}

LMK_INLINE LMK_REAL LMK_NAME(collide_block)(LMK_REAL (*block)[LMK_NAME(LANES)], const LMK_NAME(constants) * constants)
{
  LMK_REAL *lanes[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    lanes[q] = block[q];
  const LMK_NAME(constants) local = *constants;
  return LMK_NAME(update_block)(lanes, lanes, 0, &local);
}

static __attribute__((noinline)) LMK_REAL LMK_NAME(update_part)(const lmk_rows *rows, int64_t x, int count,
                                                                const LMK_NAME(constants) * constants)
{
  _Alignas(64) LMK_REAL block[LMK_Q][LMK_NAME(LANES)];
  const bool at_low = x == 0, at_high = x + count == rows->cells;
  LMK_NAME(gather)(rows, x, count, block);
  LMK_NAME(gather_ends)(rows, count, at_low, at_high, block);
  const LMK_REAL probe = LMK_NAME(collide_block)(block, constants);
  LMK_NAME(scatter)(rows, x, count, at_low, at_high, block);
  return probe;
}

/* The line at the low or high end of a long row. */
static __attribute__((noinline)) LMK_REAL LMK_NAME(update_end)(const lmk_rows *rows, bool low,
                                                               const LMK_NAME(constants) * constants)
{
  _Alignas(64) LMK_REAL block[LMK_Q][LMK_NAME(LANES)];
  const int64_t x = low ? 0 : rows->cells - LMK_NAME(LANES);
  LMK_NAME(gather_line)(rows, x, block);
  LMK_NAME(gather_ends)(rows, LMK_NAME(LANES), low, !low, block);
  const LMK_REAL probe = LMK_NAME(collide_block)(block, constants);
  if (low)
    LMK_NAME(scatter_line)(rows, x, true, block);
  else
    LMK_NAME(scatter_line)(rows, x, false, block);
  return probe;
}

/* Whole blocks from `begin` to `end`, every stream fetched ahead by the line. */
#define LMK_BLOCKS(write_or_null)                                        \
  const LMK_NAME(constants) local = *constants;                          \
  const int64_t ahead = rows->prefetch_cells;                            \
  LMK_REAL probe = LMK_C(0);                                             \
  for (int64_t x = begin; x < end; x += LMK_NAME(LANES)) {               \
    LMK_UNROLL                                                           \
    for (int q = 0; q < LMK_Q; q++)                                      \
      for (int line = 0; line < LMK_NAME(LANES); line += LMK_NAME(LINE)) \
        __builtin_prefetch(read[q] + x + ahead + line, 1, 3);            \
    probe += LMK_NAME(update_block)(read, write_or_null, x, &local);     \
  }                                                                      \
  return probe;

static __attribute__((noinline)) LMK_REAL LMK_NAME(update_blocks)(const lmk_rows *rows, int64_t begin, int64_t end,
                                                                  const LMK_NAME(constants) * constants)
{
  LMK_REAL *read[LMK_Q], *write[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++) {
    read[q] = (LMK_REAL *)rows->read[q];
    write[q] = (LMK_REAL *)rows->write[q];
  }
  LMK_BLOCKS(write)
}

static __attribute__((noinline)) LMK_REAL LMK_NAME(update_blocks_in_place)(const lmk_rows *rows, int64_t begin,
                                                                           int64_t end,
                                                                           const LMK_NAME(constants) * constants)
{
  LMK_REAL *read[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    read[q] = (LMK_REAL *)rows->read[q];
  LMK_BLOCKS(NULL)
}
#undef LMK_BLOCKS

/* Adds 0 * (density - 1) of every cell: 0 while all are finite. */
LMK_INLINE LMK_REAL LMK_NAME(update_row)(const lmk_rows *rows, const LMK_NAME(constants) * constants)
{
  const int64_t lanes = LMK_NAME(LANES), cells = rows->cells;
  LMK_REAL probe = LMK_C(0);
  int64_t x = 0;
  if (rows->stride == 1 && !rows->has_add && cells >= 2 * lanes) {
    const int64_t rest = cells % lanes;
    const int64_t end = cells - (rest > 0 ? rest : lanes);
    probe += LMK_NAME(update_end)(rows, true, constants);
    if (rows->in_place)
      probe += LMK_NAME(update_blocks_in_place)(rows, lanes, end, constants);
    else
      probe += LMK_NAME(update_blocks)(rows, lanes, end, constants);
    if (rest == 0)
      return probe + LMK_NAME(update_end)(rows, false, constants);
    x = end;
  }
  for (; x < cells; x += lanes) {
    const int count = cells - x < lanes ? (int)(cells - x) : LMK_NAME(LANES);
    probe += LMK_NAME(update_part)(rows, x, count, constants);
  }
  return probe;
}

/* Updates rows->count rows. Returns the index of the first one with a non-finite cell, or -1. */
int64_t LMK_NAME(update_rows)(lmk_rows *rows, const lmk_rates *rates);
int64_t LMK_NAME(update_rows)(lmk_rows *rows, const lmk_rates *rates)
{
  const LMK_NAME(constants) constants = {
    .omega = (LMK_REAL)rates->omega,
    .omega_minus = (LMK_REAL)rates->omega_minus,
    .tau = (LMK_REAL)(1.0 / rates->omega),
    .les = (LMK_REAL)rates->les,
    .fx = (LMK_REAL)rates->force[0],
    .fy = (LMK_REAL)rates->force[1],
    .fz = (LMK_REAL)rates->force[2],
  };
  int64_t bad = -1;
  for (int64_t row = 0; row < rows->count; row++) {
    const LMK_REAL probe = LMK_NAME(update_row)(rows, &constants);
    if (bad < 0 && !(probe == LMK_C(0)))
      bad = row;
    lmk_rows_advance(rows, LMK_Q);
  }
  return bad;
}
