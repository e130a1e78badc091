/* SPDX-License-Identifier: Apache-2.0 */
/* The host's traversal: rows of cells. One text for every streaming pattern and layout, because these differ only in
 * where a row reads and writes each population (docs/dev/kernels.md).
 *
 * Traffic: 2 Q sizeof(LMK_SCALAR) bytes a cell in place (read and written once); two grids add the write-allocate.
 *
 * A long row goes through as one pipeline of vectors: each is finished while the moments of the next are found. Its
 * first and last vector are the same text with a lane put in, or taken out, where a population enters or leaves through
 * an end of the row. Rows along moving walls, short rows, remainders and strided layouts go through a staged block:
 * populations are gathered into a line-sized buffer, and the same text runs on the buffer. */

#include "rows.h"

/* Cells of a cache line: a block. */
enum { LMK_NAME(LANES) = 64 / sizeof(LMK_SCALAR) };

/* A vector of a row. */
enum { LMK_INNER, LMK_LOW_END, LMK_HIGH_END };
typedef struct LMK_NAME(vector) {
  int64_t x;
  int end;
} LMK_NAME(vector);

/* Where a row lies. In-place rows away from walls write f*_q where they read f_opposite: half the pointers
 * (write == NULL). */
typedef struct LMK_NAME(row) {
  LMK_SCALAR *const *read, *const *write;
  const lmk_rows *rows;
  const LMK_NAME(constants) * constants;
} LMK_NAME(row);

/* What is fetched while a vector is updated: nothing, the same populations prefetch_cells on, or (Q + 1) / 2 lines of
 * rows->fetch, as many as it takes to fetch as much as is updated. */
enum { LMK_FETCH_NOTHING, LMK_FETCH_AHEAD, LMK_FETCH_LINES };

/* f_q of a vector; what enters through an end of the row takes the place of what lies past it. */
LMK_INLINE LMK_REAL LMK_NAME(take)(const LMK_NAME(row) * row, LMK_NAME(vector) at, int q, int cx)
{
  LMK_REAL f = LMK_NAME(load)(row->read[q] + at.x);
  if (cx > 0 && at.end == LMK_LOW_END)
    f[0] = *(const LMK_SCALAR *)row->rows->edge_read[q] + (LMK_SCALAR)row->rows->edge_add[q];
  if (cx < 0 && at.end == LMK_HIGH_END)
    f[LMK_NAME(WIDTH) - 1] = *(const LMK_SCALAR *)row->rows->edge_read[q] + (LMK_SCALAR)row->rows->edge_add[q];
  return f;
}

/* f*_q of a vector. What leaves the row through an end goes to edge_write, never past the end: what lies there belongs
 * to another row. */
LMK_INLINE void LMK_NAME(give)(const LMK_NAME(row) * row, LMK_NAME(vector) at, int q, int cx, LMK_REAL f)
{
  LMK_SCALAR *const target = (row->write != NULL ? row->write[q] : row->read[LMK_Q - 1 - q]) + at.x;
  const bool leaves_low = cx < 0 && at.end == LMK_LOW_END, leaves_high = cx > 0 && at.end == LMK_HIGH_END;
  if (leaves_low || leaves_high) {
    LMK_SCALAR lanes[LMK_NAME(WIDTH)];
    memcpy(lanes, &f, sizeof f);
    *(LMK_SCALAR *)row->rows->edge_write[q] = lanes[leaves_low ? 0 : LMK_NAME(WIDTH) - 1];
    memcpy(target + leaves_low, lanes + leaves_low, sizeof f - sizeof(LMK_SCALAR));
  } else {
    LMK_NAME(store)(target, f);
  }
}

LMK_INLINE void LMK_NAME(take_moments)(const LMK_NAME(row) * row, LMK_NAME(vector) at, LMK_NAME(moments) * m)
{
  LMK_NAME(begin_moments)(LMK_NAME(take)(row, at, LMK_REST, 0), m);
#define LMK_TAKE_PAIR(k, cx, cy, cz, w) \
  LMK_NAME(add_pair)                    \
  (m, (k), (cx), (cy), (cz), LMK_NAME(take)(row, at, LMK_UP(k), (cx)), LMK_NAME(take)(row, at, LMK_DOWN(k), -(cx)));
  LMK_PAIRS(LMK_TAKE_PAIR)
#undef LMK_TAKE_PAIR
  LMK_NAME(end_moments)(row->constants, m);
}

