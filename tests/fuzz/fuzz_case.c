/* SPDX-License-Identifier: Apache-2.0 */
#include <glob.h>

#include <lamina/case.h>

#include "fuzz.h"

int lmi_fuzz_one(const uint8_t *data, size_t bytes)
{
  (void)data, (void)bytes;
  lamina_context *ctx = lmi_fuzz_context();
  lamina_case *flow = NULL;
  if (lamina_case_load(ctx, "input", NULL, 0, &flow) == LAMINA_OK) {
    lamina_plan plan;
    if (lamina_case_plan(ctx, flow, NULL, &plan) != LAMINA_OK)
      lamina_error_clear(ctx);
  }
  lamina_case_destroy(flow);
  lamina_context_destroy(ctx);
  return 0;
}

void lmi_fuzz_seed(lmi_fuzz_add *add)
{
  glob_t found;
  if (glob(LAMINA_SOURCE_DIR "/cases/*.yaml", 0, NULL, &found) != 0)
    return;
  for (size_t i = 0; i < found.gl_pathc; i++)
    lmi_fuzz_add_file(found.gl_pathv[i], add);
  globfree(&found);
}
