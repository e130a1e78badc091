/* SPDX-License-Identifier: Apache-2.0 */
#include "boundary_cells.h"

#include "base/ranks.h"
#include "boundary_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An outflow returns to its density at this share of the speed of sound over the length of the box (Poinsot and Lele
 * 1992 take about a quarter; less lets slow sound out better). */
static const double RETURN_SHARE = 0.1;
static const double SOUND = 0.57735026918962576;

/* ---- axes ---- */

static bool is_flat(const lmi_lattice *lattice)
{
  return lattice->dimension == 2;
}

/* A cell or a velocity of the kernels in the box's axes; its own inverse. */
static lamina_int3 box_cell(const lmi_lattice *lattice, lamina_int3 cell)
{
  return is_flat(lattice) ? (lamina_int3){cell.x, cell.z, cell.y} : cell;
}

static void box_velocity(const lmi_lattice *lattice, int q, int c[3])
{
  const bool flat = is_flat(lattice);
  c[0] = lattice->c[q][0];
  c[1] = lattice->c[q][flat ? 2 : 1];
  c[2] = flat ? 0 : lattice->c[q][2];
}

static const lamina_face *face_of(const lamina_solver_options *options, int kernel_face)
{
  return &options->faces[lmi_kernel_face(options, kernel_face)];
}

/* The kernel faces a box has: in two dimensions the z faces of the box are none. */
static bool has_face(const lmi_lattice *lattice, int kernel_face)
{
  return !is_flat(lattice) || kernel_face / 2 != 1;
}

static bool is_open(lamina_face_kind kind)
{
  return kind != LAMINA_FACE_PERIODIC && kind != LAMINA_FACE_WALL;
}

bool lmi_boundary_has_open_face(const lamina_solver_options *options)
{
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    if (is_open(options->faces[face].kind))
      return true;
  return false;
}

static void kernel_extent(const lamina_solver_options *options, int64_t n[3])
{
  const lamina_int3 cells = lmi_kernel_cells(options);
  n[0] = cells.x;
  n[1] = cells.y;
  n[2] = cells.z;
}

/* ---- bodies ---- */

/* The cell a link leads to, wrapped where the box is periodic; false where it leaves the box. With `turned`, a plane of
 * slip is no end of the box: the link leads to the mirror image, here, of the cell beyond, and *turned has a bit for
 * each axis along which it is mirrored. */
static bool find_end(const lmi_boundary_view *view, const lmi_lattice *lattice, lamina_int3 cell, int q,
                     lamina_int3 *end, unsigned *turned)
{
  int64_t n[3], at[3] = {cell.x, cell.y, cell.z};
  kernel_extent(view->options, n);
  for (int axis = 0; axis < 3; axis++) {
    at[axis] += lattice->c[q][axis];
    if (at[axis] >= 0 && at[axis] < n[axis])
      continue;
    if (lmi_is_periodic(view->options, axis)) {
      at[axis] = (at[axis] + n[axis]) % n[axis];
      continue;
    }
    if (turned == NULL || face_of(view->options, 2 * axis + (at[axis] > 0))->kind != LAMINA_FACE_SLIP)
      return false;
    at[axis] -= lattice->c[q][axis];
    *turned |= 1u << axis;
  }
  *end = (lamina_int3){at[0], at[1], at[2]};
  return true;
}

static bool far_end(const lmi_boundary_view *view, const lmi_lattice *lattice, lamina_int3 cell, int q,
                    lamina_int3 *end)
{
  return find_end(view, lattice, cell, q, end, NULL);
}

static bool is_solid(const lmi_boundary_view *view, const lmi_lattice *lattice, lamina_int3 cell)
{
  return view->voxels != NULL && lmi_voxels_is_solid(view->voxels, box_cell(lattice, cell));
}

/* Does velocity q, seen from a cell, lead into a body? */
static bool leads_into_body(const lmi_boundary_view *view, const lmi_lattice *lattice, lamina_int3 cell, int q)
{
  lamina_int3 end;
  unsigned turned = 0;
  return find_end(view, lattice, cell, q, &end, &turned) && is_solid(view, lattice, end);
}

