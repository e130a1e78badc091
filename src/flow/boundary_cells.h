/* SPDX-License-Identifier: Apache-2.0 */
/* Special cells: those of open faces, of planes of slip, and those with links to bodies that the plain kernels do not
 * serve. A grid asks which cells are special, numbers them in its own order (items), makes a boundary of that list and
 * hands boundary.set to its kernels (kernel/boundary_data.h). Cells are in the kernels' axes throughout.
 *
 * Rules where faces meet: walls bounce first, then an open face acts on the cells of its rim as in its middle. Where
 * two open faces meet, the first of velocity, pressure, outflow, slip rules the cell (of two alike the one with the
 * lower number), and the other is a plane of symmetry through its centre. */
#ifndef LMI_BOUNDARY_CELLS_H
#define LMI_BOUNDARY_CELLS_H

#include "device/device.h"
#include "flow.h"
#include "grid/block_schedule.h"
#include "kernel/boundary_data.h"
#include "voxels.h"

/* What decides which cells are special. `voxels` NULL: no bodies. */
typedef struct lmi_boundary_view {
  const lamina_solver_options *options;
  const lmi_voxels *voxels;
} lmi_boundary_view;

bool lmi_boundary_has_open_face(const lamina_solver_options *options);

/* Has the cell fluid, and more than plain half-way links? Bodies at rest with half-way surfaces are plain unless
 * options->loads asks for their forces. */
bool lmi_boundary_is_special(const lmi_boundary_view *view, lamina_int3 cell);

/* Force and torque on a body in lattice units. */
typedef struct lmi_load {
  double force[3], torque[3];
} lmi_load;

/* Which of the arrays the host changed since a device last got them. */
enum { LMI_BOUNDARY_TABLES = 1, LMI_BOUNDARY_SETTINGS = 2, LMI_BOUNDARY_STATE = 4 };

typedef struct lmi_boundary {
  lamina_context *ctx;
  const lmi_lattice *lattice;
  lmk_boundary set; /* for launches: its pointers are the arrays below, in host memory */
  size_t real_bytes;
  int64_t extent[3]; /* of the box, in the kernels' axes */
  lmk_open_face faces[LMK_FACES];
  int face_number[LMK_FACES]; /* of the box face in the kernels' axes -> entry of faces, -1 */
  int face_count;
  double asked[LMK_FACES]; /* density - 1 of each */
  bool has_profile[LMK_FACES];
  int64_t item_count, link_count;
  lamina_int3 *cells; /* of items */
  int64_t *order;     /* items by plane, row, column: the order of sums */
  lmk_special *special;
  lmk_link *links;
  double *motion;       /* a body: factor on the speed of its surface */
  int8_t (*way)[3];     /* a link: its direction to the body, in the box's axes */
  double (*arm)[3];     /* a link: from the body's centre to where it meets the surface */
  double (*surface)[3]; /* a link: velocity of the surface there */
  int body_count;
  lmk_outflow outflows[LMK_FACES];
  int32_t *outflow_rows[LMK_FACES], *outflow_cells[LMK_FACES]; /* what those point to */
  int outflow_count;
  unsigned changed; /* LMI_BOUNDARY_* */
  bool is_behind;   /* a device has stepped since it was last asked for the exchange */
  void *velocity, *push, *kept, *exchange, *records;
  double *row_sums; /* of an outflow: sums of all rows of its face, then their counts */
} lmi_boundary;

/* `cells`: the special cells of this rank in the order of their items; copied. Items with x < 0 stand for no cell: a
 * grid that counts items by whole blocks leaves gaps. */
LAMINA_NODISCARD lamina_status lmi_boundary_create(lamina_context *ctx, const lmi_boundary_view *view,
                                                   const lamina_int3 *cells, int64_t count, lmi_boundary **boundary);
/* Relaxation rate, force, densities and velocities (where there is no profile) of faces as `options` has them now. */
void lmi_boundary_update(lmi_boundary *boundary, const lamina_solver_options *options);

void lmi_boundary_destroy(lmi_boundary *boundary);
uint64_t lmi_boundary_bytes(const lmi_boundary *boundary);

/* Takes what the next step needs of the last one out of populations after collision: planes [first, first + count) in
 * canonical order (kernel/dense.h). To be called for all planes of this rank whenever the state is set; the next step
 * is even. */
void lmi_boundary_import(lmi_boundary *boundary, int64_t first, int64_t count, const void *planes);

/* Takes the mean of each outflow, where there is one: to be called before every single step, with the parity of the
 * step before it (after an import: 1). Collective. */
LAMINA_NODISCARD lamina_status lmi_boundary_settle(lmi_boundary *boundary, int parity);
/* What that works on; a backend that settles by itself reads it. */
lmk_settle lmi_boundary_settle_set(const lmi_boundary *boundary, int parity);

/* What a step of each parity reads of records in rows along the last axis, for ranks that hold neighbouring planes:
 * rows[0] to rows[count - 1], at most LMK_FACES. */
size_t lmi_boundary_rows(const lmi_boundary *boundary, lmi_shared_rows *rows);

/* boundary_device.c: for a device whose launches use copies of the arrays; others need neither. Before a replay: what
 * changed goes there. Before loads are summed: what links exchanged comes back. */
LAMINA_NODISCARD lamina_status lmi_boundary_send(lmi_boundary *boundary, lmi_device *device);
LAMINA_NODISCARD lamina_status lmi_boundary_fetch_exchange(lmi_boundary *boundary, lmi_device *device);

/* Factor on what a face of the box asks for (velocity, or density - 1), from the next step on; no open face: nothing.
 */
void lmi_boundary_scale_face(lmi_boundary *boundary, int kernel_face, double factor);
void lmi_boundary_scale_motion(lmi_boundary *boundary, int body, double factor);

/* Number `at` of an array in the precision of the kernels. */
double lmi_boundary_real(const lmi_boundary *boundary, const void *array, int64_t at);

/* Momentum exchange of the last step with body 1 to body_count, in the box's axes, summed over all ranks in the order
 * of cells. Collective. */
LAMINA_NODISCARD lamina_status lmi_boundary_sum_load(const lmi_boundary *boundary, int body, lmi_load *load);

#endif
