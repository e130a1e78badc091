/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "support/failing_allocator.h"

#include <stdlib.h>

static void *allocate(void *user, size_t bytes, size_t alignment)
{
  lmi_failing_allocator *heap = user;
  if (++heap->calls == heap->fails_at) {
    heap->has_failed = true;
    return NULL;
  }
  void *memory = NULL;
  if (posix_memalign(&memory, alignment, bytes) != 0)
    return NULL;
  heap->live++;
  return memory;
}

static void release(void *user, void *memory)
{
  lmi_failing_allocator *heap = user;
  if (memory != NULL)
    heap->live--;
  free(memory);
}

lmi_failing_allocator lmi_failing_allocator_make(uint64_t fails_at)
{
  const lmi_failing_allocator heap = {.fails_at = fails_at};
  return heap;
}

lamina_allocator lmi_failing_allocator_interface(lmi_failing_allocator *heap)
{
  const lamina_allocator interface = {.allocate = allocate, .release = release, .user = heap};
  return interface;
}
