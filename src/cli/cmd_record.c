/* SPDX-License-Identifier: Apache-2.0 */
/* lamina record: runs any program and writes what it did with its memory. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "lamina/record.h"
#include "record_local.h"
#include "record_prefetch.h"

static const char *const sources[] = {"best", "perf", "clock", "trace", "footprint", NULL};

struct record_values {
  bool json;
  const char *out, *tiers, *l1, *l2, *llc, *local, *bandwidths, *latencies, *machine;
  bool no_prefetch, prefetch_study;
  int source;
  double rate, interval;
  int64_t period;
  lmi_word_list events;
};

static const struct record_values defaults = {.rate = 1000, .period = 4000};

static const lmi_option options[] = {
  {.name = "out",
   .letter = 'o',
   .kind = LMI_KIND_TEXT,
   .value = "DIR",
   .summary = "folder for the profile; new or empty (default: lamina-profile, lamina-profile-2, ...)",
   .offset = LMI_FIELD(const char *, struct record_values, out)},
  LMI_OPTION_CHOICE(struct record_values, source, "source", sources,
                    "what to watch with (default: the best that works here)"),
  LMI_OPTION_NUMBER(struct record_values, rate, "rate", "HZ", 1, 100000, "clock samples a second (default: 1000)"),
  LMI_OPTION_INTEGER(struct record_values, period, "period", "N", 100, 1e12,
                     "perf: a sample every N events (default: 4000)"),
  LMI_OPTION_LIST(struct record_values, events, "event", "NAME",
                  "count this event of the processor as well (libpfm4's names); may be given several times"),
  LMI_OPTION_NUMBER(struct record_values, interval, "interval", "S", 0, 3600,
                    "seconds between two looks at the footprint (default: by the run time, at most 1)"),
  LMI_OPTION_TEXT(struct record_values, l1, "l1", "SIZE,WAYS",
                  "trace: first-level cache, 48K,12 (default: this machine's)"),
  LMI_OPTION_TEXT(struct record_values, l2, "l2", "SIZE,WAYS", "trace: second-level cache, or none"),
  LMI_OPTION_TEXT(struct record_values, llc, "llc", "SIZE,WAYS", "trace: last-level cache, shared by all threads"),
  LMI_OPTION_FLAG(struct record_values, no_prefetch, "no-prefetch",
                  "without prefetching: trace, in the model; else by MSR, given back at the end (root, Intel)"),
  LMI_OPTION_FLAG(struct record_values, prefetch_study, "prefetch-study",
                  "run it with and without prefetching, and compare traffic and time"),
  LMI_OPTION_TEXT(struct record_values, local, "local", "SIZE",
                  "the fast tier holds so much: 25% of the footprint, or 256MiB; see below"),
  LMI_OPTION_TEXT(struct record_values, bandwidths, "bandwidth", "FAST,SLOW",
                  "--local as a model: GB/s of the tiers (default: of the machine file, else 73,34)"),
  LMI_OPTION_TEXT(struct record_values, latencies, "latency", "FAST,SLOW",
                  "--local as a model: ns of the tiers (default: of the machine file, else 111,202)"),
  LMI_OPTION_TEXT(struct record_values, machine, "machine", "FILE",
                  "--local as a model: machine file (default: machine.json if it is here)"),
  LMI_OPTION_TEXT(struct record_values, tiers, "tiers", "FILE", "take the tiers from a JSON file, fastest first"),
  LMI_OPTION_FLAG(struct record_values, json, "json", "print one JSON object when the program has ended, on stderr"),
  {0}};

static const char *const examples[] = {"lamina record -- ./solver input",
                                       "profiles a program; its exit status passes through",
                                       "lamina record -o run1 -- mpirun -n 2 ./solver",
                                       "one file for each rank",
                                       "lamina record --local 25% -- ./solver input",
                                       "as if the fast tier held a quarter of the footprint",
                                       "lamina report lamina-profile",
                                       "shows what was recorded",
                                       NULL};

/* The folder of the user, or the first free one. */
static const char *choose_folder(const char *asked, char *buffer, size_t size)
{
  struct stat info;
  if (asked != NULL)
    return asked;
  snprintf(buffer, size, "lamina-profile");
  for (int number = 2; stat(buffer, &info) == 0 && number < 10000; number++)
    snprintf(buffer, size, "lamina-profile-%d", number);
  return buffer;
}

