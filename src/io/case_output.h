/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of `output`: what a run writes and compares. */
#ifndef LMI_CASE_OUTPUT_H
#define LMI_CASE_OUTPUT_H

#include "case_read.h"

/* Reads the list into flow->outputs; `target` is the lamina_case. */
lmi_case_read_value lmi_case_read_outputs;

/* What needs the finished domain: positions inside, axes that exist, references that fit. */
LAMINA_NODISCARD lamina_status lmi_case_check_outputs(lamina_case *flow);

#endif
