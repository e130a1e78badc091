/* SPDX-License-Identifier: Apache-2.0 */
#include "naive_levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "naive_flow.h"

/* What travels on a level's cells between the steps of that level. */
typedef struct packet {
  double value, start; /* with and without what walls gave on the way */
  lamina_index origin; /* coarse cell it left, -1: it left a fine cell */
  int origin_q;
  int exists;
} packet;

typedef struct level {
  naive_flow *physics;
  lamina_index n[3];
  int *owner;      /* level of the leaf that covers each of its cells */
  double *f;       /* [cell][27], after collision */
  double *arrived; /* [cell][27]: from packets of the coarser level; NAN: nothing */
  packet *packets; /* [cell][27]: of the coarser level, on this level's cells */
  packet *moved;
} level;

struct naive_levels {
  lamina_solver_options options;
  int count, q, sub_cells;
  bool whole_walls;
  level levels[LAMINA_MAX_LEVELS];
};

static size_t cells_of(const level *l)
{
  return (size_t)(l->n[0] * l->n[1] * l->n[2]);
}

static size_t index_of(const level *l, const lamina_index at[3])
{
  return (size_t)((at[2] * l->n[1] + at[1]) * l->n[0] + at[0]);
}

static void place_of(const level *l, size_t index, lamina_index at[3])
{
  at[0] = (lamina_index)index % l->n[0];
  at[1] = (lamina_index)index / l->n[0] % l->n[1];
  at[2] = (lamina_index)index / l->n[0] / l->n[1];
}

static int is_divided(const naive_levels *s, int axis)
{
  return axis < (s->options.lattice == LAMINA_D2Q9 ? 2 : 3);
}

/* How many walls a step along c meets; the last of them; where it leads without any. */
static int walls_met(const naive_levels *s, const level *l, const lamina_index at[3], const int c[3], int *wall,
                     lamina_index to[3])
{
  int walls = 0;
  for (int a = 0; a < 3; a++) {
    to[a] = at[a] + c[a];
    if (to[a] >= 0 && to[a] < l->n[a])
      continue;
    const int face = 2 * a + (to[a] >= l->n[a]);
    if (s->options.faces[face].kind == LAMINA_FACE_WALL) {
      walls++;
      *wall = face;
    }
    to[a] = (to[a] + l->n[a]) % l->n[a];
  }
  return walls;
}

/* One step along q. Returns 0 when a wall is met: then `at` stays, and *add is what the wall gives to the reversed
 * population of a whole cell: nothing if it meets another wall too; with whole walls, nor if the opposite along the
 * wall does. */
static int move(const naive_levels *s, const level *l, lamina_index at[3], int q, double *add)
{
  const int *c = naive_velocity(l->physics, q);
  lamina_index to[3], other[3];
  int wall = 0, same = 0;
  const int walls = walls_met(s, l, at, c, &wall, to);
  *add = 0;
  if (walls == 0) {
    memcpy(at, to, sizeof to);
    return 1;
  }
  int mirrored[3] = {-c[0], -c[1], -c[2]};
  mirrored[wall / 2] = c[wall / 2];
  const lamina_real3 u = s->options.faces[wall].velocity;
  if (walls == 1 && (!s->whole_walls || walls_met(s, l, at, mirrored, &same, other) == 1))
    *add = -6 * naive_weight(l->physics, q) * (c[0] * u.x + c[1] * u.y + c[2] * u.z);
  return 0;
}

static void sub_place(const naive_levels *s, const lamina_index at[3], int sub, lamina_index to[3])
{
  int bit = 0;
  for (int a = 0; a < 3; a++) {
    to[a] = is_divided(s, a) ? 2 * at[a] + (sub >> bit & 1) : at[a];
    bit += is_divided(s, a);
  }
}

/* Does a leaf touch a finer one? */
static int is_ring(const level *l, int number, const lamina_index at[3], const naive_levels *s)
{
  for (int z = -1; z <= 1; z++)
    for (int y = -1; y <= 1; y++)
      for (int x = -1; x <= 1; x++) {
        const lamina_index offset[3] = {x, y, z};
        lamina_index there[3];
        int outside = 0;
        for (int a = 0; a < 3; a++) {
          there[a] = at[a] + offset[a];
          if (there[a] < 0 || there[a] >= l->n[a])
            outside |= s->options.faces[2 * a].kind == LAMINA_FACE_WALL;
          there[a] = (there[a] + l->n[a]) % l->n[a];
        }
        if (!outside && l->owner[index_of(l, there)] < number)
          return 1;
      }
  return 0;
}

