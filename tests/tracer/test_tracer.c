/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Real programs under the real tracer: counts that can be worked out, cachegrind's totals, and trouble of every kind.
 */
#define _GNU_SOURCE
#include "traced.h"

#include <stdlib.h>
#include <sys/wait.h>

/* 2 loads a lookup; the table is written once and read once a lookup. */
static void lookups_are_counted(void **state)
{
  (void)state;
  char *command[] = {LMI_WORKLOADS "/workload_lookup", "4", "200000", NULL};
  traced_command(command);
  assert_int_equal(traced.wait_status, 0);
  traced_assert_within(traced_phase("lookup")->of[LAMINA_COUNT_LOADS], 400000, 0.001);
  size_t count;
  const lamina_profile_object *table = lamina_profile_objects(traced.profile, &count); /* the hottest */
  assert_int_equal(table->bytes_total, 4 << 20);
  assert_int_equal(table->accesses, (4 << 20) / 8 + 200000);
  assert_int_equal(table->page_bytes, table->bytes_total + 4096); /* it begins inside a page */
  assert_int_equal(table->blocks, 1);
  const lamina_prefetch quality = lamina_counts_prefetch(traced_phase("lookup"));
  assert_true(quality.accuracy < 0.2);
}

/* Sum over k of (n - k) divisions and 2 (n - k)^2 multiplications and subtractions. */
static void flops_are_exact(void **state)
{
  (void)state;
  char *command[] = {LMI_WORKLOADS "/workload_dense", "100", NULL};
  uint64_t expected = 0;
  for (uint64_t rest = 1; rest < 100; rest++)
    expected += rest + 2 * rest * rest;
  traced_command(command);
  assert_int_equal(lamina_counts_flops(traced_phase("factorise")), expected);
}

/* Every edge is scanned once a search: one load of the neighbours each, beside the one store that built them. */
static void a_search_reads_each_edge_once(void **state)
{
  (void)state;
  char *command[] = {LMI_WORKLOADS "/workload_bfs", "12", NULL};
  unsigned long long vertices, reached, scanned;
  traced_command(command);
  FILE *out = fopen("out", "r");
  assert_non_null(out);
  assert_int_equal(fscanf(out, "vertices %llu reached %llu edges %llu", &vertices, &reached, &scanned), 3);
  fclose(out);
  size_t count;
  const lamina_profile_object *objects = lamina_profile_objects(traced.profile, &count);
  uint64_t best = 0;
  for (size_t i = 0; i < count; i++) /* among the objects of its size, edges and neighbours, the one that is read on */
    if (objects[i].bytes_total == 16 * vertices * 4 && objects[i].accesses > best)
      best = objects[i].accesses;
  assert_int_equal(best, 16 * vertices + scanned);
}

static unsigned long long cachegrind_total(const char *event)
{
  char line[4096];
  unsigned long long total = 0;
  size_t column = 0;
  FILE *file = fopen("cachegrind.out", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL) {
    char *word = strtok(line, " \n");
    if (word != NULL && strcmp(word, "events:") == 0)
      for (size_t i = 0; (word = strtok(NULL, " \n")) != NULL; i++)
        column = strcmp(word, event) == 0 ? i : column;
    else if (word != NULL && strcmp(word, "summary:") == 0)
      for (size_t i = 0; (word = strtok(NULL, " \n")) != NULL; i++)
        total = i == column ? strtoull(word, NULL, 10) : total;
  }
  fclose(file);
  return total;
}

/* The same geometry, no L2, no prefetcher: cachegrind's model. It also passes instructions through the last level. */
static void misses_are_cachegrind_s(void **state)
{
  (void)state;
  char *command[] = {LMI_WORKLOADS "/workload_lookup", "4", "3000000", NULL};
  char *reference[] = {"valgrind",
                       "-q",
                       "--tool=cachegrind",
                       "--cachegrind-out-file=cachegrind.out",
                       "--cache-sim=yes",
                       "--D1=32768,8,64",
                       "--LL=1048576,16,64",
                       command[0],
                       command[1],
                       command[2],
                       NULL};
  traced_with(
    (lmi_trace_options){
      .l1 = "32K,8", .l2 = "none", .llc = "1M,16", .no_stream_prefetch = true, .no_adjacent_prefetch = true},
    command);
  assert_int_equal(traced_plain(reference, NULL, NULL), 0);
  size_t count;
  const lamina_counts *counts = &lamina_profile_processes(traced.profile, &count)->counts;
  traced_assert_within(counts->of[LAMINA_COUNT_LOADS] + counts->of[LAMINA_COUNT_STORES],
                       cachegrind_total("Dr") + cachegrind_total("Dw"), 0.001);
  traced_assert_within(counts->of[LAMINA_COUNT_L1_MISSES], cachegrind_total("D1mr") + cachegrind_total("D1mw"), 0.001);
  traced_assert_within(counts->of[LAMINA_COUNT_LLC_MISSES], cachegrind_total("DLmr") + cachegrind_total("DLmw"), 0.01);
}

