/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "uncore.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event_table.h"
#include "perf_ring.h"
#include "sysfs.h"

#define DEVICES "/sys/bus/event_source/devices"

/* No channel, and no link, carries more: DDR5-8800 moves 70 GB/s, and a UPI link 48. */
static const double MOST_BYTES_PER_SECOND = 150e9;

/* Codes after the makers' lists (intel/perfmon SKX V1.37, ICX V1.30, SPR V1.39). `extension` are the upper bits of the
 * umask; `filter` goes to config1. */
typedef struct uncore_row {
  const char *model, *unit; /* of lmi_event_table; units are called uncore_UNIT_N */
  lmi_uncore_meaning meaning;
  uint64_t event, umask, extension, filter;
} uncore_row;

static const char SKYLAKE[] = "Skylake-X, Cascade Lake", ICE_LAKE[] = "Ice Lake-X",
                  SAPPHIRE[] = "Sapphire Rapids, Emerald Rapids";

static const uncore_row rows[] = {
  {SKYLAKE, "imc", LMI_UNCORE_READ, 0x04, 0x03, 0, 0},
  {SKYLAKE, "imc", LMI_UNCORE_WRITE, 0x04, 0x0c, 0, 0},
  {SKYLAKE, "upi", LMI_UNCORE_LINK_OUT, 0x02, 0x0f, 0, 0},
  {SKYLAKE, "upi", LMI_UNCORE_LINK_IN, 0x03, 0x0f, 0, 0},
  {SKYLAKE, "cha", LMI_UNCORE_LOCAL, 0x35, 0x21, 0, UINT64_C(0x40432) << 32},
  {SKYLAKE, "cha", LMI_UNCORE_REMOTE, 0x35, 0x21, 0, UINT64_C(0x40431) << 32},
  {ICE_LAKE, "imc", LMI_UNCORE_READ, 0x04, 0x0f, 0, 0},
  {ICE_LAKE, "imc", LMI_UNCORE_WRITE, 0x04, 0x30, 0, 0},
  {ICE_LAKE, "upi", LMI_UNCORE_LINK_OUT, 0x02, 0x0f, 0, 0},
  {ICE_LAKE, "upi", LMI_UNCORE_LINK_IN, 0x03, 0x0f, 0, 0},
  {ICE_LAKE, "cha", LMI_UNCORE_LOCAL, 0x35, 0x01, 0xc816fe, 0},
  {ICE_LAKE, "cha", LMI_UNCORE_REMOTE, 0x35, 0x01, 0xc8177e, 0},
  {SAPPHIRE, "imc", LMI_UNCORE_READ, 0x05, 0xcf, 0, 0},
  {SAPPHIRE, "imc", LMI_UNCORE_WRITE, 0x05, 0xf0, 0, 0},
  {SAPPHIRE, "upi", LMI_UNCORE_LINK_OUT, 0x02, 0x0f, 0, 0},
  {SAPPHIRE, "upi", LMI_UNCORE_LINK_IN, 0x03, 0x0f, 0, 0},
  {SAPPHIRE, "cha", LMI_UNCORE_LOCAL, 0x35, 0x01, 0xc816fe, 0},
  {SAPPHIRE, "cha", LMI_UNCORE_REMOTE, 0x35, 0x01, 0xc8177e, 0},
};

struct lmi_uncore {
  lamina_context *ctx;
  lmi_uncore_list list;
  int *fds;
  uint64_t *values;
  double started;
};

const char *lmi_uncore_name(lmi_uncore_meaning meaning)
{
  static const char *const names[] = {
#define NAME(name, text, bytes) text,
    LMI_UNCORE_LIST(NAME)
#undef NAME
  };
  return (size_t)meaning < LMI_COUNT(names) ? names[meaning] : NULL;
}

static double bytes_of(lmi_uncore_meaning meaning)
{
  static const double bytes[] = {
#define BYTES(name, text, amount) amount,
    LMI_UNCORE_LIST(BYTES)
#undef BYTES
  };
  return bytes[meaning];
}

/* ---- what there is ---- */

bool lmi_uncore_place(const char *format, uint64_t value, uint64_t configs[2])
{
  int which = -1;
  if (strncmp(format, "config:", 7) == 0)
    which = 0;
  else if (strncmp(format, "config1:", 8) == 0)
    which = 1;
  if (which < 0)
    return false;
  for (const char *at = strchr(format, ':'); *at == ':' || *at == ',';) {
    char *end = NULL;
    const long low = strtol(at + 1, &end, 10);
    long high = low;
    if (end == at + 1)
      return false;
    at = end;
    if (*at == '-') {
      high = strtol(at + 1, &end, 10);
      at = end;
    }
    if (low < 0 || high < low || high > 63)
      return false;
    for (long bit = low; bit <= high; bit++, value >>= 1)
      configs[which] |= (value & 1) << bit;
  }
  return true;
}

