/* SPDX-License-Identifier: Apache-2.0 */
/* A time series as CSV: a header with units, then a row a sample: step, time, values. Point as the decimal sign in any
 * locale, shortest digits that give the same double back, "nan" for what is not finite. Every row reaches the file
 * before append returns. */
#ifndef LMI_SERIES_H
#define LMI_SERIES_H

#include <stddef.h>

#include <lamina/context.h>
#include <lamina/types.h>

typedef struct lmi_series lmi_series;

/* `columns` name the values with their unit ("drag_n", "max_speed_m_per_s"); "step" and "time_s" are put in front.
 * resume_step < 0: a new file, an old one is replaced. Otherwise rows after that step (and a last row cut short by a
 * crash) are removed and the file goes on; it must have the same header. A missing file is begun anew with a remark.
 * Errors: ARGUMENT, FILE, CASE (the header differs). */
LAMINA_NODISCARD lamina_status lmi_series_open(lamina_context *ctx, const char *path, const char *const *columns,
                                               size_t column_count, lamina_index resume_step, lmi_series **series);
LAMINA_NODISCARD lamina_status lmi_series_append(lmi_series *series, lamina_index step, double time,
                                                 const double *values);

/* Syncs and closes; an error of the last write is told. NULL does nothing. The series is gone either way. */
LAMINA_NODISCARD lamina_status lmi_series_close(lmi_series *series);

#endif
