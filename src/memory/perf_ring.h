/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the kernel's perf interface for one process and its children, on every processor, read from one ring a
 * processor. Records come out in the order of their times. */
#ifndef LMI_PERF_RING_H
#define LMI_PERF_RING_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "base/base.h"

enum { LMI_PERF_MOST_EVENTS = 8 };

typedef struct lmi_perf_set lmi_perf_set;

/* One sample, unpacked. Fields that its event does not have are 0. */
typedef struct lmi_perf_sample {
  int event; /* position in the list of attributes */
  uint64_t ip, address, time, weight, data_source;
  uint32_t pid, tid, cpu;
  uint64_t registers_abi; /* 2: 64-bit program */
  const uint64_t *registers;
} lmi_perf_sample;

/* Called for each record, in order of time; `sample` is NULL for records that are no samples. */
typedef void lmi_perf_visitor(void *user, const struct perf_event_header *header, const lmi_perf_sample *sample,
                              uint64_t time);

/* Opens `count` events (sampling, inherit) on `pid`. The attributes get size, clock, sample_id_all and identifier here.
 * Times are CLOCK_MONOTONIC in nanoseconds. On failure nothing stays open; *error_number says why. Errors: UNAVAILABLE,
 * MEMORY. */
LAMINA_NODISCARD lamina_status lmi_perf_set_open(lamina_context *ctx, struct perf_event_attr *attributes, size_t count,
                                                 pid_t pid, lmi_perf_set **set, int *error_number);

/* Waits at most `milliseconds` for a ring to fill half, or for one of `others` (-1: none) to become readable. */
enum { LMI_PERF_MOST_OTHERS = 4 };
void lmi_perf_set_wait(const lmi_perf_set *set, const int *others, size_t other_count, int milliseconds);

/* Takes what is there and calls for each record older than the call; younger ones wait. `everything`: those too. */
LAMINA_NODISCARD lamina_status lmi_perf_set_drain(lmi_perf_set *set, bool everything, lmi_perf_visitor *visit,
                                                  void *user);

/* Records that the kernel dropped because a ring was full. */
uint64_t lmi_perf_set_lost(const lmi_perf_set *set);

/* Enables events that were opened with `disabled` and without `enable_on_exec`. */
void lmi_perf_set_enable(const lmi_perf_set *set);
void lmi_perf_set_disable(const lmi_perf_set *set);

void lmi_perf_set_close(lmi_perf_set *set);

/* perf_event_open, which the C library does not wrap. -1 and errno on failure. */
int lmi_perf_event_open(struct perf_event_attr *attribute, pid_t pid, int cpu, int group, unsigned long flags);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t lmi_monotonic_ns(void);

#endif
