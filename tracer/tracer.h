/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the tracer and what its files offer one another. Valgrind's callbacks carry no user pointer, so there is
 * one `tracer`, defined in trace_main.c; everything that can be tested outside Valgrind (replay, caches, pages) takes
 * its state as an argument instead. */
#ifndef LMT_TRACER_H
#define LMT_TRACER_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "replay.h"

enum {
  LMT_BUFFER_WORDS = 4096, /* records are replayed when this many words are full */
  LMT_BLOCK_WORDS = 2048,  /* the most one superblock can append */
  LMT_THREADS = 512,       /* thread numbers of Valgrind (--max-threads) */
  LMT_SLICES = 64,
  LMT_FIRST_SLICE = 1 << 22, /* instructions; doubled whenever all slices are full */
  LMT_RETIRED_MAX = 2000000,
  LMT_PHASE_DEPTH = 64,
};

#define LMT_COUNT_LIST(X) LMT_STATIC_COUNTS(X) LMT_FLOP_COUNTS(X) LMT_CORE_COUNTS(X)
#define LMT_ENUMERATOR(name) LMT_COUNT_##name,
enum { LMT_COUNT_LIST(LMT_ENUMERATOR) LMT_COUNTS };
#undef LMT_ENUMERATOR

typedef struct lmt_options {
  lmt_model_options model;
  const HChar *folder;
  Bool one_core; /* all threads share one L1 and L2, as in cachegrind */
} lmt_options;

typedef struct lmt_thread {
  lmt_core core;
  lmt_work work;
  uint64_t phase_base[LMT_COUNTS]; /* counts when the current phase began */
} lmt_thread;

typedef struct lmt_phase {
  HChar *name;
  uint64_t counts[LMT_COUNTS];
} lmt_phase;

typedef enum lmt_kind { LMT_OTHER, LMT_HEAP, LMT_MAPPED, LMT_STATIC, LMT_STACK, LMT_NAMED } lmt_kind;

/* All blocks of one allocation site. */
typedef struct lmt_object {
  lmt_kind kind;
  UInt context; /* of the call stack (ECU); 0: none */
  HChar *name;  /* static, stack, named; NULL: made from the call stack */
  uint64_t blocks, live_blocks, bytes_total, bytes_live, bytes_peak;
  uint64_t first_time, last_use, last_release;
  uint64_t accesses, misses;
  uint64_t *slice_misses; /* LMT_SLICES of them, or NULL: none yet */
} lmt_object;

/* A page whose life ended before the program did. */
typedef struct lmt_retired {
  uint64_t address, touched, released, accesses;
  uint32_t misses, writebacks;
  uint16_t object, phase;
} lmt_retired;

typedef struct lmt_tracer {
  lmt_options options;
  lmt_model model;
  lmt_page_table table;
  lmt_thread *threads[LMT_THREADS];
  lmt_thread *running;
  ThreadId running_id;
  Bool is_fresh_child; /* after fork, until the child has done something of its own */
  lmt_phase phases[LMT_PHASES_MAX];
  UInt phase_count, phase_stack[LMT_PHASE_DEPTH], phase_depth;
  lmt_object *objects;
  UInt object_count, stack_object;
  lmt_retired *retired;
  UInt retired_count, retired_capacity;
  uint64_t retired_lost; /* page lives beyond LMT_RETIRED_MAX */
  uint64_t slice_length, slice_end;
  UInt slice;
  uint64_t now; /* instructions of all threads, as replayed */
  /* What the profile must say it lacks. */
  uint64_t dropped_accesses, dropped_phases, dropped_sites;
} lmt_tracer;

extern lmt_tracer tracer;

/* trace_main.c: replays what is buffered, for the running thread. */
void lmt_drain(void);
/* Memory on a 64-byte line, never released. */
void *lmt_aligned(SizeT bytes);
void lmt_thread_counts(const lmt_thread *thread, uint64_t counts[LMT_COUNTS]);

/* trace_options.c */
void lmt_options_default(lmt_options *options);
Bool lmt_options_take(const HChar *argument);
void lmt_options_usage(void);
void lmt_options_debug_usage(void);

/* trace_instrument.c: the buffer that translated code appends to, and the instrumentation itself. */
IRSB *lmt_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
                     const VexArchInfo *arch, IRType guest_word, IRType host_word);
/* The words since the last call; empties the buffer. */
void lmt_buffer_take(const uint64_t **begin, const uint64_t **end);

/* trace_block.c: descriptions of superblocks, equal ones kept once. */
const lmt_block *lmt_block_keep(const lmt_block *block);

/* trace_flops.c: the class and count of floating-point instructions of one expression, 0 when it is none. A fused
 * multiply-add counts twice, as the hardware's event does. */
UInt lmt_flops_of(const IRExpr *expression, enum lmt_flop *class);

/* trace_objects.c */
void lmt_objects_start(void);
UInt lmt_object_at_site(ThreadId thread, lmt_kind kind);
UInt lmt_object_named(const HChar *name, lmt_kind kind);
void lmt_object_allocated(UInt object, Addr address, SizeT bytes);
void lmt_object_freed(UInt object, Addr address, SizeT bytes);
/* Owner of a page nobody allocated: static data by its symbol, the stack, a mapped file. */
UInt lmt_object_classify(Addr address);
void lmt_object_credit(uint16_t object, uint32_t phase, uint64_t accesses, uint64_t misses);
void lmt_page_retire(lmt_page_table *table, uint32_t page);

/* *_register: before options are read; *_start: after. */
void lmt_heap_register(void);
void lmt_heap_start(void);

void lmt_syscalls_register(void);
/* "exit N", or "signal" when the program never asked to exit. */
const HChar *lmt_how_ended(void);

void lmt_phases_register(void);
void lmt_phases_start(void);
/* What was counted since the last call goes to the current phase. */
void lmt_phase_collect(void);

void lmt_slices_start(void);
void lmt_slices_walk(void); /* credits what pages gathered to their objects */
void lmt_slices_advance(void);

/* Writes the profile as it stands; a failure is said on the terminal and leaves the program alone. */
void lmt_output_write(const HChar *ended);

#endif
