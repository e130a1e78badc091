/* SPDX-License-Identifier: Apache-2.0 */
/* STL files that broke other programs (numbers after the collection they come from), and what a good one does. */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "support/failing_allocator.h"
#include "support/test.h"

#include "io/stl.h"

static lamina_context *make_context(void)
{
  const lamina_context_options options = {.threads = 1};
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  return ctx;
}

#define DATA(name) LAMINA_SOURCE_DIR "/tests/data/stl/" name

static lmi_stl read_ok(lamina_context *ctx, const char *path)
{
  lmi_stl stl;
  const lamina_status status = lmi_stl_read(ctx, path, false, &stl);
  if (status != LAMINA_OK)
    print_message("%s\n", lamina_error_message(ctx));
  assert_int_equal(status, LAMINA_OK);
  return stl;
}

/* Cells of size 1 / scale around a body of edge 10. */
static lamina_index count_cells(lamina_context *ctx, const char *path, const lamina_pose *placement, bool repair,
                                lamina_body_info *info)
{
  lamina_geometry *geometry = NULL;
  lmi_voxels voxels;
  const lmi_voxel_grid grid = {.cells = {16, 16, 16}};
  assert_int_equal(lamina_geometry_create(ctx, &geometry), LAMINA_OK);
  const lamina_status status = lamina_geometry_add_stl(geometry, path, placement, repair, NULL);
  if (status != LAMINA_OK)
    print_message("%s\n", lamina_error_message(ctx));
  assert_int_equal(status, LAMINA_OK);
  assert_int_equal(lmi_geometry_voxelize(ctx, geometry, &grid, NULL, &voxels), LAMINA_OK);
  const lamina_index count = voxels.solid_count;
  assert_true(lamina_geometry_get_body(geometry, 1, info));
  info->name = NULL;
  lmi_voxels_free(ctx, &voxels);
  lamina_geometry_destroy(geometry);
  return count;
}

/* K1-01, 02, 03, 06: twelve facets, volume 1000, closed, a thousand cells. */
static void every_dialect_is_the_same_cube(void **state)
{
  (void)state;
  static const char *const PATHS[] = {DATA("k1_01_solid_header.stl"), DATA("k1_02_crlf.stl"),
                                      DATA("k1_03_upper_exp.stl"), DATA("k1_03b_lead_noname_endsolid2.stl"),
                                      DATA("k1_06_attr.stl")};
  static const bool IS_TEXT[] = {false, true, true, true, false};
  lamina_context *ctx = make_context();
  for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
    lmi_stl stl = read_ok(ctx, PATHS[i]);
    assert_int_equal(stl.is_text, IS_TEXT[i]);
    assert_int_equal(stl.facet_count, 12);
    assert_int_equal(stl.mesh.vertex_count, 8);
    assert_int_equal(stl.open.count, 0);
    assert_int_equal(stl.solid_count, 1);
    lmi_stl_free(ctx, &stl);
    lamina_body_info info;
    assert_int_equal(count_cells(ctx, PATHS[i], NULL, false, &info), 1000);
    assert_true(fabs(info.volume - 1000) < 1e-9);
    assert_false(info.is_inward);
  }
  lamina_context_destroy(ctx);
}

static void expect_refusal(lamina_context *ctx, const char *path, lamina_status wanted, const char *part)
{
  lmi_stl stl;
  lamina_error_clear(ctx);
  const lamina_status status = lmi_stl_read(ctx, path, false, &stl);
  if (status != wanted || strstr(lamina_error_message(ctx), part) == NULL)
    print_message("%s: %s\n", path, lamina_error_message(ctx));
  assert_int_equal(status, wanted);
  assert_non_null(strstr(lamina_error_message(ctx), part));
  assert_null(stl.vertices);
}

/* K1-04, in both forms. */
static void a_file_without_facets_says_so(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  expect_refusal(ctx, DATA("k1_04_zero.stl"), LAMINA_ERROR_CASE, "no triangles in the file");
  expect_refusal(ctx, DATA("k1_04b_zero_ascii.stl"), LAMINA_ERROR_CASE, "no triangles in the file");
  lamina_context_destroy(ctx);
}

