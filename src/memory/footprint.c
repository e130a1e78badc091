/* SPDX-License-Identifier: Apache-2.0 */
/* Resident bytes of each process on each tier over time. Reading numa_maps walks the page table of the process, so its
 * cost is watched: at most one hundredth of the time goes into it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numa_maps.h"
#include "recorder.h"
#include "sysfs.h"

static const uint64_t FIRST_INTERVAL_NS = 5000000, LONGEST_INTERVAL_NS = 1000000000;

static int tier_of(const lamina_machine *machine, int id)
{
  const lamina_node *node = lamina_machine_node(machine, id);
  return node != NULL && node->tier >= 0 && node->tier < LAMINA_TIERS_MAX ? node->tier : 0;
}

static void add_line(const lmi_recorder *recorder, const char *line, lamina_footprint_point *point)
{
  lmi_numa_mapping mapping;
  if (!lmi_numa_maps_line(line, recorder->machine->page_bytes, &mapping))
    return;
  for (size_t i = 0; i < mapping.node_count; i++)
    point->tier_bytes[tier_of(recorder->machine, mapping.nodes[i].node)] += mapping.nodes[i].bytes;
}

/* false when the process is gone or its maps are not shown. */
static lamina_status read_numa_maps(const lmi_recorder *recorder, uint32_t pid, lamina_footprint_point *point,
                                    bool *is_there)
{
  char path[64];
  lmi_text text = {0};
  snprintf(path, sizeof path, "/proc/%u/numa_maps", pid);
  LMI_TRY(lmi_sysfs_whole(recorder->ctx, "", path, &text));
  *is_there = text.length > 0;
  char *rest = text.data;
  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n"))
    add_line(recorder, line, point);
  lmi_text_free(recorder->ctx, &text);
  return LAMINA_OK;
}

/* Without nodes there is the resident set: all of it counts for the first tier. */
static bool read_resident(const lmi_recorder *recorder, uint32_t pid, lamina_footprint_point *point)
{
  char text[128];
  char *at = NULL;
  if (!lmi_sysfs_text("", text, sizeof text, "/proc/%u/statm", pid))
    return false;
  strtoull(text, &at, 10);
  point->tier_bytes[0] = strtoull(at, NULL, 10) * recorder->machine->page_bytes;
  return point->tier_bytes[0] > 0;
}

/* Asks the kernel where each known page lies now. Only on machines with more than one node. */
static lamina_status locate_pages(lmi_recorder *recorder, lmi_observed_process *process)
{
  enum { BATCH = 4096 };
  void **addresses = NULL;
  int *nodes = NULL;
  size_t *places = NULL, used = 0;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(recorder->ctx, BATCH, &addresses), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(recorder->ctx, BATCH, &nodes), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(recorder->ctx, BATCH, &places), cleanup);
  for (size_t i = 0; i <= process->page_capacity; i++) {
    const bool is_last = i == process->page_capacity;
    if (!is_last && process->pages[i].number != 0) {
      places[used] = i;
      addresses[used++] = (void *)(uintptr_t)((process->pages[i].number - 1) << recorder->observed.page_shift);
    }
    if (used < BATCH && !is_last)
      continue;
    if (used > 0 && syscall(SYS_move_pages, (pid_t)process->pid, used, addresses, NULL, nodes, 0) == 0)
      for (size_t k = 0; k < used; k++)
        if (nodes[k] >= 0)
          process->pages[places[k]].tier_above = (int16_t)(tier_of(recorder->machine, nodes[k]) + 1);
    used = 0;
  }
cleanup:
  lmi_free(recorder->ctx, addresses);
  lmi_free(recorder->ctx, nodes);
  lmi_free(recorder->ctx, places);
  return status;
}

/* With one node and no reserved huge pages (statm leaves these out) the resident set says the same at a thousandth of
 * the cost: nobody walks the page table. */
static bool has_one_place(const lamina_machine *machine)
{
  return machine->node_count == 1 && machine->nodes[0].huge_page_bytes == 0;
}

static lamina_status look_at(lmi_recorder *recorder, lmi_observed_process *process, double seconds)
{
  lamina_footprint_point point = {.seconds = seconds};
  bool is_there = false;
  for (size_t i = recorder->machine->tier_count; i < LAMINA_TIERS_MAX; i++)
    point.tier_bytes[i] = LAMINA_UNCOUNTED;
  if (recorder->has_numa_maps && !has_one_place(recorder->machine))
    LMI_TRY(read_numa_maps(recorder, process->pid, &point, &is_there));
  if (!is_there)
    is_there = read_resident(recorder, process->pid, &point);
  if (is_there && recorder->machine->tier_count > 1)
    LMI_TRY(locate_pages(recorder, process));
  return is_there ? lmi_observed_footprint(&recorder->observed, process, &point) : LAMINA_OK;
}

static uint64_t next_interval(const lmi_recorder *recorder, uint64_t now)
{
  if (recorder->options.footprint_seconds > 0)
    return (uint64_t)(1e9 * recorder->options.footprint_seconds);
  uint64_t interval = (now - recorder->started_ns) / 20;
  if (interval < FIRST_INTERVAL_NS)
    interval = FIRST_INTERVAL_NS;
  if (interval > LONGEST_INTERVAL_NS)
    interval = LONGEST_INTERVAL_NS;
  return interval < 100 * recorder->footprint_cost_ns ? 100 * recorder->footprint_cost_ns : interval;
}

lamina_status lmi_footprint_tick(lmi_recorder *recorder, bool force)
{
  const uint64_t now = lmi_monotonic_ns();
  if (!force && now < recorder->next_footprint_ns)
    return LAMINA_OK;
  const double seconds = 1e-9 * (double)(now - recorder->started_ns);
  for (size_t i = 0; i < recorder->observed.process_count; i++)
    if (!recorder->observed.processes[i]->has_ended)
      LMI_TRY(look_at(recorder, recorder->observed.processes[i], seconds));
  recorder->footprint_cost_ns = lmi_monotonic_ns() - now;
  recorder->next_footprint_ns = now + next_interval(recorder, now);
  return LAMINA_OK;
}
