/* SPDX-License-Identifier: Apache-2.0 */
/* The boundary text on one cell: what a face asks for is there afterwards, to round-off, on every face of every
 * lattice, for populations that nothing has smoothed. */
#include "support/test.h"

#include <math.h>

#include "base/base.h"
#include "flow/lattice.h"
#include "kernel/prelude_host.h"

#include "kernel/naming.h"

#include "kernel/dense.h"

#include "kernel/boundary_data.h"

#define LMK_BOUNDARY_3Q 0
#define LMK_REAL double
#define LMK_SUFFIX d2q9_f64
#include "kernel/lattice_d2q9.h"

#include "boundary_texts.h"

#define LMK_BOUNDARY_3Q 0
#define LMK_REAL double
#define LMK_SUFFIX d3q19_f64
#include "kernel/lattice_d3q19.h"

#include "boundary_texts.h"

#define LMK_BOUNDARY_3Q 0
#define LMK_REAL double
#define LMK_SUFFIX d3q27_f64
#include "kernel/lattice_d3q27.h"

#include "boundary_texts.h"

#define LMK_BOUNDARY_3Q 1
#define LMK_REAL double
#define LMK_SUFFIX d2q9_f64_3q
#include "kernel/lattice_d2q9.h"

#include "boundary_texts.h"

#define LMK_BOUNDARY_3Q 1
#define LMK_REAL double
#define LMK_SUFFIX d3q19_f64_3q
#include "kernel/lattice_d3q19.h"

#include "boundary_texts.h"

#define LMK_BOUNDARY_3Q 1
#define LMK_REAL double
#define LMK_SUFFIX d3q27_f64_3q
#include "kernel/lattice_d3q27.h"

#include "boundary_texts.h"

#define LMK_BOUNDARY_3Q 0
#define LMK_REAL float
#define LMK_SUFFIX d3q19_f32
#include "kernel/lattice_d3q19.h"

#include "boundary_texts.h"

typedef struct instance {
  lamina_lattice lattice;
  void (*meet)(double *, const lmk_boundary *, int64_t, int);
  void (*leave)(const double *, const lmk_boundary *, int64_t, int);
} instance;

static const instance TEN_NUMBERS[] = {{LAMINA_D2Q9, lmk_meet_d2q9_f64, lmk_leave_d2q9_f64},
                                       {LAMINA_D3Q19, lmk_meet_d3q19_f64, lmk_leave_d3q19_f64},
                                       {LAMINA_D3Q27, lmk_meet_d3q27_f64, lmk_leave_d3q27_f64}};
static const instance THREE_Q[] = {{LAMINA_D2Q9, lmk_meet_d2q9_f64_3q, lmk_leave_d2q9_f64_3q},
                                   {LAMINA_D3Q19, lmk_meet_d3q19_f64_3q, lmk_leave_d3q19_f64_3q},
                                   {LAMINA_D3Q27, lmk_meet_d3q27_f64_3q, lmk_leave_d3q27_f64_3q}};

static uint32_t seed = 12345;

static double random_value(void)
{
  seed = seed * 1664525u + 1013904223u;
  return (double)(seed >> 8) / 16777216.0 - 0.5;
}

/* One special cell on one face, with values of its own everywhere. */
typedef struct stage {
  const lmi_lattice *lattice;
  lmk_open_face face;
  lmk_special special;
  double velocity[3], motion[1];
  double records[2 * LMK_RECORD_PARTS * 9];
  lmk_link links[27];
  double push[27], kept[27], exchange[27];
  lmk_boundary b;
} stage;

