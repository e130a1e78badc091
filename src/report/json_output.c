/* SPDX-License-Identifier: Apache-2.0 */
#include "json_output.h"

lamina_status lmi_json_print(lamina_context *ctx, json_t *object, const char *what, FILE *stream)
{
  LMI_REQUIRE(ctx, object != NULL, LAMINA_ERROR_MEMORY, "no memory for the JSON of %s", what);
  const bool is_printed =
    json_dumpf(object, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', stream) != EOF;
  json_decref(object);
  LMI_REQUIRE(ctx, is_printed || ferror(stream), LAMINA_ERROR_SYSTEM, "the result cannot be written as JSON");
  return LAMINA_OK;
}
