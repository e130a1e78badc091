/* SPDX-License-Identifier: Apache-2.0 */
/* What a placement can be seen on: a large cold block first, a hot one after it, each from a site of its own; then it
 * says on which nodes their pages lie, as the kernel's numa_maps has it.
 *
 *   placed_program COLD_MIB HOT_MIB [freed|kept]
 *
 * freed: the cold block is given back before the hot one is made. kept: both stay for some seconds, to be looked at. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NODES = 2 };

static volatile long sink;

static __attribute__((noinline)) char *make_cold(size_t bytes)
{
  char *memory = malloc(bytes);
  if (memory != NULL)
    memset(memory, 1, bytes);
  return memory;
}

static __attribute__((noinline)) char *make_hot(size_t bytes)
{
  char *memory = malloc(bytes);
  if (memory != NULL)
    memset(memory, 2, bytes);
  return memory;
}

/* Pages of the mappings that begin in the block, by node. */
static void print_nodes(const char *name, const char *block, size_t bytes)
{
  static char line[1 << 16];
  long pages[NODES] = {0};
  FILE *maps = fopen("/proc/self/numa_maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    const unsigned long start = strtoul(line, NULL, 16), first = (unsigned long)block & ~4095UL;
    if (start < first || start >= first + bytes)
      continue;
    for (int node = 0; node < NODES; node++) {
      char key[8];
      snprintf(key, sizeof key, " N%d=", node);
      const char *found = strstr(line, key);
      pages[node] += found != NULL ? strtol(found + strlen(key), NULL, 10) : 0;
    }
  }
  if (maps != NULL)
    fclose(maps);
  printf("%s N0=%ld N1=%ld\n", name, pages[0], pages[1]);
}

int main(int count, char **arguments)
{
  if (count < 3)
    return 2;
  const size_t cold_bytes = strtoul(arguments[1], NULL, 10) << 20, hot_bytes = strtoul(arguments[2], NULL, 10) << 20;
  const int is_freed = count > 3 && strcmp(arguments[3], "freed") == 0;
  char *cold = make_cold(cold_bytes);
  if (cold == NULL)
    return 1;
  if (is_freed)
    free(cold);
  (void)mmap(NULL, 64 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* else both could be one mapping */
  char *hot = make_hot(hot_bytes);
  if (hot == NULL)
    return 1;
  for (int round = 0; round < 4; round++)
    for (size_t i = 0; i < hot_bytes; i += 64)
      sink += hot[i];
  if (!is_freed)
    print_nodes("cold", cold, cold_bytes);
  print_nodes("hot", hot, hot_bytes);
  if (count > 3 && strcmp(arguments[3], "kept") == 0)
    sleep(4);
  return 0;
}
