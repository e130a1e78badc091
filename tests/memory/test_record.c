/* SPDX-License-Identifier: Apache-2.0 */
/* Recording programs whose end and whose accesses are known. */
#define _GNU_SOURCE
#include "support/test.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lamina/record.h>

#include "base/base.h"

static lamina_context *ctx;
static lamina_record_result result;

static int make_context(void **state)
{
  (void)state;
  return lamina_context_create(NULL, &ctx) == LAMINA_OK && system("rm -rf out out2") == 0 ? 0 : -1;
}

static int destroy_context(void **state)
{
  (void)state;
  lamina_context_destroy(ctx);
  return 0;
}

static lamina_status record_with(lamina_record_source source, char *const argv[])
{
  lamina_record_options options = lamina_record_options_default();
  options.folder = "out";
  options.source = source;
  return lamina_record_run(ctx, &options, argv, &result);
}

static lamina_status record(char *const argv[])
{
  return record_with(LAMINA_RECORD_BEST, argv);
}

#define ARGV(...) ((char *[]){__VA_ARGS__, NULL})

/* ---- how programs end ---- */

static void exit_status_passes_through(void **state)
{
  (void)state;
  assert_int_equal(record(ARGV("sh", "-c", "exit 7")), LAMINA_OK);
  assert_true(result.started);
  assert_int_equal(result.exit_code, 7);
  assert_int_equal(result.signal, 0);
}

static void signals_are_told(void **state)
{
  (void)state;
  assert_int_equal(record(ARGV("sh", "-c", "kill -SEGV $$")), LAMINA_OK);
  assert_int_equal(result.signal, SIGSEGV);
  assert_int_equal(result.exit_code, 128 + SIGSEGV);
}

static void a_misspelt_program_leaves_nothing(void **state)
{
  (void)state;
  assert_int_equal(record(ARGV("no-such-program-at-all")), LAMINA_OK);
  assert_false(result.started);
  assert_int_equal(result.exit_code, 127);
  assert_non_null(strstr(result.start_error, "no-such-program-at-all: No such file"));
  assert_int_equal(access("out", F_OK), -1);
}

static void a_file_that_cannot_run(void **state)
{
  (void)state;
  assert_int_equal(record(ARGV("/")), LAMINA_OK);
  assert_int_equal(result.exit_code, 126);
  assert_false(result.started);
}

static void a_short_program_is_no_error(void **state)
{
  (void)state;
  lamina_profile *profile = NULL;
  assert_int_equal(record(ARGV("true")), LAMINA_OK);
  assert_int_equal(result.exit_code, 0);
  assert_int_equal(lamina_profile_read(ctx, "out", &profile), LAMINA_OK);
  lamina_profile_destroy(profile);
}

static void old_profiles_are_not_mixed(void **state)
{
  (void)state;
  assert_int_equal(mkdir("out", 0777), 0);
  assert_int_equal(record(ARGV("true")), LAMINA_OK); /* an empty folder is as good as none */
  assert_int_equal(record(ARGV("true")), LAMINA_ERROR_FILE);
  assert_non_null(strstr(lamina_error_message(ctx), "not empty"));
  assert_false(result.started);
}

static void wrong_options_are_refused(void **state)
{
  (void)state;
  lamina_record_options options = lamina_record_options_default();
  assert_int_equal(lamina_record_run(ctx, &options, ARGV("true"), &result), LAMINA_ERROR_ARGUMENT);
  options.folder = "out";
  options.clock_hz = 0;
  assert_int_equal(lamina_record_run(ctx, &options, ARGV("true"), &result), LAMINA_ERROR_ARGUMENT);
  options = lamina_record_options_default();
  options.folder = "out";
  char *const nothing[] = {NULL};
  assert_int_equal(lamina_record_run(ctx, &options, nothing, &result), LAMINA_ERROR_ARGUMENT);
  options.folder = "/proc/version/out";
  assert_int_equal(lamina_record_run(ctx, &options, ARGV("true"), &result), LAMINA_ERROR_FILE);
}

