/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of the whole box in finest cells, out of and into levels. A coarse cell fills all places of the box it covers:
 * its populations with one value each, which a state that is read back needs; density and momentum linearly about its
 * centre. Sums over the box weigh a cell by its volume.
 *
 * Between the two stand planes of single levels, which the kernels over blocks move: the fields of a level are never
 * touched here, so they may lie on a device. */
#include <string.h>

#include "level_flow.h"

/* Planes of the box at a time, and planes of a level beyond those that a part of the box lies in: slopes look one cell
 * on, and into the finer cells there. */
enum { CHUNK_PLANES = 16, MARGIN_PLANES = 3 };

static void *current(const lmi_level_flow *flow, int level, bool other)
{
  const bool is_top = level == flow->levels.count - 1;
  return flow->state[level].buffers[(is_top ? flow->replayed % 2 : 0) ^ other];
}

static size_t plane_bytes(const lmi_level_flow *flow, int level, int what)
{
  const lmi_flow *base = &flow->base;
  const int64_t *cells = flow->levels.level[level].cells;
  const size_t a_cell =
    what == LMI_PLANES_MOMENTS ? 4 * sizeof(double) : (size_t)base->lattice->velocities * base->element_bytes;
  return (size_t)(cells[0] * cells[1]) * a_cell;
}

lamina_status lmi_level_move(const lmi_level_flow *flow, int level, int what, int64_t first, int64_t count,
                             void *buffer)
{
  const lmi_block_kernels *k = &flow->kernels;
  const lmi_kernel *const kernels[] = {k->import_planes, k->export_planes, k->moments};
  const lmi_block_part *part = &flow->blocks[level].parts[0];
  lmk_block_planes planes = {
    .step = flow->state[level].steps[0][0],
    .buffer = buffer,
    .first = first,
    .nx = flow->levels.level[level].cells[0],
    .ny = flow->levels.level[level].cells[1],
    .layer_first = part->layer_first,
    .layer_blocks = part->layer_blocks,
    .places = part->places,
  };
  planes.step.target = what == LMI_PLANES_IMPORT ? flow->state[level].buffers[0] : current(flow, level, false);
  planes.step.source = what == LMI_PLANES_IMPORT ? flow->state[level].buffers[1] : current(flow, level, true);
  const lmi_launch launch = {kernels[what], &planes, first, count, 0};
  if (count == 0)
    return LAMINA_OK;
  return flow->base.device->ops->run_planes(flow->base.device, &launch, plane_bytes(flow, level, what));
}

/* The level of the leaf that covers a place of the finest level; its place there is left in `at`. */
static int find_leaf(const lmi_levels *levels, int64_t x, int64_t y, int64_t z, int64_t at[3])
{
  int level = 0;
  at[0] = x;
  at[1] = y;
  at[2] = z;
  for (; level < levels->count - 1; level++) {
    const int64_t word = lmi_level_word(levels, level, at);
    if (levels->level[level].leaf[word] >> lmi_level_bit(levels, at) & 1)
      break;
    for (int a = 0; a < 3; a++)
      at[a] /= lmi_levels_ratio(levels, a);
  }
  return level;
}

/* ---- planes of all levels for a part of the box ---- */

/* Planes [first, first + count) of each level; beyond the ends of the box they are those of a periodic axis, or none.
 */
typedef struct windows {
  const lmi_level_flow *flow;
  int what;
  int64_t first[LMI_MAX_LEVELS], count[LMI_MAX_LEVELS];
  char *data[LMI_MAX_LEVELS];
} windows;

static void free_windows(windows *w)
{
  for (int level = 0; level < LMI_MAX_LEVELS; level++)
    lmi_free(w->flow->base.ctx, w->data[level]);
}

static int64_t cells_of_plane(const windows *w, int level)
{
  const int64_t *cells = w->flow->levels.level[level].cells;
  return cells[0] * cells[1];
}

