/* SPDX-License-Identifier: Apache-2.0 */
/* Texts and tables that the sources rest on: numa_maps, raw events, the fit of the injector. */
#define _GNU_SOURCE
#include "support/test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lamina/inject.h>
#include <lamina/tiers.h>

#include "base/base.h"
#include "memory/event_table.h"
#include "memory/inject_fit.h"
#include "memory/inject_kernel.h"
#include "memory/numa_maps.h"
#include "support/unpack_machine.h"

/* memkind 17: a file name that looks like a field; the kernel escapes blanks and marks deleted files. */
static void file_names_are_no_fields(void **state)
{
  (void)state;
  lmi_numa_mapping m;
  assert_true(
    lmi_numa_maps_line("7f0000000000 default file=/tmp/my\\040data\\040N1\\0755\\011x.bin\\040(deleted) dirty=2 "
                       "active=0 N0=2 kernelpagesize_kB=4\n",
                       4096, &m));
  assert_int_equal(m.node_count, 1);
  assert_int_equal(m.nodes[0].node, 0);
  assert_true(m.total_bytes == 8192);
  assert_true(m.start == UINT64_C(0x7f0000000000));
}

static void page_sizes_come_from_the_line(void **state)
{
  (void)state;
  lmi_numa_mapping m;
  assert_true(lmi_numa_maps_line("ffff00000000 default anon=16 dirty=16 N0=16 kernelpagesize_kB=64", 4096, &m));
  assert_true(m.total_bytes == 1 << 20);
  assert_true(lmi_numa_maps_line("ffff00000000 default anon=16 dirty=16 N0=16", 65536, &m)); /* an old kernel */
  assert_true(m.total_bytes == 1 << 20);
  assert_true(
    lmi_numa_maps_line("7f00 default file=/anon_hugepage huge dirty=3 N2=3 kernelpagesize_kB=2048", 4096, &m));
  assert_true(m.total_bytes == 6 << 20 && m.nodes[0].node == 2);
}

static void several_nodes_and_unknown_words(void **state)
{
  (void)state;
  lmi_numa_mapping m;
  assert_true(lmi_numa_maps_line(
    "7f00 prefer:1 anon=7 swapcache=1 mapmax=9 N0=3 N255=4 newword=N7=1 kernelpagesize_kB=4", 4096, &m));
  assert_int_equal(m.node_count, 2);
  assert_int_equal(m.nodes[1].node, 255);
  assert_true(m.total_bytes == 7 * 4096);
  assert_true(lmi_numa_maps_line("7f00 default", 4096, &m));
  assert_true(m.total_bytes == 0);
  assert_false(lmi_numa_maps_line("", 4096, &m));
  assert_false(lmi_numa_maps_line("zzz default", 4096, &m));
}

static const lmi_event_row *row_of(const lmi_event_table *table, lmi_meaning meaning)
{
  for (size_t i = 0; i < table->count; i++)
    if (table->rows[i].meaning == meaning)
      return &table->rows[i];
  return NULL;
}

/* Values of the makers' lists; the two that libpfm4 4.13 has wrong are among them. */
static void raw_events_are_the_makers(void **state)
{
  (void)state;
  static const struct {
    const char *vendor;
    int family, model;
    lmi_meaning meaning;
    uint64_t config, config1;
  } values[] = {
    {"GenuineIntel", 6, 85, LMI_MEANING_READ_LINES, 0x01b7, 0x3fbc000491},
    {"GenuineIntel", 6, 85, LMI_MEANING_LOCAL_LINES, 0x01b7, 0x3f84000491},
    {"GenuineIntel", 6, 85, LMI_MEANING_REMOTE_LINES, 0x01bb, 0x3f90000491},
    {"GenuineIntel", 6, 85, LMI_MEANING_L2_USELESS, 0x04f2, 0},
    {"GenuineIntel", 6, 106, LMI_MEANING_LOCAL_LINES, 0x01b7, 0x104000477},
    {"GenuineIntel", 6, 108, LMI_MEANING_REMOTE_LINES, 0x01bb, 0x730000477},
    {"GenuineIntel", 6, 143, LMI_MEANING_STORE_SAMPLE, 0x02cd, 0},
    {"GenuineIntel", 6, 143, LMI_MEANING_L2_LINES_IN, 0x1f25, 0},
    {"GenuineIntel", 6, 207, LMI_MEANING_L2_USELESS, 0x0426, 0},
    {"GenuineIntel", 6, 143, LMI_MEANING_FP_F64X8, 0x40c7, 0},
    {"AuthenticAMD", 25, 1, LMI_MEANING_FP_F64, 0x0f03, 0},
    {"AuthenticAMD", 25, 0x11, LMI_MEANING_FP_F64, 0x1f03, 0},
    {"AuthenticAMD", 25, 0x21, LMI_MEANING_REMOTE_LINES, 0x4044, 0},
  };
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    const lmi_event_table *table = lmi_event_table_find(values[i].vendor, values[i].family, values[i].model);
    assert_non_null(table);
    const lmi_event_row *row = row_of(table, values[i].meaning);
    assert_non_null(row);
    assert_true(row->config == values[i].config && row->config1 == values[i].config1);
  }
  assert_null(lmi_event_table_find("GenuineIntel", 6, 94));
  assert_null(lmi_event_table_find("AuthenticAMD", 23, 1));
}

