/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded machines: each is a kind of machine on which other programs failed (the recording names the thread). */
#include "support/test.h"

#include <math.h>
#include <unistd.h>

#include "base/base.h"
#include "lamina/tiers.h"
#include "support/failing_allocator.h"
#include "support/unpack_machine.h"

static lamina_context *ctx;
static lamina_machine *machine;

static void inspect(const char *name)
{
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lmi_unpack_machine(name, name), 0);
  assert_int_equal(lamina_machine_inspect(ctx, name, &machine), LAMINA_OK);
  assert_string_equal(lamina_error_message(ctx), "");
}

static void release(void)
{
  lamina_machine_destroy(ctx, machine);
  lamina_context_destroy(ctx);
}

static bool has_remark(const char *part)
{
  for (size_t i = 0; i < machine->remark_count; i++)
    if (strstr(machine->remarks[i], part) != NULL)
      return true;
  return false;
}

static void node_numbers_start_at_four(void **state)
{
  (void)state;
  inspect("nodes_4_to_7");
  assert_int_equal(machine->node_count, 4);
  assert_int_equal(machine->nodes[0].id, 4);
  assert_int_equal(machine->nodes[3].id, 7);
  assert_null(lamina_machine_node(machine, 0));
  assert_int_equal(machine->tier_count, 1);
  assert_string_equal(machine->tiers[0].name, "DRAM");
  assert_int_equal(machine->tiers[0].node_count, 4);
  assert_int_equal(machine->distances[1 * 4 + 1], 10);
  assert_int_equal(machine->distances[1 * 4 + 0], 21);
  release();
}

static void wide_ids(void **state)
{
  (void)state;
  inspect("wide_ids");
  assert_non_null(lamina_machine_node(machine, 255));
  assert_int_equal(lamina_machine_node(machine, 255)->processors, 0);
  assert_int_equal(machine->distances[2], 40); /* from 0 to 255: by position in the list on line, not by number */
  assert_int_equal(machine->tier_count, 2);
  assert_string_equal(machine->tiers[1].name, "pool");
  release();
}

static void memory_only_node_is_a_slower_tier(void **state)
{
  (void)state;
  inspect("memory_only");
  const lamina_node *pool = lamina_machine_node(machine, 2);
  assert_int_equal(pool->processors, 0);
  assert_int_equal(machine->tier_count, 2);
  assert_int_equal(pool->tier, 1);
  assert_string_equal(machine->tiers[1].name, "pool");
  assert_true(pool->capacity_bytes == (uint64_t)64 << 30);
  assert_true(fabs(pool->gb_per_s - 34.816) < 1e-9 && fabs(pool->latency_ns - 202) < 1e-9);
  assert_string_equal(machine->huge_pages, "madvise");
  release();
}

static void one_kernel_tier_is_no_tiering(void **state)
{
  (void)state;
  inspect("memory_only");
  assert_true(has_remark("nothing will be demoted"));
  assert_true(has_remark("demotion_enabled false"));
  assert_true(has_remark("numa_balancing is 2"));
  release();
}

static void memory_less_node_shows_the_nearest(void **state)
{
  (void)state;
  inspect("memory_less");
  const lamina_node *bare = lamina_machine_node(machine, 0);
  assert_int_equal(bare->processors, 6);
  assert_int_equal(bare->tier, -1);
  assert_int_equal(bare->nearest_memory_node, 1);
  assert_int_equal(machine->tier_count, 1);
  assert_int_equal(machine->tiers[0].node_count, 1);
  release();
}

static void no_numa_is_one_node(void **state)
{
  (void)state;
  inspect("no_numa");
  assert_int_equal(machine->node_count, 1);
  assert_int_equal(machine->nodes[0].id, 0);
  assert_int_equal(machine->nodes[0].processors, 4);
  assert_true(machine->nodes[0].capacity_bytes == (uint64_t)8 << 30);
  assert_true(isnan(machine->nodes[0].latency_ns));
  assert_true(has_remark("taken as node 0"));
  assert_int_equal(machine->numa_balancing, -1);
  release();
}

static void processors_off_line(void **state)
{
  (void)state;
  inspect("cpu_holes");
  assert_int_equal(machine->processors_possible, 8);
  assert_int_equal(machine->processors_online, 3);
  assert_int_equal(machine->processors_allowed, 2);
  assert_string_equal(machine->offline, "0,3,5,6,7");
  assert_int_equal(machine->nodes[0].processors, 3);
  assert_true(machine->last_level_cache_bytes == 2 * (uint64_t)16384 * 1024); /* two caches of three processors */
  release();
}