static lamina_status allocate_window(windows *w, int level)
{
  const size_t bytes = plane_bytes(w->flow, level, w->what);
  return LMI_ALLOC(w->flow->base.ctx, (size_t)w->count[level] * bytes, &w->data[level]);
}

static lamina_status load_window(const windows *w, int level)
{
  const lmi_levels *levels = &w->flow->levels;
  const int64_t planes = levels->level[level].cells[2], end = w->first[level] + w->count[level];
  const int64_t low = w->first[level] > 0 ? w->first[level] : 0, high = end < planes ? end : planes;
  const size_t bytes = plane_bytes(w->flow, level, w->what);
  LMI_TRY(
    lmi_level_move(w->flow, level, w->what, low, high - low, w->data[level] + (size_t)(low - w->first[level]) * bytes));
  for (int64_t z = w->first[level]; z < end && levels->wraps[2]; z++)
    if (z < 0 || z >= planes)
      LMI_TRY(lmi_level_move(w->flow, level, w->what, (z % planes + planes) % planes, 1,
                             w->data[level] + (size_t)(z - w->first[level]) * bytes));
  return LAMINA_OK;
}

/* The planes in which [first, first + count) of the box lie, and `margin` more on both sides. */
static lamina_status open_windows(const lmi_level_flow *flow, int what, int64_t first, int64_t count, int64_t margin,
                                  windows *w)
{
  *w = (windows){.flow = flow, .what = what};
  for (int level = 0; level < flow->levels.count; level++) {
    w->first[level] = (first >> level) - margin;
    w->count[level] = ((first + count - 1) >> level) + margin + 1 - w->first[level];
    LMI_TRY(allocate_window(w, level));
    LMI_TRY(load_window(w, level));
  }
  return LAMINA_OK;
}

/* Number of a plane of a level among those of its window. */
static int64_t plane_in_window(const windows *w, int level, int64_t z)
{
  const int64_t planes = w->flow->levels.level[level].cells[2];
  int64_t at = z - w->first[level];
  while (at >= w->count[level])
    at -= planes;
  while (at < 0)
    at += planes;
  return at;
}

/* ---- populations ---- */

static void export_plane(const windows *w, int64_t z, char *plane)
{
  const lmi_flow *base = &w->flow->base;
  const size_t bytes = base->element_bytes;
  for (int64_t y = 0; y < base->ny; y++)
    for (int64_t x = 0; x < base->nx; x++) {
      int64_t at[3];
      const int level = find_leaf(&w->flow->levels, x, y, z, at);
      const int64_t cells = cells_of_plane(w, level), row = at[1] * w->flow->levels.level[level].cells[0];
      const char *from =
        w->data[level] +
        (size_t)(plane_in_window(w, level, at[2]) * base->lattice->velocities * cells + row + at[0]) * bytes;
      for (int q = 0; q < base->lattice->velocities; q++)
        memcpy(plane + (size_t)((q * base->ny + y) * base->nx + x) * bytes, from + (size_t)(q * cells) * bytes, bytes);
    }
}

static lamina_status export_planes(const lmi_level_flow *flow, int64_t first, int64_t count, char *buffer)
{
  windows w;
  const lamina_status status = open_windows(flow, LMI_PLANES_EXPORT, first, count, 0, &w);
  const size_t bytes = plane_bytes(flow, 0, LMI_PLANES_EXPORT);
#pragma omp parallel for num_threads(lamina_context_thread_count(flow->base.ctx)) schedule(static)
  for (int64_t i = 0; i < (status == LAMINA_OK ? count : 0); i++)
    export_plane(&w, first + i, buffer + (size_t)i * bytes);
  free_windows(&w);
  return status;
}