/* Slope of f*_q along an axis: from the leaves of the same level on both sides, on one, or none. */
static double slope(const naive_levels *s, int number, const lamina_index at[3], int axis, int q)
{
  const level *l = &s->levels[number];
  const double own = l->f[index_of(l, at) * 27 + (size_t)q];
  double sum = 0;
  int sides = 0;
  for (int side = -1; side <= 1; side += 2) {
    lamina_index there[3] = {at[0], at[1], at[2]};
    there[axis] += side;
    if ((there[axis] < 0 || there[axis] >= l->n[axis]) && s->options.faces[2 * axis].kind == LAMINA_FACE_WALL)
      continue;
    there[axis] = (there[axis] + l->n[axis]) % l->n[axis];
    if (l->owner[index_of(l, there)] != number)
      continue;
    sum += side * (l->f[index_of(l, there) * 27 + (size_t)q] - own);
    sides++;
  }
  return sides == 0 ? 0 : sum / sides;
}

/* In which half of the coarse step the packet at a place of the finer level enters one of its leaves; 0: in none. */
static int entry_half(const naive_levels *s, int fine, const lamina_index start[3], int q)
{
  const level *l = &s->levels[fine];
  lamina_index at[3] = {start[0], start[1], start[2]};
  int along = q;
  for (int half = 1; half <= 2; half++) {
    double add;
    if (!move(s, l, at, along, &add))
      along = naive_opposite(l->physics, along);
    if (l->owner[index_of(l, at)] == fine)
      return half;
  }
  return 0;
}

/* Splits every population of a level's leaves into packets on the finer level's cells (lbm-spec 7.7). */
static void split(naive_levels *s, int number)
{
  const level *coarse = &s->levels[number];
  level *fine = &s->levels[number - 1];
  memset(fine->packets, 0, cells_of(fine) * 27 * sizeof *fine->packets);
  for (size_t i = 0; i < cells_of(coarse); i++) {
    if (coarse->owner[i] != number)
      continue;
    lamina_index at[3];
    place_of(coarse, i, at);
    const int ring = is_ring(coarse, number, at, s);
    for (int q = 0; q < s->q; q++) {
      int halves[8], entering[3] = {0, 0, 0};
      double slopes[3] = {0, 0, 0};
      for (int a = 0; a < 3 && ring; a++)
        slopes[a] = is_divided(s, a) ? slope(s, number, at, a, q) : 0;
      for (int sub = 0; sub < s->sub_cells; sub++) {
        lamina_index place[3];
        sub_place(s, at, sub, place);
        halves[sub] = entry_half(s, number - 1, place, q);
        entering[halves[sub]]++;
      }
      const double larger = entering[1] > entering[2] ? entering[1] : entering[2];
      for (int sub = 0; sub < s->sub_cells; sub++) {
        lamina_index place[3];
        sub_place(s, at, sub, place);
        double h = 0, value = coarse->f[i * 27 + (size_t)q];
        if (entering[1] > 0 && entering[2] > 0 && halves[sub] > 0)
          h = halves[sub] == 1 ? -0.25 * entering[2] / larger : 0.25 * entering[1] / larger;
        for (int a = 0; a < 3; a++)
          value += slopes[a] *
                   (h * naive_velocity(coarse->physics, q)[a] + (is_divided(s, a) ? (place[a] % 2 ? 0.25 : -0.25) : 0));
        fine->packets[index_of(fine, place) * 27 + (size_t)q] = (packet){value, value, (lamina_index)i, q, 1};
      }
    }
  }
}

/* Moves the coarser level's packets by one cell of a level; those that enter a leaf of it arrive there. */
static void move_packets(naive_levels *s, int number)
{
  level *l = &s->levels[number];
  memset(l->moved, 0, cells_of(l) * 27 * sizeof *l->moved);
  for (size_t i = 0; i < cells_of(l) * 27; i++)
    l->arrived[i] = NAN;
  for (size_t i = 0; i < cells_of(l); i++)
    for (int q = 0; q < s->q; q++) {
      packet p = l->packets[i * 27 + (size_t)q];
      if (!p.exists)
        continue;
      lamina_index at[3];
      double add;
      int along = q;
      place_of(l, i, at);
      if (!move(s, l, at, q, &add))
        along = naive_opposite(l->physics, q);
      p.value += s->whole_walls ? 0 : add;
      const size_t to = index_of(l, at) * 27 + (size_t)along;
      if (l->owner[index_of(l, at)] == number)
        l->arrived[to] = p.value;
      else
        l->moved[to] = p;
    }
}

