/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a case file. A key is a row here: its reader, its target, its range, its unit. */
#include <string.h>

#include "case_bodies.h"
#include "case_grid.h"
#include "case_measure.h"
#include "case_open.h"
#include "case_output.h"
#include "case_read.h"

#define AT(field) offsetof(lamina_case, field)

#define WORD(enumerator, value_, text, description) {text, value_},
static const lmi_case_word LATTICES[] = {LAMINA_LATTICE_LIST(WORD){NULL, 0}};
static const lmi_case_word COLLISIONS[] = {LAMINA_COLLISION_LIST(WORD){NULL, 0}};
static const lmi_case_word PRECISIONS[] = {LAMINA_PRECISION_LIST(WORD){NULL, 0}};
static const lmi_case_word STORAGES[] = {LAMINA_STORAGE_LIST(WORD){NULL, 0}};
static const lmi_case_word LAYOUTS[] = {LAMINA_LAYOUT_LIST(WORD){NULL, 0}};
static const lmi_case_word STREAMINGS[] = {LAMINA_STREAMING_LIST(WORD){NULL, 0}};
static const lmi_case_word CURVED[] = {LAMINA_CURVED_LIST(WORD){NULL, 0}};
static const lmi_case_word BACKENDS[] = {LAMINA_BACKEND_LIST(WORD){NULL, 0}};
#undef WORD
static const lmi_case_word INITIALS[] = {
  {"rest", LMI_INITIAL_REST},
  {"uniform", LMI_INITIAL_UNIFORM},
  {"taylor_green", LMI_INITIAL_TAYLOR_GREEN},
  {"taylor_green_3d", LMI_INITIAL_TAYLOR_GREEN_3D},
  {"shear_layer", LMI_INITIAL_SHEAR_LAYER},
  {"shear_wave", LMI_INITIAL_SHEAR_WAVE},
  {NULL, 0},
};

/* ---- domain, fluid, run, checkpoint ---- */

static lamina_status read_cells(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                void *target)
{
  lamina_case *flow = target;
  char what[64];
  flow->cells_where = node;
  flow->cell_count = 0;
  if (node->kind != LMI_TREE_LIST)
    return lmi_case_fail(reader, node, "%s is not a list of cell counts; write [nx, ny] or [nx, ny, nz]",
                         lmi_tree_describe(node, what, sizeof what));
  for (const lmi_tree_node *child = node->first; child != NULL; child = child->next) {
    if (flow->cell_count == 3)
      return lmi_case_fail(reader, child, "more than three cell counts; write [nx, ny] or [nx, ny, nz]");
    const size_t length = lmi_case_enter_entry(reader, (size_t)flow->cell_count);
    LMI_TRY(lmi_case_read_integer(reader, child, key, &flow->cells[flow->cell_count]));
    lmi_case_leave(reader, length);
    flow->cell_count++;
  }
  if (flow->cell_count < 2)
    return lmi_case_fail(reader, node, "a list of %d; write [nx, ny] or [nx, ny, nz]", flow->cell_count);
  return LAMINA_OK;
}

static lamina_status read_domain(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                 void *target)
{
  (void)key;
  static const lmi_case_key KEYS[] = {
    {.name = "cells", .read = read_cells, .low = 1, .high = 1 << 24, .hint = "cells along each axis"},
    {.name = "length",
     .read = lmi_case_read_real,
     .offset = AT(length),
     .low = 1e-12,
     .high = 1e12,
     .dimension = LMI_DIMENSION_LENGTH,
     .hint = "the domain's length along x"},
  };
  return lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), target);
}

