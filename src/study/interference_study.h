/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the interference study share. interference.c steers; interference_share.c places the program's
 * footprint. */
#ifndef LMI_INTERFERENCE_STUDY_H
#define LMI_INTERFERENCE_STUDY_H

#include <lamina/interference.h>

#include "base/base.h"
#include "memory/processor_split.h"
#include "memory/program_run.h"

typedef struct lmi_study_run {
  double seconds, achieved_loi, beside_loi;
} lmi_study_run;

typedef struct lmi_study {
  lamina_context *ctx;
  const lamina_interference_plan *plan;
  lamina_interference *result;
  lmi_processor_split split;
  int output;
  int local_node, pool_node; /* LAMINA_NODE_ANY both: one memory */
  double levels[65];
  size_t level_count;
  double *peaks, *scratch; /* one a round and share; two a round */
  size_t peak_count;
  double peak_gb_per_s; /* of this round */
  bool has_run;
  const char *phases; /* where a run leaves its marks; NULL: nowhere */
  int done, total;
} lmi_study;

void lmi_study_tell(lmi_study *study, const char *what);

/* One run on the program's processors; fails when it ends in another way than the runs before. */
LAMINA_NODISCARD lamina_status lmi_study_program(lmi_study *study, bool is_watched, lmi_program_result *run);

/* All levels in all rounds, with the footprint where it is placed now; adds the points. */
LAMINA_NODISCARD lamina_status lmi_study_levels(lmi_study *study, double share, double achieved_share);

/* Which node is local and which the pool; a reason in the result where there is only one. */
LAMINA_NODISCARD lamina_status lmi_study_find_nodes(lmi_study *study);

/* lmi_study_levels for each share. */
LAMINA_NODISCARD lamina_status lmi_study_shares(lmi_study *study);

#endif
