/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process may still take, and how large the caches are: what arrays are sized from. */
#ifndef LMI_LIMITS_H
#define LMI_LIMITS_H

#include "base/base.h"

typedef struct lmi_memory_limits {
  uint64_t total_bytes;     /* of the host */
  uint64_t available_bytes; /* least of the host's and the cgroups' */
  uint64_t limit_bytes;     /* of the tightest cgroup; UINT64_MAX: none */
  const char *ruled_by;     /* "host", "cgroup v2", "cgroup v1": who sets available_bytes */
} lmi_memory_limits;

/* Zeros in total and available when /proc/meminfo cannot be read. */
LAMINA_NODISCARD lamina_status lmi_memory_limits_read(lamina_context *ctx, const char *root, lmi_memory_limits *limits);

/* Sum of the distinct last-level caches of the processors that are on line; 0 when nothing is known. */
LAMINA_NODISCARD lamina_status lmi_last_level_cache_bytes(lamina_context *ctx, const char *root, uint64_t *bytes);

#endif