static void the_processor_is_found_by_its_numbers(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  const lmi_event_table *table = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lmi_unpack_file("icx", "/proc/cpuinfo",
                                   "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
                                   "model\t\t: 106\nmodel name\t: Intel(R) Xeon(R) Platinum\n"),
                   0);
  assert_int_equal(lmi_event_table_here(ctx, "icx", &table), LAMINA_OK);
  assert_non_null(table);
  assert_string_equal(table->model, "Ice Lake-X");
  assert_int_equal(lmi_event_table_here(ctx, "nowhere", &table), LAMINA_OK);
  assert_null(table);
  lamina_context_destroy(ctx);
}

/* Worked by hand: 5 and 7 violate and become their mean. */
static void the_fit_never_rises(void **state)
{
  (void)state;
  const double values[] = {10, 5, 7, 3, 3, 4}, expected[] = {10, 6, 6, 10.0 / 3, 10.0 / 3, 10.0 / 3};
  double fitted[6];
  size_t sizes[6];
  lmi_fit_falling(values, 6, fitted, sizes);
  for (int i = 0; i < 6; i++)
    assert_true(fabs(fitted[i] - expected[i]) < 1e-12);
}

/* 16 bytes an element at 20 GB/s take 0.8 ns, at 10 GB/s 1.6 ns: 1.2 ns lie in the middle, 13.33 GB/s. */
static void flops_are_interpolated_in_time(void **state)
{
  (void)state;
  const lamina_calibration_point a = {1, 8, 20, 20}, b = {1, 16, 10, 10};
  assert_true(fabs(lmi_interpolate_flops(&a, &b, 16 / 1.2) - 12) < 1e-9);
  assert_true(fabs(lmi_interpolate_flops(&a, &b, 5) - 32) < 1e-9); /* beyond the last point the line goes on */
}

static lamina_injector_calibration made_up(lamina_calibration_point *points)
{
  const lamina_calibration_point given[] = {{1, 1, 30, 30}, {1, 10, 15, 15}, {1, 20, 7.5, 7.5},
                                            {2, 1, 50, 50}, {2, 10, 30, 30}, {2, 20, 15, 15}};
  memcpy(points, given, sizeof given);
  return (lamina_injector_calibration){.array_bytes = 1 << 20, .peak_gb_per_s = 50, .points = points, .point_count = 6};
}

static void the_fewest_threads_are_chosen(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  lamina_calibration_point points[6];
  const lamina_injector_calibration calibration = made_up(points);
  lamina_injector_setting setting;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lamina_inject_choose(ctx, &calibration, 30, 0, &setting), LAMINA_OK);
  assert_int_equal(setting.threads, 1);
  assert_true(fabs(setting.flops_per_element - 10) < 1e-9);
  assert_int_equal(lamina_inject_choose(ctx, &calibration, 80, 0, &setting), LAMINA_OK);
  assert_int_equal(setting.threads, 2);
  assert_int_equal(lamina_inject_choose(ctx, &calibration, 250, 0, &setting), LAMINA_OK);
  assert_true(setting.threads == 2 && setting.flops_per_element == 1);
  assert_int_equal(lamina_inject_choose(ctx, &calibration, 80, 1, &setting), LAMINA_ERROR_ARGUMENT);
  assert_non_null(strstr(lamina_error_message(ctx), "reach a level of interference of 60"));
  assert_int_equal(lamina_inject_choose(ctx, &calibration, 0, 0, &setting), LAMINA_ERROR_ARGUMENT);
  lamina_context_destroy(ctx);
}

static void calibrations_survive_the_file(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  lamina_calibration_point points[6];
  const lamina_injector_calibration calibration = made_up(points);
  lamina_injector_calibration *again = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lamina_injector_calibration_save(ctx, &calibration, "c.json"), LAMINA_OK);
  assert_int_equal(lamina_injector_calibration_load(ctx, "c.json", &again), LAMINA_OK);
  assert_int_equal(again->point_count, 6);
  assert_true(again->points[4].fitted_gb_per_s == 30 && again->peak_gb_per_s == 50);
  lamina_injector_calibration_destroy(ctx, again);
  static const char *const broken[] = {"{}", "{\"lamina_injector\": 9}", "{\"lamina_injector\": 1}", "[", ""};
  for (size_t i = 0; i < LMI_COUNT(broken); i++) {
    assert_int_equal(lmi_unpack_file(".", "/c.json", broken[i]), 0);
    assert_int_not_equal(lamina_injector_calibration_load(ctx, "c.json", &again), LAMINA_OK);
    assert_null(again);
  }
  lamina_context_destroy(ctx);
}

