/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "fuzz.h"
#include "io/field_file.h"

int lmi_fuzz_one(const uint8_t *data, size_t bytes)
{
  (void)data, (void)bytes;
  lamina_context *ctx = lmi_fuzz_context();
  lmi_field_file *file = NULL;
  if (lmi_field_file_open(ctx, "input", &file) == LAMINA_OK) {
    const lmi_field_content *content = lmi_field_file_content(file);
    static double values[3][1 << 12];
    for (size_t i = 0; i < content->array_count; i++) {
      const lamina_box box = {{0, 0, content->frame.cells.z - 1}, {1, 1, 1}};
      if (lmi_field_file_read(file, i, box, (double *const[]){values[0], values[1], values[2]}) != LAMINA_OK)
        lamina_error_clear(ctx);
    }
  }
  lmi_field_file_close(file);
  lamina_context_destroy(ctx);
  return 0;
}

void lmi_fuzz_seed(lmi_fuzz_add *add)
{
  static double u[24];
  const double *const vector[] = {u, u, u}, *const scalar[] = {u};
  const lmi_field_array arrays[] = {{"velocity", "m/s", 3, LAMINA_F32}, {"pressure", "Pa", 1, LAMINA_F64}};
  const lmi_text_pair attributes[] = {{"title", "seed"}};
  const lmi_field_content content = {.frame = {.cells = {4, 3, 2}, .spacing = {1, 1, 1}},
                                     .arrays = arrays,
                                     .array_count = 2,
                                     .attributes = attributes,
                                     .attribute_count = 1};
  lamina_context *ctx = lmi_fuzz_context();
  if (lmi_field_file_write(ctx, "seed", &content, (const double *const *const[]){vector, scalar}) != LAMINA_OK)
    abort();
  lmi_fuzz_add_file("seed", add);
  lamina_context_destroy(ctx);
}
