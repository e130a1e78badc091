/* SPDX-License-Identifier: Apache-2.0 */
/* Boundaries of one cell, on its shifted populations g = f - w before collision. LMK_REAL is a scalar here, also where
 * the rest of a text works on vectors.
 *
 * Open faces act on the outermost cells; n is the normal into the fluid, known at run time. Populations with c.n > 0
 * are unknown. With s = sum_{c.n=0} g + 2 sum_{c.n<0} g and the bare momentum j = rho u - F/2, velocity: rho - 1 = (s +
 * u.n - F.n/2) / (1 - u.n);   pressure: j.n = (rho - 1) - s (the weights drop out of s because they sum to 1). Then the
 * unknown ones follow from their opposites, g_q = g_opposite + 6 w c.j, and either all populations are rebuilt from
 * density, momentum and second moment (regularized; Latt et al. 2008), or a correction -36 w c_t N_t, N_t =
 * (sum_{c.n=0} c_t g)/2 - j_t/3, sets the tangential momentum (Zou and He 1997, in three dimensions Hecht and Harting
 * 2010). Both leave exactly the density and momentum asked for (docs/theory/boundaries.md).
 *
 * LMK_BOUNDARY_3Q 1 keeps equilibria and rebuilt populations in arrays, as arXiv 2503.07898 counts its 3Q registers;
 * the default rebuilds from ten numbers. Both give the same populations to round-off. */

#ifndef LMK_BOUNDARY_3Q
#define LMK_BOUNDARY_3Q 0
#endif

#define LMK_REST ((LMK_Q - 1) / 2)
#define LMK_UP(k) (LMK_REST + 1 + (k))
#define LMK_DOWN(k) (LMK_REST - 1 - (k))

/* c.n of a lattice row. */
#define LMK_ALONG(f, cx, cy, cz) ((f)->inward * ((f)->axis == 0 ? (cx) : (f)->axis == 1 ? (cy) : (cz)))

/* ---- velocity and pressure ---- */

/* Twice what is known of the even part of the populations normal to the face, see s above. */
LMK_INLINE LMK_REAL LMK_NAME(known_sum)(const LMK_REAL g[LMK_Q], const lmk_open_face *f)
{
  LMK_REAL sum = g[LMK_REST];
#define LMK_KNOWN_OF_PAIR(k, cx, cy, cz, w)                          \
  {                                                                  \
    const int along = LMK_ALONG(f, cx, cy, cz);                      \
    const LMK_REAL low = along > 0 ? g[LMK_DOWN(k)] : g[LMK_UP(k)];  \
    const LMK_REAL high = along < 0 ? g[LMK_UP(k)] : g[LMK_DOWN(k)]; \
    sum = sum + (low + high);                                        \
  }
  LMK_PAIRS(LMK_KNOWN_OF_PAIR)
#undef LMK_KNOWN_OF_PAIR
  return sum;
}

/* The state a face asks for: density - 1, bare momentum, velocity. */
typedef struct LMK_NAME(face_state) {
  LMK_REAL drho, rho;
  LMK_REAL j[3], u[3];
} LMK_NAME(face_state);

LMK_INLINE LMK_NAME(face_state) LMK_NAME(find_face_state)(LMK_REAL sum, const lmk_open_face *f, LMK_REAL excess,
                                                          const LMK_REAL velocity[3], const double force[3])
{
  LMK_NAME(face_state) s;
  const LMK_REAL inward = f->inward > 0 ? LMK_C(1) : LMK_C(-1), scale = (LMK_REAL)f->scale;
  LMK_REAL half[3];
  LMK_UNROLL
  for (int a = 0; a < 3; a++) {
    half[a] = LMK_C(0.5) * (LMK_REAL)force[a];
    s.u[a] = scale * velocity[a];
  }
  const LMK_REAL half_normal = inward * (f->axis == 0 ? half[0] : f->axis == 1 ? half[1] : half[2]);
  if (f->kind == LMK_OPEN_VELOCITY) {
    const LMK_REAL normal = inward * (f->axis == 0 ? s.u[0] : f->axis == 1 ? s.u[1] : s.u[2]);
    s.drho = (sum + normal - half_normal) / (LMK_C(1) - normal);
    s.rho = LMK_C(1) + s.drho;
  } else {
    s.drho = excess;
    s.rho = LMK_C(1) + s.drho;
    const LMK_REAL normal = inward * ((s.drho - sum) + half_normal) / s.rho;
    LMK_UNROLL
    for (int a = 0; a < 3; a++)
      s.u[a] = f->axis == a ? normal : s.u[a];
  }
  LMK_UNROLL
  for (int a = 0; a < 3; a++)
    s.j[a] = LMK_FMA(s.rho, s.u[a], -half[a]);
  return s;
}

