/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: a resumed run has the bits of an unbroken one, and nothing but the right file is taken. */
#include "support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/base.h"
#include "io/checkpoint.h"
#include "io/safe_file.h"
#include "support/failing_allocator.h"

static void expect_ok(lamina_context *ctx, lamina_status status)
{
  if (status != LAMINA_OK)
    fail_msg("status %d: %s", status, lamina_error_message(ctx));
}

static lamina_context *make_context(void)
{
  const lamina_context_options options = {.threads = 1};
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  if (lmi_require_kernels(ctx) != LAMINA_OK)
    LMI_SKIP("%s", lamina_error_message(ctx));
  return ctx;
}

static lamina_solver_options cavity(lamina_lattice lattice, lamina_precision precision)
{
  lamina_solver_options options = lamina_solver_options_default();
  options.cells = (lamina_int3){12, 10, lattice == LAMINA_D2Q9 ? 1 : 7};
  options.lattice = lattice;
  options.precision = precision;
  options.omega = 1.7;
  options.faces[LAMINA_FACE_Y_LOW].kind = LAMINA_FACE_WALL;
  options.faces[LAMINA_FACE_Y_HIGH] = (lamina_face){.kind = LAMINA_FACE_WALL, .velocity = {0.05, 0.0, 0.0}};
  return options;
}

static lamina_solver *make_solver(lamina_context *ctx, const lamina_solver_options *options)
{
  lamina_solver *solver = NULL;
  expect_ok(ctx, lamina_solver_create(ctx, options, &solver));
  return solver;
}

/* All populations of two solvers, byte for byte. */
static void expect_same_bits(lamina_context *ctx, const lamina_solver *a, const lamina_solver *b)
{
  const size_t bytes = (size_t)lamina_solver_plane_bytes(a);
  unsigned char *left = NULL, *right = NULL;
  expect_ok(ctx, LMI_ALLOC(ctx, bytes, &left));
  expect_ok(ctx, LMI_ALLOC(ctx, bytes, &right));
  for (lamina_index p = 0; p < lamina_solver_plane_count(a); p++) {
    expect_ok(ctx, lamina_solver_get_plane(a, p, left));
    expect_ok(ctx, lamina_solver_get_plane(b, p, right));
    assert_memory_equal(left, right, bytes);
  }
  lmi_free(ctx, left);
  lmi_free(ctx, right);
}

static const lmi_checkpoint_note note = {.case_hash = "a1b2", .state = "{\"next_output\": 3}", .time = 0.5};

/* K1-20, with an odd number of steps before the break, and another number of partitions behind it. */
static void resume(lamina_lattice lattice, lamina_precision precision)
{
  lamina_context *ctx = make_context();
  lamina_solver_options options = cavity(lattice, precision);
  lamina_solver *unbroken = make_solver(ctx, &options);
  expect_ok(ctx, lamina_solver_run(unbroken, 37));
  expect_ok(ctx, lmi_checkpoint_write(ctx, "c.lamina", unbroken, &note));
  expect_ok(ctx, lamina_solver_run(unbroken, 40));

  options.partitions = 3;
  lamina_solver *resumed = make_solver(ctx, &options);
  lmi_checkpoint *checkpoint = NULL;
  expect_ok(ctx, lmi_checkpoint_open(ctx, "c.lamina", &checkpoint));
  const lmi_checkpoint_content *content = lmi_checkpoint_get_content(checkpoint);
  assert_int_equal(content->step, 37);
  assert_string_equal(content->note.state, note.state);
  assert_string_equal(content->note.case_hash, note.case_hash);
  assert_true(content->note.time == note.time);
  assert_int_equal(content->solver.cells.y, 10);
  assert_int_equal(content->solver.lattice, lattice);
  expect_ok(ctx, lmi_checkpoint_restore(checkpoint, resumed, "a1b2"));
  lmi_checkpoint_close(checkpoint);
  assert_int_equal(lamina_solver_step(resumed), 37);
  expect_ok(ctx, lamina_solver_run(resumed, 40));
  expect_same_bits(ctx, unbroken, resumed);
  lamina_solver_destroy(resumed);
  lamina_solver_destroy(unbroken);
  lamina_context_destroy(ctx);
}

static void resumes_d2q9_f64(void **state)
{
  (void)state;
  resume(LAMINA_D2Q9, LAMINA_F64);
}

static void resumes_d3q19_f32(void **state)
{
  (void)state;
  resume(LAMINA_D3Q19, LAMINA_F32);
}

static void resumes_d3q27_f64(void **state)
{
  (void)state;
  resume(LAMINA_D3Q27, LAMINA_F64);
}

