/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "units.h"

/* The default lattice speed is as fast as accuracy allows: 0.1, less where tau would pass 1 (slow, viscous flows), but
 * not below 0.01, where a run would only become long. */
static double default_lattice_speed(double cells_per_length, double reynolds)
{
  const double highest_viscosity = (LMI_TAU_DEFAULT_HIGHEST - 0.5) / 3.0;
  const double by_tau = highest_viscosity * reynolds / cells_per_length;
  return fmin(LMI_LATTICE_SPEED_DEFAULT, fmax(by_tau, 0.01));
}

lamina_units lmi_units_make(const lmi_units_input *in)
{
  lamina_units u = {0};
  u.cell_size = in->length / (double)in->cells_x;
  u.density = in->density;
  u.reference_length = in->reference_length;
  u.reference_speed = in->speed;
  u.viscosity = in->viscosity > 0 ? in->viscosity : in->speed * in->reference_length / in->reynolds;
  u.reynolds = in->reynolds > 0 ? in->reynolds : in->speed * in->reference_length / in->viscosity;

  const double cells_per_length = in->reference_length / u.cell_size;
  if (in->tau > 0)
    u.lattice_speed = (in->tau - 0.5) / 3.0 * u.reynolds / cells_per_length;
  else
    u.lattice_speed = in->lattice_speed > 0 ? in->lattice_speed : default_lattice_speed(cells_per_length, u.reynolds);
  u.time_step = u.cell_size * u.lattice_speed / in->speed;
  u.lattice_viscosity = u.viscosity * u.time_step / (u.cell_size * u.cell_size);
  u.tau = in->tau > 0 ? in->tau : 3.0 * u.lattice_viscosity + 0.5;
  if (in->tau > 0)
    u.lattice_viscosity = (in->tau - 0.5) / 3.0;
  u.omega = 1.0 / u.tau;

  u.velocity_unit = u.cell_size / u.time_step;
  u.acceleration_unit = u.velocity_unit / u.time_step;
  u.pressure_unit = u.density * u.velocity_unit * u.velocity_unit;
  const double fastest = fmax(in->fastest, in->speed) / u.velocity_unit;
  u.mach = fastest * sqrt(3.0);
  u.cell_reynolds = fastest / u.lattice_viscosity;
  return u;
}

double lmi_units_cell_reynolds_limit(lamina_collision collision)
{
  switch (collision) {
  case LAMINA_BGK: return 25.0;
  case LAMINA_TRT:
  case LAMINA_REGULARIZED: return 50.0;
  case LAMINA_CUMULANT:
  case LAMINA_SMAGORINSKY: break;
  }
  return 2000.0;
}

static lmi_finding *add(lmi_finding *findings, size_t *count, lmi_judgement judgement, bool is_refused)
{
  lmi_finding *finding = &findings[(*count)++];
  finding->judgement = judgement;
  finding->is_refused = is_refused;
  return finding;
}

/* The number that moves the Mach number: the lattice speed, or tau where that was given. */
static void advise_mach(const lamina_units *u, const lmi_units_input *in, double target, char *advice, size_t capacity)
{
  const double factor = target / u->mach;
  if (in->tau > 0)
    snprintf(advice, capacity, "lower relaxation_time from %.6g to %.6g", in->tau, 0.5 + (in->tau - 0.5) * factor);
  else
    snprintf(advice, capacity, "lower lattice_speed from %.3g to %.3g", u->lattice_speed, u->lattice_speed * factor);
}

static void judge_mach(const lamina_units *u, const lmi_units_input *in, lmi_finding *findings, size_t *count)
{
  char advice[96];
  const double fastest = u->mach / sqrt(3.0);
  if (!(u->mach <= LMI_MACH_REFUSED)) {
    lmi_finding *finding = add(findings, count, LMI_MACH_TOO_HIGH, true);
    advise_mach(u, in, 0.17, advice, sizeof advice);
    snprintf(finding->text, sizeof finding->text,
             "the fastest speed is %.3g cells a step, Mach %.2f (tau %.4g, Re %.4g): unstable; at most Mach %.1f, good "
             "below 0.2; %s",
             fastest, u->mach, u->tau, u->reynolds, LMI_MACH_REFUSED, advice);
  } else if (u->mach > LMI_MACH_WARNED) {
    lmi_finding *finding = add(findings, count, LMI_MACH_HIGH, false);
    advise_mach(u, in, 0.17, advice, sizeof advice);
    snprintf(finding->text, sizeof finding->text,
             "the fastest speed is %.3g cells a step, Mach %.2f: compressibility errors of about %.0f %%; good below "
             "Mach 0.2; %s",
             fastest, u->mach, 100.0 * u->mach * u->mach, advice);
  }
}

static void judge_tau(const lamina_units *u, const lmi_units_input *in, const lamina_solver_options *options,
                      lmi_finding *findings, size_t *count)
{
  const double epsilon = options->precision == LAMINA_F64 ? DBL_EPSILON : FLT_EPSILON;
  const double limit = lmi_units_cell_reynolds_limit(options->collision);
  if (!(u->tau - 0.5 >= 8.0 * epsilon) || !(u->omega > 0)) {
    lmi_finding *finding = add(findings, count, LMI_TAU_UNREPRESENTABLE, true);
    snprintf(finding->text, sizeof finding->text,
             "tau is 1/2 + %.3g, which %s arithmetic cannot tell from 1/2 (Re %.4g); lower the Reynolds number or take "
             "more cells",
             u->lattice_viscosity * 3.0, lamina_precision_name(options->precision), u->reynolds);
  } else if (u->cell_reynolds > limit) {
    lmi_finding *finding = add(findings, count, LMI_TAU_LOW, false);
    const double cells = (double)in->cells_x * u->cell_reynolds / limit;
    snprintf(finding->text, sizeof finding->text,
             "the Reynolds number of one cell is %.4g (tau %.6g): %s often turns non-finite above %.0f; take %.0f "
             "cells along x, a "
             "lower Reynolds number%s",
             u->cell_reynolds, u->tau, lamina_collision_name(options->collision), limit, ceil(cells - 1e-6),
             options->collision == LAMINA_CUMULANT ? "" : ", or collision cumulant");
  } else if (u->tau > LMI_TAU_WARNED_HIGH) {
    lmi_finding *finding = add(findings, count, LMI_TAU_HIGH, false);
    char advice[96] = "lower relaxation_time to 1";
    if (!(in->tau > 0))
      snprintf(advice, sizeof advice, "lower lattice_speed from %.3g to %.3g", u->lattice_speed,
               u->lattice_speed * (LMI_TAU_DEFAULT_HIGHEST - 0.5) / (u->tau - 0.5));
    snprintf(finding->text, sizeof finding->text, "tau is %.4g: walls and viscosity lose accuracy above %.0f; %s",
             u->tau, LMI_TAU_WARNED_HIGH, advice);
  }
}

size_t lmi_units_judge(const lamina_units *units, const lmi_units_input *input, const lamina_solver_options *options,
                       lmi_finding findings[LMI_MAX_FINDINGS])
{
  size_t count = 0;
  judge_mach(units, input, findings, &count);
  judge_tau(units, input, options, findings, &count);
  return count;
}
