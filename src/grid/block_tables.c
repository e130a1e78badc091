/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from the order of blocks: neighbours, the ends of periodic axes, cut links, the items of special cells,
 * and which blocks a layer has. */
#include "blocks.h"

typedef struct table_maker {
  lmi_blocks *blocks;
  const lmi_block_map *map;
  int part;
} table_maker;

/* A coordinate brought into the box where its axis wraps; -1 outside. */
static int64_t wrapped(int64_t at, int64_t count, bool wraps)
{
  if (at >= 0 && at < count)
    return at;
  return wraps ? (at < 0 ? at + count : at - count) : -1;
}

static int64_t box_at(const lmi_blocks *blocks, const int64_t at[3])
{
  return (at[2] * blocks->box.y + at[1]) * blocks->box.x + at[0];
}

/* The number of the block at a place of the box, seen from a partition; `rise` is how many layers it is away. */
static int32_t number_at(const table_maker *maker, const int64_t at[3], int64_t from_layer, int rise)
{
  const lmi_blocks *blocks = maker->blocks;
  const lmi_block_part *part = &blocks->parts[maker->part];
  const lmi_slab *slab = &blocks->layers.slabs[maker->part];
  const int32_t number = maker->map->number[box_at(blocks, at)];
  if (number < 0)
    return -1;
  if (rise < 0 && from_layer == slab->first && slab->lower >= 0) {
    const lmi_block_part *below = &blocks->parts[slab->lower];
    return part->sections[part->lower_halo].first + number - below->sections[below->upper_boundary].first;
  }
  if (rise > 0 && from_layer == slab->first + slab->planes - 1 && slab->upper >= 0) {
    const lmi_block_part *above = &blocks->parts[slab->upper];
    return part->sections[part->upper_halo].first + number - above->sections[above->lower_boundary].first;
  }
  return number;
}

bool lmi_blocks_beside(const lmi_blocks *blocks, const int32_t *place, const int offset[3], int64_t at[3])
{
  const int64_t box[3] = {blocks->box.x, blocks->box.y, blocks->box.z};
  for (int axis = 0; axis < 3; axis++) {
    at[axis] = wrapped(place[axis] + offset[axis], box[axis], blocks->request.is_periodic[axis]);
    if (at[axis] < 0)
      return false;
  }
  return true;
}

static void fill_neighbours(const table_maker *maker, int32_t block)
{
  lmi_block_part *part = &maker->blocks->parts[maker->part];
  const int32_t *place = part->places + 3 * (int64_t)block;
  for (int n = 0; n < LMK_BLOCK_NEIGHBOURS; n++) {
    const int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    int64_t at[3];
    part->neighbours[(int64_t)block * LMK_BLOCK_NEIGHBOURS + n] =
      lmi_blocks_beside(maker->blocks, place, offset, at) ? number_at(maker, at, place[2], offset[2]) : -1;
  }
}

/* ---- ends of periodic axes ---- */

static int64_t cells_along(const lmi_block_request *request, int axis)
{
  return axis == 0 ? request->cells.x : axis == 1 ? request->cells.y : request->cells.z;
}

bool lmi_blocks_are_ragged(const lmi_block_request *request)
{
  for (int axis = 0; axis < 3; axis++)
    if (request->is_periodic[axis] && cells_along(request, axis) % lmk_block_side(request->is_flat, axis) != 0)
      return true;
  return false;
}

static void fill_extents(const lmi_blocks *blocks, lmi_block_part *part, int32_t block)
{
  const lmi_block_request *request = &blocks->request;
  const int64_t box[3] = {blocks->box.x, blocks->box.y, blocks->box.z};
  uint32_t packed = 0;
  for (int axis = 0; axis < 3; axis++) {
    const int side = lmk_block_side(request->is_flat, axis), at = part->places[3 * (int64_t)block + axis];
    int last = (int)(cells_along(request, axis) - (box[axis] - 1) * side);
    if (!request->is_periodic[axis])
      last = side;
    packed |= (uint32_t)(at == box[axis] - 1 ? last : side) << (4 * axis);
    packed |= (uint32_t)(at == 0 ? last : side) << (12 + 4 * axis);
  }
  part->extents[block] = packed;
}

