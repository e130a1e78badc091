/* SPDX-License-Identifier: Apache-2.0 */
#include "block_flow.h"

#include <string.h>

#include "base/ranks.h"

/* ---- what is solid ---- */

/* What the blocks are made from. */
typedef struct block_maker {
  const lamina_solver_options *options;
  const lmi_voxels *voxels; /* NULL: none */
} block_maker;

static uint64_t solid_bits(const void *user, lamina_int3 block)
{
  const lmi_voxels *voxels = ((const block_maker *)user)->voxels;
  if (!voxels->grid.is_flat)
    return voxels->solid[((size_t)block.z * (size_t)voxels->blocks.y + (size_t)block.y) * (size_t)voxels->blocks.x +
                         (size_t)block.x];
  const lamina_int3 n = voxels->grid.cells;
  uint64_t bits = 0;
  for (int bit = 0; bit < LMK_BLOCK_CELLS; bit++) {
    const lamina_int3 cell = {8 * block.x + lmk_block_x(1, bit), 8 * block.z + lmk_block_z(1, bit), 0};
    if (cell.x < n.x && cell.y < n.y && lmi_voxels_is_solid(voxels, cell))
      bits |= (uint64_t)1 << bit;
  }
  return bits;
}

/* ---- what is special ---- */

static int64_t side_of(const lamina_solver_options *options, int axis)
{
  const lamina_int3 n = lmi_kernel_cells(options);
  return axis == 0 ? n.x : axis == 1 ? n.y : n.z;
}

/* May a block have special cells? Where it touches an open face, or a body lies in it or next to it. */
static bool may_be_special(const block_maker *maker, lamina_int3 block)
{
  const bool is_flat = lamina_lattice_dimension(maker->options->lattice) == 2;
  const int64_t at[3] = {block.x, block.y, block.z};
  for (int face = 0; face < LMK_FACES; face++) {
    const int axis = face / 2, side = lmk_block_side(is_flat, axis);
    const bool touches = face % 2 == 0 ? at[axis] == 0 : (at[axis] + 1) * side >= side_of(maker->options, axis);
    const lamina_face_kind kind = maker->options->faces[lmi_kernel_face(maker->options, face)].kind;
    if (touches && kind != LAMINA_FACE_PERIODIC && kind != LAMINA_FACE_WALL)
      return true;
  }
  if (maker->voxels == NULL)
    return false;
  for (int n = 0; n < LMK_BLOCK_NEIGHBOURS; n++) {
    int64_t near[3] = {at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1};
    bool inside = true;
    for (int axis = 0; axis < 3; axis++) {
      const int64_t side = lmk_block_side(is_flat, axis), count = (side_of(maker->options, axis) + side - 1) / side;
      if (lmi_is_periodic(maker->options, axis))
        near[axis] = (near[axis] + count) % count;
      inside = inside && near[axis] >= 0 && near[axis] < count;
    }
    if (inside && solid_bits(maker, (lamina_int3){near[0], near[1], near[2]}) != 0)
      return true;
  }
  return false;
}

static uint64_t special_bits(const void *user, lamina_int3 block, uint64_t active)
{
  const block_maker *maker = user;
  const lmi_boundary_view view = {maker->options, maker->voxels};
  const bool is_flat = lamina_lattice_dimension(maker->options->lattice) == 2;
  uint64_t bits = 0;
  if (!may_be_special(maker, block))
    return 0;
  for (uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const int bit = __builtin_ctzll(rest);
    const lamina_int3 cell = {block.x * lmk_block_side(is_flat, 0) + lmk_block_x(is_flat, bit),
                              block.y * lmk_block_side(is_flat, 1) + lmk_block_y(is_flat, bit),
                              block.z * lmk_block_side(is_flat, 2) + lmk_block_z(is_flat, bit)};
    if (lmi_boundary_is_special(&view, cell))
      bits |= (uint64_t)1 << bit;
  }
  return bits;
}

/* ---- the grid ---- */

/* Partitions of this rank are own_first(flow) up to, but not including, own_end(flow). */
static int own_first(const lmi_block_flow *flow)
{
  return flow->blocks.layers.own_first;
}

static int own_end(const lmi_block_flow *flow)
{
  return flow->blocks.layers.own_first + flow->blocks.layers.own_count;
}

