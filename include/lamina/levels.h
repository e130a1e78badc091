/* SPDX-License-Identifier: Apache-2.0 */
/* Local refinement: grids of different cell sizes over one box, for solvers with `grid` LAMINA_GRID_LEVELS. Level 0 is
 * the finest; a cell of level l is 2^l finest cells long, and takes one time step while the finest takes 2^l.
 * Everything else of a solver stays in lattice units of the finest level: cells, positions, omega, force, steps.
 *
 *   const lamina_refinement shell = {.kind = LAMINA_REFINE_WALLS, .distance = 16};
 *   options.grid = LAMINA_GRID_LEVELS;
 *   options.levels = 3;
 *   options.refinements = &shell;
 *   options.refinement_count = 1;
 *   lamina_solver_create(context, &options, &solver);
 *   lamina_solver_run(solver, 400);     a multiple of 2^(levels - 1): steps of the coarsest level
 *
 * More is refined than was asked for where the jumps need it: around any refined cell, two cells of its own level exist
 * in every direction. */
#ifndef LAMINA_LEVELS_H
#define LAMINA_LEVELS_H

#include <stdbool.h>
#include <stddef.h>

#include <lamina/context.h>
#include <lamina/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lamina_solver_options;
struct lamina_solver;

enum { LAMINA_MAX_LEVELS = 8 };

typedef enum lamina_refinement_kind {
  LAMINA_REFINE_BOX,    /* cells that overlap [low, high) */
  LAMINA_REFINE_WALLS,  /* cells nearer than `distance` to a wall of the box */
  LAMINA_REFINE_BODIES, /* cells nearer than `distance` to a body, or in it */
  LAMINA_REFINE_MASK,   /* cells that `mask` answers yes to */
} lamina_refinement_kind;

/* Shall the cell that spans [low, high) be refined to a level? */
typedef bool lamina_refinement_mask(void *user, int level, lamina_real3 low, lamina_real3 high);

/* Cells where it applies become cells of `level`, or of a finer one that another refinement asks for. */
typedef struct lamina_refinement {
  lamina_refinement_kind kind;
  int level;
  double low[3], high[3]; /* BOX, in finest cells; in two dimensions z is ignored */
  double distance;        /* WALLS, BODIES, in finest cells */
  lamina_refinement_mask *mask;
  void *user;
} lamina_refinement;

/* One level of a stack. */
typedef struct lamina_level_info {
  lamina_index cells;       /* that belong to it */
  lamina_index blocks;      /* of 64 cells that hold one */
  lamina_index wall_blocks; /* among them: beside a wall of the box */
  lamina_index jump_blocks; /* among them: with a cell that touches another level */
  double omega;             /* relaxation rate of the level */
  lamina_index added;       /* cells of it that were refined because the jumps need it, not because somebody asked */
} lamina_level_info;

/* Fills `levels`, room for options->levels, without making a solver. Errors: as lamina_solver_create. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_levels_plan(lamina_context *context,
                                                             const struct lamina_solver_options *options,
                                                             lamina_level_info *levels);

/* The level of the cells of a box (first, count; in finest cells), x fastest. Zero everywhere on other grids. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_solver_read_levels(const struct lamina_solver *solver,
                                                                    lamina_int3 first, lamina_int3 count,
                                                                    uint8_t *levels);

#ifdef __cplusplus
}
#endif

#endif
