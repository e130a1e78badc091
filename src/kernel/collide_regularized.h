/* SPDX-License-Identifier: Apache-2.0 */
/* Regularized BGK: only density, momentum and second moment of the populations survive (Latt and Chopard 2006;
 * lbm-spec 1.5):
 *   g* = w [drho + 3 c.(j + F/2) + 9/2 (c c - 1/3) : M],  M = j u + (1 - omega) Pi + (u F + F u) / 2
 * where Pi is already taken about the flow velocity (find_stress), so that the force keeps its full first moment. */

/* state[0..2] = j + F/2, [3..8] = xx, yy, zz, 2 xy, 2 xz, 2 yz of M, [9] = drho - 3/2 trace of M */
#define LMK_STATE 10
#define LMK_PAIRWISE 1

LMK_INLINE void LMK_NAME(prepare)(const LMK_NAME(moments) * m, const LMK_NAME(constants) * constants, LMK_REAL *state)
{
  const LMK_NAME(tensor) s = LMK_NAME(find_stress)(m, constants);
  const LMK_REAL keep = LMK_C(1) - constants->omega;
  LMK_REAL jx = m->jx, jy = m->jy, jz = m->jz;
  LMK_REAL xx = LMK_FMA(keep, s.xx, m->jx * m->ux), yy = LMK_FMA(keep, s.yy, m->jy * m->uy);
  LMK_REAL zz = LMK_FMA(keep, s.zz, m->jz * m->uz), xy = LMK_FMA(keep, s.xy, m->jx * m->uy);
  LMK_REAL xz = LMK_FMA(keep, s.xz, m->jx * m->uz), yz = LMK_FMA(keep, s.yz, m->jy * m->uz);
#if LMK_FORCE
  const LMK_REAL hx = LMK_C(0.5) * constants->fx, hy = LMK_C(0.5) * constants->fy, hz = LMK_C(0.5) * constants->fz;
  jx = jx + hx;
  jy = jy + hy;
  jz = jz + hz;
  xx = LMK_FMA(LMK_C(2) * m->ux, hx, xx);
  yy = LMK_FMA(LMK_C(2) * m->uy, hy, yy);
  zz = LMK_FMA(LMK_C(2) * m->uz, hz, zz);
  xy = LMK_FMA(m->ux, hy, LMK_FMA(m->uy, hx, xy));
  xz = LMK_FMA(m->ux, hz, LMK_FMA(m->uz, hx, xz));
  yz = LMK_FMA(m->uy, hz, LMK_FMA(m->uz, hy, yz));
#endif
#if LMK_HAS_Y
  const LMK_REAL trace = xx + yy + zz;
#else
  const LMK_REAL trace = xx + zz;
#endif
  state[0] = jx;
  state[1] = jy;
  state[2] = jz;
  state[3] = xx;
  state[4] = yy;
  state[5] = zz;
  state[6] = xy + xy;
  state[7] = xz + xz;
  state[8] = yz + yz;
  state[9] = LMK_FMA(LMK_C(-1.5), trace, m->drho);
}

/* What all pairs of a cell share: the state as it is. */
typedef struct LMK_NAME(relaxation) {
  const LMK_REAL *state;
} LMK_NAME(relaxation);

LMK_INLINE LMK_NAME(relaxation) LMK_NAME(begin)(const LMK_NAME(constants) * constants, const LMK_REAL *state)
{
  (void)constants;
  LMK_NAME(relaxation) r;
  r.state = state;
  return r;
}

/* The incoming populations do not matter any more. */
LMK_INLINE void LMK_NAME(finish_pair)(const LMK_NAME(relaxation) * r, int cx, int cy, int cz, double w, LMK_REAL *up,
                                      LMK_REAL *down)
{
  const LMK_REAL *s = r->state;
  const LMK_REAL cj = LMK_DOT(cx, cy, cz, s[0], s[1], s[2]);
  const LMK_REAL diagonal = LMK_DOT(cx * cx, cy * cy, cz * cz, s[3], s[4], s[5]);
  const LMK_REAL with_xy = LMK_ADD_C(cx * cy, diagonal, s[6]);
  const LMK_REAL with_xz = LMK_ADD_C(cx * cz, with_xy, s[7]);
  const LMK_REAL ccm = LMK_ADD_C(cy * cz, with_xz, s[8]);
  const LMK_REAL even = LMK_FMA(LMK_C(4.5 * w), ccm, LMK_C(w) * s[9]);
  *up = LMK_FMA(LMK_C(3.0 * w), cj, even);
  *down = LMK_FMA(LMK_C(3.0 * w), -cj, even);
}

LMK_INLINE LMK_REAL LMK_NAME(finish_rest)(const LMK_NAME(relaxation) * r, LMK_REAL rest)
{
  (void)rest;
  return LMK_C(LMK_W_REST) * r->state[9];
}