static void describe_blocks(const lamina_solver_options *options, const lmi_block_flow *flow, const block_maker *maker,
                            lmi_block_request *request)
{
  const lmi_lattice *lattice = flow->base.lattice;
  *request = (lmi_block_request){
    .cells = lmi_kernel_cells(options),
    .is_flat = lattice->dimension == 2,
    .partitions = options->partitions > 0 ? options->partitions : 1,
    .velocities = lattice->velocities,
    .c = lattice->c,
    .solid = flow->has_voxels ? solid_bits : NULL,
    .special = flow->has_voxels || lmi_boundary_has_open_face(options) ? special_bits : NULL,
    .user = maker,
    .grouping = options->grouping,
    .on_curve = options->backend == LAMINA_BACKEND_CUDA,
  };
  for (int axis = 0; axis < 3; axis++)
    request->is_periodic[axis] = lmi_is_periodic(options, axis);
  for (int face = 0; face < LMK_FACES; face++)
    request->is_wall[lmi_kernel_face(options, face)] = options->faces[face].kind == LAMINA_FACE_WALL;
}

static lamina_status make_blocks(lmi_block_flow *flow, const lamina_solver_options *options)
{
  lamina_context *ctx = flow->base.ctx;
  if (options->geometry != NULL) {
    const lmi_voxel_grid grid = {.cells = options->cells, .level = 0, .is_flat = flow->base.lattice->dimension == 2};
    LMI_TRY(lmi_geometry_voxelize(ctx, options->geometry, &grid, NULL, &flow->voxels));
    flow->has_voxels = true;
  }
  lmi_block_request request;
  const block_maker maker = {options, flow->has_voxels ? &flow->voxels : NULL};
  describe_blocks(options, flow, &maker, &request);
  LMI_TRY(lmi_blocks_create(ctx, &request, &flow->blocks));
  flow->blocks.request.user = NULL; /* the maker is gone */
  return LAMINA_OK;
}

/* ---- cells with boundary data ---- */

static int64_t count_items(const lmi_block_flow *flow)
{
  int64_t items = 0;
  for (int p = own_first(flow); p < own_end(flow); p++)
    items += flow->blocks.parts[p].special_blocks > 0 ? flow->blocks.parts[p].item_count : 0;
  return items;
}

/* The cell of each item of a partition; items of no cell stay as they are. */
static void list_special(const lmi_block_flow *flow, int p, lamina_int3 *cells)
{
  const lmi_block_part *part = &flow->blocks.parts[p];
  for (int32_t block = 0; block < part->blocks; block++)
    for (uint64_t rest = part->special[block]; rest != 0; rest &= rest - 1) {
      const int bit = __builtin_ctzll(rest);
      cells[lmi_blocks_item(&flow->blocks, p, block, bit)] = lmi_blocks_cell(&flow->blocks, p, block, bit);
    }
}

/* The set of a partition is that of the whole from its first item on. */
static void share_sets(lmi_block_flow *flow)
{
  const lmi_boundary *b = flow->base.boundary;
  int64_t first = 0;
  for (int p = own_first(flow); b != NULL && p < own_end(flow); p++) {
    lmk_boundary *set = &flow->sets[p];
    *set = b->set;
    set->special += first;
    set->velocity = (const char *)b->set.velocity + (size_t)(3 * first) * b->real_bytes;
    first += flow->blocks.parts[p].special_blocks > 0 ? flow->blocks.parts[p].item_count : 0;
  }
}

static lamina_status make_boundary(lmi_block_flow *flow, const lamina_solver_options *options)
{
  lamina_context *ctx = flow->base.ctx;
  const int64_t items = count_items(flow);
  const lmi_boundary_view view = {options, flow->has_voxels ? &flow->voxels : NULL};
  lamina_int3 *cells = NULL;
  if (flow->blocks.special_blocks == 0)
    return LAMINA_OK;
  LMI_TRY(LMI_ALLOC(ctx, (size_t)flow->blocks.layers.count, &flow->sets));
  LMI_TRY(LMI_ALLOC(ctx, (size_t)items, &cells));
  for (int64_t i = 0; i < items; i++)
    cells[i] = (lamina_int3){-1, -1, -1};
  int64_t first = 0;
  for (int p = own_first(flow); p < own_end(flow); p++) {
    if (flow->blocks.parts[p].special_blocks == 0)
      continue;
    list_special(flow, p, cells + first);
    first += flow->blocks.parts[p].item_count;
  }
  const lamina_status status = lmi_boundary_create(ctx, &view, cells, items, &flow->base.boundary);
  lmi_free(ctx, cells);
  share_sets(flow);
  return status;
}

