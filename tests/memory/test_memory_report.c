/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of profiles that were made here, so that every number in them is known. */
#include "support/test.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include <lamina/memory_report.h>

#include "base/base.h"
#include "memory/profile_store.h"
#include "memory/rates.h"

static lamina_context *ctx;

static int make_context(void **state)
{
  (void)state;
  return lamina_context_create(NULL, &ctx) == LAMINA_OK && system("rm -rf p r.html r.html.plots") == 0 ? 0 : -1;
}

static int destroy_context(void **state)
{
  (void)state;
  lamina_context_destroy(ctx);
  return 0;
}

/* Two objects of 10 and 30 samples on two pages, in one phase of two seconds; nothing else was counted. The name of the
 * second would break a page that does not escape it. */
static void write_profile(const char *path, uint64_t hot)
{
  lamina_profile *profile = NULL;
  size_t cold_object = 0, hot_object = 0;
  assert_int_equal(lmi_memory_profile_create(ctx, LAMINA_SOURCE_CLOCK, &profile), LAMINA_OK);
  profile->summary.page_bytes = 4096;
  profile->summary.sample_count = 10 + hot;
  profile->summary.page_count = 2;
  profile->summary.tier_count = 1;
  lamina_profile_process process = {.command = "./program <1>",
                                    .ended = "exit 0",
                                    .pid = 7,
                                    .rank = -1,
                                    .counts = lmi_counts_none(),
                                    .footprint_bytes = 8192};
  assert_int_equal(lmi_memory_profile_add_process(profile, &process, NULL), LAMINA_OK);
  lamina_profile_phase phase = {.name = "solve", .seconds = 2, .counts = lmi_counts_none()};
  for (int t = 0; t < LAMINA_TIERS_MAX; t++)
    phase.tier_lines[t] = LAMINA_UNCOUNTED;
  size_t index = 0;
  assert_int_equal(lmi_memory_profile_add_phase(profile, &phase, &index), LAMINA_OK);
  lamina_profile_object object = {.kind = LAMINA_OBJECT_NAMED,
                                  .name = "cold",
                                  .blocks = 1,
                                  .bytes_total = 4096,
                                  .accesses = 10,
                                  .misses = LAMINA_UNCOUNTED,
                                  .writebacks = LAMINA_UNCOUNTED,
                                  .last_release = LAMINA_UNCOUNTED};
  assert_int_equal(lmi_memory_profile_add_object(profile, &object, &cold_object), LAMINA_OK);
  object.name = "hot <script>&\"'";
  object.accesses = hot;
  assert_int_equal(lmi_memory_profile_add_object(profile, &object, &hot_object), LAMINA_OK);
  const struct {
    uint64_t number, samples;
    size_t object;
  } pages[] = {{100, 10, cold_object}, {200, hot, hot_object}};
  for (int i = 0; i < 2; i++) {
    lmi_profile_page page = {.number = pages[i].number, .object = (uint32_t)pages[i].object, .tier = -1};
    lmi_profile_page_counts counts = {
      .phase = (uint32_t)index, .writebacks = UINT32_MAX, .accesses = pages[i].samples, .misses = LAMINA_UNCOUNTED};
    assert_int_equal(lmi_memory_profile_add_page(profile, &page), LAMINA_OK);
    assert_int_equal(lmi_memory_profile_add_page_counts(profile, &counts), LAMINA_OK);
  }
  lamina_footprint_point point = {.seconds = 1, .tier_bytes = {8192}};
  for (int t = 1; t < LAMINA_TIERS_MAX; t++)
    point.tier_bytes[t] = LAMINA_UNCOUNTED;
  assert_int_equal(lmi_memory_profile_add_footprint(profile, &point), LAMINA_OK);
  assert_int_equal(lmi_memory_profile_add_remark(profile, "a <remark>"), LAMINA_OK);
  assert_int_equal(lmi_memory_profile_write(profile, path), LAMINA_OK);
  lamina_profile_destroy(profile);
}

static char *read_whole(const char *path)
{
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *text = NULL;
  const size_t most = 1 << 20;
  assert_int_equal(LMI_ALLOC(ctx, most, &text), LAMINA_OK);
  text[fread(text, 1, most - 1, file)] = '\0';
  fclose(file);
  return text;
}

