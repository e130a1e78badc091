/* SPDX-License-Identifier: Apache-2.0 */
/* The context: threads, allocator, log and the message of the first failure. Everything else is made from one and must
 * be destroyed before it. There is no global state: two contexts do not know of each other. One context serves one
 * thread of the caller at a time; the library's own threads are started inside its calls.
 *
 *   lamina_context_options options = lamina_context_options_default();
 *   lamina_context *context = NULL;
 *   if (lamina_context_create(&options, &context) != LAMINA_OK) ...
 *   lamina_context_destroy(context);
 */
#ifndef LAMINA_CONTEXT_H
#define LAMINA_CONTEXT_H

#include <stddef.h>

#include <lamina/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamina_context lamina_context;

typedef enum lamina_log_level {
  LAMINA_LOG_ERROR,
  LAMINA_LOG_WARNING,
  LAMINA_LOG_REMARK,
} lamina_log_level;

/* Called for each remark; `text` has no newline and lives only during the call. */
typedef void lamina_log_function(void *user, lamina_log_level level, const char *text);

/* Replaces the C allocator (tests fail the n-th call with it). `allocate` returns memory aligned to `alignment` bytes
 * (a power of two) or NULL; `release` takes what `allocate` gave. Both may be called from several threads. */
typedef struct lamina_allocator {
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory);
  void *user;
} lamina_allocator;

typedef struct lamina_context_options {
  int threads;              /* worker threads; 0: the processors this process may use */
  lamina_log_function *log; /* NULL: remarks are dropped */
  void *log_user;
  const lamina_allocator *allocator; /* copied; NULL: the C library's */
} lamina_context_options;

LAMINA_API lamina_context_options lamina_context_options_default(void);

/* Creates a context. `options` may be NULL (defaults). Errors: ARGUMENT (threads < 0 or > 4096), MEMORY, SYSTEM. On
 * failure *context is NULL. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_context_create(const lamina_context_options *options,
                                                                lamina_context **context);

LAMINA_API int lamina_context_thread_count(const lamina_context *context);

/* The sentence of the first failure since the last clear; "" when there was none. Lives until the next failing call. */
LAMINA_API const char *lamina_error_message(const lamina_context *context);
LAMINA_API void lamina_error_clear(lamina_context *context);

/* Destroys the context; NULL does nothing. */
LAMINA_API void lamina_context_destroy(lamina_context *context);

#ifdef __cplusplus
}
#endif

#endif