/* Unknown populations from their opposites: the non-equilibrium part bounces back. */
LMK_INLINE void LMK_NAME(fill_from_opposites)(LMK_REAL g[LMK_Q], const lmk_open_face *f,
                                              const LMK_NAME(face_state) * s){
#define LMK_FILL_PAIR(k, cx, cy, cz, w)                                 \
  {                                                                     \
    const int along = LMK_ALONG(f, cx, cy, cz);                         \
    const LMK_REAL cj = LMK_DOT(cx, cy, cz, s->j[0], s->j[1], s->j[2]); \
    const LMK_REAL up = LMK_FMA(LMK_C(6.0 * (w)), cj, g[LMK_DOWN(k)]);  \
    const LMK_REAL down = LMK_FMA(LMK_C(-6.0 * (w)), cj, g[LMK_UP(k)]); \
    g[LMK_UP(k)] = along > 0 ? up : g[LMK_UP(k)];                       \
    g[LMK_DOWN(k)] = along < 0 ? down : g[LMK_DOWN(k)];                 \
  }
  LMK_PAIRS(LMK_FILL_PAIR)
#undef LMK_FILL_PAIR
}

/* Momentum along the face of the populations that move along it. */
LMK_INLINE void LMK_NAME(sum_tangential)(const LMK_REAL g[LMK_Q], const lmk_open_face *f, LMK_REAL n[3])
{
  n[0] = n[1] = n[2] = LMK_EMPTY_SUM;
#define LMK_SUM_TANGENTIAL(k, cx, cy, cz, w)                                                              \
  {                                                                                                       \
    const LMK_REAL difference = LMK_ALONG(f, cx, cy, cz) == 0 ? g[LMK_UP(k)] - g[LMK_DOWN(k)] : LMK_C(0); \
    n[0] = LMK_ADD_C(cx, n[0], difference);                                                               \
    n[1] = LMK_ADD_C(cy, n[1], difference);                                                               \
    n[2] = LMK_ADD_C(cz, n[2], difference);                                                               \
  }
  LMK_PAIRS(LMK_SUM_TANGENTIAL)
#undef LMK_SUM_TANGENTIAL
}

LMK_INLINE void LMK_NAME(correct_tangential)(LMK_REAL g[LMK_Q], const lmk_open_face *f, const LMK_NAME(face_state) * s)
{
  LMK_REAL n[3];
  LMK_NAME(sum_tangential)(g, f, n);
  LMK_UNROLL
  for (int a = 0; a < 3; a++)
    n[a] = f->axis == a ? LMK_C(0) : LMK_FMA(LMK_C(-1.0 / 3.0), s->j[a], LMK_C(0.5) * n[a]);
#define LMK_CORRECT_PAIR(k, cx, cy, cz, w)                                         \
  {                                                                                \
    const int along = LMK_ALONG(f, cx, cy, cz);                                    \
    const LMK_REAL cn = LMK_C(36.0 * (w)) * LMK_DOT(cx, cy, cz, n[0], n[1], n[2]); \
    g[LMK_UP(k)] = along > 0 ? g[LMK_UP(k)] - cn : g[LMK_UP(k)];                   \
    g[LMK_DOWN(k)] = along < 0 ? g[LMK_DOWN(k)] + cn : g[LMK_DOWN(k)];             \
  }
  LMK_PAIRS(LMK_CORRECT_PAIR)
#undef LMK_CORRECT_PAIR
}

typedef struct LMK_NAME(face_tensor) {
  LMK_REAL xx, yy, zz, xy, xz, yz;
} LMK_NAME(face_tensor);

