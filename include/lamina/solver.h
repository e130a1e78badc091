/* SPDX-License-Identifier: Apache-2.0 */
/* The lattice-Boltzmann solver on a box of cells, all of them or those with fluid. Everything here is in lattice units
 * (dx = dt = 1, cs^2 = 1/3, density about 1); case files and SI units are lamina/case.h's affair.
 *
 *   lamina_solver_options options = lamina_solver_options_default();
 *   options.cells = (lamina_int3){128, 128, 128};
 *   options.omega = 1.8;
 *   options.faces[LAMINA_FACE_Z_HIGH] = (lamina_face){.kind = LAMINA_FACE_WALL, .velocity = {0.1, 0, 0}};
 *   lamina_solver_create(context, &options, &solver);
 *   lamina_solver_run(solver, 10000);
 *   lamina_solver_read(solver, box, &fields);
 *   lamina_solver_destroy(solver);
 *
 * Layout, streaming, partitions, threads and overlap change no bit of any result (same lattice, collision, precision).
 *
 * Ranks (lamina/mpi.h): a solver of a context that joined them is cut into ranks x partitions slabs, and calls that
 * take it are collective, but for the getters (options, step, info, plane_bytes, plane_count), destroy, set_step and
 * set_plane, which keeps the planes of this rank and leaves out others. What is read is given to all ranks.
 *
 * In two dimensions (d2q9) cells.z is 1 and the box lies in the x-y plane. Cell (i, j, k) has its centre at (i + 1/2, j
 * + 1/2, k + 1/2); walls lie on the faces of the box, half a cell from the outermost centres. */
#ifndef LAMINA_SOLVER_H
#define LAMINA_SOLVER_H

#include <stdbool.h>

#include <lamina/context.h>
#include <lamina/levels.h>
#include <lamina/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamina_solver lamina_solver;

enum { LAMINA_MAX_DEVICES = 16 };

/* The six sides of the box, in the order of the arrays below. Opposite faces differ in the lowest bit. */
typedef enum lamina_face_index {
  LAMINA_FACE_X_LOW,
  LAMINA_FACE_X_HIGH,
  LAMINA_FACE_Y_LOW,
  LAMINA_FACE_Y_HIGH,
  LAMINA_FACE_Z_LOW,
  LAMINA_FACE_Z_HIGH,
  LAMINA_FACE_COUNT,
} lamina_face_index;

/* WALL: half-way bounce-back with the wall's velocity (0: at rest). A link that crosses two walls at once counts as at
 * rest, which keeps the mass of a closed cavity (lbm-spec section 5). PERIODIC: the opposite face says so too. The open
 * kinds and SLIP need the sparse grid. */
typedef struct lamina_face {
  lamina_face_kind kind;
  lamina_face_method method;   /* VELOCITY, PRESSURE */
  lamina_real3 velocity;       /* WALL: in its own plane. VELOCITY: of the flow, any direction */
  double density;              /* PRESSURE: about 1; OUTFLOW: what it returns to. 0 stands for 1 */
  const lamina_real3 *profile; /* VELOCITY, PRESSURE (its part along the face): instead of `velocity`, one for each cell
                                  of the face, the lower axis fastest. Borrowed until create() returns; else NULL */
} lamina_face;

/* Bodies in the box (lamina/geometry.h). */
typedef struct lamina_geometry lamina_geometry;

