/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "perf_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sysfs.h"

/* Users without rights may lock about 128 pages a processor (perf_event_mlock_kb); with rights, more is better. */
enum { MODEST_PAGES = 64, GENEROUS_PAGES = 1024, MOST_RECORD_BYTES = 65536 };

typedef struct event_ring {
  int fds[LMI_PERF_MOST_EVENTS];
  uint64_t ids[LMI_PERF_MOST_EVENTS];
  struct perf_event_mmap_page *map;
  size_t data_bytes;
  int cpu;
} event_ring;

/* A record that was taken from a ring and waits for its turn. */
typedef struct pending {
  uint64_t time;
  size_t offset;  /* in `store` */
  uint64_t order; /* keeps records of equal time in their order */
} pending;

struct lmi_perf_set {
  lamina_context *ctx;
  struct perf_event_attr attributes[LMI_PERF_MOST_EVENTS];
  size_t event_count;
  event_ring *rings;
  size_t ring_count;
  struct pollfd *polls;
  char *store; /* copies of records, 8-byte aligned */
  size_t store_bytes, store_capacity;
  pending *queue;
  size_t queue_count, queue_capacity;
  uint64_t lost, order;
};

int lmi_perf_event_open(struct perf_event_attr *attribute, pid_t pid, int cpu, int group, unsigned long flags)
{
  return (int)syscall(SYS_perf_event_open, attribute, pid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);
}

uint64_t lmi_monotonic_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool map_ring(event_ring *ring, size_t page_bytes, size_t pages)
{
  void *map = mmap(NULL, (pages + 1) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fds[0], 0);
  if (map == MAP_FAILED)
    return false;
  ring->map = map;
  ring->data_bytes = pages * page_bytes;
  return true;
}

/* All events of one processor share its first event's ring. 0, or an errno value. */
static int open_ring(lmi_perf_set *set, event_ring *ring, pid_t pid, int cpu)
{
  const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  ring->cpu = cpu;
  for (size_t i = 0; i < set->event_count; i++) {
    ring->fds[i] = lmi_perf_event_open(&set->attributes[i], pid, cpu, -1, 0);
    if (ring->fds[i] < 0 || ioctl(ring->fds[i], PERF_EVENT_IOC_ID, &ring->ids[i]) != 0)
      return errno;
    if (i == 0) {
      if (!map_ring(ring, page_bytes, GENEROUS_PAGES) && !map_ring(ring, page_bytes, MODEST_PAGES))
        return errno;
    } else if (ioctl(ring->fds[i], PERF_EVENT_IOC_SET_OUTPUT, ring->fds[0]) != 0) {
      return errno;
    }
  }
  return 0;
}

static void prepare(struct perf_event_attr *attribute, bool is_first)
{
  attribute->size = sizeof *attribute;
  attribute->use_clockid = 1;
  attribute->clockid = CLOCK_MONOTONIC;
  attribute->sample_id_all = 1;
  attribute->inherit = 1;
  attribute->sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attribute->watermark = 1;
  attribute->wakeup_watermark = MODEST_PAGES / 2 * 4096;
  if (is_first) { /* one event tells about mappings, names, forks and ends */
    attribute->mmap = attribute->mmap2 = attribute->mmap_data = 1;
    attribute->comm = attribute->comm_exec = attribute->task = 1;
  }
}

static lamina_status open_all(lmi_perf_set *set, pid_t pid, const lmi_id_list *online, int *error_number)
{
  lamina_context *ctx = set->ctx;
  LMI_TRY(LMI_ALLOC(ctx, online->count, &set->rings));
  LMI_TRY(LMI_ALLOC(ctx, online->count + LMI_PERF_MOST_OTHERS, &set->polls));
  for (size_t i = 0; i < online->count; i++)
    for (size_t k = 0; k < LMI_PERF_MOST_EVENTS; k++)
      set->rings[i].fds[k] = -1;
  set->ring_count = online->count;
  for (size_t i = 0; i < online->count; i++) {
    *error_number = open_ring(set, &set->rings[i], pid, online->ids[i]);
    if (*error_number != 0)
      return lmi_fail_errno(ctx, LAMINA_UNAVAILABLE, *error_number, "events of process %d on processor %d", (int)pid,
                            online->ids[i]);
    set->polls[i] = (struct pollfd){.fd = set->rings[i].fds[0], .events = POLLIN};
  }
  return LAMINA_OK;
}