/* Symmetric second moment of populations about the state: sum c c g - (rho - 1)/3 - rho u u. */
LMK_INLINE void LMK_NAME(face_stress)(const LMK_REAL g[LMK_Q], const LMK_NAME(face_state) * s,
                                      LMK_NAME(face_tensor) * p)
{
  p->xx = p->yy = p->zz = LMK_C(-1.0 / 3.0) * s->drho;
  p->xy = p->xz = p->yz = LMK_EMPTY_SUM;
#define LMK_STRESS_OF_FACE(k, cx, cy, cz, w)             \
  {                                                      \
    const LMK_REAL both = g[LMK_UP(k)] + g[LMK_DOWN(k)]; \
    p->xx = LMK_ADD_C((cx) * (cx), p->xx, both);         \
    p->yy = LMK_ADD_C((cy) * (cy), p->yy, both);         \
    p->zz = LMK_ADD_C((cz) * (cz), p->zz, both);         \
    p->xy = LMK_ADD_C((cx) * (cy), p->xy, both);         \
    p->xz = LMK_ADD_C((cx) * (cz), p->xz, both);         \
    p->yz = LMK_ADD_C((cy) * (cz), p->yz, both);         \
  }
  LMK_PAIRS(LMK_STRESS_OF_FACE)
#undef LMK_STRESS_OF_FACE
  p->xx = LMK_FMA(-s->rho * s->u[0], s->u[0], p->xx);
  p->yy = LMK_FMA(-s->rho * s->u[1], s->u[1], p->yy);
  p->zz = LMK_FMA(-s->rho * s->u[2], s->u[2], p->zz);
  p->xy = LMK_FMA(-s->rho * s->u[0], s->u[1], p->xy);
  p->xz = LMK_FMA(-s->rho * s->u[0], s->u[2], p->xz);
  p->yz = LMK_FMA(-s->rho * s->u[1], s->u[2], p->yz);
}

/* c c : p for a row of the lattice. */
#define LMK_TWICE_DOT(cx, cy, cz, p)                                                                                  \
  LMK_FMA(                                                                                                            \
    LMK_C(2),                                                                                                         \
    LMK_ADD_C((cy) * (cz), LMK_ADD_C((cx) * (cz), LMK_ADD_C((cx) * (cy), LMK_EMPTY_SUM, (p)->xy), (p)->xz), (p)->yz), \
    LMK_DOT((cx) * (cx), (cy) * (cy), (cz) * (cz), (p)->xx, (p)->yy, (p)->zz))

/* In two dimensions there is no yy. */
#define LMK_TRACE(p) ((p)->xx + (LMK_HAS_Y ? (p)->yy : LMK_EMPTY_SUM) + (p)->zz)

