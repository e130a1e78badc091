/* SPDX-License-Identifier: Apache-2.0 */
/* The host's traversal of blocks: gather the populations that lie in neighbouring blocks into lanes of 64 cells,
 * collide, put them where the streaming rule says. Populations at their own place are worked on where they lie.
 *
 * What costs time here are the moves: a population that is shifted along x takes three of the four cells of each row
 * from one block and one from the next. Reading goes by vectors: every source is read at a fixed distance and a
 * constant mask picks lanes; what it reads too much it does not use. Writing is exact, because the other cells of a row
 * belong to whoever updates the neighbour, perhaps at this moment (docs/dev/blocks.md). */

#include "block_rows.h"

#define LMK_REST ((LMK_Q - 1) / 2)
#define LMK_UP(k) (LMK_REST + 1 + (k))
#define LMK_DOWN(k) (LMK_REST - 1 - (k))

enum {
  LMK_NAME(ROW) = LMK_HAS_Y ? 4 : 8,
  LMK_NAME(PLANE) = LMK_HAS_Y ? 16 : 8,
  LMK_NAME(PLANES) = LMK_BLOCK_CELLS / LMK_NAME(PLANE),
  LMK_NAME(BLOCK) = LMK_Q * LMK_BLOCK_CELLS
};

/* Where a block lies in a field. */
typedef struct LMK_NAME(view) {
  LMK_REAL *base;
  int64_t rank, plane;
} LMK_NAME(view);

typedef struct LMK_NAME(block_work) {
  const lmk_block_step *step;
  lmk_block_plan plan;
  lmk_rows rows; /* read and write: 64 cells of each population */
  int32_t block;
  bool is_staged; /* the block's cells do not lie side by side: every population goes through lanes */
  bool is_ragged; /* a periodic axis ends in it */
  LMK_NAME(view) near[LMK_BLOCK_NEIGHBOURS]; /* in source; the sink stands for those that are not stored */
  _Alignas(64) LMK_REAL lanes[LMK_Q][LMK_BLOCK_CELLS];
  _Alignas(64) LMK_REAL sink[LMK_NAME(BLOCK)];
} LMK_NAME(block_work);

/* Thread sanitizer must not see reads of lanes that are dropped. */
#if defined __SANITIZE_THREAD__
#define LMK_EXACT_READS 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define LMK_EXACT_READS 1
#endif
#endif
#ifndef LMK_EXACT_READS
#define LMK_EXACT_READS 0
#endif

/* ---- one plane, shifted ---- */

/* The plane of a shifted population as it lies: in the block above or below or in this one, and past its x and y ends
 * in the blocks there. */
typedef struct LMK_NAME(quad) {
  LMK_REAL *own, *x, *y, *xy;
} LMK_NAME(quad);

/* A row of cells of a block as one vector. Rows are what is read: the cells that are dropped lie in the line of one
 * that is not, and a line more from each neighbour would be a miss more (docs/dev/performance.md). */
typedef LMK_REAL LMK_NAME(cell_row) __attribute__((vector_size(LMK_NAME(ROW) * sizeof(LMK_REAL))));

LMK_INLINE LMK_NAME(cell_row) LMK_NAME(load_row)(const LMK_REAL *at)
{
  LMK_NAME(cell_row) row;
  memcpy(&row, at, sizeof row);
  return row;
}

LMK_INLINE void LMK_NAME(store_row)(LMK_REAL *at, LMK_NAME(cell_row) row)
{
  memcpy(at, &row, sizeof row);
}

/* The cells dx away from those of `own`; `beyond` is the row that follows it in that direction. */
LMK_INLINE LMK_NAME(cell_row) LMK_NAME(slide)(LMK_NAME(cell_row) own, LMK_NAME(cell_row) beyond, const int dx)
{
#if LMK_HAS_Y
  if (dx > 0)
    return __builtin_shufflevector(own, beyond, 1, 2, 3, 4);
  return dx < 0 ? __builtin_shufflevector(beyond, own, 3, 4, 5, 6) : own;
#else
  if (dx > 0)
    return __builtin_shufflevector(own, beyond, 1, 2, 3, 4, 5, 6, 7, 8);
  return dx < 0 ? __builtin_shufflevector(beyond, own, 7, 8, 9, 10, 11, 12, 13, 14) : own;
#endif
}

