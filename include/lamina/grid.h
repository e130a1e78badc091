/* SPDX-License-Identifier: Apache-2.0 */
/* The disaggregated design method on a dense box of cells: cells are grouped by what matters for speed, each group is
 * laid out and run in its own way, and halos are exchanged in place while private cells are computed (arXiv 2503.07898;
 * docs/theory/disaggregation.md). Layout, partitions, overlap and threads change no bit of a result.
 *
 *   lamina_domain domain = lamina_domain_box(3, (lamina_int3){64, 64, 64});
 *   lamina_grid_options options = lamina_grid_options_default();
 *   options.stencil = LAMINA_STENCIL_7;
 *   options.partitions = 4;
 *   lamina_grid_create(context, &domain, &options, &grid);
 *   lamina_field_create(grid, &(lamina_field_options){.name = "t0", .components = 1, .type = LAMINA_F64}, &t0);
 *   lamina_kernel_create(grid, &(lamina_kernel_options){.text = &heat_step,
 *     .arguments = {{.field = t0, .stencil = LAMINA_STENCIL_7}, {.field = t1, .access = LAMINA_WRITE}, {.value = 0.1}},
 *     .argument_count = 3}, &forth);
 *   lamina_schedule_create(grid, (const lamina_kernel *const[]){forth, back}, 2, NULL, &schedule);
 *   lamina_schedule_run(schedule, 1000);
 *
 * A grid and all that is made from it serve one thread of the caller at a time. Destroy in the opposite order. Grids
 * live on one rank: a context that joined several (lamina/mpi.h) makes none. */
#ifndef LAMINA_GRID_H
#define LAMINA_GRID_H

#include <lamina/context.h>
#include <lamina/kernel.h>
#include <lamina/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- domain: extents, and what lies behind their ends ---- */

typedef enum lamina_edge {
  LAMINA_EDGE_PERIODIC, /* the opposite end */
  LAMINA_EDGE_FIXED,    /* a frame of cells one cell wide, filled by lamina_field_fill and written by no kernel */
} lamina_edge;

typedef struct lamina_domain {
  int dimension;       /* 2 or 3; in two dimensions cells.z is 1 */
  lamina_int3 cells;   /* each >= 1; product below 2^40 */
  lamina_edge edge[3]; /* along x, y, z */
} lamina_domain;

/* A periodic box. */
LAMINA_API lamina_domain lamina_domain_box(int dimension, lamina_int3 cells);

/* ---- property: what a cell is, as far as speed is concerned ---- */

enum { LAMINA_MAX_PROPERTIES = 4, LAMINA_MAX_CLASSES = 32 };

/* Class of a cell, 0 to classes - 1. Called once for each cell when the grid is made. */
typedef int lamina_property_function(void *user, lamina_int3 cell);

typedef struct lamina_property {
  const char *name;
  lamina_property_function *function;
  void *user;
  int classes; /* 1 to 32 */
} lamina_property;

/* ---- grid: cells in groups, partitions, neighbours ---- */

typedef struct lamina_grid lamina_grid;

/* Sets of neighbours, as bits 1 << LAMINA_NEIGHBOUR(dx, dy, dz): the cell itself; neighbours that share an edge (2D), a
 * face (3D) or at least a corner with it. */
#define LAMINA_STENCIL_BIT(dx, dy, dz) (1u << LAMINA_NEIGHBOUR(dx, dy, dz))
enum {
  LAMINA_STENCIL_1 = 1 << 13,
  LAMINA_STENCIL_5 = 0x17400,
  LAMINA_STENCIL_7 = 0x417410,
  LAMINA_STENCIL_9 = 0x3fe00,
  LAMINA_STENCIL_27 = 0x7ffffff,
};

typedef struct lamina_grid_options {
  uint32_t stencil;                  /* all neighbours that any kernel will read; 0: none */
  int partitions;                    /* slabs along the last axis; 0: one. Any number up to the cells of that axis */
  const lamina_property *properties; /* used while the grid is made; names are copied */
  int property_count;                /* 0 to 4 */
  lamina_backend backend;            /* cpu or check; others are UNAVAILABLE until they run kernels of users */
} lamina_grid_options;

LAMINA_API lamina_grid_options lamina_grid_options_default(void);

/* Classifies all cells and deals them out. The context must outlive the grid; `options` may be NULL (defaults).
 * Errors: ARGUMENT (which number, what is allowed), MEMORY, UNAVAILABLE. On failure *grid is NULL. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_grid_create(lamina_context *context, const lamina_domain *domain,
                                                             const lamina_grid_options *options, lamina_grid **grid);
LAMINA_API void lamina_grid_destroy(lamina_grid *grid);

/* How a cell talks to other partitions. A slab of one plane is LOWER when it has a lower neighbour, else UPPER. */
typedef enum lamina_section {
  LAMINA_SECTION_LOWER,   /* shared with the partition below */
  LAMINA_SECTION_PRIVATE, /* computed while messages fly */
  LAMINA_SECTION_UPPER,   /* shared with the partition above */
} lamina_section;

/* Cells of one partition with the same section and classes. */
typedef struct lamina_group {
  int partition;
  lamina_section section;
  int classes[LAMINA_MAX_PROPERTIES]; /* by property; 0 beyond property_count */
  lamina_index cells;
  lamina_index spans; /* runs of neighbouring cells in rows */
} lamina_group;

