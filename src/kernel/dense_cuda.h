/* SPDX-License-Identifier: Apache-2.0 */
/* The device's traversal of a dense slab: a thread updates one vector of LMK_LANES cells. One text for every streaming
 * pattern and layout: what differs are the slots and shifts of lmk_stream_target, constants here.
 *
 * Traffic: 2 Q elements a cell. Walls cost no branch in the body of a row: which slot a y or z wall sends back is the
 * same for a whole row, an x wall changes one lane of the first and of the last thread of a row. */
#include "dense_device.h"
#include "vector_cuda.h"

#include "place_cuda.h"

/* Populations of the cells of a vector: velocities first, so that a pattern step moves one row of this array. */
typedef struct LMK_NAME(cells) {
  LMK_REAL f[LMK_Q][LMK_LANES];
} LMK_NAME(cells);

/* f_q of a vector of cells: from where the upstream cells wrote it in the step before or, from behind a y or z wall,
 * from where these cells wrote the opposite one. The lanes of the row's end are still wrong (mend_ends). */
LMK_INLINE void LMK_NAME(load_population)(const LMK_NAME(element) * field, const LMK_NAME(position) * at, int before,
                                          int q, int cx, int cy, int cz, LMK_NAME(cells) * cells)
{
  const lmk_target sent = lmk_stream_target(LMK_STREAMING, before, q, LMK_Q);
  const lmk_target own = lmk_stream_target(LMK_STREAMING, before, LMK_Q - 1 - q, LMK_Q);
  const int back = 1 - sent.shift, own_back = own.shift;
  int64_t from = LMK_NAME(row_element)(at, sent.slot, -back * cy, -back * cz, LMK_NAME(vector_place)(at, -back * cx));
  if (LMK_NAME(from_y_wall)(at, cy) || LMK_NAME(from_z_wall)(at, cz))
    from =
      LMK_NAME(row_element)(at, own.slot, -own_back * cy, -own_back * cz, LMK_NAME(vector_place)(at, -own_back * cx));
  LMK_NAME(load_vector)(field + from, cells->f[q]);
}

/* Momentum of moving y and z walls; a link that crosses two walls counts as at rest. */
LMK_INLINE void LMK_NAME(add_momentum)(const lmk_device_step *step, const LMK_NAME(position) * at, int q, int cy,
                                       int cz, LMK_NAME(cells) * cells)
{
  const bool y = LMK_NAME(from_y_wall)(at, cy), z = LMK_NAME(from_z_wall)(at, cz);
  if (y == z)
    return;
  const LMK_REAL add = (LMK_REAL)(y ? step->momentum[cy > 0 ? 2 : 3][q] : step->momentum[cz > 0 ? 4 : 5][q]);
  LMK_UNROLL
  for (int l = 0; l < LMK_LANES; l++)
    cells->f[q][l] = cells->f[q][l] + add;
}

LMK_INLINE bool LMK_NAME(meets_moving_row_wall)(const lmk_device_step *step, const LMK_NAME(position) * at)
{
  const int32_t met = at->y_first << 2 | at->y_last << 3 | at->z_first << 4 | at->z_last << 5;
  return (met & step->moving) != 0;
}

/* At the end of the row that f_q enters through: turns the lanes of a shifted vector, and takes the one lane that an x
 * wall sends back from where its cell wrote the opposite population. */