/* ---- links ---- */

/* Whether every cell around a block has fluid: then it has no cut link. */
static bool is_immersed(const table_maker *maker, int32_t block)
{
  const lmi_blocks *blocks = maker->blocks;
  const int32_t *place = blocks->parts[maker->part].places + 3 * (int64_t)block;
  for (int n = 0; n < LMK_BLOCK_NEIGHBOURS; n++) {
    const int offset[3] = {n % 3 - 1, blocks->request.is_flat ? 0 : n / 3 % 3 - 1, n / 9 - 1};
    int64_t at[3];
    if (!lmi_blocks_beside(blocks, place, offset, at) || maker->map->active[box_at(blocks, at)] != ~(uint64_t)0)
      return false;
  }
  return true;
}

/* Whether a link is cut, and by which wall: 0 unless it crosses one wall and nothing else. */
static bool is_cut(const table_maker *maker, int32_t block, int bit, int q, int *wall)
{
  const lmi_blocks *blocks = maker->blocks;
  const lmi_block_request *request = &blocks->request;
  const int flat = request->is_flat;
  const lamina_int3 cell = lmi_blocks_cell(blocks, maker->part, block, bit);
  int64_t from[3] = {cell.x - request->c[q][0], cell.y - request->c[q][1], cell.z - request->c[q][2]};
  int64_t at[3];
  int local[3], crossed = 0;
  *wall = 0;
  for (int axis = 0; axis < 3; axis++) {
    const int64_t cells = cells_along(request, axis);
    const int face = 2 * axis + (from[axis] >= cells);
    from[axis] = wrapped(from[axis], cells, request->is_periodic[axis]);
    if (from[axis] < 0) {
      crossed++;
      *wall = request->is_wall[face] ? 1 + face : 0;
      continue;
    }
    const int side = lmk_block_side(flat, axis);
    at[axis] = from[axis] / side;
    local[axis] = (int)(from[axis] % side);
  }
  if (crossed > 1)
    *wall = 0;
  if (crossed > 0)
    return true;
  const int bit_there = lmk_block_bit(flat, local[0], local[1], local[2]);
  if (maker->map->active[box_at(blocks, at)] >> bit_there & 1)
    return false;
  return request->elsewhere == NULL ||
         !(request->elsewhere(request->user, (lamina_int3){at[0], at[1], at[2]}) >> bit_there & 1);
}

/* Counts the cut links of a block, and writes them if there is where to. */
static int32_t find_links(const table_maker *maker, int32_t block, lmk_block_link *links)
{
  const lmi_blocks *blocks = maker->blocks;
  const uint64_t active = blocks->parts[maker->part].active[block];
  int32_t count = 0;
  if (is_immersed(maker, block))
    return 0;
  for (int bit = 0; bit < LMK_BLOCK_CELLS; bit++)
    for (int q = 0; q < blocks->request.velocities && (active >> bit & 1) != 0; q++) {
      int wall;
      if (!is_cut(maker, block, bit, q, &wall))
        continue;
      if (links != NULL)
        links[count] = (lmk_block_link){(uint8_t)bit, (uint8_t)q, (uint16_t)wall};
      count++;
    }
  return count;
}

static lamina_status make_links(lamina_context *ctx, const table_maker *maker)
{
  lmi_block_part *part = &maker->blocks->parts[maker->part];
  LMI_TRY(LMI_ALLOC(ctx, (size_t)part->blocks + 1, &part->link_first));
#pragma omp parallel for schedule(dynamic, 64)
  for (int32_t b = 0; b < part->blocks; b++)
    part->link_first[b + 1] = find_links(maker, b, NULL);
  for (int32_t b = 0; b < part->blocks; b++) {
    part->link_count += part->link_first[b + 1];
    LMI_REQUIRE(ctx, part->link_count <= INT32_MAX, LAMINA_ERROR_ARGUMENT,
                "more than 2^31 links into solids in one partition: use more partitions");
    part->link_first[b + 1] = (int32_t)part->link_count;
  }
  LMI_TRY(LMI_ALLOC(ctx, (size_t)part->link_count, &part->links));
#pragma omp parallel for schedule(dynamic, 64)
  for (int32_t b = 0; b < part->blocks; b++)
    find_links(maker, b, part->links + part->link_first[b]);
  return LAMINA_OK;
}

