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
    .streaming = LAMINA_TWO_GRID,
    .force = lmi_has_force(options),
  };
}

static int32_t block_count(const lmi_level_flow *flow, int level)
{
  return flow->blocks[level].parts[0].blocks;
}

static size_t buffer_bytes(const lmi_level_flow *flow, int level)
{
  return (size_t)flow->blocks[level].parts[0].elements * flow->base.stored_bytes;
}

/* Every entry has a cell to itself, of which one component is used: there are few. */
static size_t aside_bytes(const lmi_level_flow *flow, int level)
{
  const int64_t blocks = (flow->links.level[level].aside_count + LMK_BLOCK_CELLS - 1) / LMK_BLOCK_CELLS;
  return (size_t)(blocks * LMK_BLOCK_CELLS * flow->base.lattice->velocities) * flow->base.stored_bytes;
}

/* ---- what launches read ---- */

/* What crosses jumps in a level's step in one half, the coarser level having begun its own with buffer `coarse`. */
static lmk_jumps make_jumps(const lmi_level_flow *flow, int level, int coarse, int half)
{
  const bool is_top = level == flow->levels.count - 1;
  lmk_jumps jumps = lmi_level_jumps(&flow->links, level, is_top ? 0 : half);
  jumps.from[LMK_FROM_OWN] = flow->state[level].buffers[half];
  jumps.from[LMK_FROM_ASIDE] = flow->state[level].aside;
  if (!is_top)
    jumps.from[LMK_FROM_COARSE] = flow->state[level + 1].buffers[coarse];
  if (level > 0) {
    jumps.from[LMK_FROM_OLD] = flow->state[level - 1].buffers[0];
    jumps.from[LMK_FROM_NEW] = flow->state[level - 1].buffers[1];
  }
  return jumps;
}

static lmk_block_step make_step(const lmi_level_flow *flow, const lamina_solver_options *options, int level, int coarse,
                                int half)
{
  const lmi_level_state *state = &flow->state[level];
  const lamina_solver_options own = lmi_level_options(options, level);
  lmk_block_step step = {
    .grid = lmi_blocks_grid(&flow->blocks[level], 0, 0, LMK_TWO_GRID),
    .rates = lmi_make_rates(&own),
    .source = state->buffers[half],
    .target = state->buffers[1 - half],
    .parity = half,
    .jumps = &state->jumps[coarse][half],
  };
  lmi_block_momentum(options, flow->base.lattice, &step);
  return step;
}

static void update(lmi_flow *base, const lamina_solver_options *options)
{
  lmi_level_flow *flow = (lmi_level_flow *)base;
  lmi_kernel_vector(options, options->force, flow->force);
  for (int level = 0; level < flow->levels.count; level++) {
    lmi_level_state *state = &flow->state[level];
    for (int coarse = 0; coarse < 2; coarse++)
      for (int half = 0; half < 2; half++) {
        state->jumps[coarse][half] = make_jumps(flow, level, coarse, half);
        state->steps[coarse][half] = make_step(flow, options, level, coarse, half);
      }
    const lmi_level_link_set *set = &flow->links.level[level];
    state->keep = (lmk_aside){state->buffers[0], state->aside, set->aside, set->aside_count, base->lattice->velocities};
  }
  flow->schedule.program.version++;
}

static lamina_status set_force(lmi_flow *base, const lamina_solver_options *options)
{
  lmi_level_flow *flow = (lmi_level_flow *)base;
  const lmi_dense_key key = make_key(options);
  LMI_TRY(base->device->ops->block_kernels(base->device, &key, &flow->kernels));
  LMI_TRY(lmi_level_program(base->ctx, flow));
  update(base, options);
  return LAMINA_OK;
}

/* ---- making ---- */