/* A plane of a level from the plane of the box that holds the lowest places of its cells. */
static void coarsen_plane(const windows *w, int level, int64_t z, const char *plane, char *to)
{
  const lmi_flow *base = &w->flow->base;
  const size_t bytes = base->element_bytes;
  const int64_t *cells = w->flow->levels.level[level].cells;
  for (int64_t y = 0; y < cells[1]; y++)
    for (int64_t x = 0; x < cells[0]; x++) {
      const int64_t at[3] = {x, y, z}, row = w->flow->levels.is_flat ? y : y << level;
      if (!(w->flow->levels.level[level].leaf[lmi_level_word(&w->flow->levels, level, at)] >>
              lmi_level_bit(&w->flow->levels, at) &
            1))
        continue;
      for (int q = 0; q < base->lattice->velocities; q++)
        memcpy(to + (size_t)((q * cells[1] + y) * cells[0] + x) * bytes,
               plane + (size_t)((q * base->ny + row) * base->nx + (x << level)) * bytes, bytes);
    }
}

static lamina_status import_level(windows *w, int level, int64_t first, int64_t count, const char *buffer)
{
  const size_t bytes = plane_bytes(w->flow, level, LMI_PLANES_IMPORT);
  const size_t box_bytes = plane_bytes(w->flow, 0, LMI_PLANES_IMPORT);
  const int64_t length = INT64_C(1) << level;
  w->first[level] = (first + length - 1) >> level;
  w->count[level] = ((first + count - 1) >> level) + 1 - w->first[level];
  if (w->count[level] <= 0)
    return LAMINA_OK;
  LMI_TRY(allocate_window(w, level));
#pragma omp parallel for num_threads(lamina_context_thread_count(w->flow->base.ctx)) schedule(static)
  for (int64_t i = 0; i < w->count[level]; i++) {
    const int64_t z = w->first[level] + i;
    coarsen_plane(w, level, z, buffer + (size_t)((z << level) - first) * box_bytes, w->data[level] + (size_t)i * bytes);
  }
  return lmi_level_move(w->flow, level, LMI_PLANES_IMPORT, w->first[level], w->count[level], w->data[level]);
}

static lamina_status import_planes(const lmi_level_flow *flow, int64_t first, int64_t count, const char *buffer)
{
  lamina_status status = LAMINA_OK;
  windows w = {.flow = flow, .what = LMI_PLANES_IMPORT};
  for (int level = 0; level < flow->levels.count && status == LAMINA_OK; level++)
    status = import_level(&w, level, first, count, buffer);
  free_windows(&w);
  return status;
}

/* ---- moments ---- */

/* Density - 1 and momentum of a leaf. The solver takes half of the finest level's force from the momentum; a coarser
 * level's is larger. */
static void cell_moments(const windows *w, int level, const int64_t at[3], double moments[4])
{
  const int64_t cells = cells_of_plane(w, level);
  const double *plane = (const double *)(const void *)w->data[level] + plane_in_window(w, level, at[2]) * 4 * cells;
  const double more = 0.5 * (double)((INT64_C(1) << level) - 1);
  for (int i = 0; i < 4; i++)
    moments[i] = plane[i * cells + at[1] * w->flow->levels.level[level].cells[0] + at[0]];
  for (int a = 0; a < 3; a++)
    moments[1 + a] -= more * w->flow->force[a];
}

/* The same of a place of a level: of a leaf, or the mean of the finer leaves in it. false where there is neither. */
static bool place_moments(const windows *w, int level, int64_t at[3], double moments[4])
{
  const lmi_levels *levels = &w->flow->levels;
  const lmi_place place = lmi_levels_place(levels, level, at);
  if (place == LMI_PLACE_LEAF) {
    cell_moments(w, level, at, moments);
    return true;
  }
  if (place != LMI_PLACE_FINER)
    return false;
  const int parts = levels->is_flat ? 4 : 8;
  double sum[4] = {0.0, 0.0, 0.0, 0.0};
  for (int s = 0; s < parts; s++) {
    int64_t sub[3] = {2 * at[0] + (s & 1), at[1], 2 * at[2] + (s >> 1 & 1)};
    if (!levels->is_flat)
      sub[1] = 2 * at[1] + (s >> 2 & 1);
    double part[4];
    if (lmi_levels_place(levels, level - 1, sub) != LMI_PLACE_LEAF)
      return false;
    cell_moments(w, level - 1, sub, part);
    for (int i = 0; i < 4; i++)
      sum[i] += part[i] / parts;
  }
  memcpy(moments, sum, sizeof sum);
  return true;
}

