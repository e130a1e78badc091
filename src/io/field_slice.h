/* SPDX-License-Identifier: Apache-2.0 */
/* Planes out of a field file, of any array in it and of what follows from it. */
#ifndef LMI_FIELD_SLICE_H
#define LMI_FIELD_SLICE_H

#include "field_file.h"
#include "image.h"

/* A scalar of a file by name: a scalar array ("pressure"), the magnitude of a vector ("velocity", also "speed"), one of
 * its components ("velocity_x"), or the "vorticity" normal to the slice. */
typedef enum lmi_quantity_kind {
  LMI_QUANTITY_SCALAR,
  LMI_QUANTITY_MAGNITUDE,
  LMI_QUANTITY_VORTICITY
} lmi_quantity_kind;

typedef struct lmi_field_quantity {
  const char *name; /* as it was asked for; not copied */
  const char *unit; /* lives as long as the file is open */
  lmi_quantity_kind kind;
  size_t array;
  int component; /* of a SCALAR */
} lmi_field_quantity;

/* ARGUMENT with the names that are possible when the file has no such quantity. */
LAMINA_NODISCARD lamina_status lmi_field_quantity_find(lamina_context *ctx, const lmi_field_file *file,
                                                       const char *name, lmi_field_quantity *quantity);

/* Values of a SCALAR or MAGNITUDE in a box, x fastest. */
LAMINA_NODISCARD lamina_status lmi_field_quantity_read(lamina_context *ctx, lmi_field_file *file,
                                                       const lmi_field_quantity *quantity, lamina_box box,
                                                       double *values);

typedef struct lmi_field_slice {
  lamina_context *ctx;
  int axis;        /* 0, 1, 2: the plane is normal to x, y or z */
  double position; /* m */
  int across[2];   /* axes of the picture: to the right, and up */
  lamina_index width, height;
  double *values; /* rows from below */
  double *stream; /* stream function of the flow in the plane, or NULL */
} lmi_field_slice;

/* Linear between the two layers of cells around the position. Errors: ARGUMENT (outside the box, with its ends), and
 * those of reading. On failure the slice is empty. */
LAMINA_NODISCARD lamina_status lmi_field_slice_take(lamina_context *ctx, lmi_field_file *file,
                                                    const lmi_field_quantity *quantity, int axis, double position,
                                                    lmi_field_slice *slice);

/* Adds the stream function; the file needs a velocity. */
LAMINA_NODISCARD lamina_status lmi_field_slice_add_stream(lmi_field_slice *slice, lmi_field_file *file);
void lmi_field_slice_free(lmi_field_slice *slice);

#endif
