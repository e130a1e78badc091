/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel text needs from NVRTC: the twin of prelude_host.h. No system header: NVRTC has none. */
#ifndef LMK_PRELUDE_CUDA_H
#define LMK_PRELUDE_CUDA_H

typedef signed char int8_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;

#define LMK_INLINE static __device__ __forceinline__
#define LMK_UNROLL _Pragma("unroll")
#define LMK_RESTRICT __restrict__

/* Compiled with --fmad=false: only what is written as LMK_FMA is fused, as on the host. */
LMK_INLINE float LMK_FMA(float a, float b, float c)
{
  return __fmaf_rn(a, b, c);
}
LMK_INLINE double LMK_FMA(double a, double b, double c)
{
  return __fma_rn(a, b, c);
}
LMK_INLINE float LMK_SQRT(float a)
{
  return __fsqrt_rn(a);
}
LMK_INLINE double LMK_SQRT(double a)
{
  return __dsqrt_rn(a);
}

#endif
