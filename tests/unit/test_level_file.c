/* SPDX-License-Identifier: Apache-2.0 */
/* Fields on levels: the file tiles the box, holds each cell's own values and the means beneath finer ones, opens in the
 * readers people use (level_readers.py judges), reads back as the box of finest cells, and notices damage. */
#define _GNU_SOURCE
#include "support/test.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "flow/level_slab.h"
#include "grid/level_boxes.h"
#include "io/level_file.h"

static void expect_ok(lamina_context *ctx, lamina_status status)
{
  if (status != LAMINA_OK)
    fail_msg("status %d: %s", status, lamina_error_message(ctx));
}

/* A cross of two bars and a lone corner: not convex, and on two axes to the rim. */
static bool refine_cross(void *user, int level, const int64_t low[3], const int64_t high[3])
{
  (void)user;
  const int64_t reach = level == 0 ? 2 : 12;
  const bool along_x = low[2] < 24 + reach && high[2] > 24 - reach && low[0] < 60;
  const bool along_z = low[0] < 30 + reach && high[0] > 30 - reach && low[2] >= 20;
  return along_x || along_z;
}

static lmi_levels make_levels(lamina_context *ctx, bool is_flat)
{
  const lmi_levels_request request = {
    .cells = {96, is_flat ? 1 : 48, 64}, .is_flat = is_flat, .count = 3, .refine = refine_cross};
  lmi_levels levels;
  expect_ok(ctx, lmi_levels_create(ctx, &request, &levels));
  return levels;
}

static lamina_context *make_context(void)
{
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&(lamina_context_options){.threads = 1}, &ctx), LAMINA_OK);
  return ctx;
}

/* ---- boxes ---- */

static void check_boxes(bool is_flat)
{
  lamina_context *ctx = make_context();
  lmi_levels levels = make_levels(ctx, is_flat);
  for (int level = 0; level < levels.count; level++) {
    const int64_t *n = levels.level[level].cells;
    unsigned char *times = calloc((size_t)(n[0] * n[1] * n[2]), 1);
    lmi_level_boxes found;
    expect_ok(ctx, lmi_level_boxes_create(ctx, &levels, level, &found));
    for (size_t b = 0; b < found.count; b++) {
      const lmi_level_box *box = &found.boxes[b];
      for (int64_t z = box->first[2]; z < box->first[2] + box->count[2]; z++)
        for (int64_t y = box->first[1]; y < box->first[1] + box->count[1]; y++)
          for (int64_t x = box->first[0]; x < box->first[0] + box->count[0]; x++)
            times[(z * n[1] + y) * n[0] + x]++;
    }
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
      int64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
      const lmi_place place = lmi_levels_place(&levels, level, at);
      assert_int_equal(times[i], place == LMI_PLACE_LEAF || place == LMI_PLACE_FINER);
    }
    assert_true(found.count < 40);
    lmi_level_boxes_free(ctx, &found);
    free(times);
  }
  lmi_levels_free(ctx, &levels);
  lamina_context_destroy(ctx);
}

static void boxes_cover_each_cell_once(void **state)
{
  (void)state;
  check_boxes(true);
  check_boxes(false);
}

/* ---- files ---- */

static const double SPACING = 0.25;
static const lamina_real3 ORIGIN = {-1.0, 0.5, 2.0};
static const lmi_field_array ARRAYS[] = {{"velocity", "m/s", 3, LAMINA_F64}, {"pressure", "Pa", 1, LAMINA_F32}};

