/* SPDX-License-Identifier: Apache-2.0 */
/* From a box and its solid cells to blocks in key order: which blocks there are, who owns them, in which section they
 * lie and where. The tables that follow from the order are made in block_tables.c. */
#include "blocks.h"

#include <stdlib.h>

#include "base/ranks.h"

enum { KEY_SECTION_SHIFT = 62, KEY_KIND_SHIFT = 60, KEY_PLACE_BITS = 19 };
enum { AT_LOWER, AT_PRIVATE, AT_UPPER, OWN_SECTIONS };

typedef struct sort_entry {
  uint64_t key;
  int32_t x, y, z; /* in blocks */
  uint64_t active, special;
} sort_entry;

static int64_t blocks_along(int64_t cells, int side)
{
  return (cells + side - 1) / side;
}

int64_t lmi_block_layers(int64_t planes, bool is_flat)
{
  return blocks_along(planes, lmk_block_side(is_flat, 2));
}

static int64_t box_index(const lmi_blocks *blocks, int64_t x, int64_t y, int64_t z)
{
  return (z * blocks->box.y + y) * blocks->box.x + x;
}

/* Bits of a block that lie inside the box. */
static uint64_t inside_bits(const lmi_blocks *blocks, lamina_int3 at)
{
  const lamina_int3 n = blocks->request.cells;
  const int flat = blocks->request.is_flat;
  const int64_t first[3] = {at.x * lmk_block_side(flat, 0), at.y * lmk_block_side(flat, 1),
                            at.z * lmk_block_side(flat, 2)};
  uint64_t bits = 0;
  for (int bit = 0; bit < LMK_BLOCK_CELLS; bit++) {
    const bool inside = first[0] + lmk_block_x(flat, bit) < n.x && first[1] + lmk_block_y(flat, bit) < n.y &&
                        first[2] + lmk_block_z(flat, bit) < n.z;
    bits |= (uint64_t)inside << bit;
  }
  return bits;
}

static void find_active(const lmi_blocks *blocks, const lmi_block_map *map)
{
  const lmi_block_request *request = &blocks->request;
#pragma omp parallel for schedule(dynamic)
  for (int64_t z = 0; z < blocks->box.z; z++)
    for (int64_t y = 0; y < blocks->box.y; y++)
      for (int64_t x = 0; x < blocks->box.x; x++) {
        const lamina_int3 at = {x, y, z};
        const bool whole = x < blocks->box.x - 1 && y < blocks->box.y - 1 && z < blocks->box.z - 1;
        uint64_t active = whole ? ~(uint64_t)0 : inside_bits(blocks, at);
        if (request->solid != NULL)
          active &= ~request->solid(request->user, at);
        map->active[box_index(blocks, x, y, z)] = active;
      }
}

/* ---- partitions ---- */

/* Moves the ends of partitions so that each has about as many cells with fluid; each keeps a layer. */
static void balance_layers(lmi_partition *layers, const int64_t *cells)
{
  const int count = layers->count;
  int64_t total = 0, planes = 0, before = 0, layer = 0;
  for (int p = 0; p < count; p++)
    planes += layers->slabs[p].planes;
  for (int64_t z = 0; z < planes; z++)
    total += cells[z];
  for (int p = 0; p < count; p++) {
    layers->slabs[p].first = layer;
    const int64_t last = planes - (count - 1 - p); /* a layer for each of those that follow */
    do
      before += cells[layer++];
    while (layer < last && (before + cells[layer] / 2) * count <= total * (p + 1));
    if (p == count - 1)
      layer = planes;
    layers->slabs[p].planes = layer - layers->slabs[p].first;
  }
}

