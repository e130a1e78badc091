/* SPDX-License-Identifier: Apache-2.0 */
/* From the refinements of a solver's options to a stack of levels, and what a plan says of it. */
#include <math.h>

#include "level_flow.h"

typedef struct refiner {
  const lamina_solver_options *options;
  double cells[3]; /* of the box, in its own axes */
} refiner;

static lamina_real3 box_place(const lamina_solver_options *options, const int64_t at[3])
{
  const bool flat = lamina_lattice_dimension(options->lattice) == 2;
  return (lamina_real3){(double)at[0], (double)at[flat ? 2 : 1], (double)at[flat ? 1 : 2]};
}

static bool overlaps_box(const lamina_refinement *r, const double low[3], const double high[3], int dimension)
{
  for (int a = 0; a < dimension; a++)
    if (high[a] <= r->low[a] || low[a] >= r->high[a])
      return false;
  return true;
}

static bool is_near_wall(const refiner *asked, const lamina_refinement *r, const double low[3], const double high[3])
{
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    const int axis = face / 2;
    const double distance = face % 2 == 0 ? low[axis] : asked->cells[axis] - high[axis];
    if (asked->options->faces[face].kind != LAMINA_FACE_PERIODIC && distance < r->distance)
      return true;
  }
  return false;
}

static bool refine(void *user, int level, const int64_t kernel_low[3], const int64_t kernel_high[3])
{
  const refiner *asked = user;
  const lamina_solver_options *options = asked->options;
  const lamina_real3 low = box_place(options, kernel_low), high = box_place(options, kernel_high);
  const double lows[3] = {low.x, low.y, low.z}, highs[3] = {high.x, high.y, high.z};
  for (size_t i = 0; i < options->refinement_count; i++) {
    const lamina_refinement *r = &options->refinements[i];
    if (r->level > level)
      continue;
    if (r->kind == LAMINA_REFINE_BOX && overlaps_box(r, lows, highs, lamina_lattice_dimension(options->lattice)))
      return true;
    if (r->kind == LAMINA_REFINE_WALLS && is_near_wall(asked, r, lows, highs))
      return true;
    if (r->kind == LAMINA_REFINE_MASK && r->mask(r->user, level, low, high))
      return true;
  }
  return false;
}

static lamina_status check_refinement(lamina_context *ctx, const lamina_solver_options *options, size_t i)
{
  const lamina_refinement *r = &options->refinements[i];
  LMI_REQUIRE(ctx, r->level >= 0 && r->level < options->levels - 1, LAMINA_ERROR_ARGUMENT,
              "refinement %zu asks for level %d: of %d levels, 0 to %d can be asked for", i + 1, r->level,
              options->levels, options->levels - 2);
  switch (r->kind) {
  case LAMINA_REFINE_BOX:
    for (int a = 0; a < lamina_lattice_dimension(options->lattice); a++)
      LMI_REQUIRE(ctx, r->low[a] < r->high[a], LAMINA_ERROR_ARGUMENT,
                  "the box of refinement %zu goes from %g to %g along %c: it is empty", i + 1, r->low[a], r->high[a],
                  "xyz"[a]);
    return LAMINA_OK;
  case LAMINA_REFINE_WALLS:
    LMI_REQUIRE(ctx, r->distance > 0.0 && isfinite(r->distance), LAMINA_ERROR_ARGUMENT,
                "refinement %zu reaches %g cells from walls: more than 0 is needed", i + 1, r->distance);
    return LAMINA_OK;
  case LAMINA_REFINE_BODIES:
    return lmi_fail(ctx, LAMINA_UNAVAILABLE,
                    "refinement %zu is by the distance to bodies, which the grid of levels does not hold yet; refine a "
                    "box around them",
                    i + 1);
  case LAMINA_REFINE_MASK:
    LMI_REQUIRE(ctx, r->mask != NULL, LAMINA_ERROR_ARGUMENT, "refinement %zu has no mask function", i + 1);
    return LAMINA_OK;
  }
  return lmi_fail(ctx, LAMINA_ERROR_ARGUMENT, "refinement %zu is of kind %d, which is not in the list", i + 1,
                  (int)r->kind);
}

static lamina_status check_levels(lamina_context *ctx, const lamina_solver_options *options)
{
  LMI_REQUIRE(ctx, lamina_level_scheme_name(options->level_scheme) != NULL, LAMINA_ERROR_ARGUMENT,
              "level scheme %d is not in the list", (int)options->level_scheme);
  LMI_REQUIRE(ctx, options->geometry == NULL, LAMINA_UNAVAILABLE,
              "the grid of levels does not hold bodies yet: choose the sparse grid");
  LMI_REQUIRE(ctx, options->storage == LAMINA_STORAGE_FULL, LAMINA_UNAVAILABLE,
              "the grid of levels stores populations as the precision says: storage full");
  for (int face = 0; face < LAMINA_FACE_COUNT; face++) {
    const lamina_face_kind kind = options->faces[face].kind;
    LMI_REQUIRE(ctx, kind == LAMINA_FACE_PERIODIC || kind == LAMINA_FACE_WALL, LAMINA_UNAVAILABLE,
                "face %s is %s, but the grid of levels knows walls and periodic faces only: choose the sparse grid",
                lmi_face_name(face), lamina_face_kind_name(kind));
  }
  for (size_t i = 0; i < options->refinement_count; i++)
    LMI_TRY(check_refinement(ctx, options, i));
  return LAMINA_OK;
}

