/* SPDX-License-Identifier: Apache-2.0 */
/* From the arguments a program carries (kernel/dense.h) to those of the device's kernels, and their grids. */
#include "cuda_internal.h"

/* What a grid may count along y and z. */
enum { MAX_GRID = 65535 };

static lmk_device_slab make_slab(const lmk_dense *dense)
{
  lmk_device_slab slab = {
    .span_count = dense->span_count, .low_planes = dense->low_planes, .planes = (int32_t)dense->nz};
  for (int s = 0; s < dense->span_count; s++)
    slab.spans[s] = dense->spans[s];
  for (int face = 0; face < LMK_FACES; face++) {
    slab.walls |= (dense->faces[face] == LMK_FACE_WALL) << face;
    slab.wraps |= (dense->faces[face] == LMK_FACE_WRAP) << face;
  }
  return slab;
}

/* What each moving wall adds to each population: 6 w c.u. */
static void set_momentum(const lmk_dense *dense, double unit, lmk_device_step *step)
{
  for (int face = 0; face < LMK_FACES; face++) {
    const double *u = dense->wall_velocity[face];
    if (dense->faces[face] != LMK_FACE_WALL || (u[0] == 0.0 && u[1] == 0.0 && u[2] == 0.0))
      continue;
    step->moving |= 1 << face;
    for (int q = 0; q < dense->velocities; q++) {
      const int8_t *c = dense->c[q];
      step->momentum[face][q] = unit * 6.0 * dense->weight[q] * (c[0] * u[0] + c[1] * u[1] + c[2] * u[2]);
    }
  }
}

static lmk_device_step make_step(const lmi_cuda_device *cuda, const lmi_launch *launch, uint64_t index)
{
  const lmk_step *given = launch->arguments;
  const double unit = launch->kernel->shape.rest_density;
  lmk_device_step step = {
    .slab = make_slab(&given->dense),
    .source = given->source,
    .target = given->target,
    .watch = (lmk_watch *)(uintptr_t)cuda->units[lmi_cuda_unit_of(cuda, launch->partition)].watch,
    .omega = given->rates.omega,
    .omega_minus = given->rates.omega_minus,
    .tau = 1.0 / given->rates.omega,
    .les = given->rates.les,
    .force = {unit * given->rates.force[0], unit * given->rates.force[1], unit * given->rates.force[2]},
    .step = (uint32_t)index,
    .partition = (uint32_t)launch->partition,
  };
  set_momentum(&given->dense, unit, &step);
  const lmk_step *const neighbours[2] = {given->lower, given->upper};
  for (int side = 0; side < 2; side++)
    if (launch->kernel->direct && neighbours[side] != NULL) {
      step.neighbour[side] = make_slab(&neighbours[side]->dense);
      step.neighbour_target[side] = neighbours[side]->target;
    }
  return step;
}

static unsigned blocks(int64_t cells, int width)
{
  return (unsigned)((cells + width - 1) / width);
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* Planes and rows beyond what one grid counts go into further grids. */
lamina_status lmi_cuda_launch_step(const lmi_cuda_device *cuda, const lmi_launch *launch, uint64_t step,
                                   lmi_cu_stream stream)
{
  const lmi_kernel *kernel = launch->kernel;
  if (kernel->is_blocks)
    return lmi_cuda_launch_blocks(cuda, launch, step, stream);
  const int *block = kernel->shape.block;
  const int unit = lmi_cuda_unit_of(cuda, launch->partition);
  const int parity = ((const lmk_step *)launch->arguments)->parity;
  lmk_device_step arguments = make_step(cuda, launch, step);
  void *parameters[] = {&arguments};
  const int64_t end = launch->first + launch->count;
  for (int64_t z = launch->first; z < end; z += (int64_t)MAX_GRID * block[2])
    for (int64_t y = 0; y < kernel->ny; y += (int64_t)MAX_GRID * block[1]) {
      arguments.first_plane = (int32_t)z;
      arguments.end_plane = (int32_t)end;
      arguments.first_row = (int32_t)y;
      const unsigned across = blocks(kernel->nx / kernel->shape.lanes, block[0]);
      const unsigned rows = blocks(least(kernel->ny - y, (int64_t)MAX_GRID * block[1]), block[1]);
      const unsigned planes = blocks(least(end - z, (int64_t)MAX_GRID * block[2]), block[2]);
      LMI_TRY(lmi_cuda_check(cuda->base.ctx, &cuda->api,
                             cuda->api.launch(kernel->functions[unit][parity], across, rows, planes, (unsigned)block[0],
                                              (unsigned)block[1], (unsigned)block[2], 0, stream, parameters, NULL),
                             "launching a step"));
    }
  return LAMINA_OK;
}

/* Every slab has one launch that begins with its plane 0; the others are parts of the same. */
lamina_status lmi_cuda_launch_slab(const lmi_cuda_device *cuda, const lmi_step_phases *step, int partition,
                                   uint64_t index, lmi_cu_stream stream)
{
  for (size_t p = 0; p < step->phase_count; p++)
    for (size_t i = 0; i < step->phases[p].launch_count; i++) {
      lmi_launch launch = step->phases[p].launches[i];
      if (launch.partition != partition || launch.first != 0)
        continue;
      launch.count = ((const lmk_step *)launch.arguments)->dense.nz;
      return lmi_cuda_launch_step(cuda, &launch, index, stream);
    }
  return LAMINA_OK;
}

lamina_status lmi_cuda_advance_watch(const lmi_cuda_device *cuda, int unit, uint64_t steps)
{
  lmi_cu_address watch = cuda->units[unit].watch;
  void *parameters[] = {&watch, &steps};
  return lmi_cuda_check(
    cuda->base.ctx, &cuda->api,
    cuda->api.launch(cuda->sets->advance[unit], 1, 1, 1, 1, 1, 1, 0, cuda->units[unit].stream, parameters, NULL),
    "counting steps");
}

enum { PLANES_BLOCK = 128 };

lamina_status lmi_cuda_launch_planes(const lmi_cuda_device *cuda, const lmi_launch *launch, lmi_cu_address buffer,
                                     int64_t first, int64_t count)
{
  const lmi_kernel *kernel = launch->kernel;
  const lmk_planes *given = launch->arguments;
  const int unit = lmi_cuda_unit_of(cuda, launch->partition);
  lmk_device_planes arguments = {
    .slab = make_slab(&given->step.dense),
    .field = given->step.target,
    .buffer = (void *)(uintptr_t)buffer,
    .parity = given->step.parity,
    .end_plane = (int32_t)(first + count),
    .buffer_plane = (int32_t)first,
  };
  void *parameters[] = {&arguments};
  for (int64_t z = first; z < first + count; z += MAX_GRID)
    for (int64_t y = 0; y < kernel->ny; y += MAX_GRID) {
      arguments.first_plane = (int32_t)z;
      arguments.first_row = (int32_t)y;
      LMI_TRY(lmi_cuda_check(cuda->base.ctx, &cuda->api,
                             cuda->api.launch(kernel->functions[unit][0], blocks(kernel->nx, PLANES_BLOCK),
                                              (unsigned)least(kernel->ny - y, MAX_GRID),
                                              (unsigned)least(first + count - z, MAX_GRID), PLANES_BLOCK, 1, 1, 0,
                                              cuda->units[unit].stream, parameters, NULL),
                             "launching a transfer of planes"));
    }
  return LAMINA_OK;
}