static char *printed(lamina_report_form form, const char *const *paths, size_t count)
{
  lamina_memory_report *report = NULL;
  assert_int_equal(lamina_memory_report_create(ctx, paths, count, NULL, &report), LAMINA_OK);
  FILE *stream = fopen("report.out", "w");
  assert_non_null(stream);
  assert_int_equal(lamina_memory_report_print(ctx, report, form, stream), LAMINA_OK);
  fclose(stream);
  lamina_memory_report_destroy(ctx, report);
  return read_whole("report.out");
}

static const char *const one[] = {"a.profile"};

static void text_shows_shares_and_no_zeros(void **state)
{
  (void)state;
  write_profile("a.profile", 30);
  char *text = printed(LAMINA_REPORT_TEXT, one, 1);
  const char *hot = strstr(text, "hot <script>"), *cold = strstr(text, "cold");
  assert_true(hot != NULL && cold != NULL && hot < cold);
  assert_non_null(strstr(hot, "75.0 %"));
  assert_non_null(strstr(cold, "25.0 %"));
  const char *phase = strstr(text, "solve");
  assert_non_null(phase);
  assert_non_null(strstr(phase, "n/a"));
  assert_null(strstr(text, "nan"));
  lmi_free(ctx, text);
}

static void json_has_null_for_what_was_not_measured(void **state)
{
  (void)state;
  write_profile("a.profile", 30);
  char *text = printed(LAMINA_REPORT_JSON, one, 1);
  json_t *object = json_loads(text, 0, NULL);
  assert_non_null(object);
  assert_string_equal(json_string_value(json_object_get(object, "source")), "clock");
  json_t *total = json_object_get(object, "total");
  assert_true(json_is_null(json_object_get(total, "flops")) && json_is_null(json_object_get(total, "bytes")) &&
              json_is_null(json_object_get(total, "intensity")));
  assert_true(json_is_string(json_object_get(total, "reason")));
  json_t *prefetch = json_object_get(object, "prefetch");
  assert_true(json_is_null(json_object_get(prefetch, "accuracy")) &&
              json_is_string(json_object_get(prefetch, "reason")));
  json_t *hottest = json_array_get(json_object_get(object, "objects"), 0);
  assert_true(json_real_value(json_object_get(hottest, "share_percent")) == 75.0);
  assert_true(json_is_null(json_object_get(hottest, "misses")));
  assert_int_equal(json_integer_value(json_object_get(object, "peak_bytes")), 8192);
  /* half of the pages take three quarters of the samples */
  json_t *curve = json_object_get(object, "curve");
  json_t *middle = json_array_get(curve, 1);
  assert_true(json_real_value(json_array_get(middle, 0)) == 50.0 && json_real_value(json_array_get(middle, 1)) == 75.0);
  json_decref(object);
  lmi_free(ctx, text);
}

static void several_profiles_are_compared(void **state)
{
  (void)state;
  static const char *const two[] = {"a.profile", "b.profile"};
  write_profile("a.profile", 30);
  write_profile("b.profile", 10);
  char *text = printed(LAMINA_REPORT_TEXT, two, 2);
  assert_non_null(strstr(text, "curves of a.profile and b.profile: 25.0 points apart"));
  lmi_free(ctx, text);
}

/* Nothing outside is needed, nothing inside is taken for markup. */
static void html_stands_alone(void **state)
{
  (void)state;
  lamina_memory_report *report = NULL;
  write_profile("a.profile", 30);
  assert_int_equal(lamina_memory_report_create(ctx, one, 1, NULL, &report), LAMINA_OK);
  assert_int_equal(lamina_memory_report_save_html(ctx, report, "r.html"), LAMINA_OK);
  lamina_memory_report_destroy(ctx, report);
  char *text = read_whole("r.html");
  assert_null(strstr(text, "<script"));
  assert_null(strstr(text, "<link"));
  assert_null(strstr(text, "src=\"http"));
  assert_non_null(strstr(text, "hot &lt;script&gt;&amp;&quot;'"));
  assert_non_null(strstr(text, "a &lt;remark&gt;"));
  assert_non_null(strstr(text, "./program &lt;1&gt;"));
  assert_non_null(strstr(text, "No plot: a roofline needs flops"));
  assert_true(strstr(text, "<svg") != NULL || strstr(text, "No picture: ") != NULL);
  assert_non_null(strstr(text, "</html>"));
  assert_int_equal(access("r.html.plots/curve.gp", R_OK), 0);
  lmi_free(ctx, text);
}

