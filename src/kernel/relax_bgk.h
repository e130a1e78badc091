/* SPDX-License-Identifier: Apache-2.0 */
/* BGK on shifted populations: g* = (1 - omega) g + omega (feq - w) + S, in pairs. The second-order equilibrium is
 *   feq - w = w [drho - 3/2 j.u + 3 c.j + 9/2 (c.j)(c.u)]
 * and Guo's source S = (1 - omega/2) w [3 (c - u) + 9 (c.u) c].F. With G = omega j + (2 - omega) F and
 * H = omega j + (1 - omega/2) F both go into one expression (lbm-spec 1.3, 1.9). omega is an argument of its own
 * because the subgrid model changes it from cell to cell. */

LMK_INLINE void LMK_NAME(relax_bgk)(LMK_REAL g[LMK_Q], const LMK_NAME(moments) * m, LMK_REAL omega,
                                    const LMK_NAME(constants) * constants)
{
  const LMK_REAL keep = LMK_C(1) - omega;
  const LMK_REAL ju = LMK_FMA(m->jz, m->uz, LMK_FMA(m->jy, m->uy, m->jx * m->ux));
#if LMK_FORCE
  const LMK_REAL source = LMK_FMA(LMK_C(-0.5), omega, LMK_C(1));
  const LMK_REAL uf = LMK_FMA(m->uz, constants->fz, LMK_FMA(m->uy, constants->fy, m->ux * constants->fx));
  const LMK_REAL base = LMK_FMA(LMK_C(-3) * source, uf, omega * LMK_FMA(LMK_C(-1.5), ju, m->drho));
  const LMK_REAL hx = LMK_FMA(source, constants->fx, omega * m->jx);
  const LMK_REAL hy = LMK_FMA(source, constants->fy, omega * m->jy);
  const LMK_REAL hz = LMK_FMA(source, constants->fz, omega * m->jz);
  const LMK_REAL gx = LMK_FMA(source, constants->fx, hx);
  const LMK_REAL gy = LMK_FMA(source, constants->fy, hy);
  const LMK_REAL gz = LMK_FMA(source, constants->fz, hz);
#define LMK_BGK_PAIR(k, cx, cy, cz, w)                                                       \
  {                                                                                          \
    const LMK_REAL cu = LMK_DOT(cx, cy, cz, m->ux, m->uy, m->uz);                            \
    const LMK_REAL cg = LMK_DOT(cx, cy, cz, gx, gy, gz);                                     \
    const LMK_REAL ch = LMK_DOT(cx, cy, cz, hx, hy, hz);                                     \
    const LMK_REAL even = LMK_FMA(LMK_C(4.5) * cg, cu, base);                                \
    g[LMK_UP(k)] = LMK_FMA(keep, g[LMK_UP(k)], LMK_C(w) * LMK_FMA(LMK_C(3), ch, even));      \
    g[LMK_DOWN(k)] = LMK_FMA(keep, g[LMK_DOWN(k)], LMK_C(w) * LMK_FMA(LMK_C(-3), ch, even)); \
  }
#else
  (void)constants;
  const LMK_REAL base = LMK_FMA(LMK_C(-1.5), ju, m->drho);
#define LMK_BGK_PAIR(k, cx, cy, cz, w)                                                 \
  {                                                                                    \
    const LMK_REAL cj = LMK_DOT(cx, cy, cz, m->jx, m->jy, m->jz);                      \
    const LMK_REAL cu = cj * m->inverse;                                               \
    const LMK_REAL even = LMK_FMA(LMK_C(4.5) * cj, cu, base);                          \
    const LMK_REAL wo = LMK_C(w) * omega;                                              \
    g[LMK_UP(k)] = LMK_FMA(keep, g[LMK_UP(k)], wo * LMK_FMA(LMK_C(3), cj, even));      \
    g[LMK_DOWN(k)] = LMK_FMA(keep, g[LMK_DOWN(k)], wo * LMK_FMA(LMK_C(-3), cj, even)); \
  }
#endif
  LMK_PAIRS(LMK_BGK_PAIR)
#undef LMK_BGK_PAIR
#if LMK_FORCE
  g[LMK_REST] = LMK_FMA(keep, g[LMK_REST], LMK_C(LMK_W_REST) * base);
#else
  g[LMK_REST] = LMK_FMA(keep, g[LMK_REST], (LMK_C(LMK_W_REST) * omega) * base);
#endif
}
