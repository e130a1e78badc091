/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Phases: the program says when one begins and ends (lamina/trace.h). Phase 0 is the time outside any; nested ones
 * count for the innermost. Phases hold for the whole process. */
#include "tracer.h"

#include "pub_tool_clreq.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

/* As in lamina/trace.h. */
enum { PHASE_START = 0x4C4D0001, PHASE_STOP = 0x4C4D0002, NAME_OBJECT = 0x4C4D0003 };

void lmt_phase_collect(void)
{
  uint64_t *sums = tracer.phases[tracer.table.phase].counts;
  for (UInt i = 0; i < LMT_THREADS; i++) {
    lmt_thread *thread = tracer.threads[i];
    if (thread == NULL)
      continue;
    uint64_t counts[LMT_COUNTS];
    lmt_thread_counts(thread, counts);
    for (UInt count = 0; count < LMT_COUNTS; count++) {
      sums[count] += counts[count] - thread->phase_base[count];
      thread->phase_base[count] = counts[count];
    }
  }
}

static void enter(UInt phase)
{
  lmt_drain();
  lmt_phase_collect();
  lmt_page_table_set_phase(&tracer.table, phase);
}

static UInt phase_named(const HChar *name)
{
  for (UInt phase = 1; phase < tracer.phase_count; phase++)
    if (VG_(strcmp)(tracer.phases[phase].name, name) == 0)
      return phase;
  if (tracer.phase_count >= LMT_PHASES_MAX) {
    tracer.dropped_phases++;
    return 0;
  }
  tracer.phases[tracer.phase_count].name = VG_(strdup)("lmt.phase", name);
  return tracer.phase_count++;
}

static void start_phase(const HChar *name)
{
  const UInt phase = phase_named(name);
  if (tracer.phase_depth < LMT_PHASE_DEPTH)
    tracer.phase_stack[tracer.phase_depth] = tracer.table.phase;
  tracer.phase_depth++;
  enter(phase);
}

static void stop_phase(void)
{
  if (tracer.phase_depth == 0)
    return;
  tracer.phase_depth--;
  if (tracer.phase_depth < LMT_PHASE_DEPTH)
    enter(tracer.phase_stack[tracer.phase_depth]);
}

static void name_object(Addr address, SizeT bytes, const HChar *name)
{
  lmt_drain();
  lmt_object_allocated(lmt_object_named(name, LMT_NAMED), address, bytes);
}

static Bool take_request(ThreadId thread, UWord *arguments, UWord *result)
{
  (void)thread;
  switch (arguments[0]) {
  case PHASE_START: start_phase((const HChar *)arguments[1]); break;
  case PHASE_STOP: stop_phase(); break;
  case NAME_OBJECT: name_object(arguments[1], arguments[2], (const HChar *)arguments[3]); break;
  default: return False;
  }
  *result = 1;
  return True;
}

void lmt_phases_register(void)
{
  VG_(needs_client_requests)(take_request);
}

void lmt_phases_start(void)
{
  tracer.phases[0].name = VG_(strdup)("lmt.phase", "(none)");
  tracer.phase_count = 1;
}