/* K1-07: the place is named, nothing is guessed, and repair gives the whole cube back. */
static void a_hole_is_named_and_filled(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lmi_stl stl = read_ok(ctx, DATA("k1_07_hole.stl"));
  assert_int_equal(stl.open.count, 3);
  assert_int_equal(lmi_stl_require_closed(ctx, "cube.stl", &stl), LAMINA_ERROR_CASE);
  assert_non_null(strstr(lamina_error_message(ctx), "3 open edges on the face x = 0"));
  lamina_error_clear(ctx);
  lmi_stl_free(ctx, &stl);
  lamina_status status = lmi_stl_read(ctx, DATA("k1_07_hole.stl"), true, &stl);
  if (status == LAMINA_UNAVAILABLE)
    LMI_SKIP("%s", lamina_error_message(ctx));
  assert_int_equal(status, LAMINA_OK);
  assert_int_equal(stl.open.count, 0);
  assert_int_equal(stl.open_before, 3);
  assert_int_equal(stl.facets_added, 1);
  lmi_stl_free(ctx, &stl);
  lamina_body_info info;
  assert_int_equal(count_cells(ctx, DATA("k1_07_hole.stl"), NULL, true, &info), 1000);
  lamina_context_destroy(ctx);
}

/* K1-09: between the centres, and on them. */
static void thin_plates_have_the_cells_they_hold(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_body_info info;
  assert_int_equal(count_cells(ctx, DATA("k1_09_thin.stl"), NULL, false, &info), 0);
  assert_int_equal(count_cells(ctx, DATA("k1_09b_thin_hit.stl"), NULL, false, &info), 100);
  lamina_context_destroy(ctx);
}

/* K1-11: 300 mm in two cells a side, then in one. */
static void a_cube_of_two_cells_has_eight(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_body_info info;
  for (int cells = 1; cells <= 2; cells++) {
    const lamina_pose placement = {.scale = cells / 300.0, .at = {0.5 * cells + 4, 0.5 * cells + 4, 0.5 * cells + 4}};
    assert_int_equal(count_cells(ctx, DATA("k1_11_300mm.stl"), &placement, false, &info), cells * cells * cells);
  }
  lamina_context_destroy(ctx);
}

/* K1-12: the same cells, and it is said. */
static void inward_facets_change_nothing(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_body_info info;
  assert_int_equal(count_cells(ctx, DATA("k1_12_inward.stl"), NULL, false, &info), 1000);
  assert_true(info.is_inward);
  assert_true(fabs(info.volume - 1000) < 1e-9);
  lamina_context_destroy(ctx);
}

/* ---- texts ---- */

static const char FACET[] =
  "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";

static lamina_status parse(lamina_context *ctx, const char *text, size_t bytes, lmi_stl *stl)
{
  lamina_error_clear(ctx);
  return lmi_stl_parse(ctx, "part.stl", text, bytes, false, stl);
}

static void odd_texts_are_read(void **state)
{
  (void)state;
  static const struct {
    const char *before, *after;
    size_t facets, solids;
    bool lacks_end;
  } TEXTS[] = {
    {"solid a name with facet in it\n", "endsolid a name with facet in it\n", 1, 1, false},
    {"\xef\xbb\xbfsolid\n", "endsolid", 1, 1, false},
    {"solid\r", "endsolid\r", 1, 1, false},
    {"  \t\n\nSOLID x\n", "END SOLID x\n", 1, 1, false},
    {"solid x\n", "", 1, 1, true},
    {"solid a\nendsolid a\nsolid b\n", "endsolid b\n", 1, 2, false},
    {"", "", 1, 0, false},
  };
  lamina_context *ctx = make_context();
  for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
    char text[512];
    const int length = snprintf(text, sizeof text, "%s%s%s", TEXTS[i].before, FACET, TEXTS[i].after);
    lmi_stl stl;
    const lamina_status status = parse(ctx, text, (size_t)length, &stl);
    if (status != LAMINA_OK)
      print_message("%zu: %s\n", i, lamina_error_message(ctx));
    assert_int_equal(status, LAMINA_OK);
    assert_int_equal(stl.facet_count, TEXTS[i].facets);
    assert_int_equal(stl.solid_count, TEXTS[i].solids);
    assert_int_equal(stl.lacks_end, TEXTS[i].lacks_end);
    assert_int_equal(stl.open.count, 3);
    lmi_stl_free(ctx, &stl);
  }
  lamina_context_destroy(ctx);
}

