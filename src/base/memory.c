/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "context_internal.h"

static const size_t HUGE_PAGE_BYTES = (size_t)2 << 20;

bool lmi_multiply_size(size_t a, size_t b, size_t *product)
{
  return !__builtin_mul_overflow(a, b, product);
}

lamina_status lmi_alloc_array(lamina_context *ctx, size_t count, size_t size, void **memory)
{
  *memory = NULL;
  size_t bytes = 0;
  if (!lmi_multiply_size(count, size, &bytes))
    return lmi_fail(ctx, LAMINA_ERROR_MEMORY, "an array of %zu elements of %zu bytes is larger than the address space",
                    count, size);
  if (bytes == 0)
    bytes = 1;
  atomic_fetch_add_explicit(&ctx->allocation_count, 1, memory_order_relaxed);
  void *made = ctx->allocator.allocate(ctx->allocator.user, bytes, LMI_LINE_BYTES);
  if (made == NULL)
    return lmi_fail(ctx, LAMINA_ERROR_MEMORY, "no memory for %zu bytes", bytes);
  memset(made, 0, bytes);
  *memory = made;
  return LAMINA_OK;
}

/* Through the context's allocator, so that the failing allocator of the tests meets large arrays too; huge pages are
 * asked for by alignment and advice. */
lamina_status lmi_alloc_pages(lamina_context *ctx, size_t bytes, void **memory)
{
  *memory = NULL;
  if (bytes == 0)
    bytes = 1;
  atomic_fetch_add_explicit(&ctx->allocation_count, 1, memory_order_relaxed);
  void *made = ctx->allocator.allocate(ctx->allocator.user, bytes, HUGE_PAGE_BYTES);
  if (made == NULL) {
    char text[32];
    return lmi_fail(ctx, LAMINA_ERROR_MEMORY, "no memory for %s", lmi_format_bytes((double)bytes, text));
  }
  madvise(made, bytes, MADV_HUGEPAGE); /* a hint: refused on kernels without huge pages, and nothing is lost */
  *memory = made;
  return LAMINA_OK;
}

void lmi_free_pages(lamina_context *ctx, void *memory, size_t bytes)
{
  (void)bytes;
  lmi_free(ctx, memory);
}

void lmi_free(lamina_context *ctx, void *memory)
{
  if (memory != NULL)
    ctx->allocator.release(ctx->allocator.user, memory);
}

lamina_status lmi_string_copy(lamina_context *ctx, const char *text, char **copy)
{
  return lmi_string_copy_n(ctx, text, strlen(text), copy);
}

lamina_status lmi_string_copy_n(lamina_context *ctx, const char *text, size_t length, char **copy)
{
  LMI_TRY(LMI_ALLOC(ctx, length + 1, copy));
  memcpy(*copy, text, length);
  return LAMINA_OK;
}

uint64_t lmi_allocation_count(const lamina_context *ctx)
{
  return atomic_load_explicit(&((lamina_context *)(uintptr_t)ctx)->allocation_count, memory_order_relaxed);
}
