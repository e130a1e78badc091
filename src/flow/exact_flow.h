/* SPDX-License-Identifier: Apache-2.0 */
/* Flows known in closed form, in SI units (docs/theory/exact-flows.md). Each gives the velocity along its own
 * direction. */
#ifndef LMI_EXACT_FLOW_H
#define LMI_EXACT_FLOW_H

#include "base/base.h"

/* Plane channel between y = 0 and y = height, driven by the acceleration g. `slip` is added everywhere. */
typedef struct lmi_channel {
  double acceleration, viscosity, height, slip;
} lmi_channel;
double lmi_exact_poiseuille(const lmi_channel *channel, double y);

/* The slip of half-way bounce-back: (g dx^2 / 2 nu)(4 magic / 3 - 1/4), with magic = (tau - 1/2)^2 for BGK. */
double lmi_exact_poiseuille_slip(const lmi_channel *channel, double cell_size, double magic);

double lmi_exact_couette(double low_speed, double high_speed, double height, double y);

/* Above a wall at y = 0 that moves with speed cos(2 pi t / period); the wall at y = height is at rest. */
typedef struct lmi_stokes2 {
  double speed, period, viscosity, height;
} lmi_stokes2;
double lmi_exact_stokes2(const lmi_stokes2 *flow, double y, double time);

/* Rectangular duct of width x height (from 0), driven by the acceleration g. */
typedef struct lmi_duct {
  double acceleration, viscosity, width, height;
} lmi_duct;
double lmi_exact_duct(const lmi_duct *duct, double y, double z);

#endif
