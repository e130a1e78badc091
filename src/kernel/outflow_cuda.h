/* SPDX-License-Identifier: Apache-2.0 */
/* The mean density of each outflow before a step, on a device: a thread a row of the face, then one for all rows, in
 * the order of the host (flow/boundary_cells.c). One thread block. */

LMK_INLINE double LMK_NAME(sum_row)(const lmk_settle *settle, const lmk_outflow *out, int32_t row)
{
  const LMK_REAL *records = (const LMK_REAL *)settle->records;
  const lmk_open_face *face = &settle->faces[out->face];
  double sum = 0.0;
  for (int32_t i = out->row_first[row]; i < out->row_first[row + 1]; i++)
    sum = sum + (double)records[lmk_part_at(face, LMK_RECORD_EXCESS, out->cells[i])];
  return sum;
}

LMK_KERNEL LMK_BOUNDS(LMK_SETTLE_THREADS, 1) lmk_block_settle(LMK_ARGUMENT lmk_device_settle given)
{
  const lmk_settle *settle = &given.settle;
  double *row_sums = given.row_sums;
  for (int32_t o = 0; o < settle->outflow_count; row_sums += settle->outflows[o++].rows)
    for (int32_t row = LMK_THREAD(x); row < settle->outflows[o].rows; row += LMK_SETTLE_THREADS)
      row_sums[row] = LMK_NAME(sum_row)(settle, &settle->outflows[o], row);
  LMK_BARRIER();
  if (LMK_THREAD(x) != 0)
    return;
  row_sums = given.row_sums;
  for (int32_t o = 0; o < settle->outflow_count; row_sums += settle->outflows[o++].rows) {
    double sum = 0.0;
    for (int32_t row = 0; row < settle->outflows[o].rows; row++)
      sum = sum + row_sums[row];
    lmk_settle_face(settle, &settle->outflows[o], sum, (double)settle->outflows[o].row_first[settle->outflows[o].rows]);
  }
}
