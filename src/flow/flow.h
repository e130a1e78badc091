/* SPDX-License-Identifier: Apache-2.0 */
/* What a solver needs of a grid with populations on it. Dense, block-sparse and levels are rows of one list
 * (LMI_FLOWS); the solver never asks which it has.
 *
 * All see the box in the kernels' axes: (nx, ny, nz), the last axis of the box being z; in two dimensions ny is 1. */
#ifndef LMI_FLOW_H
#define LMI_FLOW_H

#include "device/device.h"
#include "grid/schedule.h"
#include "lattice.h"
#include <lamina/solver.h>

typedef struct lmi_flow lmi_flow;
struct lmk_block_step;

/* KEPT: moments into memory of the device, of its partition 0. */
enum { LMI_PLANES_IMPORT, LMI_PLANES_EXPORT, LMI_PLANES_MOMENTS, LMI_PLANES_KEPT };

typedef struct lmi_flow_ops {
  const char *name;   /* of the grid, as lamina_grid_kind_name */
  bool keeps_moments; /* planes() takes LMI_PLANES_KEPT */

  /* *flow is NULL on failure. The options were checked (lmi_check_options); what only this grid refuses is found here,
   * before anything large is allocated. */
  lamina_status (*create)(lamina_context *ctx, const lamina_solver_options *options, lmi_flow **flow);
  void (*free)(lmi_flow *flow);

  /* Bytes of all fields that create() would allocate. */
  lamina_status (*estimate)(lamina_context *ctx, const lamina_solver_options *options, uint64_t *bytes);

  /* Rates, force, velocities and densities of faces from `options` into what the launches read. */
  void (*update)(lmi_flow *flow, const lamina_solver_options *options);

  /* update(), and kernels with or without a force term as options->force asks for. */
  lamina_status (*set_force)(lmi_flow *flow, const lamina_solver_options *options);

  /* Advances. On a non-finite value `fault` says where: `plane` is the first of lmi_flow.fault_planes planes of the
   * whole box, one of which has it. Allocates nothing. */
  lamina_status (*run)(lmi_flow *flow, int64_t steps, lmi_fault *fault);

  /* Moves planes [first, first + count) of the whole box, all of them this rank's, between the field and `buffer` in
   * canonical order (kernel/dense.h, lmk_planes). Not collective. Cells without fluid are zeros there. Import sets the
   * state: call it for all planes, then restart(). */
  lamina_status (*planes)(const lmi_flow *flow, int what, int64_t first, int64_t count, void *buffer);
  void (*restart)(lmi_flow *flow);

  /* Sets every cell from a function of its centre; restart() follows. NULL: cells are those of the box, so an import of
   * planes does it. */
  lamina_status (*initialise)(lmi_flow *flow, const lamina_solver_options *options, lamina_initial_function *function,
                              void *user);

  /* lamina_solver_read_levels for whole planes. NULL: all cells are of level 0. */
  void (*levels)(const lmi_flow *flow, int64_t first, int64_t count, uint8_t *levels);

  /* The stack of levels, and planes() in the cells of one level: those that are not of the level are zeros there, and
   * stay as they are on import. NULL: there are none. */
  const struct lmi_levels *(*stack)(const lmi_flow *flow);
  lamina_status (*level_planes)(const lmi_flow *flow, int level, int what, int64_t first, int64_t count, void *buffer);

  /* lamina_solver_read_marks for whole planes of this rank. NULL: all cells are fluid. */
  lamina_status (*marks)(const lmi_flow *flow, int64_t first, int64_t count, uint8_t *marks);

  /* Fills what it knows of *info: bytes, table_bytes, cells, blocks, alpha, beta_values. */
  void (*info)(const lmi_flow *flow, lamina_solver_info *info);
} lmi_flow_ops;

