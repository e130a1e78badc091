/* SPDX-License-Identifier: Apache-2.0 */
#include "level_flow.h"

#include "base/ranks.h"

static lmi_level_scheme link_scheme(const lamina_solver_options *options)
{
  return options->level_scheme == LAMINA_LEVELS_PACKETS ? LMI_LEVEL_PACKETS : LMI_LEVEL_VOLUMETRIC;
}

static lmi_dense_key make_key(const lamina_solver_options *options)
{
  return (lmi_dense_key){
    .lattice = options->lattice,
    .collision = options->collision,
    .precision = options->precision,
    .force = lmi_has_force(options),
  };
}

static size_t buffer_bytes(const lmi_flow *base, int64_t blocks)
{
  return (size_t)(blocks * 64 * base->lattice->velocities) * base->element_bytes;
}

static int64_t aside_blocks(const lmi_level_flow *flow, int level)
{
  const int64_t values = 64 * flow->base.lattice->velocities;
  return (flow->links.level[level].aside_count + values - 1) / values;
}

/* ---- what launches read ---- */

static void store_scalar(const lmi_flow *base, void *array, int64_t at, double value)
{
  if (base->element_bytes == sizeof(double))
    ((double *)array)[at] = value;
  else
    ((float *)array)[at] = (float)value;
}

/* The momentum a moving wall gives to f_q, 6 w c.u, as populations of cell `face`. */
static void fill_walls(lmi_level_flow *flow, const lamina_solver_options *options)
{
  const lmi_lattice *lattice = flow->base.lattice;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    double u[3];
    lmi_kernel_vector(options, options->faces[face].velocity, u);
    for (int q = 0; q < lattice->velocities; q++) {
      const int8_t *c = lattice->c[q];
      const double momentum = 6.0 * lattice->weight[q] * (c[0] * u[0] + c[1] * u[1] + c[2] * u[2]);
      const int32_t cell = lmi_kernel_face(options, face);
      store_scalar(&flow->base, flow->walls, lmk_cell_element(cell, q, lattice->velocities), momentum);
    }
  }
}

/* Arguments of a level's step in one half, the coarser level having begun its own with buffer `coarse`. */
static lmk_level_step make_step(const lmi_level_flow *flow, const lamina_solver_options *options, int level, int coarse,
                                int half)
{
  const lmi_level_state *state = &flow->state[level];
  const bool is_top = level == flow->levels.count - 1;
  const lmi_link_list *list = &flow->links.level[level].half[is_top ? 0 : half];
  const lamina_solver_options own = lmi_level_options(options, level);
  lmk_level_step step = {
    .target = state->buffers[1 - half],
    .neighbour = (const int32_t(*)[27])flow->blocks[level].neighbour,
    .leaf = state->leaf,
    .links = {list->first, list->links, list->terms},
    .weights = flow->weights,
    .rates = lmi_make_rates(&own),
  };
  step.from[LMK_FROM_OWN] = state->buffers[half];
  step.from[LMK_FROM_ASIDE] = state->aside;
  step.from[LMK_FROM_WALL] = flow->walls;
  if (!is_top)
    step.from[LMK_FROM_COARSE] = flow->state[level + 1].buffers[coarse];
  if (level > 0) {
    step.from[LMK_FROM_OLD] = flow->state[level - 1].buffers[0];
    step.from[LMK_FROM_NEW] = flow->state[level - 1].buffers[1];
  }
  return step;
}

static void update(lmi_flow *base, const lamina_solver_options *options)
{
  lmi_level_flow *flow = (lmi_level_flow *)base;
  fill_walls(flow, options);
  lmi_kernel_vector(options, options->force, flow->force);
  for (int level = 0; level < flow->levels.count; level++) {
    lmi_level_state *state = &flow->state[level];
    for (int coarse = 0; coarse < 2; coarse++)
      for (int half = 0; half < 2; half++)
        state->steps[coarse][half] = make_step(flow, options, level, coarse, half);
    const lmi_level_link_set *set = &flow->links.level[level];
    state->keep = (lmk_aside){state->buffers[0], state->aside, set->aside, set->aside_count, base->lattice->velocities};
  }
  flow->schedule.program.version++;
}

static lamina_status set_force(lmi_flow *base, const lamina_solver_options *options)
{
  lmi_level_flow *flow = (lmi_level_flow *)base;
  const lmi_dense_key key = make_key(options);
  LMI_TRY(base->device->ops->level_kernels(base->device, &key, &flow->kernels));
  LMI_TRY(lmi_level_program(base->ctx, flow));
  update(base, options);
  return LAMINA_OK;
}

/* ---- making ---- */

static lamina_status require_kernels(lamina_context *ctx, const lamina_solver_options *options)
{
  const lmi_device_ops *ops = lmi_backend_find(lamina_backend_name(options->backend));
  LMI_REQUIRE(ctx, ops->level_kernels != NULL, LAMINA_UNAVAILABLE,
              "the %s backend has no kernels for a grid of levels: choose backend cpu", ops->name);
  return LAMINA_OK;
}

