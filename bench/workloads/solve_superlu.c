/* SPDX-License-Identifier: Apache-2.0 */
/* solve_superlu N: the five-point Laplacian on N x N points by a sparse LU factorisation (SuperLU); checks the
 * solution, which is one everywhere. */
#include <lamina/phase.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <slu_ddefs.h>

/* By columns, as SuperLU wants it; the matrix is symmetric. SuperLU frees what its own allocator gave. */
static void assemble(int side, SuperMatrix *matrix)
{
  const int n = side * side;
  double *values = doubleMalloc(5 * n);
  int *rows = intMalloc(5 * n), *starts = intMalloc(n + 1), count = 0;
  if (values == NULL || rows == NULL || starts == NULL)
    exit(1);
  for (int i = 0; i < n; i++) {
    const int x = i % side, y = i / side;
    const int steps[] = {-side, -1, 0, 1, side};
    const int is_there[] = {y > 0, x > 0, 1, x + 1 < side, y + 1 < side};
    starts[i] = count;
    for (int k = 0; k < 5; k++)
      if (is_there[k]) {
        rows[count] = i + steps[k];
        values[count++] = steps[k] == 0 ? 4 : -1;
      }
  }
  starts[n] = count;
  dCreate_CompCol_Matrix(matrix, n, n, count, values, rows, starts, SLU_NC, SLU_D, SLU_GE);
}

/* A times a vector of ones: what stands on the right so that ones are the answer. */
static void sum_rows(const SuperMatrix *matrix, double *right)
{
  const NCformat *store = matrix->Store;
  const double *values = store->nzval;
  for (int i = 0; i < matrix->ncol; i++)
    right[i] = 0;
  for (int column = 0; column < matrix->ncol; column++)
    for (int k = store->colptr[column]; k < store->colptr[column + 1]; k++)
      right[store->rowind[k]] += values[k];
}

int main(int argc, char **argv)
{
  const int side = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 200;
  int info = 0;
  double error = 0;
  SuperMatrix matrix, lower, upper, right;
  SuperLUStat_t statistics;
  superlu_options_t options;
  if (side < 2 || side > 10000) {
    fprintf(stderr, "solve_superlu N: 2 to 10000 points a side\n");
    return 2;
  }
  lamina_phase_start("assemble");
  assemble(side, &matrix);
  double *values = doubleMalloc(matrix.ncol);
  int *row_order = intMalloc(matrix.nrow), *column_order = intMalloc(matrix.ncol);
  if (values == NULL || row_order == NULL || column_order == NULL)
    return 1;
  sum_rows(&matrix, values);
  dCreate_Dense_Matrix(&right, matrix.nrow, 1, values, matrix.nrow, SLU_DN, SLU_D, SLU_GE);
  lamina_phase_stop();
  set_default_options(&options);
  options.ColPerm = COLAMD;
  StatInit(&statistics);
  lamina_phase_start("factorise and solve");
  dgssv(&options, &matrix, column_order, row_order, &lower, &upper, &right, &statistics, &info);
  lamina_phase_stop();
  for (int i = 0; i < matrix.ncol; i++)
    error = fmax(error, fabs(values[i] - 1));
  printf("%d x %d points: largest error %.2e\n", side, side, error);
  return info == 0 && error < 1e-8 ? 0 : 1;
}