/* Velocity is the centre of the cell in m, of the level that writes it; pressure is its level. */
static void write_level(lamina_context *ctx, lmi_level_writer *writer, const lmi_levels *levels, int level)
{
  const int64_t *n = levels->level[level].cells;
  const double h = SPACING * (double)(INT64_C(1) << level);
  const size_t cells = (size_t)(n[0] * n[1]);
  double *values = malloc(4 * cells * sizeof *values);
  for (int64_t place = 0; place < n[2]; place++) {
    for (size_t i = 0; i < cells; i++) {
      const double along = ((double)place + 0.5) * h, y = ((double)(i / (size_t)n[0]) + 0.5) * h;
      values[i] = ORIGIN.x + ((double)(i % (size_t)n[0]) + 0.5) * h;
      values[cells + i] = ORIGIN.y + (levels->is_flat ? along : y);
      values[2 * cells + i] = ORIGIN.z + (levels->is_flat ? 0.0 : along);
      values[3 * cells + i] = level;
    }
    const double *const velocity[3] = {values, values + cells, values + 2 * cells};
    expect_ok(ctx, lmi_level_writer_plane(writer, level, 0, place, velocity));
    expect_ok(ctx, lmi_level_writer_plane(writer, level, 1, place, (const double *const[]){values + 3 * cells}));
  }
  free(values);
}

static lmi_field_content describe(const lmi_levels *levels)
{
  static const lmi_text_pair attributes[] = {{"title", "centres"}};
  const int64_t *n = levels->level[0].cells;
  return (lmi_field_content){.frame = {.cells = {n[0], n[levels->is_flat ? 2 : 1], levels->is_flat ? 1 : n[2]},
                                       .origin = ORIGIN,
                                       .spacing = {SPACING, SPACING, SPACING},
                                       .time = 1.25,
                                       .step = 8},
                             .arrays = ARRAYS,
                             .array_count = LMI_COUNT(ARRAYS),
                             .attributes = attributes,
                             .attribute_count = 1};
}

static void write_file(lamina_context *ctx, const lmi_levels *levels, const char *path)
{
  const lmi_field_content content = describe(levels);
  lmi_level_writer *writer = NULL;
  expect_ok(ctx, lmi_level_writer_create(ctx, path, &content, levels, &writer));
  assert_int_equal(access(path, F_OK), -1); /* not before it is whole */
  for (int level = 0; level < levels->count; level++)
    write_level(ctx, writer, levels, level);
  expect_ok(ctx, lmi_level_writer_finish(writer));
  lmi_level_writer_destroy(writer);
}

static int leaf_level(const lmi_levels *levels, int64_t x, int64_t y, int64_t z, int64_t at[3])
{
  for (int level = 0;; level++) {
    at[0] = x >> level;
    at[1] = levels->is_flat ? 0 : y >> level;
    at[2] = (levels->is_flat ? y : z) >> level;
    if (lmi_levels_place(levels, level, at) == LMI_PLACE_LEAF)
      return level;
  }
}

/* A part of the box that begins and ends inside cells of all levels. */
static void check_read(lamina_context *ctx, const lmi_levels *levels, const char *path)
{
  const lamina_int3 n = describe(levels).frame.cells;
  const lamina_box box = {{3, 5, n.z > 1 ? 7 : 0}, {n.x - 4, n.y - 8, n.z > 1 ? n.z - 9 : 1}};
  const size_t cells = (size_t)(box.count.x * box.count.y * box.count.z);
  double *values = malloc(4 * cells * sizeof *values);
  lmi_field_file *file = NULL;
  expect_ok(ctx, lmi_field_file_open(ctx, path, &file));
  expect_ok(ctx, lmi_field_file_read(file, 0, box, (double *const[]){values, values + cells, values + 2 * cells}));
  expect_ok(ctx, lmi_field_file_read(file, 1, box, (double *const[]){values + 3 * cells}));
  for (size_t i = 0; i < cells; i++) {
    int64_t at[3];
    const int64_t x = box.first.x + (int64_t)i % box.count.x, y = box.first.y + (int64_t)i / box.count.x % box.count.y;
    const int level = leaf_level(levels, x, y, box.first.z + (int64_t)i / box.count.x / box.count.y, at);
    const double h = SPACING * (double)(1 << level);
    assert_int_equal((int)values[3 * cells + i], level);
    assert_true(fabs(values[i] - ORIGIN.x - ((double)at[0] + 0.5) * h) < 1e-12);
    assert_true(fabs(values[cells + i] - ORIGIN.y - ((double)at[levels->is_flat ? 2 : 1] + 0.5) * h) < 1e-12);
    if (!levels->is_flat)
      assert_true(fabs(values[2 * cells + i] - ORIGIN.z - ((double)at[2] + 0.5) * h) < 1e-12);
  }
  assert_int_equal(lmi_field_file_content(file)->frame.step, 8);
  assert_string_equal(lmi_field_file_attribute(file, "title"), "centres");
  expect_ok(ctx, lmi_field_vti_write(ctx, file, "levels.vti"));
  lmi_field_file_close(file);
  free(values);
}

