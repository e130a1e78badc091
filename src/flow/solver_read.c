/* SPDX-License-Identifier: Apache-2.0 */
/* What can be read from a solver: planes of populations, densities and velocities. Everything goes through planes in
 * canonical order: layout, streaming, partitions and threads leave no trace. Totals: solver_totals.c. */
#include <math.h>
#include <string.h>

#include "base/ranks.h"
#include "solver_internal.h"

/* Enough for the work of a chunk to hide its start, small beside any field worth the name. */
static const size_t CHUNK_BYTES = (size_t)32 << 20;

lamina_index lmi_chunk_planes(const lamina_solver *solver, size_t plane_bytes)
{
  const lamina_index planes = (lamina_index)(CHUNK_BYTES / plane_bytes);
  const lamina_index least = lamina_context_thread_count(solver->ctx);
  const lamina_index wanted = planes > least ? planes : least;
  return wanted < solver->flow->nz ? wanted : solver->flow->nz;
}

uint64_t lamina_solver_plane_bytes(const lamina_solver *solver)
{
  const lmi_flow *flow = solver->flow;
  return (uint64_t)(flow->lattice->velocities * flow->nx * flow->ny) * flow->element_bytes;
}

lamina_index lamina_solver_plane_count(const lamina_solver *solver)
{
  return solver->flow->nz;
}

static lamina_status check_plane(const lamina_solver *solver, lamina_index plane)
{
  LMI_REQUIRE(solver->ctx, plane >= 0 && plane < solver->flow->nz, LAMINA_ERROR_ARGUMENT,
              "plane %lld: there are planes 0 to %lld", (long long)plane, (long long)solver->flow->nz - 1);
  return LAMINA_OK;
}

lamina_status lamina_solver_get_plane(const lamina_solver *solver, lamina_index plane, void *populations)
{
  LMI_TRY(check_plane(solver, plane));
  int rank = 0;
  (void)lmi_solver_planes_of_rank(solver, plane, 1, &rank);
  if (rank == lamina_rank(solver->ctx))
    LMI_TRY(lmi_solver_get_own_plane(solver, plane, populations));
  return lmi_ranks_broadcast(solver->ctx, rank, populations, (size_t)lamina_solver_plane_bytes(solver));
}

lamina_status lamina_solver_set_plane(lamina_solver *solver, lamina_index plane, const void *populations)
{
  LMI_TRY(check_plane(solver, plane));
  int rank = 0;
  (void)lmi_solver_planes_of_rank(solver, plane, 1, &rank);
  solver->flow->ops->restart(solver->flow);
  if (rank != lamina_rank(solver->ctx))
    return LAMINA_OK;
  /* An import only reads its buffer; lmk_planes serves both directions and cannot say so. */
  return solver->flow->ops->planes(solver->flow, LMI_PLANES_IMPORT, plane, 1, (void *)(uintptr_t)populations);
}

void lamina_solver_set_step(lamina_solver *solver, lamina_index step)
{
  solver->step = step;
}

/* Velocity of the flow at a cell of a plane of moments (density - 1 and three momenta), in the kernels' axes. The
 * populations are those after collision: their momentum is half a step of the force ahead (Guo 2002). */
static double velocity_at(const lamina_solver *solver, const double *moments, lamina_index cell, int axis)
{
  const lamina_index cells = solver->flow->nx * solver->flow->ny;
  double force[3];
  lmi_kernel_vector(&solver->options, solver->options.force, force);
  return (moments[(axis + 1) * cells + cell] - 0.5 * force[axis]) / (1.0 + moments[cell]);
}

/* ---- reading a box of cells ---- */

static void read_row(const lamina_solver *solver, const double *moments, lamina_index cell, lamina_index count,
                     const lamina_fields *fields, lamina_index at)
{
  for (lamina_index i = 0; i < count && fields->density != NULL; i++)
    fields->density[at + i] = 1.0 + moments[cell + i];
  for (int axis = 0; axis < 3; axis++)
    for (lamina_index i = 0; i < count && fields->velocity[axis] != NULL; i++)
      fields->velocity[axis][at + i] = velocity_at(solver, moments, cell + i, lmi_kernel_axis(&solver->options, axis));
}

