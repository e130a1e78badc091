/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

#include "named_events.h"

lamina_status lmi_event_encode(lamina_context *ctx, const char *name, struct perf_event_attr *attribute)
{
  pfm_perf_encode_arg_t argument = {.attr = attribute, .size = sizeof argument};
  int code = pfm_initialize();
  if (code == PFM_SUCCESS)
    code = pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
  LMI_REQUIRE(ctx, code == PFM_SUCCESS, LAMINA_ERROR_ARGUMENT,
              "the event %s is not known on this processor (libpfm4: %s)", name, pfm_strerror(code));
  return LAMINA_OK;
}