/* ---- launches ---- */

/* MEMORY: plain blocks and special ones of a section lie apart, each kind has its kernel. BITMASK, POPCOUNT: both
 * kernels go over all blocks, each serves its kind. NAIVE: one kernel, that of special blocks, for all. */
static void list_launches(lmi_block_flow *flow, lamina_grouping grouping)
{
  flow->launch_count = 0;
  for (int p = own_first(flow); p < own_end(flow); p++) {
    const lmi_block_part *part = &flow->blocks.parts[p];
    for (int s = 0; s < part->section_count && part->sections[s].first + part->sections[s].count <= part->blocks; s++) {
      const lmk_block_section *section = &part->sections[s];
      lmi_block_launch plain = {
        .kernel = flow->kernels.step, .part = p, .section = s, .first = section->first, .count = section->count};
      lmi_block_launch special = plain;
      special.kernel = flow->kernels.special;
      special.count = 0;
      if (part->special_blocks > 0 && grouping == LAMINA_GROUPING_NAIVE) {
        plain.kernel = flow->kernels.special;
      } else if (part->special_blocks > 0 && grouping == LAMINA_GROUPING_MEMORY) {
        plain.count = part->section_plain[s];
        special.first = section->first + plain.count;
        special.count = section->count - plain.count;
      } else if (part->special_blocks > 0) {
        special.count = section->count;
        plain.serves = LMK_SERVE_PLAIN;
        special.serves = LMK_SERVE_SPECIAL;
      }
      if (plain.count > 0)
        flow->launches[flow->launch_count++] = plain;
      if (special.count > 0)
        flow->launches[flow->launch_count++] = special;
    }
  }
}

static lmk_block_step make_step(const lmi_block_flow *flow, const lamina_solver_options *options, int part, int section,
                                int parity)
{
  const bool two = flow->field_count == 2;
  lmk_block_step step = {
    .grid = lmi_blocks_grid(&flow->blocks, part, section, lmi_streaming_rule(options->streaming)),
    .rates = lmi_make_rates(options),
    .source = flow->fields[two ? parity : 0][part],
    .target = flow->fields[two ? 1 - parity : 0][part],
    .sent = flow->sent[part],
    .parity = parity,
    .boundary = flow->sets != NULL ? &flow->sets[part] : NULL,
  };
  lmi_block_momentum(options, flow->base.lattice, &step);
  return step;
}

static bool has_outflow(const lmi_block_flow *flow)
{
  return flow->base.boundary != NULL && flow->base.boundary->outflow_count > 0;
}

static void fill_settles(lmi_block_flow *flow)
{
  for (int e = 0; has_outflow(flow) && e < LMI_BLOCK_PERIOD; e++) {
    flow->settles[e] = lmi_boundary_settle_set(flow->base.boundary, 1 - e);
    flow->settle_arguments[e] = &flow->settles[e];
  }
}

static void fill_steps(lmi_block_flow *flow, const lamina_solver_options *options)
{
  for (size_t i = 0; i < flow->launch_count; i++) {
    lmi_block_launch *launch = &flow->launches[i];
    launch->arguments = flow->arguments + i * LMI_BLOCK_PERIOD;
    for (int e = 0; e < LMI_BLOCK_PERIOD; e++) {
      lmk_block_step *step = &flow->steps[i * LMI_BLOCK_PERIOD + (size_t)e];
      *step = make_step(flow, options, launch->part, launch->section, e);
      step->serves = launch->serves;
      flow->arguments[i * LMI_BLOCK_PERIOD + (size_t)e] = step;
    }
  }
  fill_settles(flow);
}

static void update(lmi_flow *base, const lamina_solver_options *options)
{
  lmi_block_flow *flow = (lmi_block_flow *)base;
  if (base->boundary != NULL)
    lmi_boundary_update(base->boundary, options);
  share_sets(flow);
  fill_steps(flow, options);
  flow->schedule.program.version++;
}

