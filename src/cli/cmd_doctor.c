/* SPDX-License-Identifier: Apache-2.0 */
/* lamina doctor: what this machine offers, what is missing, and how to get it. Missing hardware is a finding, not a
 * failure. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lamina/features.h>
#include <lamina/version.h>

#include "doctor.h"

struct doctor_values {
  bool json;
  const char *root;
};

static const struct doctor_values defaults = {0};

static const lmi_option options[] = {LMI_OPTION_FLAG(struct doctor_values, json, "json", "print one JSON object"),
                                     LMI_OPTION_TEXT(struct doctor_values, root, "root", "DIR",
                                                     "examine a recorded machine: DIR holds its /proc and /sys"),
                                     {0}};

static const char *const examples[] = {"lamina doctor", "what works here, and the fix for what does not", NULL};

static const char *const state_names[] = {
  [LMI_FINDING_OK] = "ok", [LMI_FINDING_NOTE] = "note", [LMI_FINDING_MISSING] = "missing"};

void lmi_doctor_add(lmi_doctor *doctor, const char *topic, const char *name, lmi_finding_state state,
                    const char *format, ...)
{
  LMI_ASSERT(doctor->count < LMI_MAX_FINDINGS);
  if (doctor->count == LMI_MAX_FINDINGS)
    return;
  lmi_finding *finding = &doctor->findings[doctor->count++];
  *finding = (lmi_finding){.topic = topic, .name = name, .state = state};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(finding->text, sizeof finding->text, format, arguments);
  va_end(arguments);
}

void lmi_doctor_fix(lmi_doctor *doctor, const char *format, ...)
{
  lmi_finding *finding = &doctor->findings[doctor->count - 1];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(finding->fix, sizeof finding->fix, format, arguments);
  va_end(arguments);
}

static void print_findings(const lmi_doctor *doctor)
{
  static const char *const colours[] = {
    [LMI_FINDING_OK] = "\033[32m", [LMI_FINDING_NOTE] = "\033[33m", [LMI_FINDING_MISSING] = "\033[31m"};
  const bool in_colour = lmi_wants_colour(stdout);
  const char *topic = "";
  for (size_t i = 0; i < doctor->count; i++) {
    const lmi_finding *finding = &doctor->findings[i];
    if (strcmp(topic, finding->topic) != 0)
      printf("%s%s\n", i > 0 ? "\n" : "", finding->topic);
    topic = finding->topic;
    printf("  %s%-7s%s  %-15s  %s\n", in_colour ? colours[finding->state] : "", state_names[finding->state],
           in_colour ? "\033[0m" : "", finding->name, finding->text);
    if (finding->fix[0] != '\0')
      printf("  %-7s  %-15s  -> %s\n", "", "", finding->fix);
  }
}

static json_t *json_findings(const lmi_doctor *doctor)
{
  json_t *list = json_array();
  for (size_t i = 0; i < doctor->count; i++) {
    const lmi_finding *finding = &doctor->findings[i];
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s*}", "topic", finding->topic, "name", finding->name,
                                          "state", state_names[finding->state], "text", finding->text, "fix",
                                          finding->fix[0] != '\0' ? finding->fix : NULL));
  }
  return list;
}

/* What a script asks for, as numbers; null where nothing is known or nothing limits. */
static json_t *json_facts(const lamina_host *host, const lamina_machine *machine)
{
  const bool has_limit = machine->limit_bytes != UINT64_MAX;
  return json_pack(
    "{s:i, s:i, s:o, s:b, s:b, s:I, s:I, s:o, s:I, s:i, s:i, s:s, s:s, s:o}", "processors_usable",
    machine->processors_allowed, "processors_online", machine->processors_online, "processor_quota",
    lmi_json_number(host->processor_quota), "avx2", host->has_avx2 && host->has_fma, "avx512", host->has_avx512,
    "memory_bytes", (json_int_t)machine->total_bytes, "available_bytes", (json_int_t)machine->available_bytes,
    "limit_bytes", has_limit ? json_integer((json_int_t)machine->limit_bytes) : json_null(), "page_bytes",
    (json_int_t)machine->page_bytes, "numa_nodes", (int)machine->node_count, "tiers", (int)machine->tier_count,
    "hardware_counters", lamina_counter_state_name(host->hardware_counters), "software_counters",
    lamina_counter_state_name(host->software_counters), "perf_event_paranoid",
    host->perf_event_paranoid != LAMINA_HOST_UNKNOWN ? json_integer(host->perf_event_paranoid) : json_null());
}

static lamina_status print_as_json(lmi_call *call, const lmi_doctor *doctor, const lamina_host *host,
                                   const lamina_machine *machine)
{
  return lmi_print_json(call, json_pack("{s:s, s:s, s:s, s:o, s:o}", "version", lamina_version(), "commit",
                                        lamina_build_commit(), "compiler", lamina_build_compiler(), "facts",
                                        json_facts(host, machine), "findings", json_findings(doctor)));
}

static lamina_status doctor_run(lmi_call *call)
{
  const struct doctor_values *values = call->values;
  LMI_TRY(lmi_call_open(call, 0));
  lmi_doctor *doctor = NULL;
  lamina_machine *machine = NULL;
  lamina_host host;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(call->ctx, 1, &doctor), cleanup);
  LMI_TRY_GOTO(status, lamina_host_read(call->ctx, values->root, &host), cleanup);
  LMI_TRY_GOTO(status, lamina_machine_inspect(call->ctx, values->root, &machine), cleanup);
  doctor->ctx = call->ctx;
  doctor->root = values->root;

  lmi_doctor_examine_processor(doctor, &host, machine);
  lmi_doctor_examine_memory(doctor, machine);
  lmi_doctor_examine_counters(doctor, &host);
  if (values->root == NULL)
    lmi_doctor_examine_cuda(doctor);
  lmi_doctor_examine_software(doctor);
  if (values->json)
    status = print_as_json(call, doctor, &host, machine);
  else
    print_findings(doctor);
cleanup:
  lamina_machine_destroy(call->ctx, machine);
  lmi_free(call->ctx, doctor);
  return status;
}

const lmi_command lmi_command_doctor = {
  .name = "doctor",
  .summary = "says what this machine offers and what is missing, each with its fix",
  .group = LMI_GROUP_MEASURE,
  .options = options,
  LMI_VALUES(defaults),
  .description = "Looks at the processor, the memory and its limits, the performance counters, the GPU, the\n"
                 "parts of this build and the programs that it can use. Changes nothing and needs no rights;\n"
                 "missing hardware is a finding, not a failure.",
  .examples = examples,
  .run = doctor_run,
};
