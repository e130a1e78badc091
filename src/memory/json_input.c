/* SPDX-License-Identifier: Apache-2.0 */
#include "json_input.h"

lamina_status lmi_json_input(lamina_context *ctx, const char *path, json_t **object)
{
  json_error_t mistake;
  *object = json_load_file(path, JSON_REJECT_DUPLICATES, &mistake);
  if (*object != NULL)
    return LAMINA_OK;
  if (mistake.line <= 0) /* jansson's sentence names the file */
    return lmi_fail(ctx, LAMINA_ERROR_FILE, "%s", mistake.text);
  return lmi_fail(ctx, LAMINA_ERROR_CASE, "%s:%d: %s", path, mistake.line, mistake.text);
}
