/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool's frame: registration, threads, fork, end. */
#include "tracer.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"

lmt_tracer tracer;

/* Asks for 2 MiB pages: the tables are read at random and would fill the host's TLB. Whether it is granted does not
 * matter. */
static void ask_for_huge_pages(void *memory, SizeT bytes)
{
  enum { SYSCALL_MADVISE = 28, ADVICE_HUGEPAGE = 14 };
  Word result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"((Word)SYSCALL_MADVISE), "D"(memory), "S"(bytes), "d"((Word)ADVICE_HUGEPAGE)
                   : "rcx", "r11", "memory");
}

void *lmt_reserve(size_t bytes)
{
  enum { HUGE_BYTES = 2 << 20 };
  const SizeT slack = bytes >= HUGE_BYTES ? HUGE_BYTES : 0;
  HChar *memory = VG_(am_shadow_alloc)(bytes + slack);
  if (memory == NULL)
    VG_(tool_panic)("lamina: no address space left for the tracer's tables (is it limited, ulimit -v?)");
  if (slack == 0)
    return memory;
  memory += -(Addr)memory % HUGE_BYTES;
  ask_for_huge_pages(memory, bytes);
  return memory;
}

void *lmt_aligned(SizeT bytes)
{
  const Addr memory = (Addr)VG_(malloc)("lmt.aligned", bytes + 63);
  return (void *)((memory + 63) & ~(Addr)63);
}

/* ---- threads ---- */

void lmt_thread_counts(const lmt_thread *thread, uint64_t counts[LMT_COUNTS])
{
#define STATIC(name) counts[LMT_COUNT_##name] = thread->work.statics[LMT_##name];
#define FLOP(name) counts[LMT_COUNT_##name] = thread->work.flops[LMT_##name];
#define CORE(name) counts[LMT_COUNT_##name] = thread->core.counts.name;
  LMT_STATIC_COUNTS(STATIC)
  LMT_FLOP_COUNTS(FLOP)
  LMT_CORE_COUNTS(CORE)
#undef STATIC
#undef FLOP
#undef CORE
}

/* A number used again by a later thread stands for a core: its caches stay warm. */
static void run_thread(ThreadId id, ULong blocks_done)
{
  (void)blocks_done;
  if (tracer.options.one_core)
    id = 1;
  if (id == tracer.running_id || id >= LMT_THREADS)
    return;
  if (tracer.running != NULL)
    lmt_drain();
  if (tracer.threads[id] == NULL) {
    tracer.threads[id] = lmt_aligned(sizeof(lmt_thread));
    VG_(memset)(tracer.threads[id], 0, sizeof(lmt_thread));
    lmt_core_start(&tracer.model, &tracer.threads[id]->core);
  }
  tracer.running = tracer.threads[id];
  tracer.running_id = id;
  lmt_model_set_core(&tracer.model, &tracer.running->core);
}

/* ---- fork ---- */

/* A child counts from zero. Its caches stay as warm as its parent's were, and its objects are the parent's. Most
 * children exec at once: nothing is done until one does more. */
static void forget_parent(void)
{
  lmt_page_table *table = &tracer.table;
  const uint32_t end = table->leaf_count * LMT_LEAF_PAGES;
  tracer.is_fresh_child = False;
  for (uint32_t page = LMT_LEAF_PAGES; page < end; page++)
    if (table->owners[page].touched != 0) {
      lmt_page_clear(table, page);
      table->owners[page].touched = table->owners[page].released = 0;
    }
  for (UInt i = 0; i < LMT_THREADS; i++)
    if (tracer.threads[i] != NULL) {
      VG_(memset)(&tracer.threads[i]->work, 0, sizeof tracer.threads[i]->work);
      VG_(memset)(&tracer.threads[i]->core.counts, 0, sizeof tracer.threads[i]->core.counts);
      VG_(memset)(tracer.threads[i]->phase_base, 0, sizeof tracer.threads[i]->phase_base);
    }
  for (UInt phase = 0; phase < tracer.phase_count; phase++)
    VG_(memset)(tracer.phases[phase].counts, 0, sizeof tracer.phases[phase].counts);
  for (UInt i = 0; i < tracer.object_count; i++) {
    lmt_object *object = &tracer.objects[i];
    object->accesses = object->misses = object->first_time = object->last_use = 0;
    if (object->slice_misses != NULL)
      VG_(memset)(object->slice_misses, 0, LMT_SLICES * sizeof *object->slice_misses);
  }
  table->order = 0;
  tracer.retired_count = 0;
  tracer.now = 0;
  lmt_slices_start();
}

static void before_fork(ThreadId thread)
{
  (void)thread;
  lmt_drain();
}

static void in_child(ThreadId thread)
{
  (void)thread;
  tracer.is_fresh_child = True;
}

/* ---- draining ---- */

void lmt_drain(void)
{
  const uint64_t *begin, *end;
  if (tracer.is_fresh_child)
    forget_parent();
  lmt_buffer_take(&begin, &end);
  if (begin == end)
    return;
  const uint64_t before = tracer.running->work.statics[LMT_instructions];
  lmt_replay(&tracer.model, begin, end, &tracer.running->work);
  tracer.now += tracer.running->work.statics[LMT_instructions] - before;
  lmt_slices_advance();
}

/* ---- frame ---- */

static void start(void)
{
  lmt_page_table_start(&tracer.table, (lmt_page_events){.credit = lmt_object_credit, .retire = lmt_page_retire});
  lmt_objects_start();
  lmt_heap_start();
  lmt_phases_start();
  lmt_slices_start();
  lmt_model_start(&tracer.model, &tracer.options.model, &tracer.table);
  run_thread(1, 0);
  VG_(atfork)(before_fork, NULL, in_child);
}

static void finish(Int exit_code)
{
  (void)exit_code;
  lmt_drain();
  lmt_output_write(lmt_how_ended());
}

static void register_tool(void)
{
  VG_(details_name)("lamina");
  VG_(details_version)("1");
  VG_(details_description)("memory tracer: caches, pages, objects");
  VG_(details_copyright_author)("The Lamina authors; GNU GPL version 2 or later.");
  VG_(details_bug_reports_to)("the Lamina project");
  VG_(details_avg_translation_sizeB)(320);
  VG_(basic_tool_funcs)(start, lmt_instrument, finish);
  VG_(needs_command_line_options)(lmt_options_take, lmt_options_usage, lmt_options_debug_usage);
  VG_(track_start_client_code)(run_thread);
  lmt_options_default(&tracer.options);
  lmt_heap_register();
  lmt_syscalls_register();
  lmt_phases_register();
}

VG_DETERMINE_INTERFACE_VERSION(register_tool)
