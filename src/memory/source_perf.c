/* SPDX-License-Identifier: Apache-2.0 */
/* Address samples of the hardware: loads that missed the last-level cache (Intel PEBS), any operation with its address
 * (AMD IBS). What they sample are misses: the paper's own source. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "event_table.h"
#include "recorder.h"
#include "sysfs.h"

enum { MISS_EVENT, FAULT_EVENT, EVENT_COUNT };
static const uint64_t IBS_COUNT_OPERATIONS = UINT64_C(1) << 19;

/* The Intel row of the table that gives addresses. */
static bool pebs_event(struct perf_event_attr *attribute)
{
  lamina_context *ctx = NULL;
  const lmi_event_table *table = NULL;
  if (lamina_context_create(NULL, &ctx) != LAMINA_OK)
    return false;
  const lamina_status status = lmi_event_table_here(ctx, "", &table);
  lamina_context_destroy(ctx);
  if (status != LAMINA_OK || table == NULL)
    return false;
  for (size_t i = 0; i < table->count; i++) {
    const lmi_event_row *row = &table->rows[i];
    if (row->meaning != LMI_MEANING_SAMPLE)
      continue;
    attribute->precise_ip = (unsigned)row->precise & 3u;
    return lmi_event_attribute("", row, attribute);
  }
  return false;
}

static bool ibs_event(struct perf_event_attr *attribute)
{
  int64_t type = 0;
  if (!lmi_sysfs_int64("", &type, "/sys/bus/event_source/devices/ibs_op/type"))
    return false;
  attribute->type = (uint32_t)type;
  attribute->config = IBS_COUNT_OPERATIONS;
  return true;
}

static size_t perf_events(const lamina_record_options *options, struct perf_event_attr *attributes, const char **reason)
{
  attributes[MISS_EVENT] = (struct perf_event_attr){.sample_period = options->sample_period,
                                                    .sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC,
                                                    .disabled = 1,
                                                    .enable_on_exec = 1,
                                                    .exclude_kernel = 1,
                                                    .exclude_hv = 1};
  if (!pebs_event(&attributes[MISS_EVENT]) && !ibs_event(&attributes[MISS_EVENT])) {
    *reason = "this system shows no hardware that samples addresses (PEBS or IBS)";
    return 0;
  }
  lmi_fault_event(&attributes[FAULT_EVENT]);
  return EVENT_COUNT;
}

/* IBS samples every operation: only those that went to memory count as misses. */
static bool went_to_memory(uint64_t data_source)
{
  const union perf_mem_data_src source = {.val = data_source};
  if (data_source == 0)
    return true;
  return source.mem_lvl_num == PERF_MEM_LVLNUM_RAM || source.mem_lvl_num == PERF_MEM_LVLNUM_PMEM ||
         (source.mem_lvl & (PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2)) != 0;
}

static lamina_status perf_sample(lmi_recorder *recorder, lmi_observed_process *process, const lmi_perf_sample *sample)
{
  if (sample->event == FAULT_EVENT)
    return lmi_fault_sample(recorder, process, sample);
  LMI_TRY(lmi_observed_count_thread(&recorder->observed, process, sample->tid));
  if (sample->address == 0 || sample->address >> 56 != 0 || !went_to_memory(sample->data_source)) {
    process->unresolved++;
    return LAMINA_OK;
  }
  const lmi_observed_access access = {
    .address = sample->address, .ip = sample->ip, .time = sample->time, .tid = sample->tid};
  return lmi_observed_take(&recorder->observed, process, &access);
}

const lmi_source lmi_source_perf = {
  .name = LAMINA_RECORD_PERF,
  .kind = LAMINA_SOURCE_PERF,
  .says = "address samples of loads that missed the last-level cache",
  .events = perf_events,
  .sample = perf_sample,
};
