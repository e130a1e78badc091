/* SPDX-License-Identifier: Apache-2.0 */
/* What cells that meet more than plain half-way links carry: open faces, planes of slip, curved and moving bodies. One
 * text for the host and the device; arrays of reals are in the arithmetic type of the kernel that reads them.
 *
 * A special cell has a number, its item. Its kernel gathers populations as everywhere (a link whose upstream is no
 * fluid gives the cell's own f*_opposite: half-way bounce-back), calls meet_boundary(), collides, calls
 * leave_boundary() and stores (kernel/boundary.h). Each array below is written by the cell it belongs to alone, and
 * what neighbours read is kept twice, by parity: any order of cells is allowed, also in place. */
#ifndef LMK_BOUNDARY_DATA_H
#define LMK_BOUNDARY_DATA_H

enum { LMK_OPEN_VELOCITY, LMK_OPEN_PRESSURE, LMK_OPEN_OUTFLOW, LMK_OPEN_SLIP };
enum { LMK_METHOD_REGULARIZED, LMK_METHOD_ZOU_HE };

/* Share of its difference to the mean of the face that a cell of an outflow gives up in a step. */
#define LMK_OUTFLOW_DRAW 0.05

/* Values kept for one cell of a face. Slip: one for each part along the face of a crossing velocity. Outflow: density -
 * 1 and s (kernel/boundary.h) after collision. */
enum { LMK_RECORD_PARTS = 9, LMK_RECORD_EXCESS = 0, LMK_RECORD_KNOWN = 1 };

/* Bits of lmk_special.bounce on an outflow: the neighbour along i and j there is a wall or a body. */
enum { LMK_WALL_I_LOW, LMK_WALL_I_HIGH, LMK_WALL_J_LOW, LMK_WALL_J_HIGH };

/* One face of the box that is neither wall nor periodic, in the kernels' axes. i and j count cells along the two axes
 * of the face, the lower axis first. */
typedef struct lmk_open_face {
  int32_t kind, method;
  int32_t axis, inward; /* normal axis; +1 on a low face, -1 on a high one */
  int32_t cells[2];     /* of the face along i and j */
  int32_t wraps[2];     /* i, j are periodic */
  int64_t record;       /* first of the face's records; outflow and slip */
  double excess;        /* density - 1 asked for (pressure); mean over the face after the last step (outflow) */
  double scale;         /* of the velocities of its cells: ramps */
} lmk_open_face;

typedef struct lmk_special {
  int32_t face;    /* that rules the cell, -1: none */
  int32_t mirror;  /* another open face the cell lies on, -1: none: a plane of symmetry through the centre here */
  int32_t i, j;    /* of the cell on its face */
  uint32_t bounce; /* slip: velocities that stay bounced, another wall lies on their way; outflow: see above */
  uint32_t links;  /* velocities that come from a body's surface */
  int32_t first_link;
} lmk_special;

/* A link to a body's surface; those of a cell stand side by side, by rising velocity. */
typedef struct lmk_link {
  float fraction; /* of the link that is fluid, (0, 1]; 1/2: half-way */
  int32_t body;
} lmk_link;

typedef struct lmk_boundary {
  const lmk_open_face *faces;
  const lmk_special *special;
  const void *velocity; /* reals: 3 an item */
  const lmk_link *links;
  const void *push;      /* reals: 6 w c . u of the surface, a link */
  const double *motion;  /* factor on push, a body: ramps */
  void *kept;            /* reals: f*_q of the last step, a link; read where fraction > 1/2 */
  void *exchange;        /* reals: f*_opposite + f_q of this step, a link: what the momentum exchange sums */
  void *records;         /* reals: [parity][face][part][cell]; outflow and slip */
  int64_t record_values; /* of one parity */
  double force[3];       /* body force: half of it is in the velocity */
  double omega;
} lmk_boundary;

/* An outflow's density is alike all over its face but for sound that passes; before each step its mean is taken anew:
 * rows of the face first, then the rows in order, so that whoever holds rows can share the work. */
typedef struct lmk_outflow {
  int32_t face, rows;
  const int32_t *row_first; /* rows + 1: into cells */
  const int32_t *cells;     /* of the face, those it rules, by rows */
  double rate;              /* of the return to the density asked for, a step */
  double asked;             /* density - 1 */
} lmk_outflow;

typedef struct lmk_settle {
  lmk_open_face *faces;
  const void *records; /* reals: those the last step left */
  int32_t outflow_count;
  lmk_outflow outflows[LMK_FACES];
} lmk_settle;

/* `sum` is that of density - 1 over the `count` cells of the outflow. */
LMK_INLINE void lmk_settle_face(const lmk_settle *settle, const lmk_outflow *out, double sum, double count)
{
  if (count == 0.0)
    return;
  const double mean = sum / count;
  settle->faces[out->face].excess = mean - out->rate / LMK_OUTFLOW_DRAW * (mean - out->asked);
}

/* Components of a velocity along the axes of a face. */
LMK_INLINE int lmk_first_part(int axis, int cx, int cy)
{
  return axis == 0 ? cy : cx;
}
LMK_INLINE int lmk_second_part(int axis, int cy, int cz)
{
  return axis == 2 ? cy : cz;
}

/* Number of the cell (i, j) of a face, wrapped where the face is; -1 outside. */
LMK_INLINE int64_t lmk_face_cell(const lmk_open_face *f, int i, int j)
{
  if (f->wraps[0])
    i = i < 0 ? i + f->cells[0] : i >= f->cells[0] ? i - f->cells[0] : i;
  if (f->wraps[1])
    j = j < 0 ? j + f->cells[1] : j >= f->cells[1] ? j - f->cells[1] : j;
  if (i < 0 || i >= f->cells[0] || j < 0 || j >= f->cells[1])
    return -1;
  return i + (int64_t)f->cells[0] * j;
}

/* Number on the face `other` of a cell on the rim of two faces, which is (i, j) on the face f. */
LMK_INLINE int64_t lmk_rim_cell(const lmk_open_face *f, const lmk_open_face *other, int i, int j)
{
  const int first = other->axis == 0 ? 1 : 0, second = other->axis == 2 ? 1 : 2;
  int at[3];
  at[f->axis == 0 ? 1 : 0] = i;
  at[f->axis == 2 ? 1 : 2] = j;
  at[f->axis] = f->inward > 0 ? 0 : other->cells[f->axis == first ? 0 : 1] - 1;
  return at[first] + (int64_t)other->cells[0] * at[second];
}

/* Index of a value that a cell of a face keeps. */
LMK_INLINE int64_t lmk_part_at(const lmk_open_face *f, int part, int64_t cell)
{
  return f->record + ((int64_t)part * f->cells[0] * f->cells[1] + cell);
}

/* The one for the part (first, second) of a velocity along the face. */
LMK_INLINE int64_t lmk_record_at(const lmk_open_face *f, int first, int second, int64_t cell)
{
  return lmk_part_at(f, (first + 1) + 3 * (second + 1), cell);
}

#endif
