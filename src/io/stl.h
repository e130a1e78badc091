/* SPDX-License-Identifier: Apache-2.0 */
/* STL files of every dialect. The whole file is checked before anything is believed: binary or text is found out from
 * size and content, counts are compared with the size, every number must be finite. Text may be in upper or lower case,
 * with any line ends and blanks, hold several solids, with or without names, and lack the last line. Normals and
 * attribute bytes are not used: where a facet faces follows from the order of its corners.
 *
 * Repair is admesh's (stl_repair.c), on facets that have passed those checks. */
#ifndef LMI_STL_H
#define LMI_STL_H

#include "flow/voxels.h"

typedef struct lmi_stl {
  bool is_text;
  size_t facet_count;     /* in the file */
  size_t solid_count;     /* of a text file; 1 of a binary one */
  size_t collapsed_count; /* facets with two equal corners: left out */
  size_t trailing_bytes;  /* behind the last facet of a binary file: left out */
  bool lacks_end;         /* text without its last line */
  lamina_mesh mesh;       /* corners that are equal are one vertex; in the units of the file */
  double *vertices;       /* what mesh points to */
  uint32_t *triangles;
  lamina_real3 low, high;
  lmi_open_edges open;
  bool is_repaired; /* the rest describes the mesh after the repair */
  size_t open_before, facets_added, facets_removed, vertices_joined;
} lmi_stl;

/* Reads and checks `path`; repairs when asked and when there is something to repair. An open mesh is no error here: see
 * stl->open. Errors: FILE (cannot be read), CASE ("FILE: ...", what is wrong, where, with line or facet), UNAVAILABLE
 * (repair without admesh), MEMORY. On failure *stl is empty. */
LAMINA_NODISCARD lamina_status lmi_stl_read(lamina_context *ctx, const char *path, bool repair, lmi_stl *stl);

/* The same on bytes in memory; `path` names them in messages. A zero byte must stand behind them. */
LAMINA_NODISCARD lamina_status lmi_stl_parse(lamina_context *ctx, const char *path, const char *data, size_t bytes,
                                             bool repair, lmi_stl *stl);
void lmi_stl_free(lamina_context *ctx, lmi_stl *stl);

/* CASE with number and place of the open edges, unless the mesh is closed. */
LAMINA_NODISCARD lamina_status lmi_stl_require_closed(lamina_context *ctx, const char *path, const lmi_stl *stl);

/* Scales, turns and moves what was read, with its bounds and open edges. */
void lmi_stl_place(lmi_stl *stl, const lamina_pose *placement);

/* ---- parts ---- */

/* Corners as they stand in the file: nine numbers a facet. */
typedef struct lmi_facets {
  double *corners;
  size_t count, capacity;
} lmi_facets;

LAMINA_NODISCARD lamina_status lmi_facets_add(lamina_context *ctx, lmi_facets *facets, const double corners[9]);

/* Fills facets from text; sets solid_count and lacks_end. */
LAMINA_NODISCARD lamina_status lmi_stl_parse_text(lamina_context *ctx, const char *path, const char *text, size_t bytes,
                                                  lmi_stl *stl, lmi_facets *facets);

/* Replaces facets by repaired ones. */
LAMINA_NODISCARD lamina_status lmi_stl_repair(lamina_context *ctx, const char *path, lmi_stl *stl, lmi_facets *facets);

/* Facets of the mesh of stl, in its order. */
LAMINA_NODISCARD lamina_status lmi_stl_unweld(lamina_context *ctx, const lmi_stl *stl, lmi_facets *facets);

#endif
