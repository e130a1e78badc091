/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units, as people write them: "10 s", "20 ms", "5 mm", "1e-6 m2/s", "2.5". Without a unit the SI one is
 * meant. */
#ifndef LMI_CASE_QUANTITY_H
#define LMI_CASE_QUANTITY_H

#include "base/base.h"

typedef enum lmi_dimension {
  LMI_DIMENSION_NONE,
  LMI_DIMENSION_TIME,
  LMI_DIMENSION_LENGTH,
  LMI_DIMENSION_SPEED,
  LMI_DIMENSION_VISCOSITY,
  LMI_DIMENSION_DENSITY,
  LMI_DIMENSION_ACCELERATION,
  LMI_DIMENSION_PRESSURE,
  LMI_DIMENSION_AREA,
} lmi_dimension;

typedef enum lmi_quantity_fault {
  LMI_QUANTITY_OK,
  LMI_QUANTITY_NOT_A_NUMBER, /* "abc", "", ".nan", "1,5" */
  LMI_QUANTITY_NOT_FINITE,   /* "nan", "inf", "1e400" */
  LMI_QUANTITY_UNKNOWN_UNIT, /* "10 parsec" */
} lmi_quantity_fault;

/* Reads `text` into SI units. */
lmi_quantity_fault lmi_quantity_parse(const char *text, lmi_dimension dimension, double *value);

/* "s, ms, us, min, h"; "" for a pure number. */
const char *lmi_dimension_units(lmi_dimension dimension);

#endif
