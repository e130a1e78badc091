/* SPDX-License-Identifier: Apache-2.0 */
/* The grid's own rules: groups, refusals with a sentence, reductions, what was not declared, allocations. */
#include "support/test.h"

#include <math.h>

#include "base/base.h"
#include "support/failing_allocator.h"
#include <lamina/grid.h>

LAMINA_KERNEL(copy, (FROM, TO), LAMINA_OUT(TO, 0) = LAMINA_NEAR(FROM, 0, 0, -1, 0);)
LAMINA_KERNEL(scale, (FIELD, FACTOR), LAMINA_OUT(FIELD, 0) = LAMINA_VALUE(FACTOR) * LAMINA_IN(FIELD, 0);)
LAMINA_KERNEL(reduce, (FIELD), LAMINA_REDUCE(LAMINA_IN(FIELD, 0));)
LAMINA_KERNEL(early, (FIELD), if (LAMINA_X % 2 == 0) return; LAMINA_OUT(FIELD, 0) = (real)(LAMINA_X + 10 * LAMINA_Y);)

typedef struct bench {
  lamina_context *ctx;
  lamina_grid *grid;
  lamina_field *a, *b;
} bench;

/* Left half, right half. */
static int half_of(void *user, lamina_int3 cell)
{
  return cell.x < *(const int *)user ? 0 : 1;
}

static int too_large(void *user, lamina_int3 cell)
{
  (void)user;
  return cell.x == 2 && cell.y == 1 ? 7 : 0;
}

static void position(void *user, lamina_int3 cell, double *components)
{
  (void)user;
  components[0] = (double)(cell.x + 10 * cell.y + 100 * cell.z);
}

static bench make_bench(int partitions)
{
  bench made = {0};
  const lamina_context_options options = {.threads = 2};
  const lamina_domain domain = lamina_domain_box(2, (lamina_int3){5, 6, 1});
  const lamina_grid_options grid = {.stencil = LAMINA_STENCIL_5, .partitions = partitions};
  const lamina_field_options field = {.name = "a", .components = 1, .type = LAMINA_F64};
  assert_int_equal(lamina_context_create(&options, &made.ctx), LAMINA_OK);
  assert_int_equal(lamina_grid_create(made.ctx, &domain, &grid, &made.grid), LAMINA_OK);
  assert_int_equal(lamina_field_create(made.grid, &field, &made.a), LAMINA_OK);
  assert_int_equal(lamina_field_create(made.grid, &field, &made.b), LAMINA_OK);
  assert_int_equal(lamina_field_fill(made.a, position, NULL), LAMINA_OK);
  return made;
}

static void unmake(bench *made)
{
  lamina_field_destroy(made->a);
  lamina_field_destroy(made->b);
  lamina_grid_destroy(made->grid);
  lamina_context_destroy(made->ctx);
}

static void run_once(const bench *made, const lamina_kernel *kernel)
{
  lamina_schedule *schedule = NULL;
  assert_int_equal(lamina_schedule_create(made->grid, &kernel, 1, NULL, &schedule), LAMINA_OK);
  assert_int_equal(lamina_schedule_run(schedule, 1), LAMINA_OK);
  lamina_schedule_destroy(schedule);
}

static double value_at(const lamina_field *field, lamina_int3 cell)
{
  double value = 0.0;
  assert_int_equal(lamina_field_read(field, 0, cell, (lamina_int3){1, 1, 1}, &value), LAMINA_OK);
  return value;
}

static void expect_group(const lamina_grid *grid, size_t index, lamina_group expected)
{
  lamina_group group;
  assert_true(lamina_grid_group_at(grid, index, &group));
  assert_int_equal(group.partition, expected.partition);
  assert_int_equal(group.section, expected.section);
  assert_int_equal(group.classes[0], expected.classes[0]);
  assert_int_equal(group.cells, expected.cells);
  assert_int_equal(group.spans, expected.spans);
}

