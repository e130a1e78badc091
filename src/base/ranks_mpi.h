/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that speak MPI share. */
#ifndef LMI_RANKS_MPI_H
#define LMI_RANKS_MPI_H

#include <mpi.h>

#include "context_internal.h"
#include "ranks.h"

struct lmi_rank_state {
  MPI_Comm work; /* everything */
  MPI_Comm end;  /* the last meeting alone, which may come while others still wait on `work` */
  bool finalises;
};

/* COMMUNICATION with what MPI says, "SENTENCE: text of MPI", unless code is MPI_SUCCESS. */
LAMINA_NODISCARD lamina_status lmi_mpi_check(lamina_context *ctx, int code, const char *sentence);

/* A committed type of `rows` runs of `bytes`, `pitch` apart: of any length, where a count of bytes is an int. To be
 * freed. */
LAMINA_NODISCARD lamina_status lmi_mpi_make_type(lamina_context *ctx, size_t bytes, size_t rows, size_t pitch,
                                                 MPI_Datatype *type);

#endif