/* At rest where there is no fluid. */
static void hide_row(const uint8_t *marks, lamina_index count, const lamina_fields *fields, lamina_index at)
{
  for (lamina_index i = 0; i < count; i++) {
    if (marks[i] == 0)
      continue;
    if (fields->density != NULL)
      fields->density[at + i] = 1.0;
    for (int axis = 0; axis < 3; axis++)
      if (fields->velocity[axis] != NULL)
        fields->velocity[axis][at + i] = 0.0;
  }
}

static lamina_status check_box(const lamina_solver *solver, lamina_box box)
{
  const lamina_int3 n = solver->options.cells, f = box.first, c = box.count;
  const bool inside = f.x >= 0 && f.y >= 0 && f.z >= 0 && c.x >= 1 && c.y >= 1 && c.z >= 1 && c.x <= n.x - f.x &&
                      c.y <= n.y - f.y && c.z <= n.z - f.z;
  LMI_REQUIRE(solver->ctx, inside, LAMINA_ERROR_ARGUMENT,
              "a box of %lld x %lld x %lld cells from (%lld, %lld, %lld) is not inside %lld x %lld x %lld",
              (long long)c.x, (long long)c.y, (long long)c.z, (long long)f.x, (long long)f.y, (long long)f.z,
              (long long)n.x, (long long)n.y, (long long)n.z);
  return LAMINA_OK;
}

/* A box in the kernels' axes: planes of rows. */
typedef struct plane_box {
  lamina_index first_plane, planes, first_row, rows, first_cell, cells;
} plane_box;

static plane_box box_in_planes(const lamina_solver *solver, lamina_box box)
{
  const bool flat = solver->flow->lattice->dimension == 2;
  return (plane_box){
    .first_plane = flat ? box.first.y : box.first.z,
    .planes = flat ? box.count.y : box.count.z,
    .first_row = flat ? 0 : box.first.y,
    .rows = flat ? 1 : box.count.y,
    .first_cell = box.first.x,
    .cells = box.count.x,
  };
}

/* Moments, and marks where the grid has any, of planes of the box. */
typedef struct plane_data {
  double *moments;
  uint8_t *marks;
} plane_data;

lamina_status lmi_solver_load_planes(const lamina_solver *solver, lamina_index first, lamina_index count,
                                     double *moments, uint8_t *marks)
{
  const lmi_flow *flow = solver->flow;
  if (moments != NULL)
    LMI_TRY(flow->ops->planes(flow, LMI_PLANES_MOMENTS, first, count, moments));
  return marks != NULL && flow->ops->marks != NULL ? flow->ops->marks(flow, first, count, marks) : LAMINA_OK;
}

static void read_planes(const lamina_solver *solver, const plane_box *box, const plane_data *data, lamina_index done,
                        lamina_index count, const lamina_fields *fields)
{
  const lamina_index nx = solver->flow->nx, plane_cells = nx * solver->flow->ny;
  for (lamina_index i = 0; i < count * box->rows; i++) {
    const lamina_index plane = i / box->rows, row = i % box->rows;
    const lamina_index cell = (box->first_row + row) * nx + box->first_cell;
    const lamina_index at = ((done + plane) * box->rows + row) * box->cells;
    read_row(solver, data->moments + 4 * plane * plane_cells, cell, box->cells, fields, at);
    if (data->marks != NULL)
      hide_row(data->marks + plane * plane_cells + cell, box->cells, fields, at);
  }
}

