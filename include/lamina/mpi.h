/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks: processes under mpirun that share the work of one context. A context joins once, before anything is made from
 * it; solvers and grids made afterwards are cut into ranks x partitions slabs, and each rank holds its own.
 *
 *   lamina_context_create(NULL, &context);
 *   lamina_ranks_options options = lamina_ranks_options_default();
 *   options.starts_mpi = true;                       // or MPI_Init_thread was called by the program itself
 *   if (lamina_ranks_join(context, &options) != LAMINA_OK) ...
 *
 * From then on calls that make, run, read or write a solver, a grid or a case are collective: every rank makes the same
 * calls in the same order, and what is read is given to all of them. Where a header says "Not collective", a rank may
 * call alone. A context that did not join is one of one rank; it never touches MPI. */
#ifndef LAMINA_MPI_H
#define LAMINA_MPI_H

#include <stdbool.h>

#include <lamina/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamina_ranks_options {
  const void *communicator; /* MPI_Comm *; NULL: MPI_COMM_WORLD. Duplicated: the library's messages meet no others */
  bool starts_mpi; /* call MPI_Init_thread when nobody did, and then MPI_Finalize when the context is destroyed */
} lamina_ranks_options;

LAMINA_API lamina_ranks_options lamina_ranks_options_default(void);

/* Joins the ranks of a communicator. A context that was created with threads = 0 then takes its share of the processors
 * that it may use together with other ranks of this host. Collective.
 * Errors: UNAVAILABLE (built without MPI), ARGUMENT (MPI is not running, the context joined before), COMMUNICATION. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_ranks_join(lamina_context *context,
                                                            const lamina_ranks_options *options);

/* The number of this rank, from 0, and how many there are: 0 and 1 without ranks. Not collective. */
LAMINA_API int lamina_rank(const lamina_context *context);
LAMINA_API int lamina_rank_count(const lamina_context *context);

/* The MPI library this was built with ("Open MPI 4.1.4", "" without MPI). Not collective. */
LAMINA_API const char *lamina_ranks_library(void);

#ifdef __cplusplus
}
#endif

#endif
