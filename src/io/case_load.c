/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case_measure.h"

/* A case file has a few kilobytes; more than this is some other file. */
enum { MAX_CASE_BYTES = 1 << 20 };

void lmi_case_hash(const char *text, char digits[17])
{
  uint64_t hash = 14695981039346656037u;
  for (const char *c = text; *c != '\0'; c++)
    hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  snprintf(digits, 17, "%016" PRIx64, hash);
}

static lamina_status check_kind(lamina_context *ctx, const char *path, int descriptor, size_t *bytes)
{
  struct stat info;
  if (fstat(descriptor, &info) != 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_CASE, errno, "%s", path);
  LMI_REQUIRE(ctx, !S_ISDIR(info.st_mode), LAMINA_ERROR_CASE,
              "%s: a folder, not a case file; give the .yaml file in it", path);
  LMI_REQUIRE(ctx, S_ISREG(info.st_mode), LAMINA_ERROR_CASE, "%s: not a regular file; give a .yaml file", path);
  LMI_REQUIRE(ctx, info.st_size <= MAX_CASE_BYTES, LAMINA_ERROR_CASE,
              "%s: %lld bytes; a case file is YAML text of at most %d bytes", path, (long long)info.st_size,
              MAX_CASE_BYTES);
  *bytes = (size_t)info.st_size;
  return LAMINA_OK;
}

static lamina_status read_all(lamina_context *ctx, const char *path, int descriptor, char *text, size_t bytes,
                              size_t *length)
{
  *length = 0;
  while (*length < bytes) {
    const ssize_t got = read(descriptor, text + *length, bytes - *length);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return lmi_fail_errno(ctx, LAMINA_ERROR_CASE, errno, "%s", path);
    if (got == 0)
      break;
    *length += (size_t)got;
  }
  return LAMINA_OK;
}

/* O_NONBLOCK: a fifo given by mistake must not hang the program. */
static lamina_status read_file(lamina_context *ctx, const char *path, char **text, size_t *length)
{
  *text = NULL;
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_CASE, errno, "%s", path);
  size_t bytes = 0;
  lamina_status status = check_kind(ctx, path, descriptor, &bytes);
  if (status == LAMINA_OK)
    status = LMI_ALLOC(ctx, bytes + 1, text);
  if (status == LAMINA_OK)
    status = read_all(ctx, path, descriptor, *text, bytes, length);
  close(descriptor);
  return status;
}

/* The text that stands for the whole input: the file, then the overrides, one a line. */
static lamina_status hash_input(lamina_case *flow, const char *const *overrides, size_t count)
{
  lmi_text text = {0};
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lmi_text_append(flow->ctx, &text, "%s", ""), cleanup);
  for (size_t i = 0; i < count; i++)
    LMI_TRY_GOTO(status, lmi_text_append(flow->ctx, &text, "%s\n", overrides[i]), cleanup);
  flow->overrides = text.data;
  text = (lmi_text){0};
  LMI_TRY_GOTO(status, lmi_text_append(flow->ctx, &text, "%s\n--set\n%s", flow->text, flow->overrides), cleanup);
  lmi_case_hash(text.data, flow->text_hash);

cleanup:
  lmi_text_free(flow->ctx, &text);
  return status;
}

lamina_status lmi_case_load_text(lamina_context *ctx, const char *path, const char *text, const char *const *overrides,
                                 size_t override_count, lamina_case **out)
{
  *out = NULL;
  lamina_status status = LAMINA_OK;
  lamina_case *flow = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &flow));
  flow->ctx = ctx;
  LMI_TRY_GOTO(status, lmi_string_copy(ctx, path, &flow->path), cleanup);
  LMI_TRY_GOTO(status, lmi_string_copy(ctx, text, &flow->text), cleanup);
  LMI_TRY_GOTO(status, lmi_tree_parse(ctx, path, text, strlen(text), &flow->tree), cleanup);
  for (size_t i = 0; i < override_count; i++)
    LMI_TRY_GOTO(status, lmi_tree_override(flow->tree, overrides[i]), cleanup);
  LMI_TRY_GOTO(status, hash_input(flow, overrides, override_count), cleanup);
  LMI_TRY_GOTO(status, lmi_case_read(flow), cleanup);
  LMI_TRY_GOTO(status, lmi_case_check(flow), cleanup);
  *out = flow;
  return LAMINA_OK;

cleanup:
  lamina_case_destroy(flow);
  return status;
}

lamina_status lamina_case_load(lamina_context *context, const char *path, const char *const *overrides,
                               size_t override_count, lamina_case **out)
{
  *out = NULL;
  char *text = NULL;
  size_t length = 0;
  LMI_REQUIRE(context, path != NULL && (overrides != NULL || override_count == 0), LAMINA_ERROR_ARGUMENT,
              "lamina_case_load needs a path, and overrides where their count is not 0");
  lamina_status status = read_file(context, path, &text, &length);
  if (status == LAMINA_OK && memchr(text, '\0', length) != NULL)
    status = lmi_fail(context, LAMINA_ERROR_CASE,
                      "%s: holds zero bytes, so it is a binary file; a case file is YAML text", path);
  if (status == LAMINA_OK)
    status = lmi_case_load_text(context, path, text, overrides, override_count, out);
  lmi_free(context, text);
  return status;
}

void lamina_case_destroy(lamina_case *flow)
{
  if (flow == NULL)
    return;
  lamina_context *ctx = flow->ctx;
  lmi_tree_destroy(flow->tree);
  lmi_free(ctx, flow->outputs);
  lmi_case_free_measures(flow);
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    lmi_free(ctx, flow->profiles[face]);
  lmi_free(ctx, flow->bodies);
  lmi_free(ctx, flow->body_cells);
  lamina_geometry_destroy(flow->geometry);
  lmi_free(ctx, flow->physics);
  lmi_free(ctx, flow->overrides);
  lmi_free(ctx, flow->text);
  lmi_free(ctx, flow->path);
  lmi_free(ctx, flow);
}

const char *lamina_case_title(const lamina_case *flow)
{
  return flow->title.value != NULL ? flow->title.value : flow->path;
}

int lamina_case_threads(const lamina_case *flow)
{
  return (int)flow->threads.value;
}

const lamina_solver_options *lamina_case_solver_options(const lamina_case *flow)
{
  return &flow->solver;
}

const lamina_units *lamina_case_units(const lamina_case *flow)
{
  return &flow->units;
}

lamina_index lamina_case_steps(const lamina_case *flow)
{
  return flow->last_step;
}

const lamina_geometry *lamina_case_geometry(const lamina_case *flow)
{
  return flow->geometry;
}

lamina_index lamina_case_body_cells(const lamina_case *flow, int body)
{
  const bool is_known = flow->body_cells != NULL && body >= 1 && (size_t)body <= flow->body_count;
  return is_known ? flow->body_cells[body - 1] : -1;
}

size_t lamina_case_warning_count(const lamina_case *flow)
{
  return flow->warning_count;
}

const char *lamina_case_warning(const lamina_case *flow, size_t index)
{
  return index < flow->warning_count ? flow->warnings[index] : "";
}
