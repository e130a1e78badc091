/* SPDX-License-Identifier: Apache-2.0 */
/* The packet scheme of a grid of levels written as plainly as possible, and the other way round than the library:
 * packets are pushed. A population of a coarse cell is split into packets on the finer level, each packet is moved cell
 * by cell and bounces from walls, and what lies in a place at the end is handed to whoever owns it. Arrays over the
 * whole box on every level, double precision, nothing precomputed.
 *
 * The shape of the levels is a function of the place: which level's leaf covers a cell of a level. */
#ifndef NAIVE_LEVELS_H
#define NAIVE_LEVELS_H

#include <lamina/solver.h>

typedef struct naive_levels naive_levels;

/* The level of the leaf that covers a place of the box, in finest cells; x, y, z of the box. */
typedef int naive_level_function(void *user, lamina_index x, lamina_index y, lamina_index z);

/* options->levels levels; collisions as naive_flow.h has them. whole_walls: a moving wall gives nothing to packets. */
naive_levels *naive_levels_create(const lamina_solver_options *options, bool whole_walls, naive_level_function *level,
                                  void *level_user, lamina_initial_function *initial, void *user);
/* One step of the coarsest level. */
void naive_levels_step(naive_levels *stack);
/* f*_q, and what it is at rest, of the leaf that covers a finest cell */
void naive_levels_read(const naive_levels *stack, lamina_int3 cell, int q, double *population, double *rest);
void naive_levels_destroy(naive_levels *stack);

#endif
