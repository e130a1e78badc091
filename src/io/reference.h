/* SPDX-License-Identifier: Apache-2.0 */
/* Published results as data: where on which line which value was found, and how close a run is to come. */
#ifndef LMI_REFERENCE_H
#define LMI_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lmi_reference_point {
  double position, value; /* in lengths and reference speeds */
  bool is_excluded;       /* known misprint: shown, not compared */
} lmi_reference_point;

typedef struct lmi_reference_extremum {
  int sign; /* -1 minimum, +1 maximum */
  double position, value;
} lmi_reference_extremum;

typedef struct lmi_reference {
  const char *name;  /* "ghia-re1000-u" */
  const char *title; /* "Ghia, Ghia and Shin 1982, Re 1000" */
  int dimension;     /* 2 or 3 */
  double reynolds;
  int component;                     /* of the velocity: 0, 1, 2 */
  int axis;                          /* the line runs along it */
  double through[3];                 /* a point on the line, in lengths */
  const lmi_reference_point *points; /* by rising position */
  size_t point_count;
  const lmi_reference_extremum *extrema;
  size_t extremum_count;
  double gate;                  /* largest deviation at a point, in reference speeds; 0: only the extrema are judged */
  double extremum_gate;         /* largest relative deviation of an extremum; 0: not judged */
  const char *excluded_because; /* NULL when no point is excluded */
} lmi_reference;

/* NULL when there is none of that name; then lmi_reference_names helps to say what there is. */
const lmi_reference *lmi_reference_find(const char *name);

/* All names, in order. */
const char *const *lmi_reference_names(size_t *count);

#endif
