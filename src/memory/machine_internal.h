/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of inspecting a machine that live in several files. */
#ifndef LMI_MACHINE_INTERNAL_H
#define LMI_MACHINE_INTERNAL_H

#include "base/base.h"
#include "lamina/tiers.h"

/* nodes.c: nodes and distances; tiers stay empty. */
LAMINA_NODISCARD lamina_status lmi_nodes_read(lamina_context *ctx, const char *root, lamina_machine *machine);

/* tiers.c: groups the nodes from the kernel's tiers, the firmware's numbers, processors and distances. */
LAMINA_NODISCARD lamina_status lmi_tiers_assign(lamina_context *ctx, lamina_machine *machine);

/* machine_accelerators.c: every GPU; none is no error. */
LAMINA_NODISCARD lamina_status lmi_accelerators_measure(lamina_context *ctx, lamina_machine *machine,
                                                        const lamina_measure_options *options);

LAMINA_NODISCARD lamina_status lmi_machine_remark(lamina_context *ctx, lamina_machine *machine, const char *format, ...)
  LMI_PRINTF(3, 4);

#endif
