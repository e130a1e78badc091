/* SPDX-License-Identifier: Apache-2.0 */
/* A PNG of a scalar on a plane of cells: perceptual colour map, colour bar with numbers, title, optional contour lines
 * of a second scalar. Non-finite values (solids) are grey. */
#ifndef LMI_IMAGE_H
#define LMI_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <lamina/context.h>
#include <lamina/types.h>

typedef enum lmi_colour_map {
  LMI_COLOUR_SEQUENTIAL, /* dark to light: speeds, densities */
  LMI_COLOUR_DIVERGING,  /* about a neutral middle: vorticity, components; an automatic range is symmetric about 0 */
} lmi_colour_map;

typedef struct lmi_image_options {
  const char *title; /* "speed at z = 0.5 m, t = 40 s"; NULL: none. Letters without a glyph show as a box */
  const char *unit;  /* over the colour bar; NULL: none */
  lmi_colour_map map;
  bool has_range; /* low and high are given, low < high; otherwise from the finite values */
  double low, high;
  int pixels;             /* aim for the longer side of the picture proper, 64 to 8192; default 720 */
  const double *contour;  /* lines of equal value of this scalar, same shape; NULL: none */
  int contour_count;      /* lines a sign (1 to 64), spaced finer towards 0; default 12 */
  const uint8_t *regions; /* lines between cells of different numbers, same shape; NULL: none */
} lmi_image_options;

lmi_image_options lmi_image_options_default(void);

typedef struct lmi_image_range {
  double low, high;           /* as drawn */
  double data_low, data_high; /* of the finite values; both NaN when there are none */
} lmi_image_range;

/* `values` has height rows of width cells, row 0 drawn at the bottom. Written as NAME.part and renamed. `range` may be
 * NULL. Errors: ARGUMENT, MEMORY, FILE. */
typedef struct lmi_image_data {
  lamina_index width, height;
  const double *values;
} lmi_image_data;
LAMINA_NODISCARD lamina_status lmi_image_write(lamina_context *ctx, const char *path, const lmi_image_data *data,
                                               const lmi_image_options *options, lmi_image_range *range);

/* The stream function of a 2D flow at the cell centres: the integral of u over y from the lower edge, where it is 0 (a
 * wall at rest, or any line without flow through it). Contour lines of it are streamlines. `spacing` is the height of a
 * cell. */
void lmi_stream_function(const lmi_image_data *u, double spacing, double *psi);

#endif
