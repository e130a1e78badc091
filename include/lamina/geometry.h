/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies in a box of cells: spheres, cylinders, boxes and closed triangle meshes. Everything here is in lattice units:
 * cell (i, j, k) has its centre at (i + 1/2, j + 1/2, k + 1/2); with several levels the unit is the finest cell.
 *
 *   lamina_geometry *geometry = NULL;
 *   lamina_geometry_create(context, &geometry);
 *   lamina_geometry_add_sphere(geometry, (lamina_real3){32, 32, 32}, 8.0, NULL);
 *   lamina_geometry_add_stl(geometry, "car.stl", &placement, false, &number);
 *   options.geometry = geometry;                      of lamina_solver_options
 *   lamina_solver_create(context, &options, &solver);
 *   lamina_geometry_destroy(geometry);
 *
 * The rule: a cell is solid when its centre lies inside a body or exactly on its surface. Coordinates are rounded to
 * 2^-22 of a cell and everything after that is decided exactly, so the answer depends neither on the order nor on the
 * orientation of the triangles, nor on quarter turns and reflections of the whole. Bodies may overlap, be nested and
 * reach out of the box; where they overlap the one with the lowest number has the cell. Bodies are numbered from 1.
 *
 * The surfaces of one mesh make a solid wherever the winding number is not 0: shells that overlap are united, a shell
 * turned the other way inside another one is a cavity. Where triangles do not agree on their orientation, the parity of
 * crossings decides instead. */
#ifndef LAMINA_GEOMETRY_H
#define LAMINA_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lamina/context.h>
#include <lamina/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamina_geometry lamina_geometry;

enum { LAMINA_MAX_BODIES = 65534 };

/* An empty geometry. The context must outlive it. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_geometry_create(lamina_context *context, lamina_geometry **geometry);
LAMINA_API void lamina_geometry_destroy(lamina_geometry *geometry);

/* Where the points of a body go: scaled about their own origin, then turned by `rotate` degrees about x, then about y,
 * then about z, then moved by `at`. Multiples of 90 degrees are exact. */
typedef struct lamina_pose {
  double scale; /* > 0 */
  lamina_real3 rotate, at;
} lamina_pose;

LAMINA_API lamina_pose lamina_pose_default(void); /* scale 1, nothing turned or moved */

/* A cylinder along the line from `from` to `to`; is_endless: without caps, on through the whole box. */
typedef struct lamina_cylinder {
  lamina_real3 from, to;
  double radius;
  bool is_endless;
} lamina_cylinder;

/* Triangles over shared corners: 3 coordinates a vertex, 3 indices a triangle. */
typedef struct lamina_mesh {
  const double *vertices;
  size_t vertex_count;
  const uint32_t *triangles;
  size_t triangle_count;
} lamina_mesh;

/* Adding a body. `body` (may be NULL) gets its number. What is given is copied. Placements may be NULL.
 * Errors: ARGUMENT (sizes that are not positive, coordinates that are not finite or lie further than 131071 cells from
 * the origin; meshes that are not closed, with number and place of the open edges), MEMORY. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_geometry_add_sphere(lamina_geometry *geometry, lamina_real3 centre,
                                                                     double radius, int *body);
LAMINA_API LAMINA_NODISCARD lamina_status lamina_geometry_add_cylinder(lamina_geometry *geometry,
                                                                       const lamina_cylinder *cylinder, int *body);
LAMINA_API LAMINA_NODISCARD lamina_status lamina_geometry_add_box(lamina_geometry *geometry, lamina_real3 low,
                                                                  lamina_real3 high, const lamina_pose *placement,
                                                                  int *body);
LAMINA_API LAMINA_NODISCARD lamina_status lamina_geometry_add_mesh(lamina_geometry *geometry, const lamina_mesh *mesh,
                                                                   const lamina_pose *placement, int *body);

/* Reads an STL file of any dialect and adds it, named after the file. `repair`: close holes and drop stray triangles
 * first (needs admesh, else UNAVAILABLE). Errors: FILE, CASE (what is wrong with the file, and where), those of
 * add_mesh. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_geometry_add_stl(lamina_geometry *geometry, const char *path,
                                                                  const lamina_pose *placement, bool repair, int *body);

/* Calls the body so in messages and results, instead of "body 2". Copied. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_geometry_name_body(lamina_geometry *geometry, int body,
                                                                    const char *name);

/* How the surface moves while the body stays in place (a spinning cylinder, a belt): at x its velocity is
 * velocity + spin x (x - centre), in cells and radians a step. */
typedef struct lamina_body_motion {
  lamina_real3 velocity, spin, centre;
} lamina_body_motion;

LAMINA_API LAMINA_NODISCARD lamina_status lamina_geometry_set_motion(lamina_geometry *geometry, int body,
                                                                     const lamina_body_motion *motion);

typedef enum lamina_body_kind {
  LAMINA_BODY_SPHERE,
  LAMINA_BODY_CYLINDER,
  LAMINA_BODY_BOX,
  LAMINA_BODY_MESH
} lamina_body_kind;

/* Of the body itself, not of its cells. Not finite for an endless cylinder: volume, surface, bounds along its axis. The
 * volume of a mesh whose triangles do not agree on their orientation is nan, and its centre that of its bounds. */
typedef struct lamina_body_info {
  lamina_body_kind kind;
  const char *name; /* lives as long as the geometry */
  lamina_real3 low, high;
  lamina_real3 centre; /* of the volume, and of torques; of the middle of an endless cylinder */
  double volume, surface;
  size_t triangle_count, shell_count; /* of meshes */
  bool is_inward;                     /* meshes: the triangles faced inward (taken as if they faced outward) */
  bool is_oriented;                   /* meshes: neighbouring triangles agree on their orientation */
  lamina_body_motion motion;
} lamina_body_info;

LAMINA_API int lamina_geometry_body_count(const lamina_geometry *geometry);

/* false when there is no such body. */
LAMINA_API bool lamina_geometry_get_body(const lamina_geometry *geometry, int body, lamina_body_info *info);

/* The area of the body's shadow along an axis (0: x), in cells^2: the usual reference area of a drag coefficient. Of
 * meshes to about 0.1 %. `depth` is the size of the box along the axis of an endless cylinder (in two dimensions: 1).
 * Errors: ARGUMENT (no such body), MEMORY. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_geometry_shadow(const lamina_geometry *geometry, int body, int axis,
                                                                 double depth, double *area);

#ifdef __cplusplus
}
#endif

#endif
