/* SPDX-License-Identifier: Apache-2.0 */
/* Faces that are neither walls nor periodic: {velocity: ...}, {pressure: ...}, outflow, slip. */
#ifndef LMI_CASE_OPEN_H
#define LMI_CASE_OPEN_H

#include "case_read.h"

/* Is this how an open face begins? Then read_face reads it. */
bool lmi_case_is_open_face(const lmi_tree_node *node);
LAMINA_NODISCARD lamina_status lmi_case_read_open_face(lmi_case_reader *reader, const lmi_tree_node *node,
                                                       lmi_case_boundary *boundary);
bool lmi_case_has_open_kind(const lmi_case_boundary *boundary);

/* Open faces into the options of the solver, which then needs another grid than the dense one. Wants units and the
 * other faces. Errors: CASE, FILE (a table). */
LAMINA_NODISCARD lamina_status lmi_case_fill_open_faces(lamina_case *flow);

/* What decides the flow through them, for the text that a checkpoint must agree with. Nothing without open faces. */
LAMINA_NODISCARD lamina_status lmi_case_describe_open_faces(const lamina_case *flow, lmi_text *text);

/* Share of its strength that a face has reached at a time: half a cosine over its ramp. 1 without one. */
double lmi_case_ramp(const lmi_case_boundary *boundary, double time);

#endif
