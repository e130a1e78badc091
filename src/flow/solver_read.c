/* SPDX-License-Identifier: Apache-2.0 */
/* What can be read from a solver: planes of populations, densities and velocities, totals. Everything goes through
 * planes in canonical order, summed in one fixed order: layout, streaming, partitions and threads leave no trace. */
#include <math.h>
#include <string.h>

#include "solver_internal.h"

/* Enough for the work of a chunk to hide its start, small beside any field worth the name. */
static const size_t CHUNK_BYTES = (size_t)32 << 20;

lamina_index lmi_chunk_planes(const lamina_solver *solver, size_t plane_bytes)
{
  const lamina_index planes = (lamina_index)(CHUNK_BYTES / plane_bytes);
  const lamina_index least = lamina_context_thread_count(solver->ctx);
  const lamina_index wanted = planes > least ? planes : least;
  return wanted < solver->flow.nz ? wanted : solver->flow.nz;
}

uint64_t lamina_solver_plane_bytes(const lamina_solver *solver)
{
  const lmi_dense_flow *flow = &solver->flow;
  return (uint64_t)(flow->lattice->velocities * flow->nx * flow->ny) * flow->element_bytes;
}

lamina_index lamina_solver_plane_count(const lamina_solver *solver)
{
  return solver->flow.nz;
}

static lamina_status check_plane(const lamina_solver *solver, lamina_index plane)
{
  LMI_REQUIRE(solver->ctx, plane >= 0 && plane < solver->flow.nz, LAMINA_ERROR_ARGUMENT,
              "plane %lld: there are planes 0 to %lld", (long long)plane, (long long)solver->flow.nz - 1);
  return LAMINA_OK;
}

lamina_status lamina_solver_get_plane(const lamina_solver *solver, lamina_index plane, void *populations)
{
  LMI_TRY(check_plane(solver, plane));
  return lmi_dense_flow_planes(&solver->flow, LMI_PLANES_EXPORT, plane, 1, populations);
}

lamina_status lamina_solver_set_plane(lamina_solver *solver, lamina_index plane, const void *populations)
{
  LMI_TRY(check_plane(solver, plane));
  lmi_dense_flow_restart(&solver->flow);
  /* An import only reads its buffer; lmk_planes serves both directions and cannot say so. */
  return lmi_dense_flow_planes(&solver->flow, LMI_PLANES_IMPORT, plane, 1, (void *)(uintptr_t)populations);
}

void lamina_solver_set_step(lamina_solver *solver, lamina_index step)
{
  solver->step = step;
}

/* Velocity of the flow at a cell of a plane of moments (density - 1 and three momenta), in the kernels' axes. The
 * populations are those after collision: their momentum is half a step of the force ahead (Guo 2002). */
static double velocity_at(const lamina_solver *solver, const double *moments, lamina_index cell, int axis)
{
  const lamina_index cells = solver->flow.nx * solver->flow.ny;
  const lamina_real3 f = solver->options.force;
  const bool flat = solver->flow.lattice->dimension == 2;
  const double force[3] = {f.x, flat ? 0.0 : f.y, flat ? f.y : f.z};
  return (moments[(axis + 1) * cells + cell] - 0.5 * force[axis]) / (1.0 + moments[cell]);
}

/* The axis of the kernels that is axis `axis` of the box. */
static int kernel_axis(const lamina_solver *solver, int axis)
{
  return solver->flow.lattice->dimension == 2 ? (axis == 0 ? 0 : axis == 1 ? 2 : 1) : axis;
}

/* ---- reading a box of cells ---- */

