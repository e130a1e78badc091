/* SPDX-License-Identifier: Apache-2.0 */
/* The public solver: initial state, advancing. Options are checked in solver_options.c, results read in solver_read.c.
 */
#include "base/ranks.h"
#include "solver_internal.h"

lamina_status lmi_solver_estimate(lamina_context *ctx, const lamina_solver_options *options, uint64_t *bytes)
{
  *bytes = 0;
  LMI_TRY(lmi_check_options(ctx, options));
  return lmi_flow_find(options->grid)->estimate(ctx, options, bytes);
}

uint64_t lamina_solver_memory_estimate(const lamina_solver_options *options)
{
  lamina_context *ctx = NULL;
  uint64_t bytes = 0;
  if (lamina_context_create(NULL, &ctx) != LAMINA_OK)
    return 0;
  if (lmi_solver_estimate(ctx, options, &bytes) != LAMINA_OK)
    bytes = 0;
  lamina_context_destroy(ctx);
  return bytes;
}

/* Fills one plane of the kernels' box in canonical order, from a function of the cell's centre. */
typedef struct initial_plane {
  const lamina_solver *solver;
  lamina_initial_function *function;
  void *user;
} initial_plane;

/* lbm-spec 8.3, 1.9 */
double lmi_initial_population(const lmi_lattice *lattice, const lamina_solver_options *options, int q,
                              const lamina_cell_state *state)
{
  const bool flat = lattice->dimension == 2;
  const double c[3] = {lattice->c[q][0], lattice->c[q][flat ? 2 : 1], flat ? 0.0 : (double)lattice->c[q][2]};
  const double force[3] = {options->force.x, options->force.y, options->force.z};
  const double *u = state->velocity;
  double cu = 0.0, u2 = 0.0, cf = 0.0, strain = 0.0;
  for (int a = 0; a < lattice->dimension; a++) {
    cu += c[a] * u[a];
    u2 += u[a] * u[a];
    cf += c[a] * force[a];
    for (int b = 0; b < lattice->dimension; b++)
      strain += c[a] * c[b] * state->gradient[a][b];
  }
  double divergence = 0.0; /* its part keeps the sum of the non-equilibrium at zero: density stays what was asked for */
  for (int a = 0; a < lattice->dimension; a++)
    divergence += state->gradient[a][a];
  const double w = lattice->weight[q], rho = state->density, tau = 1.0 / options->omega;
  const double equilibrium = w * ((rho - 1.0) + rho * (3.0 * cu + 4.5 * cu * cu - 1.5 * u2));
  const double nonequilibrium = -3.0 * w * rho * tau * (strain - divergence / 3.0);
  return equilibrium + (1.0 - options->omega) * nonequilibrium + 1.5 * w * cf;
}

static void fill_plane(const initial_plane *initial, lamina_index z, void *plane)
{
  const lamina_solver *solver = initial->solver;
  const lmi_flow *flow = solver->flow;
  const bool flat = flow->lattice->dimension == 2;
  const lamina_index cells = flow->nx * flow->ny;
  for (lamina_index y = 0; y < flow->ny; y++)
    for (lamina_index x = 0; x < flow->nx; x++) {
      lamina_cell_state state = {.density = 1.0};
      const lamina_real3 centre = {(double)x + 0.5, (double)(flat ? z : y) + 0.5, flat ? 0.5 : (double)z + 0.5};
      if (initial->function != NULL)
        initial->function(initial->user, centre, &state);
      for (int q = 0; q < flow->lattice->velocities; q++) {
        const lamina_index at = q * cells + y * flow->nx + x;
        const double f = lmi_initial_population(flow->lattice, &solver->options, q, &state);
        if (solver->options.precision == LAMINA_F64)
          ((double *)plane)[at] = f;
        else
          ((float *)plane)[at] = (float)f;
      }
    }
}

