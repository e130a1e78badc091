/* SPDX-License-Identifier: Apache-2.0 */
/* The keys `forces`, `probes` and `statistics`: what is measured during a run. */
#ifndef LMI_CASE_MEASURE_H
#define LMI_CASE_MEASURE_H

#include "case_read.h"

/* Targets: the lamina_case. */
lmi_case_read_value lmi_case_read_forces, lmi_case_read_probes, lmi_case_read_statistics;

/* Finds bodies by name or number, reference areas and directions, cells of probes. Wants the finished domain, units and
 * bodies; asks the solver to keep loads. */
LAMINA_NODISCARD lamina_status lmi_case_check_measures(lamina_case *flow);

void lmi_case_free_measures(lamina_case *flow);

/* "drag", "lift", "drag_max", "lift_max", "strouhal". */
const char *lmi_force_expectation_name(lmi_force_expectation expectation);

#endif
