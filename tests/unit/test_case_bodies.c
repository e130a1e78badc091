/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of a case: from metres to cells. */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "io/case_file.h"
#include "io/mask_file.h"
#include "io/safe_file.h"
#include "support/failing_allocator.h"

#define FLOW(cells)                                                \
  "domain: {cells: " cells ", length: 2 m}\n"                      \
  "fluid: {reynolds: 50, speed: 1 m/s, reference_length: 0.5 m}\n" \
  "boundaries: {all: periodic}\n"                                  \
  "run: {steps: 10}\n"
#define BOX FLOW("[32, 16, 16]")
#define PLANE FLOW("[32, 16]")

static lamina_context *make_context(void)
{
  const lamina_context_options options = {.threads = 1};
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  return ctx;
}

static lamina_case *load(lamina_context *ctx, const char *text)
{
  lamina_case *flow = NULL;
  const lamina_status status = lmi_case_load_text(ctx, "flow.yaml", text, NULL, 0, &flow);
  if (status != LAMINA_OK)
    print_message("%s\n", lamina_error_message(ctx));
  assert_int_equal(status, LAMINA_OK);
  return flow;
}

static bool is_near(double a, double b)
{
  return fabs(a - b) < 1e-6 * (1 + fabs(b));
}

static void sizes_become_cells(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_case *flow = load(ctx, BOX "bodies:\n"
                                    "  - {sphere: {centre: [0.5, 0.5, 50 cm], radius: 250 mm}, name: ball}\n"
                                    "  - {cylinder: {from: [1, 0.25, 0.5], to: [1, 0.75, 0.5], radius: 0.125}}\n"
                                    "  - {box: {from: [1.5, 0.25, 0.25], to: [1.75, 0.5, 0.75]}, spin: [0, 0, 2],\n"
                                    "     velocity: [0.5, 0, 0]}\n");
  const lamina_geometry *geometry = lamina_case_geometry(flow);
  lamina_body_info info;
  assert_int_equal(lamina_geometry_body_count(geometry), 3);
  assert_true(lamina_geometry_get_body(geometry, 1, &info));
  assert_string_equal(info.name, "ball");
  assert_true(is_near(info.low.x, 4) && is_near(info.high.z, 12));
  assert_true(is_near(info.volume, 4.0 / 3.0 * 3.14159265358979 * 64));
  assert_true(lamina_geometry_get_body(geometry, 2, &info));
  assert_true(is_near(info.low.x, 14) && is_near(info.low.y, 4) && is_near(info.high.y, 12));
  assert_true(lamina_geometry_get_body(geometry, 3, &info));
  const lamina_units *units = lamina_case_units(flow);
  assert_true(is_near(info.motion.velocity.x, 0.5 / units->velocity_unit));
  assert_true(is_near(info.motion.spin.z, 2 * units->time_step));
  assert_true(is_near(info.motion.centre.x, 26));
  assert_int_equal(lamina_case_body_cells(flow, 3), 4 * 4 * 8);
  assert_int_equal(lamina_case_body_cells(flow, 4), -1);
  const lamina_solver_options *options = lamina_case_solver_options(flow);
  assert_ptr_equal(options->geometry, geometry);
  assert_int_equal(options->grid, LAMINA_GRID_SPARSE);
  assert_int_equal(options->curved, LAMINA_CURVED_HALFWAY);
  lamina_case_destroy(flow);
  lamina_context_destroy(ctx);
}

/* A disc and a square, cut at the middle of the one layer of cells. */
static void two_dimensions_have_discs(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_case *flow = load(ctx, PLANE "bodies:\n"
                                      "  - {cylinder: {centre: [0.5, 0.5], radius: 0.25}}\n"
                                      "  - {sphere: {centre: [1, 0.5], radius: 0.25}}\n"
                                      "  - {box: {from: [1.5, 0.25], to: [1.75, 0.75]}}\n"
                                      "curved: bouzidi\n");
  lamina_index disc = 0;
  for (int y = 0; y < 16; y++)
    for (int x = 0; x < 32; x++)
      disc += (x + 0.5 - 8) * (x + 0.5 - 8) + (y + 0.5 - 8) * (y + 0.5 - 8) <= 16;
  assert_int_equal(lamina_case_body_cells(flow, 1), disc);
  assert_int_equal(lamina_case_body_cells(flow, 2), disc);
  assert_int_equal(lamina_case_body_cells(flow, 3), 4 * 8);
  assert_int_equal(lamina_case_solver_options(flow)->curved, LAMINA_CURVED_BOUZIDI);
  double width = 0;
  assert_int_equal(lamina_geometry_shadow(lamina_case_geometry(flow), 1, 0, 1, &width), LAMINA_OK);
  assert_true(is_near(width, 8));
  lamina_case_destroy(flow);
  lamina_context_destroy(ctx);
}

/* Without bodies nothing changes, and the text a checkpoint must agree with names them when they are there. */
static void bodies_are_part_of_the_physics(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_case *without = load(ctx, BOX);
  lamina_case *first = load(ctx, BOX "bodies: [{sphere: {centre: [1, 0.5, 0.5], radius: 0.25}}]\n");
  lamina_case *second = load(ctx, BOX "bodies: [{sphere: {centre: [1, 0.5, 0.5], radius: 0.26}}]\n");
  assert_null(lamina_case_geometry(without));
  assert_null(lamina_case_solver_options(without)->geometry);
  assert_null(strstr(without->physics, "body"));
  assert_string_not_equal(first->physics_hash, without->physics_hash);
  assert_string_not_equal(first->physics_hash, second->physics_hash);
  lamina_case_destroy(without);
  lamina_case_destroy(first);
  lamina_case_destroy(second);
  lamina_context_destroy(ctx);
}

