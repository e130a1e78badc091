/* SPDX-License-Identifier: Apache-2.0 */
/* Steers a recording: start the program at a gate, attach, let it go, take records until it ends, write profiles. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event_counts.h"
#include "local_spill.h"
#include "prefetch_switch.h"
#include "recorder.h"
#include "trace_launch.h"

/* Between two looks at a program: often at first, when mappings and phases come thick; the rings hold more than half a
 * second of samples at 1 kHz and wake us when they are half full. */
enum { SHORT_WAIT_MS = 20, LONG_WAIT_MS = 100 };
static const uint64_t SHORT_WAITS_NS = 200000000;

const lmi_source *const lmi_sources[] = {&lmi_source_perf, &lmi_source_clock, &lmi_source_fault, NULL};

const char *lamina_record_source_name(lamina_record_source source)
{
  static const char *const names[] = {
#define NAME(name, value, word, text) word,
    LAMINA_RECORD_SOURCE_LIST(NAME)
#undef NAME
  };
  return (size_t)source < LMI_COUNT(names) ? names[source] : NULL;
}

lamina_record_options lamina_record_options_default(void)
{
  return (lamina_record_options){.source = LAMINA_RECORD_BEST, .clock_hz = 1000, .sample_period = 4000};
}

uint64_t lmi_recorder_random(lmi_recorder *recorder)
{
  recorder->random = recorder->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return recorder->random >> 33;
}

/* What the child starts with. */
typedef struct lmi_child_world {
  char **environment;
  lmi_text phases, trace; /* texts that it points to */
} lmi_child_world;

/* ---- before the start ---- */

static lamina_status check(lamina_context *ctx, const lamina_record_options *options, char *const argv[])
{
  LMI_REQUIRE(ctx, argv != NULL && argv[0] != NULL && argv[0][0] != '\0', LAMINA_ERROR_ARGUMENT,
              "there is no program to run");
  LMI_REQUIRE(ctx, options->folder != NULL && options->folder[0] != '\0', LAMINA_ERROR_ARGUMENT,
              "the folder for the profile has no name");
  LMI_REQUIRE(ctx, options->clock_hz >= 1 && options->clock_hz <= 100000, LAMINA_ERROR_ARGUMENT,
              "%g clock samples a second; 1 to 100000 are allowed", options->clock_hz);
  LMI_REQUIRE(ctx, options->sample_period >= 100, LAMINA_ERROR_ARGUMENT,
              "a sample every %llu events; at least 100 are needed", (unsigned long long)options->sample_period);
  LMI_REQUIRE(ctx, options->event_count <= 64, LAMINA_ERROR_ARGUMENT, "%zu named events; at most 64 are allowed",
              options->event_count);
  LMI_REQUIRE(ctx, options->event_count == 0 || options->source != LAMINA_RECORD_TRACE, LAMINA_ERROR_ARGUMENT,
              "the tracer counts no events of the processor: leave the names, or the source trace, away");
  LMI_REQUIRE(ctx, options->footprint_seconds >= 0 && options->footprint_seconds <= 3600, LAMINA_ERROR_ARGUMENT,
              "a look at the footprint every %g s; 0 to 3600 are allowed", options->footprint_seconds);
  return LAMINA_OK;
}

/* Old profiles would mix with new ones: the folder must be new or empty. */
static lamina_status make_folder(lmi_recorder *recorder)
{
  const char *path = recorder->options.folder;
  lamina_context *ctx = recorder->ctx;
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "the folder %s cannot be made", path);
  DIR *folder = opendir(path);
  if (folder == NULL)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s cannot be used as a folder", path);
  size_t entries = 0;
  while (readdir(folder) != NULL)
    entries++;
  closedir(folder);
  LMI_REQUIRE(ctx, entries <= 2, LAMINA_ERROR_FILE, "the folder %s is not empty; name another one or remove it", path);
  char absolute[PATH_MAX];
  LMI_REQUIRE(ctx, realpath(path, absolute) != NULL, LAMINA_ERROR_FILE, "the folder %s cannot be found: %s", path,
              strerror(errno));
  return lmi_string_copy(ctx, absolute, &recorder->folder);
}

