/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for prelude_cuda.h when the host's compiler plays NVRTC: kernels become C functions of one thread. */
#ifndef LMK_PRELUDE_CUDA_H
#define LMK_PRELUDE_CUDA_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct emulated_index {
  int x, y, z;
} emulated_index;
static emulated_index emulated_block, emulated_thread, emulated_grid;

#define LMK_INLINE static inline __attribute__((always_inline))
#define LMK_UNROLL
#define LMK_NO_UNROLL
#define LMK_RESTRICT restrict
#define LMK_KERNEL static void
#define LMK_BOUNDS(threads, blocks)
#define LMK_ARGUMENT const
#define LMK_ALIGNED(bytes) __attribute__((aligned(bytes)))
#define LMK_BLOCK(axis) (emulated_block.axis)
#define LMK_BLOCKS(axis) (emulated_grid.axis)
#define LMK_THREAD(axis) (emulated_thread.axis)
#define LMK_FORGET(value) ((void)(value))
#define LMK_LET_NEXT_START()
#define LMK_AWAIT_LAST()
/* All threads of a thread block run up to the barrier first, and then again, past it. */
static int emulated_is_past;
#define LMK_SHARED static
#define LMK_BARRIER()    \
  if (!emulated_is_past) \
  return
#define LMK_KEEP_LEAST(address, value) (*(address) = *(address) < (value) ? *(address) : (value))

/* A launch that would have to wait is run again later. */
static int emulated_waits;
#define LMK_PATIENCE ((uint64_t)1 << 26)
#define LMK_WAIT_WHILE(condition) \
  if (condition) {                \
    emulated_waits = 1;           \
    return;                       \
  }
static inline void lmk_tell(uint64_t *address, uint64_t value)
{
  *address = value;
}
static inline uint64_t lmk_hear(const uint64_t *address)
{
  return *address;
}

#define LMK_FMA(a, b, c) _Generic((a) + (c), float : __builtin_fmaf, double : __builtin_fma)((a), (b), (c))
#define LMK_SQRT(a) _Generic((a), float : __builtin_sqrtf, double : __builtin_sqrt)(a)

static inline uint32_t lmk_bits(float value)
{
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline float lmk_of_bits(uint32_t bits)
{
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
static inline float lmk_half_to_float(uint16_t half)
{
  _Float16 value;
  __builtin_memcpy(&value, &half, sizeof value);
  return (float)value;
}
static inline uint16_t lmk_float_to_half(float value)
{
  const _Float16 rounded = (_Float16)value;
  uint16_t half;
  __builtin_memcpy(&half, &rounded, sizeof half);
  return half;
}
static inline uint32_t lmk_floats_to_halves(float low, float high)
{
  return lmk_float_to_half(low) | (uint32_t)lmk_float_to_half(high) << 16;
}

#endif