static lamina_status read_fluid(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                void *target)
{
  (void)key;
  static const lmi_case_key KEYS[] = {
    {.name = "reynolds",
     .read = lmi_case_read_real,
     .offset = AT(reynolds),
     .high = 1e12,
     .above_low = true,
     .hint = "speed x reference length / viscosity"},
    {.name = "viscosity",
     .read = lmi_case_read_real,
     .offset = AT(viscosity),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_VISCOSITY,
     .hint = "kinematic viscosity, 1e-6 m2/s for water"},
    {.name = "density",
     .read = lmi_case_read_real,
     .offset = AT(density),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_DENSITY,
     .hint = "998 kg/m3 for water"},
    {.name = "speed",
     .read = lmi_case_read_real,
     .offset = AT(speed),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_SPEED,
     .hint = "a typical speed of the flow"},
    {.name = "reference_length",
     .read = lmi_case_read_real,
     .offset = AT(reference_length),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_LENGTH,
     .hint = "the length of the Reynolds number"},
  };
  return lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), target);
}

static lamina_status read_run(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key, void *target)
{
  (void)key;
  static const lmi_case_key KEYS[] = {
    {.name = "until",
     .read = lmi_case_read_span,
     .offset = AT(until),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_TIME,
     .hint = "time of the flow at which to stop"},
    {.name = "steps", .read = lmi_case_read_integer, .offset = AT(steps), .low = 1, .high = 1e12},
    {.name = "steady",
     .read = lmi_case_read_real,
     .offset = AT(steady),
     .high = 1,
     .above_low = true,
     .hint = "stop when the velocity changes less than this share of the speed in one L/U; 1e-6 is usual"},
  };
  return lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), target);
}

static lamina_status read_checkpoint(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                     void *target)
{
  (void)key;
  static const lmi_case_key KEYS[] = {
    {.name = "every",
     .read = lmi_case_read_span,
     .offset = AT(checkpoint_every),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_TIME,
     .hint = "time between checkpoints, as \"10 s\" or \"500 steps\""},
  };
  return lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), target);
}

/* ---- boundaries ---- */

static lamina_status read_oscillating(lmi_case_reader *reader, const lmi_tree_node *node, lmi_case_boundary *boundary)
{
  static const lmi_case_key KEYS[] = {
    {.name = "velocity",
     .read = lmi_case_read_vector,
     .offset = offsetof(lmi_case_boundary, velocity),
     .low = -1e12,
     .high = 1e12,
     .dimension = LMI_DIMENSION_SPEED},
    {.name = "period",
     .read = lmi_case_read_real,
     .offset = offsetof(lmi_case_boundary, period),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_TIME,
     .hint = "the time of one oscillation"},
  };
  boundary->kind = LMI_BOUNDARY_OSCILLATING;
  LMI_TRY(lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), boundary));
  if (boundary->velocity.where == NULL || boundary->period.where == NULL)
    return lmi_case_fail(reader, node, "needs both: {velocity: [x, y, z], period: T}");
  return LAMINA_OK;
}

static lamina_status read_boundary(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                   void *target)
{
  (void)key;
  static const char ALLOWED[] =
    "wall, periodic, slip, outflow, {velocity: [x, y, z]}, {pressure: p}, {moving_wall: [x, y, z]}, {oscillating_wall: "
    "{velocity: [x, y, z], period: T}}";
  static const lmi_case_key VELOCITY = {.low = -1e12, .high = 1e12, .dimension = LMI_DIMENSION_SPEED};
  lmi_case_boundary *boundary = target;
  boundary->where = node;
  if (lmi_case_is_open_face(node))
    return lmi_case_read_open_face(reader, node, boundary);
  const lmi_tree_node *only = node->kind == LMI_TREE_MAP ? node->first : NULL;
  if (node->kind == LMI_TREE_SCALAR && strcmp(node->text, "wall") == 0) {
    boundary->kind = LMI_BOUNDARY_WALL;
    return LAMINA_OK;
  }
  if (node->kind == LMI_TREE_SCALAR && strcmp(node->text, "periodic") == 0) {
    boundary->kind = LMI_BOUNDARY_PERIODIC;
    return LAMINA_OK;
  }
  if (only != NULL && only->next == NULL && strcmp(only->key, "moving_wall") == 0) {
    boundary->kind = LMI_BOUNDARY_WALL;
    const size_t length = lmi_case_enter(reader, "moving_wall");
    LMI_TRY(lmi_case_read_vector(reader, only, &VELOCITY, &boundary->velocity));
    lmi_case_leave(reader, length);
    return LAMINA_OK;
  }
  if (only != NULL && only->next == NULL && strcmp(only->key, "oscillating_wall") == 0) {
    const size_t length = lmi_case_enter(reader, "oscillating_wall");
    LMI_TRY(read_oscillating(reader, only, boundary));
    lmi_case_leave(reader, length);
    return LAMINA_OK;
  }
  char what[64];
  return lmi_case_fail(reader, node, "%s is no boundary; allowed: %s", lmi_tree_describe(node, what, sizeof what),
                       ALLOWED);
}

