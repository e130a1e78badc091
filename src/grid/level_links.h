/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of links of blocks at jumps between levels (kernel/jump.h), made once from the levels: level_trace.h says
 * where a population comes from, here the sums become patterns and lists of cells. Links that a wall of the box cuts
 * stay with the blocks; where a jump is near, a link to another level counts instead. */
#ifndef LMI_LEVEL_LINKS_H
#define LMI_LEVEL_LINKS_H

#include "blocks.h"
#include "level_trace.h"

/* The links of a level in one half of the coarser level's step. */
typedef struct lmi_link_list {
  int64_t link_count, cell_count;
  uint32_t *first; /* by block, one more than there are */
  lmk_jump_link *links;
  int32_t *cells;
} lmi_link_list;

typedef struct lmi_level_link_set {
  lmi_link_list half[2];  /* the coarsest level uses the first alone */
  lmk_aside_entry *aside; /* between the halves of the coarser step */
  int64_t aside_count;
} lmi_level_link_set;

typedef struct lmi_level_links {
  lmi_level_link_set level[LMI_MAX_LEVELS];
  lmk_jump_pattern *patterns;
  lmk_jump_term *terms;
  int64_t pattern_count, term_count;
  bool whole_walls;
} lmi_level_links;

/* `blocks`: of every level, in one partition each. With whole walls their links lose the walls that add nothing.
 * Errors: ARGUMENT (too many links or patterns for their counters), MEMORY. */
LAMINA_NODISCARD lamina_status lmi_level_links_create(lamina_context *ctx, const lmi_levels *levels, lmi_blocks *blocks,
                                                      const lmi_velocities *velocities, lmi_level_scheme scheme,
                                                      lmi_level_links *links);
void lmi_level_links_free(lamina_context *ctx, lmi_level_links *links);

/* As a kernel reads them; its fields are the caller's to set. */
lmk_jumps lmi_level_jumps(const lmi_level_links *links, int level, int half);

/* Bytes of all tables. */
uint64_t lmi_level_links_bytes(const lmi_level_links *links);

#endif
