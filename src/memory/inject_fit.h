/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of a calibration, apart so that tests can show it numbers. */
#ifndef LMI_INJECT_FIT_H
#define LMI_INJECT_FIT_H

#include <lamina/inject.h>

#include "base/base.h"

/* fitted[0..count): falling (or level) values nearest to `values` in least squares. `sizes` is scratch of `count`
 * elements. */
void lmi_fit_falling(const double *values, size_t count, double *fitted, size_t *sizes);

/* Puts lmi_fit_falling of their traffic into the points. */
LAMINA_NODISCARD lamina_status lmi_fit_points(lamina_context *ctx, lamina_calibration_point *points, size_t count);

/* The flops to try next when `flops` made `rate` GB/s: steps are larger than the error asks for, since traffic hardly
 * answers to flops where memory bounds it, and shrink with the number of the window. */
double lmi_next_flops(double flops, double rate, double wanted, int window);

/* Flops an element between two points, a with more traffic than b, that give `wanted` GB/s. */
double lmi_interpolate_flops(const lamina_calibration_point *a, const lamina_calibration_point *b, double wanted);

#endif
