/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/base.h"

static const char *const commands[] = {"run", "plan", "bench", "render", "record", "report", "doctor", "machine"};

static const char *nearest(const char *word)
{
  return lmi_nearest_word(word, commands, LMI_COUNT(commands));
}

static void nearest_word_mends_one_slip(void **state)
{
  (void)state;
  assert_string_equal(nearest("rnu"), "run"); /* two letters swapped */
  assert_string_equal(nearest("benhc"), "bench");
  assert_string_equal(nearest("docter"), "doctor");  /* a wrong letter */
  assert_string_equal(nearest("machin"), "machine"); /* a letter lost */
  assert_string_equal(nearest("pplan"), "plan");     /* a letter too many */
}

static void nearest_word_takes_the_closer_of_two(void **state)
{
  (void)state;
  assert_string_equal(nearest("reccord"), "record");
  assert_string_equal(nearest("repoort"), "report");
}

static void nearest_word_refuses_the_unrelated(void **state)
{
  (void)state;
  assert_null(nearest("voxelize"));
  assert_null(nearest("x"));
  assert_null(nearest(""));
}

static void nearest_word_survives_long_words(void **state)
{
  (void)state;
  char word[4096];
  memset(word, 'r', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  assert_null(nearest(word));
}

static void bytes_read_as_people_say_them(void **state)
{
  (void)state;
  char buffer[32];
  assert_string_equal(lmi_format_bytes(0, buffer), "0 B");
  assert_string_equal(lmi_format_bytes(1023, buffer), "1023 B");
  assert_string_equal(lmi_format_bytes(1536, buffer), "1.50 KiB");
  assert_string_equal(lmi_format_bytes(2147483648.0, buffer), "2.00 GiB");
  assert_string_equal(lmi_format_bytes(1e30, buffer), "867361737988.40 EiB"); /* no unit above: the number grows */
}

static void text_grows_and_keeps_what_it_had(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  lmi_text text = {0};
  for (int i = 0; i < 1000; i++)
    assert_int_equal(lmi_text_append(ctx, &text, "%d,", i), LAMINA_OK);
  assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4);
  assert_int_equal(strlen(text.data), text.length);
  assert_memory_equal(text.data, "0,1,2,", 6);
  assert_string_equal(text.data + text.length - 4, "999,");
  lmi_text_free(ctx, &text);
  assert_null(text.data);
  lamina_context_destroy(ctx);
}

static void product_that_overflows_is_told(void **state)
{
  (void)state;
  size_t product = 0;
  assert_true(lmi_multiply_size(1u << 20, 1u << 20, &product));
  assert_int_equal(product, (size_t)1 << 40);
  assert_false(lmi_multiply_size(SIZE_MAX, 2, &product));
}

LMI_TEST_MAIN(cmocka_unit_test(nearest_word_mends_one_slip), cmocka_unit_test(nearest_word_takes_the_closer_of_two),
              cmocka_unit_test(nearest_word_refuses_the_unrelated), cmocka_unit_test(nearest_word_survives_long_words),
              cmocka_unit_test(bytes_read_as_people_say_them), cmocka_unit_test(text_grows_and_keeps_what_it_had),
              cmocka_unit_test(product_that_overflows_is_told))
