/* SPDX-License-Identifier: Apache-2.0 */
/* Tiers of memory under a profile: how much of a program's traffic each would carry, what that says, and what should
 * move.
 *
 *   lamina_tier_model tiers[2] = {{.name = "local", .capacity_bytes = 1 << 30, .gb_per_s = 73, .latency_ns = 111},
 *                                 {.name = "pool", .gb_per_s = 34, .latency_ns = 202}};
 *   lamina_replay_options options = lamina_replay_options_default();
 *   options.tiers = tiers; options.tier_count = 2;
 *   lamina_replay *replay = NULL;
 *   lamina_profile_replay(profile, &options, &replay);      replay->phases[0].r_access[1]: share of the pool
 *
 * The replay is a model: pages go to tiers in the order in which the program touched them first, a page that is
 * released makes room, and nothing migrates. It needs a source that knows the order of touches (trace, clock, fault).
 */
#ifndef LAMINA_PLACEMENT_H
#define LAMINA_PLACEMENT_H

#include <lamina/memory_profile.h>
#include <lamina/tiers.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fastest tier first. */
typedef struct lamina_tier_model {
  const char *name;
  uint64_t capacity_bytes; /* 0: no limit; the last tier never has one */
  double gb_per_s;         /* > 0 */
  double latency_ns;       /* > 0 */
  int node;                /* NUMA node for a plan; -1: none */
} lamina_tier_model;

/* The tiers of a measured machine (lamina_machine_measure, lamina_machine_load), fastest first: of each the greatest
 * read bandwidth and the least idle latency that was measured from any processor, and its first node. The names are the
 * machine's. Returns how many; stops before the first tier that was not measured. */
LAMINA_API int lamina_tier_models(const lamina_machine *machine, lamina_tier_model tiers[LAMINA_TIERS_MAX]);

/* How to read R_access of a slower tier against its capacity and bandwidth ratios (SC23, section 5). */
#define LAMINA_TIER_READING_LIST(X)                                                                                 \
  X(LAMINA_READING_NONE, 0, "no traffic", "nothing was read from memory")                                           \
  X(LAMINA_READING_UNUSED, 1, "unused bandwidth",                                                                   \
    "the tier carries less than its capacity and its bandwidth would allow: fine if the program waits for latency " \
    "(prefetch coverage below 1 %), else spread more of the traffic to it")                                         \
  X(LAMINA_READING_BALANCED, 2, "balanced", "the share lies between the two references: no space for optimisation") \
  X(LAMINA_READING_EXCESS, 3, "excess", "the tier carries more than both references: move hot objects to a faster tier")

#define LAMINA_TIER_ENUMERATOR(name, value, ...) name = value,
typedef enum lamina_tier_reading { LAMINA_TIER_READING_LIST(LAMINA_TIER_ENUMERATOR) } lamina_tier_reading;
#undef LAMINA_TIER_ENUMERATOR

LAMINA_API const char *lamina_tier_reading_name(lamina_tier_reading reading);
LAMINA_API const char *lamina_tier_reading_text(lamina_tier_reading reading);

/* R_access <= R_BW: the faster tier is the bottleneck, else this one. Tolerance 5 points. NAN gives NONE. */
LAMINA_API lamina_tier_reading lamina_tier_read(double r_access, double r_cap, double r_bw);

/* Where the pages of one object go instead of first touch. */
typedef struct lamina_object_placement {
  int tier;        /* -1: as touched */
  int rest;        /* tier of the pages beyond `fraction`; -1: as touched */
  double fraction; /* of its pages, hottest first, that go to `tier`. 1: all */
} lamina_object_placement;

typedef struct lamina_replay_options {
  const lamina_tier_model *tiers;
  int tier_count;      /* 1 to LAMINA_TIERS_MAX */
  double fast_percent; /* > 0: capacity of tier 0 as percent of the peak footprint, instead of capacity_bytes */
  const lamina_object_placement *objects; /* one for each object of the profile; NULL: all as touched */
  double outstanding_lines; /* demand misses a thread has under way at once, for the latency-aware time; default 10 */
} lamina_replay_options;

LAMINA_API lamina_replay_options lamina_replay_options_default(void);

