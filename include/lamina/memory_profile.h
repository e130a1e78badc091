/* SPDX-License-Identifier: Apache-2.0 */
/* A memory profile: what a program did with its memory, as one of the sources saw it (exact trace, counter samples,
 * clock samples), and what follows from it: scaling curve, prefetch quality, tier ratios, hot objects, placement.
 *
 *   lamina_profile *profile = NULL;
 *   lamina_profile_read(context, "run1", &profile);            a file, or a folder with one file a process
 *   lamina_curve *curve = NULL;
 *   lamina_profile_curve(profile, &(lamina_curve_options){0}, &curve);
 *   printf("90 %% of the accesses lie in %.1f %% of the pages\n", lamina_curve_capacity(curve, 90.0));
 *
 * A quantity that a source cannot give is LAMINA_UNCOUNTED (counts) or NAN (reals), never 0; `remarks` says why.
 * Definitions: docs/theory/memory-analysis.md. */
#ifndef LAMINA_MEMORY_PROFILE_H
#define LAMINA_MEMORY_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lamina/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamina_profile lamina_profile;

#define LAMINA_UNCOUNTED UINT64_MAX
#define LAMINA_TIERS_MAX 16

/* X(enumerator, value, name in files and JSON, what it is) */
#define LAMINA_PROFILE_SOURCE_LIST(X)                                                         \
  X(LAMINA_SOURCE_TRACE, 0, "trace", "every access, through a cache model")                   \
  X(LAMINA_SOURCE_PERF, 1, "perf", "hardware counters and address samples")                   \
  X(LAMINA_SOURCE_CLOCK, 2, "clock", "clock samples with decoded operands, weighted by time") \
  X(LAMINA_SOURCE_FAULT, 3, "fault", "first touches only")

/* What may be counted, for a thread, a phase or a process. fp_* are retired instructions of a class;
 * lamina_counts_flops weighs them. l2_* describe the level where the core's prefetcher sits; memory_* are 64-byte lines
 * from and to memory. */
#define LAMINA_COUNT_LIST(X)                                         \
  X(LAMINA_COUNT_INSTRUCTIONS, 0, "instructions")                    \
  X(LAMINA_COUNT_LOADS, 1, "loads")                                  \
  X(LAMINA_COUNT_STORES, 2, "stores")                                \
  X(LAMINA_COUNT_LOAD_BYTES, 3, "load_bytes")                        \
  X(LAMINA_COUNT_STORE_BYTES, 4, "store_bytes")                      \
  X(LAMINA_COUNT_FP_F64, 5, "fp_f64")                                \
  X(LAMINA_COUNT_FP_F32, 6, "fp_f32")                                \
  X(LAMINA_COUNT_FP_F64X2, 7, "fp_f64x2")                            \
  X(LAMINA_COUNT_FP_F32X4, 8, "fp_f32x4")                            \
  X(LAMINA_COUNT_FP_F64X4, 9, "fp_f64x4")                            \
  X(LAMINA_COUNT_FP_F32X8, 10, "fp_f32x8")                           \
  X(LAMINA_COUNT_FP_F64X8, 11, "fp_f64x8")                           \
  X(LAMINA_COUNT_FP_F32X16, 12, "fp_f32x16")                         \
  X(LAMINA_COUNT_L1_MISSES, 13, "l1_misses")                         \
  X(LAMINA_COUNT_L1_WRITEBACKS, 14, "l1_writebacks")                 \
  X(LAMINA_COUNT_L2_MISSES, 15, "l2_misses")                         \
  X(LAMINA_COUNT_L2_LINES_IN, 16, "l2_lines_in")                     \
  X(LAMINA_COUNT_L2_WRITEBACKS, 17, "l2_writebacks")                 \
  X(LAMINA_COUNT_L2_PREFETCHES, 18, "l2_prefetches")                 \
  X(LAMINA_COUNT_L2_PREFETCHES_USEFUL, 19, "l2_prefetches_useful")   \
  X(LAMINA_COUNT_L2_PREFETCHES_USELESS, 20, "l2_prefetches_useless") \
  X(LAMINA_COUNT_LLC_MISSES, 21, "llc_misses")                       \
  X(LAMINA_COUNT_MEMORY_READ_LINES, 22, "memory_read_lines")         \
  X(LAMINA_COUNT_MEMORY_WRITE_LINES, 23, "memory_write_lines")

#define LAMINA_PROFILE_ENUMERATOR(name, value, ...) name = value,
typedef enum lamina_profile_source { LAMINA_PROFILE_SOURCE_LIST(LAMINA_PROFILE_ENUMERATOR) } lamina_profile_source;
typedef enum lamina_count { LAMINA_COUNT_LIST(LAMINA_PROFILE_ENUMERATOR) LAMINA_COUNT_COUNT } lamina_count;
#undef LAMINA_PROFILE_ENUMERATOR

