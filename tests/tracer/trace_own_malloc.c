/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that brings its own malloc (and, linked statically, one without a C library to preload into): two sites of
 * 64 and 32 KiB, each written once. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef TARGET_OWN_MALLOC
static char arena[8 << 20] __attribute__((aligned(64)));
static size_t used;

void *malloc(size_t bytes)
{
  char *memory = arena + used;
  const size_t whole = (bytes + 63) & ~(size_t)63;
  if (whole < bytes || whole > sizeof arena - used)
    return NULL;
  used += whole;
  return memory;
}

void *calloc(size_t count, size_t size)
{
  return malloc(count * size); /* fresh memory of the arena is zero, and nothing comes back */
}

void *realloc(void *memory, size_t bytes)
{
  char *moved = malloc(bytes);
  if (moved != NULL && memory != NULL)
    for (size_t i = 0; i < bytes && (char *)memory + i < moved; i++)
      moved[i] = ((char *)memory)[i];
  return moved;
}

void free(void *memory)
{
  (void)memory;
}
#else
#include <stdlib.h>
#endif

static __attribute__((noinline)) volatile uint64_t *make_large(void)
{
  return malloc(1 << 16);
}

static __attribute__((noinline)) volatile uint64_t *make_small(void)
{
  return malloc(1 << 15);
}

int main(void)
{
  volatile uint64_t *large = make_large(), *small = make_small();
  if (large == NULL || small == NULL)
    return 1;
  for (size_t i = 0; i < (1 << 16) / sizeof *large; i++)
    large[i] = i;
  for (size_t i = 0; i < (1 << 15) / sizeof *small; i++)
    small[i] = i;
  return 0;
}