/* Groups that have cells, ordered by partition, section and classes. */
LAMINA_API size_t lamina_grid_group_count(const lamina_grid *grid);
/* false when there is no group of that number. */
LAMINA_API bool lamina_grid_group_at(const lamina_grid *grid, size_t index, lamina_group *group);

/* Holds the grid against its own rules: every cell in exactly one span of its class, spans in order, slabs without gap
 * or overlap, neighbours mutual. Errors: CHECK with the first rule that is broken. Slow; for tests. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_grid_check(const lamina_grid *grid);

/* ---- field: components over the cells ---- */

typedef struct lamina_field lamina_field;

typedef struct lamina_field_options {
  const char *name; /* for messages; copied */
  int components;   /* 1 to 32 */
  lamina_precision type;
  lamina_layout layout; /* default plane order */
} lamina_field_options;

/* All cells are 0, and the frame along fixed edges too. Errors: ARGUMENT, MEMORY. On failure *field is NULL. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_field_create(lamina_grid *grid, const lamina_field_options *options,
                                                              lamina_field **field);
LAMINA_API void lamina_field_destroy(lamina_field *field);

/* Sets the components of a cell. Called from several threads at once, in any order. */
typedef void lamina_fill_function(void *user, lamina_int3 cell, double *components);

/* Sets all cells, and along a fixed edge also its frame: there a position is -1 or the number of cells. A `function` of
 * NULL sets 0. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_field_fill(lamina_field *field, lamina_fill_function *function,
                                                            void *user);

/* One component of the cells [first, first + count), x fastest, as doubles. The frame can be read too. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_field_read(const lamina_field *field, int component, lamina_int3 first,
                                                            lamina_int3 count, double *values);

LAMINA_API uint64_t lamina_field_bytes(const lamina_field *field);

/* ---- kernel: a text, what it touches, which groups it serves ---- */

typedef struct lamina_kernel lamina_kernel;

typedef enum lamina_access {
  LAMINA_READ, /* this cell, and the neighbours in `stencil` */
  LAMINA_WRITE,
  LAMINA_READ_WRITE, /* this cell alone */
} lamina_access;

/* A field with its access, or a number. */
typedef struct lamina_argument {
  lamina_field *field; /* NULL: a number */
  lamina_access access;
  uint32_t stencil; /* neighbours read, within the grid's stencil; 0: none */
  /* Components read from the plane below and above (bits); 0: all. Only these cross between partitions. */
  uint32_t from_below, from_above;
  double value;
} lamina_argument;

typedef struct lamina_kernel_options {
  const lamina_kernel_text *text;                  /* made by LAMINA_KERNEL; kept by reference */
  lamina_argument arguments[LAMINA_MAX_ARGUMENTS]; /* as LAMINA_KERNEL names them */
  int argument_count;
  uint32_t serves[LAMINA_MAX_PROPERTIES]; /* classes it runs on, by property, as bits; 0: all */
  lamina_reduction reduction;
} lamina_kernel_options;

/* Binds a text to fields, all of one type. Fields must outlive the kernel.
 * Errors: ARGUMENT (among others: a field that is written while neighbours of it are read), MEMORY. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_kernel_create(lamina_grid *grid, const lamina_kernel_options *options,
                                                               lamina_kernel **kernel);
LAMINA_API void lamina_kernel_destroy(lamina_kernel *kernel);

/* Changes a number among the arguments, from the next run on. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_kernel_set_value(lamina_kernel *kernel, int argument, double value);

/* What the reduction gave when the kernel last ran: shares are added cell by cell along each row, rows and planes in
 * order, whatever the partitions and threads. Before the first run: 0, or minus or plus infinity. */
LAMINA_API double lamina_kernel_result(const lamina_kernel *kernel);

/* ---- schedule: kernels in order, with the messages they need ---- */

typedef struct lamina_schedule lamina_schedule;

typedef struct lamina_schedule_options {
  bool no_overlap; /* wait for messages before computing anything */
} lamina_schedule_options;

/* One period: these kernels one after the other; a kernel may stand in it several times. What a neighbour must send is
 * derived from what the kernels declare; a halo that is still valid is not sent again. Kernels must outlive the
 * schedule. `options` may be NULL. Errors: ARGUMENT, MEMORY. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_schedule_create(lamina_grid *grid, const lamina_kernel *const *kernels,
                                                                 size_t kernel_count,
                                                                 const lamina_schedule_options *options,
                                                                 lamina_schedule **schedule);
LAMINA_API void lamina_schedule_destroy(lamina_schedule *schedule);

/* Runs that many periods. Blocking; allocates nothing. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_schedule_run(lamina_schedule *schedule, lamina_index periods);

/* The messages of one period as planned, and those of all runs so far as counted where they were made. In the paper's
 * terms (equation 1): alpha and beta of one exchange of a partition between two neighbours. */
typedef struct lamina_schedule_info {
  int exchanges; /* kernels of the period before which halos are sent */
  double alpha;  /* messages of one exchange: contiguous ranges */
  double beta_values;
  double messages, bytes; /* of a period, over all partitions; padding that lies between components counts in bytes */
  uint64_t messages_made, bytes_made; /* since the schedule was created */
} lamina_schedule_info;

LAMINA_API void lamina_schedule_get_info(const lamina_schedule *schedule, lamina_schedule_info *info);

#ifdef __cplusplus
}
#endif

#endif
