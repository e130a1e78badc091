/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels over blocks: their tables, made for the device and copied once, and their launches. */
#include "cuda_internal.h"

static lamina_status check(const lmi_cuda_device *cuda, lmi_cu_result result, const char *what)
{
  return lmi_cuda_check(cuda->base.ctx, &cuda->api, result, what);
}

lamina_status lmi_cuda_block_kernels(lmi_device *device, const lmi_dense_key *asked, lmi_block_kernels *kernels)
{
  lmi_cuda_device *cuda = (lmi_cuda_device *)device;
  LMI_REQUIRE(device->ctx, asked->streaming == LAMINA_TWO_GRID, LAMINA_UNAVAILABLE,
              "the sparse grid runs on backend cuda with streaming two_grid, not %s",
              lamina_streaming_name(asked->streaming));
  lmi_dense_key key = {
    .lattice = asked->lattice,
    .collision = asked->collision,
    .precision = asked->precision,
    .storage = asked->storage,
    .streaming = LAMINA_TWO_GRID,
    .force = asked->force,
    .nx = 1,
    .ny = 1,
  };
  const lmi_cuda_set *plain = NULL, *special = NULL;
  LMI_TRY(lmi_cuda_require_set(cuda, &key, LMI_CUDA_BLOCKS, &plain));
  *kernels = (lmi_block_kernels){
    .step = &plain->kernels[LMI_CUDA_STEP],
    .import_planes = &plain->kernels[LMI_CUDA_IMPORT],
    .export_planes = &plain->kernels[LMI_CUDA_EXPORT],
    .moments = &plain->kernels[LMI_CUDA_MOMENTS],
  };
  key.special = true;
  if (!asked->special)
    return LAMINA_OK;
  LMI_TRY(lmi_cuda_require_set(cuda, &key, LMI_CUDA_SPECIAL, &special));
  kernels->special = &special->kernels[LMI_CUDA_STEP];
  kernels->settle = &special->kernels[LMI_CUDA_SETTLE];
  return LAMINA_OK;
}

/* ---- tables ---- */

/* What is made of a grid's tables is named by addresses inside them. */
static const void *name_of_entries(const lmk_block_grid *grid)
{
  return (const char *)grid->link_first + 1;
}
static const void *name_of_words(const lmk_block_grid *grid)
{
  return (const char *)grid->link_first + 2;
}

static bool is_whole(const lmk_block_grid *grid, int32_t block)
{
  return grid->link_first[block + 1] == grid->link_first[block] && grid->active[block] == ~(uint64_t)0;
}

/* What extents hold where no axis ends. */
static uint32_t full_extents(const lmk_block_grid *grid)
{
  uint32_t full = 0;
  for (int axis = 0; axis < 3; axis++)
    full |= (uint32_t)lmk_block_side(grid->is_flat, axis) * 0x1001u << (4 * axis);
  return full;
}

static void fill_entries(const lmk_block_grid *grid, int32_t block, int32_t group, int32_t entries[LMK_ENTRIES])
{
  uint32_t flags = 0;
  for (int n = 0; n < LMK_BLOCK_NEIGHBOURS; n++) {
    const int32_t neighbour = grid->neighbours[(int64_t)block * LMK_BLOCK_NEIGHBOURS + n];
    entries[n] = neighbour < 0 ? block : neighbour;
  }
  for (int32_t k = grid->link_first[block]; k < grid->link_first[block + 1]; k++)
    if (grid->links[k].wall > 0)
      flags |= 1u << (grid->links[k].wall - 1);
  if (grid->kinds != NULL && grid->kinds[block] != 0)
    flags |= 1u << LMK_FLAG_SPECIAL;
  if (grid->extents != NULL && grid->extents[block] != full_extents(grid))
    flags |= grid->extents[block] << LMK_FLAG_EXTENTS;
  entries[LMK_ENTRY_GROUP] = group;
  entries[LMK_ENTRY_FLAGS] = (int32_t)flags;
  entries[LMK_ENTRY_FREE] = -1;
  entries[LMK_ENTRY_ACTIVE] = (int32_t)(uint32_t)grid->active[block];
  entries[LMK_ENTRY_ACTIVE + 1] = (int32_t)(uint32_t)(grid->active[block] >> 32);
}