/* Moments of a leaf and their slopes along its axes, per cell: coarse cells are read as linear functions. */
typedef struct linear {
  double value[4], slope[3][4];
} linear;

static void find_linear(const windows *w, int level, const int64_t at[3], linear *found)
{
  *found = (linear){0};
  cell_moments(w, level, at, found->value);
  for (int a = 0; a < 3 && level > 0; a++) {
    double sides[2][4];
    int64_t low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
    low[a]--;
    high[a]++;
    if (lmi_levels_ratio(&w->flow->levels, a) == 1)
      continue;
    const bool has_low = place_moments(w, level, low, sides[0]);
    const bool has_high = place_moments(w, level, high, sides[1]);
    if (!has_low && !has_high)
      continue;
    const double *from = has_low ? sides[0] : found->value, *to = has_high ? sides[1] : found->value;
    for (int i = 0; i < 4; i++)
      found->slope[a][i] = (to[i] - from[i]) / (has_low && has_high ? 2.0 : 1.0);
  }
}

/* Distance of a finest place from the centre of a cell, in cells of its level. */
static double offset_in(int level, int64_t place)
{
  const int64_t length = INT64_C(1) << level;
  return ((double)(place & (length - 1)) + 0.5) / (double)length - 0.5;
}

static void read_moments(const windows *w, int64_t z, double *plane)
{
  const lmi_flow *base = &w->flow->base;
  const int64_t cells = base->nx * base->ny;
  for (int64_t y = 0; y < base->ny; y++) {
    linear held = {0};
    int of = -1;
    int64_t of_x = -1;
    for (int64_t x = 0; x < base->nx; x++) {
      int64_t at[3];
      const int level = find_leaf(&w->flow->levels, x, y, z, at);
      if (level != of || at[0] != of_x)
        find_linear(w, level, at, &held);
      of = level;
      of_x = at[0];
      const double offset[3] = {offset_in(level, x), w->flow->levels.is_flat ? 0.0 : offset_in(level, y),
                                offset_in(level, z)};
      for (int i = 0; i < 4; i++)
        plane[i * cells + y * base->nx + x] =
          held.value[i] + offset[0] * held.slope[0][i] + offset[1] * held.slope[1][i] + offset[2] * held.slope[2][i];
    }
  }
}

static lamina_status read_planes(const lmi_level_flow *flow, int64_t first, int64_t count, char *buffer)
{
  windows w;
  const lamina_status status = open_windows(flow, LMI_PLANES_MOMENTS, first, count, MARGIN_PLANES, &w);
  const size_t bytes = plane_bytes(flow, 0, LMI_PLANES_MOMENTS);
#pragma omp parallel for num_threads(lamina_context_thread_count(flow->base.ctx)) schedule(static)
  for (int64_t i = 0; i < (status == LAMINA_OK ? count : 0); i++)
    read_moments(&w, first + i, (double *)(void *)(buffer + (size_t)i * bytes));
  free_windows(&w);
  return status;
}

lamina_status lmi_level_planes(const lmi_flow *base, int what, int64_t first, int64_t count, void *buffer)
{
  const lmi_level_flow *flow = (const lmi_level_flow *)base;
  const size_t bytes = plane_bytes(flow, 0, what);
  const int64_t at_once = CHUNK_PLANES > base->step_stride ? CHUNK_PLANES : base->step_stride;
  for (int64_t done = 0; done < count; done += at_once) {
    const int64_t now = count - done < at_once ? count - done : at_once;
    char *at = (char *)buffer + (size_t)done * bytes;
    if (what == LMI_PLANES_EXPORT)
      LMI_TRY(export_planes(flow, first + done, now, at));
    else if (what == LMI_PLANES_IMPORT)
      LMI_TRY(import_planes(flow, first + done, now, at));
    else
      LMI_TRY(read_planes(flow, first + done, now, at));
  }
  return LAMINA_OK;
}

