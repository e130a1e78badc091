/* SPDX-License-Identifier: Apache-2.0 */
/* BGK on shifted populations: g* = (1 - omega) g + omega (feq - w) + S, in pairs. The second-order equilibrium is
 *   feq - w = w [drho - 3/2 j.u + 3 c.j + 9/2 (c.j)(c.u)]
 * and Guo's source S = (1 - omega/2) w [3 (c - u) + 9 (c.u) c].F. With H = omega j + (1 - omega/2) F and
 * G = H + (1 - omega/2) F both go into one expression (lbm-spec 1.3, 1.9). omega is an argument of its own because the
 * subgrid model changes it from cell to cell.
 *
 * Weights are folded into the few factors that all pairs of a weight share: six multiplications a pair are left, as
 * many as there are additions, and both kinds of pipes are kept busy. */

/* state[0..2] = j, [3] = 1 / rho, [4] = drho - 3/2 j.u */
enum { LMK_NAME(BGK_STATE) = 5 };

LMK_INLINE void LMK_NAME(keep_bgk_state)(const LMK_NAME(moments) * m, LMK_REAL *state)
{
  const LMK_REAL jj = LMK_FMA(m->jz, m->jz, LMK_FMA(m->jy, m->jy, m->jx * m->jx));
  state[0] = m->jx;
  state[1] = m->jy;
  state[2] = m->jz;
  state[3] = m->inverse;
  state[4] = LMK_FMA(LMK_C(-1.5) * jj, m->inverse, m->drho);
}

/* What all pairs of a cell share. */
typedef struct LMK_NAME(relaxation) {
  LMK_REAL omega, keep, base, scale;
  LMK_REAL jx, jy, jz;
  LMK_REAL gx, gy, gz, hx, hy, hz; /* with a force only */
} LMK_NAME(relaxation);

#if LMK_FORCE
LMK_INLINE LMK_NAME(relaxation)
  LMK_NAME(begin_bgk)(const LMK_NAME(constants) * constants, const LMK_REAL *state, LMK_REAL omega)
{
  LMK_NAME(relaxation) r;
  const LMK_REAL source = LMK_FMA(LMK_C(-0.5), omega, LMK_C(1));
  r.omega = omega;
  r.keep = LMK_C(1) - omega;
  r.scale = state[3];
  r.jx = state[0];
  r.jy = state[1];
  r.jz = state[2];
  const LMK_REAL jf = LMK_FMA(r.jz, constants->fz, LMK_FMA(r.jy, constants->fy, r.jx * constants->fx));
  r.base = LMK_FMA(LMK_C(-3) * source, jf * state[3], omega * state[4]);
  r.hx = LMK_FMA(source, constants->fx, omega * r.jx);
  r.hy = LMK_FMA(source, constants->fy, omega * r.jy);
  r.hz = LMK_FMA(source, constants->fz, omega * r.jz);
  r.gx = LMK_FMA(source, constants->fx, r.hx);
  r.gy = LMK_FMA(source, constants->fy, r.hy);
  r.gz = LMK_FMA(source, constants->fz, r.hz);
  return r;
}

LMK_INLINE void LMK_NAME(relax_pair_bgk)(const LMK_NAME(relaxation) * r, int cx, int cy, int cz, double w, LMK_REAL *up,
                                         LMK_REAL *down)
{
  const LMK_REAL cj = LMK_DOT(cx, cy, cz, r->jx, r->jy, r->jz);
  const LMK_REAL cg = LMK_DOT(cx, cy, cz, r->gx, r->gy, r->gz);
  const LMK_REAL ch = LMK_DOT(cx, cy, cz, r->hx, r->hy, r->hz);
  const LMK_REAL even = LMK_FMA((LMK_C(4.5 * w) * r->scale) * cg, cj, LMK_C(w) * r->base);
  *up = LMK_FMA(r->keep, *up, LMK_FMA(LMK_C(3.0 * w), ch, even));
  *down = LMK_FMA(r->keep, *down, LMK_FMA(LMK_C(3.0 * w), -ch, even));
}
#else
LMK_INLINE LMK_NAME(relaxation)
  LMK_NAME(begin_bgk)(const LMK_NAME(constants) * constants, const LMK_REAL *state, LMK_REAL omega)
{
  (void)constants;
  LMK_NAME(relaxation) r;
  r.omega = omega;
  r.keep = LMK_C(1) - omega;
  r.base = omega * state[4];
  r.scale = omega * state[3];
  r.jx = state[0];
  r.jy = state[1];
  r.jz = state[2];
  return r;
}

LMK_INLINE void LMK_NAME(relax_pair_bgk)(const LMK_NAME(relaxation) * r, int cx, int cy, int cz, double w, LMK_REAL *up,
                                         LMK_REAL *down)
{
  const LMK_REAL cj = LMK_DOT(cx, cy, cz, r->jx, r->jy, r->jz);
  const LMK_REAL even = LMK_FMA((LMK_C(4.5 * w) * r->scale) * cj, cj, LMK_C(w) * r->base);
  const LMK_REAL odd = LMK_C(3.0 * w) * r->omega;
  *up = LMK_FMA(r->keep, *up, LMK_FMA(odd, cj, even));
  *down = LMK_FMA(r->keep, *down, LMK_FMA(odd, -cj, even));
}
#endif

LMK_INLINE LMK_REAL LMK_NAME(relax_rest_bgk)(const LMK_NAME(relaxation) * r, LMK_REAL rest)
{
  return LMK_FMA(r->keep, rest, LMK_C(LMK_W_REST) * r->base);
}
