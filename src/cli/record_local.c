/* SPDX-License-Identifier: Apache-2.0 */
#include "record_local.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

lamina_status lmi_local_parse(const lmi_call *call, const char *text, lamina_record_options *options)
{
  char number[32];
  const size_t length = strlen(text);
  int64_t bytes;
  if (length > 1 && length < sizeof number && text[length - 1] == '%') {
    memcpy(number, text, length - 1);
    number[length - 1] = '\0';
    if (lmi_parse_double(number, &options->local_percent) && options->local_percent > 0 &&
        options->local_percent <= 100)
      return LAMINA_OK;
  } else if (lmi_parse_bytes(text, &bytes) && bytes >= 4096) {
    options->local_bytes = (uint64_t)bytes;
    return LAMINA_OK;
  }
  return lmi_usage_error(call, "--local %s: a share above 0%% up to 100%% of the footprint, or bytes (256MiB)", text);
}

/* ---- measured ---- */

static json_t *spill_json(const lamina_profile *profile, const lamina_record_result *result)
{
  size_t count;
  const lamina_footprint_point *points = lamina_profile_footprint(profile, &count);
  uint64_t peak = 0, fast = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t sum = 0;
    for (int tier = 0; tier < LAMINA_TIERS_MAX; tier++)
      sum += points[i].tier_bytes[tier] == LAMINA_UNCOUNTED ? 0 : points[i].tier_bytes[tier];
    if (sum > peak) {
      peak = sum;
      fast = points[i].tier_bytes[0];
    }
  }
  json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:I}", "kind", "spill", "numbers", "measured (numa_maps)",
                             "left_on_fast_node_bytes", (json_int_t)result->local_bytes, "peak_bytes", (json_int_t)peak,
                             "fast_bytes", (json_int_t)fast);
  json_object_set_new(object, "r_cap", lmi_json_number(peak > 0 ? 1 - (double)fast / (double)peak : NAN));
  return object;
}

static void print_spill(const json_t *object)
{
  char left[32], peak[32], fast[32];
  const double r_cap = json_number_value(json_object_get(object, "r_cap"));
  fprintf(stderr,
          "lamina: measured: the fast node was filled until %s were left; at the peak of %s the program had %s on the "
          "fast tier, %.1f %% on slower ones\n",
          lmi_format_bytes(json_number_value(json_object_get(object, "left_on_fast_node_bytes")), left),
          lmi_format_bytes(json_number_value(json_object_get(object, "peak_bytes")), peak),
          lmi_format_bytes(json_number_value(json_object_get(object, "fast_bytes")), fast), 100 * r_cap);
}

/* ---- modelled ---- */

static json_t *phase_json(const lamina_replay_phase *phase)
{
  json_t *object =
    json_pack("{s:s, s:I, s:I, s:s}", "name", phase->name, "fast_lines", (json_int_t)phase->lines[0], "slow_lines",
              (json_int_t)phase->lines[1], "reading", lamina_tier_reading_name(phase->reading[1]));
  json_object_set_new(object, "r_access", lmi_json_number(phase->r_access[1]));
  json_object_set_new(object, "bandwidth_model_seconds", lmi_json_number(phase->bandwidth_seconds));
  json_object_set_new(object, "latency_model_seconds", lmi_json_number(phase->latency_seconds));
  return object;
}

static json_t *model_json(const lamina_replay *replay, const lmi_tier_choice *choice)
{
  char text[320];
  json_t *phases = json_array();
  json_array_append_new(phases, phase_json(&replay->total));
  for (size_t i = 0; i < replay->phase_count; i++)
    json_array_append_new(phases, phase_json(&replay->phases[i]));
  return json_pack("{s:s, s:s, s:s, s:I, s:I, s:f, s:f, s:o}", "kind", "model", "numbers",
                   "model: first touches of the exact trace played into tiers", "tiers",
                   lmi_tier_text(choice, text, sizeof text), "peak_bytes", (json_int_t)replay->peak_bytes, "fast_bytes",
                   (json_int_t)replay->resident_bytes[0], "r_cap", replay->r_cap[1], "r_bw", replay->r_bw[1], "phases",
                   phases);
}

