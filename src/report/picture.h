/* SPDX-License-Identifier: Apache-2.0 */
/* A plot of its own: PATH.dat and PATH.gp, from which gnuplot draws PATH.svg. */
#ifndef LMI_PICTURE_H
#define LMI_PICTURE_H

#include <stdio.h>

#include "base/base.h"

typedef struct lmi_picture {
  FILE *data, *script;
  char *path;       /* without an ending */
  const char *name; /* its last part */
} lmi_picture;

/* Errors: FILE (cannot be written), ARGUMENT (a name that gnuplot cannot quote). */
LAMINA_NODISCARD lamina_status lmi_picture_open(lamina_context *ctx, const char *path, lmi_picture *picture);

/* Terminal, output and style; pixels. */
void lmi_picture_begin(lmi_picture *picture, int width, int height);

/* Closes both files and runs gnuplot. UNAVAILABLE without gnuplot. Frees the picture in any case. */
LAMINA_NODISCARD lamina_status lmi_picture_finish(lamina_context *ctx, lmi_picture *picture);

#endif
