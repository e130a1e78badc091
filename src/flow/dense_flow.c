/* SPDX-License-Identifier: Apache-2.0 */
#include "dense_flow.h"

#include "base/ranks.h"

/* Of one rank. */
static int slab_count(const lamina_solver_options *options)
{
  return options->partitions > 0 ? options->partitions : 1;
}

static int all_slabs(lamina_context *ctx, const lamina_solver_options *options)
{
  return slab_count(options) * lamina_rank_count(ctx);
}

static bool is_periodic_last(const lamina_solver_options *options)
{
  return lmi_is_periodic(options, 2);
}

static lmi_dense_key make_key(lamina_context *ctx, const lamina_solver_options *options)
{
  const lamina_int3 cells = lmi_kernel_cells(options);
  return (lmi_dense_key){
    .lattice = options->lattice,
    .collision = options->collision,
    .precision = options->precision,
    .storage = options->storage,
    .streaming = options->streaming,
    .layout = options->layout,
    .nx = cells.x,
    .ny = cells.y,
    .wraps_x = lmi_is_periodic(options, 0),
    .wraps_y = lmi_is_periodic(options, 1) && lamina_lattice_dimension(options->lattice) == 3,
    .wraps_z = is_periodic_last(options) && all_slabs(ctx, options) == 1,
    .direct = options->partitions > 1 && !options->copy_messages && lamina_rank_count(ctx) == 1,
    .force = lmi_has_force(options),
  };
}

/* Rows without gaps, in three dimensions one spare row, then the column; or as the backend wants it. */
static lmi_plane_shape plane_shape(const lmi_device_ops *ops, const lmi_dense_key *key)
{
  const int64_t rows = key->ny + (lamina_lattice_dimension(key->lattice) == 3);
  lmi_plane_shape shape = {
    .row = key->nx,
    .spare_row = key->nx * key->ny,
    .column = key->nx * rows,
    .places = key->nx * rows + rows,
  };
  if (ops->shape_plane != NULL)
    ops->shape_plane(key, &shape);
  return shape;
}

/* Which planes outside a slab must be stored: those the pattern reads or writes there, or bounces from. Two-grid pull
 * bounces inside the cell; with one periodic slab the planes wrap. */
static lmi_layout_request storage_request(const lamina_solver_options *options, const lmi_lattice *lattice,
                                          const lmi_plane_shape *shape, int partitions)
{
  const int rule = lmi_streaming_rule(options->streaming);
  const lmi_halo_access even = lmi_streaming_halo(lattice, rule, 0), odd = lmi_streaming_halo(lattice, rule, 1);
  const bool wraps = is_periodic_last(options) && partitions == 1;
  const bool idle = wraps || (rule == LMK_TWO_GRID && partitions == 1);
  const uint32_t low = even.read_low | even.write_low | odd.read_low | odd.write_low;
  const uint32_t high = even.read_high | even.write_high | odd.read_high | odd.write_high;
  return (lmi_layout_request){
    .layout = options->layout,
    .components = lattice->velocities,
    .low_planes = low != 0 && !idle,
    .high_planes = high != 0 && !idle,
    .places = shape->places,
    .packed = shape->packed,
    .element_bytes = options->storage == LAMINA_STORAGE_F16 ? 2 : lmi_precision_bytes(options),
  };
}

static void set_faces(const lamina_solver_options *options, const lmi_slab *slab, lmk_dense *dense)
{
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    const int at = lmi_kernel_face(options, face);
    const lamina_face *given = &options->faces[face];
    dense->faces[at] = given->kind == LAMINA_FACE_WALL ? LMK_FACE_WALL : LMK_FACE_WRAP;
    lmi_kernel_vector(options, given->velocity, dense->wall_velocity[at]);
  }
  if (slab->lower >= 0)
    dense->faces[LAMINA_FACE_Z_LOW] = LMK_FACE_NEIGHBOUR;
  if (slab->upper >= 0)
    dense->faces[LAMINA_FACE_Z_HIGH] = LMK_FACE_NEIGHBOUR;
}