static void read_row(const lamina_solver *solver, const double *moments, lamina_index cell, lamina_index count,
                     const lamina_fields *fields, lamina_index at)
{
  for (lamina_index i = 0; i < count && fields->density != NULL; i++)
    fields->density[at + i] = 1.0 + moments[cell + i];
  for (int axis = 0; axis < 3; axis++)
    for (lamina_index i = 0; i < count && fields->velocity[axis] != NULL; i++)
      fields->velocity[axis][at + i] = velocity_at(solver, moments, cell + i, kernel_axis(solver, axis));
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

lamina_status lamina_solver_read(const lamina_solver *solver, lamina_box box, const lamina_fields *fields)
{
  LMI_TRY(check_box(solver, box));
  const lmi_dense_flow *flow = &solver->flow;
  const bool flat = flow->lattice->dimension == 2;
  const lamina_index plane_values = 4 * flow->nx * flow->ny;
  const lamina_index first = flat ? box.first.y : box.first.z, planes = flat ? box.count.y : box.count.z;
  const lamina_index row0 = flat ? 0 : box.first.y, rows = flat ? 1 : box.count.y;
  const lamina_index chunk = lmi_chunk_planes(solver, (size_t)plane_values * sizeof(double));
  double *moments = NULL;
  LMI_TRY(LMI_ALLOC(solver->ctx, (size_t)(plane_values * (chunk < planes ? chunk : planes)), &moments));
  lamina_status status = LAMINA_OK;
  for (lamina_index done = 0; done < planes; done += chunk) {
    const lamina_index count = planes - done < chunk ? planes - done : chunk;
    LMI_TRY_GOTO(status, lmi_dense_flow_planes(flow, LMI_PLANES_MOMENTS, first + done, count, moments), cleanup);
    for (lamina_index i = 0; i < count * rows; i++) {
      const lamina_index plane = i / rows, row = i % rows;
      read_row(solver, moments + plane * plane_values, (row0 + row) * flow->nx + box.first.x, box.count.x, fields,
               ((done + plane) * rows + row) * box.count.x);
    }
  }
cleanup:
  lmi_free(solver->ctx, moments);
  return status;
}

/* ---- totals ---- */

/* Sums of one plane; added plane by plane they do not depend on who computed them. */
typedef struct plane_sums {
  double mass, momentum[3], energy, enstrophy, fastest;
  bool finite;
} plane_sums;

/* A chunk of planes of moments with one more on each side where there is one. */
typedef struct window {
  const double *moments;
  lamina_index first, count; /* planes held, first may be -1 when it wraps */
  lamina_index values;       /* doubles of one plane */
} window;

/* One sample for a derivative: the neighbour's velocity, or, past a wall, the wall's at half the distance. */
typedef struct sample {
  double value;
  bool is_wall;
} sample;

static sample sample_velocity(const lamina_solver *solver, const window *w, const lamina_index at[3], int along,
                              int direction, int component)
{
  const lmi_dense_flow *flow = &solver->flow;
  const lamina_index n[3] = {flow->nx, flow->ny, flow->nz};
  lamina_index p[3] = {at[0], at[1], at[2]};
  p[along] += direction;
  if (p[along] < 0 || p[along] >= n[along]) {
    const lmk_dense *dense = &flow->steps[0].dense;
    const int face = 2 * along + (direction > 0);
    const bool wall = along == 2 ? !flow->partition.is_periodic : dense->faces[face] == LMK_FACE_WALL;
    if (wall)
      return (sample){dense->wall_velocity[face][component], true};
    if (along < 2)
      p[along] = (p[along] + n[along]) % n[along];
  }
  const double *plane = w->moments + (p[2] - w->first) * w->values;
  return (sample){velocity_at(solver, plane, p[1] * n[0] + p[0], component), false};
}

/* Second order: central, or through the wall half a cell away. */
static double derivative(const lamina_solver *solver, const window *w, const lamina_index at[3], int along,
                         int component)
{
  const sample low = sample_velocity(solver, w, at, along, -1, component),
               high = sample_velocity(solver, w, at, along, 1, component);
  if (!low.is_wall && !high.is_wall)
    return 0.5 * (high.value - low.value);
  if (low.is_wall && high.is_wall)
    return high.value - low.value;
  const double own =
    velocity_at(solver, w->moments + (at[2] - w->first) * w->values, at[1] * solver->flow.nx + at[0], component);
  if (low.is_wall)
    return (high.value + 3.0 * own - 4.0 * low.value) / 3.0;
  return (4.0 * high.value - 3.0 * own - low.value) / 3.0;
}

static double enstrophy_of(const lamina_solver *solver, const window *w, const lamina_index at[3])
{
  if (solver->flow.lattice->dimension == 2) {
    const double curl = derivative(solver, w, at, 0, 2) - derivative(solver, w, at, 2, 0);
    return 0.5 * curl * curl;
  }
  double sum = 0.0;
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    const double curl = derivative(solver, w, at, b, c) - derivative(solver, w, at, c, b);
    sum += 0.5 * curl * curl;
  }
  return sum;
}

static plane_sums sum_plane(const lamina_solver *solver, const window *w, lamina_index z)
{
  const lmi_dense_flow *flow = &solver->flow;
  const double *plane = w->moments + (z - w->first) * w->values;
  plane_sums sums = {.finite = true};
  for (lamina_index cell = 0; cell < flow->nx * flow->ny; cell++) {
    const lamina_index at[3] = {cell % flow->nx, cell / flow->nx, z};
    double u[3], square = 0.0;
    for (int axis = 0; axis < 3; axis++) {
      u[axis] = velocity_at(solver, plane, cell, kernel_axis(solver, axis));
      square += u[axis] * u[axis];
      sums.momentum[axis] += (1.0 + plane[cell]) * u[axis];
    }
    sums.mass += plane[cell];
    sums.energy += 0.5 * square;
    sums.enstrophy += enstrophy_of(solver, w, at);
    sums.fastest = square > sums.fastest ? square : sums.fastest;
    sums.finite = sums.finite && isfinite(plane[cell]) && isfinite(square);
  }
  return sums;
}

/* Fills the window with planes first - 1 to first + count, wrapping where the box does and leaving out what is not
 * there. */
