/* SPDX-License-Identifier: Apache-2.0 */
/* The lattice-Boltzmann method written as plainly as possible, in double, straight from the textbook: no pairs, no
 * shifted populations, no fused operations, no shared code with the library but the option struct. What the library
 * must agree with to round-off. Velocities are its own list; a cell is looked up by its coordinates. */
#ifndef NAIVE_FLOW_H
#define NAIVE_FLOW_H

#include <lamina/solver.h>

typedef struct naive_flow naive_flow;

/* Lattices d2q9, d3q19, d3q27; collisions bgk, trt, regularized, smagorinsky (cumulant is tested by its moments). */
naive_flow *naive_create(const lamina_solver_options *options, lamina_initial_function *initial, void *user);
/* Cells that are solid, half-way bounce-back at rest on links into them: one byte a cell, x fastest. Kept by reference.
 */
void naive_set_solid(naive_flow *flow, const unsigned char *solid);
void naive_run(naive_flow *flow, int steps);
/* density, then velocity, of one cell */
void naive_read(const naive_flow *flow, lamina_int3 cell, double out[4]);
void naive_destroy(naive_flow *flow);

/* The collision alone, of one cell, and the velocity set, for other judges. */
void naive_collide(const naive_flow *flow, const double *f, double *out);
int naive_velocities(const naive_flow *flow);
const int *naive_velocity(const naive_flow *flow, int q);
int naive_opposite(const naive_flow *flow, int q);
double naive_weight(const naive_flow *flow, int q);
/* What initialisation gives f*_q of a cell. */
double naive_initial(const naive_flow *flow, int q, const lamina_cell_state *state);

#endif
