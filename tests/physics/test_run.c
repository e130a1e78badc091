/* SPDX-License-Identifier: Apache-2.0 */
/* What a run does besides computing: it resumes to the same bits, stops on request and on blow-up, refuses what cannot
 * be, and allocates nothing while it steps. */
#define _GNU_SOURCE
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lamina/case.h>

#include "base/base.h"
#include "io/field_file.h"
#include "support/failing_allocator.h"

static const char CASE[] = "domain: {cells: [20, 18, 16], length: 1 m}\n"
                           "fluid: {reynolds: 100, speed: 1 m/s}\n"
                           "lattice: d3q19\n"
                           "boundaries: {all: wall, z+: {moving_wall: [1, 0, 0]}}\n"
                           "run: {steps: 301}\n"
                           "output:\n"
                           "  - {fields: [velocity, density]}\n"
                           "  - {series: [mass, momentum, kinetic_energy, max_speed], every: 10 steps}\n";

typedef struct trial {
  lamina_context *ctx;
  lamina_case *flow;
  lamina_run_result *result;
  lamina_status status;
} trial;

static void begin(trial *t, int threads, const char *const *overrides)
{
  *t = (trial){0};
  size_t count = 0;
  while (overrides != NULL && overrides[count] != NULL)
    count++;
  FILE *file = fopen("case.yaml", "w");
  assert_non_null(file);
  assert_true(fputs(CASE, file) >= 0);
  assert_int_equal(fclose(file), 0);
  lamina_context_options options = lamina_context_options_default();
  options.threads = threads;
  assert_int_equal(lamina_context_create(&options, &t->ctx), LAMINA_OK);
  if (lamina_case_load(t->ctx, "case.yaml", overrides, count, &t->flow) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(t->ctx));
}

static void go(trial *t, const lamina_run_options *options)
{
  t->status = lamina_case_run(t->ctx, t->flow, options, &t->result);
  print_message("%d %s\n", (int)t->status, lamina_error_message(t->ctx));
}

static void end(trial *t)
{
  lamina_run_result_destroy(t->result);
  lamina_case_destroy(t->flow);
  lamina_context_destroy(t->ctx);
}

static void run_whole(const char *folder, int threads, const char *const *overrides)
{
  trial t;
  begin(&t, threads, overrides);
  lamina_run_options options = lamina_run_options_default();
  options.folder = folder;
  go(&t, &options);
  assert_int_equal(t.status, LAMINA_OK);
  end(&t);
}

/* ---- the same bits ---- */

static double *read_fields(const char *folder, size_t *count)
{
  lamina_context *ctx = NULL;
  lmi_field_file *file = NULL;
  char path[256];
  snprintf(path, sizeof path, "%s/fields.vtkhdf", folder);
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lmi_field_file_open(ctx, path, &file), LAMINA_OK);
  const lmi_field_content *content = lmi_field_file_content(file);
  const lamina_int3 n = content->frame.cells;
  const size_t cells = (size_t)(n.x * n.y * n.z);
  const lamina_box box = {{0, 0, 0}, n};
  double *values = test_malloc(4 * cells * sizeof *values);
  double *const velocity[3] = {values, values + cells, values + 2 * cells};
  double *const density[1] = {values + 3 * cells};
  assert_int_equal(lmi_field_file_read(file, lmi_field_file_find(file, "velocity"), box, velocity), LAMINA_OK);
  assert_int_equal(lmi_field_file_read(file, lmi_field_file_find(file, "density"), box, density), LAMINA_OK);
  lmi_field_file_close(file);
  lamina_context_destroy(ctx);
  *count = 4 * cells;
  return values;
}

static char *read_text(const char *path)
{
  static char buffers[2][65536];
  static int which;
  char *text = buffers[which++ % 2];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof buffers[0] - 1, file)] = '\0';
  fclose(file);
  return text;
}

