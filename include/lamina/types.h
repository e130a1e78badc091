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
typedef enum lamina_backend { LAMINA_BACKEND_LIST(LAMINA_ENUMERATOR) } lamina_backend;
#undef LAMINA_ENUMERATOR

/* Names as case files spell them; NULL for a value outside the list. */
LAMINA_API const char *lamina_lattice_name(lamina_lattice lattice);
LAMINA_API const char *lamina_collision_name(lamina_collision collision);
LAMINA_API const char *lamina_precision_name(lamina_precision precision);
LAMINA_API const char *lamina_storage_name(lamina_storage storage);
LAMINA_API const char *lamina_layout_name(lamina_layout layout);
LAMINA_API const char *lamina_streaming_name(lamina_streaming streaming);
LAMINA_API const char *lamina_backend_name(lamina_backend backend);

/* Velocities of a lattice (9, 19, 27) and its dimension (2, 3). */
LAMINA_API int lamina_lattice_velocities(lamina_lattice lattice);
LAMINA_API int lamina_lattice_dimension(lamina_lattice lattice);

#ifdef __cplusplus
}
#endif

#endif