static lamina_status make_schedule(lmi_block_flow *flow, const lamina_solver_options *options, lmi_schedule *schedule)
{
  const int rule = lmi_streaming_rule(options->streaming);
  const bool two = flow->field_count == 2;
  lmi_shared_rows rows[LMK_FACES];
  const lmi_halo_access halos[LMI_BLOCK_PERIOD] = {lmi_streaming_halo(flow->base.lattice, rule, 0),
                                                   lmi_streaming_halo(flow->base.lattice, rule, 1)};
  void *const *const read[LMI_BLOCK_PERIOD] = {flow->fields[0], flow->fields[two ? 1 : 0]};
  void *const *const written[LMI_BLOCK_PERIOD] = {flow->fields[two ? 1 : 0], flow->fields[0]};
  const lmi_block_program program = {
    .blocks = &flow->blocks,
    .launches = flow->launches,
    .launch_count = flow->launch_count,
    .halos = halos,
    .read_memory = read,
    .written_memory = written,
    .step_count = LMI_BLOCK_PERIOD,
    .element_bytes = flow->base.stored_bytes,
    .overlap = !options->no_overlap,
    .shared = rows,
    .shared_count = flow->base.boundary != NULL ? lmi_boundary_rows(flow->base.boundary, rows) : 0,
    .settle = has_outflow(flow) ? flow->kernels.settle : NULL,
    .settle_arguments = flow->settle_arguments,
  };
  return lmi_block_schedule_create(flow->base.device, &program, schedule);
}

static lmi_dense_key make_key(const lamina_solver_options *options, const lmi_blocks *blocks)
{
  return (lmi_dense_key){
    .lattice = options->lattice,
    .collision = options->collision,
    .precision = options->precision,
    .storage = options->storage,
    .streaming = options->streaming,
    .force = lmi_has_force(options),
    .special = blocks->special_blocks > 0,
  };
}

static lamina_status set_force(lmi_flow *base, const lamina_solver_options *options)
{
  lmi_block_flow *flow = (lmi_block_flow *)base;
  const lmi_dense_key key = make_key(options, &flow->blocks);
  LMI_TRY(base->device->ops->block_kernels(base->device, &key, &flow->kernels));
  list_launches(flow, options->grouping);
  if (base->boundary != NULL)
    lmi_boundary_update(base->boundary, options);
  share_sets(flow);
  fill_steps(flow, options);
  lmi_schedule fresh = {0}, old = flow->schedule;
  LMI_TRY(make_schedule(flow, options, &fresh));
  fresh.program.version = old.program.version + 1;
  flow->schedule = fresh;
  lmi_schedule_free(base->ctx, &old);
  return LAMINA_OK;
}

/* ---- memory ---- */

static size_t field_bytes(const lmi_block_flow *flow, int part)
{
  return (size_t)flow->blocks.parts[part].elements * flow->base.stored_bytes;
}

static size_t sent_bytes(const lmi_block_flow *flow, int part)
{
  return flow->field_count == 2 ? 0 : (size_t)flow->blocks.parts[part].link_count * flow->base.stored_bytes;
}

/* Of this rank. */
static uint64_t own_bytes(const lmi_block_flow *flow)
{
  uint64_t bytes = 0;
  for (int p = own_first(flow); p < own_end(flow); p++)
    bytes += (uint64_t)flow->field_count * field_bytes(flow, p) + sent_bytes(flow, p);
  return bytes;
}

static lamina_status allocate(lmi_block_flow *flow)
{
  lmi_device *device = flow->base.device;
  const int parts = flow->blocks.layers.count;
  for (int i = 0; i < 2; i++)
    LMI_TRY(LMI_ALLOC(flow->base.ctx, (size_t)parts, &flow->fields[i]));
  LMI_TRY(LMI_ALLOC(flow->base.ctx, (size_t)parts, &flow->sent));
  for (int p = own_first(flow); p < own_end(flow); p++) {
    for (int i = 0; i < flow->field_count; i++)
      LMI_TRY(device->ops->allocate(device, p, field_bytes(flow, p), &flow->fields[i][p]));
    if (sent_bytes(flow, p) > 0)
      LMI_TRY(device->ops->allocate(device, p, sent_bytes(flow, p), &flow->sent[p]));
  }
  return LAMINA_OK;
}

