/* SPDX-License-Identifier: Apache-2.0 */
/* Series: rows as they were given, and after a resume the file of an unbroken run. */
#include "support/test.h"

#include <math.h>
#include <unistd.h>

#include "base/base.h"
#include "io/safe_file.h"
#include "io/series.h"

static const char *const columns[] = {"max_speed_m_per_s", "mass_kg"};

static void expect_ok(lamina_context *ctx, lamina_status status)
{
  if (status != LAMINA_OK)
    fail_msg("status %d: %s", status, lamina_error_message(ctx));
}

static lamina_context *make_context(void)
{
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  return ctx;
}

static void write_rows(lamina_context *ctx, const char *path, int resume_step, int first, int last)
{
  lmi_series *series = NULL;
  expect_ok(ctx, lmi_series_open(ctx, path, columns, 2, resume_step, &series));
  for (int i = first; i <= last; i += 10)
    expect_ok(ctx, lmi_series_append(series, i, 0.1 * i, (const double[]){1.0 / (i + 1), i == 20 ? (double)NAN : 1.0}));
  expect_ok(ctx, lmi_series_close(series));
}

static char *read_text(lamina_context *ctx, const char *path)
{
  char *text = NULL;
  size_t bytes = 0;
  expect_ok(ctx, lmi_file_read_all(ctx, path, 1 << 16, &text, &bytes));
  return text;
}

static void rows_are_exact(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  write_rows(ctx, "a.csv", -1, 0, 20);
  char *text = read_text(ctx, "a.csv");
  assert_string_equal(text, "step,time_s,max_speed_m_per_s,mass_kg\n"
                            "0,0,1,1\n"
                            "10,1,0.09090909090909091,1\n"
                            "20,2,0.047619047619047616,nan\n");
  lmi_free(ctx, text);
  lamina_context_destroy(ctx);
}

static void append_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "ab");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void resumed_file_is_that_of_an_unbroken_run(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  write_rows(ctx, "whole.csv", -1, 0, 90);
  char *whole = read_text(ctx, "whole.csv");
  write_rows(ctx, "broken.csv", -1, 0, 70); /* killed at 70, last checkpoint at 40 */
  append_text("broken.csv", "80,8,0.0");
  write_rows(ctx, "broken.csv", 40, 50, 90);
  char *broken = read_text(ctx, "broken.csv");
  assert_string_equal(whole, broken);
  lmi_free(ctx, broken);

  write_rows(ctx, "cut.csv", -1, 0, 40); /* killed while it wrote the row of the checkpoint's step */
  append_text("cut.csv", "50,5");
  write_rows(ctx, "cut.csv", 50, 50, 90);
  broken = read_text(ctx, "cut.csv");
  assert_string_equal(whole, broken);
  lmi_free(ctx, broken);
  lmi_free(ctx, whole);
  lamina_context_destroy(ctx);
}

static void refuses_another_header(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  unlink("other.csv");
  append_text("other.csv", "step,time_s,drag_n\n0,0,1\n");
  lmi_series *series = NULL;
  assert_int_equal(lmi_series_open(ctx, "other.csv", columns, 2, 10, &series), LAMINA_ERROR_CASE);
  assert_null(series);
  assert_non_null(strstr(lamina_error_message(ctx), "columns"));
  char *kept = read_text(ctx, "other.csv");
  assert_string_equal(kept, "step,time_s,drag_n\n0,0,1\n");
  lmi_free(ctx, kept);
  assert_int_equal(lmi_series_open(ctx, "x.csv", (const char *const[]){"a,b"}, 1, -1, &series), LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lmi_series_open(ctx, "none/x.csv", columns, 2, -1, &series), LAMINA_ERROR_FILE);
  lamina_context_destroy(ctx);
}

static void begins_anew_when_the_file_is_gone(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  unlink("gone.csv");
  write_rows(ctx, "gone.csv", 10, 20, 20);
  char *text = read_text(ctx, "gone.csv");
  assert_int_equal(strncmp(text, "step,time_s,max_speed_m_per_s,mass_kg\n20,", 41), 0);
  lmi_free(ctx, text);
  lamina_context_destroy(ctx);
}

/* /dev/full answers every write with "no space left". */
static void tells_of_a_full_disk(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lmi_series *series = NULL;
  if (access("/dev/full", W_OK) != 0)
    LMI_SKIP("/dev/full is not there");
  assert_int_equal(lmi_series_open(ctx, "/dev/full", columns, 2, -1, &series), LAMINA_ERROR_FILE);
  assert_non_null(strstr(lamina_error_message(ctx), "No space left"));
  lamina_context_destroy(ctx);
}

static void appending_allocates_nothing_after_the_first_row(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lmi_series *series = NULL;
  expect_ok(ctx, lmi_series_open(ctx, "b.csv", columns, 2, -1, &series));
  expect_ok(ctx, lmi_series_append(series, 0, 0.0, (const double[]){0.0, 0.0}));
  const uint64_t before = lmi_allocation_count(ctx);
  for (int i = 1; i < 100; i++)
    expect_ok(ctx, lmi_series_append(series, i, i / 3.0, (const double[]){i / 7.0, 1e300 / i}));
  assert_int_equal(lmi_allocation_count(ctx), before);
  expect_ok(ctx, lmi_series_close(series));
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(rows_are_exact), cmocka_unit_test(resumed_file_is_that_of_an_unbroken_run),
              cmocka_unit_test(refuses_another_header), cmocka_unit_test(begins_anew_when_the_file_is_gone),
              cmocka_unit_test(tells_of_a_full_disk), cmocka_unit_test(appending_allocates_nothing_after_the_first_row))
