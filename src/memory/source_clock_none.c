/* SPDX-License-Identifier: Apache-2.0 */
/* Clock samples need a decoder for the processor's instructions; there is one for x86-64 only. */
#define _GNU_SOURCE
#include "recorder.h"

const uint64_t lmi_stack_and_ip_registers = 0;

static size_t no_events(const lamina_record_options *options, struct perf_event_attr *attributes, const char **reason)
{
  (void)options;
  (void)attributes;
  *reason = "clock samples are decoded for x86-64 only";
  return 0;
}

static lamina_status no_sample(lmi_recorder *recorder, lmi_observed_process *process, const lmi_perf_sample *sample)
{
  (void)recorder;
  (void)process;
  (void)sample;
  return LAMINA_OK;
}

const lmi_source lmi_source_clock = {
  .name = LAMINA_RECORD_CLOCK,
  .kind = LAMINA_SOURCE_CLOCK,
  .says = "",
  .events = no_events,
  .sample = no_sample,
};
