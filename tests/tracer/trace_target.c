/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a traced program may do to its tracer: one kind of trouble for each word. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  NUMBERS = 65536,
  CHILDREN = 40,
  MANY_CHILDREN = 1000,
  BLOCKS = 100000,
  MANY_BLOCKS = 10000000,
  JUMPS = 200,
  MAPPED_BYTES = 4 << 20
};

/* What C++ calls new and delete: of a size, of an array, with an alignment. */
void *_Znwm(size_t bytes);
void *_Znam(size_t bytes);
void *_ZnwmSt11align_val_t(size_t bytes, size_t alignment);
void _ZdlPv(void *memory);
void _ZdaPv(void *memory);
void _ZdlPvSt11align_val_t(void *memory, size_t alignment);

static const char *program;
static double numbers[NUMBERS];
static volatile double sink;
static volatile sig_atomic_t alarms;
static sigjmp_buf back;

/* NUMBERS stores, NUMBERS loads, NUMBERS additions. */
static int sum_numbers(void)
{
  double sum = 0;
  for (int i = 0; i < NUMBERS; i++)
    numbers[i] = i;
  __asm__ volatile("" : : "r"(numbers) : "memory");
  for (int i = 0; i < NUMBERS; i++)
    sum += numbers[i];
  sink = sum;
  return 0;
}

static int crash(void)
{
  (void)sum_numbers();
  *(volatile int *)(uintptr_t)8 = 1;
  return 0;
}

static int fork_children(int children)
{
  int failures = 0, status;
  for (int i = 0; i < children; i++) {
    const pid_t child = fork();
    if (child == 0)
      _exit(sum_numbers());
    failures += child < 0 || waitpid(child, &status, 0) != child || status != 0;
  }
  return failures != 0;
}

static int fork_some(void)
{
  return fork_children(CHILDREN);
}

static int fork_many(void)
{
  return fork_children(MANY_CHILDREN);
}

static void on_fault(int signal)
{
  (void)signal;
  siglongjmp(back, 1);
}

static int jump_out_of_handlers(void)
{
  volatile int jumps = 0;
  signal(SIGSEGV, on_fault);
  if (sigsetjmp(back, 1) != 0)
    jumps++;
  if (jumps < JUMPS)
    *(volatile int *)(uintptr_t)8 = 1;
  return sum_numbers();
}

static void on_alarm(int signal)
{
  (void)signal;
  alarms++;
}

static int take_signals(void)
{
  const struct itimerval often = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1000}};
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &often, NULL);
  while (alarms < 20)
    (void)sum_numbers();
  return 0;
}

/* Two sites whose blocks lie in turn on the same pages. */
static int allocate_small_blocks(void)
{
  static char *one[BLOCKS], *other[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    one[i] = malloc(24);
    other[i] = malloc(40);
    *one[i] = 1;
    *other[i] = 2;
  }
  for (int i = 0; i < BLOCKS; i++) {
    free(one[i]);
    free(other[i]);
  }
  return 0;
}

/* All of them alive at once, in a list through the blocks themselves. */
static int allocate_many_blocks(void)
{
  typedef struct link {
    struct link *next;
    uint64_t number;
  } link;
  link *head = NULL;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < MANY_BLOCKS; i++) {
    link *added = malloc(sizeof *added);
    if (added == NULL)
      return 1;
    *added = (link){head, i};
    head = added;
  }
  while (head != NULL) {
    link *next = head->next;
    sum += head->number;
    free(head);
    head = next;
  }
  return sum != (uint64_t)MANY_BLOCKS * (MANY_BLOCKS - 1) / 2;
}

/* Each call is a site of its own: 64 KiB written once each. */
static int allocate_every_way(void)
{
  enum { BYTES = 1 << 16, WAYS = 8 };
  void *memory[WAYS] = {malloc(BYTES), calloc(1, BYTES), aligned_alloc(4096, BYTES), NULL};
  if (posix_memalign(&memory[3], 64, BYTES) != 0)
    return 1;
  memory[4] = realloc(malloc(100), BYTES);
  memory[5] = _Znwm(BYTES);
  memory[6] = _Znam(BYTES);
  memory[7] = _ZnwmSt11align_val_t(BYTES, 256);
  for (int i = 0; i < WAYS; i++) {
    if (memory[i] == NULL)
      return 1;
    for (size_t at = 0; at < BYTES; at += 8)
      *(volatile uint64_t *)(void *)((char *)memory[i] + at) = at;
  }
  for (int i = 0; i < 5; i++)
    free(memory[i]);
  _ZdlPv(memory[5]);
  _ZdaPv(memory[6]);
  _ZdlPvSt11align_val_t(memory[7], 256);
  return 0;
}

/* 2 MiB pages if the kernel gives some, and advice for them where it does not. */
static int use_huge_pages(void)
{
  enum { HUGE_BYTES = 8 << 20 };
  char *memory = mmap(NULL, HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (memory == MAP_FAILED)
    memory = mmap(NULL, HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return 1;
  (void)madvise(memory, HUGE_BYTES, MADV_HUGEPAGE);
  for (size_t at = 0; at < HUGE_BYTES; at += 64)
    memory[at] = 1;
  return 0;
}

static int load_libraries(void)
{
  for (int i = 0; i < 20; i++) {
    void *library = dlopen("libm.so.6", RTLD_NOW);
    if (library == NULL)
      return 1;
    dlclose(library);
  }
  return sum_numbers();
}

static int map_memory(void)
{
  for (int i = 0; i < 3; i++) {
    char *memory = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return 1;
    for (size_t at = 0; at < MAPPED_BYTES; at += 64)
      memory[at] = 1;
    munmap(memory, MAPPED_BYTES);
  }
  return 0;
}

static int exec_self(void)
{
  (void)sum_numbers();
  execl(program, program, "sum", (char *)NULL);
  return 1;
}

int main(int count, char **arguments)
{
  static const struct {
    const char *word;
    int (*act)(void);
  } acts[] = {{"sum", sum_numbers},
              {"crash", crash},
              {"fork", fork_some},
              {"fork1000", fork_many},
              {"jump", jump_out_of_handlers},
              {"signals", take_signals},
              {"blocks", allocate_small_blocks},
              {"blocks10m", allocate_many_blocks},
              {"ways", allocate_every_way},
              {"huge", use_huge_pages},
              {"dlopen", load_libraries},
              {"mmap", map_memory},
              {"exec", exec_self}};
  program = arguments[0];
  for (size_t i = 0; count > 1 && i < sizeof acts / sizeof acts[0]; i++)
    if (strcmp(arguments[1], acts[i].word) == 0)
      return acts[i].act();
  return 2;
}
