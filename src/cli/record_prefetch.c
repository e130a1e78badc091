/* SPDX-License-Identifier: Apache-2.0 */
#include "record_prefetch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* One of the two runs. */
typedef struct half {
  lamina_record_result result;
  lamina_counts counts; /* of all processes */
  double seconds;       /* measured, or of the model; NAN: neither */
} half;

/* A part that was not counted makes no total. */
static void sum_processes(const lamina_profile *profile, lamina_counts *sum)
{
  size_t count;
  const lamina_profile_process *processes = lamina_profile_processes(profile, &count);
  for (int of = 0; of < LAMINA_COUNT_COUNT; of++) {
    sum->of[of] = count > 0 ? 0 : LAMINA_UNCOUNTED;
    for (size_t i = 0; i < count && sum->of[of] != LAMINA_UNCOUNTED; i++)
      sum->of[of] =
        processes[i].counts.of[of] == LAMINA_UNCOUNTED ? LAMINA_UNCOUNTED : sum->of[of] + processes[i].counts.of[of];
  }
}

/* The latency-aware time of a trace with all its memory on the fast tier: what prefetching can change in the model. */
static lamina_status model_seconds(lmi_call *call, const lamina_profile *profile, const lmi_tier_choice *choice,
                                   double *seconds)
{
  lamina_replay_options options = lamina_replay_options_default();
  lamina_replay *replay = NULL;
  options.tiers = choice->tiers;
  options.tier_count = 1;
  LMI_TRY(lamina_profile_replay(profile, &options, &replay));
  *seconds = replay->total.latency_seconds;
  lamina_replay_destroy(call->ctx, replay);
  return LAMINA_OK;
}

static lamina_status record_half(lmi_call *call, const lamina_record_options *options, const lmi_tier_choice *choice,
                                 const char *name, half *run)
{
  lamina_record_options one = *options;
  lamina_profile *profile = NULL;
  lmi_text folder = {0};
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lmi_text_append(call->ctx, &folder, "%s/%s", options->folder, name), cleanup);
  one.folder = folder.data;
  one.no_prefetch = strcmp(name, "off") == 0;
  LMI_TRY_GOTO(status, lamina_record_run(call->ctx, &one, call->program, &run->result), cleanup);
  if (run->result.start_error[0] != '\0')
    goto cleanup;
  LMI_TRY_GOTO(status, lamina_profile_read(call->ctx, folder.data, &profile), cleanup);
  sum_processes(profile, &run->counts);
  run->seconds = run->result.seconds;
  if (run->result.source == LAMINA_RECORD_TRACE)
    status = model_seconds(call, profile, choice, &run->seconds);
cleanup:
  lamina_profile_destroy(profile);
  lmi_text_free(call->ctx, &folder);
  return status;
}

static json_t *study_json(const half *on, const half *off, const lmi_tier_choice *choice)
{
  const bool is_model = on->result.source == LAMINA_RECORD_TRACE;
  const lamina_prefetch quality = lamina_counts_prefetch(&on->counts);
  json_t *object = json_pack("{s:s, s:s}", "numbers",
                             is_model ? "model: exact traces with and without the modelled prefetcher"
                                      : "measured: prefetchers of the L2 switched by MSR 0x1a4",
                             "source", lamina_record_source_name(on->result.source));
  json_object_set_new(object, "accuracy", lmi_json_number(quality.accuracy));
  json_object_set_new(object, "coverage", lmi_json_number(quality.coverage));
  json_object_set_new(object, "excess", lmi_json_number(lamina_prefetch_excess(&on->counts, &off->counts)));
  json_object_set_new(object, "gain", lmi_json_number(lamina_prefetch_gain(on->seconds, off->seconds)));
  json_object_set_new(object, "seconds_on", lmi_json_number(on->seconds));
  json_object_set_new(object, "seconds_off", lmi_json_number(off->seconds));
  if (is_model) {
    char text[320];
    json_object_set_new(object, "tiers", json_string(lmi_tier_text(choice, text, sizeof text)));
  }
  if (!isfinite(quality.accuracy))
    json_object_set_new(object, "reason", json_string("this source counts no prefetches or no lines of memory"));
  return object;
}

static void print_percent(const json_t *object, const char *key, const char *text)
{
  const json_t *value = json_object_get(object, key);
  if (json_is_number(value))
    fprintf(stderr, "  %-16s %6.1f %%\n", text, 100 * json_number_value(value));
  else
    fprintf(stderr, "  %-16s %6s\n", text, "n/a");
}

static void print_study(const json_t *object, const char *folder)
{
  fprintf(stderr, "lamina: prefetching, %s\n", json_string_value(json_object_get(object, "numbers")));
  print_percent(object, "accuracy", "accuracy");
  print_percent(object, "coverage", "coverage");
  print_percent(object, "excess", "excess traffic");
  print_percent(object, "gain", "gain in time");
  fprintf(stderr, "lamina: wrote %s/prefetch.json; see `lamina report %s/on %s/off`\n", folder, folder, folder);
}

static lamina_status save(lmi_call *call, const char *folder, const json_t *object)
{
  lmi_text path = {0};
  lamina_status status = lmi_text_append(call->ctx, &path, "%s/prefetch.json", folder);
  if (status == LAMINA_OK && json_dump_file(object, path.data, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0)
    status = lmi_fail_errno(call->ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", path.data);
  lmi_text_free(call->ctx, &path);
  return status;
}

/* Without prefetching first: where it cannot be switched nothing has run yet, and the model takes over if the source
 * was left open. */
static lamina_status record_off(lmi_call *call, lamina_record_options *options, const lmi_tier_choice *choice,
                                half *off)
{
  const lamina_status status = record_half(call, options, choice, "off", off);
  if (status != LAMINA_UNAVAILABLE || options->source != LAMINA_RECORD_BEST)
    return status;
  fprintf(stderr, "lamina: not measured, but modelled: %s\n", lamina_error_message(call->ctx));
  lamina_error_clear(call->ctx);
  options->source = LAMINA_RECORD_TRACE;
  return record_half(call, options, choice, "off", off);
}

lamina_status lmi_prefetch_study(lmi_call *call, const lamina_record_options *asked, const lmi_tier_choice *choice)
{
  half on = {0}, off = {0};
  lamina_record_options chosen = *asked, *options = &chosen;
  if (mkdir(options->folder, 0777) != 0 && errno != EEXIST)
    return lmi_fail_errno(call->ctx, LAMINA_ERROR_FILE, errno, "the folder %s cannot be made", options->folder);
  LMI_TRY(record_off(call, options, choice, &off));
  call->exit_code = off.result.exit_code;
  LMI_REQUIRE(call->ctx, off.result.start_error[0] == '\0', LAMINA_ERROR_SYSTEM, "%s", off.result.start_error);
  LMI_TRY(record_half(call, options, choice, "on", &on));
  json_t *object = study_json(&on, &off, choice);
  LMI_REQUIRE(call->ctx, object != NULL, LAMINA_ERROR_MEMORY, "no memory for the JSON of the study");
  const lamina_status status = save(call, options->folder, object);
  print_study(object, options->folder);
  json_decref(object);
  return status;
}
