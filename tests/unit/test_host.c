/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include <math.h>

#include <lamina/host.h>

#include "base/base.h"
#include "support/failing_allocator.h"
#include "support/recorded.h"

static const char root[] = "root";

static int begin(void **state)
{
  lmi_recorded_clear(root);
  return lamina_context_create(NULL, (lamina_context **)state) == LAMINA_OK ? 0 : -1;
}

static int end(void **state)
{
  lamina_context_destroy(*state);
  return 0;
}

static lamina_host read_host(void **state)
{
  lamina_host host;
  assert_int_equal(lamina_host_read(*state, root, &host), LAMINA_OK);
  return host;
}

static void an_empty_machine_is_unknown_not_zero(void **state)
{
  const lamina_host host = read_host(state);
  assert_string_equal(host.processor, "");
  assert_int_equal(host.cache_count, 0);
  assert_int_equal(host.perf_event_paranoid, LAMINA_HOST_UNKNOWN);
  assert_int_equal(host.ptrace_scope, LAMINA_HOST_UNKNOWN);
  assert_int_equal(host.seccomp, LAMINA_HOST_UNKNOWN);
  assert_true(isnan(host.processor_quota));
  assert_int_equal(host.hardware_counters, LAMINA_COUNTERS_NOT_TRIED);
}

/* K2-01: every content that was seen of this file. */
static void paranoid_is_read_in_every_shape(void **state)
{
  static const struct {
    const char *text;
    int value;
  } cases[] = {{"4\n", 4}, {"2", 2}, {"-1\n", -1}, {"0\n", 0}, {"", LAMINA_HOST_UNKNOWN}, {"x\n", LAMINA_HOST_UNKNOWN}};
  for (size_t i = 0; i < LMI_COUNT(cases); i++) {
    lmi_recorded_write(root, "/proc/sys/kernel/perf_event_paranoid", cases[i].text);
    assert_int_equal(read_host(state).perf_event_paranoid, cases[i].value);
  }
}

static void processor_and_its_vectors_are_read(void **state)
{
  lmi_recorded_write(
    root, "/proc/cpuinfo",
    "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: fpu avx avx2 hypervisor fma4 avx512vl\n"
    "bogomips\t: 1\n\nprocessor\t: 1\nmodel name\t: Other\nflags\t\t: fma avx512f\n");
  const lamina_host host = read_host(state);
  assert_string_equal(host.processor, "Some CPU @ 2 GHz");
  assert_true(host.has_avx2);
  assert_true(host.is_virtual);
  assert_false(host.has_fma);    /* fma4 is another thing */
  assert_false(host.has_avx512); /* neither avx512vl nor the flags of another processor make it avx512f */
}

static void flag_at_the_end_of_the_line_counts(void **state)
{
  lmi_recorded_write(root, "/proc/cpuinfo", "processor\t: 0\nflags\t\t: avx2 fma\n");
  assert_true(read_host(state).has_fma);
  lmi_recorded_write(root, "/proc/cpuinfo", "processor\t: 0\nflags\t\t: avx2 avx512f");
  assert_true(read_host(state).has_avx512);
}

static void write_cache(int cpu, int index, const char *level, const char *type, const char *size, const char *shared)
{
  const char *const names[] = {"level", "type", "size", "shared_cpu_list"};
  const char *const texts[] = {level, type, size, shared};
  for (size_t i = 0; i < LMI_COUNT(names); i++) {
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, names[i]);
    lmi_recorded_write(root, path, texts[i]);
  }
}

/* Two processors with holes in their numbers (1 and 4): own L1, shared L3, counted once. */
static void caches_are_counted_once(void **state)
{
  lmi_recorded_write(root, "/sys/devices/system/cpu/online", "1,4\n");
  write_cache(1, 0, "1\n", "Data\n", "48K\n", "1\n");
  write_cache(4, 0, "1\n", "Data\n", "48K\n", "4\n");
  write_cache(1, 1, "3\n", "Unified\n", "32M\n", "1,4\n");
  write_cache(4, 1, "3\n", "Unified\n", "32M\n", "1,4\n");
  const lamina_host host = read_host(state);
  assert_int_equal(host.cache_count, 2);
  assert_int_equal(host.caches[0].bytes, 48 << 10);
  assert_int_equal(host.caches[0].count, 2);
  assert_int_equal(host.caches[1].level, 3);
  assert_int_equal(host.caches[1].bytes, 32 << 20);
  assert_int_equal(host.caches[1].count, 1);
}

