/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the processes under observation while their records come in: mappings, objects, pages with their
 * samples. At the end each process (and each program image it ran) becomes one lamina_profile. */
#ifndef LMI_OBSERVED_H
#define LMI_OBSERVED_H

#include "base/base.h"
#include "code_file.h"
#include "lamina/memory_profile.h"

enum { LMI_OBSERVED_NO_OBJECT = 0, LMI_OBSERVED_MOST_OBJECTS = 4096, LMI_OBSERVED_MOST_PHASES = 1024 };

typedef enum lmi_mapping_kind {
  LMI_MAPPING_FILE,
  LMI_MAPPING_ANONYMOUS,
  LMI_MAPPING_HEAP,
  LMI_MAPPING_STACK,
  LMI_MAPPING_OTHER, /* vdso and the like */
} lmi_mapping_kind;

typedef struct lmi_mapping {
  uint64_t start, end, offset; /* offset in the file of `start` */
  lmi_mapping_kind kind;
  bool is_code;
  uint32_t file;   /* of the list of files; UINT32_MAX: none */
  uint32_t object; /* LMI_OBSERVED_NO_OBJECT until somebody touches it */
} lmi_mapping;

/* Objects of one allocation site are one: `function` is who touched a mapping first. */
typedef struct lmi_observed_object {
  lamina_object_kind kind;
  uint32_t file;
  uint64_t function; /* address as linked, 0: not of a site */
  char name[208];
  uint64_t blocks, bytes, accesses;
} lmi_observed_object;

/* Samples of one page in one phase. */
typedef struct lmi_observed_page {
  uint64_t number; /* plus one; 0: an empty place of the table */
  uint32_t object;
  uint32_t phase;
  uint64_t touched; /* place in the order of first touches; 0: not seen */
  uint64_t samples;
  int16_t tier_above; /* tier + 1; 0: not known */
} lmi_observed_page;

typedef struct lmi_observed_thread {
  uint32_t id;
  uint64_t samples;
} lmi_observed_thread;

/* One innermost phase from `time` on. */
typedef struct lmi_phase_change {
  uint64_t time;
  uint32_t phase;
} lmi_phase_change;

typedef struct lmi_observed_process {
  uint32_t pid, parent;
  int image; /* counts the programs this process ran, by exec */
  int rank;  /* MPI; -1: none */
  char *command;
  char ended[32];
  bool has_ended;
  uint64_t started, stopped; /* CLOCK_MONOTONIC, ns */
  lmi_mapping *mappings;     /* sorted, without overlap */
  size_t mapping_count, mapping_capacity;
  lmi_observed_object *objects; /* 0: other */
  size_t object_count, object_capacity;
  lmi_observed_page *pages; /* open addressing */
  size_t page_count, page_capacity;
  lmi_observed_thread *threads;
  size_t thread_count, thread_capacity;
  lmi_phase_change *changes;
  size_t change_count, change_capacity;
  uint32_t open_phases[64]; /* nested, by name index */
  size_t open_count;
  uint64_t touches, samples, unresolved;
  uint64_t peak_bytes;
  lamina_footprint_point *footprint;
  size_t footprint_count, footprint_capacity;
} lmi_observed_process;

typedef struct lmi_observed {
  lamina_context *ctx;
  lmi_code_files files;
  lmi_observed_process **processes;
  size_t process_count, process_capacity;
  char *phase_names[LMI_OBSERVED_MOST_PHASES]; /* 0: "(none)" */
  size_t phase_count;
  unsigned page_shift; /* 12, or 21 once there are too many pages */
} lmi_observed;

LAMINA_NODISCARD lamina_status lmi_observed_open(lamina_context *ctx, lmi_observed *observed);
void lmi_observed_close(lmi_observed *observed);

/* The running image of a process, or NULL. */
lmi_observed_process *lmi_observed_find(lmi_observed *observed, uint32_t pid);

/* A process that appeared: by fork (mappings are the parent's) or as the first. */
LAMINA_NODISCARD lamina_status lmi_observed_start(lmi_observed *observed, uint32_t pid, uint32_t parent, uint64_t time);
/* It runs another program now: the old image ends as "exec", a new one begins without mappings. */
LAMINA_NODISCARD lamina_status lmi_observed_exec(lmi_observed *observed, uint32_t pid, const char *command,
                                                 uint64_t time);
void lmi_observed_end(lmi_observed_process *process, const char *how, uint64_t time);

LAMINA_NODISCARD lamina_status lmi_observed_map(lmi_observed *observed, lmi_observed_process *process, uint64_t start,
                                                uint64_t bytes, uint64_t offset, bool is_code, const char *name);

/* Parts of the sorted list of mappings: position of the first that ends behind `address`; cutting a range out; putting
 * one in. */
size_t lmi_observed_first_behind(const lmi_observed_process *process, uint64_t address);
LAMINA_NODISCARD lamina_status lmi_observed_clear(lamina_context *ctx, lmi_observed_process *process, uint64_t start,
                                                  uint64_t end);
LAMINA_NODISCARD lamina_status lmi_observed_insert(lamina_context *ctx, lmi_observed_process *process, size_t at,
                                                   lmi_mapping mapping);

/* Bytes of code as the process sees them; for lmi_operand_walk. */
typedef struct lmi_code_view {
  lmi_observed *observed;
  lmi_observed_process *process;
} lmi_code_view;
size_t lmi_observed_code(void *view, uint64_t address, uint8_t *buffer, size_t size);

/* An access at `address` by code at `ip`: one sample. first_touch: a page fault. `stack` is the stack pointer, 0 when
 * unknown. */
typedef struct lmi_observed_access {
  uint64_t address, ip, time, stack;
  uint32_t tid;
  bool first_touch;
} lmi_observed_access;
LAMINA_NODISCARD lamina_status lmi_observed_take(lmi_observed *observed, lmi_observed_process *process,
                                                 const lmi_observed_access *access);

/* A sample without an address. */
LAMINA_NODISCARD lamina_status lmi_observed_count_thread(lmi_observed *observed, lmi_observed_process *process,
                                                         uint32_t tid);

/* Phase changes, and names that the program gives to arrays (phase.h). */
LAMINA_NODISCARD lamina_status lmi_observed_phase(lmi_observed *observed, lmi_observed_process *process,
                                                  const char *name, uint64_t time); /* name NULL: the innermost ends */
LAMINA_NODISCARD lamina_status lmi_observed_name(lmi_observed *observed, lmi_observed_process *process,
                                                 uint64_t address, uint64_t bytes, const char *name);
uint32_t lmi_observed_phase_at(const lmi_observed_process *process, uint64_t time);

LAMINA_NODISCARD lamina_status lmi_observed_footprint(lmi_observed *observed, lmi_observed_process *process,
                                                      const lamina_footprint_point *point);

/* Makes room for one more element of a growing array. */
LAMINA_NODISCARD lamina_status lmi_observed_grow(lamina_context *ctx, void **data, size_t *capacity, size_t count,
                                                 size_t size);

#endif
