/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of numbers on the command line. */
#ifndef LMI_NUMBER_LIST_H
#define LMI_NUMBER_LIST_H

#include "cli.h"

enum { LMI_MOST_NUMBERS = 64 };

typedef struct lmi_bounds {
  double low, high;
} lmi_bounds;

/* "0,10,20", "0..50" (steps of ten), or both: "0..50,75". A usage error names --`option`, the word and what is allowed.
 * `numbers` has room for LMI_MOST_NUMBERS. */
LAMINA_NODISCARD lamina_status lmi_number_list(const lmi_call *call, const char *option, const char *text,
                                               lmi_bounds bounds, double *numbers, size_t *count);

#endif
