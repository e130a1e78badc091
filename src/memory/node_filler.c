/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node_filler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sysfs.h"

enum { MOST_PIECES = 256, MASK_WORDS = 64, BIND = 2 };
static const uint64_t KEPT_BYTES = (uint64_t)64 << 20, EXACT_ENOUGH = (uint64_t)4 << 20;

static lamina_status free_bytes(lamina_context *ctx, int node, uint64_t *bytes)
{
  char path[96];
  lmi_text text = {0};
  snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", node);
  LMI_TRY(lmi_sysfs_whole(ctx, "", path, &text));
  const char *at = text.data != NULL ? strstr(text.data, "MemFree:") : NULL;
  *bytes = at != NULL ? strtoull(at + strlen("MemFree:"), NULL, 10) * 1024 : 0;
  lmi_text_free(ctx, &text);
  LMI_REQUIRE(ctx, at != NULL, LAMINA_UNAVAILABLE, "%s does not tell the free memory of NUMA node %d", path, node);
  return LAMINA_OK;
}

/* Bound before it is touched: the pages come from this node or not at all. */
static lamina_status take(lamina_context *ctx, int node, size_t bytes, lmi_node_filler *filler)
{
  unsigned long mask[MASK_WORDS] = {0};
  const size_t bits = 8 * sizeof *mask;
  mask[(size_t)node / bits] = 1UL << ((size_t)node % bits);
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return lmi_fail_errno(ctx, LAMINA_ERROR_MEMORY, errno, "%zu bytes to fill NUMA node %d", bytes, node);
  filler->pieces[filler->count].memory = memory;
  filler->pieces[filler->count++].bytes = bytes;
  if (syscall(SYS_mbind, memory, bytes, BIND, mask, MASK_WORDS * bits, 0) != 0)
    return lmi_fail_errno(ctx, LAMINA_UNAVAILABLE, errno, "memory cannot be bound to NUMA node %d", node);
  for (size_t at = 0; at < bytes; at += 4096)
    memory[at] = 1;
  filler->is_locked = mlock(memory, bytes) == 0 && filler->is_locked;
  return LAMINA_OK;
}

lamina_status lmi_node_filler_open(lamina_context *ctx, int node, uint64_t leave_bytes, lmi_node_filler *filler)
{
  *filler = (lmi_node_filler){.is_locked = true};
  LMI_REQUIRE(ctx, node >= 0 && (size_t)node < MASK_WORDS * 8 * sizeof(long), LAMINA_ERROR_ARGUMENT,
              "there is no NUMA node %d", node);
  LMI_TRY(lmi_alloc_array(ctx, MOST_PIECES, sizeof *filler->pieces, (void **)&filler->pieces));
  const uint64_t leave = leave_bytes > KEPT_BYTES ? leave_bytes : KEPT_BYTES;
  lamina_status status = LAMINA_OK;
  for (int round = 0; round < MOST_PIECES && status == LAMINA_OK; round++) {
    uint64_t left = 0;
    status = free_bytes(ctx, node, &left);
    if (status != LAMINA_OK || left < leave + EXACT_ENOUGH)
      break;
    /* Page tables and what others free meanwhile change the sum: nine tenths of the way at a time. */
    const uint64_t piece = (left - leave) / 10 * 9;
    status = take(ctx, node, (size_t)(piece & ~(uint64_t)4095), filler);
  }
  if (status != LAMINA_OK)
    lmi_node_filler_close(ctx, filler);
  return status;
}

void lmi_node_filler_close(lamina_context *ctx, lmi_node_filler *filler)
{
  for (size_t i = 0; i < filler->count; i++)
    munmap(filler->pieces[i].memory, filler->pieces[i].bytes);
  lmi_free(ctx, filler->pieces);
  *filler = (lmi_node_filler){0};
}
