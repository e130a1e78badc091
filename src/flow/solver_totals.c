/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of a solver, summed where the field lies: by the device, from moments that stay there, or by threads of the
 * host. Both run the text of kernel/totals.h in its order, so no bit tells which it was. */
#include <math.h>
#include <string.h>

#include "base/ranks.h"
#include "kernel/prelude_host.h"
#include "solver_internal.h"

#include "kernel/totals.h"

/* A chunk of planes with one more on each side where there is one. */
typedef struct window {
  lmk_totals totals;
  bool is_held;    /* by the device */
  double *moments; /* what totals reads, writable */
  uint8_t *marks;
  size_t planes;           /* it has room for */
  double *outside_moments; /* of other ranks: the plane below this rank's first one and the one above its last */
  uint8_t *outside_marks;
  uint8_t *host_marks; /* of a device's window: one plane */
  lmk_sums *segments;  /* of a device's window */
} window;

static size_t plane_cells(const lamina_solver *solver)
{
  return (size_t)(solver->flow->nx * solver->flow->ny);
}

/* ---- what the sums need to know of the box ---- */

static int beyond(const lamina_solver *solver, int face)
{
  const lamina_face_kind kind = solver->options.faces[lmi_kernel_face(&solver->options, face)].kind;
  return kind == LAMINA_FACE_WALL ? LMK_BEYOND_WALL : kind == LAMINA_FACE_PERIODIC ? LMK_BEYOND_WRAPS : LMK_BEYOND_OPEN;
}

static lmk_totals describe_box(const lamina_solver *solver)
{
  const lmi_flow *flow = solver->flow;
  const lamina_solver_options *options = &solver->options;
  lmk_totals totals = {
    .nx = flow->nx,
    .ny = flow->ny,
    .nz = flow->nz,
    .is_flat = flow->lattice->dimension == 2,
  };
  double force[3];
  lmi_kernel_vector(options, options->force, force);
  for (int axis = 0; axis < 3; axis++)
    totals.half_force[axis] = 0.5 * force[axis];
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    totals.beyond[face] = beyond(solver, face);
    lmi_kernel_vector(options, options->faces[lmi_kernel_face(options, face)].velocity, totals.wall_velocity[face]);
  }
  return totals;
}

/* ---- loading planes into a window ---- */

static double *moments_at(const lamina_solver *solver, const window *w, lamina_index at)
{
  return w->moments + (size_t)at * 4 * plane_cells(solver);
}

static uint8_t *marks_at(const lamina_solver *solver, const window *w, lamina_index at)
{
  return w->marks != NULL ? w->marks + (size_t)at * plane_cells(solver) : NULL;
}

static lamina_status load_held(const lamina_solver *solver, lamina_index first, lamina_index count, const window *w,
                               lamina_index at)
{
  const lmi_flow *flow = solver->flow;
  LMI_TRY(flow->ops->planes(flow, LMI_PLANES_KEPT, first, count, moments_at(solver, w, at)));
  for (lamina_index z = 0; z < count && w->marks != NULL; z++) {
    LMI_TRY(flow->ops->marks(flow, first + z, 1, w->host_marks));
    LMI_TRY(flow->device->ops->send(flow->device, 0, marks_at(solver, w, at + z), w->host_marks, plane_cells(solver)));
  }
  return LAMINA_OK;
}

static lamina_status load(const lamina_solver *solver, lamina_index first, lamina_index count, const window *w,
                          lamina_index at)
{
  return w->is_held ? load_held(solver, first, count, w, at)
                    : lmi_solver_load_planes(solver, first, count, moments_at(solver, w, at), marks_at(solver, w, at));
}

/* Exchanges the outermost planes with the ranks above and below. Collective. */
static lamina_status load_outside(const lamina_solver *solver, window *w)
{
  lamina_index first = 0, count = 0;
  const size_t cells = plane_cells(solver), bytes = 4 * cells * sizeof(double);
  double *own = NULL;
  uint8_t *own_marks = NULL;
  lamina_status status = LAMINA_OK;
  lmi_solver_own_planes(solver, &first, &count);
  LMI_TRY_GOTO(status, LMI_ALLOC(solver->ctx, 8 * cells, &own), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(solver->ctx, 2 * cells, &own_marks), cleanup);
  LMI_TRY_GOTO(status, lmi_solver_load_planes(solver, first, 1, own, own_marks), cleanup);
  LMI_TRY_GOTO(status, lmi_solver_load_planes(solver, first + count - 1, 1, own + 4 * cells, own_marks + cells),
               cleanup);
  LMI_TRY_GOTO(
    status,
    lmi_ranks_shift(solver->ctx, own + 4 * cells, own, w->outside_moments, w->outside_moments + 4 * cells, bytes),
    cleanup);
  if (w->outside_marks != NULL)
    status =
      lmi_ranks_shift(solver->ctx, own_marks + cells, own_marks, w->outside_marks, w->outside_marks + cells, cells);
cleanup:
  lmi_free(solver->ctx, own);
  lmi_free(solver->ctx, own_marks);
  return status;
}