static void run_case(lamina_context *ctx, const char *text, double *density)
{
  lamina_case *flow = load(ctx, text);
  lamina_solver *solver = NULL;
  lamina_status status = lamina_solver_create(ctx, lamina_case_solver_options(flow), &solver);
  if (status == LAMINA_OK)
    status = lamina_solver_run(solver, 40);
  const lamina_box box = {{0, 0, 0}, {32, 16, 16}};
  if (status == LAMINA_OK)
    status = lamina_solver_read(solver, box, &(lamina_fields){.density = density});
  if (status != LAMINA_OK)
    print_message("%s\n", lamina_error_message(ctx));
  assert_int_equal(status, LAMINA_OK);
  lamina_solver_destroy(solver);
  lamina_case_destroy(flow);
}

/* A cube from facets, turned by a quarter, and the same as a box: not a bit of the flow differs. */
static void facets_and_boxes_make_the_same_flow(void **state)
{
  (void)state;
  static double of_box[32 * 16 * 16], of_facets[32 * 16 * 16];
  lamina_context *ctx = make_context();
  for (int curved = 0; curved < 2; curved++) {
    const char *const how = curved ? "curved: bouzidi\n" : "";
    char box[1024], facets[1024];
    snprintf(box, sizeof box, "%sforce: [1, 0, 0]\n%sbodies: [{box: {from: [0.8, 0.3, 0.3], to: [1.3, 0.8, 0.8]}}]\n",
             BOX, how);
    snprintf(
      facets, sizeof facets,
      "%sforce: [1, 0, 0]\n%sbodies: [{stl: %s/tests/data/stl/k1_12_inward.stl, scale: 0.05, rotate: [0, 0, 90], "
      "at: [1.3, 0.3, 0.3]}]\n",
      BOX, how, LAMINA_SOURCE_DIR);
    run_case(ctx, box, of_box);
    run_case(ctx, facets, of_facets);
    assert_memory_equal(of_box, of_facets, sizeof of_box);
    assert_true(of_box[8 * 512 + 8 * 32 + 10] != 1.0); /* it flows */
  }
  lamina_context_destroy(ctx);
}

/* Head as ParaView reads it, and one byte for each cell. */
static void a_mask_has_a_byte_for_each_cell(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_geometry *geometry = NULL;
  assert_int_equal(lamina_geometry_create(ctx, &geometry), LAMINA_OK);
  assert_int_equal(lamina_geometry_add_box(geometry, (lamina_real3){1, 1, 1}, (lamina_real3){3, 4, 5}, NULL, NULL),
                   LAMINA_OK);
  lmi_voxels voxels;
  const lmi_voxel_grid grid = {.cells = {5, 6, 7}};
  const lmi_field_frame frame = {.cells = grid.cells, .origin = {-1, 0.5, 0}, .spacing = {0.25, 0.25, 0.25}};
  assert_int_equal(lmi_geometry_voxelize(ctx, geometry, &grid, NULL, &voxels), LAMINA_OK);
  assert_int_equal(lmi_mask_file_write(ctx, "mask.vti", &voxels, &frame), LAMINA_OK);
  char *data = NULL;
  size_t bytes = 0;
  assert_int_equal(lmi_file_read_all(ctx, "mask.vti", 1 << 20, &data, &bytes), LAMINA_OK);
  assert_non_null(strstr(data, "WholeExtent=\"0 5 0 6 0 7\" Origin=\"-1 0.5 0\" Spacing=\"0.25 0.25 0.25\""));
  const char *start = strstr(data, "raw\">\n_");
  assert_non_null(start);
  start += strlen("raw\">\n_");
  uint64_t length = 0;
  memcpy(&length, start, sizeof length);
  assert_int_equal(length, 5 * 6 * 7);
  for (int i = 0; i < 5 * 6 * 7; i++) {
    const int x = i % 5, y = i / 5 % 6, z = i / 30;
    assert_int_equal(start[8 + i], x >= 1 && x < 3 && y >= 1 && y < 4 && z >= 1 && z < 5);
  }
  assert_int_equal(lmi_mask_file_write(ctx, "mask.raw", &voxels, &frame), LAMINA_ERROR_ARGUMENT);
  lmi_free(ctx, data);
  lmi_voxels_free(ctx, &voxels);
  lamina_geometry_destroy(geometry);
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
    lamina_case *flow = NULL;
    lamina_status status = lamina_context_create(&options, &ctx);
    if (status == LAMINA_OK)
      status = lmi_case_load_text(ctx, "flow.yaml",
                                  BOX "bodies:\n"
                                      "  - {sphere: {centre: [0.5, 0.5, 0.5], radius: 0.25}, name: ball}\n"
                                      "  - {stl: " LAMINA_SOURCE_DIR "/tests/data/stl/k1_02_crlf.stl, scale: 0.05,\n"
                                      "     at: [1, 0.1, 0.1]}\n",
                                  NULL, 0, &flow);
    assert_int_equal(status, heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    lamina_case_destroy(flow);
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    if (!heap.has_failed)
      return;
  }
}

LMI_TEST_MAIN(cmocka_unit_test(sizes_become_cells), cmocka_unit_test(two_dimensions_have_discs),
              cmocka_unit_test(bodies_are_part_of_the_physics), cmocka_unit_test(facets_and_boxes_make_the_same_flow),
              cmocka_unit_test(a_mask_has_a_byte_for_each_cell), cmocka_unit_test(each_allocation_may_fail))
