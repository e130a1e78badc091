/* SPDX-License-Identifier: Apache-2.0 */
/* From a slab and a streaming rule to the addresses of a band of rows. Walls cost nothing here: a row whose upstream
 * cells lie behind a y or z wall reads from where it wrote the opposite population itself; only its pointers differ. */
#include "cpu.h"

typedef struct place {
  int64_t element;  /* from the start of the field */
  int64_t row_step; /* elements to the same place of the next row */
} place;

typedef struct upstream {
  bool is_solid;
  double momentum; /* 6 w c.u of the one wall a link crosses; 0 where it crosses two: the corner counts as at rest */
} upstream;

/* Bytes fetched ahead of the cell at work. Flat between 256 and 1024 (docs/dev/performance.md). */
enum { PREFETCH_BYTES = 512 };

static int64_t wrapped(int64_t i, int64_t n)
{
  return i < 0 ? i + n : i >= n ? i - n : i;
}

/* The plane a place at height z is stored in: a wrapped axis has no halo. */
static int64_t stored_plane(const lmk_dense *d, int64_t z)
{
  const bool outside = z < 0 || z >= d->nz;
  if (outside && d->faces[z < 0 ? 4 : 5] == LMK_FACE_WRAP)
    return wrapped(z, d->nz);
  return z;
}

/* The row a place at y is stored in; ny stands for the spare row. */
static int64_t stored_row(const lmk_dense *d, int64_t y)
{
  if (y >= 0 && y < d->ny)
    return y;
  return d->faces[2] == LMK_FACE_WRAP ? wrapped(y, d->ny) : d->ny;
}

static int64_t row_place(const lmk_dense *d, int64_t row)
{
  return row == d->ny ? d->spare_row : d->origin + row * d->row;
}

/* Start of a row as its cells are walked: x may run over its ends, the caller takes care of them. */
static int64_t row_element(const lmk_dense *d, int slot, int64_t x, int64_t y, int64_t z)
{
  return lmk_plane_element(d, slot, stored_plane(d, z)) + (row_place(d, stored_row(d, y)) + x) * d->stride;
}

/* One place, also beyond the ends of a row: the far end of the row, or the column that keeps what a wall sends back. */
static place end_place(const lmk_dense *d, int slot, int64_t x, int64_t y, int64_t z)
{
  const int64_t row = stored_row(d, y);
  int64_t at = row_place(d, row) + x, step = d->row;
  if (x < 0 || x >= d->nx) {
    const bool wraps = d->faces[0] == LMK_FACE_WRAP;
    at = wraps ? row_place(d, row) + wrapped(x, d->nx) : d->column + row;
    step = wraps ? d->row : 1;
  }
  return (place){lmk_plane_element(d, slot, stored_plane(d, z)) + at * d->stride, step * d->stride};
}

/* What f_q meets upstream of a cell of row y in plane z; `x_face` is the face it crosses too, or -1. */
static upstream look_upstream(const lmk_dense *d, int q, int x_face, int64_t y, int64_t z)
{
  const int8_t *c = d->c[q];
  const int64_t uy = y - c[1], uz = z - c[2];
  const int crossed[3] = {x_face, uy < 0 ? 2 : uy >= d->ny ? 3 : -1, uz < 0 ? 4 : uz >= d->nz ? 5 : -1};
  int walls = 0, wall = 0;
  for (int axis = 0; axis < 3; axis++)
    if (crossed[axis] >= 0 && d->faces[crossed[axis]] == LMK_FACE_WALL) {
      walls++;
      wall = crossed[axis];
    }
  upstream result = {.is_solid = walls > 0};
  if (walls == 1) {
    const double *u = d->wall_velocity[wall];
    result.momentum = 6.0 * d->weight[q] * (c[0] * u[0] + c[1] * u[1] + c[2] * u[2]);
  }
  return result;
}

/* Slot of the place x - back c_q at which f_q waits: where the upstream cell wrote it in the step before, or, behind a
 * wall, where this cell wrote the opposite one. */
static int source_of(const lmk_step *step, int q, bool is_solid, int *back)
{
  const lmk_dense *d = &step->dense;
  const int before = 1 - step->parity;
  if (is_solid) {
    const lmk_target own = lmk_stream_target(d->streaming, before, d->velocities - 1 - q, d->velocities);
    *back = own.shift;
    return own.slot;
  }
  const lmk_target sent = lmk_stream_target(d->streaming, before, q, d->velocities);
  *back = 1 - sent.shift;
  return sent.slot;
}