#if LMK_BOUNDARY_3Q
/* f, its equilibrium and the rebuilt f side by side: 3Q numbers. */
LMK_INLINE void LMK_NAME(rebuild)(LMK_REAL g[LMK_Q], const LMK_NAME(face_state) * s)
{
  LMK_REAL equilibrium[LMK_Q], rebuilt[LMK_Q];
  const LMK_REAL square = LMK_DOT(1, 1, 1, s->u[0] * s->u[0], s->u[1] * s->u[1], s->u[2] * s->u[2]);
  const LMK_REAL base = LMK_FMA(LMK_C(-1.5) * s->rho, square, s->drho);
  equilibrium[LMK_REST] = LMK_C(LMK_W_REST) * base;
#define LMK_EQUILIBRIUM_OF_PAIR(k, cx, cy, cz, w)                       \
  {                                                                     \
    const LMK_REAL cj = LMK_DOT(cx, cy, cz, s->j[0], s->j[1], s->j[2]); \
    const LMK_REAL cu = LMK_DOT(cx, cy, cz, s->u[0], s->u[1], s->u[2]); \
    const LMK_REAL even = LMK_FMA(LMK_C(4.5) * s->rho * cu, cu, base);  \
    equilibrium[LMK_UP(k)] = LMK_C(w) * LMK_FMA(LMK_C(3), cj, even);    \
    equilibrium[LMK_DOWN(k)] = LMK_C(w) * LMK_FMA(LMK_C(-3), cj, even); \
  }
  LMK_PAIRS(LMK_EQUILIBRIUM_OF_PAIR)
#undef LMK_EQUILIBRIUM_OF_PAIR
  LMK_NAME(face_tensor) p;
  LMK_REAL departure[LMK_Q];
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    departure[q] = g[q] - equilibrium[q];
  const LMK_NAME(face_state)
    none = {LMK_C(0), LMK_C(0), {LMK_C(0), LMK_C(0), LMK_C(0)}, {LMK_C(0), LMK_C(0), LMK_C(0)}};
  LMK_NAME(face_stress)(departure, &none, &p);
  const LMK_REAL third = LMK_C(-1.0 / 3.0) * LMK_TRACE(&p);
  rebuilt[LMK_REST] = LMK_FMA(LMK_C(4.5 * LMK_W_REST), third, equilibrium[LMK_REST]);
#define LMK_REBUILD_PAIR(k, cx, cy, cz, w)                                            \
  {                                                                                   \
    const LMK_REAL part = LMK_C(4.5 * (w)) * (LMK_TWICE_DOT(cx, cy, cz, &p) + third); \
    rebuilt[LMK_UP(k)] = equilibrium[LMK_UP(k)] + part;                               \
    rebuilt[LMK_DOWN(k)] = equilibrium[LMK_DOWN(k)] + part;                           \
  }
  LMK_PAIRS(LMK_REBUILD_PAIR)
#undef LMK_REBUILD_PAIR
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    g[q] = rebuilt[q];
}
#else
/* From ten numbers: j, M = rho u u + Pi (six) and rho - 1 - 3/2 trace M. */
LMK_INLINE void LMK_NAME(rebuild)(LMK_REAL g[LMK_Q], const LMK_NAME(face_state) * s)
{
  const LMK_NAME(face_state) still = {s->drho, s->rho, {s->j[0], s->j[1], s->j[2]}, {LMK_C(0), LMK_C(0), LMK_C(0)}};
  LMK_NAME(face_tensor) p;
  LMK_NAME(face_stress)(g, &still, &p);
  const LMK_REAL base = LMK_FMA(LMK_C(-1.5), LMK_TRACE(&p), s->drho);
  g[LMK_REST] = LMK_C(LMK_W_REST) * base;
#define LMK_REBUILD_PAIR(k, cx, cy, cz, w)                                                           \
  {                                                                                                  \
    const LMK_REAL cj = LMK_DOT(cx, cy, cz, s->j[0], s->j[1], s->j[2]);                              \
    const LMK_REAL even = LMK_FMA(LMK_C(4.5 * (w)), LMK_TWICE_DOT(cx, cy, cz, &p), LMK_C(w) * base); \
    g[LMK_UP(k)] = LMK_FMA(LMK_C(3.0 * (w)), cj, even);                                              \
    g[LMK_DOWN(k)] = LMK_FMA(LMK_C(-3.0 * (w)), cj, even);                                           \
  }
  LMK_PAIRS(LMK_REBUILD_PAIR)
#undef LMK_REBUILD_PAIR
}
#endif

/* The tangential twin of s: sum_{c.n=0} c_t g + 2 sum_{c.n<0} c_t g. */
LMK_INLINE void LMK_NAME(known_tangential)(const LMK_REAL g[LMK_Q], const lmk_open_face *f, LMK_REAL n[3])
{
  n[0] = n[1] = n[2] = LMK_EMPTY_SUM;
#define LMK_KNOWN_TANGENTIAL(k, cx, cy, cz, w)                                    \
  {                                                                               \
    const int along = LMK_ALONG(f, cx, cy, cz);                                   \
    const LMK_REAL low = along > 0 ? LMK_C(2) * g[LMK_DOWN(k)] : g[LMK_DOWN(k)];  \
    const LMK_REAL high = along < 0 ? LMK_C(2) * g[LMK_UP(k)] : g[LMK_UP(k)];     \
    const LMK_REAL difference = along > 0 ? -low : along < 0 ? high : high - low; \
    n[0] = LMK_ADD_C(cx, n[0], difference);                                       \
    n[1] = LMK_ADD_C(cy, n[1], difference);                                       \
    n[2] = LMK_ADD_C(cz, n[2], difference);                                       \
  }
  LMK_PAIRS(LMK_KNOWN_TANGENTIAL)
#undef LMK_KNOWN_TANGENTIAL
}

