/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "initial_state.h"

static const double PI = 3.14159265358979323846;

static double wave_number(const lmi_initial_state *s)
{
  return 2.0 * PI / s->length;
}

void lmi_initial_uniform(void *user, lamina_real3 centre, lamina_cell_state *state)
{
  (void)centre;
  const lmi_initial_state *s = user;
  memcpy(state->velocity, s->mean, sizeof state->velocity);
}

void lmi_taylor_green_velocity(double speed, double k, double x, double y, double velocity[2])
{
  velocity[0] = -speed * cos(k * x) * sin(k * y);
  velocity[1] = speed * sin(k * x) * cos(k * y);
}

void lmi_initial_taylor_green(void *user, lamina_real3 c, lamina_cell_state *state)
{
  const lmi_initial_state *s = user;
  const double k = wave_number(s);
  const double u = s->speed;
  lmi_taylor_green_velocity(u, k, c.x, c.y, state->velocity);
  state->density = 1.0 - 0.75 * u * u * (cos(2.0 * k * c.x) + cos(2.0 * k * c.y));
  state->gradient[0][0] = u * k * sin(k * c.x) * sin(k * c.y);
  state->gradient[1][0] = -u * k * cos(k * c.x) * cos(k * c.y);
  state->gradient[0][1] = u * k * cos(k * c.x) * cos(k * c.y);
  state->gradient[1][1] = -u * k * sin(k * c.x) * sin(k * c.y);
}

void lmi_initial_taylor_green_3d(void *user, lamina_real3 c, lamina_cell_state *state)
{
  const lmi_initial_state *s = user;
  const double k = wave_number(s);
  const double u = s->speed;
  const double sx = sin(k * c.x), cx = cos(k * c.x);
  const double sy = sin(k * c.y), cy = cos(k * c.y);
  const double sz = sin(k * c.z), cz = cos(k * c.z);
  state->velocity[0] = u * sx * cy * cz;
  state->velocity[1] = -u * cx * sy * cz;
  state->density = 1.0 + 3.0 * u * u / 16.0 * (cos(2.0 * k * c.x) + cos(2.0 * k * c.y)) * (cos(2.0 * k * c.z) + 2.0);
  state->gradient[0][0] = u * k * cx * cy * cz;
  state->gradient[1][0] = -u * k * sx * sy * cz;
  state->gradient[2][0] = -u * k * sx * cy * sz;
  state->gradient[0][1] = u * k * sx * sy * cz;
  state->gradient[1][1] = -u * k * cx * cy * cz;
  state->gradient[2][1] = u * k * cx * sy * sz;
}

void lmi_initial_shear_layer(void *user, lamina_real3 c, lamina_cell_state *state)
{
  const lmi_initial_state *s = user;
  const double k = wave_number(s);
  const double x = c.x / s->length;
  const double y = c.y / s->length;
  const double argument = s->steepness * (y <= 0.5 ? y - 0.25 : 0.75 - y);
  const double slope = (y <= 0.5 ? 1.0 : -1.0) * s->steepness / s->length;
  const double sech = 1.0 / cosh(argument);
  state->velocity[0] = s->speed * tanh(argument);
  state->velocity[1] = s->speed * s->perturbation * sin(2.0 * PI * (x + 0.25));
  state->gradient[1][0] = s->speed * slope * sech * sech;
  state->gradient[0][1] = s->speed * s->perturbation * k * cos(2.0 * PI * (x + 0.25));
}

void lmi_initial_shear_wave(void *user, lamina_real3 c, lamina_cell_state *state)
{
  const lmi_initial_state *s = user;
  const double k = wave_number(s);
  memcpy(state->velocity, s->mean, sizeof state->velocity);
  state->velocity[1] += s->speed * sin(k * c.x);
  state->gradient[0][1] = s->speed * k * cos(k * c.x);
}
