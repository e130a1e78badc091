/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes, walls and random starts that the backend tests share. */
#ifndef FLOW_SETUP_H
#define FLOW_SETUP_H

#include <lamina/lamina.h>
#include <stdlib.h>

/* A start that looks random and depends on the cell's place alone. */
static inline double scatter(lamina_real3 centre, unsigned salt)
{
  unsigned h = (unsigned)(centre.x * 7919 + centre.y * 104729 + centre.z * 1299709) + salt * 2654435761u;
  h ^= h >> 13;
  h *= 0x5bd1e995u;
  h ^= h >> 15;
  return (double)(h & 0xffff) / 65535.0 - 0.5;
}

static inline void random_start(void *user, lamina_real3 centre, lamina_cell_state *state)
{
  const int dimension = *(const int *)user;
  state->density = 1.0 + 0.02 * scatter(centre, 1);
  for (int a = 0; a < dimension; a++)
    state->velocity[a] = 0.06 * scatter(centre, 2u + (unsigned)a);
}

enum { BOXES = 4 };

/* 0: periodic; 1: walls on every side; 2: walls across the last axis; 3: walls across x. The last wall moves; with
 * force, the fluid is pushed too. */
static inline lamina_solver_options box_options(lamina_lattice lattice, int box, bool force)
{
  lamina_solver_options options = lamina_solver_options_default();
  const int dimension = lamina_lattice_dimension(lattice), last = dimension - 1;
  options.lattice = lattice;
  options.omega = 1.6;
  options.cells = dimension == 2 ? (lamina_int3){37, 9, 1} : (lamina_int3){37, 5, 7};
  for (int face = 0; face < 2 * dimension; face++) {
    const int axis = face / 2;
    const bool wall = box == 1 || (box == 2 && axis == last) || (box == 3 && axis == 0);
    options.faces[face].kind = wall ? LAMINA_FACE_WALL : LAMINA_FACE_PERIODIC;
  }
  if (options.faces[2 * last + 1].kind == LAMINA_FACE_WALL)
    options.faces[2 * last + 1].velocity = (lamina_real3){0.05, dimension == 3 ? 0.02 : 0.0, 0.0};
  if (options.faces[LAMINA_FACE_X_LOW].kind == LAMINA_FACE_WALL)
    options.faces[LAMINA_FACE_X_LOW].velocity.y = 0.03;
  if (force)
    options.force = (lamina_real3){1e-4, 2e-4, dimension == 3 ? -1e-4 : 0.0};
  return options;
}

/* All populations in canonical order, to be freed; *bytes is their size. */
static inline unsigned char *copy_state(const lamina_solver *solver, size_t *bytes)
{
  const size_t plane = (size_t)lamina_solver_plane_bytes(solver), planes = (size_t)lamina_solver_plane_count(solver);
  unsigned char *state = malloc(plane * planes);
  *bytes = plane * planes;
  for (size_t z = 0; z < planes; z++)
    if (lamina_solver_get_plane(solver, (lamina_index)z, state + z * plane) != LAMINA_OK)
      abort();
  return state;
}

#endif
