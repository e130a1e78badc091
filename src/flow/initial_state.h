/* SPDX-License-Identifier: Apache-2.0 */
/* States a flow begins with, in lattice units, for lamina_solver_initialise. Each sets velocity, pressure where it is
 * known and the velocity gradient, so that the populations start with their non-equilibrium part. */
#ifndef LMI_INITIAL_STATE_H
#define LMI_INITIAL_STATE_H

#include <lamina/solver.h>

/* What the functions below take as `user`. */
typedef struct lmi_initial_state {
  double speed;   /* amplitude */
  double length;  /* period along x, in cells */
  double mean[3]; /* velocity of uniform and of the flow that carries a wave */
  double steepness, perturbation;
} lmi_initial_state;

/* Velocity `mean` everywhere. */
lamina_initial_function lmi_initial_uniform;

/* u = -U cos kx sin ky, v = U sin kx cos ky, p = -(rho U^2 / 4)(cos 2kx + cos 2ky). */
lamina_initial_function lmi_initial_taylor_green;

/* u = U sin kx cos ky cos kz, v = -U cos kx sin ky cos kz, p = (rho U^2 / 16)(cos 2kx + cos 2ky)(cos 2kz + 2). */
lamina_initial_function lmi_initial_taylor_green_3d;

/* Two layers of opposite flow, u = U tanh(s (y/L - 1/4)) and U tanh(s (3/4 - y/L)), v = d U sin(2 pi (x/L + 1/4)). */
lamina_initial_function lmi_initial_shear_layer;

/* v = U sin kx on top of `mean`. */
lamina_initial_function lmi_initial_shear_wave;

/* The velocity alone, u and v, of the two-dimensional Taylor-Green vortex of amplitude U and wave number k at a point.
 */
void lmi_taylor_green_velocity(double speed, double k, double x, double y, double velocity[2]);

#endif
