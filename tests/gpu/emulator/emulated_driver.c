/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator.h"

enum { DEVICES = 2, CAPTURE_ERROR = 901, INVALID = 1, OUT_OF_MEMORY = 2, NONE = -1, MOST_ARGUMENTS = 4 };

struct emulated_entry {
  const char *name;
  int (*run)(void **arguments, const int *grid, const int *block, int backwards); /* 1: it has to wait */
  size_t bytes[MOST_ARGUMENTS];
};

/* ---- what is put on streams: nodes that wait for at most two others ---- */

typedef enum kind { MARK, SET, COPY, COPY_ROWS, LAUNCH } kind;

typedef struct node {
  kind kind;
  int before[2];
  bool done;
  uint64_t target, source;
  size_t bytes, rows, pitch, target_pitch;
  unsigned char value;
  const emulated_entry *function;
  unsigned char *arguments[MOST_ARGUMENTS];
  bool borrows; /* the arguments are a graph's */
  int grid[3], block[3];
} node;

struct graph {
  node *nodes;
  int count, room;
  int last; /* of a captured graph: what comes after it waits for this node */
};

struct stream {
  int last; /* node of the list it is in */
  bool captured;
};
struct event {
  int node;
  bool captured;
};
struct module {
  void *library;
  char path[64];
};

static graph pending;    /* what streams hold now */
static graph *capturing; /* or NULL */
static uint32_t dice = 12345;

static uint32_t roll(uint32_t sides)
{
  dice = dice * 1664525u + 1013904223u;
  return (dice >> 8) % sides;
}

static node *add_node(stream *s, kind what, int also_after)
{
  graph *list = s->captured ? capturing : &pending;
  if (list == NULL || (capturing != NULL && !s->captured))
    return NULL;
  if (list->count == list->room) {
    list->room = list->room > 0 ? 2 * list->room : 256;
    list->nodes = realloc(list->nodes, (size_t)list->room * sizeof *list->nodes);
  }
  node *n = &list->nodes[list->count];
  *n = (node){.kind = what, .before = {s->last, also_after}};
  s->last = list->count++;
  return n;
}

/* False when it has to wait for what another stream is to do. */
static bool run_node(const node *n)
{
  char *target = (char *)(uintptr_t)n->target;
  const char *source = (const char *)(uintptr_t)n->source;
  switch (n->kind) {
  case MARK: break;
  case SET: memset(target, n->value, n->bytes); break;
  case COPY: memcpy(target, source, n->bytes); break;
  case COPY_ROWS:
    for (size_t row = 0; row < n->rows; row++)
      memcpy(target + row * n->target_pitch, source + row * n->pitch, n->bytes);
    break;
  case LAUNCH: return n->function->run((void **)n->arguments, n->grid, n->block, (int)roll(2)) == 0;
  }
  return true;
}

static bool is_ready(const graph *g, const node *n)
{
  for (int i = 0; i < 2; i++)
    if (n->before[i] != NONE && !g->nodes[n->before[i]].done)
      return false;
  return !n->done;
}

/* In a random order that respects what each node waits for: among a window of the oldest that are left. */
static void run_graph(const graph *g)
{
  for (int i = 0; i < g->count; i++)
    g->nodes[i].done = false;
  int first = 0;
  while (first < g->count) {
    int ready[64], count = 0;
    for (int i = first; i < g->count && i < first + 4096 && count < 64; i++)
      if (is_ready(g, &g->nodes[i]))
        ready[count++] = i;
    for (bool ran = false; !ran;) {
      if (count == 0)
        abort(); /* all wait for each other */
      const uint32_t at = roll((uint32_t)count);
      node *chosen = &g->nodes[ready[at]];
      ran = chosen->done = run_node(chosen);
      ready[at] = ready[--count];
    }
    while (first < g->count && g->nodes[first].done)
      first++;
  }
}

static void free_nodes(graph *g)
{
  for (int i = 0; i < g->count; i++)
    for (int a = 0; a < MOST_ARGUMENTS && !g->nodes[i].borrows; a++)
      free(g->nodes[i].arguments[a]);
  free(g->nodes);
  *g = (graph){0};
}

/* Streams and events of the past need not be waited for any more. */
static stream *streams[256];
static event *events[256];

static void drain(void)
{
  run_graph(&pending);
  free_nodes(&pending);
  for (int i = 0; i < 256; i++) {
    if (streams[i] != NULL && !streams[i]->captured)
      streams[i]->last = NONE;
    if (events[i] != NULL && !events[i]->captured)
      events[i]->node = NONE;
  }
}

/* ---- the driver's interface ---- */