static void static_arrays_have_their_names(void **state)
{
  (void)state;
  traced_target("sum");
  const lamina_profile_object *numbers = traced_object("numbers (trace_target)");
  assert_int_equal(numbers->kind, LAMINA_OBJECT_STATIC);
  traced_assert_within(numbers->accesses, 65536 + 65536, 0.01); /* vectors of two make it less */
}

static void a_crash_keeps_what_was_seen(void **state)
{
  (void)state;
  size_t count;
  traced_target("crash");
  assert_true(WIFSIGNALED(traced.wait_status) && WTERMSIG(traced.wait_status) == 11);
  assert_string_equal(lamina_profile_processes(traced.profile, &count)->ended, "signal");
  assert_true(traced_object("numbers (trace_target)")->accesses > 60000);
}

/* Each child counts for itself: its own sum, not its parent's work. */
static void children_are_processes_of_their_own(void **state)
{
  (void)state;
  size_t count;
  traced_target("fork");
  assert_int_equal(traced.wait_status, 0);
  const lamina_profile_process *processes = lamina_profile_processes(traced.profile, &count);
  assert_int_equal(count, 41);
  int children = 0;
  for (size_t i = 0; i < count; i++)
    if (processes[i].counts.of[LAMINA_COUNT_FP_F64] + 2 * processes[i].counts.of[LAMINA_COUNT_FP_F64X2] >= 65536)
      children++;
  assert_int_equal(children, 40);
}

static void an_image_after_exec_is_another_profile(void **state)
{
  (void)state;
  size_t count;
  traced_target("exec");
  assert_int_equal(traced.wait_status, 0);
  const lamina_profile_process *processes = lamina_profile_processes(traced.profile, &count);
  assert_int_equal(count, 2);
  assert_int_equal(processes[0].pid, processes[1].pid);
  assert_true(strcmp(processes[0].ended, "exec") == 0 || strcmp(processes[1].ended, "exec") == 0);
}

static void small_blocks_are_told_apart(void **state)
{
  (void)state;
  size_t count, sites = 0;
  traced_target("blocks");
  assert_int_equal(traced.wait_status, 0);
  const lamina_profile_object *objects = lamina_profile_objects(traced.profile, &count);
  for (size_t i = 0; i < count; i++)
    if (objects[i].blocks == 100000) {
      assert_int_equal(objects[i].accesses, 100000);
      assert_int_equal(objects[i].bytes_total, objects[i].bytes_peak);
      sites++;
    }
  assert_int_equal(sites, 2);
}

/* 3 x 65536 lines of one site, in pages that were released twice. */
static void mappings_are_objects(void **state)
{
  (void)state;
  traced_target("mmap");
  size_t count;
  const lamina_profile_object *object = lamina_profile_objects(traced.profile, &count);
  assert_int_equal(object->kind, LAMINA_OBJECT_MAPPED);
  assert_int_equal(object->blocks, 3);
  assert_int_equal(object->bytes_peak, 4 << 20);
  assert_int_equal(object->accesses, 3 * 65536);
}

static void control_flow_of_every_kind_is_followed(void **state)
{
  (void)state;
  static const char *const words[] = {"jump", "signals", "dlopen"};
  for (size_t i = 0; i < LMI_COUNT(words); i++) {
    traced_target(words[i]);
    assert_int_equal(traced.wait_status, 0);
    assert_true(traced_object("numbers (trace_target)")->accesses > 60000);
    (void)traced_close(NULL);
  }
}

static void a_full_disk_does_not_disturb_the_program(void **state)
{
  (void)state;
  char reason[512];
  lmi_trace_launch launch;
  char *command[] = {LMI_TRACE_TARGET, "sum", NULL};
  if (!lmi_trace_is_available(reason, sizeof reason))
    LMI_SKIP("%s", reason);
  assert_int_equal(lamina_context_create(NULL, &traced.ctx), LAMINA_OK);
  assert_int_equal(lmi_trace_prepare(traced.ctx, &(lmi_trace_options){.folder = "/nowhere"}, command, &launch),
                   LAMINA_OK);
  assert_int_equal(traced_plain(launch.argv, launch.variable, launch.value), 0);
  lmi_trace_launch_free(traced.ctx, &launch);
}

/* malloc, calloc, aligned_alloc, posix_memalign, realloc and three kinds of C++ new: eight sites of 64 KiB, each
 * written once. What the allocator itself writes (zeros, copies) is not counted. */
static void every_way_of_allocating_is_a_site(void **state)
{
  (void)state;
  size_t count, sites = 0;
  traced_target("ways");
  assert_int_equal(traced.wait_status, 0);
  const lamina_profile_object *objects = lamina_profile_objects(traced.profile, &count);
  for (size_t i = 0; i < count; i++)
    if (objects[i].bytes_total == 1 << 16 && objects[i].accesses == (1 << 16) / 8) {
      assert_int_equal(objects[i].kind, LAMINA_OBJECT_HEAP);
      assert_int_equal(objects[i].blocks, 1);
      assert_non_null(strstr(objects[i].name, "allocate_every_way"));
      sites++;
    }
  assert_int_equal(sites, 8);
}

