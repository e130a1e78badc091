/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of channels, links and kinds of cores on machines that we do not own. */
#include "support/test.h"

#include <linux/perf_event.h>
#include <math.h>

#include "base/base.h"
#include "memory/event_table.h"
#include "memory/uncore.h"
#include "support/unpack_machine.h"

static lamina_context *ctx;
static lmi_uncore_list list;

static int make_context(void **state)
{
  (void)state;
  return lamina_context_create(NULL, &ctx) == LAMINA_OK ? 0 : -1;
}

static int destroy_context(void **state)
{
  (void)state;
  lmi_uncore_list_free(ctx, &list);
  lamina_context_destroy(ctx);
  return 0;
}

static void find_on(const char *machine)
{
  assert_int_equal(lmi_unpack_machine(machine, machine), 0);
  assert_int_equal(lmi_uncore_find(ctx, machine, &list), LAMINA_OK);
}

static const lmi_uncore_event *event_of(const char *unit, lmi_uncore_meaning meaning, int processor)
{
  for (size_t i = 0; i < list.count; i++)
    if (strcmp(list.events[i].unit, unit) == 0 && list.events[i].meaning == meaning &&
        list.events[i].processor == processor)
      return &list.events[i];
  return NULL;
}

/* Two channels on two sockets, read and written: 8; a link: 4; a home agent on one socket: 2. */
static void skylake_shows_channels_links_and_agents(void **state)
{
  (void)state;
  find_on("skylake_uncore");
  assert_int_equal(list.count, 8 + 4 + 2);
  const lmi_uncore_event *event = event_of("uncore_imc_1", LMI_UNCORE_READ, 12);
  assert_non_null(event);
  assert_int_equal(event->type, 14);
  assert_int_equal(event->config, 0x0304);
  assert_int_equal(event_of("uncore_imc_0", LMI_UNCORE_WRITE, 0)->config, 0x0c04);
  assert_int_equal(event_of("uncore_upi_0", LMI_UNCORE_LINK_OUT, 0)->config, 0x0f02);
  event = event_of("uncore_cha_0", LMI_UNCORE_REMOTE, 0);
  assert_int_equal(event->config, 0x2135);
  assert_true(event->config1 == UINT64_C(0x40431) << 32);
}

static void sapphire_rapids_has_a_wide_umask(void **state)
{
  (void)state;
  find_on("sapphire_uncore");
  assert_int_equal(list.count, 2 + 2);
  assert_int_equal(event_of("uncore_imc_0", LMI_UNCORE_READ, 0)->config, 0xcf05);
  assert_true(event_of("uncore_cha_7", LMI_UNCORE_LOCAL, 0)->config == (UINT64_C(0xc816fe) << 32 | 0x0135));
  assert_true(event_of("uncore_cha_7", LMI_UNCORE_REMOTE, 0)->config == (UINT64_C(0xc8177e) << 32 | 0x0135));
}

static void other_machines_show_none(void **state)
{
  (void)state;
  find_on("neoverse");
  assert_int_equal(list.count, 0);
  find_on("hybrid");
  assert_int_equal(list.count, 0);
}

static void formats_place_bits(void **state)
{
  (void)state;
  uint64_t configs[2] = {0, 0};
  assert_true(lmi_uncore_place("config:0-7,21", 0x1ff, configs));
  assert_true(configs[0] == (0xff | 1u << 21));
  assert_true(lmi_uncore_place("config1:63", 1, configs));
  assert_true(configs[1] == UINT64_C(1) << 63);
  static const char *const wrong[] = {"", "config", "config:", "config:x", "config:7-0", "config:0-64", "config2:0-7"};
  for (size_t i = 0; i < LMI_COUNT(wrong); i++) {
    print_message("%s\n", wrong[i]);
    assert_false(lmi_uncore_place(wrong[i], 1, configs));
  }
}

