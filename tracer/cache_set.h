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

/* Whether all ways of a cache lie in the first half of its sets: most first and second levels. It is a constant in the
 * loops that use it, and the second half then costs nothing. */
typedef enum lmt_width { LMT_NARROW, LMT_WIDE } lmt_width;

#define LMT_NARROW_WAYS 8
#define LMT_SET_INLINE static inline __attribute__((always_inline))

LMT_SET_INLINE __m256i lmt_set_half(const lmt_set *set, int half)
{
  return _mm256_load_si256((const __m256i *)(const void *)set->way + half);
}

LMT_SET_INLINE uint32_t lmt_half_match(__m256i half, uint32_t line)
{
  const __m256i lines = _mm256_and_si256(half, _mm256_set1_epi32((int)LMT_LINE_MASK));
  const __m256i is_equal = _mm256_cmpeq_epi32(lines, _mm256_set1_epi32((int)line));
  return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(is_equal));
}

/* Bit i is set when way i holds `line`, whatever its flags. */
LMT_SET_INLINE uint32_t lmt_set_match(const lmt_set *set, uint32_t line, lmt_width width)
{
  const uint32_t low = lmt_half_match(lmt_set_half(set, 0), line);
  return width == LMT_NARROW ? low : low | lmt_half_match(lmt_set_half(set, 1), line) << 8;
}

/* Row i of it moves the ways 0 .. i down by one and leaves those behind; what comes to the front is put in later. */
extern const uint32_t lmt_set_moves[LMT_NARROW_WAYS][LMT_NARROW_WAYS];

/* Puts `value` in front and moves ways 0 .. index - 1 down by one: way `index` is overwritten, those behind it stay. A
 * hit gives its own way and content, a miss the last way and the new line. No branch on the index: it is random. */
LMT_SET_INLINE void lmt_set_front(lmt_set *set, uint32_t index, uint32_t value, lmt_width width)
{
  const uint32_t low_index = width == LMT_NARROW || index < LMT_NARROW_WAYS ? index : LMT_NARROW_WAYS - 1;
  const __m256i moves = _mm256_load_si256((const __m256i *)(const void *)lmt_set_moves[low_index]);
  const __m256i moved = _mm256_permutevar8x32_epi32(lmt_set_half(set, 0), moves);
  const __m256i low = _mm256_blend_epi32(moved, _mm256_set1_epi32((int)value), 1);
  if (width == LMT_WIDE) {
    const uint32_t is_low = index < LMT_NARROW_WAYS;
    const uint32_t high_index = is_low ? 0 : index - LMT_NARROW_WAYS;
    const uint32_t carried = set->way[LMT_NARROW_WAYS - 1 + is_low];
    const __m256i high_moves = _mm256_load_si256((const __m256i *)(const void *)lmt_set_moves[high_index]);
    const __m256i high = _mm256_permutevar8x32_epi32(lmt_set_half(set, 1), high_moves);
    _mm256_store_si256((__m256i *)(void *)set->way + 1,
                       _mm256_blend_epi32(high, _mm256_castsi128_si256(_mm_cvtsi32_si128((int)carried)), 1));
  }
  _mm256_store_si256((__m256i *)(void *)set->way, low);
}

#endif
