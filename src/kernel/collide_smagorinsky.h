/* SPDX-License-Identifier: Apache-2.0 */
/* BGK with the Smagorinsky eddy viscosity in closed form (lbm-spec 1.8):
 *   tau = 1/2 [tau0 + sqrt(tau0^2 + 18 sqrt(2) C^2 |Pi| / rho)],  |Pi| = sqrt(Pi_ab Pi_ab);
 *   constants->les = 18 sqrt(2) C^2. */
#include "relax_bgk.h"

/* The BGK state, then the cell's omega. */
#define LMK_STATE (LMK_NAME(BGK_STATE) + 1)
#define LMK_PAIRWISE 1

LMK_INLINE void LMK_NAME(prepare)(const LMK_NAME(moments) * m, const LMK_NAME(constants) * constants, LMK_REAL *state)
{
  LMK_NAME(keep_bgk_state)(m, state);
  const LMK_NAME(tensor) s = LMK_NAME(find_stress)(m, constants);
  LMK_REAL mixed = s.xz * s.xz;
  LMK_REAL square = LMK_FMA(s.zz, s.zz, s.xx * s.xx);
#if LMK_HAS_Y
  mixed = LMK_FMA(s.yz, s.yz, LMK_FMA(s.xy, s.xy, mixed));
  square = LMK_FMA(s.yy, s.yy, square);
#endif
  const LMK_REAL norm = LMK_SQRT(LMK_FMA(LMK_C(2), mixed, square));
  const LMK_REAL tau = constants->tau;
  const LMK_REAL root = LMK_SQRT(LMK_FMA(constants->les * norm, m->inverse, tau * tau));
  state[LMK_NAME(BGK_STATE)] = LMK_C(2) / (tau + root);
}

LMK_INLINE LMK_NAME(relaxation) LMK_NAME(begin)(const LMK_NAME(constants) * constants, const LMK_REAL *state)
{
  return LMK_NAME(begin_bgk)(constants, state, state[LMK_NAME(BGK_STATE)]);
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
