/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptions of superblocks. Valgrind translates code again and again (its cache of translations is finite, libraries
 * come and go), and records in the buffer point to descriptions, so none is ever released: equal ones are kept once
 * instead. */
#include "tracer.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

typedef struct kept {
  struct kept *next;
  UWord key;
  const lmt_block *block;
} kept;

static VgHashTable *blocks;

static UWord hash_bytes(UWord hash, const void *data, SizeT bytes)
{
  const UChar *byte = data;
  for (SizeT i = 0; i < bytes; i++)
    hash = (hash ^ byte[i]) * 0x100000001B3UL;
  return hash;
}

/* Padding is zero: the builder clears its records first. */
static UWord hash_block(const lmt_block *block)
{
  UWord hash = hash_bytes(0xCBF29CE484222325UL, block, offsetof(lmt_block, groups));
  return hash_bytes(hash, block->groups, block->group_count * sizeof *block->groups);
}

static Bool is_same(const lmt_block *a, const lmt_block *b)
{
  return VG_(memcmp)(a, b, offsetof(lmt_block, groups)) == 0 &&
         VG_(memcmp)(a->groups, b->groups, a->group_count * sizeof *a->groups) == 0;
}

static lmt_block *copy_block(const lmt_block *block)
{
  enum { HEAD_BYTES = (sizeof *block + 63) / 64 * 64 };
  const SizeT groups = block->group_count * sizeof *block->groups;
  HChar *memory = lmt_aligned(HEAD_BYTES + groups);
  lmt_block *copy = (lmt_block *)(void *)memory;
  *copy = *block;
  copy->groups = VG_(memcpy)(memory + HEAD_BYTES, block->groups, groups);
  return copy;
}

const lmt_block *lmt_block_keep(const lmt_block *block)
{
  if (blocks == NULL)
    blocks = VG_(HT_construct)("lmt.blocks");
  UWord key = hash_block(block);
  for (kept *found; (found = VG_(HT_lookup)(blocks, key)) != NULL; key++)
    if (is_same(found->block, block))
      return found->block;
  kept *entry = VG_(malloc)("lmt.kept", sizeof *entry);
  entry->key = key;
  entry->block = copy_block(block);
  VG_(HT_add_node)(blocks, entry);
  return entry->block;
}
