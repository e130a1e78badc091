/* SPDX-License-Identifier: Apache-2.0 */
/* From the arguments a program carries (kernel/dense.h) to those of the device's kernels, and their grids. */
#include "cuda_internal.h"

/* What a grid may count along y and z. */
enum { MAX_GRID = 65535 };

_Static_assert(sizeof(lmk_device_step) <= 4096, "more than a launch may be given");

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

/* Where plane z of a slab beside this one begins, from this slab's own field; that of the source, for only in place is
 * anything written there. */
static void join_plane(const lmk_step *own, const lmk_step *other, int64_t z, int side, int element_bits,
                       lmk_device_slab *slab)
{
  const int64_t apart = (int64_t)((uintptr_t)other->source - (uintptr_t)own->source);
  const int64_t first = lmk_plane_element(&other->dense, 0, z);
  slab->beside[side] = apart / (element_bits / 8) + first;
  slab->beside_component[side] = lmk_plane_element(&other->dense, 1, z) - first;
  slab->joins |= 1 << side;
}

static lmk_device_slab make_slab_of(const lmi_kernel *kernel, const lmk_step *step)
{
  lmk_device_slab slab = make_slab(&step->dense);
  const int bits = kernel->shape.element_bits;
  if (kernel->joined && step->lower != NULL)
    join_plane(step, step->lower, step->lower->dense.nz - 1, 0, bits, &slab);
  if (kernel->joined && step->upper != NULL)
    join_plane(step, step->upper, 0, 1, bits, &slab);
  return slab;
}

static lmk_device_part make_part(const lmi_launch *launch)
{
  const lmk_step *given = launch->arguments;
  return (lmk_device_part){
    .slab = make_slab_of(launch->kernel, given),
    .source = given->source,
    .target = given->target,
    .first_plane = (int32_t)launch->first,
    .end_plane = (int32_t)(launch->first + launch->count),
    .partition = (uint32_t)launch->partition,
  };
}

