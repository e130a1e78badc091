/* SPDX-License-Identifier: Apache-2.0 */
/* Curve, prefetch, ratios and placement on profiles whose answers are worked out by hand. */
#include "support/test.h"

#include <math.h>

#include <lamina/placement.h>

#include "memory/profile_store.h"

static lamina_context *ctx;

static int open_context(void **state)
{
  (void)state;
  return lamina_context_create(NULL, &ctx) == LAMINA_OK ? 0 : -1;
}

static int close_context(void **state)
{
  (void)state;
  lamina_context_destroy(ctx);
  return 0;
}

static lamina_profile *make_profile(lamina_profile_source source)
{
  lamina_profile *profile = NULL;
  lamina_profile_process process = {.command = "x", .ended = "exit 0", .rank = -1, .counts = lmi_counts_none()};
  process.counts.of[LAMINA_COUNT_INSTRUCTIONS] = 1000;
  assert_int_equal(lmi_memory_profile_create(ctx, source, &profile), LAMINA_OK);
  assert_int_equal(lmi_memory_profile_add_process(profile, &process, NULL), LAMINA_OK);
  return profile;
}

static uint32_t add_object(lamina_profile *profile, const char *name, uint64_t last_use)
{
  size_t index = 0;
  const lamina_profile_object object = {
    .name = name, .kind = LAMINA_OBJECT_HEAP, .last_use = last_use, .last_release = LAMINA_UNCOUNTED, .page_bytes = 1};
  assert_int_equal(lmi_memory_profile_add_object(profile, &object, &index), LAMINA_OK);
  return (uint32_t)index;
}

/* `count` pages touched in turn, each read `misses` times. */
static void add_pages(lamina_profile *profile, uint32_t object, uint64_t count, uint64_t misses)
{
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t order = profile->pages.count + 1;
    const lmi_profile_page page = {.number = order, .touched = order, .object = object, .tier = -1};
    const lmi_profile_page_counts counts = {.accesses = 2 * misses, .misses = misses};
    assert_int_equal(lmi_memory_profile_add_page(profile, &page), LAMINA_OK);
    assert_int_equal(lmi_memory_profile_add_page_counts(profile, &counts), LAMINA_OK);
  }
}

static lamina_curve *curve_of(const lamina_profile *profile, uint64_t bin_bytes)
{
  lamina_curve *curve = NULL;
  assert_int_equal(lamina_profile_curve(profile, &(lamina_curve_options){.bin_bytes = bin_bytes}, &curve), LAMINA_OK);
  return curve;
}

static void assert_near(double value, double expected)
{
  assert_true(fabs(value - expected) < 1e-9);
}

/* Pages of 1, 2, 3, 4 misses: cumulative 0 4 7 9 10; Gini = 2 (1*1 + 2*2 + 3*3 + 4*4) / (4 * 10) - 5/4 = 0.25. */
static void the_curve_is_exact(void **state)
{
  (void)state;
  lamina_profile *profile = make_profile(LAMINA_SOURCE_TRACE);
  for (uint64_t misses = 1; misses <= 4; misses++)
    add_pages(profile, 0, 1, misses);
  lamina_curve *curve = curve_of(profile, 0);
  static const uint64_t expected[] = {0, 4, 7, 9, 10};
  assert_int_equal(lamina_curve_bins(curve), 4);
  assert_memory_equal(lamina_curve_cumulative(curve), expected, sizeof expected);
  assert_near(lamina_curve_share(curve, 25), 40);
  assert_near(lamina_curve_share(curve, 37.5), 55);
  assert_near(lamina_curve_share(curve, 100), 100);
  assert_near(lamina_curve_capacity(curve, 50), 50);
  assert_near(lamina_curve_capacity(curve, 40), 25);
  assert_near(lamina_curve_capacity(curve, 90), 75);
  assert_near(lamina_curve_capacity(curve, 99), 100);
  assert_near(lamina_curve_gini(curve), 0.25);
  assert_true(isnan(lamina_curve_samples_per_bin(curve)));
  lamina_curve *coarse = curve_of(profile, 8192); /* pages 1 | 2 3 | 4: bins of 1, 5, 4 */
  assert_int_equal(lamina_curve_bins(coarse), 3);
  assert_int_equal(lamina_curve_cumulative(coarse)[1], 5);
  lamina_curve_destroy(curve);
  lamina_curve_destroy(coarse);
  lamina_profile_destroy(profile);
}