static void fill_words(const lmk_block_grid *grid, int32_t block, uint32_t words[LMK_BLOCK_CELLS])
{
  for (int bit = 0; bit < LMK_BLOCK_CELLS; bit++)
    words[bit] = grid->active[block] >> bit & 1u ? 0u : UINT32_MAX;
  for (int32_t k = grid->link_first[block]; k < grid->link_first[block + 1]; k++)
    words[grid->links[k].bit] |= 1u << grid->links[k].q;
}

static lamina_status add_entries(lmi_cuda_device *cuda, int unit, const lmk_block_grid *grid)
{
  if (lmi_cuda_table(cuda, unit, name_of_entries(grid)) != NULL)
    return LAMINA_OK;
  lamina_context *ctx = cuda->base.ctx;
  lamina_status status = LAMINA_OK;
  int32_t *entries = NULL, groups = 0;
  uint32_t *words = NULL;
  for (int32_t b = 0; b < grid->blocks; b++)
    groups += !is_whole(grid, b);
  const size_t entry_count = (size_t)grid->blocks * LMK_ENTRIES, word_count = (size_t)groups * LMK_BLOCK_CELLS;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, entry_count, &entries), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, word_count + 1, &words), cleanup);
  groups = 0;
  for (int32_t b = 0; b < grid->blocks; b++) {
    const int32_t group = is_whole(grid, b) ? -1 : groups++;
    fill_entries(grid, b, group, entries + (size_t)b * LMK_ENTRIES);
    if (group >= 0)
      fill_words(grid, b, words + (size_t)group * LMK_BLOCK_CELLS);
  }
  LMI_TRY_GOTO(status, lmi_cuda_add_table(cuda, unit, name_of_entries(grid), entries, entry_count * sizeof *entries),
               cleanup);
  status = lmi_cuda_add_table(cuda, unit, name_of_words(grid), words, word_count * sizeof *words);
cleanup:
  lmi_free(ctx, entries);
  lmi_free(ctx, words);
  return status;
}

/* Items: for every cell, or for every block. */
static size_t item_bytes(const lmk_block_grid *grid)
{
  if (grid->item_rule == LMK_ITEM_DIRECT)
    return 0;
  return (size_t)grid->blocks * sizeof(int32_t) * (grid->item_rule == LMK_ITEM_INDEX ? LMK_BLOCK_CELLS : 1);
}

static lamina_status add_tables(lmi_cuda_device *cuda, int unit, const lmk_block_grid *grid)
{
  const size_t blocks = (size_t)grid->blocks, links = (size_t)grid->link_first[blocks];
  LMI_TRY(lmi_cuda_add_table(cuda, unit, grid->active, grid->active, blocks * sizeof(uint64_t)));
  LMI_TRY(lmi_cuda_add_table(cuda, unit, grid->link_first, grid->link_first, (blocks + 1) * sizeof(int32_t)));
  LMI_TRY(lmi_cuda_add_table(cuda, unit, grid->links, grid->links, links * sizeof(lmk_block_link)));
  LMI_TRY(lmi_cuda_add_table(cuda, unit, grid->special, grid->special, blocks * sizeof(uint64_t)));
  LMI_TRY(lmi_cuda_add_table(cuda, unit, grid->items, grid->items, item_bytes(grid)));
  return add_entries(cuda, unit, grid);
}

static lmk_block_grid device_grid(const lmi_cuda_device *cuda, int unit, const lmk_block_grid *grid)
{
  lmk_block_grid device = *grid;
  device.neighbours = NULL; /* part of the entries, as are kinds and extents */
  device.kinds = NULL;
  device.extents = NULL;
  device.active = lmi_cuda_table(cuda, unit, grid->active);
  device.link_first = lmi_cuda_table(cuda, unit, grid->link_first);
  device.links = lmi_cuda_table(cuda, unit, grid->links);
  device.special = lmi_cuda_table(cuda, unit, grid->special);
  device.items = lmi_cuda_table(cuda, unit, grid->items);
  return device;
}

/* Room for a sum a row of every outflow, named by the arguments. */
static lamina_status add_row_sums(lmi_cuda_device *cuda, const lmk_settle *settle)
{
  size_t rows = 0;
  for (int i = 0; i < settle->outflow_count; i++)
    rows += (size_t)settle->outflows[i].rows;
  if (lmi_cuda_table(cuda, 0, settle) != NULL)
    return LAMINA_OK;
  double *zeros = NULL;
  LMI_TRY(LMI_ALLOC(cuda->base.ctx, rows, &zeros));
  const lamina_status status = lmi_cuda_add_table(cuda, 0, settle, zeros, rows * sizeof *zeros);
  lmi_free(cuda->base.ctx, zeros);
  return status;
}