static void expect_same(const char *a, const char *b)
{
  size_t count_a = 0, count_b = 0;
  double *fields_a = read_fields(a, &count_a), *fields_b = read_fields(b, &count_b);
  assert_int_equal(count_a, count_b);
  assert_memory_equal(fields_a, fields_b, count_a * sizeof *fields_a);
  test_free(fields_a);
  test_free(fields_b);
  char path_a[128], path_b[128];
  snprintf(path_a, sizeof path_a, "%s/series.csv", a);
  snprintf(path_b, sizeof path_b, "%s/series.csv", b);
  assert_string_equal(read_text(path_a), read_text(path_b));
}

/* Fields each in its size, read as finest cells, against the box of them: the finest level to the bit, and the same
 * content in all; and a run on levels goes on to the same bits. */
static void a_run_on_levels_resumes_and_its_fields_agree(void **state)
{
  (void)state;
  static const char *const whole[] = {"domain.cells=[40, 40, 40]",
                                      "grid={kind: levels, levels: 2, refine: [{distance_to_walls: 0.1}]}",
                                      "run.steps=40", "precision=f64", NULL};
  static const char *const finest[] = {"domain.cells=[40, 40, 40]",
                                       "grid={kind: levels, levels: 2, refine: [{distance_to_walls: 0.1}]}",
                                       "run.steps=40",
                                       "precision=f64",
                                       "output=[{fields: [velocity, density], cells: finest}]",
                                       NULL};
  static const char *const first[] = {"domain.cells=[40, 40, 40]",
                                      "grid={kind: levels, levels: 2, refine: [{distance_to_walls: 0.1}]}",
                                      "run.steps=20",
                                      "precision=f64",
                                      "checkpoint.every=10 steps",
                                      NULL};
  run_whole("levels", 1, whole);
  run_whole("box", 1, finest);
  run_whole("levels-broken", 1, first);
  trial t;
  begin(&t, 1, whole);
  lamina_run_options options = lamina_run_options_default();
  options.folder = "levels-broken";
  options.resume = true;
  go(&t, &options);
  assert_int_equal(t.status, LAMINA_OK);
  assert_int_equal(t.result->first_step, 20);
  end(&t);
  expect_same("levels", "levels-broken");

  size_t count = 0, boxed_count = 0, same = 0;
  double *levels = read_fields("levels", &count), *box = read_fields("box", &boxed_count);
  double sum = 0.0, boxed_sum = 0.0;
  assert_int_equal(count, boxed_count);
  for (size_t i = 0; i < count; i++)
    same += memcmp(&levels[i], &box[i], sizeof *box) == 0;
  for (size_t i = count / 4 * 3; i < count; i++) {
    sum += levels[i];
    boxed_sum += box[i];
  }
  assert_true(same > count / 3 && same < count);
  assert_true(fabs(sum - boxed_sum) < 1e-12 * sum);
  test_free(levels);
  test_free(box);
}

typedef struct stopper {
  lamina_index at_step;
} stopper;

static bool stop_at(void *user, const lamina_run_progress *progress)
{
  const stopper *s = user;
  return progress->step < s->at_step;
}

/* Runs to an odd step, stops, and goes on with other threads, slabs and layout. */
static void a_resumed_run_has_the_bits_of_an_unbroken_one(void **state)
{
  (void)state;
  run_whole("whole", 1, NULL);
  static const char *const first[] = {"run.steps=137", "checkpoint.every=50 steps", NULL};
  run_whole("broken", 1, first);
  static const char *const then[] = {"partitions=3", "layout=soa", "streaming=aa", NULL};
  trial t;
  begin(&t, 2, then);
  lamina_run_options options = lamina_run_options_default();
  options.folder = "broken";
  options.resume = true;
  go(&t, &options);
  assert_int_equal(t.status, LAMINA_OK);
  assert_int_equal(t.result->first_step, 137);
  assert_int_equal(t.result->last_step, 301);
  end(&t);

  size_t count_a = 0, count_b = 0;
  double *a = read_fields("whole", &count_a), *b = read_fields("broken", &count_b);
  assert_memory_equal(a, b, count_a * sizeof *a);
  test_free(a);
  test_free(b);
}

