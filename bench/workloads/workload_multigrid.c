/* SPDX-License-Identifier: Apache-2.0 */
/* A multigrid solve of the 3D Poisson equation with homogeneous Dirichlet walls (the shape of an algebraic solver's
 * cycle): V-cycles with damped Jacobi smoothing, full weighting by averages of eight, constant interpolation; every
 * array streams.
 *
 *   workload_multigrid LEVELS CYCLES     2^LEVELS cells each way
 *
 * Fails if a cycle does not lower the residual. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <lamina/phase.h>

enum { LEVELS_MOST = 9, SWEEPS = 2, COARSE_SWEEPS = 40 };

/* Cell-centred cubes with a ring of zeros; side = cells + 2. */
typedef struct level {
  size_t cells, side;
  double *u, *f, *r;
} level;

static size_t at(const level *l, size_t i, size_t j, size_t k)
{
  return (k * l->side + j) * l->side + i;
}

static int make_level(level *l, size_t cells)
{
  const size_t side = cells + 2, count = side * side * side;
  *l = (level){.cells = cells,
               .side = side,
               .u = calloc(count, sizeof(double)),
               .f = calloc(count, sizeof(double)),
               .r = calloc(count, sizeof(double))};
  return l->u != NULL && l->f != NULL && l->r != NULL;
}

/* r = f - A u, A = 6 u - neighbours (spacing one); 8 operations a cell. */
static void residual(const level *l)
{
  const size_t x = 1, y = l->side, z = l->side * l->side;
  for (size_t k = 1; k <= l->cells; k++)
    for (size_t j = 1; j <= l->cells; j++)
      for (size_t c = at(l, 1, j, k); c <= at(l, l->cells, j, k); c++)
        l->r[c] =
          l->f[c] - (6 * l->u[c] - (l->u[c - x] + l->u[c + x] + l->u[c - y] + l->u[c + y] + l->u[c - z] + l->u[c + z]));
}

static void smooth(const level *l, int sweeps)
{
  for (int sweep = 0; sweep < sweeps; sweep++) {
    residual(l);
    for (size_t k = 1; k <= l->cells; k++)
      for (size_t j = 1; j <= l->cells; j++)
        for (size_t c = at(l, 1, j, k); c <= at(l, l->cells, j, k); c++)
          l->u[c] += 0.8 / 6 * l->r[c];
  }
}

/* The coarse right-hand side: 4 = (spacing ratio)^2 times the mean of eight. */
static void restrict_residual(const level *fine, const level *coarse)
{
  for (size_t k = 1; k <= coarse->cells; k++)
    for (size_t j = 1; j <= coarse->cells; j++)
      for (size_t i = 1; i <= coarse->cells; i++) {
        double sum = 0;
        for (size_t n = 0; n < 8; n++)
          sum += fine->r[at(fine, 2 * i - (n & 1), 2 * j - (n >> 1 & 1), 2 * k - (n >> 2))];
        coarse->f[at(coarse, i, j, k)] = 4 * sum / 8;
        coarse->u[at(coarse, i, j, k)] = 0;
      }
}

static void correct(const level *fine, const level *coarse)
{
  for (size_t k = 1; k <= fine->cells; k++)
    for (size_t j = 1; j <= fine->cells; j++)
      for (size_t i = 1; i <= fine->cells; i++)
        fine->u[at(fine, i, j, k)] += 0.5 * coarse->u[at(coarse, (i + 1) / 2, (j + 1) / 2, (k + 1) / 2)];
}

static void cycle(const level *levels, int count)
{
  if (count == 1) {
    smooth(levels, COARSE_SWEEPS);
    return;
  }
  smooth(&levels[0], SWEEPS);
  residual(&levels[0]);
  restrict_residual(&levels[0], &levels[1]);
  cycle(&levels[1], count - 1);
  correct(&levels[0], &levels[1]);
  smooth(&levels[0], SWEEPS);
}

static double norm(const level *l)
{
  double sum = 0;
  residual(l);
  for (size_t c = 0; c < l->side * l->side * l->side; c++)
    sum += l->r[c] * l->r[c];
  return sqrt(sum);
}

int main(int count, char **arguments)
{
  level levels[LEVELS_MOST];
  const int depth = count > 1 ? (int)strtol(arguments[1], NULL, 10) : 0;
  const int cycles = count > 2 ? (int)strtol(arguments[2], NULL, 10) : 0;
  if (depth < 2 || depth > LEVELS_MOST || cycles < 1) {
    fprintf(stderr, "usage: workload_multigrid LEVELS CYCLES, LEVELS 2 to %d\n", LEVELS_MOST);
    return 2;
  }
  for (int l = 0; l < depth; l++)
    if (!make_level(&levels[l], (size_t)1 << (depth - l))) {
      fprintf(stderr, "workload_multigrid: not enough memory\n");
      return 1;
    }
  levels[0].f[at(&levels[0], levels[0].cells / 2, levels[0].cells / 2, levels[0].cells / 2)] = 1;
  double before = norm(&levels[0]);
  lamina_phase_start("solve");
  for (int n = 0; n < cycles; n++) {
    cycle(levels, depth);
    const double after = norm(&levels[0]);
    printf("cycle %d residual %.3g\n", n + 1, after);
    if (after >= before)
      return 1;
    before = after;
  }
  lamina_phase_stop();
  return 0;
}
