/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that fails one chosen call and counts what is not given back.
 *
 *   for (uint64_t n = 1; ; n++) {
 *     lmi_failing_allocator heap = lmi_failing_allocator_make(n);
 *     ... make a context with lmi_failing_allocator_interface(&heap), do the work, destroy everything ...
 *     assert_int_equal(heap.live, 0);
 *     if (!heap.has_failed) break;   // the work needs fewer than n allocations
 *   }
 */
#ifndef LMI_FAILING_ALLOCATOR_H
#define LMI_FAILING_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <lamina/context.h>

typedef struct lmi_failing_allocator {
  uint64_t fails_at; /* 1: the first call; 0: never */
  uint64_t calls;
  int64_t live; /* blocks that were not released */
  bool has_failed;
} lmi_failing_allocator;

lmi_failing_allocator lmi_failing_allocator_make(uint64_t fails_at);

/* For one thread at a time. `heap` must outlive the context. */
lamina_allocator lmi_failing_allocator_interface(lmi_failing_allocator *heap);

#endif