static void set_stage(stage *s, lamina_lattice lattice, int face, int kind, int method)
{
  memset(s, 0, sizeof *s);
  s->lattice = lmi_lattice_get(lattice);
  s->face = (lmk_open_face){.kind = kind,
                            .method = method,
                            .axis = face / 2,
                            .inward = face % 2 == 0 ? 1 : -1,
                            .cells = {3, 3},
                            .excess = 0.013,
                            .scale = 1.0};
  s->special = (lmk_special){.face = 0, .mirror = -1, .i = 1, .j = 1};
  for (int a = 0; a < 3; a++)
    s->velocity[a] = s->lattice->dimension == 2 && a == 1 ? 0.0 : 0.2 * random_value();
  s->motion[0] = 1.0;
  for (size_t i = 0; i < LMI_COUNT(s->records); i++)
    s->records[i] = 0.02 * random_value();
  s->b = (lmk_boundary){.faces = &s->face,
                        .special = &s->special,
                        .velocity = s->velocity,
                        .links = s->links,
                        .push = s->push,
                        .motion = s->motion,
                        .kept = s->kept,
                        .exchange = s->exchange,
                        .records = s->records,
                        .record_values = LMK_RECORD_PARTS * 9};
}

static void randomise(double g[27], int velocities)
{
  for (int q = 0; q < velocities; q++)
    g[q] = 0.02 * random_value();
}

static void sum_moments(const lmi_lattice *lattice, const double *g, double *excess, double j[3])
{
  *excess = 0;
  j[0] = j[1] = j[2] = 0;
  for (int q = 0; q < lattice->velocities; q++) {
    *excess += g[q];
    for (int a = 0; a < 3; a++)
      j[a] += lattice->c[q][a] * g[q];
  }
}

/* The faces of a lattice in the kernels' axes: none along y in two dimensions. */
static bool has_face(lamina_lattice lattice, int face)
{
  return lattice != LAMINA_D2Q9 || face / 2 != 1;
}

static void check_state(const instance *text, int face, int kind, int method, bool force)
{
  stage s;
  set_stage(&s, text->lattice, face, kind, method);
  for (int a = 0; force && a < 3; a++)
    s.b.force[a] = s.lattice->dimension == 2 && a == 1 ? 0.0 : 0.01 * random_value();
  double g[27], before[27], excess, j[3];
  randomise(g, s.lattice->velocities);
  memcpy(before, g, sizeof g);
  text->meet(g, &s.b, 0, 0);
  sum_moments(s.lattice, g, &excess, j);
  const int axis = face / 2;
  for (int a = 0; a < 3; a++) {
    const double velocity = (j[a] + 0.5 * s.b.force[a]) / (1.0 + excess);
    if (a != axis || kind == LMK_OPEN_VELOCITY)
      assert_true(fabs(velocity - s.velocity[a]) < 3e-15);
  }
  if (kind == LMK_OPEN_PRESSURE)
    assert_true(fabs(excess - 0.013) < 3e-15);
  /* Known populations decide the rest: the sum of those along the face and twice those that leave. */
  double known = 0;
  for (int q = 0; q < s.lattice->velocities; q++) {
    const int along = s.face.inward * s.lattice->c[q][axis];
    known += along == 0 ? before[q] : along < 0 ? 2.0 * before[q] : 0.0;
  }
  const double normal = s.face.inward * j[axis];
  assert_true(fabs(excess - (known + normal)) < 3e-15);
}

static void a_face_gets_its_velocity_and_pressure(void **state)
{
  (void)state;
  for (int l = 0; l < 3; l++)
    for (int face = 0; face < 6; face++)
      for (int kind = LMK_OPEN_VELOCITY; kind <= LMK_OPEN_PRESSURE; kind++)
        for (int method = 0; method < 2; method++)
          for (int force = 0; force < 2 && has_face(TEN_NUMBERS[l].lattice, face); force++)
            for (int repeat = 0; repeat < 20; repeat++) {
              check_state(&TEN_NUMBERS[l], face, kind, method, force);
              check_state(&THREE_Q[l], face, kind, method, force);
            }
}