static lamina_status print_result_json(const lmi_call *call, const char *folder, const lamina_record_result *result,
                                       json_t *local)
{
  json_t *object =
    json_pack("{s:s, s:s, s:s, s:i, s:i, s:f, s:I, s:I, s:I, s:I, s:I}", "folder", folder, "source",
              lamina_record_source_name(result->source), "reason", result->reason, "exit_code", result->exit_code,
              "signal", result->signal, "seconds", result->seconds, "processes", (json_int_t)result->process_count,
              "samples", (json_int_t)result->samples, "first_touches", (json_int_t)result->touches, "unresolved",
              (json_int_t)result->unresolved, "lost", (json_int_t)result->lost);
  LMI_REQUIRE(call->ctx, object != NULL, LAMINA_ERROR_MEMORY, "no memory for the JSON of this recording");
  if (local != NULL)
    json_object_set_new(object, "local", local);
  json_dumpf(object, stderr, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  fputc('\n', stderr);
  json_decref(object);
  return LAMINA_OK;
}

static void print_samples(const lamina_record_result *result)
{
  fprintf(stderr, ", %zu program%s: %llu samples with an address", result->process_count,
          result->process_count == 1 ? "" : "s", (unsigned long long)result->samples);
  if (result->unresolved > 0)
    fprintf(stderr, " (%llu without)", (unsigned long long)result->unresolved);
  fprintf(stderr, ", %llu first touches", (unsigned long long)result->touches);
  if (result->lost > 0)
    fprintf(stderr, ", %llu records lost", (unsigned long long)result->lost);
}

/* All of it on stderr: stdout is the program's. */
static void print_result(const char *folder, const lamina_record_result *result)
{
  fprintf(stderr, "lamina: %.3f s, source %s", result->seconds, lamina_record_source_name(result->source));
  if (result->source != LAMINA_RECORD_TRACE)
    print_samples(result);
  fprintf(stderr, "\n");
  if (result->reason[0] != '\0')
    fprintf(stderr, "lamina: %s%s\n", result->source == LAMINA_RECORD_TRACE ? "" : "not used here: ", result->reason);
  if (result->signal != 0)
    fprintf(stderr, "lamina: the program was ended by signal %d (%s)\n", result->signal, strsignal(result->signal));
  fprintf(stderr, "lamina: wrote %s; see `lamina report %s`\n", folder, folder);
}

static lamina_status record_run(lmi_call *call)
{
  const struct record_values *values = call->values;
  char buffer[64];
  if (call->program_count == 0)
    return lmi_usage_error(call, "there is no program; write it behind --, as in `lamina record -- ./program`");
  LMI_TRY(lmi_call_open(call, 1));
  lamina_record_options record = lamina_record_options_default();
  lamina_record_result result;
  record.source = (lamina_record_source)values->source;
  record.folder = choose_folder(values->out, buffer, sizeof buffer);
  record.clock_hz = values->rate;
  record.sample_period = (uint64_t)values->period;
  record.footprint_seconds = values->interval;
  record.events = values->events.words;
  record.event_count = values->events.count;
  record.l1 = values->l1;
  record.l2 = values->l2;
  record.llc = values->llc;
  record.no_prefetch = values->no_prefetch;
  record.tiers = values->tiers;
  lmi_tier_choice tiers;
  json_t *local = NULL;
  const lmi_tier_request request = {
    .bandwidths = values->bandwidths, .latencies = values->latencies, .machine = values->machine};
  if (values->local != NULL && values->prefetch_study)
    return lmi_usage_error(call, "--local and --prefetch-study are two studies: give one");
  if ((values->bandwidths != NULL || values->latencies != NULL || values->machine != NULL) && values->local == NULL &&
      !values->prefetch_study)
    return lmi_usage_error(call, "--%s belongs to --local or --prefetch-study: add one of them, or leave it away",
                           values->bandwidths != NULL  ? "bandwidth"
                           : values->latencies != NULL ? "latency"
                                                       : "machine");
  if (values->local != NULL)
    LMI_TRY(lmi_local_parse(call, values->local, &record));
  if (values->local != NULL || values->prefetch_study)
    LMI_TRY(lmi_choose_tiers(call, &request, &tiers));
  if (values->prefetch_study)
    return lmi_prefetch_study(call, &record, &tiers);
  const lamina_status status = lamina_record_run(call->ctx, &record, call->program, &result);
  call->exit_code = result.exit_code;
  LMI_REQUIRE(call->ctx, status != LAMINA_OK || result.start_error[0] == '\0', LAMINA_ERROR_SYSTEM, "%s",
              result.start_error);
  LMI_TRY(status);
  LMI_TRY(lmi_local_show(call, &record, &result, &tiers, &local));
  if (values->json)
    return print_result_json(call, record.folder, &result, local);
  json_decref(local);
  print_result(record.folder, &result);
  return LAMINA_OK;
}

const lmi_command lmi_command_record = {
  .name = "record",
  .summary = "profiles the memory use of any program, its children and ranks",
  .group = LMI_GROUP_MEASURE,
  .flags = LMI_TAKES_PROGRAM,
  .options = options,
  LMI_VALUES(defaults),
  .description = "The program runs as it would without us: its output, its signals and its exit status\n"
                 "are its own (128 + n when signal n ended it, 126 or 127 when it could not start). The\n"
                 "profile ends with the program that was started; children that outlive it are not followed.\n"
                 "With --local the fast tier is made smaller. On a machine with several memory nodes that is\n"
                 "real: the fast node is filled until so much is left (a share needs one run before, to find\n"
                 "the footprint), and what does not fit lies on the next node. On one node it is a model: the\n"
                 "exact trace's first touches are played into two tiers. What is printed, and local.json in\n"
                 "the folder, says which it is.",
  .examples = examples,
  .run = record_run,
};