static lamina_status prepare(lmi_recorder *recorder)
{
  lamina_context *ctx = recorder->ctx;
  LMI_TRY(lamina_machine_inspect(ctx, NULL, &recorder->machine));
  if (recorder->options.tiers != NULL)
    LMI_TRY(lamina_machine_set_tiers(ctx, recorder->machine, recorder->options.tiers));
  recorder->has_numa_maps = access("/proc/self/numa_maps", R_OK) == 0;
  LMI_TRY(lmi_observed_open(ctx, &recorder->observed));
  LMI_TRY(make_folder(recorder));
  return lmi_phase_log_open(recorder);
}

/* Replaces NAME=... of our environment, or adds it. */
static void set_variable(char **environment, const char *assignment)
{
  const size_t name = strcspn(assignment, "=") + 1;
  size_t i = 0;
  while (environment[i] != NULL && strncmp(environment[i], assignment, name) != 0)
    i++;
  environment[i] = (char *)(uintptr_t)assignment;
}

/* Our environment, where the markers write, and what a tracer needs. */
static lamina_status make_environment(lmi_recorder *recorder, const lmi_trace_launch *trace, lmi_child_world *world)
{
  enum { ADDED = 2 };
  size_t count = 0;
  while (environ[count] != NULL)
    count++;
  LMI_TRY(LMI_ALLOC(recorder->ctx, count + ADDED + 1, &world->environment));
  memcpy(world->environment, environ, count * sizeof *environ);
  LMI_TRY(lmi_text_append(recorder->ctx, &world->phases, "LAMINA_PHASES=%s/phases.log", recorder->folder));
  set_variable(world->environment, world->phases.data);
  if (trace->variable == NULL)
    return LAMINA_OK;
  LMI_TRY(lmi_text_append(recorder->ctx, &world->trace, "%s=%s", trace->variable, trace->value));
  set_variable(world->environment, world->trace.data);
  return LAMINA_OK;
}

/* ---- attaching ---- */

/* First with the kernel's own touches of user pages, which need rights, then without. */
static lamina_status open_events(lmi_recorder *recorder, const lmi_source *source, const char **reason)
{
  lamina_context *ctx = recorder->ctx;
  int error_number = 0;
  for (int with_kernel = 1; with_kernel >= 0; with_kernel--) {
    struct perf_event_attr attributes[LMI_PERF_MOST_EVENTS];
    const size_t count = source->events(&recorder->options, attributes, reason);
    if (count == 0)
      return LAMINA_UNAVAILABLE;
    for (size_t i = 0; i < count; i++)
      if (attributes[i].type == PERF_TYPE_SOFTWARE && attributes[i].config == PERF_COUNT_SW_PAGE_FAULTS)
        attributes[i].exclude_kernel = with_kernel == 0;
    const lamina_status status =
      lmi_perf_set_open(ctx, attributes, count, recorder->launch.pid, &recorder->events, &error_number);
    if (status != LAMINA_UNAVAILABLE)
      return status;
    lamina_error_clear(ctx);
  }
  *reason = error_number == ENOENT || error_number == EOPNOTSUPP || error_number == ENODEV
              ? "this machine shows no such counter (a virtual machine?)"
            : error_number == EACCES || error_number == EPERM
              ? "not permitted: see `lamina doctor` (kernel.perf_event_paranoid, CAP_PERFMON or the sandbox)"
              : strerror(error_number);
  return LAMINA_UNAVAILABLE;
}

static void note(lamina_record_result *result, const char *name, const char *reason)
{
  const size_t used = strlen(result->reason);
  snprintf(result->reason + used, sizeof result->reason - used, "%s%s: %s", used > 0 ? "; " : "", name, reason);
}

