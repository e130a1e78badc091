/* SPDX-License-Identifier: Apache-2.0 */
/* The public solver: checks of options, initial state, advancing. Reading results is solver_read.c. */
#include <math.h>

#include "solver_internal.h"

static const double MAX_CELLS = 1099511627776.0; /* 2^40 */

lamina_solver_options lamina_solver_options_default(void)
{
  const lamina_solver_options options = {
    .lattice = LAMINA_D3Q19,
    .collision = LAMINA_BGK,
    .precision = LAMINA_F32,
    .layout = LAMINA_LAYOUT_PLANE,
    .streaming = LAMINA_ESOTERIC_PULL,
    .omega = 1.0,
    .magic = 3.0 / 16.0,
    .smagorinsky = 0.16,
  };
  return options;
}

static lamina_status check_cells(lamina_context *ctx, const lamina_solver_options *options)
{
  const lamina_int3 n = options->cells;
  LMI_REQUIRE(ctx, n.x >= 1 && n.y >= 1 && n.z >= 1, LAMINA_ERROR_ARGUMENT,
              "a box of %lld x %lld x %lld cells: each must be at least 1", (long long)n.x, (long long)n.y,
              (long long)n.z);
  LMI_REQUIRE(ctx, (double)n.x * (double)n.y * (double)n.z < MAX_CELLS, LAMINA_ERROR_ARGUMENT,
              "a box of %lld x %lld x %lld cells has more than 2^40", (long long)n.x, (long long)n.y, (long long)n.z);
  const bool flat = lamina_lattice_dimension(options->lattice) == 2;
  LMI_REQUIRE(ctx, !flat || n.z == 1, LAMINA_ERROR_ARGUMENT, "%s is two-dimensional: cells in z must be 1, not %lld",
              lamina_lattice_name(options->lattice), (long long)n.z);
  return LAMINA_OK;
}

static lamina_status check_names(lamina_context *ctx, const lamina_solver_options *options)
{
  LMI_REQUIRE(ctx, lamina_lattice_name(options->lattice) != NULL, LAMINA_ERROR_ARGUMENT,
              "lattice %d is not in the list", (int)options->lattice);
  LMI_REQUIRE(ctx, lamina_collision_name(options->collision) != NULL, LAMINA_ERROR_ARGUMENT,
              "collision %d is not in the list", (int)options->collision);
  LMI_REQUIRE(ctx, lamina_precision_name(options->precision) != NULL, LAMINA_ERROR_ARGUMENT,
              "precision %d is not in the list", (int)options->precision);
  LMI_REQUIRE(ctx, lamina_layout_name(options->layout) != NULL, LAMINA_ERROR_ARGUMENT, "layout %d is not in the list",
              (int)options->layout);
  LMI_REQUIRE(ctx, lamina_streaming_name(options->streaming) != NULL, LAMINA_ERROR_ARGUMENT,
              "streaming %d is not in the list", (int)options->streaming);
  LMI_REQUIRE(ctx, lamina_backend_name(options->backend) != NULL, LAMINA_ERROR_ARGUMENT,
              "backend %d is not in the list", (int)options->backend);
  LMI_REQUIRE(ctx, lamina_storage_name(options->storage) != NULL, LAMINA_ERROR_ARGUMENT,
              "storage %d is not in the list", (int)options->storage);
  LMI_REQUIRE(ctx, options->storage != LAMINA_STORAGE_F16 || options->precision == LAMINA_F32, LAMINA_ERROR_ARGUMENT,
              "storage f16 goes with precision f32, not %s", lamina_precision_name(options->precision));
  LMI_REQUIRE(ctx, options->storage != LAMINA_STORAGE_F16 || options->backend == LAMINA_BACKEND_CUDA,
              LAMINA_ERROR_ARGUMENT, "storage f16 needs backend cuda, not %s", lamina_backend_name(options->backend));
  LMI_REQUIRE(ctx, options->collision != LAMINA_CUMULANT || options->lattice != LAMINA_D3Q19, LAMINA_ERROR_ARGUMENT,
              "the cumulant collision needs d2q9 or d3q27: d3q19 lacks the velocities its products need");
  return LAMINA_OK;
}

