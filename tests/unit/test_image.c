/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures: read back with libpng, and the colour maps judged by lightness. */
#include "support/test.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "io/canvas.h"
#include "io/colour_map.h"
#include "io/contour.h"
#include "io/image.h"
#include "support/failing_allocator.h"

enum { N = 40 };

static lamina_context *make_context(void)
{
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  return ctx;
}

/* CIE lightness of an sRGB colour, 0 to 100. */
static double lightness(lmi_colour c)
{
  const unsigned char channel[] = {c.red, c.green, c.blue};
  const double weight[] = {0.2126, 0.7152, 0.0722};
  double y = 0;
  for (int i = 0; i < 3; i++) {
    const double v = channel[i] / 255.0;
    y += weight[i] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
  }
  return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

static void sequential_map_rises_evenly(void **state)
{
  (void)state;
  lmi_colour table[LMI_COLOUR_STEPS];
  lmi_colour_map_fill(LMI_COLOUR_SEQUENTIAL, table);
  const double whole = lightness(table[LMI_COLOUR_STEPS - 1]) - lightness(table[0]);
  assert_true(whole > 75);
  const int step = LMI_COLOUR_STEPS / 16;
  for (int i = step; i < LMI_COLOUR_STEPS; i += step) {
    const double share = (lightness(table[i]) - lightness(table[i - step])) / (whole / 16);
    assert_true(share > 0.75 && share < 1.25);
  }
}

static void diverging_map_is_even_handed(void **state)
{
  (void)state;
  lmi_colour table[LMI_COLOUR_STEPS];
  lmi_colour_map_fill(LMI_COLOUR_DIVERGING, table);
  for (int i = 0; i < LMI_COLOUR_STEPS / 2; i++)
    assert_true(fabs(lightness(table[i]) - lightness(table[LMI_COLOUR_STEPS - 1 - i])) < 8);
  const lmi_colour middle = table[LMI_COLOUR_STEPS / 2];
  assert_true(abs(middle.red - middle.blue) < 4 && lightness(middle) > 90);
}

typedef struct picture {
  png_image head;
  unsigned char *pixels;
} picture;

static picture read_png(const char *path)
{
  picture p = {.head = {.version = PNG_IMAGE_VERSION}};
  assert_int_not_equal(png_image_begin_read_from_file(&p.head, path), 0);
  p.head.format = PNG_FORMAT_RGB;
  p.pixels = malloc(PNG_IMAGE_SIZE(p.head));
  assert_non_null(p.pixels);
  assert_int_not_equal(png_image_finish_read(&p.head, NULL, p.pixels, 0, NULL), 0);
  return p;
}

static lmi_colour at(const picture *p, int x, int y)
{
  const unsigned char *pixel = p->pixels + 3 * ((size_t)y * p->head.width + (size_t)x);
  return (lmi_colour){pixel[0], pixel[1], pixel[2]};
}

static bool is_same(lmi_colour a, lmi_colour b)
{
  return a.red == b.red && a.green == b.green && a.blue == b.blue;
}

/* A ramp in y with a solid block in the lower left: the picture must show both where they are. */
static void draws_low_rows_at_the_bottom_and_solids_grey(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  double values[N * N];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      values[j * N + i] = i < 8 && j < 8 ? (double)NAN : 2.0 * j;
  lmi_image_options options = lmi_image_options_default();
  options.pixels = 400;
  lmi_image_range range;
  assert_int_equal(lmi_image_write(ctx, "ramp.png", &(lmi_image_data){N, N, values}, &options, &range), LAMINA_OK);
  assert_true(range.low == 0 && range.high == 2.0 * (N - 1));
  assert_true(range.data_low == 0 && range.data_high == 2.0 * (N - 1));
  const picture p = read_png("ramp.png");
  const int left = 18, top = 18;
  lmi_colour table[LMI_COLOUR_STEPS];
  lmi_colour_map_fill(LMI_COLOUR_SEQUENTIAL, table);
  assert_true(is_same(at(&p, left + 300, top + 3), table[LMI_COLOUR_STEPS - 1]));
  assert_true(is_same(at(&p, left + 300, top + 396), table[0]));
  const lmi_colour solid = at(&p, left + 40, top + 360);
  assert_true(solid.red == solid.green && solid.green == solid.blue && solid.red > 100 && solid.red < 200);
  assert_true(!is_same(at(&p, left + 90, top + 360), solid)); /* its colour does not leak */
  free(p.pixels);
  lamina_context_destroy(ctx);
}

static void draws_any_shape_and_any_value(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  const struct {
    lamina_index width, height;
    double value, slope;
  } cases[] = {{1, 1, 0, 0},     {1, 1, NAN, 0},        {3000, 2, 1e308, 0}, {2, 3000, -1, 1e-320},
               {7, 5, 1, 1e-16}, {5, 7, -1e308, 1e307}, {4, 4, INFINITY, 1}, {900, 700, 0, 1e-9}};
  for (size_t k = 0; k < LMI_COUNT(cases); k++) {
    const lamina_index count = cases[k].width * cases[k].height;
    double *values = NULL;
    assert_int_equal(LMI_ALLOC(ctx, (size_t)count, &values), LAMINA_OK);
    for (lamina_index i = 0; i < count; i++)
      values[i] = cases[k].value + cases[k].slope * (double)(i % 40);
    for (int map = 0; map < 2; map++) {
      lmi_image_options options = lmi_image_options_default();
      options.map = (lmi_colour_map)map;
      options.pixels = 300;
      options.title = "any \303\244 \360\237\230\200 title";
      options.unit = "m\302\262/s";
      options.contour = values;
      lmi_image_range range;
      const lmi_image_data data = {cases[k].width, cases[k].height, values};
      assert_int_equal(lmi_image_write(ctx, "any.png", &data, &options, &range), LAMINA_OK);
      assert_true(range.high > range.low);
      free(read_png("any.png").pixels);
    }
    lmi_free(ctx, values);
  }
  lamina_context_destroy(ctx);
}

static void refuses_what_cannot_be_drawn(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  const double one = 1;
  const lmi_image_data data = {1, 1, &one};
  lmi_image_options options = lmi_image_options_default();
  options.has_range = true;
  options.low = options.high = 1;
  assert_int_equal(lmi_image_write(ctx, "no.png", &data, &options, NULL), LAMINA_ERROR_ARGUMENT);
  options = lmi_image_options_default();
  options.pixels = 100000;
  assert_int_equal(lmi_image_write(ctx, "no.png", &data, &options, NULL), LAMINA_ERROR_ARGUMENT);
  options = lmi_image_options_default();
  assert_int_equal(lmi_image_write(ctx, "no.png", &(lmi_image_data){0, 1, &one}, &options, NULL),
                   LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lmi_image_write(ctx, "none/no.png", &data, &options, NULL), LAMINA_ERROR_FILE);
  assert_int_not_equal(access("no.png", F_OK), 0);
  lamina_context_destroy(ctx);
}

static void measure_circle(void *user, double x0, double y0, double x1, double y1)
{
  double *sums = user;
  sums[0] += hypot(x1 - x0, y1 - y0);
  sums[1] = fmax(sums[1], fabs(hypot(x0 - 20, y0 - 20) - 10));
}

/* The line x^2 + y^2 = 10^2 must be a closed circle. */
static void contour_of_a_cone_is_a_circle(void **state)
{
  (void)state;
  double values[N * N], sums[2] = {0, 0};
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      values[j * N + i] = hypot(i + 0.5 - 20, j + 0.5 - 20);
  lmi_contour_trace(&(lmi_image_data){N, N, values}, 10.0, measure_circle, sums);
  assert_true(fabs(sums[0] - 2 * 3.14159265 * 10) < 0.1);
  assert_true(sums[1] < 0.02);
}

/* psi = sin^2(pi y) has u = pi sin(2 pi y): second order in the height of a cell. */
static void stream_function_is_of_second_order(void **state)
{
  (void)state;
  const double pi = 3.14159265358979;
  double error[2];
  for (int k = 0; k < 2; k++) {
    const int n = 20 << k;
    double u[40], psi[40];
    for (int j = 0; j < n; j++)
      u[j] = pi * sin(2 * pi * (j + 0.5) / n);
    lmi_stream_function(&(lmi_image_data){1, n, u}, 1.0 / n, psi);
    error[k] = 0;
    for (int j = 0; j < n; j++)
      error[k] = fmax(error[k], fabs(psi[j] - pow(sin(pi * (j + 0.5) / n), 2)));
  }
  assert_true(error[0] < 0.02);
  assert_true(error[0] / error[1] > 3.8);
}

static void survives_failing_allocations(void **state)
{
  (void)state;
  double values[N * N] = {1};
  lmi_image_options options = lmi_image_options_default();
  options.contour = values;
  for (uint64_t n = 1; n < 100; n++) {
    lmi_failing_allocator heap = lmi_failing_allocator_make(n);
    const lamina_allocator interface = lmi_failing_allocator_interface(&heap);
    const lamina_context_options choice = {.allocator = &interface};
    lamina_context *ctx = NULL;
    if (lamina_context_create(&choice, &ctx) == LAMINA_OK) {
      const lamina_status status = lmi_image_write(ctx, "f.png", &(lmi_image_data){N, N, values}, &options, NULL);
      assert_int_equal(status, heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    }
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    if (!heap.has_failed)
      return;
  }
  fail_msg("the loop did not end");
}

LMI_TEST_MAIN(cmocka_unit_test(sequential_map_rises_evenly), cmocka_unit_test(diverging_map_is_even_handed),
              cmocka_unit_test(draws_low_rows_at_the_bottom_and_solids_grey),
              cmocka_unit_test(draws_any_shape_and_any_value), cmocka_unit_test(refuses_what_cannot_be_drawn),
              cmocka_unit_test(contour_of_a_cone_is_a_circle), cmocka_unit_test(stream_function_is_of_second_order),
              cmocka_unit_test(survives_failing_allocations))
