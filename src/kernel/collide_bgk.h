/* SPDX-License-Identifier: Apache-2.0 */
/* One relaxation rate (lbm-spec 1.3). A collide_*.h defines one function: it changes the shifted populations of a cell
 * from before to after collision and returns density - 1. */
#include "relax_bgk.h"

LMK_INLINE LMK_REAL LMK_NAME(collide)(LMK_REAL g[LMK_Q], const LMK_NAME(constants) * constants)
{
  LMK_NAME(moments) m;
  LMK_NAME(find_moments)(g, constants, &m);
  LMK_NAME(relax_bgk)(g, &m, constants->omega, constants);
  return m.drho;
}
