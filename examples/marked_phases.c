/* SPDX-License-Identifier: Apache-2.0 */
/* Phase markers in a program of one's own: a header, nothing to link.
 *
 *   cc marked_phases.c -I... -o marked_phases && lamina record -o profile -- ./marked_phases && lamina report profile
 *
 * Without `lamina record` the markers do nothing. */
#include <lamina/phase.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 20, SWEEPS = 20 };

static void fill(double *values)
{
  lamina_phase_start("fill");
  for (int i = 0; i < COUNT; i++)
    values[i] = i;
  lamina_phase_stop();
}

static double sweep(const double *values)
{
  double sum = 0.0;
  lamina_phase_start("sweep");
  for (int round = 0; round < SWEEPS; round++)
    for (int i = 0; i < COUNT; i++)
      sum += values[i];
  lamina_phase_stop();
  return sum;
}

int main(void)
{
  double *values = calloc(COUNT, sizeof *values);
  if (values == NULL)
    return 1;
  lamina_phase_name_object(values, COUNT * sizeof *values, "values");
  fill(values);
  const double sum = sweep(values);
  free(values);
  printf("sum %.0f\n", sum);
  return sum == 0.5 * SWEEPS * (double)COUNT * (COUNT - 1) ? 0 : 5;
}