lamina_status lmi_perf_set_open(lamina_context *ctx, struct perf_event_attr *attributes, size_t count, pid_t pid,
                                lmi_perf_set **set, int *error_number)
{
  *set = NULL;
  *error_number = 0;
  lmi_perf_set *made = NULL;
  lmi_id_list online = {0};
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  made->event_count = count;
  for (size_t i = 0; i < count; i++) {
    prepare(&attributes[i], i == 0);
    made->attributes[i] = attributes[i];
  }
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lmi_id_list_read(ctx, "", "/sys/devices/system/cpu/online", &online), cleanup);
  if (online.count == 0)
    LMI_TRY_GOTO(status, lmi_id_list_parse(ctx, "0", &online), cleanup);
  LMI_TRY_GOTO(status, open_all(made, pid, &online, error_number), cleanup);
  *set = made;
cleanup:
  lmi_id_list_free(ctx, &online);
  if (status != LAMINA_OK)
    lmi_perf_set_close(made);
  return status;
}

void lmi_perf_set_wait(const lmi_perf_set *set, const int *others, size_t other_count, int milliseconds)
{
  for (size_t i = 0; i < other_count && i < LMI_PERF_MOST_OTHERS; i++)
    set->polls[set->ring_count + i] = (struct pollfd){.fd = others[i], .events = POLLIN};
  if (poll(set->polls, (nfds_t)(set->ring_count + other_count), milliseconds) < 0)
    return; /* a signal: the caller looks around anyway */
}

/* ---- taking records ---- */

static void copy_out(const event_ring *ring, uint64_t at, void *to, size_t bytes)
{
  const char *data = (const char *)ring->map + ring->map->data_offset;
  const size_t offset = (size_t)(at % ring->data_bytes);
  const size_t first = ring->data_bytes - offset < bytes ? ring->data_bytes - offset : bytes;
  memcpy(to, data + offset, first);
  memcpy((char *)to + first, data, bytes - first);
}

static lamina_status make_room(lmi_perf_set *set, size_t bytes)
{
  if (set->store_bytes + bytes > set->store_capacity) {
    char *grown = NULL;
    const size_t capacity = 2 * set->store_capacity + bytes + MOST_RECORD_BYTES;
    LMI_TRY(LMI_ALLOC(set->ctx, capacity, &grown));
    if (set->store_bytes > 0)
      memcpy(grown, set->store, set->store_bytes);
    lmi_free(set->ctx, set->store);
    set->store = grown;
    set->store_capacity = capacity;
  }
  if (set->queue_count == set->queue_capacity) {
    pending *grown = NULL;
    const size_t capacity = 2 * set->queue_capacity + 1024;
    LMI_TRY(LMI_ALLOC(set->ctx, capacity, &grown));
    if (set->queue_count > 0)
      memcpy(grown, set->queue, set->queue_count * sizeof *grown);
    lmi_free(set->ctx, set->queue);
    set->queue = grown;
    set->queue_capacity = capacity;
  }
  return LAMINA_OK;
}

/* sample_id_all puts {pid tid, time, identifier} behind every record that is no sample. */
static uint64_t record_time(const struct perf_event_header *header)
{
  const uint64_t *words = (const uint64_t *)(const void *)header;
  const size_t count = header->size / sizeof *words;
  if (header->type == PERF_RECORD_SAMPLE) /* header, identifier, ip, pid and tid, time */
    return count > 4 ? words[4] : 0;
  return count >= 3 ? words[count - 2] : 0;
}

