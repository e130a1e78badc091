/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold on a device, emulated or real: included by the two test programs. Each case calls cuda_setup() first,
 * which chooses the driver or skips. */
#ifndef CUDA_CASES_H
#define CUDA_CASES_H

#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include <lamina/lamina.h>

#include "support/random_case.h"

static void cuda_setup(void);

/* Device and processor run one text with the same roundings: they agree to the bit. */
static void compare_cases(unsigned seed, int count)
{
  cuda_setup();
  unsigned state = seed;
  for (int i = 0; i < count; i++) {
    const random_case drawn = random_case_draw(&state);
    char text[256];
    random_case_describe(&drawn, text);
    case_outcome host = random_case_run(&drawn, LAMINA_BACKEND_CPU);
    case_outcome device = random_case_run(&drawn, LAMINA_BACKEND_CUDA);
    if (host.status != LAMINA_OK || device.status != LAMINA_OK)
      fail_msg("%s: '%s', '%s'", text, host.message, device.message);
    const double difference = case_outcome_difference(&host, &device, drawn.options.precision);
    if (difference != 0.0)
      fail_msg("%s: populations differ by %g", text, difference);
    if (memcmp(&host.totals, &device.totals, sizeof host.totals) != 0)
      fail_msg("%s: totals differ: mass %.17g and %.17g, enstrophy %.17g and %.17g", text, host.totals.mass_excess,
               device.totals.mass_excess, host.totals.enstrophy, device.totals.enstrophy);
    case_outcome_free(&host);
    case_outcome_free(&device);
  }
}

static void agrees_with_the_processor_1(void **state)
{
  (void)state;
  compare_cases(1, 8);
}
static void agrees_with_the_processor_2(void **state)
{
  (void)state;
  compare_cases(2, 8);
}
static void agrees_with_the_processor_3(void **state)
{
  (void)state;
  compare_cases(3, 8);
}

static lamina_solver_options cavity(lamina_index cells)
{
  lamina_solver_options options = lamina_solver_options_default();
  options.cells = (lamina_int3){cells, cells, cells};
  options.omega = 1.7;
  options.backend = LAMINA_BACKEND_CUDA;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    options.faces[face].kind = LAMINA_FACE_WALL;
  options.faces[LAMINA_FACE_Z_HIGH].velocity.x = 0.05;
  return options;
}

/* Graphs of many steps, steps one by one, changed arguments in between, other partitions: one result. */
static void steps_in_any_portions_are_the_same(void **state)
{
  (void)state;
  cuda_setup();
  static const lamina_index portions[][8] = {{100}, {1, 40, 3, 17, 39}, {33, 33, 34}};
  char *planes[3] = {NULL};
  size_t bytes = 0;
  for (int i = 0; i < 3; i++) {
    lamina_context *ctx = NULL;
    lamina_solver *solver = NULL;
    lamina_solver_options options = cavity(12);
    options.partitions = i + 1;
    assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
    assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
    assert_int_equal(lamina_solver_initialise(solver, random_case_start, NULL), LAMINA_OK);
    for (int k = 0; portions[i][k] > 0; k++)
      assert_int_equal(lamina_solver_run(solver, portions[i][k]), LAMINA_OK);
    const lamina_real3 faster = {0.08, 0.01, 0.0}, force = {1e-5, 0.0, 2e-5};
    assert_int_equal(lamina_solver_set_wall_velocity(solver, LAMINA_FACE_Z_HIGH, faster), LAMINA_OK);
    assert_int_equal(lamina_solver_run(solver, 35), LAMINA_OK);
    assert_int_equal(lamina_solver_set_force(solver, force), LAMINA_OK);
    assert_int_equal(lamina_solver_run(solver, 35), LAMINA_OK);
    bytes = (size_t)lamina_solver_plane_bytes(solver);
    planes[i] = malloc(12 * bytes);
    for (lamina_index z = 0; z < 12; z++)
      assert_int_equal(lamina_solver_get_plane(solver, z, planes[i] + (size_t)z * bytes), LAMINA_OK);
    lamina_solver_destroy(solver);
    lamina_context_destroy(ctx);
  }
  assert_memory_equal(planes[0], planes[1], 12 * bytes);
  assert_memory_equal(planes[0], planes[2], 12 * bytes);
  for (int i = 0; i < 3; i++)
    free(planes[i]);
}

static void poison_one_cell(void *user, lamina_real3 centre, lamina_cell_state *state)
{
  (void)user;
  random_case_start(NULL, centre, state);
  if (centre.x > 5 && centre.x < 6 && centre.y > 7 && centre.y < 8 && centre.z > 9 && centre.z < 10)
    state->velocity[1] = 1e30;
}

