/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a user's kernel over the planes of one slab: where fields lie, which cells to visit, where a reduction
 * puts what each plane gives. Needs dense.h before it (lmk_span). In two dimensions a plane is one row: what the user
 * calls y counts planes here. */
#ifndef LMK_CELLS_H
#define LMK_CELLS_H

enum { LMK_MAX_ARGUMENTS = 8, LMK_NEIGHBOURS = 27, LMK_CENTRE = 13 };

/* One neighbour that a kernel reads: its number, and its offset in the axes of the storage. */
typedef struct lmk_neighbour {
  int8_t number, dx, dy, dz;
} lmk_neighbour;

/* A field over a slab. A row holds nx cells, and one more at either end where the x edge is fixed; a plane holds ny
 * rows, and one more at either end where the y edge is. */
typedef struct lmk_cells_field {
  void *memory;
  int64_t origin;       /* place of cell (0, 0) in a plane */
  int64_t row;          /* places between rows */
  int64_t plane_stride; /* elements between planes of one span */
  int64_t stride;       /* elements between neighbouring cells */
  int32_t low_planes;   /* halo planes stored below plane 0 */
  int32_t element_bytes;
  int32_t is_written;
  int32_t span_count;
  lmk_span spans[LMK_MAX_SPANS];
  int32_t neighbour_count;
  lmk_neighbour neighbours[LMK_NEIGHBOURS];
} lmk_cells_field;

/* Neighbouring cells of a row that are of one class. */
typedef struct lmk_cell_span {
  int64_t x, y, count;
} lmk_cell_span;

/* The spans of one class in the order of planes, rows and cells: those of plane z begin at first[z] and end before
 * first[z + 1]. */
typedef struct lmk_class_spans {
  const int64_t *first;
  const lmk_cell_span *spans;
} lmk_class_spans;

typedef struct lmk_cells {
  int64_t nx, ny, nz;  /* cells of the slab */
  int64_t first_plane; /* of the slab in the domain */
  int32_t wraps_x, wraps_y, wraps_z;
  int32_t is_flat; /* two dimensions */
  int32_t argument_count;
  int32_t reduction;
  int32_t is_whole; /* all cells: no class is left out */
  int32_t class_count;
  const lmk_class_spans *classes;            /* those it serves */
  lmk_cells_field fields[LMK_MAX_ARGUMENTS]; /* memory NULL: this argument is a number */
  double values[LMK_MAX_ARGUMENTS];
  double *plane_results; /* one a plane of the slab */
  /* Room for a plane of one component of any field each: what was not declared reads as NaN from the first, is written
   * into the second. */
  const void *not_a_number;
  void *scratch;
} lmk_cells;

/* First element of component 0 of a stored plane, and the elements to the next component there. */
typedef struct lmk_plane {
  int64_t element, component;
} lmk_plane;

LMK_INLINE lmk_plane lmk_cells_plane(const lmk_cells_field *f, int64_t stored)
{
  int s = f->span_count - 1;
  while (s > 0 && stored < f->spans[s].first)
    s--;
  lmk_plane plane;
  plane.element = f->spans[s].base + (stored - f->spans[s].first) * f->plane_stride;
  plane.component = f->spans[s].component_stride;
  return plane;
}

#endif
