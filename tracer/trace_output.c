/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile file: text, one record a line, blanks between fields, texts percent-escaped;
 * docs/dev/memory-profile-format.md describes it. It is written beside its final name and then renamed, and its last
 * line says how long it must be. */
#include "tracer.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_execontext.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

enum { BUFFER_BYTES = 1 << 16, LINE_MAX_BYTES = 512, PATH_BYTES = 4096, FRAMES_MAX = 24 };

typedef struct writer {
  Int file;
  Bool has_failed;
  UInt used;
  uint64_t bytes, lines;
  HChar buffer[BUFFER_BYTES];
} writer;

static writer out;

static void flush(void)
{
  UInt done = 0;
  while (done < out.used && !out.has_failed) {
    const Int written = VG_(write)(out.file, out.buffer + done, (Int)(out.used - done));
    out.has_failed = written <= 0;
    done += written > 0 ? (UInt)written : 0;
  }
  out.used = 0;
}

static void put_char(HChar c)
{
  if (out.used == BUFFER_BYTES)
    flush();
  out.buffer[out.used++] = c;
  out.bytes++;
  out.lines += c == '\n';
}

static void put_text(const HChar *text)
{
  for (; *text != '\0'; text++)
    put_char(*text);
}

static void PRINTF_CHECK(1, 2) put(const HChar *format, ...)
{
  HChar line[LINE_MAX_BYTES];
  va_list arguments;
  va_start(arguments, format);
  VG_(vsnprintf)(line, sizeof line, format, arguments);
  va_end(arguments);
  put_text(line);
}

/* A field of free text: what would end it, and the escape itself, as %XX. An empty text is "%". */
static void put_escaped(const HChar *text)
{
  static const HChar digits[] = "0123456789ABCDEF";
  if (*text == '\0')
    put_char('%');
  for (; *text != '\0'; text++) {
    const UChar c = (UChar)*text;
    if (c > ' ' && c != '%' && c != 0x7F) {
      put_char((HChar)c);
      continue;
    }
    put_char('%');
    put_char(digits[c >> 4]);
    put_char(digits[c & 15]);
  }
}

/* ---- sections ---- */

static void put_model(void)
{
  const lmt_model_options *model = &tracer.options.model;
  const HChar *prefetch = model->l2.sets == 0                                  ? "none"
                          : model->stream_prefetch && model->adjacent_prefetch ? "stream and adjacent line"
                          : model->stream_prefetch                             ? "stream"
                          : model->adjacent_prefetch                           ? "adjacent line"
                                                                               : "none";
  HChar text[LINE_MAX_BYTES];
  VG_(snprintf)
  (text, sizeof text, "L1 %u KiB %u ways, L2 %u KiB %u ways, LLC %u KiB %u ways, LRU, prefetcher: %s%s",
   model->l1.sets * model->l1.ways / 16, model->l1.ways, model->l2.sets * model->l2.ways / 16, model->l2.ways,
   model->llc.sets * model->llc.ways / 16, model->llc.ways, prefetch,
   tracer.options.one_core ? ", one L1 and L2 for all threads" : "");
  put_text("model ");
  put_escaped(text);
  put_char('\n');
}

static void put_counts(const HChar *keyword, const uint64_t counts[LMT_COUNTS])
{
#define NAME(name) #name,
  static const HChar *const names[] = {LMT_COUNT_LIST(NAME)};
#undef NAME
  put_text(keyword);
  for (UInt count = 0; count < LMT_COUNTS; count++)
    put(" %s=%llu", names[count], (ULong)counts[count]);
  put_char('\n');
}

static Int rank(void)
{
  static const HChar *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  for (UInt i = 0; i < sizeof variables / sizeof variables[0]; i++) {
    const HChar *text = VG_(getenv)(variables[i]);
    if (text != NULL)
      return (Int)VG_(strtoll10)(text, NULL);
  }
  return -1;
}

