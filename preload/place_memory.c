/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a tier. Policies are "preferred": a full node gives its neighbour's memory, not an end of the program; what
 * really happened is counted page by page. */
#define _GNU_SOURCE
#include "place.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { POLICY_PREFERRED = 1, NODE_WORDS = 16, NODE_BITS = 1024, BATCH = 256, SEGMENTS_MOST = 1024 };

size_t place_page_bytes(void)
{
  static size_t bytes;
  if (bytes == 0)
    bytes = (size_t)sysconf(_SC_PAGESIZE);
  return bytes;
}

static size_t round_up(size_t bytes)
{
  return (bytes + place_page_bytes() - 1) & ~(place_page_bytes() - 1);
}

/* A refusal is counted; the memory then comes from where the system likes. */
static void prefer(place_plan *plan, char *memory, size_t bytes, int tier)
{
  unsigned long nodes[NODE_WORDS] = {0};
  const int node = plan->tiers[tier].node;
  if (bytes == 0)
    return;
  nodes[(size_t)node / (8 * sizeof *nodes)] = 1ul << ((size_t)node % (8 * sizeof *nodes));
  if (syscall(SYS_mbind, memory, bytes, POLICY_PREFERRED, nodes, NODE_BITS + 1, 0) == 0)
    return;
  if (__atomic_fetch_add(&plan->denied_calls, 1, __ATOMIC_RELAXED) == 0)
    plan->first_denial = errno;
}

/* Segments of both tiers in turn, sized so that a large block does not become thousands of mappings. */
static void interleave(place_plan *plan, const place_site *site, char *memory, size_t bytes)
{
  const size_t page = place_page_bytes(), sum = (size_t)(site->weights[0] + site->weights[1]);
  size_t unit = page;
  if (sum == 0)
    return;
  while (bytes / (unit * sum) > SEGMENTS_MOST / 2)
    unit *= 2;
  for (size_t at = 0; at < bytes; at += unit * sum)
    for (int tier = 0; tier < 2; tier++) {
      const size_t begin = at + (tier == 0 ? 0 : unit * (size_t)site->weights[0]);
      const size_t length = unit * (size_t)site->weights[tier];
      if (begin < bytes)
        prefer(plan, memory + begin, length < bytes - begin ? length : bytes - begin, tier);
    }
}

static void apply_policy(place_plan *plan, const place_site *site, char *memory, size_t bytes)
{
  if (site->kind == PLACE_INTERLEAVE)
    interleave(plan, site, memory, bytes);
  else if (site->kind == PLACE_SPLIT)
    prefer(plan, memory, round_up(bytes / 1000 * (size_t)site->permille), site->tier);
  else
    prefer(plan, memory, bytes, site->tier);
}

static char *map_pages(size_t bytes)
{
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Part of what was set aside, or NULL. Never given back to the reserve: it is the memory of one site's life. */
static char *take_reserve(place_site *site, size_t bytes)
{
  char *begin = __atomic_load_n(&site->reserve, __ATOMIC_RELAXED);
  do {
    if (begin == NULL || (size_t)(site->reserve_end - begin) < bytes)
      return NULL;
  } while (
    !__atomic_compare_exchange_n(&site->reserve, &begin, begin + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return begin;
}

void *place_allocate(place_plan *plan, place_site *site, size_t bytes)
{
  const size_t whole = round_up(bytes);
  char *memory = whole >= bytes ? take_reserve(site, whole) : NULL;
  if (memory != NULL || whole < bytes)
    return memory;
  memory = map_pages(whole);
  if (memory != NULL)
    apply_policy(plan, site, memory, whole);
  return memory;
}

static void count_batch(place_plan *plan, place_site *site, void **pages, size_t count)
{
  int nodes[BATCH];
  if (syscall(SYS_move_pages, 0, count, pages, NULL, nodes, 0) != 0)
    return;
  for (size_t i = 0; i < count; i++) {
    size_t tier = 0;
    if (nodes[i] < 0) /* never touched */
      continue;
    while (tier < plan->tier_count && plan->tiers[tier].node != nodes[i])
      tier++;
    uint64_t *pages_there = tier < plan->tier_count ? &site->tally.pages[tier] : &site->tally.pages_elsewhere;
    __atomic_fetch_add(pages_there, 1, __ATOMIC_RELAXED);
  }
}

void place_count_pages(place_plan *plan, place_site *site, const void *memory, size_t bytes)
{
  void *pages[BATCH];
  const size_t page = place_page_bytes(), total = round_up(bytes) / page;
  for (size_t done = 0; done < total; done += BATCH) {
    const size_t count = total - done < BATCH ? total - done : BATCH;
    for (size_t i = 0; i < count; i++)
      pages[i] = (char *)(uintptr_t)memory + (done + i) * page;
    count_batch(plan, site, pages, count);
  }
}

void place_release(place_plan *plan, place_site *site, void *memory, size_t bytes)
{
  place_count_pages(plan, site, memory, bytes);
  munmap(memory, round_up(bytes));
}

/* Touched at once, page by page: only memory that is resident is kept from others. */
static void reserve(place_plan *plan, place_site *site, size_t bytes)
{
  char *memory = map_pages(bytes);
  if (memory == NULL)
    return;
  prefer(plan, memory, bytes, site->tier);
  for (size_t at = 0; at < bytes; at += place_page_bytes())
    *(volatile char *)(memory + at) = 0;
  site->reserve = memory;
  site->reserve_end = memory + bytes;
}

void place_make_reserves(place_plan *plan)
{
  uint64_t left = plan->tier_count > 0 ? plan->tiers[0].capacity : 0;
  for (size_t i = 0; i < plan->site_count; i++) {
    place_site *site = &plan->sites[i];
    const size_t bytes = round_up(site->peak_bytes);
    if (site->kind != PLACE_FAST || site->peak_bytes < place_page_bytes() || bytes > left)
      continue;
    left -= bytes;
    reserve(plan, site, bytes);
  }
}
