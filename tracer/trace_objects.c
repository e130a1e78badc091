/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects: what a program allocates, merged by allocation site. Object 0 is what nobody could be found for. */
#include "tracer.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_execontext.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

enum { NAME_BYTES = 512 };

/* Finds an object by its call stack (key: ECU and kind) or by its name (key: hash of it). */
typedef struct entry {
  struct entry *next;
  UWord key;
  UInt object;
} entry;

static VgHashTable *by_site, *by_name;

static UInt new_object(lmt_kind kind)
{
  if (tracer.object_count >= LMT_OBJECTS_MAX) {
    tracer.dropped_sites++;
    return 0;
  }
  const UInt object = tracer.object_count++;
  tracer.objects[object] = (lmt_object){.kind = kind, .first_time = tracer.now};
  return object;
}

static void remember(VgHashTable *table, UWord key, UInt object)
{
  entry *added = VG_(malloc)("lmt.entry", sizeof *added);
  added->key = key;
  added->object = object;
  VG_(HT_add_node)(table, added);
}

UInt lmt_object_at_site(ThreadId thread, lmt_kind kind)
{
  const UInt context = VG_(get_ECU_from_ExeContext)(VG_(record_ExeContext)(thread, 0));
  const UWord key = (UWord)context << 4 | kind;
  const entry *found = VG_(HT_lookup)(by_site, key);
  if (found != NULL)
    return found->object;
  const UInt object = new_object(kind);
  if (object != 0)
    tracer.objects[object].context = context;
  remember(by_site, key, object);
  return object;
}

static UWord hash_name(const HChar *name)
{
  UWord hash = 0xCBF29CE484222325UL;
  for (; *name != '\0'; name++)
    hash = (hash ^ (UChar)*name) * 0x100000001B3UL;
  return hash;
}

UInt lmt_object_named(const HChar *name, lmt_kind kind)
{
  UWord key = hash_name(name) ^ kind;
  for (const entry *found; (found = VG_(HT_lookup)(by_name, key)) != NULL; key++) {
    const lmt_object *object = &tracer.objects[found->object];
    if (found->object == 0 || (object->kind == kind && VG_(strcmp)(object->name, name) == 0))
      return found->object;
  }
  const UInt object = new_object(kind);
  if (object != 0)
    tracer.objects[object].name = VG_(strdup)("lmt.name", name);
  remember(by_name, key, object);
  return object;
}

void lmt_objects_start(void)
{
  by_site = VG_(HT_construct)("lmt.by_site");
  by_name = VG_(HT_construct)("lmt.by_name");
  tracer.objects = lmt_reserve(sizeof *tracer.objects * (LMT_OBJECTS_MAX + 1));
  tracer.objects[0] = (lmt_object){.kind = LMT_OTHER, .name = VG_(strdup)("lmt.name", "(other)")};
  tracer.object_count = 1;
  tracer.stack_object = lmt_object_named("stack", LMT_STACK);
}

void lmt_object_allocated(UInt index, Addr address, SizeT bytes)
{
  lmt_object *object = &tracer.objects[index];
  object->blocks++;
  object->live_blocks++;
  object->bytes_total += bytes;
  object->bytes_live += bytes;
  if (object->bytes_live > object->bytes_peak)
    object->bytes_peak = object->bytes_live;
  if (bytes > 0)
    lmt_page_paint(&tracer.table, address, bytes, (uint16_t)index);
}

void lmt_object_freed(UInt index, Addr address, SizeT bytes)
{
  lmt_object *object = &tracer.objects[index];
  object->live_blocks--;
  object->bytes_live -= bytes < object->bytes_live ? bytes : object->bytes_live;
  object->last_release = tracer.now;
  lmt_page_release(&tracer.table, address, bytes);
}

/* ---- pages nobody allocated ---- */

static Bool is_stack(Addr address, const NSegment *segment)
{
  ThreadId thread;
  Addr low, high;
  VG_(thread_stack_reset_iter)(&thread);
  while (VG_(thread_stack_next)(&thread, &low, &high))
    if (VG_(thread_get_stack_max)(thread) >= segment->start && VG_(thread_get_stack_max)(thread) <= segment->end + 1)
      return address >= segment->start;
  return False;
}

