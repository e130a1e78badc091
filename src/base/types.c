/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include <lamina/types.h>

#define NAME_CASE(enumerator, value, name, text) \
  case enumerator:                               \
    return name;

#define NAME_FUNCTION(type, LIST)                      \
  const char *lamina_##type##_name(lamina_##type type) \
  {                                                    \
    switch (type) {                                    \
      LIST(NAME_CASE)                                  \
    }                                                  \
    return NULL;                                       \
  }

NAME_FUNCTION(lattice, LAMINA_LATTICE_LIST)
NAME_FUNCTION(collision, LAMINA_COLLISION_LIST)
NAME_FUNCTION(precision, LAMINA_PRECISION_LIST)
NAME_FUNCTION(storage, LAMINA_STORAGE_LIST)
NAME_FUNCTION(layout, LAMINA_LAYOUT_LIST)
NAME_FUNCTION(streaming, LAMINA_STREAMING_LIST)
NAME_FUNCTION(grid_kind, LAMINA_GRID_LIST)
NAME_FUNCTION(grouping, LAMINA_GROUPING_LIST)
NAME_FUNCTION(level_scheme, LAMINA_LEVEL_SCHEME_LIST)
NAME_FUNCTION(face_kind, LAMINA_FACE_KIND_LIST)
NAME_FUNCTION(face_method, LAMINA_FACE_METHOD_LIST)
NAME_FUNCTION(curved, LAMINA_CURVED_LIST)
NAME_FUNCTION(backend, LAMINA_BACKEND_LIST)

int lamina_lattice_velocities(lamina_lattice lattice)
{
  switch (lattice) {
  case LAMINA_D2Q9: return 9;
  case LAMINA_D3Q19: return 19;
  case LAMINA_D3Q27: return 27;
  }
  return 0;
}

int lamina_lattice_dimension(lamina_lattice lattice)
{
  return lattice == LAMINA_D2Q9 ? 2 : 3;
}
