/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a context; for src/base only. */
#ifndef LMI_CONTEXT_INTERNAL_H
#define LMI_CONTEXT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base.h"

enum { LMI_MESSAGE_BYTES = 2048 };

struct lamina_context {
  lamina_allocator allocator;
  atomic_uint_fast64_t allocation_count;
  int threads;
  bool chose_threads; /* by number; otherwise ranks of one host share its processors */
  int rank, rank_count, local_rank, local_rank_count;
  struct lmi_rank_state *ranks; /* NULL: one rank */
  lamina_log_function *log;
  void *log_user;
  pthread_mutex_t message_lock; /* workers may fail too */
  char message[LMI_MESSAGE_BYTES];
};

#endif
