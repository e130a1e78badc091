/* SPDX-License-Identifier: Apache-2.0 */
/* lamina machine: what this machine's memory is and can do; writes the machine file. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "machine_table.h"

struct machine_values {
  bool json, inspect;
  const char *out, *root, *tiers;
  int64_t repetitions, array_bytes;
  lmi_word_list threads;
};

static const struct machine_values defaults = {.out = "machine.json", .repetitions = 7};

static const lmi_option options[] = {
  LMI_OPTION_TEXT(struct machine_values, out, "out", "FILE", "the machine file to write (default: machine.json)"),
  LMI_OPTION_FLAG(struct machine_values, inspect, "inspect", "show nodes, tiers and limits; measure and write nothing"),
  LMI_OPTION_TEXT(struct machine_values, root, "root", "DIR",
                  "inspect a recorded machine: a folder with its /proc and /sys"),
  LMI_OPTION_TEXT(struct machine_values, tiers, "tiers", "FILE", "take the tiers from a JSON file, fastest first"),
  LMI_OPTION_LIST(struct machine_values, threads, "threads", "N",
                  "measure with N threads; may be given several times (default: 1, 2, 4, ... all)"),
  LMI_OPTION_INTEGER(struct machine_values, repetitions, "repetitions", "N", 1, 1000,
                     "repetitions of each probe (default: 7)"),
  LMI_OPTION_BYTES(struct machine_values, array_bytes, "array", "BYTES", 65536, 1e15,
                   "size of one array (default: four times the last-level caches)"),
  LMI_OPTION_FLAG(struct machine_values, json, "json", "print one JSON object"),
  {0}};

static const char *const examples[] = {"lamina machine",
                                       "measures everything and writes machine.json",
                                       "lamina machine --inspect",
                                       "nodes, tiers and limits at once",
                                       "lamina machine --root tests/machines/cxl --inspect",
                                       "the same of a recorded machine",
                                       NULL};

static lamina_status read_threads(const lmi_call *call, const lmi_word_list *words, int *threads)
{
  for (size_t i = 0; i < words->count; i++) {
    int64_t value = 0;
    if (!lmi_parse_int64(words->words[i], &value) || value < 1 || value > 4096)
      return lmi_usage_error(call, "--threads %s: a number from 1 to 4096 is needed", words->words[i]);
    threads[i] = (int)value;
  }
  return LAMINA_OK;
}

static lamina_status show(lmi_call *call, const lamina_machine *machine)
{
  const struct machine_values *values = call->values;
  if (values->json)
    return lamina_machine_print_json(call->ctx, machine, stdout);
  lmi_machine_print_nodes(machine);
  lmi_machine_print_measured(machine);
  return LAMINA_OK;
}

static lamina_status measure_and_save(lmi_call *call, lamina_machine *machine, const int *threads)
{
  const struct machine_values *values = call->values;
  lamina_measure_options measure = lamina_measure_options_default();
  measure.threads = values->threads.count > 0 ? threads : NULL;
  measure.thread_count = values->threads.count;
  measure.repetitions = (int)values->repetitions;
  measure.array_bytes = (uint64_t)values->array_bytes;
  measure.progress = lmi_machine_progress;
  const lamina_status status = lamina_machine_measure(call->ctx, machine, &measure);
  lmi_machine_progress_end();
  LMI_TRY(status);
  LMI_TRY(lamina_machine_save(call->ctx, machine, values->out));
  fprintf(stderr, "lamina: wrote %s\n", values->out);
  return LAMINA_OK;
}

static lamina_status machine_run(lmi_call *call)
{
  const struct machine_values *values = call->values;
  int threads[LMI_MAX_WORDS];
  LMI_TRY(read_threads(call, &values->threads, threads));
  LMI_TRY(lmi_call_open(call, 0));
  lamina_machine *machine = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lamina_machine_inspect(call->ctx, values->root, &machine), cleanup);
  if (values->tiers != NULL)
    LMI_TRY_GOTO(status, lamina_machine_set_tiers(call->ctx, machine, values->tiers), cleanup);
  if (!values->inspect && values->root == NULL)
    LMI_TRY_GOTO(status, measure_and_save(call, machine, threads), cleanup);
  LMI_TRY_GOTO(status, show(call, machine), cleanup);
cleanup:
  lamina_machine_destroy(call->ctx, machine);
  return status;
}

const lmi_command lmi_command_machine = {
  .name = "machine",
  .summary = "measures tiers, bandwidth, latency and flop ceilings; writes machine.json",
  .group = LMI_GROUP_MEASURE,
  .options = options,
  LMI_VALUES(defaults),
  .description = "The file serves plan, report, inject and interfere. A probe takes about a second; leave\n"
                 "the machine alone meanwhile. Bytes are those the program names: an ordinary store to a\n"
                 "line that is in no cache makes the hardware read it first, which is not counted.",
  .examples = examples,
  .run = machine_run,
};