/* f_q of a coarse leaf from the packets that lie in it. Those that left a coarse cell towards a wall and met nothing
 * fine count as bounced there, whatever place they reached; a moving wall adds once. */
static void collect(const naive_levels *s, int number, double *sums)
{
  const level *coarse = &s->levels[number], *fine = &s->levels[number - 1];
  memset(sums, 0, cells_of(coarse) * 27 * sizeof *sums);
  for (size_t i = 0; i < cells_of(fine); i++)
    for (int q = 0; q < s->q; q++) {
      const packet *p = &fine->packets[i * 27 + (size_t)q];
      lamina_index at[3];
      if (!p->exists)
        continue;
      place_of(fine, i, at);
      for (int a = 0; a < 3; a++)
        at[a] /= is_divided(s, a) ? 2 : 1;
      size_t to = index_of(coarse, at) * 27 + (size_t)q;
      double value = p->value;
      if (p->origin >= 0) {
        lamina_index origin[3];
        double add;
        place_of(coarse, (size_t)p->origin, origin);
        if (!move(s, coarse, origin, p->origin_q, &add)) {
          to = (size_t)p->origin * 27 + (size_t)naive_opposite(coarse->physics, p->origin_q);
          value = p->start + (s->whole_walls ? 0 : add);
        }
      }
      sums[to] += value / s->sub_cells;
    }
  for (size_t i = 0; i < cells_of(coarse); i++)
    for (int q = 0; q < s->q && s->whole_walls; q++) {
      lamina_index at[3];
      double add;
      place_of(coarse, i, at);
      if (!move(s, coarse, at, q, &add))
        sums[i * 27 + (size_t)naive_opposite(coarse->physics, q)] += add;
    }
}

static void step(naive_levels *s, int number);

/* The finer level's two halves of a step, the packets of this one travelling beside it. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as there are levels
static void halves(naive_levels *s, int number)
{
  level *fine = &s->levels[number - 1];
  split(s, number);
  for (int half = 0; half < 2; half++) {
    move_packets(s, number - 1);
    /* What leaves the finer level into coarse places travels as packets from now on. */
    for (size_t i = 0; i < cells_of(fine); i++)
      for (int q = 0; q < s->q && fine->owner[i] == number - 1; q++) {
        lamina_index at[3];
        double add;
        place_of(fine, i, at);
        if (move(s, fine, at, q, &add) && fine->owner[index_of(fine, at)] > number - 1)
          fine->moved[index_of(fine, at) * 27 + (size_t)q] = (packet){fine->f[i * 27 + (size_t)q], 0, -1, 0, 1};
      }
    step(s, number - 1);
    packet *swap = fine->packets;
    fine->packets = fine->moved;
    fine->moved = swap;
  }
}

/* Streams within a level, takes what came from the coarser and the finer one, and collides. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as there are levels
static void step(naive_levels *s, int number)
{
  level *l = &s->levels[number];
  double *sums = calloc(cells_of(l) * 27, sizeof *sums), *next = calloc(cells_of(l) * 27, sizeof *next);
  double *arrived = malloc(cells_of(l) * 27 * sizeof *arrived);
  memcpy(arrived, l->arrived, cells_of(l) * 27 * sizeof *arrived);
  if (number > 0) {
    halves(s, number);
    collect(s, number, sums);
  } else {
    for (size_t i = 0; i < cells_of(l); i++)
      for (int q = 0; q < s->q && l->owner[i] == 0; q++) {
        lamina_index at[3];
        double add;
        place_of(l, i, at);
        const int moves = move(s, l, at, q, &add), along = moves ? q : naive_opposite(l->physics, q);
        sums[index_of(l, at) * 27 + (size_t)along] = l->f[i * 27 + (size_t)q] + add;
      }
  }
  for (size_t i = 0; i < cells_of(l); i++) {
    double f[27];
    for (int q = 0; q < s->q; q++)
      f[q] = isnan(arrived[i * 27 + (size_t)q]) ? sums[i * 27 + (size_t)q] : arrived[i * 27 + (size_t)q];
    if (l->owner[i] == number)
      naive_collide(l->physics, f, next + i * 27);
  }
  free(l->f);
  free(sums);
  free(arrived);
  l->f = next;
}

void naive_levels_step(naive_levels *stack)
{
  step(stack, stack->count - 1);
}

/* ---- making and reading ---- */

