/* SPDX-License-Identifier: Apache-2.0 */
/* Dense factorisation A = LU without pivoting, of a diagonally dominant matrix, in blocks of columns (the shape of
 * HPL): all of the matrix is used about alike.
 *
 *   workload_dense N
 *
 * Floating-point operations of the phase "factorise": sum over k of (N - k) divisions and 2 (N - k)^2 others, k = 1 ..
 * N - 1. The program solves for a known solution and fails if the answer is off. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <lamina/phase.h>

enum { N_MOST = 16384 };

static void fill(double *a, double *b, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
      a[i * n + j] = 1.0 / (double)(1 + (i * 7 + j * 13) % 29) + (i == j ? 2.0 * (double)n : 0.0);
      sum += a[i * n + j];
    }
    b[i] = sum; /* the solution is all ones */
  }
}

static void factorise(double *a, size_t n)
{
  for (size_t k = 0; k + 1 < n; k++)
    for (size_t i = k + 1; i < n; i++) {
      const double factor = a[i * n + k] / a[k * n + k];
      a[i * n + k] = factor;
      for (size_t j = k + 1; j < n; j++)
        a[i * n + j] -= factor * a[k * n + j];
    }
}

static void solve(const double *a, double *b, size_t n)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      b[i] -= a[i * n + j] * b[j];
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++)
      b[i] -= a[i * n + j] * b[j];
    b[i] /= a[i * n + i];
  }
}

int main(int count, char **arguments)
{
  const long n = count > 1 ? strtol(arguments[1], NULL, 10) : 0;
  if (n < 2 || n > N_MOST) {
    fprintf(stderr, "usage: workload_dense N, N 2 to %d\n", N_MOST);
    return 2;
  }
  const size_t size = (size_t)n;
  double *a = malloc(size * size * sizeof *a), *b = malloc(size * sizeof *b), error = 0;
  if (a == NULL || b == NULL) {
    fprintf(stderr, "workload_dense: not enough memory\n");
    return 1;
  }
  fill(a, b, size);
  lamina_phase_start("factorise");
  factorise(a, size);
  lamina_phase_stop();
  lamina_phase_start("solve");
  solve(a, b, size);
  lamina_phase_stop();
  for (size_t i = 0; i < size; i++)
    error = fmax(error, fabs(b[i] - 1));
  printf("largest error %.3g\n", error);
  free(a);
  free(b);
  return error < 1e-9 ? 0 : 1;
}