/* Gives all ranks what `rank` put into planes [done, done + count) of the box. */
static lamina_status share_fields(const lamina_solver *solver, const plane_box *box, int rank, lamina_index done,
                                  lamina_index count, const lamina_fields *fields)
{
  double *const arrays[] = {fields->density, fields->velocity[0], fields->velocity[1], fields->velocity[2]};
  const lamina_index plane = box->rows * box->cells;
  for (size_t i = 0; i < LMI_COUNT(arrays); i++)
    if (arrays[i] != NULL)
      LMI_TRY(
        lmi_ranks_broadcast(solver->ctx, rank, arrays[i] + done * plane, (size_t)(count * plane) * sizeof(double)));
  return LAMINA_OK;
}

static lamina_status read_box(const lamina_solver *solver, lamina_box box, const lamina_fields *fields, bool shares)
{
  LMI_TRY(check_box(solver, box));
  const lmi_flow *flow = solver->flow;
  const plane_box wanted = box_in_planes(solver, box);
  const lamina_index cells = flow->nx * flow->ny;
  const lamina_index chunk = lmi_chunk_planes(solver, (size_t)(4 * cells) * sizeof(double));
  const size_t held = (size_t)(cells * (chunk < wanted.planes ? chunk : wanted.planes));
  plane_data data = {0};
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(solver->ctx, 4 * held, &data.moments), cleanup);
  if (flow->ops->marks != NULL)
    LMI_TRY_GOTO(status, LMI_ALLOC(solver->ctx, held, &data.marks), cleanup);
  for (lamina_index done = 0, count = 0; done < wanted.planes; done += count) {
    const lamina_index most = wanted.planes - done < chunk ? wanted.planes - done : chunk;
    int rank = 0;
    count = lmi_solver_planes_of_rank(solver, wanted.first_plane + done, most, &rank);
    if (rank == lamina_rank(solver->ctx)) {
      LMI_TRY_GOTO(status, lmi_solver_load_planes(solver, wanted.first_plane + done, count, data.moments, data.marks),
                   cleanup);
      read_planes(solver, &wanted, &data, done, count, fields);
    }
    if (shares)
      LMI_TRY_GOTO(status, share_fields(solver, &wanted, rank, done, count, fields), cleanup);
  }
cleanup:
  lmi_free(solver->ctx, data.moments);
  lmi_free(solver->ctx, data.marks);
  return status;
}

lamina_status lamina_solver_read(const lamina_solver *solver, lamina_box box, const lamina_fields *fields)
{
  return read_box(solver, box, fields, true);
}

lamina_status lmi_solver_read_own(const lamina_solver *solver, lamina_box box, const lamina_fields *fields)
{
  return read_box(solver, box, fields, false);
}

static lamina_status read_marks(const lamina_solver *solver, lamina_box box, uint8_t *marks, bool shares)
{
  LMI_TRY(check_box(solver, box));
  const lmi_flow *flow = solver->flow;
  const plane_box wanted = box_in_planes(solver, box);
  memset(marks, 0, (size_t)(box.count.x * box.count.y * box.count.z));
  if (flow->ops->marks == NULL)
    return LAMINA_OK;
  const lamina_index cells = flow->nx * flow->ny;
  plane_data data = {0};
  LMI_TRY(LMI_ALLOC(solver->ctx, (size_t)cells, &data.marks));
  lamina_status status = LAMINA_OK;
  for (lamina_index plane = 0; plane < wanted.planes; plane++) {
    int rank = 0;
    (void)lmi_solver_planes_of_rank(solver, wanted.first_plane + plane, 1, &rank);
    if (rank == lamina_rank(solver->ctx))
      LMI_TRY_GOTO(status, lmi_solver_load_planes(solver, wanted.first_plane + plane, 1, data.moments, data.marks),
                   cleanup);
    if (shares)
      LMI_TRY_GOTO(status, lmi_ranks_broadcast(solver->ctx, rank, data.marks, (size_t)cells), cleanup);
    for (lamina_index row = 0; row < wanted.rows; row++)
      memcpy(marks + (plane * wanted.rows + row) * wanted.cells,
             data.marks + (wanted.first_row + row) * flow->nx + wanted.first_cell, (size_t)wanted.cells);
  }
cleanup:
  lmi_free(solver->ctx, data.marks);
  return status;
}

