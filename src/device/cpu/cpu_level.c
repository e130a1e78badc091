/* SPDX-License-Identifier: Apache-2.0 */
/* The host's kernels over levels of blocks. */
#include "cpu.h"

int64_t lmi_cpu_level(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  return kernel->update_level(arguments, kernel->level_part, first, count);
}

int64_t lmi_cpu_aside(const lmi_kernel *kernel, const void *arguments, int64_t first, int64_t count)
{
  const lmk_aside *aside = arguments;
  const size_t bytes = kernel->element_bytes;
  const int64_t begin = first * LMK_ASIDE_RUN, wanted = (first + count) * LMK_ASIDE_RUN;
  const int64_t end = wanted < aside->count ? wanted : aside->count;
  for (int64_t i = begin; i < end; i++) {
    const lmk_aside_entry *entry = &aside->entries[i];
    const int32_t cell = (int32_t)(i / aside->velocities);
    const int64_t from = lmk_cell_element(entry->cell, entry->q, aside->velocities);
    const int64_t to = lmk_cell_element(cell, (int)(i % aside->velocities), aside->velocities);
    memcpy((char *)aside->target + (size_t)to * bytes, (const char *)aside->source + (size_t)from * bytes, bytes);
  }
  return -1;
}
