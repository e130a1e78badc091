/* SPDX-License-Identifier: Apache-2.0 */
/* The grid held against its own rules (lamina_grid_check). */
#include "grid_internal.h"

static lamina_status check_slabs(const lamina_grid *grid)
{
  const lmi_partition *partition = &grid->partition;
  int64_t next = 0;
  for (int p = 0; p < partition->count; p++) {
    const lmi_slab *slab = &partition->slabs[p];
    LMI_REQUIRE(grid->ctx, slab->first == next && slab->planes >= 1, LAMINA_ERROR_CHECK,
                "slab %d holds planes %lld to %lld, but plane %lld is next", p, (long long)slab->first,
                (long long)(slab->first + slab->planes - 1), (long long)next);
    LMI_REQUIRE(grid->ctx, slab->upper < 0 || partition->slabs[slab->upper].lower == p, LAMINA_ERROR_CHECK,
                "slab %d has slab %d above it, which has slab %d below it", p, slab->upper,
                slab->upper < 0 ? -1 : partition->slabs[slab->upper].lower);
    for (int64_t z = slab->first; z < slab->first + slab->planes; z++)
      LMI_REQUIRE(grid->ctx, lmi_partition_owner(partition, z) == p, LAMINA_ERROR_CHECK,
                  "plane %lld lies in slab %d, but slab %d is said to own it", (long long)z, p,
                  lmi_partition_owner(partition, z));
    next += slab->planes;
  }
  LMI_REQUIRE(grid->ctx, next == grid->extent.nz, LAMINA_ERROR_CHECK, "slabs hold %lld planes of %lld", (long long)next,
              (long long)grid->extent.nz);
  return LAMINA_OK;
}

/* Spans of a plane: in order, inside, and each cell marked once. */
static lamina_status check_plane(const lamina_grid *grid, int c, int64_t z, uint8_t *seen)
{
  const lmi_class_spans *class = &grid->classes.classes[c];
  const lmi_extent *extent = &grid->extent;
  int64_t after = 0;
  for (int64_t s = class->first[z]; s < class->first[z + 1]; s++) {
    const lmk_cell_span *span = &class->spans[s];
    LMI_REQUIRE(grid->ctx,
                span->count >= 1 && span->x >= 0 && span->x + span->count <= extent->nx && span->y >= 0 &&
                  span->y < extent->ny && span->y * extent->nx + span->x >= after,
                LAMINA_ERROR_CHECK, "class %d, plane %lld: span %lld (x %lld, y %lld, %lld cells) is out of order", c,
                (long long)z, (long long)s, (long long)span->x, (long long)span->y, (long long)span->count);
    after = span->y * extent->nx + span->x + span->count;
    for (int64_t i = span->y * extent->nx + span->x; i < after; i++)
      LMI_REQUIRE(grid->ctx, seen[i]++ == 0, LAMINA_ERROR_CHECK, "plane %lld: cell %lld is in two classes",
                  (long long)z, (long long)i);
  }
  return LAMINA_OK;
}

static lamina_status check_classes(const lamina_grid *grid, uint8_t *seen)
{
  const int64_t cells = grid->extent.nx * grid->extent.ny;
  for (int64_t z = 0; z < grid->extent.nz && !grid->classes.is_plain; z++) {
    memset(seen, 0, (size_t)cells);
    for (int c = 0; c < grid->classes.count; c++)
      LMI_TRY(check_plane(grid, c, z, seen));
    for (int64_t i = 0; i < cells; i++)
      LMI_REQUIRE(grid->ctx, seen[i] == 1, LAMINA_ERROR_CHECK, "plane %lld: cell %lld is in no class", (long long)z,
                  (long long)i);
  }
  return LAMINA_OK;
}

static lamina_status check_groups(const lamina_grid *grid)
{
  int64_t cells = 0;
  for (size_t g = 0; g < grid->group_count; g++)
    cells += grid->groups[g].cells;
  const int64_t all = grid->extent.nx * grid->extent.ny * grid->extent.nz;
  LMI_REQUIRE(grid->ctx, cells == all, LAMINA_ERROR_CHECK, "groups hold %lld cells of %lld", (long long)cells,
              (long long)all);
  return LAMINA_OK;
}

lamina_status lamina_grid_check(const lamina_grid *grid)
{
  uint8_t *seen = NULL;
  LMI_TRY(check_slabs(grid));
  LMI_TRY(check_groups(grid));
  LMI_TRY(LMI_ALLOC(grid->ctx, (size_t)(grid->extent.nx * grid->extent.ny), &seen));
  const lamina_status status = check_classes(grid, seen);
  lmi_free(grid->ctx, seen);
  return status;
}