static lamina_status make_launches(lmi_block_flow *flow, const lamina_solver_options *options)
{
  lamina_context *ctx = flow->base.ctx;
  const size_t most = (size_t)flow->blocks.layers.own_count * LMK_BLOCK_SECTIONS * 2;
  LMI_TRY(LMI_ALLOC(ctx, most, &flow->launches));
  LMI_TRY(LMI_ALLOC(ctx, most * LMI_BLOCK_PERIOD, &flow->steps));
  LMI_TRY(LMI_ALLOC(ctx, most * LMI_BLOCK_PERIOD, &flow->arguments));
  list_launches(flow, options->grouping);
  fill_steps(flow, options);
  return LAMINA_OK;
}

static void free_memory(lmi_block_flow *flow)
{
  lmi_device *device = flow->base.device;
  for (int p = 0; p < flow->blocks.layers.count; p++) {
    for (int i = 0; i < 2; i++)
      if (flow->fields[i] != NULL && flow->fields[i][p] != NULL)
        device->ops->release(device, p, flow->fields[i][p], field_bytes(flow, p));
    if (flow->sent != NULL && flow->sent[p] != NULL)
      device->ops->release(device, p, flow->sent[p], sent_bytes(flow, p));
  }
  lmi_free(flow->base.ctx, flow->fields[0]);
  lmi_free(flow->base.ctx, flow->fields[1]);
  lmi_free(flow->base.ctx, flow->sent);
}

static void free_flow(lmi_flow *base)
{
  lmi_block_flow *flow = (lmi_block_flow *)base;
  lamina_context *ctx = base->ctx;
  lmi_schedule_free(ctx, &flow->schedule);
  free_memory(flow);
  lmi_free(ctx, flow->launches);
  lmi_free(ctx, flow->steps);
  lmi_free(ctx, flow->arguments);
  if (base->device != NULL)
    base->device->ops->close(base->device);
  lmi_boundary_destroy(base->boundary);
  lmi_free(ctx, flow->sets);
  lmi_blocks_free(ctx, &flow->blocks);
  lmi_voxels_free(ctx, &flow->voxels);
  lmi_free(ctx, flow);
}

static lamina_status describe(lamina_context *ctx, const lamina_solver_options *options, lmi_block_flow *flow)
{
  const lamina_int3 cells = lmi_kernel_cells(options);
  const lmi_device_ops *ops = lmi_backend_find(lamina_backend_name(options->backend));
  LMI_REQUIRE(ctx, ops->block_kernels != NULL, LAMINA_UNAVAILABLE,
              "the sparse grid does not run on backend %s; use cpu", ops->name);
  flow->base = (lmi_flow){
    .ops = &lmi_block_flow_ops,
    .ctx = ctx,
    .lattice = lmi_lattice_get(options->lattice),
    .partition = &flow->blocks.planes,
    .schedule = &flow->schedule,
    .nx = cells.x,
    .ny = cells.y,
    .nz = cells.z,
    .element_bytes = lmi_precision_bytes(options),
    .stored_bytes = options->storage == LAMINA_STORAGE_F16 ? 2 : lmi_precision_bytes(options),
  };
  flow->base.fault_planes = lmk_block_side(flow->base.lattice->dimension == 2, 2);
  flow->field_count = options->streaming == LAMINA_TWO_GRID ? 2 : 1;
  return make_blocks(flow, options);
}

static lamina_status build(lmi_block_flow *flow, const lamina_solver_options *options)
{
  lamina_context *ctx = flow->base.ctx;
  const lmi_device_options device_options = lmi_flow_device_options(ctx, options);
  const lmi_device_ops *ops = lmi_backend_find(lamina_backend_name(options->backend));
  const lmi_dense_key key = make_key(options, &flow->blocks);
  LMI_TRY(ops->open(ctx, &device_options, &flow->base.device));
  LMI_TRY(ops->block_kernels(flow->base.device, &key, &flow->kernels));
  if (ops->require_room != NULL) {
    const uint64_t ranks = (uint64_t)lamina_rank_count(ctx);
    LMI_TRY(ops->require_room(flow->base.device, own_bytes(flow), (uint64_t)flow->blocks.cells / ranks,
                              flow->blocks.layers.own_count));
  }
  LMI_TRY(make_boundary(flow, options));
  LMI_TRY(allocate(flow));
  LMI_TRY(make_launches(flow, options));
  return make_schedule(flow, options, &flow->schedule);
}