static lmk_dense make_dense(const lmi_dense_flow *flow, const lamina_solver_options *options, int p)
{
  const lmi_layout *layout = &flow->fields[0].pieces[p].layout;
  lmk_dense dense = {
    .nx = flow->base.nx,
    .ny = flow->base.ny,
    .nz = flow->partition.slabs[p].planes,
    .row = flow->shape.row,
    .spare_row = flow->shape.spare_row,
    .column = flow->shape.column,
    .plane_stride = layout->plane_stride,
    .stride = layout->stride,
    .low_planes = layout->request.low_planes,
    .span_count = layout->span_count,
    .streaming = lmi_streaming_rule(options->streaming),
    .velocities = flow->base.lattice->velocities,
  };
  for (int s = 0; s < layout->span_count; s++)
    dense.spans[s] = layout->spans[s];
  for (int q = 0; q < flow->base.lattice->velocities; q++) {
    for (int axis = 0; axis < 3; axis++)
      dense.c[q][axis] = flow->base.lattice->c[q][axis];
    dense.weight[q] = flow->base.lattice->weight[q];
  }
  set_faces(options, &flow->partition.slabs[p], &dense);
  return dense;
}

/* The period is two steps for every pattern: parity alternates in place, the two grids change roles. */
enum { PERIOD = 2 };

static void fill_steps(lmi_dense_flow *flow, const lamina_solver_options *options)
{
  const int slabs = flow->partition.count;
  for (int e = 0; e < PERIOD; e++)
    for (int p = 0; p < slabs; p++) {
      lmk_step *step = &flow->steps[e * slabs + p];
      const bool two = flow->field_count == 2;
      *step = (lmk_step){
        .dense = make_dense(flow, options, p),
        .rates = lmi_make_rates(options),
        .source = flow->fields[two ? e : 0].pieces[p].memory,
        .target = flow->fields[two ? 1 - e : 0].pieces[p].memory,
        .parity = e,
      };
      const lmi_slab *slab = &flow->partition.slabs[p];
      step->lower = slab->lower >= 0 ? &flow->steps[e * slabs + slab->lower] : NULL;
      step->upper = slab->upper >= 0 ? &flow->steps[e * slabs + slab->upper] : NULL;
      flow->arguments[e * slabs + p] = step;
    }
}

static void update(lmi_flow *base, const lamina_solver_options *options)
{
  lmi_dense_flow *flow = (lmi_dense_flow *)base;
  fill_steps(flow, options);
  flow->schedule.program.version++;
}

static lamina_status make_schedule(lamina_context *ctx, const lamina_solver_options *options,
                                   const lmi_dense_flow *flow, lmi_schedule *schedule)
{
  const int rule = lmi_streaming_rule(options->streaming);
  lmi_operation operations[PERIOD];
  lmi_access accesses[PERIOD];
  for (int e = 0; e < PERIOD; e++) {
    accesses[e] = (lmi_access){.field = &flow->fields[flow->field_count == 2 ? e : 0],
                               .halo = lmi_streaming_halo(flow->base.lattice, rule, e)};
    operations[e] = (lmi_operation){flow->kernels.step, flow->arguments + e * flow->partition.count, &accesses[e], 1};
  }
  const lmi_schedule_options chosen = {
    .overlap = !options->no_overlap,
    .stops_on_fault = true,
    .cells_per_plane = flow->base.nx * flow->base.ny,
  };
  return lmi_schedule_create(ctx, &flow->partition, operations, PERIOD, &chosen, schedule);
}

static lamina_status set_force(lmi_flow *base, const lamina_solver_options *options)
{
  lmi_dense_flow *flow = (lmi_dense_flow *)base;
  const lmi_dense_key key = make_key(base->ctx, options);
  LMI_TRY(base->device->ops->dense_kernels(base->device, &key, &flow->kernels));
  lmi_schedule fresh = {0}, old = flow->schedule;
  LMI_TRY(make_schedule(base->ctx, options, flow, &fresh));
  fresh.program.version = old.program.version;
  flow->schedule = fresh;
  lmi_schedule_free(base->ctx, &old);
  update(base, options);
  return LAMINA_OK;
}

