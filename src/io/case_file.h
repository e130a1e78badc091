/* SPDX-License-Identifier: Apache-2.0 */
/* A case file after reading and checking: everything in SI units, nothing left to be wrong. The stages, one file each:
 *   case_tree      YAML text -> tree with lines; overrides
 *   case_read      values, lists and maps of the tree -> C, with the messages
 *   case_schema    which keys there are and what they may hold
 *   case_output    the same for the entries of `output`
 *   case_check     what keys must hold together; defaults; lattice units; warnings */
#ifndef LMI_CASE_FILE_H
#define LMI_CASE_FILE_H

#include <lamina/case.h>

#include "base/base.h"
#include "flow/units.h"
#include "flow/voxels.h"

#include "case_tree.h"
#include "reference.h"

/* Values remember where they were given: messages of later checks name the line. `where` is NULL when the default
 * stands. */
typedef struct lmi_case_real {
  double value;
  const lmi_tree_node *where;
} lmi_case_real;

typedef struct lmi_case_integer {
  int64_t value;
  const lmi_tree_node *where;
} lmi_case_integer;

/* A value of one of the closed lists of lamina/types.h, or of a list here. */
typedef struct lmi_case_choice {
  int value;
  const lmi_tree_node *where;
} lmi_case_choice;

typedef struct lmi_case_vector {
  double value[3];
  int count; /* components given */
  const lmi_tree_node *where;
} lmi_case_vector;

typedef struct lmi_case_text {
  const char *value; /* kept by the tree; NULL: not given */
  const lmi_tree_node *where;
} lmi_case_text;

/* A time of the flow, as seconds or as steps; the check fills in steps. */
typedef struct lmi_case_span {
  double seconds;
  lamina_index steps;
  bool is_steps;
  const lmi_tree_node *where;
} lmi_case_span;

typedef enum lmi_boundary_kind {
  LMI_BOUNDARY_UNSET,
  LMI_BOUNDARY_WALL,
  LMI_BOUNDARY_PERIODIC,
  LMI_BOUNDARY_OSCILLATING,
  LMI_BOUNDARY_VELOCITY, /* from here on open faces (case_open.h) */
  LMI_BOUNDARY_PRESSURE,
  LMI_BOUNDARY_OUTFLOW,
  LMI_BOUNDARY_SLIP
} lmi_boundary_kind;

typedef struct lmi_case_boundary {
  lmi_boundary_kind kind;
  lmi_case_vector velocity; /* m/s; amplitude of an oscillating wall, greatest of a parabola */
  lmi_case_real period;     /* s */
  lmi_case_text profile;    /* uniform, parabolic, a table's file; NULL: uniform */
  lmi_case_real pressure;   /* Pa above that of the density asked for */
  lmi_case_real ramp;       /* s */
  lmi_case_choice method;
  const lmi_tree_node *where;
} lmi_case_boundary;

typedef enum lmi_initial_kind {
  LMI_INITIAL_REST,
  LMI_INITIAL_UNIFORM,
  LMI_INITIAL_TAYLOR_GREEN,
  LMI_INITIAL_TAYLOR_GREEN_3D,
  LMI_INITIAL_SHEAR_LAYER,
  LMI_INITIAL_SHEAR_WAVE,
} lmi_initial_kind;

typedef struct lmi_case_initial {
  lmi_case_choice kind;
  lmi_case_vector velocity;   /* m/s: of uniform; mean flow of shear_wave */
  lmi_case_real speed;        /* m/s: amplitude; default the reference speed */
  lmi_case_real steepness;    /* of shear_layer */
  lmi_case_real perturbation; /* of shear_layer, in units of the speed */
  const lmi_tree_node *where;
} lmi_case_initial;

/* What an output shows: a scalar for images and profiles. */
typedef enum lmi_scalar {
  LMI_SCALAR_SPEED,
  LMI_SCALAR_VELOCITY_X,
  LMI_SCALAR_VELOCITY_Y,
  LMI_SCALAR_VELOCITY_Z,
  LMI_SCALAR_PRESSURE,
  LMI_SCALAR_DENSITY,
  LMI_SCALAR_VORTICITY, /* normal to the slice */
} lmi_scalar;

typedef enum lmi_array { LMI_ARRAY_VELOCITY, LMI_ARRAY_PRESSURE, LMI_ARRAY_DENSITY, LMI_ARRAY_COUNT } lmi_array;

typedef enum lmi_series_column {
  LMI_SERIES_MASS,
  LMI_SERIES_MOMENTUM,
  LMI_SERIES_KINETIC_ENERGY,
  LMI_SERIES_MAX_SPEED,
  LMI_SERIES_ENSTROPHY,
  LMI_SERIES_DISSIPATION,
  LMI_SERIES_COUNT,
} lmi_series_column;

