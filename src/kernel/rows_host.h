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

enum { LMK_NAME(LANES) = 64 / sizeof(LMK_REAL) };

/* One cell of the fast loop. It must stay a function of its own with its own array: written into the loop, gcc
 * privatises the array and leaves the loop scalar without a word. */
LMK_INLINE LMK_REAL LMK_NAME(update_cell)(LMK_REAL *const *read, LMK_REAL *const *write, int64_t x,
                                          const LMK_NAME(constants) * constants)
{
  LMK_REAL g[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    g[q] = read[q][x];
  const LMK_REAL drho = LMK_NAME(collide)(g, constants);
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    write[q][x] = g[q];
  return drho;
}

/* In-place rows away from walls write f*_q where they read f_opposite: half the pointers. */
LMK_INLINE LMK_REAL LMK_NAME(update_cell_in_place)(LMK_REAL *const *read, int64_t x,
                                                   const LMK_NAME(constants) * constants)
{
  LMK_REAL g[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    g[q] = read[q][x];
  const LMK_REAL drho = LMK_NAME(collide)(g, constants);
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    read[LMK_Q - 1 - q][x] = g[q];
  return drho;
}

LMK_INLINE LMK_REAL LMK_NAME(collide_lane)(LMK_REAL (*block)[LMK_NAME(LANES)], int lane,
                                           const LMK_NAME(constants) * constants)
{
  LMK_REAL g[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    g[q] = block[q][lane];
  const LMK_REAL drho = LMK_NAME(collide)(g, constants);
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    block[q][lane] = g[q];
  return drho;
}

/* Velocity components along x by rank, as a table: only staged blocks look them up. */
static const int8_t LMK_NAME(cx)[LMK_Q] = {
#define LMK_CX_OF_PAIR(k, cx, cy, cz, w) [LMK_UP(k)] = (cx), [LMK_DOWN(k)] = -(cx),
  LMK_PAIRS(LMK_CX_OF_PAIR)
#undef LMK_CX_OF_PAIR
};

static void LMK_NAME(gather)(const lmk_rows *rows, int64_t x, int count, bool at_low, bool at_high,
                             LMK_REAL (*block)[LMK_NAME(LANES)])
{
  for (int q = 0; q < LMK_Q; q++) {
    const LMK_REAL *source = (const LMK_REAL *)rows->read[q] + x * rows->stride;
    const LMK_REAL add = (LMK_REAL)rows->add[q];
    LMK_REAL *lane = block[q];
    for (int i = 0; i < count; i++)
      lane[i] = source[i * rows->stride] + add;
    for (int i = count; i < LMK_NAME(LANES); i++)
      lane[i] = LMK_C(0);
    const int cx = LMK_NAME(cx)[q];
    if (cx > 0 && at_low)
      lane[0] = *(const LMK_REAL *)rows->edge_read[q] + (LMK_REAL)rows->edge_add[q];
    if (cx < 0 && at_high)
      lane[count - 1] = *(const LMK_REAL *)rows->edge_read[q] + (LMK_REAL)rows->edge_add[q];
  }
}

/* A population that leaves the row through an end goes to edge_write, never past the end of the row: what lies there
 * belongs to the next row. */
static void LMK_NAME(scatter)(const lmk_rows *rows, int64_t x, int count, bool at_low, bool at_high,
                              LMK_REAL (*block)[LMK_NAME(LANES)])
{
  for (int q = 0; q < LMK_Q; q++) {
    LMK_REAL *target = (LMK_REAL *)rows->write[q] + x * rows->stride;
    const LMK_REAL *lane = block[q];
    const int cx = LMK_NAME(cx)[q];
    int first = 0, end = count;
    if (cx < 0 && at_low) {
      *(LMK_REAL *)rows->edge_write[q] = lane[0];
      first = 1;
    }
    if (cx > 0 && at_high) {
      *(LMK_REAL *)rows->edge_write[q] = lane[count - 1];
      end = count - 1;
    }
    for (int i = first; i < end; i++)
      target[i * rows->stride] = lane[i];
  }
}

static __attribute__((noinline)) LMK_REAL LMK_NAME(update_staged)(const lmk_rows *rows, int64_t x, int count,
                                                                  const LMK_NAME(constants) * constants)
{
  _Alignas(64) LMK_REAL block[LMK_Q][LMK_NAME(LANES)];
  const bool at_low = x == 0, at_high = x + count == rows->cells;
  LMK_NAME(gather)(rows, x, count, at_low, at_high, block);
  const LMK_NAME(constants) local = *constants;
  LMK_REAL probe = LMK_C(0);
#pragma omp simd reduction(+ : probe)
  for (int lane = 0; lane < LMK_NAME(LANES); lane++)
    probe += LMK_C(0) * LMK_NAME(collide_lane)(block, lane, &local);
  LMK_NAME(scatter)(rows, x, count, at_low, at_high, block);
  return probe;
}

static __attribute__((noinline)) LMK_REAL LMK_NAME(update_lines)(const lmk_rows *rows, int64_t begin, int64_t end,
                                                                 const LMK_NAME(constants) * constants)
{
  LMK_REAL *read[LMK_Q], *write[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++) {
    read[q] = (LMK_REAL *)rows->read[q];
    write[q] = (LMK_REAL *)rows->write[q];
  }
  const LMK_NAME(constants) local = *constants;
  const int64_t ahead = rows->prefetch_cells;
  LMK_REAL probe = LMK_C(0);
  for (int64_t x = begin; x < end; x += LMK_NAME(LANES)) {
    LMK_UNROLL
    for (int q = 0; q < LMK_Q; q++)
      __builtin_prefetch(read[q] + x + ahead, 1, 3);
#pragma omp simd reduction(+ : probe)
    for (int lane = 0; lane < LMK_NAME(LANES); lane++)
      probe += LMK_C(0) * LMK_NAME(update_cell)(read, write, x + lane, &local);
  }
  return probe;
}

static __attribute__((noinline)) LMK_REAL
LMK_NAME(update_lines_in_place)(const lmk_rows *rows, int64_t begin, int64_t end, const LMK_NAME(constants) * constants)
{
  LMK_REAL *read[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    read[q] = (LMK_REAL *)rows->read[q];
  const LMK_NAME(constants) local = *constants;
  const int64_t ahead = rows->prefetch_cells;
  LMK_REAL probe = LMK_C(0);
  for (int64_t x = begin; x < end; x += LMK_NAME(LANES)) {
    LMK_UNROLL
    for (int q = 0; q < LMK_Q; q++)
      __builtin_prefetch(read[q] + x + ahead, 1, 3);
#pragma omp simd reduction(+ : probe)
    for (int lane = 0; lane < LMK_NAME(LANES); lane++)
      probe += LMK_C(0) * LMK_NAME(update_cell_in_place)(read, x + lane, &local);
  }
  return probe;
}

/* Adds 0 * (density - 1) of every cell: 0 while all are finite. */
static LMK_REAL LMK_NAME(update_row)(const lmk_rows *rows, const LMK_NAME(constants) * constants)
{
  const int64_t lanes = LMK_NAME(LANES), cells = rows->cells;
  LMK_REAL probe = LMK_C(0);
  int64_t x = 0;
  if (rows->stride == 1 && !rows->has_add && cells >= 2 * lanes) {
    probe += LMK_NAME(update_staged)(rows, 0, LMK_NAME(LANES), constants);
    const int64_t end = lanes + (cells - lanes - 1) / lanes * lanes; /* leaves 1 to LANES cells for the far end */
    if (rows->in_place)
      probe += LMK_NAME(update_lines_in_place)(rows, lanes, end, constants);
    else
      probe += LMK_NAME(update_lines)(rows, lanes, end, constants);
    x = end;
  }
  for (; x < cells; x += lanes) {
    const int count = cells - x < lanes ? (int)(cells - x) : LMK_NAME(LANES);
    probe += LMK_NAME(update_staged)(rows, x, count, constants);
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
