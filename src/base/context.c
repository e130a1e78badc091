/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "context_internal.h"

#include "ranks.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 4096 };

static void *system_allocate(void *user, size_t bytes, size_t alignment)
{
  (void)user;
  void *memory = NULL;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void system_release(void *user, void *memory)
{
  (void)user;
  free(memory);
}

/* The kernels of an x86-64 build are compiled once, for x86-64-v3: it reaches the memory's speed
 * (docs/dev/performance.md). */
static bool processor_runs_kernels(void)
{
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

lamina_status lmi_require_kernels(lamina_context *ctx)
{
  LMI_REQUIRE(
    ctx, processor_runs_kernels(), LAMINA_UNAVAILABLE,
    "this processor lacks AVX2 or FMA, which the kernels are compiled for (x86-64-v3): use a processor of 2013 or "
    "later");
  return LAMINA_OK;
}

static int usable_processors(void)
{
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
  return 1;
}

lamina_context_options lamina_context_options_default(void)
{
  const lamina_context_options options = {.threads = 0};
  return options;
}

lamina_status lamina_context_create(const lamina_context_options *options, lamina_context **context)
{
  if (context == NULL)
    return LAMINA_ERROR_ARGUMENT;
  *context = NULL;
  const lamina_context_options chosen = options != NULL ? *options : lamina_context_options_default();
  if (chosen.threads < 0 || chosen.threads > MAX_THREADS)
    return LAMINA_ERROR_ARGUMENT;

  const lamina_allocator standard = {.allocate = system_allocate, .release = system_release};
  const lamina_allocator allocator = chosen.allocator != NULL ? *chosen.allocator : standard;
  lamina_context *made = allocator.allocate(allocator.user, sizeof *made, LMI_LINE_BYTES);
  if (made == NULL)
    return LAMINA_ERROR_MEMORY;
  memset(made, 0, sizeof *made);
  made->allocator = allocator;
  made->threads = chosen.threads > 0 ? chosen.threads : usable_processors();
  made->chose_threads = chosen.threads > 0;
  made->rank_count = made->local_rank_count = 1;
  made->log = chosen.log;
  made->log_user = chosen.log_user;
  atomic_init(&made->allocation_count, 0);
  if (pthread_mutex_init(&made->message_lock, NULL) != 0) {
    allocator.release(allocator.user, made);
    return LAMINA_ERROR_SYSTEM;
  }
  *context = made;
  return LAMINA_OK;
}

void lamina_context_destroy(lamina_context *context)
{
  if (context == NULL)
    return;
  lmi_ranks_leave(context);
  pthread_mutex_destroy(&context->message_lock);
  const lamina_allocator allocator = context->allocator;
  allocator.release(allocator.user, context);
}

int lamina_context_thread_count(const lamina_context *context)
{
  return context->threads;
}

void lmi_set_thread_count(lamina_context *ctx, int threads)
{
  ctx->threads = threads > 0 && threads <= MAX_THREADS ? threads : 1;
}

const char *lamina_error_message(const lamina_context *context)
{
  return context != NULL ? context->message : "there is no context: creating it failed";
}

void lamina_error_clear(lamina_context *context)
{
  context->message[0] = '\0';
}

static void keep_first(lamina_context *ctx, const char *sentence)
{
  pthread_mutex_lock(&ctx->message_lock);
  if (ctx->message[0] == '\0')
    snprintf(ctx->message, sizeof ctx->message, "%s", sentence);
  pthread_mutex_unlock(&ctx->message_lock);
}

lamina_status lmi_fail(lamina_context *ctx, lamina_status status, const char *format, ...)
{
  char sentence[LMI_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  keep_first(ctx, sentence);
  return status;
}

lamina_status lmi_fail_errno(lamina_context *ctx, lamina_status status, int error_number, const char *format, ...)
{
  char sentence[LMI_MESSAGE_BYTES], reason[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  const char *why = strerror_r(error_number, reason, sizeof reason);
  const size_t used = strlen(sentence);
  snprintf(sentence + used, sizeof sentence - used, ": %s", why);
  keep_first(ctx, sentence);
  return status;
}

lamina_status lmi_fail_within(lamina_context *ctx, lamina_status status, const char *format, ...)
{
  char prefix[LMI_MESSAGE_BYTES / 2], inner[LMI_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(prefix, sizeof prefix, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&ctx->message_lock);
  memcpy(inner, ctx->message, sizeof inner);
  const int written = snprintf(ctx->message, sizeof ctx->message, "%s: ", prefix);
  if (written > 0 && (size_t)written < sizeof ctx->message)
    snprintf(ctx->message + written, sizeof ctx->message - (size_t)written, "%.*s",
             (int)(sizeof ctx->message - (size_t)written - 1), inner);
  pthread_mutex_unlock(&ctx->message_lock);
  return status;
}

void lmi_log(lamina_context *ctx, lamina_log_level level, const char *format, ...)
{
  if (ctx->log == NULL)
    return;
  char sentence[LMI_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  ctx->log(ctx->log_user, level, sentence);
}
