/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tracer's cache model on traces worked out by hand. The model is compiled here as an ordinary program. */
#define _GNU_SOURCE
#include "support/test.h"

#include <string.h>
#include <sys/mman.h>

#include "replay.h"

enum { LINE = 64 };
static const uint64_t BASE = 0x7F0000000000; /* begins a page and a leaf */

void *lmt_reserve(size_t bytes)
{
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t credited[4];

static void credit(uint16_t object, uint32_t phase, uint64_t accesses, uint64_t misses)
{
  (void)phase, (void)misses;
  credited[object % 4] += accesses;
}

static uint64_t retired_accesses;

static void retire(lmt_page_table *table, uint32_t page)
{
  lmt_page_counts counts;
  if (lmt_page_get(table, 0, page, &counts))
    retired_accesses += counts.accesses;
}

typedef struct bench {
  lmt_page_table table;
  lmt_model model;
  lmt_core core;
  lmt_work work;
} bench;

/* Reserved address space is not given back: a test case is a process of its own. */
static bench *make(lmt_geometry l1, lmt_geometry l2, lmt_geometry llc, bool stream, bool adjacent)
{
  const lmt_model_options options = {
    .l1 = l1, .l2 = l2, .llc = llc, .stream_prefetch = stream, .adjacent_prefetch = adjacent};
  bench *b = lmt_reserve(sizeof *b);
  assert_non_null(b);
  lmt_page_table_start(&b->table, (lmt_page_events){.credit = credit, .retire = retire});
  lmt_model_start(&b->model, &options, &b->table);
  lmt_core_start(&b->model, &b->core);
  lmt_model_set_core(&b->model, &b->core);
  return b;
}

enum { SLOTS_MAX = 32 };

static void replay_accesses(bench *b, const lmt_access *accesses, size_t count, const uint64_t *slots,
                            uint32_t slot_count)
{
  static lmt_grouping grouping;
  uint64_t record[1 + SLOTS_MAX];
  lmt_grouping_start(&grouping, b->model.options.l1.ways, b->model.options.l1.sets);
  for (size_t i = 0; i < count; i++)
    assert_true(lmt_grouping_add(&grouping, &accesses[i]));
  const lmt_block block = {
    .slot_count = slot_count, .group_count = lmt_grouping_close(&grouping), .groups = grouping.group};
  record[0] = (uint64_t)(uintptr_t)&block;
  memcpy(record + 1, slots, slot_count * sizeof *slots);
  lmt_replay(&b->model, record, record + 1 + slot_count, &b->work);
}

static void touch_bytes(bench *b, uint64_t address, uint8_t bytes, bool is_write)
{
  replay_accesses(b, &(lmt_access){.bytes = bytes, .is_write = is_write}, 1, &address, 1);
}

static void read_line(bench *b, uint64_t line)
{
  touch_bytes(b, BASE + line * LINE, 8, false);
}
static void write_line(bench *b, uint64_t line)
{
  touch_bytes(b, BASE + line * LINE, 8, true);
}

/* Two ways, lines A B A C A B: A and B miss, A hits, C throws B out, A hits, B misses again. */
static void least_recent_falls_out(void **state)
{
  (void)state;
  bench *b = make((lmt_geometry){1, 2}, (lmt_geometry){0}, (lmt_geometry){1, 16}, false, false);
  static const uint64_t lines[] = {0, 1, 0, 2, 0, 1};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    read_line(b, lines[i]);
  assert_int_equal(b->core.counts.l1_misses, 4);
  assert_int_equal(b->core.counts.llc_misses, 3);
  assert_int_equal(b->core.counts.memory_read_lines, 3);
  assert_int_equal(b->core.counts.memory_write_lines, 0);
}

/* One way, last level of two: A is written, B throws it into the last level (no traffic), C throws it out to memory. */
static void dirty_lines_go_down_level_by_level(void **state)
{
  (void)state;
  bench *b = make((lmt_geometry){1, 1}, (lmt_geometry){0}, (lmt_geometry){1, 2}, false, false);
  write_line(b, 0);
  read_line(b, 1);
  assert_int_equal(b->core.counts.l1_writebacks, 1);
  assert_int_equal(b->core.counts.memory_write_lines, 0);
  read_line(b, 2);
  assert_int_equal(b->core.counts.memory_write_lines, 1);
  assert_int_equal(b->core.counts.l1_writebacks, 1);
}

/* Through an L2 of one way: A written, B read: A dirty into the L2? B already took its place there, so on to the last
 * level. */
static void a_dirty_line_passes_a_level_that_lost_it(void **state)
{
  (void)state;
  bench *b = make((lmt_geometry){1, 1}, (lmt_geometry){1, 2}, (lmt_geometry){1, 4}, false, false);
  write_line(b, 0); /* L1 0*; L2 0; LLC 0 */
  read_line(b, 1);  /* L1 1, 0 dirty into the L2 (0* is there); L2 1 0*; LLC 1 0 */
  assert_int_equal(b->core.counts.l1_writebacks, 1);
  assert_int_equal(b->core.counts.l2_writebacks, 0);
  read_line(b, 2); /* L2 2 1, 0* falls out: dirty in the LLC 2 1 0* */
  assert_int_equal(b->core.counts.l2_writebacks, 1);
  read_line(b, 3); /* LLC 3 2 1 0* */
  assert_int_equal(b->core.counts.memory_write_lines, 0);
  read_line(b, 4); /* 0* falls out */
  assert_int_equal(b->core.counts.memory_write_lines, 1);
}

/* Lines 0 .. 9 in turn. 0, 1, 2 miss; at 2 the stream is sure (two steps) and fetches 3 and 4; each further access is
 * useful and fetches two more until four ahead, then one: 3: 5 6, 4: 7 8, 5: 9, 6: 10, 7: 11, 8: 12, 9: 13. */
static void a_stream_runs_ahead(void **state)
{
  (void)state;
  bench *b = make((lmt_geometry){1, 2}, (lmt_geometry){64, 16}, (lmt_geometry){64, 16}, true, false);
  for (uint64_t line = 0; line < 10; line++)
    read_line(b, line);
  assert_int_equal(b->core.counts.l2_misses, 3);
  assert_int_equal(b->core.counts.l2_prefetches, 11);
  assert_int_equal(b->core.counts.l2_prefetches_useful, 7);
  assert_int_equal(b->core.counts.l2_prefetches_useless, 0);
  assert_int_equal(b->core.counts.l2_lines_in, 14);
  assert_int_equal(b->core.counts.memory_read_lines, 14);
  assert_int_equal(b->core.counts.llc_misses, 3);
}

/* Downwards from line 5: 5, 4, 3 miss, at 3 it fetches 2 and 1, at 2: 0, and nothing of the page before. */
static void a_stream_stays_in_its_page(void **state)
{
  (void)state;
  bench *b = make((lmt_geometry){1, 2}, (lmt_geometry){64, 16}, (lmt_geometry){64, 16}, true, false);
  for (uint64_t line = 6; line-- > 0;)
    read_line(b, line);
  assert_int_equal(b->core.counts.l2_misses, 3);
  assert_int_equal(b->core.counts.l2_prefetches, 3);
  assert_int_equal(b->core.counts.l2_prefetches_useful, 3);
}

/* A miss that is no stream fetches the other half of its pair; unused, it is useless when it falls out of an L2 of two
 * ways. */
static void the_adjacent_line_may_be_useless(void **state)
{
  (void)state;
  bench *b = make((lmt_geometry){1, 1}, (lmt_geometry){1, 2}, (lmt_geometry){64, 16}, false, true);
  read_line(b, 10); /* L2: 11p 10 */
  assert_int_equal(b->core.counts.l2_prefetches, 1);
  assert_int_equal(b->core.counts.memory_read_lines, 2);
  read_line(b, 200); /* L2: 200 11p, then 201p 200: 10 and 11p fell out */
  assert_int_equal(b->core.counts.l2_prefetches, 2);
  assert_int_equal(b->core.counts.l2_prefetches_useless, 1);
  assert_int_equal(b->core.counts.llc_misses, 2);
}

/* Eight bytes from byte 60: two lines, one access, on the first page; the second page is touched all the same. */
static void a_crossing_access_counts_once(void **state)
{
  (void)state;
  bench *b = make((lmt_geometry){1, 4}, (lmt_geometry){0}, (lmt_geometry){1, 16}, false, false);
  touch_bytes(b, BASE + 4092, 8, false);
  const uint32_t page = lmt_page_id(&b->table, BASE);
  lmt_page_counts counts;
  assert_int_equal(b->core.counts.l1_misses, 2);
  assert_true(lmt_page_get(&b->table, 0, page, &counts));
  assert_int_equal(counts.accesses, 1);
  assert_int_equal(b->table.owners[page].touched, 1);
  assert_int_equal(b->table.owners[page + 1].touched, 2);
}

static uint64_t next_random(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void assert_same_pages(bench *const b[2], uint32_t count)
{
  for (uint32_t page = lmt_page_id(&b[0]->table, BASE), last = page + count; page < last; page++) {
    lmt_page_counts one = {0}, other = {0};
    assert_int_equal(lmt_page_get(&b[0]->table, 0, page, &one), lmt_page_get(&b[1]->table, 0, page, &other));
    assert_memory_equal(&one, &other, sizeof one);
    assert_int_equal(b[0]->table.owners[page].touched, b[1]->table.owners[page].touched);
  }
}

/* Three neighbours as one group, at every offset in a line, against the same three one after the other. */
static void grouping_changes_nothing(void **state)
{
  (void)state;
  static const lmt_access accesses[] = {
    {.delta = -8, .bytes = 8}, {.delta = 0, .bytes = 8}, {.delta = 8, .bytes = 8, .is_write = true}};
  bench *b[2];
  for (int i = 0; i < 2; i++) {
    b[i] = make((lmt_geometry){2, 2}, (lmt_geometry){4, 2}, (lmt_geometry){8, 4}, true, true);
    uint64_t random = 88172645463325252u;
    for (int n = 0; n < 20000; n++) {
      const uint64_t address = BASE + 64 + next_random(&random) % 65536;
      if (i == 0)
        replay_accesses(b[i], accesses, 3, &address, 1);
      for (int j = 0; i == 1 && j < 3; j++)
        replay_accesses(b[i], &accesses[j], 1, &address, 1);
    }
  }
  assert_memory_equal(&b[0]->core.counts, &b[1]->core.counts, sizeof b[0]->core.counts);
  assert_same_pages(b, 17);
}

/* Blocks of 30 accesses in any order to 24 lines that compete for two sets, in groups (b[0]) and one by one (b[1]).
 * Either each line is a slot of its own, or all are one slot, so that groups lie across lines. */
static void replay_blocks(bench *b[2], bool lines_are_slots)
{
  enum { ACCESSES = 30, LINES = 24 };
  for (int i = 0; i < 2; i++) {
    b[i] = make((lmt_geometry){2, 8}, (lmt_geometry){4, 8}, (lmt_geometry){16, 8}, true, true);
    uint64_t random = 88172645463325252u;
    for (int n = 0; n < 3000; n++) {
      lmt_access accesses[ACCESSES];
      uint64_t slots[LINES];
      const uint64_t address = BASE + next_random(&random) % 256 * LINE;
      for (uint64_t line = 0; line < LINES; line++)
        slots[line] = address + (lines_are_slots ? line * LINE : 0);
      for (int j = 0; j < ACCESSES; j++) {
        const uint16_t line = (uint16_t)(next_random(&random) % LINES);
        accesses[j] =
          (lmt_access){.slot = lines_are_slots ? line : 0,
                       .delta = (int32_t)(next_random(&random) % 8 * 8) + (lines_are_slots ? 0 : line * LINE),
                       .bytes = 8,
                       .is_write = next_random(&random) % 4 == 0};
      }
      if (i == 0)
        replay_accesses(b[i], accesses, ACCESSES, slots, LINES);
      for (int j = 0; i == 1 && j < ACCESSES; j++)
        replay_accesses(b[i], &accesses[j], 1, slots, LINES);
    }
  }
  assert_true(b[1]->core.counts.l1_misses > 10000 && b[1]->core.counts.l1_writebacks > 1000);
}

static void windows_of_groups_change_nothing(void **state)
{
  (void)state;
  bench *b[2];
  replay_blocks(b, true);
  assert_memory_equal(&b[0]->core.counts, &b[1]->core.counts, sizeof b[0]->core.counts);
  assert_same_pages(b, 5);
}

/* The one liberty taken: both lines of a group that crosses count as used at its first access. */
static void groups_across_lines_change_little(void **state)
{
  (void)state;
  bench *b[2];
  replay_blocks(b, false);
  const double grouped = (double)b[0]->core.counts.l1_misses, single = (double)b[1]->core.counts.l1_misses;
  assert_true(grouped > 0.999 * single && grouped < 1.001 * single);
  lmt_page_counts one = {0}, other = {0};
  const uint32_t page = lmt_page_id(&b[0]->table, BASE);
  assert_true(lmt_page_get(&b[0]->table, 0, page, &one) && lmt_page_get(&b[1]->table, 0, page, &other));
  assert_int_equal(one.accesses, other.accesses); /* accesses of pages are exact all the same */
}

/* a b a b ... on two arrays is two groups, whatever the length within a line; a b a ends with a in front: a third. */
static void loops_make_few_groups(void **state)
{
  (void)state;
  static lmt_grouping grouping;
  lmt_grouping_start(&grouping, 8, 64);
  for (int i = 0; i < 16; i++)
    assert_true(
      lmt_grouping_add(&grouping, &(lmt_access){.slot = (uint16_t)(i % 2), .delta = 8 * (i / 2), .bytes = 8}));
  assert_int_equal(lmt_grouping_close(&grouping), 2);
  assert_int_equal(grouping.group[0].count, 8);
  assert_true(lmt_grouping_add(&grouping, &(lmt_access){.slot = 0, .bytes = 8}));
  assert_int_equal(lmt_grouping_close(&grouping), 3);
  assert_int_equal(grouping.group[2].count, 0);
}

/* The vector set against a list that is searched and moved step by step. */
static void a_set_is_a_list_in_order_of_use(void **state)
{
  (void)state;
  static lmt_set set;
  uint32_t list[LMT_WAYS_MAX] = {0};
  uint64_t random = 88172645463325252u;
  for (int n = 0; n < 100000; n++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const uint32_t line = 1 + (uint32_t)(random % 20);
    uint32_t way = 0;
    while (way < 11 && (list[way] & LMT_LINE_MASK) != line)
      way++; /* the last of 12 ways when it is not there */
    const bool is_there = (list[way] & LMT_LINE_MASK) == line;
    const uint32_t content = line | (is_there ? list[way] & LMT_DIRTY : 0) | (random >> 60 == 0 ? LMT_DIRTY : 0);
    assert_int_equal(lmt_set_match(&set, line, LMT_WIDE), is_there ? 1u << way : 0);
    memmove(list + 1, list, way * sizeof *list);
    list[0] = content;
    lmt_set_front(&set, way, content, LMT_WIDE);
    assert_memory_equal(set.way, list, sizeof list);
  }
}

/* Two objects in one page are told apart by granules of 16 bytes; a page of one object is credited when it changes
 * hands. */
static void objects_share_a_page(void **state)
{
  (void)state;
  bench *b = make((lmt_geometry){1, 4}, (lmt_geometry){0}, (lmt_geometry){1, 16}, false, false);
  lmt_page_paint(&b->table, BASE, 64, 1);
  touch_bytes(b, BASE, 8, false); /* the page is object 1's alone: credited when it becomes mixed */
  lmt_page_paint(&b->table, BASE + 64, 64, 2);
  assert_int_equal(credited[1], 1);
  touch_bytes(b, BASE + 64, 8, false);
  touch_bytes(b, BASE + 72, 8, false);
  touch_bytes(b, BASE + 16, 8, false);
  assert_int_equal(b->table.objects[2].accesses, 2);
  assert_int_equal(b->table.objects[1].accesses, 1);
  lmt_page_paint(&b->table, BASE, 4096, 3); /* another life */
  assert_int_equal(retired_accesses, 4);
  touch_bytes(b, BASE + 64, 8, false);
  lmt_page_credit(&b->table, lmt_page_id(&b->table, BASE));
  assert_int_equal(credited[3], 1);
}

LMI_TEST_MAIN(cmocka_unit_test(least_recent_falls_out), cmocka_unit_test(dirty_lines_go_down_level_by_level),
              cmocka_unit_test(a_dirty_line_passes_a_level_that_lost_it), cmocka_unit_test(a_stream_runs_ahead),
              cmocka_unit_test(a_stream_stays_in_its_page), cmocka_unit_test(the_adjacent_line_may_be_useless),
              cmocka_unit_test(a_crossing_access_counts_once), cmocka_unit_test(grouping_changes_nothing),
              cmocka_unit_test(windows_of_groups_change_nothing), cmocka_unit_test(groups_across_lines_change_little),
              cmocka_unit_test(loops_make_few_groups), cmocka_unit_test(a_set_is_a_list_in_order_of_use),
              cmocka_unit_test(objects_share_a_page))
