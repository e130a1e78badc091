/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies (lamina/geometry.h) as cells: which are solid, whose they are, and where a link meets a surface. */
#ifndef LMI_VOXELS_H
#define LMI_VOXELS_H

#include <lamina/geometry.h>

#include "base/base.h"

/* The cells asked about. Level l has cells of size 2^l: the centre of cell i is (i + 1/2) 2^l. `is_flat`: two
 * dimensions; cells.z is 1 and bodies are cut at z = 1/2 on every level. */
typedef struct lmi_voxel_grid {
  lamina_int3 cells; /* of this level */
  int level;         /* 0 to 16 */
  bool is_flat;
} lmi_voxel_grid;

/* Which cells are solid: one word a block of 4 x 4 x 4 cells, bit x + 4 y + 16 z; blocks x fastest. Bits of cells
 * outside the box are 0. Borrows the geometry (for links and bodies). */
typedef struct lmi_voxels {
  const lamina_geometry *geometry;
  lmi_voxel_grid grid;
  lamina_int3 blocks; /* (cells + 3) / 4 */
  uint64_t *solid;
  uint16_t *owner;       /* a block: the body of all its solid cells, 0: none, LMI_VOXEL_MIXED: in `mixed` */
  uint32_t *mixed_index; /* a block that is mixed: entry of `mixed` */
  uint16_t (*mixed)[64];
  lamina_index solid_count;  /* cells */
  lamina_index *body_counts; /* cells a body has; entry k - 1 for body k */

  /* bodies near a cell: those of its bin, a cube of 2^bin_shift cells */
  int bin_shift;
  lamina_int3 bins;
  uint32_t *bin_starts; /* one more than there are bins */
  uint16_t *bin_bodies; /* numbers less 1, rising in each bin */
} lmi_voxels;

enum { LMI_VOXEL_MIXED = 0xffff };

/* Told how much is done, 0 to 1, from the caller's thread. */
typedef void lmi_voxel_progress(void *user, double share);

typedef struct lmi_voxelize_options {
  lmi_voxel_progress *progress; /* NULL: none */
  void *progress_user;
} lmi_voxelize_options;

/* Uses the threads of the context; the same bits for any number of them. `options` may be NULL.
 * Errors: ARGUMENT (a grid beyond 131071 fine cells along an axis; no fluid cell left), MEMORY. On failure *voxels is
 * empty. */
LAMINA_NODISCARD lamina_status lmi_geometry_voxelize(lamina_context *ctx, const lamina_geometry *geometry,
                                                     const lmi_voxel_grid *grid, const lmi_voxelize_options *options,
                                                     lmi_voxels *voxels);
void lmi_voxels_free(lamina_context *ctx, lmi_voxels *voxels);

static inline size_t lmi_voxels_block(const lmi_voxels *voxels, lamina_index x, lamina_index y, lamina_index z)
{
  return (size_t)(((z >> 2) * voxels->blocks.y + (y >> 2)) * voxels->blocks.x + (x >> 2));
}

static inline int lmi_voxels_bit(lamina_index x, lamina_index y, lamina_index z)
{
  return (int)((x & 3) + 4 * (y & 3) + 16 * (z & 3));
}

/* Of a cell inside the box. */
static inline bool lmi_voxels_is_solid(const lmi_voxels *voxels, lamina_int3 cell)
{
  return (voxels->solid[lmi_voxels_block(voxels, cell.x, cell.y, cell.z)] >> lmi_voxels_bit(cell.x, cell.y, cell.z)) &
         1U;
}

/* Number of the body the cell belongs to; 0: fluid. */
int lmi_voxels_body(const lmi_voxels *voxels, lamina_int3 cell);

/* Does the straight way from the centre of a fluid cell to the centre of cell + c meet a surface? Then *fraction, in
 * (0, 1], says after which part of the way it does so first, and *body whose surface that is. One end is inside the
 * box. `cell` may lie beside it (a plane of symmetry). Where the other end does, it is taken as the cell that a
 * periodic face leads to, and the caller asks only where the face is periodic. Always true when the other end is solid
 * (should rounding hide the surface, with fraction 1/2). Also true where a part thinner than a cell lies between two
 * fluid cells. Safe from several threads. */
bool lmi_geometry_link(const lmi_voxels *voxels, lamina_int3 cell, const int c[3], double *fraction, int *body);

/* Velocity of the body's surface at a point. */
lamina_real3 lmi_geometry_surface_velocity(const lamina_geometry *geometry, int body, lamina_real3 point);

/* A part of a body that no cell shows: surface further than about a cell from every solid cell. Lengths in fine cells.
 */
typedef struct lmi_thin_part {
  int body;
  lamina_real3 low, high; /* bounds of what vanishes */
  double keep;            /* cells of this size or smaller keep most of it */
  bool is_whole;          /* the whole body has no cell */
} lmi_thin_part;

/* The largest `capacity` of them; *count is how many there are. Only bodies that meet the box are looked at. */
LAMINA_NODISCARD lamina_status lmi_geometry_find_thin(lamina_context *ctx, const lmi_voxels *voxels, size_t capacity,
                                                      lmi_thin_part *parts, size_t *count);

/* Numbers equal keys (three integers each) alike, in order of first appearance: corners that meet become one vertex. */
LAMINA_NODISCARD lamina_status lmi_weld(lamina_context *ctx, const int64_t *keys, size_t count, uint32_t *numbers,
                                        size_t *distinct);

/* Scales, turns and moves vertices in place. */
void lmi_mesh_place(double *vertices, size_t vertex_count, const lamina_pose *placement);

lamina_context *lmi_geometry_context(const lamina_geometry *geometry);

/* Edges of a mesh that do not bound two triangles. */
typedef struct lmi_open_edges {
  size_t count;
  lamina_real3 low, high;      /* bounds of them all */
  lamina_real3 from[8], to[8]; /* the first ones */
} lmi_open_edges;

/* Finds them; `is_oriented` (may be NULL): every edge is walked as often one way as the other. */
LAMINA_NODISCARD lamina_status lmi_mesh_find_open_edges(lamina_context *ctx, const lamina_mesh *mesh,
                                                        lmi_open_edges *open, bool *is_oriented);

/* "3 open edges on the plane x = 0, from (0, 0, 0) to (0, 10, 10)": for messages. Returns buffer. */
const char *lmi_open_edges_describe(const lmi_open_edges *open, size_t bytes, char *buffer);

#endif
