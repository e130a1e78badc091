/* SPDX-License-Identifier: Apache-2.0 */
/* The device's kernels over blocks (block.h): pull from one grid into another, a thread a cell. All stores are aligned;
 * of what is read, three cells of four lie in the block itself. Cut links are bits of a word a cell, read only in
 * blocks that have any. Where a partition is one section and no axis ends inside a block, addresses are sums of
 * constants. */
#include "dense_device.h"

#include "block_device.h"
#include "vector_cuda.h"

/* A cell and its places one step away along each axis: bits, and whether the step leaves the block. Index 0, 1, 2: -1,
 * 0, +1. The block there is looked up for each population: reading the eight that a cell can touch once, and selecting,
 * takes 20 registers, and the blocks of a multiprocessor they cost are worth more (docs/dev/cuda.md). */
typedef struct LMK_NAME(place) {
  int32_t block, bit;
  int32_t x_bit[3], y_bit[3], z_bit[3];
  bool x_out[3], y_out[3], z_out[3];
} LMK_NAME(place);

LMK_INLINE void LMK_NAME(step_along)(int32_t at, int32_t side, int32_t bit_step, int32_t bit[3], bool out[3])
{
  bit[1] = at * bit_step;
  bit[0] = (at == 0 ? side - 1 : at - 1) * bit_step;
  bit[2] = (at == side - 1 ? 0 : at + 1) * bit_step;
  out[0] = at == 0;
  out[1] = false;
  out[2] = at == side - 1;
}

LMK_INLINE LMK_NAME(place) LMK_NAME(find_place)(int32_t block, int32_t bit)
{
  const int flat = !LMK_HAS_Y, plane = lmk_block_plane(flat);
  LMK_NAME(place) at;
  at.block = block;
  at.bit = bit;
  LMK_NAME(step_along)(lmk_block_x(flat, bit), lmk_block_side(flat, 0), 1, at.x_bit, at.x_out);
  LMK_NAME(step_along)(lmk_block_y(flat, bit), lmk_block_side(flat, 1), 4, at.y_bit, at.y_out);
  LMK_NAME(step_along)(lmk_block_z(flat, bit), lmk_block_side(flat, 2), plane, at.z_bit, at.z_out);
  return at;
}

/* Element of population q that arrives with velocity (cx, cy, cz); -1 when nothing is stored there. */
LMK_INLINE int64_t LMK_NAME(upstream)(const lmk_block_grid *grid, const LMK_NAME(place) * at, int q, int cx, int cy,
                                      int cz, bool has_cuts, bool is_simple)
{
  if (!is_simple) {
    lmk_block_cell own;
    own.block = at->block;
    own.bit = at->bit;
    const lmk_block_cell from = lmk_block_neighbour(grid, own, -cx, -cy, -cz);
    return from.block < 0 ? -1 : lmk_block_element(grid, from.block, q, from.bit);
  }
  const int32_t n = LMK_BLOCK_SELF + (at->x_out[1 - cx] ? -cx : 0) + (at->y_out[1 - cy] ? -3 * cy : 0) +
                    (at->z_out[1 - cz] ? -9 * cz : 0);
  const int32_t bit = at->x_bit[1 - cx] + at->y_bit[1 - cy] + at->z_bit[1 - cz];
  const int32_t block = grid->neighbours[(int64_t)at->block * LMK_BLOCK_NEIGHBOURS + n];
  const int64_t element = (int64_t)block * (LMK_Q * LMK_BLOCK_CELLS) + (q * LMK_BLOCK_CELLS + bit);
  return has_cuts && block < 0 ? -1 : element;
}

LMK_INLINE int64_t LMK_NAME(own_element)(const lmk_block_grid *grid, const LMK_NAME(place) * at, int q, bool is_simple)
{
  if (!is_simple)
    return lmk_block_element(grid, at->block, q, at->bit);
  return (int64_t)at->block * (LMK_Q * LMK_BLOCK_CELLS) + q * LMK_BLOCK_CELLS + at->bit;
}

/* Where no link is cut every neighbour is stored. */
LMK_INLINE LMK_REAL LMK_NAME(fetch)(const lmk_device_block_step *step, const LMK_NAME(place) * at, bool has_cuts,
                                    uint32_t word, int q, int cx, int cy, int cz, bool is_simple)
{
  const LMK_NAME(element) *source = (const LMK_NAME(element) *)step->source;
  int64_t from = LMK_NAME(upstream)(&step->grid, at, q, cx, cy, cz, has_cuts, is_simple);
  if (has_cuts && ((word >> q & 1u) != 0 || from < 0))
    from = LMK_NAME(own_element)(&step->grid, at, LMK_Q - 1 - q, is_simple);
  return LMK_NAME(load_one)(source + from);
}

