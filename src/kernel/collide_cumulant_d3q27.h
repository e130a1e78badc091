/* SPDX-License-Identifier: Apache-2.0 */
/* Cumulant collision of D3Q27 with all higher rates one (Geier et al. 2015; lbm-spec 1.7, bulk rate 1), in deviations.
 *
 * With the higher rates at one nothing of the incoming populations survives but density, momentum and the second
 * central moments, so no transform into central moments is needed. After collision f* - w = (feq - w) + (populations of
 * the deviations of the central moments from those of feq), feq being the product of one-dimensional equilibria. Each
 * term is small near rest: the shifted precision is kept, where central moments of f itself would lose it to the
 * weights (1.5e-5 against 2e-7 in single precision).
 *
 * k[a + 3 b + 9 c] is the central moment of order a, b, c in x, y, z, and later the population of velocity
 * (a - 1, b - 1, c - 1): the rank order of the lattice. */
#include "cumulant_axis.h"

/* Diagonal of the second central moments after collision, less rho/3; Galilean correction terms of lbm-spec 1.7. */
LMK_INLINE void LMK_NAME(relax_diagonal)(const LMK_NAME(moments) * m, LMK_REAL omega, LMK_NAME(tensor) * s)
{
  const LMK_REAL keep = LMK_C(1) - omega, half = LMK_C(0.5) * m->inverse;
  const LMK_REAL xy = s->xx - s->yy, xz = s->xx - s->zz, trace = s->xx + s->yy + s->zz;
  const LMK_REAL dx = -half * LMK_FMA(omega, xy + xz, trace);
  const LMK_REAL dy = LMK_FMA(LMK_C(3) * omega * half, xy, dx);
  const LMK_REAL dz = LMK_FMA(LMK_C(3) * omega * half, xz, dx);
  const LMK_REAL ax = m->ux * m->ux * dx, ay = m->uy * m->uy * dy, az = m->uz * m->uz * dz;
  const LMK_REAL shear = LMK_C(-3) * m->rho * LMK_FMA(LMK_C(-0.5), omega, LMK_C(1));
  const LMK_REAL new_xy = LMK_FMA(keep, xy, shear * (ax - ay));
  const LMK_REAL new_xz = LMK_FMA(keep, xz, shear * (ax - az));
  const LMK_REAL new_trace = LMK_C(-1.5) * m->rho * (ax + ay + az);
  s->xx = LMK_C(1.0 / 3.0) * (new_trace + new_xy + new_xz);
  s->yy = s->xx - new_xy;
  s->zz = s->xx - new_xz;
}

/* Fourth and sixth moments from vanishing cumulants, less those of feq. */
LMK_INLINE void LMK_NAME(close_moments)(const LMK_REAL *stress, LMK_REAL inverse, LMK_REAL k[27])
{
  const LMK_REAL third = LMK_C(1.0 / 3.0);
  const LMK_REAL a = stress[0], b = stress[1], c = stress[2], xy = stress[3], xz = stress[4], yz = stress[5];
  const LMK_REAL xy2 = xy * xy, xz2 = xz * xz, yz2 = yz * yz, xyz = xy * xz * yz;
  k[2] = a;
  k[6] = b;
  k[18] = c;
  k[4] = xy;
  k[10] = xz;
  k[12] = yz;
  k[8] = LMK_FMA(third, a + b, inverse * LMK_FMA(LMK_C(2), xy2, a * b));
  k[20] = LMK_FMA(third, a + c, inverse * LMK_FMA(LMK_C(2), xz2, a * c));
  k[24] = LMK_FMA(third, b + c, inverse * LMK_FMA(LMK_C(2), yz2, b * c));
  k[14] = LMK_FMA(third, yz, inverse * LMK_FMA(LMK_C(2) * xy, xz, a * yz));
  k[16] = LMK_FMA(third, xz, inverse * LMK_FMA(LMK_C(2) * xy, yz, b * xz));
  k[22] = LMK_FMA(third, xy, inverse * LMK_FMA(LMK_C(2) * xz, yz, c * xy));
  const LMK_REAL pairs = LMK_FMA(b, c, LMK_FMA(a, c, a * b));
  const LMK_REAL first = LMK_FMA(LMK_C(2), xy2 + xz2 + yz2, pairs);
  const LMK_REAL mixed = LMK_FMA(c, xy2, LMK_FMA(b, xz2, a * yz2));
  const LMK_REAL second = LMK_FMA(LMK_C(8), xyz, LMK_FMA(LMK_C(2), mixed, a * b * c));
  k[26] = LMK_FMA(third * third, a + b + c, inverse * LMK_FMA(third, first, inverse * second));
}

