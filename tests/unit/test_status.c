/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include <lamina/status.h>

/* The documented exit codes, written out by hand: README, man page and scripts of users rely on them. */
static void exit_codes_are_as_documented(void **state)
{
  (void)state;
  assert_int_equal(lamina_status_exit_code(LAMINA_OK), 0);
  assert_int_equal(lamina_status_exit_code(LAMINA_ERROR_FILE), 1);
  assert_int_equal(lamina_status_exit_code(LAMINA_ERROR_MEMORY), 1);
  assert_int_equal(lamina_status_exit_code(LAMINA_ERROR_ARGUMENT), 2);
  assert_int_equal(lamina_status_exit_code(LAMINA_ERROR_CASE), 3);
  assert_int_equal(lamina_status_exit_code(LAMINA_UNAVAILABLE), 4);
  assert_int_equal(lamina_status_exit_code(LAMINA_ERROR_DIVERGED), 5);
  assert_int_equal(lamina_status_exit_code(LAMINA_ERROR_CHECK), 5);
}

/* Values are part of the binary interface: this fails when somebody renumbers. */
static void values_are_stable(void **state)
{
  (void)state;
  assert_int_equal(LAMINA_OK, 0);
  assert_int_equal(LAMINA_ERROR_ARGUMENT, 1);
  assert_int_equal(LAMINA_ERROR_CASE, 4);
  assert_int_equal(LAMINA_UNAVAILABLE, 9);
  assert_int_equal(LAMINA_ERROR_COMMUNICATION, 11);
}

static void foreign_value_has_a_text(void **state)
{
  (void)state;
  assert_string_equal(lamina_status_text((lamina_status)99), "unknown status");
  assert_int_equal(lamina_status_exit_code((lamina_status)99), 1);
}

static void texts_differ(void **state)
{
  (void)state;
  for (int a = 0; a <= LAMINA_ERROR_COMMUNICATION; a++)
    for (int b = a + 1; b <= LAMINA_ERROR_COMMUNICATION; b++)
      assert_string_not_equal(lamina_status_text((lamina_status)a), lamina_status_text((lamina_status)b));
}

LMI_TEST_MAIN(cmocka_unit_test(exit_codes_are_as_documented), cmocka_unit_test(values_are_stable),
              cmocka_unit_test(foreign_value_has_a_text), cmocka_unit_test(texts_differ))
