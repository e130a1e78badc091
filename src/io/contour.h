/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of equal value through the centres of cells (marching squares). */
#ifndef LMI_CONTOUR_H
#define LMI_CONTOUR_H

#include "image.h"

/* Called for each piece of a line, ends in cells: the centre of cell (i, j) is at (i + 1/2, j + 1/2). */
typedef void lmi_contour_function(void *user, double x0, double y0, double x1, double y1);

/* All pieces of the line `level`. Squares with a non-finite corner have none. */
void lmi_contour_trace(const lmi_image_data *data, double level, lmi_contour_function *function, void *user);

#endif
