/* SPDX-License-Identifier: Apache-2.0 */
/* Ceilings of a device's memory. LMK_PROBE_STREAMS arrays of LMK_PROBE_ELEMENT are read and written in place; with
 * LMK_PROBE_TILE > 0 the streams of so many elements lie together. LMK_PROBE_MIX(value, sum) is what is stored.
 * Traffic: 2 * LMK_PROBE_STREAMS elements an index. */
LMK_KERNEL LMK_BOUNDS(256, 1) lmk_probe_streams(LMK_PROBE_ELEMENT *memory, int64_t count, int64_t stream_stride)
{
  const int64_t i = (int64_t)LMK_BLOCK(x) * 256 + LMK_THREAD(x);
  if (i >= count)
    return;
#if LMK_PROBE_TILE
  const int64_t stride = LMK_PROBE_TILE;
  LMK_PROBE_ELEMENT *first = memory + i / LMK_PROBE_TILE * LMK_PROBE_TILE * LMK_PROBE_STREAMS + i % LMK_PROBE_TILE;
  (void)stream_stride;
#else
  const int64_t stride = stream_stride;
  LMK_PROBE_ELEMENT *first = memory + i;
#endif
  LMK_PROBE_ELEMENT value[LMK_PROBE_STREAMS], sum = 0;
  LMK_UNROLL
  for (int q = 0; q < LMK_PROBE_STREAMS; q++)
    value[q] = first[q * stride];
  LMK_UNROLL
  for (int q = 0; q < LMK_PROBE_STREAMS; q++)
    sum = sum + value[q];
  LMK_UNROLL
  for (int q = 0; q < LMK_PROBE_STREAMS; q++)
    first[q * stride] = LMK_PROBE_MIX(value[q], sum);
}

/* Every stored value depends on a read one; nothing is known beforehand. */
LMK_KERNEL LMK_BOUNDS(256, 1) lmk_probe_copy(const uint64_t *source, uint64_t *target, int64_t count)
{
  const int64_t i = ((int64_t)LMK_BLOCK(x) * 256 + LMK_THREAD(x)) * 2;
  if (i >= count)
    return;
  target[i] = source[i];
  target[i + 1] = source[i + 1];
}

LMK_KERNEL lmk_probe_empty(int64_t nothing)
{
  (void)nothing;
}