static lamina_status put(const lamina_solver *solver, const window *w, void *target, const void *source, size_t bytes)
{
  lmi_device *device = solver->flow->device;
  if (w->is_held)
    return device->ops->send(device, 0, target, source, bytes);
  memcpy(target, source, bytes);
  return LAMINA_OK;
}

/* One plane beside this rank's planes, on the side given, or inside them. */
static lamina_status load_beside(const lamina_solver *solver, lamina_index plane, int side, const window *w,
                                 lamina_index at)
{
  lamina_index first = 0, count = 0;
  const size_t cells = plane_cells(solver), skipped = (size_t)side * cells;
  lmi_solver_own_planes(solver, &first, &count);
  if (plane >= first && plane < first + count)
    return load(solver, plane, 1, w, at);
  LMI_TRY(put(solver, w, moments_at(solver, w, at), w->outside_moments + 4 * skipped, 4 * cells * sizeof(double)));
  return w->marks != NULL ? put(solver, w, marks_at(solver, w, at), w->outside_marks + skipped, cells) : LAMINA_OK;
}

/* Fills the window with planes first - 1 to first + count, wrapping where the box does and leaving out what is not
 * there. */
static lamina_status load_window(const lamina_solver *solver, lamina_index first, lamina_index count, window *w)
{
  const lamina_index nz = solver->flow->nz;
  const bool wraps = lmi_is_periodic(&solver->options, 2);
  w->totals.window = first - 1;
  w->totals.first = first;
  w->totals.count = count;
  w->totals.moments = w->moments;
  w->totals.marks = w->marks;
  LMI_TRY(load(solver, first, count, w, 1));
  if (first > 0 || wraps)
    LMI_TRY(load_beside(solver, (first - 1 + nz) % nz, 0, w, 0));
  if (first + count < nz || wraps)
    LMI_TRY(load_beside(solver, (first + count) % nz, 1, w, count + 1));
  return LAMINA_OK;
}

/* ---- room ---- */

static lamina_status allocate_host(const lamina_solver *solver, window *w)
{
  const size_t held = plane_cells(solver) * w->planes;
  LMI_TRY(LMI_ALLOC(solver->ctx, 4 * held, &w->moments));
  return solver->flow->ops->marks != NULL ? LMI_ALLOC(solver->ctx, held, &w->marks) : LAMINA_OK;
}

static lamina_status allocate_held(const lamina_solver *solver, window *w)
{
  lmi_device *device = solver->flow->device;
  const size_t held = plane_cells(solver) * w->planes;
  void *memory = NULL;
  LMI_TRY(device->ops->allocate(device, 0, 4 * held * sizeof(double), &memory));
  w->moments = memory;
  if (solver->flow->ops->marks == NULL)
    return LAMINA_OK;
  LMI_TRY(device->ops->allocate(device, 0, held, &memory));
  w->marks = memory;
  return LMI_ALLOC(solver->ctx, plane_cells(solver), &w->host_marks);
}

static void free_planes(const lamina_solver *solver, window *w)
{
  lmi_device *device = solver->flow->device;
  const size_t held = plane_cells(solver) * w->planes;
  if (w->is_held && w->moments != NULL)
    device->ops->release(device, 0, w->moments, 4 * held * sizeof(double));
  if (w->is_held && w->marks != NULL)
    device->ops->release(device, 0, w->marks, held);
  if (!w->is_held) {
    lmi_free(solver->ctx, w->moments);
    lmi_free(solver->ctx, w->marks);
  }
  w->moments = NULL;
  w->marks = NULL;
}

static void free_window(const lamina_solver *solver, window *w)
{
  free_planes(solver, w);
  lmi_free(solver->ctx, w->outside_moments);
  lmi_free(solver->ctx, w->outside_marks);
  lmi_free(solver->ctx, w->host_marks);
  lmi_free(solver->ctx, w->segments);
}

static bool may_hold(const lmi_flow *flow)
{
  return flow->device != NULL && flow->device->ops->sum_planes != NULL && flow->ops->keeps_moments;
}

