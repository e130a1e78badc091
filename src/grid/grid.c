/* SPDX-License-Identifier: Apache-2.0 */
/* Definition and classification: a domain, its slabs, its groups. */
#include "grid_internal.h"

static const double MAX_CELLS = 1099511627776.0; /* 2^40 */

lamina_domain lamina_domain_box(int dimension, lamina_int3 cells)
{
  return (lamina_domain){.dimension = dimension, .cells = cells};
}

lamina_grid_options lamina_grid_options_default(void)
{
  return (lamina_grid_options){0};
}

lmk_neighbour lmi_neighbour(const lmi_extent *extent, int number)
{
  const int8_t dx = (int8_t)(number % 3 - 1), dy = (int8_t)(number / 3 % 3 - 1), dz = (int8_t)(number / 9 - 1);
  if (extent->is_flat)
    return (lmk_neighbour){(int8_t)number, dx, 0, dy};
  return (lmk_neighbour){(int8_t)number, dx, dy, dz};
}

bool lmi_stencil_crosses(const lmi_extent *extent, uint32_t stencil)
{
  for (int n = 0; n < LAMINA_NEIGHBOURS; n++)
    if ((stencil >> n & 1u) && lmi_neighbour(extent, n).dz != 0)
      return true;
  return false;
}

static lamina_status check_domain(lamina_context *ctx, const lamina_domain *domain)
{
  const lamina_int3 n = domain->cells;
  LMI_REQUIRE(ctx, domain->dimension == 2 || domain->dimension == 3, LAMINA_ERROR_ARGUMENT,
              "a domain of dimension %d: 2 or 3 are possible", domain->dimension);
  LMI_REQUIRE(ctx, n.x >= 1 && n.y >= 1 && n.z >= 1, LAMINA_ERROR_ARGUMENT,
              "a domain of %lld x %lld x %lld cells: each must be at least 1", (long long)n.x, (long long)n.y,
              (long long)n.z);
  LMI_REQUIRE(ctx, domain->dimension == 3 || n.z == 1, LAMINA_ERROR_ARGUMENT,
              "a two-dimensional domain of %lld cells along z: 1 is needed", (long long)n.z);
  LMI_REQUIRE(ctx, (double)n.x * (double)n.y * (double)n.z < MAX_CELLS, LAMINA_ERROR_ARGUMENT,
              "a domain of %lld x %lld x %lld cells: the product must be below 2^40", (long long)n.x, (long long)n.y,
              (long long)n.z);
  for (int axis = 0; axis < 3; axis++)
    LMI_REQUIRE(ctx, domain->edge[axis] == LAMINA_EDGE_PERIODIC || domain->edge[axis] == LAMINA_EDGE_FIXED,
                LAMINA_ERROR_ARGUMENT, "edge[%d] is %d: periodic (0) or fixed (1) are possible", axis,
                (int)domain->edge[axis]);
  return LAMINA_OK;
}

static lamina_status check_options(lamina_context *ctx, const lamina_domain *domain, const lamina_grid_options *options)
{
  LMI_REQUIRE(ctx, (options->stencil & ~(uint32_t)LAMINA_STENCIL_27) == 0, LAMINA_ERROR_ARGUMENT,
              "stencil 0x%x has bits beyond the 27 neighbours", (unsigned)options->stencil);
  LMI_REQUIRE(ctx, domain->dimension == 3 || (options->stencil & ~(uint32_t)LAMINA_STENCIL_9) == 0,
              LAMINA_ERROR_ARGUMENT, "stencil 0x%x reads along z, but the domain has two dimensions",
              (unsigned)options->stencil);
  LMI_REQUIRE(ctx, options->partitions >= 0, LAMINA_ERROR_ARGUMENT, "%d partitions: the number must not be negative",
              options->partitions);
  const char *name = lamina_backend_name(options->backend);
  LMI_REQUIRE(ctx, name != NULL, LAMINA_ERROR_ARGUMENT, "there is no backend %d", (int)options->backend);
  LMI_REQUIRE(ctx, lamina_rank_count(ctx) == 1, LAMINA_UNAVAILABLE,
              "kernels of users work on one rank: make the grid from a context that did not join ranks");
  LMI_REQUIRE(ctx, lmi_backend_find(name)->cells_kernel != NULL, LAMINA_UNAVAILABLE,
              "the %s backend runs no kernels of users; use cpu", name);
  return LAMINA_OK;
}

