/* SPDX-License-Identifier: Apache-2.0 */
/* One-dimensional parts of the cumulant collision, shared by its two- and three-dimensional texts (Geier et al. 2015).
 */

/* Moments of order 0, 1, 2 about u along one axis become populations of velocity -1, 0, 1, at distance `stride`. */
LMK_INLINE void LMK_NAME(to_populations)(LMK_REAL *k, int stride, LMK_REAL u)
{
  const LMK_REAL m1 = LMK_FMA(u, k[0], k[stride]);
  const LMK_REAL m2 = LMK_FMA(u, LMK_FMA(u, k[0], LMK_C(2) * k[stride]), k[2 * stride]);
  const LMK_REAL minus = LMK_C(0.5) * (m2 - m1), plus = LMK_C(0.5) * (m2 + m1);
  k[stride] = k[0] - m2;
  k[0] = minus;
  k[2 * stride] = plus;
}

/* phi(c, u) - w(c) of the one-dimensional equilibrium, for c = -1, 0, 1. */
LMK_INLINE void LMK_NAME(axis_equilibrium)(LMK_REAL u, LMK_REAL d[3])
{
  const LMK_REAL half = LMK_C(0.5) * u * u;
  d[0] = LMK_FMA(LMK_C(-0.5), u, half);
  d[1] = -(u * u);
  d[2] = LMK_FMA(LMK_C(0.5), u, half);
}
