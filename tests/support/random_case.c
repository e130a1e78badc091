/* SPDX-License-Identifier: Apache-2.0 */
#include "random_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int roll(unsigned *state, int sides)
{
  *state = *state * 1664525u + 1013904223u;
  return (int)(*state >> 9) % sides;
}

static void draw_faces(unsigned *state, lamina_solver_options *options)
{
  const bool flat = options->lattice == LAMINA_D2Q9;
  for (int axis = 0; axis < (flat ? 2 : 3); axis++) {
    if (roll(state, 2))
      continue;
    for (int face = 2 * axis; face < 2 * axis + 2; face++) {
      options->faces[face].kind = LAMINA_FACE_WALL;
      double u[3] = {0.05, -0.03, flat ? 0.0 : 0.02};
      u[axis] = 0.0;
      if (roll(state, 2))
        options->faces[face].velocity = (lamina_real3){u[0], u[1], u[2]};
    }
  }
}

random_case random_case_draw(unsigned *state)
{
  static const lamina_index widths[] = {1, 2, 3, 4, 5, 8, 12, 16, 18, 33, 36, 64, 130, 256};
  static const lamina_index lengths[] = {1, 2, 7, 20, 37};
  static const int partitions[] = {1, 2, 5};
  random_case drawn = {.options = lamina_solver_options_default()};
  lamina_solver_options *o = &drawn.options;
  o->lattice = (lamina_lattice)roll(state, 3);
  o->cells = (lamina_int3){widths[roll(state, 14)], 1 + roll(state, 6), 5 + roll(state, 4)};
  if (o->lattice == LAMINA_D2Q9)
    o->cells = (lamina_int3){o->cells.x, 5 + roll(state, 5), 1};
  o->collision = (lamina_collision)roll(state, 5);
  if (o->collision == LAMINA_CUMULANT && o->lattice == LAMINA_D3Q19)
    o->collision = LAMINA_TRT;
  o->precision = (lamina_precision)roll(state, 2);
  o->layout = (lamina_layout)roll(state, 4);
  o->streaming = (lamina_streaming)roll(state, 3);
  o->omega = 1.7;
  o->partitions = partitions[roll(state, 3)];
  o->no_overlap = roll(state, 2) != 0;
  if (roll(state, 2))
    o->force = (lamina_real3){1e-4, 2e-4, o->lattice == LAMINA_D2Q9 ? 0.0 : -1e-4};
  draw_faces(state, o);
  drawn.steps = lengths[roll(state, 5)];
  return drawn;
}

void random_case_describe(const random_case *drawn, char text[256])
{
  const lamina_solver_options *o = &drawn->options;
  snprintf(text, 256, "%s %s %s %s %s, %lld x %lld x %lld cells, walls %d%d%d, %d partitions, %s, force %g, %lld steps",
           lamina_lattice_name(o->lattice), lamina_collision_name(o->collision), lamina_precision_name(o->precision),
           lamina_streaming_name(o->streaming), lamina_layout_name(o->layout), (long long)o->cells.x,
           (long long)o->cells.y, (long long)o->cells.z, o->faces[0].kind, o->faces[2].kind, o->faces[4].kind,
           o->partitions, o->no_overlap ? "no overlap" : "overlap", o->force.x, (long long)drawn->steps);
}

void random_case_start(void *user, lamina_real3 centre, lamina_cell_state *state)
{
  (void)user;
  state->density = 1.0 + 0.01 * sin(1.7 * centre.x + 0.9 * centre.y + 0.3 * centre.z);
  state->velocity[0] = 0.03 * sin(2.1 * centre.y + centre.z);
  state->velocity[1] = 0.02 * cos(1.3 * centre.x + 0.7 * centre.z);
  state->velocity[2] = 0.025 * sin(centre.x + 0.37 * centre.y);
}

static lamina_status read_planes(const lamina_solver *solver, case_outcome *outcome)
{
  const size_t plane = (size_t)lamina_solver_plane_bytes(solver);
  const lamina_index count = lamina_solver_plane_count(solver);
  outcome->bytes = plane * (size_t)count;
  outcome->planes = malloc(outcome->bytes);
  lamina_status status = outcome->planes != NULL ? LAMINA_OK : LAMINA_ERROR_MEMORY;
  for (lamina_index z = 0; z < count && status == LAMINA_OK; z++)
    status = lamina_solver_get_plane(solver, z, outcome->planes + plane * (size_t)z);
  return status;
}

case_outcome random_case_run(const random_case *drawn, lamina_backend backend)
{
  case_outcome outcome = {0};
  lamina_context *ctx = NULL;
  lamina_solver *solver = NULL;
  const lamina_context_options one_thread = {.threads = 1};
  lamina_solver_options options = drawn->options;
  options.backend = backend;
  outcome.status = lamina_context_create(&one_thread, &ctx);
  if (outcome.status == LAMINA_OK)
    outcome.status = lamina_solver_create(ctx, &options, &solver);
  if (outcome.status == LAMINA_OK)
    outcome.status = lamina_solver_initialise(solver, random_case_start, NULL);
  if (outcome.status == LAMINA_OK)
    outcome.status = lamina_solver_run(solver, drawn->steps);
  if (outcome.status == LAMINA_OK)
    outcome.status = read_planes(solver, &outcome);
  if (outcome.status == LAMINA_OK)
    outcome.status = lamina_solver_totals(solver, &outcome.totals);
  snprintf(outcome.message, sizeof outcome.message, "%s", lamina_error_message(ctx));
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
  return outcome;
}

void case_outcome_free(case_outcome *outcome)
{
  free(outcome->planes);
  outcome->planes = NULL;
}

static double value_at(const case_outcome *outcome, bool is_double, size_t i)
{
  return is_double ? ((const double *)outcome->planes)[i] : (double)((const float *)outcome->planes)[i];
}

double case_outcome_difference(const case_outcome *a, const case_outcome *b, lamina_precision precision)
{
  const bool is_double = precision == LAMINA_F64;
  double worst = 0.0;
  for (size_t i = 0; i < a->bytes / (is_double ? sizeof(double) : sizeof(float)); i++) {
    const double difference = fabs(value_at(a, is_double, i) - value_at(b, is_double, i));
    if (!(difference <= worst))
      worst = difference;
  }
  return worst;
}
