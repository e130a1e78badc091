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
  lamina_log_function *log;
  void *log_user;
  pthread_mutex_t message_lock; /* workers may fail too */
  char message[LMI_MESSAGE_BYTES];
};

#endif
