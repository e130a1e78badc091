/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/numa_maps: how many pages of each mapping lie on which node. */
#ifndef LMI_NUMA_MAPS_H
#define LMI_NUMA_MAPS_H

#include "base/base.h"

enum { LMI_NUMA_MAPS_NODES = 64 };

/* One line. Pages are counted in bytes: sizes of pages may differ from line to line. */
typedef struct lmi_numa_mapping {
  uint64_t start;
  uint64_t page_bytes;
  uint64_t total_bytes;
  size_t node_count; /* nodes with pages */
  struct {
    int node;
    uint64_t bytes;
  } nodes[LMI_NUMA_MAPS_NODES];
} lmi_numa_mapping;

/* Parses one line; `page_bytes` is used where the line names no kernelpagesize_kB. File names are skipped whole (the
 * kernel escapes their blanks), unknown words too. false for a line that begins with no address. */
bool lmi_numa_maps_line(const char *line, uint64_t page_bytes, lmi_numa_mapping *mapping);

#endif