static lamina_status import_initial(const lamina_solver *solver, lamina_initial_function *function, void *user)
{
  const initial_plane initial = {solver, function, user};
  const size_t plane_bytes = (size_t)lamina_solver_plane_bytes(solver);
  const lamina_index chunk = lmi_chunk_planes(solver, plane_bytes);
  lamina_index begin = 0, planes = 0;
  char *buffer = NULL;
  lmi_solver_own_planes(solver, &begin, &planes);
  LMI_TRY(LMI_ALLOC(solver->ctx, plane_bytes * (size_t)chunk, &buffer));
  lamina_status status = LAMINA_OK;
  for (lamina_index first = begin; first < begin + planes; first += chunk) {
    const lamina_index left = begin + planes - first, count = left < chunk ? left : chunk;
#pragma omp parallel for num_threads(lamina_context_thread_count(solver->ctx)) schedule(static)
    for (lamina_index i = 0; i < count; i++)
      fill_plane(&initial, first + i, buffer + (size_t)i * plane_bytes);
    LMI_TRY_GOTO(status, solver->flow->ops->planes(solver->flow, LMI_PLANES_IMPORT, first, count, buffer), cleanup);
  }
cleanup:
  lmi_free(solver->ctx, buffer);
  return status;
}

lamina_status lamina_solver_initialise(lamina_solver *solver, lamina_initial_function *function, void *user)
{
  const lmi_flow_ops *ops = solver->flow->ops;
  if (ops->initialise != NULL)
    LMI_TRY(ops->initialise(solver->flow, &solver->options, function, user));
  else
    LMI_TRY(import_initial(solver, function, user));
  ops->restart(solver->flow);
  solver->step = 0;
  return LAMINA_OK;
}

lamina_status lamina_solver_create(lamina_context *ctx, const lamina_solver_options *options, lamina_solver **solver)
{
  *solver = NULL;
  LMI_TRY(lmi_check_options(ctx, options));
  if (options->backend != LAMINA_BACKEND_CUDA)
    LMI_TRY(lmi_require_kernels(ctx));
  lamina_solver *made = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  made->options = *options;
  status = lmi_flow_find(options->grid)->create(ctx, options, &made->flow);
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    made->options.faces[face].profile = NULL;
  if (status == LAMINA_OK)
    status = lamina_solver_initialise(made, NULL, NULL);
  LMI_TRY_GOTO(status, lmi_ranks_settle(ctx, status), cleanup);
  made->options.geometry = NULL; /* were borrowed for create() alone */
  made->options.refinements = NULL;
  *solver = made;
cleanup:
  if (status != LAMINA_OK)
    lamina_solver_destroy(made);
  return status;
}

void lamina_solver_destroy(lamina_solver *solver)
{
  if (solver == NULL)
    return;
  if (solver->flow != NULL)
    solver->flow->ops->free(solver->flow);
  lmi_free(solver->ctx, solver);
}

const lamina_solver_options *lamina_solver_get_options(const lamina_solver *solver)
{
  return &solver->options;
}

lamina_status lamina_solver_run(lamina_solver *solver, lamina_index steps)
{
  LMI_REQUIRE(solver->ctx, steps >= 0, LAMINA_ERROR_ARGUMENT, "%lld steps: the number must not be negative",
              (long long)steps);
  const int stride = solver->flow->step_stride;
  LMI_REQUIRE(solver->ctx, stride <= 1 || steps % stride == 0, LAMINA_ERROR_ARGUMENT,
              "%lld steps: with %d levels only multiples of %d, steps of the coarsest level, are possible",
              (long long)steps, solver->options.levels, stride);
  lmi_fault fault = {0};
  LMI_TRY(solver->flow->ops->run(solver->flow, steps, &fault));
  solver->step += fault.found ? fault.step + 1 : steps;
  return fault.found ? lmi_solver_report_fault(solver, fault.plane) : LAMINA_OK;
}

lamina_index lamina_solver_step(const lamina_solver *solver)
{
  return solver->step;
}

lamina_status lamina_solver_set_wall_velocity(lamina_solver *solver, lamina_face_index face, lamina_real3 velocity)
{
  LMI_REQUIRE(solver->ctx,
              (int)face >= 0 && face < LAMINA_FACE_COUNT && solver->options.faces[face].kind == LAMINA_FACE_WALL,
              LAMINA_ERROR_ARGUMENT, "face %d is not a wall", (int)face);
  LMI_TRY(lmi_check_wall_velocity(solver->ctx, (int)face, velocity));
  solver->options.faces[face].velocity = velocity;
  solver->flow->ops->update(solver->flow, &solver->options);
  return LAMINA_OK;
}

lamina_status lamina_solver_set_force(lamina_solver *solver, lamina_real3 force)
{
  lamina_solver_options changed = solver->options;
  changed.force = force;
  LMI_TRY(lmi_check_rates(solver->ctx, &changed));
  LMI_TRY(solver->flow->ops->set_force(solver->flow, &changed));
  solver->options = changed;
  return LAMINA_OK;
}
