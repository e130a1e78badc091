/* SPDX-License-Identifier: Apache-2.0 */
/* record --local: a program that finds only so much fast memory. With two nodes it is real: the fast node is filled
 * until so much is left, and what the program touches beyond it lies on the next node. With one node it is a model:
 * the exact trace's first touches are played into tiers (lamina_profile_replay). */
#ifndef LMI_LOCAL_SPILL_H
#define LMI_LOCAL_SPILL_H

#include "lamina/record.h"
#include "lamina/tiers.h"
#include "node_filler.h"

typedef struct lmi_local_spill {
  lmi_node_filler filler;
  bool has_policy; /* new memory of this process and its children comes from the fast node first */
} lmi_local_spill;

/* Decides between spill and model and says so in `result`; chooses the trace as the source where only a model is
 * possible and the source was left open. Errors: ARGUMENT, UNAVAILABLE. */
LAMINA_NODISCARD lamina_status lmi_local_choose(lamina_context *ctx, const lamina_machine *machine,
                                                lamina_record_options *options, lamina_record_result *result);

/* Finds the footprint by a run of the program that is not recorded, unless bytes were asked for; then fills the node. A
 * model needs none of it. */
LAMINA_NODISCARD lamina_status lmi_local_start(lamina_context *ctx, const lamina_machine *machine,
                                               const lamina_record_options *options, char *const argv[],
                                               lmi_local_spill *spill, lamina_record_result *result);
void lmi_local_stop(lamina_context *ctx, lmi_local_spill *spill);

#endif
