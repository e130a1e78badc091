/* SPDX-License-Identifier: Apache-2.0 */
#include "naive_flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct naive_flow {
  lamina_solver_options options;
  int q;
  int c[27][3];
  int opposite[27];
  double w[27];
  double *now, *next;         /* [cell][q], after collision */
  const unsigned char *solid; /* NULL: none */
};

static int dimension(const naive_flow *flow)
{
  return flow->options.lattice == LAMINA_D2Q9 ? 2 : 3;
}

/* All velocities of the cube that the set keeps, with the weights of its speed. */
static void make_velocities(naive_flow *flow)
{
  static const double weights[3][4] = {
    {4.0 / 9, 1.0 / 9, 1.0 / 36, 0.0}, {1.0 / 3, 1.0 / 18, 1.0 / 36, 0.0}, {8.0 / 27, 2.0 / 27, 1.0 / 54, 1.0 / 216}};
  const int depth = dimension(flow) == 3;
  for (int z = -depth; z <= depth; z++)
    for (int y = -1; y <= 1; y++)
      for (int x = -1; x <= 1; x++) {
        const double w = weights[flow->options.lattice][x * x + y * y + z * z];
        if (w == 0.0)
          continue;
        const int velocity[3] = {x, y, z};
        memcpy(flow->c[flow->q], velocity, sizeof velocity);
        flow->w[flow->q++] = w;
      }
}

static void find_opposites(naive_flow *flow)
{
  for (int q = 0; q < flow->q; q++)
    for (int o = 0; o < flow->q; o++)
      if (flow->c[o][0] == -flow->c[q][0] && flow->c[o][1] == -flow->c[q][1] && flow->c[o][2] == -flow->c[q][2])
        flow->opposite[q] = o;
}

static double equilibrium(const naive_flow *flow, int q, double rho, const double u[3])
{
  double cu = 0, u2 = 0;
  for (int a = 0; a < 3; a++) {
    cu += flow->c[q][a] * u[a];
    u2 += u[a] * u[a];
  }
  return flow->w[q] * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * u2);
}

static double guo_source(const naive_flow *flow, int q, const double u[3], const double force[3])
{
  double cu = 0, sum = 0;
  for (int a = 0; a < 3; a++)
    cu += flow->c[q][a] * u[a];
  for (int a = 0; a < 3; a++)
    sum += (3 * (flow->c[q][a] - u[a]) + 9 * cu * flow->c[q][a]) * force[a];
  return flow->w[q] * sum;
}

static void stress(const naive_flow *flow, const double *f, double rho, const double u[3], const double force[3],
                   double pi[3][3])
{
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      pi[a][b] = 0.5 * (u[a] * force[b] + u[b] * force[a]);
      for (int q = 0; q < flow->q; q++)
        pi[a][b] += flow->c[q][a] * flow->c[q][b] * (f[q] - equilibrium(flow, q, rho, u));
    }
}

static double local_omega(const naive_flow *flow, const double *f, double rho, const double u[3], const double force[3])
{
  const double omega = flow->options.omega, c = flow->options.smagorinsky;
  if (flow->options.collision != LAMINA_SMAGORINSKY)
    return omega;
  double pi[3][3], square = 0;
  stress(flow, f, rho, u, force, pi);
  for (int a = 0; a < dimension(flow); a++)
    for (int b = 0; b < dimension(flow); b++)
      square += pi[a][b] * pi[a][b];
  const double tau = 1 / omega;
  return 2 / (tau + sqrt(tau * tau + 18 * sqrt(2.0) * c * c * sqrt(square) / rho));
}

static void relax(const naive_flow *flow, const double *f, double rho, const double u[3], const double force[3],
                  double *out)
{
  const double omega = local_omega(flow, f, rho, u, force);
  for (int q = 0; q < flow->q; q++)
    out[q] = f[q] - omega * (f[q] - equilibrium(flow, q, rho, u)) + (1 - omega / 2) * guo_source(flow, q, u, force);
}

