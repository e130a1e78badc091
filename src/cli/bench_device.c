/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_device.h"

#include <stdio.h>

#include <lamina/accelerator.h>
#include <lamina/version.h>

/* As many streams as velocities, of the width they are stored in. */
typedef struct stream_row {
  int streams, element_bytes;
} stream_row;

static const stream_row stream_rows[] = {{19, 4}, {19, 2}, {19, 8}, {27, 4}, {27, 2}, {27, 8}};
static const lamina_index STREAM_CELLS = (lamina_index)256 * 256 * 256;

enum { LINKS = LAMINA_LINK_READ_HOST + 1 };

typedef struct device_ceilings {
  lamina_accelerator device;
  lamina_bandwidth links[LINKS];
  lamina_bandwidth streams[LMI_COUNT(stream_rows)];
  lamina_accelerator_setup setup;
} device_ceilings;

static lamina_status measure(lamina_context *ctx, int ordinal, int repetitions, device_ceilings *found)
{
  LMI_TRY(lamina_accelerator_read(ctx, ordinal, &found->device));
  for (int link = 0; link < LINKS; link++) {
    const uint64_t bytes = (uint64_t)(link == LAMINA_LINK_DEVICE_COPY ? 4 : 1) << 30;
    LMI_TRY(lamina_accelerator_link(ctx, ordinal, (lamina_link)link, bytes, repetitions, &found->links[link]));
  }
  for (size_t i = 0; i < LMI_COUNT(stream_rows); i++) {
    lamina_accelerator_probe probe = lamina_accelerator_probe_default();
    probe.ordinal = ordinal;
    probe.streams = stream_rows[i].streams;
    probe.element_bytes = stream_rows[i].element_bytes;
    probe.cells = STREAM_CELLS;
    probe.repetitions = repetitions;
    LMI_TRY(lamina_accelerator_stream_ceiling(ctx, &probe, &found->streams[i]));
  }
  return lamina_accelerator_measure_setup(ctx, ordinal, repetitions, &found->setup);
}

/* ---- text ---- */

static void print_spread(const char *name, const lamina_spread *s, const char *unit)
{
  printf("  %-40s %10.2f   %.2f to %.2f %s\n", name, s->median, s->low, s->high, unit);
}

static void print_ceilings(const device_ceilings *found)
{
  static const char *const link_texts[] = {
#define LINK_TEXT(name, value, word, factor, text) text,
    LAMINA_LINK_LIST(LINK_TEXT)
#undef LINK_TEXT
  };
  const lamina_accelerator *d = &found->device;
  printf("%s, compute capability %d.%d, %d multiprocessors, %.1f GiB\n", d->name, d->compute_capability / 10,
         d->compute_capability % 10, d->multiprocessors, (double)d->memory_bytes / 1073741824.0);
  for (int link = 0; link < LINKS; link++)
    print_spread(link_texts[link], &found->links[link].gb_per_s, "GB/s");
  for (size_t i = 0; i < LMI_COUNT(stream_rows); i++) {
    char name[64];
    snprintf(name, sizeof name, "%d streams of %d bytes in place", stream_rows[i].streams,
             stream_rows[i].element_bytes);
    print_spread(name, &found->streams[i].gb_per_s, "GB/s");
    print_spread("  as a lattice of that many velocities", &found->streams[i].million_elements, "MLUPS");
  }
  print_spread("starting a kernel", &found->setup.launch_us, "us");
  print_spread("starting a kernel in a graph", &found->setup.graph_launch_us, "us");
  print_spread("starting a copy", &found->setup.copy_us, "us");
  print_spread("starting a copy in a graph", &found->setup.graph_copy_us, "us");
}

/* ---- JSON ---- */

static void set_spread(json_t *object, const char *name, const lamina_spread *s)
{
  char key[64];
  json_object_set_new(object, name, lmi_json_number(s->median));
  snprintf(key, sizeof key, "%s_min", name);
  json_object_set_new(object, key, lmi_json_number(s->low));
  snprintf(key, sizeof key, "%s_max", name);
  json_object_set_new(object, key, lmi_json_number(s->high));
}

static json_t *links_json(const device_ceilings *found)
{
  json_t *links = json_array();
  for (int link = 0; link < LINKS; link++) {
    json_t *row = json_pack("{s:s}", "name", lamina_link_name((lamina_link)link));
    set_spread(row, "gb_per_s", &found->links[link].gb_per_s);
    json_array_append_new(links, row);
  }
  return links;
}

static json_t *streams_json(const device_ceilings *found)
{
  json_t *streams = json_array();
  for (size_t i = 0; i < LMI_COUNT(stream_rows); i++) {
    json_t *row = json_pack("{s:i, s:i, s:I}", "streams", stream_rows[i].streams, "element_bytes",
                            stream_rows[i].element_bytes, "cells", (json_int_t)STREAM_CELLS);
    set_spread(row, "gb_per_s", &found->streams[i].gb_per_s);
    set_spread(row, "mlups", &found->streams[i].million_elements);
    json_array_append_new(streams, row);
  }
  return streams;
}

static json_t *ceilings_json(const device_ceilings *found)
{
  const lamina_accelerator *d = &found->device;
  json_t *setup = json_object();
  set_spread(setup, "launch_us", &found->setup.launch_us);
  set_spread(setup, "graph_launch_us", &found->setup.graph_launch_us);
  set_spread(setup, "copy_us", &found->setup.copy_us);
  set_spread(setup, "graph_copy_us", &found->setup.graph_copy_us);
  return json_pack("{s:s, s:s, s:i, s:i, s:I, s:I, s:i, s:o, s:o, s:o}", "version", lamina_version(), "device", d->name,
                   "compute_capability", d->compute_capability, "multiprocessors", d->multiprocessors, "memory_bytes",
                   (json_int_t)d->memory_bytes, "l2_bytes", (json_int_t)d->l2_bytes, "driver", d->driver_version,
                   "links", links_json(found), "streams", streams_json(found), "setup", setup);
}

lamina_status lmi_bench_device(lmi_call *call, int ordinal, int repetitions, bool json)
{
  device_ceilings found = {0};
  LMI_TRY(measure(call->ctx, ordinal, repetitions, &found));
  if (json)
    return lmi_print_json(call, ceilings_json(&found));
  print_ceilings(&found);
  return LAMINA_OK;
}