typedef enum lmi_exact {
  LMI_EXACT_NONE,
  LMI_EXACT_POISEUILLE,
  LMI_EXACT_POISEUILLE_SLIP,
  LMI_EXACT_COUETTE,
  LMI_EXACT_STOKES2,
  LMI_EXACT_DUCT,
  LMI_EXACT_TAYLOR_GREEN,
  LMI_EXACT_SHEAR_WAVE,
  LMI_EXACT_DISSIPATION_PEAK, /* of the Taylor-Green vortex at Re 1600: judges the series */
  LMI_EXACT_MASS,             /* total mass against the start */
} lmi_exact;

typedef enum lmi_output_kind {
  LMI_OUTPUT_FIELDS,
  LMI_OUTPUT_SLICE,
  LMI_OUTPUT_PROFILE,
  LMI_OUTPUT_SERIES,
  LMI_OUTPUT_ORDER,   /* runs the case at several sizes and measures how its error falls */
  LMI_OUTPUT_COMPARE, /* the whole field with an exact solution, or a number of the run with a known one */
} lmi_output_kind;

enum { LMI_ORDER_MAX_SIZES = 8 };

typedef struct lmi_case_output {
  lmi_output_kind kind;
  const lmi_tree_node *where;
  bool arrays[LMI_ARRAY_COUNT];
  lmi_case_choice cells; /* of fields on a grid of levels: 0: each in its size, 1: a box of finest ones */
  bool columns[LMI_SERIES_COUNT];
  lmi_case_span every; /* not given: at the end only */
  bool at_end;
  lmi_case_span at;         /* one time instead of `every` */
  lmi_case_real through[3]; /* m: where slice or profile cut each axis */
  int axis;                 /* normal of a slice, direction of a profile */
  lmi_case_choice scalar;
  lmi_case_choice lines; /* 1: streamlines on a slice, 2: lines between levels */
  lmi_case_vector range; /* of the colours; count 0: automatic */
  const lmi_reference *reference;
  lmi_case_choice exact;
  lmi_case_text compare;
  int64_t sizes[LMI_ORDER_MAX_SIZES]; /* cells along x, rising */
  int size_count;
  lmi_case_real gate;
} lmi_case_output;

enum { LMI_CASE_MAX_OUTPUTS = 64, LMI_CASE_MAX_REFINEMENTS = 16 };

/* An entry of grid.refine: one of box (from and to), walls, bodies. */
typedef struct lmi_case_refinement {
  lmi_case_vector from, to;    /* m */
  lmi_case_real walls, bodies; /* m */
  lmi_case_integer level;
  const lmi_tree_node *where;
} lmi_case_refinement;

typedef struct lmi_case_grid {
  lmi_case_choice kind, grouping, scheme;
  lmi_case_integer levels;
  lmi_case_refinement refine[LMI_CASE_MAX_REFINEMENTS];
  size_t refine_count;
  const lmi_tree_node *where, *refine_where;
  lamina_refinement refinements[LMI_CASE_MAX_REFINEMENTS]; /* made by the check; the solver's options point here */
} lmi_case_grid;

typedef enum lmi_case_shape {
  LMI_SHAPE_NONE,
  LMI_SHAPE_STL,
  LMI_SHAPE_SPHERE,
  LMI_SHAPE_CYLINDER,
  LMI_SHAPE_BOX,
} lmi_case_shape;

/* An entry of `bodies`; which fields count depends on the shape. */
typedef struct lmi_case_body {
  lmi_case_shape shape;
  const lmi_tree_node *where;
  lmi_case_text name, stl;
  lmi_case_real scale;              /* m a unit of the STL file */
  lmi_case_vector rotate, at;       /* degrees; m */
  lmi_case_choice repair;           /* 1: yes */
  lmi_case_vector centre, from, to; /* m */
  lmi_case_real radius, length;     /* m */
  lmi_case_choice axis;             /* of a cylinder given by its centre */
  lmi_case_vector velocity, spin;   /* of the surface: m/s, rad/s */
} lmi_case_body;

enum { LMI_CASE_MAX_BODIES = 10000 };

/* What may be expected of a force: means, greatest values, the Strouhal number of the lift. */
typedef enum lmi_force_expectation {
  LMI_EXPECT_DRAG,
  LMI_EXPECT_LIFT,
  LMI_EXPECT_DRAG_MAX,
  LMI_EXPECT_LIFT_MAX,
  LMI_EXPECT_STROUHAL,
  LMI_EXPECT_COUNT
} lmi_force_expectation;