static lamina_status open_device(lmi_level_flow *flow, const lamina_solver_options *options)
{
  lamina_context *ctx = flow->base.ctx;
  const lmi_device_options device_options = lmi_flow_device_options(ctx, options);
  const lmi_device_ops *ops = lmi_backend_find(lamina_backend_name(options->backend));
  LMI_TRY(require_kernels(ctx, options));
  LMI_REQUIRE(ctx, lamina_rank_count(ctx) == 1, LAMINA_UNAVAILABLE,
              "a grid of levels runs on one rank, not %d: use threads", lamina_rank_count(ctx));
  LMI_TRY(ops->open(ctx, &device_options, &flow->base.device));
  const lmi_dense_key key = make_key(options);
  return ops->level_kernels(flow->base.device, &key, &flow->kernels);
}

static lamina_status make_level(lmi_level_flow *flow, int level)
{
  lamina_context *ctx = flow->base.ctx;
  const lmi_device_ops *ops = flow->base.device->ops;
  const lmi_level_blocks *blocks = &flow->blocks[level];
  lmi_level_state *state = &flow->state[level];
  LMI_TRY(LMI_ALLOC(ctx, (size_t)blocks->count, &state->leaf));
  for (int64_t b = 0; b < blocks->count; b++)
    state->leaf[b] = flow->levels.level[level].leaf[blocks->word[b]];
  for (int i = 0; i < 2; i++)
    LMI_TRY(ops->allocate(flow->base.device, 0, buffer_bytes(&flow->base, blocks->count), &state->buffers[i]));
  const int64_t aside = aside_blocks(flow, level);
  return aside > 0 ? ops->allocate(flow->base.device, 0, buffer_bytes(&flow->base, aside), &state->aside) : LAMINA_OK;
}

static lamina_status make_tables(lmi_level_flow *flow)
{
  lamina_context *ctx = flow->base.ctx;
  const size_t bytes = flow->base.element_bytes;
  LMI_TRY(lmi_alloc_array(ctx, (size_t)flow->links.weight_count + 1, bytes, &flow->weights));
  for (int32_t i = 0; i < flow->links.weight_count; i++)
    store_scalar(&flow->base, flow->weights, i, flow->links.weights[i]);
  return lmi_alloc_array(ctx, 64 * (size_t)flow->base.lattice->velocities, bytes, &flow->walls);
}

static lamina_status make_flow(lmi_level_flow *flow, const lamina_solver_options *options)
{
  lamina_context *ctx = flow->base.ctx;
  const int partitions = options->partitions > 0 ? options->partitions : 1;
  const lmi_velocities velocities = {flow->base.lattice->velocities, flow->base.lattice->c, flow->base.lattice->weight};
  LMI_TRY(lmi_level_refine(ctx, options, &flow->levels));
  flow->base.step_stride = 1 << (flow->levels.count - 1);
  LMI_TRY(open_device(flow, options));
  LMI_TRY(lmi_partition_create(ctx, flow->base.nz, 1, lmi_is_periodic(options, 2), &flow->partition));
  for (int level = 0; level < flow->levels.count; level++)
    LMI_TRY(lmi_level_blocks_create(ctx, &flow->levels, level, partitions, &flow->blocks[level]));
  LMI_TRY(lmi_level_links_create(ctx, &flow->levels, flow->blocks, &velocities, flow->scheme, &flow->links));
  for (int level = 0; level < flow->levels.count; level++)
    LMI_TRY(make_level(flow, level));
  LMI_TRY(make_tables(flow));
  LMI_TRY(lmi_level_program(ctx, flow));
  update(&flow->base, options);
  return LAMINA_OK;
}

static void free_flow(lmi_flow *base)
{
  lmi_level_flow *flow = (lmi_level_flow *)base;
  if (flow == NULL)
    return;
  lamina_context *ctx = base->ctx;
  lmi_schedule_free(ctx, &flow->schedule);
  for (int level = 0; level < LMI_MAX_LEVELS; level++) {
    lmi_level_state *state = &flow->state[level];
    for (int i = 0; i < 2; i++)
      if (state->buffers[i] != NULL)
        base->device->ops->release(base->device, 0, state->buffers[i], buffer_bytes(base, flow->blocks[level].count));
    if (state->aside != NULL)
      base->device->ops->release(base->device, 0, state->aside, buffer_bytes(base, aside_blocks(flow, level)));
    lmi_free(ctx, state->leaf);
    lmi_level_blocks_free(ctx, &flow->blocks[level]);
  }
  lmi_free(ctx, flow->weights);
  lmi_free(ctx, flow->walls);
  lmi_level_links_free(ctx, &flow->links);
  lmi_partition_free(ctx, &flow->partition);
  lmi_levels_free(ctx, &flow->levels);
  if (base->device != NULL)
    base->device->ops->close(base->device);
  lmi_free(ctx, flow);
}

