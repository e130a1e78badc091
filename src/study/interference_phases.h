/* SPDX-License-Identifier: Apache-2.0 */
/* The interference coefficient by phase of the program: pieces of the probe against the marks of lamina/phase.h. */
#ifndef LMI_INTERFERENCE_PHASES_H
#define LMI_INTERFERENCE_PHASES_H

#include <lamina/interference.h>

#include "base/base.h"
#include "memory/phase_marks.h"
#include "memory/reference_probe.h"

/* A file for the marks in TMPDIR or /tmp. Errors: FILE. */
LAMINA_NODISCARD lamina_status lmi_phase_file_make(lamina_context *ctx, lmi_text *path);

/* Adds the phases to the result: a piece belongs to the phase in which its middle lies. `utc_ns` is when at_seconds was
 * 0. No stretches: no phases. */
LAMINA_NODISCARD lamina_status lmi_coefficients_by_phase(lamina_context *ctx, const lmi_reference_sample *samples,
                                                         size_t count, int64_t utc_ns,
                                                         const lmi_phase_stretch *stretches, size_t stretch_count,
                                                         lamina_interference *result);

#endif
