/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: taken, interpolated, compared and drawn. */
#define _GNU_SOURCE
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "io/profile.h"
#include "io/safe_file.h"

static char last_remark[1024];

static void keep_remark(void *user, lamina_log_level level, const char *text)
{
  (void)user, (void)level;
  snprintf(last_remark, sizeof last_remark, "%s", text);
}

static lamina_context *make_context(void)
{
  const lamina_context_options options = {.log = keep_remark};
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  last_remark[0] = '\0';
  return ctx;
}

static void expect_ok(lamina_context *ctx, lamina_status status)
{
  if (status != LAMINA_OK)
    fail_msg("status %d: %s", status, lamina_error_message(ctx));
}

/* Cells of 0.5 x 0.25 x 1 from (1, 2, 3): value = 10 x + 100 y + z^3, at the centres. */
static double field(double x, double y, double z)
{
  return 10 * x + 100 * y + z * z * z;
}

static lamina_status read_field(void *user, lamina_box box, double *values)
{
  (void)user;
  for (lamina_index k = 0; k < box.count.z; k++)
    for (lamina_index j = 0; j < box.count.y; j++)
      for (lamina_index i = 0; i < box.count.x; i++)
        *values++ = field(1 + 0.5 * ((double)(box.first.x + i) + 0.5), 2 + 0.25 * ((double)(box.first.y + j) + 0.5),
                          3 + ((double)(box.first.z + k) + 0.5));
  return LAMINA_OK;
}

static const lmi_profile_line line = {
  .cells = {8, 12, 6}, .origin = {1, 2, 3}, .spacing = {0.5, 0.25, 1}, .axis = 2, .through = {2.9, 2.01, 0}};

static void takes_a_line_between_cells(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lmi_profile profile;
  expect_ok(ctx, lmi_profile_take(ctx, &line, read_field, NULL, &profile));
  assert_int_equal(profile.count, 6);
  for (int k = 0; k < 6; k++) {
    assert_true(profile.position[k] == 3 + k + 0.5);
    assert_true(fabs(profile.value[k] - field(2.9, 2.01, 3 + k + 0.5)) < 1e-10);
  }
  /* a cubic is met exactly, between the samples and beyond them */
  for (double z = 3.0; z <= 9.0; z += 0.37)
    assert_true(fabs(lmi_profile_at(&profile, z) - field(2.9, 2.01, z)) < 1e-9);
  lmi_profile_free(&profile);
  lamina_context_destroy(ctx);
}

static void puts_the_walls_at_both_ends(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lmi_profile_line walls = line;
  walls.axis = 1;
  walls.through = (lamina_real3){3, 0, 5.5};
  walls.has_low_wall = walls.has_high_wall = true;
  walls.low_wall = -1;
  walls.high_wall = 7;
  lmi_profile profile;
  expect_ok(ctx, lmi_profile_take(ctx, &walls, read_field, NULL, &profile));
  assert_int_equal(profile.count, 14);
  assert_true(lmi_profile_at(&profile, 2.0) == -1);
  assert_true(lmi_profile_at(&profile, 5.0) == 7);
  assert_true(fabs(profile.value[1] - field(3, 2.125, 5.5)) < 1e-9);
  lmi_profile_free(&profile);
  lamina_context_destroy(ctx);
}

static void refuses_a_line_outside(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lmi_profile_line outside = line;
  outside.through.x = 5.2;
  lmi_profile profile;
  assert_int_equal(lmi_profile_take(ctx, &outside, read_field, NULL, &profile), LAMINA_ERROR_ARGUMENT);
  assert_non_null(strstr(lamina_error_message(ctx), "x = 5.2 lies outside the domain (1 to 5)"));
  outside = line;
  outside.through.y = NAN;
  assert_int_equal(lmi_profile_take(ctx, &outside, read_field, NULL, &profile), LAMINA_ERROR_ARGUMENT);
  lmi_profile_free(&profile);
  lamina_context_destroy(ctx);
}

static void finds_an_extremum_between_samples(void **state)
{
  (void)state;
  double x[] = {0, 0.5, 1.5, 2.5, 3.5}, y[5];
  for (int i = 0; i < 5; i++)
    y[i] = 3 - (x[i] - 1.2) * (x[i] - 1.2);
  const lmi_profile profile = {.count = 5, .position = x, .value = y};
  double at = 0;
  assert_true(fabs(lmi_profile_extremum(&profile, +1, &at) - 3) < 1e-12);
  assert_true(fabs(at - 1.2) < 1e-12);
  assert_true(lmi_profile_extremum(&profile, -1, &at) == y[4]);
  assert_true(at == 3.5);
}