static bool is_wanted(lamina_record_source asked, const lmi_source *source)
{
  return asked == LAMINA_RECORD_BEST || asked == source->name;
}

static lamina_status open_named(lmi_recorder *recorder)
{
  return lmi_named_events_open(recorder->ctx, recorder->options.events, recorder->options.event_count,
                               recorder->launch.pid, &recorder->named);
}

/* The best source that opens; each one that does not leaves its reason. */
static lamina_status attach(lmi_recorder *recorder, lamina_record_result *result)
{
  const lamina_record_source asked = recorder->options.source;
  LMI_TRY(open_named(recorder));
  for (size_t i = 0; lmi_sources[i] != NULL; i++) {
    const char *reason = "";
    if (!is_wanted(asked, lmi_sources[i]))
      continue;
    const lamina_status status = open_events(recorder, lmi_sources[i], &reason);
    if (status == LAMINA_OK) {
      recorder->source = lmi_sources[i];
      break;
    }
    if (status != LAMINA_UNAVAILABLE)
      return status;
    note(result,
         lmi_sources[i] == &lmi_source_fault ? "first touches" : lamina_record_source_name(lmi_sources[i]->name),
         reason);
  }
  if (recorder->source == NULL && (asked == LAMINA_RECORD_PERF || asked == LAMINA_RECORD_CLOCK))
    return lmi_fail(recorder->ctx, LAMINA_UNAVAILABLE, "the source %s does not work here: %s",
                    lamina_record_source_name(asked), result->reason);
  result->source = recorder->source != NULL ? recorder->source->name : LAMINA_RECORD_FOOTPRINT;
  const lamina_status status =
    asked != LAMINA_RECORD_FOOTPRINT ? lmi_uncore_open(recorder->ctx, &recorder->uncore) : LAMINA_OK;
  if (status == LAMINA_UNAVAILABLE)
    lamina_error_clear(recorder->ctx); /* a remark more where they are; nothing is missing where they are not */
  else
    LMI_TRY(status);
  if (asked != LAMINA_RECORD_FOOTPRINT)
    LMI_TRY(lmi_event_counts_open(recorder->ctx, recorder->launch.pid, &recorder->counts));
  return LAMINA_OK;
}

/* ---- while the program runs ---- */

static const char *text_behind(const struct perf_event_header *header, size_t offset)
{
  return header->size > offset ? (const char *)header + offset : "";
}

static lamina_status take_mapping(lmi_recorder *recorder, const struct perf_event_header *header)
{
  /* PERF_RECORD_MMAP2: pid tid, address, length, offset, device or build id (24 bytes), protection and flags, name. */
  const uint64_t *words = (const uint64_t *)(const void *)(header + 1);
  const uint32_t protection = (uint32_t)words[7];
  lmi_observed_process *process = lmi_observed_find(&recorder->observed, (uint32_t)words[0]);
  if (process == NULL)
    return LAMINA_OK;
  return lmi_observed_map(&recorder->observed, process, words[1], words[2], words[3], (protection & 4) != 0,
                          text_behind(header, sizeof *header + 8 * sizeof *words));
}

static lamina_status take_other(lmi_recorder *recorder, const struct perf_event_header *header, uint64_t time)
{
  const uint32_t *ids = (const uint32_t *)(const void *)(header + 1); /* pid, (ppid,) tid, ... */
  lmi_observed *observed = &recorder->observed;
  switch (header->type) {
  case PERF_RECORD_MMAP2: return take_mapping(recorder, header);
  case PERF_RECORD_COMM:
    if ((header->misc & PERF_RECORD_MISC_COMM_EXEC) != 0)
      return lmi_observed_exec(observed, ids[0], text_behind(header, sizeof *header + 8), time);
    return LAMINA_OK;
  case PERF_RECORD_FORK: return ids[0] != ids[1] ? lmi_observed_start(observed, ids[0], ids[1], time) : LAMINA_OK;
  case PERF_RECORD_EXIT: {
    lmi_observed_process *process = ids[0] == ids[2] ? lmi_observed_find(observed, ids[0]) : NULL;
    if (process != NULL)
      lmi_observed_end(process, "ended", time);
    return LAMINA_OK;
  }
  default: return LAMINA_OK;
  }
}