/* On the device as many planes as keep it busy; where not even a few fit beside the field, the host's way. */
static lamina_status make_window(const lamina_solver *solver, window *w)
{
  enum { HELD_BYTES = 256 << 20, LEAST_PLANES = 3 };
  const size_t cells = plane_cells(solver), plane_bytes = 4 * cells * sizeof(double);
  const bool has_marks = solver->flow->ops->marks != NULL;
  w->totals = describe_box(solver);
  w->is_held = may_hold(solver->flow);
  w->planes = w->is_held ? (size_t)HELD_BYTES / plane_bytes : 0;
  w->planes = w->planes < (size_t)solver->flow->nz + 2 ? w->planes : (size_t)solver->flow->nz + 2;
  w->planes = w->planes > LEAST_PLANES ? w->planes : LEAST_PLANES;
  if (w->is_held && allocate_held(solver, w) != LAMINA_OK) {
    lamina_error_clear(solver->ctx);
    free_planes(solver, w);
    w->is_held = false;
  }
  if (w->is_held)
    LMI_TRY(LMI_ALLOC(solver->ctx, w->planes * (size_t)lmk_segments(&w->totals), &w->segments));
  else {
    w->planes = (size_t)lmi_chunk_planes(solver, plane_bytes) + 2;
    LMI_TRY(allocate_host(solver, w));
  }
  if (lamina_rank_count(solver->ctx) == 1)
    return LAMINA_OK;
  LMI_TRY(LMI_ALLOC(solver->ctx, 8 * cells, &w->outside_moments));
  return has_marks ? LMI_ALLOC(solver->ctx, 2 * cells, &w->outside_marks) : LAMINA_OK;
}

/* ---- sums ---- */

static lmk_sums sum_plane(const lmk_totals *totals, lamina_index z)
{
  lmk_sums plane;
  lmk_clear_sums(&plane);
  for (lamina_index s = 0; s < lmk_segments(totals); s++) {
    lmk_sums segment;
    lmk_clear_sums(&segment);
    for (lamina_index x = 0; x < totals->nx; x++) {
      lmk_sums column;
      lmk_sum_column(totals, x, s, z, &column);
      lmk_add_sums(&segment, &column);
    }
    lmk_add_sums(&plane, &segment);
  }
  return plane;
}

static lamina_status sum_held(const lamina_solver *solver, window *w, lmk_sums *sums)
{
  lmi_device *device = solver->flow->device;
  const lamina_index segments = lmk_segments(&w->totals);
  LMI_TRY(device->ops->sum_planes(device, &w->totals, w->segments));
  for (lamina_index i = 0; i < w->totals.count; i++) {
    lmk_clear_sums(&sums[i]);
    for (lamina_index s = 0; s < segments; s++)
      lmk_add_sums(&sums[i], &w->segments[i * segments + s]);
  }
  return LAMINA_OK;
}

/* Sums of this rank's planes, at their places. */
static lamina_status sum_own_planes(const lamina_solver *solver, window *w, lmk_sums *sums)
{
  lamina_index begin = 0, planes = 0;
  const lamina_index chunk = (lamina_index)w->planes - 2;
  lmi_solver_own_planes(solver, &begin, &planes);
  if (lamina_rank_count(solver->ctx) > 1)
    LMI_TRY(load_outside(solver, w));
  for (lamina_index first = begin; first < begin + planes; first += chunk) {
    const lamina_index left = begin + planes - first, count = left < chunk ? left : chunk;
    LMI_TRY(load_window(solver, first, count, w));
    if (w->is_held) {
      LMI_TRY(sum_held(solver, w, sums + first));
      continue;
    }
#pragma omp parallel for num_threads(lamina_context_thread_count(solver->ctx)) schedule(static)
    for (lamina_index z = first; z < first + count; z++)
      sums[z] = sum_plane(&w->totals, z);
  }
  return LAMINA_OK;
}

/* A sum of one plane counts cells in 32 bits; all of them in 64. */
static void add_plane(const lamina_solver *solver, const lmk_sums *sums, lamina_totals *totals)
{
  totals->cells += sums->cells;
  totals->mass_excess += sums->mass;
  for (int axis = 0; axis < 3; axis++)
    totals->momentum[axis] += sums->momentum[lmi_kernel_axis(&solver->options, axis)];
  totals->kinetic_energy += sums->energy;
  totals->enstrophy += sums->enstrophy;
  totals->max_speed = sums->fastest > totals->max_speed ? sums->fastest : totals->max_speed;
  totals->finite = totals->finite && !sums->not_finite;
}

lamina_status lamina_solver_totals(const lamina_solver *solver, lamina_totals *totals)
{
  const lmi_flow *flow = solver->flow;
  window w = {0};
  lamina_status status = LAMINA_OK;
  *totals = (lamina_totals){.finite = true};
  lmk_sums *sums = NULL;
  LMI_TRY_GOTO(status, make_window(solver, &w), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(solver->ctx, (size_t)flow->nz, &sums), cleanup);
  LMI_TRY_GOTO(status, sum_own_planes(solver, &w, sums), cleanup);
  LMI_TRY_GOTO(status, lmi_solver_share_planes(solver, sums, sizeof *sums), cleanup);
  for (lamina_index z = 0; z < flow->nz; z++)
    add_plane(solver, &sums[z], totals);
  totals->mass = (double)totals->cells + totals->mass_excess;
  totals->max_speed = sqrt(totals->max_speed);
cleanup:
  free_window(solver, &w);
  lmi_free(solver->ctx, sums);
  return status;
}