/* Density - 1 and s after collision, for the next step. */
LMK_INLINE void LMK_NAME(leave_outflow)(const LMK_REAL g[LMK_Q], const lmk_boundary *b, const lmk_open_face *f,
                                        int64_t cell, int parity)
{
  LMK_REAL drho = g[LMK_REST], normal = LMK_EMPTY_SUM;
#define LMK_ADD_PAIR(k, cx, cy, cz, w)                                                   \
  {                                                                                      \
    const int along = LMK_ALONG(f, cx, cy, cz);                                          \
    const LMK_REAL difference = g[LMK_UP(k)] - g[LMK_DOWN(k)];                           \
    drho = drho + (g[LMK_UP(k)] + g[LMK_DOWN(k)]);                                       \
    normal = along > 0 ? normal + difference : along < 0 ? normal - difference : normal; \
  }
  LMK_PAIRS(LMK_ADD_PAIR)
#undef LMK_ADD_PAIR
  const double *force = b->force;
  const LMK_REAL pushed = (LMK_REAL)(f->inward * (f->axis == 0 ? force[0] : f->axis == 1 ? force[1] : force[2]));
  LMK_REAL *records = (LMK_REAL *)b->records + parity * b->record_values;
  records[lmk_part_at(f, LMK_RECORD_EXCESS, cell)] = drho;
  records[lmk_part_at(f, LMK_RECORD_KNOWN, cell)] = drho - (normal - pushed);
}

/* Momentum into the box of a cell of an outflow after the last step; where there is none, that of the wall (0), or what
 * symmetry says (the cell's own). */
LMK_INLINE LMK_REAL LMK_NAME(outflow_momentum)(const LMK_REAL *records, const lmk_open_face *f, int64_t cell)
{
  return records[lmk_part_at(f, LMK_RECORD_EXCESS, cell)] - records[lmk_part_at(f, LMK_RECORD_KNOWN, cell)];
}

/* Derivative of that momentum along i or j: central, or through the wall half a cell away. */
LMK_INLINE LMK_REAL LMK_NAME(outflow_slope)(const LMK_REAL *records, const lmk_open_face *f, const lmk_special *at,
                                            int along_j)
{
  const int di = along_j ? 0 : 1, dj = along_j ? 1 : 0;
  const int low_bit = along_j ? LMK_WALL_J_LOW : LMK_WALL_I_LOW, high_bit = along_j ? LMK_WALL_J_HIGH : LMK_WALL_I_HIGH;
  const int low_wall = (int)(at->bounce >> low_bit & 1u), high_wall = (int)(at->bounce >> high_bit & 1u);
  const int64_t low_cell = lmk_face_cell(f, at->i - di, at->j - dj);
  const int64_t high_cell = lmk_face_cell(f, at->i + di, at->j + dj);
  const LMK_REAL own = LMK_NAME(outflow_momentum)(records, f, at->i + (int64_t)f->cells[0] * at->j);
  if (low_wall && high_wall)
    return LMK_C(0);
  const LMK_REAL low = low_wall || low_cell < 0 ? own : LMK_NAME(outflow_momentum)(records, f, low_cell);
  const LMK_REAL high = high_wall || high_cell < 0 ? own : LMK_NAME(outflow_momentum)(records, f, high_cell);
  if (low_wall)
    return LMK_C(1.0 / 3.0) * LMK_FMA(LMK_C(3), own, high);
  if (high_wall)
    return LMK_C(-1.0 / 3.0) * LMK_FMA(LMK_C(3), own, low);
  return LMK_C(0.5) * (high - low);
}

/* State of an outflow. Density: a free end. Where s grows in a step, it grows by 1 / (1 + cs) of that, as in a sound
 * wave that goes on; what is not alike all over the face, eddies, is drawn to the mean of the face within some twenty
 * steps. Velocity along the face: the one whose derivative across the face vanishes; the stress is then that of the
 * normal velocity's slope. (docs/theory/boundaries.md) */
