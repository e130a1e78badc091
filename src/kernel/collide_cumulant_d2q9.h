/* SPDX-License-Identifier: Apache-2.0 */
/* Cumulant collision of D2Q9, in deviations: collide_cumulant_d3q27.h in the axes x and z of the lattice.
 * k[a + 3 c] is the central moment of order a, c in x, z, and later the population of velocity (a - 1, 0, c - 1). */
#include "cumulant_axis.h"

/* Second central moments after collision, less rho/3; the trace relaxes at once. */
LMK_INLINE void LMK_NAME(relax_diagonal)(const LMK_NAME(moments) * m, LMK_REAL omega, LMK_NAME(tensor) * s)
{
  const LMK_REAL keep = LMK_C(1) - omega, scale = LMK_C(-0.75) * m->inverse;
  const LMK_REAL xz = s->xx - s->zz, trace = s->xx + s->zz;
  const LMK_REAL dx = scale * LMK_FMA(omega, xz, trace);
  const LMK_REAL dz = scale * LMK_FMA(-omega, xz, trace);
  const LMK_REAL ax = m->ux * m->ux * dx, az = m->uz * m->uz * dz;
  const LMK_REAL shear = LMK_C(-3) * m->rho * LMK_FMA(LMK_C(-0.5), omega, LMK_C(1));
  const LMK_REAL new_xz = LMK_FMA(keep, xz, shear * (ax - az));
  const LMK_REAL new_trace = LMK_C(-1.5) * m->rho * (ax + az);
  s->xx = LMK_C(0.5) * (new_trace + new_xz);
  s->zz = LMK_C(0.5) * (new_trace - new_xz);
}

LMK_INLINE LMK_REAL LMK_NAME(collide)(LMK_REAL g[LMK_Q], const LMK_NAME(constants) * constants)
{
  LMK_NAME(moments) m;
  LMK_NAME(find_moments)(g, constants, &m);
  LMK_NAME(tensor) s = LMK_NAME(find_stress)(&m, constants);
  LMK_NAME(relax_diagonal)(&m, constants->omega, &s);
  s.xz = (LMK_C(1) - constants->omega) * s.xz;
  LMK_REAL k[9] = {LMK_C(0), LMK_C(0), s.xx, LMK_C(0), s.xz, LMK_C(0), s.zz, LMK_C(0), LMK_C(0)};
  k[8] = LMK_FMA(LMK_C(1.0 / 3.0), s.xx + s.zz, m.inverse * LMK_FMA(LMK_C(2) * s.xz, s.xz, s.xx * s.zz));
#if LMK_FORCE
  k[1] = LMK_C(0.5) * constants->fx;
  k[3] = LMK_C(0.5) * constants->fz;
  k[7] = LMK_C(1.0 / 6.0) * constants->fx;
  k[5] = LMK_C(1.0 / 6.0) * constants->fz;
#endif
  LMK_UNROLL
  for (int i = 0; i < 3; i++)
    LMK_NAME(to_populations)(k + 3 * i, 1, m.ux);
  LMK_UNROLL
  for (int i = 0; i < 3; i++)
    LMK_NAME(to_populations)(k + i, 3, m.uz);

  const LMK_REAL w[3] = {LMK_C(1.0 / 6.0), LMK_C(2.0 / 3.0), LMK_C(1.0 / 6.0)};
  LMK_REAL dx[3], dz[3];
  LMK_NAME(axis_equilibrium)(m.ux, dx);
  LMK_NAME(axis_equilibrium)(m.uz, dz);
  LMK_UNROLL
  for (int i = 0; i < 9; i++) {
    const int a = i % 3, c = i / 3;
    const LMK_REAL product = LMK_FMA(w[c], dx[a], dz[c] * (w[a] + dx[a]));
    g[i] = k[i] + LMK_FMA(m.rho, product, m.drho * (w[c] * w[a]));
  }
  return m.drho;
}
