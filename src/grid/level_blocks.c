/* SPDX-License-Identifier: Apache-2.0 */
#include "level_blocks.h"

#include <stdlib.h>

/* What decides the order of blocks, most significant first. */
typedef struct block_key {
  int64_t partition, kind;
  uint64_t morton;
  int64_t word;
} block_key;

static uint64_t spread_bits(uint64_t x)
{
  uint64_t spread = 0;
  for (int bit = 0; bit < 21; bit++)
    spread |= (x >> bit & 1) << (3 * bit);
  return spread;
}

static int compare_keys(const void *left, const void *right)
{
  const block_key *a = left, *b = right;
  if (a->partition != b->partition)
    return a->partition < b->partition ? -1 : 1;
  if (a->kind != b->kind)
    return a->kind < b->kind ? -1 : 1;
  if (a->morton != b->morton)
    return a->morton < b->morton ? -1 : 1;
  return 0;
}

/* Looks at the block's cells and at the shell of one cell around them. */
static lmi_block_class classify(const lmi_levels *levels, int level, int64_t word)
{
  int64_t first[3], at[3];
  int length[3], around[3];
  lmi_level_cell(levels, level, word, 0, first);
  for (int a = 0; a < 3; a++) {
    length[a] = 1 << levels->shape[a];
    around[a] = lmi_levels_ratio(levels, a) == 2;
  }
  lmi_block_class class = LMI_BLOCK_PLAIN;
  for (int z = -around[2]; z < length[2] + around[2]; z++)
    for (int y = -around[1]; y < length[1] + around[1]; y++)
      for (int x = -around[0]; x < length[0] + around[0]; x++) {
        at[0] = first[0] + x;
        at[1] = first[1] + y;
        at[2] = first[2] + z;
        const lmi_place place = lmi_levels_place(levels, level, at);
        if (place == LMI_PLACE_FINER || place == LMI_PLACE_COARSER)
          return LMI_BLOCK_JUMP;
        if (place == LMI_PLACE_OUTSIDE)
          class = LMI_BLOCK_WALL;
      }
  return class;
}

bool lmi_level_wraps_whole(const lmi_levels *levels, int level, int axis)
{
  return levels->level[level].cells[axis] % (INT64_C(1) << levels->shape[axis]) == 0;
}

/* At an end of a periodic axis that does not hold whole words, neighbouring words do not meet cell on cell. */
static bool meets_broken_end(const lmi_levels *levels, int level, const int64_t place[3])
{
  for (int a = 0; a < 3; a++)
    if (!lmi_level_wraps_whole(levels, level, a) && (place[a] == 0 || place[a] == levels->level[level].words[a] - 1))
      return true;
  return false;
}

static void make_key(const lmi_levels *levels, int level, int partitions, int64_t word, block_key *key)
{
  const int64_t *words = levels->level[level].words;
  const int64_t place[3] = {word % words[0], word / words[0] % words[1], word / words[0] / words[1]};
  const lmi_block_class class = classify(levels, level, word);
  *key = (block_key){
    .partition = place[2] * partitions / words[2],
    .kind = class == LMI_BLOCK_PLAIN && meets_broken_end(levels, level, place) ? LMI_BLOCK_WALL : class,
    .morton =
      spread_bits((uint64_t)place[0]) | spread_bits((uint64_t)place[1]) << 1 | spread_bits((uint64_t)place[2]) << 2,
    .word = word,
  };
}

/* Neighbours by places; a periodic axis wraps only where words end with the box, else links carry what crosses. */
static void find_neighbours(const lmi_levels *levels, int level, lmi_level_blocks *blocks)
{
  const lmi_level *l = &levels->level[level];
  for (int64_t b = 0; b < blocks->count; b++) {
    const int64_t word = blocks->word[b];
    const int64_t place[3] = {word % l->words[0], word / l->words[0] % l->words[1], word / l->words[0] / l->words[1]};
    for (int i = 0; i < 27; i++) {
      int64_t at[3] = {place[0] + i % 3 - 1, place[1] + i / 3 % 3 - 1, place[2] + i / 9 - 1};
      bool exists = true;
      for (int a = 0; a < 3; a++) {
        if (at[a] >= 0 && at[a] < l->words[a])
          continue;
        exists = exists && levels->wraps[a] && lmi_level_wraps_whole(levels, level, a);
        at[a] = (at[a] + l->words[a]) % l->words[a];
      }
      const int32_t found = exists ? blocks->number[(at[2] * l->words[1] + at[1]) * l->words[0] + at[0]] : -1;
      blocks->neighbour[b][i] = found >= 0 ? found : (int32_t)b;
    }
  }
}

static void find_spans(const block_key *keys, lmi_level_blocks *blocks)
{
  for (int64_t b = 0; b < blocks->count; b++) {
    lmi_block_span *span = &blocks->spans[keys[b].partition * LMI_BLOCK_CLASSES + keys[b].kind];
    if (span->count++ == 0)
      span->first = b;
  }
}

lamina_status lmi_level_blocks_create(lamina_context *ctx, const lmi_levels *levels, int level, int partitions,
                                      lmi_level_blocks *blocks)
{
  lamina_status status = LAMINA_OK;
  const lmi_level *l = &levels->level[level];
  const int64_t words = l->words[0] * l->words[1] * l->words[2];
  block_key *keys = NULL;
  *blocks = (lmi_level_blocks){.partitions = partitions};
  for (int64_t word = 0; word < words; word++)
    blocks->count += l->leaf[word] != 0;
  LMI_REQUIRE(ctx, blocks->count < INT32_MAX / 64, LAMINA_ERROR_ARGUMENT,
              "level %d would have %lld blocks of 64 cells: at most %d are possible", level, (long long)blocks->count,
              INT32_MAX / 64 - 1);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)blocks->count, &keys), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)blocks->count, &blocks->word), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)words, &blocks->number), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)blocks->count, &blocks->neighbour), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)(partitions * LMI_BLOCK_CLASSES), &blocks->spans), cleanup);
  int64_t found = 0;
  for (int64_t word = 0; word < words; word++) {
    blocks->number[word] = -1;
    if (l->leaf[word] != 0)
      make_key(levels, level, partitions, word, &keys[found++]);
  }
  qsort(keys, (size_t)blocks->count, sizeof *keys, compare_keys);
  for (int64_t b = 0; b < blocks->count; b++) {
    blocks->word[b] = keys[b].word;
    blocks->number[keys[b].word] = (int32_t)b;
  }
  find_spans(keys, blocks);
  find_neighbours(levels, level, blocks);

cleanup:
  lmi_free(ctx, keys);
  if (status != LAMINA_OK)
    lmi_level_blocks_free(ctx, blocks);
  return status;
}

void lmi_level_blocks_free(lamina_context *ctx, lmi_level_blocks *blocks)
{
  lmi_free(ctx, blocks->word);
  lmi_free(ctx, blocks->number);
  lmi_free(ctx, blocks->neighbour);
  lmi_free(ctx, blocks->spans);
  *blocks = (lmi_level_blocks){0};
}

int32_t lmi_level_cell_number(const lmi_levels *levels, int level, const lmi_level_blocks *blocks, const int64_t at[3])
{
  return 64 * blocks->number[lmi_level_word(levels, level, at)] + lmi_level_bit(levels, at);
}
