/* SPDX-License-Identifier: Apache-2.0 */
/* lamina place --apply: runs a program with its allocations where a plan says. */
#ifndef LMI_PLACE_APPLY_H
#define LMI_PLACE_APPLY_H

#include "cli.h"

/* Runs call->program under the placing library, says on stderr what was really placed, and passes the program's exit
 * status on. Errors: UNAVAILABLE (no placing library), CASE (no plan), FILE, SYSTEM. */
LAMINA_NODISCARD lamina_status lmi_place_apply(lmi_call *call, const char *plan);

#endif
