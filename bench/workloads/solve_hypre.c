/* SPDX-License-Identifier: Apache-2.0 */
/* solve_hypre N: the five-point Laplacian on N x N points by conjugate gradients with algebraic multigrid (hypre), rows
 * dealt out to MPI ranks; checks its residual. The memory-bound solver of the paper's study. */
#include <lamina/phase.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>

typedef struct problem {
  int side, first, last; /* rows of this rank, both included */
  HYPRE_IJMatrix matrix;
  HYPRE_IJVector right, solution;
} problem;

/* Row i of the matrix; gives how many entries it has. */
static int row_of(const problem *p, int i, HYPRE_Int *columns, double *values)
{
  const int side = p->side, x = i % side, y = i / side;
  int count = 0;
  const struct {
    int is_there, column;
  } neighbours[] = {{y > 0, i - side}, {x > 0, i - 1}, {x + 1 < side, i + 1}, {y + 1 < side, i + side}};
  for (int k = 0; k < 4; k++)
    if (neighbours[k].is_there) {
      columns[count] = neighbours[k].column;
      values[count++] = -1;
    }
  columns[count] = i;
  values[count++] = 4;
  return count;
}

static void assemble(problem *p)
{
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, p->first, p->last, p->first, p->last, &p->matrix);
  HYPRE_IJMatrixSetObjectType(p->matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(p->matrix);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, p->first, p->last, &p->right);
  HYPRE_IJVectorSetObjectType(p->right, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(p->right);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, p->first, p->last, &p->solution);
  HYPRE_IJVectorSetObjectType(p->solution, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(p->solution);
  for (HYPRE_Int i = p->first; i <= p->last; i++) {
    HYPRE_Int columns[5], count = 0;
    double values[5], one = 1, zero = 0;
    count = row_of(p, i, columns, values);
    HYPRE_IJMatrixSetValues(p->matrix, 1, &count, &i, columns, values);
    HYPRE_IJVectorSetValues(p->right, 1, &i, &one);
    HYPRE_IJVectorSetValues(p->solution, 1, &i, &zero);
  }
  HYPRE_IJMatrixAssemble(p->matrix);
  HYPRE_IJVectorAssemble(p->right);
  HYPRE_IJVectorAssemble(p->solution);
}

static double solve(const problem *p, int *iterations)
{
  HYPRE_Solver solver, multigrid;
  HYPRE_ParCSRMatrix matrix;
  HYPRE_ParVector right, solution;
  double residual = 1;
  HYPRE_IJMatrixGetObject(p->matrix, (void **)&matrix);
  HYPRE_IJVectorGetObject(p->right, (void **)&right);
  HYPRE_IJVectorGetObject(p->solution, (void **)&solution);
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_PCGSetMaxIter(solver, 200);
  HYPRE_PCGSetTol(solver, 1e-8);
  HYPRE_PCGSetTwoNorm(solver, 1);
  HYPRE_BoomerAMGCreate(&multigrid);
  HYPRE_BoomerAMGSetCoarsenType(multigrid, 6);
  HYPRE_BoomerAMGSetRelaxType(multigrid, 6);
  HYPRE_BoomerAMGSetTol(multigrid, 0);
  HYPRE_BoomerAMGSetMaxIter(multigrid, 1);
  HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup,
                      multigrid);
  lamina_phase_start("setup");
  HYPRE_ParCSRPCGSetup(solver, matrix, right, solution);
  lamina_phase_stop();
  lamina_phase_start("solve");
  HYPRE_ParCSRPCGSolve(solver, matrix, right, solution);
  lamina_phase_stop();
  HYPRE_PCGGetNumIterations(solver, iterations);
  HYPRE_PCGGetFinalRelativeResidualNorm(solver, &residual);
  HYPRE_ParCSRPCGDestroy(solver);
  HYPRE_BoomerAMGDestroy(multigrid);
  return residual;
}

int main(int argc, char **argv)
{
  int rank = 0, ranks = 1, iterations = 0;
  problem p = {.side = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 400};
  if (p.side < 2 || p.side > 20000) {
    fprintf(stderr, "solve_hypre N: 2 to 20000 points a side\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  HYPRE_Init();
  const long rows = (long)p.side * p.side;
  p.first = (int)(rows * rank / ranks);
  p.last = (int)(rows * (rank + 1) / ranks) - 1;
  lamina_phase_start("assemble");
  assemble(&p);
  lamina_phase_stop();
  const double residual = solve(&p, &iterations);
  if (rank == 0)
    printf("%d x %d points, %d ranks: %d iterations, residual %.2e\n", p.side, p.side, ranks, iterations, residual);
  HYPRE_IJMatrixDestroy(p.matrix);
  HYPRE_IJVectorDestroy(p.right);
  HYPRE_IJVectorDestroy(p.solution);
  HYPRE_Finalize();
  MPI_Finalize();
  return residual < 1e-8 ? 0 : 1;
}