static bool place_field(const char *root, const char *unit, const char *field, uint64_t value, uint64_t configs[2])
{
  char format[128];
  return lmi_sysfs_text(root, format, sizeof format, DEVICES "/%s/format/%s", unit, field) &&
         lmi_uncore_place(format, value, configs);
}

/* The upper bits of the umask are a field of their own on some kernels and a part of umask on others. */
static bool encode(const char *root, const char *unit, const uncore_row *row, lmi_uncore_event *event)
{
  uint64_t configs[2] = {0, row->filter};
  if (!place_field(root, unit, "event", row->event, configs))
    return false;
  uint64_t umask = row->umask;
  if (row->extension != 0 && !place_field(root, unit, "umask_ext", row->extension, configs))
    umask |= row->extension << 8;
  if (!place_field(root, unit, "umask", umask, configs))
    return false;
  event->config = configs[0];
  event->config1 = configs[1];
  return true;
}

/* "uncore_imc_3" is unit 3 of "imc"; uncore_imc_free_running_0 is something else. A machine with one has no number. */
static bool is_unit(const char *name, const char *unit)
{
  const size_t length = strlen(unit);
  if (strncmp(name, "uncore_", 7) != 0 || strncmp(name + 7, unit, length) != 0)
    return false;
  const char *rest = name + 7 + length;
  return *rest == '\0' ||
         (*rest == '_' && isdigit((unsigned char)rest[1]) && rest[1 + strspn(rest + 1, "0123456789")] == '\0');
}

static lamina_status add_event(lamina_context *ctx, const lmi_uncore_event *event, size_t *capacity,
                               lmi_uncore_list *list)
{
  if (list->count == *capacity) {
    const size_t larger = *capacity > 0 ? 2 * *capacity : 64;
    lmi_uncore_event *moved = NULL;
    LMI_TRY(LMI_ALLOC(ctx, larger, &moved));
    if (list->count > 0)
      memcpy(moved, list->events, list->count * sizeof *moved);
    lmi_free(ctx, list->events);
    list->events = moved;
    *capacity = larger;
  }
  list->events[list->count++] = *event;
  return LAMINA_OK;
}

/* One event for each socket: the processors of cpumask. */
static lamina_status add_unit(lamina_context *ctx, const char *root, const char *unit, const uncore_row *row,
                              size_t *capacity, lmi_uncore_list *list)
{
  lmi_uncore_event event = {.meaning = row->meaning};
  lmi_id_list processors = {0};
  char path[160];
  int64_t type = 0;
  snprintf(event.unit, sizeof event.unit, "%.47s", unit);
  snprintf(path, sizeof path, DEVICES "/%.47s/cpumask", unit);
  if (!lmi_sysfs_int64(root, &type, DEVICES "/%s/type", unit) || !encode(root, unit, row, &event))
    return LAMINA_OK;
  event.type = (uint32_t)type;
  LMI_TRY(lmi_id_list_read(ctx, root, path, &processors));
  lamina_status status = LAMINA_OK;
  for (size_t i = 0; i < processors.count && status == LAMINA_OK; i++) {
    event.processor = processors.ids[i];
    status = add_event(ctx, &event, capacity, list);
  }
  lmi_id_list_free(ctx, &processors);
  return status;
}

static lamina_status add_row(lamina_context *ctx, const char *root, const uncore_row *row, size_t *capacity,
                             lmi_uncore_list *list)
{
  char folder[4096];
  snprintf(folder, sizeof folder, "%s" DEVICES, root);
  DIR *devices = opendir(folder);
  lamina_status status = LAMINA_OK;
  if (devices == NULL)
    return LAMINA_OK;
  for (const struct dirent *entry = readdir(devices); entry != NULL && status == LAMINA_OK; entry = readdir(devices))
    if (is_unit(entry->d_name, row->unit))
      status = add_unit(ctx, root, entry->d_name, row, capacity, list);
  closedir(devices);
  return status;
}