static void reads_as_finest_cells(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  for (int flat = 0; flat < 2; flat++) {
    lmi_levels levels = make_levels(ctx, flat);
    unlink("levels.vtkhdf");
    write_file(ctx, &levels, "levels.vtkhdf");
    check_read(ctx, &levels, "levels.vtkhdf");
    lmi_levels_free(ctx, &levels);
  }
  lamina_context_destroy(ctx);
}

/* A byte changed anywhere is met by a refusal when the file is opened or its cells are read, never by a wrong value. */
static void notices_damage(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lmi_levels levels = make_levels(ctx, true);
  unlink("whole.vtkhdf");
  write_file(ctx, &levels, "whole.vtkhdf");
  const lamina_int3 n = describe(&levels).frame.cells;
  double *values = malloc(3 * (size_t)(n.x * n.y) * sizeof *values);
  FILE *file = fopen("whole.vtkhdf", "rb");
  fseek(file, 0, SEEK_END);
  const size_t bytes = (size_t)ftell(file);
  char *text = malloc(bytes);
  rewind(file);
  assert_int_equal(fread(text, 1, bytes, file), bytes);
  fclose(file);
  size_t refused = 0, tried = 0;
  for (size_t at = 20; at < bytes; at += bytes / 61, tried++) {
    text[at] ^= 0x10;
    FILE *damaged = fopen("damaged.vtkhdf", "wb");
    assert_int_equal(fwrite(text, 1, bytes, damaged), bytes);
    fclose(damaged);
    text[at] ^= 0x10;
    lmi_field_file *opened = NULL;
    lamina_status status = lmi_field_file_open(ctx, "damaged.vtkhdf", &opened);
    const size_t plane = (size_t)(n.x * n.y);
    for (size_t i = 0; i < 2 && status == LAMINA_OK; i++)
      status = lmi_field_file_read(opened, i, (lamina_box){{0, 0, 0}, n},
                                   (double *const[]){values, values + plane, values + 2 * plane});
    refused += status == LAMINA_ERROR_CASE;
    lamina_error_clear(ctx);
    lmi_field_file_close(opened);
  }
  /* Layers of a field in two dimensions say the same; the reader takes one of them and leaves the rest alone. */
  assert_true(refused > tried / 4);
  free(values);
  free(text);
  lmi_levels_free(ctx, &levels);
  lamina_context_destroy(ctx);
}

static void refuses_what_does_not_fit(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lmi_levels levels = make_levels(ctx, true);
  lmi_field_content content = describe(&levels);
  lmi_level_writer *writer = NULL;
  lmi_field_array many[LMI_LEVEL_FILE_MAX_ARRAYS + 1];
  char names[LMI_LEVEL_FILE_MAX_ARRAYS + 1][16];
  for (int i = 0; i <= LMI_LEVEL_FILE_MAX_ARRAYS; i++) {
    snprintf(names[i], sizeof names[i], "a%d", i);
    many[i] = (lmi_field_array){names[i], "", 1, LAMINA_F32};
  }
  content.arrays = many;
  content.array_count = LMI_COUNT(many);
  assert_int_equal(lmi_level_writer_create(ctx, "many.vtkhdf", &content, &levels, &writer), LAMINA_ERROR_ARGUMENT);
  assert_null(writer);
  lamina_error_clear(ctx);
  content = describe(&levels);
  expect_ok(ctx, lmi_level_writer_create(ctx, "partial.vtkhdf", &content, &levels, &writer));
  write_level(ctx, writer, &levels, 1);
  assert_int_equal(lmi_level_writer_finish(writer), LAMINA_ERROR_ARGUMENT); /* planes are missing */
  lmi_level_writer_destroy(writer);
  assert_int_equal(access("partial.vtkhdf", F_OK), -1);
  assert_int_equal(access("partial.vtkhdf.part", F_OK), -1);
  lmi_levels_free(ctx, &levels);
  lamina_context_destroy(ctx);
}