/* All alike: the diagonal. All in one of ten: straight to the top. They are 90 points apart at one tenth. */
static void curves_have_a_distance(void **state)
{
  (void)state;
  lamina_profile *even = make_profile(LAMINA_SOURCE_TRACE), *steep = make_profile(LAMINA_SOURCE_TRACE);
  add_pages(even, 0, 7, 3);
  add_pages(steep, 0, 1, 5);
  add_pages(steep, 0, 9, 0);
  lamina_curve *a = curve_of(even, 0), *b = curve_of(steep, 0);
  assert_near(lamina_curve_gini(a), 0);
  assert_near(lamina_curve_gini(b), 0.9);
  assert_near(lamina_curve_distance(a, a), 0);
  assert_near(lamina_curve_distance(a, b), 90);
  assert_near(lamina_curve_distance(b, a), 90);
  lamina_curve_destroy(a);
  lamina_curve_destroy(b);
  lamina_profile_destroy(even);
  lamina_profile_destroy(steep);
}

static void nothing_accessed_has_no_curve(void **state)
{
  (void)state;
  lamina_profile *profile = make_profile(LAMINA_SOURCE_TRACE);
  add_pages(profile, 0, 3, 0);
  lamina_curve *curve = curve_of(profile, 0);
  assert_true(isnan(lamina_curve_share(curve, 50)) && isnan(lamina_curve_capacity(curve, 50)) &&
              isnan(lamina_curve_gini(curve)));
  lamina_curve_destroy(curve);
  assert_int_equal(lamina_profile_curve(profile, &(lamina_curve_options){.bin_bytes = 5000}, &curve),
                   LAMINA_ERROR_ARGUMENT);
  lamina_profile_destroy(profile);
}

/* 200 samples thrown at 100 pages that are all alike: the curve looks skewed, 20 % of the pages seem to hold more than
 * 30 %. Its band says that this can be chance: it comes down to near the true 20. */
static void a_sampled_curve_has_a_band(void **state)
{
  (void)state;
  double low, high;
  uint64_t samples[100] = {0}, random = 88172645463325252u;
  lamina_profile *profile = make_profile(LAMINA_SOURCE_CLOCK);
  for (int i = 0; i < 200; i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    samples[random % 100]++;
  }
  for (int i = 0; i < 100; i++)
    add_pages(profile, 0, 1, samples[i]);
  lamina_curve *curve = curve_of(profile, 0);
  const double share = lamina_curve_share(curve, 20);
  assert_near(lamina_curve_samples_per_bin(curve), 2);
  assert_int_equal(lamina_curve_band(curve, 20, &low, &high), LAMINA_OK);
  assert_true(share > 30 && low < share - 5 && low < 30 && high >= share && high < 100);
  lamina_curve_destroy(curve);
  lamina_profile_destroy(profile);
}

/* The same from a perf source, whose samples are lines from memory: 1000 a page leave a narrow band. */
static void many_samples_make_a_narrow_band(void **state)
{
  (void)state;
  double low, high;
  lamina_profile *profile = make_profile(LAMINA_SOURCE_PERF);
  add_pages(profile, 0, 80, 500);
  add_pages(profile, 0, 20, 3000);
  lamina_curve *curve = curve_of(profile, 0);
  assert_near(lamina_curve_samples_per_bin(curve), 1000);
  assert_near(lamina_curve_share(curve, 20), 60);
  assert_int_equal(lamina_curve_band(curve, 20, &low, &high), LAMINA_OK);
  assert_true(low > 59 && high < 61 && low < high);
  lamina_curve_destroy(curve);
  lamina_profile_destroy(profile);
}