static lamina_status check_rates(lamina_context *ctx, const lamina_solver_options *options)
{
  LMI_REQUIRE(ctx, options->omega > 0.0 && options->omega < 2.0, LAMINA_ERROR_ARGUMENT,
              "omega is %g: it must lie in (0, 2)", options->omega);
  LMI_REQUIRE(ctx, options->magic > 0.0 && isfinite(options->magic), LAMINA_ERROR_ARGUMENT,
              "the magic parameter is %g: it must be positive (3/16 puts walls half-way)", options->magic);
  LMI_REQUIRE(ctx, options->smagorinsky >= 0.0 && options->smagorinsky <= 1.0, LAMINA_ERROR_ARGUMENT,
              "the Smagorinsky constant is %g: it must lie in [0, 1] (0.1 to 0.2 is usual)", options->smagorinsky);
  const lamina_real3 f = options->force;
  LMI_REQUIRE(ctx, isfinite(f.x) && isfinite(f.y) && isfinite(f.z), LAMINA_ERROR_ARGUMENT,
              "the body force (%g, %g, %g) is not finite", f.x, f.y, f.z);
  return LAMINA_OK;
}

static const char *const face_names[LAMINA_FACE_COUNT] = {"x-", "x+", "y-", "y+", "z-", "z+"};

static lamina_status check_face_velocity(lamina_context *ctx, int face, lamina_real3 u)
{
  LMI_REQUIRE(ctx, isfinite(u.x) && isfinite(u.y) && isfinite(u.z), LAMINA_ERROR_ARGUMENT,
              "the velocity (%g, %g, %g) of wall %s is not finite", u.x, u.y, u.z, face_names[face]);
  const double normal = face / 2 == 0 ? u.x : face / 2 == 1 ? u.y : u.z;
  LMI_REQUIRE(ctx, normal == 0.0, LAMINA_ERROR_ARGUMENT,
              "wall %s moves with %g along its normal: a wall of the box can only move in its own plane",
              face_names[face], normal);
  return LAMINA_OK;
}

static lamina_status check_faces(lamina_context *ctx, const lamina_solver_options *options)
{
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    const lamina_face *own = &options->faces[face], *opposite = &options->faces[face ^ 1];
    LMI_REQUIRE(ctx, own->kind == LAMINA_FACE_PERIODIC || own->kind == LAMINA_FACE_WALL, LAMINA_ERROR_ARGUMENT,
                "boundary %d of face %s is not in the list", (int)own->kind, face_names[face]);
    LMI_REQUIRE(ctx, (own->kind == LAMINA_FACE_PERIODIC) == (opposite->kind == LAMINA_FACE_PERIODIC),
                LAMINA_ERROR_ARGUMENT, "of the faces %s and %s only one is periodic: periodic faces come in pairs",
                face_names[face & ~1], face_names[face | 1]);
    if (own->kind == LAMINA_FACE_WALL)
      LMI_TRY(check_face_velocity(ctx, face, own->velocity));
  }
  const bool flat = lamina_lattice_dimension(options->lattice) == 2;
  LMI_REQUIRE(ctx, !flat || options->faces[LAMINA_FACE_Z_LOW].kind == LAMINA_FACE_PERIODIC, LAMINA_ERROR_ARGUMENT,
              "%s is two-dimensional: faces z- and z+ must be periodic", lamina_lattice_name(options->lattice));
  return LAMINA_OK;
}

static lamina_status check_partitions(lamina_context *ctx, const lamina_solver_options *options)
{
  const lamina_index planes = lmi_kernel_cells(options).z;
  LMI_REQUIRE(ctx, options->partitions >= 0, LAMINA_ERROR_ARGUMENT, "%d partitions: at least 1 is needed",
              options->partitions);
  LMI_REQUIRE(ctx, options->partitions <= planes, LAMINA_ERROR_ARGUMENT,
              "%d partitions along an axis of %lld cells: at most %lld", options->partitions, (long long)planes,
              (long long)planes);
  LMI_REQUIRE(ctx, options->device_count >= 0 && options->device_count <= LAMINA_MAX_DEVICES, LAMINA_ERROR_ARGUMENT,
              "%d devices: 0 to %d are possible", options->device_count, (int)LAMINA_MAX_DEVICES);
  return LAMINA_OK;
}