static void ten_numbers_rebuild_what_three_q_do(void **state)
{
  (void)state;
  for (int l = 0; l < 3; l++)
    for (int face = 0; face < 6; face++)
      for (int repeat = 0; repeat < 20 && has_face(TEN_NUMBERS[l].lattice, face); repeat++) {
        stage s;
        set_stage(&s, TEN_NUMBERS[l].lattice, face, repeat % 2, LMK_METHOD_REGULARIZED);
        double few[27], many[27];
        randomise(few, s.lattice->velocities);
        memcpy(many, few, sizeof few);
        TEN_NUMBERS[l].meet(few, &s.b, 0, 0);
        THREE_Q[l].meet(many, &s.b, 0, 0);
        for (int q = 0; q < s.lattice->velocities; q++)
          assert_true(fabs(few[q] - many[q]) < 2e-16);
      }
}

/* An equilibrium plus a second-order part is what a rebuild can express: then nothing may change. */
static void what_is_regular_already_stays(void **state)
{
  (void)state;
  for (int l = 0; l < 3; l++)
    for (int face = 0; face < 6; face++)
      for (int method = 0; method < 2 && has_face(TEN_NUMBERS[l].lattice, face); method++) {
        stage s;
        set_stage(&s, TEN_NUMBERS[l].lattice, face, LMK_OPEN_VELOCITY, method);
        const double rho = 1.01;
        double pi[3][3] = {{0}}, g[27], expected[27];
        for (int a = 0; a < 3; a++)
          for (int b = 0; b <= a; b++)
            pi[a][b] = pi[b][a] = (s.lattice->dimension == 2 && (a == 1 || b == 1)) ? 0.0 : 0.01 * random_value();
        for (int q = 0; q < s.lattice->velocities; q++) {
          double cu = 0, uu = 0, cc = 0;
          for (int a = 0; a < 3; a++) {
            cu += s.lattice->c[q][a] * s.velocity[a];
            uu += s.velocity[a] * s.velocity[a];
            for (int b = 0; b < 3; b++)
              cc += (s.lattice->c[q][a] * s.lattice->c[q][b] - (a == b ? 1.0 / 3.0 : 0.0)) * pi[a][b];
          }
          expected[q] = s.lattice->weight[q] * (rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu) - 1.0 + 4.5 * cc);
          g[q] = s.face.inward * s.lattice->c[q][face / 2] > 0 ? 99.0 : expected[q];
        }
        TEN_NUMBERS[l].meet(g, &s.b, 0, 0);
        for (int q = 0; q < s.lattice->velocities; q++)
          assert_true(fabs(g[q] - expected[q]) < 3e-15);
      }
}

static void single_precision_keeps_the_shifted_digits(void **state)
{
  (void)state;
  const instance single = {LAMINA_D3Q19, lmk_meet_d3q19_f32, lmk_leave_d3q19_f32};
  for (int face = 0; face < 6; face++) {
    stage s;
    set_stage(&s, LAMINA_D3Q19, face, LMK_OPEN_VELOCITY, LMK_METHOD_REGULARIZED);
    float velocity[3];
    for (int a = 0; a < 3; a++)
      s.velocity[a] = velocity[a] = (float)(1e-3 * random_value());
    double g[27], exact[27];
    for (int q = 0; q < 19; q++)
      exact[q] = g[q] = (float)(1e-4 * random_value());
    TEN_NUMBERS[1].meet(exact, &s.b, 0, 0);
    s.b.velocity = velocity;
    single.meet(g, &s.b, 0, 0);
    for (int q = 0; q < 19; q++)
      assert_true(fabs(g[q] - exact[q]) < 1e-10);
  }
}

/* ---- outflow, slip, symmetry ---- */

static int rank_of(const lmi_lattice *lattice, const int c[3])
{
  for (int q = 0; q < lattice->velocities; q++)
    if (lattice->c[q][0] == c[0] && lattice->c[q][1] == c[1] && lattice->c[q][2] == c[2])
      return q;
  fail_msg("(%d, %d, %d) is no velocity", c[0], c[1], c[2]);
  return -1;
}

/* Nine cells of a face leave their populations; the one in the middle must find, for a velocity into the box, what the
 * cell upstream along the face sent out with the normal part turned round. */