/* memory-spec 5.7: pf 10 158 663, useless 571, in 29 861 492 -> 1.000, 0.340. */
static void prefetch_is_the_paper_s(void **state)
{
  (void)state;
  lamina_counts counts = lmi_counts_none();
  assert_true(isnan(lamina_counts_prefetch(&counts).accuracy));
  counts.of[LAMINA_COUNT_L2_PREFETCHES] = 10158663;
  counts.of[LAMINA_COUNT_L2_PREFETCHES_USELESS] = 571;
  counts.of[LAMINA_COUNT_L2_LINES_IN] = 29861492;
  const lamina_prefetch quality = lamina_counts_prefetch(&counts);
  assert_true(fabs(quality.accuracy - 0.99994) < 1e-5 && fabs(quality.coverage - 0.34018) < 1e-5);
  assert_false(quality.accuracy_clamped || quality.coverage_clamped);
  counts.of[LAMINA_COUNT_L2_PREFETCHES_USELESS] = 10158664;
  assert_true(lamina_counts_prefetch(&counts).accuracy == 0 && lamina_counts_prefetch(&counts).accuracy_clamped);
  assert_near(lamina_prefetch_gain(2, 3), 0.5);
  assert_true(isnan(lamina_prefetch_excess(&counts, &counts)));
}

static const lamina_tier_model tiers[] = {{.name = "fast", .gb_per_s = 73, .latency_ns = 111},
                                          {.name = "slow", .gb_per_s = 34, .latency_ns = 202}};

static lamina_replay_options quarter(void)
{
  lamina_replay_options options = lamina_replay_options_default();
  options.tiers = tiers;
  options.tier_count = 2;
  options.fast_percent = 25;
  return options;
}

/* A cold object first, a hot one last: first touch gives the fast quarter to the cold one. */
static lamina_profile *cold_then_hot(void)
{
  lamina_profile *profile = make_profile(LAMINA_SOURCE_TRACE);
  const uint32_t cold = add_object(profile, "cold", 100), hot = add_object(profile, "hot", 1000);
  add_pages(profile, cold, 75, 1);
  add_pages(profile, hot, 25, 37);
  return profile;
}

static void first_touch_fills_the_fast_tier(void **state)
{
  (void)state;
  lamina_profile *profile = cold_then_hot();
  const lamina_replay_options options = quarter();
  lamina_replay *replay = NULL;
  assert_int_equal(lamina_profile_replay(profile, &options, &replay), LAMINA_OK);
  assert_int_equal(replay->peak_bytes, 409600);
  assert_int_equal(replay->resident_bytes[0], 25 * 4096);
  assert_near(replay->r_cap[1], 0.75);
  assert_near(replay->r_bw[1], 34.0 / 107);
  assert_int_equal(replay->total.lines[0], 25);
  assert_int_equal(replay->total.lines[1], 50 + 25 * 37);
  assert_near(replay->total.r_access[1], 975.0 / 1000);
  assert_int_equal(replay->total.reading[1], LAMINA_READING_EXCESS);
  assert_near(replay->total.bandwidth_seconds, 975 * 64 / 34e9);
  assert_true(isnan(replay->total.latency_seconds)); /* demand misses were not counted */
  lamina_replay_destroy(ctx, replay);
  lamina_profile_destroy(profile);
}

/* A page that was released makes room for the next one. */
static void a_released_page_makes_room(void **state)
{
  (void)state;
  lamina_profile *profile = make_profile(LAMINA_SOURCE_TRACE);
  static const lmi_profile_page pages[] = {{.number = 1, .touched = 1, .released = 3, .tier = -1},
                                           {.number = 2, .touched = 2, .tier = -1},
                                           {.number = 3, .touched = 4, .tier = -1}};
  for (size_t i = 0; i < LMI_COUNT(pages); i++) {
    assert_int_equal(lmi_memory_profile_add_page(profile, &pages[i]), LAMINA_OK);
    assert_int_equal(lmi_memory_profile_add_page_counts(profile, &(lmi_profile_page_counts){.misses = 10}), LAMINA_OK);
  }
  lamina_replay_options options = quarter();
  options.fast_percent = 50; /* one of two pages at the peak */
  lamina_replay *replay = NULL;
  assert_int_equal(lamina_profile_replay(profile, &options, &replay), LAMINA_OK);
  assert_int_equal(replay->total.lines[0], 20);
  assert_int_equal(replay->total.lines[1], 10);
  lamina_replay_destroy(ctx, replay);
  lamina_profile_destroy(profile);
}

