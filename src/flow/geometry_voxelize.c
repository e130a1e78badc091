/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies become cells, one body after the other: a mask over the blocks it can reach, then what is not taken yet. */
#include <math.h>
#include <string.h>

#include "geometry_internal.h"

typedef struct mixed_list {
  uint32_t count, capacity;
} mixed_list;

/* Blocks that a body can have cells in; false: none. */
static bool reach_of(const lmi_body *body, lmi_mask *mask)
{
  for (int a = 0; a < 3; a++) {
    lamina_index begin, end;
    lmi_centres_range(&mask->centres, a, body->bounds.low[a], body->bounds.high[a], &begin, &end);
    if (begin >= end)
      return false;
    mask->first[a] = begin >> 2;
    mask->count[a] = ((end + 3) >> 2) - mask->first[a];
  }
  return true;
}

static lamina_status grow_mixed(lamina_context *ctx, lmi_voxels *voxels, mixed_list *list)
{
  if (list->count < list->capacity)
    return LAMINA_OK;
  const uint32_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
  uint16_t(*grown)[64] = NULL;
  LMI_TRY(LMI_ALLOC(ctx, capacity, &grown));
  if (list->count > 0)
    memcpy(grown, voxels->mixed, list->count * sizeof *grown);
  lmi_free(ctx, voxels->mixed);
  voxels->mixed = grown;
  list->capacity = capacity;
  return LAMINA_OK;
}

static void write_owner(uint16_t *owners, uint64_t bits, int body)
{
  for (; bits != 0; bits &= bits - 1)
    owners[__builtin_ctzll(bits)] = (uint16_t)body;
}

/* Gives the cells `bits` of a block to a body. */
static lamina_status take(lamina_context *ctx, lmi_voxels *voxels, mixed_list *list, size_t block, uint64_t bits,
                          int body)
{
  const uint16_t before = voxels->owner[block];
  if (before != 0 && before != LMI_VOXEL_MIXED) {
    LMI_TRY(grow_mixed(ctx, voxels, list));
    voxels->mixed_index[block] = list->count++;
    write_owner(voxels->mixed[voxels->mixed_index[block]], voxels->solid[block], before);
  }
  if (before == 0) {
    voxels->owner[block] = (uint16_t)body;
  } else {
    voxels->owner[block] = LMI_VOXEL_MIXED;
    write_owner(voxels->mixed[voxels->mixed_index[block]], bits, body);
  }
  voxels->solid[block] |= bits;
  voxels->body_counts[body - 1] += __builtin_popcountll(bits);
  return LAMINA_OK;
}

static lamina_status merge(lamina_context *ctx, lmi_voxels *voxels, mixed_list *list, const lmi_mask *mask, int body)
{
  for (lamina_index z = 0; z < mask->count[2]; z++)
    for (lamina_index y = 0; y < mask->count[1]; y++)
      for (lamina_index x = 0; x < mask->count[0]; x++) {
        const lamina_index at[3] = {mask->first[0] + x, mask->first[1] + y, mask->first[2] + z};
        const size_t block = (size_t)((at[2] * voxels->blocks.y + at[1]) * voxels->blocks.x + at[0]);
        const uint64_t bits = *lmi_mask_word(mask, at) & ~voxels->solid[block];
        if (bits != 0)
          LMI_TRY(take(ctx, voxels, list, block, bits, body));
      }
  return LAMINA_OK;
}

static lamina_status add_body(lamina_context *ctx, lmi_voxels *voxels, mixed_list *list, int number)
{
  const lmi_body *body = &voxels->geometry->bodies[number - 1];
  lmi_mask mask = {.centres = lmi_centres_make(&voxels->grid)};
  if (!reach_of(body, &mask))
    return LAMINA_OK;
  LMI_TRY(LMI_ALLOC(ctx, (size_t)(mask.count[0] * mask.count[1] * mask.count[2]), &mask.words));
  lamina_status status = LAMINA_OK;
  if (body->info.kind == LAMINA_BODY_MESH)
    status = lmi_mask_mesh(ctx, body, &mask);
  else
    lmi_mask_shape(ctx, body, &mask);
  if (status == LAMINA_OK)
    status = merge(ctx, voxels, list, &mask, number);
  lmi_free(ctx, mask.words);
  return status;
}

