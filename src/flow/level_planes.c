/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of the whole box in finest cells, out of and into levels. A coarse cell fills all places of the box it covers:
 * its populations with one value each, which a state that is read back needs; density and momentum linearly about its
 * centre. Sums over the box weigh a cell by its volume. */
#include <omp.h>
#include <string.h>

#include "level_flow.h"

void *lmi_level_current(const lmi_level_flow *flow, int level)
{
  const bool top = level == flow->levels.count - 1;
  return flow->state[level].buffers[top ? flow->replayed % 2 : 0];
}

/* The leaf that covers a place of the finest level. */
typedef struct leaf {
  int level;
  int64_t at[3]; /* on its level */
  int32_t cell;
} leaf;

static leaf find_leaf(const lmi_level_flow *flow, int64_t x, int64_t y, int64_t z)
{
  const lmi_levels *levels = &flow->levels;
  leaf found = {.at = {x, y, z}};
  for (found.level = 0; found.level < levels->count - 1; found.level++) {
    const int64_t word = lmi_level_word(levels, found.level, found.at);
    if (levels->level[found.level].leaf[word] >> lmi_level_bit(levels, found.at) & 1)
      break;
    for (int a = 0; a < 3; a++)
      found.at[a] /= lmi_levels_ratio(levels, a);
  }
  found.cell = lmi_level_cell_number(levels, found.level, &flow->blocks[found.level], found.at);
  return found;
}

typedef struct mover {
  const lmi_level_flow *flow;
  char *buffers[LMI_MAX_LEVELS];
  int what;
} mover;

/* ---- populations ---- */

static bool is_lowest(const lmi_level_flow *flow, const leaf *at, int64_t x, int64_t y, int64_t z)
{
  const int64_t low = (INT64_C(1) << at->level) - 1;
  return ((x | z | (flow->levels.is_flat ? 0 : y)) & low) == 0;
}

/* In or out; what comes in is taken from the lowest place of a cell. */
static void move_populations(const mover *m, int64_t z, char *plane)
{
  const lmi_flow *base = &m->flow->base;
  const int velocities = base->lattice->velocities;
  const size_t bytes = base->element_bytes;
  const int64_t cells = base->nx * base->ny;
  for (int64_t y = 0; y < base->ny; y++)
    for (int64_t x = 0; x < base->nx; x++) {
      const leaf at = find_leaf(m->flow, x, y, z);
      if (m->what == LMI_PLANES_IMPORT && !is_lowest(m->flow, &at, x, y, z))
        continue;
      for (int q = 0; q < velocities; q++) {
        char *stored = m->buffers[at.level] + (size_t)lmk_cell_element(at.cell, q, velocities) * bytes;
        char *given = plane + (size_t)(q * cells + y * base->nx + x) * bytes;
        if (m->what == LMI_PLANES_EXPORT)
          memcpy(given, stored, bytes);
        else
          memcpy(stored, given, bytes);
      }
    }
}

/* ---- moments ---- */

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

/* Density - 1 and momentum of a cell. The solver takes half of the finest level's force from the momentum; a coarser
 * level's is larger. */
static void cell_moments(const mover *m, int level, int32_t cell, double moments[4])
{
  const lmi_lattice *lattice = m->flow->base.lattice;
  const size_t bytes = m->flow->base.element_bytes;
  for (int i = 0; i < 4; i++)
    moments[i] = 0.0;
  for (int q = 0; q < lattice->velocities; q++) {
    const double f = load(m->buffers[level] + (size_t)lmk_cell_element(cell, q, lattice->velocities) * bytes, bytes);
    moments[0] += f;
    for (int a = 0; a < 3; a++)
      moments[1 + a] += lattice->c[q][a] * f;
  }
  const double more = 0.5 * (double)((INT64_C(1) << level) - 1);
  for (int a = 0; a < 3; a++)
    moments[1 + a] -= more * m->flow->force[a];
}