/* Cells (dx, dy) away from each cell of a plane. */
LMK_INLINE void LMK_NAME(read_plane)(LMK_NAME(quad) from, const int dx, const int dy, LMK_REAL *to)
{
  enum { ROW = LMK_NAME(ROW), PLANE = LMK_NAME(PLANE), ROWS = PLANE / ROW };
#if LMK_EXACT_READS
  for (int i = 0; i < PLANE; i++) {
    const int x = i % ROW + dx, y = i / ROW + dy;
    const bool past_x = x < 0 || x >= ROW, past_y = y < 0 || y >= ROWS;
    const LMK_REAL *source = past_y ? (past_x ? from.xy : from.y) : (past_x ? from.x : from.own);
    to[i] = source[(x & (ROW - 1)) + ROW * (y & (ROWS - 1))];
  }
#else
  LMK_UNROLL
  for (int row = 0; row < ROWS; row++) {
    const int y = row + dy;
    const bool past = y < 0 || y >= ROWS;
    const int at = ROW * (y & (ROWS - 1));
    const LMK_NAME(cell_row) own = LMK_NAME(load_row)((past ? from.y : from.own) + at);
    const LMK_NAME(cell_row) beyond = dx == 0 ? own : LMK_NAME(load_row)((past ? from.xy : from.x) + at);
    LMK_NAME(store_row)(to + ROW * row, LMK_NAME(slide)(own, beyond, dx));
  }
#endif
}

LMK_INLINE void LMK_NAME(write_plane)(LMK_NAME(quad) to, const int dx, const int dy, const LMK_REAL *from)
{
  enum { ROW = LMK_NAME(ROW), ROWS = LMK_NAME(PLANE) / LMK_NAME(ROW) };
  LMK_UNROLL
  for (int row = 0; row < ROWS; row++) {
    const int y = row + dy;
    const bool past = y < 0 || y >= ROWS;
    LMK_REAL *const in = (past ? to.y : to.own) + ROW * (y & (ROWS - 1));
    LMK_REAL *const out = (past ? to.xy : to.x) + ROW * (y & (ROWS - 1));
    const LMK_REAL *const cells = from + ROW * row;
    if (dx == 0) {
      memcpy(in, cells, ROW * sizeof *in);
    } else if (dx > 0) {
      memcpy(in + 1, cells, (ROW - 1) * sizeof *in);
      out[0] = cells[ROW - 1];
    } else {
      memcpy(in, cells + 1, (ROW - 1) * sizeof *in);
      out[ROW - 1] = cells[0];
    }
  }
}

/* ---- one population of a block, shifted ---- */

LMK_INLINE LMK_REAL *LMK_NAME(plane_at)(const LMK_NAME(view) * view, int slot, int z, const bool is_contiguous)
{
  if (is_contiguous)
    return view->base + slot * LMK_BLOCK_CELLS + z * LMK_NAME(PLANE);
  return view->base + slot * view->rank + z * view->plane;
}

/* The plane that cells at height z see (dx, dy, dz) away. */
LMK_INLINE LMK_NAME(quad) LMK_NAME(find_quad)(const LMK_NAME(view) * near, int slot, int z, const int dx, const int dy,
                                              const int dz, const bool is_contiguous)
{
  enum { PLANES = LMK_NAME(PLANES) };
  const int up = z + dz;
  const LMK_NAME(view) *const layer = near + LMK_BLOCK_SELF + (up < 0 || up >= PLANES ? 9 * dz : 0);
  LMK_NAME(quad) quad;
  quad.own = LMK_NAME(plane_at)(layer, slot, up & (PLANES - 1), is_contiguous);
  quad.x = dx != 0 ? LMK_NAME(plane_at)(layer + dx, slot, up & (PLANES - 1), is_contiguous) : quad.own;
  quad.y = dy != 0 ? LMK_NAME(plane_at)(layer + 3 * dy, slot, up & (PLANES - 1), is_contiguous) : quad.own;
  quad.xy = dx != 0 && dy != 0 ? LMK_NAME(plane_at)(layer + dx + 3 * dy, slot, up & (PLANES - 1), is_contiguous)
                               : (dx != 0 ? quad.x : quad.y);
  return quad;
}

