/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One set of a cache with true LRU: up to 16 ways of 32 bits, most recent first, in one line of the host. Bits 0..29 of
 * a way are a line id (never 0), bits 30 and 31 are flags. Ways beyond the associativity stay 0, so they match no line.
 */
#ifndef LMT_CACHE_SET_H
#define LMT_CACHE_SET_H

#include <immintrin.h>
#include <stdint.h>

#define LMT_WAYS_MAX 16
#define LMT_DIRTY 0x80000000u
#define LMT_PREFETCHED 0x40000000u
#define LMT_LINE_MASK 0x3FFFFFFFu

typedef struct lmt_set {
  uint32_t way[LMT_WAYS_MAX];
} __attribute__((aligned(64))) lmt_set;

#define LMT_HALF(set, half) ((const __m256i *)(const void *)(set)->way + (half))

/* Bit i is set when way i holds `line`, whatever its flags. */
static inline uint32_t lmt_set_match(const lmt_set *set, uint32_t line)
{
  const __m256i key = _mm256_set1_epi32((int)line);
  const __m256i mask = _mm256_set1_epi32((int)LMT_LINE_MASK);
  const __m256i low = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_load_si256(LMT_HALF(set, 0)), mask), key);
  const __m256i high = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_load_si256(LMT_HALF(set, 1)), mask), key);
  return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(low)) |
         (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(high)) << 8;
}

/* The set moved down by one way, with `value` in front; in registers. */
static inline void lmt_set_shifted(const lmt_set *set, uint32_t value, __m256i *low, __m256i *high)
{
  const __m256i turn = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
  const __m256i turned_low = _mm256_permutevar8x32_epi32(_mm256_load_si256(LMT_HALF(set, 0)), turn);
  const __m256i turned_high = _mm256_permutevar8x32_epi32(_mm256_load_si256(LMT_HALF(set, 1)), turn);
  *low = _mm256_blend_epi32(turned_low, _mm256_set1_epi32((int)value), 1);
  *high = _mm256_blend_epi32(turned_high, turned_low, 1);
}

static inline void lmt_set_store(lmt_set *set, __m256i low, __m256i high)
{
  _mm256_store_si256((__m256i *)(void *)set->way, low);
  _mm256_store_si256((__m256i *)(void *)set->way + 1, high);
}

/* Puts `value` in front and moves ways 0 .. index - 1 down by one: way `index` is overwritten, those behind it stay. A
 * hit gives its own way and content, a miss the last way and the new line. No branch on the index: it is random. */
static inline void lmt_set_front(lmt_set *set, uint32_t index, uint32_t value)
{
  static const uint32_t moved[2 * LMT_WAYS_MAX] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
                                                   ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
  const uint32_t *mask = moved + LMT_WAYS_MAX - 1 - index;
  __m256i low, high;
  lmt_set_shifted(set, value, &low, &high);
  const __m256i move_low = _mm256_loadu_si256((const __m256i *)(const void *)mask);
  const __m256i move_high = _mm256_loadu_si256((const __m256i *)(const void *)(mask + 8));
  lmt_set_store(set, _mm256_blendv_epi8(_mm256_load_si256(LMT_HALF(set, 0)), low, move_low),
                _mm256_blendv_epi8(_mm256_load_si256(LMT_HALF(set, 1)), high, move_high));
}

#endif