/* A closed standard input stays closed for the program, and none of our files takes its place. */
static void closed_input_stays_closed(void **state)
{
  (void)state;
  const int kept = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  const lamina_status status = record(ARGV("sh", "-c", "test ! -e /proc/self/fd/0"));
  if (kept >= 0)
    dup2(kept, STDIN_FILENO);
  close(kept);
  assert_int_equal(status, LAMINA_OK);
  assert_int_equal(result.exit_code, 0);
}

/* Killed without a chance to tidy up: the program goes on, and no half profile lies under a final name. */
static void the_program_survives_its_observer(void **state)
{
  (void)state;
  const pid_t observer = fork();
  if (observer == 0) {
    record(ARGV("sh", "-c", "sleep 0.5; echo yes > out/survived"));
    _exit(0);
  }
  usleep(200000);
  kill(observer, SIGKILL);
  waitpid(observer, NULL, 0);
  for (int i = 0; i < 50 && access("out/survived", F_OK) != 0; i++)
    usleep(50000);
  assert_int_equal(access("out/survived", F_OK), 0);
  lamina_profile *profile = NULL;
  assert_int_not_equal(lamina_profile_read(ctx, "out", &profile), LAMINA_OK);
}

static void a_full_disk_is_told_after_the_program(void **state)
{
  (void)state;
  if (access("/dev/full", W_OK) != 0)
    LMI_SKIP("there is no /dev/full");
  /* phases.log can be made, the profile cannot: its name is a folder that is in the way. */
  assert_int_equal(mkdir("out", 0777), 0);
  assert_int_equal(record(ARGV("sh", "-c", "mkdir out/process.$$.profile; exit 4")), LAMINA_ERROR_FILE);
  assert_int_equal(result.exit_code, 4);
}

static void each_child_has_its_profile(void **state)
{
  (void)state;
  lamina_profile *profile = NULL;
  size_t count = 0;
  assert_int_equal(record(ARGV("sh", "-c", "true & /bin/true; wait; (exec /bin/true)")), LAMINA_OK);
  assert_int_equal(lamina_profile_read(ctx, "out", &profile), LAMINA_OK);
  const lamina_profile_process *processes = lamina_profile_processes(profile, &count);
  if (result.source == LAMINA_RECORD_FOOTPRINT)
    LMI_SKIP("no events can be opened here: %s", result.reason);
  assert_true(count >= 4); /* the shell, its children, and the programs that they became */
  bool has_exec = false;
  for (size_t i = 0; i < count; i++)
    has_exec = has_exec || strcmp(processes[i].ended, "exec") == 0;
  assert_true(has_exec);
  lamina_profile_destroy(profile);
}

/* ---- known accesses ---- */

static double share_of(const lamina_profile *profile, const char *name)
{
  size_t count = 0;
  uint64_t sum = 0, mine = 0;
  const lamina_profile_object *objects = lamina_profile_objects(profile, &count);
  for (size_t i = 0; i < count; i++) {
    sum += objects[i].accesses;
    if (strcmp(objects[i].name, name) == 0)
      mine += objects[i].accesses;
  }
  return sum > 0 ? 100.0 * (double)mine / (double)sum : (double)NAN;
}

static lamina_profile *record_known(const char *mode)
{
  lamina_profile *profile = NULL;
  char words[2][16];
  snprintf(words[0], sizeof words[0], "%s", mode);
  snprintf(words[1], sizeof words[1], "1.5");
  char program[] = LAMINA_KNOWN_TRAFFIC;
  const lamina_status status = record_with(LAMINA_RECORD_CLOCK, ARGV(program, words[0], words[1]));
  if (status == LAMINA_UNAVAILABLE)
    LMI_SKIP("no clock samples here: %s", lamina_error_message(ctx));
  assert_int_equal(status, LAMINA_OK);
  assert_int_equal(result.exit_code, 0);
  if (result.samples < 200)
    LMI_SKIP("only %d samples: the machine is too busy to judge shares", (int)result.samples);
  assert_int_equal(lamina_profile_read(ctx, "out", &profile), LAMINA_OK);
  return profile;
}