/* All addresses before the first store: after one the compiler would look them up again. */
LMK_INLINE void LMK_NAME(read_shifted)(const LMK_NAME(view) * near, int slot, const int dx, const int dy, const int dz,
                                       const bool is_contiguous, LMK_REAL *lanes)
{
  LMK_NAME(quad) from[LMK_NAME(PLANES)];
  LMK_UNROLL
  for (int z = 0; z < LMK_NAME(PLANES); z++)
    from[z] = LMK_NAME(find_quad)(near, slot, z, dx, dy, dz, is_contiguous);
  LMK_UNROLL
  for (int z = 0; z < LMK_NAME(PLANES); z++)
    LMK_NAME(read_plane)(from[z], dx, dy, lanes + z * LMK_NAME(PLANE));
}

LMK_INLINE void LMK_NAME(write_shifted)(const LMK_NAME(view) * near, int slot, const int dx, const int dy, const int dz,
                                        const bool is_contiguous, const LMK_REAL *lanes)
{
  LMK_NAME(quad) to[LMK_NAME(PLANES)];
  LMK_UNROLL
  for (int z = 0; z < LMK_NAME(PLANES); z++)
    to[z] = LMK_NAME(find_quad)(near, slot, z, dx, dy, dz, is_contiguous);
  LMK_UNROLL
  for (int z = 0; z < LMK_NAME(PLANES); z++)
    LMK_NAME(write_plane)(to[z], dx, dy, lanes + z * LMK_NAME(PLANE));
}

/* ---- all populations of a block ---- */

LMK_INLINE void LMK_NAME(gather_shifted)(LMK_NAME(block_work) * work, const bool is_contiguous)
{
  const lmk_block_plan *plan = &work->plan;
#define LMK_GATHER_ONE(q, dx, dy, dz) \
  if (plan->shift_in[q])              \
    LMK_NAME(read_shifted)(work->near, plan->slot_in[q], (dx), (dy), (dz), is_contiguous, work->lanes[q]);
#define LMK_GATHER_PAIR(k, cx, cy, cz, w)       \
  LMK_GATHER_ONE(LMK_DOWN(k), (cx), (cy), (cz)) \
  LMK_GATHER_ONE(LMK_UP(k), -(cx), -(cy), -(cz))
  LMK_PAIRS(LMK_GATHER_PAIR)
#undef LMK_GATHER_PAIR
#undef LMK_GATHER_ONE
}

/* f*_q lies in the lanes that f_opposite was read from. */
LMK_INLINE void LMK_NAME(scatter_shifted)(LMK_NAME(block_work) * work, const bool is_contiguous)
{
  const lmk_block_plan *plan = &work->plan;
#define LMK_SCATTER_ONE(q, cx, cy, cz) \
  if (plan->shift_out[q])              \
    LMK_NAME(write_shifted)            \
  (work->near, plan->slot_out[q], (cx), (cy), (cz), is_contiguous, work->lanes[LMK_Q - 1 - (q)]);
#define LMK_SCATTER_PAIR(k, cx, cy, cz, w)     \
  LMK_SCATTER_ONE(LMK_UP(k), (cx), (cy), (cz)) \
  LMK_SCATTER_ONE(LMK_DOWN(k), -(cx), -(cy), -(cz))
  LMK_PAIRS(LMK_SCATTER_PAIR)
#undef LMK_SCATTER_PAIR
#undef LMK_SCATTER_ONE
}