/* The same of a place of a level: of a leaf, or the mean of the finer leaves in it. false where there is neither. */
static bool place_moments(const mover *m, int level, int64_t at[3], double moments[4])
{
  const lmi_level_flow *flow = m->flow;
  const lmi_levels *levels = &flow->levels;
  const lmi_place place = lmi_levels_place(levels, level, at);
  if (place == LMI_PLACE_LEAF) {
    cell_moments(m, level, lmi_level_cell_number(levels, level, &flow->blocks[level], at), moments);
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
    cell_moments(m, level - 1, lmi_level_cell_number(levels, level - 1, &flow->blocks[level - 1], sub), part);
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

static void find_linear(const mover *m, const leaf *at, linear *found)
{
  *found = (linear){0};
  cell_moments(m, at->level, at->cell, found->value);
  for (int a = 0; a < 3 && at->level > 0; a++) {
    double sides[2][4];
    int64_t low[3] = {at->at[0], at->at[1], at->at[2]}, high[3] = {at->at[0], at->at[1], at->at[2]};
    low[a]--;
    high[a]++;
    if (lmi_levels_ratio(&m->flow->levels, a) == 1)
      continue;
    const bool has_low = place_moments(m, at->level, low, sides[0]);
    const bool has_high = place_moments(m, at->level, high, sides[1]);
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

static void read_moments(const mover *m, int64_t z, double *plane)
{
  const lmi_flow *base = &m->flow->base;
  const int64_t cells = base->nx * base->ny;
  for (int64_t y = 0; y < base->ny; y++) {
    linear held = {0};
    leaf of = {.level = -1};
    for (int64_t x = 0; x < base->nx; x++) {
      const leaf at = find_leaf(m->flow, x, y, z);
      if (at.level != of.level || at.cell != of.cell)
        find_linear(m, &at, &held);
      of = at;
      const double offset[3] = {offset_in(at.level, x), m->flow->levels.is_flat ? 0.0 : offset_in(at.level, y),
                                offset_in(at.level, z)};
      for (int i = 0; i < 4; i++)
        plane[i * cells + y * base->nx + x] =
          held.value[i] + offset[0] * held.slope[0][i] + offset[1] * held.slope[1][i] + offset[2] * held.slope[2][i];
    }
  }
}

lamina_status lmi_level_planes(const lmi_flow *base, int what, int64_t first, int64_t count, void *buffer)
{
  const lmi_level_flow *flow = (const lmi_level_flow *)base;
  mover m = {.flow = flow, .what = what};
  for (int level = 0; level < flow->levels.count; level++)
    m.buffers[level] = what == LMI_PLANES_IMPORT ? flow->state[level].buffers[0] : lmi_level_current(flow, level);
  const int64_t values = what == LMI_PLANES_MOMENTS ? 4 : base->lattice->velocities;
  const size_t element = what == LMI_PLANES_MOMENTS ? sizeof(double) : base->element_bytes;
  const size_t plane_bytes = (size_t)(values * base->nx * base->ny) * element;
#pragma omp parallel for num_threads(lamina_context_thread_count(base->ctx)) schedule(static)
  for (int64_t i = 0; i < count; i++) {
    char *plane = (char *)buffer + (size_t)i * plane_bytes;
    if (what == LMI_PLANES_MOMENTS)
      read_moments(&m, first + i, (double *)(void *)plane);
    else
      move_populations(&m, first + i, plane);
  }
  return LAMINA_OK;
}

static void move_cell(const mover *m, int level, const int64_t at[3], char *element, int64_t cells)
{
  const lmi_level_flow *flow = m->flow;
  const int velocities = flow->base.lattice->velocities;
  const size_t bytes = flow->base.element_bytes;
  const int32_t cell = lmi_level_cell_number(&flow->levels, level, &flow->blocks[level], at);
  for (int i = 0; m->what == LMI_PLANES_MOMENTS && i < 4; i++) {
    double moment = 0.0;
    for (int q = 0; q < velocities; q++)
      moment += (i == 0 ? 1.0 : (double)flow->base.lattice->c[q][i - 1]) *
                load(m->buffers[level] + (size_t)lmk_cell_element(cell, q, velocities) * bytes, bytes);
    ((double *)(void *)element)[i * cells] = moment;
  }
  for (int q = 0; m->what != LMI_PLANES_MOMENTS && q < velocities; q++) {
    char *stored = m->buffers[level] + (size_t)lmk_cell_element(cell, q, velocities) * bytes;
    char *given = element + (size_t)(q * cells) * bytes;
    memcpy(m->what == LMI_PLANES_EXPORT ? given : stored, m->what == LMI_PLANES_EXPORT ? stored : given, bytes);
  }
}

lamina_status lmi_level_move(const lmi_level_flow *flow, int level, int what, int64_t first, int64_t count,
                             void *buffer)
{
  const int64_t *n = flow->levels.level[level].cells, cells = n[0] * n[1];
  const bool reads = what == LMI_PLANES_MOMENTS;
  const size_t element = reads ? sizeof(double) : flow->base.element_bytes;
  const size_t plane = (size_t)((reads ? 4 : flow->base.lattice->velocities) * cells) * element;
  mover m = {.flow = flow, .what = what};
  m.buffers[level] = what == LMI_PLANES_IMPORT ? flow->state[level].buffers[0] : lmi_level_current(flow, level);
  if (what != LMI_PLANES_IMPORT)
    memset(buffer, 0, (size_t)count * plane);
  int64_t at[3];
  for (at[2] = first; at[2] < first + count; at[2]++)
    for (at[1] = 0; at[1] < n[1]; at[1]++)
      for (at[0] = 0; at[0] < n[0]; at[0]++)
        if (flow->levels.level[level].leaf[lmi_level_word(&flow->levels, level, at)] >>
              lmi_level_bit(&flow->levels, at) &
            1)
          move_cell(&m, level, at,
                    (char *)buffer + (size_t)(at[2] - first) * plane + (size_t)(at[1] * n[0] + at[0]) * element, cells);
  return LAMINA_OK;
}

void lmi_level_read_levels(const lmi_flow *base, int64_t first, int64_t count, uint8_t *levels)
{
  const lmi_level_flow *flow = (const lmi_level_flow *)base;
  for (int64_t z = first; z < first + count; z++)
    for (int64_t y = 0; y < base->ny; y++)
      for (int64_t x = 0; x < base->nx; x++)
        *levels++ = (uint8_t)find_leaf(flow, x, y, z).level;
}

/* ---- initial state ---- */

typedef struct initial {
  lmi_level_flow *flow;
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

static void fill_block(const initial *in, int64_t block)
{
  const lmi_level_flow *flow = in->flow;
  const lmi_lattice *lattice = flow->base.lattice;
  const lmi_level_blocks *blocks = &flow->blocks[in->level];
  const uint64_t leaves = flow->state[in->level].leaf[block];
  for (int bit = 0; bit < 64; bit++) {
    int64_t at[3];
    lmi_level_cell(&flow->levels, in->level, blocks->word[block], bit, at);
    const bool is_leaf = leaves >> bit & 1;
    const lamina_cell_state state = is_leaf ? state_of(in, at) : (lamina_cell_state){.density = 1.0};
    for (int q = 0; q < lattice->velocities; q++) {
      const int64_t element = lmk_cell_element((int32_t)(64 * block + bit), q, lattice->velocities);
      const double f = is_leaf ? lmi_initial_population(lattice, &in->options, q, &state) : 0.0;
      if (flow->base.element_bytes == sizeof(double))
        ((double *)flow->state[in->level].buffers[0])[element] = f;
      else
        ((float *)flow->state[in->level].buffers[0])[element] = (float)f;
    }
  }
}

lamina_status lmi_level_initialise(lmi_flow *base, const lamina_solver_options *options,
                                   lamina_initial_function *function, void *user)
{
  lmi_level_flow *flow = (lmi_level_flow *)base;
  for (int level = 0; level < flow->levels.count; level++) {
    const initial in = {flow, lmi_level_options(options, level), function, user, level};
#pragma omp parallel for num_threads(lamina_context_thread_count(base->ctx)) schedule(static)
    for (int64_t block = 0; block < flow->blocks[level].count; block++)
      fill_block(&in, block);
  }
  return LAMINA_OK;
}