LMK_INLINE void LMK_NAME(mend_end)(const LMK_NAME(element) * field, const lmk_device_step *step,
                                   const LMK_NAME(position) * at, int before, int q, int cx, int cy, int cz,
                                   LMK_NAME(cells) * cells)
{
  const lmk_target sent = lmk_stream_target(LMK_STREAMING, before, q, LMK_Q);
  const lmk_target own = lmk_stream_target(LMK_STREAMING, before, LMK_Q - 1 - q, LMK_Q);
  const int back = 1 - sent.shift, own_back = own.shift;
  const bool wall = LMK_NAME(from_y_wall)(at, cy) || LMK_NAME(from_z_wall)(at, cz);
  if ((wall ? own_back : back) != 0)
    LMK_NAME(turn_lanes)(cells->f[q], -cx);
#if LMK_WALL_X
  const int lane = cx > 0 ? 0 : LMK_LANES - 1, face = cx > 0 ? 0 : 1;
  const int32_t place = at->vector * LMK_LANES + lane;
  const int64_t from =
    own_back ? LMK_NAME(column_element)(at, own.slot, -cy, -cz) : LMK_NAME(row_element)(at, own.slot, 0, 0, place);
  LMK_REAL value = LMK_NAME(load_one)(field + from);
  if (!wall && LMK_NAME(has_face)(step->moving, face))
    value = value + (LMK_REAL)step->momentum[face][q];
  cells->f[q][lane] = value;
#else
  (void)field;
  (void)step;
#endif
}

LMK_INLINE void LMK_NAME(load_cells)(const lmk_device_step *step, const lmk_device_part *part,
                                     const LMK_NAME(position) * at, int before, LMK_NAME(cells) * cells)
{
  const LMK_NAME(element) *field = (const LMK_NAME(element) *)part->source;
  LMK_NAME(load_population)(field, at, before, LMK_REST, 0, 0, 0, cells);
#define LMK_LOAD_PAIR(k, cx, cy, cz, w)                                             \
  LMK_NAME(load_population)(field, at, before, LMK_UP(k), (cx), (cy), (cz), cells); \
  LMK_NAME(load_population)(field, at, before, LMK_DOWN(k), -(cx), -(cy), -(cz), cells);
  LMK_PAIRS(LMK_LOAD_PAIR)
#undef LMK_LOAD_PAIR
  if (LMK_NAME(meets_moving_row_wall)(step, at)) {
#define LMK_ADD_PAIR(k, cx, cy, cz, w)                            \
  LMK_NAME(add_momentum)(step, at, LMK_UP(k), (cy), (cz), cells); \
  LMK_NAME(add_momentum)(step, at, LMK_DOWN(k), -(cy), -(cz), cells);
    LMK_PAIRS(LMK_ADD_PAIR)
#undef LMK_ADD_PAIR
  }
#if LMK_WALL_X || LMK_LANES > 1
#define LMK_MEND_PAIR(k, cx, cy, cz, w)                                              \
  if ((cx)*LMK_END > 0)                                                              \
    LMK_NAME(mend_end)(field, step, at, before, LMK_UP(k), (cx), (cy), (cz), cells); \
  if ((cx)*LMK_END < 0)                                                              \
    LMK_NAME(mend_end)(field, step, at, before, LMK_DOWN(k), -(cx), -(cy), -(cz), cells);
  if (at->x_first) {
#define LMK_END 1
    LMK_PAIRS(LMK_MEND_PAIR)
#undef LMK_END
  }
  if (at->x_last) {
#define LMK_END -1
    LMK_PAIRS(LMK_MEND_PAIR)
#undef LMK_END
  }
#undef LMK_MEND_PAIR
#endif
}

/* f*_q of a vector of cells, where the pattern puts it. */
LMK_INLINE void LMK_NAME(store_population)(LMK_NAME(element) * field, const LMK_NAME(position) * at, int parity, int q,
                                           int cx, int cy, int cz, const LMK_NAME(cells) * cells)
{
  const lmk_target to = lmk_stream_target(LMK_STREAMING, parity, q, LMK_Q);
  const int dx = to.shift * cx, dy = to.shift * cy, dz = to.shift * cz;
  const int32_t place = LMK_NAME(vector_place)(at, dx);
  LMK_NAME(element) *target = field + LMK_NAME(row_element)(at, to.slot, dy, dz, place);
  LMK_REAL lanes[LMK_LANES];
  LMK_UNROLL
  for (int l = 0; l < LMK_LANES; l++)
    lanes[l] = LMK_NAME(dither)(cells->f[q][l], cells->f[q == LMK_REST ? 0 : LMK_Q - 1 - q][l]);
  if (dx == 0 || !(dx > 0 ? at->x_last : at->x_first)) {
    LMK_NAME(store_vector)(target, lanes);
    return;
  }
  LMK_NAME(turn_lanes)(lanes, -dx);
#if LMK_WALL_X
  /* The lane that leaves is the one that turned around. Its place at the other end of the row is not this thread's to
   * write: there waits what the wall sent back to another cell. */
  const int leaving = dx > 0 ? 0 : LMK_LANES - 1;
  LMK_NAME(store_but)(target, lanes, leaving);
  LMK_NAME(store_one)(field + LMK_NAME(column_element)(at, to.slot, dy, dz), lanes[leaving]);
#else
  LMK_NAME(store_vector)(target, lanes);
#endif
}