/* A run that is stopped writes a checkpoint at that step; resumed, it leaves the same files as an unbroken one. */
static void a_stopped_run_goes_on_without_a_seam(void **state)
{
  (void)state;
  static const char *const longer[] = {"run.steps=1200", "domain.cells=[40, 36, 32]", NULL};
  run_whole("whole", 1, longer);
  (void)remove("stopped/fields.vtkhdf"); /* of an earlier test run */
  trial t;
  begin(&t, 1, longer);
  stopper stop = {1};
  lamina_run_options options = lamina_run_options_default();
  options.folder = "stopped";
  options.progress = stop_at;
  options.progress_user = &stop;
  go(&t, &options);
  assert_int_equal(t.status, LAMINA_INTERRUPTED);
  assert_non_null(t.result);
  assert_true(t.result->was_interrupted);
  assert_true(t.result->last_step < 1200);
  assert_int_not_equal(access("stopped/fields.vtkhdf", F_OK), 0);
  end(&t);

  begin(&t, 1, longer);
  options.progress = NULL;
  options.resume = true;
  go(&t, &options);
  assert_int_equal(t.status, LAMINA_OK);
  end(&t);
  expect_same("whole", "stopped");
}

static void the_steady_criterion_survives_a_checkpoint(void **state)
{
  (void)state;
  static const char *const steady[] = {"run={steps: 20000, steady: 1e-4}", "fluid.reynolds=20", NULL};
  static const char *const first[] = {"run={steps: 333, steady: 1e-4}", "fluid.reynolds=20",
                                      "checkpoint.every=333 steps", NULL};
  trial t;
  lamina_run_options options = lamina_run_options_default();
  options.folder = "steady";
  begin(&t, 1, steady);
  go(&t, &options);
  assert_true(t.result->is_steady);
  const lamina_index expected = t.result->last_step;
  end(&t);
  assert_true(expected > 333);

  run_whole("broken", 1, first);
  begin(&t, 1, steady);
  options.folder = "broken";
  options.resume = true;
  go(&t, &options);
  assert_int_equal(t.result->last_step, expected);
  end(&t);
}

/* Asked for more often than once a step: every step, and no endless search for the next one. */
static void a_period_below_the_time_step_is_every_step(void **state)
{
  (void)state;
  static const char *const overrides[] = {"run.steps=5", "output=[{series: [mass], every: 1e-300 s}]",
                                          "checkpoint.every=1e-300 s", NULL};
  run_whole("often", 1, overrides);
  const char *text = read_text("often/series.csv");
  size_t rows = 0;
  for (const char *c = text; *c != '\0'; c++)
    rows += *c == '\n';
  assert_int_equal(rows, 7); /* the header and steps 0 to 5 */
}

/* ---- refusals ---- */

static void expect_run_error(const char *const *overrides, const lamina_run_options *options, lamina_status status,
                             const char *words)
{
  trial t;
  begin(&t, 1, overrides);
  go(&t, options);
  assert_int_equal(t.status, status);
  assert_null(t.result);
  if (strstr(lamina_error_message(t.ctx), words) == NULL)
    fail_msg("the message lacks '%s'", words);
  end(&t);
}

static void a_blow_up_names_step_cell_and_the_number_to_change(void **state)
{
  (void)state;
  static const char *const overrides[] = {"domain.cells=[64, 64]",
                                          "lattice=d2q9",
                                          "boundaries={all: wall, y+: {moving_wall: [1, 0]}}",
                                          "fluid.reynolds=1e5",
                                          "collision=bgk",
                                          "lattice_speed=0.25",
                                          "run={steps: 20000}",
                                          NULL};
  lamina_run_options options = lamina_run_options_default();
  options.folder = "blown";
  expect_run_error(overrides, &options, LAMINA_ERROR_DIVERGED, "step");
  expect_run_error(overrides, &options, LAMINA_ERROR_DIVERGED, "lower lattice_speed from 0.25 to");
  assert_int_not_equal(access("blown/fields.vtkhdf", F_OK), 0);
}