/* ---- items of special cells ---- */

/* An index a cell, or of each block's first item. Returns how many items there are. */
static int64_t number_items(const lmi_block_part *part, bool counts)
{
  int64_t count = 0;
  for (int32_t b = 0; b < part->blocks; b++) {
    if (counts)
      part->items[b] = (int32_t)count;
    for (int bit = 0; bit < LMK_BLOCK_CELLS; bit++) {
      const bool is_special = part->special[b] >> bit & 1;
      if (!counts)
        part->items[b * LMK_BLOCK_CELLS + bit] = is_special ? (int32_t)count : -1;
      count += is_special;
    }
  }
  return count;
}

/* NAIVE: data for every cell. MEMORY: for every cell of special blocks, which stand side by side in each section.
 * BITMASK: for special cells, found by an index a cell. POPCOUNT: the same, counted from the block's first. */
static lamina_status make_items(lamina_context *ctx, const lmi_blocks *blocks, lmi_block_part *part)
{
  int64_t count = 0;
  switch (blocks->request.grouping) {
  case LAMINA_GROUPING_NAIVE: count = (int64_t)part->blocks * LMK_BLOCK_CELLS; break;
  case LAMINA_GROUPING_MEMORY:
    for (int s = 0; s < part->section_count && part->sections[s].first < part->blocks; s++) {
      const lmk_block_section *section = &part->sections[s];
      part->section_items[s] = (int32_t)count;
      part->section_plain[s] = section->count;
      for (int32_t b = section->first + section->count; b-- > section->first && part->kinds[b] != 0;)
        part->section_plain[s]--;
      count += (int64_t)(section->count - part->section_plain[s]) * LMK_BLOCK_CELLS;
    }
    break;
  case LAMINA_GROUPING_BITMASK:
  case LAMINA_GROUPING_POPCOUNT: {
    const bool counts = blocks->request.grouping == LAMINA_GROUPING_POPCOUNT;
    LMI_TRY(LMI_ALLOC(ctx, (size_t)part->blocks * (counts ? 1 : LMK_BLOCK_CELLS), &part->items));
    count = number_items(part, counts);
    break;
  }
  }
  part->item_count = part->special_blocks > 0 ? count : 0;
  return LAMINA_OK;
}

static void set_item_rule(const lmi_blocks *blocks, int part, int section, lmk_block_grid *grid)
{
  const lmi_block_part *p = &blocks->parts[part];
  grid->item_rule = LMK_ITEM_DIRECT;
  grid->item_first_block = 0;
  switch (blocks->request.grouping) {
  case LAMINA_GROUPING_NAIVE: break;
  case LAMINA_GROUPING_MEMORY:
    grid->item_first_block =
      p->sections[section].first + p->section_plain[section] - p->section_items[section] / LMK_BLOCK_CELLS;
    break;
  case LAMINA_GROUPING_BITMASK: grid->item_rule = LMK_ITEM_INDEX; break;
  case LAMINA_GROUPING_POPCOUNT: grid->item_rule = LMK_ITEM_COUNTED; break;
  }
}

int32_t lmi_blocks_item(const lmi_blocks *blocks, int part, int32_t block, int bit)
{
  const lmi_block_part *p = &blocks->parts[part];
  int section = 0;
  while (section + 1 < p->section_count && block >= p->sections[section + 1].first)
    section++;
  lmk_block_grid grid = {.special = p->special, .items = p->items};
  set_item_rule(blocks, part, section, &grid);
  return lmk_block_item(&grid, block, bit);
}