LMK_INLINE void LMK_NAME(store_cells)(const lmk_device_part *part, const LMK_NAME(position) * at, int parity,
                                      const LMK_NAME(cells) * cells)
{
  LMK_NAME(element) *field = (LMK_NAME(element) *)part->target;
  LMK_NAME(store_population)(field, at, parity, LMK_REST, 0, 0, 0, cells);
#define LMK_STORE_PAIR(k, cx, cy, cz, w)                                             \
  LMK_NAME(store_population)(field, at, parity, LMK_UP(k), (cx), (cy), (cz), cells); \
  LMK_NAME(store_population)(field, at, parity, LMK_DOWN(k), -(cx), -(cy), -(cz), cells);
  LMK_PAIRS(LMK_STORE_PAIR)
#undef LMK_STORE_PAIR
}

#if LMK_DIRECT
/* What crosses the face to a neighbouring slab is stored there too: into the neighbour's boundary plane when the
 * pattern puts it on the far side, into its halo when the neighbour is to fetch it. No message is needed then.
 * `z` is this row's plane in the neighbour's count. */
LMK_INLINE void LMK_NAME(store_across)(const lmk_device_step *step, const LMK_NAME(position) * at, int parity, int side,
                                       int32_t z, const LMK_NAME(cells) * cells)
{
  LMK_NAME(element) *field = (LMK_NAME(element) *)step->neighbour_target[side];
  LMK_NAME(position) far = *at;
  LMK_UNROLL
  for (int i = 0; i < 3; i++)
    LMK_NAME(find_plane)(&step->neighbour[side], z + i - 1, &far.plane[i], &far.component[i]);
#define LMK_STORE_ACROSS(k, cx, cy, cz, w)                                               \
  if ((cz) > 0 && side == 1)                                                             \
    LMK_NAME(store_population)(field, &far, parity, LMK_UP(k), (cx), (cy), (cz), cells); \
  if ((cz) > 0 && side == 0)                                                             \
    LMK_NAME(store_population)(field, &far, parity, LMK_DOWN(k), -(cx), -(cy), -(cz), cells);
  LMK_PAIRS(LMK_STORE_ACROSS)
#undef LMK_STORE_ACROSS
}
#endif

/* Collides all lanes; true when a density is not finite. */
LMK_INLINE bool LMK_NAME(collide_cells)(const lmk_device_step *step, LMK_NAME(cells) * cells)
{
  LMK_NAME(constants) constants;
  constants.omega = (LMK_REAL)step->omega;
  constants.omega_minus = (LMK_REAL)step->omega_minus;
  constants.tau = (LMK_REAL)step->tau;
  constants.les = (LMK_REAL)step->les;
  constants.fx = (LMK_REAL)step->force[0];
  constants.fy = (LMK_REAL)step->force[1];
  constants.fz = (LMK_REAL)step->force[2];
  bool bad = false;
  LMK_UNROLL
  for (int l = 0; l < LMK_LANES; l++) {
    LMK_REAL g[LMK_Q];
    LMK_UNROLL
    for (int q = 0; q < LMK_Q; q++)
      g[q] = cells->f[q][l];
    const LMK_REAL drho = LMK_NAME(collide)(g, &constants);
    bad = bad || !(drho - drho == LMK_C(0));
    LMK_UNROLL
    for (int q = 0; q < LMK_Q; q++)
      cells->f[q][l] = g[q];
  }
  return bad;
}

