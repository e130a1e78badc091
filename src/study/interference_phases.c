/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "interference_phases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PHASES = 256 };

lamina_status lmi_phase_file_make(lamina_context *ctx, lmi_text *path)
{
  const char *folder = getenv("TMPDIR");
  LMI_TRY(lmi_text_append(ctx, path, "%s/lamina-phases.XXXXXX", folder != NULL && folder[0] != '\0' ? folder : "/tmp"));
  const int descriptor = mkstemp(path->data);
  if (descriptor < 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "a file for the phases' marks cannot be made as %s",
                          path->data);
  close(descriptor);
  return LAMINA_OK;
}

/* The phase of a moment; beyond MOST_PHASES names everything counts as outside. */
static size_t phase_at(lamina_interference *result, const char *name)
{
  for (size_t i = 0; i < result->phase_count; i++)
    if (strcmp(result->phases[i].name, name) == 0)
      return i;
  if (result->phase_count == MOST_PHASES)
    return 0;
  lamina_coefficient_phase *made = &result->phases[result->phase_count];
  memcpy(made->name, name, strlen(name) + 1);
  return result->phase_count++;
}

static const char *name_at(const lmi_phase_stretch *stretches, size_t count, int64_t utc_ns, size_t *next)
{
  while (*next < count && stretches[*next].utc_ns <= utc_ns)
    (*next)++;
  return *next > 0 ? stretches[*next - 1].name : "";
}

static void sum_up(const lmi_reference_sample *samples, const size_t *phase_of, size_t count, double *values,
                   lamina_interference *result)
{
  for (size_t phase = 0; phase < result->phase_count; phase++) {
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
      if (phase_of[i] == phase)
        values[used++] = samples[i].seconds / result->idle_piece_seconds;
    result->phases[phase].coefficient = lamina_five_numbers_of(values, used);
    result->phases[phase].sample_count = used;
  }
}

lamina_status lmi_coefficients_by_phase(lamina_context *ctx, const lmi_reference_sample *samples, size_t count,
                                        int64_t utc_ns, const lmi_phase_stretch *stretches, size_t stretch_count,
                                        lamina_interference *result)
{
  size_t *phase_of = NULL, next = 0;
  double *values = NULL;
  lamina_status status = LAMINA_OK;
  if (stretch_count == 0 || count == 0)
    return LAMINA_OK;
  LMI_TRY(LMI_ALLOC(ctx, MOST_PHASES, &result->phases));
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &phase_of), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &values), cleanup);
  for (size_t i = 0; i < count; i++) {
    const double middle = samples[i].at_seconds - 0.5 * samples[i].seconds;
    phase_of[i] = phase_at(result, name_at(stretches, stretch_count, utc_ns + (int64_t)(1e9 * middle), &next));
  }
  sum_up(samples, phase_of, count, values, result);
cleanup:
  lmi_free(ctx, phase_of);
  lmi_free(ctx, values);
  return status;
}
