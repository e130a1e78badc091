/* SPDX-License-Identifier: Apache-2.0 */
/* BGK with the Smagorinsky eddy viscosity in closed form (lbm-spec 1.8):
 *   tau = 1/2 [tau0 + sqrt(tau0^2 + 18 sqrt(2) C^2 |Pi| / rho)],  |Pi| = sqrt(Pi_ab Pi_ab);  constants->les = 18
 * sqrt(2) C^2. */
#include "relax_bgk.h"

LMK_INLINE LMK_REAL LMK_NAME(collide)(LMK_REAL g[LMK_Q], const LMK_NAME(constants) * constants)
{
  LMK_NAME(moments) m;
  LMK_NAME(find_moments)(g, constants, &m);
  const LMK_NAME(tensor) s = LMK_NAME(find_stress)(&m, constants);
  LMK_REAL mixed = s.xz * s.xz;
  LMK_REAL square = LMK_FMA(s.zz, s.zz, s.xx * s.xx);
#if LMK_HAS_Y
  mixed = LMK_FMA(s.yz, s.yz, LMK_FMA(s.xy, s.xy, mixed));
  square = LMK_FMA(s.yy, s.yy, square);
#endif
  const LMK_REAL norm = LMK_SQRT(LMK_FMA(LMK_C(2), mixed, square));
  const LMK_REAL tau = constants->tau;
  const LMK_REAL root = LMK_SQRT(LMK_FMA(constants->les * norm, m.inverse, tau * tau));
  const LMK_REAL omega = LMK_C(2) / (tau + root);
  LMK_NAME(relax_bgk)(g, &m, omega, constants);
  return m.drho;
}
