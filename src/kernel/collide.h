/* SPDX-License-Identifier: Apache-2.0 */
/* Both halves of a collision for one cell; include it after a collide_*.h. */

#if LMK_PAIRWISE
LMK_INLINE void LMK_NAME(finish)(LMK_REAL g[LMK_Q], const LMK_NAME(constants) * constants, const LMK_REAL *state)
{
  const LMK_NAME(relaxation) r = LMK_NAME(begin)(constants, state);
#define LMK_FINISH_PAIR(k, cx, cy, cz, w) LMK_NAME(finish_pair)(&r, cx, cy, cz, w, &g[LMK_UP(k)], &g[LMK_DOWN(k)]);
  LMK_PAIRS(LMK_FINISH_PAIR)
#undef LMK_FINISH_PAIR
  g[LMK_REST] = LMK_NAME(finish_rest)(&r, g[LMK_REST]);
}
#else
LMK_INLINE void LMK_NAME(finish)(LMK_REAL g[LMK_Q], const LMK_NAME(constants) * constants, const LMK_REAL *state)
{
  LMK_NAME(finish_whole)(g, constants, state);
}
#endif

/* Shifted populations from before to after collision; returns density - 1. */
LMK_INLINE LMK_REAL LMK_NAME(collide)(LMK_REAL g[LMK_Q], const LMK_NAME(constants) * constants)
{
  LMK_NAME(moments) m;
  LMK_REAL state[LMK_STATE];
  LMK_NAME(begin_moments)(g[LMK_REST], &m);
#define LMK_ADD_PAIR(k, cx, cy, cz, w) LMK_NAME(add_pair)(&m, (k), (cx), (cy), (cz), g[LMK_UP(k)], g[LMK_DOWN(k)]);
  LMK_PAIRS(LMK_ADD_PAIR)
#undef LMK_ADD_PAIR
  LMK_NAME(end_moments)(constants, &m);
  LMK_NAME(prepare)(&m, constants, state);
  LMK_NAME(finish)(g, constants, state);
  return m.drho;
}
