/* SPDX-License-Identifier: Apache-2.0 */
/* Field files: what goes in comes out, and nothing else is taken. */
#define _GNU_SOURCE
#include "support/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "io/field_file.h"
#include "io/safe_file.h"
#include "support/failing_allocator.h"

enum { NX = 5, NY = 4, NZ = 3, CELLS = NX * NY * NZ };

static double ux[CELLS], uy[CELLS], uz[CELLS], pressure[CELLS];
static const double *const velocity_data[] = {ux, uy, uz};
static const double *const pressure_data[] = {pressure};
static const double *const *const all_data[] = {velocity_data, pressure_data};

static const lmi_field_array arrays[] = {
  {.name = "velocity", .unit = "m/s", .components = 3, .precision = LAMINA_F64},
  {.name = "pressure", .unit = "Pa", .components = 1, .precision = LAMINA_F32},
};
static const lmi_text_pair attributes[] = {{"title", "Deckel, bewegt: \303\274"}, {"note", ""}};
static const lmi_field_content content = {
  .frame =
    {.cells = {NX, NY, NZ}, .origin = {-1.0, 0.5, 2.0}, .spacing = {0.1, 0.2, 0.3}, .time = 1.25, .step = 1LL << 40},
  .arrays = arrays,
  .array_count = 2,
  .attributes = attributes,
  .attribute_count = 2,
};

static lamina_context *make_context(void)
{
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  return ctx;
}

static void expect_ok(lamina_context *ctx, lamina_status status)
{
  if (status != LAMINA_OK)
    fail_msg("status %d: %s", status, lamina_error_message(ctx));
}

static void fill(void)
{
  for (int i = 0; i < CELLS; i++) {
    ux[i] = i;
    uy[i] = 100.0 + 1.0 / (i + 1);
    uz[i] = -i;
    pressure[i] = 0.5 * i;
  }
}

static void write_example(lamina_context *ctx, const char *path)
{
  fill();
  expect_ok(ctx, lmi_field_file_write(ctx, path, &content, all_data));
}

static void comes_back_as_written(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  write_example(ctx, "a.vtkhdf");
  lmi_field_file *file = NULL;
  expect_ok(ctx, lmi_field_file_open(ctx, "a.vtkhdf", &file));
  const lmi_field_content *read = lmi_field_file_content(file);
  assert_memory_equal(&read->frame, &content.frame, sizeof read->frame);
  assert_int_equal(read->array_count, 2);
  assert_string_equal(read->arrays[0].name, "velocity");
  assert_string_equal(read->arrays[0].unit, "m/s");
  assert_int_equal(read->arrays[0].components, 3);
  assert_int_equal(read->arrays[1].precision, LAMINA_F32);
  assert_string_equal(lmi_field_file_attribute(file, "title"), attributes[0].value);
  assert_string_equal(lmi_field_file_attribute(file, "note"), "");
  assert_null(lmi_field_file_attribute(file, "absent"));

  double x[CELLS], y[CELLS], z[CELLS], p[CELLS];
  const lamina_box whole = {{0, 0, 0}, {NX, NY, NZ}};
  expect_ok(ctx, lmi_field_file_read(file, lmi_field_file_find(file, "velocity"), whole, (double *const[]){x, y, z}));
  expect_ok(ctx, lmi_field_file_read(file, lmi_field_file_find(file, "pressure"), whole, (double *const[]){p}));
  assert_memory_equal(x, ux, sizeof ux);
  assert_memory_equal(y, uy, sizeof uy);
  assert_memory_equal(z, uz, sizeof uz);
  assert_memory_equal(p, pressure, sizeof pressure);
  assert_int_equal(lmi_field_file_find(file, "density"), 2);
  lmi_field_file_close(file);
  lamina_context_destroy(ctx);
}

/* A resumed run must leave the bytes of an unbroken one, whatever the clock says. */
static void the_same_content_makes_the_same_bytes(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  write_example(ctx, "a.vtkhdf");
  sleep(1);
  write_example(ctx, "b.vtkhdf");
  char *a = NULL, *b = NULL;
  size_t a_bytes = 0, b_bytes = 0;
  expect_ok(ctx, lmi_file_read_all(ctx, "a.vtkhdf", 1 << 20, &a, &a_bytes));
  expect_ok(ctx, lmi_file_read_all(ctx, "b.vtkhdf", 1 << 20, &b, &b_bytes));
  assert_int_equal(a_bytes, b_bytes);
  assert_memory_equal(a, b, a_bytes);
  lmi_free(ctx, a);
  lmi_free(ctx, b);
  lamina_context_destroy(ctx);
}

