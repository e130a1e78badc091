/* SPDX-License-Identifier: Apache-2.0 */
/* Random lookups in a table: no stream to prefetch, hot pages and cold ones, latency decides (the shape of
 * XSBench).
 *
 *   workload_lookup MIB LOOKUPS         a table of MIB MiB, a small index in front of it
 *
 * Each lookup reads one word of a 64 KiB index and one of the table: 2 * LOOKUPS loads in the phase "lookup". */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <lamina/phase.h>

enum { INDEX_WORDS = 8192, MIB_MOST = 16384 };

/* A place in the table, by the fourth power of a uniform number: half of the lookups go to its first sixteenth. */
static size_t position(uint64_t random, uint64_t words)
{
  uint64_t part = random >> 32;
  part = part * part >> 32;
  part = part * part >> 32;
  return (size_t)(part * words >> 32);
}

int main(int count, char **arguments)
{
  const long mib = count > 1 ? strtol(arguments[1], NULL, 10) : 0;
  const long long lookups = count > 2 ? strtoll(arguments[2], NULL, 10) : -1;
  if (mib < 1 || mib > MIB_MOST || (mib & (mib - 1)) != 0 || lookups < 0) {
    fprintf(stderr, "usage: workload_lookup MIB LOOKUPS, MIB a power of two up to %d\n", MIB_MOST);
    return 2;
  }
  const size_t words = ((size_t)mib << 20) / sizeof(uint64_t);
  uint64_t *table = malloc(words * sizeof *table), *index = malloc(INDEX_WORDS * sizeof *index);
  if (table == NULL || index == NULL) {
    fprintf(stderr, "workload_lookup: not enough memory\n");
    return 1;
  }
  lamina_phase_start("fill");
  for (size_t i = 0; i < words; i++)
    table[i] = i;
  for (size_t i = 0; i < INDEX_WORDS; i++)
    index[i] = i * 0x9E3779B97F4A7C15u;
  lamina_phase_stop();
  lamina_phase_start("lookup");
  uint64_t state = 88172645463325252u, sum = 0;
  for (long long i = 0; i < lookups; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    sum += table[position(state ^ index[state % INDEX_WORDS], words)];
  }
  lamina_phase_stop();
  printf("sum %llu\n", (unsigned long long)sum);
  free(table);
  free(index);
  return 0;
}
