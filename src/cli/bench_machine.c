/* SPDX-License-Identifier: Apache-2.0 */
/* lamina bench machine: the ceilings that the other benchmarks are held against, with one number of threads. */
#include <stdio.h>

#include "bench_device.h"
#include "cli.h"
#include "machine_table.h"

#include <lamina/types.h>

struct bench_machine_values {
  bool json;
  int64_t threads, repetitions, device;
  int backend;
};

static const struct bench_machine_values defaults = {.repetitions = 7};

/* Position 0 is "not given". */
#define NAME_ROW(enumerator, value, name, text) name,
static const char *const backends[] = {"default", LAMINA_BACKEND_LIST(NAME_ROW) NULL};
#undef NAME_ROW

static const lmi_option options[] = {
  LMI_OPTION_CHOICE(struct bench_machine_values, backend, "backend", backends,
                    "cuda: measure a device instead of the processors"),
  LMI_OPTION_INTEGER(struct bench_machine_values, device, "device", "N", 0, 1023, "which device (default: 0)"),
  LMI_OPTION_INTEGER(struct bench_machine_values, threads, "threads", "N", 1, 4096, "threads (default: all usable)"),
  LMI_OPTION_INTEGER(struct bench_machine_values, repetitions, "repetitions", "N", 1, 1000,
                     "repetitions of each probe (default: 7)"),
  LMI_OPTION_FLAG(struct bench_machine_values, json, "json", "print one JSON object"),
  {0}};

static lamina_status bench_machine_run(lmi_call *call)
{
  const struct bench_machine_values *values = call->values;
  LMI_TRY(lmi_call_open(call, (int)values->threads));
  if (values->backend == LAMINA_BACKEND_CUDA + 1)
    return lmi_bench_device(call, (int)values->device, (int)values->repetitions, values->json);
  const int threads = lamina_context_thread_count(call->ctx);
  lamina_measure_options measure = lamina_measure_options_default();
  measure.threads = &threads;
  measure.thread_count = 1;
  measure.repetitions = (int)values->repetitions;
  measure.progress = lmi_machine_progress;

  lamina_machine *machine = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lamina_machine_inspect(call->ctx, NULL, &machine), cleanup);
  status = lamina_machine_measure(call->ctx, machine, &measure);
  lmi_machine_progress_end();
  if (status != LAMINA_OK)
    goto cleanup;
  if (values->json) {
    status = lamina_machine_print_json(call->ctx, machine, stdout);
  } else {
    lmi_machine_print_nodes(machine);
    lmi_machine_print_measured(machine);
  }
cleanup:
  lamina_machine_destroy(call->ctx, machine);
  return status;
}

const lmi_command lmi_bench_machine = {
  .name = "machine",
  .summary = "bandwidth, latency and flop ceilings of this machine",
  .group = LMI_GROUP_SIMULATE,
  .options = options,
  LMI_VALUES(defaults),
  .run = bench_machine_run,
};
