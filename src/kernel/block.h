/* SPDX-License-Identifier: Apache-2.0 */
/* What a partition of blocks looks like to a kernel. One text for the host and the device; nothing here depends on the
 * precision. Streaming is the rule of dense.h; include that first.
 *
 * A block is 64 cells: 4 x 4 x 4, in two dimensions 8 x 8 of the x-z plane. Cell (x, y, z) of a block is bit
 * x + 4 y + 16 z (x + 8 z) of its 64-bit words, and so it lies in memory: planes of 16 (8) cells, rows of 4 (8).
 *
 * Storage. Own blocks come first, numbered 0 to blocks - 1, then those of neighbouring partitions that are stored as
 * halos. Blocks of equal treatment are a section. Component r of cell v of block b lies at
 *   base + (b - first) block_stride + r rank_stride + (v / plane) plane_stride + v % plane.
 * Where nothing is sent a block is Q x 64 values in one piece. In a section that neighbours a partition, plane z of
 * component r of all its blocks comes first: then what crosses a face is one range (lbm-spec section 6), and of a halo
 * block only the plane that touches the face is stored.
 *
 * Cells without fluid have a clear bit in `active`. They are updated like the others, from rest, and nobody looks at
 * what they leave behind: a link into one is cut, and its cell keeps what it sends there (lmk_block_link). In every
 * pattern the slots a cell touches are its own, so whatever happens to those of a cell without fluid harms nobody. */
#ifndef LMK_BLOCK_H
#define LMK_BLOCK_H

enum {
  LMK_BLOCK_CELLS = 64,
  LMK_BLOCK_NEIGHBOURS = 27,
  LMK_BLOCK_SELF = 13,
  LMK_BLOCK_SECTIONS = 5,
  LMK_BLOCK_WALLS = LMK_FACES + 1
};

typedef struct lmk_block_section {
  int32_t first; /* block it begins with; sections are sorted by it */
  int32_t count;
  int64_t base, block_stride, rank_stride, plane_stride; /* elements */
} lmk_block_section;

/* A link that is cut: population q of cell `bit` does not arrive from upstream, what the cell sent against it comes
 * back (half-way bounce-back). `wall` is 0 for a surface at rest, 1 + face for a wall of the box. Links of a block
 * stand side by side, by rising bit, then q. */
typedef struct lmk_block_link {
  uint8_t bit, q;
  uint16_t wall;
} lmk_block_link;

/* How a kernel finds what belongs to a boundary cell (grouping; grid/blocks.h). */
enum { LMK_ITEM_DIRECT, LMK_ITEM_INDEX, LMK_ITEM_COUNTED };

typedef struct lmk_block_grid {
  int32_t is_flat, velocities, streaming;
  int32_t blocks; /* own */
  int32_t section_count;
  lmk_block_section sections[LMK_BLOCK_SECTIONS];
  const int32_t *neighbours; /* 27 a block, by (dz + 1) 9 + (dy + 1) 3 + dx + 1; -1: none */
  const uint64_t *active;
  /* Where a periodic axis ends inside a block: cells along x, y, z of the block and of the one before it, 4 bits each.
   * NULL: nowhere. */
  const uint32_t *extents;
  const int32_t *link_first; /* blocks + 1 */
  const lmk_block_link *links;
  const uint8_t *kinds;     /* 1: some cell is special, 0: none. NULL: none anywhere */
  const uint64_t *special;  /* cells with boundary data */
  int32_t item_rule;        /* LMK_ITEM_*: item of cell v of block b */
  int32_t item_first_block; /* DIRECT: (b - item_first_block) 64 + v */
  const int32_t *items;     /* INDEX: of b 64 + v. COUNTED: of b, plus the special cells of the block below v */
  int8_t c[LMK_MAX_VELOCITIES][4];
} lmk_block_grid;

enum { LMK_SERVE_ALL, LMK_SERVE_PLAIN, LMK_SERVE_SPECIAL };

/* Arguments of a step kernel over blocks [first, first + count) of a partition. */
typedef struct lmk_block_step {
  lmk_block_grid grid;
  lmk_rates rates;
  double momentum[LMK_BLOCK_WALLS][LMK_MAX_VELOCITIES]; /* what wall w adds to f_q: 6 w c.u */
  int32_t has_momentum;
  void *source, *target; /* the same unless two grids are used */
  void *sent;            /* in place: f* that was sent into each cut link */
  int32_t parity;
  int32_t serves; /* LMK_SERVE_*: which blocks of the range this launch is for */
  const struct lmk_boundary *boundary;
  const struct lmk_jumps *jumps; /* links to other levels (jump.h); NULL: no block of the launch has any */
} lmk_block_step;

/* Arguments of import, export and moments over planes of a partition, as lmk_planes (dense.h); cells without fluid are
 * zeros. `first_plane` is the plane of the box that the partition begins with. */
typedef struct lmk_block_planes {
  lmk_block_step step; /* the last one done */
  void *buffer;
  int64_t first; /* plane, of the partition, that `buffer` begins with */
  int64_t nx, ny;
  const int32_t *layer_first;  /* layers + 1 */
  const int32_t *layer_blocks; /* blocks by layer, each by rising y, x */
  const int32_t *places;       /* x, y, z of each own block, in blocks */
} lmk_block_planes;

/* ---- cells of a block ---- */

