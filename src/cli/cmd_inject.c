/* SPDX-License-Identifier: Apache-2.0 */
/* lamina inject: background traffic at a level of interference. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "inject_device.h"
#include "injector_file.h"
#include "lamina/tiers.h"
#include "machine_table.h"

enum { MOST_STEPS = 100000 };
static const double LEAST_TO_SETTLE = 1; /* seconds: shorter injections take the calibration as it is */
static const double PEAK_DRIFT = 0.2;    /* of the greatest traffic since the calibration, worth a remark */

struct inject_values {
  bool json, calibrate, fixed, hold, probe;
  const char *calibration, *duration, *levels;
  double loi, flops;
  int64_t threads, cpu_node, memory_node, array_bytes, device;
};

static const struct inject_values defaults = {.calibration = "lamina-inject.json",
                                              .duration = "10s",
                                              .cpu_node = LAMINA_NODE_ANY,
                                              .memory_node = LAMINA_NODE_ANY,
                                              .device = -1};

static const lmi_option options[] = {
  LMI_OPTION_NUMBER(struct inject_values, loi, "loi", "PERCENT", 0.1, 1000,
                    "level of interference: percent of the greatest traffic; above 100 only more threads"),
  LMI_OPTION_TEXT(struct inject_values, duration, "for", "TIME", "how long: 60, 60s, 5min, 2h (default: 10s)"),
  LMI_OPTION_TEXT(struct inject_values, levels, "levels", "FILE",
                  "levels over time instead of --loi: lines of SECONDS PERCENT; 0 rests"),
  LMI_OPTION_FLAG(struct inject_values, calibrate, "calibrate",
                  "measure which setting makes which traffic, and write it"),
  LMI_OPTION_TEXT(struct inject_values, calibration, "calibration", "FILE",
                  "the calibration, read or written (default: lamina-inject.json; made when missing)"),
  LMI_OPTION_INTEGER(struct inject_values, threads, "threads", "N", 1, 4095,
                     "with N threads; to calibrate: up to N (default: the fewest that reach the level; all)"),
  LMI_OPTION_FLAG(struct inject_values, fixed, "fixed", "do not correct the setting by short runs at the start"),
  LMI_OPTION_FLAG(struct inject_values, hold, "hold",
                  "keep correcting, so that the traffic stays at the level whatever else runs"),
  LMI_OPTION_NUMBER(struct inject_values, flops, "flops", "N", 1, 100000,
                    "flops an element, instead of a level: no calibration is used"),
  LMI_OPTION_INTEGER(struct inject_values, cpu_node, "cpu-node", "NODE", 0, 1048576, "threads on this NUMA node"),
  LMI_OPTION_INTEGER(struct inject_values, memory_node, "mem-node", "NODE", 0, 1048576, "arrays on this NUMA node"),
  LMI_OPTION_BYTES(struct inject_values, array_bytes, "array", "BYTES", 65536, 1e15,
                   "arrays of all threads together (default: four times the last-level caches)"),
  LMI_OPTION_INTEGER(struct inject_values, device, "device", "N", 0, 1023,
                     "disturb the link between GPU N and the host's memory instead"),
  LMI_OPTION_FLAG(struct inject_values, probe, "probe",
                  "--device: also time a probe on the link, beside the injection and before it"),
  LMI_OPTION_FLAG(struct inject_values, json, "json", "print one JSON object"),
  {0}};

static const char *const examples[] = {"lamina inject --calibrate",
                                       "measures, writes lamina-inject.json and shows the levels",
                                       "lamina inject --loi 50 --for 60s & lamina run case.yaml",
                                       "disturbs a run for a minute",
                                       "lamina inject --threads 1 --flops 30 --for 5s",
                                       "a plain setting",
                                       "lamina inject --device 0 --loi 50 --for 10s --probe",
                                       "disturbs the host link of a GPU, and measures how much",
                                       NULL};

