/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled like the loops of the probes, with contraction: a multiply-add is two flops in one instruction. */
#include "inject_kernel.h"

typedef double double4 __attribute__((vector_size(32), aligned(32), may_alias));

/* Four lines at a time: eight chains hide each other's latency, so that the traffic of few flops is bound by memory. x
 * -> x/2 + 1/2 has 1 as its fixed point and draws everything there: no overflow and no denormals, however long it runs.
 * `zero` is a parameter so that the one addition of an odd count cannot be left out. */
static inline __attribute__((always_inline)) void block(double4 *at, int count, int flops, double zero)
{
  double4 value[8];
  const double4 half = {0.5, 0.5, 0.5, 0.5};
  for (int i = 0; i < count; i++)
    value[i] = at[i];
  if ((flops & 1) != 0)
    for (int i = 0; i < count; i++)
      value[i] += zero;
  for (int pair = 0; pair < flops / 2; pair++)
    for (int i = 0; i < count; i++)
      value[i] = value[i] * half + half;
  for (int i = 0; i < count; i++)
    at[i] = value[i];
}

void lmi_inject_lines(double *values, ptrdiff_t lines, int flops, double zero)
{
  double4 *at = (double4 *)(void *)values;
  ptrdiff_t line = 0;
  for (; line + 4 <= lines; line += 4, at += 8) {
    __builtin_prefetch(at + 32, 1, 3);
    __builtin_prefetch(at + 34, 1, 3);
    __builtin_prefetch(at + 36, 1, 3);
    __builtin_prefetch(at + 38, 1, 3);
    block(at, 8, flops, zero);
  }
  for (; line < lines; line++, at += 2)
    block(at, 2, flops, zero);
}