static lamina_status read_boundaries(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                     void *target)
{
  (void)key;
#define FACE(name_, index)                                             \
  {                                                                    \
    .name = (name_), .read = read_boundary, .offset = AT(faces[index]) \
  }
  static const lmi_case_key KEYS[] = {
    {.name = "all", .read = read_boundary, .offset = AT(all)},
    FACE("x-", LAMINA_FACE_X_LOW),
    FACE("x+", LAMINA_FACE_X_HIGH),
    FACE("y-", LAMINA_FACE_Y_LOW),
    FACE("y+", LAMINA_FACE_Y_HIGH),
    FACE("z-", LAMINA_FACE_Z_LOW),
    FACE("z+", LAMINA_FACE_Z_HIGH),
  };
#undef FACE
  return lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), target);
}

/* ---- initial ---- */

static lamina_status read_initial(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                  void *target)
{
#define INITIAL(field) offsetof(lmi_case_initial, field)
  static const lmi_case_key KEYS[] = {
    {.name = "kind", .read = lmi_case_read_choice, .offset = INITIAL(kind), .words = INITIALS},
    {.name = "velocity",
     .read = lmi_case_read_vector,
     .offset = INITIAL(velocity),
     .low = -1e12,
     .high = 1e12,
     .dimension = LMI_DIMENSION_SPEED},
    {.name = "speed",
     .read = lmi_case_read_real,
     .offset = INITIAL(speed),
     .high = 1e12,
     .above_low = true,
     .dimension = LMI_DIMENSION_SPEED,
     .hint = "the amplitude"},
    {.name = "steepness",
     .read = lmi_case_read_real,
     .offset = INITIAL(steepness),
     .low = 1,
     .high = 1e4,
     .hint = "80 is usual (Minion and Brown)"},
    {.name = "perturbation",
     .read = lmi_case_read_real,
     .offset = INITIAL(perturbation),
     .high = 1,
     .hint = "in units of the speed; 0.05 is usual"},
  };
#undef INITIAL
  lmi_case_initial *initial = target;
  initial->where = node;
  if (node->kind == LMI_TREE_SCALAR)
    return lmi_case_read_choice(reader, node, key, &initial->kind);
  LMI_TRY(lmi_case_read_map(reader, node, KEYS, LMI_COUNT(KEYS), initial));
  char list[128];
  if (initial->kind.where == NULL)
    return lmi_case_fail(reader, node, "kind is missing; one of: %s", lmi_case_list_words(INITIALS, list, sizeof list));
  return LAMINA_OK;
}

/* ---- devices ---- */

static lamina_status read_devices(lmi_case_reader *reader, const lmi_tree_node *node, const lmi_case_key *key,
                                  void *target)
{
  lamina_case *flow = target;
  flow->devices_where = node;
  flow->device_count = 0;
  if (node->kind != LMI_TREE_LIST || node->first == NULL)
    return lmi_case_fail(reader, node, "needs a list of device ordinals, [0, 1]");
  for (const lmi_tree_node *child = node->first; child != NULL; child = child->next) {
    if (flow->device_count == LAMINA_MAX_DEVICES)
      return lmi_case_fail(reader, child, "more than %d devices", LAMINA_MAX_DEVICES);
    const size_t length = lmi_case_enter_entry(reader, (size_t)flow->device_count);
    LMI_TRY(lmi_case_read_integer(reader, child, key, &flow->devices[flow->device_count]));
    lmi_case_leave(reader, length);
    flow->device_count++;
  }
  return LAMINA_OK;
}

