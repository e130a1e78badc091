/* SPDX-License-Identifier: Apache-2.0 */
/* Where a population of one cell comes from when a jump between levels is near: the scheme of a jump, as sums of terms.
 * Pure geometry; what is done with the sums is level_links.c's affair.
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
#ifndef LMI_LEVEL_TRACE_H
#define LMI_LEVEL_TRACE_H

#include "kernel/prelude_host.h"

#include "kernel/dense.h"

#include "kernel/jump.h"
#include "level_stack.h"

typedef enum lmi_level_scheme { LMI_LEVEL_PACKETS, LMI_LEVEL_VOLUMETRIC, LMI_LEVEL_UNIFORM_PACKETS } lmi_level_scheme;

/* Velocities in rank order: the opposite of q is count - 1 - q. */
typedef struct lmi_velocities {
  int count;
  const int8_t (*c)[4];
  const double *weight;
} lmi_velocities;

/* `cell` is 64 * block + bit in the level that `from` means, or 1 + face; for LMK_FROM_ASIDE the cell of the own level
 * whose population is to be kept. */
typedef struct lmi_trace_term {
  int32_t cell;
  int q, from;
  double weight;
} lmi_trace_term;

enum { LMI_TRACE_TERMS = 512 };

typedef struct lmi_trace {
  const lmi_levels *levels;
  int32_t *const *numbers; /* by level: the block at each place of a word */
  lmi_velocities velocities;
  lmi_level_scheme scheme;
  bool whole_walls;
  lmi_trace_term terms[LMI_TRACE_TERMS];
  int count;
} lmi_trace;

/* Leaves the terms of f_q of a leaf in trace->terms; none where streaming on its own level, or bouncing there, is
 * right. `is_ring`: the cell touches a finer one. `half`: of the coarser level's step. */
void lmi_trace_population(lmi_trace *trace, int level, const int64_t at[3], bool is_ring, int q, int half);

/* The wall whose motion adds to f_q of a cell; -1: none. With whole walls only where it also adds to the population of
 * the opposite velocity along the wall, so that the cell gets no mass. */
int lmi_trace_wall(const lmi_trace *trace, int level, const int64_t at[3], int q);

#endif
