/* SPDX-License-Identifier: Apache-2.0 */
/* Raw hardware events by processor, as data. Values were checked against the makers' own lists (intel/perfmon SKX
 * V1.37, ICX V1.30, SPR V1.39) and libpfm4 4.13; where those two differ (offcore L3_MISS on Skylake-X, store samples on
 * Sapphire Rapids) the maker's value stands here. tests/memory/test_event_table.c holds them. */
#ifndef LMI_EVENT_TABLE_H
#define LMI_EVENT_TABLE_H

#include "base/base.h"
#include "lamina/memory_profile.h"

/* X(enumerator, name, what it becomes in a profile: a lamina_count, or -1) */
#define LMI_MEANING_LIST(X)                                                                     \
  X(LMI_MEANING_INSTRUCTIONS, "instructions", LAMINA_COUNT_INSTRUCTIONS)                        \
  X(LMI_MEANING_FP_F64, "fp_f64", LAMINA_COUNT_FP_F64)                                          \
  X(LMI_MEANING_FP_F32, "fp_f32", LAMINA_COUNT_FP_F32)                                          \
  X(LMI_MEANING_FP_F64X2, "fp_f64x2", LAMINA_COUNT_FP_F64X2)                                    \
  X(LMI_MEANING_FP_F32X4, "fp_f32x4", LAMINA_COUNT_FP_F32X4)                                    \
  X(LMI_MEANING_FP_F64X4, "fp_f64x4", LAMINA_COUNT_FP_F64X4)                                    \
  X(LMI_MEANING_FP_F32X8, "fp_f32x8", LAMINA_COUNT_FP_F32X8)                                    \
  X(LMI_MEANING_FP_F64X8, "fp_f64x8", LAMINA_COUNT_FP_F64X8)                                    \
  X(LMI_MEANING_FP_F32X16, "fp_f32x16", LAMINA_COUNT_FP_F32X16)                                 \
  X(LMI_MEANING_LOCAL_LINES, "local_lines", -1)   /* read from the socket's own memory */       \
  X(LMI_MEANING_REMOTE_LINES, "remote_lines", -1) /* read from another node's memory */         \
  X(LMI_MEANING_READ_LINES, "read_lines", -1)     /* read from any memory; checks the sum */    \
  X(LMI_MEANING_L2_LINES_IN, "l2_lines_in", LAMINA_COUNT_L2_LINES_IN)                           \
  X(LMI_MEANING_L2_PREFETCHES, "l2_prefetches", LAMINA_COUNT_L2_PREFETCHES)                     \
  X(LMI_MEANING_L2_USELESS, "l2_useless_prefetches", LAMINA_COUNT_L2_PREFETCHES_USELESS)        \
  X(LMI_MEANING_SAMPLE, "load_sample", -1) /* loads that missed the last level, with address */ \
  X(LMI_MEANING_STORE_SAMPLE, "store_sample", -1)

typedef enum lmi_meaning {
#define LMI_MEANING_ENUM(name, text, count) name,
  LMI_MEANING_LIST(LMI_MEANING_ENUM)
#undef LMI_MEANING_ENUM
    LMI_MEANING_COUNT
} lmi_meaning;

const char *lmi_meaning_name(lmi_meaning meaning);
int lmi_meaning_count(lmi_meaning meaning); /* lamina_count, or -1 */

/* Rows of one meaning are added: a count can be the sum of several events. */
typedef struct lmi_event_row {
  lmi_meaning meaning;
  const char *name; /* the maker's */
  uint64_t config, config1;
  int precise;     /* precise_ip of samples */
  const char *pmu; /* of processors whose cores differ: cpu_core, cpu_atom; NULL: there is one kind */
} lmi_event_row;

typedef struct lmi_event_table {
  const char *model; /* for people */
  const lmi_event_row *rows;
  size_t count;
  const char *remark; /* what the numbers mean, if not plain; "" otherwise */
} lmi_event_table;

/* X(vendor, family, first model, last model, table) in event_table.c decides. NULL: this processor is not in the list.
 */
const lmi_event_table *lmi_event_table_find(const char *vendor, int family, int model);

/* type, config and config1 for perf_event_open of a row on the machine below `root`; false when it has no cores of the
 * row's kind. */
struct perf_event_attr;
bool lmi_event_attribute(const char *root, const lmi_event_row *row, struct perf_event_attr *attribute);

/* "; cpu_core counts on processors 0-15, cpu_atom on 16-23" for a table with several kinds of cores, else "". */
void lmi_event_coverage(const char *root, const lmi_event_table *table, char *text, size_t size);

/* Of the machine whose /proc lies below `root`. */
LAMINA_NODISCARD lamina_status lmi_event_table_here(lamina_context *ctx, const char *root,
                                                    const lmi_event_table **table);

#endif
