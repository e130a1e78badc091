/* SPDX-License-Identifier: Apache-2.0 */
/* The fast and the slow tier that `place` and `record --local` model: as given, else as measured (machine.json), else
 * the testbed of the paper. */
#ifndef LMI_TIER_CHOICE_H
#define LMI_TIER_CHOICE_H

#include "cli.h"
#include "lamina/placement.h"

enum { LMI_TWO_TIERS = 2 };

/* Texts of the command line; NULL: not given. */
typedef struct lmi_tier_request {
  const char *bandwidths, *latencies, *nodes; /* FAST,SLOW */
  const char *machine;                        /* a machine file */
} lmi_tier_request;

typedef struct lmi_tier_choice {
  lamina_tier_model tiers[LMI_TWO_TIERS];
  char names[LMI_TWO_TIERS][LAMINA_TIER_NAME_BYTES];
  char origin[160]; /* where the numbers come from */
} lmi_tier_choice;

/* `choice` must outlive what uses its tiers. Call after lmi_call_open. Errors: usage, FILE, CASE, UNAVAILABLE. */
LAMINA_NODISCARD lamina_status lmi_choose_tiers(lmi_call *call, const lmi_tier_request *request,
                                                lmi_tier_choice *choice);

/* "fast 73 GB/s, 111 ns; slow 34 GB/s, 202 ns (the testbed of SC23)" into `text`. */
const char *lmi_tier_text(const lmi_tier_choice *choice, char *text, size_t size);

#endif