/* The same step and cell as the processor names, and nothing runs on behind it. */
static void names_the_first_value_that_is_not_finite(void **state)
{
  (void)state;
  cuda_setup();
  char messages[2][512];
  static const lamina_backend backends[] = {LAMINA_BACKEND_CPU, LAMINA_BACKEND_CUDA};
  for (int i = 0; i < 2; i++) {
    lamina_context *ctx = NULL;
    lamina_solver *solver = NULL;
    lamina_solver_options options = cavity(12);
    options.backend = backends[i];
    options.partitions = 3;
    assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
    assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_OK);
    assert_int_equal(lamina_solver_initialise(solver, poison_one_cell, NULL), LAMINA_OK);
    assert_int_equal(lamina_solver_run(solver, 100), LAMINA_ERROR_DIVERGED);
    snprintf(messages[i], sizeof messages[i], "%s", lamina_error_message(ctx));
    lamina_solver_destroy(solver);
    lamina_context_destroy(ctx);
  }
  assert_string_equal(messages[0], messages[1]);
}

/* Half storage against full storage: the error is that of a half, 2^-11, on deviations from rest. */
static void half_storage_is_as_good_as_a_half(void **state)
{
  (void)state;
  cuda_setup();
  random_case drawn = {.options = cavity(16), .steps = 50};
  case_outcome full = random_case_run(&drawn, LAMINA_BACKEND_CUDA);
  drawn.options.storage = LAMINA_STORAGE_F16;
  case_outcome half = random_case_run(&drawn, LAMINA_BACKEND_CUDA);
  drawn.options.partitions = 4;
  drawn.options.layout = LAMINA_LAYOUT_SOA;
  case_outcome cut = random_case_run(&drawn, LAMINA_BACKEND_CUDA);
  if (full.status != LAMINA_OK || half.status != LAMINA_OK || cut.status != LAMINA_OK)
    fail_msg("'%s', '%s', '%s'", full.message, half.message, cut.message);
  double error = 0.0, norm = 0.0;
  for (size_t i = 0; i < full.bytes / sizeof(float); i++) {
    const double exact = ((const float *)full.planes)[i], stored = ((const float *)half.planes)[i];
    error += (stored - exact) * (stored - exact);
    norm += exact * exact;
  }
  assert_true(sqrt(error / norm) < 1e-3);
  assert_true(error > 0.0);
  assert_memory_equal(half.planes, cut.planes, half.bytes);
  case_outcome_free(&full);
  case_outcome_free(&half);
  case_outcome_free(&cut);
}

/* Blocks on the device against rows on the processor, to the bit: whole blocks, ends inside blocks, walls, joined
 * faces, partitions. */
static void blocks_agree_with_the_processor(void **state)
{
  (void)state;
  cuda_setup();
  static const lamina_int3 boxes[] = {{8, 8, 12}, {13, 6, 9}, {16, 4, 8}, {5, 9, 17}};
  unsigned dice = 77;
  for (int i = 0; i < 8; i++) {
    random_case drawn = random_case_draw(&dice);
    drawn.options.lattice = i % 2 == 0 ? LAMINA_D3Q19 : LAMINA_D3Q27;
    drawn.options.collision = LAMINA_BGK;
    drawn.options.precision = i % 3 == 0 ? LAMINA_F64 : LAMINA_F32;
    drawn.options.cells = boxes[i % 4];
    drawn.options.layout = LAMINA_LAYOUT_PLANE;
    drawn.options.streaming = LAMINA_TWO_GRID;
    drawn.options.partitions = 1 + i % 2;
    drawn.steps = 21;
    for (int face = LAMINA_FACE_Z_LOW; face < LAMINA_FACE_COUNT; face++)
      drawn.options.faces[face] = (lamina_face){.kind = i < 4 ? LAMINA_FACE_WALL : LAMINA_FACE_PERIODIC};
    case_outcome host = random_case_run(&drawn, LAMINA_BACKEND_CPU);
    drawn.options.grid = LAMINA_GRID_SPARSE;
    case_outcome device = random_case_run(&drawn, LAMINA_BACKEND_CUDA);
    char text[256];
    random_case_describe(&drawn, text);
    if (host.status != LAMINA_OK || device.status != LAMINA_OK)
      fail_msg("%s: '%s', '%s'", text, host.message, device.message);
    if (case_outcome_difference(&host, &device, drawn.options.precision) != 0.0)
      fail_msg("%s: blocks differ", text);
    case_outcome_free(&host);
    case_outcome_free(&device);
  }
}

static void refuses_what_does_not_fit(void **state)
{
  (void)state;
  cuda_setup();
  lamina_context *ctx = NULL;
  lamina_solver *solver = NULL;
  lamina_solver_options options = cavity(4000);
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_ERROR_MEMORY);
  assert_null(solver);
  assert_non_null(strstr(lamina_error_message(ctx), "million cells fit"));
  lamina_context_destroy(ctx);
}

static void refuses_a_device_that_is_not_there(void **state)
{
  (void)state;
  cuda_setup();
  lamina_context *ctx = NULL;
  lamina_solver *solver = NULL;
  lamina_solver_options options = cavity(8);
  options.devices[0] = 15;
  options.device_count = 1;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lamina_solver_create(ctx, &options, &solver), LAMINA_ERROR_ARGUMENT);
  assert_non_null(strstr(lamina_error_message(ctx), "device 15"));
  lamina_context_destroy(ctx);
}

#endif
