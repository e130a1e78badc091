/* SPDX-License-Identifier: Apache-2.0 */
/* Two relaxation rates, one for the even and one for the odd part of each pair (Ginzburg 2008; lbm-spec 1.4). Guo's
 * source is split alike: even part times 1 - omega+/2, odd part times 1 - omega-/2 (lbm-spec 1.9). */

/* state[0..2] = j, [3] = 1 / rho, [4] = drho - 3/2 j.u */
#define LMK_STATE 5
#define LMK_PAIRWISE 1

LMK_INLINE void LMK_NAME(prepare)(const LMK_NAME(moments) * m, const LMK_NAME(constants) * constants, LMK_REAL *state)
{
  (void)constants;
  const LMK_REAL jj = LMK_FMA(m->jz, m->jz, LMK_FMA(m->jy, m->jy, m->jx * m->jx));
  state[0] = m->jx;
  state[1] = m->jy;
  state[2] = m->jz;
  state[3] = m->inverse;
  state[4] = LMK_FMA(LMK_C(-1.5) * jj, m->inverse, m->drho);
}

/* What all pairs of a cell share. */
typedef struct LMK_NAME(relaxation) {
  LMK_REAL omega, half_plus, half_minus, base, scale;
  LMK_REAL jx, jy, jz;
  LMK_REAL fx, fy, fz, source_plus, source_minus, uf, inverse; /* with a force only */
} LMK_NAME(relaxation);

LMK_INLINE LMK_NAME(relaxation) LMK_NAME(begin)(const LMK_NAME(constants) * constants, const LMK_REAL *state)
{
  LMK_NAME(relaxation) r;
  r.omega = constants->omega;
  r.half_plus = LMK_C(0.5) * constants->omega;
  r.half_minus = LMK_C(0.5) * constants->omega_minus;
  r.base = constants->omega * state[4];
  r.scale = constants->omega * state[3];
  r.jx = state[0];
  r.jy = state[1];
  r.jz = state[2];
#if LMK_FORCE
  r.fx = constants->fx;
  r.fy = constants->fy;
  r.fz = constants->fz;
  r.source_plus = LMK_C(1) - r.half_plus;
  r.source_minus = LMK_C(1) - r.half_minus;
  r.inverse = state[3];
  r.uf = LMK_FMA(r.jz, r.fz, LMK_FMA(r.jy, r.fy, r.jx * r.fx)) * r.inverse;
#endif
  return r;
}

#if LMK_FORCE
LMK_INLINE void LMK_NAME(add_source)(const LMK_NAME(relaxation) * r, int cx, int cy, int cz, double w, LMK_REAL cj,
                                     LMK_REAL *even, LMK_REAL *odd)
{
  const LMK_REAL cf = LMK_DOT(cx, cy, cz, r->fx, r->fy, r->fz);
  const LMK_REAL bracket = LMK_FMA((LMK_C(9) * r->inverse) * cj, cf, LMK_C(-3) * r->uf);
  *even = LMK_FMA(LMK_C(w) * r->source_plus, bracket, *even);
  *odd = LMK_FMA(LMK_C(3.0 * w) * r->source_minus, cf, *odd);
}
#else
LMK_INLINE void LMK_NAME(add_source)(const LMK_NAME(relaxation) * r, int cx, int cy, int cz, double w, LMK_REAL cj,
                                     LMK_REAL *even, LMK_REAL *odd)
{
  (void)r, (void)cx, (void)cy, (void)cz, (void)w, (void)cj, (void)even, (void)odd;
}
#endif

LMK_INLINE void LMK_NAME(finish_pair)(const LMK_NAME(relaxation) * r, int cx, int cy, int cz, double w, LMK_REAL *up,
                                      LMK_REAL *down)
{
  const LMK_REAL sum = *up + *down, difference = *up - *down;
  const LMK_REAL cj = LMK_DOT(cx, cy, cz, r->jx, r->jy, r->jz);
  const LMK_REAL target = LMK_FMA((LMK_C(4.5 * w) * r->scale) * cj, cj, LMK_C(w) * r->base);
  LMK_REAL even = LMK_FMA(r->half_plus, -sum, target);
  LMK_REAL odd = LMK_FMA(r->half_minus, -difference, (LMK_C(6.0 * w) * r->half_minus) * cj);
  LMK_NAME(add_source)(r, cx, cy, cz, w, cj, &even, &odd);
  *up = *up + (even + odd);
  *down = *down + (even - odd);
}

LMK_INLINE LMK_REAL LMK_NAME(finish_rest)(const LMK_NAME(relaxation) * r, LMK_REAL rest)
{
  LMK_REAL change = LMK_FMA(LMK_C(LMK_W_REST), r->base, -(r->omega * rest));
#if LMK_FORCE
  change = LMK_FMA(LMK_C(-3.0 * LMK_W_REST) * r->source_plus, r->uf, change);
#endif
  return rest + change;
}
