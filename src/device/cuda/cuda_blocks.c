/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels over blocks: their tables, copied to the device once, and their launches. */
#include "cuda_internal.h"

static lamina_status check(const lmi_cuda_device *cuda, lmi_cu_result result, const char *what)
{
  return lmi_cuda_check(cuda->base.ctx, &cuda->api, result, what);
}

lamina_status lmi_cuda_block_kernels(lmi_device *device, const lmi_dense_key *asked, lmi_block_kernels *kernels)
{
  LMI_REQUIRE(device->ctx, asked->streaming == LAMINA_TWO_GRID, LAMINA_UNAVAILABLE,
              "the sparse grid runs on backend cuda with streaming two_grid, not %s",
              lamina_streaming_name(asked->streaming));
  const lmi_dense_key key = {
    .lattice = asked->lattice,
    .collision = asked->collision,
    .precision = asked->precision,
    .storage = asked->storage,
    .streaming = LAMINA_TWO_GRID,
    .force = asked->force,
    .nx = 1,
    .ny = 1,
  };
  const lmi_cuda_set *found = NULL;
  LMI_TRY(lmi_cuda_require_set((lmi_cuda_device *)device, &key, true, &found));
  const lmi_kernel *step = &found->kernels[LMI_CUDA_STEP];
  *kernels = (lmi_block_kernels){
    .step = step,
    .special = step,
    .import_planes = &found->kernels[LMI_CUDA_IMPORT],
    .export_planes = &found->kernels[LMI_CUDA_EXPORT],
    .moments = &found->kernels[LMI_CUDA_MOMENTS],
  };
  return LAMINA_OK;
}

/* ---- tables ---- */

static lmi_cu_address find_mirror(const lmi_cuda_device *cuda, int unit, const void *host)
{
  for (const lmi_cuda_mirror *m = cuda->mirrors; m != NULL; m = m->next)
    if (m->host == host && m->unit == unit)
      return m->memory;
  return 0;
}

/* `host` names the table, `data` holds it. */
static lamina_status add_mirror(lmi_cuda_device *cuda, int unit, const void *host, const void *data, size_t bytes)
{
  if (host == NULL || find_mirror(cuda, unit, host) != 0)
    return LAMINA_OK;
  const size_t held = bytes > 0 ? bytes : 1;
  lmi_cuda_mirror *mirror = NULL;
  LMI_TRY(LMI_ALLOC(cuda->base.ctx, 1, &mirror));
  *mirror = (lmi_cuda_mirror){.host = host, .unit = unit, .next = cuda->mirrors};
  cuda->mirrors = mirror; /* from here on close() frees it */
  LMI_TRY(lmi_cuda_enter(cuda, unit));
  LMI_TRY(check(cuda, cuda->api.memory_allocate(&mirror->memory, held), "allocating tables of blocks"));
  const lmi_cu_stream stream = cuda->units[unit].stream;
  if (bytes > 0)
    LMI_TRY(check(cuda, cuda->api.copy_to_device(mirror->memory, data, bytes, stream), "copying tables of blocks"));
  return check(cuda, cuda->api.stream_synchronize(stream), "copying tables of blocks");
}

void lmi_cuda_free_mirrors(lmi_cuda_device *cuda)
{
  while (cuda->mirrors != NULL) {
    lmi_cuda_mirror *mirror = cuda->mirrors;
    cuda->mirrors = mirror->next;
    if (mirror->memory != 0 && lmi_cuda_enter(cuda, mirror->unit) == LAMINA_OK)
      (void)cuda->api.memory_free(mirror->memory);
    lmi_free(cuda->base.ctx, mirror);
  }
}

/* The links of blocks as words. They are named by addresses inside the tables they are made from. */
static const void *name_of_near(const lmk_block_grid *grid)
{
  return (const char *)grid->link_first + 1;
}
static const void *name_of_words(const lmk_block_grid *grid)
{
  return (const char *)grid->link_first + 2;
}