lamina_status lamina_solver_read_marks(const lamina_solver *solver, lamina_box box, uint8_t *marks)
{
  return read_marks(solver, box, marks, true);
}

lamina_status lmi_solver_read_own_marks(const lamina_solver *solver, lamina_box box, uint8_t *marks)
{
  return read_marks(solver, box, marks, false);
}

/* ---- faults and figures ---- */

static bool is_finite_cell(const double *moments, lamina_index cells, lamina_index cell)
{
  return isfinite(moments[cell] + moments[cells + cell] + moments[2 * cells + cell] + moments[3 * cells + cell]);
}

/* The first non-finite cell of planes from *plane on, which are this rank's; the last one when there is none. */
static lamina_status find_fault(const lamina_solver *solver, lamina_index *plane, lamina_index *cell)
{
  const lmi_flow *flow = solver->flow;
  const lamina_index cells = flow->nx * flow->ny, end = *plane + flow->fault_planes;
  const lamina_index last = (end < flow->nz ? end : flow->nz) - 1;
  double *moments = NULL;
  LMI_TRY(LMI_ALLOC(solver->ctx, (size_t)(4 * cells), &moments));
  lamina_status status = flow->ops->planes(flow, LMI_PLANES_MOMENTS, *plane, 1, moments);
  *cell = 0;
  while (status == LAMINA_OK && is_finite_cell(moments, cells, *cell) && (*cell < cells - 1 || *plane < last)) {
    ++*cell;
    if (*cell < cells)
      continue;
    *cell = 0;
    status = flow->ops->planes(flow, LMI_PLANES_MOMENTS, ++*plane, 1, moments);
  }
  lmi_free(solver->ctx, moments);
  return status;
}

lamina_status lmi_solver_report_fault(const lamina_solver *solver, lamina_index plane)
{
  const lmi_flow *flow = solver->flow;
  lamina_index found[2] = {plane, 0};
  int rank = 0;
  (void)lmi_solver_planes_of_rank(solver, plane, 1, &rank);
  const bool is_own = rank == lamina_rank(solver->ctx);
  LMI_TRY(lmi_ranks_settle(solver->ctx, is_own ? find_fault(solver, &found[0], &found[1]) : LAMINA_OK));
  LMI_TRY(lmi_ranks_broadcast(solver->ctx, rank, found, sizeof found));
  const bool flat = flow->lattice->dimension == 2;
  const lamina_index x = found[1] % flow->nx, y = flat ? found[0] : found[1] / flow->nx, z = flat ? 0 : found[0];
  return lmi_fail(solver->ctx, LAMINA_ERROR_DIVERGED,
                  "the flow became non-finite in step %lld at cell (%lld, %lld, %lld)", (long long)solver->step,
                  (long long)x, (long long)y, (long long)z);
}

/* Additions and multiplications of one cell, counted from the BGK text: 3 a pair for sums and moments, 13 a pair to
 * relax. */
static double flops_per_update(int velocities)
{
  return 10.0 * velocities + 20.0;
}

void lamina_solver_get_info(const lamina_solver *solver, lamina_solver_info *info)
{
  const lmi_flow *flow = solver->flow;
  *info = (lamina_solver_info){0};
  flow->ops->info(flow, info);
  info->bytes_per_cell = (double)info->bytes / (double)info->cells;
  if (info->updates_per_step <= 0.0)
    info->updates_per_step = (double)info->cells;
  info->step_stride = flow->step_stride > 1 ? flow->step_stride : 1;
  info->bytes_per_update = 2.0 * flow->lattice->velocities * (double)flow->stored_bytes;
  info->flops_per_update = flops_per_update(flow->lattice->velocities);
}