static lamina_status take_sample(lmi_recorder *recorder, const lmi_perf_sample *sample)
{
  lmi_observed_process *process = lmi_observed_find(&recorder->observed, sample->pid);
  if (process == NULL)
    return LAMINA_OK;
  if (sample->event == 0 && recorder->source != &lmi_source_fault) {
    recorder->processor_samples[sample->cpu % LMI_COUNT(recorder->processor_samples)]++;
    recorder->sample_count++;
  }
  return recorder->source->sample(recorder, process, sample);
}

static void visit(void *user, const struct perf_event_header *header, const lmi_perf_sample *sample, uint64_t time)
{
  lmi_recorder *recorder = user;
  if (recorder->failure != LAMINA_OK)
    return; /* out of memory: the program goes on, the profile ends here */
  recorder->failure = sample != NULL ? take_sample(recorder, sample) : take_other(recorder, header, time);
}

static lamina_status take_records(lmi_recorder *recorder, bool everything)
{
  LMI_TRY(lmi_phase_log_read(recorder));
  if (recorder->events != NULL)
    LMI_TRY(lmi_perf_set_drain(recorder->events, everything, visit, recorder));
  return recorder->failure;
}

/* Until the program ends. A failure on the way stops the observing, not the program. */
static int follow(lmi_recorder *recorder, lamina_status *status)
{
  int wait_status = 0;
  while (!lmi_launch_has_ended(&recorder->launch, &wait_status)) {
    const bool is_young = lmi_monotonic_ns() - recorder->started_ns < SHORT_WAITS_NS;
    lmi_launch_wait(&recorder->launch, recorder->events, is_young ? SHORT_WAIT_MS : LONG_WAIT_MS);
    lmi_launch_forward_signals(&recorder->launch);
    if (*status != LAMINA_OK)
      continue;
    *status = take_records(recorder, false);
    if (*status == LAMINA_OK && !recorder->is_traced)
      *status = lmi_footprint_tick(recorder, false);
    if (*status == LAMINA_OK && recorder->counts != NULL)
      *status = lmi_event_counts_tick(recorder->ctx, recorder->counts, lmi_monotonic_ns());
  }
  return wait_status;
}

/* ---- after the end ---- */

static void describe_end(lmi_recorder *recorder, int wait_status, lamina_record_result *result)
{
  char how[32];
  lmi_observed_process *process = NULL;
  if (WIFSIGNALED(wait_status)) {
    result->signal = WTERMSIG(wait_status);
    result->exit_code = 128 + result->signal;
    snprintf(how, sizeof how, "signal %d", result->signal);
  } else {
    result->exit_code = WEXITSTATUS(wait_status);
    snprintf(how, sizeof how, "exit %d", result->exit_code);
  }
  for (size_t i = 0; i < recorder->observed.process_count; i++)
    if (recorder->observed.processes[i]->pid == (uint32_t)recorder->launch.pid)
      process = recorder->observed.processes[i];
  if (process != NULL) {
    lmi_observed_end(process, how, lmi_monotonic_ns());
    snprintf(process->ended, sizeof process->ended, "%s", how);
  }
  for (size_t i = 0; i < recorder->observed.process_count; i++)
    lmi_observed_end(recorder->observed.processes[i], "running", lmi_monotonic_ns());
}