/* An entry of `forces`. */
typedef struct lmi_case_force {
  const lmi_tree_node *where;
  lmi_case_text body;
  lmi_case_span every;                      /* not given: at the end only */
  lmi_case_span from;                       /* where means begin */
  lmi_case_real area, speed;                /* m2 (in two dimensions m2 per m), m/s */
  lmi_case_real length;                     /* m, of the Strouhal number */
  lmi_case_vector drag, lift;               /* directions */
  lmi_case_vector expect[LMI_EXPECT_COUNT]; /* [low, high] */
  int number;                               /* of the body; this and the rest by the check */
  double direction[2][3];                   /* of drag and lift, length 1 */
  double reference_area, reference_speed, reference_length;
} lmi_case_force;

typedef struct lmi_case_probe {
  const lmi_tree_node *where;
  lmi_case_vector at;  /* m */
  lmi_case_span every; /* not given: at the end only */
  lmi_case_text name;
  lamina_int3 cell; /* made by the check */
} lmi_case_probe;

typedef struct lmi_case_statistics {
  const lmi_tree_node *where; /* NULL: none */
  lmi_case_span from;         /* not given: the start */
  lmi_case_span every;
} lmi_case_statistics;

enum { LMI_CASE_MAX_MEASURES = 1000 };

struct lamina_case {
  lamina_context *ctx;
  lmi_tree *tree;
  char *path;
  char *text;         /* of the file, as read */
  char *overrides;    /* one a line */
  char text_hash[17]; /* of file and overrides */
  char *physics;      /* what decides the populations, one line; a checkpoint must agree */
  char physics_hash[17];

  lmi_case_text title;
  lmi_case_integer cells[3];
  int cell_count; /* numbers given: 2 or 3 */
  const lmi_tree_node *cells_where;
  lmi_case_real length;
  lmi_case_real reynolds, viscosity, density, speed, reference_length;
  lmi_case_choice lattice, collision, precision, storage, layout, streaming, backend;
  lmi_case_real smagorinsky, magic;
  lmi_case_real lattice_speed, relaxation_time;
  lmi_case_boundary all, faces[LAMINA_FACE_COUNT];
  lmi_case_vector force;
  lmi_case_initial initial;
  lmi_case_span until;
  lmi_case_integer steps;
  lmi_case_real steady;
  lmi_case_span checkpoint_every;
  lmi_case_integer threads, partitions;
  lmi_case_integer devices[LAMINA_MAX_DEVICES];
  int device_count;
  const lmi_tree_node *devices_where;
  lmi_case_grid grid;
  lmi_case_output *outputs;
  size_t output_count;
  lmi_case_body *bodies;
  size_t body_count;
  lmi_case_choice curved;
  lmi_case_force *forces;
  size_t force_count;
  lmi_case_probe *probes;
  size_t probe_count;
  lmi_case_statistics statistics;

  /* made by the check */
  int dimension;
  lmi_units_input units_input;
  lamina_units units;
  lamina_solver_options solver;
  lamina_real3 *profiles[LAMINA_FACE_COUNT]; /* of open faces; solver.faces points here */
  lamina_geometry *geometry;                 /* of the bodies, in cells; NULL without */
  lamina_index *body_cells;                  /* solid cells a body has; NULL: not counted */
  lamina_index solid_cells;
  lamina_index last_step;
  char warnings[LMI_MAX_FINDINGS + 6][LMI_FINDING_BYTES]; /* of the units, then of the bodies */
  size_t warning_count;
};

/* lamina_case_load on a text in memory; `path` names it in messages. */
LAMINA_NODISCARD lamina_status lmi_case_load_text(lamina_context *ctx, const char *path, const char *text,
                                                  const char *const *overrides, size_t override_count,
                                                  lamina_case **flow);

/* Fills the raw part from the tree. */
LAMINA_NODISCARD lamina_status lmi_case_read(lamina_case *flow);

/* Checks keys against each other and makes the rest. */
LAMINA_NODISCARD lamina_status lmi_case_check(lamina_case *flow);

/* Steps of a span in this case, at least 1. */
lamina_index lmi_case_span_steps(const lamina_case *flow, const lmi_case_span *span);

/* Is a step, or its time in seconds, at the end of the span or behind it? True for a span that was not given. */
bool lmi_case_span_is_over(const lmi_case_span *span, double step, double seconds);

/* After the solver refused this case's options: the same sentence as a CASE error with the place in the file, for what
 * is wrong with the options; other errors pass. */
lamina_status lmi_case_place_refusal(const lamina_case *flow, lamina_status status);

/* "speed", unit "m/s". */
const char *lmi_scalar_name(lmi_scalar scalar);
const char *lmi_scalar_unit(lmi_scalar scalar);

/* FNV-1a as 16 hexadecimal digits: tells texts apart, protects against nothing. */
void lmi_case_hash(const char *text, char digits[17]);

#endif