static void relax_trt(const naive_flow *flow, const double *f, double rho, const double u[3], const double force[3],
                      double *out)
{
  const double plus = flow->options.omega, minus = 1 / (0.5 + flow->options.magic / (1 / plus - 0.5));
  for (int q = 0; q < flow->q; q++) {
    const int o = flow->opposite[q];
    const double e = equilibrium(flow, q, rho, u), eo = equilibrium(flow, o, rho, u);
    const double s = guo_source(flow, q, u, force), so = guo_source(flow, o, u, force);
    out[q] = f[q] - plus * ((f[q] + f[o]) / 2 - (e + eo) / 2) - minus * ((f[q] - f[o]) / 2 - (e - eo) / 2) +
             (1 - plus / 2) * (s + so) / 2 + (1 - minus / 2) * (s - so) / 2;
  }
}

/* feq + (1 - omega) f1 + source, f1 rebuilt from the first two non-equilibrium moments. */
static void relax_regularized(const naive_flow *flow, const double *f, double rho, const double u[3],
                              const double force[3], double *out)
{
  const double omega = flow->options.omega;
  double pi[3][3];
  stress(flow, f, rho, u, (const double[3]){0, 0, 0}, pi);
  for (int q = 0; q < flow->q; q++) {
    double first = 0, second = 0;
    for (int a = 0; a < dimension(flow); a++) {
      first += 3 * flow->c[q][a] * (-force[a] / 2);
      for (int b = 0; b < dimension(flow); b++)
        second += 4.5 * (flow->c[q][a] * flow->c[q][b] - (a == b ? 1.0 / 3 : 0)) * pi[a][b];
    }
    out[q] = equilibrium(flow, q, rho, u) + (1 - omega) * flow->w[q] * (first + second) +
             (1 - omega / 2) * guo_source(flow, q, u, force);
  }
}

void naive_collide(const naive_flow *flow, const double *f, double *out)
{
  const double force[3] = {flow->options.force.x, flow->options.force.y, flow->options.force.z};
  double rho = 0, u[3] = {0, 0, 0};
  for (int q = 0; q < flow->q; q++) {
    rho += f[q];
    for (int a = 0; a < 3; a++)
      u[a] += flow->c[q][a] * f[q];
  }
  for (int a = 0; a < 3; a++)
    u[a] = (u[a] + force[a] / 2) / rho;
  if (flow->options.collision == LAMINA_TRT)
    relax_trt(flow, f, rho, u, force, out);
  else if (flow->options.collision == LAMINA_REGULARIZED)
    relax_regularized(flow, f, rho, u, force, out);
  else
    relax(flow, f, rho, u, force, out);
}

static size_t cell_index(const naive_flow *flow, const lamina_index at[3])
{
  const lamina_int3 n = flow->options.cells;
  return (size_t)((at[2] * n.y + at[1]) * n.x + at[0]);
}

/* f_q arriving at a cell: from upstream, or bounced from the one wall or the corner that lies there. */
static double arriving(const naive_flow *flow, const lamina_index at[3], int q)
{
  const lamina_index n[3] = {flow->options.cells.x, flow->options.cells.y, flow->options.cells.z};
  lamina_index from[3];
  int walls = 0, wall = 0;
  for (int a = 0; a < 3; a++) {
    from[a] = at[a] - flow->c[q][a];
    if (from[a] >= 0 && from[a] < n[a])
      continue;
    const int face = 2 * a + (from[a] >= n[a]);
    if (flow->options.faces[face].kind == LAMINA_FACE_WALL) {
      walls++;
      wall = face;
    }
    from[a] = (from[a] + n[a]) % n[a];
  }
  if (walls == 0 && flow->solid != NULL && flow->solid[cell_index(flow, from)] != 0)
    return flow->now[cell_index(flow, at) * 27 + (size_t)flow->opposite[q]];
  if (walls == 0)
    return flow->now[cell_index(flow, from) * 27 + (size_t)q];
  const double own = flow->now[cell_index(flow, at) * 27 + (size_t)flow->opposite[q]];
  if (walls > 1)
    return own;
  const lamina_real3 u = flow->options.faces[wall].velocity;
  return own + 6 * flow->w[q] * (flow->c[q][0] * u.x + flow->c[q][1] * u.y + flow->c[q][2] * u.z);
}

