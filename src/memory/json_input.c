/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "json_input.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

/* Every fault of an input file is CASE, as a case file's is: the program's exit code says where to look. */
lamina_status lmi_json_input(lamina_context *ctx, const char *path, json_t **object)
{
  json_error_t mistake;
  struct stat info;
  *object = NULL;
  FILE *file = fopen(path, "r");
  if (file == NULL)
    return lmi_fail_errno(ctx, LAMINA_ERROR_CASE, errno, "%s", path);
  const bool is_folder = fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode);
  if (!is_folder)
    *object = json_loadf(file, JSON_REJECT_DUPLICATES, &mistake);
  fclose(file);
  LMI_REQUIRE(ctx, !is_folder, LAMINA_ERROR_CASE, "%s is a folder, not a file", path);
  if (*object != NULL)
    return LAMINA_OK;
  return lmi_fail(ctx, LAMINA_ERROR_CASE, "%s:%d: %s", path, mistake.line > 0 ? mistake.line : 1, mistake.text);
}