typedef struct lamina_counts {
  uint64_t of[LAMINA_COUNT_COUNT]; /* each may be LAMINA_UNCOUNTED */
} lamina_counts;

LAMINA_API const char *lamina_count_name(lamina_count count); /* NULL outside the list */
LAMINA_API const char *lamina_profile_source_name(lamina_profile_source source);

/* sum of weight * instructions over the floating-point classes (weights 1 1 2 4 4 8 8 16); UNCOUNTED when none was
 * counted. */
LAMINA_API uint64_t lamina_counts_flops(const lamina_counts *counts);

/* 64 bytes a line, read and written; UNCOUNTED when reads were not counted (writes may be missing: see remarks). */
LAMINA_API uint64_t lamina_counts_memory_bytes(const lamina_counts *counts);

/* flops / memory bytes; NAN when either is uncounted or no byte moved. */
LAMINA_API double lamina_counts_intensity(const lamina_counts *counts);

typedef struct lamina_profile_process {
  const char *command;      /* as started, blanks between arguments */
  const char *ended;        /* "exit 0", "signal 11", "exec", or "running" when the profile is a snapshot */
  int pid, parent, rank;    /* rank -1: not under MPI */
  uint64_t footprint_bytes; /* pages touched, or peak resident set */
  lamina_counts counts;
} lamina_profile_process;

/* Phase 0 is the time outside any marker ("(none)"); nested phases count for the innermost. */
typedef struct lamina_profile_phase {
  const char *name;
  double seconds; /* NAN for the trace: it knows instructions, not time */
  lamina_counts counts;
  uint64_t tier_lines[LAMINA_TIERS_MAX]; /* measured per tier; UNCOUNTED where not */
} lamina_profile_phase;

typedef struct lamina_profile_thread {
  int process, id;
  lamina_counts counts;
} lamina_profile_thread;

#define LAMINA_OBJECT_KIND_LIST(X)                                    \
  X(LAMINA_OBJECT_OTHER, 0, "other", "not attributed")                \
  X(LAMINA_OBJECT_HEAP, 1, "heap", "blocks from one allocation site") \
  X(LAMINA_OBJECT_MAPPED, 2, "mapped", "mmap of one site")            \
  X(LAMINA_OBJECT_STATIC, 3, "static", "static data")                 \
  X(LAMINA_OBJECT_STACK, 4, "stack", "stacks of all threads")         \
  X(LAMINA_OBJECT_NAMED, 5, "named", "named by the program")

#define LAMINA_PROFILE_ENUMERATOR(name, value, ...) name = value,
typedef enum lamina_object_kind { LAMINA_OBJECT_KIND_LIST(LAMINA_PROFILE_ENUMERATOR) } lamina_object_kind;
#undef LAMINA_PROFILE_ENUMERATOR

LAMINA_API const char *lamina_object_kind_name(lamina_object_kind kind);

/* One return address of an allocation site. */
typedef struct lamina_profile_frame {
  const char *module; /* file of the program or library */
  uint64_t address;   /* as linked: return address - 1 - load bias */
  const char *text;   /* "function (file.c:12)", or what is known */
} lamina_profile_frame;

/* All blocks of one site are one object. Times are instructions of the process since its start. */
typedef struct lamina_profile_object {
  const char *name;
  lamina_object_kind kind;
  uint64_t blocks, bytes_total, bytes_peak;
  uint64_t first_time, last_use, last_release; /* last_release UNCOUNTED: alive at the end */
  uint64_t accesses, misses, writebacks;       /* misses, writebacks: lines from and to memory */
  uint64_t page_bytes;                         /* of the pages it owns, at their first touch */
  size_t frame_count;
  const lamina_profile_frame *frames;
  const uint64_t *slice_misses; /* per time slice; NULL when the source has no slices */
} lamina_profile_object;

/* Resident bytes per tier at a time. */
typedef struct lamina_footprint_point {
  double seconds;
  uint64_t tier_bytes[LAMINA_TIERS_MAX];
} lamina_footprint_point;

typedef struct lamina_profile_summary {
  lamina_profile_source source;
  uint64_t sample_period; /* 0: every event counted */
  uint64_t sample_count;  /* samples behind the page histogram; UNCOUNTED when exact */
  uint64_t page_bytes;    /* bin of the page histogram */
  uint64_t page_count;    /* resident pages, touched or sampled */
  uint64_t slice_count, slice_instructions;
  int tier_count;    /* tiers with measured data; 0: none */
  const char *model; /* cache geometry and prefetcher of a trace; "" otherwise */
} lamina_profile_summary;