lamina_status lmi_level_refine(lamina_context *ctx, const lamina_solver_options *options, lmi_levels *levels)
{
  *levels = (lmi_levels){0};
  LMI_REQUIRE(ctx, options->levels >= 2 && options->levels <= LMI_MAX_LEVELS, LAMINA_ERROR_ARGUMENT,
              "%d levels: 2 to %d are possible", options->levels, (int)LMI_MAX_LEVELS);
  LMI_TRY(check_levels(ctx, options));
  refiner user = {options, {(double)options->cells.x, (double)options->cells.y, (double)options->cells.z}};
  const lamina_int3 cells = lmi_kernel_cells(options);
  lmi_levels_request request = {
    .cells = {cells.x, cells.y, cells.z},
    .is_flat = lamina_lattice_dimension(options->lattice) == 2,
    .count = options->levels,
    .refine = refine,
    .user = &user,
  };
  for (int a = 0; a < 3; a++)
    request.wraps[a] = lmi_is_periodic(options, a);
  return lmi_levels_create(ctx, &request, levels);
}

lamina_solver_options lmi_level_options(const lamina_solver_options *options, int level)
{
  lamina_solver_options own = *options;
  const double scale = (double)(INT64_C(1) << level);
  own.omega = 1.0 / (0.5 + (1.0 / options->omega - 0.5) / scale);
  own.force = (lamina_real3){scale * options->force.x, scale * options->force.y, scale * options->force.z};
  return own;
}

/* ---- blocks ---- */

static int64_t word_at(const lmi_level_source *source, lamina_int3 block)
{
  const int64_t *words = source->levels->level[source->level].words;
  return (block.z * words[1] + block.y) * words[0] + block.x;
}

static uint64_t outside_level(const void *user, lamina_int3 block)
{
  const lmi_level_source *source = user;
  return ~source->levels->level[source->level].leaf[word_at(source, block)];
}

static uint64_t elsewhere(const void *user, lamina_int3 block)
{
  const lmi_level_source *source = user;
  return lmi_level_elsewhere(source->levels, source->level, word_at(source, block));
}

lamina_status lmi_level_make_blocks(lamina_context *ctx, const lamina_solver_options *options,
                                    const lmi_level_source *source, lmi_blocks *blocks)
{
  const lmi_lattice *lattice = lmi_lattice_get(options->lattice);
  const int64_t *cells = source->levels->level[source->level].cells;
  lmi_block_request request = {
    .cells = {cells[0], cells[1], cells[2]},
    .is_flat = source->levels->is_flat,
    .partitions = 1,
    .velocities = lattice->velocities,
    .c = lattice->c,
    .solid = outside_level,
    .elsewhere = elsewhere,
    .user = source,
    .grouping = LAMINA_GROUPING_MEMORY,
    .on_curve = options->backend == LAMINA_BACKEND_CUDA,
  };
  for (int axis = 0; axis < 3; axis++)
    request.is_periodic[axis] = source->levels->wraps[axis];
  for (int face = 0; face < LMK_FACES; face++)
    request.is_wall[lmi_kernel_face(options, face)] = options->faces[face].kind == LAMINA_FACE_WALL;
  return lmi_blocks_create(ctx, &request, blocks);
}

/* ---- plan ---- */

static lamina_status describe_level(lamina_context *ctx, const lamina_solver_options *options, const lmi_levels *levels,
                                    int level, lamina_level_info *info)
{
  lmi_blocks blocks;
  const lmi_level_source source = {levels, level};
  LMI_TRY(lmi_level_make_blocks(ctx, options, &source, &blocks));
  const lmi_block_part *part = &blocks.parts[0];
  const lmi_block_run *jump = &part->runs[0][LMI_BLOCK_JUMP];
  *info = (lamina_level_info){
    .cells = levels->level[level].leaf_count,
    .blocks = part->blocks,
    .jump_blocks = jump->count,
    .omega = lmi_level_options(options, level).omega,
    .added = level < levels->count - 1 ? levels->level[level + 1].graded + levels->level[level + 1].closed : 0,
  };
  for (int32_t b = 0; b < part->blocks; b++)
    info->wall_blocks +=
      part->link_first[b + 1] > part->link_first[b] && !(b >= jump->first && b - jump->first < jump->count);
  info->added *= levels->is_flat ? 4 : 8;
  lmi_blocks_free(ctx, &blocks);
  return LAMINA_OK;
}

lamina_status lamina_levels_plan(lamina_context *ctx, const lamina_solver_options *options, lamina_level_info *infos)
{
  lmi_levels levels;
  LMI_TRY(lmi_check_options(ctx, options));
  LMI_TRY(lmi_level_refine(ctx, options, &levels));
  lamina_status status = LAMINA_OK;
  for (int level = 0; level < levels.count && status == LAMINA_OK; level++)
    status = describe_level(ctx, options, &levels, level, &infos[level]);
  lmi_levels_free(ctx, &levels);
  return status;
}