LMK_INLINE void LMK_NAME(fetch_cell)(const lmk_device_block_step *step, const LMK_NAME(place) * at, bool has_cuts,
                                     uint32_t word, bool is_simple, LMK_REAL g[LMK_Q])
{
  g[LMK_REST] = LMK_NAME(load_one)((const LMK_NAME(element) *)step->source +
                                   LMK_NAME(own_element)(&step->grid, at, LMK_REST, is_simple));
#define LMK_FETCH_PAIR(k, cx, cy, cz, w)                                                            \
  g[LMK_UP(k)] = LMK_NAME(fetch)(step, at, has_cuts, word, LMK_UP(k), (cx), (cy), (cz), is_simple); \
  g[LMK_DOWN(k)] = LMK_NAME(fetch)(step, at, has_cuts, word, LMK_DOWN(k), -(cx), -(cy), -(cz), is_simple);
  LMK_PAIRS(LMK_FETCH_PAIR)
#undef LMK_FETCH_PAIR
}

/* Momentum of walls of the box that move: few blocks meet one, and look their links up. */
LMK_INLINE void LMK_NAME(add_walls)(const lmk_device_block_step *step, const LMK_NAME(place) * at, LMK_REAL g[LMK_Q])
{
  const lmk_block_grid *grid = &step->grid;
  for (int32_t k = grid->link_first[at->block]; k < grid->link_first[at->block + 1]; k++) {
    const lmk_block_link link = grid->links[k];
    if (link.bit != at->bit || link.wall == 0)
      continue;
    const LMK_REAL add = (LMK_REAL)step->momentum[link.wall][link.q];
    LMK_UNROLL
    for (int q = 0; q < LMK_Q; q++)
      g[q] = link.q == q ? g[q] + add : g[q];
  }
}

LMK_INLINE LMK_NAME(constants) LMK_NAME(block_constants)(const lmk_device_block_step *step)
{
  LMK_NAME(constants) constants;
  constants.omega = (LMK_REAL)step->omega;
  constants.omega_minus = (LMK_REAL)step->omega_minus;
  constants.tau = (LMK_REAL)step->tau;
  constants.les = (LMK_REAL)step->les;
  constants.fx = (LMK_REAL)step->force[0];
  constants.fy = (LMK_REAL)step->force[1];
  constants.fz = (LMK_REAL)step->force[2];
  return constants;
}

LMK_INLINE void LMK_NAME(step_cell)(const lmk_device_block_step *step, bool is_simple)
{
  const int32_t thread = LMK_THREAD(x);
  const int32_t block = step->first + LMK_BLOCK(x) * (LMK_BLOCK_THREADS / LMK_BLOCK_CELLS) + thread / LMK_BLOCK_CELLS;
  const int32_t bit = thread % LMK_BLOCK_CELLS;
  if (block >= step->end || (step->grid.active[block] >> bit & 1u) == 0)
    return;
  const lmk_watch watch = *step->watch;
  const bool is_over = watch.fault >> LMK_FAULT_STEP_SHIFT < watch.base + step->step;
  const int32_t group = step->near[block];
  const LMK_NAME(place) at = LMK_NAME(find_place)(block, bit);
  LMK_REAL g[LMK_Q];
  if (group < 0) {
    LMK_NAME(fetch_cell)(step, &at, false, 0u, is_simple, g);
  } else {
    const uint32_t word = step->words[group * LMK_BLOCK_CELLS + bit];
    LMK_NAME(fetch_cell)(step, &at, true, word, is_simple, g);
    if (word != 0 && step->has_momentum)
      LMK_NAME(add_walls)(step, &at, g);
  }
  const LMK_NAME(constants) constants = LMK_NAME(block_constants)(step);
  const LMK_REAL drho = LMK_NAME(collide)(g, &constants);
  if (is_over)
    return;
  LMK_NAME(element) *target = (LMK_NAME(element) *)step->target;
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    LMK_NAME(store_one)(target + LMK_NAME(own_element)(&step->grid, &at, q, is_simple), g[q]);
  if (!(drho - drho == LMK_C(0)))
    LMK_KEEP_LEAST(&step->watch->fault, (step->watch->base + step->step) << LMK_FAULT_STEP_SHIFT |
                                          (uint64_t)step->partition << LMK_FAULT_PARTITION_SHIFT | (uint64_t)block);
}

