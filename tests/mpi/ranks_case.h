/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that all ranks run together. A rank whose case fails ends the others: they wait for its messages. */
#ifndef RANKS_CASE_H
#define RANKS_CASE_H

#include "support/test.h"

#include <mpi.h>

#include <lamina/lamina.h>

#define LMI_RANKS_MAIN(...)                                                         \
  int main(int argc, char **argv)                                                   \
  {                                                                                 \
    const struct CMUnitTest cases[] = {__VA_ARGS__};                                \
    int level = 0;                                                                  \
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);                     \
    if (argc > 1 && !lmi_test_select(argv[1], cases, sizeof cases / sizeof *cases)) \
      MPI_Abort(MPI_COMM_WORLD, 2);                                                 \
    const int failed = cmocka_run_group_tests(cases, NULL, NULL);                   \
    if (failed != 0)                                                                \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                 \
    MPI_Finalize();                                                                 \
    return 0;                                                                       \
  }

/* A context of one rank, or one that has joined all. */
static inline lamina_context *make_context(int threads, bool joins)
{
  lamina_context_options options = lamina_context_options_default();
  options.threads = threads;
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
  if (joins && lamina_ranks_join(ctx, NULL) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(ctx));
  return ctx;
}

#endif