static lamina_status require_room(const lmi_dense_flow *flow, const lmi_layout_request *request)
{
  const lmi_device_ops *ops = flow->base.device->ops;
  if (ops->require_room == NULL)
    return LAMINA_OK;
  uint64_t bytes = 0;
  const lmi_partition *partition = &flow->partition;
  LMI_TRY(lmi_field_estimate(flow->base.device->ctx, partition, request, &bytes));
  const uint64_t ranks = (uint64_t)(partition->count / partition->own_count);
  return ops->require_room(flow->base.device, bytes * (uint64_t)flow->field_count / ranks,
                           (uint64_t)(flow->base.nx * flow->base.ny * flow->base.nz) / ranks, partition->own_count);
}

static void free_flow(lmi_flow *base)
{
  lmi_dense_flow *flow = (lmi_dense_flow *)base;
  lamina_context *ctx = base->ctx;
  lmi_schedule_free(ctx, &flow->schedule);
  lmi_free(ctx, flow->arguments);
  lmi_free(ctx, flow->steps);
  for (int i = 0; i < 2; i++)
    lmi_field_free(&flow->fields[i]);
  if (base->device != NULL)
    base->device->ops->close(base->device);
  lmi_partition_free(ctx, &flow->partition);
  lmi_free(ctx, flow);
}

static void describe(lamina_context *ctx, const lamina_solver_options *options, lmi_flow *base)
{
  const lamina_int3 cells = lmi_kernel_cells(options);
  *base = (lmi_flow){
    .ops = &lmi_dense_flow_ops,
    .ctx = ctx,
    .lattice = lmi_lattice_get(options->lattice),
    .nx = cells.x,
    .ny = cells.y,
    .nz = cells.z,
    .element_bytes = lmi_precision_bytes(options),
    .fault_planes = 1,
  };
}

static lamina_status create(lamina_context *ctx, const lamina_solver_options *options, lmi_flow **made)
{
  lamina_status status = LAMINA_OK;
  *made = NULL;
  lmi_dense_flow *flow = NULL;
  const lmi_device_ops *ops = lmi_backend_find(lamina_backend_name(options->backend));
  LMI_REQUIRE(ctx, lamina_rank_count(ctx) == 1 || options->backend != LAMINA_BACKEND_CUDA || ops->exchange != NULL,
              LAMINA_UNAVAILABLE, "the %s backend does not spread over ranks yet: use one rank with several devices",
              ops->name);
  LMI_TRY(LMI_ALLOC(ctx, 1, &flow));
  lmi_flow *base = &flow->base;
  describe(ctx, options, base);
  base->partition = &flow->partition;
  base->schedule = &flow->schedule;
  flow->field_count = options->streaming == LAMINA_TWO_GRID ? 2 : 1;
  const int partitions = all_slabs(ctx, options);
  const lmi_dense_key key = make_key(ctx, options);
  const lmi_device_options device_options = lmi_flow_device_options(ctx, options);
  flow->shape = plane_shape(ops, &key);
  const lmi_layout_request request = storage_request(options, base->lattice, &flow->shape, partitions);
  base->stored_bytes = request.element_bytes;

  LMI_TRY_GOTO(status,
               lmi_partition_create(ctx, base->nz, slab_count(options), is_periodic_last(options), &flow->partition),
               cleanup);
  LMI_TRY_GOTO(status, ops->open(ctx, &device_options, &base->device), cleanup);
  LMI_TRY_GOTO(status, ops->dense_kernels(base->device, &key, &flow->kernels), cleanup);
  LMI_TRY_GOTO(status, require_room(flow, &request), cleanup);
  for (int i = 0; i < flow->field_count; i++)
    LMI_TRY_GOTO(status, lmi_field_create(base->device, &flow->partition, &request, &flow->fields[i]), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)(PERIOD * partitions), &flow->steps), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)(PERIOD * partitions), &flow->arguments), cleanup);
  fill_steps(flow, options);
  LMI_TRY_GOTO(status, make_schedule(ctx, options, flow, &flow->schedule), cleanup);
  if (options->backend != LAMINA_BACKEND_CUDA)
    lmi_dense_flow_name_memory(flow);
  *made = base;
