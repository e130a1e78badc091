/* SPDX-License-Identifier: Apache-2.0 */
/* {"file-series-version": "1.0", "files": [{"name": "fields-000000.vtkhdf", "time": 0.0}, ...]} */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "field_file.h"
#include "safe_file.h"

static const size_t LARGEST_SERIES = (size_t)256 << 20;

/* Copies the entries before `time`; anything else in the file is not ours and not kept. */
static bool keep_earlier(const json_t *old, double time, json_t *files)
{
  size_t i = 0;
  const json_t *entry = NULL;
  json_array_foreach(json_object_get(old, "files"), i, entry)
  {
    const json_t *at = json_object_get(entry, "time");
    if (!json_is_number(at) || !json_is_string(json_object_get(entry, "name")))
      return false;
    if (json_number_value(at) < time && json_array_append(files, (json_t *)(uintptr_t)entry) != 0)
      return false;
  }
  return true;
}

static lamina_status read_earlier(lamina_context *ctx, const char *path, double time, json_t *files)
{
  if (access(path, F_OK) != 0)
    return LAMINA_OK;
  char *text = NULL;
  size_t bytes = 0;
  LMI_TRY(lmi_file_read_all(ctx, path, LARGEST_SERIES, &text, &bytes));
  json_error_t error;
  json_t *old = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
  lmi_free(ctx, text);
  lamina_status status = LAMINA_OK;
  if (old == NULL)
    status = lmi_fail(ctx, LAMINA_ERROR_CASE, "%s:%d: %s; remove the file to begin a new series", path, error.line,
                      error.text);
  else if (!json_is_array(json_object_get(old, "files")) || !keep_earlier(old, time, files))
    status = lmi_fail(ctx, LAMINA_ERROR_CASE, "%s is not a series of files; remove it to begin a new one", path);
  json_decref(old);
  return status;
}

static lamina_status write_series(lamina_context *ctx, const char *path, json_t *files)
{
  json_t *series = json_pack("{s:s, s:O}", "file-series-version", "1.0", "files", files);
  char *text = series != NULL ? json_dumps(series, JSON_INDENT(1)) : NULL;
  json_decref(series);
  LMI_REQUIRE(ctx, text != NULL, LAMINA_ERROR_MEMORY, "no memory for the series %s", path);
  const lamina_status status = lmi_safe_file_put(ctx, path, text, strlen(text));
  free(text); // jansson's own allocation
  return status;
}

lamina_status lmi_field_series_add(lamina_context *ctx, const char *path, const char *file_name, double time)
{
  json_t *files = json_array();
  lamina_status status = files != NULL ? read_earlier(ctx, path, time, files)
                                       : lmi_fail(ctx, LAMINA_ERROR_MEMORY, "no memory for the series %s", path);
  if (status == LAMINA_OK) {
    json_t *entry = json_pack("{s:s, s:f}", "name", file_name, "time", time);
    status = json_array_append_new(files, entry) == 0
               ? write_series(ctx, path, files)
               : lmi_fail(ctx, LAMINA_ERROR_ARGUMENT, "the file name %s or the time %g cannot stand in %s", file_name,
                          time, path);
  }
  json_decref(files);
  return status;
}