/* Points of percent from the truth: five, and three standard deviations of so few samples. */
static void assert_share(const lamina_profile *profile, const char *name, double truth)
{
  const double p = 0.01 * truth;
  const double slack = 5 + 300 * sqrt(p * (1 - p) / (double)result.samples);
  const double share = share_of(profile, name);
  print_message("%s: %.1f %% of the accesses, truth %.1f %%\n", name, share, truth);
  assert_true(fabs(share - truth) < slack);
}

static void shares_of_a_stencil(void **state)
{
  (void)state;
  lamina_profile *profile = record_known("stencil");
  assert_share(profile, "a", 25);
  assert_share(profile, "b", 75);
  lamina_profile_destroy(profile);
}

static void shares_of_a_lookup(void **state)
{
  (void)state;
  lamina_profile *profile = record_known("lookup");
  assert_share(profile, "table", 100);
  lamina_profile_destroy(profile);
}

static void shares_of_both(void **state)
{
  (void)state;
  lamina_profile *profile = record_known("mixed");
  assert_share(profile, "a", 20);
  assert_share(profile, "b", 60);
  assert_share(profile, "table", 20);
  lamina_profile_destroy(profile);
}

static void threads_are_followed(void **state)
{
  (void)state;
  size_t count = 0;
  lamina_profile *profile = record_known("threads");
  lamina_profile_threads(profile, &count);
  assert_int_equal(count, 2);
  assert_share(profile, "b", 75);
  lamina_profile_destroy(profile);
}

static void phases_have_their_time(void **state)
{
  (void)state;
  size_t count = 0;
  bool is_found = false;
  lamina_profile *profile = record_known("stencil");
  const lamina_profile_phase *phases = lamina_profile_phases(profile, &count);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(phases[i].name, "stencil") != 0)
      continue;
    is_found = true;
    assert_true(phases[i].seconds > 1.45 && phases[i].seconds <= result.seconds);
    assert_true(lamina_counts_flops(&phases[i].counts) == LAMINA_UNCOUNTED || result.source == LAMINA_RECORD_PERF);
  }
  assert_true(is_found);
  lamina_profile_destroy(profile);
}

/* Three arrays of 16 MiB, written once: 12288 pages of 4 KiB, or fewer faults when huge pages serve them. */
static void first_touches_and_footprint(void **state)
{
  (void)state;
  size_t count = 0;
  uint64_t peak = 0;
  lamina_profile *profile = record_known("stencil");
  const lamina_footprint_point *points = lamina_profile_footprint(profile, &count);
  for (size_t i = 0; i < count; i++)
    if (points[i].tier_bytes[0] > peak)
      peak = points[i].tier_bytes[0];
  assert_true(peak >= (uint64_t)48 << 20 && peak < (uint64_t)60 << 20);
  assert_true(lamina_profile_get_summary(profile)->page_count >= 12288);
  lamina_profile_destroy(profile);
}

/* ---- what users met (users.md B2) ---- */

static bool has_remark(const lamina_profile *profile, const char *part)
{
  size_t count = 0;
  const char *const *remarks = lamina_profile_remarks(profile, &count);
  for (size_t i = 0; i < count; i++)
    if (strstr(remarks[i], part) != NULL)
      return true;
  return false;
}

/* libpfm4 also names the kernel's own events, which work without a PMU. */
static void named_events_are_counted(void **state)
{
  (void)state;
  lamina_profile *profile = NULL;
  lamina_record_options options = lamina_record_options_default();
  const char *const names[] = {"PERF_COUNT_SW_PAGE_FAULTS"};
  options.folder = "out";
  options.events = names;
  options.event_count = 1;
  const lamina_status status = lamina_record_run(ctx, &options, ARGV("true"), &result);
  if (status == LAMINA_UNAVAILABLE)
    LMI_SKIP("%s", lamina_error_message(ctx));
  assert_int_equal(status, LAMINA_OK);
  assert_int_equal(lamina_profile_read(ctx, "out", &profile), LAMINA_OK);
  assert_true(has_remark(profile, "PERF_COUNT_SW_PAGE_FAULTS: "));
  lamina_profile_destroy(profile);
}