static void put_command(void)
{
  put_escaped(VG_(args_the_exename));
  for (Int i = 0; i < VG_(sizeXA)(VG_(args_for_client)); i++) {
    put_text("%20");
    put_escaped(*(HChar **)VG_(indexXA)(VG_(args_for_client), i));
  }
}

static uint64_t touched_pages(void)
{
  uint64_t pages = 0;
  const uint32_t end = tracer.table.leaf_count * LMT_LEAF_PAGES;
  for (uint32_t page = LMT_LEAF_PAGES; page < end; page++)
    pages += tracer.table.owners[page].touched != 0;
  return pages;
}

static void put_process(const HChar *ended)
{
  uint64_t total[LMT_COUNTS] = {0};
  put("process %d %d %d %llu ", VG_(getpid)(), VG_(getppid)(), rank(), (ULong)(touched_pages() * LMT_PAGE_BYTES));
  put_escaped(ended);
  put_char(' ');
  put_command();
  put_char('\n');
  for (UInt phase = 0; phase < tracer.phase_count; phase++)
    for (UInt count = 0; count < LMT_COUNTS; count++)
      total[count] += tracer.phases[phase].counts[count];
  put_counts("process_counts", total);
}

static void put_phases_and_threads(void)
{
  for (UInt phase = 0; phase < tracer.phase_count; phase++) {
    put_text("phase ");
    put_escaped(tracer.phases[phase].name);
    put_text(" -\n");
    put_counts("phase_counts", tracer.phases[phase].counts);
  }
  for (UInt i = 0; i < LMT_THREADS; i++)
    if (tracer.threads[i] != NULL) {
      uint64_t counts[LMT_COUNTS];
      lmt_thread_counts(tracer.threads[i], counts);
      put("thread %u\n", i);
      put_counts("thread_counts", counts);
    }
}

/* ---- objects ---- */

/* "function (file.c:12)" of an address of code; functions that were inlined there follow, from the inside out, each
 * behind " < ". At most `levels` of them; returns how many there were. */
static UInt describe_code(DiEpoch epoch, Addr ip, UInt levels, HChar *text, SizeT bytes)
{
  UInt level = 0;
  SizeT used = VG_(strlen)(text);
  InlIPCursor *cursor = VG_(new_IIPC)(epoch, ip);
  do {
    const HChar *line = VG_(describe_IP)(epoch, ip, cursor);
    const HChar *words = VG_(strstr)(line, ": "); /* behind the address */
    VG_(snprintf)(text + used, (Int)(bytes - used), "%s%s", used > 0 ? " < " : "", words != NULL ? words + 2 : line);
    used = VG_(strlen)(text);
  } while (++level < levels && used + 1 < bytes && VG_(next_IIPC)(cursor));
  VG_(delete_IIPC)(cursor);
  return level;
}

/* Frames of the allocator itself, or of the C library's mmap, say nothing. */
static Bool is_allocator(DiEpoch epoch, Addr ip)
{
  static const HChar *const functions[] = {"mmap", "mmap64", "__mmap", "__mmap64", "mremap"};
  const HChar *text;
  if (VG_(get_objname)(epoch, ip, &text) && VG_(strstr)(text, "vgpreload_") != NULL)
    return True;
  if (VG_(get_fnname)(epoch, ip, &text))
    for (UInt i = 0; i < sizeof functions / sizeof functions[0]; i++)
      if (VG_(strcmp)(text, functions[i]) == 0)
        return True;
  return False;
}

static void put_frame(DiEpoch epoch, Addr ip)
{
  HChar text[LINE_MAX_BYTES] = "";
  const DebugInfo *info = VG_(find_DebugInfo)(epoch, ip);
  (void)describe_code(epoch, ip, FRAMES_MAX, text, sizeof text);
  put("frame %llx ", (ULong)(info != NULL ? ip - (Addr)VG_(DebugInfo_get_text_bias)(info) : ip));
  put_escaped(info != NULL ? VG_(DebugInfo_get_filename)(info) : "?");
  put_char(' ');
  put_escaped(text);
  put_char('\n');
}

