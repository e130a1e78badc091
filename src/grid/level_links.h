/* SPDX-License-Identifier: Apache-2.0 */
/* The links of the blocks that are not plain: where the populations come from that cross a jump between levels, bounce
 * from a wall of the box, or do both. Built once from the levels; pure geometry (kernel/jump.h).
 *
 * Packets (lbm-spec 7.3, 7.7). A population f*_q of a coarse cell is 2^d packets, one for each sub-cell; in a half step
 * of the coarse level a packet moves by one fine cell, or bounces from a wall of the box. A packet that enters a fine
 * cell belongs to it; those of a coarse cell are averaged after both halves. Tracing every packet back from where it is
 * wanted gives a map that is one to one, so mass and momentum are kept whatever the shape of the jump. At a wall the
 * coarse cell keeps the packets that met no fine cell, as bouncing on its own level does: reversing a path in time
 * shows that as many of its packets come from fine cells as go to them.
 *
 * A moving wall gives momentum to every packet that bounces from it, once: flow that moves with the wall stays as it
 * is. What that adds to the mass sums to zero, unless a jump runs into an edge between two walls. Then `whole_walls` is
 * chosen: a wall adds to whole coarse populations only, in pairs that sum to zero in each cell. Mass is kept again, and
 * the error of a moving wall at a jump is of first order in the cell size.
 *
 * Packets of one population differ by a slope g of f*_q in the coarse cell, central where it can be, and by h c.g in
 * time: they count as older or newer by a quarter of the coarse step than they are. Both sum to zero over the packets
 * of a population: nothing is lost, and the scheme is of second order.
 *
 * The volumetric scheme (Rohde 2006 and others; lbm-spec 7.2) takes the coarse value as it is, and the mean of what
 * fine cells send; it is of first order and keeps mass on plane jumps only. */
#ifndef LMI_LEVEL_LINKS_H
#define LMI_LEVEL_LINKS_H

#include "kernel/prelude_host.h"

#include "kernel/dense.h"

#include "kernel/jump.h"

#include "level_blocks.h"

typedef enum lmi_level_scheme { LMI_LEVEL_PACKETS, LMI_LEVEL_VOLUMETRIC, LMI_LEVEL_UNIFORM_PACKETS } lmi_level_scheme;

/* Velocities in rank order: the opposite of q is count - 1 - q. */
typedef struct lmi_velocities {
  int count;
  const int8_t (*c)[4];
  const double *weight;
} lmi_velocities;

/* The links of a level in one half of the coarser level's step. */
typedef struct lmi_link_list {
  int64_t link_count, term_count;
  uint32_t *first; /* by block, one more than there are */
  lmk_link *links;
  lmk_term *terms;
} lmi_link_list;

typedef struct lmi_level_link_set {
  lmi_link_list half[2];  /* the coarsest level uses the first alone */
  lmk_aside_entry *aside; /* between the halves of the coarser step */
  int64_t aside_count;
} lmi_level_link_set;

typedef struct lmi_level_links {
  lmi_level_link_set level[LMI_MAX_LEVELS];
  double *weights;
  int32_t weight_count;
  bool whole_walls;
} lmi_level_links;

/* Errors: ARGUMENT (too many links for their counters), MEMORY. */
LAMINA_NODISCARD lamina_status lmi_level_links_create(lamina_context *ctx, const lmi_levels *levels,
                                                      const lmi_level_blocks *blocks, const lmi_velocities *velocities,
                                                      lmi_level_scheme scheme, lmi_level_links *links);
void lmi_level_links_free(lamina_context *ctx, lmi_level_links *links);

#endif