/* Cell by cell, through the address functions that know every case: blocks in which a periodic axis ends. */
static void LMK_NAME(gather_cells)(LMK_NAME(block_work) * work)
{
  const lmk_block_grid *g = &work->step->grid;
  const LMK_REAL *source = work->step->source;
  for (int bit = 0; bit < LMK_BLOCK_CELLS; bit++)
    for (int q = 0; q < LMK_Q; q++) {
      if (!work->plan.shift_in[q])
        continue;
      work->lanes[q][bit] = LMK_C(0);
      if (!(g->active[work->block] >> bit & 1))
        continue;
      const lmk_block_cell from =
        lmk_block_neighbour(g, (lmk_block_cell){work->block, bit}, -g->c[q][0], -g->c[q][1], -g->c[q][2]);
      if (from.block >= 0)
        work->lanes[q][bit] = source[lmk_block_element(g, from.block, work->plan.slot_in[q], from.bit)];
    }
}

static void LMK_NAME(scatter_cells)(LMK_NAME(block_work) * work)
{
  const lmk_block_grid *g = &work->step->grid;
  LMK_REAL *target = work->step->target;
  for (int bit = 0; bit < LMK_BLOCK_CELLS; bit++)
    for (int q = 0; q < LMK_Q && (g->active[work->block] >> bit & 1) != 0; q++) {
      if (!work->plan.shift_out[q])
        continue;
      const lmk_block_cell to =
        lmk_block_neighbour(g, (lmk_block_cell){work->block, bit}, g->c[q][0], g->c[q][1], g->c[q][2]);
      if (to.block >= 0)
        target[lmk_block_element(g, to.block, work->plan.slot_out[q], to.bit)] = work->lanes[LMK_Q - 1 - q][bit];
    }
}

LMK_INLINE LMK_NAME(view) LMK_NAME(view_of)(const lmk_block_grid *g, void *field, int32_t block)
{
  const lmk_block_section *s = lmk_block_section_of(g, block);
  LMK_NAME(view) view;
  view.base = (LMK_REAL *)field + s->base + (block - s->first) * s->block_stride;
  view.rank = s->rank_stride;
  view.plane = s->plane_stride;
  return view;
}

/* Views of the neighbours where all blocks are one section: nothing but a base each. */
LMK_INLINE void LMK_NAME(bind_plain)(LMK_NAME(block_work) * work, const int32_t *neighbours)
{
  LMK_REAL *const field = (LMK_REAL *)work->step->source + work->step->grid.sections[0].base;
  LMK_UNROLL
  for (int n = 0; n < LMK_BLOCK_NEIGHBOURS; n++)
    work->near[n].base = neighbours[n] < 0 ? work->sink : field + neighbours[n] * (int64_t)LMK_NAME(BLOCK);
}

static void LMK_NAME(bind_sections)(LMK_NAME(block_work) * work, const int32_t *neighbours)
{
  const LMK_NAME(view) sink = {work->sink, LMK_BLOCK_CELLS, LMK_NAME(PLANE)};
  for (int n = 0; n < LMK_BLOCK_NEIGHBOURS; n++)
    work->near[n] = neighbours[n] < 0 ? sink : LMK_NAME(view_of)(&work->step->grid, work->step->source, neighbours[n]);
}

/* What extents hold where no axis ends. */
LMK_INLINE uint32_t LMK_NAME(full_extents)(void)
{
  uint32_t full = 0;
  for (int axis = 0; axis < 3; axis++)
    full |= (uint32_t)lmk_block_side(!LMK_HAS_Y, axis) * 0x1001u << (4 * axis);
  return full;
}

/* Views of the block and its neighbours; what is special about it. */
LMK_INLINE void LMK_NAME(bind_block)(LMK_NAME(block_work) * work, int32_t block)
{
  const lmk_block_grid *g = &work->step->grid;
  const int32_t *neighbours = g->neighbours + (int64_t)block * LMK_BLOCK_NEIGHBOURS;
  work->block = block;
  work->is_ragged = g->extents != NULL && g->extents[block] != LMK_NAME(full_extents)();
  const bool one_section = g->section_count == 1;
  if (one_section)
    LMK_NAME(bind_plain)(work, neighbours);
  else
    LMK_NAME(bind_sections)(work, neighbours);
  work->is_staged = !one_section && work->near[LMK_BLOCK_SELF].plane != LMK_NAME(PLANE);
}

