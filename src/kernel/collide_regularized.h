/* SPDX-License-Identifier: Apache-2.0 */
/* Regularized BGK: only density, momentum and second moment of the populations survive (Latt and Chopard 2006;
 * lbm-spec 1.5): g* = w [drho + 3 c.(j + F/2) + 9/2 (c c - 1/3) : M],  M = j u + (1 - omega) Pi + (u F + F u) / 2 where
 * Pi is already taken about the flow velocity (find_stress), so that the force keeps its full first moment. */

LMK_INLINE LMK_REAL LMK_NAME(collide)(LMK_REAL g[LMK_Q], const LMK_NAME(constants) * constants)
{
  LMK_NAME(moments) m;
  LMK_NAME(find_moments)(g, constants, &m);
  const LMK_NAME(tensor) s = LMK_NAME(find_stress)(&m, constants);
  const LMK_REAL keep = LMK_C(1) - constants->omega;
  LMK_REAL jx = m.jx, jy = m.jy, jz = m.jz;
  LMK_REAL xx = LMK_FMA(keep, s.xx, m.jx * m.ux), yy = LMK_FMA(keep, s.yy, m.jy * m.uy);
  LMK_REAL zz = LMK_FMA(keep, s.zz, m.jz * m.uz), xy = LMK_FMA(keep, s.xy, m.jx * m.uy);
  LMK_REAL xz = LMK_FMA(keep, s.xz, m.jx * m.uz), yz = LMK_FMA(keep, s.yz, m.jy * m.uz);
#if LMK_FORCE
  const LMK_REAL hx = LMK_C(0.5) * constants->fx, hy = LMK_C(0.5) * constants->fy, hz = LMK_C(0.5) * constants->fz;
  jx = jx + hx;
  jy = jy + hy;
  jz = jz + hz;
  xx = LMK_FMA(LMK_C(2) * m.ux, hx, xx);
  yy = LMK_FMA(LMK_C(2) * m.uy, hy, yy);
  zz = LMK_FMA(LMK_C(2) * m.uz, hz, zz);
  xy = LMK_FMA(m.ux, hy, LMK_FMA(m.uy, hx, xy));
  xz = LMK_FMA(m.ux, hz, LMK_FMA(m.uz, hx, xz));
  yz = LMK_FMA(m.uy, hz, LMK_FMA(m.uz, hy, yz));
#endif
#if LMK_HAS_Y
  const LMK_REAL trace = xx + yy + zz;
#else
  const LMK_REAL trace = xx + zz;
#endif
  const LMK_REAL base = LMK_FMA(LMK_C(-1.5), trace, m.drho);
  const LMK_REAL xy2 = xy + xy, xz2 = xz + xz, yz2 = yz + yz;
#define LMK_REGULARIZED_PAIR(k, cx, cy, cz, w)                                                         \
  {                                                                                                    \
    const LMK_REAL cj = LMK_DOT(cx, cy, cz, jx, jy, jz);                                               \
    const LMK_REAL diagonal = LMK_DOT((cx) * (cx), (cy) * (cy), (cz) * (cz), xx, yy, zz);              \
    const LMK_REAL ccm =                                                                               \
      LMK_ADD_C((cy) * (cz), LMK_ADD_C((cx) * (cz), LMK_ADD_C((cx) * (cy), diagonal, xy2), xz2), yz2); \
    const LMK_REAL even = LMK_FMA(LMK_C(4.5), ccm, base);                                              \
    g[LMK_UP(k)] = LMK_C(w) * LMK_FMA(LMK_C(3), cj, even);                                             \
    g[LMK_DOWN(k)] = LMK_C(w) * LMK_FMA(LMK_C(-3), cj, even);                                          \
  }
  LMK_PAIRS(LMK_REGULARIZED_PAIR)
#undef LMK_REGULARIZED_PAIR
  g[LMK_REST] = LMK_C(LMK_W_REST) * base;
  return m.drho;
}
