/* SPDX-License-Identifier: Apache-2.0 */
/* Case files: what is read from a good one, and that each kind of bad one ends in one line that names file, line,
 * value, what is allowed, and the way out. */
#define _GNU_SOURCE
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lamina/case.h>

#include "io/case_file.h"
#include "support/failing_allocator.h"

/* Lines 1 to 12; tests put their own behind, or take a line out of it by an override. */
#define GOOD                      \
  "title: Box\n"                  \
  "domain:\n"                     \
  "  cells: [32, 32]\n"           \
  "  length: 100 mm\n"            \
  "fluid:\n"                      \
  "  reynolds: 100\n"             \
  "  speed: 1 m/s\n"              \
  "boundaries:\n"                 \
  "  all: wall\n"                 \
  "  y+: {moving_wall: [1, 0]}\n" \
  "run:\n"                        \
  "  until: 0.5 s\n"

static void write_file(const char *name, const char *text, size_t length)
{
  FILE *file = fopen(name, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static lamina_context *make_context(void)
{
  lamina_context_options options = lamina_context_options_default();
  options.threads = 1;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  return ctx;
}

static lamina_case *load(lamina_context *ctx, const char *text, const char *const *overrides, size_t count)
{
  write_file("good.yaml", text, strlen(text));
  lamina_case *flow = NULL;
  const lamina_status status = lamina_case_load(ctx, "good.yaml", overrides, count, &flow);
  if (status != LAMINA_OK)
    print_message("%s\n", lamina_error_message(ctx));
  assert_int_equal(status, LAMINA_OK);
  return flow;
}

/* The message must begin with `place` and hold each of the words. */
static void expect_refusal(const char *path, const char *const *overrides, size_t count, const char *place,
                           const char *const *words)
{
  lamina_context *ctx = make_context();
  lamina_case *flow = (lamina_case *)&ctx;
  const lamina_status status = lamina_case_load(ctx, path, overrides, count, &flow);
  const char *message = lamina_error_message(ctx);
  print_message("%d %s\n", (int)status, message);
  assert_int_equal(status, LAMINA_ERROR_CASE);
  assert_null(flow);
  assert_ptr_equal(strstr(message, place), message);
  assert_null(strchr(message, '\n'));
  for (; *words != NULL; words++)
    if (strstr(message, *words) == NULL)
      fail_msg("the message lacks '%s'", *words);
  lamina_context_destroy(ctx);
}

/* ---- good ---- */

static void reads_values_units_and_defaults(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_case *flow = load(ctx, GOOD, NULL, 0);
  const lamina_units *units = lamina_case_units(flow);
  const lamina_solver_options *solver = lamina_case_solver_options(flow);
  assert_string_equal(lamina_case_title(flow), "Box");
  assert_true(fabs(units->cell_size - 0.1 / 32) < 1e-18);
  assert_true(fabs(units->viscosity - 1e-3) < 1e-18);
  assert_int_equal(solver->lattice, LAMINA_D2Q9);
  assert_int_equal(solver->cells.z, 1);
  assert_int_equal(solver->faces[LAMINA_FACE_Y_HIGH].kind, LAMINA_FACE_WALL);
  assert_true(fabs(solver->faces[LAMINA_FACE_Y_HIGH].velocity.x - units->lattice_speed) < 1e-15);
  assert_int_equal(solver->faces[LAMINA_FACE_Z_LOW].kind, LAMINA_FACE_PERIODIC);
  assert_int_equal(lamina_case_steps(flow), (lamina_index)llround(0.5 / units->time_step));
  lamina_case_destroy(flow);
  lamina_context_destroy(ctx);
}

static void overrides_are_laid_over_the_file(void **state)
{
  (void)state;
  const char *const overrides[] = {"fluid.reynolds=null", "fluid.viscosity=2e-3 m2/s", "domain.cells=[16, 16, 16]",
                                   "lattice=d3q27", "threads=3"};
  lamina_context *ctx = make_context();
  lamina_case *flow = load(ctx, GOOD, overrides, LMI_COUNT(overrides));
  assert_true(fabs(lamina_case_units(flow)->reynolds - 50.0) < 1e-12);
  assert_int_equal(lamina_case_solver_options(flow)->lattice, LAMINA_D3Q27);
  assert_int_equal(lamina_case_threads(flow), 3);
  lamina_case_destroy(flow);
  lamina_context_destroy(ctx);
}

/* As editors of another system save it. */
static void a_byte_order_mark_is_skipped(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_case *flow = load(ctx, "\xEF\xBB\xBF" GOOD, NULL, 0);
  assert_string_equal(lamina_case_title(flow), "Box");
  lamina_case_destroy(flow);
  lamina_context_destroy(ctx);
}

static void one_hash_for_one_input(void **state)
{
  (void)state;
  const char *const output_only[] = {"run.until=1 s", "layout=soa", "threads=2"};
  const char *const physics[] = {"fluid.reynolds=101"};
  lamina_context *ctx = make_context();
  lamina_case *plain = load(ctx, GOOD, NULL, 0);
  lamina_case *longer = load(ctx, GOOD, output_only, LMI_COUNT(output_only));
  lamina_case *other = load(ctx, GOOD, physics, LMI_COUNT(physics));
  assert_string_equal(plain->physics_hash, longer->physics_hash);
  assert_string_not_equal(plain->physics_hash, other->physics_hash);
  assert_string_not_equal(plain->text_hash, longer->text_hash);
  lamina_case_destroy(plain);
  lamina_case_destroy(longer);
  lamina_case_destroy(other);
  lamina_context_destroy(ctx);
}

static void a_shipped_case_loads(const char *name)
{
  char path[512];
  snprintf(path, sizeof path, "%s/cases/%s", LAMINA_SOURCE_DIR, name);
  lamina_context *ctx = make_context();
  lamina_case *flow = NULL;
  const lamina_status status = lamina_case_load(ctx, path, NULL, 0, &flow);
  if (status != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  lamina_case_destroy(flow);
  lamina_context_destroy(ctx);
}

static void every_shipped_case_loads(void **state)
{
  (void)state;
  static const char *const NAMES[] = {
    "cavity2d.yaml",        "cavity2d-re1000.yaml", "cavity2d-re3200.yaml", "cavity3d.yaml", "poiseuille.yaml",
    "poiseuille-bgk.yaml",  "couette.yaml",         "stokes2.yaml",         "duct.yaml",     "taylor_green_2d.yaml",
    "taylor_green_3d.yaml", "shear_layer.yaml",     "galilean.yaml",
  };
  for (size_t i = 0; i < LMI_COUNT(NAMES); i++)
    a_shipped_case_loads(NAMES[i]);
}

/* ---- bad texts ---- */

typedef struct bad_text {
  const char *added; /* behind GOOD, from line 13 on; or the whole text when it begins with '=' */
  const char *place;
  const char *words[4]; /* NULL-terminated */
} bad_text;

static const bad_text BAD_TEXTS[] = {
  {"colour: red\n", "bad.yaml:13:", {"unknown key 'colour'", "domain"}},
  {"latice: d2q9\n", "bad.yaml:13:", {"did you mean 'lattice'"}},
  {"title: Again\n", "bad.yaml:13:", {"title: given twice", "line 1"}},
  {"lattice: d3q15\n", "bad.yaml:13:", {"lattice: 'd3q15'", "d2q9, d3q19, d3q27"}},
  {"lattice: [d2q9]\n", "bad.yaml:13:", {"lattice: a list", "d3q27"}},
  {"lattice: d3q19\n", "bad.yaml:3:", {"domain.cells", "three-dimensional"}},
  {"force: 3\n", "bad.yaml:13:", {"force: '3' is not a list"}},
  {"force: [1, nan]\n", "bad.yaml:13:", {"force.1: 'nan' is not a finite number"}},
  {"force: [1, 1e400]\n", "bad.yaml:13:", {"'1e400' is not a finite number"}},
  {"force: [1, 2, 3, 4]\n", "bad.yaml:13:", {"more than three"}},
  {"force: ['9.81 km/h', 0]\n", "bad.yaml:13:", {"unknown unit", "m/s2"}},
  {"magic: 0.25\n", "bad.yaml:13:", {"magic", "trt"}},
  {"smagorinsky: -0.1\n", "bad.yaml:13:", {"smagorinsky: -0.1 is outside (0, 1]"}},
  {"collision: trt\nsmagorinsky: 0.1\n", "bad.yaml:14:", {"bgk only"}},
  {"precision: f16\n", "bad.yaml:13:", {"f32, f64"}},
  {"storage: f16\n", "bad.yaml:13:", {"backend cuda", "f32 on cpu"}},
  {"threads: 2.5\n", "bad.yaml:13:", {"threads: 2.5 is not a whole number"}},
  {"threads: 0\n", "bad.yaml:13:", {"[1, 4096]"}},
  {"threads: 99999999999999999999\n", "bad.yaml:13:", {"[1, 4096]"}},
  {"partitions: 33\n", "bad.yaml:13:", {"33 slabs for 32 planes", "at most 32"}},
  {"backend: opencl\n", "bad.yaml:13:", {"'opencl' is not one of: cpu"}},
  {"lattice_speed: 1.0\n", "bad.yaml:13:", {"Mach 1.73", "lower lattice_speed"}},
  {"lattice_speed: 0.1\nrelaxation_time: 0.6\n", "bad.yaml:14:", {"keep one"}},
  {"relaxation_time: 0.5\n", "bad.yaml:13:", {"(0.5, 100]"}},
  {"initial: turbulent\n", "bad.yaml:13:", {"taylor_green"}},
  {"initial: taylor_green\n", "bad.yaml:13:", {"all: periodic"}},
  {"initial: {kind: uniform}\n", "bad.yaml:13:", {"velocity"}},
  {"initial: {velocity: [1, 0]}\n", "bad.yaml:13:", {"kind is missing"}},
  {"output: speed\n", "bad.yaml:13:", {"is not a list"}},
  {"output:\n  - {}\n", "bad.yaml:14:", {"fields, slice, profile, series"}},
  {"output:\n  - {fields: [vorticity]}\n", "bad.yaml:14:", {"output.0.fields.0", "velocity, pressure"}},
  {"output:\n  - {fields: [velocity], series: [mass]}\n", "bad.yaml:14:", {"make two entries"}},
  {"output:\n  - {slice: {}}\n", "bad.yaml:14:", {"image"}},
  {"output:\n  - {slice: {z: 1}, image: speed}\n", "bad.yaml:14:", {"two dimensions"}},
  {"output:\n  - {profile: {x: 1 m}, value: speed}\n", "bad.yaml:14:", {"outside the domain [0, 0.1] m"}},
  {"output:\n  - {profile: {x: 0.05}, compare: ghia-re400-u}\n", "bad.yaml:14:", {"Reynolds number 400"}},
  {"output:\n  - {profile: {x: 0.05}, compare: gia-u}\n", "bad.yaml:14:", {"no reference data"}},
  {"output:\n  - {compare: poisuille}\n", "bad.yaml:14:", {"did you mean 'poiseuille'"}},
  {"output:\n  - {fields: [velocity], every: 0 s}\n", "bad.yaml:14:", {"(0, 1e+12]"}},
  {"output:\n  - {fields: [velocity], every: 1 s, at: end}\n", "bad.yaml:14:", {"exclude each other"}},
  {"output:\n  - {fields: [velocity], at: 99 s}\n", "bad.yaml:14:", {"behind the end of the run"}},
  {"output:\n  - {fields: [velocity], gate: 1}\n", "bad.yaml:14:", {"compare"}},
  {"output:\n  - {slice: {}, image: speed, range: [2, 1]}\n", "bad.yaml:14:", {"low < high"}},
  {"output:\n  - {order: taylor_green}\n", "bad.yaml:14:", {"sizes go together"}},
  {"output:\n  - {order: taylor_green, sizes: [32, 16]}\n", "bad.yaml:14:", {"must rise"}},
  {"output:\n  - {order: taylor_green, sizes: 16}\n", "bad.yaml:14:", {"two sizes or more"}},
  {"checkpoint: {every: soon}\n", "bad.yaml:13:", {"'soon' is not a number"}},
  {"checkpoint: 10 s\n", "bad.yaml:13:", {"is not a map"}},
  {"a: &x 1\nb: *x\n", "bad.yaml:13:", {"anchors"}},
  {"a: !!python/object 1\n", "bad.yaml:13:", {"tags"}},
  {"---\ntitle: Two\n", "bad.yaml:13:", {"second document"}},
  {"output: [1, 2\n", "bad.yaml:14:", {"not valid YAML", "line 13"}},
  {"\tlattice: d2q9\n", "bad.yaml:13:", {"not valid YAML"}},
  {"? [a, b]\n: 1\n", "bad.yaml:13:", {"where a key belongs"}},
  {"output: [[[[[[[[[[[[[[1]]]]]]]]]]]]]]\n", "bad.yaml:13:", {"nested too deeply"}},
  {"=title: x\n", "bad.yaml:1:", {"domain.cells is missing", "cells: [nx, ny]"}},
  {"=- 1\n- 2\n", "bad.yaml:1:", {"a list, not a map"}},
  {"=just words\n", "bad.yaml:1:", {"not a map"}},
  {"=\n", "bad.yaml: empty", {"domain"}},
  {"=# only a remark\n", "bad.yaml: empty", {"domain"}},
  {"=title: \xff\xfe\n", "bad.yaml: not plain text", {"UTF-8"}},
};

static void each_bad_text_is_refused_with_its_line(void **state)
{
  (void)state;
  for (size_t i = 0; i < LMI_COUNT(BAD_TEXTS); i++) {
    const bad_text *bad = &BAD_TEXTS[i];
    char text[2048];
    const bool is_whole = bad->added[0] == '=';
    snprintf(text, sizeof text, "%s%s", is_whole ? "" : GOOD, bad->added + is_whole);
    write_file("bad.yaml", text, strlen(text));
    expect_refusal("bad.yaml", NULL, 0, bad->place, bad->words);
  }
}

typedef struct bad_override {
  const char *texts[2];
  const char *words[4];
} bad_override;

static const bad_override BAD_OVERRIDES[] = {
  {{"fluid.reynolds"}, {"is not KEY=VALUE"}},
  {{"=3"}, {"is not KEY=VALUE"}},
  {{"fluid..speed=3"}, {"empty key"}},
  {{"fluid.reynolds="}, {"no value"}},
  {{"fluid.reynold=3"}, {"--set: fluid: unknown key", "did you mean 'reynolds'"}},
  {{"fluid.reynolds=-3"}, {"--set: fluid.reynolds: -3 is outside (0, 1e+12]"}},
  {{"fluid.viscosity=1"}, {"reynolds is given too"}},
  {{"fluid.speed=0"}, {"(0, 1e+12]"}},
  {{"domain.cells=[0, 4]"}, {"domain.cells.0: 0 is outside [1, 16777216]"}},
  {{"domain.cells=[-5, 4]"}, {"-5 is outside"}},
  {{"domain.cells=[4]"}, {"a list of 1"}},
  {{"domain.cells=[16777216, 16777216]"}, {"cells in all", "2^40"}},
  {{"domain.cells=[18446744073709551617, 2]"}, {"outside"}},
  {{"domain.length=0 m"}, {"outside"}},
  {{"run.until=10 parsec"}, {"unknown unit", "s, ms"}},
  {{"run.until=1,5 s"}, {"is not a number"}},
  {{"run.steps=10"}, {"until is given too"}},
  {{"run.until=null"}, {"run.until is missing", "steady"}},
  {{"boundaries.x-=periodic"}, {"x- is periodic, x+ is not"}},
  {{"boundaries.all=null"}, {"boundaries.x- is missing", "each face needs one"}},
  {{"boundaries.all={moving_wall: [1, 0]}"}, {"a moving wall on all faces"}},
  {{"boundaries.y+={moving_wall: [1, 1]}"}, {"out of its own plane"}},
  {{"boundaries.y+={oscillating_wall: {velocity: [1, 0]}}"}, {"needs both"}},
  {{"boundaries.y+=open"}, {"'open' is no boundary", "wall, periodic"}},
  {{"boundaries.z-=wall"}, {"two dimensions"}},
  {{"fluid.reynolds=1e12"}, {"f32 arithmetic cannot tell from 1/2"}},
  {{"--partitions=99"}, {"--partitions: partitions: 99 slabs"}},
  {{"--layout=tiled"}, {"--layout: layout: 'tiled'"}},
  {{"output.0.every=1 s"}, {"output: a map is not a list"}},
};

static void each_bad_override_is_refused(void **state)
{
  (void)state;
  write_file("base.yaml", GOOD, strlen(GOOD));
  for (size_t i = 0; i < LMI_COUNT(BAD_OVERRIDES); i++)
    expect_refusal("base.yaml", BAD_OVERRIDES[i].texts, 1,
                   strstr(BAD_OVERRIDES[i].words[0], "missing") != NULL ||
                       strstr(BAD_OVERRIDES[i].words[0], "each face") != NULL
                     ? "base.yaml:"
                     : "",
                   BAD_OVERRIDES[i].words);
}

/* ---- bad files ---- */

static void folders_devices_and_absent_files_are_refused(void **state)
{
  (void)state;
  mkdir("folder.yaml", 0777);
  mkfifo("fifo.yaml", 0666);
  expect_refusal("folder.yaml", NULL, 0, "folder.yaml:", (const char *const[]){"a folder", NULL});
  expect_refusal("fifo.yaml", NULL, 0, "fifo.yaml:", (const char *const[]){"not a regular file", NULL});
  expect_refusal("absent.yaml", NULL, 0, "absent.yaml:", (const char *const[]){"No such file", NULL});
  expect_refusal("", NULL, 0, "", (const char *const[]){"No such file", NULL});
}

static void binary_and_huge_files_are_refused(void **state)
{
  (void)state;
  write_file("binary.yaml", "title\0: x\n", 10);
  expect_refusal("binary.yaml", NULL, 0, "binary.yaml:", (const char *const[]){"binary file", NULL});
  expect_refusal(LAMINA_PROGRAM, NULL, 0, LAMINA_PROGRAM, (const char *const[]){"at most 1048576 bytes", NULL});
  write_file("huge.yaml", "x", 1);
  assert_int_equal(truncate("huge.yaml", (off_t)1 << 40), 0);
  expect_refusal("huge.yaml", NULL, 0, "huge.yaml:", (const char *const[]){"1099511627776 bytes", NULL});
}

/* ---- allocation ---- */

static bool load_with_failing_allocation(uint64_t n)
{
  lmi_failing_allocator heap = lmi_failing_allocator_make(n);
  const lamina_allocator interface = lmi_failing_allocator_interface(&heap);
  lamina_context_options options = lamina_context_options_default();
  options.threads = 1;
  options.allocator = &interface;
  lamina_context *ctx = NULL;
  if (lamina_context_create(&options, &ctx) == LAMINA_OK) {
    const char *const overrides[] = {"fluid.reynolds=200", "output=[{series: [mass], every: 1 s}]"};
    lamina_case *flow = NULL;
    const lamina_status status = lamina_case_load(ctx, "good.yaml", overrides, 2, &flow);
    assert_true(status == (heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK));
    lamina_case_destroy(flow);
  }
  lamina_context_destroy(ctx);
  assert_int_equal(heap.live, 0);
  return heap.has_failed;
}

static void each_failed_allocation_ends_cleanly(void **state)
{
  (void)state;
  write_file("good.yaml", GOOD, strlen(GOOD));
  uint64_t n = 1;
  while (load_with_failing_allocation(n))
    n++;
  assert_true(n > 20);
}

LMI_TEST_MAIN(cmocka_unit_test(reads_values_units_and_defaults), cmocka_unit_test(overrides_are_laid_over_the_file),
              cmocka_unit_test(a_byte_order_mark_is_skipped), cmocka_unit_test(one_hash_for_one_input),
              cmocka_unit_test(every_shipped_case_loads), cmocka_unit_test(each_bad_text_is_refused_with_its_line),
              cmocka_unit_test(each_bad_override_is_refused),
              cmocka_unit_test(folders_devices_and_absent_files_are_refused),
              cmocka_unit_test(binary_and_huge_files_are_refused),
              cmocka_unit_test(each_failed_allocation_ends_cleanly))
