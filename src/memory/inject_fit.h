/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of a calibration, apart so that tests can show it numbers. */
#ifndef LMI_INJECT_FIT_H
#define LMI_INJECT_FIT_H

#include <lamina/inject.h>

#include "base/base.h"

/* fitted[0..count): falling (or level) values nearest to `values` in least squares. `sizes` is scratch of `count`
 * elements. */
void lmi_fit_falling(const double *values, size_t count, double *fitted, size_t *sizes);

/* Flops an element between two points, a with more traffic than b, that give `wanted` GB/s. */
double lmi_interpolate_flops(const lamina_calibration_point *a, const lamina_calibration_point *b, double wanted);

#endif