/* 5 x 6 cells, 2 slabs of 3 rows with one neighbour each, split at x = 2: counted by hand. */
static void groups_are_counted(void **state)
{
  (void)state;
  int split = 2;
  lamina_context *ctx = NULL;
  lamina_grid *grid = NULL;
  const lamina_property property = {"half", half_of, &split, 2};
  lamina_domain domain = lamina_domain_box(2, (lamina_int3){5, 6, 1});
  domain.edge[1] = LAMINA_EDGE_FIXED;
  const lamina_grid_options options = {
    .stencil = LAMINA_STENCIL_5, .partitions = 2, .properties = &property, .property_count = 1};
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lamina_grid_create(ctx, &domain, &options, &grid), LAMINA_OK);
  assert_int_equal(lamina_grid_check(grid), LAMINA_OK);
  assert_int_equal(lamina_grid_group_count(grid), 8);
  expect_group(grid, 0, (lamina_group){0, LAMINA_SECTION_PRIVATE, {0}, 4, 2});
  expect_group(grid, 1, (lamina_group){0, LAMINA_SECTION_PRIVATE, {1}, 6, 2});
  expect_group(grid, 2, (lamina_group){0, LAMINA_SECTION_UPPER, {0}, 2, 1});
  expect_group(grid, 3, (lamina_group){0, LAMINA_SECTION_UPPER, {1}, 3, 1});
  expect_group(grid, 4, (lamina_group){1, LAMINA_SECTION_LOWER, {0}, 2, 1});
  expect_group(grid, 7, (lamina_group){1, LAMINA_SECTION_PRIVATE, {1}, 6, 2});
  assert_false(lamina_grid_group_at(grid, 8, &(lamina_group){0}));
  lamina_grid_destroy(grid);
  lamina_context_destroy(ctx);
}

static void refuse_grid(const lamina_domain *domain, const lamina_grid_options *options, const char *words)
{
  lamina_context *ctx = NULL;
  lamina_grid *grid = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lamina_grid_create(ctx, domain, options, &grid), LAMINA_ERROR_ARGUMENT);
  assert_null(grid);
  if (strstr(lamina_error_message(ctx), words) == NULL)
    fail_msg("'%s' lacks '%s'", lamina_error_message(ctx), words);
  lamina_context_destroy(ctx);
}

static void bad_grids_are_refused(void **state)
{
  (void)state;
  const lamina_domain flat = lamina_domain_box(2, (lamina_int3){4, 4, 1});
  const lamina_domain wrong[] = {
    lamina_domain_box(1, (lamina_int3){4, 1, 1}), lamina_domain_box(3, (lamina_int3){4, 0, 4}),
    lamina_domain_box(2, (lamina_int3){4, 4, 2}), lamina_domain_box(3, (lamina_int3){1 << 20, 1 << 20, 1 << 20})};
  const char *const words[] = {"dimension 1", "4 x 0 x 4", "2 cells along z", "2^40"};
  for (size_t i = 0; i < LMI_COUNT(wrong); i++)
    refuse_grid(&wrong[i], NULL, words[i]);
  refuse_grid(&flat, &(lamina_grid_options){.partitions = 5}, "at most 4 partitions");
  refuse_grid(&flat, &(lamina_grid_options){.partitions = -1}, "-1 partitions");
  refuse_grid(&flat, &(lamina_grid_options){.stencil = LAMINA_STENCIL_7}, "reads along z");
  refuse_grid(&flat, &(lamina_grid_options){.stencil = 1u << 30}, "27 neighbours");
  const lamina_property large = {"kind", too_large, NULL, 2};
  refuse_grid(&flat, &(lamina_grid_options){.properties = &large, .property_count = 1}, "cell (2, 1, 0) into class 7");
  const lamina_property many = {"kind", too_large, NULL, 33};
  refuse_grid(&flat, &(lamina_grid_options){.properties = &many, .property_count = 1}, "33 classes");
}