static void tightest_quota_of_the_ancestors_rules(void **state)
{
  lmi_recorded_write(root, "/proc/self/cgroup", "0::/a/b\n");
  lmi_recorded_write(root, "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  assert_true(isnan(read_host(state).processor_quota));
  lmi_recorded_write(root, "/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  assert_true(read_host(state).processor_quota == 1.5);
  lmi_recorded_write(root, "/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  assert_true(read_host(state).processor_quota == 0.5);
}

static void quota_of_the_first_cgroups(void **state)
{
  lmi_recorded_write(root, "/proc/self/cgroup", "12:memory:/x\n4:cpu,cpuacct:/x\n");
  lmi_recorded_write(root, "/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
  lmi_recorded_write(root, "/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n");
  assert_true(isnan(read_host(state).processor_quota));
  lmi_recorded_write(root, "/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "400000\n");
  assert_true(read_host(state).processor_quota == 4.0);
}

static void capability_and_seccomp_are_read(void **state)
{
  lmi_recorded_write(root, "/proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t2\n");
  lamina_host host = read_host(state);
  assert_int_equal(host.seccomp, 2);
  assert_false(host.has_perfmon);
  lmi_recorded_write(root, "/proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\nSeccomp:\t0\n");
  host = read_host(state);
  assert_int_equal(host.seccomp, 0);
  assert_true(host.has_perfmon); /* bit 38 */
}

static void this_machine_can_be_read(void **state)
{
  lamina_host host;
  assert_int_equal(lamina_host_read(*state, NULL, &host), LAMINA_OK);
  assert_int_not_equal(host.hardware_counters, LAMINA_COUNTERS_NOT_TRIED);
  assert_true((host.counters_reason[0] == '\0') == (host.hardware_counters == LAMINA_COUNTERS_WORK));
}

static void each_allocation_may_fail(void **state)
{
  (void)state;
  lmi_recorded_write(root, "/proc/self/cgroup", "0::/a\n");
  lmi_recorded_write(root, "/proc/self/status", "Seccomp:\t0\n");
  lmi_recorded_write(root, "/proc/cpuinfo", "model name : x\n");
  bool has_failed = true;
  for (uint64_t n = 2; has_failed; n++) { /* the first call is the context's */
    lmi_failing_allocator heap = lmi_failing_allocator_make(n);
    const lamina_allocator allocator = lmi_failing_allocator_interface(&heap);
    lamina_context_options options = lamina_context_options_default();
    options.allocator = &allocator;
    lamina_context *ctx = NULL;
    lamina_host host;
    assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
    const lamina_status status = lamina_host_read(ctx, root, &host);
    assert_int_equal(status, heap.has_failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    has_failed = heap.has_failed;
  }
}

LMI_TEST_MAIN(cmocka_unit_test_setup_teardown(an_empty_machine_is_unknown_not_zero, begin, end),
              cmocka_unit_test_setup_teardown(paranoid_is_read_in_every_shape, begin, end),
              cmocka_unit_test_setup_teardown(processor_and_its_vectors_are_read, begin, end),
              cmocka_unit_test_setup_teardown(flag_at_the_end_of_the_line_counts, begin, end),
              cmocka_unit_test_setup_teardown(caches_are_counted_once, begin, end),
              cmocka_unit_test_setup_teardown(tightest_quota_of_the_ancestors_rules, begin, end),
              cmocka_unit_test_setup_teardown(quota_of_the_first_cgroups, begin, end),
              cmocka_unit_test_setup_teardown(capability_and_seccomp_are_read, begin, end),
              cmocka_unit_test_setup_teardown(this_machine_can_be_read, begin, end),
              cmocka_unit_test(each_allocation_may_fail))
