/* SPDX-License-Identifier: Apache-2.0 */
/* A program whose accesses are known: known_traffic stencil|lookup|mixed|threads SECONDS. One access goes to
 *   stencil: a 1/4, b 3/4;   lookup: table 1;   mixed: a 1/5, b 3/5, table 1/5. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/phase.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ELEMENTS = 1 << 21 };

static double *a, *b, *table;

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

__attribute__((noinline)) static void stencil(void)
{
  for (size_t i = 1; i + 1 < ELEMENTS; i++)
    a[i] = 0.3 * (b[i - 1] + b[i] + b[i + 1]);
}

__attribute__((noinline)) static double lookup(uint64_t state)
{
  double sum = 0;
  for (size_t i = 0; i < ELEMENTS; i++) {
    state = state * UINT64_C(6364136223846793005) + 1;
    sum += table[(state >> 33) % ELEMENTS];
  }
  return sum;
}

__attribute__((noinline)) static void mixed(uint64_t state)
{
  for (size_t i = 1; i + 1 < ELEMENTS; i++) {
    state = state * UINT64_C(6364136223846793005) + 1;
    a[i] = 0.3 * (b[i - 1] + b[i] + b[i + 1]) + table[(state >> 33) % ELEMENTS];
  }
}

static double *make(const char *name)
{
  double *array = malloc(ELEMENTS * sizeof *array);
  if (array == NULL)
    exit(1);
  for (size_t i = 0; i < ELEMENTS; i++)
    array[i] = 1;
  lamina_phase_name_object(array, ELEMENTS * sizeof *array, name);
  return array;
}

static double run(const char *mode, double seconds)
{
  double sum = 0;
  const double end = now() + seconds;
  lamina_phase_start(mode);
  for (uint64_t round = 1; now() < end; round++) {
    if (strcmp(mode, "stencil") == 0)
      stencil();
    else if (strcmp(mode, "lookup") == 0)
      sum += lookup(round);
    else
      mixed(round);
  }
  lamina_phase_stop();
  return sum + a[5];
}

static void *stencil_thread(void *argument)
{
  const double end = now() + *(double *)argument;
  while (now() < end)
    stencil();
  return NULL;
}

int main(int argc, char **argv)
{
  double seconds = argc > 2 ? strtod(argv[2], NULL) : 0.5;
  const char *mode = argc > 1 ? argv[1] : "mixed";
  a = make("a");
  b = make("b");
  table = make("table");
  if (strcmp(mode, "threads") == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, stencil_thread, &seconds) != 0)
      return 1;
    stencil_thread(&seconds);
    pthread_join(thread, NULL);
    return 0;
  }
  return run(mode, seconds) < 0 ? 1 : 0;
}