/* Whether every neighbour lies in one piece, as where nothing is sent. */
LMK_INLINE bool LMK_NAME(is_contiguous)(const LMK_NAME(block_work) * work)
{
  if (work->step->grid.section_count == 1)
    return true;
  bool all = true;
  for (int n = 0; n < LMK_BLOCK_NEIGHBOURS; n++)
    all = all && work->near[n].rank == LMK_BLOCK_CELLS && work->near[n].plane == LMK_NAME(PLANE);
  return all;
}

/* ---- links, cells without fluid ---- */

LMK_INLINE void LMK_NAME(bounce_sent)(LMK_NAME(block_work) * work)
{
  const lmk_block_step *step = work->step;
  const lmk_block_grid *g = &step->grid;
  const bool in_place = step->source == step->target;
  const LMK_REAL *sent = step->sent;
  for (int32_t k = g->link_first[work->block]; k < g->link_first[work->block + 1]; k++) {
    const lmk_block_link link = g->links[k];
    LMK_REAL back;
    if (in_place)
      back = sent[k];
    else
      back = *(LMK_NAME(plane_at)(&work->near[LMK_BLOCK_SELF], LMK_Q - 1 - link.q, link.bit / LMK_NAME(PLANE),
                                  !work->is_staged) +
               link.bit % LMK_NAME(PLANE));
    if (link.wall != 0 && step->has_momentum)
      back = back + (LMK_REAL)step->momentum[link.wall][link.q];
    ((LMK_REAL *)work->rows.read[link.q])[link.bit] = back;
  }
}

LMK_INLINE void LMK_NAME(keep_sent)(const LMK_NAME(block_work) * work)
{
  const lmk_block_grid *g = &work->step->grid;
  LMK_REAL *sent = work->step->sent;
  for (int32_t k = g->link_first[work->block]; k < g->link_first[work->block + 1]; k++)
    sent[k] = ((const LMK_REAL *)work->rows.read[g->links[k].q])[g->links[k].bit];
}

/* Cells without fluid start from rest in every step: nothing that piles up in them can become infinite. */
static void LMK_NAME(rest_inactive)(LMK_NAME(block_work) * work, uint64_t active)
{
  LMK_REAL keep[LMK_BLOCK_CELLS];
  for (int bit = 0; bit < LMK_BLOCK_CELLS; bit++)
    keep[bit] = active >> bit & 1 ? LMK_C(1) : LMK_C(0);
  for (int q = 0; q < LMK_Q; q++) {
    LMK_REAL *const lanes = (LMK_REAL *)work->rows.read[q];
#pragma omp simd
    for (int bit = 0; bit < LMK_BLOCK_CELLS; bit++)
      lanes[bit] = keep[bit] != LMK_C(0) ? lanes[bit] : LMK_C(0);
  }
}

/* ---- cells with boundary data (boundary.h) ---- */

#ifdef LMK_BOUNDARY_DATA_H
static __attribute__((noinline)) void LMK_NAME(visit_special)(LMK_NAME(block_work) * work, bool leaves)
{
  const lmk_block_step *step = work->step;
  const int last = LMK_Q - 1;
  for (uint64_t rest = step->grid.special[work->block]; rest != 0; rest &= rest - 1) {
    const int bit = __builtin_ctzll(rest);
    const int32_t item = lmk_block_item(&step->grid, work->block, bit);
    LMK_REAL g[LMK_Q];
    for (int q = 0; q < LMK_Q; q++)
      g[q] = ((LMK_REAL *)(leaves ? work->rows.write[q] : work->rows.read[q]))[bit];
    if (leaves) {
      LMK_NAME(leave_boundary)(g, step->boundary, item, step->parity);
      continue;
    }
    LMK_NAME(meet_boundary)(g, step->boundary, item, step->parity);
    for (int q = 0; q <= last; q++)
      ((LMK_REAL *)work->rows.read[q])[bit] = g[q];
  }
}
#endif

