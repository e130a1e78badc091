/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "support/unpack_machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Every folder of a path; the last part is a file. */
static int make_folders(char *path)
{
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
      return -1;
    *slash = '/';
  }
  return 0;
}

static FILE *open_below(const char *root, const char *path)
{
  char full[4096];
  snprintf(full, sizeof full, "%s%s", root, path);
  return make_folders(full) == 0 ? fopen(full, "w") : NULL;
}

int lmi_unpack_file(const char *root, const char *path, const char *text)
{
  FILE *file = open_below(root, path);
  if (file == NULL)
    return -1;
  const int failed = fputs(text, file) == EOF;
  return fclose(file) != 0 || failed ? -1 : 0;
}

int lmi_unpack_machine(const char *name, const char *root)
{
  char path[4096], line[8192];
  snprintf(path, sizeof path, "%s/tests/machines/%s.machine", LAMINA_SOURCE_DIR, name);
  FILE *recording = fopen(path, "r");
  FILE *file = NULL;
  int result = recording != NULL ? 0 : -1;
  while (result == 0 && fgets(line, sizeof line, recording) != NULL) {
    if (line[0] == '@') {
      if (file != NULL && fclose(file) != 0)
        result = -1;
      line[strcspn(line, "\n")] = '\0';
      file = open_below(root, line + 2);
      result = file != NULL ? result : -1;
    } else if (file != NULL && fputs(line, file) == EOF) {
      result = -1;
    }
  }
  if (file != NULL && fclose(file) != 0)
    result = -1;
  if (recording != NULL)
    fclose(recording);
  return result;
}
