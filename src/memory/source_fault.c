/* SPDX-License-Identifier: Apache-2.0 */
/* First touches: every page fault with its address. Needs no hardware and no rights; sees each page once. */
#define _GNU_SOURCE
#include "recorder.h"

/* User stack and instruction pointers come with the fault, also when the kernel itself touched the page for the
 * program. */
void lmi_fault_event(struct perf_event_attr *attribute)
{
  *attribute = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                        .config = PERF_COUNT_SW_PAGE_FAULTS,
                                        .sample_period = 1,
                                        .sample_type = PERF_SAMPLE_ADDR,
                                        .disabled = 1,
                                        .enable_on_exec = 1,
                                        .exclude_kernel = 1,
                                        .exclude_hv = 1};
  if (lmi_stack_and_ip_registers != 0) {
    attribute->sample_type |= PERF_SAMPLE_REGS_USER;
    attribute->sample_regs_user = lmi_stack_and_ip_registers;
  }
}

lamina_status lmi_fault_sample(lmi_recorder *recorder, lmi_observed_process *process, const lmi_perf_sample *sample)
{
  const uint64_t *registers = sample->registers;
  const lmi_observed_access access = {.address = sample->address,
                                      .ip = registers != NULL ? registers[1] : sample->ip,
                                      .stack = registers != NULL ? registers[0] : 0,
                                      .time = sample->time,
                                      .tid = sample->tid,
                                      .first_touch = true};
  if (access.address >> 56 != 0)
    return LAMINA_OK; /* the kernel's own */
  return lmi_observed_take(&recorder->observed, process, &access);
}

static size_t fault_events(const lamina_record_options *options, struct perf_event_attr *attributes,
                           const char **reason)
{
  (void)options;
  (void)reason;
  lmi_fault_event(&attributes[0]);
  return 1;
}

const lmi_source lmi_source_fault = {
  .name = LAMINA_RECORD_FOOTPRINT,
  .kind = LAMINA_SOURCE_FAULT,
  .says = "first touches only: which pages were used and in which order, not how often",
  .events = fault_events,
  .sample = lmi_fault_sample,
};
