/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traced program's malloc family. Blocks come from Valgrind's allocator for clients; what the allocator itself
 * writes (headers, the zeros of calloc, the copy of realloc) is not an access of the program. */
#include "tracer.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_poolalloc.h"
#include "pub_tool_replacemalloc.h"

typedef struct block {
  struct block *next;
  UWord address;
  SizeT bytes;
  UInt object;
} block;

static VgHashTable *blocks;
static PoolAlloc *block_pool;

static void *allocate(ThreadId thread, SizeT bytes, SizeT alignment, Bool is_zeroed)
{
  lmt_drain();
  void *memory = VG_(cli_malloc)(alignment, bytes);
  if (memory == NULL)
    return NULL;
  if (is_zeroed)
    VG_(memset)(memory, 0, bytes);
  block *added = VG_(allocEltPA)(block_pool);
  *added = (block){.address = (UWord)memory, .bytes = bytes, .object = lmt_object_at_site(thread, LMT_HEAP)};
  VG_(HT_add_node)(blocks, added);
  lmt_object_allocated(added->object, (Addr)memory, bytes);
  return memory;
}

static void release(ThreadId thread, void *memory)
{
  (void)thread;
  lmt_drain();
  block *removed = VG_(HT_remove)(blocks, (UWord)memory);
  if (removed == NULL) /* not a block: the program's mistake, which other tools report */
    return;
  lmt_object_freed(removed->object, (Addr)memory, removed->bytes);
  VG_(freeEltPA)(block_pool, removed);
  VG_(cli_free)(memory);
}

static void *heap_malloc(ThreadId thread, SizeT bytes)
{
  return allocate(thread, bytes, (SizeT)VG_(clo_alignment), False);
}

static void *heap_new_aligned(ThreadId thread, SizeT bytes, SizeT alignment)
{
  return allocate(thread, bytes, alignment, False);
}

static void *heap_memalign(ThreadId thread, SizeT alignment, SizeT bytes)
{
  return allocate(thread, bytes, alignment, False);
}

static void *heap_calloc(ThreadId thread, SizeT count, SizeT size)
{
  SizeT bytes;
  if (__builtin_mul_overflow(count, size, &bytes))
    return NULL;
  return allocate(thread, bytes, (SizeT)VG_(clo_alignment), True);
}

static void heap_delete_aligned(ThreadId thread, void *memory, SizeT alignment)
{
  (void)alignment;
  release(thread, memory);
}

/* A block that shrinks a little stays where it is; any other is moved. */
static void *heap_realloc(ThreadId thread, void *memory, SizeT bytes)
{
  if (memory == NULL)
    return heap_malloc(thread, bytes);
  if (bytes == 0) {
    release(thread, memory);
    return NULL;
  }
  const block *old = VG_(HT_lookup)(blocks, (UWord)memory);
  if (old == NULL)
    return NULL;
  if (bytes <= old->bytes && bytes >= old->bytes / 2)
    return memory;
  const SizeT kept = old->bytes < bytes ? old->bytes : bytes;
  void *moved = heap_malloc(thread, bytes);
  if (moved == NULL)
    return NULL;
  VG_(memcpy)(moved, memory, kept);
  release(thread, memory);
  return moved;
}

static SizeT heap_usable_size(ThreadId thread, void *memory)
{
  const block *found = VG_(HT_lookup)(blocks, (UWord)memory);
  (void)thread;
  return found != NULL ? found->bytes : 0;
}

void lmt_heap_start(void)
{
  blocks = VG_(HT_construct)("lmt.heap");
  block_pool = VG_(newPA)(sizeof(block), 1000, VG_(malloc), "lmt.pool", VG_(free));
}

/* Called before options are read, so apart from lmt_heap_start. */
void lmt_heap_register(void)
{
  VG_(needs_malloc_replacement)
  (heap_malloc, heap_malloc, heap_new_aligned, heap_malloc, heap_new_aligned, heap_memalign, heap_calloc, release,
   release, heap_delete_aligned, release, heap_delete_aligned, heap_realloc, heap_usable_size, 0);
}
