/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel text needs from a C compiler. The CUDA twin is prelude_cuda.h; a text includes neither: its includer
 * does.
 *
 * A text is specialised by macros set before it: LMK_REAL (arithmetic type), LMK_SUFFIX (ends every name), LMK_FORCE
 * (0, 1). */
#ifndef LMK_PRELUDE_HOST_H
#define LMK_PRELUDE_HOST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LMK_INLINE static inline __attribute__((always_inline))
#define LMK_UNROLL _Pragma("GCC unroll 32")
#define LMK_RESTRICT restrict

/* Contraction is off in every build and fused multiply-adds are written out, so that vector bodies, remainders and all
 * instances of a text give the same bits. */
LMK_INLINE float lmk_fma_f32(float a, float b, float c)
{
  return __builtin_fmaf(a, b, c);
}
LMK_INLINE double lmk_fma_f64(double a, double b, double c)
{
  return __builtin_fma(a, b, c);
}
#define LMK_FMA(a, b, c) _Generic((a) + (c), float : lmk_fma_f32, double : lmk_fma_f64)((a), (b), (c))
#define LMK_SQRT(a) _Generic((a), float : __builtin_sqrtf, double : __builtin_sqrt)(a)

#endif
