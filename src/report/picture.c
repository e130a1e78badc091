/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <errno.h>
#include <string.h>

#include "io/gnuplot.h"

static lamina_status open_file(lamina_context *ctx, const char *path, const char *ending, FILE **file)
{
  lmi_text text = {0};
  LMI_TRY(lmi_text_append(ctx, &text, "%s.%s", path, ending));
  *file = fopen(text.data, "w");
  const lamina_status status =
    *file != NULL ? LAMINA_OK : lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", text.data);
  lmi_text_free(ctx, &text);
  return status;
}

static bool close_file(FILE *file)
{
  const bool is_whole = file == NULL || ferror(file) == 0;
  return (file == NULL || fclose(file) == 0) && is_whole;
}

lamina_status lmi_picture_open(lamina_context *ctx, const char *path, lmi_picture *picture)
{
  *picture = (lmi_picture){0};
  LMI_REQUIRE(ctx, path[0] != '\0' && strpbrk(path, "'\n\\") == NULL, LAMINA_ERROR_ARGUMENT,
              "a picture cannot be called \"%s\": quotes, backslashes and new lines do not go into gnuplot", path);
  LMI_TRY(lmi_string_copy(ctx, path, &picture->path));
  const char *slash = strrchr(picture->path, '/');
  picture->name = slash != NULL ? slash + 1 : picture->path;
  lamina_status status = open_file(ctx, path, "dat", &picture->data);
  if (status == LAMINA_OK)
    status = open_file(ctx, path, "gp", &picture->script);
  if (status != LAMINA_OK) {
    close_file(picture->data);
    lmi_free(ctx, picture->path);
  }
  return status;
}

void lmi_picture_begin(lmi_picture *picture, int width, int height)
{
  fprintf(picture->script,
          "set terminal svg size %d,%d dynamic name 'lamina' font 'sans-serif,13'\nset output '%s.svg'\n"
          "set encoding utf8\n"
          "set linetype 1 lc rgb '#0072b2' lw 2\nset linetype 2 lc rgb '#d55e00' lw 2\n"
          "set linetype 3 lc rgb '#009e73' lw 2\nset linetype 4 lc rgb '#cc79a7' lw 2\n"
          "set linetype 5 lc rgb '#e69f00' lw 2\nset linetype 6 lc rgb '#56b4e9' lw 2\nset linetype cycle 6\n"
          "set grid lc rgb '#dddddd' lw 1\nset border lc rgb '#666666'\nset key outside top left horizontal\n",
          width, height, picture->name);
}

lamina_status lmi_picture_finish(lamina_context *ctx, lmi_picture *picture)
{
  lmi_text script = {0};
  const bool has_data = close_file(picture->data), has_script = close_file(picture->script);
  lamina_status status = LAMINA_OK;
  if (!has_data || !has_script)
    LMI_TRY_GOTO(
      status, lmi_fail(ctx, LAMINA_ERROR_FILE, "the data of the plot %s could not be written", picture->path), cleanup);
  LMI_TRY_GOTO(status, lmi_text_append(ctx, &script, "%s.gp", picture->path), cleanup);
  status = lmi_gnuplot_run(ctx, script.data);
cleanup:
  lmi_text_free(ctx, &script);
  lmi_free(ctx, picture->path);
  *picture = (lmi_picture){0};
  return status;
}
