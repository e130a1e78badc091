/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <complex.h>
#include <math.h>

#include "exact_flow.h"

static const double PI = 3.14159265358979323846;

double lmi_exact_poiseuille(const lmi_channel *c, double y)
{
  return c->acceleration / (2.0 * c->viscosity) * y * (c->height - y) + c->slip;
}

double lmi_exact_poiseuille_slip(const lmi_channel *c, double cell_size, double magic)
{
  return c->acceleration * cell_size * cell_size / (2.0 * c->viscosity) * (4.0 * magic / 3.0 - 0.25);
}

double lmi_exact_couette(double low_speed, double high_speed, double height, double y)
{
  return low_speed + (high_speed - low_speed) * y / height;
}

/* U e^{i w t} sinh(k (H - y)) / sinh(k H), k = sqrt(i w / nu); written with decaying exponentials, so that no large k H
 * overflows. */
double lmi_exact_stokes2(const lmi_stokes2 *f, double y, double time)
{
  const double angular = 2.0 * PI / f->period;
  const double complex k = csqrt(I * angular / f->viscosity);
  const double complex shape = (cexp(-k * y) - cexp(-k * (2.0 * f->height - y))) / (1.0 - cexp(-2.0 * k * f->height));
  return f->speed * creal(cexp(I * angular * time) * shape);
}

/* cosh(a) / cosh(b) for |a| <= b without overflow. */
static double cosh_ratio(double a, double b)
{
  const double x = fabs(a);
  return exp(x - b) * (1.0 + exp(-2.0 * x)) / (1.0 + exp(-2.0 * b));
}

/* The series in y (half width a) with cosh in z; terms fall with the third power, so a few hundred give round-off. */
double lmi_exact_duct(const lmi_duct *d, double y, double z)
{
  enum { TERMS = 400 };
  const double a = 0.5 * d->width;
  const double b = 0.5 * d->height;
  double sum = 0;
  for (int term = TERMS - 1; term >= 0; term--) {
    const double i = 2.0 * term + 1.0;
    const double sign = term % 2 == 0 ? 1.0 : -1.0;
    const double angle = i * PI / (2.0 * a);
    sum += sign / (i * i * i) * (1.0 - cosh_ratio(angle * (z - b), angle * b)) * cos(angle * (y - a));
  }
  return 16.0 * d->acceleration * a * a / (d->viscosity * PI * PI * PI) * sum;
}
