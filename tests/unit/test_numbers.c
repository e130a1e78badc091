/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "support/test.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/spread.h"

static void refuses_what_is_not_one_number(void **state)
{
  (void)state;
  static const char *const bad[] = {"",       " ",   "x",   "1x",   "1 2", "0,5", "1e400",
                                    "-1e400", "nan", "inf", "-inf", "--1", "1e"};
  for (size_t i = 0; i < LMI_COUNT(bad); i++) {
    double value = 7;
    if (lmi_parse_double(bad[i], &value))
      fail_msg("'%s' was read as %g", bad[i], value);
    assert_true(value == 7);
  }
}

static void reads_numbers_exactly(void **state)
{
  (void)state;
  double value = 0;
  assert_true(lmi_parse_double("0.1", &value));
  assert_true(value == 0.1);
  assert_true(lmi_parse_double("-2.5e-3", &value));
  assert_true(value == -2.5e-3);
  assert_true(lmi_parse_double("1e-310", &value)); /* below the normal numbers, but a number */
  assert_true(value > 0);
}

static void integers_end_at_64_bits(void **state)
{
  (void)state;
  int64_t value = 0;
  assert_true(lmi_parse_int64("9223372036854775807", &value));
  assert_true(value == INT64_MAX);
  assert_false(lmi_parse_int64("9223372036854775808", &value));
  assert_false(lmi_parse_int64("12.5", &value));
  assert_false(lmi_parse_int64("", &value));
  assert_false(lmi_parse_int64("0x10", &value));
}

/* Makes de_DE.UTF-8 in the scratch folder when the system has none; its sources come with the package "locales". */
static const char *enter_comma_locale(void)
{
  if (setlocale(LC_ALL, "de_DE.UTF-8") != NULL || setlocale(LC_ALL, "de_DE") != NULL)
    return setlocale(LC_ALL, NULL);
  if (system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1") != 0 || setenv("LOCPATH", ".", 1) != 0)
    return NULL;
  return setlocale(LC_ALL, "de_DE.UTF-8");
}

/* users.md K2-19: the same numbers in every locale. */
static void a_comma_locale_changes_nothing(void **state)
{
  (void)state;
  if (enter_comma_locale() == NULL)
    LMI_SKIP("no locale with a decimal comma and no localedef to make one: install locales");
  assert_string_equal(localeconv()->decimal_point, ",");
  double value = 0;
  assert_true(lmi_parse_double("0.5", &value));
  assert_true(value == 0.5);
  assert_false(lmi_parse_double("0,5", &value));
  char buffer[32];
  assert_string_equal(lmi_format_double(0.5, buffer), "0.5");
  assert_string_equal(localeconv()->decimal_point, ","); /* and the caller's locale is back */
}

static void formats_what_reads_back_the_same(void **state)
{
  (void)state;
  char buffer[32];
  assert_string_equal(lmi_format_double(0.1, buffer), "0.1");
  assert_string_equal(lmi_format_double(-3.0, buffer), "-3");
  assert_string_equal(lmi_format_double(NAN, buffer), "nan");
  assert_string_equal(lmi_format_double(-INFINITY, buffer), "-inf");
  const double values[] = {1.0 / 3.0, 0.1 + 0.2, 4.9e-324, -1.7976931348623157e308, 123456789.125};
  for (size_t i = 0; i < LMI_COUNT(values); i++) {
    double back = 0;
    assert_true(lmi_parse_double(lmi_format_double(values[i], buffer), &back));
    assert_true(back == values[i]);
  }
}

static void a_spread_needs_every_value(void **state)
{
  (void)state;
  double odd[] = {3.0, 1.0, 2.0}, even[] = {4.0, 1.0, 2.0, 3.0}, gap[] = {1.0, (double)NAN, 3.0};
  const lamina_spread of_odd = lmi_spread_of(odd, 3), of_even = lmi_spread_of(even, 4), of_gap = lmi_spread_of(gap, 3);
  assert_true(of_odd.median == 2.0 && of_odd.low == 1.0 && of_odd.high == 3.0);
  assert_true(of_even.median == 2.5 && of_even.low == 1.0 && of_even.high == 4.0);
  assert_true(isnan(of_gap.median) && isnan(of_gap.low) && isnan(of_gap.high));
}

LMI_TEST_MAIN(cmocka_unit_test(refuses_what_is_not_one_number), cmocka_unit_test(reads_numbers_exactly),
              cmocka_unit_test(integers_end_at_64_bits), cmocka_unit_test(a_comma_locale_changes_nothing),
              cmocka_unit_test(formats_what_reads_back_the_same), cmocka_unit_test(a_spread_needs_every_value))