/* K2-05: six channels, two of which are not there and count 2^64 - 1. */
static void ghost_channels_are_left_out(void **state)
{
  (void)state;
  lmi_uncore_event events[6] = {{.meaning = LMI_UNCORE_READ}, {.meaning = LMI_UNCORE_READ},
                                {.meaning = LMI_UNCORE_READ}, {.meaning = LMI_UNCORE_READ},
                                {.meaning = LMI_UNCORE_READ}, {.meaning = LMI_UNCORE_READ}};
  const uint64_t values[6] = {1000000, UINT64_MAX, 2000000, 3000000, UINT64_MAX, 4000000};
  const lmi_uncore_list six = {events, 6};
  lmi_uncore_sum sum;
  lmi_uncore_add_up(&six, values, 0.1, &sum);
  assert_true(sum.bytes[LMI_UNCORE_READ] == 64.0 * 10000000);
  assert_true(isnan(sum.bytes[LMI_UNCORE_WRITE])); /* no unit counted it: not 0 */
  assert_int_equal(sum.dropped, 2);
  assert_non_null(strstr(sum.remark, "2 of 6 counters"));
  events[0].is_closed = events[2].is_closed = events[3].is_closed = events[5].is_closed = true;
  lmi_uncore_add_up(&six, values, 0.1, &sum);
  assert_true(isnan(sum.bytes[LMI_UNCORE_READ]));
}

/* ---- kinds of cores ---- */

/* K2-06: one event for each kind of core; what only the large ones have is said to be theirs. */
static void hybrid_cores_have_a_pmu_each(void **state)
{
  (void)state;
  const lmi_event_table *table = NULL;
  struct perf_event_attr attribute = {0};
  char coverage[320];
  size_t instructions = 0, flops_on_small = 0;
  assert_int_equal(lmi_unpack_machine("hybrid", "hybrid"), 0);
  assert_int_equal(lmi_event_table_here(ctx, "hybrid", &table), LAMINA_OK);
  assert_non_null(table);
  for (size_t i = 0; i < table->count; i++) {
    const bool is_small = strcmp(table->rows[i].pmu, "cpu_atom") == 0;
    assert_true(lmi_event_attribute("hybrid", &table->rows[i], &attribute));
    assert_int_equal(attribute.type, is_small ? 10 : 4);
    instructions += table->rows[i].meaning == LMI_MEANING_INSTRUCTIONS;
    flops_on_small += is_small && table->rows[i].meaning != LMI_MEANING_INSTRUCTIONS;
  }
  assert_int_equal(instructions, 2);
  assert_int_equal(flops_on_small, 0);
  assert_non_null(strstr(table->remark, "not available"));
  lmi_event_coverage("hybrid", table, coverage, sizeof coverage);
  assert_string_equal(coverage, "; cpu_core counts on processors 0-15; cpu_atom counts on processors 16-23");
  assert_false(lmi_event_attribute("elsewhere", &table->rows[0], &attribute));
}

static void arm_servers_are_known_by_part(void **state)
{
  (void)state;
  const lmi_event_table *table = NULL;
  struct perf_event_attr attribute = {0};
  assert_int_equal(lmi_unpack_machine("neoverse", "neoverse"), 0);
  assert_int_equal(lmi_event_table_here(ctx, "neoverse", &table), LAMINA_OK);
  assert_non_null(table);
  assert_string_equal(table->model, "Arm Neoverse");
  assert_true(lmi_event_attribute("neoverse", &table->rows[1], &attribute));
  assert_int_equal(attribute.type, PERF_TYPE_RAW);
  assert_int_equal(attribute.config, 0x37);
}

LMI_TEST_MAIN(cmocka_unit_test_setup_teardown(skylake_shows_channels_links_and_agents, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(sapphire_rapids_has_a_wide_umask, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(other_machines_show_none, make_context, destroy_context),
              cmocka_unit_test(formats_place_bits), cmocka_unit_test(ghost_channels_are_left_out),
              cmocka_unit_test_setup_teardown(hybrid_cores_have_a_pmu_each, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(arm_servers_are_known_by_part, make_context, destroy_context))