/* However many flops, values that are one stay one: no overflow, no denormals, however long it runs. */
static void injected_values_stay_where_they_are(void **state)
{
  (void)state;
  _Alignas(64) double values[7 * 8];
  for (int flops = 1; flops < 70; flops++) {
    for (size_t i = 0; i < LMI_COUNT(values); i++)
      values[i] = 1;
    lmi_inject_lines(values, 7, flops, 0);
    for (size_t i = 0; i < LMI_COUNT(values); i++)
      assert_true(values[i] == 1);
  }
  values[55] = 1e300;
  for (int round = 0; round < 1100; round++)
    lmi_inject_lines(values, 7, 2, 0);
  assert_true(fabs(values[55] - 1) < 1e-9);
}

static void injecting_stops_by_itself(void **state)
{
  (void)state;
  lamina_context *ctx = NULL;
  lamina_injector_setting setting = lamina_injector_setting_default();
  lamina_injection result;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  setting.threads = 2;
  setting.array_bytes = 1 << 22;
  setting.flops_per_element = 3.5;
  assert_int_equal(lamina_inject_run(ctx, &setting, 0.05, &result), LAMINA_OK);
  assert_true(result.seconds >= 0.05 && result.gb_per_s > 0);
  setting.flops_per_element = 0;
  assert_int_equal(lamina_inject_run(ctx, &setting, 0.05, &result), LAMINA_ERROR_ARGUMENT);
  setting = lamina_injector_setting_default();
  assert_int_equal(lamina_inject_run(ctx, &setting, -1, &result), LAMINA_ERROR_ARGUMENT);
  lamina_context_destroy(ctx);
}

/* numactl PR232: a sandbox refuses every call of memory policy. */
static int refuse_policy(void)
{
#define REFUSE(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
  struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                REFUSE(mbind),
                                REFUSE(set_mempolicy),
                                REFUSE(get_mempolicy),
                                REFUSE(move_pages),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
#undef REFUSE
  const struct sock_fprog program = {.len = LMI_COUNT(rules), .filter = rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int inject_under_refusal(int node)
{
  lamina_context *ctx = NULL;
  lamina_injection result;
  lamina_injector_setting setting = lamina_injector_setting_default();
  setting.array_bytes = 1 << 20;
  setting.placement.memory_node = node;
  if (!refuse_policy() || lamina_context_create(NULL, &ctx) != LAMINA_OK)
    return 77;
  if (lamina_inject_run(ctx, &setting, 0.05, &result) != LAMINA_OK)
    return 1;
  lamina_context_destroy(ctx);
  return result.placed ? 2 : result.gb_per_s > 0 ? 0 : 3; /* it ran, and claims no placement */
}

static void refused_placement_is_no_placement(void **state)
{
  (void)state;
  int wait_status = 0;
  lamina_context *ctx = NULL;
  lamina_machine *machine = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lamina_machine_inspect(ctx, NULL, &machine), LAMINA_OK);
  int node = -1;
  for (size_t i = 0; i < machine->node_count && node < 0; i++)
    if (machine->nodes[i].capacity_bytes > 0 && machine->nodes[i].allowed)
      node = machine->nodes[i].id;
  lamina_machine_destroy(ctx, machine);
  lamina_context_destroy(ctx);
  const pid_t child = fork();
  if (child == 0)
    _exit(inject_under_refusal(node));
  assert_int_equal(waitpid(child, &wait_status, 0), child);
  assert_true(WIFEXITED(wait_status));
  if (WEXITSTATUS(wait_status) == 77)
    LMI_SKIP("seccomp filters cannot be set here");
  assert_int_equal(WEXITSTATUS(wait_status), 0);
}

LMI_TEST_MAIN(cmocka_unit_test(refused_placement_is_no_placement), cmocka_unit_test(file_names_are_no_fields),
              cmocka_unit_test(page_sizes_come_from_the_line), cmocka_unit_test(several_nodes_and_unknown_words),
              cmocka_unit_test(raw_events_are_the_makers), cmocka_unit_test(the_processor_is_found_by_its_numbers),
              cmocka_unit_test(the_fit_never_rises), cmocka_unit_test(flops_are_interpolated_in_time),
              cmocka_unit_test(the_fewest_threads_are_chosen), cmocka_unit_test(calibrations_survive_the_file),
              cmocka_unit_test(injected_values_stay_where_they_are), cmocka_unit_test(injecting_stops_by_itself))
