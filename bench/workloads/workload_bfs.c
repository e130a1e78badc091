/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search on an R-MAT graph, with the memory shape of the paper's case study (SC23, section 7.1): a list
 * of edges that only the set-up needs, large graph arrays, then a small hot array of parents, and frontiers that come
 * and go.
 *
 *   workload_bfs SCALE [baseline|reordered|freed]      2^SCALE vertices, 8 edges each, both ways
 *
 * baseline allocates in that order and keeps the list of edges; 16 searches follow; reordered makes the parents first;
 * freed also gives the list of edges back when the graph is built. The result is the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lamina/phase.h>

enum { EDGES_PER_VERTEX = 8, SCALE_MOST = 26, SEARCHES = 16 };

typedef struct graph {
  uint32_t vertices;
  uint64_t edges;  /* directed: twice the list */
  uint64_t *first; /* of each vertex in `neighbour`; vertices + 1 */
  uint32_t *neighbour;
} graph;

typedef struct edge {
  uint32_t from, to;
} edge;

static void *take(size_t count, size_t size)
{
  void *memory = malloc(count * size);
  if (memory == NULL) {
    fprintf(stderr, "workload_bfs: not enough memory for %zu bytes\n", count * size);
    exit(1);
  }
  return memory;
}

static uint64_t next_random(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Each bit of the two ends by the quadrant probabilities 0.57, 0.19, 0.19, 0.05 (R-MAT, Chakrabarti 2004). */
static edge make_edge(int scale, uint64_t *state)
{
  edge made = {0, 0};
  for (int bit = 0; bit < scale; bit++) {
    const uint32_t draw = (uint32_t)(next_random(state) >> 40) % 100;
    made.from = made.from << 1 | (draw >= 76);
    made.to = made.to << 1 | ((draw >= 57 && draw < 76) || draw >= 95);
  }
  return made;
}

static void build_rows(graph *g, const edge *list, uint64_t count)
{
  g->first = take(g->vertices + 1, sizeof *g->first);
  memset(g->first, 0, (g->vertices + 1) * sizeof *g->first);
  g->neighbour = take(g->edges, sizeof *g->neighbour);
  for (uint64_t i = 0; i < count; i++) {
    g->first[list[i].from + 1]++;
    g->first[list[i].to + 1]++;
  }
  for (uint32_t v = 0; v < g->vertices; v++)
    g->first[v + 1] += g->first[v];
  uint64_t *fill = take(g->vertices, sizeof *fill);
  memcpy(fill, g->first, g->vertices * sizeof *fill);
  for (uint64_t i = 0; i < count; i++) {
    g->neighbour[fill[list[i].from]++] = list[i].to;
    g->neighbour[fill[list[i].to]++] = list[i].from;
  }
  free(fill);
}

static graph make_graph(int scale, int frees_edges)
{
  uint64_t state = 88172645463325252u;
  graph g = {.vertices = 1u << scale, .edges = ((uint64_t)2 * EDGES_PER_VERTEX) << scale};
  const uint64_t count = g.edges / 2;
  edge *list = take(count, sizeof *list);
  for (uint64_t i = 0; i < count; i++)
    list[i] = make_edge(scale, &state);
  build_rows(&g, list, count);
  if (frees_edges)
    free(list); /* the baseline keeps it, as the code of the study did */
  return g;
}

/* One level: reads the parent of every neighbour of the frontier, once. Returns the next frontier's size. */
static uint32_t search_level(const graph *g, uint32_t *parents, const uint32_t *frontier, uint32_t size, uint32_t *next)
{
  uint32_t found = 0;
  for (uint32_t i = 0; i < size; i++)
    for (uint64_t at = g->first[frontier[i]]; at < g->first[frontier[i] + 1]; at++) {
      const uint32_t vertex = g->neighbour[at];
      if (parents[vertex] != UINT32_MAX)
        continue;
      parents[vertex] = frontier[i];
      next[found++] = vertex;
    }
  return found;
}

static uint64_t search(const graph *g, uint32_t *parents, uint32_t root, uint64_t *scanned)
{
  uint32_t size = 1;
  uint64_t reached = 1;
  uint32_t *frontier = take(1, sizeof *frontier);
  memset(parents, 0xFF, g->vertices * sizeof *parents);
  frontier[0] = root;
  parents[root] = root;
  while (size > 0) {
    uint64_t degree = 0;
    for (uint32_t i = 0; i < size; i++)
      degree += g->first[frontier[i] + 1] - g->first[frontier[i]];
    uint32_t *next = take(degree < g->vertices ? degree + 1 : g->vertices, sizeof *next);
    size = search_level(g, parents, frontier, size, next);
    free(frontier);
    frontier = next;
    reached += size;
    *scanned += degree;
  }
  free(frontier);
  return reached;
}

/* Touched at once: its place is decided here. */
static uint32_t *make_parents(uint32_t vertices)
{
  uint32_t *parents = take(vertices, sizeof *parents);
  memset(parents, 0xFF, vertices * sizeof *parents);
  return parents;
}

int main(int count, char **arguments)
{
  const int scale = count > 1 ? (int)strtol(arguments[1], NULL, 10) : 0;
  const char *variant = count > 2 ? arguments[2] : "baseline";
  const int is_freed = strcmp(variant, "freed") == 0, is_reordered = is_freed || strcmp(variant, "reordered") == 0;
  if (scale < 1 || scale > SCALE_MOST || (!is_reordered && strcmp(variant, "baseline") != 0)) {
    fprintf(stderr, "usage: workload_bfs SCALE [baseline|reordered|freed], SCALE 1 to %d\n", SCALE_MOST);
    return 2;
  }
  lamina_phase_start("build");
  uint32_t *parents = is_reordered ? make_parents(1u << scale) : NULL;
  graph g = make_graph(scale, is_freed);
  if (parents == NULL)
    parents = make_parents(g.vertices);
  lamina_phase_stop();
  uint64_t scanned = 0, reached = 0;
  lamina_phase_start("search");
  for (uint32_t root = 0; root < SEARCHES; root++)
    reached += search(&g, parents, root % g.vertices, &scanned);
  lamina_phase_stop();
  printf("vertices %u reached %llu edges %llu\n", g.vertices, (unsigned long long)reached, (unsigned long long)scanned);
  return 0;
}