typedef struct lamina_solver_options {
  lamina_int3 cells;                    /* each >= 1; product below 2^40 */
  lamina_lattice lattice;               /* default d3q19 */
  lamina_collision collision;           /* default bgk */
  lamina_precision precision;           /* default f32; populations are stored shifted, f - w */
  lamina_storage storage;               /* default: full. f16 needs precision f32 and backend cuda */
  lamina_layout layout;                 /* default plane order */
  lamina_streaming streaming;           /* default Esoteric Pull */
  double omega;                         /* 1/tau in (0, 2); shear viscosity = (1/omega - 1/2)/3 */
  double magic;                         /* TRT: (1/omega+ - 1/2)(1/omega- - 1/2) > 0; default 3/16 */
  double smagorinsky;                   /* constant C, 0.1 to 0.2; default 0.16 */
  lamina_real3 force;                   /* body force density (Guo 2002), lattice units */
  lamina_face faces[LAMINA_FACE_COUNT]; /* default: periodic */
  lamina_grid_kind grid;                /* default dense */
  lamina_grouping grouping;             /* of the sparse grid; default memory. Changes no bit of the result */
  const lamina_geometry *geometry;      /* bodies, or NULL; needs the sparse grid. Borrowed until create() returns */
  lamina_curved curved;                 /* surfaces of bodies; default half-way */
  bool loads;                           /* keep what lamina_solver_body_load needs */
  int levels;                           /* of the grid of levels: 2 to LAMINA_MAX_LEVELS (lamina/levels.h) */
  lamina_level_scheme level_scheme;     /* what crosses a jump between levels; default packets */
  const lamina_refinement *refinements; /* which places get which level. Borrowed until create() returns */
  size_t refinement_count;
  int partitions;                  /* slabs along the last axis; 0: one. Any number up to the planes of that axis, or to
                                      the layers of blocks (4 planes; 8 in two dimensions) of the sparse grid */
  bool no_overlap;                 /* wait for messages before computing anything */
  bool copy_messages;              /* cuda: send messages also where kernels could store straight into the neighbour */
  lamina_backend backend;          /* default cpu */
  int devices[LAMINA_MAX_DEVICES]; /* ordinals of an accelerator backend, slabs dealt out in turn */
  int device_count;                /* 0: device 0 */
} lamina_solver_options;

LAMINA_API lamina_solver_options lamina_solver_options_default(void);

/* Bytes a solver of these options takes in memory, without making it; 0 for options that create() would refuse. */
LAMINA_API uint64_t lamina_solver_memory_estimate(const lamina_solver_options *options);

/* Creates a solver at rest: density 1, velocity 0. The context must outlive it; options are copied.
 * Errors: ARGUMENT (which option, its value, what is allowed), MEMORY. On failure *solver is NULL. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_create(lamina_context *context,
                                                               const lamina_solver_options *options,
                                                               lamina_solver **solver);
LAMINA_API void lamina_solver_destroy(lamina_solver *solver);

LAMINA_API const lamina_solver_options *lamina_solver_get_options(const lamina_solver *solver);

/* State of one cell for lamina_solver_initialise. `gradient[a][b]` = d u_b / d x_a sets the non-equilibrium part to
 * first order (f_neq = -3 w rho tau c_a c_b d_a u_b); leave it zero for plain equilibrium. */
typedef struct lamina_cell_state {
  double density; /* about 1; pressure = density / 3 */
  double velocity[3];
  double gradient[3][3];
} lamina_cell_state;

/* Fills `state` (given as density 1 and zeros) for the cell whose centre is `centre`, in lattice units. Called once a
 * cell, from several threads. */
typedef void lamina_initial_function(void *user, lamina_real3 centre, lamina_cell_state *state);

/* Sets every cell and puts the step count to 0. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_initialise(lamina_solver *solver,
                                                                   lamina_initial_function *function, void *user);

/* Advances by `steps` >= 0. Blocking. Allocates nothing. Errors: DIVERGED at the first step in which a cell becomes
 * non-finite; the message names step and cell, and the solver stays where it is. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_run(lamina_solver *solver, lamina_index steps);

/* Steps done since the start (or as restored by lamina_solver_set_step). */
LAMINA_API lamina_index lamina_solver_step(const lamina_solver *solver);

/* Changes the velocity of a wall, or the body force, from the next step on. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_set_wall_velocity(lamina_solver *solver, lamina_face_index face,
                                                                          lamina_real3 velocity);
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_set_force(lamina_solver *solver, lamina_real3 force);

/* Factor on what an open face asks for (its velocities, or its density - 1), from the next step on: for ramps in time.
 * Errors: ARGUMENT when the face asks for nothing. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_scale_face(lamina_solver *solver, lamina_face_index face,
                                                                   double factor);

/* Factor on the speed of a body's surface (lamina_geometry_set_motion), from the next step on. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_scale_motion(lamina_solver *solver, int body, double factor);

/* What the fluid did to a body in the last step, by momentum exchange: force, and torque about the body's centre
 * (lamina_body_info). In two dimensions per unit of depth. The same bits for any number of partitions, threads and
 * ranks; collective. Needs options.loads, or surfaces that are curved or move, and a step that was done. */