int cuInit(unsigned flags)
{
  const char *seed = getenv("EMULATOR_SEED");
  dice = seed != NULL ? (uint32_t)strtoul(seed, NULL, 10) : dice;
  return (int)flags;
}
int cuDriverGetVersion(int *version)
{
  *version = 13000;
  return 0;
}
int cuGetErrorName(int result, const char **text)
{
  *text = result == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_EMULATED";
  return 0;
}
int cuGetErrorString(int result, const char **text)
{
  *text = result == OUT_OF_MEMORY ? "out of memory" : "the emulator refuses";
  return 0;
}
int cuDeviceGetCount(int *count)
{
  *count = DEVICES;
  return 0;
}
int cuDeviceGet(int *device, int ordinal)
{
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char *name, int bytes, int device)
{
  snprintf(name, (size_t)bytes, "emulated device %d", device);
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
  (void)device;
  *value = attribute == 75 ? 9 : 0;
  return 0;
}
int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
  *can = device != peer;
  return 0;
}
int cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer)
{
  *value = attribute != 1 && device != peer;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device)
{
  static int contexts[DEVICES];
  *context = &contexts[device];
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device)
{
  return device < DEVICES ? 0 : INVALID;
}
static void *current;
int cuCtxSetCurrent(void *context)
{
  current = context;
  return 0;
}
int cuCtxGetCurrent(void **context)
{
  *context = current;
  return 0;
}
int cuCtxEnablePeerAccess(void *peer, unsigned flags)
{
  return peer != NULL ? (int)flags : INVALID;
}

static size_t taken;
static size_t capacity(void)
{
  const char *bytes = getenv("EMULATOR_BYTES");
  return bytes != NULL ? strtoull(bytes, NULL, 10) : (size_t)4 << 30;
}
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
  *total_bytes = capacity();
  *free_bytes = capacity() - taken;
  return 0;
}
int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
  if (bytes > capacity() - taken)
    return OUT_OF_MEMORY;
  size_t *block = aligned_alloc(256, (bytes + 511) / 256 * 256);
  block[0] = bytes;
  memset((char *)block + 256, 0xff, bytes);
  taken += bytes;
  *address = (uint64_t)(uintptr_t)block + 256;
  return 0;
}
int cuMemFree_v2(uint64_t address)
{
  drain();
  size_t *block = (size_t *)(uintptr_t)(address - 256);
  taken -= block[0];
  free(block);
  return 0;
}
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
  (void)flags;
  *memory = malloc(bytes);
  return *memory != NULL ? 0 : OUT_OF_MEMORY;
}
int cuMemFreeHost(void *memory)
{
  free(memory);
  return 0;
}
int cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned flags)
{
  *address = (uint64_t)(uintptr_t)memory;
  return (int)flags;
}

int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, stream *s)
{
  node *n = add_node(s, SET, NONE);
  if (n == NULL)
    return CAPTURE_ERROR;
  n->target = address;
  n->value = value;
  n->bytes = bytes;
  return 0;
}
static int add_copy(uint64_t target, uint64_t source, size_t bytes, stream *s)
{
  node *n = add_node(s, COPY, NONE);
  if (n == NULL)
    return CAPTURE_ERROR;
  n->target = target;
  n->source = source;
  n->bytes = bytes;
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t bytes, stream *s)
{
  return add_copy(target, (uint64_t)(uintptr_t)source, bytes, s);
}
int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t bytes, stream *s)
{
  return add_copy((uint64_t)(uintptr_t)target, source, bytes, s);
}
int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, stream *s)
{
  return add_copy(target, source, bytes, s);
}
int cuMemcpy2DAsync_v2(const copy_2d *copy, stream *s)
{
  if (copy->source_type != 4 || copy->target_type != 4 || copy->source_pitch < copy->bytes ||
      copy->target_pitch < copy->bytes)
    return INVALID;
  node *n = add_node(s, COPY_ROWS, NONE);
  if (n == NULL)
    return CAPTURE_ERROR;
  n->target = copy->target_device;
  n->source = copy->source_device;
  n->bytes = copy->bytes;
  n->rows = copy->rows;
  n->pitch = copy->source_pitch;
  n->target_pitch = copy->target_pitch;
  return 0;
}

int cuModuleLoadData(module **made, const void *image)
{
  size_t bytes;
  memcpy(&bytes, image, sizeof bytes);
  module *m = calloc(1, sizeof *m);
  strcpy(m->path, "/tmp/emulated_module.XXXXXX");
  const int descriptor = mkstemp(m->path);
  FILE *file = fdopen(descriptor, "wb");
  fwrite((const char *)image + sizeof bytes, 1, bytes, file);
  fclose(file);
  m->library = dlopen(m->path, RTLD_NOW | RTLD_LOCAL);
  unlink(m->path);
  *made = m;
  return m->library != NULL ? 0 : INVALID;
}
int cuModuleUnload(module *m)
{
  drain();
  dlclose(m->library);
  free(m);
  return 0;
}
int cuModuleGetFunction(const emulated_entry **function, module *m, const char *name)
{
  const emulated_entry *entry = dlsym(m->library, "emulated_entries");
  while (entry->name != NULL && strcmp(entry->name, name) != 0)
    entry++;
  *function = entry;
  return entry->name != NULL ? 0 : INVALID;
}
int cuFuncGetAttribute(int *value, int attribute, const emulated_entry *function)
{
  *value = 0;
  return attribute >= 0 && function != NULL ? 0 : INVALID;
}