static bool moves(const lamina_body_motion *motion)
{
  const lamina_real3 v = motion->velocity, w = motion->spin;
  return v.x != 0.0 || v.y != 0.0 || v.z != 0.0 || w.x != 0.0 || w.y != 0.0 || w.z != 0.0;
}

static bool body_moves(const lmi_boundary_view *view, int body)
{
  lamina_body_info info;
  return lamina_geometry_get_body(view->voxels->geometry, body, &info) && moves(&info.motion);
}

/* A link that the half-way rule at rest serves: nobody wants its force. */
static bool is_plain_link(const lmi_boundary_view *view, const lmi_lattice *lattice, lamina_int3 cell, int q)
{
  if (view->options->curved != LAMINA_CURVED_HALFWAY || view->options->loads)
    return false;
  lamina_int3 end;
  unsigned turned = 0;
  if (!find_end(view, lattice, cell, q, &end, &turned))
    return true;
  return !body_moves(view, lmi_voxels_body(view->voxels, box_cell(lattice, end)));
}

/* ---- which cells ---- */

/* Order in which open faces rule a cell: velocity, pressure, outflow, slip. */
static int precedence(lamina_face_kind kind)
{
  return (int)kind;
}

/* The open faces a cell lies on, the ruling one first; their number. */
static int faces_of_cell(const lamina_solver_options *options, const lmi_lattice *lattice, lamina_int3 cell,
                         int faces[3])
{
  int64_t n[3];
  const int64_t at[3] = {cell.x, cell.y, cell.z};
  int count = 0;
  kernel_extent(options, n);
  for (int face = 0; face < LMK_FACES; face++) {
    const int axis = face / 2;
    const bool lies_on = at[axis] == (face % 2 == 0 ? 0 : n[axis] - 1);
    if (!lies_on || !has_face(lattice, face) || !is_open(face_of(options, face)->kind) || count == 3)
      continue;
    int place = count++;
    while (place > 0 &&
           precedence(face_of(options, faces[place - 1])->kind) > precedence(face_of(options, face)->kind)) {
      faces[place] = faces[place - 1];
      place--;
    }
    faces[place] = face;
  }
  return count;
}

bool lmi_boundary_is_special(const lmi_boundary_view *view, lamina_int3 cell)
{
  const lmi_lattice *lattice = lmi_lattice_get(view->options->lattice);
  int faces[3];
  if (is_solid(view, lattice, cell))
    return false;
  if (faces_of_cell(view->options, lattice, cell, faces) > 0)
    return true;
  for (int q = 0; view->voxels != NULL && q < lattice->velocities; q++)
    if (leads_into_body(view, lattice, cell, q) && !is_plain_link(view, lattice, cell, q))
      return true;
  return false;
}

/* ---- reals in the precision of the kernels ---- */

static void put_real(const lmi_boundary *b, void *array, int64_t at, double value)
{
  if (b->real_bytes == sizeof(double))
    ((double *)array)[at] = value;
  else
    ((float *)array)[at] = (float)value;
}

