/* SPDX-License-Identifier: Apache-2.0 */
/* Flops and bytes of each second of a recording, as the counters gave them: FOLDER/rates.csv beside the profiles, one
 * for all processes together. */
#ifndef LMI_RATES_H
#define LMI_RATES_H

#include "base/base.h"
#include "lamina/memory_profile.h"

typedef struct lmi_rate {
  double seconds, length; /* begin, since the start of the program; length of the interval, 1 but for the last */
  uint64_t flops, bytes;  /* LAMINA_UNCOUNTED where they were not counted */
} lmi_rate;

/* Errors: FILE. */
LAMINA_NODISCARD lamina_status lmi_rates_write(lamina_context *ctx, const char *folder, const lmi_rate *rates,
                                               size_t count);

/* *count 0 when `path` is no folder or has no such file; the caller frees with lmi_free. Errors: CASE (file and line),
 * MEMORY. */
LAMINA_NODISCARD lamina_status lmi_rates_read(lamina_context *ctx, const char *path, lmi_rate **rates, size_t *count);

#endif
