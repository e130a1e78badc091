/* SPDX-License-Identifier: Apache-2.0 */
/* Where the populations of a row of cells lie on a device. Compiled in: LMK_NX, LMK_NY (cells of a row, rows of a
 * plane), LMK_ROW (places between rows; the spare row is row LMK_NY), LMK_COLUMN (first place of the column outside the
 * x walls), LMK_WALL_X (0: x wraps), LMK_PLANE_STRIDE, LMK_COMPONENT_STRIDE (0: it differs from span to span),
 * LMK_STRIDE (elements between places), LMK_STREAMING, LMK_LANES.
 *
 * A row is split: lane l of vector j holds the cell x = j + l * LMK_VECTORS. A step of one cell in x is then a step of
 * one whole aligned vector; only the first and the last vector of a row turn their lanes. */
#define LMK_VECTORS (LMK_NX / LMK_LANES)
static_assert(LMK_NX % LMK_LANES == 0, "a row is a whole number of vectors");

/* The row of cells a thread works on, and its neighbours: index 0, 1, 2 stands for -1, 0, +1. */
typedef struct LMK_NAME(position) {
  int32_t vector;
  int32_t row[3];    /* places where the rows begin */
  int32_t column[3]; /* places of their entries in the column */
  int64_t plane[3];  /* elements where the planes begin */
  int64_t component[3];
  bool x_first, x_last;                  /* the vector is the first, the last of its row */
  bool y_first, y_last, z_first, z_last; /* a wall lies behind this side of the row */
} LMK_NAME(position);

LMK_INLINE bool LMK_NAME(has_face)(int32_t faces, int face)
{
  return (faces >> face & 1) != 0;
}

LMK_INLINE int32_t LMK_NAME(stored_row)(const lmk_device_slab *slab, int32_t y)
{
  if (y >= 0 && y < LMK_NY)
    return y;
  if (!LMK_NAME(has_face)(slab->wraps, 2))
    return LMK_NY;
  return y < 0 ? y + LMK_NY : y - LMK_NY;
}

LMK_INLINE void LMK_NAME(find_plane)(const lmk_device_slab *slab, int32_t z, int64_t *plane, int64_t *component)
{
  int32_t at = z;
  if (z < 0 && LMK_NAME(has_face)(slab->wraps, 4))
    at = z + slab->planes;
  if (z >= slab->planes && LMK_NAME(has_face)(slab->wraps, 5))
    at = z - slab->planes;
  const int64_t stored = at + slab->low_planes;
#if LMK_COMPONENT_STRIDE
  *plane = stored * LMK_PLANE_STRIDE;
  *component = LMK_COMPONENT_STRIDE;
#else
  int s = slab->span_count - 1;
  while (s > 0 && stored < slab->spans[s].first)
    s--;
  *plane = slab->spans[s].base + (stored - slab->spans[s].first) * LMK_PLANE_STRIDE;
  *component = slab->spans[s].component_stride;
#endif
}

LMK_INLINE void LMK_NAME(find_position)(const lmk_device_slab *slab, int32_t vector, int32_t y, int32_t z,
                                        LMK_NAME(position) * at)
{
  at->vector = vector;
  LMK_UNROLL
  for (int i = 0; i < 3; i++) {
    const int32_t row = LMK_NAME(stored_row)(slab, y + i - 1);
    at->row[i] = row * LMK_ROW;
    at->column[i] = LMK_COLUMN + row;
    LMK_NAME(find_plane)(slab, z + i - 1, &at->plane[i], &at->component[i]);
  }
  at->x_first = vector == 0;
  at->x_last = vector == LMK_VECTORS - 1;
  at->y_first = y == 0 && LMK_NAME(has_face)(slab->walls, 2);
  at->y_last = y == LMK_NY - 1 && LMK_NAME(has_face)(slab->walls, 3);
  at->z_first = z == 0 && LMK_NAME(has_face)(slab->walls, 4);
  at->z_last = z == slab->planes - 1 && LMK_NAME(has_face)(slab->walls, 5);
}

/* Does a y wall, a z wall lie upstream of every cell of the row for the velocity (cx, cy, cz)? */
LMK_INLINE bool LMK_NAME(from_y_wall)(const LMK_NAME(position) * at, int cy)
{
  return (cy > 0 && at->y_first) || (cy < 0 && at->y_last);
}
LMK_INLINE bool LMK_NAME(from_z_wall)(const LMK_NAME(position) * at, int cz)
{
  return (cz > 0 && at->z_first) || (cz < 0 && at->z_last);
}

/* Place in its row of the vector dx cells on; it turns around at the ends of the row. */
LMK_INLINE int32_t LMK_NAME(vector_place)(const LMK_NAME(position) * at, int dx)
{
  int32_t vector = at->vector;
  if (dx > 0)
    vector = at->x_last ? 0 : vector + 1;
  if (dx < 0)
    vector = at->x_first ? LMK_VECTORS - 1 : vector - 1;
  return vector * LMK_LANES;
}

/* Element of a slot in the row (dy, dz) on, at a place of that row. */
LMK_INLINE int64_t LMK_NAME(row_element)(const LMK_NAME(position) * at, int slot, int dy, int dz, int32_t place)
{
  return at->plane[dz + 1] + slot * at->component[dz + 1] + (int64_t)(at->row[dy + 1] + place) * LMK_STRIDE;
}

/* Element of a slot outside the x walls. */
LMK_INLINE int64_t LMK_NAME(column_element)(const LMK_NAME(position) * at, int slot, int dy, int dz)
{
  return at->plane[dz + 1] + slot * at->component[dz + 1] + (int64_t)at->column[dy + 1] * LMK_STRIDE;
}

/* Lane l takes what lane l - 1 or l + 1 held: the end of a row is where lanes meet. */
LMK_INLINE void LMK_NAME(turn_lanes)(LMK_REAL lanes[LMK_LANES], int dx)
{
  LMK_REAL turned[LMK_LANES];
  LMK_UNROLL
  for (int l = 0; l < LMK_LANES; l++)
    turned[l] = lanes[(l + dx + LMK_LANES) % LMK_LANES];
  LMK_UNROLL
  for (int l = 0; l < LMK_LANES; l++)
    lanes[l] = turned[l];
}