#include "jump_host.h"

/* ---- a block ---- */

/* Pointers for the collision: populations at their own place are read there, the others from lanes. */
LMK_INLINE void LMK_NAME(bind_lanes)(LMK_NAME(block_work) * work)
{
  const lmk_block_step *step = work->step;
  const bool in_place = step->source == step->target;
  const LMK_NAME(view) *own = &work->near[LMK_BLOCK_SELF];
  for (int q = 0; q < LMK_Q; q++) {
    const bool in_lanes = work->plan.shift_in[q] || work->is_staged || !in_place;
    work->rows.read[q] = (char *)(in_lanes ? work->lanes[q] : own->base + work->plan.slot_in[q] * LMK_BLOCK_CELLS);
  }
  work->rows.in_place = in_place || work->is_staged;
  LMK_REAL *const target = work->rows.in_place ? NULL : LMK_NAME(view_of)(&step->grid, step->target, work->block).base;
  for (int q = 0; q < LMK_Q; q++)
    work->rows.write[q] = work->rows.in_place ? work->rows.read[LMK_Q - 1 - q] : (char *)(target + q * LMK_BLOCK_CELLS);
}

/* Populations at their own place into lanes, plane by plane, where they cannot be worked on there. */
static void LMK_NAME(stage_own)(LMK_NAME(block_work) * work)
{
  const LMK_NAME(view) *own = &work->near[LMK_BLOCK_SELF];
  for (int q = 0; q < LMK_Q; q++)
    for (int z = 0; z < LMK_NAME(PLANES) && !work->plan.shift_in[q]; z++)
      memcpy(work->lanes[q] + z * LMK_NAME(PLANE), own->base + work->plan.slot_in[q] * own->rank + z * own->plane,
             LMK_NAME(PLANE) * sizeof(LMK_REAL));
}

static void LMK_NAME(store_own)(LMK_NAME(block_work) * work)
{
  const LMK_NAME(view) own = LMK_NAME(view_of)(&work->step->grid, work->step->target, work->block);
  for (int q = 0; q < LMK_Q; q++)
    for (int z = 0; z < LMK_NAME(PLANES) && !work->plan.shift_out[q]; z++)
      memcpy(own.base + work->plan.slot_out[q] * own.rank + z * own.plane,
             work->lanes[LMK_Q - 1 - q] + z * LMK_NAME(PLANE), LMK_NAME(PLANE) * sizeof(LMK_REAL));
}

static __attribute__((noinline)) void LMK_NAME(gather_near)(LMK_NAME(block_work) * work)
{
  LMK_NAME(gather_shifted)(work, true);
}
static __attribute__((noinline)) void LMK_NAME(gather_far)(LMK_NAME(block_work) * work)
{
  LMK_NAME(gather_shifted)(work, false);
}
static __attribute__((noinline)) void LMK_NAME(scatter_near)(LMK_NAME(block_work) * work)
{
  LMK_NAME(scatter_shifted)(work, true);
}
static __attribute__((noinline)) void LMK_NAME(scatter_far)(LMK_NAME(block_work) * work)
{
  LMK_NAME(scatter_shifted)(work, false);
}

/* ---- what comes next ---- */

/* Blocks ahead: what is fetched for the very next one comes too late for the reads of this one past their common face,
 * and three blocks' lines do not stay in L1. */
enum { LMK_NAME(AHEAD) = 2 };

/* Fetches the lines of a component that cells a plane below (dz 1), above (dz -1), or a row before (dz 0) see. */
LMK_INLINE void LMK_NAME(fetch_face)(const LMK_REAL *base, int64_t plane, const int dz)
{
  enum { LINE = 64 / sizeof(LMK_REAL), PLANE = LMK_NAME(PLANE), PLANES = LMK_NAME(PLANES) };
  LMK_UNROLL
  for (int cell = 0; dz != 0 && cell < PLANE; cell += LINE)
    __builtin_prefetch(base + (dz < 0 ? (PLANES - 1) * plane : 0) + cell, 1, 3);
  LMK_UNROLL
  for (int z = 0; dz == 0 && z < PLANES; z++)
    __builtin_prefetch(base + z * plane, 1, 3);
}