static void faster_memory_comes_before_dram(void **state)
{
  (void)state;
  inspect("hbm_flat");
  assert_int_equal(machine->tier_count, 2);
  assert_string_equal(machine->tiers[0].name, "HBM");
  assert_int_equal(lamina_machine_node(machine, 1)->tier, 0);
  assert_string_equal(machine->tiers[1].name, "DRAM");
  release();
}

static void kernel_tiers_win(void **state)
{
  (void)state;
  inspect("kernel_tiers");
  assert_int_equal(machine->tier_count, 2);
  assert_int_equal(lamina_machine_node(machine, 1)->kernel_tier, 17);
  assert_int_equal(lamina_machine_node(machine, 1)->tier, 1);
  assert_string_equal(machine->tiers[0].name, "DRAM");
  assert_false(has_remark("nothing will be demoted"));
  assert_true(lamina_machine_node(machine, 0)->huge_page_bytes == ((uint64_t)1 << 30) + ((uint64_t)16 << 20));
  assert_true(lamina_machine_node(machine, 1)->huge_page_bytes == 0);
  release();
}

static void cgroup_limits(void **state)
{
  (void)state;
  inspect("cgroup_v2");
  assert_true(machine->limit_bytes == 1073741824);
  assert_true(machine->available_bytes == 1000000000);
  assert_string_equal(machine->limit_ruled_by, "cgroup v2");
  release();
  inspect("cgroup_parent");
  assert_true(machine->limit_bytes == 2147483648 && machine->available_bytes == 2147483648);
  release();
  inspect("cgroup_v1_no_limit");
  assert_true(machine->limit_bytes == UINT64_MAX);
  assert_string_equal(machine->limit_ruled_by, "host");
  release();
  inspect("cgroup_v1");
  assert_true(machine->available_bytes == 0);
  assert_string_equal(machine->limit_ruled_by, "cgroup v1");
  release();
}

static void base_page_of_64_kib(void **state)
{
  (void)state;
  inspect("large_pages");
  assert_true(machine->page_bytes == 65536);
  release();
}

static void odd_distances_are_not_used(void **state)
{
  (void)state;
  inspect("odd_distances");
  assert_int_equal(machine->distances[1], 0);
  assert_true(has_remark("distances does not fit"));
  release();
}

static void tiers_from_a_file(void **state)
{
  (void)state;
  inspect("nodes_4_to_7");
  assert_int_equal(lmi_unpack_file(".", "/tiers.json",
                                   "{\"tiers\": [{\"name\": \"near\", \"nodes\": \"4-5\"}, "
                                   "{\"name\": \"far\", \"nodes\": \"6,7\"}]}"),
                   0);
  assert_int_equal(lamina_machine_set_tiers(ctx, machine, "tiers.json"), LAMINA_OK);
  assert_int_equal(lamina_machine_node(machine, 7)->tier, 1);
  assert_string_equal(machine->tiers[1].name, "far");
  assert_true(machine->tiers[1].capacity_bytes == (uint64_t)128 << 30);
  release();
}

static void wrong_tier_files_are_refused(void **state)
{
  (void)state;
  static const struct {
    const char *text, *part;
  } files[] = {
    {"{\"tiers\": [{\"name\": \"near\", \"nodes\": \"4-5\"}]}", "node 6 is in no tier"},
    {"{\"tiers\": [{\"name\": \"near\", \"nodes\": \"0\"}]}", "does not have"},
    {"{\"tiers\": [{\"name\": \"a\", \"nodes\": \"4-7\"}, {\"name\": \"b\", \"nodes\": \"4\"}]}", "in two tiers"},
    {"{\"tiers\": [{\"name\": \"a\", \"nodes\": \"x\"}]}", "not a list"},
    {"{\"tiers\": []}", "no \"tiers\""},
    {"{\"tiers\": [", "tiers.json:1"},
  };
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    inspect("nodes_4_to_7");
    assert_int_equal(lmi_unpack_file(".", "/tiers.json", files[i].text), 0);
    assert_int_not_equal(lamina_machine_set_tiers(ctx, machine, "tiers.json"), LAMINA_OK);
    assert_non_null(strstr(lamina_error_message(ctx), files[i].part));
    release();
  }
}

