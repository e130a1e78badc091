/* SPDX-License-Identifier: Apache-2.0 */
/* One relaxation rate (lbm-spec 1.3).
 *
 * Every collide_*.h defines a collision in two halves. prepare() reduces the moments of a cell (moments.h) to LMK_STATE
 * numbers; the second half changes the populations from before to after collision with them. A traversal that finds the
 * moments of the next cells while it finishes these hides the long chain of dependent operations between the halves
 * (docs/dev/performance.md).
 *
 * With LMK_PAIRWISE 1 the second half is begin(), then finish_pair() for each pair of opposite velocities in any order,
 * and finish_rest(): a traversal can load and store each pair on its own and needs few registers. Otherwise it is
 * finish_whole(). collide.h joins everything for one cell. */
#include "relax_bgk.h"

#define LMK_STATE LMK_NAME(BGK_STATE)
#define LMK_PAIRWISE 1

LMK_INLINE void LMK_NAME(prepare)(const LMK_NAME(moments) * m, const LMK_NAME(constants) * constants, LMK_REAL *state)
{
  (void)constants;
  LMK_NAME(keep_bgk_state)(m, state);
}

LMK_INLINE LMK_NAME(relaxation) LMK_NAME(begin)(const LMK_NAME(constants) * constants, const LMK_REAL *state)
{
  return LMK_NAME(begin_bgk)(constants, state, constants->omega);
}

LMK_INLINE void LMK_NAME(finish_pair)(const LMK_NAME(relaxation) * r, int cx, int cy, int cz, double w, LMK_REAL *up,
                                      LMK_REAL *down)
{
  LMK_NAME(relax_pair_bgk)(r, cx, cy, cz, w, up, down);
}

LMK_INLINE LMK_REAL LMK_NAME(finish_rest)(const LMK_NAME(relaxation) * r, LMK_REAL rest)
{
  return LMK_NAME(relax_rest_bgk)(r, rest);
}