static lamina_status create(lamina_context *ctx, const lamina_solver_options *options, lmi_flow **out)
{
  lmi_level_flow *flow = NULL;
  *out = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &flow));
  const lamina_int3 cells = lmi_kernel_cells(options);
  flow->base = (lmi_flow){
    .ops = &lmi_level_flow_ops,
    .ctx = ctx,
    .lattice = lmi_lattice_get(options->lattice),
    .partition = &flow->partition,
    .schedule = &flow->schedule,
    .nx = cells.x,
    .ny = cells.y,
    .nz = cells.z,
    .element_bytes = lmi_precision_bytes(options),
    .stored_bytes = lmi_precision_bytes(options),
    .fault_planes = cells.z,
  };
  flow->scheme = link_scheme(options);
  const lamina_level_scheme scheme = options->level_scheme;
  flow->fuses_finest = scheme != LAMINA_LEVELS_BASELINE && scheme != LAMINA_LEVELS_COARSE_FUSED;
  flow->fuses_coarse = scheme != LAMINA_LEVELS_BASELINE && scheme != LAMINA_LEVELS_FINEST_FUSED;
  flow->overlaps = !options->no_overlap;
  const lamina_status status = make_flow(flow, options);
  if (status == LAMINA_OK)
    *out = &flow->base;
  else
    free_flow(&flow->base);
  return status;
}

static lamina_status estimate(lamina_context *ctx, const lamina_solver_options *options, uint64_t *bytes)
{
  lamina_level_info infos[LMI_MAX_LEVELS];
  *bytes = 0;
  LMI_TRY(require_kernels(ctx, options));
  LMI_TRY(lamina_levels_plan(ctx, options, infos));
  const uint64_t block = 64u * (uint64_t)lamina_lattice_velocities(options->lattice) * lmi_precision_bytes(options);
  for (int level = 0; level < options->levels; level++)
    *bytes += 2 * block * (uint64_t)infos[level].blocks;
  return LAMINA_OK;
}

/* ---- running ---- */

static lamina_status run(lmi_flow *base, int64_t steps, lmi_fault *fault)
{
  lmi_level_flow *flow = (lmi_level_flow *)base;
  const int64_t coarse = steps / base->step_stride;
  LMI_TRY(base->device->ops->replay(base->device, &flow->schedule.program, flow->replayed, coarse, fault));
  flow->replayed += fault->found ? fault->step + 1 : coarse;
  if (fault->found) {
    fault->step = (fault->step + 1) * base->step_stride - 1;
    fault->plane = 0; /* the launch does not tell its level */
  }
  return LAMINA_OK;
}

static void restart(lmi_flow *base)
{
  ((lmi_level_flow *)base)->replayed = 0;
}

static void find_info(const lmi_flow *base, lamina_solver_info *info)
{
  const lmi_level_flow *flow = (const lmi_level_flow *)base;
  for (int level = 0; level < flow->levels.count; level++) {
    const lmi_level_blocks *blocks = &flow->blocks[level];
    const lmi_level_link_set *set = &flow->links.level[level];
    info->cells += flow->levels.level[level].leaf_count;
    info->updates_per_step += (double)flow->levels.level[level].leaf_count / (double)(INT64_C(1) << level);
    info->blocks += blocks->count;
    info->bytes += 2 * buffer_bytes(base, blocks->count);
    info->table_bytes += (uint64_t)blocks->count * (sizeof *blocks->neighbour + sizeof(uint64_t) + sizeof(int64_t)) +
                         (uint64_t)set->aside_count * sizeof *set->aside +
                         buffer_bytes(base, aside_blocks(flow, level));
    for (int half = 0; half < 2; half++)
      info->table_bytes += (uint64_t)set->half[half].link_count * sizeof(lmk_link) +
                           (uint64_t)set->half[half].term_count * sizeof(lmk_term);
  }
}

static const lmi_levels *find_stack(const lmi_flow *base)
{
  return &((const lmi_level_flow *)base)->levels;
}

static lamina_status move_level(const lmi_flow *base, int level, int what, int64_t first, int64_t count, void *buffer)
{
  return lmi_level_move((const lmi_level_flow *)base, level, what, first, count, buffer);
}

const lmi_flow_ops lmi_level_flow_ops = {
  .name = "levels",
  .create = create,
  .free = free_flow,
  .estimate = estimate,
  .update = update,
  .set_force = set_force,
  .run = run,
  .planes = lmi_level_planes,
  .restart = restart,
  .initialise = lmi_level_initialise,
  .levels = lmi_level_read_levels,
  .stack = find_stack,
  .level_planes = move_level,
  .info = find_info,
};
