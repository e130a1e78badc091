/* SPDX-License-Identifier: Apache-2.0 */
/* Two relaxation rates, one for the even and one for the odd part of each pair (Ginzburg 2008; lbm-spec 1.4). Guo's
 * source is split alike: even part times 1 - omega+/2, odd part times 1 - omega-/2 (lbm-spec 1.9). */

#if LMK_FORCE
#define LMK_TRT_SOURCE(cx, cy, cz, w)                                                       \
  const LMK_REAL cf = LMK_DOT(cx, cy, cz, constants->fx, constants->fy, constants->fz);     \
  even = LMK_FMA(LMK_C(w) * source_plus, LMK_FMA(LMK_C(9) * cu, cf, LMK_C(-3) * uf), even); \
  odd = LMK_FMA(LMK_C(3.0 * (w)) * source_minus, cf, odd);
#else
#define LMK_TRT_SOURCE(cx, cy, cz, w)
#endif

LMK_INLINE LMK_REAL LMK_NAME(collide)(LMK_REAL g[LMK_Q], const LMK_NAME(constants) * constants)
{
  LMK_NAME(moments) m;
  LMK_NAME(find_moments)(g, constants, &m);
  const LMK_REAL half_plus = LMK_C(0.5) * constants->omega, half_minus = LMK_C(0.5) * constants->omega_minus;
  const LMK_REAL ju = LMK_FMA(m.jz, m.uz, LMK_FMA(m.jy, m.uy, m.jx * m.ux));
  const LMK_REAL base = LMK_FMA(LMK_C(-1.5), ju, m.drho);
  LMK_REAL rest = constants->omega * LMK_FMA(LMK_C(LMK_W_REST), base, -g[LMK_REST]);
#if LMK_FORCE
  const LMK_REAL source_plus = LMK_C(1) - half_plus, source_minus = LMK_C(1) - half_minus;
  const LMK_REAL uf = LMK_FMA(m.uz, constants->fz, LMK_FMA(m.uy, constants->fy, m.ux * constants->fx));
  rest = LMK_FMA(LMK_C(-3.0 * LMK_W_REST) * source_plus, uf, rest);
#endif
#define LMK_TRT_PAIR(k, cx, cy, cz, w)                                             \
  {                                                                                \
    const LMK_REAL cj = LMK_DOT(cx, cy, cz, m.jx, m.jy, m.jz);                     \
    const LMK_REAL cu = cj * m.inverse;                                            \
    const LMK_REAL target = LMK_C(2.0 * (w)) * LMK_FMA(LMK_C(4.5) * cj, cu, base); \
    LMK_REAL even = half_plus * (target - m.sum[k]);                               \
    LMK_REAL odd = half_minus * LMK_FMA(LMK_C(6.0 * (w)), cj, -m.difference[k]);   \
    LMK_TRT_SOURCE(cx, cy, cz, w)                                                  \
    g[LMK_UP(k)] = g[LMK_UP(k)] + (even + odd);                                    \
    g[LMK_DOWN(k)] = g[LMK_DOWN(k)] + (even - odd);                                \
  }
  LMK_PAIRS(LMK_TRT_PAIR)
#undef LMK_TRT_PAIR
  g[LMK_REST] = g[LMK_REST] + rest;
  return m.drho;
}
#undef LMK_TRT_SOURCE