lamina_status lmi_cuda_prepare_blocks(lmi_cuda_device *cuda, const lmi_program *program)
{
  for (size_t s = 0; s < program->step_count; s++)
    for (size_t p = 0; p < program->steps[s].phase_count; p++)
      for (size_t i = 0; i < program->steps[s].phases[p].launch_count; i++) {
        const lmi_launch *launch = &program->steps[s].phases[p].launches[i];
        if (!launch->kernel->is_blocks)
          return LAMINA_OK;
        if (launch->kernel->role == LMI_CUDA_STEP)
          LMI_TRY(add_tables(cuda, lmi_cuda_unit_of(cuda, launch->partition),
                             &((const lmk_block_step *)launch->arguments)->grid));
        else
          LMI_TRY(add_row_sums(cuda, launch->arguments));
      }
  return LAMINA_OK;
}

/* ---- launches ---- */

static unsigned thread_blocks(int64_t count, int64_t in_each)
{
  return (unsigned)((count + in_each - 1) / in_each);
}

static lmk_boundary device_boundary(const lmi_cuda_device *cuda, const lmk_boundary *given)
{
  lmk_boundary set = *given;
  set.faces = lmi_cuda_sent(cuda, given->faces);
  set.special = lmi_cuda_sent(cuda, given->special);
  set.velocity = lmi_cuda_sent(cuda, given->velocity);
  set.links = lmi_cuda_sent(cuda, given->links);
  set.push = lmi_cuda_sent(cuda, given->push);
  set.motion = lmi_cuda_sent(cuda, given->motion);
  set.kept = lmi_cuda_sent(cuda, given->kept);
  set.exchange = lmi_cuda_sent(cuda, given->exchange);
  set.records = lmi_cuda_sent(cuda, given->records);
  return set;
}

static void set_momentum(const lmk_block_step *given, double scale, lmk_device_block_step *step)
{
  for (int wall = 0; wall < LMK_BLOCK_WALLS && given->has_momentum; wall++)
    for (int q = 0; q < LMK_MAX_VELOCITIES; q++) {
      step->momentum[wall][q] = scale * given->momentum[wall][q];
      if (wall > 0 && given->momentum[wall][q] != 0.0)
        step->moving |= 1 << (wall - 1);
    }
}

static lmk_device_block_step make_step(const lmi_cuda_device *cuda, const lmi_launch *launch, uint64_t index)
{
  const lmk_block_step *given = launch->arguments;
  const int unit = lmi_cuda_unit_of(cuda, launch->partition);
  const double scale = launch->kernel->shape.rest_density;
  lmk_device_block_step step = {
    .grid = device_grid(cuda, unit, &given->grid),
    .entries = lmi_cuda_table(cuda, unit, name_of_entries(&given->grid)),
    .words = lmi_cuda_table(cuda, unit, name_of_words(&given->grid)),
    .source = given->source,
    .target = given->target,
    .watch = (lmk_watch *)(uintptr_t)cuda->units[unit].watch,
    .omega = given->rates.omega,
    .omega_minus = given->rates.omega_minus,
    .tau = 1.0 / given->rates.omega,
    .les = given->rates.les,
    .force = {scale * given->rates.force[0], scale * given->rates.force[1], scale * given->rates.force[2]},
    .first = (int32_t)launch->first,
    .end = (int32_t)(launch->first + launch->count),
    .serves = given->grid.kinds != NULL ? given->serves : LMK_SERVE_ALL,
    .parity = given->parity,
    .step = (uint32_t)index,
    .partition = (uint32_t)launch->partition,
  };
  set_momentum(given, scale, &step);
  if (given->boundary != NULL)
    step.boundary = device_boundary(cuda, given->boundary);
  return step;
}

/* Whether addresses are sums of constants: a partition in one section, no periodic axis that ends inside a block. */
static bool is_simple(const lmk_block_grid *grid)
{
  return grid->section_count == 1 && grid->sections[0].first == 0 && grid->sections[0].base == 0 &&
         grid->sections[0].rank_stride == LMK_BLOCK_CELLS && grid->extents == NULL;
}

