/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies as kept. All coordinates are integers in units of 2^-22 cell, below 2^39: then the products of three
 * differences that decide on which side of a triangle a centre lies fit in 128 bits, and no predicate ever rounds. */
#ifndef LMI_GEOMETRY_INTERNAL_H
#define LMI_GEOMETRY_INTERNAL_H

#include "voxels.h"

enum { LMI_FIXED_BITS = 22 };
#define LMI_FIXED_ONE ((int64_t)1 << LMI_FIXED_BITS)
#define LMI_FIXED_MOST ((int64_t)131071 << LMI_FIXED_BITS)

__extension__ typedef __int128 lmi_wide;

typedef int64_t lmi_fixed3[3];
typedef uint32_t lmi_corner3[3];

/* Boxes around runs of triangles: node i has the children 2 i + 1 and 2 i + 2, the last `leaf_count` nodes hold
 * LMI_LEAF_TRIANGLES triangles each, in the order of their places on a space-filling curve. */
enum { LMI_LEAF_TRIANGLES = 4 };
typedef struct lmi_tree_box {
  int64_t low[3], high[3];
} lmi_tree_box;

typedef struct lmi_triangle_tree {
  size_t leaf_count; /* a power of two; 0: no tree */
  lmi_tree_box *nodes;
} lmi_triangle_tree;

typedef struct lmi_body {
  lamina_body_info info;
  char *name;
  lmi_tree_box bounds;

  /* sphere: centre and radius. cylinder: from, to, radius; axis 0 to 2 when it is parallel to one, else -1 */
  lmi_fixed3 from, to;
  int64_t radius;
  int axis;
  bool is_endless;

  /* mesh */
  lmi_fixed3 *vertices;
  lmi_corner3 *triangles; /* in the order of the tree */
  size_t vertex_count, triangle_count;
  lmi_triangle_tree tree;
} lmi_body;

struct lamina_geometry {
  lamina_context *ctx;
  lmi_body *bodies;
  int count, capacity;
};

static inline double lmi_from_fixed(int64_t value)
{
  return (double)value / (double)LMI_FIXED_ONE;
}

/* Rounds to the grid; false when the value is not finite or too far away. Ties go to even, so that reflections about
 * whole cells give reflected results. */
bool lmi_to_fixed(double value, int64_t *fixed);

/* Centre of cell i along each axis: first + i step. */
typedef struct lmi_centres {
  int64_t first[3], step[3];
  lamina_index count[3];
} lmi_centres;

lmi_centres lmi_centres_make(const lmi_voxel_grid *grid);

static inline int64_t lmi_floor_divide(int64_t a, int64_t b)
{
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Cells whose centres lie in [low, high] along an axis: from *begin to below *end. */
void lmi_centres_range(const lmi_centres *centres, int axis, int64_t low, int64_t high, lamina_index *begin,
                       lamina_index *end);

/* Room for one more body; its number is count after geometry->count++. */
LAMINA_NODISCARD lamina_status lmi_geometry_reserve(lamina_geometry *geometry, lmi_body **body);

/* Turns and moves one point. */
typedef struct lmi_transform {
  double scale, matrix[3][3], move[3];
} lmi_transform;

lmi_transform lmi_transform_make(const lamina_pose *placement);
void lmi_transform_apply(const lmi_transform *transform, const double from[3], double to[3]);

/* Sorts the triangles of a body along a curve and builds the boxes over them. */
LAMINA_NODISCARD lamina_status lmi_triangle_tree_build(lamina_context *ctx, lmi_body *body);

/* Calls `visit` for each triangle whose box meets `box`; false from it ends the search. */
typedef bool lmi_triangle_visit(void *user, size_t triangle);
void lmi_triangle_tree_visit(const lmi_body *body, const lmi_tree_box *box, lmi_triangle_visit *visit, void *user);

/* Where the way from `start` by `way` (fixed coordinates) first meets the body, as a part of the way above 0 and up to
 * `most`; false: nowhere. */
bool lmi_body_first_hit(const lmi_body *body, const lmi_fixed3 start, const lmi_fixed3 way, double most, double *part);

/* Sets the bits of cells that are in the body: `mask` covers blocks [first, first + count). */
typedef struct lmi_mask {
  lmi_centres centres;
  lamina_index first[3], count[3]; /* blocks */
  uint64_t *words;
} lmi_mask;

static inline uint64_t *lmi_mask_word(const lmi_mask *mask, const lamina_index block[3])
{
  const lamina_index x = block[0] - mask->first[0], y = block[1] - mask->first[1], z = block[2] - mask->first[2];
  return &mask->words[(z * mask->count[1] + y) * mask->count[0] + x];
}

/* Notes which bodies are near which cells. */
LAMINA_NODISCARD lamina_status lmi_voxels_bin_bodies(lamina_context *ctx, lmi_voxels *voxels);

LAMINA_NODISCARD lamina_status lmi_mask_mesh(lamina_context *ctx, const lmi_body *body, const lmi_mask *mask);
void lmi_mask_shape(lamina_context *ctx, const lmi_body *body, const lmi_mask *mask);

#endif