static void expect_refused(lamina_context *ctx, const lamina_solver_options *options, const char *hash,
                           const char *words)
{
  lamina_solver *solver = make_solver(ctx, options);
  lmi_checkpoint *checkpoint = NULL;
  expect_ok(ctx, lmi_checkpoint_open(ctx, "c.lamina", &checkpoint));
  lamina_error_clear(ctx);
  assert_int_equal(lmi_checkpoint_restore(checkpoint, solver, hash), LAMINA_ERROR_CASE);
  if (strstr(lamina_error_message(ctx), words) == NULL)
    fail_msg("'%s' does not say '%s'", lamina_error_message(ctx), words);
  lamina_error_clear(ctx);
  lmi_checkpoint_close(checkpoint);
  lamina_solver_destroy(solver);
}

static void refuses_another_case(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  const lamina_solver_options options = cavity(LAMINA_D3Q19, LAMINA_F32);
  lamina_solver *solver = make_solver(ctx, &options);
  expect_ok(ctx, lmi_checkpoint_write(ctx, "c.lamina", solver, &note));
  lamina_solver_destroy(solver);

  lamina_solver_options other = options;
  other.cells.x = 13;
  expect_refused(ctx, &other, "a1b2", "12 x 10 x 7 cells, this run has 13 x 10 x 7");
  other = options;
  other.lattice = LAMINA_D3Q27;
  expect_refused(ctx, &other, "a1b2", "lattice d3q19, this run has d3q27");
  other = options;
  other.collision = LAMINA_TRT;
  expect_refused(ctx, &other, "a1b2", "collision bgk, this run has trt");
  other = options;
  other.precision = LAMINA_F64;
  expect_refused(ctx, &other, "a1b2", "precision f32, this run has f64");
  other = options;
  other.omega = 1.6;
  expect_refused(ctx, &other, "a1b2", "omega 1.7");
  other = options;
  other.faces[LAMINA_FACE_X_LOW].kind = other.faces[LAMINA_FACE_X_HIGH].kind = LAMINA_FACE_WALL;
  expect_refused(ctx, &other, "a1b2", "boundary x-");
  expect_refused(ctx, &options, "ffff", "another case (a1b2, this one is ffff)");
  lamina_context_destroy(ctx);
}

static void put(const char *path, const void *data, size_t bytes)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, bytes, file), bytes);
  assert_int_equal(fclose(file), 0);
}

static lamina_status open_and_restore(lamina_context *ctx, const char *path, lamina_solver *solver)
{
  lmi_checkpoint *checkpoint = NULL;
  lamina_error_clear(ctx);
  lamina_status status = lmi_checkpoint_open(ctx, path, &checkpoint);
  if (status == LAMINA_OK)
    status = lmi_checkpoint_restore(checkpoint, solver, NULL);
  lmi_checkpoint_close(checkpoint);
  return status;
}

