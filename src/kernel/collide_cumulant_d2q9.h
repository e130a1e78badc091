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

/* state[0] = drho, [1] = 1 / rho, [2..3] = ux, uz, [4..6] = xx, zz, xz after collision */
#define LMK_STATE 7
#define LMK_PAIRWISE 0

LMK_INLINE void LMK_NAME(prepare)(const LMK_NAME(moments) * m, const LMK_NAME(constants) * constants, LMK_REAL *state)
{
  LMK_NAME(tensor) s = LMK_NAME(find_stress)(m, constants);
  LMK_NAME(relax_diagonal)(m, constants->omega, &s);
  state[0] = m->drho;
  state[1] = m->inverse;
  state[2] = m->ux;
  state[3] = m->uz;
  state[4] = s.xx;
  state[5] = s.zz;
  state[6] = (LMK_C(1) - constants->omega) * s.xz;
}

LMK_INLINE void LMK_NAME(finish_whole)(LMK_REAL g[LMK_Q], const LMK_NAME(constants) * constants, const LMK_REAL *state)
{
  const LMK_REAL drho = state[0], rho = LMK_C(LMK_REST_DENSITY) + drho, xx = state[4], zz = state[5], xz = state[6];
  LMK_REAL k[9] = {LMK_C(0), LMK_C(0), xx, LMK_C(0), xz, LMK_C(0), zz, LMK_C(0), LMK_C(0)};
  k[8] = LMK_FMA(LMK_C(1.0 / 3.0), xx + zz, state[1] * LMK_FMA(LMK_C(2) * xz, xz, xx * zz));
#if LMK_FORCE
  k[1] = LMK_C(0.5) * constants->fx;
  k[3] = LMK_C(0.5) * constants->fz;
  k[7] = LMK_C(1.0 / 6.0) * constants->fx;
  k[5] = LMK_C(1.0 / 6.0) * constants->fz;
#else
  (void)constants;
#endif
  LMK_UNROLL
  for (int i = 0; i < 3; i++)
    LMK_NAME(to_populations)(k + 3 * i, 1, state[2]);
  LMK_UNROLL
  for (int i = 0; i < 3; i++)
    LMK_NAME(to_populations)(k + i, 3, state[3]);

  const LMK_REAL w[3] = {LMK_C(1.0 / 6.0), LMK_C(2.0 / 3.0), LMK_C(1.0 / 6.0)};
  LMK_REAL dx[3], dz[3];
  LMK_NAME(axis_equilibrium)(state[2], dx);
  LMK_NAME(axis_equilibrium)(state[3], dz);
  LMK_UNROLL
  for (int i = 0; i < 9; i++) {
    const int a = i % 3, c = i / 3;
    const LMK_REAL product = LMK_FMA(w[c], dx[a], dz[c] * (w[a] + dx[a]));
    g[i] = k[i] + LMK_FMA(rho, product, drho * (w[c] * w[a]));
  }
}
