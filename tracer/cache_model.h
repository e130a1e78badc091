/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The caches of the traced program: an L1 and an L2 with a prefetcher a core, one last level for all. A core is a
 * thread.
 *
 *   L1     write-allocate, write-back, true LRU
 *   L2     the same; here sits the prefetcher. A prefetched line carries a mark until it is used (useful) or falls out
 * (useless) LLC    filled by every L2 miss and prefetch; takes the dirty lines of the L2s, or passes them on when it
 * lacks the line memory lines read (demand and prefetch) and written back, counted for the page they lie in
 *
 * Levels do not invalidate each other (neither inclusive nor exclusive), and cores do not: coherence misses are not
 * modelled.
 *
 * Prefetcher: streams are found a page at a time among the accesses that reach the L2; two steps of at most four lines
 * in one direction make a stream, which then runs up to four lines ahead, two lines a trigger, never across the page.
 * An L2 miss that is no part of a stream also fetches the other half of its 128-byte pair. */
#ifndef LMT_CACHE_MODEL_H
#define LMT_CACHE_MODEL_H

#include "cache_set.h"
#include "page_table.h"

/* sets: a power of two, 0 when the level is absent; ways 1 .. LMT_WAYS_MAX. */
typedef struct lmt_geometry {
  uint32_t sets, ways;
} lmt_geometry;

typedef struct lmt_model_options {
  lmt_geometry l1, l2, llc; /* only L2 may be absent */
  bool stream_prefetch, adjacent_prefetch;
} lmt_model_options;

typedef struct lmt_cache {
  lmt_set *sets;
  uint32_t mask, last_way;
  lmt_width width;
} lmt_cache;

#define LMT_STREAMS 16

typedef struct lmt_stream {
  int8_t last, front, direction, confidence;
} lmt_stream;

/* What a core counted; the names are those of the profile. */
#define LMT_CORE_COUNTS(X) \
  X(l1_misses)             \
  X(l1_writebacks)         \
  X(l2_misses)             \
  X(l2_lines_in)           \
  X(l2_writebacks)         \
  X(l2_prefetches)         \
  X(l2_prefetches_useful)  \
  X(l2_prefetches_useless) \
  X(llc_misses)            \
  X(memory_read_lines)     \
  X(memory_write_lines)

typedef struct lmt_core_counts {
#define LMT_FIELD(name) uint64_t name;
  LMT_CORE_COUNTS(LMT_FIELD)
#undef LMT_FIELD
} lmt_core_counts;

typedef struct lmt_core {
  lmt_set *l1, *l2;
  lmt_core_counts counts;
  lmt_set stream_page; /* page id + 1 of each stream */
  lmt_stream stream[LMT_STREAMS];
  uint32_t next_stream; /* the one replaced next: first in, first out */
} lmt_core;

/* An L1 miss waiting for the L2. */
typedef struct lmt_miss {
  uint32_t line, victim, granule;
} lmt_miss;

/* What the L2 asks of the last level, in order. No level above depends on the answers, so they are looked up together,
 * when the host has fetched the sets. */
typedef struct lmt_request {
  uint32_t line, kind; /* LMT_DEMAND or LMT_WRITE_BACK, and the granule of a demanded line */
} lmt_request;

enum { LMT_DEMAND = 1, LMT_WRITE_BACK = 2, LMT_GRANULE_SHIFT = 2 };

#define LMT_MISSES_MAX 64u
#define LMT_REQUESTS_A_MISS 8u /* the line, two prefetches, and a dirty line for each of these, the L1's among them */

typedef struct lmt_model {
  lmt_model_options options;
  lmt_cache l1, l2, llc; /* sets of l1 and l2: the current core's */
  lmt_core *core;
  lmt_page_table *table;
  uint32_t miss_count;
  lmt_miss miss[LMT_MISSES_MAX];
  uint32_t request_count;
  lmt_request request[LMT_MISSES_MAX * LMT_REQUESTS_A_MISS];
} lmt_model;

void lmt_model_start(lmt_model *model, const lmt_model_options *options, lmt_page_table *table);
/* A core with empty caches, in memory of `core`. */
void lmt_core_start(const lmt_model *model, lmt_core *core);
/* Accesses from now on are this core's. Flushes first. */
void lmt_model_set_core(lmt_model *model, lmt_core *core);
/* Carries the waiting misses through L2, LLC and memory. Before counts are read, cores or phases change. */
void lmt_model_flush(lmt_model *model);

/* L1 beyond its two most recent ways: puts `line` in front and queues a miss if it was not there. */
void lmt_l1_search(lmt_model *model, lmt_set *set, uint32_t line, uint64_t address);

/* One access of the current core to one line; returns the way that now holds it, to set LMT_DIRTY in. Two arrays that
 * fall into the same set swap places at every access, so the second way is looked at before anything is searched; as
 * words, since a vector load right after a word store would stall the host. */
static inline uint32_t *lmt_l1_access(lmt_model *model, uint32_t line, uint64_t address)
{
  lmt_set *set = &model->l1.sets[line & model->l1.mask];
  const uint32_t first = set->way[0];
  if (__builtin_expect((first & LMT_LINE_MASK) == line, 1))
    return set->way;
  const uint32_t second = set->way[1];
  if ((second & LMT_LINE_MASK) == line) {
    set->way[0] = second;
    set->way[1] = first;
    return set->way;
  }
  lmt_l1_search(model, set, line, address);
  return set->way;
}

#endif
