/* SPDX-License-Identifier: Apache-2.0 */
/* The injector's own reference: one thread, one flop an element, always the same piece of work, timed again and again
 * while something else runs. Its slow-down against an idle machine is the interference coefficient (Wahlgren et al.,
 * SC23, section 6.2). */
#ifndef LMI_REFERENCE_PROBE_H
#define LMI_REFERENCE_PROBE_H

#include "base/base.h"
#include "lamina/machine.h"

typedef struct lmi_reference lmi_reference;

/* One piece of work. */
typedef struct lmi_reference_sample {
  double at_seconds; /* of its end, since the start */
  double seconds;
} lmi_reference_sample;

/* Runs on the processors that the calling thread may use; returns when its array is touched. array_bytes 0: as the
 * injector. Errors: ARGUMENT, MEMORY, SYSTEM. */
LAMINA_NODISCARD lamina_status lmi_reference_start(lamina_context *ctx, lamina_placement placement,
                                                   uint64_t array_bytes, lmi_reference **reference);

/* Ends it. The samples belong to the reference; when there were too many to keep, evenly fewer of them. */
void lmi_reference_stop(lmi_reference *reference);
const lmi_reference_sample *lmi_reference_samples(const lmi_reference *reference, size_t *count);
/* UTC of the moment that at_seconds counts from. */
int64_t lmi_reference_utc_ns(const lmi_reference *reference);
void lmi_reference_free(lmi_reference *reference); /* NULL does nothing */

#endif
