/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of `bodies`: solids in the flow. */
#ifndef LMI_CASE_BODIES_H
#define LMI_CASE_BODIES_H

#include "case_read.h"

/* Reads the list into flow->bodies; `target` is the lamina_case. */
lmi_case_read_value lmi_case_read_bodies;

/* Reads the STL files, makes flow->geometry in lattice units, counts cells and warns of what they do not show. Needs
 * the finished domain and units; sets solver.geometry and, where no grid was asked for, solver.grid. */
LAMINA_NODISCARD lamina_status lmi_case_check_bodies(lamina_case *flow);

/* What decides where the solids are, for the text that a checkpoint must agree with. Nothing without bodies. */
LAMINA_NODISCARD lamina_status lmi_case_describe_bodies(const lamina_case *flow, lmi_text *text);

#endif