static lamina_status make_partitions(lamina_context *ctx, lmi_blocks *blocks, const lmi_block_map *map)
{
  const lmi_block_request *request = &blocks->request;
  const int64_t layers = blocks->box.z, layer_blocks = blocks->box.x * blocks->box.y;
  const int side = lmk_block_side(request->is_flat, 2);
  const int ranks = lamina_rank_count(ctx);
  LMI_REQUIRE(ctx, ranks > 1 || request->partitions <= layers, LAMINA_ERROR_ARGUMENT,
              "%d partitions of %lld planes: the sparse grid has %lld layers of blocks of %d planes, so at most %lld "
              "partitions",
              request->partitions, (long long)request->cells.z, (long long)layers, side, (long long)layers);
  LMI_REQUIRE(ctx, (int64_t)request->partitions * ranks <= layers, LAMINA_ERROR_ARGUMENT,
              "%d ranks x %d partitions of %lld planes: the sparse grid has %lld layers of blocks of %d planes, so at "
              "most %lld ranks with %d partitions each",
              ranks, request->partitions, (long long)request->cells.z, (long long)layers, side,
              (long long)(layers / request->partitions), request->partitions);
  LMI_TRY(lmi_partition_create(ctx, layers, request->partitions, request->is_periodic[2], &blocks->layers));
  LMI_TRY(lmi_partition_create(ctx, layers, request->partitions, request->is_periodic[2], &blocks->planes));
  int64_t *cells = NULL;
  LMI_TRY(LMI_ALLOC(ctx, (size_t)blocks->layers.count, &blocks->parts));
  LMI_TRY(LMI_ALLOC(ctx, (size_t)layers, &cells));
  for (int64_t z = 0; z < layers; z++)
    for (int64_t i = 0; i < layer_blocks; i++)
      cells[z] += lmk_count_bits(map->active[z * layer_blocks + i]);
  balance_layers(&blocks->layers, cells);
  for (int p = 0; p < blocks->layers.count; p++) {
    const int64_t first = blocks->layers.slabs[p].first * side;
    const int64_t end = first + blocks->layers.slabs[p].planes * side;
    blocks->planes.slabs[p].first = first;
    blocks->planes.slabs[p].planes = (end < request->cells.z ? end : request->cells.z) - first;
    for (int64_t z = 0; z < blocks->layers.slabs[p].planes; z++)
      blocks->parts[p].cells += cells[blocks->layers.slabs[p].first + z];
    blocks->cells += blocks->parts[p].cells;
  }
  lmi_free(ctx, cells);
  LMI_REQUIRE(ctx, blocks->cells > 0, LAMINA_ERROR_ARGUMENT, "no cell of the box has fluid: a body fills it");
  return LAMINA_OK;
}

/* ---- order ---- */

/* Bits of a coordinate spread so that two others fit between. */
static uint64_t spread_bits(uint64_t value)
{
  value &= 0xfffff;
  value = (value | value << 32) & 0x001f00000000ffffull;
  value = (value | value << 16) & 0x001f0000ff0000ffull;
  value = (value | value << 8) & 0x100f00f00f00f00full;
  value = (value | value << 4) & 0x10c30c30c30c30c3ull;
  value = (value | value << 2) & 0x1249249249249249ull;
  return value;
}

/* Along rows, or along a Morton curve. 20 bits a coordinate. */
static uint64_t place_key(const lmi_block_request *request, int64_t x, int64_t y, int64_t z)
{
  if (request->on_curve)
    return spread_bits((uint64_t)x) | spread_bits((uint64_t)y) << 1 | spread_bits((uint64_t)z) << 2;
  return (uint64_t)z << 40 | (uint64_t)y << 20 | (uint64_t)x;
}

static int compare_entries(const void *a, const void *b)
{
  const uint64_t x = ((const sort_entry *)a)->key, y = ((const sort_entry *)b)->key;
  return (x > y) - (x < y);
}

static int own_section(const lmi_slab *layers, int64_t layer)
{
  const bool low = layers->lower >= 0 && layer == layers->first;
  const bool high = layers->upper >= 0 && layer == layers->first + layers->planes - 1;
  if (low || (high && layers->planes == 1))
    return AT_LOWER;
  return high ? AT_UPPER : AT_PRIVATE;
}

/* Cells of a block that touch the one it lies beside, at an offset of -1, 0, 1 along each axis. */
static uint64_t touching_bits(int is_flat, const int offset[3])
{
  uint64_t bits = 0;
  for (int bit = 0; bit < LMK_BLOCK_CELLS; bit++) {
    const int at[3] = {lmk_block_x(is_flat, bit), lmk_block_y(is_flat, bit), lmk_block_z(is_flat, bit)};
    bool touches = true;
    for (int axis = 0; axis < 3; axis++)
      touches =
        touches && (offset[axis] == 0 || at[axis] == (offset[axis] > 0 ? 0 : lmk_block_side(is_flat, axis) - 1));
    bits |= (uint64_t)touches << bit;
  }
  return bits;
}