static void readings_follow_the_two_references(void **state)
{
  (void)state;
  assert_int_equal(lamina_tier_read((double)NAN, 0.5, 0.3), LAMINA_READING_NONE);
  assert_int_equal(lamina_tier_read(0.06, 0.5, 0.318), LAMINA_READING_UNUSED);
  assert_int_equal(lamina_tier_read(0.28, 0.5, 0.318), LAMINA_READING_BALANCED);
  assert_int_equal(lamina_tier_read(0.54, 0.5, 0.318), LAMINA_READING_BALANCED);
  assert_int_equal(lamina_tier_read(0.56, 0.5, 0.318), LAMINA_READING_EXCESS);
}

static const lamina_advice *find(const lamina_plan *plan, lamina_advice_kind kind)
{
  for (size_t i = 0; i < plan->count; i++)
    if (plan->advice[i].kind == kind)
      return &plan->advice[i];
  return NULL;
}

/* The hot object fits whole, but the fast tier should carry 73/107 of the lines only: 682.24 of 925, 73.8 % of the
 * object. */
static void the_plan_balances_bandwidth(void **state)
{
  (void)state;
  lamina_profile *profile = cold_then_hot();
  const lamina_replay_options options = quarter();
  lamina_plan *plan = NULL;
  assert_int_equal(lamina_profile_plan(profile, &options, &plan), LAMINA_OK);
  const lamina_advice *spread = find(plan, LAMINA_ADVICE_INTERLEAVE);
  assert_non_null(spread);
  assert_near(spread->fraction, 73.0 / 107 * 1000 / 925);
  assert_int_equal(spread->weights[0], 8); /* 8/11 = 0.727 is nearest below weights of 9 */
  assert_int_equal(spread->weights[1], 3);
  assert_non_null(find(plan, LAMINA_ADVICE_SLOW));
  assert_non_null(find(plan, LAMINA_ADVICE_FREE)); /* unused after a tenth of the run */
  assert_true(plan->after->total.r_access[1] < 0.36 &&
              plan->after->total.bandwidth_seconds < 0.4 * plan->before->total.bandwidth_seconds);
  lamina_plan_destroy(ctx, plan);
  lamina_profile_destroy(profile);
}

/* With 10 % only four tenths of the hot object fit: its hottest pages. */
static void what_does_not_fit_is_split(void **state)
{
  (void)state;
  lamina_profile *profile = cold_then_hot();
  lamina_replay_options options = quarter();
  options.fast_percent = 10;
  lamina_plan *plan = NULL;
  assert_int_equal(lamina_profile_plan(profile, &options, &plan), LAMINA_OK);
  const lamina_advice *split = find(plan, LAMINA_ADVICE_SPLIT);
  assert_non_null(split);
  assert_near(split->fraction, 0.4);
  assert_int_equal(plan->after->total.lines[0], 10 * 37);
  assert_int_equal(lamina_plan_write(profile, plan, &options, "x.plan"), LAMINA_OK);
  lamina_plan_destroy(ctx, plan);
  lamina_profile_destroy(profile);
}

/* Nothing is prefetched: the program waits for latency, and the fast tier is filled with all that fits. */
static void wait_for_latency(lamina_profile *profile)
{
  lamina_counts *counts = &profile->phases.data[0].counts;
  counts->of[LAMINA_COUNT_L2_PREFETCHES] = counts->of[LAMINA_COUNT_L2_PREFETCHES_USELESS] = 0;
  counts->of[LAMINA_COUNT_L2_LINES_IN] = 1000;
}

/* 70 cold pages first, then 15 with 20 lines each and 15 with 40, and room for 30: hottest first, both whole, and the
 * cold ones out of their way: 900 of 970 lines, more than any other 30 pages hold. */
static void what_fits_is_allocated_first_hottest_first(void **state)
{
  (void)state;
  lamina_profile *profile = make_profile(LAMINA_SOURCE_TRACE);
  const uint32_t cold = add_object(profile, "cold", 100), warm = add_object(profile, "warm", 1000);
  const uint32_t hot = add_object(profile, "hot", 1000);
  add_pages(profile, cold, 70, 1);
  add_pages(profile, warm, 15, 20);
  add_pages(profile, hot, 15, 40);
  wait_for_latency(profile);
  lamina_replay_options options = quarter();
  options.fast_percent = 30;
  lamina_plan *plan = NULL;
  assert_int_equal(lamina_profile_plan(profile, &options, &plan), LAMINA_OK);
  assert_true(plan->is_latency_bound);
  assert_true(plan->count >= 3);
  assert_int_equal(plan->advice[0].kind, LAMINA_ADVICE_FAST);
  assert_int_equal(plan->advice[0].object, hot);
  assert_int_equal(plan->advice[1].kind, LAMINA_ADVICE_FAST);
  assert_int_equal(plan->advice[1].object, warm);
  assert_int_equal(find(plan, LAMINA_ADVICE_SLOW)->object, cold);
  assert_int_equal(find(plan, LAMINA_ADVICE_SLOW)->tier, 1);
  assert_int_equal(plan->after->total.lines[0], 900);
  assert_int_equal(plan->after->total.lines[1], 70);
  lamina_plan_destroy(ctx, plan);
  lamina_profile_destroy(profile);
}