static lamina_status add_words(lmi_cuda_device *cuda, int unit, const lmk_block_grid *grid)
{
  if (find_mirror(cuda, unit, name_of_words(grid)) != 0)
    return LAMINA_OK;
  lamina_context *ctx = cuda->base.ctx;
  lamina_status status = LAMINA_OK;
  int32_t *near = NULL;
  uint32_t *words = NULL;
  int32_t groups = 0;
  for (int32_t b = 0; b < grid->blocks; b++)
    groups += grid->link_first[b + 1] > grid->link_first[b];
  const size_t word_count = (size_t)groups * LMK_BLOCK_CELLS;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)grid->blocks, &near), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, word_count + 1, &words), cleanup);
  groups = 0;
  for (int32_t b = 0; b < grid->blocks; b++) {
    near[b] = grid->link_first[b + 1] > grid->link_first[b] ? groups++ : -1;
    for (int32_t k = grid->link_first[b]; k < grid->link_first[b + 1]; k++)
      words[(size_t)near[b] * LMK_BLOCK_CELLS + grid->links[k].bit] |= 1u << grid->links[k].q;
  }
  LMI_TRY_GOTO(status, add_mirror(cuda, unit, name_of_near(grid), near, (size_t)grid->blocks * sizeof *near), cleanup);
  status = add_mirror(cuda, unit, name_of_words(grid), words, word_count * sizeof *words);
cleanup:
  lmi_free(ctx, near);
  lmi_free(ctx, words);
  return status;
}

static lamina_status add_tables(lmi_cuda_device *cuda, int unit, const lmk_block_grid *grid)
{
  const size_t blocks = (size_t)grid->blocks, links = (size_t)grid->link_first[blocks];
  LMI_TRY(add_mirror(cuda, unit, grid->neighbours, grid->neighbours, blocks * LMK_BLOCK_NEIGHBOURS * sizeof(int32_t)));
  LMI_TRY(add_mirror(cuda, unit, grid->active, grid->active, blocks * sizeof(uint64_t)));
  LMI_TRY(add_mirror(cuda, unit, grid->extents, grid->extents, blocks * sizeof(uint32_t)));
  LMI_TRY(add_mirror(cuda, unit, grid->link_first, grid->link_first, (blocks + 1) * sizeof(int32_t)));
  LMI_TRY(add_mirror(cuda, unit, grid->links, grid->links, links * sizeof(lmk_block_link)));
  return add_words(cuda, unit, grid);
}

static void *on_device(const lmi_cuda_device *cuda, int unit, const void *host)
{
  return (void *)(uintptr_t)find_mirror(cuda, unit, host);
}

static lmk_block_grid device_grid(const lmi_cuda_device *cuda, int unit, const lmk_block_grid *grid)
{
  lmk_block_grid device = *grid;
  device.neighbours = on_device(cuda, unit, grid->neighbours);
  device.active = on_device(cuda, unit, grid->active);
  device.extents = on_device(cuda, unit, grid->extents);
  device.link_first = on_device(cuda, unit, grid->link_first);
  device.links = on_device(cuda, unit, grid->links);
  device.kinds = NULL;
  device.special = NULL;
  device.items = NULL;
  return device;
}

lamina_status lmi_cuda_prepare_blocks(lmi_cuda_device *cuda, const lmi_program *program)
{
  for (size_t s = 0; s < program->step_count; s++)
    for (size_t p = 0; p < program->steps[s].phase_count; p++)
      for (size_t i = 0; i < program->steps[s].phases[p].launch_count; i++) {
        const lmi_launch *launch = &program->steps[s].phases[p].launches[i];
        if (!launch->kernel->is_blocks)
          return LAMINA_OK;
        const lmk_block_grid *grid = &((const lmk_block_step *)launch->arguments)->grid;
        LMI_REQUIRE(cuda->base.ctx, grid->kinds == NULL, LAMINA_UNAVAILABLE,
                    "open faces, slip and curved or measured surfaces of the sparse grid do not run on backend cuda "
                    "yet: use cpu");
        LMI_TRY(add_tables(cuda, lmi_cuda_unit_of(cuda, launch->partition), grid));
      }
  return LAMINA_OK;
}