lamina_status lmi_uncore_find(lamina_context *ctx, const char *root, lmi_uncore_list *list)
{
  const lmi_event_table *table = NULL;
  size_t capacity = 0;
  *list = (lmi_uncore_list){0};
  LMI_TRY(lmi_event_table_here(ctx, root, &table));
  lamina_status status = LAMINA_OK;
  for (size_t i = 0; i < LMI_COUNT(rows) && table != NULL && status == LAMINA_OK; i++)
    if (strcmp(rows[i].model, table->model) == 0)
      status = add_row(ctx, root, &rows[i], &capacity, list);
  if (status != LAMINA_OK)
    lmi_uncore_list_free(ctx, list);
  return status;
}

void lmi_uncore_list_free(lamina_context *ctx, lmi_uncore_list *list)
{
  lmi_free(ctx, list->events);
  *list = (lmi_uncore_list){0};
}

/* ---- counting ---- */

void lmi_uncore_add_up(const lmi_uncore_list *list, const uint64_t *values, double seconds, lmi_uncore_sum *sum)
{
  *sum = (lmi_uncore_sum){.bytes = {NAN, NAN, NAN, NAN, NAN, NAN}};
  for (size_t i = 0; i < list->count; i++) {
    const lmi_uncore_meaning meaning = list->events[i].meaning;
    const double bytes = (double)values[i] * bytes_of(meaning);
    if (list->events[i].is_closed)
      continue;
    if (bytes > MOST_BYTES_PER_SECOND * seconds) {
      sum->dropped++;
      continue;
    }
    sum->units++;
    sum->bytes[meaning] = isfinite(sum->bytes[meaning]) ? sum->bytes[meaning] + bytes : bytes;
  }
  if (sum->dropped > 0)
    snprintf(sum->remark, sizeof sum->remark,
             "%zu of %zu counters gave more than a channel can carry (channels that are not there do): left out",
             sum->dropped, sum->dropped + sum->units);
}

static const char *refusal(int error_number)
{
  return error_number == EACCES || error_number == EPERM
           ? "counting for the whole machine is not permitted: kernel.perf_event_paranoid <= 0 or CAP_PERFMON is needed"
           : strerror(error_number);
}

static lamina_status open_events(lmi_uncore *uncore)
{
  size_t opened = 0;
  int error_number = 0;
  for (size_t i = 0; i < uncore->list.count; i++) {
    lmi_uncore_event *event = &uncore->list.events[i];
    struct perf_event_attr attribute = {
      .type = event->type, .size = sizeof attribute, .config = event->config, .config1 = event->config1};
    uncore->fds[i] = lmi_perf_event_open(&attribute, -1, event->processor, -1, 0);
    event->is_closed = uncore->fds[i] < 0;
    if (event->is_closed)
      error_number = errno;
    else
      opened++;
  }
  LMI_REQUIRE(uncore->ctx, opened > 0, LAMINA_UNAVAILABLE, "no counter of the memory channels opened: %s",
              refusal(error_number));
  uncore->started = lmi_clock_seconds();
  return LAMINA_OK;
}

lamina_status lmi_uncore_open(lamina_context *ctx, lmi_uncore **uncore)
{
  lmi_uncore *made = NULL;
  *uncore = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lmi_uncore_find(ctx, "", &made->list), cleanup);
  if (made->list.count == 0)
    LMI_TRY_GOTO(
      status,
      lmi_fail(ctx, LAMINA_UNAVAILABLE,
               "this system shows no counters of memory channels that are in the table (Intel Skylake-X, Ice "
               "Lake-X, Sapphire Rapids)"),
      cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, made->list.count, &made->values), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, made->list.count, &made->fds), cleanup);
  status = open_events(made);
cleanup:
  if (status != LAMINA_OK)
    lmi_uncore_close(made);
  else
    *uncore = made;
  return status;
}

void lmi_uncore_read(lmi_uncore *uncore, lmi_uncore_sum *sum)
{
  for (size_t i = 0; i < uncore->list.count; i++)
    if (read(uncore->fds[i], &uncore->values[i], sizeof *uncore->values) != (ssize_t)sizeof *uncore->values)
      uncore->list.events[i].is_closed = true;
  lmi_uncore_add_up(&uncore->list, uncore->values, lmi_clock_seconds() - uncore->started, sum);
}

void lmi_uncore_close(lmi_uncore *uncore)
{
  if (uncore == NULL)
    return;
  for (size_t i = 0; i < uncore->list.count && uncore->fds != NULL; i++)
    if (uncore->fds[i] >= 0)
      close(uncore->fds[i]);
  lmi_free(uncore->ctx, uncore->fds);
  lmi_free(uncore->ctx, uncore->values);
  lmi_uncore_list_free(uncore->ctx, &uncore->list);
  lmi_free(uncore->ctx, uncore);
}
