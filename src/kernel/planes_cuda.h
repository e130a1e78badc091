/* SPDX-License-Identifier: Apache-2.0 */
/* Planes between a slab and canonical order (lmk_planes in dense.h), one thread a cell. They use the addresses at which
 * a step writes: what was written there is the state after collision, in every pattern and layout. */

/* Where the last step, of parity `parity`, wrote f*_q of the cell (x, y, z). */
LMK_INLINE int64_t LMK_NAME(written_element)(const lmk_device_slab *slab, int parity, int q, int cx, int cy, int cz,
                                             int32_t x, int32_t y, int32_t z)
{
  const lmk_target to = lmk_stream_target(LMK_STREAMING, parity, q, LMK_Q);
  int64_t plane, component;
  LMK_NAME(find_plane)(slab, z + to.shift * cz, &plane, &component);
  const int32_t row = LMK_NAME(stored_row)(y + to.shift * cy);
  int32_t column = x + to.shift * cx;
  const bool outside = column < 0 || column >= LMK_NX;
  if (outside)
    column = column < 0 ? LMK_NX - 1 : 0;
  int64_t place = LMK_ORIGIN + row * LMK_ROW + column % LMK_VECTORS * LMK_LANES + column / LMK_VECTORS;
#if LMK_WALL_X
  if (outside)
    place = LMK_COLUMN + row;
#endif
  return plane + to.slot * component + place * LMK_STRIDE;
}

/* False for a thread without a cell. */
LMK_INLINE bool LMK_NAME(find_cell)(const lmk_device_planes *planes, int32_t *x, int32_t *y, int32_t *z)
{
  *x = LMK_BLOCK(x) * LMK_PLANES_BLOCK + LMK_THREAD(x);
  *y = planes->first_row + LMK_BLOCK(y);
  *z = planes->first_plane + LMK_BLOCK(z);
  return *x < LMK_NX && *y < LMK_NY && *z < planes->end_plane;
}

LMK_INLINE int64_t LMK_NAME(buffer_element)(const lmk_device_planes *planes, int values, int32_t x, int32_t y,
                                            int32_t z)
{
  const int64_t plane = (int64_t)LMK_NX * LMK_NY;
  return (z - planes->buffer_plane) * values * plane + (int64_t)y * LMK_NX + x;
}

LMK_INLINE void LMK_NAME(load_written)(const lmk_device_planes *planes, int32_t x, int32_t y, int32_t z,
                                       LMK_REAL f[LMK_Q])
{
  const LMK_NAME(element) *field = (const LMK_NAME(element) *)planes->field;
  const lmk_device_slab *slab = &planes->slab;
  const int parity = planes->parity;
  f[LMK_REST] = LMK_NAME(load_one)(field + LMK_NAME(written_element)(slab, parity, LMK_REST, 0, 0, 0, x, y, z));
#define LMK_LOAD_WRITTEN(k, cx, cy, cz, w)                                                                     \
  f[LMK_UP(k)] =                                                                                               \
    LMK_NAME(load_one)(field + LMK_NAME(written_element)(slab, parity, LMK_UP(k), (cx), (cy), (cz), x, y, z)); \
  f[LMK_DOWN(k)] =                                                                                             \
    LMK_NAME(load_one)(field + LMK_NAME(written_element)(slab, parity, LMK_DOWN(k), -(cx), -(cy), -(cz), x, y, z));
  LMK_PAIRS(LMK_LOAD_WRITTEN)
#undef LMK_LOAD_WRITTEN
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    f[q] = f[q] * LMK_C(1.0 / LMK_REST_DENSITY);
}

LMK_KERNEL LMK_BOUNDS(LMK_PLANES_BLOCK, 1) lmk_import_planes(LMK_ARGUMENT lmk_device_planes planes)
{
  int32_t x, y, z;
  if (!LMK_NAME(find_cell)(&planes, &x, &y, &z))
    return;
  const LMK_REAL *from = (const LMK_REAL *)planes.buffer + LMK_NAME(buffer_element)(&planes, LMK_Q, x, y, z);
  const int64_t plane = (int64_t)LMK_NX * LMK_NY;
  LMK_NAME(element) *field = (LMK_NAME(element) *)planes.field;
  LMK_NAME(store_one)
  (field + LMK_NAME(written_element)(&planes.slab, planes.parity, LMK_REST, 0, 0, 0, x, y, z),
   LMK_C(LMK_REST_DENSITY) * from[LMK_REST * plane]);
#define LMK_STORE_WRITTEN(k, cx, cy, cz, w)                                                                   \
  LMK_NAME(store_one)                                                                                         \
  (field + LMK_NAME(written_element)(&planes.slab, planes.parity, LMK_UP(k), (cx), (cy), (cz), x, y, z),      \
   LMK_C(LMK_REST_DENSITY) * from[LMK_UP(k) * plane]);                                                        \
  LMK_NAME(store_one)                                                                                         \
  (field + LMK_NAME(written_element)(&planes.slab, planes.parity, LMK_DOWN(k), -(cx), -(cy), -(cz), x, y, z), \
   LMK_C(LMK_REST_DENSITY) * from[LMK_DOWN(k) * plane]);
  LMK_PAIRS(LMK_STORE_WRITTEN)
#undef LMK_STORE_WRITTEN
}

LMK_KERNEL LMK_BOUNDS(LMK_PLANES_BLOCK, 1) lmk_export_planes(LMK_ARGUMENT lmk_device_planes planes)
{
  int32_t x, y, z;
  if (!LMK_NAME(find_cell)(&planes, &x, &y, &z))
    return;
  LMK_REAL f[LMK_Q];
  LMK_NAME(load_written)(&planes, x, y, z, f);
  LMK_REAL *to = (LMK_REAL *)planes.buffer + LMK_NAME(buffer_element)(&planes, LMK_Q, x, y, z);
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    to[q * (int64_t)LMK_NX * LMK_NY] = f[q];
}

/* Sums in double and in rank order, as the host does. */
LMK_KERNEL LMK_BOUNDS(LMK_PLANES_BLOCK, 1) lmk_moments(LMK_ARGUMENT lmk_device_planes planes)
{
  int32_t x, y, z;
  if (!LMK_NAME(find_cell)(&planes, &x, &y, &z))
    return;
  LMK_REAL f[LMK_Q];
  LMK_NAME(load_written)(&planes, x, y, z, f);
  double c[LMK_Q][3];
  c[LMK_REST][0] = c[LMK_REST][1] = c[LMK_REST][2] = 0.0;
#define LMK_VELOCITY(k, cx, cy, cz, w) \
  c[LMK_UP(k)][0] = (cx);              \
  c[LMK_UP(k)][1] = (cy);              \
  c[LMK_UP(k)][2] = (cz);              \
  c[LMK_DOWN(k)][0] = -(cx);           \
  c[LMK_DOWN(k)][1] = -(cy);           \
  c[LMK_DOWN(k)][2] = -(cz);
  LMK_PAIRS(LMK_VELOCITY)
#undef LMK_VELOCITY
  double sum[4] = {0.0, 0.0, 0.0, 0.0};
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++) {
    const double value = (double)f[q];
    sum[0] = sum[0] + value;
    sum[1] = sum[1] + c[q][0] * value;
    sum[2] = sum[2] + c[q][1] * value;
    sum[3] = sum[3] + c[q][2] * value;
  }
  double *to = (double *)planes.buffer + LMK_NAME(buffer_element)(&planes, 4, x, y, z);
  LMK_UNROLL
  for (int i = 0; i < 4; i++)
    to[i * (int64_t)LMK_NX * LMK_NY] = sum[i];
}
