/* SPDX-License-Identifier: Apache-2.0 */
/* A solver over ranks: whose a plane is, and how all come to know what one of them holds. */
#include <string.h>

#include "base/ranks.h"
#include "solver_internal.h"

void lmi_solver_own_planes(const lamina_solver *solver, lamina_index *first, lamina_index *count)
{
  *first = 0;
  *count = solver->flow->nz;
  if (solver->flow->partition != NULL)
    lmi_partition_planes(solver->flow->partition, lamina_rank(solver->ctx), first, count);
}

lamina_index lmi_solver_planes_of_rank(const lamina_solver *solver, lamina_index plane, lamina_index most, int *rank)
{
  const lmi_partition *partition = solver->flow->partition;
  lamina_index first = 0, count = solver->flow->nz;
  *rank = lamina_rank(solver->ctx);
  if (partition != NULL) {
    *rank = partition->slabs[lmi_partition_owner(partition, plane)].rank;
    lmi_partition_planes(partition, *rank, &first, &count);
  }
  return first + count - plane < most ? first + count - plane : most;
}

lamina_status lmi_solver_get_own_plane(const lamina_solver *solver, lamina_index plane, void *populations)
{
  return solver->flow->ops->planes(solver->flow, LMI_PLANES_EXPORT, plane, 1, populations);
}

lamina_status lmi_solver_share_planes(const lamina_solver *solver, void *values, size_t plane_bytes)
{
  char *at = values;
  for (lamina_index plane = 0; plane < solver->flow->nz;) {
    int rank = 0;
    const lamina_index count = lmi_solver_planes_of_rank(solver, plane, solver->flow->nz, &rank);
    LMI_TRY(lmi_ranks_broadcast(solver->ctx, rank, at + (size_t)plane * plane_bytes, (size_t)count * plane_bytes));
    plane += count;
  }
  return LAMINA_OK;
}
