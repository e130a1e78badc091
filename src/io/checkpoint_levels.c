/* SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint_levels.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/base.h"
#include "flow/level_slab.h"

/* Level 0 is the finest. */
static const char *const PATHS[LMI_MAX_LEVELS] = {
  "/populations/level0", "/populations/level1", "/populations/level2", "/populations/level3",
  "/populations/level4", "/populations/level5", "/populations/level6", "/populations/level7",
};

static bool is_leaf(const lmi_levels *levels, int level, const int64_t at[3])
{
  return levels->level[level].leaf[lmi_level_word(levels, level, at)] >> lmi_level_bit(levels, at) & 1;
}

static uint64_t count_plane(const lmi_levels *levels, int level, int64_t plane)
{
  const int64_t *cells = levels->level[level].cells;
  uint64_t count = 0;
  for (int64_t y = 0; y < cells[1]; y++)
    for (int64_t x = 0; x < cells[0]; x++)
      count += is_leaf(levels, level, (const int64_t[]){x, y, plane});
  return count;
}

static lamina_status describe_level(lmi_level_states *states, int level)
{
  const lmi_levels *levels = states->levels;
  const lamina_solver_options *options = &states->solver->options;
  const size_t planes = (size_t)levels->level[level].cells[2];
  LMI_TRY(LMI_ALLOC(states->ctx, planes, &states->rows[level]));
  for (size_t plane = 0; plane < planes; plane++)
    states->rows[level][plane] = count_plane(levels, level, (int64_t)plane);
  states->arrays[level] = (lmi_store_array){
    .path = PATHS[level],
    .precision = options->precision,
    .rank = 2,
    .dims = {(uint64_t)levels->level[level].leaf_count, (uint64_t)lamina_lattice_velocities(options->lattice)},
    .rows = states->rows[level],
    .plane_count = planes,
  };
  return LAMINA_OK;
}

lamina_status lmi_level_states_create(lamina_context *ctx, const lamina_solver *solver, lmi_level_states *states)
{
  *states = (lmi_level_states){.ctx = ctx, .solver = solver, .levels = lmi_solver_levels(solver)};
  lamina_status status = LAMINA_OK;
  for (int level = 0; level < states->levels->count && status == LAMINA_OK; level++)
    status = describe_level(states, level);
  if (status != LAMINA_OK)
    lmi_level_states_free(states);
  return status;
}

void lmi_level_states_free(lmi_level_states *states)
{
  for (int level = 0; level < LMI_MAX_LEVELS; level++) {
    lmi_free(states->ctx, states->rows[level]);
    states->rows[level] = NULL;
  }
}

/* ---- where they are refined ---- */

static void find_marks(const lmi_levels *levels, int64_t cells[LMI_MAX_LEVELS], int64_t marks[LMI_MAX_LEVELS])
{
  for (int level = 0; level < levels->count; level++) {
    const lmi_level *l = &levels->level[level];
    const size_t words = (size_t)(l->words[0] * l->words[1] * l->words[2]);
    cells[level] = l->leaf_count;
    marks[level] = (int64_t)crc32_z(0, (const void *)l->leaf, words * sizeof *l->leaf);
  }
}

lamina_status lmi_level_states_put(const lmi_level_states *states, lmi_store *store, const char *group)
{
  int64_t cells[LMI_MAX_LEVELS], marks[LMI_MAX_LEVELS];
  const int64_t count = states->levels->count;
  find_marks(states->levels, cells, marks);
  LMI_TRY(lmi_store_put_ints(store, group, "levels", &count, 1));
  LMI_TRY(lmi_store_put_text(store, group, "scheme", lamina_level_scheme_name(states->solver->options.level_scheme)));
  LMI_TRY(lmi_store_put_ints(store, group, "level_cells", cells, (size_t)count));
  return lmi_store_put_ints(store, group, "level_crc32", marks, (size_t)count);
}

static lamina_status compare_scheme(const lmi_level_states *states, lmi_store *store, const char *group,
                                    const char *path)
{
  char *scheme = NULL;
  const char *ours = lamina_level_scheme_name(states->solver->options.level_scheme);
  LMI_TRY(lmi_store_get_text(store, group, "scheme", &scheme));
  lamina_status status = LAMINA_OK;
  if (strcmp(scheme, ours) != 0)
    status =
      lmi_fail(states->ctx, LAMINA_ERROR_CASE,
               "cannot resume from %s: it was written with level scheme %s, this run has %s", path, scheme, ours);
  lmi_free(states->ctx, scheme);
  return status;
}

lamina_status lmi_level_states_compare(const lmi_level_states *states, lmi_store *store, const char *group,
                                       const char *path)
{
  int64_t cells[LMI_MAX_LEVELS], marks[LMI_MAX_LEVELS], our_cells[LMI_MAX_LEVELS], our_marks[LMI_MAX_LEVELS];
  int64_t count = 0;
  LMI_TRY(lmi_store_get_ints(store, group, "levels", &count, 1));
  LMI_REQUIRE(states->ctx, count == states->levels->count, LAMINA_ERROR_CASE,
              "cannot resume from %s: it was written with %" PRId64 " levels, this run has %d", path, count,
              states->levels->count);
  LMI_TRY(compare_scheme(states, store, group, path));
  LMI_TRY(lmi_store_get_ints(store, group, "level_cells", cells, (size_t)count));
  LMI_TRY(lmi_store_get_ints(store, group, "level_crc32", marks, (size_t)count));
  find_marks(states->levels, our_cells, our_marks);
  for (int level = 0; level < count; level++)
    LMI_REQUIRE(states->ctx, cells[level] == our_cells[level] && marks[level] == our_marks[level], LAMINA_ERROR_CASE,
                "cannot resume from %s: its level %d has %" PRId64 " cells, that of this run %" PRId64 "%s", path,
                level, cells[level], our_cells[level], cells[level] == our_cells[level] ? " in other places" : "");
  return LAMINA_OK;
}

