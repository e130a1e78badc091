/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "series.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "safe_file.h"

static const size_t LARGEST_SERIES = (size_t)8 << 30;

struct lmi_series {
  lamina_context *ctx;
  char *path;
  int descriptor;
  off_t bytes; /* all complete rows */
  size_t column_count;
  lmi_text row; /* grows once */
};

static lamina_status fail_write(const lmi_series *series)
{
  return lmi_fail_errno(series->ctx, LAMINA_ERROR_FILE, errno, "cannot write %s", series->path);
}

/* A row that could not be written whole is taken back. */
static lamina_status write_row(lmi_series *series)
{
  const char *next = series->row.data;
  size_t left = series->row.length;
  while (left > 0) {
    const ssize_t written = write(series->descriptor, next, left);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0) {
      const lamina_status status = fail_write(series);
      if (ftruncate(series->descriptor, series->bytes) != 0)
        lmi_log(series->ctx, LAMINA_LOG_WARNING, "the last row of %s is cut short", series->path);
      return status;
    }
    next += written;
    left -= (size_t)written;
  }
  series->bytes += (off_t)series->row.length;
  return LAMINA_OK;
}

static lamina_status make_header(lmi_series *series, const char *const *columns)
{
  LMI_TRY(lmi_text_append(series->ctx, &series->row, "step,time_s"));
  for (size_t i = 0; i < series->column_count; i++) {
    LMI_REQUIRE(series->ctx, columns[i][0] != '\0' && strpbrk(columns[i], ",\"\r\n") == NULL, LAMINA_ERROR_ARGUMENT,
                "a column cannot be named \"%s\": letters without comma, quote or line end", columns[i]);
    LMI_TRY(lmi_text_append(series->ctx, &series->row, ",%s", columns[i]));
  }
  return lmi_text_append(series->ctx, &series->row, "\n");
}

/* The length of the rows up to `step`; what follows is later, or was cut short by a crash. */
static size_t measure_rows(const char *text, size_t begin, lamina_index step)
{
  size_t kept = begin;
  while (text[kept] != '\0') {
    const char *end = strchr(text + kept, '\n');
    char *behind = NULL;
    const long long row_step = strtoll(text + kept, &behind, 10);
    if (end == NULL || behind == text + kept || *behind != ',' || row_step > step)
      break;
    kept = (size_t)(end - text) + 1;
  }
  return kept;
}

static lamina_status continue_file(lmi_series *series, lamina_index step)
{
  char *text = NULL;
  size_t bytes = 0;
  LMI_TRY(lmi_file_read_all(series->ctx, series->path, LARGEST_SERIES, &text, &bytes));
  const bool has_header = strncmp(text, series->row.data, series->row.length) == 0;
  const size_t kept = has_header ? measure_rows(text, series->row.length, step) : 0;
  lmi_free(series->ctx, text);
  LMI_REQUIRE(series->ctx, has_header, LAMINA_ERROR_CASE,
              "cannot continue %s: its columns are not those of this run; move it away to begin a new one",
              series->path);
  series->descriptor = open(series->path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (series->descriptor < 0 || ftruncate(series->descriptor, (off_t)kept) != 0)
    return fail_write(series);
  series->bytes = (off_t)kept;
  return LAMINA_OK;
}

static lamina_status begin_file(lmi_series *series)
{
  series->descriptor = open(series->path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (series->descriptor < 0)
    return fail_write(series);
  return write_row(series);
}

static lamina_status open_file(lmi_series *series, const char *path, const char *const *columns,
                               lamina_index resume_step)
{
  LMI_TRY(lmi_string_copy(series->ctx, path, &series->path));
  LMI_TRY(make_header(series, columns));
  if (resume_step >= 0 && access(path, F_OK) == 0)
    return continue_file(series, resume_step);
  if (resume_step >= 0)
    lmi_log(series->ctx, LAMINA_LOG_WARNING, "%s is not there: a new series begins at the resumed step", path);
  return begin_file(series);
}

static void release(lmi_series *series)
{
  if (series->descriptor >= 0)
    close(series->descriptor);
  lmi_text_free(series->ctx, &series->row);
  lmi_free(series->ctx, series->path);
  lmi_free(series->ctx, series);
}

lamina_status lmi_series_open(lamina_context *ctx, const char *path, const char *const *columns, size_t column_count,
                              lamina_index resume_step, lmi_series **series)
{
  *series = NULL;
  lmi_series *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  made->descriptor = -1;
  made->column_count = column_count;
  const lamina_status status = open_file(made, path, columns, resume_step);
  if (status == LAMINA_OK)
    *series = made;
  else
    release(made);
  return status;
}

lamina_status lmi_series_append(lmi_series *series, lamina_index step, double time, const double *values)
{
  char number[32];
  series->row.length = 0;
  LMI_TRY(lmi_text_append(series->ctx, &series->row, "%" PRId64 ",%s", step, lmi_format_double(time, number)));
  for (size_t i = 0; i < series->column_count; i++)
    LMI_TRY(lmi_text_append(series->ctx, &series->row, ",%s", lmi_format_double(values[i], number)));
  LMI_TRY(lmi_text_append(series->ctx, &series->row, "\n"));
  return write_row(series);
}

lamina_status lmi_series_close(lmi_series *series)
{
  if (series == NULL)
    return LAMINA_OK;
  lamina_status status = LAMINA_OK;
  if (fsync(series->descriptor) != 0 && errno != EINVAL && errno != EROFS) // pipes and devices have nothing to sync
    status = fail_write(series);
  if (close(series->descriptor) != 0 && status == LAMINA_OK)
    status = fail_write(series);
  series->descriptor = -1;
  release(series);
  return status;
}