/* The lines that are fetched while a vector is updated. */
LMK_INLINE const char *LMK_NAME(lines_of)(const LMK_NAME(row) * row, LMK_NAME(vector) at, const int fetches)
{
  return fetches == LMK_FETCH_LINES ? row->rows->fetch + at.x / LMK_NAME(WIDTH) * (64 * (LMK_Q / 2 + 1)) : NULL;
}

/* Finishes the vector `at`, whose moments are *m, and finds those of `next`. Returns 0 * (density - 1): 0 while it is
 * finite. `fetches` is one of LMK_FETCH_*.
 *
 * Both go on pair by pair: the loads of the next vector, which may come from afar, are spread over the arithmetic of
 * this one, the chain from its moments to its state is hidden behind it, and few registers are needed. The slots of a
 * pair are nobody else's in every streaming pattern. */
#if LMK_PAIRWISE
LMK_INLINE LMK_REAL LMK_NAME(update_vector)(const LMK_NAME(row) * row, LMK_NAME(vector) at, LMK_NAME(vector) next,
                                            const int fetches, LMK_NAME(moments) * m)
{
  LMK_REAL state[LMK_STATE];
  const LMK_REAL probe = LMK_C(0) * m->drho;
  const int64_t ahead = row->rows->prefetch_cells;
  const char *const line = LMK_NAME(lines_of)(row, at, fetches);
  LMK_NAME(prepare)(m, row->constants, state);
  const LMK_NAME(relaxation) r = LMK_NAME(begin)(row->constants, state);
  LMK_NAME(begin_moments)(LMK_NAME(take)(row, next, LMK_REST, 0), m);
#define LMK_UPDATE_PAIR(k, cx, cy, cz, w)                                     \
  {                                                                           \
    const LMK_REAL next_up = LMK_NAME(take)(row, next, LMK_UP(k), (cx));      \
    const LMK_REAL next_down = LMK_NAME(take)(row, next, LMK_DOWN(k), -(cx)); \
    LMK_NAME(add_pair)(m, (k), (cx), (cy), (cz), next_up, next_down);         \
    LMK_REAL up = LMK_NAME(take)(row, at, LMK_UP(k), (cx));                   \
    LMK_REAL down = LMK_NAME(take)(row, at, LMK_DOWN(k), -(cx));              \
    LMK_NAME(finish_pair)(&r, (cx), (cy), (cz), (w), &up, &down);             \
    LMK_NAME(give)(row, at, LMK_UP(k), (cx), up);                             \
    LMK_NAME(give)(row, at, LMK_DOWN(k), -(cx), down);                        \
    if (fetches == LMK_FETCH_LINES)                                           \
      __builtin_prefetch(line + 64 * (k), 1, 3);                              \
    if (fetches == LMK_FETCH_AHEAD) {                                         \
      __builtin_prefetch(row->read[LMK_UP(k)] + at.x + ahead, 1, 3);          \
      __builtin_prefetch(row->read[LMK_DOWN(k)] + at.x + ahead, 1, 3);        \
    }                                                                         \
  }
  LMK_PAIRS(LMK_UPDATE_PAIR)
#undef LMK_UPDATE_PAIR
  LMK_NAME(give)(row, at, LMK_REST, 0, LMK_NAME(finish_rest)(&r, LMK_NAME(take)(row, at, LMK_REST, 0)));
  if (fetches == LMK_FETCH_LINES)
    __builtin_prefetch(line + 64 * (LMK_Q / 2), 1, 3);
  if (fetches == LMK_FETCH_AHEAD)
    __builtin_prefetch(row->read[LMK_REST] + at.x + ahead, 1, 3);
  LMK_NAME(end_moments)(row->constants, m);
  return probe;
}
#else
LMK_INLINE LMK_REAL LMK_NAME(update_vector)(const LMK_NAME(row) * row, LMK_NAME(vector) at, LMK_NAME(vector) next,
                                            const int fetches, LMK_NAME(moments) * m)
{
  LMK_REAL state[LMK_STATE], g[LMK_Q];
  const LMK_REAL probe = LMK_C(0) * m->drho;
  LMK_NAME(prepare)(m, row->constants, state);
  LMK_NAME(finish_whole)(g, row->constants, state);
#define LMK_GIVE_PAIR(k, cx, cy, cz, w)                   \
  LMK_NAME(give)(row, at, LMK_UP(k), (cx), g[LMK_UP(k)]); \
  LMK_NAME(give)(row, at, LMK_DOWN(k), -(cx), g[LMK_DOWN(k)]);
  LMK_PAIRS(LMK_GIVE_PAIR)
#undef LMK_GIVE_PAIR
  LMK_NAME(give)(row, at, LMK_REST, 0, g[LMK_REST]);
  const char *const line = LMK_NAME(lines_of)(row, at, fetches);
  LMK_UNROLL
  for (int i = 0; i <= LMK_Q / 2 && fetches == LMK_FETCH_LINES; i++)
    __builtin_prefetch(line + 64 * i, 1, 3);
  LMK_UNROLL
  for (int q = 0; q < LMK_Q && fetches == LMK_FETCH_AHEAD; q++)
    __builtin_prefetch(row->read[q] + at.x + row->rows->prefetch_cells, 1, 3);
  LMK_NAME(take_moments)(row, next, m);
  return probe;
}
#endif