double lmi_boundary_real(const lmi_boundary *b, const void *array, int64_t at)
{
  return b->real_bytes == sizeof(double) ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

/* An item that stands for no cell. */
static bool is_empty(lamina_int3 cell)
{
  return cell.x < 0;
}

/* ---- faces ---- */

static int open_kind(lamina_face_kind kind)
{
  switch (kind) {
  case LAMINA_FACE_VELOCITY: return LMK_OPEN_VELOCITY;
  case LAMINA_FACE_PRESSURE: return LMK_OPEN_PRESSURE;
  case LAMINA_FACE_OUTFLOW: return LMK_OPEN_OUTFLOW;
  default: break;
  }
  return LMK_OPEN_SLIP;
}

/* 0 stands for 1. */
static double asked_excess(const lamina_face *face)
{
  return face->density == 0.0 ? 0.0 : face->density - 1.0;
}

static void add_face(lmi_boundary *b, const lamina_solver_options *options, int face)
{
  const lamina_face *given = face_of(options, face);
  const int axis = face / 2, first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
  int64_t n[3];
  kernel_extent(options, n);
  lmk_open_face *f = &b->faces[b->face_count];
  *f = (lmk_open_face){
    .kind = open_kind(given->kind),
    .method = given->method == LAMINA_FACE_ZOU_HE ? LMK_METHOD_ZOU_HE : LMK_METHOD_REGULARIZED,
    .axis = axis,
    .inward = face % 2 == 0 ? 1 : -1,
    .cells = {(int32_t)n[first], (int32_t)n[second]},
    .wraps = {lmi_is_periodic(options, first), lmi_is_periodic(options, second)},
    .record = b->set.record_values,
    .excess = asked_excess(given),
    .scale = 1.0,
  };
  if (f->kind >= LMK_OPEN_OUTFLOW)
    b->set.record_values += LMK_RECORD_PARTS * n[first] * n[second];
  b->asked[b->face_count] = f->excess;
  b->has_profile[b->face_count] = given->profile != NULL;
  b->face_number[face] = b->face_count++;
}

static void add_faces(lmi_boundary *b, const lamina_solver_options *options)
{
  for (int face = 0; face < LMK_FACES; face++) {
    b->face_number[face] = -1;
    if (has_face(b->lattice, face) && is_open(face_of(options, face)->kind))
      add_face(b, options, face);
  }
}

/* The velocity a face gives a cell: out of its profile, or the same everywhere. */
static void face_velocity(const lamina_solver_options *options, const lmk_open_face *f, int kernel_face,
                          const lmk_special *at, double u[3])
{
  const lamina_face *given = face_of(options, kernel_face);
  const lamina_real3 v =
    given->profile != NULL ? given->profile[at->i + (int64_t)f->cells[0] * at->j] : given->velocity;
  lmi_kernel_vector(options, v, u);
}

/* A cell in a corner of three open faces leaves nothing for the third. */
static bool leaves_nothing(const lmi_boundary_view *view, const lmi_boundary *b, const lmk_open_face *f,
                           lamina_int3 cell)
{
  int faces[3];
  const int own = 2 * f->axis + (f->inward < 0);
  return faces_of_cell(view->options, b->lattice, cell, faces) == 3 && faces[2] == own;
}

/* Velocities that enter through the face and cross another wall, or come from a solid neighbour: they stay bounced. */
static uint32_t bounced_velocities(const lmi_boundary_view *view, const lmi_boundary *b, const lmk_open_face *f,
                                   lamina_int3 cell)
{
  uint32_t bounced = 0;
  for (int q = 0; q < b->lattice->velocities; q++) {
    lamina_int3 upstream;
    const int8_t *c = b->lattice->c[q];
    if (f->inward * c[f->axis] <= 0)
      continue;
    /* Upstream along the face: q without its normal part, backwards. */
    int along = (b->lattice->velocities - 1) / 2;
    for (int other = 0; other < b->lattice->velocities; other++) {
      const int8_t *o = b->lattice->c[other];
      bool same = o[f->axis] == 0;
      for (int axis = 0; axis < 3; axis++)
        same = same && (axis == f->axis || o[axis] == -c[axis]);
      along = same ? other : along;
    }
    bool has_tangential = false;
    for (int axis = 0; axis < 3; axis++)
      has_tangential = has_tangential || (axis != f->axis && c[axis] != 0);
    if (!has_tangential)
      continue;
    if (!far_end(view, b->lattice, cell, along, &upstream) || is_solid(view, b->lattice, upstream) ||
        leaves_nothing(view, b, f, upstream))
      bounced |= 1u << q;
  }
  return bounced;
}

/* Which neighbours along the face are walls or bodies. */
static uint32_t walls_along(const lmi_boundary_view *view, const lmi_boundary *b, const lmk_open_face *f,
                            lamina_int3 cell)
{
  const int axes[2] = {f->axis == 0 ? 1 : 0, f->axis == 2 ? 1 : 2};
  int64_t n[3];
  uint32_t walls = 0;
  kernel_extent(view->options, n);
  for (int bit = 0; bit < 4; bit++) {
    const int axis = axes[bit / 2], face = 2 * axis + bit % 2;
    int64_t at[3] = {cell.x, cell.y, cell.z};
    at[axis] += bit % 2 == 0 ? -1 : 1;
    const bool is_outside = at[axis] < 0 || at[axis] >= n[axis];
    if (is_outside && lmi_is_periodic(view->options, axis))
      at[axis] = (at[axis] + n[axis]) % n[axis];
    else if (is_outside) {
      walls |= (face_of(view->options, face)->kind == LAMINA_FACE_WALL ? 1u : 0u) << bit;
      continue;
    }
    const lamina_int3 neighbour = {at[0], at[1], at[2]};
    if (is_solid(view, b->lattice, neighbour) || leaves_nothing(view, b, f, neighbour))
      walls |= 1u << bit;
  }
  return walls;
}

static void set_face_of_item(const lmi_boundary_view *view, lmi_boundary *b, int64_t item)
{
  const lamina_int3 cell = b->cells[item];
  const int64_t at[3] = {cell.x, cell.y, cell.z};
  lmk_special *special = &b->special[item];
  int faces[3];
  const int count = is_empty(cell) ? 0 : faces_of_cell(view->options, b->lattice, cell, faces);
  special->face = special->mirror = -1;
  if (count == 0)
    return;
  special->face = b->face_number[faces[0]];
  special->mirror = count > 1 ? b->face_number[faces[1]] : -1;
  const lmk_open_face *f = &b->faces[special->face];
  special->i = (int32_t)at[f->axis == 0 ? 1 : 0];
  special->j = (int32_t)at[f->axis == 2 ? 1 : 2];
  double u[3];
  face_velocity(view->options, f, faces[0], special, u);
  for (int axis = 0; axis < 3; axis++)
    put_real(b, b->velocity, 3 * item + axis, u[axis]);
  if (f->kind == LMK_OPEN_SLIP)
    special->bounce = bounced_velocities(view, b, f, cell);
  if (f->kind == LMK_OPEN_OUTFLOW)
    special->bounce = walls_along(view, b, f, cell);
}

/* ---- links ---- */

/* Velocities that reach the cell from a body. */
static uint32_t body_velocities(const lmi_boundary_view *view, const lmi_boundary *b, lamina_int3 cell)
{
  uint32_t links = 0;
  const int velocities = b->lattice->velocities;
  for (int q = 0; view->voxels != NULL && !is_empty(cell) && q < velocities; q++)
    if (leads_into_body(view, b->lattice, cell, velocities - 1 - q))
      links |= 1u << q;
  return links;
}

/* Interpolation needs f_i, i towards the body, to arrive from a fluid cell: not from a wall, an open face, a body. */
static bool arrives_from_fluid(const lmi_boundary_view *view, const lmi_boundary *b, lamina_int3 cell, int q)
{
  lamina_int3 behind;
  return far_end(view, b->lattice, cell, q, &behind) && !is_solid(view, b->lattice, behind);
}

/* The way of a link to its body, in the box's axes: from the centre of which cell, and along what. A link through a
 * plane of slip is mirrored: it comes from beyond the box. */
static lamina_int3 way_to_body(const lmi_boundary_view *view, const lmi_boundary *b, lamina_int3 cell, int q, int c[3])
{
  const int toward = b->lattice->velocities - 1 - q;
  lamina_int3 end = cell;
  unsigned turned = 0;
  (void)find_end(view, b->lattice, cell, toward, &end, &turned);
  box_velocity(b->lattice, toward, c);
  if (turned == 0)
    return box_cell(b->lattice, cell);
  for (int axis = 0; axis < 3; axis++)
    if ((turned >> axis & 1u) != 0)
      c[is_flat(b->lattice) && axis == 2 ? 1 : axis] *= -1;
  end = box_cell(b->lattice, end);
  return (lamina_int3){end.x - c[0], end.y - c[1], end.z - c[2]};
}

static void set_link(const lmi_boundary_view *view, lmi_boundary *b, lamina_int3 cell, int q, int64_t link)
{
  const lamina_geometry *geometry = view->voxels->geometry;
  int c[3], body = 1;
  double fraction = 0.5;
  const lamina_int3 at = way_to_body(view, b, cell, q, c);
  for (int axis = 0; axis < 3; axis++)
    b->way[link][axis] = (int8_t)c[axis];
  (void)lmi_geometry_link(view->voxels, at, c, &fraction, &body);
  const double place[3] = {(double)at.x + 0.5 + fraction * c[0], (double)at.y + 0.5 + fraction * c[1],
                           (double)at.z + 0.5 + fraction * c[2]};
  const lamina_real3 u = lmi_geometry_surface_velocity(geometry, body, (lamina_real3){place[0], place[1], place[2]});
  lamina_body_info info;
  (void)lamina_geometry_get_body(geometry, body, &info);
  b->arm[link][0] = place[0] - info.centre.x;
  b->arm[link][1] = place[1] - info.centre.y;
  b->arm[link][2] = is_flat(b->lattice) ? 0.0 : place[2] - info.centre.z;
  b->surface[link][0] = u.x;
  b->surface[link][1] = u.y;
  b->surface[link][2] = u.z;
  /* c of the incoming velocity is -c of the way to the body. A resting surface adds -0, which changes no bit. */
  const double cu = -(c[0] * u.x + c[1] * u.y + c[2] * u.z);
  put_real(b, b->push, link, cu == 0.0 ? -0.0 : 6.0 * b->lattice->weight[q] * cu);
  const bool interpolates = view->options->curved == LAMINA_CURVED_BOUZIDI && arrives_from_fluid(view, b, cell, q);
  b->links[link] = (lmk_link){.fraction = interpolates ? (float)fraction : 0.5f, .body = body - 1};
}

static void set_links(const lmi_boundary_view *view, lmi_boundary *b)
{
  for (int64_t item = 0; item < b->item_count; item++) {
    int64_t link = b->special[item].first_link;
    for (int q = 0; q < b->lattice->velocities; q++)
      if ((b->special[item].links >> q & 1u) != 0)
        set_link(view, b, b->cells[item], q, link++);
  }
}

/* ---- outflow ---- */

/* Cells in the order of planes, rows and columns are rows of the face one after the other. */
static lamina_status add_outflow(lmi_boundary *b, int face, double length)
{
  const lmk_open_face *f = &b->faces[face];
  const int at = b->outflow_count++;
  const int32_t rows = f->cells[1];
  int32_t count = 0;
  for (int64_t i = 0; i < b->item_count; i++)
    count += b->special[i].face == face;
  LMI_TRY(LMI_ALLOC(b->ctx, (size_t)rows + 1, &b->outflow_rows[at]));
  LMI_TRY(LMI_ALLOC(b->ctx, (size_t)count, &b->outflow_cells[at]));
  b->outflows[at] = (lmk_outflow){
    .face = face,
    .rows = rows,
    .row_first = b->outflow_rows[at],
    .cells = b->outflow_cells[at],
    .rate = RETURN_SHARE * SOUND / length,
    .asked = b->asked[face],
  };
  count = 0;
  for (int64_t i = 0; i < b->item_count; i++) {
    const lmk_special *special = &b->special[b->order[i]];
    if (special->face != face)
      continue;
    b->outflow_cells[at][count++] = special->i + f->cells[0] * special->j;
    b->outflow_rows[at][special->j + 1] = count;
  }
  for (int32_t row = 0; row < rows; row++) /* rows without any */
    if (b->outflow_rows[at][row + 1] == 0)
      b->outflow_rows[at][row + 1] = b->outflow_rows[at][row];
  return LAMINA_OK;
}

static lamina_status add_outflows(lmi_boundary *b, const lamina_solver_options *options)
{
  int64_t n[3];
  kernel_extent(options, n);
  for (int face = 0; face < b->face_count; face++)
    if (b->faces[face].kind == LMK_OPEN_OUTFLOW)
      LMI_TRY(add_outflow(b, face, (double)n[b->faces[face].axis]));
  return LAMINA_OK;
}

lmk_settle lmi_boundary_settle_set(const lmi_boundary *b, int parity)
{
  lmk_settle settle = {
    .faces = (lmk_open_face *)b->set.faces,
    .records = (const char *)b->records + (size_t)(parity * b->set.record_values) * b->real_bytes,
    .outflow_count = b->outflow_count,
  };
  memcpy(settle.outflows, b->outflows, sizeof settle.outflows);
  return settle;
}

/* Rows of the face, then the rows in order, as ranks that hold rows do it together, and devices. */
static lamina_status settle_outflow(const lmi_boundary *b, const lmk_settle *settle, const lmk_outflow *out)
{
  const size_t rows = (size_t)out->rows;
  double *sums = b->row_sums, *counts = sums + rows, sum = 0.0, count = 0.0;
  for (size_t row = 0; row < rows; row++) {
    sums[row] = 0.0;
    counts[row] = (double)(out->row_first[row + 1] - out->row_first[row]);
    for (int32_t i = out->row_first[row]; i < out->row_first[row + 1]; i++)
      sums[row] +=
        lmi_boundary_real(b, settle->records, lmk_part_at(&settle->faces[out->face], LMK_RECORD_EXCESS, out->cells[i]));
  }
  LMI_TRY(lmi_ranks_merge_bits(b->ctx, sums, 2 * rows * sizeof *sums));
  for (size_t row = 0; row < rows; row++) {
    sum += sums[row];
    count += counts[row];
  }
  lmk_settle_face(settle, out, sum, count);
  return LAMINA_OK;
}

lamina_status lmi_boundary_settle(lmi_boundary *b, int parity)
{
  const lmk_settle settle = lmi_boundary_settle_set(b, parity);
  for (int i = 0; i < settle.outflow_count; i++)
    LMI_TRY(settle_outflow(b, &settle, &settle.outflows[i]));
  return LAMINA_OK;
}

size_t lmi_boundary_rows(const lmi_boundary *b, lmi_shared_rows *rows)
{
  size_t count = 0;
  for (int face = 0; face < b->face_count; face++) {
    const lmk_open_face *f = &b->faces[face];
    if (f->kind < LMK_OPEN_OUTFLOW || f->axis == 2)
      continue;
    const size_t part_bytes = (size_t)f->cells[0] * (size_t)f->cells[1] * b->real_bytes;
    lmi_shared_rows *made = &rows[count++];
    *made =
      (lmi_shared_rows){.bytes = (size_t)f->cells[0] * b->real_bytes, .runs = LMK_RECORD_PARTS, .pitch = part_bytes};
    for (int parity = 0; parity < 2; parity++)
      made->first[parity] =
        (char *)b->records + (size_t)((1 - parity) * b->set.record_values + f->record) * b->real_bytes;
  }
  return count;
}

/* ---- making ---- */

static int compare_cells(const lamina_int3 *a, const lamina_int3 *b)
{
  if (a->z != b->z)
    return a->z < b->z ? -1 : 1;
  if (a->y != b->y)
    return a->y < b->y ? -1 : 1;
  return a->x < b->x ? -1 : a->x > b->x;
}

typedef struct placed_item {
  lamina_int3 cell;
  int64_t item;
} placed_item;

static int compare_placed(const void *a, const void *b)
{
  return compare_cells(&((const placed_item *)a)->cell, &((const placed_item *)b)->cell);
}

static lamina_status sort_items(lmi_boundary *b)
{
  placed_item *placed = NULL;
  LMI_TRY(LMI_ALLOC(b->ctx, (size_t)b->item_count, &placed));
  for (int64_t i = 0; i < b->item_count; i++)
    placed[i] = (placed_item){b->cells[i], i};
  qsort(placed, (size_t)b->item_count, sizeof *placed, compare_placed);
  for (int64_t i = 0; i < b->item_count; i++)
    b->order[i] = placed[i].item;
  lmi_free(b->ctx, placed);
  return LAMINA_OK;
}

static lamina_status allocate_reals(lmi_boundary *b, int64_t count, void **array)
{
  return lmi_alloc_array(b->ctx, (size_t)count, b->real_bytes, array);
}

static lamina_status make_items(const lmi_boundary_view *view, lmi_boundary *b, const lamina_int3 *cells)
{
  const size_t count = (size_t)b->item_count;
  LMI_TRY(LMI_ALLOC(b->ctx, count, &b->cells));
  LMI_TRY(LMI_ALLOC(b->ctx, count, &b->order));
  LMI_TRY(LMI_ALLOC(b->ctx, count, &b->special));
  LMI_TRY(allocate_reals(b, 3 * b->item_count, &b->velocity));
  if (count > 0)
    memcpy(b->cells, cells, count * sizeof *cells);
  for (int64_t item = 0; item < b->item_count; item++) {
    set_face_of_item(view, b, item);
    lmk_special *special = &b->special[item];
    special->links = body_velocities(view, b, b->cells[item]);
    LMI_REQUIRE(b->ctx, b->link_count < INT32_MAX - 27, LAMINA_ERROR_ARGUMENT,
                "bodies meet more than 2^31 links: fewer cells, or half-way surfaces without loads");
    special->first_link = (int32_t)b->link_count;
    b->link_count += __builtin_popcount(special->links);
  }
  return sort_items(b);
}

static lamina_status make_links(const lmi_boundary_view *view, lmi_boundary *b)
{
  const size_t count = (size_t)b->link_count;
  b->body_count = view->voxels != NULL ? lamina_geometry_body_count(view->voxels->geometry) : 0;
  LMI_TRY(LMI_ALLOC(b->ctx, count, &b->links));
  LMI_TRY(LMI_ALLOC(b->ctx, count, &b->way));
  LMI_TRY(LMI_ALLOC(b->ctx, count, &b->arm));
  LMI_TRY(LMI_ALLOC(b->ctx, count, &b->surface));
  LMI_TRY(LMI_ALLOC(b->ctx, (size_t)b->body_count, &b->motion));
  LMI_TRY(allocate_reals(b, b->link_count, &b->push));
  LMI_TRY(allocate_reals(b, b->link_count, &b->kept));
  LMI_TRY(allocate_reals(b, b->link_count, &b->exchange));
  for (int body = 0; body < b->body_count; body++)
    b->motion[body] = 1.0;
  set_links(view, b);
  return LAMINA_OK;
}

static void fill_set(lmi_boundary *b, const lamina_solver_options *options)
{
  lmk_boundary *set = &b->set;
  set->faces = b->faces;
  set->special = b->special;
  set->velocity = b->velocity;
  set->links = b->links;
  set->push = b->push;
  set->motion = b->motion;
  set->kept = b->kept;
  set->exchange = b->exchange;
  set->records = b->records;
  set->omega = options->omega;
  lmi_kernel_vector(options, options->force, set->force);
}

/* Velocities of the items of a face without a profile. */
static void set_velocities(lmi_boundary *b, int face, const double u[3])
{
  for (int64_t item = 0; item < b->item_count; item++)
    for (int axis = 0; b->special[item].face == face && axis < 3; axis++)
      put_real(b, b->velocity, 3 * item + axis, u[axis]);
}

void lmi_boundary_update(lmi_boundary *b, const lamina_solver_options *options)
{
  b->changed |= LMI_BOUNDARY_SETTINGS;
  b->set.omega = options->omega;
  lmi_kernel_vector(options, options->force, b->set.force);
  for (int kernel_face = 0; kernel_face < LMK_FACES; kernel_face++) {
    const int face = b->face_number[kernel_face];
    if (face < 0)
      continue;
    const lamina_face *given = face_of(options, kernel_face);
    double u[3];
    b->asked[face] = asked_excess(given);
    if (b->faces[face].kind == LMK_OPEN_PRESSURE)
      b->faces[face].excess = b->faces[face].scale * b->asked[face];
    lmi_kernel_vector(options, given->velocity, u);
    if (!b->has_profile[face] && b->faces[face].kind <= LMK_OPEN_PRESSURE)
      set_velocities(b, face, u);
  }
  for (int i = 0; i < b->outflow_count; i++)
    b->outflows[i].asked = b->asked[b->outflows[i].face];
}

lamina_status lmi_boundary_create(lamina_context *ctx, const lmi_boundary_view *view, const lamina_int3 *cells,
                                  int64_t count, lmi_boundary **boundary)
{
  lamina_status status = LAMINA_OK;
  lmi_boundary *b = NULL;
  *boundary = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &b));
  b->ctx = ctx;
  b->lattice = lmi_lattice_get(view->options->lattice);
  b->real_bytes = lmi_precision_bytes(view->options);
  b->item_count = count;
  kernel_extent(view->options, b->extent);
  add_faces(b, view->options);
  LMI_TRY_GOTO(status, make_items(view, b, cells), cleanup);
  LMI_TRY_GOTO(status, make_links(view, b), cleanup);
  LMI_TRY_GOTO(status, add_outflows(b, view->options), cleanup);
  LMI_TRY_GOTO(status, allocate_reals(b, 2 * b->set.record_values, &b->records), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 2 * (size_t)(b->extent[1] + b->extent[2]), &b->row_sums), cleanup);
  fill_set(b, view->options);
  b->changed = LMI_BOUNDARY_TABLES | LMI_BOUNDARY_SETTINGS | LMI_BOUNDARY_STATE;
  *boundary = b;
  return LAMINA_OK;