/* The channels' view: of the whole machine, so that it bounds the program's traffic from above. */
static void read_uncore(lmi_recorder *recorder)
{
  lmi_uncore_sum sum;
  char *text = recorder->uncore_remark;
  const size_t size = sizeof recorder->uncore_remark;
  if (recorder->uncore == NULL)
    return;
  lmi_uncore_read(recorder->uncore, &sum);
  snprintf(text, size, "counters of memory channels and links, of the whole machine:");
  for (int i = 0; i < LMI_UNCORE_COUNT; i++)
    if (isfinite(sum.bytes[i]))
      snprintf(text + strlen(text), size - strlen(text), " %.3f GB %s;", 1e-9 * sum.bytes[i],
               lmi_uncore_name((lmi_uncore_meaning)i));
  snprintf(text + strlen(text), size - strlen(text), " %zu counters%s%s", sum.units, sum.dropped > 0 ? "; " : "",
           sum.remark);
}

static void sum_up(const lmi_recorder *recorder, lamina_record_result *result)
{
  result->process_count = recorder->observed.process_count;
  result->lost = recorder->events != NULL ? lmi_perf_set_lost(recorder->events) : 0;
  for (size_t i = 0; i < recorder->observed.process_count; i++) {
    const lmi_observed_process *process = recorder->observed.processes[i];
    result->samples += process->samples;
    result->touches += process->touches;
    result->unresolved += process->unresolved;
  }
  if (recorder->source != NULL && result->touches == 0 && result->samples == 0)
    note(result, "the program itself",
         "nothing could be seen of it; a program that changes its rights at its start (setuid) "
         "cannot be observed by its user");
}

/* From the open gate to the written profiles. */
static lamina_status run(lmi_recorder *recorder, const char *program, lamina_record_result *result)
{
  recorder->started_ns = lmi_monotonic_ns();
  LMI_TRY(
    lmi_observed_start(&recorder->observed, (uint32_t)recorder->launch.pid, (uint32_t)getpid(), recorder->started_ns));
  const int exec_error = lmi_launch_go(&recorder->launch);
  lamina_status status = LAMINA_OK;
  if (exec_error != 0) {
    snprintf(result->start_error, sizeof result->start_error, "%s: %s", program, strerror(exec_error));
    status = LAMINA_ERROR_SYSTEM; /* nothing to observe, but the child must be waited for */
  }
  if (exec_error == 0 && recorder->events == NULL) /* nobody else will tell us what runs */
    status = lmi_observed_exec(&recorder->observed, (uint32_t)recorder->launch.pid, program, recorder->started_ns);
  const int wait_status = follow(recorder, &status);
  result->seconds = 1e-9 * (double)(lmi_monotonic_ns() - recorder->started_ns);
  read_uncore(recorder);
  if (recorder->events != NULL)
    lmi_perf_set_disable(recorder->events);
  if (exec_error == 0 && status == LAMINA_OK)
    status = take_records(recorder, true);
  describe_end(recorder, wait_status, result);
  if (exec_error != 0)
    return LAMINA_OK;
  result->started = true;
  sum_up(recorder, result);
  LMI_TRY(status);
  return recorder->is_traced ? LAMINA_OK : lmi_recorder_write(recorder, result); /* the tracer writes its own */
}

/* A program that did not start leaves nothing behind. */
static void remove_folder(lmi_recorder *recorder)
{
  lmi_text path = {0};
  lmi_phase_log_close(recorder);
  if (recorder->folder != NULL &&
      lmi_text_append(recorder->ctx, &path, "%s/phases.log", recorder->folder) == LAMINA_OK) {
    unlink(path.data);
    rmdir(recorder->folder); /* refused when somebody else put a file there */
  }
  lmi_text_free(recorder->ctx, &path);
}

