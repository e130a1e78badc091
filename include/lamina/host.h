/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine offers to a measurement, read from the system: the processor and its caches, the share of processors
 * granted to this process, and whether the kernel hands out performance counters, with the reason when it does not.
 * Nothing is measured. Nodes, tiers and memory limits are in tiers.h.
 *
 *   lamina_host host;
 *   if (lamina_host_read(context, NULL, &host) == LAMINA_OK && host.hardware_counters != LAMINA_COUNTERS_WORK)
 *     printf("%s; %s\n", host.counters_reason, host.counters_fix);
 *
 * A recorded machine, a folder with copies of its /proc and /sys, is read by its path as `root`. */
#ifndef LAMINA_HOST_H
#define LAMINA_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include <lamina/context.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LAMINA_MAX_CACHES = 8, LAMINA_HOST_UNKNOWN = -1000 };

/* X(enumerator, value, name) */
#define LAMINA_COUNTER_STATE_LIST(X)                                                         \
  X(LAMINA_COUNTERS_WORK, 0, "work")                                                         \
  X(LAMINA_COUNTERS_ABSENT, 1, "absent")       /* no hardware unit that this system shows */ \
  X(LAMINA_COUNTERS_FORBIDDEN, 2, "forbidden") /* kernel.perf_event_paranoid */              \
  X(LAMINA_COUNTERS_SANDBOXED, 3, "sandboxed") /* seccomp or a missing capability */         \
  X(LAMINA_COUNTERS_NOT_TRIED, 4, "not tried") /* a recorded machine */

typedef enum lamina_counter_state {
#define LAMINA_COUNTER_STATE_ENUM(name, value, text) name = value,
  LAMINA_COUNTER_STATE_LIST(LAMINA_COUNTER_STATE_ENUM)
#undef LAMINA_COUNTER_STATE_ENUM
} lamina_counter_state;

typedef struct lamina_cache {
  int level;
  char type[16];  /* Data, Instruction, Unified */
  uint64_t bytes; /* of one */
  int count;      /* on the whole machine */
} lamina_cache;

typedef struct lamina_host {
  char processor[96]; /* model name; "" when unknown */
  char kernel[96];    /* release of the operating system; "" when unknown */
  bool has_avx2, has_fma, has_avx512;
  bool is_virtual; /* the processor says that it is a guest */
  lamina_cache caches[LAMINA_MAX_CACHES];
  int cache_count;
  double processor_quota; /* processors' worth of time that a cgroup grants; NAN: no limit */

  int perf_event_paranoid; /* LAMINA_HOST_UNKNOWN: no such file */
  int ptrace_scope;        /* of the Yama module; LAMINA_HOST_UNKNOWN: no such file */
  int seccomp;             /* 0 none, 1 strict, 2 filter; LAMINA_HOST_UNKNOWN */
  bool has_perfmon;        /* CAP_PERFMON or CAP_SYS_ADMIN is effective */
  lamina_counter_state hardware_counters;
  lamina_counter_state software_counters; /* clock and page faults, which need no hardware */
  char counters_reason[192];              /* why hardware counters do not work; "" when they do */
  char counters_fix[256];                 /* what to do about it */
} lamina_host;

/* Reads what there is; a missing file leaves its field unknown. `root` NULL: this machine, whose counters are tried by
 * opening one. Errors: MEMORY. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_host_read(lamina_context *context, const char *root,
                                                           lamina_host *host);

/* "work", "absent", ...; NULL for a value outside the list. */
LAMINA_API const char *lamina_counter_state_name(lamina_counter_state state);

#ifdef __cplusplus
}
#endif

#endif
