/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages and the short ids of lines. The address space is cut into leaves of 16 MiB; a leaf gets a number when it is
 * first touched, and the rest is arithmetic: page id = leaf number << 12 | page in leaf, line id = page id << 6 | line
 * in page. So a line id has 30 bits, the low bits are those of the address (set indices need no table), and one load
 * finds a page.
 *
 * Counts of pages are kept one array a phase: changing the phase changes a pointer. */
#ifndef LMT_PAGE_TABLE_H
#define LMT_PAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LMT_PAGE_BITS 12
#define LMT_PAGE_BYTES (1u << LMT_PAGE_BITS)
#define LMT_LEAF_BITS 24
#define LMT_LEAF_PAGES (1u << (LMT_LEAF_BITS - LMT_PAGE_BITS))
#define LMT_LEAVES 4096u /* 64 GiB of touched leaves; leaf 0 stays unused so that no line id is 0 */
#define LMT_PAGES (LMT_LEAVES * LMT_LEAF_PAGES)
#define LMT_ADDRESS_BITS 47
#define LMT_DIRECTORY (1u << (LMT_ADDRESS_BITS - LMT_LEAF_BITS))
#define LMT_GRANULE_BITS 4 /* a page of several blocks is attributed in granules of 16 bytes */
#define LMT_GRANULES (LMT_PAGE_BYTES >> LMT_GRANULE_BITS)
#define LMT_MIXED_MAX (1u << 20)
#define LMT_PHASES_MAX 32u
#define LMT_OBJECTS_MAX 65535u

/* Counts of one page in one phase: in one line of the host, since they are reached at random. The accesses' top bit
 * says that several objects share the page. */
#define LMT_MIXED (1ull << 63)

typedef struct lmt_tally {
  uint64_t accesses;
  uint32_t misses, writebacks;
} __attribute__((aligned(16))) lmt_tally;

/* What was already credited to the page's object. */
typedef struct lmt_seen {
  uint64_t accesses;
  uint32_t misses;
} lmt_seen;

typedef struct lmt_pages {
  lmt_tally *tally; /* NULL: the phase has not begun */
  lmt_seen *seen;
} lmt_pages;

/* What holds for a page in all phases. `touched` and `released` number the first touches and releases of the process in
 * their order, from 1. */
typedef struct lmt_owner {
  uint64_t touched, released;
  uint32_t table; /* granule table it has or had; 0: none yet */
  uint16_t object;
  uint16_t is_mixed;
} lmt_owner;

typedef struct lmt_object_counts {
  uint64_t accesses, misses;
} lmt_object_counts;

struct lmt_page_table;

/* What the table's owner does with counts: `credit` takes what a page gathered for its object, `retire` a page whose
 * life ends before its counts are cleared. */
typedef struct lmt_page_events {
  void (*credit)(uint16_t object, uint32_t phase, uint64_t accesses, uint64_t misses);
  void (*retire)(struct lmt_page_table *table, uint32_t page);
} lmt_page_events;

typedef struct lmt_page_table {
  uint16_t *directory; /* address >> 24 -> leaf number */
  lmt_pages pages;     /* counts of the current phase */
  lmt_owner *owners;
  lmt_object_counts *objects;         /* of the current phase: only what mixed pages credit at once */
  uint16_t (*granules)[LMT_GRANULES]; /* granule table -> object of each granule */
  uint32_t leaf_count, table_count;
  uint64_t order;           /* touches and releases so far */
  uint64_t aliased_touches; /* touches of leaves beyond the last number: counted on one shared leaf */
  uint64_t leaf_base[LMT_LEAVES];
  lmt_pages phase_pages[LMT_PHASES_MAX];
  lmt_object_counts *phase_objects[LMT_PHASES_MAX];
  uint32_t phase, phase_count;
  uint64_t unmixed_pages; /* shared by several objects, but no granule table was left */
  lmt_page_events events;
} lmt_page_table;

/* Address space that reads as zero and costs nothing until it is written. Supplied by the program around this one. */
void *lmt_reserve(size_t bytes);

void lmt_page_table_start(lmt_page_table *table, lmt_page_events events);
/* Makes `phase` (0 .. LMT_PHASES_MAX - 1) the one that counts. */
void lmt_page_table_set_phase(lmt_page_table *table, uint32_t phase);
uint32_t lmt_page_new_leaf(lmt_page_table *table, uint64_t address);
/* Numbers the first touch of a page, or the first one after its release. */
void lmt_page_touched(lmt_page_table *table, uint32_t page);

static inline uint32_t lmt_page_id(lmt_page_table *table, uint64_t address)
{
  uint32_t leaf = table->directory[(address >> LMT_LEAF_BITS) & (LMT_DIRECTORY - 1)];
  if (__builtin_expect(leaf == 0, 0))
    leaf = lmt_page_new_leaf(table, address);
  return leaf << (LMT_LEAF_BITS - LMT_PAGE_BITS) | (uint32_t)(address >> LMT_PAGE_BITS & (LMT_LEAF_PAGES - 1));
}

/* First address of a page. */
static inline uint64_t lmt_page_address(const lmt_page_table *table, uint32_t page)
{
  return table->leaf_base[page / LMT_LEAF_PAGES] + (uint64_t)(page % LMT_LEAF_PAGES) * LMT_PAGE_BYTES;
}

typedef struct lmt_page_counts {
  uint64_t accesses;
  uint32_t misses, writebacks;
} lmt_page_counts;

/* Counts of a page in a phase; false when there are none. */
static inline bool lmt_page_get(const lmt_page_table *table, uint32_t phase, uint32_t page, lmt_page_counts *counts)
{
  const lmt_pages *pages = &table->phase_pages[phase];
  if (pages->tally == NULL)
    return false;
  *counts = (lmt_page_counts){.accesses = pages->tally[page].accesses & ~LMT_MIXED,
                              .misses = pages->tally[page].misses,
                              .writebacks = pages->tally[page].writebacks};
  return counts->accesses + counts->misses + counts->writebacks > 0;
}

static inline uint32_t lmt_granule(uint64_t address)
{
  return (uint32_t)(address >> LMT_GRANULE_BITS) & (LMT_GRANULES - 1);
}

/* Objects own pages. `paint` gives [address, address + bytes) to `object`; a page used before by another ends that
 * life. `release` marks the whole pages of a freed range: they may come back to the same object, or go to another. */
void lmt_page_paint(lmt_page_table *table, uint64_t address, uint64_t bytes, uint16_t object);
void lmt_page_release(lmt_page_table *table, uint64_t address, uint64_t bytes);

/* Hands what a page gathered since the last call to its object, phase by phase. */
void lmt_page_credit(lmt_page_table *table, uint32_t page);

/* Forgets what was counted for a page, in all phases. */
void lmt_page_clear(lmt_page_table *table, uint32_t page);

/* The object of an address in a mixed page. */
static inline uint16_t lmt_granule_object(const lmt_page_table *table, uint32_t page, uint32_t granule)
{
  return table->granules[table->owners[page].table][granule];
}

/* The object most granules of a page belong to. */
uint16_t lmt_page_main_object(const lmt_page_table *table, uint32_t page);

#endif
