/* SPDX-License-Identifier: Apache-2.0 */
/* One recording: what its parts share. record.c steers; each source of access data is one lmi_source. */
#ifndef LMI_RECORDER_H
#define LMI_RECORDER_H

#include <stdio.h>

#include "lamina/record.h"
#include "lamina/tiers.h"
#include "launch.h"
#include "named_events.h"
#include "observed.h"
#include "perf_ring.h"
#include "uncore.h"

typedef struct lmi_recorder lmi_recorder;
typedef struct lmi_event_counts lmi_event_counts;

/* A source of access data. REQUIRED: all. */
typedef struct lmi_source {
  lamina_record_source name;
  lamina_profile_source kind;
  const char *says; /* what its numbers mean: goes into every profile */
  /* Fills attributes[0..LMI_PERF_MOST_EVENTS) and returns how many; 0 and a reason when this processor has none of it.
   */
  size_t (*events)(const lamina_record_options *options, struct perf_event_attr *attributes, const char **reason);
  /* Takes one sample of the events above. */
  lamina_status (*sample)(lmi_recorder *recorder, lmi_observed_process *process, const lmi_perf_sample *sample);
} lmi_source;

/* Best first; NULL-terminated. */
extern const lmi_source *const lmi_sources[];
extern const lmi_source lmi_source_perf, lmi_source_clock, lmi_source_fault;

/* Registers of a user thread for PERF_SAMPLE_REGS_USER that give the stack pointer first, then the instruction pointer;
 * 0 where it was not written down for this processor. */
extern const uint64_t lmi_stack_and_ip_registers;

/* The page-fault event that clock and perf add to theirs, and what becomes of its samples. */
void lmi_fault_event(struct perf_event_attr *attribute);
lamina_status lmi_fault_sample(lmi_recorder *recorder, lmi_observed_process *process, const lmi_perf_sample *sample);

struct lmi_recorder {
  lamina_context *ctx;
  lamina_record_options options;
  lamina_machine *machine;
  char *folder;             /* absolute */
  const lmi_source *source; /* NULL: footprint only */
  lmi_perf_set *events;     /* NULL: none */
  lmi_event_counts *counts; /* NULL: no counters */
  lmi_uncore *uncore;       /* NULL: none, or not permitted */
  lmi_named_events *named;  /* NULL: none asked for */
  char uncore_remark[512];  /* what they counted */
  lmi_observed observed;
  lmi_launch launch;
  FILE *phases;
  char *phase_line; /* a line that is not whole yet */
  size_t phase_length;
  int64_t utc_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
  uint64_t started_ns, next_footprint_ns;
  uint64_t footprint_cost_ns;
  bool has_numa_maps;
  bool is_traced; /* the exact tracer runs the program and writes the profiles */
  uint64_t random;
  uint64_t processor_samples[1024], sample_count; /* by processor, with and without an address */
  lamina_status failure;                          /* of a visitor: records go on, the sentence is in the context */
};

/* footprint.c: looks at every process when it is time to. */
LAMINA_NODISCARD lamina_status lmi_footprint_tick(lmi_recorder *recorder, bool force);

/* phase_log.c: reads what markers wrote since the last call. */
LAMINA_NODISCARD lamina_status lmi_phase_log_open(lmi_recorder *recorder);
LAMINA_NODISCARD lamina_status lmi_phase_log_read(lmi_recorder *recorder);
void lmi_phase_log_close(lmi_recorder *recorder);

/* record_write.c: one profile a program image. */
LAMINA_NODISCARD lamina_status lmi_recorder_write(lmi_recorder *recorder, const lamina_record_result *result);

/* The next number of a fixed sequence: which access of a sample counts must not depend on anything else. */
uint64_t lmi_recorder_random(lmi_recorder *recorder);

#endif