LMK_INLINE LMK_SCALAR LMK_NAME(sum_of_lanes)(LMK_REAL vector)
{
  LMK_SCALAR sum = vector[0];
  LMK_UNROLL
  for (int i = 1; i < LMK_NAME(WIDTH); i++)
    sum += vector[i];
  return sum;
}

/* update_vector() at and next to the ends of a row, where compiling it for each case would gain nothing. */
/* update_vector() without a next one: what it would find is dropped. */
LMK_INLINE LMK_REAL LMK_NAME(finish_vector)(const LMK_NAME(row) * row, LMK_NAME(vector) at, LMK_NAME(moments) m)
{
  return LMK_NAME(update_vector)(row, at, at, LMK_FETCH_NOTHING, &m);
}

/* Velocity components along x by rank, as a table: only staged blocks look them up. */
static const int8_t LMK_NAME(cx)[LMK_Q] = {
#define LMK_CX_OF_PAIR(k, cx, cy, cz, w) [LMK_UP(k)] = (cx), [LMK_DOWN(k)] = -(cx),
  LMK_PAIRS(LMK_CX_OF_PAIR)
#undef LMK_CX_OF_PAIR
};

/* Any part of a row, any stride, with the momentum of a moving wall. What enters through an end of the row stands in
 * edge_read; what lies past the end belongs to another row, which another thread may be writing. */
static void LMK_NAME(gather)(const lmk_rows *rows, int64_t x, int count, bool at_low, bool at_high,
                             LMK_SCALAR (*block)[LMK_NAME(LANES)])
{
  for (int q = 0; q < LMK_Q; q++) {
    const LMK_SCALAR *source = (const LMK_SCALAR *)rows->read[q] + x * rows->stride;
    const LMK_SCALAR add = (LMK_SCALAR)rows->add[q];
    const int cx = LMK_NAME(cx)[q];
    const bool enters_low = cx > 0 && at_low, enters_high = cx < 0 && at_high;
    for (int i = enters_low; i < count - enters_high; i++)
      block[q][i] = source[i * rows->stride] + add;
    for (int i = count; i < LMK_NAME(LANES); i++)
      block[q][i] = 0;
    if (enters_low)
      block[q][0] = *(const LMK_SCALAR *)rows->edge_read[q] + (LMK_SCALAR)rows->edge_add[q];
    if (enters_high)
      block[q][count - 1] = *(const LMK_SCALAR *)rows->edge_read[q] + (LMK_SCALAR)rows->edge_add[q];
  }
}

/* A population that leaves the row through an end goes to edge_write, never past the end of the row: what lies there
 * belongs to the next row. */
static void LMK_NAME(scatter)(const lmk_rows *rows, int64_t x, int count, bool at_low, bool at_high,
                              LMK_SCALAR (*block)[LMK_NAME(LANES)])
{
  for (int q = 0; q < LMK_Q; q++) {
    LMK_SCALAR *target = (LMK_SCALAR *)rows->write[q] + x * rows->stride;
    const int cx = LMK_NAME(cx)[q];
    const bool leaves_low = cx < 0 && at_low, leaves_high = cx > 0 && at_high;
    if (leaves_low)
      *(LMK_SCALAR *)rows->edge_write[q] = block[q][0];
    if (leaves_high)
      *(LMK_SCALAR *)rows->edge_write[q] = block[q][count - 1];
    for (int i = leaves_low; i < count - leaves_high; i++)
      target[i * rows->stride] = block[q][i];
  }
}

