/* SPDX-License-Identifier: Apache-2.0 */
/* record --prefetch-study: the program once with prefetchers and once without. */
#ifndef LMI_RECORD_PREFETCH_H
#define LMI_RECORD_PREFETCH_H

#include "lamina/record.h"
#include "tier_choice.h"

/* Records into FOLDER/on and FOLDER/off and writes FOLDER/prefetch.json: accuracy and coverage (on), excess traffic and
 * gain (on against off), each measured or modelled as the source is; null with a reason where the source has none.
 * call->exit_code is the program's of the first run. */
LAMINA_NODISCARD lamina_status lmi_prefetch_study(lmi_call *call, const lamina_record_options *asked,
                                                  const lmi_tier_choice *choice);

#endif