/* First member of every flow. */
struct lmi_flow {
  const lmi_flow_ops *ops;
  lamina_context *ctx;
  const lmi_lattice *lattice;
  lmi_device *device;
  const lmi_partition *partition; /* planes of the box to slabs, and so to ranks */
  const lmi_schedule *schedule;   /* what run() replays */
  int64_t nx, ny, nz;
  size_t element_bytes; /* of a population in canonical order; stored ones may be smaller */
  size_t stored_bytes;  /* of a stored one */
  int64_t fault_planes;
  int step_stride;               /* run() takes multiples of it; 0 stands for 1 */
  struct lmi_boundary *boundary; /* cells that meet more than plain links (boundary_cells.h); NULL: none */
};

/* X(enumerator, name): lmi_<name>_flow_ops is the row. */
#define LMI_FLOWS(X)           \
  X(LAMINA_GRID_DENSE, dense)  \
  X(LAMINA_GRID_SPARSE, block) \
  X(LAMINA_GRID_LEVELS, level)

#define LMI_DECLARE_FLOW(enumerator, name) extern const lmi_flow_ops lmi_##name##_flow_ops;
LMI_FLOWS(LMI_DECLARE_FLOW)
#undef LMI_DECLARE_FLOW

/* The row of a grid, or NULL where this build has none. */
const lmi_flow_ops *lmi_flow_find(lamina_grid_kind grid);

/* ---- what rows share ---- */

/* The box as kernels see it: (nx, ny, nz), or (nx, 1, ny) in two dimensions. */
lamina_int3 lmi_kernel_cells(const lamina_solver_options *options);

/* A face and an axis of the box in the kernels' axes, and back: in two dimensions y and z change places. */
int lmi_kernel_face(const lamina_solver_options *options, int face);
int lmi_kernel_axis(const lamina_solver_options *options, int axis);

/* A vector of the box in the kernels' axes. */
void lmi_kernel_vector(const lamina_solver_options *options, lamina_real3 v, double out[3]);

bool lmi_is_periodic(const lamina_solver_options *options, int kernel_axis);
bool lmi_has_force(const lamina_solver_options *options);
size_t lmi_precision_bytes(const lamina_solver_options *options);

/* LMK_TWO_GRID, LMK_ESOTERIC_PULL or LMK_AA. */
int lmi_streaming_rule(lamina_streaming streaming);
lmk_rates lmi_make_rates(const lamina_solver_options *options);

/* What moving walls add to the populations they send back, into step->momentum. */
void lmi_block_momentum(const lamina_solver_options *options, const lmi_lattice *lattice, struct lmk_block_step *step);

/* What a step of parity e touches in the halo planes, by asking the rule for every velocity that crosses a face. */
lmi_halo_access lmi_streaming_halo(const lmi_lattice *lattice, int rule, int parity);

/* f* - w of one cell: equilibrium, first-order non-equilibrium after one relaxation, and the half step of the body
 * force that the state after collision carries. Rate and force are those of `options`. */
double lmi_initial_population(const lmi_lattice *lattice, const lamina_solver_options *options, int q,
                              const lamina_cell_state *state);

/* Messages and values a face between partitions carries in one step, into *info; nothing where there is no such face.
 */
void lmi_flow_count_messages(const lmi_partition *partition, const lmi_schedule *schedule, lamina_solver_info *info);

lmi_device_options lmi_flow_device_options(lamina_context *ctx, const lamina_solver_options *options);

/* ---- options, checked for every grid (solver_options.c) ---- */

LAMINA_NODISCARD lamina_status lmi_check_options(lamina_context *ctx, const lamina_solver_options *options);
LAMINA_NODISCARD lamina_status lmi_check_rates(lamina_context *ctx, const lamina_solver_options *options);
LAMINA_NODISCARD lamina_status lmi_check_wall_velocity(lamina_context *ctx, int face, lamina_real3 velocity);

/* Checks the options, also what only their grid refuses, and counts the bytes of all fields. Makes nothing. */
LAMINA_NODISCARD lamina_status lmi_solver_estimate(lamina_context *ctx, const lamina_solver_options *options,
                                                   uint64_t *bytes);

/* "x-", "x+", ... */
const char *lmi_face_name(int face);

#endif
