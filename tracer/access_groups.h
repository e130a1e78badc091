/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses of a superblock, put into groups at translation: those off one slot within 64 bytes are looked up once.
 *
 *   lmt_grouping_start(&grouping, ways of the L1, its sets);
 *   lmt_grouping_add(&grouping, &access);                    in program order
 *   count = lmt_grouping_close(&grouping);                   grouping.group[0 .. count) stand for all added so far
 *
 * Loops that read and write several arrays in turn make a few groups instead of one an access. What the caches end up
 * with must not change by it:
 * - Groups come in the order of their first accesses, so lines miss in the order in which they did.
 * - Only accesses within a window of as many groups as the L1 has ways are put together, so no line that was used in
 *   the window can fall out before its end, whatever the order inside.
 * - At the end of a window the groups whose last use is out of that order are looked up again, so that each set ends in
 *   the order of last uses.
 * What is left: a group that crosses a line counts both lines as used at its first access. */
#ifndef LMT_ACCESS_GROUPS_H
#define LMT_ACCESS_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct lmt_access {
  int32_t delta; /* address = word of the slot + delta */
  uint16_t slot;
  uint8_t bytes; /* 1 .. 64 */
  bool is_write, is_guarded;
} lmt_access;

enum { LMT_GROUP_WRITES = 1, LMT_GROUP_GUARDED = 2 }; /* guarded: word 0 says that nothing was accessed */

/* Bit o stands for the byte at delta + o. How many accesses begin there is a number of three binary digits. */
enum { LMT_BEGIN_DIGITS = 3 };

typedef struct lmt_group {
  int32_t delta; /* of the lowest byte */
  uint16_t slot, count;
  uint8_t span; /* bytes from the lowest to the highest, <= 64 */
  uint8_t flags;
  uint8_t first; /* offset of the first access in program order */
  uint8_t unused[5];
  uint64_t begins[LMT_BEGIN_DIGITS];
  uint64_t touched, written;
  uint64_t unused_too; /* whole lines of the host, and no byte of unknown content: groups are compared as bytes */
} __attribute__((aligned(64))) lmt_group;

#define LMT_GROUPS_MAX 4096u
#define LMT_WINDOW_MAX 16u

typedef struct lmt_grouping {
  uint32_t count, window, window_size; /* groups; the first one of the window that is open; the most it may have */
  uint32_t step;                       /* accesses so far */
  uint32_t last_step[LMT_WINDOW_MAX];  /* of each group of the window */
  lmt_group group[LMT_GROUPS_MAX + LMT_WINDOW_MAX];
} lmt_grouping;

void lmt_grouping_start(lmt_grouping *grouping, uint32_t ways, uint32_t sets);
/* False when there is no room for another group. */
bool lmt_grouping_add(lmt_grouping *grouping, const lmt_access *access);
/* More accesses may be added afterwards; then it must be closed again. */
uint32_t lmt_grouping_close(lmt_grouping *grouping);

#endif
