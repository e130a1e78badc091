/* SPDX-License-Identifier: Apache-2.0 */
/* Jacobi iteration with a five-point stencil on a two-component field: Table 1 of arXiv 2503.07898. Prints what a
 * partition sends in each layout, and holds the result against the exact discrete solution.
 *
 *   cc jacobi.c $(pkg-config --cflags --libs lamina) -lm -o jacobi && ./jacobi */
#include <lamina/lamina.h>
#include <math.h>
#include <stdio.h>

enum { NX = 40, NY = 30, PERIODS = 50 };
static const double KX = 3.14159265358979323846 / (NX + 1), KY = 3.14159265358979323846 / (NY + 1);

LAMINA_KERNEL(jacobi, (OLD, NEW),
              for (int c = 0; c < 2; c++)
                LAMINA_OUT(NEW, c) = (real)0.25 * (LAMINA_NEAR(OLD, c, -1, 0, 0) + LAMINA_NEAR(OLD, c, 1, 0, 0) +
                                                   LAMINA_NEAR(OLD, c, 0, -1, 0) + LAMINA_NEAR(OLD, c, 0, 1, 0));)

LAMINA_KERNEL(deviation, (U, MODE, FACTOR),
              for (int c = 0; c < 2; c++)
                LAMINA_REDUCE(fabs(LAMINA_IN(U, c) - LAMINA_VALUE(FACTOR) * LAMINA_IN(MODE, c)));)

/* An eigenvector of the iteration: one half wave along each axis. The frame lies at its zeros. */
static void mode(void *user, lamina_int3 cell, double *components)
{
  (void)user;
  components[0] = sin(KX * (double)(cell.x + 1)) * sin(KY * (double)(cell.y + 1));
  components[1] = -3 * components[0];
}

#define TRY(call) status = status != LAMINA_OK ? status : (call)

static lamina_status iterate(lamina_context *context, lamina_layout layout)
{
  const lamina_domain domain = {2, {NX, NY, 1}, {LAMINA_EDGE_FIXED, LAMINA_EDGE_FIXED, LAMINA_EDGE_FIXED}};
  const lamina_grid_options partitioned = {.stencil = LAMINA_STENCIL_5, .partitions = 3};
  const lamina_field_options vector = {.name = "u", .components = 2, .type = LAMINA_F64, .layout = layout};
  lamina_grid *grid = NULL;
  lamina_field *u[3] = {NULL}; /* two that alternate, and the mode */
  lamina_kernel *kernels[3] = {NULL};
  lamina_schedule *schedule = NULL;
  lamina_schedule_info info = {0};
  lamina_status status = lamina_grid_create(context, &domain, &partitioned, &grid);
  for (int i = 0; i < 3; i++) {
    TRY(lamina_field_create(grid, &vector, &u[i]));
    TRY(lamina_field_fill(u[i], mode, NULL));
  }
  const lamina_argument factor = {.value = pow(0.5 * (cos(KX) + cos(KY)), 2 * PERIODS)};
  const lamina_kernel_options options[3] = {
    {&jacobi, {{u[0], LAMINA_READ, LAMINA_STENCIL_5, 0, 0, 0}, {.field = u[1], .access = LAMINA_WRITE}}, 2, {0}, 0},
    {&jacobi, {{u[1], LAMINA_READ, LAMINA_STENCIL_5, 0, 0, 0}, {.field = u[0], .access = LAMINA_WRITE}}, 2, {0}, 0},
    {&deviation, {{.field = u[0]}, {.field = u[2]}, factor}, 3, {0}, LAMINA_REDUCE_MAX}};
  for (int i = 0; i < 3; i++)
    TRY(lamina_kernel_create(grid, &options[i], &kernels[i]));
  TRY(lamina_schedule_create(grid, (const lamina_kernel *const *)kernels, 3, NULL, &schedule));
  TRY(lamina_schedule_run(schedule, PERIODS));
  if (status == LAMINA_OK) {
    lamina_schedule_get_info(schedule, &info);
    printf("%-13s  alpha %g  beta %g vectors  error %.1e\n", lamina_layout_name(layout), info.alpha,
           info.beta_values / 2, lamina_kernel_result(kernels[2]));
    status = lamina_kernel_result(kernels[2]) <= 1e-14 ? LAMINA_OK : LAMINA_ERROR_CHECK;
  }
  lamina_schedule_destroy(schedule);
  for (int i = 0; i < 6; i++)
    i < 3 ? lamina_kernel_destroy(kernels[i]) : lamina_field_destroy(u[i - 3]);
  lamina_grid_destroy(grid);
  return status;
}

int main(void)
{
  lamina_context *context = NULL;
  lamina_status status = lamina_context_create(NULL, &context);
  for (int layout = LAMINA_LAYOUT_PLANE; layout <= LAMINA_LAYOUT_AOS; layout++)
    TRY(iterate(context, (lamina_layout)layout));
  if (status != LAMINA_OK)
    fprintf(stderr, "jacobi: %s\n", lamina_error_message(context));
  lamina_context_destroy(context);
  return lamina_status_exit_code(status);
}