static lamina_status check_grid(lamina_context *ctx, const lmi_voxel_grid *grid)
{
  const lamina_index cells[3] = {grid->cells.x, grid->cells.y, grid->cells.z};
  LMI_REQUIRE(ctx, grid->level >= 0 && grid->level <= 16, LAMINA_ERROR_ARGUMENT, "level %d; allowed 0 to 16",
              grid->level);
  for (int a = 0; a < 3; a++) {
    const int shift = grid->is_flat && a == 2 ? 0 : grid->level;
    LMI_REQUIRE(ctx, cells[a] >= 1 && cells[a] <= 131071 >> shift, LAMINA_ERROR_ARGUMENT,
                "%lld cells along %c with bodies in the box; allowed 1 to %d", (long long)cells[a], "xyz"[a],
                131071 >> shift);
  }
  return LAMINA_OK;
}

static lamina_status allocate(lamina_context *ctx, lmi_voxels *voxels)
{
  const lamina_int3 cells = voxels->grid.cells;
  voxels->blocks = (lamina_int3){(cells.x + 3) / 4, (cells.y + 3) / 4, (cells.z + 3) / 4};
  const size_t blocks = (size_t)(voxels->blocks.x * voxels->blocks.y * voxels->blocks.z);
  LMI_TRY(LMI_ALLOC(ctx, blocks, &voxels->solid));
  LMI_TRY(LMI_ALLOC(ctx, blocks, &voxels->owner));
  LMI_TRY(LMI_ALLOC(ctx, blocks, &voxels->mixed_index));
  return LMI_ALLOC(ctx, (size_t)voxels->geometry->count + 1, &voxels->body_counts);
}

static lamina_status fill(lamina_context *ctx, const lmi_voxelize_options *options, lmi_voxels *voxels)
{
  LMI_TRY(allocate(ctx, voxels));
  LMI_TRY(lmi_voxels_bin_bodies(ctx, voxels));
  mixed_list list = {0};
  const int count = voxels->geometry->count;
  for (int number = 1; number <= count; number++) {
    LMI_TRY(add_body(ctx, voxels, &list, number));
    voxels->solid_count += voxels->body_counts[number - 1];
    if (options != NULL && options->progress != NULL)
      options->progress(options->progress_user, (double)number / count);
  }
  const lamina_int3 cells = voxels->grid.cells;
  LMI_REQUIRE(ctx, voxels->solid_count < cells.x * cells.y * cells.z, LAMINA_ERROR_ARGUMENT,
              "the bodies fill the whole box of %lld x %lld x %lld cells, no fluid is left; make the box larger, or "
              "check the scale of the bodies",
              (long long)cells.x, (long long)cells.y, (long long)cells.z);
  return LAMINA_OK;
}

lamina_status lmi_geometry_voxelize(lamina_context *ctx, const lamina_geometry *geometry, const lmi_voxel_grid *grid,
                                    const lmi_voxelize_options *options, lmi_voxels *voxels)
{
  memset(voxels, 0, sizeof *voxels);
  LMI_TRY(check_grid(ctx, grid));
  voxels->geometry = geometry;
  voxels->grid = *grid;
  const lamina_status status = fill(ctx, options, voxels);
  if (status != LAMINA_OK)
    lmi_voxels_free(ctx, voxels);
  return status;
}

void lmi_voxels_free(lamina_context *ctx, lmi_voxels *voxels)
{
  lmi_free(ctx, voxels->solid);
  lmi_free(ctx, voxels->owner);
  lmi_free(ctx, voxels->mixed_index);
  lmi_free(ctx, voxels->mixed);
  lmi_free(ctx, voxels->body_counts);
  lmi_free(ctx, voxels->bin_starts);
  lmi_free(ctx, voxels->bin_bodies);
  memset(voxels, 0, sizeof *voxels);
}

int lmi_voxels_body(const lmi_voxels *voxels, lamina_int3 cell)
{
  if (!lmi_voxels_is_solid(voxels, cell))
    return 0;
  const size_t block = lmi_voxels_block(voxels, cell.x, cell.y, cell.z);
  if (voxels->owner[block] != LMI_VOXEL_MIXED)
    return voxels->owner[block];
  return voxels->mixed[voxels->mixed_index[block]][lmi_voxels_bit(cell.x, cell.y, cell.z)];
}
