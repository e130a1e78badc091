/* SPDX-License-Identifier: Apache-2.0 */
/* A channel between two walls, driven by a body force, compared with Poiseuille's parabola.
 *
 *   cc channel.c $(pkg-config --cflags --libs lamina) -lm -o channel && ./channel
 *
 * With two relaxation rates and the magic parameter 3/16 half-way walls lie exactly half a cell from the outermost
 * centres, so that the profile is exact to round-off (Ginzburg and d'Humieres 2003). Lattice units throughout. */
#include <lamina/lamina.h>
#include <math.h>
#include <stdio.h>

enum { HEIGHT = 32 };

static const double FORCE = 1e-6;

static lamina_solver_options channel_options(void)
{
  lamina_solver_options options = lamina_solver_options_default();
  options.cells = (lamina_int3){8, HEIGHT, 1};
  options.lattice = LAMINA_D2Q9;
  options.collision = LAMINA_TRT;
  options.precision = LAMINA_F64;
  options.omega = 1.0;
  options.magic = 3.0 / 16.0;
  options.force = (lamina_real3){FORCE, 0, 0};
  options.faces[LAMINA_FACE_Y_LOW].kind = LAMINA_FACE_WALL;
  options.faces[LAMINA_FACE_Y_HIGH].kind = LAMINA_FACE_WALL;
  return options;
}

/* Largest deviation from the parabola, as a share of its maximum. */
static double relative_error(const double *speed, double viscosity)
{
  const double maximum = FORCE * HEIGHT * HEIGHT / (8.0 * viscosity);
  double error = 0.0;
  for (int j = 0; j < HEIGHT; j++) {
    const double y = j + 0.5;
    const double exact = FORCE / (2.0 * viscosity) * y * (HEIGHT - y);
    error = fmax(error, fabs(speed[j] - exact) / maximum);
  }
  return error;
}

/* Runs until the flow is developed and reads the speed across the channel. */
static lamina_status measure(lamina_context *context, double *speed)
{
  const lamina_solver_options options = channel_options();
  const lamina_box line = {.first = {0, 0, 0}, .count = {1, HEIGHT, 1}};
  const lamina_fields fields = {.velocity = {speed, NULL, NULL}};
  lamina_solver *solver = NULL;
  lamina_status status = lamina_solver_create(context, &options, &solver);
  if (status == LAMINA_OK)
    status = lamina_solver_run(solver, 16000);
  if (status == LAMINA_OK)
    status = lamina_solver_read(solver, line, &fields);
  lamina_solver_destroy(solver);
  return status;
}

int main(void)
{
  lamina_context *context = NULL;
  double speed[HEIGHT] = {0};
  lamina_status status = lamina_context_create(NULL, &context);
  if (status == LAMINA_OK)
    status = measure(context, speed);
  if (status != LAMINA_OK) {
    fprintf(stderr, "channel: %s\n", lamina_error_message(context));
    lamina_context_destroy(context);
    return lamina_status_exit_code(status);
  }
  lamina_context_destroy(context);
  const double error = relative_error(speed, (1.0 / channel_options().omega - 0.5) / 3.0);
  printf("largest deviation from Poiseuille: %.1e of the maximum\n", error);
  return error < 1e-9 ? 0 : 5;
}