static void reads_a_part_of_a_box(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  write_example(ctx, "a.vtkhdf");
  lmi_field_file *file = NULL;
  expect_ok(ctx, lmi_field_file_open(ctx, "a.vtkhdf", &file));
  double part[2 * 1 * 2] = {0};
  const lamina_box box = {{2, 3, 1}, {2, 1, 2}};
  expect_ok(ctx, lmi_field_file_read(file, 0, box, (double *const[]){NULL, NULL, part}));
  for (int z = 0; z < 2; z++)
    for (int x = 0; x < 2; x++)
      assert_float_equal(part[z * 2 + x], -(double)(2 + x + NX * (3 + NY * (1 + z))), 0.0);
  const lamina_box outside[] = {{{0, 0, 0}, {NX + 1, 1, 1}},
                                {{0, NY, 0}, {1, 1, 1}},
                                {{-1, 0, 0}, {1, 1, 1}},
                                {{1, 0, 0}, {INT64_MAX, 1, 1}},
                                {{0, 0, 0}, {1, 0, 1}}};
  for (size_t i = 0; i < LMI_COUNT(outside); i++)
    assert_int_equal(lmi_field_file_read(file, 0, outside[i], (double *const[]){part, NULL, NULL}),
                     LAMINA_ERROR_ARGUMENT);
  lmi_field_file_close(file);
  lamina_context_destroy(ctx);
}

/* K1-24: 1e-41 is a denormal of float. */
static void keeps_nan_infinity_and_denormals(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  fill();
  pressure[0] = 1e-41;
  pressure[1] = NAN;
  pressure[2] = -INFINITY;
  ux[0] = 4.9e-324;
  ux[1] = NAN;
  expect_ok(ctx, lmi_field_file_write(ctx, "a.vtkhdf", &content, all_data));
  lmi_field_file *file = NULL;
  expect_ok(ctx, lmi_field_file_open(ctx, "a.vtkhdf", &file));
  double p[3], x[2];
  expect_ok(ctx, lmi_field_file_read(file, 1, (lamina_box){{0, 0, 0}, {3, 1, 1}}, (double *const[]){p}));
  expect_ok(ctx, lmi_field_file_read(file, 0, (lamina_box){{0, 0, 0}, {2, 1, 1}}, (double *const[]){x, NULL, NULL}));
  assert_true(p[0] == (double)1e-41F && p[0] > 0.0);
  assert_true(isnan(p[1]));
  assert_true(isinf(p[2]) && p[2] < 0);
  assert_true(x[0] > 0.0 && isnan(x[1]));
  lmi_field_file_close(file);
  lamina_context_destroy(ctx);
}

static void expect_refusal(lamina_context *ctx, const char *path, lamina_status expected, const char *words)
{
  lmi_field_file *file = NULL;
  lamina_error_clear(ctx);
  assert_int_equal(lmi_field_file_open(ctx, path, &file), expected);
  assert_null(file);
  if (strstr(lamina_error_message(ctx), words) == NULL || strstr(lamina_error_message(ctx), path) == NULL)
    fail_msg("'%s' does not say '%s' of %s", lamina_error_message(ctx), words, path);
}

static void put(const char *path, const void *data, size_t bytes)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, bytes, file), bytes);
  assert_int_equal(fclose(file), 0);
}

static void refuses_foreign_and_damaged_files(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  write_example(ctx, "a.vtkhdf");
  char *bytes = NULL;
  size_t count = 0;
  expect_ok(ctx, lmi_file_read_all(ctx, "a.vtkhdf", 1 << 20, &bytes, &count));

  expect_refusal(ctx, "absent.vtkhdf", LAMINA_ERROR_FILE, "No such file");
  expect_refusal(ctx, ".", LAMINA_ERROR_FILE, "folder");
  put("empty", "", 0);
  expect_refusal(ctx, "empty", LAMINA_ERROR_CASE, "is empty");
  put("text", "title: cavity\n", 14);
  expect_refusal(ctx, "text", LAMINA_ERROR_CASE, "not a fields file");
  put("foreign", "\211HDF\r\n\032\n", 8);
  expect_refusal(ctx, "foreign", LAMINA_ERROR_CASE, "another program");
  put("short", bytes, count - 1);
  expect_refusal(ctx, "short", LAMINA_ERROR_CASE, "cut short");
  put("header", bytes, 100);
  expect_refusal(ctx, "header", LAMINA_ERROR_CASE, "cut short");
  bytes[4096 + 700] = (char)(bytes[4096 + 700] ^ 1);
  put("flipped", bytes, count);
  expect_refusal(ctx, "flipped", LAMINA_ERROR_CASE, "damaged");
  memcpy(bytes, "LAMINA fields 9", 15);
  put("newer", bytes, count);
  expect_refusal(ctx, "newer", LAMINA_ERROR_CASE, "newer lamina");
  memcpy(bytes, "LAMINA checks 1", 15);
  put("kind", bytes, count);
  expect_refusal(ctx, "kind", LAMINA_ERROR_CASE, "checks file");
  lmi_free(ctx, bytes);
  lamina_context_destroy(ctx);
}

