/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that matter: mappings are objects, exec and exit end a profile, and what the kernel writes into a buffer
 * makes its pages resident (it is no access of the program and passes no cache). */
#include "tracer.h"

#include <asm/unistd_64.h>

#include "pub_tool_libcprint.h"

enum { MAP_FLAG_SHARED = 0x01, MAP_FLAG_FIXED = 0x10, MAP_FLAG_ANONYMOUS = 0x20, MAP_FLAG_STACK = 0x20000 };

static Bool has_exited;
static Int exit_code;

/* Private mappings of files and fixed ones are libraries being loaded: their pages are named when they are used. */
static void mapped(ThreadId thread, const UWord *args, Addr address)
{
  const UWord bytes = args[1], flags = args[3];
  const Bool is_data = (flags & (MAP_FLAG_ANONYMOUS | MAP_FLAG_SHARED)) != 0 && !(flags & MAP_FLAG_FIXED);
  if (!is_data)
    return;
  const UInt object = flags & MAP_FLAG_STACK ? tracer.stack_object : lmt_object_at_site(thread, LMT_MAPPED);
  lmt_object_allocated(object, address, bytes);
}

static void unmapped(Addr address, SizeT bytes)
{
  const UInt object = tracer.table.owners[lmt_page_id(&tracer.table, address)].object;
  if (object != 0 && tracer.objects[object].kind == LMT_MAPPED)
    lmt_object_freed(object, address, bytes);
  else
    lmt_page_release(&tracer.table, address, bytes);
}

static void remapped(const UWord *args, Addr moved)
{
  const UInt object = tracer.table.owners[lmt_page_id(&tracer.table, args[0])].object;
  if (object == 0)
    return;
  lmt_object_freed(object, args[0], args[1]);
  lmt_object_allocated(object, moved, args[2]);
}

/* The heap of a program whose malloc cannot be replaced: a static one, or one with an allocator of another name. */
static void break_moved(Addr end)
{
  static Addr known_end;
  if (known_end != 0 && end > known_end)
    lmt_object_allocated(
      lmt_object_named("heap by brk, not told apart (static program, or an allocator of another name)", LMT_HEAP),
      known_end, end - known_end);
  known_end = end > known_end ? end : known_end;
}

static void before_call(ThreadId thread, UInt number, UWord *args, UInt count)
{
  (void)thread, (void)count;
  if (number == __NR_execve || number == __NR_execveat) {
    lmt_drain();
    if (!tracer.is_fresh_child)
      lmt_output_write("exec");
  } else if (number == __NR_exit_group) {
    has_exited = True;
    exit_code = (Int)args[0] & 0xFF;
  }
}

static void after_call(ThreadId thread, UInt number, UWord *args, UInt count, SysRes result)
{
  (void)count;
  if (sr_isError(result))
    return;
  switch (number) {
  case __NR_mmap:
    lmt_drain();
    mapped(thread, args, sr_Res(result));
    break;
  case __NR_munmap:
    lmt_drain();
    unmapped(args[0], args[1]);
    break;
  case __NR_mremap:
    lmt_drain();
    remapped(args, sr_Res(result));
    break;
  case __NR_brk:
    lmt_drain();
    break_moved(sr_Res(result));
    break;
  default: break;
  }
}

static void kernel_wrote(CorePart part, ThreadId thread, Addr address, SizeT bytes)
{
  (void)thread;
  if (part != Vg_CoreSysCall || bytes == 0)
    return;
  const Addr last = address + bytes - 1;
  for (Addr page = address & ~(Addr)(LMT_PAGE_BYTES - 1); page <= last; page += LMT_PAGE_BYTES)
    lmt_page_touched(&tracer.table, lmt_page_id(&tracer.table, page));
}

void lmt_syscalls_register(void)
{
  VG_(needs_syscall_wrapper)(before_call, after_call);
  VG_(track_post_mem_write)(kernel_wrote);
}

const HChar *lmt_how_ended(void)
{
  static HChar text[32];
  if (!has_exited)
    return "signal"; /* which one, the launcher knows */
  VG_(sprintf)(text, "exit %d", exit_code);
  return text;
}
