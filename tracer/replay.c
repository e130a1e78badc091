/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { LINE_BYTES = 64, LINE_BITS = 6 };

/* The run of accesses to one line that is going on: it is counted for its page when another line is touched. */
typedef struct run {
  uint64_t line_address; /* 1: none, no line begins there */
  uint64_t length;
  uint64_t *accesses; /* of its page */
  uint32_t *way;
  uint32_t page;
} run;

static inline void end_run(run *current)
{
  *current->accesses += current->length;
  current->length = 0;
}

static inline void begin_run(lmt_model *model, run *current, uint64_t address)
{
  const uint32_t id = lmt_page_id(model->table, address);
  end_run(current);
  current->page = id;
  current->accesses = &model->table->pages.tally[id].accesses;
  current->line_address = address & ~(uint64_t)(LINE_BYTES - 1);
  if (UNLIKELY((*current->accesses & ~LMT_MIXED) == 0))
    lmt_page_touched(model->table, id);
  current->way = lmt_l1_access(model, id << LINE_BITS | ((uint32_t)(address >> LINE_BITS) & 63), address);
}

static inline void touch(lmt_model *model, run *current, uint64_t address, bool is_write, uint32_t count)
{
  if (!(LIKELY((address & ~(uint64_t)(LINE_BYTES - 1)) == current->line_address)))
    begin_run(model, current, address);
  current->length += count;
  if (is_write && !(*current->way & LMT_DIRTY))
    *current->way |= LMT_DIRTY;
}

/* The accesses of a group that begin in `bytes` of it, in a page of several objects. */
static __attribute__((noinline)) void credit(lmt_model *model, uint32_t page, const lmt_group *group, uint64_t address,
                                             uint64_t bytes)
{
  const uint64_t *begins = group->begins;
  for (uint64_t rest = (begins[0] | begins[1] | begins[2]) & bytes; rest != 0; rest &= rest - 1) {
    const uint32_t offset = (uint32_t)__builtin_ctzll(rest);
    const uint16_t object = lmt_granule_object(model->table, page, lmt_granule(address + offset));
    for (int digit = 0; digit < LMT_BEGIN_DIGITS; digit++)
      model->table->objects[object].accesses += (begins[digit] >> offset & 1) << digit;
  }
}

/* A group that crosses a line: what lies in each of the two lines at once, the line of the first access first. An
 * access that crosses counts where it begins. */
static __attribute__((noinline)) void touch_crossing(lmt_model *model, run *current, const lmt_group *group,
                                                     uint64_t address)
{
  const uint32_t cut = LINE_BYTES - (uint32_t)(address & (LINE_BYTES - 1));
  const uint64_t below = (UINT64_C(1) << cut) - 1, *begins = group->begins;
  const uint32_t count =
    (uint32_t)(__builtin_popcountll(begins[0] & below) + 2 * __builtin_popcountll(begins[1] & below) +
               4 * __builtin_popcountll(begins[2] & below));
  const uint64_t behind = address + cut + (uint32_t)__builtin_ctzll(group->touched >> cut);
  for (uint32_t turn = 0; turn < 2; turn++)
    if ((group->first >= cut) == turn) {
      touch(model, current, address, (group->written & below) != 0, count);
      if (UNLIKELY(*current->accesses & LMT_MIXED))
        credit(model, current->page, group, address, below);
    } else {
      touch(model, current, behind, group->written >> cut != 0, group->count - count);
      if (UNLIKELY(*current->accesses & LMT_MIXED))
        credit(model, current->page, group, address, ~below);
    }
}

/* One look-up for the group. A page of several objects is seen only after the look-up: its accesses are then credited
 * one by one. */
static inline void touch_group(lmt_model *model, run *current, const lmt_group *group, const uint64_t *slots)
{
  const uint64_t slot = slots[group->slot];
  const uint64_t address = slot + (uint64_t)(int64_t)group->delta;
  if (UNLIKELY((group->flags & LMT_GROUP_GUARDED) && slot == 0))
    return;
  if (UNLIKELY((address & (LINE_BYTES - 1)) + group->span > LINE_BYTES)) {
    touch_crossing(model, current, group, address);
    return;
  }
  touch(model, current, address, group->flags & LMT_GROUP_WRITES, group->count);
  if (UNLIKELY(*current->accesses & LMT_MIXED))
    credit(model, current->page, group, address, ~UINT64_C(0));
}

static void add_lanes(uint64_t *sums, __m256i lanes)
{
  uint32_t lane[LMT_LANES];
  _mm256_storeu_si256((__m256i *)(void *)lane, lanes);
  for (int i = 0; i < LMT_LANES; i++)
    sums[i] += lane[i];
}

void lmt_replay(lmt_model *model, const uint64_t *word, const uint64_t *end, lmt_work *work)
{
  uint64_t nowhere = 0;
  uint32_t no_way = 0;
  run current = {.line_address = 1, .accesses = &nowhere, .way = &no_way};
  __m256i statics = _mm256_setzero_si256(), flops = _mm256_setzero_si256();
  while (word < end) {
    const lmt_block *block = (const lmt_block *)*word++;
    statics = _mm256_add_epi32(statics, _mm256_load_si256((const __m256i *)(const void *)block->statics));
    if (block->has_flops)
      flops = _mm256_add_epi32(flops, _mm256_load_si256((const __m256i *)(const void *)block->flops));
    const lmt_group *group = block->groups, *last = group + block->group_count;
    for (; group < last; group++)
      touch_group(model, &current, group, word);
    word += block->slot_count;
  }
  end_run(&current);
  lmt_model_flush(model);
  add_lanes(work->statics, statics);
  add_lanes(work->flops, flops);
}