cleanup:
  lmi_boundary_destroy(b);
  return status;
}

void lmi_boundary_destroy(lmi_boundary *b)
{
  if (b == NULL)
    return;
  void *const arrays[] = {b->cells,   b->order,    b->special, b->links, b->motion,   b->way,     b->arm,
                          b->surface, b->velocity, b->push,    b->kept,  b->exchange, b->records, b->row_sums};
  for (size_t i = 0; i < LMI_COUNT(arrays); i++)
    lmi_free(b->ctx, arrays[i]);
  for (int i = 0; i < b->outflow_count; i++) {
    lmi_free(b->ctx, b->outflow_rows[i]);
    lmi_free(b->ctx, b->outflow_cells[i]);
  }
  lmi_free(b->ctx, b);
}

uint64_t lmi_boundary_bytes(const lmi_boundary *b)
{
  const uint64_t item = sizeof(lamina_int3) + sizeof(int64_t) + sizeof(lmk_special) + 3 * b->real_bytes;
  const uint64_t link = sizeof(lmk_link) + 6 * sizeof(double) + 3 * b->real_bytes;
  return item * (uint64_t)b->item_count + link * (uint64_t)b->link_count +
         2 * b->real_bytes * (uint64_t)b->set.record_values;
}

/* ---- state ---- */