/* Every cut and every flipped bit ends in a refusal, or (inside a plane) in one when the plane is read. */
static void notices_any_changed_byte(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  write_example(ctx, "a.vtkhdf");
  char *bytes = NULL;
  size_t count = 0;
  expect_ok(ctx, lmi_file_read_all(ctx, "a.vtkhdf", 1 << 20, &bytes, &count));
  double x[CELLS];
  const lamina_box whole = {{0, 0, 0}, {NX, NY, NZ}};
  for (size_t at = 0; at < count; at += at < 200 ? 1 : 37) {
    if (at >= strlen(bytes) && at < 4096)
      continue; // padding of the seal carries nothing
    const char kept = bytes[at];
    bytes[at] = (char)(kept ^ 4);
    put("b.vtkhdf", bytes, count);
    lmi_field_file *file = NULL;
    lamina_error_clear(ctx);
    lamina_status status = lmi_field_file_open(ctx, "b.vtkhdf", &file);
    if (status == LAMINA_OK)
      status = lmi_field_file_read(file, 0, whole, (double *const[]){x, NULL, NULL});
    if (status == LAMINA_OK)
      status = lmi_field_file_read(file, 1, whole, (double *const[]){x});
    lmi_field_file_close(file);
    if (status != LAMINA_ERROR_CASE)
      fail_msg("byte %zu changed: status %d", at, status);
    bytes[at] = kept;
  }
  lmi_free(ctx, bytes);
  lamina_context_destroy(ctx);
}

static void refuses_bad_content(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lmi_field_writer *writer = NULL;
  const lmi_field_array bad[] = {{.name = "a/b", .components = 1},
                                 {.name = "", .components = 1},
                                 {.name = NULL, .components = 1},
                                 {.name = "two", .components = 2},
                                 {.name = ".", .components = 1}};
  for (size_t i = 0; i < LMI_COUNT(bad); i++) {
    const lmi_field_content changed = {.frame = content.frame, .arrays = &bad[i], .array_count = 1};
    assert_int_equal(lmi_field_writer_create(ctx, "bad.vtkhdf", &changed, &writer), LAMINA_ERROR_ARGUMENT);
    assert_null(writer);
  }
  const lamina_int3 sizes[] = {{0, 1, 1}, {1, -1, 1}, {1, 1, INT64_MAX}, {INT32_MAX - 1, INT32_MAX - 1, INT32_MAX - 1}};
  for (size_t i = 0; i < LMI_COUNT(sizes); i++) {
    lmi_field_content changed = content;
    changed.frame.cells = sizes[i];
    assert_int_equal(lmi_field_writer_create(ctx, "bad.vtkhdf", &changed, &writer), LAMINA_ERROR_ARGUMENT);
  }
  assert_int_not_equal(access("bad.vtkhdf", F_OK), 0);
  assert_int_not_equal(access("bad.vtkhdf.part", F_OK), 0);
  lamina_context_destroy(ctx);
}

static void leaves_no_partial_file(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  write_example(ctx, "a.vtkhdf");
  lmi_field_writer *writer = NULL;
  expect_ok(ctx, lmi_field_writer_create(ctx, "a.vtkhdf", &content, &writer));
  lmi_field_writer *second = NULL;
  assert_int_equal(lmi_field_writer_create(ctx, "a.vtkhdf", &content, &second), LAMINA_ERROR_FILE);
  assert_non_null(strstr(lamina_error_message(ctx), "another process is writing it"));
  expect_ok(ctx, lmi_field_writer_plane(writer, 0, 1, velocity_data));
  assert_int_equal(lmi_field_writer_finish(writer), LAMINA_ERROR_ARGUMENT); // planes are missing
  lmi_field_writer_destroy(writer);
  assert_int_not_equal(access("a.vtkhdf.part", F_OK), 0);
  lmi_field_file *file = NULL; // and the old file is whole
  expect_ok(ctx, lmi_field_file_open(ctx, "a.vtkhdf", &file));
  lmi_field_file_close(file);

  lamina_error_clear(ctx);
  assert_int_equal(lmi_field_writer_create(ctx, "absent/a.vtkhdf", &content, &writer), LAMINA_ERROR_FILE);
  assert_non_null(strstr(lamina_error_message(ctx), "absent/a.vtkhdf: No such file"));
  assert_int_equal(lmi_field_writer_create(ctx, "/dev/full", &content, &writer), LAMINA_ERROR_FILE);
  assert_int_equal(lmi_field_writer_create(ctx, ".", &content, &writer), LAMINA_ERROR_FILE);
  lamina_context_destroy(ctx);
}

