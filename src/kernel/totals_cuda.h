/* SPDX-License-Identifier: Apache-2.0 */
/* Totals on a device: a thread sums a column of a segment, then a thread adds the columns of each segment. */
#define LMK_TOTALS_TEXT 1

LMK_KERNEL LMK_BOUNDS(LMK_TOTALS_THREADS, 1) lmk_sum_columns(LMK_ARGUMENT lmk_device_totals given)
{
  const lmk_totals *t = &given.totals;
  const int64_t x = (int64_t)LMK_BLOCK(x) * LMK_TOTALS_THREADS + LMK_THREAD(x);
  const int64_t segment = LMK_BLOCK(y), plane = LMK_BLOCK(z);
  if (x >= t->nx)
    return;
  lmk_sums sums;
  lmk_sum_column(t, x, segment, t->first + plane, &sums);
  given.columns[(plane * lmk_segments(t) + segment) * t->nx + x] = sums;
}

LMK_KERNEL LMK_BOUNDS(LMK_TOTALS_THREADS, 1) lmk_sum_segments(LMK_ARGUMENT lmk_device_totals given)
{
  const lmk_totals *t = &given.totals;
  const int64_t at = (int64_t)LMK_BLOCK(x) * LMK_TOTALS_THREADS + LMK_THREAD(x);
  if (at >= lmk_segments(t) * t->count)
    return;
  lmk_sums sums;
  lmk_clear_sums(&sums);
  for (int64_t x = 0; x < t->nx; x++)
    lmk_add_sums(&sums, &given.columns[at * t->nx + x]);
  given.segments[at] = sums;
}