/* Two hot objects of 25 pages, the second touched when the first is gone: both have the fast quarter of 100 pages, one
 * after the other. */
static void objects_of_different_times_share_the_room(void **state)
{
  (void)state;
  lamina_profile *profile = make_profile(LAMINA_SOURCE_TRACE);
  const uint32_t early = add_object(profile, "early", 500), cold = add_object(profile, "cold", 100);
  const uint32_t late = add_object(profile, "late", 1000);
  add_pages(profile, early, 25, 37);
  add_pages(profile, cold, 75, 1);
  for (uint64_t i = 0; i < 25; i++)
    profile->pages.data[i].released = 101 + i;
  add_pages(profile, late, 25, 37);
  for (uint64_t i = 100; i < 125; i++)
    profile->pages.data[i].touched += 25; /* behind the releases */
  wait_for_latency(profile);
  const lamina_replay_options options = quarter();
  lamina_plan *plan = NULL;
  assert_int_equal(lamina_profile_plan(profile, &options, &plan), LAMINA_OK);
  assert_int_equal(plan->before->peak_bytes, 100 * 4096);
  assert_int_equal(plan->advice[0].kind, LAMINA_ADVICE_FAST);
  assert_int_equal(plan->advice[1].kind, LAMINA_ADVICE_FAST);
  assert_int_equal(plan->after->total.lines[0], 2 * 25 * 37);
  assert_int_equal(plan->after->total.lines[1], 75);
  lamina_plan_destroy(ctx, plan);
  lamina_profile_destroy(profile);
}

static void wrong_tiers_are_refused(void **state)
{
  (void)state;
  lamina_profile *profile = cold_then_hot();
  lamina_replay *replay = NULL;
  lamina_replay_options options = quarter();
  options.tier_count = 0;
  assert_int_equal(lamina_profile_replay(profile, &options, &replay), LAMINA_ERROR_ARGUMENT);
  options = quarter();
  options.fast_percent = 101;
  assert_int_equal(lamina_profile_replay(profile, &options, &replay), LAMINA_ERROR_ARGUMENT);
  assert_null(replay);
  lamina_profile_destroy(profile);
}

LMI_TEST_MAIN(cmocka_unit_test_setup_teardown(the_curve_is_exact, open_context, close_context),
              cmocka_unit_test_setup_teardown(curves_have_a_distance, open_context, close_context),
              cmocka_unit_test_setup_teardown(nothing_accessed_has_no_curve, open_context, close_context),
              cmocka_unit_test_setup_teardown(a_sampled_curve_has_a_band, open_context, close_context),
              cmocka_unit_test_setup_teardown(many_samples_make_a_narrow_band, open_context, close_context),
              cmocka_unit_test_setup_teardown(prefetch_is_the_paper_s, open_context, close_context),
              cmocka_unit_test_setup_teardown(first_touch_fills_the_fast_tier, open_context, close_context),
              cmocka_unit_test_setup_teardown(a_released_page_makes_room, open_context, close_context),
              cmocka_unit_test_setup_teardown(readings_follow_the_two_references, open_context, close_context),
              cmocka_unit_test_setup_teardown(the_plan_balances_bandwidth, open_context, close_context),
              cmocka_unit_test_setup_teardown(what_does_not_fit_is_split, open_context, close_context),
              cmocka_unit_test_setup_teardown(what_fits_is_allocated_first_hottest_first, open_context, close_context),
              cmocka_unit_test_setup_teardown(objects_of_different_times_share_the_room, open_context, close_context),
              cmocka_unit_test_setup_teardown(wrong_tiers_are_refused, open_context, close_context))
