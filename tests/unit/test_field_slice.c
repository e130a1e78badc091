/* SPDX-License-Identifier: Apache-2.0 */
/* Planes and quantities out of a field file, against a flow known in closed form. */
#include "support/test.h"

#include <math.h>

#include "base/base.h"
#include "io/field_slice.h"

enum { NX = 12, NY = 10, NZ = 8, CELLS = NX * NY * NZ };

static const double h = 0.25;

/* u = (y z, 2 x z, 3 x y): curl = (3x - 2x, y - 3y, 2z - z) = (x, -2y, z). */
static void flow(const double x[3], double u[3])
{
  u[0] = x[1] * x[2];
  u[1] = 2 * x[0] * x[2];
  u[2] = 3 * x[0] * x[1];
}

static void centre(int cell, double x[3])
{
  x[0] = 1 + h * (cell % NX + 0.5);
  x[1] = 2 + h * (cell / NX % NY + 0.5);
  x[2] = 3 + h * (cell / (NX * NY) + 0.5);
}

static void expect_ok(lamina_context *ctx, lamina_status status)
{
  if (status != LAMINA_OK)
    fail_msg("status %d: %s", status, lamina_error_message(ctx));
}

static lamina_context *open_example(lmi_field_file **file)
{
  static double u[3][CELLS], t[CELLS];
  for (int i = 0; i < CELLS; i++) {
    double x[3], v[3];
    centre(i, x);
    flow(x, v);
    for (int c = 0; c < 3; c++)
      u[c][i] = v[c];
    t[i] = x[0];
  }
  const lmi_field_array arrays[] = {{"velocity", "m/s", 3, LAMINA_F64}, {"temperature", "K", 1, LAMINA_F64}};
  const lmi_field_content content = {
    .frame = {.cells = {NX, NY, NZ}, .origin = {1, 2, 3}, .spacing = {h, h, h}}, .arrays = arrays, .array_count = 2};
  const double *const velocity[] = {u[0], u[1], u[2]}, *const scalar[] = {t};
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  expect_ok(ctx, lmi_field_file_write(ctx, "f.vtkhdf", &content, (const double *const *const[]){velocity, scalar}));
  expect_ok(ctx, lmi_field_file_open(ctx, "f.vtkhdf", file));
  return ctx;
}

static void close_example(lamina_context *ctx, lmi_field_file *file)
{
  lmi_field_file_close(file);
  lamina_context_destroy(ctx);
}

typedef double expected(const double x[3]);
static double speed_of(const double x[3])
{
  double u[3];
  flow(x, u);
  return sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}
static double w_of(const double x[3])
{
  return 3 * x[0] * x[1];
}
static double t_of(const double x[3])
{
  return x[0];
}
static double curl_x(const double x[3])
{
  return x[0];
}
static double curl_y(const double x[3])
{
  return -2 * x[1];
}
static double curl_z(const double x[3])
{
  return x[2];
}

/* All cells of a slice against the closed form at their places. */
static void expect_slice(const char *name, int axis, double position, expected *value, double tolerance)
{
  lmi_field_file *file = NULL;
  lamina_context *ctx = open_example(&file);
  lmi_field_quantity quantity;
  lmi_field_slice slice;
  expect_ok(ctx, lmi_field_quantity_find(ctx, file, name, &quantity));
  expect_ok(ctx, lmi_field_slice_take(ctx, file, &quantity, axis, position, &slice));
  const double origin[3] = {1, 2, 3};
  const int cells[3] = {NX, NY, NZ};
  assert_int_equal(slice.width, cells[slice.across[0]]);
  assert_int_equal(slice.height, cells[slice.across[1]]);
  for (lamina_index j = 0; j < slice.height; j++)
    for (lamina_index i = 0; i < slice.width; i++) {
      double x[3];
      x[axis] = position;
      x[slice.across[0]] = origin[slice.across[0]] + h * ((double)i + 0.5);
      x[slice.across[1]] = origin[slice.across[1]] + h * ((double)j + 0.5);
      const double found = slice.values[j * slice.width + i];
      if (!(fabs(found - value(x)) <= tolerance))
        fail_msg("%s at %g %g %g: %g instead of %g", name, x[0], x[1], x[2], found, value(x));
    }
  lmi_field_slice_free(&slice);
  close_example(ctx, file);
}

