/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of the whole box in finest cells, out of and into levels: a coarse cell fills, with one value, all places of
 * the box it covers, so sums over the box weigh it by its volume. */
#include <omp.h>
#include <string.h>

#include "level_flow.h"

void *lmi_level_current(const lmi_level_flow *flow, int level)
{
  const bool top = level == flow->levels.count - 1;
  return flow->state[level].buffers[top ? flow->replayed % 2 : 0];
}

/* The leaf that covers a place of the finest level: its level and number. */
typedef struct leaf {
  int level;
  int32_t cell;
  bool is_first; /* the place is the lowest of those it covers */
} leaf;

static leaf find_leaf(const lmi_level_flow *flow, int64_t x, int64_t y, int64_t z)
{
  const lmi_levels *levels = &flow->levels;
  leaf found = {0};
  int64_t at[3] = {x, y, z};
  for (found.level = 0; found.level < levels->count - 1; found.level++) {
    const int64_t word = lmi_level_word(levels, found.level, at);
    if (levels->level[found.level].leaf[word] >> lmi_level_bit(levels, at) & 1)
      break;
    for (int a = 0; a < 3; a++)
      at[a] /= lmi_levels_ratio(levels, a);
  }
  found.cell = lmi_level_cell_number(levels, found.level, &flow->blocks[found.level], at);
  const int64_t low = (INT64_C(1) << found.level) - 1;
  found.is_first = ((x | z | (levels->is_flat ? 0 : y)) & low) == 0;
  return found;
}

typedef struct mover {
  const lmi_level_flow *flow;
  char *buffers[LMI_MAX_LEVELS];
  int what;
} mover;

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

/* One place of a plane: its populations in or out, or its moments. The solver takes half of the finest level's force
 * from the momentum; a coarser level's is larger. */
static void move_place(const mover *m, const leaf *at, char *plane, int64_t place, int64_t cells)
{
  const lmi_flow *base = &m->flow->base;
  const int velocities = base->lattice->velocities;
  const size_t bytes = base->element_bytes;
  char *buffer = m->buffers[at->level];
  double moments[4] = {0.0, 0.0, 0.0, 0.0};
  for (int q = 0; q < velocities; q++) {
    char *stored = buffer + (size_t)lmk_cell_element(at->cell, q, velocities) * bytes;
    char *given = plane + (size_t)(q * cells + place) * bytes;
    if (m->what == LMI_PLANES_EXPORT)
      memcpy(given, stored, bytes);
    else if (m->what == LMI_PLANES_IMPORT && at->is_first)
      memcpy(stored, given, bytes);
    else if (m->what == LMI_PLANES_MOMENTS) {
      const double f = load(stored, bytes);
      moments[0] += f;
      for (int a = 0; a < 3; a++)
        moments[1 + a] += base->lattice->c[q][a] * f;
    }
  }
  if (m->what != LMI_PLANES_MOMENTS)
    return;
  const double more = 0.5 * (double)((INT64_C(1) << at->level) - 1);
  for (int i = 0; i < 4; i++) {
    const double value = i == 0 ? moments[0] : moments[i] - more * m->flow->force[i - 1];
    memcpy(plane + (size_t)(i * cells + place) * sizeof value, &value, sizeof value);
  }
}

static void move_plane(const mover *m, int64_t z, char *plane)
{
  const lmi_flow *base = &m->flow->base;
  const int64_t cells = base->nx * base->ny;
  for (int64_t y = 0; y < base->ny; y++)
    for (int64_t x = 0; x < base->nx; x++) {
      const leaf at = find_leaf(m->flow, x, y, z);
      move_place(m, &at, plane, y * base->nx + x, cells);
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
  for (int64_t i = 0; i < count; i++)
    move_plane(&m, first + i, (char *)buffer + (size_t)i * plane_bytes);
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
