/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of executed superblocks, and their replay through the cache model.
 *
 * A record is one word that points to a description of what was executed, and the addresses that were only known then.
 * The description lists groups of accesses (access_groups.h), each off one word: one look-up serves a group. */
#ifndef LMT_REPLAY_H
#define LMT_REPLAY_H

#include "access_groups.h"
#include "cache_model.h"

/* Counted at translation, added once a record. Order as in lmt_statics below. */
#define LMT_STATIC_COUNTS(X) \
  X(instructions)            \
  X(loads)                   \
  X(stores)                  \
  X(load_bytes)              \
  X(store_bytes)

#define LMT_FLOP_COUNTS(X) \
  X(fp_f64)                \
  X(fp_f32)                \
  X(fp_f64x2)              \
  X(fp_f32x4)              \
  X(fp_f64x4)              \
  X(fp_f32x8)

#define LMT_NAME(name) LMT_##name,
enum lmt_static { LMT_STATIC_COUNTS(LMT_NAME) LMT_STATIC_COUNT };
enum lmt_flop { LMT_FLOP_COUNTS(LMT_NAME) LMT_FLOP_COUNT };
#undef LMT_NAME

#define LMT_LANES 8 /* 32-bit sums of one vector of the host */

typedef struct lmt_block {
  uint32_t statics[LMT_LANES];
  uint32_t flops[LMT_LANES];
  uint32_t slot_count, group_count, has_flops;
  const lmt_group *groups;
} __attribute__((aligned(32))) lmt_block;

typedef struct lmt_work {
  uint64_t statics[LMT_LANES], flops[LMT_LANES];
} lmt_work;

/* Replays the records in [word, end) for the model's current core and adds their static counts to `work`. */
void lmt_replay(lmt_model *model, const uint64_t *word, const uint64_t *end, lmt_work *work);

#endif