lamina_status lmi_cuda_launch_blocks(const lmi_cuda_device *cuda, const lmi_launch *launch, uint64_t step,
                                     lmi_cu_stream stream)
{
  if (launch->count == 0)
    return LAMINA_OK;
  const lmi_cuda_shape *shape = &launch->kernel->shape;
  lmk_device_block_step arguments = make_step(cuda, launch, step);
  void *parameters[] = {&arguments};
  const bool is_any = !is_simple(&((const lmk_block_step *)launch->arguments)->grid);
  const lmi_cu_function function = launch->kernel->functions[lmi_cuda_unit_of(cuda, launch->partition)][is_any];
  const int64_t cells = (int64_t)shape->block[0] * shape->lanes * shape->rounds;
  return check(cuda,
               cuda->api.launch(function, thread_blocks(launch->count * LMK_BLOCK_CELLS, cells), 1, 1,
                                (unsigned)shape->block[0], 1, 1, 0, stream, parameters, NULL),
               "launching a step over blocks");
}

lamina_status lmi_cuda_launch_settle(const lmi_cuda_device *cuda, const lmi_launch *launch, lmi_cu_stream stream)
{
  const lmk_settle *given = launch->arguments;
  lmk_device_settle arguments = {.settle = *given, .row_sums = lmi_cuda_table(cuda, 0, given)};
  lmk_settle *settle = &arguments.settle;
  settle->faces = lmi_cuda_sent(cuda, given->faces);
  settle->records = lmi_cuda_sent(cuda, given->records);
  for (int i = 0; i < given->outflow_count; i++) {
    settle->outflows[i].row_first = lmi_cuda_sent(cuda, given->outflows[i].row_first);
    settle->outflows[i].cells = lmi_cuda_sent(cuda, given->outflows[i].cells);
  }
  void *parameters[] = {&arguments};
  return check(
    cuda,
    cuda->api.launch(launch->kernel->functions[0][0], 1, 1, 1, LMK_SETTLE_THREADS, 1, 1, 0, stream, parameters, NULL),
    "settling outflows");
}

static lamina_status launch_plane(const lmi_cuda_device *cuda, const lmi_launch *launch, lmi_cu_address buffer,
                                  int64_t z)
{
  const lmk_block_planes *given = launch->arguments;
  const lmk_block_grid *grid = &given->step.grid;
  const int unit = lmi_cuda_unit_of(cuda, launch->partition);
  const int depth = lmk_block_side(grid->is_flat, 2);
  const int32_t first = given->layer_first[z / depth];
  lmk_device_block_planes arguments = {
    .grid = device_grid(cuda, unit, grid),
    .layer_blocks = (const int32_t *)lmi_cuda_table(cuda, unit, given->layer_blocks) + first,
    .places = lmi_cuda_table(cuda, unit, given->places),
    .field = given->step.target,
    .buffer = (void *)(uintptr_t)buffer,
    .nx = given->nx,
    .ny = given->ny,
    .blocks = given->layer_first[z / depth + 1] - first,
    .height = (int32_t)(z % depth),
  };
  void *parameters[] = {&arguments};
  if (arguments.blocks == 0)
    return LAMINA_OK;
  const int64_t threads = (int64_t)arguments.blocks * lmk_block_plane(grid->is_flat);
  return check(cuda,
               cuda->api.launch(launch->kernel->functions[unit][0], thread_blocks(threads, LMK_PLANE_THREADS), 1, 1,
                                LMK_PLANE_THREADS, 1, 1, 0, cuda->units[unit].stream, parameters, NULL),
               "launching a transfer of planes");
}

lamina_status lmi_cuda_launch_block_planes(lmi_cuda_device *cuda, const lmi_launch *launch, lmi_cu_address buffer,
                                           int64_t first, int64_t count, size_t bytes_per_plane)
{
  const lmk_block_planes *given = launch->arguments;
  const size_t blocks = (size_t)given->step.grid.blocks;
  const int unit = lmi_cuda_unit_of(cuda, launch->partition);
  LMI_TRY(add_tables(cuda, unit, &given->step.grid));
  LMI_TRY(lmi_cuda_add_table(cuda, unit, given->layer_blocks, given->layer_blocks, blocks * sizeof(int32_t)));
  LMI_TRY(lmi_cuda_add_table(cuda, unit, given->places, given->places, 3 * blocks * sizeof(int32_t)));
  if (launch->kernel->role != LMI_CUDA_IMPORT) /* cells without fluid are zeros */
    LMI_TRY(check(cuda, cuda->api.set_bytes(buffer, 0, (size_t)count * bytes_per_plane, cuda->units[unit].stream),
                  "clearing planes"));
  for (int64_t z = first; z < first + count; z++)
    LMI_TRY(launch_plane(cuda, launch, buffer + (lmi_cu_address)(z - first) * bytes_per_plane, z));
  return LAMINA_OK;
}