LMK_INLINE int lmk_block_bit(int is_flat, int x, int y, int z)
{
  return is_flat ? x + 8 * z : x + 4 * y + 16 * z;
}

LMK_INLINE int lmk_block_x(int is_flat, int bit)
{
  return bit & (is_flat ? 7 : 3);
}

LMK_INLINE int lmk_block_y(int is_flat, int bit)
{
  return is_flat ? 0 : bit >> 2 & 3;
}

LMK_INLINE int lmk_block_z(int is_flat, int bit)
{
  return bit >> (is_flat ? 3 : 4);
}

/* Cells of a block along an axis, and of a plane. */
LMK_INLINE int lmk_block_side(int is_flat, int axis)
{
  return is_flat ? (axis == 1 ? 1 : 8) : 4;
}

LMK_INLINE int lmk_block_plane(int is_flat)
{
  return is_flat ? 8 : 16;
}

/* ---- addresses ---- */

LMK_INLINE const lmk_block_section *lmk_block_section_of(const lmk_block_grid *g, int32_t block)
{
  int s = g->section_count - 1;
  while (s > 0 && block < g->sections[s].first)
    s--;
  return &g->sections[s];
}

LMK_INLINE int64_t lmk_block_element(const lmk_block_grid *g, int32_t block, int rank, int bit)
{
  const lmk_block_section *s = lmk_block_section_of(g, block);
  const int plane = lmk_block_plane(g->is_flat);
  return s->base + (block - s->first) * s->block_stride + rank * s->rank_stride + bit / plane * s->plane_stride +
         bit % plane;
}

/* A cell as a block and a bit; block -1: not stored. */
typedef struct lmk_block_cell {
  int32_t block, bit;
} lmk_block_cell;

/* One axis of a step to a neighbour: -1, 0 or 1 blocks on, and the cell's new place there. */
LMK_INLINE int lmk_block_walk(int *at, int step, int side, int side_before)
{
  *at += step;
  if (*at < 0) {
    *at = side_before - 1;
    return -1;
  }
  if (*at >= side) {
    *at = 0;
    return 1;
  }
  return 0;
}

/* The cell at a distance of at most one along each axis from a cell of an own block. */
LMK_INLINE lmk_block_cell lmk_block_neighbour(const lmk_block_grid *g, lmk_block_cell cell, int dx, int dy, int dz)
{
  int at[3] = {lmk_block_x(g->is_flat, cell.bit), lmk_block_y(g->is_flat, cell.bit), lmk_block_z(g->is_flat, cell.bit)};
  const int step[3] = {dx, dy, dz};
  int block[3];
  for (int axis = 0; axis < 3; axis++) {
    int side = lmk_block_side(g->is_flat, axis), before = side;
    if (g->extents != 0) {
      side = (int)(g->extents[cell.block] >> (4 * axis) & 15u);
      before = (int)(g->extents[cell.block] >> (12 + 4 * axis) & 15u);
    }
    block[axis] = lmk_block_walk(&at[axis], step[axis], side, before);
  }
  lmk_block_cell result;
  result.block =
    g->neighbours[(int64_t)cell.block * LMK_BLOCK_NEIGHBOURS + (block[2] + 1) * 9 + (block[1] + 1) * 3 + block[0] + 1];
  result.bit = lmk_block_bit(g->is_flat, at[0], at[1], at[2]);
  return result;
}

/* ---- streaming ---- */

/* Where the populations of a step are found and go: slot, and whether at the own place or one velocity away: upstream
 * for what arrives, downstream for what leaves. */
typedef struct lmk_block_plan {
  int8_t slot_in[LMK_MAX_VELOCITIES], shift_in[LMK_MAX_VELOCITIES];
  int8_t slot_out[LMK_MAX_VELOCITIES], shift_out[LMK_MAX_VELOCITIES];
} lmk_block_plan;

LMK_INLINE void lmk_block_make_plan(int streaming, int parity, int velocities, lmk_block_plan *plan)
{
  for (int q = 0; q < velocities; q++) {
    const lmk_target sent = lmk_stream_target(streaming, 1 - parity, q, velocities);
    const lmk_target out = lmk_stream_target(streaming, parity, q, velocities);
    const bool moves = q != (velocities - 1) / 2;
    plan->slot_in[q] = (int8_t)sent.slot;
    plan->shift_in[q] = (int8_t)(moves && !sent.shift);
    plan->slot_out[q] = (int8_t)out.slot;
    plan->shift_out[q] = (int8_t)(moves && out.shift);
  }
}

/* ---- boundary data ---- */

/* Bits of a word. */
LMK_INLINE int lmk_count_bits(uint64_t word)
{
  word = word - (word >> 1 & 0x5555555555555555ull);
  word = (word & 0x3333333333333333ull) + (word >> 2 & 0x3333333333333333ull);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0full;
  return (int)(word * 0x0101010101010101ull >> 56);
}

/* The number under which the data of a special cell are kept. */
LMK_INLINE int32_t lmk_block_item(const lmk_block_grid *g, int32_t block, int bit)
{
  if (g->item_rule == LMK_ITEM_DIRECT)
    return (block - g->item_first_block) * LMK_BLOCK_CELLS + bit;
  if (g->item_rule == LMK_ITEM_INDEX)
    return g->items[block * LMK_BLOCK_CELLS + bit];
  return g->items[block] + lmk_count_bits(g->special[block] & ((1ull << bit) - 1));
}

#endif
