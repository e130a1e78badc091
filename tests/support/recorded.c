/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700
#include "support/recorded.h"

#include <ftw.h>
#include <sys/stat.h>

#include "support/test.h"

void lmi_recorded_write(const char *root, const char *path, const char *text)
{
  char full[1024];
  assert_in_range(snprintf(full, sizeof full, "%s%s", root, path), 1, sizeof full - 1);
  for (char *slash = strchr(full + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(full, 0777);
    *slash = '/';
  }
  FILE *file = fopen(full, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  assert_int_equal(fclose(file), 0);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
  (void)status;
  (void)kind;
  (void)walk;
  return remove(path);
}

void lmi_recorded_clear(const char *root)
{
  nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