static void short_profiles_have_lower_order(void **state)
{
  (void)state;
  double x[] = {1, 2}, y[] = {10, 20};
  assert_true(lmi_profile_at(&(lmi_profile){.count = 2, .position = x, .value = y}, 1.25) == 12.5);
  assert_true(lmi_profile_at(&(lmi_profile){.count = 1, .position = x, .value = y}, 1.25) == 10);
  assert_true(isnan(lmi_profile_at(&(lmi_profile){0}, 1.25)));
}

/* ---- references ---- */

static void references_are_in_order(void **state)
{
  (void)state;
  size_t count = 0;
  const char *const *names = lmi_reference_names(&count);
  assert_int_equal(count, 12);
  for (size_t i = 0; i < count; i++) {
    const lmi_reference *r = lmi_reference_find(names[i]);
    assert_non_null(r);
    assert_string_equal(r->name, names[i]);
    assert_int_equal(r->point_count, 17);
    assert_true(r->points[0].position == 0 && r->points[16].position == 1);
    size_t excluded = 0;
    for (size_t k = 0; k < r->point_count; k++) {
      assert_true(k == 0 || r->points[k].position > r->points[k - 1].position);
      assert_true(fabs(r->points[k].value) <= 1);
      excluded += r->points[k].is_excluded;
    }
    assert_int_equal(excluded, r->excluded_because != NULL ? 1 : 0);
  }
  assert_null(lmi_reference_find("ghia-re5000-u"));
  assert_null(lmi_reference_find(""));
}

/* Values that several public transcriptions have wrong (lbm-spec 8.1). */
static void tables_have_the_printed_values(void **state)
{
  (void)state;
  assert_true(lmi_reference_find("ghia-re400-v")->points[8].value == 0.05186);
  assert_true(lmi_reference_find("ghia-re1000-v")->points[8].value == 0.02526);
  assert_true(lmi_reference_find("ghia-re1000-v")->points[11].value == -0.51550);
  assert_true(lmi_reference_find("ghia-re400-v")->points[11].is_excluded);
  assert_true(lmi_reference_find("ghia-re3200-u")->points[7].is_excluded);
  assert_true(lmi_reference_find("ghia-re100-u")->points[16].value == 1.0);
  assert_true(lmi_reference_find("ghia-re100-v")->points[16].value == 0.0);
}

/* The reference itself as a profile, in other units, with one point moved. */
static void comparison_finds_the_moved_point(void **state)
{
  (void)state;
  const lmi_reference *r = lmi_reference_find("ghia-re400-v");
  const lmi_profile_scale scale = {.origin = 3, .length = 0.5, .value = 20};
  double x[17], y[17];
  for (int i = 0; i < 17; i++) {
    x[i] = 3 + 0.5 * r->points[i].position;
    y[i] = 20 * r->points[i].value;
  }
  const lmi_profile profile = {.count = 17, .position = x, .value = y};
  lmi_comparison c = lmi_profile_compare(&profile, r, scale, 0);
  assert_int_equal(c.points, 16);
  assert_true(c.max_error < 1e-12 && c.rms_error < 1e-12 && c.passed && c.gate == 0.01);
  assert_true(isnan(c.max_extremum_error));
  y[11] += 1; /* the excluded one: nobody minds */
  assert_true(lmi_profile_compare(&profile, r, scale, 0).passed);
  y[3] += 20 * 0.03;
  c = lmi_profile_compare(&profile, r, scale, 0);
  assert_true(fabs(c.max_error - 0.03) < 1e-12 && !c.passed);
  assert_true(c.max_error_position == r->points[3].position);
  assert_true(fabs(c.rms_error - 0.03 / 4) < 1e-12);
  assert_true(lmi_profile_compare(&profile, r, scale, 0.05).passed);
  y[5] = NAN;
  assert_false(lmi_profile_compare(&profile, r, scale, 1e9).passed);
}