/* What info() says is the same on every rank. Collective, also for a rank that failed. */
static lamina_status count_bytes(lamina_context *ctx, lmi_block_flow *flow, lamina_status built)
{
  LMI_TRY(lmi_ranks_settle(ctx, built));
  const uint64_t boundary = flow->base.boundary != NULL ? lmi_boundary_bytes(flow->base.boundary) : 0;
  int64_t bytes[2] = {(int64_t)own_bytes(flow), (int64_t)(flow->blocks.table_bytes + boundary)};
  LMI_TRY(lmi_ranks_sum(ctx, bytes, LMI_COUNT(bytes)));
  flow->bytes = (uint64_t)bytes[0];
  flow->table_bytes = (uint64_t)bytes[1];
  return LAMINA_OK;
}

static lamina_status create(lamina_context *ctx, const lamina_solver_options *options, lmi_flow **made)
{
  *made = NULL;
  lmi_block_flow *flow = NULL;
  const lmi_device_ops *ops = lmi_backend_find(lamina_backend_name(options->backend));
  LMI_REQUIRE(ctx, lamina_rank_count(ctx) == 1 || options->backend != LAMINA_BACKEND_CUDA, LAMINA_UNAVAILABLE,
              "the sparse grid runs on one rank on backend %s, not %d: use cpu, or partitions of one process",
              ops->name, lamina_rank_count(ctx));
  lamina_status status = LMI_ALLOC(ctx, 1, &flow);
  if (status == LAMINA_OK)
    status = describe(ctx, options, flow);
  if (status == LAMINA_OK)
    status = build(flow, options);
  status = count_bytes(ctx, flow, status);
  if (status == LAMINA_OK)
    *made = &flow->base;
  else if (flow != NULL)
    free_flow(&flow->base);
  return status;
}

/* Counting the blocks is all the work there is before allocation. */
static lamina_status estimate(lamina_context *ctx, const lamina_solver_options *options, uint64_t *bytes)
{
  *bytes = 0;
  lmi_block_flow *flow = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &flow));
  const lamina_status status = describe(ctx, options, flow);
  if (status == LAMINA_OK)
    *bytes = own_bytes(flow);
  free_flow(&flow->base);
  return status;
}

/* ---- running and reading ---- */

static lamina_status replay(lmi_block_flow *flow, int64_t steps, lmi_fault *fault)
{
  lmi_device *device = flow->base.device;
  LMI_TRY(device->ops->replay(device, &flow->schedule.program, flow->replayed, steps, fault));
  flow->replayed += fault->found ? fault->step + 1 : steps;
  return LAMINA_OK;
}

/* With an outflow that the host settles step by step: its mean density is taken before each. */
static lamina_status run_steps(lmi_block_flow *flow, int64_t steps, lmi_fault *fault)
{
  if (!has_outflow(flow) || flow->kernels.settle != NULL)
    return replay(flow, steps, fault);
  for (int64_t step = 0; step < steps && !fault->found; step++) {
    LMI_TRY(lmi_boundary_settle(flow->base.boundary, (int)((flow->replayed + 1) % LMI_BLOCK_PERIOD)));
    LMI_TRY(replay(flow, 1, fault));
    fault->step = step;
  }
  return LAMINA_OK;
}

static lamina_status run(lmi_flow *base, int64_t steps, lmi_fault *fault)
{
  lmi_block_flow *flow = (lmi_block_flow *)base;
  *fault = (lmi_fault){0};
  if (base->boundary != NULL)
    LMI_TRY(lmi_boundary_send(base->boundary, base->device));
  LMI_TRY(run_steps(flow, steps, fault));
  if (!fault->found)
    return LAMINA_OK;
  const lmi_partition *layers = &flow->blocks.layers;
  if (lmi_partition_is_own(layers, fault->partition))
    fault->plane = flow->blocks.parts[fault->partition].places[3 * fault->plane + 2] * base->fault_planes;
  return lmi_ranks_broadcast(base->ctx, layers->slabs[fault->partition].rank, &fault->plane, sizeof fault->plane);
}

