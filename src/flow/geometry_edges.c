/* SPDX-License-Identifier: Apache-2.0 */
/* Which triangles meet along which edge: hash tables with open addressing, walked in the order of the triangles, so
 * that results never depend on addresses or threads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geometry_internal.h"

static const uint32_t EMPTY = UINT32_MAX;

static uint64_t mix(uint64_t h)
{
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdULL;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53ULL;
  return h ^ h >> 33;
}

/* A power of two with at least half the slots free. */
static size_t slots_for(size_t count)
{
  size_t slots = 16;
  while (slots < 2 * count)
    slots *= 2;
  return slots;
}

lamina_status lmi_weld(lamina_context *ctx, const int64_t *keys, size_t count, uint32_t *numbers, size_t *distinct)
{
  *distinct = 0;
  const size_t slots = slots_for(count);
  uint32_t *first = NULL; /* the first key that fell into a slot */
  LMI_TRY(LMI_ALLOC(ctx, slots, &first));
  memset(first, 0xff, slots * sizeof *first);
  for (size_t i = 0; i < count; i++) {
    const int64_t *key = &keys[3 * i];
    size_t slot = (size_t)mix(mix(mix((uint64_t)key[0]) ^ (uint64_t)key[1]) ^ (uint64_t)key[2]) & (slots - 1);
    while (first[slot] != EMPTY && memcmp(&keys[3 * (size_t)first[slot]], key, 3 * sizeof *key) != 0)
      slot = (slot + 1) & (slots - 1);
    if (first[slot] == EMPTY) {
      first[slot] = (uint32_t)i;
      numbers[i] = (uint32_t)(*distinct)++;
    } else {
      numbers[i] = numbers[first[slot]];
    }
  }
  lmi_free(ctx, first);
  return LAMINA_OK;
}

/* ---- edges ---- */

typedef struct edge {
  uint32_t low, high;
  uint32_t count;  /* triangles at it; 0: slot is free */
  int32_t balance; /* walks from low to high, less those from high to low */
} edge;

typedef struct edge_table {
  size_t slots;
  edge *edges;
} edge_table;

static edge *find_edge(const edge_table *table, uint32_t a, uint32_t b)
{
  const uint32_t low = a < b ? a : b, high = a < b ? b : a;
  size_t slot = (size_t)mix((uint64_t)low << 32 | high) & (table->slots - 1);
  while (table->edges[slot].count != 0 && (table->edges[slot].low != low || table->edges[slot].high != high))
    slot = (slot + 1) & (table->slots - 1);
  table->edges[slot].low = low;
  table->edges[slot].high = high;
  return &table->edges[slot];
}

static bool is_collapsed(const uint32_t *t)
{
  return t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
}

static void count_edges(const lamina_mesh *mesh, const edge_table *table)
{
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    const uint32_t *t = &mesh->triangles[3 * i];
    for (int k = 0; k < 3 && !is_collapsed(t); k++) {
      const uint32_t a = t[k], b = t[(k + 1) % 3];
      edge *e = find_edge(table, a, b);
      e->count++;
      e->balance += a < b ? 1 : -1;
    }
  }
}

static lamina_real3 vertex_at(const lamina_mesh *mesh, uint32_t number)
{
  const double *v = &mesh->vertices[3 * (size_t)number];
  return (lamina_real3){v[0], v[1], v[2]};
}

static void widen(lmi_open_edges *open, lamina_real3 p)
{
  open->low = (lamina_real3){fmin(open->low.x, p.x), fmin(open->low.y, p.y), fmin(open->low.z, p.z)};
  open->high = (lamina_real3){fmax(open->high.x, p.x), fmax(open->high.y, p.y), fmax(open->high.z, p.z)};
}

static void note_open_edge(lmi_open_edges *open, lamina_real3 from, lamina_real3 to)
{
  if (open->count == 0)
    open->low = open->high = from;
  widen(open, from);
  widen(open, to);
  if (open->count < LMI_COUNT(open->from)) {
    open->from[open->count] = from;
    open->to[open->count] = to;
  }
  open->count++;
}

/* An even number of triangles at each edge is what makes inside and outside a matter of parity. */
static void collect_open(const lamina_mesh *mesh, const edge_table *table, lmi_open_edges *open, bool *is_oriented)
{
  bool balanced = true;
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    const uint32_t *t = &mesh->triangles[3 * i];
    for (int k = 0; k < 3 && !is_collapsed(t); k++) {
      edge *e = find_edge(table, t[k], t[(k + 1) % 3]);
      balanced = balanced && e->balance == 0;
      if (e->count % 2 == 1) {
        note_open_edge(open, vertex_at(mesh, t[k]), vertex_at(mesh, t[(k + 1) % 3]));
        e->count++; /* told once */
      }
    }
  }
  if (is_oriented != NULL)
    *is_oriented = balanced;
}

lamina_status lmi_mesh_find_open_edges(lamina_context *ctx, const lamina_mesh *mesh, lmi_open_edges *open,
                                       bool *is_oriented)
{
  memset(open, 0, sizeof *open);
  /* A closed mesh has three edges for two triangles; a soup with three for each just fits too. */
  edge_table table = {.slots = slots_for(3 * mesh->triangle_count / 2 + 1)};
  LMI_TRY(LMI_ALLOC(ctx, table.slots, &table.edges));
  count_edges(mesh, &table);
  collect_open(mesh, &table, open, is_oriented);
  lmi_free(ctx, table.edges);
  return LAMINA_OK;
}

const char *lmi_open_edges_describe(const lmi_open_edges *open, size_t bytes, char *buffer)
{
  const double low[3] = {open->low.x, open->low.y, open->low.z}, high[3] = {open->high.x, open->high.y, open->high.z};
  char plane[48] = "";
  for (int a = 0; a < 3 && plane[0] == '\0'; a++)
    if (low[a] == high[a])
      snprintf(plane, sizeof plane, " on the face %c = %g", "xyz"[a], low[a]);
  snprintf(buffer, bytes, "%zu open edge%s%s, between (%g, %g, %g) and (%g, %g, %g)", open->count,
           open->count == 1 ? "" : "s", plane, low[0], low[1], low[2], high[0], high[1], high[2]);
  return buffer;
}
