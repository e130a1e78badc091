/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the placing library offer one another. It lives in someone else's program: no C library allocation,
 * no output to the program's streams, no failure that the program could see. */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  PLACE_SITES_MAX = 1024,
  PLACE_FRAMES_MAX = 16,
  PLACE_TIERS_MAX = 16,
  PLACE_NAME_BYTES = 160,
  PLACE_MODULE_BYTES = 256
};

typedef enum place_kind { PLACE_FAST, PLACE_SPLIT, PLACE_INTERLEAVE, PLACE_SLOW } place_kind;

typedef struct place_frame {
  uint64_t address; /* as linked, return address - 1 */
  char module[PLACE_MODULE_BYTES];
} place_frame;

/* What happened to a site's blocks. */
typedef struct place_tally {
  uint64_t blocks, bytes, pages[PLACE_TIERS_MAX], pages_elsewhere, small_blocks;
} place_tally;

typedef struct place_site {
  place_kind kind;
  int tier, permille, weights[2];
  uint64_t peak_bytes;
  char name[PLACE_NAME_BYTES];
  size_t frame_count;
  place_frame frames[PLACE_FRAMES_MAX];
  char *reserve, *reserve_end; /* fast memory set aside for it */
  place_tally tally;
} place_site;

typedef struct place_tier {
  int node;
  uint64_t capacity;
} place_tier;

typedef struct place_plan {
  size_t site_count, tier_count;
  place_tier tiers[PLACE_TIERS_MAX];
  place_site sites[PLACE_SITES_MAX];
  uint64_t denied_calls; /* mbind that the system refused */
  int first_denial;      /* its errno */
  char error[256];       /* why there is no plan; "" otherwise */
} place_plan;

/* place_sites.c: false and plan->error when the file is no plan. */
bool place_plan_read(place_plan *plan, const char *path);
/* The site whose frames are the return addresses (innermost first); NULL: none. */
place_site *place_find_site(place_plan *plan, void *const *returns, size_t count);

/* place_memory.c: memory of whole pages by the site's policy; NULL when the system gives none. */
void *place_allocate(place_plan *plan, place_site *site, size_t bytes);
/* Adds where the pages lie to the site's tally, then gives them back. */
void place_release(place_plan *plan, place_site *site, void *memory, size_t bytes);
void place_count_pages(place_plan *plan, place_site *site, const void *memory, size_t bytes);
/* Fast memory for the sites that must have it, before the program takes it. */
void place_make_reserves(place_plan *plan);
size_t place_page_bytes(void);

#endif
