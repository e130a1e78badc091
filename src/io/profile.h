/* SPDX-License-Identifier: Apache-2.0 */
/* A scalar along a straight line parallel to an axis: taken from cells, interpolated, compared with reference data,
 * written as CSV and drawn by gnuplot from a script that stays beside the data. */
#ifndef LMI_PROFILE_H
#define LMI_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include <lamina/solver.h>

#include "reference.h"

/* Samples at rising positions: cell centres, and the walls at both ends where their values are known. */
typedef struct lmi_profile {
  lamina_context *ctx;
  size_t count;
  double *position; /* m */
  double *value;
} lmi_profile;

/* Fills `values` with the scalar at the cells of a box, x fastest. */
typedef lamina_status lmi_cell_reader(void *user, lamina_box box, double *values);

/* The line to take. Positions in the unit of origin and spacing. */
typedef struct lmi_profile_line {
  lamina_int3 cells;
  lamina_real3 origin, spacing;
  int axis;             /* 0, 1, 2: the line runs along x, y or z */
  lamina_real3 through; /* a point on it; the coordinate along the axis is ignored */
  bool has_low_wall, has_high_wall;
  double low_wall, high_wall; /* values on the faces at both ends, where known */
} lmi_profile_line;

/* Takes the line out of the cells around it (weights linear across it: second order). Errors: ARGUMENT (outside the
 * box), and what the reader returns. On failure *profile is empty. */
LAMINA_NODISCARD lamina_status lmi_profile_take(lamina_context *ctx, const lmi_profile_line *line,
                                                lmi_cell_reader *reader, void *user, lmi_profile *profile);
void lmi_profile_free(lmi_profile *profile);

/* Value at a position by the cubic through the four nearest samples (fewer samples: lower order; outside the ends:
 * along the cubic there). */
double lmi_profile_at(const lmi_profile *profile, double position);

/* The least (sign -1) or greatest (sign +1) interior value by the parabola through the extreme sample and its
 * neighbours. */
double lmi_profile_extremum(const lmi_profile *profile, int sign, double *position);

/* How the SI profile becomes the reference's numbers: (position - origin) / length, value / scale. */
typedef struct lmi_profile_scale {
  double origin, length, value;
} lmi_profile_scale;

typedef struct lmi_comparison {
  const lmi_reference *reference;
  size_t points;    /* compared; excluded points do not count */
  double max_error; /* of the points, in the reference's unit */
  double max_error_position;
  double rms_error;
  double max_extremum_error; /* relative, of the extrema; NaN where the reference lists none */
  double gate;               /* that max_error was held against; 0: none */
  bool passed;
} lmi_comparison;

/* Every point that is not excluded, and the extrema. gate > 0 takes the place of the reference's gate for points. */
lmi_comparison lmi_profile_compare(const lmi_profile *profile, const lmi_reference *reference, lmi_profile_scale scale,
                                   double gate);

/* What stands at the axes: "y (m)", "x velocity (m/s)". */
typedef struct lmi_profile_labels {
  const char *title, *position, *value;
  const char *position_column, *value_column; /* of the CSV: "y_m", "velocity_x_m_per_s" */
} lmi_profile_labels;

/* Writes BASE.csv and BASE.gp, BASE-reference.csv where a reference is given (in SI by `scale`, with the computed value
 * and the error beside each point), and BASE.png by gnuplot. Without gnuplot a remark is logged and *has_picture (may
 * be NULL) is false. Errors: FILE, MEMORY. */
LAMINA_NODISCARD lamina_status lmi_profile_write(const lmi_profile *profile, const char *base,
                                                 const lmi_profile_labels *labels, const lmi_reference *reference,
                                                 lmi_profile_scale scale, bool *has_picture);

#endif