static void too_much_memory_is_refused_with_the_estimate(void **state)
{
  (void)state;
  static const char *const overrides[] = {"domain.cells=[8000, 8000, 8000]", NULL};
  lamina_run_options options = lamina_run_options_default();
  options.folder = "too-large";
  expect_run_error(overrides, &options, LAMINA_ERROR_MEMORY, "domain.cells: 8000 x 8000 x 8000 cells take ");
  expect_run_error(overrides, &options, LAMINA_ERROR_MEMORY, "at most about");
  assert_int_not_equal(access("too-large", F_OK), 0);
}

static void resuming_needs_a_checkpoint_of_this_case(void **state)
{
  (void)state;
  static const char *const with[] = {"checkpoint.every=100 steps", NULL};
  static const char *const other[] = {"fluid.reynolds=101", NULL};
  static const char *const larger[] = {"domain.cells=[20, 18, 17]", NULL};
  lamina_run_options options = lamina_run_options_default();
  options.resume = true;
  options.folder = "nowhere";
  expect_run_error(NULL, &options, LAMINA_ERROR_FILE, "nothing to resume");
  assert_int_not_equal(access("nowhere", F_OK), 0);
  options.folder = "out";
  run_whole("out", 1, with);
  expect_run_error(other, &options, LAMINA_ERROR_CASE, "run without --resume");
  expect_run_error(larger, &options, LAMINA_ERROR_CASE, "");
  assert_int_equal(truncate("out/checkpoint.h5", 5000), 0);
  expect_run_error(NULL, &options, LAMINA_ERROR_CASE, "checkpoint.h5");
}

static void an_output_folder_that_cannot_be_is_refused(void **state)
{
  (void)state;
  lamina_run_options options = lamina_run_options_default();
  options.folder = "case.yaml/out";
  expect_run_error(NULL, &options, LAMINA_ERROR_FILE, "output folder");
  options.folder = "case.yaml";
  expect_run_error(NULL, &options, LAMINA_ERROR_FILE, "not a folder");
  options.folder = "/proc/lamina";
  expect_run_error(NULL, &options, LAMINA_ERROR_FILE, "/proc/lamina");
}

static void a_comparison_that_does_not_fit_is_refused_before_the_run(void **state)
{
  (void)state;
  static const char *const overrides[] = {"output=[{compare: couette}]", NULL};
  lamina_run_options options = lamina_run_options_default();
  expect_run_error(overrides, &options, LAMINA_ERROR_CASE, "compare couette needs");
}

static void a_missed_gate_is_a_failed_check(void **state)
{
  (void)state;
  trial t;
  static const char *const overrides[] = {"domain.cells=[4, 8, 4]", "boundaries={all: periodic, y-: wall, y+: wall}",
                                          "force=[1, 0, 0]",        "output=[{compare: poiseuille, gate: 1e-9}]",
                                          "run.steps=10",           NULL};
  begin(&t, 1, overrides);
  go(&t, NULL);
  assert_int_equal(t.status, LAMINA_ERROR_CHECK);
  assert_int_equal(t.result->reference_count, 1);
  assert_false(t.result->references[0].passed);
  assert_non_null(strstr(lamina_error_message(t.ctx), "1 of 1 comparisons missed the gate"));
  end(&t);
}

/* ---- each allocation made to fail ---- */