/* ---- layers ---- */

static lamina_status make_layers(lamina_context *ctx, const table_maker *maker)
{
  const lmi_blocks *blocks = maker->blocks;
  lmi_block_part *part = &blocks->parts[maker->part];
  LMI_TRY(LMI_ALLOC(ctx, (size_t)part->layers + 1, &part->layer_first));
  LMI_TRY(LMI_ALLOC(ctx, (size_t)part->blocks, &part->layer_blocks));
  const int64_t layer_blocks = blocks->box.x * blocks->box.y;
  int32_t count = 0;
  for (int64_t layer = 0; layer < part->layers; layer++) {
    const int32_t *numbers = maker->map->number + (part->first_layer + layer) * layer_blocks;
    for (int64_t i = 0; i < layer_blocks; i++)
      if (numbers[i] >= 0)
        part->layer_blocks[count++] = numbers[i];
    part->layer_first[layer + 1] = count;
  }
  return LAMINA_OK;
}

static uint64_t table_bytes(const lmi_blocks *blocks, const lmi_block_part *part)
{
  uint64_t a_block = LMK_BLOCK_NEIGHBOURS * sizeof(int32_t) + sizeof(uint64_t) + 5 * sizeof(int32_t);
  if (part->extents != NULL)
    a_block += sizeof *part->extents;
  if (part->special_blocks > 0)
    a_block += sizeof *part->special + sizeof *part->kinds;
  if (part->items != NULL)
    a_block += sizeof *part->items * (blocks->request.grouping == LAMINA_GROUPING_BITMASK ? LMK_BLOCK_CELLS : 1);
  return a_block * (uint64_t)part->blocks + (uint64_t)part->link_count * sizeof *part->links;
}

lamina_status lmi_blocks_make_tables(lamina_context *ctx, lmi_blocks *blocks, const lmi_block_map *map)
{
  for (int p = blocks->layers.own_first; p < blocks->layers.own_first + blocks->layers.own_count; p++) {
    const table_maker maker = {blocks, map, p};
    lmi_block_part *part = &blocks->parts[p];
    LMI_TRY(LMI_ALLOC(ctx, (size_t)part->blocks * LMK_BLOCK_NEIGHBOURS, &part->neighbours));
#pragma omp parallel for schedule(static)
    for (int32_t b = 0; b < part->blocks; b++)
      fill_neighbours(&maker, b);
    if (lmi_blocks_are_ragged(&blocks->request)) {
      LMI_TRY(LMI_ALLOC(ctx, (size_t)part->blocks, &part->extents));
      for (int32_t b = 0; b < part->blocks; b++)
        fill_extents(blocks, part, b);
    }
    LMI_TRY(make_links(ctx, &maker));
    LMI_TRY(make_items(ctx, blocks, part));
    LMI_TRY(make_layers(ctx, &maker));
    part->table_bytes = table_bytes(blocks, part);
    blocks->table_bytes += part->table_bytes;
  }
  return LAMINA_OK;
}

lmk_block_grid lmi_blocks_grid(const lmi_blocks *blocks, int part, int section, int streaming)
{
  const lmi_block_part *p = &blocks->parts[part];
  lmk_block_grid grid = {
    .is_flat = blocks->request.is_flat,
    .velocities = blocks->request.velocities,
    .streaming = streaming,
    .blocks = p->blocks,
    .section_count = p->section_count,
    .neighbours = p->neighbours,
    .active = p->active,
    .extents = p->extents,
    .link_first = p->link_first,
    .links = p->links,
    .kinds = p->special_blocks > 0 ? p->kinds : NULL,
    .special = p->special,
    .items = p->items,
  };
  for (int s = 0; s < p->section_count; s++)
    grid.sections[s] = p->sections[s];
  for (int q = 0; q < blocks->request.velocities; q++)
    for (int axis = 0; axis < 3; axis++)
      grid.c[q][axis] = blocks->request.c[q][axis];
  set_item_rule(blocks, part, section, &grid);
  return grid;
}
