/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic on the link to the host's memory, which `values` lies in: each element is read, goes through `flops`
 * dependent operations, and is written back. x -> x/2 + 1/2 draws everything to 1: no overflow, however long it runs.
 * `zero` is a parameter so that the one addition of an odd count cannot be left out. Traffic: 16 bytes an element. */
LMK_KERNEL LMK_BOUNDS(256, 1) lmk_link_sweep(double *values, int64_t count, int32_t flops, double zero)
{
  const int64_t stride = (int64_t)LMK_BLOCKS(x) * 256;
  for (int64_t i = (int64_t)LMK_BLOCK(x) * 256 + LMK_THREAD(x); i < count; i += stride) {
    double value = values[i];
    if ((flops & 1) != 0)
      value = value + zero;
    for (int32_t pair = 0; pair < flops / 2; pair++)
      value = LMK_FMA(value, 0.5, 0.5);
    values[i] = value;
  }
}