static void comparison_judges_extrema(void **state)
{
  (void)state;
  const lmi_reference *r = lmi_reference_find("albensoeder-re1000-w");
  double x[19], y[19];
  size_t n = 0, next = 0;
  const lmi_reference_extremum extra[] = {r->extrema[1], r->extrema[0]};
  for (size_t i = 0; i < r->point_count; i++) {
    if (next < 2 && extra[next].position < r->points[i].position) {
      x[n] = extra[next].position;
      y[n++] = extra[next++].value;
    }
    x[n] = r->points[i].position;
    y[n++] = r->points[i].value;
  }
  const lmi_profile profile = {.count = n, .position = x, .value = y};
  const lmi_profile_scale scale = {.length = 1, .value = 1};
  const lmi_comparison c = lmi_profile_compare(&profile, r, scale, 0);
  assert_true(c.passed && c.max_extremum_error < 0.01);
  for (size_t i = 0; i < n; i++)
    y[i] *= 0.95;
  assert_false(lmi_profile_compare(&profile, r, scale, 0.1).passed);
}

/* ---- files ---- */

static const lmi_profile_labels labels = {.title = "it's 100 % {odd} _title_ \\ \"q\"",
                                          .position = "y (m)",
                                          .value = "x velocity (m/s)",
                                          .position_column = "y_m",
                                          .value_column = "velocity_x_m_per_s"};

static void write_example(lamina_context *ctx, const char *base, bool *has_picture)
{
  double x[] = {0, 0.25, 0.5, 0.75, 1}, y[] = {0, -0.5, -1, 0.5, 2};
  const lmi_profile profile = {.ctx = ctx, .count = 5, .position = x, .value = y};
  expect_ok(ctx, lmi_profile_write(&profile, base, &labels, lmi_reference_find("ghia-re3200-u"),
                                   (lmi_profile_scale){.length = 1, .value = 2}, has_picture));
}

static void expect_text(lamina_context *ctx, const char *path, const char *words)
{
  char *text = NULL;
  size_t bytes = 0;
  expect_ok(ctx, lmi_file_read_all(ctx, path, 1 << 16, &text, &bytes));
  if (strstr(text, words) == NULL)
    fail_msg("%s does not hold '%s':\n%s", path, words, text);
  lmi_free(ctx, text);
}

static void writes_csv_script_and_picture(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  bool has_picture = false;
  unlink("it's -p.png");
  write_example(ctx, "it's -p", &has_picture);
  expect_text(ctx, "it's -p.csv", "y_m,velocity_x_m_per_s\n0,0\n0.25,-0.5\n");
  expect_text(ctx, "it's -p-reference.csv",
              "y_m,reference_velocity_x_m_per_s,computed_velocity_x_m_per_s,error_velocity_x_m_per_s,excluded\n0,0,0,");
  expect_text(ctx, "it's -p-reference.csv", "\n1,2,2,0,0\n");
  expect_text(ctx, "it's -p.gp", "it''s");
  if (system("gnuplot --version >/dev/null 2>&1") != 0)
    LMI_SKIP("gnuplot is not installed");
  if (!has_picture)
    fail_msg("%s", last_remark);
  assert_int_equal(access("it's -p.png", R_OK), 0);
  assert_string_equal(last_remark, "");
  lamina_context_destroy(ctx);
}

static void a_missing_gnuplot_costs_only_the_picture(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  bool has_picture = true;
  assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
  unlink("b.csv");
  write_example(ctx, "b", &has_picture);
  assert_false(has_picture);
  assert_non_null(strstr(last_remark, "gnuplot is not installed"));
  assert_int_equal(access("b.csv", R_OK), 0);
  assert_int_equal(access("b.gp", R_OK), 0);
  assert_string_equal(lamina_error_message(ctx), "");
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(takes_a_line_between_cells), cmocka_unit_test(puts_the_walls_at_both_ends),
              cmocka_unit_test(refuses_a_line_outside), cmocka_unit_test(finds_an_extremum_between_samples),
              cmocka_unit_test(short_profiles_have_lower_order), cmocka_unit_test(references_are_in_order),
              cmocka_unit_test(tables_have_the_printed_values), cmocka_unit_test(comparison_finds_the_moved_point),
              cmocka_unit_test(comparison_judges_extrema), cmocka_unit_test(writes_csv_script_and_picture),
              cmocka_unit_test(a_missing_gnuplot_costs_only_the_picture))
