/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a node's memory away, so that a program that is started now finds only so much of it: the share of its
 * footprint that does not fit is placed on the next node by the kernel (Wahlgren et al., SC23, section 3.2). */
#ifndef LMI_NODE_FILLER_H
#define LMI_NODE_FILLER_H

#include "base/base.h"

typedef struct lmi_node_filler {
  struct {
    void *memory;
    size_t bytes;
  } * pieces;
  size_t count;
  bool is_locked; /* false: the kernel did not allow it, so that it may move or swap what was taken */
} lmi_node_filler;

/* Fills `node` until about leave_bytes of it are free, but never the last 64 MiB. Errors: MEMORY, UNAVAILABLE (the node
 * cannot be asked or filled). */
LAMINA_NODISCARD lamina_status lmi_node_filler_open(lamina_context *ctx, int node, uint64_t leave_bytes,
                                                    lmi_node_filler *filler);
void lmi_node_filler_close(lamina_context *ctx, lmi_node_filler *filler);

#endif
