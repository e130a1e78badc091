/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "access_groups.h"

enum { LINE_BYTES = 64 };

void lmt_grouping_start(lmt_grouping *grouping, uint32_t ways, uint32_t sets)
{
  const uint32_t lines_a_group = sets == 1 ? 2 : 1; /* that can fall into one set */
  const uint32_t size = ways / lines_a_group;
  grouping->count = grouping->window = grouping->step = 0;
  grouping->window_size = size < 1 ? 1 : size > LMT_WINDOW_MAX ? LMT_WINDOW_MAX : size;
}

static uint64_t bytes_mask(uint32_t first, uint32_t bytes)
{
  return (bytes >= LINE_BYTES ? ~UINT64_C(0) : (UINT64_C(1) << bytes) - 1) << first;
}

/* One more access that begins at `offset`; false when the digits are full. */
static bool count_begin(lmt_group *group, uint32_t offset)
{
  uint64_t carry = UINT64_C(1) << offset;
  if ((group->begins[0] & group->begins[1] & group->begins[2] & carry) != 0)
    return false;
  for (int digit = 0; digit < LMT_BEGIN_DIGITS; digit++) {
    const uint64_t next = group->begins[digit] & carry;
    group->begins[digit] ^= carry;
    carry = next;
  }
  return true;
}

static lmt_group single(const lmt_access *access)
{
  const uint64_t bytes = bytes_mask(0, access->bytes);
  return (lmt_group){
    .delta = access->delta,
    .slot = access->slot,
    .count = 1,
    .span = access->bytes,
    .flags = (uint8_t)((access->is_write ? LMT_GROUP_WRITES : 0) | (access->is_guarded ? LMT_GROUP_GUARDED : 0)),
    .begins = {1},
    .touched = bytes,
    .written = access->is_write ? bytes : 0};
}

/* The lowest byte moves down. */
static void lower(lmt_group *group, uint32_t by)
{
  for (int digit = 0; digit < LMT_BEGIN_DIGITS; digit++)
    group->begins[digit] <<= by;
  group->touched <<= by;
  group->written <<= by;
  group->first = (uint8_t)(group->first + by);
  group->span = (uint8_t)(group->span + by);
  group->delta -= (int32_t)by;
}

/* Takes the access in if both fit into 64 bytes. */
static bool join(lmt_group *group, const lmt_access *access)
{
  if (group->slot != access->slot || (group->flags & LMT_GROUP_GUARDED) || access->is_guarded)
    return false;
  const int64_t low = access->delta < group->delta ? access->delta : group->delta;
  const int64_t end = (int64_t)access->delta + access->bytes, group_end = (int64_t)group->delta + group->span;
  const int64_t high = end > group_end ? end : group_end;
  if (high - low > LINE_BYTES)
    return false;
  lmt_group joined = *group;
  if (low < group->delta)
    lower(&joined, (uint32_t)(group->delta - low));
  const uint32_t offset = (uint32_t)(access->delta - low);
  const uint64_t bytes = bytes_mask(offset, access->bytes);
  if (!count_begin(&joined, offset))
    return false;
  joined.span = (uint8_t)(high - low);
  joined.count++;
  joined.touched |= bytes;
  if (access->is_write) {
    joined.written |= bytes;
    joined.flags |= LMT_GROUP_WRITES;
  }
  *group = joined;
  return true;
}

/* Appends those groups of the window that must be looked up again, in the order of their last uses. */
static uint32_t append_again(lmt_grouping *grouping)
{
  const uint32_t size = grouping->count - grouping->window;
  uint32_t order[LMT_WINDOW_MAX], in_place = 1, count = grouping->count;
  for (uint32_t i = 0; i < size; i++) { /* sorted by last use */
    uint32_t at = i;
    for (; at > 0 && grouping->last_step[order[at - 1]] > grouping->last_step[i]; at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  while (in_place < size && order[in_place] > order[in_place - 1])
    in_place++;
  for (uint32_t i = in_place; i < size; i++) {
    lmt_group again = grouping->group[grouping->window + order[i]];
    again.count = 0;
    again.flags &= (uint8_t)~LMT_GROUP_WRITES;
    again.written = 0;
    for (int digit = 0; digit < LMT_BEGIN_DIGITS; digit++)
      again.begins[digit] = 0;
    grouping->group[count++] = again;
  }
  return count;
}

bool lmt_grouping_add(lmt_grouping *grouping, const lmt_access *access)
{
  grouping->step++;
  for (uint32_t i = grouping->count; i-- > grouping->window;)
    if (join(&grouping->group[i], access)) {
      grouping->last_step[i - grouping->window] = grouping->step;
      return true;
    }
  if (grouping->count - grouping->window == grouping->window_size)
    grouping->window = grouping->count = append_again(grouping);
  if (grouping->count >= LMT_GROUPS_MAX)
    return false;
  grouping->last_step[grouping->count - grouping->window] = grouping->step;
  grouping->group[grouping->count++] = single(access);
  return true;
}

uint32_t lmt_grouping_close(lmt_grouping *grouping)
{
  return append_again(grouping);
}
