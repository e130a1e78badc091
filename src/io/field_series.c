/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON list is the record: {"file-series-version": "1.0", "files": [{"name": "fields-000000.vtkhdf", "time": 0.0},
 * ...]}. The XDMF index is made anew from it each time. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "field_file.h"
#include "field_xdmf.h"
#include "safe_file.h"

static const size_t LARGEST_SERIES = (size_t)256 << 20;

/* Copies the entries before `time`; false when the file is none of ours. */
static bool keep_earlier(const json_t *old, double time, json_t *files)
{
  size_t i = 0;
  json_t *entry = NULL;
  json_array_foreach(json_object_get(old, "files"), i, entry)
  {
    const json_t *at = json_object_get(entry, "time");
    if (!json_is_number(at) || !json_is_string(json_object_get(entry, "name")))
      return false;
    if (json_number_value(at) < time && json_array_append(files, entry) != 0)
      return false;
  }
  return json_is_array(json_object_get(old, "files"));
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
  else if (!keep_earlier(old, time, files))
    status = lmi_fail(ctx, LAMINA_ERROR_CASE, "%s is not a series of files; remove it to begin a new one", path);
  json_decref(old);
  return status;
}

static lamina_status write_list(lamina_context *ctx, const char *path, json_t *files)
{
  json_t *series = json_pack("{s:s, s:O}", "file-series-version", "1.0", "files", files);
  char *text = series != NULL ? json_dumps(series, JSON_INDENT(1)) : NULL;
  json_decref(series);
  LMI_REQUIRE(ctx, text != NULL, LAMINA_ERROR_MEMORY, "no memory for the series %s", path);
  const lamina_status status = lmi_safe_file_put(ctx, path, text, strlen(text));
  free(text); // jansson's own allocation
  return status;
}

static lamina_status write_index(lamina_context *ctx, const char *path, const json_t *files,
                                 const lmi_field_content *content)
{
  lmi_text text = {0};
  lamina_status status = lmi_xdmf_begin(ctx, &text);
  size_t i = 0;
  const json_t *entry = NULL;
  json_array_foreach(files, i, entry)
  {
    const char *name = json_string_value(json_object_get(entry, "name"));
    const double time = json_number_value(json_object_get(entry, "time"));
    if (status == LAMINA_OK)
      status = lmi_xdmf_add(ctx, &text, content, name, time);
  }
  if (status == LAMINA_OK)
    status = lmi_xdmf_end(ctx, &text);
  if (status == LAMINA_OK)
    status = lmi_safe_file_put(ctx, path, text.data, text.length);
  lmi_text_free(ctx, &text);
  return status;
}

/* The names of both files, from the base. */
static lamina_status name_files(lamina_context *ctx, const char *base, lmi_text *list, lmi_text *index)
{
  LMI_TRY(lmi_text_append(ctx, list, "%s.vtkhdf.series", base));
  return lmi_text_append(ctx, index, "%s.xmf", base);
}

static lamina_status append_entry(lamina_context *ctx, const char *base, json_t *files, const char *file_name,
                                  double time)
{
  json_t *entry = json_pack("{s:s, s:f}", "name", file_name, "time", time);
  LMI_REQUIRE(ctx, json_array_append_new(files, entry) == 0, LAMINA_ERROR_ARGUMENT,
              "the file %s at %g s cannot stand in the series %s", file_name, time, base);
  return LAMINA_OK;
}

static lamina_status add_to_files(lamina_context *ctx, const char *base, json_t *files, const char *file_name,
                                  double time, const lmi_field_content *content)
{
  lmi_text list = {0}, index = {0};
  lamina_status status = name_files(ctx, base, &list, &index);
  if (status == LAMINA_OK)
    status = read_earlier(ctx, list.data, time, files);
  if (status == LAMINA_OK)
    status = append_entry(ctx, base, files, file_name, time);
  if (status == LAMINA_OK)
    status = write_list(ctx, list.data, files);
  if (status == LAMINA_OK && content != NULL)
    status = write_index(ctx, index.data, files, content);
  lmi_text_free(ctx, &list);
  lmi_text_free(ctx, &index);
  return status;
}

static lamina_status add_file(lamina_context *ctx, const char *base, const char *file_name, double time,
                              const lmi_field_content *content)
{
  json_t *files = json_array();
  LMI_REQUIRE(ctx, files != NULL, LAMINA_ERROR_MEMORY, "no memory for the series %s", base);
  const lamina_status status = add_to_files(ctx, base, files, file_name, time, content);
  json_decref(files);
  return status;
}

lamina_status lmi_field_series_add(lamina_context *ctx, const char *base, const char *file_name,
                                   const lmi_field_content *content)
{
  return add_file(ctx, base, file_name, content->frame.time, content);
}

lamina_status lmi_field_list_add(lamina_context *ctx, const char *base, const char *file_name, double time)
{
  return add_file(ctx, base, file_name, time, NULL);
}
