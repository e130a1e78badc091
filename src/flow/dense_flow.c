/* SPDX-License-Identifier: Apache-2.0 */
#include "dense_flow.h"

#include <math.h>

static int streaming_rule(lamina_streaming streaming)
{
  switch (streaming) {
  case LAMINA_TWO_GRID: return LMK_TWO_GRID;
  case LAMINA_AA: return LMK_AA;
  case LAMINA_ESOTERIC_PULL: break;
  }
  return LMK_ESOTERIC_PULL;
}

/* What a step of parity e touches in the halo planes, by asking the rule for every velocity that crosses a face: f_q is
 * found where the upstream cell wrote it, f*_q is written where the rule says. */
static lmi_halo_access halo_access(const lmi_lattice *lattice, int rule, int parity)
{
  lmi_halo_access access = {0};
  const int velocities = lattice->velocities;
  for (int q = 0; q < velocities; q++) {
    const int cz = lattice->c[q][2];
    if (cz == 0)
      continue;
    const lmk_target sent = lmk_stream_target(rule, 1 - parity, q, velocities);
    if (sent.shift == 0) {
      if (cz > 0)
        access.read_low |= 1u << sent.slot;
      else
        access.read_high |= 1u << sent.slot;
    }
    const lmk_target target = lmk_stream_target(rule, parity, q, velocities);
    if (target.shift == 1) {
      if (cz > 0)
        access.write_high |= 1u << target.slot;
      else
        access.write_low |= 1u << target.slot;
    }
  }
  return access;
}

lamina_int3 lmi_kernel_cells(const lamina_solver_options *options)
{
  const lamina_int3 cells = options->cells;
  if (lamina_lattice_dimension(options->lattice) == 2)
    return (lamina_int3){cells.x, 1, cells.y};
  return cells;
}

/* Faces in the kernels' axes: in two dimensions the y faces of the box are the z faces of the kernels. */
static int kernel_face(const lmi_lattice *lattice, int face)
{
  return lattice->dimension == 2 && face >= LAMINA_FACE_Y_LOW ? (face - LAMINA_FACE_Y_LOW + LAMINA_FACE_Z_LOW) : face;
}

static bool is_periodic_last(const lamina_solver_options *options)
{
  const bool flat = lamina_lattice_dimension(options->lattice) == 2;
  return options->faces[flat ? LAMINA_FACE_Y_LOW : LAMINA_FACE_Z_LOW].kind == LAMINA_FACE_PERIODIC;
}

static lmi_dense_key make_key(const lamina_solver_options *options)
{
  const lamina_real3 f = options->force;
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
    .wraps_x = options->faces[LAMINA_FACE_X_LOW].kind == LAMINA_FACE_PERIODIC,
    .wraps_y =
      options->faces[LAMINA_FACE_Y_LOW].kind == LAMINA_FACE_PERIODIC && lamina_lattice_dimension(options->lattice) == 3,
    .wraps_z = is_periodic_last(options) && options->partitions <= 1,
    .direct = options->partitions > 1 && !options->copy_messages,
    .force = f.x != 0.0 || f.y != 0.0 || f.z != 0.0,
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

static size_t precision_bytes(const lamina_solver_options *options)
{
  return options->precision == LAMINA_F64 ? sizeof(double) : sizeof(float);
}

/* Which planes outside a slab must be stored: those the pattern reads or writes there, or bounces from. Two-grid pull
 * bounces inside the cell; with one periodic slab the planes wrap. */
static lmi_layout_request storage_request(const lamina_solver_options *options, const lmi_lattice *lattice,
                                          const lmi_plane_shape *shape, int partitions)
{
  const int rule = streaming_rule(options->streaming);
  const lmi_halo_access even = halo_access(lattice, rule, 0), odd = halo_access(lattice, rule, 1);
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
    .element_bytes = options->storage == LAMINA_STORAGE_F16 ? 2 : precision_bytes(options),
  };
}

static lmk_rates make_rates(const lamina_solver_options *options, const lmi_lattice *lattice)
{
  const double odd_rate = 1.0 / (0.5 + options->magic / (1.0 / options->omega - 0.5));
  const lamina_real3 f = options->force;
  const bool flat = lattice->dimension == 2;
  return (lmk_rates){
    .omega = options->omega,
    .omega_minus = odd_rate,
    .les = 18.0 * sqrt(2.0) * options->smagorinsky * options->smagorinsky,
    .force = {f.x, flat ? 0.0 : f.y, flat ? f.y : f.z},
  };
}

