/* SPDX-License-Identifier: Apache-2.0 */
#include "named_events.h"

lamina_status lmi_event_encode(lamina_context *ctx, const char *name, struct perf_event_attr *attribute)
{
  (void)attribute;
  return lmi_fail(ctx, LAMINA_UNAVAILABLE,
                  "the event %s cannot be looked up: this build has no libpfm4 (install libpfm4-dev and build again)",
                  name);
}