static void refuses_any_cut_and_any_changed_byte(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_solver_options options = cavity(LAMINA_D2Q9, LAMINA_F32);
  lamina_solver *solver = make_solver(ctx, &options);
  expect_ok(ctx, lmi_checkpoint_write(ctx, "c.lamina", solver, &note));
  char *bytes = NULL;
  size_t count = 0;
  expect_ok(ctx, lmi_file_read_all(ctx, "c.lamina", 1 << 20, &bytes, &count));
  const size_t seal = strlen(bytes);
  for (size_t at = 0; at < count; at += at < seal ? 3 : 101) {
    if (at >= seal && at < 4096)
      at = 4096; // the padding of the seal carries nothing
    put("d.lamina", bytes, at);
    assert_int_equal(open_and_restore(ctx, "d.lamina", solver), LAMINA_ERROR_CASE);
    const char kept = bytes[at];
    bytes[at] = (char)(kept ^ 8);
    put("d.lamina", bytes, count);
    if (open_and_restore(ctx, "d.lamina", solver) != LAMINA_ERROR_CASE)
      fail_msg("byte %zu was changed and nobody saw it", at);
    bytes[at] = kept;
  }
  memcpy(bytes, "LAMINA checkpoint 7", 19);
  put("d.lamina", bytes, count);
  assert_int_equal(open_and_restore(ctx, "d.lamina", solver), LAMINA_ERROR_CASE);
  assert_non_null(strstr(lamina_error_message(ctx), "use a newer lamina"));
  assert_int_equal(open_and_restore(ctx, "none.lamina", solver), LAMINA_ERROR_FILE);
  lmi_free(ctx, bytes);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

static void keeps_the_old_one_when_the_new_one_fails(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_solver_options options = cavity(LAMINA_D3Q19, LAMINA_F64);
  lamina_solver *solver = make_solver(ctx, &options);
  expect_ok(ctx, lmi_checkpoint_write(ctx, "c.lamina", solver, &note));
  expect_ok(ctx, lamina_solver_run(solver, 1));
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const struct rlimit small = {.rlim_cur = 8192, .rlim_max = limit.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  const lamina_status status = lmi_checkpoint_write(ctx, "c.lamina", solver, &note);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  assert_int_equal(status, LAMINA_ERROR_FILE);
  assert_non_null(strstr(lamina_error_message(ctx), "c.lamina"));
  assert_int_not_equal(access("c.lamina.part", F_OK), 0);
  assert_int_equal(open_and_restore(ctx, "c.lamina", solver), LAMINA_OK);
  assert_int_equal(lamina_solver_step(solver), 0);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

/* A killed writer leaves a .part behind; the next one takes it over. */
static void takes_over_what_a_killed_writer_left(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_solver_options options = cavity(LAMINA_D2Q9, LAMINA_F64);
  lamina_solver *solver = make_solver(ctx, &options);
  put("e.lamina.part", "half a checkpoint", 17);
  expect_ok(ctx, lmi_checkpoint_write(ctx, "e.lamina", solver, &note));
  assert_int_not_equal(access("e.lamina.part", F_OK), 0);
  assert_int_equal(open_and_restore(ctx, "e.lamina", solver), LAMINA_OK);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

static void refuses_a_state_that_is_too_long(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_solver_options options = cavity(LAMINA_D2Q9, LAMINA_F64);
  lamina_solver *solver = make_solver(ctx, &options);
  char *text = NULL;
  expect_ok(ctx, LMI_ALLOC(ctx, 70001, &text));
  memset(text, 'x', 70000);
  unlink("long.lamina");
  const lmi_checkpoint_note long_note = {.case_hash = "", .state = text};
  assert_int_equal(lmi_checkpoint_write(ctx, "long.lamina", solver, &long_note), LAMINA_ERROR_ARGUMENT);
  assert_int_not_equal(access("long.lamina", F_OK), 0);
  lmi_free(ctx, text);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

static void survives_failing_allocations(void **state)
{
  (void)state;
  lamina_context *plain = make_context();
  const lamina_solver_options options = cavity(LAMINA_D2Q9, LAMINA_F32);
  lamina_solver *solver = make_solver(plain, &options);
  for (uint64_t n = 1; n < 1000; n++) {
    lmi_failing_allocator heap = lmi_failing_allocator_make(n);
    const lamina_allocator interface = lmi_failing_allocator_interface(&heap);
    const lamina_context_options choice = {.allocator = &interface};
    lamina_context *ctx = NULL;
    if (lamina_context_create(&choice, &ctx) == LAMINA_OK) {
      lamina_status status = lmi_checkpoint_write(ctx, "c.lamina", solver, &note);
      if (status == LAMINA_OK)
        status = open_and_restore(ctx, "c.lamina", solver);
      assert_int_equal(status, heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    }
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    if (!heap.has_failed)
      break;
    assert_true(n < 999);
  }
  lamina_solver_destroy(solver);
  lamina_context_destroy(plain);
}

/* ---- levels ---- */

static const lamina_refinement REFINED[] = {
  {.kind = LAMINA_REFINE_WALLS, .level = 0, .distance = 3},
  {.kind = LAMINA_REFINE_BOX, .level = 0, .low = {20, 20, 20}, .high = {26, 24, 24}},
  {.kind = LAMINA_REFINE_WALLS, .level = 1, .distance = 8},
};

static lamina_solver_options cavity_on_levels(lamina_lattice lattice, lamina_precision precision)
{
  lamina_solver_options options = cavity(lattice, precision);
  options.cells = (lamina_int3){64, 48, lattice == LAMINA_D2Q9 ? 1 : 40};
  options.grid = LAMINA_GRID_LEVELS;
  options.levels = 3;
  options.refinements = REFINED;
  options.refinement_count = LMI_COUNT(REFINED);
  return options;
}

static long file_bytes(const char *path)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  const long bytes = ftell(file);
  fclose(file);
  return bytes;
}

/* An odd number of coarsest steps before the break, other partitions behind it; and no more than the cells there are.
 */
static void resume_levels(lamina_lattice lattice, lamina_precision precision)
{
  lamina_context *ctx = make_context();
  lamina_solver_options options = cavity_on_levels(lattice, precision);
  lamina_solver *unbroken = make_solver(ctx, &options);
  expect_ok(ctx, lamina_solver_run(unbroken, 12));
  expect_ok(ctx, lmi_checkpoint_write(ctx, "l.lamina", unbroken, &note));
  lamina_solver_info info;
  lamina_solver_get_info(unbroken, &info);
  const double cell = (double)lamina_lattice_velocities(lattice) * (precision == LAMINA_F64 ? 8 : 4);
  const double planes = 4.0 * (double)(options.cells.x + options.cells.y + options.cells.z);
  assert_true((double)file_bytes("l.lamina") < cell * (double)info.cells + 8.0 * planes + 32768.0);
  expect_ok(ctx, lamina_solver_run(unbroken, 20));

  options.partitions = 3;
  lamina_solver *resumed = make_solver(ctx, &options);
  lmi_checkpoint *checkpoint = NULL;
  expect_ok(ctx, lmi_checkpoint_open(ctx, "l.lamina", &checkpoint));
  expect_ok(ctx, lamina_solver_run(resumed, 4)); /* what it did before does not matter */
  expect_ok(ctx, lmi_checkpoint_restore(checkpoint, resumed, "a1b2"));
  lmi_checkpoint_close(checkpoint);
  assert_int_equal(lamina_solver_step(resumed), 12);
  expect_ok(ctx, lamina_solver_run(resumed, 20));
  expect_same_bits(ctx, unbroken, resumed);
  lamina_solver_destroy(resumed);
  lamina_solver_destroy(unbroken);
  lamina_context_destroy(ctx);
}

static void resumes_levels_d2q9_f64(void **state)
{
  (void)state;
  resume_levels(LAMINA_D2Q9, LAMINA_F64);
}

static void resumes_levels_d3q19_f32(void **state)
{
  (void)state;
  resume_levels(LAMINA_D3Q19, LAMINA_F32);
}

static void save(lamina_context *ctx, const lamina_solver_options *options)
{
  lamina_solver *solver = make_solver(ctx, options);
  expect_ok(ctx, lmi_checkpoint_write(ctx, "c.lamina", solver, &note));
  lamina_solver_destroy(solver);
}

static void refuses_other_levels(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  lamina_refinement moved[LMI_COUNT(REFINED)];
  memcpy(moved, REFINED, sizeof moved);
  const lamina_solver_options levels = cavity_on_levels(LAMINA_D2Q9, LAMINA_F64);
  lamina_solver_options other = levels, box = levels;
  box.grid = LAMINA_GRID_DENSE;
  save(ctx, &levels);
  expect_refused(ctx, &box, "a1b2", "it was written with grid levels, this run has grid dense");
  other.level_scheme = LAMINA_LEVELS_VOLUMETRIC;
  expect_refused(ctx, &other, "a1b2", "it was written with level scheme packets, this run has volumetric");
  other = levels;
  other.levels = 2;
  other.refinement_count = 2;
  expect_refused(ctx, &other, "a1b2", "it was written with 3 levels, this run has 2");
  other = levels;
  other.refinements = moved;
  moved[1].low[0] += 8;
  moved[1].high[0] += 8;
  expect_refused(ctx, &other, "a1b2", "in other places");
  moved[0].distance = 6;
  expect_refused(ctx, &other, "a1b2", "its level 0 has");
  save(ctx, &box);
  expect_refused(ctx, &levels, "a1b2", "it holds one box of cells");
  lamina_context_destroy(ctx);
}

static void refuses_damaged_levels(void **state)
{
  (void)state;
  lamina_context *ctx = make_context();
  const lamina_solver_options options = cavity_on_levels(LAMINA_D2Q9, LAMINA_F32);
  save(ctx, &options);
  lamina_solver *solver = make_solver(ctx, &options);
  const long bytes = file_bytes("c.lamina");
  FILE *file = fopen("c.lamina", "r+b");
  /* Behind the text of the seal its block is empty, and no part of the file's content. */
  for (long at = 4096; at < bytes; at += 1009) {
    fseek(file, at, SEEK_SET);
    const int old = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(old ^ 4, file);
    fflush(file);
    lmi_checkpoint *checkpoint = NULL;
    lamina_status status = lmi_checkpoint_open(ctx, "c.lamina", &checkpoint);
    if (status == LAMINA_OK)
      status = lmi_checkpoint_restore(checkpoint, solver, NULL);
    if (status != LAMINA_ERROR_CASE)
      fail_msg("byte %ld of %ld may change: %d", at, bytes, (int)status);
    lamina_error_clear(ctx);
    lmi_checkpoint_close(checkpoint);
    fseek(file, at, SEEK_SET);
    fputc(old, file);
  }
  fclose(file);
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(resumes_d2q9_f64), cmocka_unit_test(resumes_d3q19_f32),
              cmocka_unit_test(resumes_d3q27_f64), cmocka_unit_test(refuses_another_case),
              cmocka_unit_test(refuses_any_cut_and_any_changed_byte),
              cmocka_unit_test(keeps_the_old_one_when_the_new_one_fails),
              cmocka_unit_test(takes_over_what_a_killed_writer_left),
              cmocka_unit_test(refuses_a_state_that_is_too_long), cmocka_unit_test(resumes_levels_d2q9_f64),
              cmocka_unit_test(resumes_levels_d3q19_f32), cmocka_unit_test(refuses_other_levels),
              cmocka_unit_test(refuses_damaged_levels), cmocka_unit_test(survives_failing_allocations))
