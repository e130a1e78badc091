/* SPDX-License-Identifier: Apache-2.0 */
/* What a solver's options may be, whatever the grid: each refusal says the value and what is allowed. */
#include <math.h>

#include "flow.h"

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

lamina_status lmi_check_rates(lamina_context *ctx, const lamina_solver_options *options)
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

const char *lmi_face_name(int face)
{
  return face >= 0 && face < LAMINA_FACE_COUNT ? face_names[face] : "?";
}

lamina_status lmi_check_wall_velocity(lamina_context *ctx, int face, lamina_real3 u)
{
  LMI_REQUIRE(ctx, isfinite(u.x) && isfinite(u.y) && isfinite(u.z), LAMINA_ERROR_ARGUMENT,
              "the velocity (%g, %g, %g) of wall %s is not finite", u.x, u.y, u.z, face_names[face]);
  const double normal = face / 2 == 0 ? u.x : face / 2 == 1 ? u.y : u.z;
  LMI_REQUIRE(ctx, normal == 0.0, LAMINA_ERROR_ARGUMENT,
              "wall %s moves with %g along its normal: a wall of the box can only move in its own plane",
              face_names[face], normal);
  return LAMINA_OK;
}

static lamina_status check_open_face(lamina_context *ctx, int face, const lamina_face *given)
{
  const lamina_real3 u = given->velocity;
  LMI_REQUIRE(ctx, lamina_face_method_name(given->method) != NULL, LAMINA_ERROR_ARGUMENT,
              "method %d of face %s is not in the list", (int)given->method, face_names[face]);
  LMI_REQUIRE(ctx, isfinite(u.x) && isfinite(u.y) && isfinite(u.z), LAMINA_ERROR_ARGUMENT,
              "the velocity (%g, %g, %g) of face %s is not finite", u.x, u.y, u.z, face_names[face]);
  LMI_REQUIRE(ctx, fabs(u.x) < 0.5 && fabs(u.y) < 0.5 && fabs(u.z) < 0.5, LAMINA_ERROR_ARGUMENT,
              "the velocity (%g, %g, %g) of face %s is near the speed of sound (0.577): keep it below 0.1 or so", u.x,
              u.y, u.z, face_names[face]);
  LMI_REQUIRE(ctx, given->density >= 0.0 && given->density < 10.0, LAMINA_ERROR_ARGUMENT,
              "the density %g of face %s: it must be about 1 (0 stands for 1)", given->density, face_names[face]);
  return LAMINA_OK;
}

static lamina_status check_face(lamina_context *ctx, const lamina_solver_options *options, int face)
{
  const lamina_face *own = &options->faces[face], *opposite = &options->faces[face ^ 1];
  LMI_REQUIRE(ctx, lamina_face_kind_name(own->kind) != NULL, LAMINA_ERROR_ARGUMENT,
              "boundary %d of face %s is not in the list", (int)own->kind, face_names[face]);
  LMI_REQUIRE(ctx, (own->kind == LAMINA_FACE_PERIODIC) == (opposite->kind == LAMINA_FACE_PERIODIC),
              LAMINA_ERROR_ARGUMENT, "of the faces %s and %s only one is periodic: periodic faces come in pairs",
              face_names[face & ~1], face_names[face | 1]);
  if (own->kind == LAMINA_FACE_PERIODIC)
    return LAMINA_OK;
  if (own->kind == LAMINA_FACE_WALL)
    return lmi_check_wall_velocity(ctx, face, own->velocity);
  LMI_REQUIRE(ctx, options->grid != LAMINA_GRID_DENSE, LAMINA_ERROR_ARGUMENT,
              "face %s is %s, but the dense grid knows walls and periodic faces only: choose the sparse grid",
              face_names[face], lamina_face_kind_name(own->kind));
  return check_open_face(ctx, face, own);
}

static lamina_status check_faces(lamina_context *ctx, const lamina_solver_options *options)
{
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    LMI_TRY(check_face(ctx, options, face));
  const bool flat = lamina_lattice_dimension(options->lattice) == 2;
  LMI_REQUIRE(ctx, !flat || options->faces[LAMINA_FACE_Z_LOW].kind == LAMINA_FACE_PERIODIC, LAMINA_ERROR_ARGUMENT,
              "%s is two-dimensional: faces z- and z+ must be periodic", lamina_lattice_name(options->lattice));
  return LAMINA_OK;
}

static lamina_status check_grid(lamina_context *ctx, const lamina_solver_options *options)
{
  LMI_REQUIRE(ctx, lamina_grid_kind_name(options->grid) != NULL, LAMINA_ERROR_ARGUMENT, "grid %d is not in the list",
              (int)options->grid);
  LMI_REQUIRE(ctx, lmi_flow_find(options->grid) != NULL, LAMINA_UNAVAILABLE, "this build has no %s grid",
              lamina_grid_kind_name(options->grid));
  LMI_REQUIRE(ctx, lamina_grouping_name(options->grouping) != NULL, LAMINA_ERROR_ARGUMENT,
              "grouping %d is not in the list", (int)options->grouping);
  LMI_REQUIRE(ctx, lamina_curved_name(options->curved) != NULL, LAMINA_ERROR_ARGUMENT, "curved %d is not in the list",
              (int)options->curved);
  LMI_REQUIRE(ctx, options->geometry == NULL || options->grid != LAMINA_GRID_DENSE, LAMINA_ERROR_ARGUMENT,
              "the dense grid holds no bodies: choose the sparse grid");
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

lamina_status lmi_check_options(lamina_context *ctx, const lamina_solver_options *options)
{
  LMI_TRY(check_names(ctx, options));
  LMI_TRY(check_grid(ctx, options));
  LMI_TRY(check_cells(ctx, options));
  LMI_TRY(lmi_check_rates(ctx, options));
  LMI_TRY(check_faces(ctx, options));
  return check_partitions(ctx, options);
}
