/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms of a memory report share. */
#ifndef LMI_MEMORY_REPORT_INTERNAL_H
#define LMI_MEMORY_REPORT_INTERNAL_H

#include <lamina/memory_profile.h>
#include <lamina/memory_report.h>
#include <lamina/tiers.h>

#include "base/base.h"
#include "memory/rates.h"

enum { LMI_REPORT_MOST_OBJECTS = 20 };

/* Of one phase, or of the whole profile: what follows from its counts and samples. NAN and UNCOUNTED: not measured. */
typedef struct lmi_report_phase {
  const char *name;
  double seconds;
  uint64_t flops, bytes;
  uint64_t tier_bytes[LAMINA_TIERS_MAX]; /* by counters */
  double tier_access[LAMINA_TIERS_MAX];  /* R_access: share of the accesses, by counters or else by samples */
  double intensity, gflop_per_s, gb_per_s;
  uint64_t samples;
} lmi_report_phase;

typedef struct lmi_report_profile {
  char *path;
  lamina_profile *profile;
  lamina_curve *curve; /* NULL: none, see curve_reason */
  bool curve_is_of_misses;
  uint64_t curve_bin_bytes;
  char *curve_reason;
  lmi_report_phase *phases;
  size_t phase_count;
  lmi_report_phase total;
  lmi_rate *rates; /* of each second, where the processor's counters were read */
  size_t rate_count;
  uint64_t object_total;             /* accesses or misses of all objects */
  lamina_footprint_point *footprint; /* of all processes together, in order of time */
  size_t footprint_count;
  uint64_t peak_bytes[LAMINA_TIERS_MAX]; /* at the moment of the largest sum */
  uint64_t peak_sum;                     /* 0: no footprint */
  double peak_seconds;
  double tier_capacity_share[LAMINA_TIERS_MAX]; /* R_cap by what was resident; NAN: no footprint */
} lmi_report_profile;

struct lamina_memory_report {
  lmi_report_profile *profiles;
  size_t profile_count;
  lamina_machine *machine;                       /* NULL: none given */
  double tier_gb_per_s[LAMINA_TIERS_MAX];        /* measured peak of each tier; NAN */
  double tier_bandwidth_share[LAMINA_TIERS_MAX]; /* R_BW; NAN */
  double gflop_per_s;                            /* highest ceiling; NAN */
};

/* Name of tier `index`: the machine file's, or "tier N". */
const char *lmi_report_tier_name(const lamina_memory_report *report, int index, char *buffer, size_t size);

/* Share of an object, in percent; NAN when nothing was counted. */
double lmi_report_object_share(const lmi_report_profile *profile, const lamina_profile_object *object);

/* Which process stands at `place` when the largest footprint comes first; unknown footprints come last. */
size_t lmi_report_process_at(const lamina_profile_process *processes, size_t count, size_t place);

/* What the ratios say, after memory-spec 5.8: a sentence, "" when there is nothing to say. */
const char *lmi_report_reading(const lamina_memory_report *report, const lmi_report_profile *profile,
                               const lmi_report_phase *phase, char *buffer, size_t size);

lamina_status lmi_report_text(lamina_context *ctx, const lamina_memory_report *report, FILE *stream);
lamina_status lmi_report_json(lamina_context *ctx, const lamina_memory_report *report, FILE *stream);

/* memory_report_plots.c: writes data and scripts into `folder`, runs gnuplot, and gives the SVG of one plot (NULL:
 * reason). */
typedef struct lmi_report_plot {
  const char *name, *title, *caption;
  bool (*has_data)(const lamina_memory_report *report);
  const char *absent; /* why there is no such plot when there is no data */
  lamina_status (*write)(lamina_context *ctx, const lamina_memory_report *report, const char *folder);
} lmi_report_plot;

extern const lmi_report_plot lmi_report_plots[];
extern const size_t lmi_report_plot_count;

#endif