static __attribute__((noinline)) LMK_SCALAR LMK_NAME(update_part)(const lmk_rows *rows, int64_t x, int count,
                                                                  const LMK_NAME(constants) * constants)
{
  _Alignas(64) LMK_SCALAR block[LMK_Q][LMK_NAME(LANES)];
  LMK_SCALAR *lanes[LMK_Q];
  for (int q = 0; q < LMK_Q; q++)
    lanes[q] = block[q];
  const bool at_low = x == 0, at_high = x + count == rows->cells;
  LMK_NAME(gather)(rows, x, count, at_low, at_high, block);
  const LMK_NAME(row) row = {lanes, lanes, rows, constants};
  LMK_SCALAR probe = 0;
  for (int i = 0; i < count; i += LMK_NAME(WIDTH)) {
    const LMK_NAME(vector) at = {i, LMK_INNER};
    LMK_NAME(moments) m;
    LMK_NAME(take_moments)(&row, at, &m);
    probe += LMK_NAME(sum_of_lanes)(LMK_NAME(finish_vector)(&row, at, m));
  }
  LMK_NAME(scatter)(rows, x, count, at_low, at_high, block);
  return probe;
}

/* Vectors from `begin` to `end`, none of them at an end of the row. Everything the loop needs is a variable of its own:
 * what its stores might touch would be loaded again and again. */
#define LMK_UPDATE_INNER(write_or_null)                                                               \
  const LMK_NAME(constants) local = *constants;                                                       \
  const LMK_NAME(row) row = {read, write_or_null, rows, &local};                                      \
  const int64_t width = LMK_NAME(WIDTH);                                                              \
  LMK_NAME(vector) at = {begin, LMK_INNER};                                                           \
  LMK_NAME(moments) m;                                                                                \
  LMK_NAME(take_moments)(&row, at, &m);                                                               \
  LMK_REAL probe = LMK_C(0);                                                                          \
  for (; at.x + 2 * width < end; at.x += 2 * width) {                                                 \
    const LMK_NAME(vector) second = {at.x + width, LMK_INNER}, after = {at.x + 2 * width, LMK_INNER}; \
    probe += LMK_NAME(update_vector)(&row, at, second, LMK_FETCH_AHEAD, &m);                          \
    probe += LMK_NAME(update_vector)(&row, second, after, LMK_FETCH_NOTHING, &m);                     \
  }                                                                                                   \
  if (at.x + width < end) {                                                                           \
    const LMK_NAME(vector) second = {at.x + width, LMK_INNER};                                        \
    probe += LMK_NAME(update_vector)(&row, at, second, LMK_FETCH_AHEAD, &m);                          \
    at = second;                                                                                      \
  }                                                                                                   \
  probe += LMK_NAME(finish_vector)(&row, at, m);                                                      \
  return LMK_NAME(sum_of_lanes)(probe);

static __attribute__((noinline)) LMK_SCALAR LMK_NAME(update_inner)(const lmk_rows *rows, int64_t begin, int64_t end,
                                                                   const LMK_NAME(constants) * constants)
{
  LMK_SCALAR *read[LMK_Q], *write[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++) {
    read[q] = (LMK_SCALAR *)rows->read[q];
    write[q] = (LMK_SCALAR *)rows->write[q];
  }
  LMK_UPDATE_INNER(write)
}

static __attribute__((noinline)) LMK_SCALAR
LMK_NAME(update_inner_in_place)(const lmk_rows *rows, int64_t begin, int64_t end, const LMK_NAME(constants) * constants)
{
  LMK_SCALAR *read[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    read[q] = (LMK_SCALAR *)rows->read[q];
  LMK_UPDATE_INNER(NULL)
}
#undef LMK_UPDATE_INNER

/* The first and the last vector of a row, at the same time: each hides the other's chain. */
static __attribute__((noinline)) LMK_SCALAR LMK_NAME(update_ends)(const lmk_rows *rows,
                                                                  const LMK_NAME(constants) * constants)
{
  LMK_SCALAR *read[LMK_Q], *write[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++) {
    read[q] = (LMK_SCALAR *)rows->read[q];
    write[q] = (LMK_SCALAR *)rows->write[q];
  }
  const LMK_NAME(constants) local = *constants;
  const LMK_NAME(row) row = {read, write, rows, &local};
  const LMK_NAME(vector) low = {0, LMK_LOW_END}, high = {rows->cells - LMK_NAME(WIDTH), LMK_HIGH_END};
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++) /* the line that the inner vectors leave out */
    __builtin_prefetch(read[q] + high.x + rows->prefetch_cells, 1, 3);
  LMK_NAME(moments) of_low, of_high;
  LMK_NAME(take_moments)(&row, low, &of_low);
  LMK_NAME(take_moments)(&row, high, &of_high);
  const LMK_REAL probe = LMK_NAME(finish_vector)(&row, low, of_low);
  return LMK_NAME(sum_of_lanes)(probe + LMK_NAME(finish_vector)(&row, high, of_high));
}

