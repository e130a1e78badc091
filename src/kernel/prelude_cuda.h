/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel text needs from NVRTC: the twin of prelude_host.h. No system header: NVRTC has none. */
#ifndef LMK_PRELUDE_CUDA_H
#define LMK_PRELUDE_CUDA_H

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;

#define LMK_INLINE static __device__ __forceinline__
#define LMK_UNROLL _Pragma("unroll")
#define LMK_NO_UNROLL _Pragma("unroll 1")
#define LMK_RESTRICT __restrict__

/* A function the host can launch, and what it may ask about its place in the launch. */
#define LMK_KERNEL extern "C" __global__ void
#define LMK_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define LMK_ARGUMENT const __grid_constant__
#define LMK_ALIGNED(bytes) __align__(bytes)
#define LMK_BLOCK(axis) ((int)blockIdx.axis)
#define LMK_BLOCKS(axis) ((int)gridDim.axis)
#define LMK_THREAD(axis) ((int)threadIdx.axis)
/* Threads of a thread block share, and wait for each other: only in a kernel itself, and what comes before the barrier
 * may be done twice. */
#define LMK_SHARED __shared__
#define LMK_BARRIER() __syncthreads()
#define LMK_KEEP_LEAST(address, value) atomicMin((unsigned long long *)(address), (unsigned long long)(value))

/* The compiler takes the value for a new one: what was derived from it is not kept in registers until here. */
#define LMK_FORGET(value) asm volatile("" : "+r"(value))

/* A launch that follows another on its stream and was told that it may start early: lets its own follower start, and
 * waits for all that the one before has done. */
#if __CUDA_ARCH__ >= 900
#define LMK_LET_NEXT_START() asm volatile("griddepcontrol.launch_dependents;")
#define LMK_AWAIT_LAST() asm volatile("griddepcontrol.wait;" : : : "memory")
#else
#define LMK_LET_NEXT_START()
#define LMK_AWAIT_LAST()
#endif

/* Between devices: what a device wrote before it told is there for whoever has heard. Polls take about a microsecond:
 * patience lasts a minute or so. */
#define LMK_PATIENCE ((uint64_t)1 << 26)
#define LMK_WAIT_WHILE(condition) \
  while (condition) {}
LMK_INLINE void lmk_tell(uint64_t *address, uint64_t value)
{
  asm volatile("fence.sc.sys;\n\tst.release.sys.global.u64 [%0], %1;" : : "l"(address), "l"(value) : "memory");
}
LMK_INLINE uint64_t lmk_hear(const uint64_t *address)
{
  uint64_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

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

LMK_INLINE uint32_t lmk_bits(float value)
{
  return __float_as_uint(value);
}
LMK_INLINE float lmk_of_bits(uint32_t bits)
{
  return __uint_as_float(bits);
}
LMK_INLINE float lmk_half_to_float(uint16_t half)
{
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}
LMK_INLINE uint16_t lmk_float_to_half(float value)
{
  uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}
/* The first one becomes the lower half. */
LMK_INLINE uint32_t lmk_floats_to_halves(float low, float high)
{
  uint32_t halves;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(high), "f"(low));
  return halves;
}

#endif