/* g = k + feq - w, the product expanded around the weights: (w + d)(w' + d') - w w' = w d' + d (w' + d'). */
LMK_INLINE void LMK_NAME(add_equilibrium)(const LMK_REAL *state, const LMK_REAL k[27], LMK_REAL g[27])
{
  const LMK_REAL w[3] = {LMK_C(1.0 / 6.0), LMK_C(2.0 / 3.0), LMK_C(1.0 / 6.0)};
  const LMK_REAL drho = state[0], rho = LMK_C(LMK_REST_DENSITY) + drho;
  LMK_REAL dx[3], dy[3], dz[3];
  LMK_NAME(axis_equilibrium)(state[2], dx);
  LMK_NAME(axis_equilibrium)(state[3], dy);
  LMK_NAME(axis_equilibrium)(state[4], dz);
  LMK_UNROLL
  for (int c = 0; c < 3; c++) {
    LMK_UNROLL
    for (int b = 0; b < 3; b++) {
      const LMK_REAL plane_weight = w[c] * w[b];
      const LMK_REAL plane = LMK_FMA(w[c], dy[b], dz[c] * (w[b] + dy[b]));
      LMK_UNROLL
      for (int a = 0; a < 3; a++) {
        const LMK_REAL product = LMK_FMA(plane_weight, dx[a], plane * (w[a] + dx[a]));
        const LMK_REAL equilibrium = LMK_FMA(rho, product, drho * (plane_weight * w[a]));
        g[a + 3 * b + 9 * c] = k[a + 3 * b + 9 * c] + equilibrium;
      }
    }
  }
}

#if LMK_FORCE
/* The first central moment is F/2 after collision; odd higher moments follow from the product with the rest variances.
 */
LMK_INLINE void LMK_NAME(add_force_moments)(const LMK_NAME(constants) * constants, LMK_REAL k[27])
{
  const LMK_REAL x = LMK_C(0.5) * constants->fx, y = LMK_C(0.5) * constants->fy, z = LMK_C(0.5) * constants->fz;
  const LMK_REAL third = LMK_C(1.0 / 3.0), ninth = LMK_C(1.0 / 9.0);
  k[1] = x;
  k[3] = y;
  k[9] = z;
  k[7] = k[19] = third * x;
  k[5] = k[21] = third * y;
  k[11] = k[15] = third * z;
  k[25] = ninth * x;
  k[23] = ninth * y;
  k[17] = ninth * z;
}
#endif

/* state[0] = drho, [1] = 1 / rho, [2..4] = u, [5..10] = xx, yy, zz, xy, xz, yz after collision */
#define LMK_STATE 11
#define LMK_PAIRWISE 0

LMK_INLINE void LMK_NAME(prepare)(const LMK_NAME(moments) * m, const LMK_NAME(constants) * constants, LMK_REAL *state)
{
  LMK_NAME(tensor) s = LMK_NAME(find_stress)(m, constants);
  const LMK_REAL keep = LMK_C(1) - constants->omega;
  LMK_NAME(relax_diagonal)(m, constants->omega, &s);
  state[0] = m->drho;
  state[1] = m->inverse;
  state[2] = m->ux;
  state[3] = m->uy;
  state[4] = m->uz;
  state[5] = s.xx;
  state[6] = s.yy;
  state[7] = s.zz;
  state[8] = keep * s.xy;
  state[9] = keep * s.xz;
  state[10] = keep * s.yz;
}

LMK_INLINE void LMK_NAME(finish_whole)(LMK_REAL g[LMK_Q], const LMK_NAME(constants) * constants, const LMK_REAL *state)
{
  (void)constants;
  LMK_REAL k[27];
  LMK_UNROLL
  for (int i = 0; i < 27; i++)
    k[i] = LMK_C(0);
  LMK_NAME(close_moments)(state + 5, state[1], k);
#if LMK_FORCE
  LMK_NAME(add_force_moments)(constants, k);
#endif
  LMK_UNROLL
  for (int i = 0; i < 9; i++)
    LMK_NAME(to_populations)(k + 3 * i, 1, state[2]);
  LMK_UNROLL
  for (int i = 0; i < 9; i++)
    LMK_NAME(to_populations)(k + 9 * (i / 3) + i % 3, 3, state[3]);
  LMK_UNROLL
  for (int i = 0; i < 9; i++)
    LMK_NAME(to_populations)(k + i, 9, state[4]);
  LMK_NAME(add_equilibrium)(state, k, g);
}