/* Two threads and the main one: their stacks are one object. */
static void stacks_are_one_object(void **state)
{
  (void)state;
  size_t count, stacks = 0;
  char *command[] = {LMI_WORKLOADS "/workload_mixed", "0", "1000", NULL};
  traced_command(command);
  assert_int_equal(traced.wait_status, 0);
  const lamina_profile_object *objects = lamina_profile_objects(traced.profile, &count);
  for (size_t i = 0; i < count; i++)
    if (objects[i].kind == LAMINA_OBJECT_STACK) {
      assert_true(objects[i].accesses > 1000);
      stacks++;
    }
  assert_int_equal(stacks, 1);
}

/* A malloc of the program's own is found by its name. */
static void a_malloc_of_the_program_s_own_is_traced(void **state)
{
  (void)state;
  char *command[] = {LMI_TEST_PROGRAMS "/trace_own_malloc", NULL};
  traced_command(command);
  assert_int_equal(traced.wait_status, 0);
  const lamina_profile_object *large = traced_object("make_large"), *small = traced_object("make_small");
  assert_int_equal(large->kind, LAMINA_OBJECT_HEAP);
  assert_int_equal(large->bytes_total, 1 << 16);
  assert_int_equal(large->accesses, (1 << 16) / 8);
  assert_int_equal(small->bytes_total, 1 << 15);
  assert_int_equal(small->accesses, (1 << 15) / 8);
}

/* Nothing can be preloaded into a static program: its heap is one object, and says so. */
static void the_heap_of_a_static_program_is_one_object(void **state)
{
  (void)state;
  char *command[] = {LMI_TEST_PROGRAMS "/trace_static", NULL};
  traced_command(command);
  assert_int_equal(traced.wait_status, 0);
  const lamina_profile_object *heap = traced_object("heap by brk");
  assert_int_equal(heap->kind, LAMINA_OBJECT_HEAP);
  traced_assert_within(heap->accesses, ((1 << 16) + (1 << 15)) / 8, 0.05); /* and headers, and the C library's own */
}

/* 8 MiB written a line at a time; pages stay pages of 4 KiB in the profile. */
static void huge_pages_are_counted_in_small_ones(void **state)
{
  (void)state;
  traced_target("huge");
  assert_int_equal(traced.wait_status, 0);
  const lamina_profile_object *object = traced_object("use_huge_pages");
  assert_int_equal(object->kind, LAMINA_OBJECT_MAPPED);
  assert_int_equal(object->accesses, (8 << 20) / 64);
  assert_int_equal(object->page_bytes, 8 << 20);
}

static void avx512_is_named_before_the_run(void **state)
{
  (void)state;
  char reason[512];
  lmi_trace_launch launch;
  char *command[] = {LMI_TEST_PROGRAMS "/trace_avx512", NULL};
  if (!lmi_trace_is_available(reason, sizeof reason))
    LMI_SKIP("%s", reason);
  assert_int_equal(lamina_context_create(NULL, &traced.ctx), LAMINA_OK);
  assert_int_equal(lmi_trace_prepare(traced.ctx, &(lmi_trace_options){.folder = "/nowhere"}, command, &launch),
                   LAMINA_UNAVAILABLE);
  assert_non_null(strstr(lamina_error_message(traced.ctx), "AVX-512 instructions (the first in main)"));
  assert_non_null(strstr(lamina_error_message(traced.ctx), "-mno-avx512f"));
}

LMI_TEST_MAIN(cmocka_unit_test_teardown(lookups_are_counted, traced_close),
              cmocka_unit_test_teardown(flops_are_exact, traced_close),
              cmocka_unit_test_teardown(a_search_reads_each_edge_once, traced_close),
              cmocka_unit_test_teardown(misses_are_cachegrind_s, traced_close),
              cmocka_unit_test_teardown(static_arrays_have_their_names, traced_close),
              cmocka_unit_test_teardown(a_crash_keeps_what_was_seen, traced_close),
              cmocka_unit_test_teardown(children_are_processes_of_their_own, traced_close),
              cmocka_unit_test_teardown(an_image_after_exec_is_another_profile, traced_close),
              cmocka_unit_test_teardown(small_blocks_are_told_apart, traced_close),
              cmocka_unit_test_teardown(mappings_are_objects, traced_close),
              cmocka_unit_test_teardown(control_flow_of_every_kind_is_followed, traced_close),
              cmocka_unit_test_teardown(a_full_disk_does_not_disturb_the_program, traced_close),
              cmocka_unit_test_teardown(every_way_of_allocating_is_a_site, traced_close),
              cmocka_unit_test_teardown(stacks_are_one_object, traced_close),
              cmocka_unit_test_teardown(a_malloc_of_the_program_s_own_is_traced, traced_close),
              cmocka_unit_test_teardown(the_heap_of_a_static_program_is_one_object, traced_close),
              cmocka_unit_test_teardown(huge_pages_are_counted_in_small_ones, traced_close),
              cmocka_unit_test_teardown(avx512_is_named_before_the_run, traced_close))