static void check_slip(const instance *text, int face)
{
  stage s;
  set_stage(&s, text->lattice, face, LMK_OPEN_SLIP, 0);
  const int axis = face / 2, first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
  const int velocities = s.lattice->velocities;
  double after[9][27], g[27];
  for (int cell = 0; cell < 9; cell++) {
    randomise(after[cell], velocities);
    s.special.i = cell % 3;
    s.special.j = cell / 3;
    text->leave(after[cell], &s.b, 0, 0);
  }
  s.special.i = s.special.j = 1;
  randomise(g, velocities);
  double before[27];
  memcpy(before, g, sizeof g);
  text->meet(g, &s.b, 0, 1);
  for (int q = 0; q < velocities; q++) {
    int c[3] = {s.lattice->c[q][0], s.lattice->c[q][1], s.lattice->c[q][2]};
    if (s.face.inward * c[axis] <= 0) {
      assert_true(g[q] == before[q]);
      continue;
    }
    const int cell = (1 - c[first]) + 3 * (1 - c[second]);
    c[axis] = -c[axis];
    assert_true(g[q] == after[cell][rank_of(s.lattice, c)]);
  }
}

static void slip_takes_from_upstream(void **state)
{
  (void)state;
  for (int l = 0; l < 3; l++)
    for (int face = 0; face < 6; face++)
      if (has_face(TEN_NUMBERS[l].lattice, face))
        check_slip(&TEN_NUMBERS[l], face);
}

static void set_equilibrium(const lmi_lattice *lattice, double rho, const double u[3], double g[27])
{
  for (int q = 0; q < lattice->velocities; q++) {
    double cu = 0, uu = 0;
    for (int a = 0; a < 3; a++) {
      cu += lattice->c[q][a] * u[a];
      uu += u[a] * u[a];
    }
    g[q] = lattice->weight[q] * (rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu) - 1.0);
  }
}

/* A flow that is the same everywhere passes an outflow as if there were none, also aslant; the unknown populations
 * given are nonsense. */
static void a_uniform_flow_leaves_unchanged(void **state)
{
  (void)state;
  for (int l = 0; l < 3; l++)
    for (int face = 0; face < 6; face++)
      for (int method = 0; method < 2 && has_face(TEN_NUMBERS[l].lattice, face); method++) {
        stage s;
        set_stage(&s, TEN_NUMBERS[l].lattice, face, LMK_OPEN_OUTFLOW, method);
        s.b.omega = 1.7;
        double u[3], expected[27], g[27];
        for (int a = 0; a < 3; a++)
          u[a] = s.velocity[a];
        u[face / 2] = -0.05 * s.face.inward;
        set_equilibrium(s.lattice, 1.013, u, expected);
        for (int cell = 0; cell < 9; cell++) {
          s.special.i = cell % 3;
          s.special.j = cell / 3;
          TEN_NUMBERS[l].leave(expected, &s.b, 0, 1);
        }
        s.special.i = s.special.j = 1;
        for (int q = 0; q < s.lattice->velocities; q++)
          g[q] = s.face.inward * s.lattice->c[q][face / 2] > 0 ? 99.0 : expected[q];
        TEN_NUMBERS[l].meet(g, &s.b, 0, 0);
        for (int q = 0; q < s.lattice->velocities; q++)
          assert_true(fabs(g[q] - expected[q]) < 3e-15);
      }
}

/* A sound wave moves density and velocity outwards together, u = cs (rho - 1): an outflow must find the density of the
 * wave from the populations that reach it, whatever it was before. */
static void sound_leaves(void **state)
{
  (void)state;
  for (int l = 0; l < 3; l++)
    for (int face = 0; face < 6; face++) {
      if (!has_face(TEN_NUMBERS[l].lattice, face))
        continue;
      stage s;
      set_stage(&s, TEN_NUMBERS[l].lattice, face, LMK_OPEN_OUTFLOW, LMK_METHOD_ZOU_HE);
      s.b.omega = 1.7;
      s.face.excess = 0.0;
      double rest[27] = {0}, g[27], u[3] = {0, 0, 0}, excess, j[3];
      TEN_NUMBERS[l].leave(rest, &s.b, 0, 1);
      const double rise = 1e-6;
      u[face / 2] = -s.face.inward * rise / sqrt(3.0);
      set_equilibrium(s.lattice, 1.0 + rise, u, g);
      TEN_NUMBERS[l].meet(g, &s.b, 0, 0);
      sum_moments(s.lattice, g, &excess, j);
      assert_true(fabs(excess - rise) < 1e-11);
      assert_true(fabs(-s.face.inward * j[face / 2] - rise / sqrt(3.0)) < 1e-11);
    }
}