static int64_t section_planes(const lmi_slab *slab, lamina_section section, int64_t *first)
{
  const int64_t lower = slab->lower >= 0, upper = slab->upper >= 0 && slab->planes > lower;
  *first = section == LAMINA_SECTION_LOWER ? 0 : section == LAMINA_SECTION_PRIVATE ? lower : slab->planes - upper;
  return section == LAMINA_SECTION_LOWER     ? lower
         : section == LAMINA_SECTION_PRIVATE ? slab->planes - lower - upper
                                             : upper;
}

static void count_group(const lamina_grid *grid, int c, int64_t first, int64_t planes, lamina_group *group)
{
  const lmi_class_spans *class = &grid->classes.classes[c];
  if (grid->classes.is_plain) {
    group->spans = planes * grid->extent.ny;
    group->cells = group->spans * grid->extent.nx;
    return;
  }
  group->spans = class->first[first + planes] - class->first[first];
  for (int64_t s = class->first[first]; s < class->first[first + planes]; s++)
    group->cells += class->spans[s].count;
}

static lamina_status make_groups(lamina_grid *grid)
{
  const size_t most = (size_t)grid->partition.count * 3 * (size_t)grid->classes.count;
  LMI_TRY(LMI_ALLOC(grid->ctx, most, &grid->groups));
  for (int p = 0; p < grid->partition.count; p++)
    for (int section = LAMINA_SECTION_LOWER; section <= LAMINA_SECTION_UPPER; section++)
      for (int c = 0; c < grid->classes.count; c++) {
        const lmi_slab *slab = &grid->partition.slabs[p];
        int64_t first = 0;
        const int64_t planes = section_planes(slab, (lamina_section)section, &first);
        lamina_group group = {.partition = p, .section = (lamina_section)section};
        memcpy(group.classes, grid->classes.classes[c].values, sizeof group.classes);
        count_group(grid, c, slab->first + first, planes, &group);
        if (group.cells > 0)
          grid->groups[grid->group_count++] = group;
      }
  return LAMINA_OK;
}

lamina_status lamina_grid_create(lamina_context *ctx, const lamina_domain *domain, const lamina_grid_options *options,
                                 lamina_grid **grid)
{
  const lamina_grid_options chosen = options != NULL ? *options : lamina_grid_options_default();
  lamina_status status = LAMINA_OK;
  *grid = NULL;
  LMI_TRY(check_domain(ctx, domain));
  LMI_TRY(check_options(ctx, domain, &chosen));
  lamina_grid *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  made->domain = *domain;
  made->stencil = chosen.stencil;
  const bool flat = domain->dimension == 2;
  const lamina_int3 n = domain->cells;
  made->extent = flat ? (lmi_extent){n.x, 1, n.y, true} : (lmi_extent){n.x, n.y, n.z, false};
  const bool is_periodic = domain->edge[flat ? 1 : 2] == LAMINA_EDGE_PERIODIC;
  const lmi_device_ops *ops = lmi_backend_find(lamina_backend_name(chosen.backend));
  const lmi_device_options device_options = {.threads = lamina_context_thread_count(ctx)};
  LMI_TRY_GOTO(status,
               lmi_partition_create(ctx, made->extent.nz, chosen.partitions > 0 ? chosen.partitions : 1, is_periodic,
                                    &made->partition),
               cleanup);
  LMI_TRY_GOTO(status, lmi_classes_create(ctx, &made->extent, chosen.properties, chosen.property_count, &made->classes),
               cleanup);
  LMI_TRY_GOTO(status, make_groups(made), cleanup);
  LMI_TRY_GOTO(status, ops->open(ctx, &device_options, &made->device), cleanup);
  *grid = made;
cleanup:
  if (status != LAMINA_OK)
    lamina_grid_destroy(made);
  return status;
}

void lamina_grid_destroy(lamina_grid *grid)
{
  if (grid == NULL)
    return;
  if (grid->device != NULL)
    grid->device->ops->close(grid->device);
  lmi_free(grid->ctx, grid->groups);
  lmi_classes_free(grid->ctx, &grid->classes);
  lmi_partition_free(grid->ctx, &grid->partition);
  lmi_free(grid->ctx, grid);
}

size_t lamina_grid_group_count(const lamina_grid *grid)
{
  return grid->group_count;
}

bool lamina_grid_group_at(const lamina_grid *grid, size_t index, lamina_group *group)
{
  if (index >= grid->group_count)
    return false;
  *group = grid->groups[index];
  return true;
}