static lamina_status require_kernels(lamina_context *ctx, const lamina_solver_options *options)
{
  const lmi_device_ops *ops = lmi_backend_find(lamina_backend_name(options->backend));
  LMI_REQUIRE(ctx, ops->crosses_jumps, LAMINA_UNAVAILABLE,
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
  return ops->block_kernels(flow->base.device, &key, &flow->kernels);
}

static uint64_t all_bytes(const lmi_level_flow *flow)
{
  uint64_t bytes = 0;
  for (int level = 0; level < flow->levels.count; level++)
    bytes += 2 * buffer_bytes(flow, level) + aside_bytes(flow, level);
  return bytes;
}

static lamina_status allocate(lmi_level_flow *flow)
{
  lmi_device *device = flow->base.device;
  uint64_t cells = 0;
  for (int level = 0; level < flow->levels.count; level++)
    cells += (uint64_t)flow->levels.level[level].leaf_count;
  if (device->ops->require_room != NULL)
    LMI_TRY(device->ops->require_room(device, all_bytes(flow), cells, 1));
  for (int level = 0; level < flow->levels.count; level++) {
    lmi_level_state *state = &flow->state[level];
    for (int i = 0; i < 2; i++)
      LMI_TRY(device->ops->allocate(device, 0, buffer_bytes(flow, level), &state->buffers[i]));
    if (aside_bytes(flow, level) > 0)
      LMI_TRY(device->ops->allocate(device, 0, aside_bytes(flow, level), &state->aside));
  }
  return LAMINA_OK;
}

static lamina_status make_flow(lmi_level_flow *flow, const lamina_solver_options *options)
{
  lamina_context *ctx = flow->base.ctx;
  const lmi_velocities velocities = {flow->base.lattice->velocities, flow->base.lattice->c, flow->base.lattice->weight};
  LMI_TRY(lmi_level_refine(ctx, options, &flow->levels));
  flow->base.step_stride = 1 << (flow->levels.count - 1);
  flow->base.fault_planes = lmk_block_side(flow->levels.is_flat, 2) * flow->base.step_stride;
  LMI_TRY(open_device(flow, options));
  LMI_TRY(lmi_partition_create(ctx, flow->base.nz, 1, lmi_is_periodic(options, 2), &flow->partition));
  for (int level = 0; level < flow->levels.count; level++) {
    flow->sources[level] = (lmi_level_source){&flow->levels, level};
    LMI_TRY(lmi_level_make_blocks(ctx, options, &flow->sources[level], &flow->blocks[level]));
  }
  LMI_TRY(lmi_level_links_create(ctx, &flow->levels, flow->blocks, &velocities, flow->scheme, &flow->links));
  LMI_TRY(allocate(flow));
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
        base->device->ops->release(base->device, 0, state->buffers[i], buffer_bytes(flow, level));
    if (state->aside != NULL)
      base->device->ops->release(base->device, 0, state->aside, aside_bytes(flow, level));
    lmi_blocks_free(ctx, &flow->blocks[level]);
  }
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

/* The plane of the box that a fault is searched from: the lowest of its block. */
static int64_t fault_plane(const lmi_level_flow *flow, const lmi_fault *fault)
{
  const int level = fault->partition;
  const int32_t *place = flow->blocks[level].parts[0].places + 3 * fault->plane;
  return (int64_t)place[2] * lmk_block_side(flow->levels.is_flat, 2) << level;
}

static lamina_status run(lmi_flow *base, int64_t steps, lmi_fault *fault)
{
  lmi_level_flow *flow = (lmi_level_flow *)base;
  const int64_t coarse = steps / base->step_stride;
  LMI_TRY(base->device->ops->replay(base->device, &flow->schedule.program, flow->replayed, coarse, fault));
  flow->replayed += fault->found ? fault->step + 1 : coarse;
  if (fault->found) {
    fault->step = (fault->step + 1) * base->step_stride - 1;
    fault->plane = fault_plane(flow, fault);
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
  info->bytes = all_bytes(flow);
  info->table_bytes = lmi_level_links_bytes(&flow->links);
  for (int level = 0; level < flow->levels.count; level++) {
    info->cells += flow->levels.level[level].leaf_count;
    info->updates_per_step += (double)flow->levels.level[level].leaf_count / (double)(INT64_C(1) << level);
    info->blocks += block_count(flow, level);
    info->table_bytes += flow->blocks[level].table_bytes + (uint64_t)block_count(flow, level) * sizeof(uint32_t);
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