LMK_KERNEL LMK_BOUNDS(LMK_BLOCK_THREADS, LMK_BLOCK_LEAST) lmk_block_step_simple(LMK_ARGUMENT lmk_device_block_step step)
{
  LMK_NAME(step_cell)(&step, true);
}

LMK_KERNEL LMK_BOUNDS(LMK_BLOCK_THREADS, 1) lmk_block_step_any(LMK_ARGUMENT lmk_device_block_step step)
{
  LMK_NAME(step_cell)(&step, false);
}

/* ---- planes ---- */

/* The cell of this thread: its element of population 0 and how far the next lies, its place in the plane of the buffer;
 * false: there is none. */
typedef struct LMK_NAME(plane_cell) {
  int32_t block, bit;
  int64_t in_plane, cells;
} LMK_NAME(plane_cell);

LMK_INLINE bool LMK_NAME(find_plane_cell)(const lmk_device_block_planes *planes, LMK_NAME(plane_cell) * cell)
{
  const int flat = !LMK_HAS_Y, plane = lmk_block_plane(flat);
  const int32_t thread = LMK_BLOCK(x) * LMK_BLOCK_THREADS + LMK_THREAD(x);
  if (thread >= planes->blocks * plane)
    return false;
  cell->block = planes->layer_blocks[thread / plane];
  cell->bit = planes->height * plane + thread % plane;
  if ((planes->grid.active[cell->block] >> cell->bit & 1u) == 0)
    return false;
  const int32_t *place = planes->places + 3 * (int64_t)cell->block;
  const int64_t x = (int64_t)place[0] * lmk_block_side(flat, 0) + lmk_block_x(flat, cell->bit);
  const int64_t y = (int64_t)place[1] * lmk_block_side(flat, 1) + lmk_block_y(flat, cell->bit);
  cell->in_plane = y * planes->nx + x;
  cell->cells = planes->nx * planes->ny;
  return true;
}

LMK_KERNEL LMK_BOUNDS(LMK_BLOCK_THREADS, 1) lmk_block_import(LMK_ARGUMENT lmk_device_block_planes planes)
{
  LMK_NAME(plane_cell) cell;
  if (!LMK_NAME(find_plane_cell)(&planes, &cell))
    return;
  const LMK_REAL *from = (const LMK_REAL *)planes.buffer + cell.in_plane;
  LMK_NAME(element) *field = (LMK_NAME(element) *)planes.field;
  for (int q = 0; q < LMK_Q; q++)
    LMK_NAME(store_one)
  (field + lmk_block_element(&planes.grid, cell.block, q, cell.bit), LMK_C(LMK_REST_DENSITY) * from[q * cell.cells]);
}

LMK_INLINE LMK_REAL LMK_NAME(stored)(const lmk_device_block_planes *planes, const LMK_NAME(plane_cell) * cell, int q)
{
  const LMK_NAME(element) *field = (const LMK_NAME(element) *)planes->field;
  return LMK_NAME(load_one)(field + lmk_block_element(&planes->grid, cell->block, q, cell->bit)) *
         LMK_C(1.0 / LMK_REST_DENSITY);
}

LMK_KERNEL LMK_BOUNDS(LMK_BLOCK_THREADS, 1) lmk_block_export(LMK_ARGUMENT lmk_device_block_planes planes)
{
  LMK_NAME(plane_cell) cell;
  if (!LMK_NAME(find_plane_cell)(&planes, &cell))
    return;
  for (int q = 0; q < LMK_Q; q++)
    ((LMK_REAL *)planes.buffer)[q * cell.cells + cell.in_plane] = LMK_NAME(stored)(&planes, &cell, q);
}

/* Sums in double and in rank order, as the host does. */
LMK_KERNEL LMK_BOUNDS(LMK_BLOCK_THREADS, 1) lmk_block_moments(LMK_ARGUMENT lmk_device_block_planes planes)
{
  LMK_NAME(plane_cell) cell;
  if (!LMK_NAME(find_plane_cell)(&planes, &cell))
    return;
  double sum[4] = {0.0, 0.0, 0.0, 0.0};
  for (int q = 0; q < LMK_Q; q++) {
    const double value = (double)LMK_NAME(stored)(&planes, &cell, q);
    sum[0] = sum[0] + value;
    for (int axis = 0; axis < 3; axis++)
      sum[1 + axis] = sum[1 + axis] + planes.grid.c[q][axis] * value;
  }
  double *to = (double *)planes.buffer + cell.in_plane;
  for (int i = 0; i < 4; i++)
    to[i * cell.cells] = sum[i];
}

#include "watch_cuda.h"
