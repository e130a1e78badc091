/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that needs AVX-512: it must be named before it is run. */
#include <stdlib.h>

double sum_wide(const double *values, int count)
{
  double sum = 0;
  for (int i = 0; i < count; i++)
    sum += values[i];
  return sum;
}

int main(int count, char **arguments)
{
  double values[64];
  for (int i = 0; i < 64; i++)
    values[i] = count > 1 ? strtod(arguments[1], NULL) : i;
  return sum_wide(values, 64) > 1e9;
}