static lamina_status check_options(lamina_context *ctx, const lamina_solver_options *options)
{
  LMI_TRY(check_names(ctx, options));
  LMI_TRY(check_cells(ctx, options));
  LMI_TRY(check_rates(ctx, options));
  LMI_TRY(check_faces(ctx, options));
  return check_partitions(ctx, options);
}

uint64_t lamina_solver_memory_estimate(const lamina_solver_options *options)
{
  lamina_context *ctx = NULL;
  uint64_t bytes = 0;
  if (lamina_context_create(NULL, &ctx) != LAMINA_OK)
    return 0;
  if (check_options(ctx, options) != LAMINA_OK || lmi_dense_flow_estimate(ctx, options, &bytes) != LAMINA_OK)
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

/* f* - w of one cell: equilibrium, first-order non-equilibrium after one relaxation, and the half step of the body
 * force that the state after collision carries (lbm-spec 8.3, 1.9). */
static double population(const lamina_solver *solver, int q, const lamina_cell_state *state)
{
  const lmi_lattice *lattice = solver->flow.lattice;
  const lamina_solver_options *options = &solver->options;
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
  const lmi_dense_flow *flow = &solver->flow;
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
        const double f = population(solver, q, &state);
        if (solver->options.precision == LAMINA_F64)
          ((double *)plane)[at] = f;
        else
          ((float *)plane)[at] = (float)f;
      }
    }
}

lamina_status lamina_solver_initialise(lamina_solver *solver, lamina_initial_function *function, void *user)
{
  const initial_plane initial = {solver, function, user};
  const size_t plane_bytes = (size_t)lamina_solver_plane_bytes(solver);
  const lamina_index planes = solver->flow.nz, chunk = lmi_chunk_planes(solver, plane_bytes);
  char *buffer = NULL;
  LMI_TRY(LMI_ALLOC(solver->ctx, plane_bytes * (size_t)chunk, &buffer));
  lamina_status status = LAMINA_OK;
  for (lamina_index first = 0; first < planes; first += chunk) {
    const lamina_index count = planes - first < chunk ? planes - first : chunk;
#pragma omp parallel for num_threads(lamina_context_thread_count(solver->ctx)) schedule(static)
    for (lamina_index i = 0; i < count; i++)
      fill_plane(&initial, first + i, buffer + (size_t)i * plane_bytes);
    LMI_TRY_GOTO(status, lmi_dense_flow_planes(&solver->flow, LMI_PLANES_IMPORT, first, count, buffer), cleanup);
  }
  lmi_dense_flow_restart(&solver->flow);
  solver->step = 0;
cleanup:
  lmi_free(solver->ctx, buffer);
  return status;
}

lamina_status lamina_solver_create(lamina_context *ctx, const lamina_solver_options *options, lamina_solver **solver)
{
  *solver = NULL;
  LMI_TRY(check_options(ctx, options));
  if (options->backend != LAMINA_BACKEND_CUDA)
    LMI_TRY(lmi_require_kernels(ctx));
  lamina_solver *made = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  made->options = *options;
  LMI_TRY_GOTO(status, lmi_dense_flow_create(ctx, options, &made->flow), cleanup);
  LMI_TRY_GOTO(status, lamina_solver_initialise(made, NULL, NULL), cleanup);
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
  lmi_dense_flow_free(solver->ctx, &solver->flow);
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
  lmi_fault fault = {0};
  LMI_TRY(lmi_dense_flow_run(&solver->flow, steps, &fault));
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
  LMI_TRY(check_face_velocity(solver->ctx, (int)face, velocity));
  solver->options.faces[face].velocity = velocity;
  lmi_dense_flow_update(&solver->flow, &solver->options);
  return LAMINA_OK;
}

lamina_status lamina_solver_set_force(lamina_solver *solver, lamina_real3 force)
{
  lamina_solver_options changed = solver->options;
  changed.force = force;
  LMI_TRY(check_rates(solver->ctx, &changed));
  LMI_TRY(lmi_dense_flow_set_force(solver->ctx, &solver->flow, &changed));
  solver->options = changed;
  return LAMINA_OK;
}