void naive_set_solid(naive_flow *flow, const unsigned char *solid)
{
  flow->solid = solid;
}

void naive_run(naive_flow *flow, int steps)
{
  const lamina_int3 n = flow->options.cells;
  for (int s = 0; s < steps; s++) {
    lamina_index at[3];
    for (at[2] = 0; at[2] < n.z; at[2]++)
      for (at[1] = 0; at[1] < n.y; at[1]++)
        for (at[0] = 0; at[0] < n.x; at[0]++) {
          double f[27];
          for (int q = 0; q < flow->q; q++)
            f[q] = arriving(flow, at, q);
          naive_collide(flow, f, flow->next + cell_index(flow, at) * 27);
        }
    double *swap = flow->now;
    flow->now = flow->next;
    flow->next = swap;
  }
}

/* The state after collision that leaves the cell with the asked velocity: equilibrium, and half a step of the force. */
double naive_initial(const naive_flow *flow, int q, const lamina_cell_state *state)
{
  const double force[3] = {flow->options.force.x, flow->options.force.y, flow->options.force.z};
  double cf = 0;
  for (int a = 0; a < 3; a++)
    cf += flow->c[q][a] * force[a];
  return equilibrium(flow, q, state->density, state->velocity) + 1.5 * flow->w[q] * cf;
}

static void set_cell(naive_flow *flow, const lamina_index at[3], const lamina_cell_state *state)
{
  for (int q = 0; q < flow->q; q++)
    flow->now[cell_index(flow, at) * 27 + (size_t)q] = naive_initial(flow, q, state);
}

int naive_velocities(const naive_flow *flow)
{
  return flow->q;
}

const int *naive_velocity(const naive_flow *flow, int q)
{
  return flow->c[q];
}

int naive_opposite(const naive_flow *flow, int q)
{
  return flow->opposite[q];
}

double naive_weight(const naive_flow *flow, int q)
{
  return flow->w[q];
}

naive_flow *naive_create(const lamina_solver_options *options, lamina_initial_function *initial, void *user)
{
  naive_flow *flow = calloc(1, sizeof *flow);
  flow->options = *options;
  make_velocities(flow);
  find_opposites(flow);
  const lamina_int3 n = options->cells;
  const size_t values = (size_t)(n.x * n.y * n.z) * 27;
  flow->now = calloc(values, sizeof *flow->now);
  flow->next = calloc(values, sizeof *flow->next);
  lamina_index at[3];
  for (at[2] = 0; at[2] < n.z; at[2]++)
    for (at[1] = 0; at[1] < n.y; at[1]++)
      for (at[0] = 0; at[0] < n.x; at[0]++) {
        lamina_cell_state state = {.density = 1};
        initial(user, (lamina_real3){(double)at[0] + 0.5, (double)at[1] + 0.5, (double)at[2] + 0.5}, &state);
        set_cell(flow, at, &state);
      }
  return flow;
}

void naive_read(const naive_flow *flow, lamina_int3 cell, double out[4])
{
  const lamina_index at[3] = {cell.x, cell.y, cell.z};
  const double force[3] = {flow->options.force.x, flow->options.force.y, flow->options.force.z};
  const double *f = flow->now + cell_index(flow, at) * 27;
  double j[3] = {0, 0, 0};
  out[0] = 0;
  for (int q = 0; q < flow->q; q++) {
    out[0] += f[q];
    for (int a = 0; a < 3; a++)
      j[a] += flow->c[q][a] * f[q];
  }
  for (int a = 0; a < 3; a++)
    out[1 + a] = (j[a] - force[a] / 2) / out[0];
}

void naive_destroy(naive_flow *flow)
{
  free(flow->now);
  free(flow->next);
  free(flow);
}
