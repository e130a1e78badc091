/* SPDX-License-Identifier: Apache-2.0 */
/* users.md K1-21: a field of 1025 x 1024 x 1024 floats: 4299161600 bytes, the last plane beyond 2^32. */
#define _GNU_SOURCE
#include "support/test.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/base.h"
#include "io/field_file.h"

enum { NX = 1025, NY = 1024, NZ = 1024 };

static void expect_ok(lamina_context *ctx, lamina_status status)
{
  if (status != LAMINA_OK) {
    unlink("large.vtkhdf");
    fail_msg("status %d: %s", status, lamina_error_message(ctx));
  }
}

static void write_planes(lamina_context *ctx, lmi_field_writer *writer, double *plane)
{
  for (lamina_index z = 0; z < NZ; z++) {
    plane[0] = (double)z;
    plane[NX * NY - 1] = (double)-z;
    const double *const components[] = {plane};
    expect_ok(ctx, lmi_field_writer_plane(writer, 0, z, components));
  }
}

static void expect_last_cells(lamina_context *ctx)
{
  lmi_field_file *file = NULL;
  expect_ok(ctx, lmi_field_file_open(ctx, "large.vtkhdf", &file));
  double ends[2];
  expect_ok(ctx, lmi_field_file_read(file, 0, (lamina_box){{0, 0, NZ - 1}, {1, 1, 1}}, (double *const[]){&ends[0]}));
  expect_ok(
    ctx, lmi_field_file_read(file, 0, (lamina_box){{NX - 1, NY - 1, NZ - 1}, {1, 1, 1}}, (double *const[]){&ends[1]}));
  lmi_field_file_close(file);
  assert_true(ends[0] == NZ - 1 && ends[1] == -(NZ - 1));
}

static void a_field_beyond_four_gibibytes_comes_back(void **state)
{
  (void)state;
  struct statvfs disk;
  assert_int_equal(statvfs(".", &disk), 0);
  if ((double)disk.f_bavail * (double)disk.f_frsize < 6e9)
    LMI_SKIP("6 GB of free disk are needed");
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  const lmi_field_array arrays[] = {{"p", "Pa", 1, LAMINA_F32}};
  const lmi_field_content content = {
    .frame = {.cells = {NX, NY, NZ}, .spacing = {1, 1, 1}}, .arrays = arrays, .array_count = 1};
  lmi_field_writer *writer = NULL;
  double *plane = NULL;
  expect_ok(ctx, LMI_ALLOC(ctx, (size_t)NX * NY, &plane));
  expect_ok(ctx, lmi_field_writer_create(ctx, "large.vtkhdf", &content, &writer));
  write_planes(ctx, writer, plane);
  expect_ok(ctx, lmi_field_writer_finish(writer));
  lmi_field_writer_destroy(writer);
  lmi_free(ctx, plane);

  struct stat info;
  assert_int_equal(stat("large.vtkhdf", &info), 0);
  assert_true(info.st_size > 4299161600LL);
  expect_last_cells(ctx);
  assert_int_equal(truncate("large.vtkhdf", 4294967296LL), 0);
  lmi_field_file *file = NULL;
  assert_int_equal(lmi_field_file_open(ctx, "large.vtkhdf", &file), LAMINA_ERROR_CASE);
  assert_non_null(strstr(lamina_error_message(ctx), "cut short"));
  unlink("large.vtkhdf");
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(a_field_beyond_four_gibibytes_comes_back))
