/* SPDX-License-Identifier: Apache-2.0 */
/* Small shared types: index, triples, and the closed lists that name a lattice, a layout, a pattern. Each list is an
 * X-macro, so enum, name in case files and documentation cannot drift apart. */
#ifndef LAMINA_TYPES_H
#define LAMINA_TYPES_H

#include <stdint.h>

#include <lamina/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t lamina_index; /* global cell counts and positions */

typedef struct lamina_int3 {
  lamina_index x, y, z;
} lamina_int3;

typedef struct lamina_real3 {
  double x, y, z;
} lamina_real3;

/* X(enumerator, value, name, text) */
#define LAMINA_LATTICE_LIST(X)                                   \
  X(LAMINA_D2Q9, 0, "d2q9", "two dimensions, 9 velocities")      \
  X(LAMINA_D3Q19, 1, "d3q19", "three dimensions, 19 velocities") \
  X(LAMINA_D3Q27, 2, "d3q27", "three dimensions, 27 velocities")

#define LAMINA_COLLISION_LIST(X)                                                                       \
  X(LAMINA_BGK, 0, "bgk", "one relaxation rate")                                                       \
  X(LAMINA_TRT, 1, "trt", "two rates, tied by the magic parameter")                                    \
  X(LAMINA_REGULARIZED, 2, "regularized", "BGK on the second-order part only (Latt and Chopard 2006)") \
  X(LAMINA_CUMULANT, 3, "cumulant", "cumulants, higher rates one (Geier 2015); d2q9 and d3q27")        \
  X(LAMINA_SMAGORINSKY, 4, "smagorinsky", "BGK with the Smagorinsky subgrid viscosity")

#define LAMINA_PRECISION_LIST(X)                           \
  X(LAMINA_F32, 0, "f32", "4-byte arithmetic and storage") \
  X(LAMINA_F64, 1, "f64", "8-byte arithmetic and storage")

/* How populations are stored between steps, where that is less than the precision computes with. */
#define LAMINA_STORAGE_LIST(X)                               \
  X(LAMINA_STORAGE_FULL, 0, "full", "as the precision says") \
  X(LAMINA_STORAGE_F16, 1, "f16", "2-byte halves of f - w, scaled by 2^15; f32 arithmetic; cuda backend only")

/* How components lie in memory; the index functions stand in src/grid/layout.h. */
#define LAMINA_LAYOUT_LIST(X)                                                                               \
  X(LAMINA_LAYOUT_PLANE, 0, "plane", "every plane of cells a span of its own")                              \
  X(LAMINA_LAYOUT_DISAGGREGATED, 1, "disaggregated", "halo, boundary and private spans (arXiv 2503.07898)") \
  X(LAMINA_LAYOUT_SOA, 2, "soa", "structure of arrays: one span")                                           \
  X(LAMINA_LAYOUT_AOS, 3, "aos", "array of structures: one span a cell")

#define LAMINA_STREAMING_LIST(X)                                                      \
  X(LAMINA_ESOTERIC_PULL, 0, "esoteric_pull", "in place, one lattice (Lehmann 2022)") \
  X(LAMINA_AA, 1, "aa", "in place, one lattice (Bailey 2009)")                        \
  X(LAMINA_TWO_GRID, 2, "two_grid", "pull from one lattice into another: the judge")

/* Which cells there are and how they lie in memory. */
#define LAMINA_GRID_LIST(X)                                                           \
  X(LAMINA_GRID_DENSE, 0, "dense", "every cell of the box, in rows and planes")       \
  X(LAMINA_GRID_SPARSE, 1, "sparse", "blocks of 64 cells, only where there is fluid") \
  X(LAMINA_GRID_LEVELS, 2, "levels", "stacked sparse grids, each with cells twice as large")

/* How blocks with boundary cells are told from plain ones (arXiv 2503.07898, section 4): of the sparse grid. */
#define LAMINA_GROUPING_LIST(X)                                                                             \
  X(LAMINA_GROUPING_MEMORY, 0, "memory", "blocks of a kind stored together, each kind with its own kernel") \
  X(LAMINA_GROUPING_BITMASK, 1, "bitmask", "a kernel for each kind over all blocks, one index a cell")      \
  X(LAMINA_GROUPING_POPCOUNT, 2, "popcount", "as bitmask, the index counted from a bit mask of the block")  \
  X(LAMINA_GROUPING_NAIVE, 3, "naive", "one kernel for all blocks, boundary data for every cell")

/* How populations cross a jump between levels. All but the first are published ones, for comparison. */
#define LAMINA_LEVEL_SCHEME_LIST(X)                                                                               \
  X(LAMINA_LEVELS_PACKETS, 0, "packets", "exact packets with corrections: keeps mass and momentum, second order") \
  X(LAMINA_LEVELS_VOLUMETRIC, 1, "volumetric", "collide, explode, coalesce; fused in blocks away from jumps")     \
  X(LAMINA_LEVELS_BASELINE, 2, "baseline", "the same numbers as volumetric, collision and streaming never fused") \
  X(LAMINA_LEVELS_FINEST_FUSED, 3, "finest_fused", "the same numbers, fused on the finest level alone")           \
  X(LAMINA_LEVELS_COARSE_FUSED, 4, "coarse_fused", "the same numbers, fused on all levels but the finest")