static lmi_leave_function *leave_function(const lmi_boundary *b)
{
  static lmi_leave_function *const FUNCTIONS[3][2] = {
    {lmi_leave_d2q9_f32, lmi_leave_d2q9_f64},
    {lmi_leave_d3q19_f32, lmi_leave_d3q19_f64},
    {lmi_leave_d3q27_f32, lmi_leave_d3q27_f64},
  };
  const int velocities = b->lattice->velocities;
  return FUNCTIONS[velocities == 9 ? 0 : velocities == 19 ? 1 : 2][b->real_bytes == sizeof(double)];
}

void lmi_boundary_import(lmi_boundary *b, int64_t first, int64_t count, const void *planes)
{
  lmi_leave_function *leave = leave_function(b);
  const int64_t cells = b->extent[0] * b->extent[1];
  b->changed |= LMI_BOUNDARY_STATE;
  for (int64_t item = 0; item < b->item_count; item++) {
    const lamina_int3 cell = b->cells[item];
    double room[LMK_MAX_VELOCITIES];
    char *g = (char *)room;
    if (cell.z < first || cell.z >= first + count)
      continue;
    for (int q = 0; q < b->lattice->velocities; q++) {
      const int64_t at = ((cell.z - first) * b->lattice->velocities + q) * cells + cell.y * b->extent[0] + cell.x;
      memcpy(g + (size_t)q * b->real_bytes, (const char *)planes + (size_t)at * b->real_bytes, b->real_bytes);
    }
    leave(g, &b->set, item);
  }
}

void lmi_boundary_scale_face(lmi_boundary *b, int kernel_face, double factor)
{
  const int face = b->face_number[kernel_face];
  if (face < 0)
    return;
  b->changed |= LMI_BOUNDARY_SETTINGS;
  b->faces[face].scale = factor;
  if (b->faces[face].kind == LMK_OPEN_PRESSURE)
    b->faces[face].excess = factor * b->asked[face];
}

void lmi_boundary_scale_motion(lmi_boundary *b, int body, double factor)
{
  b->changed |= LMI_BOUNDARY_SETTINGS;
  if (body >= 1 && body <= b->body_count)
    b->motion[body - 1] = factor;
}
