/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors as the arithmetic type of a text on a host: LMK_REAL is then lmk_vector_f32 or lmk_vector_f64, LMK_SCALAR
 * what one lane holds. A collision is branch-free arithmetic, so its text does not notice. Include it before moments.h.
 *
 * Written with vectors, not left to the vectoriser, because the traversal decides how many vectors are in flight and
 * when each population is loaded: a third faster than the loop over lanes (docs/dev/performance.md). Each lane does
 * what a scalar would: no bit depends on the width. */
#ifndef LMK_VECTORS_HOST_H
#define LMK_VECTORS_HOST_H

#if defined __AVX__ && defined __FMA__
#include <immintrin.h>
#endif

enum { LMK_VECTOR_BYTES = 32 };

typedef float lmk_vector_f32 __attribute__((vector_size(32)));
typedef double lmk_vector_f64 __attribute__((vector_size(32)));

/* A number in all lanes: x - 0 is x for every x, -0 too, and costs nothing. */
#undef LMK_C
#define LMK_C(value) ((LMK_SCALAR)(value) - (LMK_REAL){0})

#if defined __AVX__ && defined __FMA__
LMK_INLINE lmk_vector_f32 lmk_fma_vector_f32(lmk_vector_f32 a, lmk_vector_f32 b, lmk_vector_f32 c)
{
  return _mm256_fmadd_ps(a, b, c);
}
LMK_INLINE lmk_vector_f64 lmk_fma_vector_f64(lmk_vector_f64 a, lmk_vector_f64 b, lmk_vector_f64 c)
{
  return _mm256_fmadd_pd(a, b, c);
}
LMK_INLINE lmk_vector_f32 lmk_sqrt_vector_f32(lmk_vector_f32 a)
{
  return _mm256_sqrt_ps(a);
}
LMK_INLINE lmk_vector_f64 lmk_sqrt_vector_f64(lmk_vector_f64 a)
{
  return _mm256_sqrt_pd(a);
}
#else
#define LMK_VECTOR_FUNCTIONS(vector, lanes, fma, sqrt)                                                 \
  LMK_INLINE lmk_vector_##vector lmk_fma_vector_##vector(lmk_vector_##vector a, lmk_vector_##vector b, \
                                                         lmk_vector_##vector c)                        \
  {                                                                                                    \
    lmk_vector_##vector result;                                                                        \
    LMK_UNROLL                                                                                         \
    for (int i = 0; i < (lanes); i++)                                                                  \
      result[i] = fma(a[i], b[i], c[i]);                                                               \
    return result;                                                                                     \
  }                                                                                                    \
  LMK_INLINE lmk_vector_##vector lmk_sqrt_vector_##vector(lmk_vector_##vector a)                       \
  {                                                                                                    \
    lmk_vector_##vector result;                                                                        \
    LMK_UNROLL                                                                                         \
    for (int i = 0; i < (lanes); i++)                                                                  \
      result[i] = sqrt(a[i]);                                                                          \
    return result;                                                                                     \
  }
LMK_VECTOR_FUNCTIONS(f32, 8, __builtin_fmaf, __builtin_sqrtf)
LMK_VECTOR_FUNCTIONS(f64, 4, __builtin_fma, __builtin_sqrt)
#undef LMK_VECTOR_FUNCTIONS
#endif

#undef LMK_FMA
#define LMK_FMA(a, b, c) \
  _Generic((a), lmk_vector_f32 : lmk_fma_vector_f32, lmk_vector_f64 : lmk_fma_vector_f64)((a), (b), (c))
#undef LMK_SQRT
#define LMK_SQRT(a) _Generic((a), lmk_vector_f32 : lmk_sqrt_vector_f32, lmk_vector_f64 : lmk_sqrt_vector_f64)(a)

enum { LMK_NAME(WIDTH) = LMK_VECTOR_BYTES / sizeof(LMK_SCALAR) };

/* A vector where it lies in a stream: at any element. */
typedef struct __attribute__((packed, may_alias)) LMK_NAME(unaligned) {
  LMK_REAL lanes;
} LMK_NAME(unaligned);

LMK_INLINE LMK_REAL LMK_NAME(load)(const LMK_SCALAR *at)
{
  return ((const LMK_NAME(unaligned) *)(const void *)at)->lanes;
}
LMK_INLINE void LMK_NAME(store)(LMK_SCALAR *at, LMK_REAL value)
{
  ((LMK_NAME(unaligned) *)(void *)at)->lanes = value;
}

#endif