/* Adds 0 * (density - 1) of every cell: 0 while all are finite. */
LMK_INLINE LMK_SCALAR LMK_NAME(update_row)(const lmk_rows *rows, const LMK_NAME(constants) * constants)
{
  const int64_t cells = rows->cells, width = LMK_NAME(WIDTH);
  LMK_SCALAR probe = 0;
  int64_t x = 0;
  if (rows->stride == 1 && !rows->has_add && cells >= 3 * width && cells % width == 0) {
    probe += rows->in_place ? LMK_NAME(update_inner_in_place)(rows, width, cells - width, constants)
                            : LMK_NAME(update_inner)(rows, width, cells - width, constants);
    return probe + LMK_NAME(update_ends)(rows, constants);
  }
  for (; x < cells; x += LMK_NAME(LANES)) {
    const int count = cells - x < LMK_NAME(LANES) ? (int)(cells - x) : LMK_NAME(LANES);
    probe += LMK_NAME(update_part)(rows, x, count, constants);
  }
  return probe;
}

LMK_INLINE LMK_NAME(constants) LMK_NAME(make_constants)(const lmk_rates *rates)
{
  return (LMK_NAME(constants)){
    .omega = LMK_C(rates->omega),
    .omega_minus = LMK_C(rates->omega_minus),
    .tau = LMK_C(1.0 / rates->omega),
    .les = LMK_C(rates->les),
    .fx = LMK_C(rates->force[0]),
    .fy = LMK_C(rates->force[1]),
    .fz = LMK_C(rates->force[2]),
  };
}

static __attribute__((noinline)) LMK_SCALAR LMK_NAME(update_run_in_place)(const lmk_rows *rows,
                                                                          const LMK_NAME(constants) * constants)
{
  LMK_SCALAR *read[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    read[q] = (LMK_SCALAR *)rows->read[q];
  const LMK_NAME(constants) local = *constants;
  const LMK_NAME(row) row = {read, NULL, rows, &local};
  const int64_t width = LMK_NAME(WIDTH), end = rows->cells;
  LMK_NAME(vector) at = {0, LMK_INNER};
  LMK_NAME(moments) m;
  LMK_NAME(take_moments)(&row, at, &m);
  LMK_REAL probe = LMK_C(0);
  for (; at.x + width < end; at.x += width) {
    const LMK_NAME(vector) next = {at.x + width, LMK_INNER};
    probe += LMK_NAME(update_vector)(&row, at, next, LMK_FETCH_LINES, &m);
  }
  probe += LMK_NAME(update_vector)(&row, at, at, LMK_FETCH_LINES, &m);
  return LMK_NAME(sum_of_lanes)(probe);
}

/* A run of whole vectors without ends: cells of a block (block_rows.h). Whether all are finite. */
bool LMK_NAME(update_run)(const lmk_rows *rows, const lmk_rates *rates);
bool LMK_NAME(update_run)(const lmk_rows *rows, const lmk_rates *rates)
{
  const LMK_NAME(constants) constants = LMK_NAME(make_constants)(rates);
  return (rows->in_place ? LMK_NAME(update_run_in_place)(rows, &constants)
                         : LMK_NAME(update_inner)(rows, 0, rows->cells, &constants)) == 0;
}

/* Updates rows->count rows. Returns the index of the first one with a non-finite cell, or -1. */
int64_t LMK_NAME(update_rows)(lmk_rows *rows, const lmk_rates *rates);
int64_t LMK_NAME(update_rows)(lmk_rows *rows, const lmk_rates *rates)
{
  const LMK_NAME(constants) constants = LMK_NAME(make_constants)(rates);
  int64_t bad = -1;
  for (int64_t row = 0; row < rows->count; row++) {
    const LMK_SCALAR probe = LMK_NAME(update_row)(rows, &constants);
    if (bad < 0 && !(probe == 0))
      bad = row;
    lmk_rows_advance(rows, LMK_Q);
  }
  return bad;
}