static void refuse_kernel(const bench *made, lamina_kernel_options options, const char *words)
{
  lamina_kernel *kernel = NULL;
  lamina_error_clear(made->ctx);
  assert_int_equal(lamina_kernel_create(made->grid, &options, &kernel), LAMINA_ERROR_ARGUMENT);
  assert_null(kernel);
  if (strstr(lamina_error_message(made->ctx), words) == NULL)
    fail_msg("'%s' lacks '%s'", lamina_error_message(made->ctx), words);
}

static void bad_kernels_are_refused(void **state)
{
  (void)state;
  bench made = make_bench(2), other = make_bench(1);
  const lamina_argument read = {.field = made.a}, write = {.field = made.b, .access = LAMINA_WRITE};
  const lamina_argument near = {.field = made.a, .stencil = LAMINA_STENCIL_5};
  lamina_field *narrow = NULL;
  assert_int_equal(lamina_field_create(made.grid, &(lamina_field_options){.name = "n", .components = 1}, &narrow),
                   LAMINA_OK);
  refuse_kernel(&made, (lamina_kernel_options){.argument_count = 2}, "without a text");
  refuse_kernel(&made, (lamina_kernel_options){&copy, {near}, 1, {0}, 0}, "(FROM, TO), but 1");
  refuse_kernel(&made, (lamina_kernel_options){&copy, {near, {.field = other.a, .access = LAMINA_WRITE}}, 2, {0}, 0},
                "another grid");
  refuse_kernel(&made, (lamina_kernel_options){&copy, {near, {.field = made.a, .access = LAMINA_WRITE}}, 2, {0}, 0},
                "twice");
  refuse_kernel(&made, (lamina_kernel_options){&copy, {read, read}, 2, {0}, 0}, "writes no field");
  refuse_kernel(&made, (lamina_kernel_options){&copy, {near, {.field = narrow, .access = LAMINA_WRITE}}, 2, {0}, 0},
                "one type");
  refuse_kernel(&made,
                (lamina_kernel_options){&copy, {{.field = made.a, .stencil = LAMINA_STENCIL_9}, write}, 2, {0}, 0},
                "has the stencil");
  refuse_kernel(
    &made,
    (lamina_kernel_options){
      &copy, {read, {.field = made.b, .access = LAMINA_READ_WRITE, .stencil = LAMINA_STENCIL_5}}, 2, {0}, 0},
    "write another field");
  refuse_kernel(&made, (lamina_kernel_options){&copy, {{.field = made.a, .from_below = 2}, write}, 2, {0}, 0},
                "beyond the 1");
  refuse_kernel(&made, (lamina_kernel_options){&scale, {{.value = 1}, {.value = 2}}, 2, {0}, 0}, "no field");
  lamina_field_destroy(narrow);
  unmake(&made);
  unmake(&other);
}

static void bad_fields_and_reads_are_refused(void **state)
{
  (void)state;
  bench made = make_bench(1);
  lamina_field *field = NULL;
  double value = 0.0;
  const lamina_int3 one = {1, 1, 1};
  assert_int_equal(lamina_field_create(made.grid, &(lamina_field_options){.components = 33}, &field),
                   LAMINA_ERROR_ARGUMENT);
  assert_null(field);
  assert_int_equal(lamina_field_create(made.grid, &(lamina_field_options){.components = 1, .layout = 9}, &field),
                   LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lamina_field_read(made.a, 1, (lamina_int3){0, 0, 0}, one, &value), LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lamina_field_read(made.a, 0, (lamina_int3){-1, 0, 0}, one, &value), LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lamina_field_read(made.a, 0, (lamina_int3){5, 0, 0}, one, &value), LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lamina_field_read(made.a, 0, (lamina_int3){0, 0, 0}, (lamina_int3){1, INT64_MAX, 1}, &value),
                   LAMINA_ERROR_ARGUMENT);
  unmake(&made);
}

