/* SPDX-License-Identifier: Apache-2.0 */
/* What a smaller fast tier did to a recorded program: measured where the memory really spilled, else modelled. */
#ifndef LMI_RECORD_LOCAL_H
#define LMI_RECORD_LOCAL_H

#include "lamina/record.h"
#include "tier_choice.h"

/* "25%" or "256MiB" into the options. A mistake is a usage error. */
LAMINA_NODISCARD lamina_status lmi_local_parse(const lmi_call *call, const char *text, lamina_record_options *options);

/* Reads the profile in the folder, writes FOLDER/local.json, and prints on stderr (or hands over in `json` if that is
 * not NULL). Each number comes with "measured" or "model". */
LAMINA_NODISCARD lamina_status lmi_local_show(lmi_call *call, const lamina_record_options *options,
                                              const lamina_record_result *result, const lmi_tier_choice *choice,
                                              json_t **json);

#endif