/* Fetches what a block meets first of its neighbours. Blocks go by rows, so those along x are fetched with the blocks
 * before and after it, and those before it along y are still near; its own lines are fetched during a collision
 * (rows.fetch). */
LMK_INLINE void LMK_NAME(fetch_faces)(const LMK_NAME(block_work) * work, int32_t block, const bool is_plain)
{
  const lmk_block_grid *g = &work->step->grid;
  const lmk_block_plan *plan = &work->plan;
  if (block >= g->blocks)
    return;
  const int32_t *const neighbours = g->neighbours + (int64_t)block * LMK_BLOCK_NEIGHBOURS + LMK_BLOCK_SELF;
  LMK_REAL *const field = (LMK_REAL *)work->step->source + g->sections[0].base;
  LMK_NAME(view) views[9]; /* by 3 (dz + 1) + dy + 1 */
  LMK_UNROLL
  for (int n = 0; n < 9; n++) {
    const int32_t number = neighbours[3 * (n - 4)], known = number < 0 ? block : number;
    if (is_plain)
      views[n] = (LMK_NAME(view)){field + known * (int64_t)LMK_NAME(BLOCK), LMK_BLOCK_CELLS, LMK_NAME(PLANE)};
    else
      views[n] = LMK_NAME(view_of)(g, work->step->source, known);
  }
#define LMK_FETCH_FACE(q, view, dz) \
  LMK_NAME(fetch_face)((view).base + plan->slot_in[q] * (view).rank, (view).plane, (dz))
#define LMK_FETCH_ONE(q, dy, dz)                         \
  if (plan->shift_in[q] && (dz) != 0)                    \
    LMK_FETCH_FACE(q, views[4 + 3 * (dz)], (dz));        \
  if (plan->shift_in[q] && (dz) != 0 && (dy) > 0)        \
    LMK_FETCH_FACE(q, views[4 + (dy) + 3 * (dz)], (dz)); \
  if (plan->shift_in[q] && (dy) != 0)                    \
    LMK_FETCH_FACE(q, views[4 + (dy)], 0);
#define LMK_FETCH_PAIR(k, cx, cy, cz, w) \
  LMK_FETCH_ONE(LMK_DOWN(k), (cy), (cz)) \
  LMK_FETCH_ONE(LMK_UP(k), -(cy), -(cz))
  LMK_PAIRS(LMK_FETCH_PAIR)
#undef LMK_FETCH_PAIR
#undef LMK_FETCH_ONE
#undef LMK_FETCH_FACE
}

/* Two grids, in one section: what arrives was gathered into the lanes. */
static void LMK_NAME(store_lanes)(const LMK_NAME(block_work) * work)
{
  for (int q = 0; q < LMK_Q; q++)
    memcpy(work->rows.write[q], work->rows.read[q], LMK_BLOCK_CELLS * sizeof(LMK_REAL));
}

LMK_INLINE bool LMK_NAME(collide_stored)(LMK_NAME(block_work) * work, lmk_update_run_function *run, int32_t block)
{
  LMK_NAME(bind_block)(work, block);
  LMK_NAME(bind_lanes)(work);
  for (int q = 0; q < LMK_Q; q++)
    work->rows.read[q] = work->rows.write[q];
  work->rows.fetch = work->rows.write[0] + LMK_NAME(BLOCK) * sizeof(LMK_REAL);
  const bool is_finite = run(&work->rows, &work->step->rates);
#ifdef LMK_BOUNDARY_DATA_H
  if (work->step->grid.kinds != NULL && work->step->grid.kinds[block] != 0)
    LMK_NAME(visit_special)(work, true);
#endif
  return is_finite;
}

