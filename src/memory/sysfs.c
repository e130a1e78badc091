/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, LARGEST_ID = 1 << 20 };

static bool join(char *path, const char *root, const char *format, va_list arguments)
{
  const int start = snprintf(path, PATH_BYTES, "%s", root != NULL ? root : "");
  if (start < 0 || start >= PATH_BYTES)
    return false;
  const int more = vsnprintf(path + start, PATH_BYTES - (size_t)start, format, arguments);
  return more >= 0 && more < PATH_BYTES - start;
}

static bool read_small(const char *path, char *buffer, size_t size)
{
  FILE *file = fopen(path, "re");
  if (file == NULL)
    return false;
  size_t length = fread(buffer, 1, size - 1, file);
  const bool failed = ferror(file) != 0;
  fclose(file);
  while (length > 0 && isspace((unsigned char)buffer[length - 1]))
    length--;
  buffer[length] = '\0';
  return !failed;
}

bool lmi_sysfs_text(const char *root, char *buffer, size_t size, const char *format, ...)
{
  char path[PATH_BYTES];
  va_list arguments;
  va_start(arguments, format);
  const bool fits = join(path, root, format, arguments);
  va_end(arguments);
  buffer[0] = '\0';
  return fits && read_small(path, buffer, size);
}

bool lmi_sysfs_int64(const char *root, int64_t *value, const char *format, ...)
{
  char path[PATH_BYTES], text[64];
  va_list arguments;
  va_start(arguments, format);
  const bool fits = join(path, root, format, arguments);
  va_end(arguments);
  if (!fits || !read_small(path, text, sizeof text))
    return false;
  char *end = NULL;
  errno = 0;
  const long long parsed = strtoll(text, &end, 10);
  if (end == text || errno != 0)
    return false;
  *value = parsed;
  return true;
}

lamina_status lmi_sysfs_whole(lamina_context *ctx, const char *root, const char *path, lmi_text *text)
{
  char full[PATH_BYTES], block[PATH_BYTES];
  snprintf(full, sizeof full, "%s%s", root != NULL ? root : "", path);
  FILE *file = fopen(full, "re");
  if (file == NULL)
    return LAMINA_OK;
  lamina_status status = LAMINA_OK;
  size_t length = 0;
  while (status == LAMINA_OK && (length = fread(block, 1, sizeof block - 1, file)) > 0)
    status = lmi_text_append(ctx, text, "%.*s", (int)length, block);
  fclose(file);
  return status;
}

/* Calls for each id of the list; ids NULL only counts. -1: not a list. */
static int64_t expand(const char *text, int *ids)
{
  int64_t count = 0;
  const char *at = text;
  while (*at != '\0') {
    char *end = NULL;
    const long first = strtol(at, &end, 10);
    long last = first;
    if (end == at || first < 0)
      return -1;
    if (*end == '-') {
      at = end + 1;
      last = strtol(at, &end, 10);
      if (end == at)
        return -1;
    }
    if (last < first || last > LARGEST_ID)
      return -1;
    for (long id = first; id <= last; id++, count++)
      if (ids != NULL)
        ids[count] = (int)id;
    if (count > LARGEST_ID || (*end != ',' && *end != '\0' && !isspace((unsigned char)*end)))
      return -1;
    at = end;
    while (*at == ',' || isspace((unsigned char)*at))
      at++;
  }
  return count;
}

static int by_value(const void *a, const void *b)
{
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

lamina_status lmi_id_list_parse(lamina_context *ctx, const char *text, lmi_id_list *list)
{
  *list = (lmi_id_list){0};
  while (isspace((unsigned char)*text))
    text++;
  const int64_t count = expand(text, NULL);
  LMI_REQUIRE(ctx, count >= 0, LAMINA_ERROR_ARGUMENT, "'%.60s' is not a list of numbers such as 0-3,8", text);
  LMI_TRY(LMI_ALLOC(ctx, (size_t)count, &list->ids));
  expand(text, list->ids);
  qsort(list->ids, (size_t)count, sizeof *list->ids, by_value);
  for (int64_t i = 0; i < count; i++)
    if (list->count == 0 || list->ids[list->count - 1] != list->ids[i])
      list->ids[list->count++] = list->ids[i];
  return LAMINA_OK;
}

lamina_status lmi_id_list_read(lamina_context *ctx, const char *root, const char *path, lmi_id_list *list)
{
  lmi_text text = {0};
  *list = (lmi_id_list){0};
  lamina_status status = lmi_sysfs_whole(ctx, root, path, &text);
  if (status == LAMINA_OK)
    status = lmi_id_list_parse(ctx, text.data != NULL ? text.data : "", list);
  lmi_text_free(ctx, &text);
  return status;
}

bool lmi_id_list_has(const lmi_id_list *list, int id)
{
  return list->count > 0 && bsearch(&id, list->ids, list->count, sizeof id, by_value) != NULL;
}

void lmi_id_list_free(lamina_context *ctx, lmi_id_list *list)
{
  lmi_free(ctx, list->ids);
  *list = (lmi_id_list){0};
}
