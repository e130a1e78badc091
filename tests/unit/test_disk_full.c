/* SPDX-License-Identifier: Apache-2.0 */
/* A file system of 96 KiB, made in a namespace of this process: whatever does not fit must end in a sentence, leave
 * what was there before, and no partial file. */
#define _GNU_SOURCE
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "io/checkpoint.h"
#include "io/field_file.h"
#include "io/image.h"
#include "io/safe_file.h"
#include "io/series.h"

static void write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  if (file != NULL) {
    fputs(text, file);
    fclose(file);
  }
}

/* Root needs a mount namespace; anybody else a user namespace around it, where the kernel allows that. */
static bool enter_namespace(void)
{
  char map[64];
  snprintf(map, sizeof map, "0 %u 1", (unsigned)geteuid());
  if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0)
    return true;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return false;
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", map);
  return true;
}

static lamina_context *enter_small_disk(void)
{
  mkdir("disk", 0755);
  if (!enter_namespace() || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("small", "disk", "tmpfs", 0, "size=96k") != 0)
    LMI_SKIP("no small file system can be mounted here: %s", strerror(errno));
  const lamina_context_options options = {.threads = 1};
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  return ctx;
}

static void expect_full(lamina_context *ctx, lamina_status status, const char *path)
{
  assert_int_equal(status, LAMINA_ERROR_FILE);
  if (strstr(lamina_error_message(ctx), "No space left on device") == NULL ||
      strstr(lamina_error_message(ctx), path) == NULL)
    fail_msg("'%s' does not say that there is no room for %s", lamina_error_message(ctx), path);
  lamina_error_clear(ctx);
}

/* What lies on the small disk, besides "." and "..". */
static int count_files(void)
{
  DIR *folder = opendir("disk");
  assert_non_null(folder);
  int count = 0;
  for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

static void fields_and_pictures_tell(void **state)
{
  (void)state;
  lamina_context *ctx = enter_small_disk();
  static double values[64 * 64 * 16];
  for (int i = 0; i < 64 * 64 * 16; i++)
    values[i] = (i * 7919) % 1000; // noise, so that the picture does not shrink
  const lmi_field_array array = {"p", "Pa", 1, LAMINA_F64};
  const lmi_field_content content = {
    .frame = {.cells = {64, 64, 16}, .spacing = {1, 1, 1}}, .arrays = &array, .array_count = 1};
  const double *const components[] = {values};
  expect_full(ctx, lmi_field_file_write(ctx, "disk/f.vtkhdf", &content, (const double *const *const[]){components}),
              "disk/f.vtkhdf");
  lmi_image_options options = lmi_image_options_default();
  const lmi_image_data data = {256, 256, values};
  expect_full(ctx, lmi_image_write(ctx, "disk/p.png", &data, &options, NULL), "disk/p.png");
  assert_int_equal(count_files(), 0);
  lamina_context_destroy(ctx);
}

static void an_old_file_survives_a_new_one_that_does_not_fit(void **state)
{
  (void)state;
  lamina_context *ctx = enter_small_disk();
  static char large[90000];
  assert_int_equal(lmi_safe_file_put(ctx, "disk/run.json", "{}", 2), LAMINA_OK);
  assert_int_equal(lmi_safe_file_put(ctx, "disk/filler", large, sizeof large), LAMINA_OK);
  expect_full(ctx, lmi_safe_file_put(ctx, "disk/run.json", large, sizeof large), "disk/run.json");
  assert_int_equal(count_files(), 2);
  char *text = NULL;
  size_t bytes = 0;
  assert_int_equal(lmi_file_read_all(ctx, "disk/run.json", 16, &text, &bytes), LAMINA_OK);
  assert_string_equal(text, "{}");
  lmi_free(ctx, text);
  lamina_context_destroy(ctx);
}

static void a_series_ends_with_a_whole_row(void **state)
{
  (void)state;
  lamina_context *ctx = enter_small_disk();
  lmi_series *series = NULL;
  assert_int_equal(lmi_series_open(ctx, "disk/s.csv", (const char *const[]){"a", "b"}, 2, -1, &series), LAMINA_OK);
  lamina_status status = LAMINA_OK;
  for (int i = 0; i < 10000 && status == LAMINA_OK; i++)
    status = lmi_series_append(series, i, i / 3.0, (const double[]){i / 7.0, i / 11.0});
  expect_full(ctx, status, "disk/s.csv");
  assert_int_equal(lmi_series_close(series), LAMINA_OK);
  char *text = NULL;
  size_t bytes = 0;
  assert_int_equal(lmi_file_read_all(ctx, "disk/s.csv", 1 << 20, &text, &bytes), LAMINA_OK);
  assert_true(bytes > 50000 && text[bytes - 1] == '\n');
  lmi_free(ctx, text);
  lamina_context_destroy(ctx);
}

static void the_last_checkpoint_survives(void **state)
{
  (void)state;
  lamina_context *ctx = enter_small_disk();
  if (lmi_require_kernels(ctx) != LAMINA_OK)
    LMI_SKIP("%s", lamina_error_message(ctx));
  lamina_solver_options options = lamina_solver_options_default();
  options.cells = (lamina_int3){8, 8, 8}; // 39 KiB of populations: one fits, two do not
  lamina_solver *solver = NULL;
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
  const lmi_checkpoint_note note = {.case_hash = "x", .state = "first"};
  static char filler[30000];
  // The reservation is generous, so the first one goes there from elsewhere.
  assert_int_equal(lmi_checkpoint_write(ctx, "first", solver, &note), LAMINA_OK);
  char *bytes = NULL;
  size_t count = 0;
  assert_int_equal(lmi_file_read_all(ctx, "first", 1 << 20, &bytes, &count), LAMINA_OK);
  assert_int_equal(lmi_safe_file_put(ctx, "disk/c.h5", bytes, count), LAMINA_OK);
  assert_int_equal(lmi_safe_file_put(ctx, "disk/filler", filler, sizeof filler), LAMINA_OK);
  lmi_free(ctx, bytes);

  expect_full(ctx, lmi_checkpoint_write(ctx, "disk/c.h5", solver, &note), "disk/c.h5");
  assert_int_equal(count_files(), 2);
  lmi_checkpoint *checkpoint = NULL;
  assert_int_equal(lmi_checkpoint_open(ctx, "disk/c.h5", &checkpoint), LAMINA_OK);
  assert_int_equal(lmi_checkpoint_restore(checkpoint, solver, "x"), LAMINA_OK);
  lmi_checkpoint_close(checkpoint);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(fields_and_pictures_tell),
              cmocka_unit_test(an_old_file_survives_a_new_one_that_does_not_fit),
              cmocka_unit_test(a_series_ends_with_a_whole_row), cmocka_unit_test(the_last_checkpoint_survives))
