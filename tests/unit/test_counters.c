/* SPDX-License-Identifier: Apache-2.0 */
/* Each machine that users.md B2 describes, shown to the judge: K2-01 (paranoid values), K2-02 (sandbox), K2-03 (no
 * PMU). */
#include "support/test.h"

#include <errno.h>

#include "base/base.h"
#include "memory/counters.h"

static lamina_host host_with(int paranoid, bool has_perfmon)
{
  const lamina_host host = {.perf_event_paranoid = paranoid, .has_perfmon = has_perfmon, .seccomp = 0};
  return host;
}

static lamina_host judged(int paranoid, bool has_perfmon, int hardware, int software)
{
  lamina_host host = host_with(paranoid, has_perfmon);
  lmi_counters_judge(&host, (lmi_counter_trial){hardware, software});
  return host;
}

static void working_counters_need_no_words(void **state)
{
  (void)state;
  const lamina_host host = judged(4, false, 0, 0);
  assert_int_equal(host.hardware_counters, LAMINA_COUNTERS_WORK);
  assert_int_equal(host.software_counters, LAMINA_COUNTERS_WORK);
  assert_string_equal(host.counters_reason, "");
  assert_string_equal(host.counters_fix, "");
}

static void paranoid_is_blamed_with_value_and_need(void **state)
{
  (void)state;
  static const int values[] = {3, 4};
  for (size_t i = 0; i < LMI_COUNT(values); i++) {
    const lamina_host host = judged(values[i], false, EACCES, EACCES);
    char expected[32];
    snprintf(expected, sizeof expected, "paranoid is %d", values[i]);
    assert_int_equal(host.hardware_counters, LAMINA_COUNTERS_FORBIDDEN);
    assert_non_null(strstr(host.counters_reason, expected));
    assert_non_null(strstr(host.counters_reason, "needs 2 or less"));
    assert_non_null(strstr(host.counters_fix, "sysctl kernel.perf_event_paranoid=2"));
  }
}

static void sandbox_is_blamed_when_paranoid_allows(void **state)
{
  (void)state;
  static const int allowing[] = {2, 1, 0, -1, LAMINA_HOST_UNKNOWN};
  for (size_t i = 0; i < LMI_COUNT(allowing); i++) {
    const lamina_host host = judged(allowing[i], false, EPERM, EPERM);
    assert_int_equal(host.hardware_counters, LAMINA_COUNTERS_SANDBOXED);
    assert_int_equal(host.software_counters, LAMINA_COUNTERS_SANDBOXED);
    assert_non_null(strstr(host.counters_reason, "CapEff"));
    assert_non_null(strstr(host.counters_fix, "--cap-add PERFMON"));
    assert_null(strstr(host.counters_reason, "-1000"));
  }
  const lamina_host privileged =
    judged(4, true, EPERM, EPERM); /* the capability lifts paranoid: it cannot be the cause */
  assert_int_equal(privileged.hardware_counters, LAMINA_COUNTERS_SANDBOXED);
}

static void missing_hardware_leaves_the_software_events(void **state)
{
  (void)state;
  static const int errors[] = {ENOENT, EOPNOTSUPP, ENODEV};
  for (size_t i = 0; i < LMI_COUNT(errors); i++) {
    lamina_host host = host_with(2, false);
    host.is_virtual = true;
    lmi_counters_judge(&host, (lmi_counter_trial){errors[i], 0});
    assert_int_equal(host.hardware_counters, LAMINA_COUNTERS_ABSENT);
    assert_int_equal(host.software_counters, LAMINA_COUNTERS_WORK);
    assert_non_null(strstr(host.counters_reason, "virtual machine"));
    assert_non_null(strstr(host.counters_fix, "--source clock"));
  }
}

static void a_kernel_without_perf_says_so(void **state)
{
  (void)state;
  const lamina_host host = judged(LAMINA_HOST_UNKNOWN, false, ENOSYS, ENOSYS);
  assert_int_equal(host.hardware_counters, LAMINA_COUNTERS_ABSENT);
  assert_non_null(strstr(host.counters_reason, "perf_event_open"));
}

LMI_TEST_MAIN(cmocka_unit_test(working_counters_need_no_words),
              cmocka_unit_test(paranoid_is_blamed_with_value_and_need),
              cmocka_unit_test(sandbox_is_blamed_when_paranoid_allows),
              cmocka_unit_test(missing_hardware_leaves_the_software_events),
              cmocka_unit_test(a_kernel_without_perf_says_so))
