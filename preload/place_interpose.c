/* SPDX-License-Identifier: Apache-2.0 */
/* The malloc family of the program. A block of a page or more from a site of the plan gets pages of its own; the C
 * library keeps the rest. Which blocks are ours is kept in a table: our blocks begin on a page, so most pointers need
 * no look-up. */
#define _GNU_SOURCE
#include "place.h"

#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* glibc's own, under the names that it exports for this purpose. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

enum { OWN_FRAMES = 2, TABLE_FIRST = 1 << 12 };

typedef struct block {
  void *memory; /* NULL: free entry */
  size_t bytes;
  place_site *site;
} block;

static place_plan plan;
static bool is_active;
static char report_path[4096];
static block *table;
static size_t table_size, table_used;
static char table_lock;
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

static void lock(void)
{
  while (__atomic_test_and_set(&table_lock, __ATOMIC_ACQUIRE))
    ;
}

static void unlock(void)
{
  __atomic_clear(&table_lock, __ATOMIC_RELEASE);
}

static size_t place_in(const block *blocks, size_t size, const void *memory)
{
  size_t at = ((uintptr_t)memory >> 12) * 0x9E3779B97F4A7C15u & (size - 1);
  while (blocks[at].memory != NULL && blocks[at].memory != memory)
    at = (at + 1) & (size - 1);
  return at;
}

