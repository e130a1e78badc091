/* SPDX-License-Identifier: Apache-2.0 */
/* Density, velocity and second moments of one cell, from shifted populations g = f - w, and the rates a collision
 * needs. Sources: lbm-spec 1.2, 1.8, 1.9; Guo, Zheng, Shi 2002 (force). */

/* The unit populations are given in: collision is linear in it, so a text whose storage wants larger numbers (halves on
 * a device) scales populations, forces and wall terms by a power of two and loses nothing. */
#ifndef LMK_REST_DENSITY
#define LMK_REST_DENSITY 1
#endif

#define LMK_REST ((LMK_Q - 1) / 2)
#define LMK_PAIR_COUNT ((LMK_Q - 1) / 2)
#define LMK_UP(k) (LMK_REST + 1 + (k))
#define LMK_DOWN(k) (LMK_REST - 1 - (k))

/* Rates in the arithmetic type; lmk_rates (dense.h) holds them in double. */
typedef struct LMK_NAME(constants) {
  LMK_REAL omega, omega_minus, tau, les;
  LMK_REAL fx, fy, fz;
} LMK_NAME(constants);

typedef struct LMK_NAME(moments) {
  LMK_REAL drho;         /* density - 1 */
  LMK_REAL rho, inverse; /* density, 1 / density */
  LMK_REAL jx, jy, jz;   /* momentum at the half step: sum c f + F / 2 */
  LMK_REAL ux, uy, uz;
  LMK_REAL part[4];             /* partial sums of the density: everything later waits for this chain of additions */
  LMK_REAL sum[LMK_PAIR_COUNT]; /* g_up + g_down of each pair */
} LMK_NAME(moments);

/* Moments are found pair by pair, so that a traversal may load each pair when it likes: begin_moments(), add_pair() for
 * k = 0, 1, ..., end_moments(). */
LMK_INLINE void LMK_NAME(begin_moments)(LMK_REAL rest, LMK_NAME(moments) * m)
{
  m->part[0] = rest;
  m->part[1] = m->part[2] = m->part[3] = LMK_EMPTY_SUM;
  m->jx = m->jy = m->jz = LMK_EMPTY_SUM;
}

LMK_INLINE void LMK_NAME(add_pair)(LMK_NAME(moments) * m, int k, int cx, int cy, int cz, LMK_REAL up, LMK_REAL down)
{
  const LMK_REAL difference = up - down;
  m->sum[k] = up + down;
  m->part[k & 3] = m->part[k & 3] + m->sum[k];
  m->jx = LMK_ADD_C(cx, m->jx, difference);
  m->jy = LMK_ADD_C(cy, m->jy, difference);
  m->jz = LMK_ADD_C(cz, m->jz, difference);
}

LMK_INLINE void LMK_NAME(end_moments)(const LMK_NAME(constants) * constants, LMK_NAME(moments) * m)
{
  m->drho = (m->part[0] + m->part[1]) + (m->part[2] + m->part[3]);
  m->rho = LMK_C(LMK_REST_DENSITY) + m->drho;
  m->inverse = LMK_C(1) / m->rho;
#if LMK_FORCE
  m->jx = LMK_FMA(LMK_C(0.5), constants->fx, m->jx);
  m->jy = LMK_FMA(LMK_C(0.5), constants->fy, m->jy);
  m->jz = LMK_FMA(LMK_C(0.5), constants->fz, m->jz);
#else
  (void)constants;
#endif
  m->ux = m->jx * m->inverse;
  m->uy = m->jy * m->inverse;
  m->uz = m->jz * m->inverse;
}

/* Symmetric second-order tensor. In two dimensions the y components are never read. */
typedef struct LMK_NAME(tensor) {
  LMK_REAL xx, yy, zz, xy, xz, yz;
} LMK_NAME(tensor);

/* Non-equilibrium second moment about the flow velocity: sum c_a c_b (f - feq) + (u_a F_b + u_b F_a) / 2. */
LMK_INLINE LMK_NAME(tensor) LMK_NAME(find_stress)(const LMK_NAME(moments) * m, const LMK_NAME(constants) * constants)
{
  LMK_NAME(tensor) s;
  s.xx = s.yy = s.zz = LMK_C(-1.0 / 3.0) * m->drho;
  s.xy = s.xz = s.yz = LMK_EMPTY_SUM;
#define LMK_STRESS_OF_PAIR(k, cx, cy, cz, w)      \
  s.xx = LMK_ADD_C((cx) * (cx), s.xx, m->sum[k]); \
  s.yy = LMK_ADD_C((cy) * (cy), s.yy, m->sum[k]); \
  s.zz = LMK_ADD_C((cz) * (cz), s.zz, m->sum[k]); \
  s.xy = LMK_ADD_C((cx) * (cy), s.xy, m->sum[k]); \
  s.xz = LMK_ADD_C((cx) * (cz), s.xz, m->sum[k]); \
  s.yz = LMK_ADD_C((cy) * (cz), s.yz, m->sum[k]);
  LMK_PAIRS(LMK_STRESS_OF_PAIR)
#undef LMK_STRESS_OF_PAIR
  s.xx = LMK_FMA(-m->jx, m->ux, s.xx);
  s.yy = LMK_FMA(-m->jy, m->uy, s.yy);
  s.zz = LMK_FMA(-m->jz, m->uz, s.zz);
  s.xy = LMK_FMA(-m->jx, m->uy, s.xy);
  s.xz = LMK_FMA(-m->jx, m->uz, s.xz);
  s.yz = LMK_FMA(-m->jy, m->uz, s.yz);
#if LMK_FORCE
  s.xx = LMK_FMA(m->ux, constants->fx, s.xx);
  s.yy = LMK_FMA(m->uy, constants->fy, s.yy);
  s.zz = LMK_FMA(m->uz, constants->fz, s.zz);
  s.xy = LMK_FMA(LMK_C(0.5), LMK_FMA(m->ux, constants->fy, m->uy * constants->fx), s.xy);
  s.xz = LMK_FMA(LMK_C(0.5), LMK_FMA(m->ux, constants->fz, m->uz * constants->fx), s.xz);
  s.yz = LMK_FMA(LMK_C(0.5), LMK_FMA(m->uy, constants->fz, m->uz * constants->fy), s.yz);
#else
  (void)constants;
#endif
  return s;
}
