/* SPDX-License-Identifier: Apache-2.0 */
/* Repair by admesh: strays out, holes filled. Nearly equal corners are joined here and not by its search for neighbours
 * near by, whose removal of collapsed facets is unsafe (CVE-2018-25033); collapsed facets are left out before. Each
 * edge of a facet then has one neighbour at most, so its walks around a corner end. */
#include <admesh/stl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stl.h"

/* Corners nearer than this share of the size of the whole are one corner: what is left of rounding to six digits. */
static const double JOIN_SHARE = 2e-6;

/* ---- joining ---- */

static double size_of(const lmi_stl *stl)
{
  const double x = stl->high.x - stl->low.x, y = stl->high.y - stl->low.y, z = stl->high.z - stl->low.z;
  return sqrt(x * x + y * y + z * z);
}

/* Corners whose coordinates round to the same multiples of the tolerance take the place of the first of them. */
static lamina_status join_corners(lamina_context *ctx, lmi_stl *stl, lmi_facets *facets)
{
  int64_t *keys = NULL;
  uint32_t *numbers = NULL, *first = NULL;
  size_t distinct = 0;
  const size_t corners = 3 * facets->count;
  const double low[3] = {stl->low.x, stl->low.y, stl->low.z}, step = JOIN_SHARE * size_of(stl);
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 3 * corners, &keys), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, corners, &numbers), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, corners, &first), cleanup);
  for (size_t i = 0; i < 3 * corners; i++)
    keys[i] = llrint((facets->corners[i] - low[i % 3]) / step);
  LMI_TRY_GOTO(status, lmi_weld(ctx, keys, corners, numbers, &distinct), cleanup);
  for (size_t i = corners; i-- > 0;)
    first[numbers[i]] = (uint32_t)i;
  for (size_t i = 0; i < corners; i++)
    memmove(&facets->corners[3 * i], &facets->corners[3 * (size_t)first[numbers[i]]], 3 * sizeof(double));
  stl->vertices_joined = stl->mesh.vertex_count > distinct ? stl->mesh.vertex_count - distinct : 0;

cleanup:
  lmi_free(ctx, first);
  lmi_free(ctx, numbers);
  lmi_free(ctx, keys);
  return status;
}

/* ---- admesh ---- */

/* A corner in single precision, without negative zeros: admesh compares bits. */
static stl_vertex vertex_of(const double *corner)
{
  return (stl_vertex){(float)corner[0] + 0.0F, (float)corner[1] + 0.0F, (float)corner[2] + 0.0F};
}

static bool are_equal(const stl_vertex *a, const stl_vertex *b)
{
  return a->x == b->x && a->y == b->y && a->z == b->z;
}

/* Hands the facets over; those whose corners became equal are left out. */
static void give(const lmi_facets *facets, stl_file *mesh)
{
  int count = 0;
  for (size_t i = 0; i < facets->count; i++) {
    stl_facet facet;
    memset(&facet, 0, sizeof facet);
    for (size_t k = 0; k < 3; k++)
      facet.vertex[k] = vertex_of(&facets->corners[9 * i + 3 * k]);
    if (are_equal(&facet.vertex[0], &facet.vertex[1]) || are_equal(&facet.vertex[1], &facet.vertex[2]) ||
        are_equal(&facet.vertex[2], &facet.vertex[0]))
      continue;
    mesh->facet_start[count] = facet;
    stl_facet_stats(mesh, facet, count == 0);
    count++;
  }
  mesh->stats.number_of_facets = count;
  mesh->stats.original_num_facets = count;
}

/* admesh winds a facet that it adds like the facet whose open edge it closes, where it should go against it: the first
 * it adds at an edge face the wrong way, those it adds to them the right way, and so on in turn. */
static void wind_added(stl_file *mesh, int first)
{
  enum { MOST_ADDED = 4096 };
  const int count = mesh->stats.number_of_facets;
  stl_facet *facets = mesh->facet_start;
  for (int i = first; i < count && count - first <= MOST_ADDED; i++) {
    facets[i].extra[0] = 1; /* how often in turn, odd or even */
    for (int j = first; j < i; j++)
      for (int k = 0; k < 3; k++)
        if (are_equal(&facets[i].vertex[0], &facets[j].vertex[k]) &&
            are_equal(&facets[i].vertex[1], &facets[j].vertex[(k + 1) % 3]))
          facets[i].extra[0] = (char)(1 - facets[j].extra[0]);
  }
  for (int i = first; i < count; i++)
    if (facets[i].extra[0] == 1) {
      const stl_vertex swap = facets[i].vertex[0];
      facets[i].vertex[0] = facets[i].vertex[1];
      facets[i].vertex[1] = swap;
    }
}

static lamina_status take(lamina_context *ctx, const stl_file *mesh, lmi_facets *facets)
{
  lmi_facets taken = {0};
  for (int i = 0; i < mesh->stats.number_of_facets; i++) {
    const stl_vertex *v = mesh->facet_start[i].vertex;
    double corners[9];
    for (int k = 0; k < 3; k++) {
      corners[3 * k] = (double)v[k].x;
      corners[3 * k + 1] = (double)v[k].y;
      corners[3 * k + 2] = (double)v[k].z;
    }
    const lamina_status status = lmi_facets_add(ctx, &taken, corners);
    if (status != LAMINA_OK) {
      lmi_free(ctx, taken.corners);
      return status;
    }
  }
  lmi_free(ctx, facets->corners);
  *facets = taken;
  return LAMINA_OK;
}

/* admesh before 0.98.5 leaves the table of edges of its last step behind (LMI_ADMESH_LEAVES_EDGES, set by CMake). */
static void release_edges(stl_file *mesh)
{
  for (int i = 0; LMI_ADMESH_LEAVES_EDGES && mesh->heads != NULL && i < mesh->M; i++)
    while (mesh->heads[i] != mesh->tail) {
      stl_hash_edge *edge = mesh->heads[i];
      mesh->heads[i] = edge->next;
      free(edge);
    }
  if (LMI_ADMESH_LEAVES_EDGES) {
    free(mesh->heads);
    free(mesh->tail);
  }
}

lamina_status lmi_stl_repair(lamina_context *ctx, const char *path, lmi_stl *stl, lmi_facets *facets)
{
  LMI_TRY(join_corners(ctx, stl, facets));
  LMI_REQUIRE(ctx, facets->count < INT_MAX / 4, LAMINA_ERROR_CASE, "%s: %zu facets are too many to repair; at most %d",
              path, facets->count, INT_MAX / 4 - 1);
  stl_file mesh;
  memset(&mesh, 0, sizeof mesh);
  stl_initialize(&mesh);
  mesh.stats.type = inmemory;
  mesh.stats.number_of_facets = mesh.stats.original_num_facets = (int)facets->count;
  stl_allocate(&mesh);
  lamina_status status = LAMINA_OK;
  if (mesh.facet_start == NULL || mesh.neighbors_start == NULL) {
    status = lmi_fail(ctx, LAMINA_ERROR_MEMORY, "%s: no memory to repair %zu facets", path, facets->count);
  } else {
    give(facets, &mesh);
    stl_check_facets_exact(&mesh);
    stl_remove_unconnected_facets(&mesh);
    const int kept = mesh.stats.number_of_facets;
    stl_fill_holes(&mesh);
    release_edges(&mesh);
    wind_added(&mesh, kept);
    stl->facets_added = (size_t)mesh.stats.facets_added;
    stl->facets_removed = (size_t)mesh.stats.facets_removed;
    status = take(ctx, &mesh, facets);
  }
  stl_close(&mesh);
  return status;
}