LMK_INLINE bool LMK_NAME(update_one_block)(LMK_NAME(block_work) * work, lmk_update_run_function *run, const int part,
                                           int32_t block)
{
  const lmk_block_step *step = work->step;
  const lmk_block_grid *g = &step->grid;
  const bool in_place = step->source == step->target;
  LMK_NAME(bind_block)(work, block);
  LMK_NAME(bind_lanes)(work);
  const bool near = LMK_NAME(is_contiguous)(work);
  if (step->grid.section_count == 1)
    LMK_NAME(fetch_faces)(work, block + LMK_NAME(AHEAD), true);
  else
    LMK_NAME(fetch_faces)(work, block + LMK_NAME(AHEAD), false);
  work->rows.fetch = (const char *)(work->near[LMK_BLOCK_SELF].base + LMK_NAME(AHEAD) * LMK_NAME(BLOCK));
  if (work->is_ragged)
    LMK_NAME(gather_cells)(work);
  else if (near)
    LMK_NAME(gather_near)(work);
  else
    LMK_NAME(gather_far)(work);
  if (work->is_staged || !in_place)
    LMK_NAME(stage_own)(work);
  LMK_NAME(bounce_sent)(work);
  if (step->jumps != NULL)
    LMK_NAME(put_jumps)(step, block, &work->rows);
  if (g->active[block] != ~(uint64_t)0)
    LMK_NAME(rest_inactive)(work, g->active[block]);
  const bool is_special = g->kinds != NULL && g->kinds[block] != 0;
#ifdef LMK_BOUNDARY_DATA_H
  if (is_special)
    LMK_NAME(visit_special)(work, false);
#endif
  if (part == LMK_STREAM_ONLY) {
    LMK_NAME(store_lanes)(work);
    return true;
  }
  const bool is_finite = run(&work->rows, &step->rates);
#ifdef LMK_BOUNDARY_DATA_H
  if (is_special)
    LMK_NAME(visit_special)(work, true);
#else
  (void)is_special;
#endif
  if (in_place)
    LMK_NAME(keep_sent)(work);
  if (work->is_ragged && in_place)
    LMK_NAME(scatter_cells)(work);
  else if (in_place && near)
    LMK_NAME(scatter_near)(work);
  else if (in_place)
    LMK_NAME(scatter_far)(work);
  if (work->is_staged)
    LMK_NAME(store_own)(work);
  return is_finite;
}

/* Whether a launch is for a block (bitmask grouping: both kinds lie mixed). */
LMK_INLINE bool LMK_NAME(serves)(const lmk_block_step *step, int32_t block)
{
  if (step->serves == LMK_SERVE_ALL || step->grid.kinds == NULL)
    return step->serves != LMK_SERVE_SPECIAL;
  return (step->grid.kinds[block] != 0) == (step->serves == LMK_SERVE_SPECIAL);
}

lmk_update_blocks_function LMK_NAME(update_blocks);
int64_t LMK_NAME(update_blocks)(const lmk_block_step *step, lmk_update_run_function *run, int part, int64_t first,
                                int64_t count)
{
  LMK_NAME(block_work) work;
  work.step = step;
  work.rows.cells = LMK_BLOCK_CELLS;
  work.rows.stride = 1;
  work.rows.prefetch_cells = LMK_NAME(BLOCK);
  lmk_block_make_plan(step->grid.streaming, step->parity, LMK_Q, &work.plan);
  for (int n = 0; n < LMK_BLOCK_NEIGHBOURS; n++) {
    work.near[n].rank = LMK_BLOCK_CELLS;
    work.near[n].plane = LMK_NAME(PLANE);
  }
  int64_t bad = -1;
  for (int64_t block = first; block < first + count; block++) {
    if (!LMK_NAME(serves)(step, (int32_t)block))
      continue;
    const bool is_finite = part == LMK_COLLIDE_ONLY ? LMK_NAME(collide_stored)(&work, run, (int32_t)block)
                                                    : LMK_NAME(update_one_block)(&work, run, part, (int32_t)block);
    if (!is_finite && bad < 0)
      bad = block;
  }
  return bad;
}
