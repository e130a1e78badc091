/* SPDX-License-Identifier: Apache-2.0 */
/* Where the populations of a row of cells lie on a device. Compiled in: LMK_NX, LMK_NY (cells of a row, rows of a
 * plane), LMK_ROW (places between rows), LMK_ORIGIN (place of cell (0, 0); in front of it a spare row, as behind the
 * last), LMK_COLUMN (of the places outside the x walls, the entry of row 0), LMK_WALL_X (0: x wraps), LMK_WRAP_Y,
 * LMK_WRAP_Z (1: the faces are joined inside the slab), LMK_PLANE_STRIDE, LMK_COMPONENT_STRIDE (0: passed at run time),
 * LMK_ONE_SPAN, LMK_JOINED (1: planes beside the slab are those of other slabs, not halos), LMK_STRIDE (elements
 * between places), LMK_STREAMING, LMK_LANES.
 *
 * A row is split: lane l of vector j holds the cell x = j + l * LMK_VECTORS. A step of one cell in x is then a step of
 * one whole aligned vector; only the first and the last vector of a row turn their lanes. Where nothing wraps, rows and
 * planes around a cell lie at constant distances: addresses then cost hardly a register. */
#define LMK_VECTORS (LMK_NX / LMK_LANES)
static_assert(LMK_NX % LMK_LANES == 0, "a row is a whole number of vectors");

/* The row of cells a thread works on, and its neighbours: index 0, 1, 2 stands for -1, 0, +1. */
typedef struct LMK_NAME(position) {
  int32_t vector;
  int32_t row[3];   /* rows of the plane */
  int64_t plane[3]; /* elements where the planes begin */
  int64_t component[3];
  bool x_first, x_last;                  /* the vector is the first, the last of its row */
  bool y_first, y_last, z_first, z_last; /* a wall lies behind this side of the row */
} LMK_NAME(position);

LMK_INLINE bool LMK_NAME(has_face)(int32_t faces, int face)
{
  return (faces >> face & 1) != 0;
}

LMK_INLINE int32_t LMK_NAME(stored_row)(int32_t y)
{
#if LMK_WRAP_Y
  return y < 0 ? y + LMK_NY : y >= LMK_NY ? y - LMK_NY : y;
#else
  return y;
#endif
}

LMK_INLINE int32_t LMK_NAME(stored_plane)(const lmk_device_slab *slab, int32_t z)
{
#if LMK_WRAP_Z
  z = z < 0 ? z + slab->planes : z >= slab->planes ? z - slab->planes : z;
#endif
  return z + slab->low_planes;
}

LMK_INLINE void LMK_NAME(find_plane)(const lmk_device_slab *slab, int32_t z, int64_t *plane, int64_t *component)
{
#if LMK_JOINED
  const int side = z < 0 ? 0 : 1;
  if ((z < 0 || z >= slab->planes) && (slab->joins >> side & 1) != 0) {
    *plane = slab->beside[side];
    *component = slab->beside_component[side];
    return;
  }
#endif
  const int64_t stored = LMK_NAME(stored_plane)(slab, z);
#if LMK_COMPONENT_STRIDE
  *plane = stored * LMK_PLANE_STRIDE;
  *component = LMK_COMPONENT_STRIDE;
#elif LMK_ONE_SPAN
  *plane = stored * LMK_PLANE_STRIDE;
  *component = slab->spans[0].component_stride;
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
  LMK_NAME(find_plane)(slab, z, &at->plane[1], &at->component[1]);
  at->row[1] = y;
  LMK_UNROLL
  for (int i = 0; i < 3; i += 2) {
    at->row[i] = LMK_NAME(stored_row)(y + i - 1);
#if LMK_ONE_SPAN && !LMK_WRAP_Z && !LMK_JOINED
    at->plane[i] = at->plane[1] + (i - 1) * LMK_PLANE_STRIDE;
    at->component[i] = at->component[1];
#else
    LMK_NAME(find_plane)(slab, z + i - 1, &at->plane[i], &at->component[i]);
#endif
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
  return at->plane[dz + 1] + slot * at->component[dz + 1] +
         (int64_t)(LMK_ORIGIN + at->row[dy + 1] * LMK_ROW + place) * LMK_STRIDE;
}

/* Element of a slot outside the x walls. */
LMK_INLINE int64_t LMK_NAME(column_element)(const LMK_NAME(position) * at, int slot, int dy, int dz)
{
  return at->plane[dz + 1] + slot * at->component[dz + 1] + (int64_t)(LMK_COLUMN + at->row[dy + 1]) * LMK_STRIDE;
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
