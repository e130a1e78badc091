/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/base.h"
#include "support/failing_allocator.h"

static int make_context(void **state)
{
  return lamina_context_create(NULL, (lamina_context **)state) == LAMINA_OK ? 0 : -1;
}

static int destroy_context(void **state)
{
  lamina_context_destroy(*state);
  return 0;
}

static void first_failure_wins(void **state)
{
  lamina_context *ctx = *state;
  assert_string_equal(lamina_error_message(ctx), "");
  assert_int_equal(lmi_fail(ctx, LAMINA_ERROR_CASE, "cells is %d", -3), LAMINA_ERROR_CASE);
  assert_int_equal(lmi_fail(ctx, LAMINA_ERROR_FILE, "later"), LAMINA_ERROR_FILE);
  assert_string_equal(lamina_error_message(ctx), "cells is -3");
  lamina_error_clear(ctx);
  assert_string_equal(lamina_error_message(ctx), "");
}

static void system_text_follows_the_sentence(void **state)
{
  lamina_context *ctx = *state;
  assert_int_equal(lmi_fail_errno(ctx, LAMINA_ERROR_FILE, 2, "%s", "a.yaml"), LAMINA_ERROR_FILE);
  assert_string_equal(lamina_error_message(ctx), "a.yaml: No such file or directory");
}

static void place_is_put_in_front(void **state)
{
  lamina_context *ctx = *state;
  assert_int_equal(lmi_fail(ctx, LAMINA_ERROR_CASE, "tau is 0.4"), LAMINA_ERROR_CASE);
  assert_int_equal(lmi_fail_within(ctx, LAMINA_ERROR_CASE, "%s:%d", "a.yaml", 7), LAMINA_ERROR_CASE);
  assert_string_equal(lamina_error_message(ctx), "a.yaml:7: tau is 0.4");
}

static void long_sentences_are_cut(void **state)
{
  lamina_context *ctx = *state;
  char word[5000];
  memset(word, 'w', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  assert_int_equal(lmi_fail(ctx, LAMINA_ERROR_CASE, "%s", word), LAMINA_ERROR_CASE);
  assert_int_equal(lmi_fail_within(ctx, LAMINA_ERROR_CASE, "%s", word), LAMINA_ERROR_CASE);
  assert_in_range(strlen(lamina_error_message(ctx)), 1000, 2047);
}

static void array_larger_than_the_address_space(void **state)
{
  lamina_context *ctx = *state;
  void *memory = &memory;
  assert_int_equal(lmi_alloc_array(ctx, SIZE_MAX / 4, 8, &memory), LAMINA_ERROR_MEMORY);
  assert_null(memory);
  assert_non_null(strstr(lamina_error_message(ctx), "elements of 8 bytes"));
}

static void arrays_are_zeroed_and_aligned(void **state)
{
  lamina_context *ctx = *state;
  double *values = NULL;
  assert_int_equal(LMI_ALLOC(ctx, 1000, &values), LAMINA_OK);
  assert_int_equal((uintptr_t)values % LMI_LINE_BYTES, 0);
  for (size_t i = 0; i < 1000; i++)
    assert_true(values[i] == 0);
  lmi_free(ctx, values);
}

static void bad_options_make_no_context(void **state)
{
  (void)state;
  lamina_context_options options = lamina_context_options_default();
  lamina_context *ctx = (lamina_context *)&options;
  options.threads = -1;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_ERROR_ARGUMENT);
  assert_null(ctx);
  options.threads = 1000000;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_ERROR_ARGUMENT);
  assert_int_equal(lamina_context_create(NULL, NULL), LAMINA_ERROR_ARGUMENT);
  lamina_context_destroy(NULL);
}

static lamina_status build_some_text(lamina_context *ctx)
{
  lmi_text text = {0};
  lamina_status status = LAMINA_OK;
  for (int i = 0; i < 400 && status == LAMINA_OK; i++)
    status = lmi_text_append(ctx, &text, "line %d\n", i);
  char *copy = NULL;
  if (status == LAMINA_OK)
    status = lmi_string_copy(ctx, text.data, &copy);
  lmi_free(ctx, copy);
  lmi_text_free(ctx, &text);
  return status;
}

static void each_allocation_may_fail(void **state)
{
  (void)state;
  bool has_failed = true;
  uint64_t failures = 0;
  for (uint64_t n = 1; has_failed; n++) {
    lmi_failing_allocator heap = lmi_failing_allocator_make(n);
    const lamina_allocator allocator = lmi_failing_allocator_interface(&heap);
    lamina_context_options options = lamina_context_options_default();
    options.allocator = &allocator;
    lamina_context *ctx = NULL;
    lamina_status status = lamina_context_create(&options, &ctx);
    if (status == LAMINA_OK)
      status = build_some_text(ctx);
    assert_int_equal(status, heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    has_failed = heap.has_failed;
    failures += has_failed;
  }
  assert_in_range(failures, 3, 20); /* the context, the growing text, the copy */
}

struct remark {
  lamina_log_level level;
  char text[64];
};

static void keep_remark(void *user, lamina_log_level level, const char *text)
{
  struct remark *remark = user;
  remark->level = level;
  snprintf(remark->text, sizeof remark->text, "%s", text);
}

static void remarks_reach_the_caller(void **state)
{
  (void)state;
  struct remark remark = {0};
  lamina_context_options options = lamina_context_options_default();
  options.log = keep_remark;
  options.log_user = &remark;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  lmi_log(ctx, LAMINA_LOG_WARNING, "%d threads", 3);
  assert_int_equal(remark.level, LAMINA_LOG_WARNING);
  assert_string_equal(remark.text, "3 threads");
  lamina_context_destroy(ctx);
}

static void missing_library_is_unavailable(void **state)
{
  lamina_context *ctx = *state;
  static const char *const names[] = {"liblamina-does-not-exist.so.9", NULL};
  void *handle = ctx;
  assert_int_equal(lmi_library_open(ctx, names, NULL, 0, NULL, &handle), LAMINA_UNAVAILABLE);
  assert_null(handle);
  assert_non_null(strstr(lamina_error_message(ctx), names[0]));
}

LMI_TEST_MAIN(cmocka_unit_test_setup_teardown(first_failure_wins, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(system_text_follows_the_sentence, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(place_is_put_in_front, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(long_sentences_are_cut, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(array_larger_than_the_address_space, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(arrays_are_zeroed_and_aligned, make_context, destroy_context),
              cmocka_unit_test(bad_options_make_no_context), cmocka_unit_test(each_allocation_may_fail),
              cmocka_unit_test(remarks_reach_the_caller),
              cmocka_unit_test_setup_teardown(missing_library_is_unavailable, make_context, destroy_context))
