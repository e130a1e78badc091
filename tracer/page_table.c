/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "page_table.h"

void lmt_page_table_start(lmt_page_table *table, lmt_page_events events)
{
  table->directory = lmt_reserve(sizeof *table->directory * LMT_DIRECTORY);
  table->owners = lmt_reserve(sizeof *table->owners * LMT_PAGES);
  table->granules = lmt_reserve(sizeof *table->granules * (LMT_MIXED_MAX + 1));
  table->events = events;
  table->leaf_count = 1;
  lmt_page_table_set_phase(table, 0);
}

/* A phase that starts must know which pages are mixed: that flag is read beside the counts. */
static void copy_mixed_flags(const lmt_page_table *table, lmt_tally *tally)
{
  const uint32_t end = table->leaf_count * LMT_LEAF_PAGES;
  for (uint32_t page = LMT_LEAF_PAGES; table->table_count > 0 && page < end; page++)
    if (table->owners[page].is_mixed)
      tally[page].accesses = LMT_MIXED;
}

void lmt_page_table_set_phase(lmt_page_table *table, uint32_t phase)
{
  lmt_pages *pages = &table->phase_pages[phase];
  if (pages->tally == NULL) {
    *pages = (lmt_pages){.tally = lmt_reserve(sizeof *pages->tally * LMT_PAGES),
                         .seen = lmt_reserve(sizeof *pages->seen * LMT_PAGES)};
    table->phase_objects[phase] = lmt_reserve(sizeof(lmt_object_counts) * (LMT_OBJECTS_MAX + 1));
    copy_mixed_flags(table, pages->tally);
    if (phase >= table->phase_count)
      table->phase_count = phase + 1;
  }
  table->phase = phase;
  table->pages = *pages;
  table->objects = table->phase_objects[phase];
}

uint32_t lmt_page_new_leaf(lmt_page_table *table, uint64_t address)
{
  const uint64_t entry = address >> LMT_LEAF_BITS & (LMT_DIRECTORY - 1);
  if (table->leaf_count >= LMT_LEAVES) {
    table->aliased_touches++;
    table->directory[entry] = LMT_LEAVES - 1;
    return LMT_LEAVES - 1;
  }
  table->leaf_base[table->leaf_count] = entry << LMT_LEAF_BITS;
  table->directory[entry] = (uint16_t)table->leaf_count;
  return table->leaf_count++;
}

void lmt_page_touched(lmt_page_table *table, uint32_t page)
{
  lmt_owner *owner = &table->owners[page];
  if (owner->touched == 0)
    owner->touched = ++table->order;
}

void lmt_page_credit(lmt_page_table *table, uint32_t page)
{
  const lmt_owner *owner = &table->owners[page];
  for (uint32_t phase = 0; phase < table->phase_count; phase++) {
    lmt_page_counts counts;
    if (!lmt_page_get(table, phase, page, &counts))
      continue;
    lmt_seen *seen = &table->phase_pages[phase].seen[page];
    if (counts.accesses == seen->accesses && counts.misses == seen->misses)
      continue;
    if (!owner->is_mixed)
      table->events.credit(owner->object, phase, counts.accesses - seen->accesses, counts.misses - seen->misses);
    *seen = (lmt_seen){.accesses = counts.accesses, .misses = counts.misses};
  }
}

static void set_mixed(lmt_page_table *table, uint32_t page, bool is_mixed)
{
  table->owners[page].is_mixed = is_mixed;
  for (uint32_t phase = 0; phase < table->phase_count; phase++) {
    lmt_tally *tally = table->phase_pages[phase].tally;
    if (tally != NULL)
      tally[page].accesses = (tally[page].accesses & ~LMT_MIXED) | (is_mixed ? LMT_MIXED : 0);
  }
}

void lmt_page_clear(lmt_page_table *table, uint32_t page)
{
  lmt_page_counts counts;
  for (uint32_t phase = 0; phase < table->phase_count; phase++)
    if (lmt_page_get(table, phase, page, &counts)) {
      lmt_pages *pages = &table->phase_pages[phase];
      pages->tally[page] = (lmt_tally){.accesses = pages->tally[page].accesses & LMT_MIXED};
      pages->seen[page] = (lmt_seen){0};
    }
}

