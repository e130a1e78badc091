/* SPDX-License-Identifier: Apache-2.0 */
/* Cells inside a closed mesh, exactly.
 *
 * A ray runs along z through the centres of each column of cells, moved aside by (e, e^2) with e -> 0: it then meets no
 * edge and no vertex, and which triangles it crosses is decided by signs of integer determinants, ties by the sign of
 * their derivative in e. At each crossing the winding number changes by one; a centre off the surface has a whole ball
 * around it off the surface, so that moving the ray aside does not change its answer. Centres on the surface are found
 * by themselves, triangle by triangle, and count as solid: that part knows no direction, so that a turned mesh gives
 * the turned cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry_internal.h"

typedef struct raster {
  lamina_context *ctx;
  const lmi_body *body;
  const lmi_mask *mask;
  lamina_index begin[3], end[3]; /* cells that may be inside */
  uint32_t *starts;              /* of a column's crossings; one more than there are columns */
  uint32_t *fill;                /* next free entry of a column */
  uint32_t *crossings;           /* first cell above the crossing, times 2, plus 1 where the winding number rises */
} raster;

static size_t columns_of(const raster *r)
{
  return (size_t)(r->end[0] - r->begin[0]) * (size_t)(r->end[1] - r->begin[1]);
}

/* A triangle seen along axis w: its corners in the order u, v, w of the other axes. */
typedef struct view {
  int u, v, w;
  const int64_t *a, *b, *c;
  lmi_wide n[3]; /* (b - a) x (c - a), cyclic in u, v, w */
} view;

static view view_along(const lmi_body *body, size_t triangle, int w)
{
  const uint32_t *t = body->triangles[triangle];
  view s = {.u = (w + 1) % 3, .v = (w + 2) % 3, .w = w};
  s.a = body->vertices[t[0]];
  s.b = body->vertices[t[1]];
  s.c = body->vertices[t[2]];
  const int axes[3] = {s.u, s.v, s.w};
  for (int k = 0; k < 3; k++) {
    const int i = axes[(k + 1) % 3], j = axes[(k + 2) % 3];
    s.n[k] = (lmi_wide)(s.b[i] - s.a[i]) * (s.c[j] - s.a[j]) - (lmi_wide)(s.b[j] - s.a[j]) * (s.c[i] - s.a[i]);
  }
  return s;
}

/* On which side of the edge from a to b the point (x, y) lies: -1, 0, 1. */
static int side(const view *s, const int64_t *a, const int64_t *b, int64_t x, int64_t y)
{
  const lmi_wide d = (lmi_wide)(b[s->u] - a[s->u]) * (y - a[s->v]) - (lmi_wide)(b[s->v] - a[s->v]) * (x - a[s->u]);
  return (d > 0) - (d < 0);
}

/* The same for (x + e, y + e^2): never 0 for an edge that is not seen end on. */
static int side_moved(const view *s, const int64_t *a, const int64_t *b, int64_t x, int64_t y)
{
  const int plain = side(s, a, b, x, y);
  if (plain != 0)
    return plain;
  const int64_t first = a[s->v] - b[s->v], second = b[s->u] - a[s->u];
  return first != 0 ? (first > 0) - (first < 0) : (second > 0) - (second < 0);
}

