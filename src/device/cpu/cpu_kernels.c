/* SPDX-License-Identifier: Apache-2.0 */
/* The host's kernels over planes. Import, export and moments use the addresses at which a step writes: what was written
 * there is the state after collision, in every pattern and layout. */
#include "cpu.h"

int64_t lmi_cpu_step(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  const lmk_step *step = arguments;
  const lmk_dense *d = &step->dense;
  const int64_t end = first + count;
  int64_t bad = -1;
  for (int64_t z = first; z < end;) {
    int64_t planes = 1;
    for (int64_t y = 0; y < d->ny;) {
      lmk_rows rows;
      lmi_cpu_bind_rows(step, y, z, end, kernel->element_bytes, &rows);
      const int64_t row = kernel->update_rows(&rows, &step->rates);
      if (row >= 0 && bad < 0)
        bad = d->ny > 1 ? z : z + row;
      planes = d->ny > 1 ? 1 : rows.count;
      y += d->ny > 1 ? rows.count : 1;
    }
    z += planes;
  }
  return bad;
}

/* The write side of the last step, one row at a time. */
static void bind_last_write(const lmk_planes *planes, int64_t y, int64_t z, size_t bytes, lmk_rows *rows)
{
  lmk_step last = planes->step;
  last.source = last.target;
  lmi_cpu_bind_rows(&last, y, z, z + 1, bytes, rows);
}

/* Copies a row between strided storage and contiguous memory, with its end where the write rule put it. */
static void move_row(const lmk_rows *rows, int q, int cx, size_t bytes, char *contiguous, bool store)
{
  const int64_t step = rows->stride * (int64_t)bytes;
  const int64_t end_cell = cx > 0 ? rows->cells - 1 : 0;
  for (int64_t x = 0; x < rows->cells; x++) {
    char *stored = cx != 0 && x == end_cell ? rows->edge_write[q] : rows->write[q] + x * step;
    if (store)
      memcpy(stored, contiguous + x * (int64_t)bytes, bytes);
    else
      memcpy(contiguous + x * (int64_t)bytes, stored, bytes);
  }
}

static void move_planes(const lmi_kernel *kernel, const lmk_planes *planes, int64_t first, int64_t count, bool store)
{
  const lmk_dense *d = &planes->step.dense;
  const size_t bytes = kernel->element_bytes;
  const int64_t row_bytes = d->nx * (int64_t)bytes;
  for (int64_t z = first; z < first + count; z++)
    for (int64_t y = 0; y < d->ny; y++) {
      lmk_rows rows;
      bind_last_write(planes, y, z, bytes, &rows);
      for (int q = 0; q < d->velocities; q++) {
        const int64_t row = ((z - planes->first) * d->velocities + q) * d->ny + y;
        move_row(&rows, q, d->c[q][0], bytes, (char *)planes->buffer + row * row_bytes, store);
      }
    }
}

int64_t lmi_cpu_import(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  move_planes(kernel, arguments, first, count, true);
  return -1;
}

int64_t lmi_cpu_export(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  move_planes(kernel, arguments, first, count, false);
  return -1;
}

static double load(const char *element, size_t bytes)
{
  if (bytes == sizeof(double)) {
    double value;
    memcpy(&value, element, sizeof value);
    return value;
  }
  float value;
  memcpy(&value, element, sizeof value);
  return (double)value;
}

/* Sums in double and in rank order: the same bits whatever layout or pattern holds the populations. */
int64_t lmi_cpu_moments(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  const lmk_planes *planes = arguments;
  const lmk_dense *d = &planes->step.dense;
  const size_t bytes = kernel->element_bytes;
  const int64_t cells = d->nx * d->ny;
  for (int64_t z = first; z < first + count; z++) {
    double *out = (double *)planes->buffer + (z - planes->first) * 4 * cells;
    memset(out, 0, (size_t)(4 * cells) * sizeof *out);
    for (int64_t y = 0; y < d->ny; y++) {
      lmk_rows rows;
      bind_last_write(planes, y, z, bytes, &rows);
      double *row = out + y * d->nx;
      for (int q = 0; q < d->velocities; q++) {
        const int8_t *c = d->c[q];
        const int64_t step = rows.stride * (int64_t)bytes, end_cell = c[0] > 0 ? d->nx - 1 : 0;
        for (int64_t x = 0; x < d->nx; x++) {
          const double f = load(c[0] != 0 && x == end_cell ? rows.edge_write[q] : rows.write[q] + x * step, bytes);
          row[x] += f;
          row[cells + x] += c[0] * f;
          row[2 * cells + x] += c[1] * f;
          row[3 * cells + x] += c[2] * f;
        }
      }
    }
  }
  return -1;
}
