/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the in-place stream kernels; no guard: probe_kernels.c includes it once for each number of streams and
 * type. Needs LMK_STREAMS, LMK_REAL and LMK_KERNEL (the function's name).
 *
 * Per element and stream: one read, one write (2 sizeof(LMK_REAL) bytes), 2 flops. All streams of an element are read
 * before any is written, and each written value needs the opposite stream too, as in a collision, so that the compiler
 * cannot fall back to one stream after the other. The mean keeps the values where they are, however often it is taken.
 */
#define LMK_LINE (64 / (int)sizeof(LMK_REAL))

static inline __attribute__((always_inline)) void LMK_CELL(LMK_REAL *first, ptrdiff_t stride, ptrdiff_t at)
{
  LMK_REAL f[LMK_STREAMS];
#pragma GCC unroll 32
  for (int q = 0; q < LMK_STREAMS; q++)
    f[q] = first[q * stride + at];
#pragma GCC unroll 32
  for (int q = 0; q < LMK_STREAMS; q++)
    first[q * stride + at] = (LMK_REAL)0.5 * (f[q] + f[LMK_STREAMS - 1 - q]);
}

/* `lines` whole cache lines of every stream, `stride` elements from one stream's base to the next. */
static void LMK_KERNEL(void *base, ptrdiff_t stride, ptrdiff_t lines, ptrdiff_t prefetch)
{
  LMK_REAL *first = base;
  for (ptrdiff_t line = 0; line < lines; line++, first += LMK_LINE) {
    if (prefetch > 0) {
#pragma GCC unroll 32
      for (int q = 0; q < LMK_STREAMS; q++)
        __builtin_prefetch(first + q * stride + prefetch, 1, 3);
    }
#pragma omp simd
    for (int at = 0; at < LMK_LINE; at++)
      LMK_CELL(first, stride, at);
  }
}

#undef LMK_LINE
#undef LMK_CELL
#undef LMK_KERNEL
#undef LMK_STREAMS
#undef LMK_REAL
