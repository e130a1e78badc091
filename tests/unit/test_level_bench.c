/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of Table 5 of arXiv 2503.07898: their levels have the cells that the thresholds give, and the table's
 * numbers. */
#include "support/test.h"

#include <math.h>

#include <lamina/lamina.h>

/* Millions of cells, cut to the digits that the table prints. `part`: at which part of the size the thresholds still
 * fall between cells of every level, so that counts are those of the whole over its cube. */
typedef struct printed {
  const char *name;
  int part;
  double millions[4], digit[4];
} printed;

static const printed TABLE[] = {
  {"512x3", 4, {77, 4, 0.3}, {1, 1, 0.1}}, {"512x4", 1, {73, 3, 0.4, 0.002}, {1, 1, 0.1, 0.001}},
  {"480x3", 4, {53, 4, 0.3}, {1, 1, 0.1}}, {"480x4", 2, {53, 4, 0.3, 0.008}, {1, 1, 0.1, 0.001}},
  {"320x3", 4, {15, 1, 0.1}, {1, 1, 0.1}}, {"320x4", 2, {15, 1, 0.09, 0.001}, {1, 1, 0.01, 0.001}},
};

/* A shell of the box between two cubes, in cells of the level. */
static double shell(const lamina_level_distribution *d, int level)
{
  const double outer = 1.0 - d->thresholds[level], inner = level + 1 < d->levels ? 1.0 - d->thresholds[level + 1] : 0.0;
  return pow((double)d->cells, 3) * (pow(outer, 3) - pow(inner, 3)) / pow(8.0, level);
}

static void expect_table(lamina_context *ctx, const lamina_level_distribution *d, const printed *table)
{
  lamina_level_bench bench = lamina_level_bench_default();
  lamina_level_info levels[LAMINA_MAX_LEVELS];
  const lamina_index across = d->cells / table->part;
  const double whole = pow((double)table->part, 3);
  bench.solver.cells = (lamina_int3){across, across, across};
  bench.solver.levels = d->levels;
  memcpy(bench.thresholds, d->thresholds, sizeof bench.thresholds);
  if (lamina_level_bench_plan(ctx, &bench, levels) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  for (int level = 0; level < d->levels; level++) {
    const double cells = whole * (double)levels[level].cells, millions = 1e-6 * cells;
    print_message("%s level %d: %.0f cells\n", d->name, level, cells);
    assert_true(fabs(cells - shell(d, level)) < 0.5);
    assert_true(millions >= table->millions[level] && millions < table->millions[level] + table->digit[level]);
    assert_int_equal(levels[level].added, 0);
  }
}

static void has_the_cells_of_the_table(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&(lamina_context_options){.threads = 1}, &ctx), LAMINA_OK);
  size_t count = 0;
  for (const lamina_level_distribution *d; (d = lamina_level_distribution_get(count)) != NULL; count++) {
    assert_true(count < sizeof TABLE / sizeof TABLE[0]);
    assert_string_equal(d->name, TABLE[count].name);
    expect_table(ctx, d, &TABLE[count]);
  }
  assert_int_equal(count, sizeof TABLE / sizeof TABLE[0]);
  lamina_context_destroy(ctx);
}

static void measure(lamina_context *ctx, bool one_by_one)
{
  lamina_level_bench bench = lamina_level_bench_default();
  lamina_level_row row;
  bench.solver.cells = (lamina_int3){48, 48, 48};
  bench.solver.levels = 2;
  bench.repetitions = 2;
  bench.seconds = 0.01;
  bench.one_by_one = one_by_one;
  if (lamina_level_bench_run(ctx, &bench, &row) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  assert_true(fabs(row.gain[LAMINA_LEVELS_BASELINE].median - 1.0) < (one_by_one ? 0.5 : 1e-12));
  for (int scheme = 0; scheme < LAMINA_LEVEL_SCHEMES; scheme++)
    assert_true(row.mlups[scheme].median > 0.0 && row.gain[scheme].median > 0.0);
  assert_true(row.bytes_per_cell > 2.0 * 19 * 4); /* two buffers at the least */
  assert_int_equal(row.levels[0].cells + 8 * row.levels[1].cells, 48 * 48 * 48);
}

static void measures_all_schemes(void **state)
{
  (void)state;
  const lamina_context_options options = {.threads = 1};
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  measure(ctx, false);
  measure(ctx, true);
  lamina_level_bench bench = lamina_level_bench_default();
  lamina_level_row row;
  bench.repetitions = 0;
  assert_int_equal(lamina_level_bench_run(ctx, &bench, &row), LAMINA_ERROR_ARGUMENT);
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(has_the_cells_of_the_table), cmocka_unit_test(measures_all_schemes))