/* Reads a profile file, or every *.profile of a folder (processes and MPI ranks become one profile).
 * Errors: FILE (cannot open; no profile in the folder), CASE (line and reason: not a profile, newer version,
 * truncated). In a folder a broken file is skipped with a remark when another one is whole. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_profile_read(lamina_context *context, const char *path,
                                                              lamina_profile **profile);
LAMINA_API void lamina_profile_destroy(lamina_profile *profile);

LAMINA_API const lamina_profile_summary *lamina_profile_get_summary(const lamina_profile *profile);
LAMINA_API const lamina_profile_process *lamina_profile_processes(const lamina_profile *profile, size_t *count);
LAMINA_API const lamina_profile_thread *lamina_profile_threads(const lamina_profile *profile, size_t *count);
LAMINA_API const lamina_profile_phase *lamina_profile_phases(const lamina_profile *profile, size_t *count);
/* Sorted by misses (accesses where misses are uncounted), hottest first. */
LAMINA_API const lamina_profile_object *lamina_profile_objects(const lamina_profile *profile, size_t *count);
LAMINA_API const lamina_footprint_point *lamina_profile_footprint(const lamina_profile *profile, size_t *count);
LAMINA_API const char *const *lamina_profile_remarks(const lamina_profile *profile, size_t *count);

/* ---- bandwidth-capacity scaling curve ---- */

typedef enum lamina_curve_metric { LAMINA_CURVE_MISSES, LAMINA_CURVE_ACCESSES } lamina_curve_metric;

typedef struct lamina_curve_options {
  lamina_curve_metric metric; /* default: lines from memory, the paper's curve */
  uint64_t bin_bytes;         /* 0: the profile's page; else a multiple of it (2 MiB as in the paper's artifact) */
  int phase;                  /* -1 or beyond: ignored; 0: all phases; n: phase n - 1 of the list */
} lamina_curve_options;

typedef struct lamina_curve lamina_curve;

/* Errors: ARGUMENT (bin not a multiple), UNAVAILABLE (the source did not count the metric, with the reason). */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_profile_curve(const lamina_profile *profile,
                                                               const lamina_curve_options *options,
                                                               lamina_curve **curve);
LAMINA_API void lamina_curve_destroy(lamina_curve *curve);

/* Bins m, and the exact sums: cumulative[k] accesses lie in the k hottest bins, k = 0..m. */
LAMINA_API uint64_t lamina_curve_bins(const lamina_curve *curve);
LAMINA_API const uint64_t *lamina_curve_cumulative(const lamina_curve *curve);
/* Percent of accesses in the hottest `percent` of the bins (linear between points); NAN when nothing was accessed. */
LAMINA_API double lamina_curve_share(const lamina_curve *curve, double percent);
/* Least percent of the bins that holds `percent` of the accesses; NAN when nothing was accessed. */
LAMINA_API double lamina_curve_capacity(const lamina_curve *curve, double percent);
/* 0: all bins alike; towards 1: few bins take all. NAN when nothing was accessed. */
LAMINA_API double lamina_curve_gini(const lamina_curve *curve);
/* Largest vertical distance between two curves, in points of percent: the inputs scale alike when it is small. */
LAMINA_API double lamina_curve_distance(const lamina_curve *a, const lamina_curve *b);
/* Samples a bin, NAN for an exact source. Below 10 the curve leans to the left: say so. */
LAMINA_API double lamina_curve_samples_per_bin(const lamina_curve *curve);
/* Bootstrap 95 % band of lamina_curve_share for a sampled source; low = high = share for an exact one. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_curve_band(const lamina_curve *curve, double percent, double *low,
                                                            double *high);

/* ---- prefetching ---- */

/* From counters (PMU) or the model (trace). Reals are NAN when undefined. `clamped`: the raw value lay outside [0, 1].
 */
typedef struct lamina_prefetch {
  double accuracy, coverage;
  bool accuracy_clamped, coverage_clamped;
} lamina_prefetch;

LAMINA_API lamina_prefetch lamina_counts_prefetch(const lamina_counts *counts);

/* Memory traffic and time with the prefetcher on against off: excess = bytes on / off - 1, gain = seconds off / on - 1.
 */
LAMINA_API double lamina_prefetch_excess(const lamina_counts *on, const lamina_counts *off);
LAMINA_API double lamina_prefetch_gain(double seconds_on, double seconds_off);

#ifdef __cplusplus
}
#endif

#endif