/* Whether a cell of a block touches one of another level. */
static bool is_at_jump(const lmi_blocks *blocks, const int32_t place[3])
{
  const lmi_block_request *request = &blocks->request;
  for (int n = 0; request->elsewhere != NULL && n < LMK_BLOCK_NEIGHBOURS; n++) {
    const int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    int64_t at[3];
    if ((request->is_flat && offset[1] != 0) || !lmi_blocks_beside(blocks, place, offset, at))
      continue;
    const uint64_t bits = request->elsewhere(request->user, (lamina_int3){at[0], at[1], at[2]});
    if (bits != 0 && (lmi_blocks_are_ragged(request) || (bits & touching_bits(request->is_flat, offset)) != 0))
      return true;
  }
  return false;
}

static lmi_block_kind kind_of(const lmi_blocks *blocks, const int32_t place[3], uint64_t special)
{
  const bool groups = blocks->request.grouping == LAMINA_GROUPING_MEMORY && special != 0;
  return (groups ? LMI_BLOCK_SPECIAL : LMI_BLOCK_PLAIN) + (is_at_jump(blocks, place) ? LMI_BLOCK_JUMP : 0);
}

/* The blocks of a partition, sorted; *entries is to be freed. */
static lamina_status sort_part(lamina_context *ctx, const lmi_blocks *blocks, int p, const lmi_block_map *map,
                               sort_entry **entries, int64_t *count)
{
  const lmi_block_request *request = &blocks->request;
  const lmi_slab *layers = &blocks->layers.slabs[p];
  const int64_t begin = box_index(blocks, 0, 0, layers->first);
  const int64_t end = box_index(blocks, 0, 0, layers->first + layers->planes);
  *count = 0;
  for (int64_t i = begin; i < end; i++)
    *count += map->active[i] != 0;
  LMI_REQUIRE(ctx, *count < INT32_MAX / LMK_BLOCK_CELLS, LAMINA_ERROR_ARGUMENT,
              "%lld blocks in one partition: at most %d; use more partitions", (long long)*count,
              INT32_MAX / LMK_BLOCK_CELLS);
  LMI_TRY(LMI_ALLOC(ctx, (size_t)*count, entries));
  sort_entry *next = *entries;
  for (int64_t z = layers->first; z < layers->first + layers->planes; z++)
    for (int64_t y = 0; y < blocks->box.y; y++)
      for (int64_t x = 0; x < blocks->box.x; x++) {
        const uint64_t active = map->active[box_index(blocks, x, y, z)];
        if (active == 0)
          continue;
        const uint64_t special =
          request->special != NULL ? request->special(request->user, (lamina_int3){x, y, z}, active) & active : 0;
        const int32_t at[3] = {(int32_t)x, (int32_t)y, (int32_t)z};
        const uint64_t key = (uint64_t)own_section(layers, z) << KEY_SECTION_SHIFT |
                             (uint64_t)kind_of(blocks, at, special) << KEY_KIND_SHIFT | place_key(request, x, y, z);
        *next++ = (sort_entry){key, (int32_t)x, (int32_t)y, (int32_t)z, active, special};
      }
  qsort(*entries, (size_t)*count, sizeof **entries, compare_entries);
  return LAMINA_OK;
}

/* ---- storage ---- */

typedef struct section_list {
  lmi_block_part *part;
  int velocities, plane, planes;
} section_list;

/* Appends a section of so many blocks, in `planes` planes a block; returns its number. */
static int add_section(const section_list *list, int64_t count, bool by_planes, int planes)
{
  lmi_block_part *part = list->part;
  lmk_block_section *s = &part->sections[part->section_count];
  const int64_t rank = by_planes ? count * list->plane : LMK_BLOCK_CELLS;
  *s = (lmk_block_section){
    .first = part->stored,
    .count = (int32_t)count,
    .base = part->elements,
    .block_stride = by_planes ? list->plane : list->velocities * LMK_BLOCK_CELLS,
    .rank_stride = rank,
    .plane_stride = by_planes ? (planes > 1 ? list->velocities * rank : 0) : list->plane,
  };
  const int64_t elements = count * list->velocities * (by_planes ? planes * list->plane : LMK_BLOCK_CELLS);
  part->elements += (elements + LMK_BLOCK_CELLS - 1) / LMK_BLOCK_CELLS * LMK_BLOCK_CELLS;
  part->stored += (int32_t)count;
  return part->section_count++;
}

