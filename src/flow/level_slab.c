/* SPDX-License-Identifier: Apache-2.0 */
#include "level_slab.h"

#include "solver_internal.h"

/* Density - 1 and momentum of each level's planes in the layer, component by component in each plane, in the kernels'
 * axes. */
struct lmi_level_slab {
  const lamina_solver *solver;
  const lmi_levels *levels;
  int64_t index;
  double *moments[LMI_MAX_LEVELS];
};

const lmi_levels *lmi_solver_levels(const lamina_solver *solver)
{
  const lmi_flow *flow = solver->flow;
  return flow->ops->stack != NULL ? flow->ops->stack(flow) : NULL;
}

static int64_t planes_of(const lmi_level_slab *slab, int level)
{
  return INT64_C(1) << (slab->levels->count - 1 - level);
}

static int64_t plane_cells(const lmi_level_slab *slab, int level)
{
  const int64_t *cells = slab->levels->level[level].cells;
  return cells[0] * cells[1];
}

lamina_status lmi_level_slab_create(const lamina_solver *solver, lmi_level_slab **slab)
{
  *slab = NULL;
  lmi_level_slab *made = NULL;
  const lmi_levels *levels = lmi_solver_levels(solver);
  LMI_REQUIRE(solver->ctx, levels != NULL, LAMINA_UNAVAILABLE, "a %s grid has no levels to read",
              lamina_grid_kind_name(solver->options.grid));
  LMI_TRY(LMI_ALLOC(solver->ctx, 1, &made));
  *made = (lmi_level_slab){.solver = solver, .levels = levels};
  lamina_status status = LAMINA_OK;
  for (int level = 0; level < levels->count && status == LAMINA_OK; level++)
    status =
      LMI_ALLOC(solver->ctx, (size_t)(4 * planes_of(made, level) * plane_cells(made, level)), &made->moments[level]);
  if (status == LAMINA_OK)
    *slab = made;
  else
    lmi_level_slab_destroy(made);
  return status;
}

int64_t lmi_level_slab_count(const lmi_level_slab *slab)
{
  return slab->levels->level[slab->levels->count - 1].cells[2];
}

static double *plane_moments(const lmi_level_slab *slab, int level, int64_t plane_in_slab)
{
  return slab->moments[level] + 4 * plane_in_slab * plane_cells(slab, level);
}

/* The populations are those after collision: their momentum is half a step of the level's own force ahead. */
static void take_force(const lmi_level_slab *slab, int level, int64_t plane)
{
  const lamina_solver_options *options = &slab->solver->options;
  const int64_t cells = plane_cells(slab, level);
  double force[3];
  lmi_kernel_vector(options, options->force, force);
  double *moments = plane_moments(slab, level, plane);
  for (int a = 0; a < 3; a++)
    for (int64_t i = 0; i < cells && force[a] != 0.0; i++)
      moments[(1 + a) * cells + i] -= 0.5 * (double)(INT64_C(1) << level) * force[a];
}

static void add_fine(const lmi_level_slab *slab, int level, const int64_t at[3], int64_t plane, double sum[4])
{
  const bool flat = slab->levels->is_flat;
  const int parts = flat ? 4 : 8;
  const int64_t cells = plane_cells(slab, level - 1), row = slab->levels->level[level - 1].cells[0];
  for (int s = 0; s < parts; s++) {
    const double *fine = plane_moments(slab, level - 1, 2 * plane + (s >> 1 & 1));
    const int64_t y = flat ? at[1] : 2 * at[1] + (s >> 2 & 1);
    for (int i = 0; i < 4; i++)
      sum[i] += fine[i * cells + y * row + 2 * at[0] + (s & 1)] / parts;
  }
}

/* Refined cells of a plane get the mean of what is finer; others keep what they have. */
static void mean_plane(const lmi_level_slab *slab, int level, int64_t plane)
{
  const lmi_levels *levels = slab->levels;
  const lmi_level *l = &levels->level[level];
  const int64_t cells = plane_cells(slab, level);
  double *moments = plane_moments(slab, level, plane);
  int64_t at[3] = {0, 0, slab->index * planes_of(slab, level) + plane};
  for (at[1] = 0; at[1] < l->cells[1]; at[1]++)
    for (at[0] = 0; at[0] < l->cells[0]; at[0]++) {
      if (!(l->finer[lmi_level_word(levels, level, at)] >> lmi_level_bit(levels, at) & 1))
        continue;
      double sum[4] = {0.0, 0.0, 0.0, 0.0};
      add_fine(slab, level, at, plane, sum);
      for (int i = 0; i < 4; i++)
        moments[i * cells + at[1] * l->cells[0] + at[0]] = sum[i];
    }
}

lamina_status lmi_level_slab_read(lmi_level_slab *slab, int64_t index)
{
  const lmi_flow *flow = slab->solver->flow;
  slab->index = index;
  for (int level = 0; level < slab->levels->count; level++) {
    const int64_t planes = planes_of(slab, level);
    LMI_TRY(flow->ops->level_planes(flow, level, LMI_PLANES_MOMENTS, index * planes, planes, slab->moments[level]));
#pragma omp parallel for num_threads(lamina_context_thread_count(slab->solver->ctx)) schedule(static)
    for (int64_t plane = 0; plane < planes; plane++) {
      take_force(slab, level, plane);
      if (level > 0)
        mean_plane(slab, level, plane);
    }
  }
  return LAMINA_OK;
}

void lmi_level_slab_plane(const lmi_level_slab *slab, int level, int64_t plane, const lamina_fields *fields)
{
  const int64_t cells = plane_cells(slab, level);
  const double *moments = plane_moments(slab, level, plane - slab->index * planes_of(slab, level));
  for (int64_t i = 0; i < cells && fields->density != NULL; i++)
    fields->density[i] = 1.0 + moments[i];
  for (int axis = 0; axis < 3; axis++) {
    const double *momentum = moments + (1 + lmi_kernel_axis(&slab->solver->options, axis)) * cells;
    for (int64_t i = 0; i < cells && fields->velocity[axis] != NULL; i++)
      fields->velocity[axis][i] = momentum[i] / (1.0 + moments[i]);
  }
}

void lmi_level_slab_destroy(lmi_level_slab *slab)
{
  if (slab == NULL)
    return;
  for (int level = 0; level < LMI_MAX_LEVELS; level++)
    lmi_free(slab->solver->ctx, slab->moments[level]);
  lmi_free(slab->solver->ctx, slab);
}
