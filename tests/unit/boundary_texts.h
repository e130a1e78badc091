/* SPDX-License-Identifier: Apache-2.0 */
/* One instance of the boundary text as functions that a test can put into a table; include it with LMK_REAL, LMK_SUFFIX
 * and a lattice set. Not guarded: it is included once for each instance. */
#include "kernel/boundary.h"

static void LMK_NAME(meet)(double *g, const lmk_boundary *b, int64_t item, int parity)
{
  LMK_REAL values[LMK_Q];
  for (int q = 0; q < LMK_Q; q++)
    values[q] = (LMK_REAL)g[q];
  LMK_NAME(meet_boundary)(values, b, item, parity);
  for (int q = 0; q < LMK_Q; q++)
    g[q] = (double)values[q];
}

static void LMK_NAME(leave)(const double *g, const lmk_boundary *b, int64_t item, int parity)
{
  LMK_REAL values[LMK_Q];
  for (int q = 0; q < LMK_Q; q++)
    values[q] = (LMK_REAL)g[q];
  LMK_NAME(leave_boundary)(values, b, item, parity);
}

#include "kernel/lattice_none.h"
#undef LMK_REAL
#undef LMK_SUFFIX
#undef LMK_BOUNDARY_3Q