static void set_faces(const lamina_solver_options *options, const lmi_lattice *lattice, const lmi_slab *slab,
                      lmk_dense *dense)
{
  const bool flat = lattice->dimension == 2;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    const int at = kernel_face(lattice, face);
    if (at >= LMK_FACES)
      continue; /* the z faces of a two-dimensional box */
    const lamina_face *given = &options->faces[face];
    dense->faces[at] = given->kind == LAMINA_FACE_WALL ? LMK_FACE_WALL : LMK_FACE_WRAP;
    const lamina_real3 u = given->velocity;
    dense->wall_velocity[at][0] = u.x;
    dense->wall_velocity[at][1] = flat ? 0.0 : u.y;
    dense->wall_velocity[at][2] = flat ? u.y : u.z;
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
    .nx = flow->nx,
    .ny = flow->ny,
    .nz = flow->partition.slabs[p].planes,
    .row = flow->shape.row,
    .spare_row = flow->shape.spare_row,
    .column = flow->shape.column,
    .plane_stride = layout->plane_stride,
    .stride = layout->stride,
    .low_planes = layout->request.low_planes,
    .span_count = layout->span_count,
    .streaming = streaming_rule(options->streaming),
    .velocities = flow->lattice->velocities,
  };
  for (int s = 0; s < layout->span_count; s++)
    dense.spans[s] = layout->spans[s];
  for (int q = 0; q < flow->lattice->velocities; q++) {
    for (int axis = 0; axis < 3; axis++)
      dense.c[q][axis] = flow->lattice->c[q][axis];
    dense.weight[q] = flow->lattice->weight[q];
  }
  set_faces(options, flow->lattice, &flow->partition.slabs[p], &dense);
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
        .rates = make_rates(options, flow->lattice),
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

void lmi_dense_flow_update(lmi_dense_flow *flow, const lamina_solver_options *options)
{
  fill_steps(flow, options);
  flow->schedule.program.version++;
}

static lamina_status make_schedule(lamina_context *ctx, const lamina_solver_options *options,
                                   const lmi_dense_flow *flow, lmi_schedule *schedule)
{
  const int rule = streaming_rule(options->streaming);
  lmi_operation operations[PERIOD];
  lmi_access accesses[PERIOD];
  for (int e = 0; e < PERIOD; e++) {
    accesses[e] =
      (lmi_access){.field = &flow->fields[flow->field_count == 2 ? e : 0], .halo = halo_access(flow->lattice, rule, e)};
    operations[e] = (lmi_operation){flow->kernels.step, flow->arguments + e * flow->partition.count, &accesses[e], 1};
  }
  const lmi_schedule_options chosen = {.overlap = !options->no_overlap, .cells_per_plane = flow->nx * flow->ny};
  return lmi_schedule_create(ctx, &flow->partition, operations, PERIOD, &chosen, schedule);
}

lamina_status lmi_dense_flow_set_force(lamina_context *ctx, lmi_dense_flow *flow, const lamina_solver_options *options)
{
  const lmi_dense_key key = make_key(options);
  LMI_TRY(flow->device->ops->dense_kernels(flow->device, &key, &flow->kernels));
  lmi_schedule fresh = {0}, old = flow->schedule;
  LMI_TRY(make_schedule(ctx, options, flow, &fresh));
  fresh.program.version = old.program.version;
  flow->schedule = fresh;
  lmi_schedule_free(ctx, &old);
  lmi_dense_flow_update(flow, options);
  return LAMINA_OK;
}

static lamina_status require_room(const lmi_dense_flow *flow, const lmi_layout_request *request)
{
  const lmi_device_ops *ops = flow->device->ops;
  if (ops->require_room == NULL)
    return LAMINA_OK;
  uint64_t bytes = 0;
  LMI_TRY(lmi_field_estimate(flow->device->ctx, &flow->partition, request, &bytes));
  return ops->require_room(flow->device, bytes * (uint64_t)flow->field_count,
                           (uint64_t)(flow->nx * flow->ny * flow->nz), flow->partition.count);
}