/* ---- launches ---- */

static unsigned thread_blocks(int64_t threads)
{
  return (unsigned)((threads + LMK_BLOCK_THREADS - 1) / LMK_BLOCK_THREADS);
}

static lmk_device_block_step make_step(const lmi_cuda_device *cuda, const lmi_launch *launch, uint64_t index)
{
  const lmk_block_step *given = launch->arguments;
  const int unit = lmi_cuda_unit_of(cuda, launch->partition);
  const double scale = launch->kernel->shape.rest_density;
  lmk_device_block_step step = {
    .grid = device_grid(cuda, unit, &given->grid),
    .near = on_device(cuda, unit, name_of_near(&given->grid)),
    .words = on_device(cuda, unit, name_of_words(&given->grid)),
    .source = given->source,
    .target = given->target,
    .watch = (lmk_watch *)(uintptr_t)cuda->units[unit].watch,
    .omega = given->rates.omega,
    .omega_minus = given->rates.omega_minus,
    .tau = 1.0 / given->rates.omega,
    .les = given->rates.les,
    .force = {scale * given->rates.force[0], scale * given->rates.force[1], scale * given->rates.force[2]},
    .has_momentum = given->has_momentum,
    .first = (int32_t)launch->first,
    .end = (int32_t)(launch->first + launch->count),
    .step = (uint32_t)index,
    .partition = (uint32_t)launch->partition,
  };
  for (int wall = 0; wall < LMK_BLOCK_WALLS; wall++)
    for (int q = 0; q < LMK_MAX_VELOCITIES; q++)
      step.momentum[wall][q] = scale * given->momentum[wall][q];
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
  lmk_device_block_step arguments = make_step(cuda, launch, step);
  void *parameters[] = {&arguments};
  const int unit = lmi_cuda_unit_of(cuda, launch->partition);
  const lmi_cu_function function =
    launch->kernel->functions[unit][!is_simple(&((const lmk_block_step *)launch->arguments)->grid)];
  if (launch->count == 0)
    return LAMINA_OK;
  return check(cuda,
               cuda->api.launch(function, thread_blocks(launch->count * LMK_BLOCK_CELLS), 1, 1, LMK_BLOCK_THREADS, 1, 1,
                                0, stream, parameters, NULL),
               "launching a step over blocks");
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
    .layer_blocks = (const int32_t *)on_device(cuda, unit, given->layer_blocks) + first,
    .places = on_device(cuda, unit, given->places),
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
               cuda->api.launch(launch->kernel->functions[unit][0], thread_blocks(threads), 1, 1, LMK_BLOCK_THREADS, 1,
                                1, 0, cuda->units[unit].stream, parameters, NULL),
               "launching a transfer of planes");
}

lamina_status lmi_cuda_launch_block_planes(lmi_cuda_device *cuda, const lmi_launch *launch, lmi_cu_address buffer,
                                           int64_t first, int64_t count, size_t bytes_per_plane)
{
  const lmk_block_planes *given = launch->arguments;
  const size_t blocks = (size_t)given->step.grid.blocks;
  const int unit = lmi_cuda_unit_of(cuda, launch->partition);
  LMI_TRY(add_tables(cuda, unit, &given->step.grid));
  LMI_TRY(add_mirror(cuda, unit, given->layer_blocks, given->layer_blocks, blocks * sizeof(int32_t)));
  LMI_TRY(add_mirror(cuda, unit, given->places, given->places, 3 * blocks * sizeof(int32_t)));
  if (launch->kernel->role != LMI_CUDA_IMPORT) /* cells without fluid are zeros */
    LMI_TRY(check(cuda, cuda->api.set_bytes(buffer, 0, (size_t)count * bytes_per_plane, cuda->units[unit].stream),
                  "clearing planes"));
  for (int64_t z = first; z < first + count; z++)
    LMI_TRY(launch_plane(cuda, launch, buffer + (lmi_cu_address)(z - first) * bytes_per_plane, z));
  return LAMINA_OK;
}