static void slices_are_where_they_should_be(void **state)
{
  (void)state;
  expect_slice("temperature", 2, 4.0, t_of, 1e-12); /* between two layers */
  expect_slice("temperature", 0, 1.1 + 0.5 * h, t_of, 1e-12);
  expect_slice("velocity_z", 1, 3.3, w_of, 1e-9);
  expect_slice("velocity_z", 0, 1 + 2.5 * h, w_of, 1e-9); /* on a layer */
  expect_slice("speed", 2, 3 + 1.5 * h, speed_of, 1e-9);
  expect_slice("velocity", 2, 3 + 1.5 * h, speed_of, 1e-9);
}

static void vorticity_has_the_right_sign_on_each_axis(void **state)
{
  (void)state;
  expect_slice("vorticity", 0, 2.0, curl_x, 1e-9); /* the flow is linear in each coordinate: exact */
  expect_slice("vorticity", 1, 3.0, curl_y, 1e-9);
  expect_slice("vorticity", 2, 4.0, curl_z, 1e-9);
}

static void slices_at_the_rim_are_the_outermost_layer(void **state)
{
  (void)state;
  lmi_field_file *file = NULL;
  lamina_context *ctx = open_example(&file);
  lmi_field_quantity quantity;
  lmi_field_slice slice;
  expect_ok(ctx, lmi_field_quantity_find(ctx, file, "temperature", &quantity));
  expect_ok(ctx, lmi_field_slice_take(ctx, file, &quantity, 0, 1.0, &slice));
  assert_true(slice.values[0] == 1 + 0.5 * h);
  lmi_field_slice_free(&slice);
  expect_ok(ctx, lmi_field_slice_take(ctx, file, &quantity, 0, 1 + NX * h, &slice));
  assert_true(slice.values[0] == 1 + (NX - 0.5) * h);
  lmi_field_slice_free(&slice);
  assert_int_equal(lmi_field_slice_take(ctx, file, &quantity, 0, 0.9, &slice), LAMINA_ERROR_ARGUMENT);
  assert_non_null(strstr(lamina_error_message(ctx), "x = 0.9 m lies outside the fields (1 to 4)"));
  assert_null(slice.values);
  assert_int_equal(lmi_field_slice_take(ctx, file, &quantity, 0, NAN, &slice), LAMINA_ERROR_ARGUMENT);
  close_example(ctx, file);
}

static void unknown_quantities_are_told_what_there_is(void **state)
{
  (void)state;
  lmi_field_file *file = NULL;
  lamina_context *ctx = open_example(&file);
  lmi_field_quantity quantity;
  static const char *const wrong[] = {"", "pressure", "velocity_", "velocity_w", "temperature_x", "velocity_xx"};
  for (size_t i = 0; i < LMI_COUNT(wrong); i++)
    assert_int_equal(lmi_field_quantity_find(ctx, file, wrong[i], &quantity), LAMINA_ERROR_ARGUMENT);
  assert_non_null(
    strstr(lamina_error_message(ctx), "velocity, velocity_x, velocity_y, velocity_z, speed, vorticity, temperature"));
  close_example(ctx, file);
}

LMI_TEST_MAIN(cmocka_unit_test(slices_are_where_they_should_be),
              cmocka_unit_test(vorticity_has_the_right_sign_on_each_axis),
              cmocka_unit_test(slices_at_the_rim_are_the_outermost_layer),
              cmocka_unit_test(unknown_quantities_are_told_what_there_is))
