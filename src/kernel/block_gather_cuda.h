/* SPDX-License-Identifier: Apache-2.0 */
/* Where the populations of a cell of a block come from, on a device. What decides it for a whole block is brought into
 * shared memory first: then one round trip to memory lies between a thread's start and its loads.
 *
 * Simple: a partition in one section without periodic axes that end inside a block. There an address is a neighbour
 * times a constant and a constant. Otherwise each neighbour has a frame: where its cells begin, and two strides. */

typedef struct LMK_NAME(frame) {
  int64_t base;
  int32_t rank, plane;
} LMK_NAME(frame);

/* What the thread block shares; without frames where addresses are simple. */
typedef struct LMK_NAME(shared) {
  int32_t *entries;
  LMK_NAME(frame) * frames;
} LMK_NAME(shared);

LMK_INLINE void LMK_NAME(share_entries)(const lmk_device_block_step *step, int32_t *entries)
{
  const int32_t first = step->first + LMK_BLOCK(x) * LMK_BLOCK_SHARE;
  const int32_t blocks = step->end - first < LMK_BLOCK_SHARE ? step->end - first : LMK_BLOCK_SHARE;
  for (int32_t i = LMK_THREAD(x); i < blocks * LMK_ENTRIES; i += LMK_BLOCK_THREADS)
    entries[i] = step->entries[(int64_t)first * LMK_ENTRIES + i];
}

LMK_INLINE void LMK_NAME(share_frames)(const lmk_device_block_step *step, LMK_NAME(frame) * frames)
{
  const int32_t first = step->first + LMK_BLOCK(x) * LMK_BLOCK_SHARE;
  const int32_t blocks = step->end - first < LMK_BLOCK_SHARE ? step->end - first : LMK_BLOCK_SHARE;
  for (int32_t i = LMK_THREAD(x); i < blocks * LMK_ENTRIES; i += LMK_BLOCK_THREADS) {
    if (i % LMK_ENTRIES >= LMK_BLOCK_NEIGHBOURS)
      continue;
    const int32_t block = step->entries[(int64_t)first * LMK_ENTRIES + i];
    const lmk_block_section *s = lmk_block_section_of(&step->grid, block);
    frames[i].base = s->base + (block - s->first) * s->block_stride;
    frames[i].rank = (int32_t)s->rank_stride;
    frames[i].plane = (int32_t)s->plane_stride;
  }
}

/* The cells of a thread, side by side along x, and their places one step away along each axis: where, and whether the
 * step leaves the block. Index 0, 1, 2: -1, 0, +1. */
typedef struct LMK_NAME(place) {
  const int32_t *entries;
  const LMK_NAME(frame) * frames;
  int32_t block, bit;
  int32_t x_at[LMK_LANES][3], y_at[3], z_at[3];
  bool x_out[LMK_LANES][3], y_out[3], z_out[3];
} LMK_NAME(place);

LMK_INLINE void LMK_NAME(step_along)(int32_t at, int32_t side, int32_t before, int32_t to[3], bool out[3])
{
  to[0] = at == 0 ? before - 1 : at - 1;
  to[1] = at;
  to[2] = at == side - 1 ? 0 : at + 1;
  out[0] = at == 0;
  out[1] = false;
  out[2] = at == side - 1;
}

LMK_INLINE LMK_NAME(place)
  LMK_NAME(find_place)(const LMK_NAME(shared) * shared, int32_t local, int32_t block, int32_t bit, bool is_simple)
{
  const int flat = !LMK_HAS_Y;
  LMK_NAME(place) at;
  at.entries = shared->entries + local * LMK_ENTRIES;
  at.frames = is_simple ? 0 : shared->frames + local * LMK_ENTRIES;
  at.block = block;
  at.bit = bit;
  const uint32_t extents = is_simple ? 0u : (uint32_t)at.entries[LMK_ENTRY_FLAGS] >> LMK_FLAG_EXTENTS;
  int32_t side[3], before[3];
  LMK_UNROLL
  for (int axis = 0; axis < 3; axis++) {
    side[axis] = extents != 0 ? (int32_t)(extents >> (4 * axis) & 15u) : lmk_block_side(flat, axis);
    before[axis] = extents != 0 ? (int32_t)(extents >> (12 + 4 * axis) & 15u) : lmk_block_side(flat, axis);
  }
  LMK_UNROLL
  for (int l = 0; l < LMK_LANES; l++)
    LMK_NAME(step_along)(lmk_block_x(flat, bit) + l, side[0], before[0], at.x_at[l], at.x_out[l]);
  LMK_NAME(step_along)(lmk_block_y(flat, bit), side[1], before[1], at.y_at, at.y_out);
  LMK_NAME(step_along)(lmk_block_z(flat, bit), side[2], before[2], at.z_at, at.z_out);
  return at;
}