static void bind_population(const lmk_step *step, int q, int64_t y, int64_t z, size_t bytes, lmk_rows *rows)
{
  const lmk_dense *d = &step->dense;
  const int8_t *c = d->c[q];
  char *const source = step->source, *const target = step->target;
  const upstream up = look_upstream(d, q, -1, y, z);
  int back = 0;
  int slot = source_of(step, q, up.is_solid, &back);
  rows->read[q] = source + row_element(d, slot, -back * c[0], y - back * c[1], z - back * c[2]) * (int64_t)bytes;
  rows->add[q] = up.momentum;
  rows->has_add = rows->has_add || up.momentum != 0.0;

  const lmk_target to = lmk_stream_target(d->streaming, step->parity, q, d->velocities);
  rows->write[q] =
    target + row_element(d, to.slot, to.shift * c[0], y + to.shift * c[1], z + to.shift * c[2]) * (int64_t)bytes;
  rows->edge_read[q] = rows->read[q];
  rows->edge_write[q] = rows->write[q];
  rows->edge_read_step[q] = rows->edge_write_step[q] = rows->row_step;
  if (c[0] == 0)
    return;

  const int64_t enters = c[0] > 0 ? 0 : d->nx - 1, leaves = d->nx - 1 - enters;
  const upstream end = look_upstream(d, q, c[0] > 0 ? 0 : 1, y, z);
  slot = source_of(step, q, end.is_solid, &back);
  const place in = end_place(d, slot, enters - back * c[0], y - back * c[1], z - back * c[2]);
  rows->edge_read[q] = source + in.element * (int64_t)bytes;
  rows->edge_read_step[q] = in.row_step * (int64_t)bytes;
  rows->edge_add[q] = end.momentum;
  const place out = end_place(d, to.slot, leaves + to.shift * c[0], y + to.shift * c[1], z + to.shift * c[2]);
  rows->edge_write[q] = target + out.element * (int64_t)bytes;
  rows->edge_write_step[q] = out.row_step * (int64_t)bytes;
}

static bool writes_where_it_reads(const lmk_rows *rows, int velocities)
{
  for (int q = 0; q < velocities; q++)
    if (rows->write[q] != rows->read[velocities - 1 - q])
      return false;
  return true;
}

/* How many planes from z on, below `end`, see nothing but planes of one span: a band where each plane is one row. */
static int64_t like_planes(const lmk_dense *d, int64_t z, int64_t end)
{
  const int64_t last = end < d->nz - 1 ? end : d->nz - 1;
  if (z < 1 || z >= last)
    return 1;
  for (int s = 0; s < d->span_count; s++) {
    const int64_t first = d->spans[s].first - d->low_planes;
    const int64_t after = s + 1 < d->span_count ? d->spans[s + 1].first - d->low_planes : d->nz + 1;
    if (z - 1 >= first && z + 1 < after)
      return (last < after - 1 ? last : after - 1) - z;
  }
  return 1;
}

void lmi_cpu_bind_rows(const lmk_step *step, int64_t y, int64_t z, int64_t end, size_t bytes, lmk_rows *rows)
{
  const lmk_dense *d = &step->dense;
  *rows =
    (lmk_rows){.cells = d->nx, .stride = d->stride, .prefetch_cells = PREFETCH_BYTES / (int64_t)bytes, .count = 1};
  rows->row_step = d->row * d->stride * (int64_t)bytes;
  for (int q = 0; q < d->velocities; q++)
    bind_population(step, q, y, z, bytes, rows);
  rows->in_place = step->source == step->target && writes_where_it_reads(rows, d->velocities);

  if (d->ny > 1) {
    rows->count = y > 0 && y < d->ny - 1 ? d->ny - 1 - y : 1;
  } else {
    rows->count = like_planes(d, z, end);
    rows->row_step = d->plane_stride * (int64_t)bytes;
    for (int q = 0; q < d->velocities; q++)
      rows->edge_read_step[q] = rows->edge_write_step[q] = rows->row_step;
  }
}
