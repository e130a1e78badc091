/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program and watches its memory from outside: which pages it touches and how often, which arrays they belong
 * to, on which tier they lie, over time and per phase. Children, threads and programs started by exec are followed. The
 * program is not changed: it gets one more environment variable (LAMINA_PHASES, for lamina/phase.h), and a failure of
 * the observer never ends it.
 *
 *   lamina_record_options options = lamina_record_options_default();
 *   lamina_record_result result;
 *   options.folder = "profile";
 *   if (lamina_record_run(context, &options, argv, &result) == LAMINA_OK)
 *     exit(result.exit_code);
 *
 * The folder gets one file a process (process.PID.profile, see lamina/memory_profile.h) and phases.log. While the
 * program runs, SIGINT and SIGQUIT are left to it and SIGTERM and SIGHUP are passed on; call from a process with one
 * thread. */
#ifndef LAMINA_RECORD_H
#define LAMINA_RECORD_H

#include <lamina/memory_profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(enumerator, value, name, text) */
#define LAMINA_RECORD_SOURCE_LIST(X)                                                           \
  X(LAMINA_RECORD_BEST, 0, "best", "the first of the others that works here")                  \
  X(LAMINA_RECORD_PERF, 1, "perf", "hardware counters and address samples")                    \
  X(LAMINA_RECORD_CLOCK, 2, "clock", "clock samples with decoded operands, and first touches") \
  X(LAMINA_RECORD_TRACE, 3, "trace", "every access, through a cache model (Valgrind)")         \
  X(LAMINA_RECORD_FOOTPRINT, 4, "footprint", "resident pages per node over time only")

typedef enum lamina_record_source {
#define LAMINA_RECORD_ENUM(name, value, word, text) name = value,
  LAMINA_RECORD_SOURCE_LIST(LAMINA_RECORD_ENUM)
#undef LAMINA_RECORD_ENUM
} lamina_record_source;

LAMINA_API const char *lamina_record_source_name(lamina_record_source source); /* NULL outside the list */

/* X(enumerator, value, name, text): how a smaller fast tier was had. */
#define LAMINA_LOCAL_LIST(X)                                                                                  \
  X(LAMINA_LOCAL_NONE, 0, "none", "the machine as it is")                                                     \
  X(LAMINA_LOCAL_SPILL, 1, "spill", "the fast node was filled: what did not fit lay on the next one, really") \
  X(LAMINA_LOCAL_MODEL, 2, "model", "one node: first touches of an exact trace, to be played into tiers afterwards")

typedef enum lamina_local {
#define LAMINA_RECORD_ENUM(name, value, word, text) name = value,
  LAMINA_LOCAL_LIST(LAMINA_RECORD_ENUM)
#undef LAMINA_RECORD_ENUM
} lamina_local;

typedef struct lamina_record_options {
  lamina_record_source source;
  const char *folder;        /* made; must be empty if it exists */
  double clock_hz;           /* clock samples a second of processor time, 1 to 100000; default 1000 */
  uint64_t sample_period;    /* perf: events a sample, >= 100; default 4000 */
  double footprint_seconds;  /* between two looks at the footprint; 0: chosen from the run time, at most 1 */
  const char *l1, *l2, *llc; /* trace: caches as "SIZE,WAYS" (48K,12), l2 also "none"; NULL: this machine's */
  bool no_prefetch;          /* trace: without the model of the prefetcher. perf and clock: the L2's prefetchers of all
                                processors are off while the program runs (root, Intel), and always given back */
  const char *const *events; /* names for libpfm4, counted as well and told in remarks; at most 64 */
  size_t event_count;
  const char *tiers;    /* JSON file of tiers (lamina/tiers.h); NULL: as inspected */
  double local_percent; /* > 0: the fast tier holds so much of the footprint, 0 to 100. With several nodes the
                           program is run once before to find the footprint; `best` becomes the trace with one */
  uint64_t local_bytes; /* > 0: the same in bytes, without that run */
} lamina_record_options;

LAMINA_API lamina_record_options lamina_record_options_default(void);

typedef struct lamina_record_result {
  int exit_code; /* the program's; 128 + n when signal n ended it; 126, 127 when it could not be started */
  int signal;    /* that ended it; 0: none */
  bool started;  /* false: exec failed, start_error says why */
  char start_error[160];
  lamina_record_source source; /* that was used */
  char reason[1024];           /* why this one and not a better one; what a tracer models */
  double seconds;              /* from start to end */
  size_t process_count;        /* programs that were seen: processes, and images of them by exec */
  uint64_t samples, touches;   /* with an address; first touches */
  uint64_t unresolved;         /* samples without an address */
  uint64_t lost;               /* records that the kernel dropped */
  lamina_local local;
  uint64_t local_bytes,
    footprint_bytes; /* spill: what was left on the fast node; the peak it is a part of (0: given) */
} lamina_record_result;

/* argv ends with NULL; argv[0] is looked up in PATH. OK also when the program fails: see exit_code. Errors: ARGUMENT
 * (options, empty argv), FILE (folder or files cannot be written; the program was run to its end if it had started),
 * UNAVAILABLE (a source that was asked for by name does not work here, with the reason; nothing was started), MEMORY.
 */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_record_run(lamina_context *context,
                                                            const lamina_record_options *options, char *const argv[],
                                                            lamina_record_result *result);

/* Looks a program up as exec would: along PATH, unless the name has a slash. `path` is filled when it is found and may
 * be run. */
LAMINA_API bool lamina_find_program(const char *name, char *path, size_t size);

#ifdef __cplusplus
}
#endif

#endif