static void wrong_places_are_told(void **state)
{
  (void)state;
  lamina_memory_report *report = NULL;
  static const char *const nowhere[] = {"nowhere"};
  assert_int_equal(lamina_memory_report_create(ctx, nowhere, 1, NULL, &report), LAMINA_ERROR_FILE);
  assert_null(report);
  assert_int_equal(lamina_memory_report_create(ctx, nowhere, 0, NULL, &report), LAMINA_ERROR_ARGUMENT);
  write_profile("a.profile", 30);
  assert_int_not_equal(lamina_memory_report_create(ctx, one, 1, "nowhere.json", &report), LAMINA_OK);
  assert_null(report);
  assert_int_equal(lamina_memory_report_create(ctx, one, 1, NULL, &report), LAMINA_OK);
  assert_int_equal(lamina_memory_report_save_html(ctx, report, "/proc/none/r.html"), LAMINA_ERROR_FILE);
  lamina_memory_report_destroy(ctx, report);
}

/* ---- by the second ---- */

static const char *const folder[] = {"seconds"};

static void put_rates(const char *text)
{
  FILE *file = fopen("seconds/rates.csv", "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static double rate_of(const json_t *report, size_t second, const char *name)
{
  const json_t *value = json_object_get(json_array_get(json_object_get(report, "per_second"), second), name);
  return json_is_number(value) ? json_number_value(value) : -1;
}

/* Two whole seconds and half a one; in the second no byte moved, in the third flops were not counted. */
static void seconds_have_rates(void **state)
{
  (void)state;
  const lmi_rate rates[] = {
    {0, 1, 4000000000, 2000000000}, {1, 1, 1000000000, 0}, {2, 0.5, LAMINA_UNCOUNTED, 1000000000}};
  assert_int_equal(system("rm -rf seconds; mkdir seconds"), 0);
  write_profile("seconds/process.7.profile", 30);
  assert_int_equal(lmi_rates_write(ctx, "seconds", rates, LMI_COUNT(rates)), LAMINA_OK);
  char *text = printed(LAMINA_REPORT_JSON, folder, 1);
  json_t *report = json_loads(text, 0, NULL);
  lmi_free(ctx, text);
  assert_int_equal(json_array_size(json_object_get(report, "per_second")), 3);
  assert_true(rate_of(report, 0, "gflop_per_s") == 4 && rate_of(report, 0, "gb_per_s") == 2);
  assert_true(rate_of(report, 0, "intensity") == 2);
  assert_true(rate_of(report, 1, "gb_per_s") == 0 && rate_of(report, 1, "intensity") == -1);
  assert_true(rate_of(report, 2, "gflop_per_s") == -1 && rate_of(report, 2, "gb_per_s") == 2);
  json_decref(report);
  text = printed(LAMINA_REPORT_TEXT, folder, 1);
  assert_non_null(strstr(text, "flop/byte"));
  assert_non_null(strstr(text, "4.000"));
  lmi_free(ctx, text);
}

static void broken_rates_are_told(void **state)
{
  (void)state;
  static const char head[] = "seconds,length_s,flops,bytes\n";
  static const char *const lines[] = {"",          "0,1,2\n",     "0,0,1,1\n",  "0,1,-1,1\n",
                                      "x,1,1,1\n", "0,1,1,1,1\n", "0,1,1e3,1\n"};
  assert_int_equal(system("rm -rf seconds; mkdir seconds"), 0);
  write_profile("seconds/process.7.profile", 30);
  for (size_t i = 0; i < LMI_COUNT(lines); i++) {
    char text[128];
    lamina_memory_report *report = NULL;
    snprintf(text, sizeof text, "%s%s", i == 0 ? "" : head, lines[i]);
    put_rates(text);
    print_message("%s", lines[i]);
    lamina_error_clear(ctx);
    assert_int_equal(lamina_memory_report_create(ctx, folder, 1, NULL, &report), LAMINA_ERROR_CASE);
    assert_non_null(strstr(lamina_error_message(ctx), "seconds/rates.csv:"));
    assert_null(report);
  }
}

LMI_TEST_MAIN(cmocka_unit_test_setup_teardown(seconds_have_rates, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(broken_rates_are_told, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(text_shows_shares_and_no_zeros, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(json_has_null_for_what_was_not_measured, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(several_profiles_are_compared, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(html_stands_alone, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(wrong_places_are_told, make_context, destroy_context))
