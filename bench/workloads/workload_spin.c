/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed work that never leaves the first-level cache, which prints what it cost: "PROCESSOR-SECONDS WALL-SECONDS". What
 * observing adds to it is what observing costs; nothing of it hides behind waiting for memory. With BARE-HZ it has the
 * processor's clock interrupt it that often and nobody looks: the floor of any sampling at that rate.
 *
 *   workload_spin MILLION-ROUNDS [THREADS [BARE-HZ]] */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { VALUES = 512, MOST_THREADS = 64 };

typedef struct job {
  long rounds;
  double sum;
} job;

static void *spin(void *argument)
{
  job *mine = argument;
  double values[VALUES];
  for (int i = 0; i < VALUES; i++)
    values[i] = i;
  for (long n = 0; n < mine->rounds / VALUES; n++)
    for (int i = 1; i < VALUES; i++)
      values[i] = 0.5 * values[i] + 0.5 * values[i - 1];
  mine->sum = values[VALUES - 1];
  return NULL;
}

static double seconds_of(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* For this thread and those that it starts. No ring: the kernel drops what it would have written. */
static int interrupt_at(double hz)
{
  struct perf_event_attr attribute = {.size = sizeof attribute,
                                      .type = PERF_TYPE_SOFTWARE,
                                      .config = PERF_COUNT_SW_CPU_CLOCK,
                                      .sample_period = (unsigned long long)(1e9 / hz),
                                      .sample_type = PERF_SAMPLE_IP,
                                      .inherit = 1,
                                      .exclude_kernel = 1,
                                      .exclude_hv = 1};
  return (int)syscall(SYS_perf_event_open, &attribute, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int main(int count, char **arguments)
{
  const double millions = count > 1 ? strtod(arguments[1], NULL) : 0;
  const int threads = count > 2 ? atoi(arguments[2]) : 1;
  const double hz = count > 3 ? strtod(arguments[3], NULL) : 0;
  job jobs[MOST_THREADS];
  pthread_t handles[MOST_THREADS];
  double sum = 0;
  if (!(millions > 0 && millions < 1e9) || threads < 1 || threads > MOST_THREADS) {
    fprintf(stderr, "usage: workload_spin MILLION-ROUNDS [THREADS [BARE-HZ]], 1 to %d threads\n", MOST_THREADS);
    return 2;
  }
  if (hz > 0 && interrupt_at(hz) < 0) {
    perror("workload_spin: perf_event_open");
    return 1;
  }
  const double start = seconds_of(CLOCK_MONOTONIC);
  for (int i = 0; i < threads; i++) {
    jobs[i] = (job){.rounds = (long)(1e6 * millions)};
    if (pthread_create(&handles[i], NULL, spin, &jobs[i]) != 0)
      return 1;
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(handles[i], NULL);
    sum += jobs[i].sum;
  }
  printf("%.6f %.6f\n", seconds_of(CLOCK_PROCESS_CPUTIME_ID), seconds_of(CLOCK_MONOTONIC) - start);
  return sum < 0; /* never: the work must not be left out */
}