/* One object takes the whole page. A life that was used ends, so that a later owner does not inherit its counts. */
static void paint_whole(lmt_page_table *table, uint32_t page, uint16_t object)
{
  lmt_owner *owner = &table->owners[page];
  if (owner->object != object || owner->is_mixed) {
    lmt_page_credit(table, page);
    if (owner->touched != 0) {
      if (owner->released == 0)
        owner->released = ++table->order;
      table->events.retire(table, page);
      lmt_page_clear(table, page);
      owner->touched = 0;
    }
    if (owner->is_mixed)
      set_mixed(table, page, false);
    owner->object = object;
  }
  owner->released = 0;
}

/* Splits a page into granules, all its owner's; false when no table is left. */
static bool make_mixed(lmt_page_table *table, uint32_t page)
{
  lmt_owner *owner = &table->owners[page];
  if (owner->table == 0) {
    if (table->table_count >= LMT_MIXED_MAX)
      return false;
    owner->table = ++table->table_count;
  }
  for (uint32_t granule = 0; granule < LMT_GRANULES; granule++)
    table->granules[owner->table][granule] = owner->object;
  set_mixed(table, page, true);
  return true;
}

/* Objects that come one behind the other from one site leave the page whole; so does the first block of a page nobody
 * owned, since the rest of it is painted when it is given away. */
static void paint_part(lmt_page_table *table, uint32_t page, uint32_t first, uint32_t last, uint16_t object)
{
  lmt_owner *owner = &table->owners[page];
  owner->released = 0;
  if (!owner->is_mixed) {
    if (owner->object == object)
      return;
    lmt_page_credit(table, page);
    const bool was_owned = owner->object != 0;
    if (was_owned && !make_mixed(table, page))
      table->unmixed_pages++;
    if (!owner->is_mixed) {
      owner->object = object;
      return;
    }
  }
  for (uint32_t granule = first; granule <= last; granule++)
    table->granules[owner->table][granule] = object;
}

void lmt_page_paint(lmt_page_table *table, uint64_t address, uint64_t bytes, uint16_t object)
{
  const uint64_t end = address + bytes;
  while (address < end) {
    const uint64_t page_end = (address | (LMT_PAGE_BYTES - 1)) + 1;
    const uint64_t stop = page_end < end ? page_end : end;
    const uint32_t page = lmt_page_id(table, address);
    if (address % LMT_PAGE_BYTES == 0 && stop == page_end)
      paint_whole(table, page, object);
    else
      paint_part(table, page, lmt_granule(address), lmt_granule(stop - 1), object);
    address = stop;
  }
}

uint16_t lmt_page_main_object(const lmt_page_table *table, uint32_t page)
{
  const lmt_owner *owner = &table->owners[page];
  if (!owner->is_mixed)
    return owner->object;
  const uint16_t *granules = table->granules[owner->table];
  uint16_t main_object = granules[0];
  int lead = 0; /* Boyer-Moore vote: the majority where there is one, else a plausible object */
  for (uint32_t granule = 0; granule < LMT_GRANULES; granule++) {
    if (lead == 0)
      main_object = granules[granule];
    lead += granules[granule] == main_object ? 1 : -1;
  }
  return main_object;
}

void lmt_page_release(lmt_page_table *table, uint64_t address, uint64_t bytes)
{
  const uint64_t first = (address + LMT_PAGE_BYTES - 1) & ~(uint64_t)(LMT_PAGE_BYTES - 1);
  const uint64_t end = (address + bytes) & ~(uint64_t)(LMT_PAGE_BYTES - 1);
  for (uint64_t at = first; at < end; at += LMT_PAGE_BYTES) {
    lmt_owner *owner = &table->owners[lmt_page_id(table, at)];
    if (owner->touched != 0 && owner->released == 0)
      owner->released = ++table->order;
  }
}
