/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of users on the host: planes are cut into runs of cells that lie alike, and each run is handed to the
 * function that LAMINA_KERNEL made. Periodic ends of rows are runs of one cell whose neighbour lies at the other end:
 * nothing is copied for them. */
#include "cpu.h"

#include "kernel/cells.h"
#include <lamina/kernel.h>

_Static_assert((int)LMK_MAX_ARGUMENTS == (int)LAMINA_MAX_ARGUMENTS, "cells.h and lamina/kernel.h differ");
_Static_assert((int)LMK_CENTRE == (int)LAMINA_CENTRE, "cells.h and lamina/kernel.h differ");

/* A plane at work. `row` holds, for each field and declared neighbour, the address of what cell x = 0 of the present
 * row sees. */
typedef struct bound_plane {
  const lmk_cells *cells;
  lamina_run_function *run;
  lmk_plane planes[LMK_MAX_ARGUMENTS][3]; /* below, this one, above */
  char *row[LMK_MAX_ARGUMENTS][LMK_NEIGHBOURS];
  char *row_out[LMK_MAX_ARGUMENTS];
  bool has_x_neighbours, has_y_neighbours;
  double result;
  lamina_run arguments;
} bound_plane;

static int64_t wrapped(int64_t i, int64_t n, bool wraps)
{
  return !wraps ? i : i < 0 ? i + n : i >= n ? i - n : i;
}

static double identity(int32_t reduction)
{
  if (reduction == LAMINA_REDUCE_MAX)
    return -(double)INFINITY;
  return reduction == LAMINA_REDUCE_MIN ? (double)INFINITY : 0.0;
}

/* What does not change from row to row. */
static void bind_field(bound_plane *bound, int a, int64_t z)
{
  const lmk_cells *cells = bound->cells;
  const lmk_cells_field *field = &cells->fields[a];
  lamina_run_field *to = &bound->arguments.fields[a];
  for (int n = 0; n < LMK_NEIGHBOURS; n++)
    to->at[n] = cells->not_a_number;
  to->out = cells->scratch;
  if (field->memory == NULL)
    return;
  for (int dz = -1; dz <= 1; dz++) {
    const int64_t stored = wrapped(z + dz, cells->nz, cells->wraps_z) + field->low_planes;
    bound->planes[a][dz + 1] = lmk_cells_plane(field, stored);
  }
  for (int k = 0; k < field->neighbour_count; k++) {
    const lmk_neighbour *n = &field->neighbours[k];
    to->component[n->number] = bound->planes[a][n->dz + 1].component;
    bound->has_x_neighbours = bound->has_x_neighbours || n->dx != 0;
    bound->has_y_neighbours = bound->has_y_neighbours || n->dy != 0;
  }
  to->out_component = field->is_written ? bound->planes[a][1].component : 0;
  to->stride = field->stride;
  to->row = field->row * field->stride;
  bound->arguments.is_unit = bound->arguments.is_unit && field->stride == 1;
}

static void bind_plane(bound_plane *bound, int64_t z)
{
  const lmk_cells *cells = bound->cells;
  bound->arguments.is_unit = true;
  bound->arguments.reduction = (lamina_reduction)cells->reduction;
  for (int a = 0; a < cells->argument_count; a++) {
    bind_field(bound, a, z);
    bound->arguments.values[a] = cells->values[a];
  }
  if (cells->is_flat)
    bound->arguments.first.y = cells->first_plane + z;
  else
    bound->arguments.first.z = cells->first_plane + z;
  bound->result = identity(cells->reduction);
}