void lmi_level_read_levels(const lmi_flow *base, int64_t first, int64_t count, uint8_t *levels)
{
  const lmi_level_flow *flow = (const lmi_level_flow *)base;
  for (int64_t z = first; z < first + count; z++)
    for (int64_t y = 0; y < base->ny; y++)
      for (int64_t x = 0; x < base->nx; x++) {
        int64_t at[3];
        *levels++ = (uint8_t)find_leaf(&flow->levels, x, y, z, at);
      }
}

/* ---- initial state ---- */

typedef struct initial {
  const lmi_level_flow *flow;
  lamina_solver_options options; /* of the level */
  lamina_initial_function *function;
  void *user;
  int level;
} initial;

/* The state at the centre of a cell; gradients are per cell of the level. */
static lamina_cell_state state_of(const initial *in, const int64_t at[3])
{
  lamina_cell_state state = {.density = 1.0};
  const double length = (double)(INT64_C(1) << in->level);
  const bool flat = in->flow->levels.is_flat;
  const lamina_real3 centre = {((double)at[0] + 0.5) * length, ((double)at[flat ? 2 : 1] + 0.5) * length,
                               flat ? 0.5 : ((double)at[2] + 0.5) * length};
  if (in->function == NULL)
    return state;
  in->function(in->user, centre, &state);
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++)
      state.gradient[a][b] *= length;
  return state;
}

static void fill_plane(const initial *in, int64_t z, char *plane)
{
  const lmi_levels *levels = &in->flow->levels;
  const lmi_lattice *lattice = in->flow->base.lattice;
  const int64_t *cells = levels->level[in->level].cells;
  for (int64_t y = 0; y < cells[1]; y++)
    for (int64_t x = 0; x < cells[0]; x++) {
      const int64_t at[3] = {x, y, z};
      if (!(levels->level[in->level].leaf[lmi_level_word(levels, in->level, at)] >> lmi_level_bit(levels, at) & 1))
        continue;
      const lamina_cell_state state = state_of(in, at);
      for (int q = 0; q < lattice->velocities; q++) {
        const double f = lmi_initial_population(lattice, &in->options, q, &state);
        const int64_t element = (q * cells[1] + y) * cells[0] + x;
        if (in->flow->base.element_bytes == sizeof(double))
          ((double *)(void *)plane)[element] = f;
        else
          ((float *)(void *)plane)[element] = (float)f;
      }
    }
}

static lamina_status fill_level(const initial *in)
{
  lamina_context *ctx = in->flow->base.ctx;
  const int64_t planes = in->flow->levels.level[in->level].cells[2];
  const size_t bytes = plane_bytes(in->flow, in->level, LMI_PLANES_IMPORT);
  char *buffer = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY(LMI_ALLOC(ctx, CHUNK_PLANES * bytes, &buffer));
  for (int64_t first = 0; first < planes && status == LAMINA_OK; first += CHUNK_PLANES) {
    const int64_t count = planes - first < CHUNK_PLANES ? planes - first : CHUNK_PLANES;
#pragma omp parallel for num_threads(lamina_context_thread_count(ctx)) schedule(dynamic, 1)
    for (int64_t i = 0; i < count; i++)
      fill_plane(in, first + i, buffer + (size_t)i * bytes);
    status = lmi_level_move(in->flow, in->level, LMI_PLANES_IMPORT, first, count, buffer);
  }
  lmi_free(ctx, buffer);
  return status;
}

lamina_status lmi_level_initialise(lmi_flow *base, const lamina_solver_options *options,
                                   lamina_initial_function *function, void *user)
{
  const lmi_level_flow *flow = (const lmi_level_flow *)base;
  for (int level = 0; level < flow->levels.count; level++) {
    const initial in = {flow, lmi_level_options(options, level), function, user, level};
    LMI_TRY(fill_level(&in));
  }
  return LAMINA_OK;
}