/* ---- planes ---- */

typedef struct plane_pair {
  char *canonical; /* velocity, row, cell of the whole plane (kernel/dense.h) */
  char *packed;    /* cell of the level, velocity: as it stands in the file */
} plane_pair;

static size_t packed_bytes(const lmi_level_states *states, int level, int64_t plane)
{
  const lmi_flow *flow = states->solver->flow;
  return (size_t)states->rows[level][plane] * (size_t)flow->lattice->velocities * flow->element_bytes;
}

static lamina_status allocate_planes(const lmi_level_states *states, int level, plane_pair *planes)
{
  const int64_t *cells = states->levels->level[level].cells;
  const lmi_flow *flow = states->solver->flow;
  const size_t bytes = (size_t)(cells[0] * cells[1] * flow->lattice->velocities) * flow->element_bytes;
  *planes = (plane_pair){0};
  LMI_TRY(LMI_ALLOC(states->ctx, bytes, &planes->canonical));
  return LMI_ALLOC(states->ctx, bytes, &planes->packed);
}

static void free_planes(const lmi_level_states *states, plane_pair *planes)
{
  lmi_free(states->ctx, planes->canonical);
  lmi_free(states->ctx, planes->packed);
}

enum { PACK, UNPACK };

static void convert_plane(const lmi_level_states *states, int level, int64_t plane, const plane_pair *planes, int way)
{
  const int64_t *cells = states->levels->level[level].cells;
  const lmi_flow *flow = states->solver->flow;
  const size_t bytes = flow->element_bytes;
  char *packed = planes->packed;
  for (int64_t y = 0; y < cells[1]; y++)
    for (int64_t x = 0; x < cells[0]; x++) {
      if (!is_leaf(states->levels, level, (const int64_t[]){x, y, plane}))
        continue;
      for (int q = 0; q < flow->lattice->velocities; q++, packed += bytes) {
        char *stands = planes->canonical + (size_t)((q * cells[1] + y) * cells[0] + x) * bytes;
        memcpy(way == PACK ? packed : stands, way == PACK ? stands : packed, bytes);
      }
    }
}

static lamina_status write_plane(const lmi_level_states *states, lmi_store *store, int level, int64_t plane,
                                 const plane_pair *planes)
{
  const lmi_flow *flow = states->solver->flow;
  if (packed_bytes(states, level, plane) > 0)
    LMI_TRY(flow->ops->level_planes(flow, level, LMI_PLANES_EXPORT, plane, 1, planes->canonical));
  convert_plane(states, level, plane, planes, PACK);
  return lmi_store_write_plane(store, (size_t)level, (uint64_t)plane, planes->packed);
}

lamina_status lmi_level_states_write(const lmi_level_states *states, lmi_store *store)
{
  lamina_status status = LAMINA_OK;
  for (int level = 0; level < states->levels->count && status == LAMINA_OK; level++) {
    plane_pair planes;
    status = allocate_planes(states, level, &planes);
    for (int64_t plane = 0; plane < states->levels->level[level].cells[2] && status == LAMINA_OK; plane++)
      status = write_plane(states, store, level, plane, &planes);
    free_planes(states, &planes);
  }
  return status;
}

static lamina_status read_plane(const lmi_level_states *states, lmi_store *store, size_t index, int level,
                                int64_t plane, const plane_pair *planes)
{
  const lmi_flow *flow = states->solver->flow;
  if (packed_bytes(states, level, plane) == 0)
    return LAMINA_OK;
  LMI_TRY(lmi_store_read_plane(store, index, (uint64_t)plane, planes->packed));
  convert_plane(states, level, plane, planes, UNPACK);
  return flow->ops->level_planes(flow, level, LMI_PLANES_IMPORT, plane, 1, planes->canonical);
}

static lamina_status read_level(const lmi_level_states *states, lmi_store *store, int level, const plane_pair *planes)
{
  size_t index = 0;
  const lmi_store_array *wanted = &states->arrays[level];
  lmi_store_array stored = {.rows = wanted->rows, .plane_count = wanted->plane_count};
  LMI_TRY(lmi_store_find_array(store, PATHS[level], &stored, &index));
  LMI_REQUIRE(states->ctx,
              stored.rank == 2 && stored.dims[0] == wanted->dims[0] && stored.dims[1] == wanted->dims[1] &&
                stored.precision == wanted->precision,
              LAMINA_ERROR_CASE, "the checkpoint is damaged: the populations of level %d do not fill its cells", level);
  for (int64_t plane = 0; plane < states->levels->level[level].cells[2]; plane++)
    LMI_TRY(read_plane(states, store, index, level, plane, planes));
  return LAMINA_OK;
}

lamina_status lmi_level_states_read(const lmi_level_states *states, lmi_store *store)
{
  lamina_status status = LAMINA_OK;
  states->solver->flow->ops->restart(states->solver->flow);
  for (int level = 0; level < states->levels->count && status == LAMINA_OK; level++) {
    plane_pair planes;
    status = allocate_planes(states, level, &planes);
    if (status == LAMINA_OK)
      status = read_level(states, store, level, &planes);
    free_planes(states, &planes);
  }
  return status;
}