static void numbers_are_read_as_written(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    double value;
  } NUMBERS[] = {{"1.5", 1.5},      {"+2", 2},           {".25", 0.25},
                 {"-1.0E+01", -10}, {"1e-3", 1e-3},      {"0.1", 0.1},
                 {"1.0D+02", 100},  {"1e-30", 1e-30},    {"123456789.123456789012", 123456789.123456789012},
                 {"7.", 7},         {"-0.000000", -0.0}, {"1.7976931348623157e+300", 1.7976931348623157e+300}};
  lamina_context *ctx = make_context();
  for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
    char text[512];
    const int length =
      snprintf(text, sizeof text,
               "solid\nfacet normal nan nan nan\nouter loop\nvertex %s 0 0\nvertex 3 0 0\nvertex 0 1 9\n"
               "endloop\nendfacet\nendsolid\n",
               NUMBERS[i].text);
    lmi_stl stl;
    assert_int_equal(parse(ctx, text, (size_t)length, &stl), LAMINA_OK);
    assert_true(stl.vertices[0] == NUMBERS[i].value);
    lmi_stl_free(ctx, &stl);
  }
  lamina_context_destroy(ctx);
}

static void bad_texts_are_refused_with_their_line(void **state)
{
  (void)state;
  static const struct {
    const char *text, *part;
  } TEXTS[] = {
    {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 zero\n", "part.stl:4: 'zero' is not a finite number"},
    {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 1,5\n", "part.stl:4: '1,5' is not a finite number"},
    {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 nan\n", "'nan' is not a finite number"},
    {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 inf 0\n", "'inf' is not a finite number"},
    {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 1e400 0\n", "'1e400' is not a finite number"},
    {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0x10 0\n", "'0x10' is not a finite number"},
    {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0", "cut short after 0 whole facets"},
    {"solid\r\nfacet normal 0 0 1\r\nouter lop\r\n", "part.stl:3: 'lop' stands where 'loop' should"},
    {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nvertex 1 1 0\n",
     "part.stl:7: facet 1 has more than three corners"},
    {"solid x\nvertex 1 2 3\n", "part.stl:2: 'vertex' stands where"},
    {"solid x\n", "no triangles"},
    {"", "the file is empty"},
    {"hello", "5 bytes that do not begin with 'solid'"},
    {"PK\x03\x04zip", "a zip archive"},
    {"v 1 2 3\nv 2 3 4\nf 1 2 3\n", "an OBJ file"},
  };
  lamina_context *ctx = make_context();
  for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
    lmi_stl stl;
    assert_int_equal(parse(ctx, TEXTS[i].text, strlen(TEXTS[i].text), &stl), LAMINA_ERROR_CASE);
    if (strstr(lamina_error_message(ctx), TEXTS[i].part) == NULL)
      print_message("%zu: %s\n", i, lamina_error_message(ctx));
    assert_non_null(strstr(lamina_error_message(ctx), TEXTS[i].part));
  }
  lamina_context_destroy(ctx);
}

/* ---- binaries ---- */

static size_t make_binary(char *bytes, uint32_t declared, uint32_t present)
{
  memset(bytes, 0, 84 + 50 * (size_t)present + 1);
  memcpy(bytes, "solid", 5);
  for (int i = 0; i < 4; i++)
    bytes[80 + i] = (char)(declared >> 8 * i & 0xff);
  for (uint32_t f = 0; f < present; f++) {
    const float corners[9] = {0, 0, (float)f, 1, 0, (float)f, 0, 1, (float)f};
    memcpy(bytes + 84 + 50 * (size_t)f + 12, corners, sizeof corners);
  }
  return 84 + 50 * (size_t)present;
}

static void counts_are_held_against_the_size(void **state)
{
  (void)state;
  static char bytes[84 + 50 * 8 + 16];
  lamina_context *ctx = make_context();
  lmi_stl stl;
  size_t length = make_binary(bytes, 0xffffffff, 3);
  assert_int_equal(parse(ctx, bytes, length, &stl), LAMINA_ERROR_CASE);
  assert_non_null(strstr(lamina_error_message(ctx), "declares 4294967295 facets"));
  assert_non_null(strstr(lamina_error_message(ctx), "holds 3"));
  length = make_binary(bytes, 4, 3);
  assert_int_equal(parse(ctx, bytes, length, &stl), LAMINA_ERROR_CASE);
  length = make_binary(bytes, 3, 3);
  assert_int_equal(parse(ctx, bytes, length - 1, &stl), LAMINA_ERROR_CASE);
  length = make_binary(bytes, 0, 3);
  assert_int_equal(parse(ctx, bytes, length, &stl), LAMINA_ERROR_CASE);
  assert_non_null(strstr(lamina_error_message(ctx), "declares 0 facets, but the file holds 3"));
  length = make_binary(bytes, 3, 3);
  assert_int_equal(parse(ctx, bytes, length + 1, &stl), LAMINA_OK); /* a byte too many */
  assert_int_equal(stl.trailing_bytes, 1);
  assert_int_equal(stl.facet_count, 3);
  lmi_stl_free(ctx, &stl);
  lamina_context_destroy(ctx);
}

static void corners_that_are_no_numbers_are_refused(void **state)
{
  (void)state;
  static char bytes[84 + 50 * 8];
  lamina_context *ctx = make_context();
  lmi_stl stl;
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) {
    const size_t length = make_binary(bytes, 3, 3);
    memcpy(bytes + 84 + 50 + 12 + 16, &bad[i], 4);
    assert_int_equal(parse(ctx, bytes, length, &stl), LAMINA_ERROR_CASE);
    assert_non_null(strstr(lamina_error_message(ctx), "facet 2 of 3 has a corner at y ="));
  }
  lamina_context_destroy(ctx);
}

/* Facets without area are left out, or harmless where all corners differ. */
static void collapsed_facets_are_left_out(void **state)
{
  (void)state;
  static char bytes[84 + 50 * 8];
  lamina_context *ctx = make_context();
  lmi_stl stl;
  size_t length = make_binary(bytes, 3, 3);
  memcpy(bytes + 84 + 50 + 12 + 12, bytes + 84 + 50 + 12, 12);
  assert_int_equal(parse(ctx, bytes, length, &stl), LAMINA_OK);
  assert_int_equal(stl.collapsed_count, 1);
  assert_int_equal(stl.mesh.triangle_count, 2);
  lmi_stl_free(ctx, &stl);
  memset(bytes + 84, 0, 150);
  length = 84 + 150;
  assert_int_equal(parse(ctx, bytes, length, &stl), LAMINA_ERROR_CASE);
  assert_non_null(strstr(lamina_error_message(ctx), "two equal corners"));
  lamina_context_destroy(ctx);
}

static void what_is_no_file_is_refused(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  mkdir("folder.stl", 0777);
  expect_refusal(ctx, "folder.stl", LAMINA_ERROR_FILE, "it is a folder");
  expect_refusal(ctx, "absent.stl", LAMINA_ERROR_FILE, "cannot read absent.stl");
  lamina_context_destroy(ctx);
}

static void each_allocation_may_fail(void **state)
{
  (void)state;
  for (uint64_t n = 1;; n++) {
    lmi_failing_allocator heap = lmi_failing_allocator_make(n);
    const lamina_allocator allocator = lmi_failing_allocator_interface(&heap);
    const lamina_context_options options = {.threads = 1, .allocator = &allocator};
    lamina_context *ctx = NULL;
    lamina_geometry *geometry = NULL;
    lmi_stl stl = {0};
    lamina_status status = lamina_context_create(&options, &ctx);
    if (status == LAMINA_OK)
      status = lamina_geometry_create(ctx, &geometry);
    if (status == LAMINA_OK)
      status = lamina_geometry_add_stl(geometry, DATA("k1_02_crlf.stl"), NULL, false, NULL);
    if (status == LAMINA_OK) {
      status = lmi_stl_read(ctx, DATA("k1_07_hole.stl"), true, &stl);
      status = status == LAMINA_UNAVAILABLE ? LAMINA_OK : status;
    }
    assert_int_equal(status, heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    if (ctx != NULL)
      lmi_stl_free(ctx, &stl);
    lamina_geometry_destroy(geometry);
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    if (!heap.has_failed)
      return;
  }
}

LMI_TEST_MAIN(cmocka_unit_test(every_dialect_is_the_same_cube), cmocka_unit_test(a_file_without_facets_says_so),
              cmocka_unit_test(a_hole_is_named_and_filled), cmocka_unit_test(thin_plates_have_the_cells_they_hold),
              cmocka_unit_test(a_cube_of_two_cells_has_eight), cmocka_unit_test(inward_facets_change_nothing),
              cmocka_unit_test(odd_texts_are_read), cmocka_unit_test(numbers_are_read_as_written),
              cmocka_unit_test(bad_texts_are_refused_with_their_line),
              cmocka_unit_test(counts_are_held_against_the_size),
              cmocka_unit_test(corners_that_are_no_numbers_are_refused),
              cmocka_unit_test(collapsed_facets_are_left_out), cmocka_unit_test(what_is_no_file_is_refused),
              cmocka_unit_test(each_allocation_may_fail))
