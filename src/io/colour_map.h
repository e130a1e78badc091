/* SPDX-License-Identifier: Apache-2.0 */
/* Colour maps in which equal steps of the value look like equal steps. */
#ifndef LMI_COLOUR_MAP_H
#define LMI_COLOUR_MAP_H

#include "image.h"

typedef struct lmi_colour {
  unsigned char red, green, blue;
} lmi_colour;

enum { LMI_COLOUR_STEPS = 1024 };

/* Fills the table from the lowest value to the highest. */
void lmi_colour_map_fill(lmi_colour_map map, lmi_colour table[LMI_COLOUR_STEPS]);

#endif
