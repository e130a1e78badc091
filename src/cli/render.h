/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `lamina render`. */
#ifndef LMI_RENDER_H
#define LMI_RENDER_H

#include "cli.h"
#include "io/field_file.h"

struct render_values {
  bool json, streamlines, vti;
  const char *out, *range;
  int64_t pixels;
  double length, speed, gate; /* 0: not given */
  lmi_word_list fields, slices, profiles, references;
};

/* What every part needs. */
typedef struct lmi_render {
  lmi_call *call;
  lamina_context *ctx;
  const struct render_values *values;
  const char *path; /* of the file of fields */
  lmi_field_file *file;
  json_t *pictures, *profiles, *references; /* for --json */
  bool is_off;                              /* a comparison missed its gate */
} lmi_render;

/* Two dimensions: one cell thick in z. */
static inline bool lmi_render_is_flat(const lmi_render *render)
{
  return lmi_field_file_content(render->file)->frame.cells.z == 1;
}

/* DIR/STEM-WHAT, or DIR/STEM when `what` is NULL. STEM is the file's name without its ending. */
LAMINA_NODISCARD lamina_status lmi_render_name(const lmi_render *render, const char *what, lmi_text *name);

/* "x=0.5": axis and position. Errors name `option`. */
LAMINA_NODISCARD lamina_status lmi_render_parse_place(const lmi_call *call, const char *option, const char *text,
                                                      int *axis, double *position);

LAMINA_NODISCARD lamina_status lmi_render_pictures(lmi_render *render);
LAMINA_NODISCARD lamina_status lmi_render_profiles(lmi_render *render);
LAMINA_NODISCARD lamina_status lmi_render_references(lmi_render *render);

#endif
