/* SPDX-License-Identifier: Apache-2.0 */
/* The host's kernels over blocks: steps, and planes of the box to and from them. Import, export and moments use the
 * places at which a step writes, as those over rows do (cpu_kernels.c). */
#include "cpu.h"

#include "kernel/block_rows.h"

int64_t lmi_cpu_blocks(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  return kernel->update_blocks(arguments, kernel->update_run, kernel->part, first, count);
}

int64_t lmi_cpu_aside(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  const lmk_aside *aside = arguments;
  const size_t bytes = kernel->element_bytes;
  const int64_t wanted = (first + count) * LMK_ASIDE_RUN, end = wanted < aside->count ? wanted : aside->count;
  for (int64_t i = first * LMK_ASIDE_RUN; i < end; i++) {
    const lmk_aside_entry *entry = &aside->entries[i];
    const int64_t from = lmk_cell_element(entry->cell, entry->q, aside->velocities);
    const int64_t to = lmk_cell_element((int32_t)i, entry->q, aside->velocities);
    memcpy((char *)aside->target + (size_t)to * bytes, (const char *)aside->source + (size_t)from * bytes, bytes);
  }
  return -1;
}

/* A plane of cells of one block, with where each population of each cell was written. */
typedef struct block_plane {
  const lmk_block_planes *planes;
  const lmk_block_grid *grid;
  lmk_block_plan plan;
  size_t bytes;
  int plane; /* cells of it */
  int32_t block;
  int z;                            /* in the block */
  char *at[LMK_MAX_VELOCITIES][16]; /* NULL: no fluid */
} block_plane;

static char *written_at(const block_plane *b, int q, int bit)
{
  const lmk_block_grid *g = b->grid;
  lmk_block_cell to = {b->block, bit};
  if (b->plan.shift_out[q])
    to = lmk_block_neighbour(g, to, g->c[q][0], g->c[q][1], g->c[q][2]);
  if (to.block < 0)
    return NULL; /* a cut link: its cell keeps what it sent */
  return (char *)b->planes->step.target +
         lmk_block_element(g, to.block, b->plan.slot_out[q], to.bit) * (int64_t)b->bytes;
}

static void bind_plane(block_plane *b, int32_t block, int z)
{
  const lmk_block_grid *g = b->grid;
  const lmk_block_step *step = &b->planes->step;
  b->block = block;
  b->z = z;
  for (int cell = 0; cell < b->plane; cell++) {
    const int bit = z * b->plane + cell;
    for (int q = 0; q < g->velocities; q++)
      b->at[q][cell] = g->active[block] >> bit & 1 ? written_at(b, q, bit) : NULL;
  }
  if (step->source != step->target)
    return;
  for (int32_t k = g->link_first[block]; k < g->link_first[block + 1]; k++)
    if (g->links[k].bit / b->plane == z)
      b->at[g->velocities - 1 - g->links[k].q][g->links[k].bit % b->plane] = (char *)step->sent + k * (int64_t)b->bytes;
}

typedef void use_block_plane(const block_plane *b, int64_t plane, char *buffer);

/* Cell (x, y) of a plane of the box that a cell of the block's plane is. */
static int64_t cell_in_plane(const block_plane *b, int cell)
{
  const int flat = b->grid->is_flat;
  const int32_t *place = b->planes->places + 3 * (int64_t)b->block;
  const int64_t x = (int64_t)place[0] * lmk_block_side(flat, 0) + lmk_block_x(flat, cell);
  const int64_t y = (int64_t)place[1] * lmk_block_side(flat, 1) + lmk_block_y(flat, cell);
  return y * b->planes->nx + x;
}

static void import_plane(const block_plane *b, int64_t plane, char *buffer)
{
  const int64_t cells = b->planes->nx * b->planes->ny;
  for (int cell = 0; cell < b->plane; cell++)
    for (int q = 0; q < b->grid->velocities && b->at[0][cell] != NULL; q++)
      memcpy(b->at[q][cell],
             buffer + ((plane * b->grid->velocities + q) * cells + cell_in_plane(b, cell)) * (int64_t)b->bytes,
             b->bytes);
}

static void export_plane(const block_plane *b, int64_t plane, char *buffer)
{
  const int64_t cells = b->planes->nx * b->planes->ny;
  for (int cell = 0; cell < b->plane; cell++)
    for (int q = 0; q < b->grid->velocities && b->at[0][cell] != NULL; q++)
      memcpy(buffer + ((plane * b->grid->velocities + q) * cells + cell_in_plane(b, cell)) * (int64_t)b->bytes,
             b->at[q][cell], b->bytes);
}

static double load(const char *element, size_t bytes)
{
  float narrow;
  double wide;
  if (bytes == sizeof wide) {
    memcpy(&wide, element, sizeof wide);
    return wide;
  }
  memcpy(&narrow, element, sizeof narrow);
  return (double)narrow;
}

/* Sums in rank order and in double, as over rows. */
static void sum_plane(const block_plane *b, int64_t plane, char *buffer)
{
  const int64_t cells = b->planes->nx * b->planes->ny;
  double *out = (double *)(void *)buffer + plane * 4 * cells;
  for (int cell = 0; cell < b->plane; cell++) {
    if (b->at[0][cell] == NULL)
      continue;
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    for (int q = 0; q < b->grid->velocities; q++) {
      const int8_t *c = b->grid->c[q];
      const double f = load(b->at[q][cell], b->bytes);
      sums[0] += f;
      for (int axis = 0; axis < 3; axis++)
        sums[1 + axis] += c[axis] * f;
    }
    for (int i = 0; i < 4; i++)
      out[i * cells + cell_in_plane(b, cell)] = sums[i];
  }
}

static int64_t move_planes(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count,
                           size_t cleared_bytes_a_cell, use_block_plane *use)
{
  const lmk_block_planes *planes = arguments;
  const lmk_block_grid *grid = &planes->step.grid;
  const int depth = lmk_block_side(grid->is_flat, 2);
  block_plane b = {.planes = planes, .grid = grid, .bytes = kernel->element_bytes};
  b.plane = lmk_block_plane(grid->is_flat);
  lmk_block_make_plan(grid->streaming, planes->step.parity, grid->velocities, &b.plan);
  for (int64_t z = first; z < first + count; z++) {
    const size_t plane_bytes = (size_t)(planes->nx * planes->ny) * cleared_bytes_a_cell;
    memset((char *)planes->buffer + (size_t)(z - planes->first) * plane_bytes, 0, plane_bytes);
    const int64_t layer = z / depth;
    for (int32_t i = planes->layer_first[layer]; i < planes->layer_first[layer + 1]; i++) {
      bind_plane(&b, planes->layer_blocks[i], (int)(z % depth));
      use(&b, z - planes->first, planes->buffer);
    }
  }
  return -1;
}

int64_t lmi_cpu_block_import(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  return move_planes(kernel, arguments, first, count, 0, import_plane);
}

int64_t lmi_cpu_block_export(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  const lmk_block_planes *planes = arguments;
  const size_t a_cell = (size_t)planes->step.grid.velocities * kernel->element_bytes;
  return move_planes(kernel, arguments, first, count, a_cell, export_plane);
}

int64_t lmi_cpu_block_moments(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  return move_planes(kernel, arguments, first, count, 4 * sizeof(double), sum_plane);
}
