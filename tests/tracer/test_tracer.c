/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Real programs under the real tracer: counts that can be worked out, cachegrind's totals, and trouble of every kind.
 */
#define _GNU_SOURCE
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lamina/memory_profile.h>

#include "memory/trace_launch.h"

static lamina_context *ctx;
static lamina_profile *profile;
static int wait_status;

static int close_profile(void **state)
{
  (void)state;
  lamina_profile_destroy(profile);
  lamina_context_destroy(ctx);
  profile = NULL;
  ctx = NULL;
  return 0;
}

/* Runs argv with its output in the file "out"; the wait status. */
static int run(char **argv, const char *variable, const char *value)
{
  int status = 0;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (variable != NULL)
      setenv(variable, value, 1);
    if (freopen("out", "w", stdout) == NULL || freopen("err", "w", stderr) == NULL)
      _exit(99);
    execvp(argv[0], argv);
    _exit(127);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void trace_with(lmi_trace_options options, char **command)
{
  char reason[512], here[4000], folder[4096];
  lmi_trace_launch launch;
  if (!lmi_trace_is_available(reason, sizeof reason))
    LMI_SKIP("%s", reason);
  assert_non_null(getcwd(here, sizeof here));
  snprintf(folder, sizeof folder, "%s/run-XXXXXX", here); /* an earlier test may have left profiles here */
  assert_non_null(mkdtemp(folder));
  options.folder = folder;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lmi_trace_prepare(ctx, &options, command, &launch), LAMINA_OK);
  wait_status = run(launch.argv, launch.variable, launch.value);
  lmi_trace_launch_free(ctx, &launch);
  if (lamina_profile_read(ctx, folder, &profile) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
}

static void trace(char **command)
{
  trace_with((lmi_trace_options){.l1 = "32K,8", .l2 = "256K,8", .llc = "1M,16"}, command);
}

static void trace_target(const char *word)
{
  char *command[] = {LMI_TRACE_TARGET, (char *)(uintptr_t)word, NULL};
  trace(command);
}

static const lamina_counts *phase_counts(const char *name)
{
  size_t count;
  const lamina_profile_phase *phases = lamina_profile_phases(profile, &count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(phases[i].name, name) == 0)
      return &phases[i].counts;
  fail_msg("no phase %s", name);
  return NULL;
}

static const lamina_profile_object *find_object(const char *part)
{
  size_t count;
  const lamina_profile_object *objects = lamina_profile_objects(profile, &count);
  for (size_t i = 0; i < count; i++)
    if (strstr(objects[i].name, part) != NULL)
      return &objects[i];
  fail_msg("no object %s", part);
  return NULL;
}

static void assert_within(uint64_t value, uint64_t expected, double share)
{
  if (fabs((double)value - (double)expected) > share * (double)expected)
    fail_msg("%llu, expected %llu within %g", (unsigned long long)value, (unsigned long long)expected, share);
}

/* 2 loads a lookup; the table is written once and read once a lookup. */
static void lookups_are_counted(void **state)
{
  (void)state;
  char *command[] = {LMI_WORKLOADS "/workload_lookup", "4", "200000", NULL};
  trace(command);
  assert_int_equal(wait_status, 0);
  assert_within(phase_counts("lookup")->of[LAMINA_COUNT_LOADS], 400000, 0.001);
  size_t count;
  const lamina_profile_object *table = lamina_profile_objects(profile, &count); /* the hottest */
  assert_int_equal(table->bytes_total, 4 << 20);
  assert_int_equal(table->accesses, (4 << 20) / 8 + 200000);
  assert_int_equal(table->page_bytes, table->bytes_total + 4096); /* it begins inside a page */
  assert_int_equal(table->blocks, 1);
  const lamina_prefetch quality = lamina_counts_prefetch(phase_counts("lookup"));
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
  trace(command);
  assert_int_equal(lamina_counts_flops(phase_counts("factorise")), expected);
}

/* Every edge is scanned once a search: one load of the neighbours each, beside the one store that built them. */
static void a_search_reads_each_edge_once(void **state)
{
  (void)state;
  char *command[] = {LMI_WORKLOADS "/workload_bfs", "12", NULL};
  unsigned long long vertices, reached, scanned;
  trace(command);
  FILE *out = fopen("out", "r");
  assert_non_null(out);
  assert_int_equal(fscanf(out, "vertices %llu reached %llu edges %llu", &vertices, &reached, &scanned), 3);
  fclose(out);
  size_t count;
  const lamina_profile_object *objects = lamina_profile_objects(profile, &count);
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
  trace_with(
    (lmi_trace_options){
      .l1 = "32K,8", .l2 = "none", .llc = "1M,16", .no_stream_prefetch = true, .no_adjacent_prefetch = true},
    command);
  assert_int_equal(run(reference, NULL, NULL), 0);
  size_t count;
  const lamina_counts *counts = &lamina_profile_processes(profile, &count)->counts;
  assert_within(counts->of[LAMINA_COUNT_LOADS] + counts->of[LAMINA_COUNT_STORES],
                cachegrind_total("Dr") + cachegrind_total("Dw"), 0.001);
  assert_within(counts->of[LAMINA_COUNT_L1_MISSES], cachegrind_total("D1mr") + cachegrind_total("D1mw"), 0.001);
  assert_within(counts->of[LAMINA_COUNT_LLC_MISSES], cachegrind_total("DLmr") + cachegrind_total("DLmw"), 0.01);
}

static void static_arrays_have_their_names(void **state)
{
  (void)state;
  trace_target("sum");
  const lamina_profile_object *numbers = find_object("numbers (trace_target)");
  assert_int_equal(numbers->kind, LAMINA_OBJECT_STATIC);
  assert_within(numbers->accesses, 65536 + 65536, 0.01); /* vectors of two make it less */
}

static void a_crash_keeps_what_was_seen(void **state)
{
  (void)state;
  size_t count;
  trace_target("crash");
  assert_true(WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == 11);
  assert_string_equal(lamina_profile_processes(profile, &count)->ended, "signal");
  assert_true(find_object("numbers (trace_target)")->accesses > 60000);
}

/* Each child counts for itself: its own sum, not its parent's work. */
static void children_are_processes_of_their_own(void **state)
{
  (void)state;
  size_t count;
  trace_target("fork");
  assert_int_equal(wait_status, 0);
  const lamina_profile_process *processes = lamina_profile_processes(profile, &count);
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
  trace_target("exec");
  assert_int_equal(wait_status, 0);
  const lamina_profile_process *processes = lamina_profile_processes(profile, &count);
  assert_int_equal(count, 2);
  assert_int_equal(processes[0].pid, processes[1].pid);
  assert_true(strcmp(processes[0].ended, "exec") == 0 || strcmp(processes[1].ended, "exec") == 0);
}

static void small_blocks_are_told_apart(void **state)
{
  (void)state;
  size_t count, sites = 0;
  trace_target("blocks");
  assert_int_equal(wait_status, 0);
  const lamina_profile_object *objects = lamina_profile_objects(profile, &count);
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
  trace_target("mmap");
  size_t count;
  const lamina_profile_object *object = lamina_profile_objects(profile, &count);
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
    trace_target(words[i]);
    assert_int_equal(wait_status, 0);
    assert_true(find_object("numbers (trace_target)")->accesses > 60000);
    (void)close_profile(NULL);
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
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  assert_int_equal(lmi_trace_prepare(ctx, &(lmi_trace_options){.folder = "/nowhere"}, command, &launch), LAMINA_OK);
  assert_int_equal(run(launch.argv, launch.variable, launch.value), 0);
  lmi_trace_launch_free(ctx, &launch);
}

LMI_TEST_MAIN(cmocka_unit_test_teardown(lookups_are_counted, close_profile),
              cmocka_unit_test_teardown(flops_are_exact, close_profile),
              cmocka_unit_test_teardown(a_search_reads_each_edge_once, close_profile),
              cmocka_unit_test_teardown(misses_are_cachegrind_s, close_profile),
              cmocka_unit_test_teardown(static_arrays_have_their_names, close_profile),
              cmocka_unit_test_teardown(a_crash_keeps_what_was_seen, close_profile),
              cmocka_unit_test_teardown(children_are_processes_of_their_own, close_profile),
              cmocka_unit_test_teardown(an_image_after_exec_is_another_profile, close_profile),
              cmocka_unit_test_teardown(small_blocks_are_told_apart, close_profile),
              cmocka_unit_test_teardown(mappings_are_objects, close_profile),
              cmocka_unit_test_teardown(control_flow_of_every_kind_is_followed, close_profile),
              cmocka_unit_test_teardown(a_full_disk_does_not_disturb_the_program, close_profile))