/* Where two open faces meet, one is a plane of symmetry and the other gets its velocity exactly. */
static void an_edge_of_open_faces_is_sound(void **state)
{
  (void)state;
  stage s;
  set_stage(&s, LAMINA_D3Q19, 0, LMK_OPEN_VELOCITY, LMK_METHOD_REGULARIZED);
  const lmk_open_face faces[2] = {s.face, {.kind = LMK_OPEN_PRESSURE, .axis = 2, .inward = -1, .cells = {3, 3}}};
  s.b.faces = faces;
  s.special.mirror = 1;
  double g[27], excess, j[3];
  randomise(g, 19);
  for (int q = 0; q < 19; q++)
    if (s.lattice->c[q][0] > 0 || s.lattice->c[q][2] < 0)
      g[q] = NAN;
  TEN_NUMBERS[1].meet(g, &s.b, 0, 0);
  sum_moments(s.lattice, g, &excess, j);
  for (int a = 0; a < 3; a++)
    assert_true(fabs(j[a] / (1 + excess) - s.velocity[a]) < 3e-15);
}

/* ---- links ---- */

static void interpolation_by_hand(void **state)
{
  (void)state;
  static const double fractions[] = {0.01, 0.25, 0.5, 0.75, 1.0};
  for (size_t i = 0; i < LMI_COUNT(fractions); i++) {
    stage s;
    set_stage(&s, LAMINA_D2Q9, 0, LMK_OPEN_VELOCITY, 0);
    s.special.face = -1;
    s.special.links = 1u << 2 | 1u << 7;
    double g[27], before[27];
    randomise(g, 9);
    memcpy(before, g, sizeof g);
    const double q = (float)fractions[i];
    for (int link = 0; link < 2; link++) {
      s.links[link] = (lmk_link){(float)fractions[i], 0};
      s.push[link] = 0.01 * random_value();
      s.kept[link] = 0.02 * random_value();
    }
    s.motion[0] = 0.5;
    TEN_NUMBERS[0].meet(g, &s.b, 0, 0);
    for (int link = 0; link < 2; link++) {
      const int r = link == 0 ? 2 : 7;
      const double push = 0.5 * s.push[link];
      const double expected = q < 0.5 ? 2 * q * before[r] + (1 - 2 * q) * before[8 - r] + push
                                      : (before[r] + push) / (2 * q) + (1 - 1 / (2 * q)) * s.kept[link];
      assert_true(fabs(g[r] - expected) < 1e-17);
      assert_true(s.exchange[link] == before[r] + g[r]);
      if (fractions[i] == 0.5)
        assert_true(g[r] == before[r] + push);
    }
    for (int r = 0; r < 9; r++)
      if (r != 2 && r != 7)
        assert_true(g[r] == before[r]);
    TEN_NUMBERS[0].leave(g, &s.b, 0, 0);
    assert_true(s.kept[0] == g[2] && s.kept[1] == g[7]);
  }
}

LMI_TEST_MAIN(cmocka_unit_test(a_face_gets_its_velocity_and_pressure),
              cmocka_unit_test(ten_numbers_rebuild_what_three_q_do), cmocka_unit_test(what_is_regular_already_stays),
              cmocka_unit_test(single_precision_keeps_the_shifted_digits), cmocka_unit_test(slip_takes_from_upstream),
              cmocka_unit_test(a_uniform_flow_leaves_unchanged), cmocka_unit_test(sound_leaves),
              cmocka_unit_test(an_edge_of_open_faces_is_sound), cmocka_unit_test(interpolation_by_hand))