static void lay_out_own(const lmi_blocks *blocks, int p, const sort_entry *entries, int64_t count)
{
  lmi_block_part *part = &blocks->parts[p];
  const lmi_slab *slab = &blocks->layers.slabs[p];
  const int flat = blocks->request.is_flat, planes = lmk_block_side(flat, 2);
  const section_list list = {part, blocks->request.velocities, lmk_block_plane(flat), planes};
  int64_t counts[OWN_SECTIONS] = {0};
  for (int64_t i = 0; i < count; i++)
    counts[entries[i].key >> KEY_SECTION_SHIFT]++;
  const bool one_layer = slab->planes == 1;
  part->lower_boundary = part->private_section = part->upper_boundary = part->lower_halo = part->upper_halo = -1;
  if (slab->lower >= 0 || (one_layer && slab->upper >= 0))
    part->lower_boundary = add_section(&list, counts[AT_LOWER], true, planes);
  if (part->lower_boundary < 0 || !one_layer)
    part->private_section = add_section(&list, counts[AT_PRIVATE], false, planes);
  if (slab->upper >= 0)
    part->upper_boundary = one_layer ? part->lower_boundary : add_section(&list, counts[AT_UPPER], true, planes);
  part->blocks = part->stored;
  part->first_layer = slab->first;
  part->layers = slab->planes;
  part->top_plane = planes - 1;
  const int64_t end = (slab->first + slab->planes) * planes;
  if (end > blocks->request.cells.z)
    part->top_plane -= (int)(end - blocks->request.cells.z);
}

/* One plane of each block of the neighbours that touches the face, in their order. */
static void lay_out_halos(const lmi_blocks *blocks, int p)
{
  lmi_block_part *part = &blocks->parts[p];
  const lmi_slab *slab = &blocks->layers.slabs[p];
  const int flat = blocks->request.is_flat;
  const section_list list = {part, blocks->request.velocities, lmk_block_plane(flat), 1};
  if (slab->lower >= 0) {
    const lmi_block_part *below = &blocks->parts[slab->lower];
    part->lower_halo = add_section(&list, below->sections[below->upper_boundary].count, true, 1);
  }
  if (slab->upper >= 0) {
    const lmi_block_part *above = &blocks->parts[slab->upper];
    part->upper_halo = add_section(&list, above->sections[above->lower_boundary].count, true, 1);
  }
}

/* Numbers the blocks of a partition, and counts the special ones. */
static void number_blocks(lmi_blocks *blocks, int p, const sort_entry *entries, int64_t count, const lmi_block_map *map)
{
  lmi_block_part *part = &blocks->parts[p];
  for (int64_t i = 0; i < count; i++) {
    map->number[box_index(blocks, entries[i].x, entries[i].y, entries[i].z)] = (int32_t)i;
    part->special_blocks += entries[i].special != 0;
    part->special_cells += lmk_count_bits(entries[i].special);
  }
  blocks->blocks += count;
  blocks->special_blocks += part->special_blocks;
}

/* Where each kind lies in each own section. */
static void find_runs(lmi_block_part *part, const sort_entry *entries)
{
  for (int s = 0; s < part->section_count && part->sections[s].first < part->blocks; s++) {
    const lmk_block_section *section = &part->sections[s];
    int32_t next = section->first;
    for (int kind = 0; kind < LMI_BLOCK_KINDS; kind++) {
      lmi_block_run *run = &part->runs[s][kind];
      run->first = next;
      while (next < section->first + section->count &&
             (int)(entries[next].key >> KEY_KIND_SHIFT & (LMI_BLOCK_KINDS - 1)) == kind)
        next++;
      run->count = next - run->first;
    }
  }
}

static lamina_status fill_own(lamina_context *ctx, lmi_block_part *part, const sort_entry *entries, int64_t count)
{
  LMI_TRY(LMI_ALLOC(ctx, (size_t)count, &part->active));
  LMI_TRY(LMI_ALLOC(ctx, (size_t)count, &part->special));
  LMI_TRY(LMI_ALLOC(ctx, (size_t)count, &part->kinds));
  LMI_TRY(LMI_ALLOC(ctx, 3 * (size_t)count, &part->places));
  for (int64_t i = 0; i < count; i++) {
    const sort_entry *e = &entries[i];
    part->active[i] = e->active;
    part->special[i] = e->special;
    part->kinds[i] = e->special != 0;
    part->places[3 * i] = e->x;
    part->places[3 * i + 1] = e->y;
    part->places[3 * i + 2] = e->z;
  }
  return LAMINA_OK;
}

