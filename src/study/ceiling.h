/* SPDX-License-Identifier: Apache-2.0 */
/* The speed that the memory of a solver's machine or device allows: its streams alone, measured. */
#ifndef LMI_CEILING_H
#define LMI_CEILING_H

#include "base/base.h"
#include <lamina/solver.h>

/* Bytes of a stored population. */
int lmi_stored_bytes(const lamina_solver_options *options);

/* Million cells a second, `cells` being how many have populations. NAN, with the reason, where it cannot be measured
 * (no memory left beside the field, say): that costs a share, not the benchmark. */
double lmi_measure_ceiling(lamina_context *ctx, const lamina_solver_options *options, lamina_index cells, char *reason,
                           size_t capacity);

#endif