static void close_recorder(lmi_recorder *recorder)
{
  lamina_context *ctx = recorder->ctx;
  lmi_event_counts_close(recorder->counts);
  lmi_uncore_close(recorder->uncore);
  lmi_named_events_close(recorder->named);
  lmi_perf_set_close(recorder->events);
  lmi_phase_log_close(recorder);
  lmi_observed_close(&recorder->observed);
  lamina_machine_destroy(ctx, recorder->machine);
  lmi_free(ctx, recorder->folder);
  lmi_free(ctx, recorder);
}

/* The tracer is a program that runs the program. What it models and what may go wrong is told with the result. */
static lamina_status prepare_trace(lmi_recorder *recorder, char *const argv[], lmi_trace_launch *trace,
                                   lamina_record_result *result)
{
  const lamina_record_options *asked = &recorder->options;
  const lmi_trace_options options = {.folder = recorder->folder,
                                     .l1 = asked->l1,
                                     .l2 = asked->l2,
                                     .llc = asked->llc,
                                     .no_stream_prefetch = asked->no_prefetch,
                                     .no_adjacent_prefetch = asked->no_prefetch};
  LMI_TRY(lmi_trace_prepare(recorder->ctx, &options, argv, trace));
  recorder->is_traced = true;
  result->source = LAMINA_RECORD_TRACE;
  snprintf(result->reason, sizeof result->reason, "%s%s%s", trace->caches, trace->warning[0] != '\0' ? "; " : "",
           trace->warning);
  return LAMINA_OK;
}

/* From the fork to the written profiles. */
static lamina_status launch(lmi_recorder *recorder, char *const argv[], const lmi_child_world *world,
                            lamina_record_result *result)
{
  const lmi_launch_world start = {world->environment, -1};
  LMI_TRY(lmi_launch_prepare(recorder->ctx, argv, &start, &recorder->launch));
  lamina_status status = recorder->is_traced ? LAMINA_OK : attach(recorder, result);
  if (status == LAMINA_OK)
    status = run(recorder, argv[0], result);
  else
    lmi_launch_cancel(&recorder->launch);
  lmi_launch_close(&recorder->launch);
  return status;
}

lamina_status lamina_record_run(lamina_context *ctx, const lamina_record_options *options, char *const argv[],
                                lamina_record_result *result)
{
  *result = (lamina_record_result){0};
  LMI_TRY(check(ctx, options, argv));
  lmi_recorder *recorder = NULL;
  lmi_child_world world = {0};
  lmi_trace_launch trace = {0};
  lmi_local_spill spill = {0};
  lmi_prefetch_switch prefetchers = {0};
  LMI_TRY(LMI_ALLOC(ctx, 1, &recorder));
  recorder->ctx = ctx;
  recorder->options = *options;
  recorder->random = 1;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, prepare(recorder), cleanup);
  LMI_TRY_GOTO(status, lmi_local_choose(ctx, recorder->machine, &recorder->options, result), cleanup);
  LMI_TRY_GOTO(status, lmi_local_start(ctx, recorder->machine, &recorder->options, argv, &spill, result), cleanup);
  if (options->no_prefetch && recorder->options.source != LAMINA_RECORD_TRACE)
    LMI_TRY_GOTO(status, lmi_prefetch_switch_open(ctx, NULL, &prefetchers), cleanup);
  if (recorder->options.source == LAMINA_RECORD_TRACE)
    LMI_TRY_GOTO(status, prepare_trace(recorder, argv, &trace, result), cleanup);
  LMI_TRY_GOTO(status, make_environment(recorder, &trace, &world), cleanup);
  status = launch(recorder, recorder->is_traced ? trace.argv : argv, &world, result);
cleanup:
  if (!result->started)
    remove_folder(recorder);
  lmi_prefetch_switch_close(ctx, &prefetchers);
  lmi_local_stop(ctx, &spill);
  lmi_trace_launch_free(ctx, &trace);
  lmi_free(ctx, world.environment);
  lmi_text_free(ctx, &world.phases);
  lmi_text_free(ctx, &world.trace);
  close_recorder(recorder);
  return status;
}