/* Call stack of an object without the allocator's frames. */
typedef struct call_stack {
  UInt count;
  DiEpoch epoch;
  Addr ips[FRAMES_MAX];
} call_stack;

static void collect_frame(UInt number, DiEpoch epoch, Addr ip, void *collected)
{
  call_stack *stack = collected;
  (void)number;
  if (stack->count == FRAMES_MAX || (stack->count == 0 && is_allocator(epoch, ip)))
    return;
  stack->epoch = epoch;
  stack->ips[stack->count++] = ip;
}

/* The two innermost functions of the stack: one alone is often the program's own wrapper of malloc. */
static void name_site(const call_stack *stack, HChar *name, SizeT bytes)
{
  enum { FUNCTIONS = 2 };
  UInt told = 0;
  name[0] = '\0';
  for (UInt i = 0; i < stack->count && told < FUNCTIONS; i++)
    told += describe_code(stack->epoch, stack->ips[i], FUNCTIONS - told, name, bytes);
}

static void put_slices(const lmt_object *object)
{
  if (object->slice_misses == NULL)
    return;
  put_text("slice_misses");
  for (UInt slice = 0; slice < LMT_SLICES; slice++)
    if (object->slice_misses[slice] > 0)
      put(" %u=%llu", slice, (ULong)object->slice_misses[slice]);
  put_char('\n');
}

static void put_object(const lmt_object *object)
{
  static const HChar *const kinds[] = {"other", "heap", "mapped", "static", "stack", "named"};
  HChar name[LINE_MAX_BYTES] = "(other)";
  call_stack stack = {0};
  if (object->context != 0)
    VG_(apply_ExeContext)(collect_frame, &stack, VG_(get_ExeContext_from_ECU)(object->context));
  if (object->name != NULL)
    VG_(strncpy)(name, object->name, sizeof name - 1);
  else if (stack.count > 0)
    name_site(&stack, name, sizeof name);
  put("object %s %llu %llu %llu %llu %llu ", kinds[object->kind], (ULong)object->blocks, (ULong)object->bytes_total,
      (ULong)object->bytes_peak, (ULong)object->first_time, (ULong)object->last_use);
  if (object->blocks > 0 && object->live_blocks == 0)
    put("%llu ", (ULong)object->last_release);
  else
    put_text("- ");
  put("%llu %llu - ", (ULong)object->accesses, (ULong)object->misses);
  put_escaped(name);
  put_char('\n');
  for (UInt i = 0; i < stack.count && object->bytes_peak >= LMT_PAGE_BYTES; i++)
    put_frame(stack.epoch, stack.ips[i]); /* sites that never held a page cannot be placed: their name is enough */
  put_slices(object);
}

/* ---- pages ---- */

static void put_page_head(Addr address, uint64_t touched, uint64_t released, UInt object)
{
  put("page %llx %llu %llu %u -", (ULong)(address / LMT_PAGE_BYTES), (ULong)touched, (ULong)released, object);
}

static void put_page_counts(UInt phase, uint64_t accesses, UInt misses, UInt writebacks)
{
  put(" %u:%llu:%u:%u", phase, (ULong)accesses, misses, writebacks);
}

static void put_pages(void)
{
  const lmt_page_table *table = &tracer.table;
  const uint32_t end = table->leaf_count * LMT_LEAF_PAGES;
  for (uint32_t page = LMT_LEAF_PAGES; page < end; page++) {
    const lmt_owner *owner = &table->owners[page];
    if (owner->touched == 0)
      continue;
    put_page_head(lmt_page_address(table, page), owner->touched, owner->released, lmt_page_main_object(table, page));
    for (UInt phase = 0; phase < table->phase_count; phase++) {
      lmt_page_counts counts;
      if (lmt_page_get(table, phase, page, &counts))
        put_page_counts(phase, counts.accesses, counts.misses, counts.writebacks);
    }
    put_char('\n');
  }
}