/* "90", "90s", "1.5min", "2h". */
static bool parse_duration(const char *text, double *seconds)
{
  static const struct {
    const char *unit;
    double seconds;
  } units[] = {{"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}, {"", 1}};
  char digits[64];
  const size_t length = strspn(text, "0123456789.eE+-");
  if (length == 0 || length >= sizeof digits)
    return false;
  memcpy(digits, text, length);
  digits[length] = '\0';
  for (size_t i = 0; i < LMI_COUNT(units); i++) {
    if (strcmp(text + length, units[i].unit) != 0)
      continue;
    if (!lmi_parse_double(digits, seconds))
      return false;
    *seconds *= units[i].seconds;
    return *seconds >= 0.001 && *seconds <= 1e7;
  }
  return false;
}

/* ---- calibration ---- */

static lmi_injector_file calibration_file(const struct inject_values *values)
{
  return (lmi_injector_file){.path = values->calibration,
                             .threads = (int)values->threads,
                             .array_bytes = (uint64_t)values->array_bytes,
                             .placement = {(int)values->cpu_node, (int)values->memory_node}};
}

static lamina_status show_levels(lmi_call *call, const lamina_injector_calibration *calibration)
{
  const struct inject_values *values = call->values;
  if (!values->json)
    printf("greatest traffic %.1f GB/s = level 100\n\n", calibration->peak_gb_per_s);
  json_t *rows = NULL;
  LMI_TRY(lmi_injector_show_levels(call, calibration, "threads", values->json ? &rows : NULL));
  return !values->json ? LAMINA_OK
                       : lmi_print_json(call, json_pack("{s:f, s:s, s:o}", "peak_gb_per_s", calibration->peak_gb_per_s,
                                                        "calibration", values->calibration, "levels", rows));
}

/* ---- injecting ---- */

static json_t *injection_json(double asked, const lamina_injector_setting *setting, const lamina_injection *result,
                              double peak)
{
  json_t *object =
    json_pack("{s:i, s:f, s:f, s:f, s:b}", "threads", setting->threads, "flops_per_element", setting->flops_per_element,
              "seconds", result->seconds, "gb_per_s", result->gb_per_s, "placement_enforced", result->placed);
  json_object_set_new(object, "asked_loi", lmi_json_number(asked));
  json_object_set_new(object, "achieved_loi", lmi_json_number(100 * result->gb_per_s / peak));
  json_object_set_new(object, "channel_gb_per_s", lmi_json_number(result->channel_gb_per_s));
  if (result->channel_reason[0] != '\0')
    json_object_set_new(object, "channel_reason", json_string(result->channel_reason));
  return object;
}

/* `peak` NAN: a plain setting, no levels. */
static lamina_status inject_once(lmi_call *call, const lamina_injector_setting *setting, double asked, double seconds,
                                 double peak)
{
  const struct inject_values *values = call->values;
  lamina_injection result;
  LMI_TRY(lamina_inject_run(call->ctx, setting, seconds, &result));
  if (!result.placed)
    fprintf(stderr, "lamina: the placement on node %d was not enforced\n", setting->placement.memory_node);
  if (values->json)
    return lmi_print_json(call, injection_json(asked, setting, &result, peak));
  printf("%.1f s, %d thread%s, %.1f flops an element: %.1f GB/s", result.seconds, setting->threads,
         setting->threads == 1 ? "" : "s", setting->flops_per_element, result.gb_per_s);
  if (isfinite(peak))
    printf(", level of interference %.1f (asked: %.1f)", 100 * result.gb_per_s / peak, asked);
  if (isfinite(result.channel_gb_per_s))
    printf("; memory channels of the machine: %.1f GB/s", result.channel_gb_per_s);
  printf("\n");
  return LAMINA_OK;
}

/* Relative to what the machine can do now, which is measured first. */
static lamina_status settle(lmi_call *call, const lamina_injector_calibration *calibration, double loi,
                            lamina_injector_setting *setting, double *peak)
{
  const struct inject_values *values = call->values;
  double reached = 0;
  LMI_TRY(lamina_inject_peak(call->ctx, calibration, peak));
  if (loi >= 100)
    return LAMINA_OK;
  const lamina_settle_options wish = {.wanted_gb_per_s = 0.01 * loi * *peak,
                                      .slack_gb_per_s = 0.007 * *peak,
                                      .loi = loi,
                                      .most_threads = (int)values->threads};
  return lamina_inject_settle(call->ctx, calibration, &wish, setting, &reached);
}

static lamina_status inject_level(lmi_call *call, const lamina_injector_calibration *calibration, double loi,
                                  double seconds)
{
  const struct inject_values *values = call->values;
  lamina_injector_setting setting;
  double peak = calibration->peak_gb_per_s;
  LMI_TRY(lamina_inject_choose(call->ctx, calibration, loi, (int)values->threads, &setting));
  if (!values->fixed && seconds >= LEAST_TO_SETTLE)
    LMI_TRY(settle(call, calibration, loi, &setting, &peak));
  if (fabs(peak / calibration->peak_gb_per_s - 1) > PEAK_DRIFT)
    fprintf(stderr, "lamina: the greatest traffic is %.1f GB/s now and was %.1f GB/s when %s was made\n", peak,
            calibration->peak_gb_per_s, values->calibration);
  if (values->hold && loi < 100)
    setting.hold_gb_per_s = 0.01 * loi * peak;
  return inject_once(call, &setting, loi, seconds, peak);
}

typedef struct level_step {
  double seconds, loi;
} level_step;

static lamina_status read_levels(lmi_call *call, level_step *steps, size_t *count)
{
  const struct inject_values *values = call->values;
  char line[256];
  FILE *file = fopen(values->levels, "r");
  *count = 0;
  if (file == NULL)
    return lmi_fail_errno(call->ctx, LAMINA_ERROR_CASE, errno, "%s", values->levels);
  lamina_status status = LAMINA_OK;
  for (int number = 1; status == LAMINA_OK && fgets(line, sizeof line, file) != NULL; number++) {
    char first[64], second[64], rest[2];
    line[strcspn(line, "#\n")] = '\0';
    const int fields = sscanf(line, "%63s %63s %1s", first, second, rest);
    if (fields <= 0)
      continue;
    level_step *step = &steps[*count];
    if (*count == MOST_STEPS || fields != 2 || !lmi_parse_double(first, &step->seconds) ||
        !lmi_parse_double(second, &step->loi) || step->seconds < 0.001 || step->seconds > 1e7 || step->loi < 0 ||
        step->loi > 1000)
      status = lmi_fail(call->ctx, LAMINA_ERROR_CASE,
                        "%s:%d: SECONDS (0.001 to 1e7) and PERCENT (0 to 1000) are needed", values->levels, number);
    else
      (*count)++;
  }
  fclose(file);
  if (status == LAMINA_OK && *count == 0)
    return lmi_fail(call->ctx, LAMINA_ERROR_CASE, "%s has no levels", values->levels);
  return status;
}

/* A rest is the slowest setting: one thread that almost only computes would still disturb, so nothing runs at all.
   The file is read before anything is measured: a mistake in it must not cost the minutes of a calibration. */
static lamina_status follow_levels(lmi_call *call)
{
  level_step *steps = NULL;
  size_t count = 0;
  lamina_injector_calibration *calibration = NULL;
  LMI_TRY(LMI_ALLOC(call->ctx, MOST_STEPS + 1, &steps));
  lamina_status status = read_levels(call, steps, &count);
  const lmi_injector_file file = calibration_file(call->values);
  if (status == LAMINA_OK)
    status = lmi_injector_load_or_calibrate(call, &file, &calibration);
  for (size_t i = 0; i < count && status == LAMINA_OK; i++) {
    if (steps[i].loi > 0)
      status = inject_level(call, calibration, steps[i].loi, steps[i].seconds);
    else
      lmi_machine_rest(steps[i].seconds);
  }
  lamina_injector_calibration_destroy(call->ctx, calibration);
  lmi_free(call->ctx, steps);
  return status;
}

static bool lists_node(const lamina_machine *machine, int64_t id, bool needs_memory)
{
  const lamina_node *node = lamina_machine_node(machine, (int)id);
  return id == LAMINA_NODE_ANY || (node != NULL && (needs_memory ? node->capacity_bytes > 0 : node->processors > 0));
}

/* Before minutes go into a calibration. */
static lamina_status check_nodes(lmi_call *call)
{
  const struct inject_values *values = call->values;
  lamina_machine *machine = NULL;
  char threads[256] = "", memory[256] = "";
  LMI_TRY(lamina_machine_inspect(call->ctx, NULL, &machine));
  for (size_t i = 0; i < machine->node_count; i++) {
    const lamina_node *node = &machine->nodes[i];
    if (node->processors > 0)
      snprintf(threads + strlen(threads), sizeof threads - strlen(threads), " %d", node->id);
    if (node->capacity_bytes > 0)
      snprintf(memory + strlen(memory), sizeof memory - strlen(memory), " %d", node->id);
  }
  const bool runs = lists_node(machine, values->cpu_node, false),
             holds = lists_node(machine, values->memory_node, true);
  lamina_machine_destroy(call->ctx, machine);
  if (!runs)
    return lmi_usage_error(call, "--cpu-node %d: nodes with processors are%s", (int)values->cpu_node, threads);
  if (!holds)
    return lmi_usage_error(call, "--mem-node %d: nodes with memory are%s", (int)values->memory_node, memory);
  return LAMINA_OK;
}

static lamina_status inject_device(lmi_call *call, double seconds)
{
  const struct inject_values *values = call->values;
  if (values->flops > 0 || values->levels != NULL || values->hold || values->fixed || values->threads > 0 ||
      values->cpu_node != LAMINA_NODE_ANY || values->memory_node != LAMINA_NODE_ANY)
    return lmi_usage_error(call, "--device goes with --loi, --for, --calibrate, --calibration, --array, --probe and "
                                 "--json");
  const bool is_default = strcmp(values->calibration, defaults.calibration) == 0;
  const lmi_device_wish wish = {.ordinal = (int)values->device,
                                .calibration = is_default ? "lamina-inject-device.json" : values->calibration,
                                .calibrate = values->calibrate,
                                .probe = values->probe,
                                .json = values->json,
                                .loi = values->loi,
                                .seconds = seconds,
                                .array_bytes = (uint64_t)values->array_bytes};
  LMI_TRY(lmi_call_open(call, 0));
  return lmi_inject_device(call, &wish);
}

static lamina_status inject_run(lmi_call *call)
{
  const struct inject_values *values = call->values;
  double seconds = 0;
  lamina_injector_calibration *calibration = NULL;
  if (!parse_duration(values->duration, &seconds))
    return lmi_usage_error(call, "--for %s: a time such as 60, 60s, 5min, at least 1 ms, is needed", values->duration);
  if (!values->calibrate && values->loi == 0 && values->levels == NULL && values->flops == 0)
    return lmi_usage_error(call, "say what to do: --calibrate, --loi PERCENT, --levels FILE or --flops N");
  if (values->levels != NULL && (values->calibrate || values->loi > 0 || values->flops > 0))
    return lmi_usage_error(call, "--levels holds the levels: leave --calibrate, --loi and --flops away");
  if (values->hold && values->fixed)
    return lmi_usage_error(call, "--hold corrects all the time and --fixed never: leave one of them away");
  if (values->device >= 0)
    return inject_device(call, seconds);
  if (values->probe)
    return lmi_usage_error(call, "--probe goes with --device; `lamina interfere` has the processor's");
  LMI_TRY(lmi_call_open(call, 0));
  LMI_TRY(check_nodes(call));
  if (values->flops > 0) {
    lamina_injector_setting setting = lamina_injector_setting_default();
    setting.threads = values->threads > 0 ? (int)values->threads : 1;
    setting.flops_per_element = values->flops;
    setting.array_bytes = (uint64_t)values->array_bytes;
    setting.placement = (lamina_placement){(int)values->cpu_node, (int)values->memory_node};
    return inject_once(call, &setting, (double)NAN, seconds, (double)NAN);
  }
  if (values->levels != NULL)
    return follow_levels(call);
  const lmi_injector_file file = calibration_file(values);
  lamina_status status = values->calibrate ? lmi_injector_calibrate(call, &file, &calibration)
                                           : lmi_injector_load_or_calibrate(call, &file, &calibration);
  if (status == LAMINA_OK && values->loi > 0)
    status = inject_level(call, calibration, values->loi, seconds);
  else if (status == LAMINA_OK)
    status = show_levels(call, calibration);
  lamina_injector_calibration_destroy(call->ctx, calibration);
  return status;
}

const lmi_command lmi_command_inject = {
  .name = "inject",
  .summary = "makes background traffic at a level of interference",
  .group = LMI_GROUP_MEASURE,
  .options = options,
  LMI_VALUES(defaults),
  .description = "Level 100 is the greatest traffic that this machine's injector reaches. The level that was\n"
                 "achieved is measured and printed. It stops by itself.",
  .examples = examples,
  .run = inject_run,
};