/* The file size limit stands in for a full disk: both are met when the space is reserved. */
static void says_when_the_disk_is_full(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const struct rlimit small = {.rlim_cur = 4096, .rlim_max = limit.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  lmi_field_writer *writer = NULL;
  const lamina_status status = lmi_field_writer_create(ctx, "full.vtkhdf", &content, &writer);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  assert_int_equal(status, LAMINA_ERROR_FILE);
  assert_non_null(strstr(lamina_error_message(ctx), "file size limit"));
  assert_int_not_equal(access("full.vtkhdf", F_OK), 0);
  assert_int_not_equal(access("full.vtkhdf.part", F_OK), 0);
  lamina_context_destroy(ctx);
}

static void survives_failing_allocations(void **state)
{
  (void)state;
  fill();
  for (uint64_t n = 1; n < 1000; n++) {
    lmi_failing_allocator heap = lmi_failing_allocator_make(n);
    const lamina_allocator interface = lmi_failing_allocator_interface(&heap);
    const lamina_context_options options = {.allocator = &interface};
    lamina_context *ctx = NULL;
    if (lamina_context_create(&options, &ctx) == LAMINA_OK) {
      lmi_field_file *file = NULL;
      lamina_status status = lmi_field_file_write(ctx, "a.vtkhdf", &content, all_data);
      if (status == LAMINA_OK)
        status = lmi_field_file_open(ctx, "a.vtkhdf", &file);
      lmi_field_file_close(file);
      assert_int_equal(status, heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    }
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    if (!heap.has_failed)
      return;
  }
  fail_msg("the loop did not end");
}

static void add_to_series(lamina_context *ctx, const char *base, int i)
{
  static const char *const names[] = {"0.vtkhdf", "1.vtkhdf", "2 & 3.vtkhdf"};
  lmi_field_content at = content;
  at.frame.time = 0.1 * i;
  expect_ok(ctx, lmi_field_series_add(ctx, base, names[i], &at));
}

static void expect_same_file(lamina_context *ctx, const char *path, const char *other, const char *words)
{
  char *a = NULL, *b = NULL;
  size_t a_bytes = 0, b_bytes = 0;
  expect_ok(ctx, lmi_file_read_all(ctx, path, 1 << 16, &a, &a_bytes));
  expect_ok(ctx, lmi_file_read_all(ctx, other, 1 << 16, &b, &b_bytes));
  assert_string_equal(a, b);
  assert_non_null(strstr(a, words));
  lmi_free(ctx, a);
  lmi_free(ctx, b);
}

static void series_is_that_of_an_unbroken_run(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  unlink("f.vtkhdf.series");
  unlink("g.vtkhdf.series");
  for (int i = 0; i < 3; i++) {
    add_to_series(ctx, "f", i);
    add_to_series(ctx, "g", i);
  }
  for (int i = 1; i < 3; i++) // resumed after the first output
    add_to_series(ctx, "g", i);
  expect_same_file(ctx, "f.vtkhdf.series", "g.vtkhdf.series", "\"file-series-version\": \"1.0\"");
  expect_same_file(ctx, "f.xmf", "g.xmf", ">2 &amp; 3.vtkhdf:/VTKHDF/CellData/velocity<");
  put("h.vtkhdf.series", "{\"files\": 3}", 12);
  assert_int_equal(lmi_field_series_add(ctx, "h", "x", &content), LAMINA_ERROR_CASE);
  put("i.vtkhdf.series", "{", 1);
  assert_int_equal(lmi_field_series_add(ctx, "i", "x", &content), LAMINA_ERROR_CASE);
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(comes_back_as_written), cmocka_unit_test(the_same_content_makes_the_same_bytes),
              cmocka_unit_test(reads_a_part_of_a_box), cmocka_unit_test(keeps_nan_infinity_and_denormals),
              cmocka_unit_test(refuses_foreign_and_damaged_files), cmocka_unit_test(notices_any_changed_byte),
              cmocka_unit_test(refuses_bad_content), cmocka_unit_test(leaves_no_partial_file),
              cmocka_unit_test(says_when_the_disk_is_full), cmocka_unit_test(survives_failing_allocations),
              cmocka_unit_test(series_is_that_of_an_unbroken_run))
