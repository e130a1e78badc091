/* SPDX-License-Identifier: Apache-2.0 */
/* Open faces, slip and a spinning circle against the same written plainly: whole populations in double, one cell at a
 * time, no shared code. */
#include "support/test.h"

#include <math.h>

#include <lamina/geometry.h>

#include "flow_setup.h"

enum { NX = 22, NY = 17, Q = 9 };

static const int C[Q][2] = {{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
static const int OPPOSITE[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
static const double W[Q] = {4.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};
static const double OMEGA = 1.3, X0 = 9.25, Y0 = 8.1875, RADIUS = 3.125, SPIN = 0.01, LOW_SPEED[2] = {0.03, 0.01},
                    HIGH_DENSITY = 1.01, HIGH_SPEED = 0.02;

typedef double field[NY][NX][Q];

static double equilibrium(int q, double rho, double u, double v)
{
  const double cu = C[q][0] * u + C[q][1] * v;
  return W[q] * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (u * u + v * v));
}

static bool is_solid(int x, int y)
{
  return hypot(x + 0.5 - X0, y + 0.5 - Y0) <= RADIUS;
}

/* Share of the way from a centre along velocity q that lies outside the circle; the library keeps it in single
 * precision.
 */
static double cut(int x, int y, int q)
{
  const double dx = x + 0.5 - X0, dy = y + 0.5 - Y0, cx = C[q][0], cy = C[q][1];
  const double a = cx * cx + cy * cy, b = dx * cx + dy * cy, c = dx * dx + dy * dy - RADIUS * RADIUS;
  return (double)(float)((-b - sqrt(b * b - a * c)) / a);
}

static int find(int cx, int cy)
{
  int found = 0;
  for (int q = 0; q < Q; q++)
    found = C[q][0] == cx && C[q][1] == cy ? q : found;
  return found;
}

static double from_circle(field now, int x, int y, int q, double behind)
{
  const int i = OPPOSITE[q];
  const double d = cut(x, y, i), px = x + 0.5 + d * C[i][0] - X0, py = y + 0.5 + d * C[i][1] - Y0;
  const double push = 6 * W[q] * (C[q][0] * -SPIN * py + C[q][1] * SPIN * px);
  if (d < 0.5)
    return 2 * d * now[y][x][i] + (1 - 2 * d) * behind + push;
  return (now[y][x][i] + push) / (2 * d) + (1 - 1 / (2 * d)) * now[y][x][q];
}

/* What arrives before faces act: a wall below, slip above, whatever beside. */
static double arriving(field now, int x, int y, int q)
{
  const int fx = x - C[q][0], fy = y - C[q][1];
  if (fy >= NY && fx >= 0 && fx < NX)
    return now[y][fx][find(C[q][0], -C[q][1])];
  if (fx < 0 || fx >= NX || fy < 0 || fy >= NY || is_solid(fx, fy))
    return now[y][x][OPPOSITE[q]];
  return now[fy][fx][q];
}

/* Velocity from the left by the regularized rule, density to the right by that of Zou and He; n points inwards. */
static void apply_face(double *f, int n)
{
  double known = 0, along = 0, rho, u, v, second[2][2] = {{0, 0}, {0, 0}};
  for (int q = 0; q < Q; q++) {
    known += n * C[q][0] == 0 ? f[q] : n * C[q][0] < 0 ? 2 * f[q] : 0;
    along += C[q][0] == 0 ? C[q][1] * f[q] : 0;
  }
  u = n > 0 ? LOW_SPEED[0] : n * (1 - known / HIGH_DENSITY);
  v = n > 0 ? LOW_SPEED[1] : HIGH_SPEED;
  rho = n > 0 ? known / (1 - u) : HIGH_DENSITY;
  for (int q = 0; q < Q; q++)
    if (n * C[q][0] > 0)
      f[q] = f[OPPOSITE[q]] + 6 * W[q] * rho * (C[q][0] * u + C[q][1] * v);
  for (int q = 0; q < Q && n < 0; q++)
    if (n * C[q][0] > 0)
      f[q] -= 36 * W[q] * C[q][1] * (0.5 * along - rho * v / 3);
  for (int q = 0; q < Q; q++)
    for (int a = 0; a < 2; a++)
      for (int b = 0; b < 2; b++)
        second[a][b] += C[q][a] * C[q][b] * (f[q] - equilibrium(q, rho, u, v));
  for (int q = 0; q < Q && n > 0; q++) {
    double part = 0;
    for (int a = 0; a < 2; a++)
      for (int b = 0; b < 2; b++)
        part += (C[q][a] * C[q][b] - (a == b ? 1.0 / 3 : 0)) * second[a][b];
    f[q] = equilibrium(q, rho, u, v) + 4.5 * W[q] * part;
  }
}

static void update_cell(field now, field next, int x, int y)
{
  double f[Q], raw[Q];
  for (int q = 0; q < Q; q++)
    raw[q] = f[q] = arriving(now, x, y, q);
  for (int q = 1; q < Q; q++) {
    const int fx = x - C[q][0], fy = y - C[q][1];
    if (fx >= 0 && fx < NX && fy >= 0 && fy < NY && is_solid(fx, fy))
      f[q] = from_circle(now, x, y, q, raw[OPPOSITE[q]]);
  }
  /* In the corner of inlet or outlet and slip the slip is a plane of symmetry through the centre. */
  for (int q = 0; q < Q && y == NY - 1 && (x == 0 || x == NX - 1); q++)
    if (C[q][1] < 0)
      f[q] = raw[find(C[q][0], 1)];
  if (x == 0 || x == NX - 1)
    apply_face(f, x == 0 ? 1 : -1);
  double rho = 0, u = 0, v = 0;
  for (int q = 0; q < Q; q++) {
    rho += f[q];
    u += C[q][0] * f[q];
    v += C[q][1] * f[q];
  }
  for (int q = 0; q < Q; q++)
    next[y][x][q] = f[q] - OMEGA * (f[q] - equilibrium(q, rho, u / rho, v / rho));
}

static void judge_run(field now, field next, int steps)
{
  for (int s = 0; s < steps; s++) {
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++)
        if (!is_solid(x, y))
          update_cell(now, next, x, y);
    memcpy(now, next, sizeof(field));
  }
}

static lamina_solver *make_solver(lamina_context *ctx, lamina_geometry **geometry)
{
  lamina_solver_options options = lamina_solver_options_default();
  options.lattice = LAMINA_D2Q9;
  options.precision = LAMINA_F64;
  options.cells = (lamina_int3){NX, NY, 1};
  options.omega = OMEGA;
  options.grid = LAMINA_GRID_SPARSE;
  options.curved = LAMINA_CURVED_BOUZIDI;
  options.faces[0] = (lamina_face){.kind = LAMINA_FACE_VELOCITY, .velocity = {LOW_SPEED[0], LOW_SPEED[1], 0}};
  options.faces[1] = (lamina_face){.kind = LAMINA_FACE_PRESSURE,
                                   .method = LAMINA_FACE_ZOU_HE,
                                   .density = HIGH_DENSITY,
                                   .velocity = {0, HIGH_SPEED, 0}};
  options.faces[2].kind = LAMINA_FACE_WALL;
  options.faces[3].kind = LAMINA_FACE_SLIP;
  int body = 0;
  assert_int_equal(lamina_geometry_create(ctx, geometry), LAMINA_OK);
  const lamina_cylinder circle = {{X0, Y0, 0}, {X0, Y0, 1}, RADIUS, true};
  assert_int_equal(lamina_geometry_add_cylinder(*geometry, &circle, &body), LAMINA_OK);
  const lamina_body_motion motion = {.spin = {0, 0, SPIN}, .centre = {X0, Y0, 0}};
  assert_int_equal(lamina_geometry_set_motion(*geometry, body, &motion), LAMINA_OK);
  options.geometry = *geometry;
  lamina_solver *solver = NULL;
  if (lamina_solver_create(ctx, &options, &solver) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  return solver;
}

static void agrees_with_the_method_written_plainly(void **state)
{
  (void)state;
  static field now, next;
  lamina_context *ctx = NULL;
  lamina_geometry *geometry = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  lamina_solver *solver = make_solver(ctx, &geometry);
  int dimension = 2;
  assert_int_equal(lamina_solver_initialise(solver, random_start, &dimension), LAMINA_OK);
  for (int y = 0; y < NY; y++)
    for (int x = 0; x < NX; x++) {
      lamina_cell_state start = {.density = 1};
      random_start(&dimension, (lamina_real3){x + 0.5, y + 0.5, 0.5}, &start);
      for (int q = 0; q < Q; q++)
        now[y][x][q] = equilibrium(q, start.density, start.velocity[0], start.velocity[1]);
    }
  for (int chunk = 0; chunk < 4; chunk++) {
    assert_int_equal(lamina_solver_run(solver, 5), LAMINA_OK);
    judge_run(now, next, 5);
    double rho[NX * NY], u[NX * NY], v[NX * NY];
    const lamina_fields fields = {rho, {u, v, NULL}};
    assert_int_equal(lamina_solver_read(solver, (lamina_box){{0, 0, 0}, {NX, NY, 1}}, &fields), LAMINA_OK);
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++) {
        double sum = 0, momentum[2] = {0, 0};
        for (int q = 0; q < Q; q++) {
          sum += now[y][x][q];
          momentum[0] += C[q][0] * now[y][x][q];
          momentum[1] += C[q][1] * now[y][x][q];
        }
        const int at = x + NX * y;
        const double difference =
          fabs(rho[at] - sum) + fabs(u[at] - momentum[0] / sum) + fabs(v[at] - momentum[1] / sum);
        if (!is_solid(x, y) && !(difference < 1e-12))
          fail_msg("step %d, cell (%d, %d): off by %.3g", 5 * (chunk + 1), x, y, difference);
      }
  }
  lamina_solver_destroy(solver);
  lamina_geometry_destroy(geometry);
  lamina_context_destroy(ctx);
}

LMI_TEST_MAIN(cmocka_unit_test(agrees_with_the_method_written_plainly))