typedef struct lamina_body_load {
  lamina_real3 force, torque;
} lamina_body_load;

LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_body_load(const lamina_solver *solver, int body,
                                                                  lamina_body_load *load);

/* A box of cells: first, and how many. */
typedef struct lamina_box {
  lamina_int3 first, count;
} lamina_box;

/* Where lamina_solver_read puts what it computes; NULL pointers are skipped. Arrays hold box.count.x * y * z values, x
 * fastest. velocity includes half the body force (Guo). All double, whatever the solver's precision. */
typedef struct lamina_fields {
  double *density;
  double *velocity[3];
} lamina_fields;

/* Cells inside a body read as density 1 and velocity 0; lamina_solver_read_marks tells them. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_read(const lamina_solver *solver, lamina_box box,
                                                             const lamina_fields *fields);

/* What each cell of a box is: 0 fluid, k inside body k (counted from 1), 255 for all from the 255th on. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_read_marks(const lamina_solver *solver, lamina_box box,
                                                                   uint8_t *marks);

/* Sums over all cells with fluid, in one fixed order: the same bits for any number of partitions and threads. */
typedef struct lamina_totals {
  lamina_index cells; /* with fluid */
  double mass;        /* sum of density - 1, plus the number of cells */
  double mass_excess; /* sum of density - 1: exact to round-off of the deviations */
  double momentum[3];
  double kinetic_energy; /* sum of u^2/2 (mean = divide by cells) */
  double enstrophy;      /* sum of |curl u|^2/2 by central differences; through the wall's velocity at walls */
  double max_speed;
  bool finite;
} lamina_totals;

LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_totals(const lamina_solver *solver, lamina_totals *totals);

/* Populations after collision, shifted (f - w), in canonical order: for each plane of the last axis, for each velocity
 * in the lattice's order, the cells of the plane, x fastest. Elements are float or double as the solver's precision
 * says; the byte count of one plane is lamina_solver_plane_bytes. What is read from one solver can be written into
 * another of the same cells, lattice and precision, whatever its layout, streaming, partitions: that is what a
 * checkpoint stores. */
LAMINA_API uint64_t lamina_solver_plane_bytes(const lamina_solver *solver);
LAMINA_API lamina_index lamina_solver_plane_count(const lamina_solver *solver);
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_get_plane(const lamina_solver *solver, lamina_index plane,
                                                                  void *populations);
/* After the last set_plane call lamina_solver_set_step ends the restore. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_set_plane(lamina_solver *solver, lamina_index plane,
                                                                  const void *populations);
LAMINA_API void lamina_solver_set_step(lamina_solver *solver, lamina_index step);

/* What the solver's memory and messages amount to. */
typedef struct lamina_solver_info {
  uint64_t bytes;           /* allocated for fields */
  uint64_t table_bytes;     /* beside them: neighbours, masks, links of the sparse grid */
  lamina_index cells;       /* with fluid: what a step updates */
  lamina_index blocks;      /* of the sparse grid and of levels, with fluid */
  double updates_per_step;  /* cells that a step updates: all; on levels a coarse one counts in its own pace */
  int step_stride;          /* lamina_solver_run takes multiples of it: 1; 2^(levels - 1) on a grid of levels */
  double bytes_per_cell;    /* of a cell with fluid, fields alone */
  double bytes_per_update;  /* least traffic to and from memory: 2 Q sizeof(population) */
  double flops_per_update;  /* additions and multiplications of one cell's collision */
  int alpha;                /* messages a partition sends in one step (between two neighbours) */
  lamina_index beta_values; /* values in them */
} lamina_solver_info;

LAMINA_API void lamina_solver_get_info(const lamina_solver *solver, lamina_solver_info *info);

#ifdef __cplusplus
}
#endif

#endif