/* What bounds the box on one side. Opposite faces are both periodic or neither. */
#define LAMINA_FACE_KIND_LIST(X)                                                             \
  X(LAMINA_FACE_PERIODIC, 0, "periodic", "joined to the opposite face")                      \
  X(LAMINA_FACE_WALL, 1, "wall", "half-way bounce-back, at rest or moving in its own plane") \
  X(LAMINA_FACE_VELOCITY, 2, "velocity", "given velocity: an inlet")                         \
  X(LAMINA_FACE_PRESSURE, 3, "pressure", "given density: an inlet or outlet")                \
  X(LAMINA_FACE_OUTFLOW, 4, "outflow", "what leaves is carried away")                        \
  X(LAMINA_FACE_SLIP, 5, "slip", "a wall without friction, a plane of symmetry")

/* How velocity and pressure faces find the populations that come from outside. */
#define LAMINA_FACE_METHOD_LIST(X)                                                                                 \
  X(LAMINA_FACE_REGULARIZED, 0, "regularized", "every population rebuilt from ten moments (Latt and others 2008)") \
  X(LAMINA_FACE_ZOU_HE, 1, "zou_he", "only the unknown populations, non-equilibrium bounced (Zou and He 1997)")

/* Where the surface of a body is taken to cut a link. */
#define LAMINA_CURVED_LIST(X)                                                                          \
  X(LAMINA_CURVED_HALFWAY, 0, "halfway", "half-way between fluid and solid cell: stairs, first order") \
  X(LAMINA_CURVED_BOUZIDI, 1, "bouzidi", "where it does, by interpolation (Bouzidi and others 2001)")

#define LAMINA_BACKEND_LIST(X)                                                      \
  X(LAMINA_BACKEND_CPU, 0, "cpu", "threads of this machine")                        \
  X(LAMINA_BACKEND_CUDA, 1, "cuda", "NVIDIA devices, kernels compiled at run time") \
  X(LAMINA_BACKEND_CHECK, 2, "check", "the cpu backend on poisoned memory, for tests")

#define LAMINA_ENUMERATOR(name, value, text, description) name = value,
typedef enum lamina_lattice { LAMINA_LATTICE_LIST(LAMINA_ENUMERATOR) } lamina_lattice;
typedef enum lamina_collision { LAMINA_COLLISION_LIST(LAMINA_ENUMERATOR) } lamina_collision;
typedef enum lamina_precision { LAMINA_PRECISION_LIST(LAMINA_ENUMERATOR) } lamina_precision;
typedef enum lamina_storage { LAMINA_STORAGE_LIST(LAMINA_ENUMERATOR) } lamina_storage;
typedef enum lamina_layout { LAMINA_LAYOUT_LIST(LAMINA_ENUMERATOR) } lamina_layout;
typedef enum lamina_streaming { LAMINA_STREAMING_LIST(LAMINA_ENUMERATOR) } lamina_streaming;
typedef enum lamina_grid_kind { LAMINA_GRID_LIST(LAMINA_ENUMERATOR) } lamina_grid_kind;
typedef enum lamina_grouping { LAMINA_GROUPING_LIST(LAMINA_ENUMERATOR) } lamina_grouping;
typedef enum lamina_level_scheme { LAMINA_LEVEL_SCHEME_LIST(LAMINA_ENUMERATOR) } lamina_level_scheme;
typedef enum lamina_face_kind { LAMINA_FACE_KIND_LIST(LAMINA_ENUMERATOR) } lamina_face_kind;
typedef enum lamina_face_method { LAMINA_FACE_METHOD_LIST(LAMINA_ENUMERATOR) } lamina_face_method;
typedef enum lamina_curved { LAMINA_CURVED_LIST(LAMINA_ENUMERATOR) } lamina_curved;
typedef enum lamina_backend { LAMINA_BACKEND_LIST(LAMINA_ENUMERATOR) } lamina_backend;
#undef LAMINA_ENUMERATOR

/* Names as case files spell them; NULL for a value outside the list. */
LAMINA_API const char *lamina_lattice_name(lamina_lattice lattice);
LAMINA_API const char *lamina_collision_name(lamina_collision collision);
LAMINA_API const char *lamina_precision_name(lamina_precision precision);
LAMINA_API const char *lamina_storage_name(lamina_storage storage);
LAMINA_API const char *lamina_layout_name(lamina_layout layout);
LAMINA_API const char *lamina_streaming_name(lamina_streaming streaming);
LAMINA_API const char *lamina_grid_kind_name(lamina_grid_kind kind);
LAMINA_API const char *lamina_grouping_name(lamina_grouping grouping);
LAMINA_API const char *lamina_level_scheme_name(lamina_level_scheme scheme);
LAMINA_API const char *lamina_face_kind_name(lamina_face_kind kind);
LAMINA_API const char *lamina_face_method_name(lamina_face_method method);
LAMINA_API const char *lamina_curved_name(lamina_curved curved);
LAMINA_API const char *lamina_backend_name(lamina_backend backend);

/* Velocities of a lattice (9, 19, 27) and its dimension (2, 3). */
LAMINA_API int lamina_lattice_velocities(lamina_lattice lattice);
LAMINA_API int lamina_lattice_dimension(lamina_lattice lattice);

#ifdef __cplusplus
}
#endif

#endif
