/* SPDX-License-Identifier: Apache-2.0 */
/* Which level each cell of a box belongs to. */
#include <string.h>

#include "solver_internal.h"

static bool is_inside(lamina_int3 n, lamina_int3 first, lamina_int3 count)
{
  return first.x >= 0 && first.y >= 0 && first.z >= 0 && count.x >= 1 && count.y >= 1 && count.z >= 1 &&
         first.x + count.x <= n.x && first.y + count.y <= n.y && first.z + count.z <= n.z;
}

/* Row (y, z) of the box lies in plane z, or in two dimensions in plane y. */
static lamina_status copy_rows(const lamina_solver *solver, lamina_int3 first, lamina_int3 count, uint8_t *plane,
                               uint8_t *levels)
{
  const lmi_flow *flow = solver->flow;
  const bool flat = flow->lattice->dimension == 2;
  lamina_index held = -1;
  for (lamina_index z = 0; z < count.z; z++)
    for (lamina_index y = 0; y < count.y; y++) {
      const lamina_index wanted = flat ? first.y + y : first.z + z, row = flat ? 0 : first.y + y;
      if (wanted != held)
        flow->ops->levels(flow, wanted, 1, plane);
      held = wanted;
      memcpy(levels + (z * count.y + y) * count.x, plane + row * flow->nx + first.x, (size_t)count.x);
    }
  return LAMINA_OK;
}

lamina_status lamina_solver_read_levels(const lamina_solver *solver, lamina_int3 first, lamina_int3 count,
                                        uint8_t *levels)
{
  const lamina_int3 n = solver->options.cells;
  LMI_REQUIRE(solver->ctx, is_inside(n, first, count), LAMINA_ERROR_ARGUMENT,
              "%lld x %lld x %lld cells from (%lld, %lld, %lld) on: the box has %lld x %lld x %lld", (long long)count.x,
              (long long)count.y, (long long)count.z, (long long)first.x, (long long)first.y, (long long)first.z,
              (long long)n.x, (long long)n.y, (long long)n.z);
  if (solver->flow->ops->levels == NULL) {
    memset(levels, 0, (size_t)(count.x * count.y * count.z));
    return LAMINA_OK;
  }
  uint8_t *plane = NULL;
  LMI_TRY(LMI_ALLOC(solver->ctx, (size_t)(solver->flow->nx * solver->flow->ny), &plane));
  const lamina_status status = copy_rows(solver, first, count, plane, levels);
  lmi_free(solver->ctx, plane);
  return status;
}