int cuLaunchKernel(const emulated_entry *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, stream *s, void **arguments, void **extra)
{
  if (gx == 0 || gy == 0 || gz == 0 || gy > 65535 || gz > 65535 || bx * by * bz > 1024 || bz > 64 ||
      bx * by * bz == 0 || shared > 0 || extra != NULL)
    return INVALID;
  node *n = add_node(s, LAUNCH, NONE);
  if (n == NULL)
    return CAPTURE_ERROR;
  n->function = function;
  const unsigned sizes[6] = {gx, gy, gz, bx, by, bz};
  for (int i = 0; i < 3; i++) {
    n->grid[i] = (int)sizes[i];
    n->block[i] = (int)sizes[3 + i];
  }
  for (int a = 0; a < MOST_ARGUMENTS; a++)
    if (function->bytes[a] > 0) {
      n->arguments[a] = malloc(function->bytes[a]);
      memcpy(n->arguments[a], arguments[a], function->bytes[a]);
    }
  return 0;
}

int cuLaunchKernelEx(const launch_config *config, const emulated_entry *function, void **arguments, void **extra)
{
  return cuLaunchKernel(function, config->grid[0], config->grid[1], config->grid[2], config->block[0], config->block[1],
                        config->block[2], config->shared, config->s, arguments, extra);
}

/* ---- streams, events, graphs ---- */

int cuStreamCreate(stream **made, unsigned flags)
{
  stream *s = calloc(1, sizeof *s);
  s->last = NONE;
  for (int i = 0; i < 256; i++)
    if (streams[i] == NULL) {
      streams[i] = s;
      *made = s;
      return flags <= 1 ? 0 : INVALID;
    }
  return INVALID;
}
int cuStreamDestroy_v2(stream *s)
{
  drain();
  for (int i = 0; i < 256; i++)
    if (streams[i] == s)
      streams[i] = NULL;
  free(s);
  return 0;
}
int cuStreamSynchronize(stream *s)
{
  if (s->captured)
    return CAPTURE_ERROR;
  drain();
  return 0;
}
int cuStreamWaitEvent(stream *s, event *e, unsigned flags)
{
  if (e->captured && !s->captured) {
    s->captured = true;
    s->last = NONE;
  }
  if (capturing != NULL && s->captured && !e->captured)
    return CAPTURE_ERROR;
  return add_node(s, MARK, e->node) != NULL ? (int)flags : CAPTURE_ERROR;
}
int cuStreamBeginCapture_v2(stream *s, int mode)
{
  drain();
  capturing = calloc(1, sizeof *capturing);
  s->captured = true;
  s->last = NONE;
  return mode == 2 ? 0 : INVALID;
}
int cuStreamEndCapture(stream *s, graph **captured)
{
  capturing->last = s->last;
  for (int i = 0; i < 256; i++) {
    if (streams[i] != NULL && streams[i]->captured) {
      streams[i]->captured = false;
      streams[i]->last = NONE;
    }
    if (events[i] != NULL && events[i]->captured) {
      events[i]->captured = false;
      events[i]->node = NONE;
    }
  }
  *captured = capturing;
  capturing = NULL;
  return s != NULL ? 0 : INVALID;
}
int cuEventCreate(event **made, unsigned flags)
{
  event *e = calloc(1, sizeof *e);
  e->node = NONE;
  for (int i = 0; i < 256; i++)
    if (events[i] == NULL) {
      events[i] = e;
      *made = e;
      return flags <= 2 ? 0 : INVALID;
    }
  return INVALID;
}
int cuEventDestroy_v2(event *e)
{
  for (int i = 0; i < 256; i++)
    if (events[i] == e)
      events[i] = NULL;
  free(e);
  return 0;
}
int cuEventRecord(event *e, stream *s)
{
  if (add_node(s, MARK, NONE) == NULL)
    return CAPTURE_ERROR;
  e->node = s->last;
  e->captured = s->captured;
  return 0;
}
int cuEventSynchronize(event *e)
{
  drain();
  return e != NULL ? 0 : INVALID;
}
int cuEventElapsedTime(float *milliseconds, event *start, event *end)
{
  *milliseconds = 1.0f;
  return start != NULL && end != NULL ? 0 : INVALID;
}
int cuGraphInstantiateWithFlags(graph **made, graph *g, unsigned long long flags)
{
  graph *copy = calloc(1, sizeof *copy);
  *copy = *g;
  *g = (graph){0};
  *made = copy;
  return (int)flags;
}
/* Its nodes join what is pending, behind the stream's last. */
int cuGraphLaunch(graph *g, stream *s)
{
  const int behind = s->last, offset = pending.count;
  for (int i = 0; i < g->count; i++) {
    node *n = add_node(s, MARK, NONE);
    if (n == NULL)
      return CAPTURE_ERROR;
    *n = g->nodes[i];
    n->borrows = true;
    n->done = false;
    for (int b = 0; b < 2; b++)
      n->before[b] = n->before[b] == NONE ? behind : n->before[b] + offset;
  }
  s->last = g->last + offset;
  return 0;
}
int cuGraphExecDestroy(graph *g)
{
  drain();
  free_nodes(g);
  free(g);
  return 0;
}
int cuGraphDestroy(graph *g)
{
  free_nodes(g);
  free(g);
  return 0;
}
