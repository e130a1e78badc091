/* SPDX-License-Identifier: Apache-2.0 */
/* A memory profile in memory: what every source fills and every analysis reads, and its text file. The public view is
 * lamina/memory_profile.h; this header is for the sources (who build one) and the analysis (who walk its pages).
 *
 *   lmi_memory_profile_create(ctx, LAMINA_SOURCE_CLOCK, &profile);
 *   lmi_memory_profile_add_object(profile, &object, &index);
 *   lmi_memory_profile_add_page(profile, &page); lmi_memory_profile_add_page_counts(profile, &counts);
 *   lmi_memory_profile_write(profile, "DIR/process.4711.profile");     written beside, then renamed
 *   lamina_profile_destroy(profile);
 *
 * Strings handed in are copied. Object 0 always exists: "(other)". */
#ifndef LMI_PROFILE_STORE_H
#define LMI_PROFILE_STORE_H

#include <lamina/memory_profile.h>

#include "base/base.h"

/* One page during one life (a page released and taken by another object appears again). Its counts follow, one record a
 * phase in which it was used. */
typedef struct lmi_profile_page {
  uint64_t number;   /* address / page_bytes */
  uint64_t touched;  /* place in the order of first touches and releases of its process; 0: unknown */
  uint64_t released; /* 0: at the end of the program */
  uint32_t object;
  int16_t process;
  int16_t tier;                      /* -1: not known */
  uint32_t first_count, count_count; /* its records in `counts` */
} lmi_profile_page;

typedef struct lmi_profile_page_counts {
  uint32_t phase;
  uint32_t writebacks;       /* lines to memory; UINT32_MAX: uncounted */
  uint64_t accesses, misses; /* samples or events; LAMINA_UNCOUNTED where the source has none */
} lmi_profile_page_counts;

/* A growing array: `data` holds `count` elements. */
#define LMI_PROFILE_ARRAY(type) \
  struct {                      \
    type *data;                 \
    size_t count, capacity;     \
  }

struct lamina_profile {
  lamina_context *ctx;
  lamina_profile_summary summary;
  LMI_PROFILE_ARRAY(lamina_profile_process) processes;
  LMI_PROFILE_ARRAY(lamina_profile_thread) threads;
  LMI_PROFILE_ARRAY(lamina_profile_phase) phases;
  LMI_PROFILE_ARRAY(lamina_profile_object) objects;
  LMI_PROFILE_ARRAY(lamina_footprint_point) footprint;
  LMI_PROFILE_ARRAY(const char *) remarks;
  LMI_PROFILE_ARRAY(lmi_profile_page) pages;
  LMI_PROFILE_ARRAY(lmi_profile_page_counts) counts;
  LMI_PROFILE_ARRAY(char *) strings; /* owned texts */
  LMI_PROFILE_ARRAY(void *) blocks;  /* owned arrays: frames, slices */
};

/* An empty profile with phase "(none)" and object "(other)". */
LAMINA_NODISCARD lamina_status lmi_memory_profile_create(lamina_context *ctx, lamina_profile_source source,
                                                         lamina_profile **profile);

/* All counts uncounted: start from it. */
lamina_counts lmi_counts_none(void);
/* sum += term, where uncounted + n = n only if nothing was counted before: an unknown part makes no false total. */
void lmi_counts_add(lamina_counts *sum, const lamina_counts *term);

/* Each copies the record and its texts; `index` (may be NULL) is where it lies. */
LAMINA_NODISCARD lamina_status lmi_memory_profile_add_process(lamina_profile *profile,
                                                              const lamina_profile_process *process, size_t *index);
LAMINA_NODISCARD lamina_status lmi_memory_profile_add_thread(lamina_profile *profile,
                                                             const lamina_profile_thread *thread);
/* A phase of a name that is there already is that one: its counts are added. */
LAMINA_NODISCARD lamina_status lmi_memory_profile_add_phase(lamina_profile *profile, const lamina_profile_phase *phase,
                                                            size_t *index);
LAMINA_NODISCARD lamina_status lmi_memory_profile_add_object(lamina_profile *profile,
                                                             const lamina_profile_object *object, size_t *index);
LAMINA_NODISCARD lamina_status lmi_memory_profile_add_footprint(lamina_profile *profile,
                                                                const lamina_footprint_point *point);
LAMINA_NODISCARD lamina_status lmi_memory_profile_add_remark(lamina_profile *profile, const char *format, ...)
  LMI_PRINTF(2, 3);
LAMINA_NODISCARD lamina_status lmi_memory_profile_add_page(lamina_profile *profile, const lmi_profile_page *page);
/* Belongs to the page added last. */
LAMINA_NODISCARD lamina_status lmi_memory_profile_add_page_counts(lamina_profile *profile,
                                                                  const lmi_profile_page_counts *counts);

/* Adds what another profile of the same source and page size saw; its processes keep their page numbers apart. */
LAMINA_NODISCARD lamina_status lmi_memory_profile_merge(lamina_profile *profile, const lamina_profile *other);

/* Hottest first, by misses, then accesses; pages follow. "(other)" may lie anywhere afterwards. */
LAMINA_NODISCARD lamina_status lmi_memory_profile_sort_objects(lamina_profile *profile);

/* Writes the text form (docs/dev/memory-profile-format.md) under a temporary name, then renames it. */
LAMINA_NODISCARD lamina_status lmi_memory_profile_write(const lamina_profile *profile, const char *path);
/* One file. Errors as lamina_profile_read. */
LAMINA_NODISCARD lamina_status lmi_memory_profile_read_file(lamina_context *ctx, const char *path,
                                                            lamina_profile **profile);

/* A copy of `text` that lives as long as the profile. */
LAMINA_NODISCARD lamina_status lmi_memory_profile_keep(lamina_profile *profile, const char *text, const char **kept);

#endif