LMK_INLINE LMK_REAL LMK_NAME(find_outflow)(const LMK_REAL g[LMK_Q], LMK_REAL sum, const lmk_boundary *b,
                                           const lmk_special *at, int parity, LMK_REAL velocity[3])
{
  const lmk_open_face *f = &b->faces[at->face];
  const LMK_REAL *records = (const LMK_REAL *)b->records + (1 - parity) * b->record_values;
  const int64_t cell = at->i + (int64_t)f->cells[0] * at->j;
  const LMK_REAL own = records[lmk_part_at(f, LMK_RECORD_EXCESS, cell)];
  const LMK_REAL last = records[lmk_part_at(f, LMK_RECORD_KNOWN, cell)];
  const LMK_REAL drawn = LMK_FMA(LMK_C(LMK_OUTFLOW_DRAW), (LMK_REAL)f->excess - own, own);
  const LMK_REAL excess = LMK_FMA(LMK_C(0.63397459621556135), sum - last, drawn);
  const LMK_REAL outward = sum - excess, rho = LMK_C(1) + excess;
  if (!(outward > LMK_C(0))) /* where the flow turns back it comes in straight */
    return excess;
  const LMK_REAL viscous = (LMK_REAL)(-1.0 / (3.0 * b->omega)), share = LMK_C(1) / (rho + outward);
  LMK_REAL n[3];
  LMK_NAME(known_tangential)(g, f, n);
  const LMK_REAL first = viscous * LMK_NAME(outflow_slope)(records, f, at, 0);
  const LMK_REAL second = viscous * LMK_NAME(outflow_slope)(records, f, at, 1);
  velocity[0] = f->axis == 0 ? LMK_C(0) : share * (n[0] + first);
  velocity[1] = f->axis == 1 ? LMK_C(0) : share * (n[1] + (f->axis == 0 ? first : second));
  velocity[2] = f->axis == 2 ? LMK_C(0) : share * (n[2] + second);
  return excess;
}

LMK_INLINE void LMK_NAME(meet_state)(LMK_REAL g[LMK_Q], const lmk_boundary *b, const lmk_special *at, int64_t item,
                                     int parity)
{
  const lmk_open_face *f = &b->faces[at->face];
  const LMK_REAL *given = (const LMK_REAL *)b->velocity + 3 * item;
  LMK_REAL velocity[3] = {given[0], given[1], given[2]}, excess = (LMK_REAL)f->excess;
  const LMK_REAL sum = LMK_NAME(known_sum)(g, f);
  if (f->kind == LMK_OPEN_OUTFLOW)
    excess = LMK_NAME(find_outflow)(g, sum, b, at, parity, velocity);
  const LMK_NAME(face_state) s = LMK_NAME(find_face_state)(sum, f, excess, velocity, b->force);
  LMK_NAME(fill_from_opposites)(g, f, &s);
  if (f->method == LMK_METHOD_ZOU_HE)
    LMK_NAME(correct_tangential)(g, f, &s);
  else
    LMK_NAME(rebuild)(g, &s);
}

/* ---- slip: what neighbours on the face left ---- */

LMK_INLINE LMK_REAL LMK_NAME(recorded)(const LMK_REAL *records, const lmk_open_face *f, const lmk_special *at, int cx,
                                       int cy, int cz, int q, LMK_REAL bounced)
{
  const int first = lmk_first_part(f->axis, cx, cy), second = lmk_second_part(f->axis, cy, cz);
  const int64_t cell = lmk_face_cell(f, at->i - first, at->j - second);
  if (cell < 0 || (at->bounce >> q & 1u) != 0)
    return bounced;
  return records[lmk_record_at(f, first, second, cell)];
}

/* Unknown populations are those that left through the face with their normal part turned round; they lie with the cell
 * that is upstream along the face. */