/* ---- out of a solver ---- */

static void wave(void *user, lamina_real3 centre, lamina_cell_state *state)
{
  (void)user;
  state->density = 1.0 + 0.01 * sin(0.3 * centre.x) * cos(0.2 * centre.y);
  state->velocity[0] = 0.05 * sin(0.2 * centre.y + 0.1 * centre.z);
  state->velocity[1] = 0.03 * cos(0.25 * centre.x);
}

typedef struct mean {
  double mass, momentum[3];
  int cells;
} mean;

/* Finest places hold linear functions of a cell; their mean is the cell's own value, which a place of any level must
 * show, refined or not. */
static void check_slab(lamina_context *ctx, const lamina_solver *solver, const lmi_levels *levels, double *planes)
{
  const lamina_solver_options *options = lamina_solver_get_options(solver);
  const bool flat = levels->is_flat;
  const lamina_int3 n = options->cells;
  const size_t box = (size_t)(n.x * n.y * n.z);
  const lamina_fields all = {.density = planes, .velocity = {planes + box, planes + 2 * box, planes + 3 * box}};
  lmi_level_slab *slab = NULL;
  expect_ok(ctx, lamina_solver_read(solver, (lamina_box){{0, 0, 0}, n}, &all));
  expect_ok(ctx, lmi_level_slab_create(solver, &slab));
  for (int64_t index = 0; index < lmi_level_slab_count(slab); index++) {
    expect_ok(ctx, lmi_level_slab_read(slab, index));
    for (int level = 0; level < levels->count; level++) {
      const int64_t *cells = levels->level[level].cells, side = INT64_C(1) << level;
      const int64_t per_slab = INT64_C(1) << (levels->count - 1 - level);
      double *found = planes + 4 * box;
      const size_t area = (size_t)(cells[0] * cells[1]);
      const lamina_fields own = {.density = found, .velocity = {found + area, found + 2 * area, found + 3 * area}};
      for (int64_t place = index * per_slab; place < (index + 1) * per_slab; place++) {
        lmi_level_slab_plane(slab, level, place, &own);
        for (size_t i = 0; i < area; i++) {
          int64_t at[3] = {(int64_t)i % cells[0], (int64_t)i / cells[0], place};
          if (lmi_levels_place(levels, level, at) == LMI_PLACE_COARSER)
            continue;
          mean sum = {0};
          const int64_t x = at[0] * side, y = flat ? place * side : at[1] * side, z = flat ? 0 : place * side;
          for (int64_t c = z; c < z + (flat ? 1 : side); c++)
            for (int64_t b = y; b < y + side; b++)
              for (int64_t a = x; a < x + side; a++, sum.cells++) {
                const size_t cell = (size_t)((c * n.y + b) * n.x + a);
                sum.mass += planes[cell];
                for (int d = 0; d < 3; d++)
                  sum.momentum[d] += planes[cell] * planes[(size_t)(d + 1) * box + cell];
              }
          assert_true(fabs(found[i] - sum.mass / sum.cells) < 1e-13);
          for (int d = 0; d < 3; d++)
            assert_true(fabs(found[(size_t)(d + 1) * area + i] - sum.momentum[d] / sum.mass) < 1e-13);
        }
      }
    }
  }
  lmi_level_slab_destroy(slab);
}