cleanup:
  if (status != LAMINA_OK)
    free_flow(base);
  return status;
}

static lamina_status estimate(lamina_context *ctx, const lamina_solver_options *options, uint64_t *bytes)
{
  *bytes = 0;
  const lmi_lattice *lattice = lmi_lattice_get(options->lattice);
  const int partitions = all_slabs(ctx, options);
  const lmi_dense_key key = make_key(ctx, options);
  const lmi_plane_shape shape = plane_shape(lmi_backend_find(lamina_backend_name(options->backend)), &key);
  const lmi_layout_request request = storage_request(options, lattice, &shape, partitions);
  lmi_partition partition = {0};
  LMI_TRY(
    lmi_partition_create(ctx, lmi_kernel_cells(options).z, slab_count(options), is_periodic_last(options), &partition));
  const lamina_status status = lmi_field_estimate(ctx, &partition, &request, bytes);
  if (options->streaming == LAMINA_TWO_GRID)
    *bytes *= 2;
  lmi_partition_free(ctx, &partition);
  return status;
}

static lamina_status run(lmi_flow *base, int64_t steps, lmi_fault *fault)
{
  lmi_dense_flow *flow = (lmi_dense_flow *)base;
  LMI_TRY(base->device->ops->replay(base->device, &flow->schedule.program, flow->replayed, steps, fault));
  flow->replayed += fault->found ? fault->step + 1 : steps;
  if (fault->found)
    fault->plane += flow->partition.slabs[fault->partition].first;
  return LAMINA_OK;
}

static void restart(lmi_flow *base)
{
  ((lmi_dense_flow *)base)->replayed = 0;
}

static int64_t values_per_cell(const lmi_dense_flow *flow, int what)
{
  return what >= LMI_PLANES_MOMENTS ? 4 : flow->base.lattice->velocities;
}

static lamina_status planes(const lmi_flow *base, int what, int64_t first, int64_t count, void *buffer)
{
  const lmi_device_ops *const ops = base->device->ops;
  const lmi_dense_flow *flow = (const lmi_dense_flow *)base;
  const lmi_kernel *const kernels[] = {flow->kernels.import_planes, flow->kernels.export_planes, flow->kernels.moments,
                                       flow->kernels.moments};
  const size_t element = what >= LMI_PLANES_MOMENTS ? sizeof(double) : flow->base.element_bytes;
  const size_t plane_bytes = (size_t)(values_per_cell(flow, what) * flow->base.nx * flow->base.ny) * element;
  /* The last step done; before the first, and for an import, the odd one. */
  const int64_t last = what == LMI_PLANES_IMPORT ? 1 : (flow->replayed + 1) % PERIOD;
  char *at = buffer;
  while (count > 0) {
    const int p = lmi_partition_owner(&flow->partition, first);
    const lmi_slab *slab = &flow->partition.slabs[p];
    const int64_t local = first - slab->first;
    const int64_t here = slab->planes - local < count ? slab->planes - local : count;
    const lmk_planes arguments = {.step = flow->steps[last * flow->partition.count + p], .buffer = at, .first = local};
    const lmi_launch launch = {kernels[what], &arguments, local, here, p};
    LMI_TRY((what == LMI_PLANES_KEPT ? ops->keep_planes : ops->run_planes)(base->device, &launch, plane_bytes));
    at += (size_t)here * plane_bytes;
    first += here;
    count -= here;
  }
  return LAMINA_OK;
}

static void info(const lmi_flow *base, lamina_solver_info *info)
{
  const lmi_dense_flow *flow = (const lmi_dense_flow *)base;
  for (int i = 0; i < flow->field_count; i++)
    info->bytes += lmi_field_bytes(&flow->fields[i]);
  info->cells = base->nx * base->ny * base->nz;
  lmi_flow_count_messages(&flow->partition, &flow->schedule, info);
}

const lmi_flow_ops lmi_dense_flow_ops = {
  .name = "dense",
  .keeps_moments = true,
  .create = create,
  .free = free_flow,
  .estimate = estimate,
  .update = update,
  .set_force = set_force,
  .run = run,
  .planes = planes,
  .restart = restart,
  .info = info,
};