static bool grow_table(void)
{
  const size_t size = table_size == 0 ? TABLE_FIRST : 2 * table_size;
  block *larger = mmap(NULL, size * sizeof *larger, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (larger == MAP_FAILED)
    return false;
  for (size_t i = 0; i < table_size; i++)
    if (table[i].memory != NULL)
      larger[place_in(larger, size, table[i].memory)] = table[i];
  if (table != NULL)
    munmap(table, table_size * sizeof *table);
  table = larger;
  table_size = size;
  return true;
}

static bool remember(void *memory, size_t bytes, place_site *site)
{
  lock();
  const bool has_room = 2 * (table_used + 1) <= table_size || grow_table();
  if (has_room) {
    table[place_in(table, table_size, memory)] = (block){memory, bytes, site};
    table_used++;
  }
  unlock();
  return has_room;
}

/* Entries behind a removed one move up, so that searches do not stop early. */
static void remove_at(size_t at)
{
  table[at].memory = NULL;
  table_used--;
  for (size_t next = (at + 1) & (table_size - 1); table[next].memory != NULL; next = (next + 1) & (table_size - 1)) {
    const block moved = table[next];
    table[next].memory = NULL;
    table[place_in(table, table_size, moved.memory)] = moved;
  }
}

/* The block that begins there; `removes` takes it out. */
static bool look_up(void *memory, bool removes, block *found)
{
  if (memory == NULL || table == NULL || (uintptr_t)memory % place_page_bytes() != 0)
    return false;
  lock();
  const size_t at = place_in(table, table_size, memory);
  const bool is_ours = table[at].memory == memory;
  if (is_ours) {
    *found = table[at];
    if (removes)
      remove_at(at);
  }
  unlock();
  return is_ours;
}

/* ---- allocation ---- */

static __attribute__((noinline)) place_site *calling_site(void)
{
  void *returns[OWN_FRAMES + PLACE_FRAMES_MAX + 1];
  const int count = backtrace(returns, OWN_FRAMES + PLACE_FRAMES_MAX + 1);
  const int own = OWN_FRAMES + 1; /* this function, place_block, and the entry that was called */
  return count > own ? place_find_site(&plan, returns + own, (size_t)(count - own)) : NULL;
}

/* A block by the plan, or NULL: the C library serves it. */
static __attribute__((noinline)) void *place_block(size_t bytes, size_t alignment)
{
  if (!is_active || is_inside || bytes < place_page_bytes() || alignment > place_page_bytes())
    return NULL;
  is_inside = true;
  place_site *site = calling_site();
  void *memory = site != NULL ? place_allocate(&plan, site, bytes) : NULL;
  if (memory != NULL && !remember(memory, bytes, site)) {
    place_release(&plan, site, memory, bytes);
    memory = NULL;
  }
  if (memory != NULL) {
    __atomic_fetch_add(&site->tally.blocks, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&site->tally.bytes, bytes, __ATOMIC_RELAXED);
  }
  is_inside = false;
  return memory;
}

EXPORT void *malloc(size_t bytes)
{
  void *memory = place_block(bytes, 1);
  return memory != NULL ? memory : __libc_malloc(bytes);
}

EXPORT void *calloc(size_t count, size_t size)
{
  size_t bytes;
  void *memory = __builtin_mul_overflow(count, size, &bytes) ? NULL : place_block(bytes, 1);
  return memory != NULL ? memory
                        : __libc_calloc(count, size); /* fresh pages are zero, reserves too: they held nothing else */
}

EXPORT void *memalign(size_t alignment, size_t bytes)
{
  void *memory = place_block(bytes, alignment);
  return memory != NULL ? memory : __libc_memalign(alignment, bytes);
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
  void *memory = place_block(bytes, alignment);
  return memory != NULL ? memory : __libc_memalign(alignment, bytes);
}

EXPORT int posix_memalign(void **result, size_t alignment, size_t bytes)
{
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
    return EINVAL;
  void *memory = place_block(bytes, alignment);
  if (memory == NULL)
    memory = __libc_memalign(alignment, bytes);
  if (memory == NULL)
    return ENOMEM;
  *result = memory;
  return 0;
}

EXPORT void free(void *memory)
{
  block found;
  if (look_up(memory, true, &found))
    place_release(&plan, found.site, memory, found.bytes);
  else
    __libc_free(memory);
}

/* A block of ours stays ours when it grows: the same site, copied. */
EXPORT void *realloc(void *memory, size_t bytes)
{
  block found;
  if (!look_up(memory, false, &found)) {
    void *moved = memory == NULL ? place_block(bytes, 1) : NULL;
    return moved != NULL ? moved : __libc_realloc(memory, bytes);
  }
  if (bytes == 0) {
    free(memory);
    return NULL;
  }
  void *moved = place_allocate(&plan, found.site, bytes);
  if (moved == NULL)
    return NULL;
  if (!remember(moved, bytes, found.site)) {
    place_release(&plan, found.site, moved, bytes);
    return NULL;
  }
  memcpy(moved, memory, found.bytes < bytes ? found.bytes : bytes);
  free(memory);
  return moved;
}

EXPORT size_t malloc_usable_size(void *memory)
{
  block found;
  if (look_up(memory, false, &found))
    return found.bytes;
  /* glibc's own function is hidden by this one; it keeps the size in the word before the block, with three flag bits */
  const size_t kept = memory != NULL ? ((const size_t *)memory)[-1] : 0;
  const size_t overhead = kept & 2 ? 2 * sizeof kept : sizeof kept;
  return kept > overhead ? (kept & ~(size_t)7) - overhead : 0;
}

/* ---- start and end ---- */

__attribute__((constructor)) static void begin(void)
{
  void *first_use[1];
  const char *path = getenv("LAMINA_PLACE_PLAN"), *report = getenv("LAMINA_PLACE_REPORT");
  if (path == NULL)
    return;
  is_inside = true;
  (void)backtrace(first_use, 1); /* loads the unwinder now, not inside a malloc */
  snprintf(report_path, sizeof report_path, "%s.%ld", report != NULL ? report : "", (long)getpid());
  if (report == NULL)
    report_path[0] = '\0';
  if (place_plan_read(&plan, path)) {
    place_make_reserves(&plan);
    is_active = true;
  }
  is_inside = false;
}

static void report_site(FILE *file, const place_site *site)
{
  fprintf(file, "site %llu %llu", (unsigned long long)site->tally.blocks, (unsigned long long)site->tally.bytes);
  for (size_t tier = 0; tier < plan.tier_count; tier++)
    fprintf(file, " %llu", (unsigned long long)site->tally.pages[tier]);
  fprintf(file, " %llu %s\n", (unsigned long long)site->tally.pages_elsewhere, site->name);
}

/* One line a site: blocks, bytes, pages found on each tier, pages elsewhere, name. */
__attribute__((destructor)) static void end(void)
{
  if (report_path[0] == '\0')
    return;
  is_inside = true;
  for (size_t i = 0; i < table_size; i++)
    if (table[i].memory != NULL)
      place_count_pages(&plan, table[i].site, table[i].memory, table[i].bytes);
  FILE *file = fopen(report_path, "w");
  if (file != NULL) {
    if (plan.error[0] != '\0')
      fprintf(file, "error %s\n", plan.error);
    fprintf(file, "denied %llu %d\n", (unsigned long long)plan.denied_calls, plan.first_denial);
    for (size_t i = 0; i < plan.site_count; i++)
      report_site(file, &plan.sites[i]);
    fclose(file);
  }
  is_inside = false;
}
