/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include <stdlib.h>

#include "base/base.h"
#include "device/kernel_text.h"

/* The embedded text is, byte for byte, the file it was made from. */
static void embedded_texts_are_the_files(void **state)
{
  (void)state;
  assert_true(lmi_kernel_text_count > 0);
  for (size_t i = 0; i < lmi_kernel_text_count; i++) {
    const lmi_kernel_text *kernel = &lmi_kernel_texts[i];
    char path[512];
    snprintf(path, sizeof path, "%s/src/kernel/%s", LAMINA_SOURCE_DIR, kernel->name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *content = calloc(1, kernel->bytes + 2);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, kernel->bytes + 1, file), kernel->bytes);
    assert_memory_equal(content, kernel->text, kernel->bytes);
    assert_int_equal(kernel->text[kernel->bytes], '\0');
    free(content);
    fclose(file);
  }
}

LMI_TEST_MAIN(cmocka_unit_test(embedded_texts_are_the_files))