static void restart(lmi_flow *base)
{
  ((lmi_block_flow *)base)->replayed = 0;
}

static lmk_block_planes bind_planes(const lmi_block_flow *flow, int part, int64_t last)
{
  const lmi_block_part *p = &flow->blocks.parts[part];
  size_t launch = 0;
  while (launch < flow->launch_count && flow->launches[launch].part != part)
    launch++;
  lmk_block_planes planes = {
    .nx = flow->base.nx,
    .ny = flow->base.ny,
    .layer_first = p->layer_first,
    .layer_blocks = p->layer_blocks,
    .places = p->places,
  };
  if (launch < flow->launch_count)
    planes.step = flow->steps[launch * LMI_BLOCK_PERIOD + (size_t)last];
  else
    planes.step.grid = lmi_blocks_grid(&flow->blocks, part, 0, LMK_TWO_GRID); /* no fluid in this partition */
  return planes;
}

static lamina_status planes(const lmi_flow *base, int what, int64_t first, int64_t count, void *buffer)
{
  const lmi_device_ops *const ops = base->device->ops;
  const lmi_block_flow *flow = (const lmi_block_flow *)base;
  const lmi_kernel *const kernels[] = {flow->kernels.import_planes, flow->kernels.export_planes, flow->kernels.moments,
                                       flow->kernels.moments};
  const size_t value =
    what >= LMI_PLANES_MOMENTS ? 4 * sizeof(double) : (size_t)base->lattice->velocities * base->element_bytes;
  const size_t plane_bytes = (size_t)(base->nx * base->ny) * value;
  const int64_t last = what == LMI_PLANES_IMPORT ? 1 : (flow->replayed + 1) % LMI_BLOCK_PERIOD;
  char *at = buffer;
  if (what == LMI_PLANES_IMPORT && base->boundary != NULL)
    lmi_boundary_import(base->boundary, first, count, buffer);
  while (count > 0) {
    const int p = lmi_partition_owner(&flow->blocks.planes, first);
    const lmi_slab *slab = &flow->blocks.planes.slabs[p];
    const int64_t local = first - slab->first;
    const int64_t here = slab->planes - local < count ? slab->planes - local : count;
    lmk_block_planes arguments = bind_planes(flow, p, last);
    arguments.buffer = at;
    arguments.first = local;
    const lmi_launch launch = {kernels[what], &arguments, local, here, p};
    LMI_TRY((what == LMI_PLANES_KEPT ? ops->keep_planes : ops->run_planes)(base->device, &launch, plane_bytes));
    at += (size_t)here * plane_bytes;
    first += here;
    count -= here;
  }
  return LAMINA_OK;
}

static lamina_status marks(const lmi_flow *base, int64_t first, int64_t count, uint8_t *marks)
{
  const lmi_block_flow *flow = (const lmi_block_flow *)base;
  const bool is_flat = base->lattice->dimension == 2;
  int64_t at = 0;
  for (int64_t z = first; z < first + count; z++)
    for (int64_t y = 0; y < base->ny; y++)
      for (int64_t x = 0; x < base->nx; x++) {
        const lamina_int3 cell = is_flat ? (lamina_int3){x, z, 0} : (lamina_int3){x, y, z};
        const int body = flow->has_voxels ? lmi_voxels_body(&flow->voxels, cell) : 0;
        marks[at++] = (uint8_t)(body > 255 ? 255 : body);
      }
  return LAMINA_OK;
}

static void info(const lmi_flow *base, lamina_solver_info *info)
{
  const lmi_block_flow *flow = (const lmi_block_flow *)base;
  info->bytes = flow->bytes;
  info->table_bytes = flow->table_bytes;
  info->cells = flow->blocks.cells;
  info->blocks = flow->blocks.blocks;
  lmi_flow_count_messages(&flow->blocks.layers, &flow->schedule, info);
}

const lmi_flow_ops lmi_block_flow_ops = {
  .name = "sparse",
  .keeps_moments = true,
  .create = create,
  .free = free_flow,
  .estimate = estimate,
  .update = update,
  .set_force = set_force,
  .run = run,
  .planes = planes,
  .restart = restart,
  .marks = marks,
  .info = info,
};
