/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a profile to a plan to an unmodified program whose blocks lie where the plan says. One node is enough to see
 * that sites are recognised and counted; a node that does not exist shows what a refusal looks like. */
#define _GNU_SOURCE
#include "support/test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/trace_launch.h"

static char *read_all(const char *path)
{
  static char text[1 << 16];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

/* Through the shell; standard output in "out", standard error in "err". */
static int shell(const char *command)
{
  char line[4096];
  snprintf(line, sizeof line, "{ %s; } > out 2> err < /dev/null", command);
  const int status = system(line);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int make_plan(const char *nodes)
{
  char reason[512], command[2048];
  if (!lmi_trace_is_available(reason, sizeof reason))
    LMI_SKIP("%s", reason);
  snprintf(command, sizeof command,
           "rm -rf run; %s record --source trace -o run -- %s/workload_bfs 12 && %s place run --local 25 --nodes %s "
           "--plan bfs.plan",
           LAMINA_PROGRAM, LMI_WORKLOADS, LAMINA_PROGRAM, nodes);
  return shell(command);
}

/* The graph's edges and rows come first in every plan here: all of it fits into the last level, so first touches are
 * all there is. */
static void sites_are_recognised_in_the_plain_program(void **state)
{
  (void)state;
  assert_int_equal(make_plan("0,0"), 0);
  assert_int_equal(shell(LMI_WORKLOADS "/workload_bfs 12"), 0);
  char *expected = strdup(read_all("out"));
  assert_int_equal(shell(LAMINA_PROGRAM " place --apply bfs.plan -- " LMI_WORKLOADS "/workload_bfs 12"), 0);
  assert_string_equal(read_all("out"), expected);
  const char *said = read_all("err");
  assert_non_null(strstr(said, "make_graph (workload_bfs.c"));
  assert_non_null(strstr(said, "256.00 KiB in 1 blocks: 64 pages fast, 0 slow, 0 elsewhere"));
  assert_null(strstr(said, "refused"));
  free(expected);
}

static void refusals_are_said_once_and_change_nothing(void **state)
{
  (void)state;
  assert_int_equal(make_plan("1000,1001"), 0);
  assert_int_equal(shell(LAMINA_PROGRAM " place --apply bfs.plan -- " LMI_WORKLOADS "/workload_bfs 12"), 0);
  const char *said = read_all("err");
  const char *first = strstr(said, "placement not enforced");
  assert_non_null(first);
  assert_null(strstr(first + 1, "placement not enforced"));
  assert_non_null(strstr(said, "elsewhere"));
}

static void the_exit_status_passes_through(void **state)
{
  (void)state;
  FILE *plan = fopen("empty.plan", "w");
  assert_non_null(plan);
  fputs("lamina-plan 1\nend\n", plan);
  fclose(plan);
  assert_int_equal(shell(LAMINA_PROGRAM " place --apply empty.plan -- sh -c 'exit 7'"), 7);
  assert_int_equal(shell(LAMINA_PROGRAM " place --apply empty.plan -- sh -c 'kill -9 $$'"), 137);
  assert_int_equal(shell(LAMINA_PROGRAM " place --apply empty.plan -- there-is-no-such-program"), 127);
}

static void wrong_uses_are_refused(void **state)
{
  (void)state;
  assert_int_equal(shell(LAMINA_PROGRAM " place"), 2);
  assert_int_equal(shell(LAMINA_PROGRAM " place --apply empty.plan"), 2);
  assert_int_equal(shell(LAMINA_PROGRAM " place x --bandwidth 3"), 2);
  assert_int_equal(shell("echo hello > hello.plan; " LAMINA_PROGRAM " place --apply hello.plan -- true"), 3);
  assert_non_null(strstr(read_all("err"), "not a plan of version 1"));
  assert_int_equal(
    shell("printf 'lamina-plan 1\\ntier 0 0' > cut.plan; " LAMINA_PROGRAM " place --apply cut.plan -- true"), 3);
  assert_non_null(strstr(read_all("err"), "truncated"));
}

/* A library that serves malloc must serve all of it. */
static void programs_of_every_kind_live_with_it(void **state)
{
  (void)state;
  FILE *plan = fopen("empty.plan", "w");
  assert_non_null(plan);
  fputs("lamina-plan 1\nend\n", plan);
  fclose(plan);
  assert_int_equal(
    shell(LAMINA_PROGRAM " place --apply empty.plan -- sh -c 'seq 100000 | sort -R | sort -n | tail -1'"), 0);
  assert_string_equal(read_all("out"), "100000\n");
}

/* On one node a smaller fast tier is a model, and says so; the workload's own output passes through. */
static void a_smaller_fast_tier_is_modelled_on_one_node(void **state)
{
  (void)state;
  char reason[512];
  if (!lmi_trace_is_available(reason, sizeof reason))
    LMI_SKIP("%s", reason);
  assert_int_equal(shell("rm -rf local; " LAMINA_PROGRAM
                         " record --source trace --local 25% --bandwidth 73,34 --latency "
                         "111,202 --llc 256K,16 -o local -- " LMI_WORKLOADS "/workload_bfs 12"),
                   0);
  assert_non_null(strstr(read_all("out"), "vertices 4096"));
  assert_non_null(strstr(read_all("err"), "lamina: model"));
  const char *json = read_all("local/local.json");
  assert_non_null(strstr(json, "\"kind\": \"model\""));
  assert_non_null(strstr(json, "73 GB/s, 111 ns; slow 34 GB/s, 202 ns (as given)"));
  const char *share = strstr(json, "\"r_cap\": ");
  assert_non_null(share);
  const double r_cap = strtod(share + strlen("\"r_cap\": "), NULL);
  assert_true(r_cap > 0.74 && r_cap < 0.76);
}

static void a_smaller_fast_tier_must_make_sense(void **state)
{
  (void)state;
  assert_int_equal(shell(LAMINA_PROGRAM " record --local 0% -o x -- true"), 2);
  assert_int_equal(shell(LAMINA_PROGRAM " record --local 101% -o x -- true"), 2);
  assert_int_equal(shell(LAMINA_PROGRAM " record --local much -o x -- true"), 2);
  assert_int_equal(shell(LAMINA_PROGRAM " record --local 25% --bandwidth 73 -o x -- true"), 2);
  assert_int_equal(shell(LAMINA_PROGRAM " record --local 25% --machine nope.json -o x -- true"), 3);
  assert_int_equal(shell(LAMINA_PROGRAM " record --local 25% --prefetch-study -o x -- true"), 2);
  assert_int_not_equal(access("x", F_OK), 0);
  if (access("/sys/devices/system/node/node1", F_OK) != 0) {
    assert_int_equal(shell(LAMINA_PROGRAM " record --source clock --local 25% -o x -- true"), 4);
    assert_non_null(strstr(read_all("err"), "--source trace"));
  }
}

/* The model's prefetcher on and off: nearly all of a stream of stores is fetched ahead, and nothing more than that. */
static void prefetching_is_studied_by_two_runs(void **state)
{
  (void)state;
  char reason[512];
  if (!lmi_trace_is_available(reason, sizeof reason))
    LMI_SKIP("%s", reason);
  assert_int_equal(shell("rm -rf study; " LAMINA_PROGRAM
                         " record --source trace --prefetch-study --llc 256K,16 -o study -- " LMI_WORKLOADS
                         "/workload_multigrid 4 4"),
                   0);
  const char *json = read_all("study/prefetch.json");
  assert_non_null(strstr(json, "model: exact traces"));
  const char *gain = strstr(json, "\"gain\": "), *excess = strstr(json, "\"excess\": ");
  assert_true(gain != NULL && strtod(gain + strlen("\"gain\": "), NULL) > 0.5);
  assert_true(excess != NULL && strtod(excess + strlen("\"excess\": "), NULL) < 0.3);
  assert_int_equal(access("study/on", F_OK) | access("study/off", F_OK), 0);
}

LMI_TEST_MAIN(cmocka_unit_test(sites_are_recognised_in_the_plain_program),
              cmocka_unit_test(refusals_are_said_once_and_change_nothing),
              cmocka_unit_test(the_exit_status_passes_through), cmocka_unit_test(wrong_uses_are_refused),
              cmocka_unit_test(programs_of_every_kind_live_with_it),
              cmocka_unit_test(a_smaller_fast_tier_is_modelled_on_one_node),
              cmocka_unit_test(a_smaller_fast_tier_must_make_sense),
              cmocka_unit_test(prefetching_is_studied_by_two_runs))