static lamina_status load_window(const lamina_solver *solver, lamina_index first, lamina_index count, double *moments,
                                 window *w)
{
  const lmi_dense_flow *flow = &solver->flow;
  const lamina_index nz = flow->nz, values = 4 * flow->nx * flow->ny;
  *w = (window){.moments = moments, .first = first - 1, .count = count + 2, .values = values};
  LMI_TRY(lmi_dense_flow_planes(flow, LMI_PLANES_MOMENTS, first, count, moments + values));
  const bool wraps = flow->partition.is_periodic;
  if (first > 0 || wraps)
    LMI_TRY(lmi_dense_flow_planes(flow, LMI_PLANES_MOMENTS, (first - 1 + nz) % nz, 1, moments));
  if (first + count < nz || wraps)
    LMI_TRY(lmi_dense_flow_planes(flow, LMI_PLANES_MOMENTS, (first + count) % nz, 1, moments + (count + 1) * values));
  return LAMINA_OK;
}

static void add_plane(const plane_sums *sums, lamina_totals *totals)
{
  totals->mass_excess += sums->mass;
  for (int axis = 0; axis < 3; axis++)
    totals->momentum[axis] += sums->momentum[axis];
  totals->kinetic_energy += sums->energy;
  totals->enstrophy += sums->enstrophy;
  totals->max_speed = sums->fastest > totals->max_speed ? sums->fastest : totals->max_speed;
  totals->finite = totals->finite && sums->finite;
}

lamina_status lamina_solver_totals(const lamina_solver *solver, lamina_totals *totals)
{
  const lmi_dense_flow *flow = &solver->flow;
  const lamina_index values = 4 * flow->nx * flow->ny;
  const lamina_index chunk = lmi_chunk_planes(solver, (size_t)values * sizeof(double));
  lamina_status status = LAMINA_OK;
  *totals = (lamina_totals){.finite = true};
  double *moments = NULL;
  plane_sums *sums = NULL;
  LMI_TRY_GOTO(status, LMI_ALLOC(solver->ctx, (size_t)(values * (chunk + 2)), &moments), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(solver->ctx, (size_t)chunk, &sums), cleanup);
  for (lamina_index first = 0; first < flow->nz; first += chunk) {
    const lamina_index count = flow->nz - first < chunk ? flow->nz - first : chunk;
    window w;
    LMI_TRY_GOTO(status, load_window(solver, first, count, moments, &w), cleanup);
#pragma omp parallel for num_threads(lamina_context_thread_count(solver->ctx)) schedule(static)
    for (lamina_index i = 0; i < count; i++)
      sums[i] = sum_plane(solver, &w, first + i);
    for (lamina_index i = 0; i < count; i++)
      add_plane(&sums[i], totals);
  }
  const lamina_int3 n = solver->options.cells;
  totals->mass = (double)(n.x * n.y * n.z) + totals->mass_excess;
  totals->max_speed = sqrt(totals->max_speed);
cleanup:
  lmi_free(solver->ctx, moments);
  lmi_free(solver->ctx, sums);
  return status;
}

/* ---- faults and figures ---- */

lamina_status lmi_solver_report_fault(const lamina_solver *solver, lamina_index plane)
{
  const lmi_dense_flow *flow = &solver->flow;
  const lamina_index cells = flow->nx * flow->ny;
  double *moments = NULL;
  LMI_TRY(LMI_ALLOC(solver->ctx, (size_t)(4 * cells), &moments));
  lamina_status status = lmi_dense_flow_planes(flow, LMI_PLANES_MOMENTS, plane, 1, moments);
  lamina_index cell = 0;
  while (status == LAMINA_OK && cell < cells - 1 &&
         isfinite(moments[cell] + moments[cells + cell] + moments[2 * cells + cell] + moments[3 * cells + cell]))
    cell++;
  lmi_free(solver->ctx, moments);
  LMI_TRY(status);
  const bool flat = flow->lattice->dimension == 2;
  const lamina_index x = cell % flow->nx, y = flat ? plane : cell / flow->nx, z = flat ? 0 : plane;
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
  const lmi_dense_flow *flow = &solver->flow;
  const lamina_int3 n = solver->options.cells;
  *info = (lamina_solver_info){0};
  for (int i = 0; i < flow->field_count; i++)
    info->bytes += lmi_field_bytes(&flow->fields[i]);
  info->bytes_per_cell = (double)info->bytes / (double)(n.x * n.y * n.z);
  info->bytes_per_update = 2.0 * flow->lattice->velocities * (double)flow->fields[0].request.element_bytes;
  info->flops_per_update = flops_per_update(flow->lattice->velocities);
  int faces = 0;
  for (int p = 0; p < flow->partition.count; p++)
    faces += flow->partition.slabs[p].upper >= 0;
  if (faces == 0)
    return;
  /* A face carries what two neighbours send each other: as much as a slab in the middle sends on its two sides. */
  info->alpha = (int)(flow->schedule.traffic.messages / faces + 0.5);
  info->beta_values = (lamina_index)(flow->schedule.traffic.values / faces + 0.5);
}
