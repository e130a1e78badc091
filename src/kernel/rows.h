/* SPDX-License-Identifier: Apache-2.0 */
/* A band of rows that all read and write alike: pointers for the first row, and by how much they move to the next. Host
 * only. Addresses are of the first cell of a row, x = 0, already shifted by the velocity. */
#ifndef LMK_ROWS_H
#define LMK_ROWS_H

typedef struct lmk_rows {
  char *read[LMK_MAX_Q], *write[LMK_MAX_Q];
  char *edge_read[LMK_MAX_Q];  /* where f_q of the row's end comes from: x = 0 for cx > 0, the last cell for cx < 0 */
  char *edge_write[LMK_MAX_Q]; /* where f*_q of the row's end goes: the last cell for cx > 0, x = 0 for cx < 0 */
  int64_t edge_read_step[LMK_MAX_Q], edge_write_step[LMK_MAX_Q]; /* bytes to the next row */
  double add[LMK_MAX_Q], edge_add[LMK_MAX_Q];                    /* momentum that a moving wall gives to f_q: 6 w c.u */
  int64_t row_step;                                              /* bytes to the next row, for read and write */
  int64_t cells, count;                                          /* cells of a row, rows of the band */
  int64_t stride;                                                /* elements between cells */
  int64_t prefetch_cells;                                        /* how far ahead of a cell its stream is fetched */
  const char *fetch; /* a run: lines fetched meanwhile, one after the other */
  bool has_add;      /* some add[q] is not 0 */
  bool in_place;     /* write[q] == read[opposite q] for every q */
} lmk_rows;

typedef int64_t lmk_update_rows_function(lmk_rows *rows, const lmk_rates *rates);

LMK_INLINE void lmk_rows_advance(lmk_rows *rows, int velocities)
{
  for (int q = 0; q < velocities; q++) {
    rows->read[q] += rows->row_step;
    rows->write[q] += rows->row_step;
    rows->edge_read[q] += rows->edge_read_step[q];
    rows->edge_write[q] += rows->edge_write_step[q];
  }
}

#endif
