/* SPDX-License-Identifier: Apache-2.0 */
/* A velocity profile as CSV: a header, then rows. The first column is a position along one axis, rising; the others are
 * components of the velocity:
 *   y_m,velocity_x_m_per_s
 *   0.0,0.0
 *   0.205,0.3
 *   0.41,0.0
 * Between rows values are interpolated, outside they stay what they are at the end. */
#ifndef LMI_VELOCITY_TABLE_H
#define LMI_VELOCITY_TABLE_H

#include "base/base.h"

typedef struct lmi_velocity_table {
  int axis; /* of the positions */
  size_t count;
  double *position;
  double (*velocity)[3];
} lmi_velocity_table;

/* Errors: FILE (cannot be read), CASE (FILE:LINE: what is wrong). */
LAMINA_NODISCARD lamina_status lmi_velocity_table_read(lamina_context *ctx, const char *path,
                                                       lmi_velocity_table *table);
void lmi_velocity_table_free(lamina_context *ctx, lmi_velocity_table *table);
void lmi_velocity_table_at(const lmi_velocity_table *table, double position, double velocity[3]);

#endif