/* The symbol that covers most of the page: a large array has a name of its own, small variables share their module's.
 */
static Bool covering_symbol(Addr page, const HChar **symbol)
{
  const DiEpoch epoch = VG_(current_DiEpoch)();
  static HChar first[NAME_BYTES];
  PtrdiffT offset;
  const HChar *name;
  if (!VG_(get_datasym_and_offset)(epoch, page + LMT_PAGE_BYTES / 4, &name, &offset))
    return False;
  VG_(strncpy)(first, name, sizeof first - 1);
  if (!VG_(get_datasym_and_offset)(epoch, page + LMT_PAGE_BYTES * 3 / 4, &name, &offset) ||
      VG_(strcmp)(first, name) != 0)
    return False;
  *symbol = first;
  return True;
}

static UInt classify_static(Addr page, const HChar *module)
{
  HChar name[2 * NAME_BYTES];
  const HChar *symbol;
  const HChar *base = VG_(basename)(module);
  if (covering_symbol(page, &symbol))
    VG_(snprintf)(name, sizeof name, "%s (%s)", symbol, base);
  else
    VG_(snprintf)(name, sizeof name, "data of %s", base);
  return lmt_object_named(name, LMT_STATIC);
}

UInt lmt_object_classify(Addr address)
{
  const HChar *module = NULL;
  const VgSectKind section = VG_(DebugInfo_sect_kind)(&module, address + LMT_PAGE_BYTES / 2);
  if (section != Vg_SectUnknown && module != NULL)
    return classify_static(address, module);
  const NSegment *segment = VG_(am_find_nsegment)(address);
  if (segment == NULL)
    return 0;
  if (is_stack(address, segment))
    return tracer.stack_object;
  if (segment->kind == SkFileC || segment->kind == SkShmC) {
    const HChar *file = VG_(am_get_filename)(segment);
    return lmt_object_named(file != NULL ? file : "shared memory", LMT_MAPPED);
  }
  return 0;
}

/* ---- counts ---- */

void lmt_object_credit(uint16_t index, uint32_t phase, uint64_t accesses, uint64_t misses)
{
  lmt_object *object = &tracer.objects[index];
  (void)phase;
  object->accesses += accesses;
  object->misses += misses;
  object->last_use = tracer.now;
  if (misses == 0)
    return;
  if (object->slice_misses == NULL)
    object->slice_misses = VG_(calloc)("lmt.slices", LMT_SLICES, sizeof *object->slice_misses);
  object->slice_misses[tracer.slice] += misses;
}

static lmt_retired *new_retired(void)
{
  if (tracer.retired_count == tracer.retired_capacity) {
    const UInt capacity = tracer.retired_capacity == 0 ? 4096 : 2 * tracer.retired_capacity;
    if (capacity > LMT_RETIRED_MAX)
      return NULL;
    tracer.retired = VG_(realloc)("lmt.retired", tracer.retired, capacity * sizeof *tracer.retired);
    tracer.retired_capacity = capacity;
  }
  return &tracer.retired[tracer.retired_count++];
}

void lmt_page_retire(lmt_page_table *table, uint32_t page)
{
  const lmt_owner *owner = &table->owners[page];
  const uint16_t object = lmt_page_main_object(table, page);
  for (UInt phase = 0; phase < table->phase_count; phase++) {
    lmt_page_counts counts;
    if (!lmt_page_get(table, phase, page, &counts))
      continue;
    lmt_retired *retired = new_retired();
    if (retired == NULL) {
      tracer.retired_lost++;
      return;
    }
    *retired = (lmt_retired){.address = lmt_page_address(table, page),
                             .touched = owner->touched,
                             .released = owner->released,
                             .accesses = counts.accesses,
                             .misses = counts.misses,
                             .writebacks = counts.writebacks,
                             .object = object,
                             .phase = (uint16_t)phase};
  }
}