static lamina_status take_ring(lmi_perf_set *set, event_ring *ring)
{
  const uint64_t head = __atomic_load_n(&ring->map->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = ring->map->data_tail;
  lamina_status status = LAMINA_OK;
  while (tail < head && status == LAMINA_OK) {
    struct perf_event_header header;
    copy_out(ring, tail, &header, sizeof header);
    if (header.size < sizeof header)
      break;
    status = make_room(set, header.size);
    if (status == LAMINA_OK) {
      copy_out(ring, tail, set->store + set->store_bytes, header.size);
      const uint64_t time =
        record_time((const struct perf_event_header *)(const void *)(set->store + set->store_bytes));
      set->queue[set->queue_count++] = (pending){time, set->store_bytes, set->order++};
      set->store_bytes += (header.size + 7u) & ~(size_t)7;
    }
    tail += header.size;
  }
  __atomic_store_n(&ring->map->data_tail, tail, __ATOMIC_RELEASE);
  return status;
}

static int by_time(const void *a, const void *b)
{
  const pending *x = a, *y = b;
  if (x->time != y->time)
    return x->time < y->time ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

/* ---- unpacking ---- */

static bool find_event(const lmi_perf_set *set, uint64_t id, lmi_perf_sample *sample)
{
  for (size_t r = 0; r < set->ring_count; r++) {
    for (size_t i = 0; i < set->event_count; i++) {
      if (set->rings[r].ids[i] != id)
        continue;
      sample->event = (int)i;
      sample->cpu = (uint32_t)set->rings[r].cpu;
      return true;
    }
  }
  return false;
}

/* The fields stand in the order of perf_event.h, each only if its bit is set. */
static bool unpack(const lmi_perf_set *set, const struct perf_event_header *header, lmi_perf_sample *sample)
{
  const uint64_t *at = (const uint64_t *)(const void *)(header + 1);
  *sample = (lmi_perf_sample){0};
  if (!find_event(set, at[0], sample))
    return false;
  const uint64_t type = set->attributes[sample->event].sample_type;
  at++;
  sample->ip = *at++;
  sample->pid = (uint32_t)*at;
  sample->tid = (uint32_t)(*at++ >> 32);
  sample->time = *at++;
  if ((type & PERF_SAMPLE_ADDR) != 0)
    sample->address = *at++;
  if ((type & PERF_SAMPLE_REGS_USER) != 0) {
    sample->registers_abi = *at++;
    sample->registers = sample->registers_abi != 0 ? at : NULL;
    if (sample->registers_abi != 0)
      at += __builtin_popcountll(set->attributes[sample->event].sample_regs_user);
  }
  if ((type & PERF_SAMPLE_WEIGHT) != 0)
    sample->weight = *at++;
  if ((type & PERF_SAMPLE_DATA_SRC) != 0)
    sample->data_source = *at++;
  return true;
}

static void deliver(lmi_perf_set *set, const pending *entry, lmi_perf_visitor *visit, void *user)
{
  const struct perf_event_header *header = (const struct perf_event_header *)(const void *)(set->store + entry->offset);
  lmi_perf_sample sample;
  if (header->type == PERF_RECORD_LOST) {
    set->lost += ((const uint64_t *)(const void *)(header + 1))[1];
  } else if (header->type == PERF_RECORD_SAMPLE) {
    if (unpack(set, header, &sample))
      visit(user, header, &sample, entry->time);
  } else {
    visit(user, header, NULL, entry->time);
  }
}

static int by_offset(const void *a, const void *b)
{
  const pending *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Moves what was not delivered to the front of queue and store. */
static void keep_rest(lmi_perf_set *set, size_t delivered)
{
  const size_t count = set->queue_count - delivered;
  size_t used = 0;
  memmove(set->queue, set->queue + delivered, count * sizeof *set->queue);
  qsort(set->queue, count, sizeof *set->queue, by_offset);
  for (size_t i = 0; i < count; i++) {
    const struct perf_event_header *header = (const void *)(set->store + set->queue[i].offset);
    const size_t bytes = (header->size + 7u) & ~(size_t)7;
    memmove(set->store + used, set->store + set->queue[i].offset, bytes);
    set->queue[i].offset = used;
    used += bytes;
  }
  set->queue_count = count;
  set->store_bytes = used;
}

lamina_status lmi_perf_set_drain(lmi_perf_set *set, bool everything, lmi_perf_visitor *visit, void *user)
{
  const uint64_t now = lmi_monotonic_ns();
  for (size_t i = 0; i < set->ring_count; i++)
    LMI_TRY(take_ring(set, &set->rings[i]));
  qsort(set->queue, set->queue_count, sizeof *set->queue, by_time);
  size_t delivered = 0;
  while (delivered < set->queue_count && (everything || set->queue[delivered].time <= now))
    deliver(set, &set->queue[delivered++], visit, user);
  keep_rest(set, delivered);
  return LAMINA_OK;
}

uint64_t lmi_perf_set_lost(const lmi_perf_set *set)
{
  return set->lost;
}

static void switch_all(const lmi_perf_set *set, unsigned long request)
{
  for (size_t r = 0; r < set->ring_count; r++)
    for (size_t i = 0; i < set->event_count; i++)
      if (set->rings[r].fds[i] >= 0)
        (void)ioctl(set->rings[r].fds[i], request, 0);
}

void lmi_perf_set_enable(const lmi_perf_set *set)
{
  switch_all(set, PERF_EVENT_IOC_ENABLE);
}

void lmi_perf_set_disable(const lmi_perf_set *set)
{
  switch_all(set, PERF_EVENT_IOC_DISABLE);
}

void lmi_perf_set_close(lmi_perf_set *set)
{
  if (set == NULL)
    return;
  const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  for (size_t r = 0; r < set->ring_count; r++) {
    if (set->rings[r].map != NULL)
      munmap(set->rings[r].map, set->rings[r].data_bytes + page_bytes);
    for (size_t i = 0; i < set->event_count; i++)
      if (set->rings[r].fds[i] >= 0)
        close(set->rings[r].fds[i]);
  }
  lmi_free(set->ctx, set->rings);
  lmi_free(set->ctx, set->polls);
  lmi_free(set->ctx, set->store);
  lmi_free(set->ctx, set->queue);
  lmi_free(set->ctx, set);
}