/* What is written is what is read back, measured rows included. */
static void machine_file_round_trip(void **state)
{
  (void)state;
  inspect("memory_only");
  lamina_bandwidth_row rows[2] = {
    {.cpu_node = 0,
     .memory_node = 2,
     .threads = 8,
     .traffic = LAMINA_TRAFFIC_COPY,
     .gb_per_s = {30, 29, 31},
     .placed = true},
    {.cpu_node = 1, .memory_node = 0, .threads = 4, .streams = 19, .element_bytes = 8, .gb_per_s = {50.5, 49, 51}}};
  machine->bandwidth = rows;
  machine->bandwidth_count = 2;
  assert_int_equal(lamina_machine_save(ctx, machine, "machine.json"), LAMINA_OK);
  machine->bandwidth = NULL;
  machine->bandwidth_count = 0;
  lamina_machine *again = NULL;
  assert_int_equal(lamina_machine_load(ctx, "machine.json", &again), LAMINA_OK);
  assert_int_equal(again->node_count, 3);
  assert_int_equal(again->tier_count, 2);
  assert_int_equal(again->bandwidth_count, 2);
  assert_int_equal(again->bandwidth[0].streams, 19); /* tier by tier: node 0 comes first */
  assert_int_equal(again->bandwidth[0].element_bytes, 8);
  assert_int_equal(again->bandwidth[1].traffic, LAMINA_TRAFFIC_COPY);
  assert_true(again->bandwidth[1].placed && again->bandwidth[1].gb_per_s.low == 29);
  assert_int_equal(again->remark_count, machine->remark_count);
  assert_true(again->limit_bytes == UINT64_MAX);
  lamina_machine_destroy(ctx, again);
  release();
}

static void other_files_are_no_machine_files(void **state)
{
  (void)state;
  static const struct {
    const char *text, *part;
  } files[] = {
    {"{}", "not a machine file"},
    {"{\"lamina_machine\": 99}", "format 99"},
    {"{\"lamina_machine\": 1}", "no list of nodes"},
    {"{\"lamina_machine\": 1, \"nodes\": [{\"id\": 0}]}", "no list of tiers"},
    {"{\"lamina_machine\": 1, \"nodes\": [{\"id\": 0}], \"tiers\": [{\"name\": \"DRAM\", \"node\": 5}]}",
     "names node 5"},
    {"", "machine.json"},
  };
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    assert_int_equal(lmi_unpack_file(".", "/machine.json", files[i].text), 0);
    assert_int_not_equal(lamina_machine_load(ctx, "machine.json", &machine), LAMINA_OK);
    assert_null(machine);
    assert_non_null(strstr(lamina_error_message(ctx), files[i].part));
    lamina_error_clear(ctx);
  }
  assert_int_equal(lamina_machine_load(ctx, "absent.json", &machine), LAMINA_ERROR_CASE);
  lamina_context_destroy(ctx);
}

static void empty_root_is_an_error(void **state)
{
  (void)state;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lamina_machine_inspect(ctx, "nowhere", &machine), LAMINA_ERROR_FILE);
  assert_null(machine);
  assert_non_null(strstr(lamina_error_message(ctx), "meminfo"));
  lamina_context_destroy(ctx);
}

static void each_allocation_may_fail(void **state)
{
  (void)state;
  bool failed = true;
  assert_int_equal(lmi_unpack_machine("memory_only", "memory_only"), 0);
  for (uint64_t n = 2; failed; n++) { /* the first is the context's own */
    lmi_failing_allocator heap = lmi_failing_allocator_make(n);
    const lamina_allocator allocator = lmi_failing_allocator_interface(&heap);
    lamina_context_options options = lamina_context_options_default();
    options.allocator = &allocator;
    assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
    const lamina_status status = lamina_machine_inspect(ctx, "memory_only", &machine);
    failed = heap.has_failed;
    assert_int_equal(status, failed ? LAMINA_ERROR_MEMORY : LAMINA_OK);
    lamina_machine_destroy(ctx, machine);
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
  }
}

LMI_TEST_MAIN(cmocka_unit_test(node_numbers_start_at_four), cmocka_unit_test(wide_ids),
              cmocka_unit_test(memory_only_node_is_a_slower_tier), cmocka_unit_test(one_kernel_tier_is_no_tiering),
              cmocka_unit_test(memory_less_node_shows_the_nearest), cmocka_unit_test(no_numa_is_one_node),
              cmocka_unit_test(processors_off_line), cmocka_unit_test(faster_memory_comes_before_dram),
              cmocka_unit_test(kernel_tiers_win), cmocka_unit_test(cgroup_limits),
              cmocka_unit_test(base_page_of_64_kib), cmocka_unit_test(odd_distances_are_not_used),
              cmocka_unit_test(tiers_from_a_file), cmocka_unit_test(wrong_tier_files_are_refused),
              cmocka_unit_test(machine_file_round_trip), cmocka_unit_test(other_files_are_no_machine_files),
              cmocka_unit_test(empty_root_is_an_error), cmocka_unit_test(each_allocation_may_fail))
