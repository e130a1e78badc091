/* SPDX-License-Identifier: Apache-2.0 */
/* Elements as a device stores them, and vectors of LMK_LANES of them that move in one access. LMK_STORAGE_BITS is 64,
 * 32 or 16. Sixteen bits are halves, and the whole text then computes with populations times LMK_REST_DENSITY = 2^15:
 * shifted populations stay below 2 in size, and the scale keeps small deviations out of the subnormal range. */
#if LMK_STORAGE_BITS == 16
typedef uint16_t LMK_NAME(element);
#else
typedef LMK_REAL LMK_NAME(element);
#endif

/* Fields, not an array: a vector of fields is one load. Halves move in pairs, as they are converted. */
#if LMK_STORAGE_BITS == 16 && LMK_LANES == 4
typedef struct LMK_ALIGNED(8) LMK_NAME(vector) {
  uint32_t ab, cd;
} LMK_NAME(vector);
#elif LMK_STORAGE_BITS == 16 && LMK_LANES == 2
typedef struct LMK_NAME(vector) {
  uint32_t ab;
} LMK_NAME(vector);
#elif LMK_LANES == 4
typedef struct LMK_ALIGNED(LMK_STORAGE_BITS / 2) LMK_NAME(vector) {
  LMK_NAME(element) a, b, c, d;
} LMK_NAME(vector);
#elif LMK_LANES == 2
typedef struct LMK_ALIGNED(LMK_STORAGE_BITS / 4) LMK_NAME(vector) {
  LMK_NAME(element) a, b;
} LMK_NAME(vector);
#else
typedef struct LMK_NAME(vector) {
  LMK_NAME(element) a;
} LMK_NAME(vector);
#endif

LMK_INLINE LMK_REAL LMK_NAME(unpack)(LMK_NAME(element) stored)
{
#if LMK_STORAGE_BITS == 16
  return lmk_half_to_float(stored);
#else
  return stored;
#endif
}

LMK_INLINE LMK_NAME(element) LMK_NAME(pack)(LMK_REAL value)
{
#if LMK_STORAGE_BITS == 16
  return lmk_float_to_half(value);
#else
  return value;
#endif
}

/* A value that rounds to the half below or above it with such chances that the mean is right: rounding to the nearest
 * swallows what a flow near its steady state still changes. What is cut off of `other`, of the same cell, is the dice,
 * so that nothing but the cell decides. */
LMK_INLINE LMK_REAL LMK_NAME(dither)(LMK_REAL value, LMK_REAL other)
{
#if LMK_STORAGE_BITS == 16
  const uint32_t cut = 13, golden = 2654435769u; /* bits that a half has not; 2^32 over the golden ratio */
  const uint32_t dice = (lmk_bits(other) * golden) >> (32 - cut);
  return lmk_of_bits((lmk_bits(value) + dice) >> cut << cut);
#else
  (void)other;
  return value;
#endif
}

LMK_INLINE LMK_REAL LMK_NAME(load_one)(const LMK_NAME(element) * from)
{
  return LMK_NAME(unpack)(*from);
}

LMK_INLINE void LMK_NAME(store_one)(LMK_NAME(element) * to, LMK_REAL value)
{
  *to = LMK_NAME(pack)(value);
}

LMK_INLINE void LMK_NAME(load_vector)(const LMK_NAME(element) * from, LMK_REAL lanes[LMK_LANES])
{
  const LMK_NAME(vector) v = *(const LMK_NAME(vector) *)from;
#if LMK_STORAGE_BITS == 16 && LMK_LANES > 1
  lanes[0] = lmk_half_to_float((uint16_t)v.ab);
  lanes[1] = lmk_half_to_float((uint16_t)(v.ab >> 16));
#if LMK_LANES == 4
  lanes[2] = lmk_half_to_float((uint16_t)v.cd);
  lanes[3] = lmk_half_to_float((uint16_t)(v.cd >> 16));
#endif
#else
  lanes[0] = LMK_NAME(unpack)(v.a);
#if LMK_LANES >= 2
  lanes[1] = v.b;
#endif
#if LMK_LANES == 4
  lanes[2] = v.c;
  lanes[3] = v.d;
#endif
#endif
}

LMK_INLINE void LMK_NAME(store_vector)(LMK_NAME(element) * to, const LMK_REAL lanes[LMK_LANES])
{
  LMK_NAME(vector) v;
#if LMK_STORAGE_BITS == 16 && LMK_LANES > 1
  v.ab = lmk_floats_to_halves(lanes[0], lanes[1]);
#if LMK_LANES == 4
  v.cd = lmk_floats_to_halves(lanes[2], lanes[3]);
#endif
#else
  v.a = LMK_NAME(pack)(lanes[0]);
#if LMK_LANES >= 2
  v.b = lanes[1];
#endif
#if LMK_LANES == 4
  v.c = lanes[2];
  v.d = lanes[3];
#endif
#endif
  *(LMK_NAME(vector) *)to = v;
}

#if LMK_LANES == 4 && LMK_STORAGE_BITS != 16
typedef struct LMK_ALIGNED(LMK_STORAGE_BITS / 4) LMK_NAME(pair) {
  LMK_NAME(element) a, b;
} LMK_NAME(pair);
#endif

/* All lanes but the first or the last one, in as few accesses as may be. */
LMK_INLINE void LMK_NAME(store_but)(LMK_NAME(element) * to, const LMK_REAL lanes[LMK_LANES], int left_out)
{
#if LMK_LANES == 4
  const int pair = left_out == 0 ? 2 : 0, single = left_out == 0 ? 1 : 2;
#if LMK_STORAGE_BITS == 16
  *(uint32_t *)(to + pair) = lmk_floats_to_halves(lanes[pair], lanes[pair + 1]);
#else
  LMK_NAME(pair) v;
  v.a = lanes[pair];
  v.b = lanes[pair + 1];
  *(LMK_NAME(pair) *)(to + pair) = v;
#endif
  LMK_NAME(store_one)(to + single, lanes[single]);
#elif LMK_LANES == 2
  LMK_NAME(store_one)(to + 1 - left_out, lanes[1 - left_out]);
#else
  (void)to;
  (void)lanes;
  (void)left_out;
#endif
}