/* ---- the whole ---- */

static const lmi_case_key TOP_KEYS[] = {
  {.name = "title", .read = lmi_case_read_text, .offset = AT(title), .low = 1, .high = 200},
  {.name = "domain", .read = read_domain},
  {.name = "fluid", .read = read_fluid},
  {.name = "lattice", .read = lmi_case_read_choice, .offset = AT(lattice), .words = LATTICES},
  {.name = "collision", .read = lmi_case_read_choice, .offset = AT(collision), .words = COLLISIONS},
  {.name = "smagorinsky",
   .read = lmi_case_read_real,
   .offset = AT(smagorinsky),
   .high = 1,
   .above_low = true,
   .hint = "0.1 to 0.2 is usual"},
  {.name = "magic",
   .read = lmi_case_read_real,
   .offset = AT(magic),
   .high = 100,
   .above_low = true,
   .hint = "0.1875 puts half-way walls exactly, 0.25 is the most stable"},
  {.name = "storage", .read = lmi_case_read_choice, .offset = AT(storage), .words = STORAGES},
  {.name = "precision", .read = lmi_case_read_choice, .offset = AT(precision), .words = PRECISIONS},
  {.name = "boundaries", .read = read_boundaries},
  {.name = "bodies", .read = lmi_case_read_bodies},
  {.name = "forces", .read = lmi_case_read_forces},
  {.name = "probes", .read = lmi_case_read_probes},
  {.name = "statistics", .read = lmi_case_read_statistics},
  {.name = "curved", .read = lmi_case_read_choice, .offset = AT(curved), .words = CURVED},
  {.name = "force",
   .read = lmi_case_read_vector,
   .offset = AT(force),
   .low = -1e12,
   .high = 1e12,
   .dimension = LMI_DIMENSION_ACCELERATION},
  {.name = "initial", .read = read_initial, .offset = AT(initial), .words = INITIALS},
  {.name = "run", .read = read_run},
  {.name = "lattice_speed",
   .read = lmi_case_read_real,
   .offset = AT(lattice_speed),
   .low = 1e-6,
   .high = 2,
   .hint = "the reference speed in cells a step; 0.02 to 0.1 is usual"},
  {.name = "relaxation_time",
   .read = lmi_case_read_real,
   .offset = AT(relaxation_time),
   .low = 0.5,
   .high = 100,
   .above_low = true,
   .hint = "tau in lattice units; 0.51 to 1 is usual"},
  {.name = "grid", .read = lmi_case_read_grid, .offset = AT(grid)},
  {.name = "output", .read = lmi_case_read_outputs},
  {.name = "checkpoint", .read = read_checkpoint},
  {.name = "layout", .read = lmi_case_read_choice, .offset = AT(layout), .words = LAYOUTS},
  {.name = "streaming", .read = lmi_case_read_choice, .offset = AT(streaming), .words = STREAMINGS},
  {.name = "threads", .read = lmi_case_read_integer, .offset = AT(threads), .low = 1, .high = 4096},
  {.name = "partitions", .read = lmi_case_read_integer, .offset = AT(partitions), .low = 1, .high = 65536},
  {.name = "backend", .read = lmi_case_read_choice, .offset = AT(backend), .words = BACKENDS},
  {.name = "devices", .read = read_devices, .low = 0, .high = 1023, .hint = "ordinals of GPUs, [0, 1]"},
};

lamina_status lmi_case_read(lamina_case *flow)
{
  lmi_case_reader reader = {.ctx = flow->ctx, .flow = flow};
  return lmi_case_read_map(&reader, flow->tree->root, TOP_KEYS, LMI_COUNT(TOP_KEYS), flow);
}
