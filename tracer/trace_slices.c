/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time slices: which objects were read from memory when. Time is instructions; there are always LMT_SLICES slices at
 * most, so when they are full, pairs are merged and the length doubles: memory stays bounded, whatever the program's
 * length. */
#include "tracer.h"

void lmt_slices_start(void)
{
  tracer.slice_length = LMT_FIRST_SLICE;
  tracer.slice_end = LMT_FIRST_SLICE;
  tracer.slice = 0;
}

/* Pages of several objects credit at once: what they gathered since is handed on here. */
static void credit_mixed(void)
{
  for (UInt phase = 0; phase < tracer.table.phase_count; phase++) {
    lmt_object_counts *counts = tracer.table.phase_objects[phase];
    for (UInt object = 0; counts != NULL && object < tracer.object_count; object++)
      if (counts[object].accesses + counts[object].misses > 0) {
        lmt_object_credit((uint16_t)object, phase, counts[object].accesses, counts[object].misses);
        counts[object] = (lmt_object_counts){0};
      }
  }
}

void lmt_slices_walk(void)
{
  lmt_page_table *table = &tracer.table;
  const uint32_t end = table->leaf_count * LMT_LEAF_PAGES;
  for (uint32_t page = LMT_LEAF_PAGES; page < end; page++) {
    lmt_owner *owner = &table->owners[page];
    if (owner->touched == 0)
      continue;
    if (owner->object == 0 && !owner->is_mixed)
      owner->object = (uint16_t)lmt_object_classify(lmt_page_address(table, page));
    lmt_page_credit(table, page);
  }
  credit_mixed();
}

static void merge_pairs(void)
{
  for (UInt object = 0; object < tracer.object_count; object++) {
    uint64_t *misses = tracer.objects[object].slice_misses;
    for (UInt slice = 0; misses != NULL && slice < LMT_SLICES; slice++)
      misses[slice] = slice < LMT_SLICES / 2 ? misses[2 * slice] + misses[2 * slice + 1] : 0;
  }
}

/* A long run writes what it has whenever the slices are merged (each time twice as late): a profile is there even if
 * the program is killed. */
void lmt_slices_advance(void)
{
  if (tracer.now < tracer.slice_end)
    return;
  lmt_slices_walk();
  while (tracer.now >= tracer.slice_end) {
    tracer.slice_end += tracer.slice_length;
    if (++tracer.slice < LMT_SLICES)
      continue;
    merge_pairs();
    tracer.slice = LMT_SLICES / 2;
    tracer.slice_length *= 2;
    tracer.slice_end = tracer.slice_length * (LMT_SLICES / 2 + 1);
    lmt_output_write("running");
  }
}