static lamina_status fill_part(lamina_context *ctx, lmi_blocks *blocks, int p, const lmi_block_map *map)
{
  sort_entry *entries = NULL;
  int64_t count = 0;
  lamina_status status = sort_part(ctx, blocks, p, map, &entries, &count);
  if (status == LAMINA_OK) {
    lay_out_own(blocks, p, entries, count);
    find_runs(&blocks->parts[p], entries);
    number_blocks(blocks, p, entries, count, map);
    if (lmi_partition_is_own(&blocks->layers, p))
      status = fill_own(ctx, &blocks->parts[p], entries, count);
  }
  lmi_free(ctx, entries);
  return status;
}

lamina_status lmi_blocks_create(lamina_context *ctx, const lmi_block_request *request, lmi_blocks *blocks)
{
  lamina_status status = LAMINA_OK;
  *blocks = (lmi_blocks){.request = *request};
  const int flat = request->is_flat;
  const lamina_int3 n = request->cells;
  blocks->box = (lamina_int3){blocks_along(n.x, lmk_block_side(flat, 0)), blocks_along(n.y, lmk_block_side(flat, 1)),
                              blocks_along(n.z, lmk_block_side(flat, 2))};
  lmi_block_map map = {NULL, NULL};
  const lamina_int3 box = blocks->box;
  const int64_t widest = box.x > box.y ? (box.x > box.z ? box.x : box.z) : (box.y > box.z ? box.y : box.z);
  LMI_REQUIRE(ctx, widest < 1 << KEY_PLACE_BITS, LAMINA_ERROR_ARGUMENT,
              "a box of %lld blocks along an axis: at most 2^%d", (long long)widest, (int)KEY_PLACE_BITS);
  const size_t count = (size_t)(box.x * box.y * box.z);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &map.active), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &map.number), cleanup);
  for (size_t i = 0; i < count; i++)
    map.number[i] = -1;
  find_active(blocks, &map);
  LMI_TRY_GOTO(status, make_partitions(ctx, blocks, &map), cleanup);
  for (int p = 0; p < blocks->layers.count; p++)
    LMI_TRY_GOTO(status, fill_part(ctx, blocks, p, &map), cleanup);
  for (int p = 0; p < blocks->layers.count; p++)
    lay_out_halos(blocks, p);
  LMI_TRY_GOTO(status, lmi_blocks_make_tables(ctx, blocks, &map), cleanup);
cleanup:
  lmi_free(ctx, map.active);
  lmi_free(ctx, map.number);
  if (status != LAMINA_OK)
    lmi_blocks_free(ctx, blocks);
  return status;
}

void lmi_blocks_free(lamina_context *ctx, lmi_blocks *blocks)
{
  for (int p = 0; blocks->parts != NULL && p < blocks->layers.count; p++) {
    lmi_block_part *part = &blocks->parts[p];
    void *const tables[] = {part->neighbours,  part->active,       part->extents, part->link_first,
                            part->links,       part->kinds,        part->special, part->items,
                            part->layer_first, part->layer_blocks, part->places};
    for (size_t i = 0; i < LMI_COUNT(tables); i++)
      lmi_free(ctx, tables[i]);
  }
  lmi_free(ctx, blocks->parts);
  lmi_partition_free(ctx, &blocks->layers);
  lmi_partition_free(ctx, &blocks->planes);
  *blocks = (lmi_blocks){0};
}

lamina_int3 lmi_blocks_cell(const lmi_blocks *blocks, int part, int32_t block, int bit)
{
  const int flat = blocks->request.is_flat;
  const int32_t *place = blocks->parts[part].places + 3 * (int64_t)block;
  return (lamina_int3){
    (int64_t)place[0] * lmk_block_side(flat, 0) + lmk_block_x(flat, bit),
    (int64_t)place[1] * lmk_block_side(flat, 1) + lmk_block_y(flat, bit),
    (int64_t)place[2] * lmk_block_side(flat, 2) + lmk_block_z(flat, bit),
  };
}