static void unknown_events_stop_before_the_start(void **state)
{
  (void)state;
  lamina_record_options options = lamina_record_options_default();
  const char *const names[] = {"NO_SUCH_EVENT_AT_ALL"};
  options.folder = "out";
  options.events = names;
  options.event_count = 1;
  assert_int_not_equal(lamina_record_run(ctx, &options, ARGV("touch", "started"), &result), LAMINA_OK);
  assert_non_null(strstr(lamina_error_message(ctx), "NO_SUCH_EVENT_AT_ALL"));
  assert_false(result.started);
  assert_int_equal(access("started", F_OK), -1);
  assert_int_equal(access("out", F_OK), -1);
}

/* memtis 6: two threads, and all samples from one processor. */
static void samples_of_one_processor_are_told(void **state)
{
  (void)state;
  lamina_profile *profile = NULL;
  cpu_set_t before, one;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
    if (CPU_ISSET(i, &before))
      CPU_SET(i, &one);
  lamina_record_options options = lamina_record_options_default();
  options.folder = "out";
  options.source = LAMINA_RECORD_CLOCK;
  options.clock_hz = 5000;
  char program[] = LAMINA_KNOWN_TRAFFIC;
  sched_setaffinity(0, sizeof one, &one);
  const lamina_status status = lamina_record_run(ctx, &options, ARGV(program, "threads", "1.5"), &result);
  sched_setaffinity(0, sizeof before, &before);
  if (status == LAMINA_UNAVAILABLE)
    LMI_SKIP("no clock samples here: %s", lamina_error_message(ctx));
  assert_int_equal(status, LAMINA_OK);
  if (result.samples < 1200)
    LMI_SKIP("only %d samples: the machine is too busy", (int)result.samples);
  assert_int_equal(lamina_profile_read(ctx, "out", &profile), LAMINA_OK);
  assert_true(has_remark(profile, "one processor gave all samples although 2 threads ran"));
  lamina_profile_destroy(profile);
}

/* As a user who is nobody: 0 when the setuid program ran to its end, and what could not be seen was said. */
static int record_as_nobody(const char *folder)
{
  if (chdir(folder) != 0 || setgid(65534) != 0 || setuid(65534) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0)
    return 77;
  lamina_profile *profile = NULL;
  if (record(ARGV("su", "--version")) != LAMINA_OK || !result.started || result.exit_code != 0)
    return 1;
  if (result.samples == 0 && result.touches == 0 && strstr(result.reason, "setuid") == NULL)
    return 2;
  return lamina_profile_read(ctx, "out", &profile) == LAMINA_OK ? 0 : 3;
}

static void a_setuid_program_runs_unharmed(void **state)
{
  (void)state;
  struct stat info;
  char folder[] = "/tmp/lamina-setuid-XXXXXX";
  if (getuid() != 0 || stat("/bin/su", &info) != 0 || (info.st_mode & S_ISUID) == 0)
    LMI_SKIP("root and a setuid /bin/su are needed");
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chmod(folder, 0777), 0);
  int wait_status = 0;
  const pid_t child = fork();
  if (child == 0)
    _exit(record_as_nobody(folder));
  assert_int_equal(waitpid(child, &wait_status, 0), child);
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
  assert_true(WIFEXITED(wait_status));
  if (WEXITSTATUS(wait_status) == 77)
    LMI_SKIP("rights cannot be given up here");
  assert_int_equal(WEXITSTATUS(wait_status), 0);
}

LMI_TEST_MAIN(cmocka_unit_test_setup_teardown(named_events_are_counted, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(unknown_events_stop_before_the_start, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(samples_of_one_processor_are_told, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(a_setuid_program_runs_unharmed, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(exit_status_passes_through, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(signals_are_told, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(a_misspelt_program_leaves_nothing, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(a_file_that_cannot_run, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(a_short_program_is_no_error, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(old_profiles_are_not_mixed, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(wrong_options_are_refused, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(closed_input_stays_closed, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(the_program_survives_its_observer, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(a_full_disk_is_told_after_the_program, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(each_child_has_its_profile, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(shares_of_a_stencil, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(shares_of_a_lookup, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(shares_of_both, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(threads_are_followed, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(phases_have_their_time, make_context, destroy_context),
              cmocka_unit_test_setup_teardown(first_touches_and_footprint, make_context, destroy_context))
