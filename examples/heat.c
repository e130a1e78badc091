/* SPDX-License-Identifier: Apache-2.0 */
/* The heat equation in a periodic box, seven-point stencil, with the library's grid: a wave decays, and a reduction
 * watches it.
 *
 *   cc heat.c $(pkg-config --cflags --libs lamina) -lm -o heat && ./heat
 *
 * A sine is an eigenvector of the discrete operator: each step multiplies it by 1 + rate * (2 cos k - 2), summed over
 * the axes in which it waves. The computed amplitude must agree with that to round-off. */
#include <lamina/lamina.h>
#include <math.h>
#include <stdio.h>

enum { CELLS = 24, PERIODS = 100 };
static const double RATE = 0.125, WAVE = 2.0 * 3.14159265358979323846 / CELLS;

LAMINA_KERNEL(heat_step, (OLD, NEW, SHARE), const real here = LAMINA_IN(OLD, 0);
              const real x = LAMINA_NEAR(OLD, 0, -1, 0, 0) + LAMINA_NEAR(OLD, 0, 1, 0, 0);
              const real y = LAMINA_NEAR(OLD, 0, 0, -1, 0) + LAMINA_NEAR(OLD, 0, 0, 1, 0);
              const real z = LAMINA_NEAR(OLD, 0, 0, 0, -1) + LAMINA_NEAR(OLD, 0, 0, 0, 1);
              LAMINA_OUT(NEW, 0) = here + LAMINA_VALUE(SHARE) * (x + y + z - 6 * here);)
LAMINA_KERNEL(energy, (FIELD), LAMINA_REDUCE(LAMINA_IN(FIELD, 0) * LAMINA_IN(FIELD, 0));)

static void wave(void *user, lamina_int3 cell, double *value)
{
  (void)user;
  *value = sin(WAVE * (double)cell.x) * sin(2 * WAVE * (double)cell.y) * sin(WAVE * (double)cell.z);
}

static lamina_kernel_options step(lamina_field *from, lamina_field *to)
{
  return (lamina_kernel_options){
    .text = &heat_step,
    .arguments = {{.field = from, .stencil = LAMINA_STENCIL_7}, {.field = to, .access = LAMINA_WRITE}, {.value = RATE}},
    .argument_count = 3};
}

int main(void)
{
  const lamina_domain domain = lamina_domain_box(3, (lamina_int3){CELLS, CELLS, CELLS});
  const lamina_grid_options options = {.stencil = LAMINA_STENCIL_7, .partitions = 4};
  const lamina_field_options scalar = {.name = "temperature", .components = 1, .type = LAMINA_F64};
  lamina_context *context = NULL;
  lamina_grid *grid = NULL;
  lamina_field *field[2] = {NULL, NULL};
  lamina_kernel *kernel[3] = {NULL, NULL, NULL};
  lamina_schedule *schedule = NULL;
  double ratio = 0.0;
  lamina_status status = lamina_context_create(NULL, &context);
  if (status == LAMINA_OK)
    status = lamina_grid_create(context, &domain, &options, &grid);
  for (int i = 0; i < 2 && status == LAMINA_OK; i++)
    status = lamina_field_create(grid, &scalar, &field[i]);
  if (status == LAMINA_OK)
    status = lamina_field_fill(field[0], wave, NULL);
  for (int i = 0; i < 3 && status == LAMINA_OK; i++) {
    const lamina_kernel_options sum = {
      .text = &energy, .arguments = {{.field = field[0]}}, .argument_count = 1, .reduction = LAMINA_REDUCE_SUM};
    const lamina_kernel_options chosen = i < 2 ? step(field[i], field[1 - i]) : sum;
    status = lamina_kernel_create(grid, &chosen, &kernel[i]);
  }
  if (status == LAMINA_OK)
    status = lamina_schedule_create(grid, (const lamina_kernel *const *)kernel, 3, NULL, &schedule);
  if (status == LAMINA_OK)
    status = lamina_schedule_run(schedule, PERIODS);
  if (status == LAMINA_OK)
    ratio = sqrt(lamina_kernel_result(kernel[2]) * 8 / pow(CELLS, 3));
  else
    fprintf(stderr, "heat: %s\n", lamina_error_message(context));
  const double exact = pow(1 + RATE * (4 * cos(WAVE) + 2 * cos(2 * WAVE) - 6), 2 * PERIODS);
  printf("amplitude %.15g, exact %.15g\n", ratio, exact);
  lamina_schedule_destroy(schedule);
  for (int i = 0; i < 3; i++)
    lamina_kernel_destroy(kernel[i]);
  for (int i = 0; i < 2; i++)
    lamina_field_destroy(field[i]);
  lamina_grid_destroy(grid);
  lamina_context_destroy(context);
  return fabs(ratio - exact) <= 1e-13 ? 0 : 5;
}
