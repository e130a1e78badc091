/* SPDX-License-Identifier: Apache-2.0 */
/* SI to lattice units and back, and whether the numbers promise a stable run (docs/theory/units.md). */
#ifndef LMI_UNITS_H
#define LMI_UNITS_H

#include <lamina/case.h>

#include "base/base.h"

/* What the user gives. Exactly one of reynolds and viscosity, at most one of lattice_speed and tau; 0 means not given.
 */
typedef struct lmi_units_input {
  lamina_index cells_x;
  double length;           /* m, of the domain along x */
  double reference_length; /* m */
  double speed;            /* m/s, reference */
  double fastest;          /* m/s: the greatest speed the case names; at least `speed` */
  double density;          /* kg/m3 */
  double reynolds;
  double viscosity; /* m2/s */
  double lattice_speed;
  double tau;
} lmi_units_input;

/* Limits of the numbers above, named in messages. */
#define LMI_MACH_REFUSED 0.5 /* above it the scheme is outside its domain */
#define LMI_MACH_WARNED 0.3  /* above it the compressibility error passes a few per cent */
#define LMI_LATTICE_SPEED_DEFAULT 0.1
#define LMI_TAU_WARNED_HIGH 2.0 /* above it walls and viscosity lose accuracy */
#define LMI_TAU_DEFAULT_HIGHEST 1.0

lamina_units lmi_units_make(const lmi_units_input *input);

/* Largest cell Reynolds number at which a collision was seen to stay stable in under-resolved shear; above it a
 * warning. */
double lmi_units_cell_reynolds_limit(lamina_collision collision);

typedef enum lmi_judgement {
  LMI_STABLE,
  LMI_MACH_HIGH,           /* warn */
  LMI_MACH_TOO_HIGH,       /* refuse */
  LMI_TAU_HIGH,            /* warn */
  LMI_TAU_LOW,             /* warn: cell Reynolds number above the collision's limit */
  LMI_TAU_UNREPRESENTABLE, /* refuse: tau - 1/2 is lost in the precision */
} lmi_judgement;

/* The findings about these numbers, worst first; each with a sentence that names the number to change. */
enum { LMI_MAX_FINDINGS = 4, LMI_FINDING_BYTES = 320 };
typedef struct lmi_finding {
  lmi_judgement judgement;
  bool is_refused;
  char text[LMI_FINDING_BYTES];
} lmi_finding;

size_t lmi_units_judge(const lamina_units *units, const lmi_units_input *input, const lamina_solver_options *options,
                       lmi_finding findings[LMI_MAX_FINDINGS]);

#endif
