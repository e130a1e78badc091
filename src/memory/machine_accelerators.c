/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs as tiers: their own memory, and the host's seen through the link. */
#include <math.h>
#include <stdio.h>

#include "machine_internal.h"

enum { MOST_DEVICES = 16, LINKS = 4 };
static const uint64_t LINK_BYTES = (uint64_t)256 << 20;
static const lamina_index STREAM_CELLS = (lamina_index)256 * 256 * 256;

/* What fails on the way is not measured; the others still are. */
static void keep(lamina_context *ctx, lamina_status status, const lamina_bandwidth *result, lamina_spread *spread)
{
  const lamina_spread nothing = {(double)NAN, (double)NAN, (double)NAN};
  *spread = status == LAMINA_OK ? result->gb_per_s : nothing;
  if (status != LAMINA_OK)
    lamina_error_clear(ctx);
}

static void measure_device(lamina_context *ctx, const lamina_measure_options *options, int ordinal,
                           lamina_accelerator_row *row)
{
  lamina_bandwidth result;
  char text[96];
  for (int i = 0; i < 2; i++) {
    lamina_accelerator_probe probe = lamina_accelerator_probe_default();
    probe.ordinal = ordinal;
    probe.element_bytes = i == 0 ? 4 : 8;
    probe.cells = STREAM_CELLS;
    probe.repetitions = options->repetitions;
    snprintf(text, sizeof text, "device %d, 19 streams of %d bytes", ordinal, probe.element_bytes);
    if (options->progress != NULL)
      options->progress(options->user, text, i, 2 + LINKS);
    keep(ctx, lamina_accelerator_stream_ceiling(ctx, &probe, &result), &result, &row->stream_gb_per_s[i]);
  }
  for (int link = 0; link < LINKS; link++) {
    snprintf(text, sizeof text, "device %d, %s", ordinal, lamina_link_name((lamina_link)link));
    if (options->progress != NULL)
      options->progress(options->user, text, 2 + link, 2 + LINKS);
    keep(ctx, lamina_accelerator_link(ctx, ordinal, (lamina_link)link, LINK_BYTES, options->repetitions, &result),
         &result, &row->link_gb_per_s[link]);
  }
}

lamina_status lmi_accelerators_measure(lamina_context *ctx, lamina_machine *machine,
                                       const lamina_measure_options *options)
{
  lmi_free(ctx, machine->accelerators);
  machine->accelerators = NULL;
  machine->accelerator_count = 0;
  machine->accelerator_reason[0] = '\0';
  LMI_TRY(LMI_ALLOC(ctx, MOST_DEVICES, &machine->accelerators));
  for (int ordinal = 0; ordinal < MOST_DEVICES; ordinal++) {
    lamina_accelerator_row *row = &machine->accelerators[ordinal];
    const lamina_status status = lamina_accelerator_read(ctx, ordinal, &row->device);
    if (status == LAMINA_ERROR_MEMORY)
      return status;
    if (status != LAMINA_OK) { /* the end of the list, or no device at all */
      if (ordinal == 0)
        snprintf(machine->accelerator_reason, sizeof machine->accelerator_reason, "%s", lamina_error_message(ctx));
      lamina_error_clear(ctx);
      break;
    }
    measure_device(ctx, options, ordinal, row);
    machine->accelerator_count++;
  }
  return LAMINA_OK;
}