/* `copy` reads below; here only the stencil of the centre is declared. */
static void what_was_not_declared_reads_as_not_a_number(void **state)
{
  (void)state;
  bench made = make_bench(2);
  lamina_kernel *kernel = NULL;
  const lamina_kernel_options options = {
    &copy, {{.field = made.a}, {.field = made.b, .access = LAMINA_WRITE}}, 2, {0}, 0};
  assert_int_equal(lamina_kernel_create(made.grid, &options, &kernel), LAMINA_OK);
  run_once(&made, kernel);
  assert_true(isnan(value_at(made.b, (lamina_int3){3, 3, 0})));
  lamina_kernel_destroy(kernel);
  unmake(&made);
}

LAMINA_KERNEL(lost, (FROM, TO), LAMINA_OUT(FROM, 0) = 1; LAMINA_OUT(TO, 0) = LAMINA_NEAR(FROM, 0, 1, 1, 1);)

/* In three dimensions rows come in bands: the same, and what is not to be written is lost. */
static void what_was_not_declared_is_lost(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  lamina_grid *grid = NULL;
  lamina_field *from = NULL, *to = NULL;
  lamina_kernel *kernel = NULL;
  lamina_domain domain = lamina_domain_box(3, (lamina_int3){5, 6, 3});
  domain.edge[1] = LAMINA_EDGE_FIXED;
  const lamina_field_options field = {.name = "f", .components = 3, .type = LAMINA_F64, .layout = LAMINA_LAYOUT_AOS};
  assert_int_equal(lamina_context_create(&(lamina_context_options){.threads = 1}, &ctx), LAMINA_OK);
  assert_int_equal(lamina_grid_create(ctx, &domain, NULL, &grid), LAMINA_OK);
  assert_int_equal(lamina_field_create(grid, &field, &from), LAMINA_OK);
  assert_int_equal(lamina_field_create(grid, &field, &to), LAMINA_OK);
  const lamina_kernel_options options = {&lost, {{.field = from}, {.field = to, .access = LAMINA_WRITE}}, 2, {0}, 0};
  assert_int_equal(lamina_kernel_create(grid, &options, &kernel), LAMINA_OK);
  const bench made = {.grid = grid};
  run_once(&made, kernel);
  assert_true(isnan(value_at(to, (lamina_int3){4, 5, 2})));
  assert_true(value_at(from, (lamina_int3){4, 5, 2}) == 0.0);
  lamina_kernel_destroy(kernel);
  lamina_field_destroy(from);
  lamina_field_destroy(to);
  lamina_grid_destroy(grid);
  lamina_context_destroy(ctx);
}

static double reduced(const bench *made, lamina_reduction reduction)
{
  lamina_kernel *kernel = NULL;
  const lamina_kernel_options options = {&reduce, {{.field = made->a}}, 1, {0}, reduction};
  assert_int_equal(lamina_kernel_create(made->grid, &options, &kernel), LAMINA_OK);
  run_once(made, kernel);
  const double result = lamina_kernel_result(kernel);
  lamina_kernel_destroy(kernel);
  return result;
}

static void reductions(void **state)
{
  (void)state;
  for (int partitions = 1; partitions <= 6; partitions++) {
    bench made = make_bench(partitions);
    assert_true(reduced(&made, LAMINA_REDUCE_SUM) == 6 * (0 + 1 + 2 + 3 + 4) + 5 * 10 * (0 + 1 + 2 + 3 + 4 + 5));
    assert_true(reduced(&made, LAMINA_REDUCE_MAX) == 54);
    assert_true(reduced(&made, LAMINA_REDUCE_MIN) == 0);
    unmake(&made);
  }
}

