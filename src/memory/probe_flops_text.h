/* SPDX-License-Identifier: Apache-2.0 */
/* The text of one multiply-add kernel; no guard: included once for each width and type. Needs LMK_VALUE (a scalar or
 * vector type), LMK_SUM(v) (a double from it) and LMK_KERNEL (the function's name). Twelve chains cover the latency of
 * a fused multiply-add on two ports (5 cycles x 2) without running out of registers. The compiler may contract here:
 * that is the point. 24 flops a lane and round. */
static double LMK_KERNEL(int64_t rounds, double factor)
{
  const LMK_VALUE by = (LMK_VALUE){0} + (LMK_REAL)factor, add = (LMK_VALUE){0} + (LMK_REAL)(1.0 - factor);
  LMK_VALUE a = by, b = by + add, c = a + 2 * add, d = a + 3 * add, e = a + 4 * add, f = a + 5 * add;
  LMK_VALUE g = a + 6 * add, h = a + 7 * add, i = a + 8 * add, j = a + 9 * add, k = a + 10 * add, l = a + 11 * add;
  for (int64_t round = 0; round < rounds; round++) {
    a = a * by + add, b = b * by + add, c = c * by + add, d = d * by + add;
    e = e * by + add, f = f * by + add, g = g * by + add, h = h * by + add;
    i = i * by + add, j = j * by + add, k = k * by + add, l = l * by + add;
  }
  const LMK_VALUE sum = ((a + b) + (c + d)) + ((e + f) + (g + h)) + ((i + j) + (k + l));
  return LMK_SUM(sum);
}

#undef LMK_KERNEL
#undef LMK_VALUE
#undef LMK_REAL
#undef LMK_SUM