static void shows_what_the_solver_reads(void **state)
{
  (void)state;
  for (int flat = 0; flat < 2; flat++) {
    lamina_context *ctx = make_context();
    if (lmi_require_kernels(ctx) != LAMINA_OK)
      LMI_SKIP("%s", lamina_error_message(ctx));
    const lamina_refinement refinements[] = {
      {.kind = LAMINA_REFINE_BOX, .level = 0, .low = {8, 8, 8}, .high = {16, 12, 14}},
      {.kind = LAMINA_REFINE_BOX, .level = 1, .low = {4, 4, 4}, .high = {20, 24, 20}},
    };
    lamina_solver_options options = lamina_solver_options_default();
    options.lattice = flat ? LAMINA_D2Q9 : LAMINA_D3Q19;
    options.precision = LAMINA_F64;
    options.cells = (lamina_int3){64, 64, flat ? 1 : 48};
    options.omega = 1.6;
    options.force = (lamina_real3){1e-4, -2e-4, flat ? 0.0 : 3e-5};
    options.grid = LAMINA_GRID_LEVELS;
    options.levels = 3;
    options.refinements = refinements;
    options.refinement_count = LMI_COUNT(refinements);
    lamina_solver *solver = NULL;
    expect_ok(ctx, lamina_solver_create(ctx, &options, &solver));
    expect_ok(ctx, lamina_solver_initialise(solver, wave, NULL));
    expect_ok(ctx, lamina_solver_run(solver, 8));
    double *planes = malloc(8 * (size_t)(options.cells.x * options.cells.y * options.cells.z) * sizeof *planes);
    check_slab(ctx, solver, lmi_solver_levels(solver), planes);
    free(planes);
    lamina_solver_destroy(solver);
    lamina_context_destroy(ctx);
  }
}

/* ---- other readers ---- */

static void open_with(const char *reader, const char *const *programs)
{
  lamina_context *ctx = make_context();
  for (int flat = 0; flat < 2; flat++) {
    lmi_levels levels = make_levels(ctx, flat);
    const char *path = flat ? "flat.vtkhdf" : "solid.vtkhdf";
    unlink(path);
    write_file(ctx, &levels, path);
    lmi_levels_free(ctx, &levels);
  }
  lamina_context_destroy(ctx);
  char folder[PATH_MAX], command[3 * PATH_MAX];
  assert_non_null(getcwd(folder, sizeof folder));
  for (size_t i = 0; programs[i] != NULL; i++) {
    snprintf(command, sizeof command, "%s '" LAMINA_SOURCE_DIR "/tests/unit/level_readers.py' %s '%s' 2>levels.err",
             programs[i], reader, folder);
    const int state = system(command);
    assert_true(WIFEXITED(state));
    const int code = WEXITSTATUS(state);
    if (code == 0)
      return;
    if (code != 77 && code != 127)
      fail_msg("%s says the file is wrong (%d); see levels.err", programs[i], code);
  }
  LMI_SKIP("no %s that can read these files", reader);
}

static void opens_in_h5py(void **state)
{
  (void)state;
  open_with("h5py", (const char *const[]){"/usr/bin/python3", "python3", NULL});
}

static void opens_in_vtk(void **state)
{
  (void)state;
  const char *chosen = getenv("LAMINA_VTK_PYTHON");
  open_with("vtk", (const char *const[]){chosen != NULL ? chosen : "python3", "/usr/bin/python3", "pvpython", NULL});
}

static void opens_in_paraview(void **state)
{
  (void)state;
  open_with("paraview", (const char *const[]){"pvpython", NULL});
}

LMI_TEST_MAIN(cmocka_unit_test(boxes_cover_each_cell_once), cmocka_unit_test(reads_as_finest_cells),
              cmocka_unit_test(notices_damage), cmocka_unit_test(refuses_what_does_not_fit),
              cmocka_unit_test(shows_what_the_solver_reads), cmocka_unit_test(opens_in_h5py),
              cmocka_unit_test(opens_in_vtk), cmocka_unit_test(opens_in_paraview))