static int64_t least(int64_t a, int64_t b, int64_t c)
{
  const int64_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

static int64_t most(int64_t a, int64_t b, int64_t c)
{
  const int64_t ab = a > b ? a : b;
  return ab > c ? ab : c;
}

/* Cells along an axis whose centres the triangle may cover, within those of the raster. */
static void covered(const raster *r, const view *s, int axis, lamina_index *begin, lamina_index *end)
{
  lmi_centres_range(&r->mask->centres, axis, least(s->a[axis], s->b[axis], s->c[axis]),
                    most(s->a[axis], s->b[axis], s->c[axis]), begin, end);
  *begin = *begin < r->begin[axis] ? r->begin[axis] : *begin;
  *end = *end > r->end[axis] ? r->end[axis] : *end;
}

static lmi_wide divide_up(lmi_wide a, lmi_wide b)
{
  const lmi_wide quotient = a / b;
  return quotient + (a % b != 0 && (a < 0) == (b < 0));
}

/* First cell whose centre does not lie below the triangle at (x, y): below `end` of the raster, or `end`. */
static lamina_index first_above(const raster *r, const view *s, int64_t x, int64_t y)
{
  const lmi_wide numerator = -(s->n[0] * (x - s->a[s->u]) + s->n[1] * (y - s->a[s->v]));
  const lmi_wide height = s->a[s->w] + divide_up(numerator, s->n[2]);
  const int64_t first = r->mask->centres.first[s->w], step = r->mask->centres.step[s->w];
  const lamina_index cell = -lmi_floor_divide(-((int64_t)height - first), step);
  return cell < r->begin[s->w] ? r->begin[s->w] : cell > r->end[s->w] ? r->end[s->w] : cell;
}

/* ---- crossings ---- */

typedef void column_action(raster *r, const view *s, size_t column, lamina_index x, lamina_index y);

static void count_crossing(raster *r, const view *s, size_t column, lamina_index x, lamina_index y)
{
  (void)s, (void)x, (void)y;
#pragma omp atomic
  r->fill[column]++;
}

static void store_crossing(raster *r, const view *s, size_t column, lamina_index x, lamina_index y)
{
  const lmi_centres *centres = &r->mask->centres;
  const lamina_index cell =
    first_above(r, s, centres->first[0] + x * centres->step[0], centres->first[1] + y * centres->step[1]);
  uint32_t entry;
#pragma omp atomic capture
  entry = r->fill[column]++;
  /* A ray that goes up leaves through triangles that face up. */
  r->crossings[entry] = (uint32_t)(cell - r->begin[2]) * 2 + (s->n[2] < 0);
}

static void cross_triangle(raster *r, size_t triangle, column_action *action)
{
  const view s = view_along(r->body, triangle, 2);
  if (s.n[2] == 0)
    return;
  const int facing = s.n[2] > 0 ? 1 : -1;
  const lmi_centres *centres = &r->mask->centres;
  lamina_index x0, x1, y0, y1;
  covered(r, &s, 0, &x0, &x1);
  covered(r, &s, 1, &y0, &y1);
  for (lamina_index j = y0; j < y1; j++) {
    const int64_t y = centres->first[1] + j * centres->step[1];
    for (lamina_index i = x0; i < x1; i++) {
      const int64_t x = centres->first[0] + i * centres->step[0];
      if (side_moved(&s, s.a, s.b, x, y) == facing && side_moved(&s, s.b, s.c, x, y) == facing &&
          side_moved(&s, s.c, s.a, x, y) == facing)
        action(r, &s, (size_t)((j - r->begin[1]) * (r->end[0] - r->begin[0]) + (i - r->begin[0])), i, j);
    }
  }
}

static void cross_all(raster *r, column_action *action)
{
  const int64_t count = (int64_t)r->body->triangle_count;
#pragma omp parallel for num_threads(lamina_context_thread_count(r->ctx)) schedule(dynamic, 256)
  for (int64_t i = 0; i < count; i++)
    cross_triangle(r, (size_t)i, action);
}

static lamina_status find_crossings(raster *r)
{
  const size_t columns = columns_of(r);
  LMI_TRY(LMI_ALLOC(r->ctx, columns, &r->fill));
  LMI_TRY(LMI_ALLOC(r->ctx, columns + 1, &r->starts));
  cross_all(r, count_crossing);
  uint64_t sum = 0;
  for (size_t i = 0; i < columns; i++) {
    r->starts[i] = (uint32_t)sum;
    sum += r->fill[i];
    r->fill[i] = r->starts[i];
    LMI_REQUIRE(r->ctx, sum < UINT32_MAX, LAMINA_ERROR_ARGUMENT,
                "the columns of cells cross a mesh more than 2^32 times; take a mesh with fewer triangles");
  }
  r->starts[columns] = (uint32_t)sum;
  LMI_TRY(LMI_ALLOC(r->ctx, (size_t)sum, &r->crossings));
  cross_all(r, store_crossing);
  return LAMINA_OK;
}

/* ---- cells between crossings ---- */

static int compare_crossings(const void *left, const void *right)
{
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

static void sort_crossings(uint32_t *list, size_t count)
{
  enum { FEW = 24 };
  if (count > FEW) {
    qsort(list, count, sizeof *list, compare_crossings);
    return;
  }
  for (size_t i = 1; i < count; i++) {
    const uint32_t value = list[i];
    size_t at = i;
    for (; at > 0 && list[at - 1] > value; at--)
      list[at] = list[at - 1];
    list[at] = value;
  }
}

static void fill_run(const raster *r, lamina_index x, lamina_index y, lamina_index from, lamina_index to)
{
  for (lamina_index z = from; z < to; z++) {
    uint64_t *word = lmi_mask_word(r->mask, (const lamina_index[3]){x >> 2, y >> 2, z >> 2});
    *word |= (uint64_t)1 << ((x & 3) + 4 * (y & 3) + 16 * (z & 3));
  }
}

static void fill_column(const raster *r, lamina_index x, lamina_index y)
{
  const size_t column = (size_t)((y - r->begin[1]) * (r->end[0] - r->begin[0]) + (x - r->begin[0]));
  uint32_t *list = r->crossings + r->starts[column];
  const size_t count = r->starts[column + 1] - r->starts[column];
  const bool is_oriented = r->body->info.is_oriented;
  sort_crossings(list, count);
  int winding = 0;
  for (size_t i = 0; i + 1 < count; i++) {
    winding = is_oriented ? winding + (list[i] & 1 ? 1 : -1) : 1 - winding;
    const lamina_index from = list[i] >> 1, to = list[i + 1] >> 1;
    if (winding != 0 && from < to)
      fill_run(r, x, y, from + r->begin[2], to + r->begin[2]);
  }
}

/* A thread has whole blocks, so that no two write one word. */
static void fill_columns(const raster *r)
{
  const lamina_index y0 = r->begin[1] >> 2, y1 = (r->end[1] + 3) >> 2;
#pragma omp parallel for num_threads(lamina_context_thread_count(r->ctx)) schedule(dynamic, 1)
  for (lamina_index block = y0; block < y1; block++)
    for (lamina_index y = 4 * block; y < 4 * block + 4; y++)
      for (lamina_index x = r->begin[0]; x < r->end[0]; x++)
        if (y >= r->begin[1] && y < r->end[1])
          fill_column(r, x, y);
}

/* ---- centres on the surface ---- */

static int widest_axis(const view *s)
{
  lmi_wide size[3];
  for (int k = 0; k < 3; k++)
    size[k] = s->n[k] < 0 ? -s->n[k] : s->n[k];
  const int axes[3] = {s->u, s->v, s->w};
  const int k = size[2] >= size[0] && size[2] >= size[1] ? 2 : size[0] >= size[1] ? 0 : 1;
  return size[k] == 0 ? -1 : axes[k];
}

static void mark_cell(const raster *r, const lamina_index cell[3])
{
  uint64_t *word = lmi_mask_word(r->mask, (const lamina_index[3]){cell[0] >> 2, cell[1] >> 2, cell[2] >> 2});
  const uint64_t bit = (uint64_t)1 << ((cell[0] & 3) + 4 * (cell[1] & 3) + 16 * (cell[2] & 3));
#pragma omp atomic
  *word |= bit;
}

/* (x, y) lies in the triangle, edges and corners included. */
static bool holds(const view *s, int facing, int64_t x, int64_t y)
{
  return side(s, s->a, s->b, x, y) != -facing && side(s, s->b, s->c, x, y) != -facing &&
         side(s, s->c, s->a, x, y) != -facing;
}

/* Marks the cell of column (i, j) whose centre is on the plane of the triangle, if there is one. The cell is guessed in
 * floating point and proved in integers. */
static void mark_on_plane(const raster *r, const view *s, lamina_index i, lamina_index j, int64_t x, int64_t y)
{
  const int64_t first = r->mask->centres.first[s->w], step = r->mask->centres.step[s->w];
  const lmi_wide sum = s->n[0] * (x - s->a[s->u]) + s->n[1] * (y - s->a[s->v]);
  const double height = -((double)sum / (double)s->n[2]);
  const lamina_index cell = (lamina_index)floor(((double)(s->a[s->w] - first) + height) / (double)step + 0.5);
  if (cell < r->begin[s->w] || cell >= r->end[s->w])
    return;
  if (sum + s->n[2] * (first + cell * step - s->a[s->w]) != 0)
    return;
  lamina_index at[3];
  at[s->u] = i;
  at[s->v] = j;
  at[s->w] = cell;
  mark_cell(r, at);
}

static void mark_triangle(const raster *r, size_t triangle)
{
  const view first = view_along(r->body, triangle, 2);
  const int axis = widest_axis(&first);
  if (axis < 0)
    return;
  const view s = view_along(r->body, triangle, axis);
  const int facing = s.n[2] > 0 ? 1 : -1;
  const lmi_centres *centres = &r->mask->centres;
  lamina_index i0, i1, j0, j1;
  covered(r, &s, s.u, &i0, &i1);
  covered(r, &s, s.v, &j0, &j1);
  for (lamina_index j = j0; j < j1; j++) {
    const int64_t y = centres->first[s.v] + j * centres->step[s.v];
    for (lamina_index i = i0; i < i1; i++) {
      const int64_t x = centres->first[s.u] + i * centres->step[s.u];
      if (holds(&s, facing, x, y))
        mark_on_plane(r, &s, i, j, x, y);
    }
  }
}

static void mark_surface(const raster *r)
{
  const int64_t count = (int64_t)r->body->triangle_count;
#pragma omp parallel for num_threads(lamina_context_thread_count(r->ctx)) schedule(dynamic, 256)
  for (int64_t i = 0; i < count; i++)
    mark_triangle(r, (size_t)i);
}

lamina_status lmi_mask_mesh(lamina_context *ctx, const lmi_body *body, const lmi_mask *mask)
{
  raster r = {.ctx = ctx, .body = body, .mask = mask};
  for (int a = 0; a < 3; a++)
    lmi_centres_range(&mask->centres, a, body->bounds.low[a], body->bounds.high[a], &r.begin[a], &r.end[a]);
  const lamina_status status = find_crossings(&r);
  if (status == LAMINA_OK) {
    fill_columns(&r);
    mark_surface(&r);
  }
  lmi_free(ctx, r.crossings);
  lmi_free(ctx, r.starts);
  lmi_free(ctx, r.fill);
  return status;
}