typedef struct lamina_replay_phase {
  const char *name;
  uint64_t lines[LAMINA_TIERS_MAX];              /* read and written back */
  double r_access[LAMINA_TIERS_MAX];             /* NAN: no traffic */
  lamina_tier_reading reading[LAMINA_TIERS_MAX]; /* NONE for tier 0 */
  double bandwidth_seconds;                      /* max_i lines_i * 64 / bandwidth_i */
  double latency_seconds; /* the larger of that and of waiting for demand misses; NAN: demand misses unknown */
} lamina_replay_phase;

typedef struct lamina_replay {
  int tier_count;
  uint64_t peak_bytes;                       /* of the footprint */
  uint64_t capacity_bytes[LAMINA_TIERS_MAX]; /* as used; UINT64_MAX: no limit */
  uint64_t resident_bytes[LAMINA_TIERS_MAX]; /* at the peak */
  double r_cap[LAMINA_TIERS_MAX];            /* resident / peak: "remote capacity ratio" */
  double r_bw[LAMINA_TIERS_MAX];
  lamina_replay_phase total;
  size_t phase_count;
  lamina_replay_phase *phases;
  double *object_share; /* object_share[object * tier_count + tier] of the object's lines; NAN: it has none */
} lamina_replay;

/* Errors: ARGUMENT (tiers), UNAVAILABLE (the source knows no order of touches, or no lines), MEMORY. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_profile_replay(const lamina_profile *profile,
                                                                const lamina_replay_options *options,
                                                                lamina_replay **replay);
LAMINA_API void lamina_replay_destroy(lamina_context *context, lamina_replay *replay);

/* ---- what should move ---- */

#define LAMINA_ADVICE_LIST(X)                                                                         \
  X(LAMINA_ADVICE_FAST, 0, "fast", "allocate it in the fast tier, or first of all")                   \
  X(LAMINA_ADVICE_SPLIT, 1, "split", "keep its hot part in the fast tier")                            \
  X(LAMINA_ADVICE_INTERLEAVE, 2, "interleave", "spread it by the tiers' bandwidths")                  \
  X(LAMINA_ADVICE_SLOW, 3, "slow", "allocate it in the slow tier: it takes room from hotter objects") \
  X(LAMINA_ADVICE_FREE, 4, "free", "free it after its last use: it takes room from what comes later")

#define LAMINA_TIER_ENUMERATOR(name, value, ...) name = value,
typedef enum lamina_advice_kind { LAMINA_ADVICE_LIST(LAMINA_TIER_ENUMERATOR) } lamina_advice_kind;
#undef LAMINA_TIER_ENUMERATOR

LAMINA_API const char *lamina_advice_name(lamina_advice_kind kind);
LAMINA_API const char *lamina_advice_text(lamina_advice_kind kind);

typedef struct lamina_advice {
  lamina_advice_kind kind;
  size_t object;   /* of the profile */
  int tier;        /* where it goes */
  double fraction; /* of its pages; SPLIT below 1 */
  int weights[2];  /* INTERLEAVE: pages in tier 0 to pages in tier 1 */
  double lines_per_page;
  double last_use_percent; /* FREE: of the program's instructions */
} lamina_advice;

/* In the order in which to allocate: hottest first. */
typedef struct lamina_plan {
  size_t count;
  lamina_advice *advice;
  lamina_replay *before, *after; /* after: with the advice taken, FREE excepted */
  bool is_latency_bound;         /* coverage below 1 %: the fast tier is filled beyond the balance of bandwidths */
} lamina_plan;

/* A knapsack over objects and time: the capacity of tier 0 must never be exceeded by objects that live at the same
 * time; what does not fit whole is split. Errors as lamina_profile_replay. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_profile_plan(const lamina_profile *profile,
                                                              const lamina_replay_options *options, lamina_plan **plan);
LAMINA_API void lamina_plan_destroy(lamina_context *context, lamina_plan *plan);

/* Writes the plan as a file for `lamina place --apply` (docs/dev/memory-profile-format.md). Errors: FILE, MEMORY. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_plan_write(const lamina_profile *profile, const lamina_plan *plan,
                                                            const lamina_replay_options *options, const char *path);

#ifdef __cplusplus
}
#endif

#endif
