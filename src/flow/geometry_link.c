/* SPDX-License-Identifier: Apache-2.0 */
/* Where a link meets a surface. Which bodies are near a cell is kept in bins, so that a packing of thousands asks a
 * few. */
#include <math.h>
#include <string.h>

#include "geometry_internal.h"

/* ---- bins ---- */

enum { MOST_BINS = 32 }; /* along an axis */

/* Bins that a way of one cell can start in and still reach the body, along one axis. */
static void bin_range(const lmi_voxels *voxels, const lmi_body *body, int axis, lamina_index *begin, lamina_index *end)
{
  const lmi_centres centres = lmi_centres_make(&voxels->grid);
  const lamina_index counts[3] = {voxels->bins.x, voxels->bins.y, voxels->bins.z};
  const int64_t bin = centres.step[axis] << voxels->bin_shift, reach = centres.step[axis];
  const lamina_index low = lmi_floor_divide(body->bounds.low[axis] - reach, bin);
  const lamina_index high = lmi_floor_divide(body->bounds.high[axis] + reach, bin);
  const lamina_index last = counts[axis] - 1;
  /* What lies behind a face of the box is near the bins at that face: a periodic face leads there. */
  *begin = low < 0 ? 0 : low > last ? last : low;
  *end = (high < 0 ? 0 : high > last ? last : high) + 1;
}

typedef void bin_action(lmi_voxels *voxels, uint32_t *fill, size_t bin, int body);

static void count_body(lmi_voxels *voxels, uint32_t *fill, size_t bin, int body)
{
  (void)voxels, (void)body;
  fill[bin]++;
}

static void store_body(lmi_voxels *voxels, uint32_t *fill, size_t bin, int body)
{
  voxels->bin_bodies[fill[bin]++] = (uint16_t)body;
}

static void visit_bins(lmi_voxels *voxels, uint32_t *fill, bin_action *action)
{
  for (int i = 0; i < voxels->geometry->count; i++) {
    lamina_index begin[3], end[3];
    for (int a = 0; a < 3; a++)
      bin_range(voxels, &voxels->geometry->bodies[i], a, &begin[a], &end[a]);
    for (lamina_index z = begin[2]; z < end[2]; z++)
      for (lamina_index y = begin[1]; y < end[1]; y++)
        for (lamina_index x = begin[0]; x < end[0]; x++)
          action(voxels, fill, (size_t)((z * voxels->bins.y + y) * voxels->bins.x + x), i);
  }
}

static lamina_status fill_bins(lamina_context *ctx, lmi_voxels *voxels, size_t bins, uint32_t *fill)
{
  visit_bins(voxels, fill, count_body);
  uint64_t sum = 0;
  for (size_t i = 0; i < bins; i++) {
    voxels->bin_starts[i] = (uint32_t)sum;
    sum += fill[i];
    fill[i] = voxels->bin_starts[i];
  }
  LMI_REQUIRE(ctx, sum < UINT32_MAX, LAMINA_ERROR_ARGUMENT, "%d bodies each reach through most of the box; take fewer",
              voxels->geometry->count);
  voxels->bin_starts[bins] = (uint32_t)sum;
  LMI_TRY(LMI_ALLOC(ctx, (size_t)sum, &voxels->bin_bodies));
  visit_bins(voxels, fill, store_body);
  return LAMINA_OK;
}

lamina_status lmi_voxels_bin_bodies(lamina_context *ctx, lmi_voxels *voxels)
{
  const lamina_int3 n = voxels->grid.cells;
  const lamina_index longest = n.x > n.y ? (n.x > n.z ? n.x : n.z) : n.y > n.z ? n.y : n.z;
  voxels->bin_shift = 2;
  while (longest >> voxels->bin_shift > MOST_BINS)
    voxels->bin_shift++;
  const lamina_index size = (lamina_index)1 << voxels->bin_shift;
  voxels->bins = (lamina_int3){(n.x + size - 1) / size, (n.y + size - 1) / size, (n.z + size - 1) / size};
  const size_t bins = (size_t)(voxels->bins.x * voxels->bins.y * voxels->bins.z);
  uint32_t *fill = NULL;
  LMI_TRY(LMI_ALLOC(ctx, bins + 1, &voxels->bin_starts));
  LMI_TRY(LMI_ALLOC(ctx, bins, &fill));
  const lamina_status status = fill_bins(ctx, voxels, bins, fill);
  lmi_free(ctx, fill);
  return status;
}

/* ---- links ---- */

/* A surface nearer than this to a centre is moved away to here: 1/fraction appears in interpolated bounce-back. */
static const double LEAST_FRACTION = 0x1p-20;

static size_t nearest_bin(lamina_index cell, int shift, lamina_index bins)
{
  const lamina_index bin = cell < 0 ? 0 : cell >> shift;
  return (size_t)(bin < bins ? bin : bins - 1);
}

/* The first hit of a body near `cell`, if it is nearer than what was found so far. */
static void first_hit(const lmi_voxels *voxels, const lamina_index cell[3], const lmi_fixed3 start,
                      const lmi_fixed3 way, double most, double *fraction, int *body)
{
  const int shift = voxels->bin_shift;
  const size_t x = nearest_bin(cell[0], shift, voxels->bins.x), y = nearest_bin(cell[1], shift, voxels->bins.y);
  const size_t z = nearest_bin(cell[2], shift, voxels->bins.z);
  const size_t bin = (z * (size_t)voxels->bins.y + y) * (size_t)voxels->bins.x + x;
  for (uint32_t k = voxels->bin_starts[bin]; k < voxels->bin_starts[bin + 1]; k++) {
    const int i = voxels->bin_bodies[k];
    double part = 0;
    if (lmi_body_first_hit(&voxels->geometry->bodies[i], start, way, most, &part) && (*body == 0 || part < *fraction)) {
      *fraction = part;
      *body = i + 1;
    }
  }
}

bool lmi_geometry_link(const lmi_voxels *voxels, lamina_int3 cell, const int c[3], double *fraction, int *body)
{
  const lmi_centres centres = lmi_centres_make(&voxels->grid);
  const lamina_index at[3] = {cell.x, cell.y, cell.z};
  lamina_index end[3];
  lmi_fixed3 start, moved, way;
  bool is_across = false;
  for (int a = 0; a < 3; a++) {
    end[a] = at[a] + c[a];
    start[a] = centres.first[a] + at[a] * centres.step[a];
    way[a] = c[a] * centres.step[a];
    const lamina_index turns = lmi_floor_divide(end[a], centres.count[a]);
    end[a] -= turns * centres.count[a];
    moved[a] = start[a] - turns * centres.count[a] * centres.step[a];
    is_across = is_across || turns != 0;
  }
  const lamina_int3 other = {end[0], end[1], end[2]};
  const int owner = lmi_voxels_body(voxels, other);
  /* Where the other end is fluid, a surface behind it is not met; where it is solid, rounding must not hide it. */
  const double most = owner != 0 ? 1.0 + 1e-9 : 1.0 - 1e-12;
  *body = 0;
  *fraction = 0.5;
  first_hit(voxels, at, start, way, most, fraction, body);
  if (is_across)
    first_hit(voxels, end, moved, way, most, fraction, body);
  if (*body == 0 && owner != 0) {
    *fraction = 0.5;
    *body = owner;
  }
  *fraction = fmin(1.0, fmax(LEAST_FRACTION, *fraction));
  return *body != 0;
}