static void print_model(const lamina_replay *replay, const lmi_tier_choice *choice)
{
  char text[320], peak[32], fast[32];
  fprintf(stderr, "lamina: model (one node, or --source trace): %s\n", lmi_tier_text(choice, text, sizeof text));
  fprintf(stderr,
          "lamina: model: the fast tier holds %s of %s; R_cap %.1f %%, R_BW %.1f %% of the slow one\n"
          "        %-24s  R_access %%  by bandwidth s  with latency s  reading\n",
          lmi_format_bytes((double)replay->resident_bytes[0], fast), lmi_format_bytes((double)replay->peak_bytes, peak),
          100 * replay->r_cap[1], 100 * replay->r_bw[1], "phase");
  for (size_t i = 0; i <= replay->phase_count; i++) {
    const lamina_replay_phase *phase = i == 0 ? &replay->total : &replay->phases[i - 1];
    if (isfinite(phase->r_access[1]))
      fprintf(stderr, "        %-24.24s  %10.1f  %14.4g  %14.4g  %s\n", phase->name, 100 * phase->r_access[1],
              phase->bandwidth_seconds, phase->latency_seconds, lamina_tier_reading_name(phase->reading[1]));
  }
}

static lamina_status model(lmi_call *call, const lamina_record_options *options, const lamina_profile *profile,
                           const lmi_tier_choice *choice, json_t **object)
{
  lamina_tier_model tiers[LMI_TWO_TIERS] = {choice->tiers[0], choice->tiers[1]};
  lamina_replay_options replay = lamina_replay_options_default();
  lamina_replay *result = NULL;
  tiers[0].capacity_bytes = options->local_bytes;
  replay.tiers = tiers;
  replay.tier_count = LMI_TWO_TIERS;
  replay.fast_percent = options->local_percent;
  LMI_TRY(lamina_profile_replay(profile, &replay, &result));
  *object = model_json(result, choice);
  print_model(result, choice);
  lamina_replay_destroy(call->ctx, result);
  return LAMINA_OK;
}

/* ---- both ---- */

static lamina_status save(lmi_call *call, const char *folder, const json_t *object)
{
  lamina_status status = LAMINA_OK;
  lmi_text path = {0}, partial = {0};
  LMI_REQUIRE(call->ctx, object != NULL, LAMINA_ERROR_MEMORY, "no memory for the JSON of the fast tier");
  LMI_TRY_GOTO(status, lmi_text_append(call->ctx, &path, "%s/local.json", folder), cleanup);
  LMI_TRY_GOTO(status, lmi_text_append(call->ctx, &partial, "%s.partial", path.data), cleanup);
  if (json_dump_file(object, partial.data, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0 ||
      rename(partial.data, path.data) != 0) {
    status = lmi_fail_errno(call->ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", path.data);
    unlink(partial.data);
  }
cleanup:
  lmi_text_free(call->ctx, &path);
  lmi_text_free(call->ctx, &partial);
  return status;
}

lamina_status lmi_local_show(lmi_call *call, const lamina_record_options *options, const lamina_record_result *result,
                             const lmi_tier_choice *choice, json_t **json)
{
  lamina_profile *profile = NULL;
  json_t *object = NULL;
  if (result->local == LAMINA_LOCAL_NONE)
    return LAMINA_OK;
  LMI_TRY(lamina_profile_read(call->ctx, options->folder, &profile));
  lamina_status status = LAMINA_OK;
  if (result->local == LAMINA_LOCAL_MODEL)
    status = model(call, options, profile, choice, &object);
  else
    object = spill_json(profile, result);
  if (status == LAMINA_OK && result->local == LAMINA_LOCAL_SPILL)
    print_spill(object);
  lamina_profile_destroy(profile);
  LMI_TRY(status);
  status = save(call, options->folder, object);
  if (json != NULL && status == LAMINA_OK)
    *json = json_incref(object);
  json_decref(object);
  return status;
}