LMK_INLINE void LMK_NAME(meet_records)(LMK_REAL g[LMK_Q], const lmk_boundary *b, const lmk_special *at, int parity)
{
  const lmk_open_face *f = &b->faces[at->face];
  const LMK_REAL *records = (const LMK_REAL *)b->records + (1 - parity) * b->record_values;
#define LMK_TAKE_PAIR(k, cx, cy, cz, w)                                                                      \
  {                                                                                                          \
    const int along = LMK_ALONG(f, cx, cy, cz);                                                              \
    if (along > 0)                                                                                           \
      g[LMK_UP(k)] = LMK_NAME(recorded)(records, f, at, cx, cy, cz, LMK_UP(k), g[LMK_UP(k)]);                \
    if (along < 0)                                                                                           \
      g[LMK_DOWN(k)] = LMK_NAME(recorded)(records, f, at, -(cx), -(cy), -(cz), LMK_DOWN(k), g[LMK_DOWN(k)]); \
  }
  LMK_PAIRS(LMK_TAKE_PAIR)
#undef LMK_TAKE_PAIR
}

/* Populations that leave through the face, after collision, for the next step. */
LMK_INLINE void LMK_NAME(leave_records)(const LMK_REAL g[LMK_Q], const lmk_boundary *b, const lmk_open_face *f,
                                        int64_t cell, int parity)
{
  LMK_REAL *records = (LMK_REAL *)b->records + parity * b->record_values;
#define LMK_LEAVE_PAIR(k, cx, cy, cz, w)                                                 \
  {                                                                                      \
    const int along = LMK_ALONG(f, cx, cy, cz), first = lmk_first_part(f->axis, cx, cy); \
    const int second = lmk_second_part(f->axis, cy, cz);                                 \
    if (along < 0)                                                                       \
      records[lmk_record_at(f, first, second, cell)] = g[LMK_UP(k)];                     \
    if (along > 0)                                                                       \
      records[lmk_record_at(f, -first, -second, cell)] = g[LMK_DOWN(k)];                 \
  }
  LMK_PAIRS(LMK_LEAVE_PAIR)
#undef LMK_LEAVE_PAIR
}

/* ---- edges of two open faces ---- */

/* g of the velocity (cx, cy, cz): a search that folds to a constant index where the arguments are constants. */
LMK_INLINE LMK_REAL LMK_NAME(population_of)(const LMK_REAL g[LMK_Q], int x, int y, int z)
{
  LMK_REAL found = g[LMK_REST];
#define LMK_SEEK_PAIR(k, cx, cy, cz, w)                               \
  found = (cx) == x && (cy) == y && (cz) == z ? g[LMK_UP(k)] : found; \
  found = -(cx) == x && -(cy) == y && -(cz) == z ? g[LMK_DOWN(k)] : found;
  LMK_PAIRS(LMK_SEEK_PAIR)
#undef LMK_SEEK_PAIR
  return found;
}

/* The face as a plane of symmetry through the centre of the cell. */
LMK_INLINE void LMK_NAME(meet_symmetry)(LMK_REAL g[LMK_Q], const lmk_open_face *f)
{
  const int mx = f->axis == 0 ? -1 : 1, my = f->axis == 1 ? -1 : 1, mz = f->axis == 2 ? -1 : 1;
#define LMK_MIRROR_PAIR(k, cx, cy, cz, w)                                              \
  {                                                                                    \
    const int along = LMK_ALONG(f, cx, cy, cz);                                        \
    if (along > 0)                                                                     \
      g[LMK_UP(k)] = LMK_NAME(population_of)(g, mx * (cx), my * (cy), mz * (cz));      \
    if (along < 0)                                                                     \
      g[LMK_DOWN(k)] = LMK_NAME(population_of)(g, -mx * (cx), -my * (cy), -mz * (cz)); \
  }
  LMK_PAIRS(LMK_MIRROR_PAIR)
#undef LMK_MIRROR_PAIR
}

/* ---- bodies ---- */

/* Linear interpolation between the cell and the surface (Bouzidi, Firdaouss, Lallemand 2001). `bounced` is the
 * half-way value f*_i of the last step, `toward` = f_i that arrives on its way to the surface, `kept` = f*_q of the
 * last step, i opposite to q. At fraction 1/2 this is bounced + push, to the bit. */
