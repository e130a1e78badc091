/* SPDX-License-Identifier: Apache-2.0 */
/* Processors for a program and others for what is to disturb it: interference is to come over the memory, not from two
 * threads on one core. */
#ifndef LMI_PROCESSOR_SPLIT_H
#define LMI_PROCESSOR_SPLIT_H

#include <hwloc.h>

#include "base/base.h"

typedef struct lmi_processor_split {
  hwloc_topology_t topology;
  hwloc_bitmap_t all, program, injector; /* all: as the calling thread had them */
} lmi_processor_split;

/* The last `injector_threads` of the processors that this thread may use (of `cpu_node`, unless LAMINA_NODE_ANY) are
 * the injector's; 0: a quarter of them, at least one. Errors: UNAVAILABLE when nothing would be left for the program;
 * SYSTEM. */
LAMINA_NODISCARD lamina_status lmi_processor_split_open(lamina_context *ctx, int cpu_node, int injector_threads,
                                                        lmi_processor_split *split);
void lmi_processor_split_close(lmi_processor_split *split); /* the calling thread gets its old processors back */

/* The calling thread, and what it starts from now on, runs on `which` (one of the three sets). */
void lmi_processor_split_use(const lmi_processor_split *split, hwloc_const_bitmap_t which);

#endif
