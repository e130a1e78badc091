/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of the box to and from blocks on a device. */

/* The cell of this thread: its element of population 0 and how far the next lies, its place in the plane of the buffer;
 * false: there is none. */
typedef struct LMK_NAME(plane_cell) {
  int32_t block, bit;
  int64_t in_plane, cells;
} LMK_NAME(plane_cell);

LMK_INLINE bool LMK_NAME(find_plane_cell)(const lmk_device_block_planes *planes, LMK_NAME(plane_cell) * cell)
{
  const int flat = !LMK_HAS_Y, plane = lmk_block_plane(flat);
  const int32_t thread = LMK_BLOCK(x) * LMK_PLANE_THREADS + LMK_THREAD(x);
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

LMK_KERNEL LMK_BOUNDS(LMK_PLANE_THREADS, 1) lmk_block_import(LMK_ARGUMENT lmk_device_block_planes planes)
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

LMK_KERNEL LMK_BOUNDS(LMK_PLANE_THREADS, 1) lmk_block_export(LMK_ARGUMENT lmk_device_block_planes planes)
{
  LMK_NAME(plane_cell) cell;
  if (!LMK_NAME(find_plane_cell)(&planes, &cell))
    return;
  for (int q = 0; q < LMK_Q; q++)
    ((LMK_REAL *)planes.buffer)[q * cell.cells + cell.in_plane] = LMK_NAME(stored)(&planes, &cell, q);
}

/* Sums in double and in rank order, as the host does. */
LMK_KERNEL LMK_BOUNDS(LMK_PLANE_THREADS, 1) lmk_block_moments(LMK_ARGUMENT lmk_device_block_planes planes)
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