LMK_INLINE LMK_REAL LMK_NAME(interpolate)(LMK_REAL fraction, LMK_REAL bounced, LMK_REAL toward, LMK_REAL kept,
                                          LMK_REAL push)
{
  const LMK_REAL twice = LMK_C(2) * fraction;
  if (twice == LMK_C(1))
    return bounced + push;
  if (twice < LMK_C(1))
    return LMK_FMA(twice, bounced, LMK_FMA(LMK_C(1) - twice, toward, push));
  const LMK_REAL share = LMK_C(1) / twice;
  return LMK_FMA(share, bounced + push, (LMK_C(1) - share) * kept);
}

LMK_INLINE void LMK_NAME(meet_link)(LMK_REAL *incoming, LMK_REAL toward, const lmk_boundary *b, int64_t link)
{
  const lmk_link at = b->links[link];
  const LMK_REAL bounced = *incoming;
  const LMK_REAL push = (LMK_REAL)b->motion[at.body] * ((const LMK_REAL *)b->push)[link];
  *incoming = LMK_NAME(interpolate)((LMK_REAL)at.fraction, bounced, toward, ((const LMK_REAL *)b->kept)[link], push);
  ((LMK_REAL *)b->exchange)[link] = bounced + *incoming;
}

/* Links by rising velocity: the lower half of the list backwards, then the upper half. */
LMK_INLINE void LMK_NAME(meet_links)(LMK_REAL g[LMK_Q], const lmk_boundary *b, const lmk_special *at)
{
  int64_t link = at->first_link;
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    if ((at->links >> q & 1u) != 0)
      LMK_NAME(meet_link)(&g[q], g[LMK_Q - 1 - q], b, link++);
}

LMK_INLINE void LMK_NAME(leave_links)(const LMK_REAL g[LMK_Q], const lmk_boundary *b, const lmk_special *at)
{
  int64_t link = at->first_link;
  LMK_UNROLL
  for (int q = 0; q < LMK_Q; q++)
    if ((at->links >> q & 1u) != 0)
      ((LMK_REAL *)b->kept)[link++] = g[q];
}

/* ---- both ends of a collision ---- */

/* Bodies first, then the face: the walls of a cell on the rim of an open face have bounced before it is met. */
LMK_INLINE void LMK_NAME(meet_boundary)(LMK_REAL g[LMK_Q], const lmk_boundary *b, int64_t item, int parity)
{
  const lmk_special at = b->special[item];
  if (at.links != 0)
    LMK_NAME(meet_links)(g, b, &at);
  if (at.face < 0)
    return;
  const lmk_open_face *f = &b->faces[at.face];
  if (f->kind != LMK_OPEN_SLIP) {
    if (at.mirror >= 0)
      LMK_NAME(meet_symmetry)(g, &b->faces[at.mirror]);
    LMK_NAME(meet_state)(g, b, &at, item, parity);
    return;
  }
  LMK_NAME(meet_records)(g, b, &at, parity);
  if (at.mirror >= 0)
    LMK_NAME(meet_symmetry)(g, &b->faces[at.mirror]);
}

/* What the neighbours on a face read of the cell. */
LMK_INLINE void LMK_NAME(leave_face)(const LMK_REAL g[LMK_Q], const lmk_boundary *b, const lmk_open_face *f,
                                     int64_t cell, int parity)
{
  if (f->kind == LMK_OPEN_SLIP)
    LMK_NAME(leave_records)(g, b, f, cell, parity);
  if (f->kind == LMK_OPEN_OUTFLOW)
    LMK_NAME(leave_outflow)(g, b, f, cell, parity);
}

LMK_INLINE void LMK_NAME(leave_boundary)(const LMK_REAL g[LMK_Q], const lmk_boundary *b, int64_t item, int parity)
{
  const lmk_special at = b->special[item];
  if (at.links != 0)
    LMK_NAME(leave_links)(g, b, &at);
  if (at.face < 0)
    return;
  const lmk_open_face *f = &b->faces[at.face];
  LMK_NAME(leave_face)(g, b, f, at.i + (int64_t)f->cells[0] * at.j, parity);
  if (at.mirror >= 0)
    LMK_NAME(leave_face)(g, b, &b->faces[at.mirror], lmk_rim_cell(f, &b->faces[at.mirror], at.i, at.j), parity);
}