/* What all parts of a launch have in common; of one part also the slabs it stores to. */
static lmk_device_step make_step(const lmi_cuda_device *cuda, const lmi_launch *launch, uint64_t index)
{
  const lmk_step *given = launch->arguments;
  const double unit = launch->kernel->shape.rest_density;
  lmk_device_step step = {
    .watch = (lmk_watch *)(uintptr_t)cuda->units[lmi_cuda_unit_of(cuda, launch->partition)].watch,
    .omega = given->rates.omega,
    .omega_minus = given->rates.omega_minus,
    .tau = 1.0 / given->rates.omega,
    .les = given->rates.les,
    .force = {unit * given->rates.force[0], unit * given->rates.force[1], unit * given->rates.force[2]},
    .step = (uint32_t)index,
  };
  const lmk_step *const neighbours[2] = {given->lower, given->upper};
  for (int side = 0; side < 2; side++)
    if (launch->kernel->direct && !launch->kernel->joined && neighbours[side] != NULL) {
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

/* Adds planes to a launch, in whole layers of thread blocks; returns the layers it has then. */
static unsigned add_part(const lmi_launch *launch, unsigned layers, lmk_device_step *step)
{
  lmk_device_part *part = &step->parts[step->part_count++];
  *part = make_part(launch);
  step->first_layer[step->part_count - 1] = (int32_t)layers;
  set_momentum(&((const lmk_step *)launch->arguments)->dense, launch->kernel->shape.rest_density, step);
  return layers + blocks(launch->count, launch->kernel->shape.block[2]);
}

/* Steps wait for the one before themselves (LMK_AWAIT_LAST), so that a launch costs no gap; before compute capability
 * 9.0 the device does. */
static lamina_status launch_rows(const lmi_cuda_device *cuda, const lmi_launch *launch, unsigned layers,
                                 lmk_device_step *step, lmi_cu_stream stream)
{
  const lmi_kernel *kernel = launch->kernel;
  const int *block = kernel->shape.block, unit = lmi_cuda_unit_of(cuda, launch->partition);
  const int parity = ((const lmk_step *)launch->arguments)->parity;
  void *parameters[] = {step};
  lmi_cu_launch_attribute early = {.id = LMI_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION, .value.is_allowed = 1};
  for (int64_t y = 0; y < kernel->ny; y += (int64_t)MAX_GRID * block[1]) {
    const lmi_cu_launch_config config = {
      .grid = {blocks(kernel->nx / kernel->shape.lanes, block[0]),
               blocks(least(kernel->ny - y, (int64_t)MAX_GRID * block[1]), block[1]), layers},
      .block = {(unsigned)block[0], (unsigned)block[1], (unsigned)block[2]},
      .stream = stream,
      .attributes = &early,
      .attribute_count = cuda->early && cuda->units[unit].architecture >= 90,
    };
    step->first_row = (int32_t)y;
    LMI_TRY(lmi_cuda_check(cuda->base.ctx, &cuda->api,
                           cuda->api.launch_with(&config, kernel->functions[unit][parity], parameters, NULL),
                           "launching a step"));
  }
  return LAMINA_OK;
}

/* Planes and rows beyond what one grid counts go into further grids. */
lamina_status lmi_cuda_launch_step(const lmi_cuda_device *cuda, const lmi_launch *launch, uint64_t step,
                                   lmi_cu_stream stream)
{
  if (launch->kernel->role == LMI_CUDA_SETTLE)
    return lmi_cuda_launch_settle(cuda, launch, stream);
  if (launch->kernel->is_blocks)
    return lmi_cuda_launch_blocks(cuda, launch, step, stream);
  const int64_t end = launch->first + launch->count, most = (int64_t)MAX_GRID * launch->kernel->shape.block[2];
  for (int64_t z = launch->first; z < end; z += most) {
    lmi_launch part = *launch;
    part.first = z;
    part.count = least(end - z, most);
    lmk_device_step arguments = make_step(cuda, launch, step);
    const unsigned layers = add_part(&part, 0, &arguments);
    LMI_TRY(launch_rows(cuda, launch, layers, &arguments, stream));
  }
  return LAMINA_OK;
}

/* Every slab has one launch that begins with its plane 0; the others are parts of the same. */
static bool find_slab(const lmi_step_phases *step, int partition, lmi_launch *found)
{
  for (size_t p = 0; p < step->phase_count; p++)
    for (size_t i = 0; i < step->phases[p].launch_count; i++) {
      *found = step->phases[p].launches[i];
      found->count = ((const lmk_step *)found->arguments)->dense.nz;
      if (found->partition == partition && found->first == 0)
        return true;
    }
  return false;
}

lamina_status lmi_cuda_launch_slab(const lmi_cuda_device *cuda, const lmi_step_phases *step, int partition,
                                   uint64_t index, lmi_cu_stream stream)
{
  lmi_launch launch;
  return find_slab(step, partition, &launch) ? lmi_cuda_launch_step(cuda, &launch, index, stream) : LAMINA_OK;
}

/* As many slabs a launch as its arguments hold and a grid counts. A slab that is too high for a grid goes alone. */
lamina_status lmi_cuda_launch_joined(const lmi_cuda_device *cuda, const lmi_step_phases *step, uint64_t index,
                                     lmi_cu_stream stream)
{
  lmi_launch launch;
  for (int p = 0; find_slab(step, p, &launch);) {
    const int64_t most = (int64_t)MAX_GRID * launch.kernel->shape.block[2];
    const lmi_launch first = launch;
    lmk_device_step arguments = make_step(cuda, &first, index);
    unsigned layers = 0;
    for (int64_t planes = launch.count; arguments.part_count < LMK_MAX_PARTS && planes <= most;) {
      layers = add_part(&launch, layers, &arguments);
      if (!find_slab(step, ++p, &launch))
        break;
      planes = (int64_t)layers * launch.kernel->shape.block[2] + launch.count;
    }
    if (layers > 0)
      LMI_TRY(launch_rows(cuda, &first, layers, &arguments, stream));
    else
      LMI_TRY(lmi_cuda_launch_slab(cuda, step, p++, index, stream));
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
    .slab = make_slab_of(kernel, &given->step),
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