/* The part of the launch that this thread works on, and its row there: false where there is none. Every other step goes
 * through the planes backwards: what the step before touched last is still in the cache. */
LMK_INLINE bool LMK_NAME(find_row)(const lmk_device_step *step, int parity, int *part, int32_t *y, int32_t *z)
{
  const int32_t layer = parity ? LMK_BLOCKS(z) - 1 - LMK_BLOCK(z) : LMK_BLOCK(z);
  *part = 0;
#if LMK_JOINED
  while (*part + 1 < step->part_count && layer >= step->first_layer[*part + 1])
    ++*part;
#endif
  const lmk_device_part *found = &step->parts[*part];
  *y = step->first_row + LMK_BLOCK(y) * LMK_BLOCK_Y + LMK_THREAD(y);
  *z = found->first_plane + (layer - step->first_layer[*part]) * LMK_BLOCK_Z + (LMK_BLOCK_Z > 1 ? LMK_THREAD(z) : 0);
  return *y < LMK_NY && *z < found->end_plane;
}

/* After a step with a non-finite value the steps behind it leave the field as it is. The watch is read before the
 * populations and asked after the collision: its latency hides behind theirs. */
LMK_INLINE void LMK_NAME(step_vector)(const lmk_device_step *step, int parity)
{
  const int32_t vector = LMK_BLOCK(x) * LMK_BLOCK_X + LMK_THREAD(x);
  int32_t y, z;
  int index;
  LMK_LET_NEXT_START();
  if (vector >= LMK_VECTORS || !LMK_NAME(find_row)(step, parity, &index, &y, &z))
    return;
  const lmk_device_part *part = &step->parts[index];
  LMK_NAME(position) at;
  LMK_NAME(find_position)(&part->slab, vector, y, z, &at);
  LMK_AWAIT_LAST();
  const lmk_watch watch = *step->watch;
  const bool is_over = watch.fault >> LMK_FAULT_STEP_SHIFT < watch.base + step->step;
  LMK_NAME(cells) cells;
  LMK_NAME(load_cells)(step, part, &at, 1 - parity, &cells);
  const bool bad = LMK_NAME(collide_cells)(step, &cells);
  if (is_over)
    return;
  LMK_FORGET(z);
  LMK_NAME(find_position)(&part->slab, vector, y, z, &at);
  LMK_NAME(store_cells)(part, &at, parity, &cells);
#if LMK_DIRECT
  if (z == 0 && step->neighbour_target[0] != 0)
    LMK_NAME(store_across)(step, &at, parity, 0, step->neighbour[0].planes, &cells);
  if (z == part->slab.planes - 1 && step->neighbour_target[1] != 0)
    LMK_NAME(store_across)(step, &at, parity, 1, -1, &cells);
#endif
  if (bad)
    LMK_KEEP_LEAST(&step->watch->fault, (step->watch->base + step->step) << LMK_FAULT_STEP_SHIFT |
                                          (uint64_t)part->partition << LMK_FAULT_PARTITION_SHIFT | (uint64_t)z);
}

LMK_KERNEL LMK_BOUNDS(LMK_BLOCK_X *LMK_BLOCK_Y *LMK_BLOCK_Z, LMK_LEAST_BLOCKS)
  lmk_step_even(LMK_ARGUMENT lmk_device_step step)
{
  LMK_NAME(step_vector)(&step, 0);
}

LMK_KERNEL LMK_BOUNDS(LMK_BLOCK_X *LMK_BLOCK_Y *LMK_BLOCK_Z, LMK_LEAST_BLOCKS)
  lmk_step_odd(LMK_ARGUMENT lmk_device_step step)
{
  LMK_NAME(step_vector)(&step, 1);
}

#include "watch_cuda.h"