static bool run_with_failing_allocation(uint64_t n)
{
  static const char *const overrides[] = {
    "domain.cells=[5, 4, 3]", "run={steps: 4, steady: 1e-6}", "checkpoint.every=4 steps",
    ("output=[{fields: [velocity, pressure], every: 4 steps}, {slice: {z: 0.2}, image: vorticity}, "
     "{series: [mass, dissipation], every: 1 steps}, {compare: mass, gate: 1}]")};
  lmi_failing_allocator heap = lmi_failing_allocator_make(n);
  const lamina_allocator interface = lmi_failing_allocator_interface(&heap);
  lamina_context_options options = lamina_context_options_default();
  options.threads = 1;
  options.allocator = &interface;
  lamina_context *ctx = NULL;
  lamina_case *flow = NULL;
  lamina_run_result *result = NULL;
  lamina_status status = lamina_context_create(&options, &ctx);
  if (status == LAMINA_OK)
    status = lamina_case_load(ctx, "case.yaml", overrides, LMI_COUNT(overrides), &flow);
  if (status == LAMINA_OK)
    status = lamina_case_run(ctx, flow, NULL, &result);
  if (status != (heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK))
    fail_msg("allocation %llu: status %d, %s", (unsigned long long)n, (int)status,
             ctx != NULL ? lamina_error_message(ctx) : "");
  lamina_run_result_destroy(result);
  lamina_case_destroy(flow);
  lamina_context_destroy(ctx);
  assert_int_equal(heap.live, 0);
  return heap.has_failed;
}

static void each_failed_allocation_of_a_run_ends_cleanly(void **state)
{
  (void)state;
  trial t;
  begin(&t, 1, NULL); /* writes the case file */
  end(&t);
  uint64_t n = 1;
  while (run_with_failing_allocation(n))
    n++;
  print_message("%llu allocations\n", (unsigned long long)n - 1);
  assert_true(n > 50);
}

/* ---- no allocation while stepping ---- */

typedef struct counter {
  lamina_context *ctx;
  uint64_t first, last;
  int calls;
} counter;

static bool count_allocations(void *user, const lamina_run_progress *progress)
{
  (void)progress;
  counter *c = user;
  c->last = lmi_allocation_count(c->ctx);
  if (c->calls++ == 0)
    c->first = c->last;
  return true;
}

static void the_time_loop_allocates_nothing(void **state)
{
  (void)state;
  static const char *const overrides[] = {"domain.cells=[64, 64, 64]", "run.steps=600", "output=null", NULL};
  trial t;
  begin(&t, 1, overrides);
  counter c = {.ctx = t.ctx};
  lamina_run_options options = lamina_run_options_default();
  options.progress = count_allocations;
  options.progress_user = &c;
  go(&t, &options);
  assert_int_equal(t.status, LAMINA_OK);
  assert_true(c.calls >= 2);
  assert_true(c.last == c.first);
  end(&t);
}

LMI_TEST_MAIN(cmocka_unit_test(a_run_on_levels_resumes_and_its_fields_agree),
              cmocka_unit_test(a_resumed_run_has_the_bits_of_an_unbroken_one),
              cmocka_unit_test(a_stopped_run_goes_on_without_a_seam),
              cmocka_unit_test(the_steady_criterion_survives_a_checkpoint),
              cmocka_unit_test(a_period_below_the_time_step_is_every_step),
              cmocka_unit_test(a_blow_up_names_step_cell_and_the_number_to_change),
              cmocka_unit_test(too_much_memory_is_refused_with_the_estimate),
              cmocka_unit_test(resuming_needs_a_checkpoint_of_this_case),
              cmocka_unit_test(an_output_folder_that_cannot_be_is_refused),
              cmocka_unit_test(a_comparison_that_does_not_fit_is_refused_before_the_run),
              cmocka_unit_test(a_missed_gate_is_a_failed_check),
              cmocka_unit_test(each_failed_allocation_of_a_run_ends_cleanly),
              cmocka_unit_test(the_time_loop_allocates_nothing))