static lamina_solver_options options_of(const lamina_solver_options *options, int number)
{
  lamina_solver_options own = *options;
  const double length = 1 << number;
  own.omega = 1 / (0.5 + (1 / options->omega - 0.5) / length);
  own.force = (lamina_real3){options->force.x * length, options->force.y * length, options->force.z * length};
  own.cells = (lamina_int3){1, 1, 1};
  return own;
}

static void rest(void *user, lamina_real3 centre, lamina_cell_state *state)
{
  (void)user;
  (void)centre;
  (void)state;
}

static void make_level(naive_levels *s, int number, naive_level_function *function, void *level_user,
                       lamina_initial_function *initial, void *user)
{
  level *l = &s->levels[number];
  const lamina_solver_options own = options_of(&s->options, number);
  const lamina_index n[3] = {s->options.cells.x, s->options.cells.y, s->options.cells.z};
  const double length = 1 << number;
  l->physics = naive_create(&own, rest, NULL);
  s->q = naive_velocities(l->physics);
  for (int a = 0; a < 3; a++)
    l->n[a] = is_divided(s, a) ? n[a] >> number : n[a];
  const size_t cells = cells_of(l);
  l->owner = calloc(cells, sizeof *l->owner);
  l->f = calloc(cells * 27, sizeof *l->f);
  l->arrived = calloc(cells * 27, sizeof *l->arrived);
  l->packets = calloc(cells * 27, sizeof *l->packets);
  l->moved = calloc(cells * 27, sizeof *l->moved);
  for (size_t i = 0; i < cells * 27; i++)
    l->arrived[i] = NAN;
  for (size_t i = 0; i < cells; i++) {
    lamina_index at[3];
    place_of(l, i, at);
    l->owner[i] = function(level_user, at[0] << number, at[1] << number, is_divided(s, 2) ? at[2] << number : at[2]);
    lamina_cell_state state = {.density = 1};
    initial(user,
            (lamina_real3){((double)at[0] + 0.5) * length, ((double)at[1] + 0.5) * length,
                           is_divided(s, 2) ? ((double)at[2] + 0.5) * length : 0.5},
            &state);
    for (int q = 0; q < s->q; q++)
      l->f[i * 27 + (size_t)q] = naive_initial(l->physics, q, &state);
  }
}

naive_levels *naive_levels_create(const lamina_solver_options *options, bool whole_walls,
                                  naive_level_function *function, void *level_user, lamina_initial_function *initial,
                                  void *user)
{
  naive_levels *s = calloc(1, sizeof *s);
  s->options = *options;
  s->count = options->levels;
  s->whole_walls = whole_walls;
  s->sub_cells = options->lattice == LAMINA_D2Q9 ? 4 : 8;
  for (int number = 0; number < s->count; number++)
    make_level(s, number, function, level_user, initial, user);
  return s;
}

void naive_levels_read(const naive_levels *s, lamina_int3 cell, int q, double *population, double *rest_population)
{
  lamina_index at[3] = {cell.x, cell.y, cell.z};
  int number = 0;
  while (s->levels[number].owner[index_of(&s->levels[number], at)] != number) {
    for (int a = 0; a < 3; a++)
      at[a] /= is_divided(s, a) ? 2 : 1;
    number++;
  }
  const level *l = &s->levels[number];
  *population = l->f[index_of(l, at) * 27 + (size_t)q];
  *rest_population = naive_weight(l->physics, q);
}

void naive_levels_destroy(naive_levels *s)
{
  for (int number = 0; number < s->count; number++) {
    level *l = &s->levels[number];
    naive_destroy(l->physics);
    free(l->owner);
    free(l->f);
    free(l->arrived);
    free(l->packets);
    free(l->moved);
  }
  free(s);
}