/* Records of one life follow each other. */
static void put_retired(void)
{
  for (UInt i = 0; i < tracer.retired_count; i++) {
    const lmt_retired *life = &tracer.retired[i];
    const Bool continues = i > 0 && life[-1].address == life->address && life[-1].touched == life->touched;
    if (!continues) {
      if (i > 0)
        put_char('\n');
      put_page_head(life->address, life->touched, life->released, life->object);
    }
    put_page_counts(life->phase, life->accesses, life->misses, life->writebacks);
  }
  if (tracer.retired_count > 0)
    put_char('\n');
}

/* ---- what the profile lacks ---- */

static void put_remark(uint64_t count, const HChar *text)
{
  HChar line[LINE_MAX_BYTES];
  if (count == 0)
    return;
  VG_(snprintf)(line, sizeof line, text, (ULong)count);
  put_text("remark ");
  put_escaped(line);
  put_char('\n');
}

static void put_remarks(void)
{
  put_remark(
    1, "threads were run one at a time in fair turns (--fair-sched=yes if started by lamina): what they share in the "
       "last-level cache depends on that order");
  put_remark(tracer.dropped_accesses, "%llu accesses of very long superblocks were not traced at translation");
  put_remark(tracer.dropped_phases, "%llu phase starts beyond 31 different phases count as (none)");
  put_remark(tracer.dropped_sites, "%llu allocation sites beyond 65534 count as (other)");
  put_remark(tracer.retired_lost, "%llu page lives beyond 2 million were dropped from the page list; totals hold them");
  put_remark(tracer.table.unmixed_pages, "%llu pages shared by objects are attributed to the last of them");
  put_remark(tracer.table.aliased_touches, "%llu regions of 16 MiB beyond 64 GiB touched share one set of page counts");
}

/* ---- the file ---- */

/* DIR/process.PID.profile, or .PID.N.profile for the images a process became by exec. */
static Bool final_path(HChar path[PATH_BYTES])
{
  static Int pid;
  static HChar kept[PATH_BYTES];
  if (pid != VG_(getpid)()) {
    struct vg_stat status;
    pid = VG_(getpid)();
    VG_(snprintf)(kept, sizeof kept, "%s/process.%d.profile", tracer.options.folder, pid);
    for (UInt n = 1; n < 10000 && !sr_isError(VG_(stat)(kept, &status)); n++)
      VG_(snprintf)(kept, sizeof kept, "%s/process.%d.%u.profile", tracer.options.folder, pid, n);
  }
  VG_(strcpy)(path, kept);
  return VG_(strlen)(path) + 16 < PATH_BYTES;
}

static void write_sections(const HChar *ended)
{
  put("lamina-profile 1\nsource trace\nsample_period 0\nsample_count -\npage_bytes %u\n", LMT_PAGE_BYTES);
  put_model();
  put("slices %u %llu\n", tracer.slice + 1, (ULong)tracer.slice_length);
  put_process(ended);
  put_phases_and_threads();
  for (UInt object = 0; object < tracer.object_count; object++)
    put_object(&tracer.objects[object]);
  put_retired();
  put_pages();
  put_remarks();
  put("end %llu %llu\n", (ULong)out.lines, (ULong)out.bytes);
}

void lmt_output_write(const HChar *ended)
{
  static HChar path[PATH_BYTES], partial[PATH_BYTES];
  if (!final_path(path))
    return;
  VG_(snprintf)(partial, sizeof partial, "%s.partial", path);
  lmt_phase_collect();
  lmt_slices_walk();
  out.file = VG_(fd_open)(partial, VKI_O_CREAT | VKI_O_WRONLY | VKI_O_TRUNC, 0666);
  if (out.file < 0) {
    VG_(umsg)("lamina: cannot write %s: no profile of this process\n", partial);
    return;
  }
  out.has_failed = False;
  out.used = 0;
  out.bytes = out.lines = 0;
  write_sections(ended);
  flush();
  VG_(close)(out.file);
  if (out.has_failed || VG_(rename)(partial, path) != 0) {
    VG_(unlink)(partial);
    VG_(umsg)("lamina: writing %s failed (disk full?): no profile of this process\n", path);
  }
}