static void bind_row(bound_plane *bound, int64_t y)
{
  const lmk_cells *cells = bound->cells;
  for (int a = 0; a < cells->argument_count; a++) {
    const lmk_cells_field *field = &cells->fields[a];
    const int64_t bytes = field->element_bytes;
    char *const memory = field->memory;
    if (memory == NULL)
      continue;
    for (int k = 0; k < field->neighbour_count; k++) {
      const lmk_neighbour *n = &field->neighbours[k];
      const int64_t place = field->origin + wrapped(y + n->dy, cells->ny, cells->wraps_y) * field->row + n->dx;
      bound->row[a][k] = memory + (bound->planes[a][n->dz + 1].element + place * field->stride) * bytes;
    }
    const int64_t here = field->origin + y * field->row;
    bound->row_out[a] = memory + (bound->planes[a][1].element + here * field->stride) * bytes;
  }
  if (!cells->is_flat)
    bound->arguments.first.y = y;
}

/* Cells that see their neighbours at the same distance, in this row and those that follow. */
static void run_cells(bound_plane *bound, int64_t x, int64_t count, int64_t rows)
{
  const lmk_cells *cells = bound->cells;
  for (int a = 0; a < cells->argument_count; a++) {
    const lmk_cells_field *field = &cells->fields[a];
    const int64_t step = field->stride * field->element_bytes;
    lamina_run_field *to = &bound->arguments.fields[a];
    for (int k = 0; k < field->neighbour_count; k++) {
      const lmk_neighbour *n = &field->neighbours[k];
      const int64_t seen = wrapped(x + n->dx, cells->nx, cells->wraps_x) - n->dx;
      to->at[n->number] = bound->row[a][k] + seen * step;
    }
    if (field->is_written)
      to->out = bound->row_out[a] + x * step;
  }
  bound->arguments.first.x = x;
  bound->arguments.count = count;
  bound->arguments.rows = rows;
  bound->run(&bound->arguments, &bound->result);
}

/* A span, in `rows` rows that all see their neighbours at the same distance. */
static void run_span(bound_plane *bound, const lmk_cell_span *span, int64_t rows)
{
  const int64_t nx = bound->cells->nx;
  int64_t x = span->x;
  const int64_t end = span->x + span->count;
  bind_row(bound, span->y);
  const bool splits = bound->cells->wraps_x && bound->has_x_neighbours;
  if (splits && x == 0)
    run_cells(bound, x++, 1, rows);
  const int64_t inner_end = splits && end == nx && end > x ? nx - 1 : end;
  if (x < inner_end)
    run_cells(bound, x, inner_end - x, rows);
  if (inner_end < end)
    run_cells(bound, inner_end, 1, rows);
}

/* How many rows from y on are alike. A reduction takes each row by itself: its order is along rows. */
static int64_t like_rows(const bound_plane *bound, int64_t y)
{
  const lmk_cells *cells = bound->cells;
  if (cells->reduction != LAMINA_REDUCE_NONE)
    return 1;
  if (!cells->wraps_y || !bound->has_y_neighbours)
    return cells->ny - y;
  return y > 0 && y < cells->ny - 1 ? cells->ny - 1 - y : 1;
}

static void run_whole(bound_plane *bound)
{
  const lmk_cells *cells = bound->cells;
  for (int64_t y = 0; y < cells->ny;) {
    const int64_t rows = like_rows(bound, y);
    run_span(bound, &(lmk_cell_span){0, y, cells->nx}, rows);
    y += rows;
  }
}

static void run_plane(bound_plane *bound, int64_t z)
{
  const lmk_cells *cells = bound->cells;
  bind_plane(bound, z);
  if (cells->is_whole)
    run_whole(bound);
  for (int c = 0; c < cells->class_count; c++) {
    const lmk_class_spans *class = &cells->classes[c];
    for (int64_t s = class->first[z]; s < class->first[z + 1]; s++)
      run_span(bound, &class->spans[s], 1);
  }
  cells->plane_results[z] = bound->result;
}

int64_t lmi_cpu_cells(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  bound_plane bound = {.cells = arguments, .run = ((const lmi_cpu_cells_kernel *)kernel)->run_cells};
  for (int64_t z = first; z < first + count; z++)
    run_plane(&bound, z);
  return -1;
}