lamina_status lmi_dense_flow_create(lamina_context *ctx, const lamina_solver_options *options, lmi_dense_flow *flow)
{
  lamina_status status = LAMINA_OK;
  *flow = (lmi_dense_flow){.lattice = lmi_lattice_get(options->lattice)};
  const lamina_int3 cells = lmi_kernel_cells(options);
  flow->nx = cells.x;
  flow->ny = cells.y;
  flow->nz = cells.z;
  flow->field_count = options->streaming == LAMINA_TWO_GRID ? 2 : 1;
  const int partitions = options->partitions > 0 ? options->partitions : 1;
  const lmi_dense_key key = make_key(options);
  const lmi_device_options device_options = {
    .threads = lamina_context_thread_count(ctx),
    .ordinals = options->devices,
    .ordinal_count = options->device_count,
  };
  const lmi_device_ops *ops = lmi_backend_find(lamina_backend_name(options->backend));
  flow->shape = plane_shape(ops, &key);
  const lmi_layout_request request = storage_request(options, flow->lattice, &flow->shape, partitions);
  flow->element_bytes = precision_bytes(options);

  LMI_TRY_GOTO(status, lmi_partition_create(ctx, cells.z, partitions, is_periodic_last(options), &flow->partition),
               cleanup);
  LMI_TRY_GOTO(status, ops->open(ctx, &device_options, &flow->device), cleanup);
  LMI_TRY_GOTO(status, ops->dense_kernels(flow->device, &key, &flow->kernels), cleanup);
  LMI_TRY_GOTO(status, require_room(flow, &request), cleanup);
  for (int i = 0; i < flow->field_count; i++)
    LMI_TRY_GOTO(status, lmi_field_create(flow->device, &flow->partition, &request, &flow->fields[i]), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)(PERIOD * partitions), &flow->steps), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)(PERIOD * partitions), &flow->arguments), cleanup);
  fill_steps(flow, options);
  LMI_TRY_GOTO(status, make_schedule(ctx, options, flow, &flow->schedule), cleanup);
  if (options->backend != LAMINA_BACKEND_CUDA)
    lmi_dense_flow_name_memory(flow);
cleanup:
  if (status != LAMINA_OK)
    lmi_dense_flow_free(ctx, flow);
  return status;
}

void lmi_dense_flow_free(lamina_context *ctx, lmi_dense_flow *flow)
{
  lmi_schedule_free(ctx, &flow->schedule);
  lmi_free(ctx, flow->arguments);
  lmi_free(ctx, flow->steps);
  for (int i = 0; i < 2; i++)
    lmi_field_free(&flow->fields[i]);
  if (flow->device != NULL)
    flow->device->ops->close(flow->device);
  lmi_partition_free(ctx, &flow->partition);
  *flow = (lmi_dense_flow){0};
}

lamina_status lmi_dense_flow_estimate(lamina_context *ctx, const lamina_solver_options *options, uint64_t *bytes)
{
  *bytes = 0;
  const lmi_lattice *lattice = lmi_lattice_get(options->lattice);
  const int partitions = options->partitions > 0 ? options->partitions : 1;
  const lmi_dense_key key = make_key(options);
  const lmi_plane_shape shape = plane_shape(lmi_backend_find(lamina_backend_name(options->backend)), &key);
  const lmi_layout_request request = storage_request(options, lattice, &shape, partitions);
  lmi_partition partition = {0};
  LMI_TRY(lmi_partition_create(ctx, lmi_kernel_cells(options).z, partitions, is_periodic_last(options), &partition));
  const lamina_status status = lmi_field_estimate(ctx, &partition, &request, bytes);
  if (options->streaming == LAMINA_TWO_GRID)
    *bytes *= 2;
  lmi_partition_free(ctx, &partition);
  return status;
}

lamina_status lmi_dense_flow_run(lmi_dense_flow *flow, int64_t steps, lmi_fault *fault)
{
  const lmi_device_ops *ops = flow->device->ops;
  LMI_TRY(ops->replay(flow->device, &flow->schedule.program, flow->replayed, steps, fault));
  flow->replayed += fault->found ? fault->step + 1 : steps;
  if (fault->found)
    fault->plane += flow->partition.slabs[fault->partition].first;
  return LAMINA_OK;
}

void lmi_dense_flow_restart(lmi_dense_flow *flow)
{
  flow->replayed = 0;
}

static int64_t values_per_cell(const lmi_dense_flow *flow, int what)
{
  return what == LMI_PLANES_MOMENTS ? 4 : flow->lattice->velocities;
}

lamina_status lmi_dense_flow_planes(const lmi_dense_flow *flow, int what, int64_t first, int64_t count, void *buffer)
{
  const lmi_kernel *const kernels[] = {flow->kernels.import_planes, flow->kernels.export_planes, flow->kernels.moments};
  const size_t element = what == LMI_PLANES_MOMENTS ? sizeof(double) : flow->element_bytes;
  const size_t plane_bytes = (size_t)(values_per_cell(flow, what) * flow->nx * flow->ny) * element;
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
    LMI_TRY(flow->device->ops->run_planes(flow->device, &launch, plane_bytes));
    at += (size_t)here * plane_bytes;
    first += here;
    count -= here;
  }
  return LAMINA_OK;
}
