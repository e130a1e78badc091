/* SPDX-License-Identifier: Apache-2.0 */
/* The mixed pattern on which the tracer's slow-down is quoted: two threads sweep a three-point stencil over arrays of
 * 32 MiB, then look up random words of a table of 64 MiB.
 *
 *   workload_mixed SWEEPS LOOKUPS        LOOKUPS a thread
 *
 * Loads of the phase "sweep": three a point, of "lookup": one a lookup. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <lamina/phase.h>

enum { POINTS = 4 << 20, WORDS = 8 << 20, THREADS = 2 };

typedef struct job {
  double *from, *to;
  uint64_t *table, sum;
  long sweeps, lookups, part;
} job;

static void *sweep(void *argument)
{
  const job *j = argument;
  const long begin = 1 + j->part * (POINTS / THREADS);
  const long end = j->part == THREADS - 1 ? POINTS - 1 : begin + POINTS / THREADS;
  for (long n = 0; n < j->sweeps; n++)
    for (long i = begin; i < end; i++)
      j->to[i] = 0.25 * j->from[i - 1] + 0.5 * j->from[i] + 0.25 * j->from[i + 1];
  return NULL;
}

static void *look_up(void *argument)
{
  job *j = argument;
  uint64_t state = 88172645463325252u + (uint64_t)j->part * 7919;
  for (long n = 0; n < j->lookups; n++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    j->sum += j->table[state % WORDS];
  }
  return NULL;
}

static int run(const char *phase, void *(*work)(void *), job jobs[THREADS])
{
  pthread_t threads[THREADS];
  int started = 0;
  lamina_phase_start(phase);
  while (started < THREADS && pthread_create(&threads[started], NULL, work, &jobs[started]) == 0)
    started++;
  for (int i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
  lamina_phase_stop();
  return started == THREADS;
}

int main(int count, char **arguments)
{
  const long sweeps = count > 1 ? strtol(arguments[1], NULL, 10) : -1;
  const long lookups = count > 2 ? strtol(arguments[2], NULL, 10) : -1;
  if (sweeps < 0 || lookups < 0) {
    fprintf(stderr, "usage: workload_mixed SWEEPS LOOKUPS\n");
    return 2;
  }
  double *from = malloc(POINTS * sizeof *from), *to = malloc(POINTS * sizeof *to);
  uint64_t *table = malloc(WORDS * sizeof *table);
  job jobs[THREADS];
  if (from == NULL || to == NULL || table == NULL) {
    fprintf(stderr, "workload_mixed: not enough memory\n");
    return 1;
  }
  for (long i = 0; i < POINTS; i++) {
    from[i] = (double)i;
    to[i] = 0;
  }
  for (long i = 0; i < WORDS; i++)
    table[i] = (uint64_t)i;
  for (int i = 0; i < THREADS; i++)
    jobs[i] = (job){.from = from, .to = to, .table = table, .sweeps = sweeps, .lookups = lookups, .part = i};
  if (!run("sweep", sweep, jobs) || !run("lookup", look_up, jobs)) {
    fprintf(stderr, "workload_mixed: a thread cannot be started\n");
    return 1;
  }
  printf("sum %llu %g\n", (unsigned long long)(jobs[0].sum + jobs[1].sum), to[POINTS / 2]);
  free(from);
  free(to);
  free(table);
  return 0;
}