static void numbers_change_and_bodies_return(void **state)
{
  (void)state;
  bench made = make_bench(3);
  lamina_kernel *kernel = NULL;
  const lamina_argument own = {.field = made.a, .access = LAMINA_READ_WRITE};
  lamina_kernel_options options = {&scale, {own, {.value = 2.0}}, 2, {0}, 0};
  assert_int_equal(lamina_kernel_create(made.grid, &options, &kernel), LAMINA_OK);
  run_once(&made, kernel);
  assert_int_equal(lamina_kernel_set_value(kernel, 1, -1.0), LAMINA_OK);
  assert_int_equal(lamina_kernel_set_value(kernel, 0, -1.0), LAMINA_ERROR_ARGUMENT);
  run_once(&made, kernel);
  assert_true(value_at(made.a, (lamina_int3){4, 5, 0}) == -108.0);
  lamina_kernel_destroy(kernel);
  options = (lamina_kernel_options){&early, {own}, 1, {0}, 0};
  assert_int_equal(lamina_kernel_create(made.grid, &options, &kernel), LAMINA_OK);
  run_once(&made, kernel);
  assert_true(value_at(made.a, (lamina_int3){3, 5, 0}) == 53.0);
  assert_true(value_at(made.a, (lamina_int3){4, 5, 0}) == -108.0);
  lamina_kernel_destroy(kernel);
  unmake(&made);
}

static void the_text_is_kept(void **state)
{
  (void)state;
  assert_string_equal(scale.name, "scale");
  assert_string_equal(scale.arguments, "(FIELD, FACTOR)");
  assert_string_equal(scale.body, "LAMINA_OUT(FIELD, 0) = LAMINA_VALUE(FACTOR) * LAMINA_IN(FIELD, 0);");
}

static lamina_status make_and_run(lamina_context *ctx)
{
  int split = 2;
  lamina_status status = LAMINA_OK;
  lamina_grid *grid = NULL;
  lamina_field *field = NULL;
  lamina_kernel *kernel = NULL;
  lamina_schedule *schedule = NULL;
  const lamina_property property = {"half", half_of, &split, 2};
  const lamina_domain domain = lamina_domain_box(2, (lamina_int3){5, 6, 1});
  const lamina_grid_options options = {
    .stencil = LAMINA_STENCIL_5, .partitions = 2, .properties = &property, .property_count = 1};
  LMI_TRY_GOTO(status, lamina_grid_create(ctx, &domain, &options, &grid), cleanup);
  LMI_TRY_GOTO(status, lamina_field_create(grid, &(lamina_field_options){.name = "a", .components = 2}, &field),
               cleanup);
  const lamina_kernel_options serving = {
    &scale, {{.field = field, .access = LAMINA_READ_WRITE}, {.value = 2}}, 2, {1u << 1}, 0};
  LMI_TRY_GOTO(status, lamina_kernel_create(grid, &serving, &kernel), cleanup);
  LMI_TRY_GOTO(status, lamina_schedule_create(grid, (const lamina_kernel *const[]){kernel}, 1, NULL, &schedule),
               cleanup);
  const uint64_t allocations = lmi_allocation_count(ctx);
  LMI_TRY_GOTO(status, lamina_schedule_run(schedule, 3), cleanup);
  assert_int_equal(lmi_allocation_count(ctx), allocations);
cleanup:
  lamina_schedule_destroy(schedule);
  lamina_kernel_destroy(kernel);
  lamina_field_destroy(field);
  lamina_grid_destroy(grid);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  for (uint64_t n = 1;; n++) {
    lmi_failing_allocator heap = lmi_failing_allocator_make(n);
    const lamina_allocator interface = lmi_failing_allocator_interface(&heap);
    const lamina_context_options options = {.threads = 1, .allocator = &interface};
    lamina_context *ctx = NULL;
    lamina_status status = lamina_context_create(&options, &ctx);
    if (status == LAMINA_OK)
      status = make_and_run(ctx);
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    assert_int_equal(status, heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    if (!heap.has_failed)
      break;
  }
}

LMI_TEST_MAIN(cmocka_unit_test(groups_are_counted), cmocka_unit_test(bad_grids_are_refused),
              cmocka_unit_test(bad_kernels_are_refused), cmocka_unit_test(bad_fields_and_reads_are_refused),
              cmocka_unit_test(what_was_not_declared_reads_as_not_a_number),
              cmocka_unit_test(what_was_not_declared_is_lost), cmocka_unit_test(reductions),
              cmocka_unit_test(numbers_change_and_bodies_return), cmocka_unit_test(the_text_is_kept),
              cmocka_unit_test(every_allocation_may_fail))