/* Element of slot q at the place that lies (dx, dy, dz) away from a thread's cell. */
LMK_INLINE int64_t LMK_NAME(element_at)(const LMK_NAME(place) * at, int lane, int q, int dx, int dy, int dz,
                                        bool is_simple)
{
  const int32_t n = LMK_BLOCK_SELF + (at->x_out[lane][1 + dx] ? dx : 0) + (at->y_out[1 + dy] ? 3 * dy : 0) +
                    (at->z_out[1 + dz] ? 9 * dz : 0);
  const int32_t z = at->z_at[1 + dz];
  const int32_t in_plane = at->x_at[lane][1 + dx] + 4 * at->y_at[1 + dy];
  if (!is_simple) {
    const LMK_NAME(frame) frame = at->frames[n];
    return frame.base + (q * (int64_t)frame.rank + (z * (int64_t)frame.plane + in_plane));
  }
  const int32_t block = dx == 0 && dy == 0 && dz == 0 ? at->block : at->entries[n];
  return (int64_t)block * (LMK_Q * LMK_BLOCK_CELLS) +
         (q * LMK_BLOCK_CELLS + (z * lmk_block_plane(!LMK_HAS_Y) + in_plane));
}

LMK_INLINE int64_t LMK_NAME(own_element)(const LMK_NAME(place) * at, int lane, int q, bool is_simple)
{
  return LMK_NAME(element_at)(at, lane, q, 0, 0, 0, is_simple);
}

typedef struct LMK_NAME(gathered) {
  uint32_t words[LMK_LANES]; /* 0 where no link of the block is cut */
  LMK_REAL g[LMK_LANES][LMK_Q];
} LMK_NAME(gathered);

/* f_q that arrives with velocity (cx, cy, cz), in the cells of a thread: in one access where they lie side by side. */
LMK_INLINE void LMK_NAME(fetch)(const LMK_NAME(element) * source, const LMK_NAME(place) * at, bool has_cuts, int q,
                                int cx, int cy, int cz, bool is_simple, LMK_NAME(gathered) * cells)
{
#if LMK_LANES > 1
  uint32_t any = 0;
  LMK_UNROLL
  for (int l = 0; l < LMK_LANES; l++)
    any |= cells->words[l];
  if (cx == 0 && !(has_cuts && (any >> q & 1u) != 0)) {
    LMK_REAL lanes[LMK_LANES];
    LMK_NAME(load_vector)(source + LMK_NAME(element_at)(at, 0, q, 0, -cy, -cz, is_simple), lanes);
    LMK_UNROLL
    for (int l = 0; l < LMK_LANES; l++)
      cells->g[l][q] = lanes[l];
    return;
  }
#endif
  LMK_UNROLL
  for (int l = 0; l < LMK_LANES; l++) {
    int64_t from = LMK_NAME(element_at)(at, l, q, -cx, -cy, -cz, is_simple);
    if (has_cuts && (cells->words[l] >> q & 1u) != 0)
      from = LMK_NAME(own_element)(at, l, LMK_Q - 1 - q, is_simple);
    cells->g[l][q] = LMK_NAME(load_one)(source + from);
  }
}

LMK_INLINE void LMK_NAME(fetch_cells)(const LMK_NAME(element) * source, const LMK_NAME(place) * at, bool has_cuts,
                                      bool is_simple, LMK_NAME(gathered) * cells)
{
  LMK_NAME(fetch)(source, at, false, LMK_REST, 0, 0, 0, is_simple, cells);
#define LMK_FETCH_PAIR(k, cx, cy, cz, w)                                                \
  LMK_NAME(fetch)(source, at, has_cuts, LMK_UP(k), (cx), (cy), (cz), is_simple, cells); \
  LMK_NAME(fetch)(source, at, has_cuts, LMK_DOWN(k), -(cx), -(cy), -(cz), is_simple, cells);
  LMK_PAIRS(LMK_FETCH_PAIR)
#undef LMK_FETCH_PAIR
}
