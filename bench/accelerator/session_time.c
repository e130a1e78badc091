/* SPDX-License-Identifier: Apache-2.0 */
/* Ceilings and speeds. A row is "lattice:collision:precision:streaming:layout:cells[:partitions[:mode[:devices]]]",
 * precision f32, f64 or f16 (storage), mode direct, messages, plain (messages that nothing hides), periodic, or sparse,
 * sphere, rods (on the sparse grid), each with @streams where steps are not to be replayed as graphs and @meetings
 * where devices are to meet; the box has walls all around and a moving lid. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session.h"

#include <lamina/geometry.h>

enum { SAMPLES = 5 };
static const double SAMPLE_SECONDS = 0.25;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static lamina_context *open_context(void)
{
  lamina_context *ctx = NULL;
  session_require(NULL, lamina_context_create(NULL, &ctx), "context");
  return ctx;
}

static json_t *spread(lamina_spread s)
{
  return json_pack("[f, f, f]", s.median, s.low, s.high);
}

/* ---- ceilings ---- */

static void print_streams(lamina_context *ctx, int streams, int element_bytes, lamina_index n, lamina_index tile)
{
  lamina_accelerator_probe probe = lamina_accelerator_probe_default();
  probe.streams = streams;
  probe.element_bytes = element_bytes;
  probe.cells = n * n * n;
  probe.tile_cells = tile;
  lamina_bandwidth b;
  session_require(ctx, lamina_accelerator_stream_ceiling(ctx, &probe, &b), "streams");
  session_print(json_pack("{s:s, s:i, s:i, s:I, s:I, s:o, s:o}", "task", "streams", "streams", streams, "element_bytes",
                          element_bytes, "cells", (json_int_t)probe.cells, "tile_cells", (json_int_t)tile, "gb_per_s",
                          spread(b.gb_per_s), "mlups", spread(b.million_elements)));
}

int session_ceilings(void)
{
  lamina_context *ctx = open_context();
  lamina_accelerator device;
  session_require(ctx, lamina_accelerator_read(ctx, 0, &device), "device");
  session_print(json_pack("{s:s, s:s, s:i, s:i, s:i, s:I, s:I}", "task", "device", "name", device.name,
                          "compute_capability", device.compute_capability, "multiprocessors", device.multiprocessors,
                          "driver", device.driver_version, "memory_bytes", (json_int_t)device.memory_bytes, "l2_bytes",
                          (json_int_t)device.l2_bytes));
  for (int link = LAMINA_LINK_DEVICE_COPY; link <= LAMINA_LINK_READ_HOST; link++) {
    lamina_bandwidth b;
    const uint64_t bytes = (uint64_t)(link == LAMINA_LINK_DEVICE_COPY ? 8 : 1) << 30;
    session_require(ctx, lamina_accelerator_link(ctx, 0, (lamina_link)link, bytes, SAMPLES, &b), "link");
    session_print(json_pack("{s:s, s:s, s:o}", "task", "link", "link", lamina_link_name((lamina_link)link), "gb_per_s",
                            spread(b.gb_per_s)));
  }
  lamina_accelerator_setup setup;
  session_require(ctx, lamina_accelerator_measure_setup(ctx, 0, SAMPLES, &setup), "setup");
  session_print(json_pack("{s:s, s:o, s:o, s:o, s:o}", "task", "setup", "launch_us", spread(setup.launch_us), "copy_us",
                          spread(setup.copy_us), "graph_launch_us", spread(setup.graph_launch_us), "graph_copy_us",
                          spread(setup.graph_copy_us)));
  static const int widths[] = {4, 2, 8};
  for (int i = 0; i < 3; i++) {
    print_streams(ctx, 19, widths[i], 384, 0);
    print_streams(ctx, 19, widths[i], 512, 0);
  }
  print_streams(ctx, 19, 4, 512, 4096);
  print_streams(ctx, 27, 4, 384, 0);
  print_streams(ctx, 27, 2, 384, 0);
  lamina_context_destroy(ctx);
  return 0;
}

/* ---- speeds ---- */

static int find_word(const char *word, const char *(*name)(int), const char *what)
{
  for (int i = 0; name(i) != NULL; i++)
    if (strcmp(name(i), word) == 0)
      return i;
  fprintf(stderr, "session: there is no %s '%s'\n", what, word);
  exit(2);
}

static const char *lattice_at(int i)
{
  return lamina_lattice_name((lamina_lattice)i);
}
static const char *collision_at(int i)
{
  return lamina_collision_name((lamina_collision)i);
}
static const char *streaming_at(int i)
{
  return lamina_streaming_name((lamina_streaming)i);
}
static const char *layout_at(int i)
{
  return lamina_layout_name((lamina_layout)i);
}

static bool is_mode(const char *mode, size_t length, const char *name)
{
  return strlen(name) == length && strncmp(mode, name, length) == 0;
}

/* On the sparse grid: a sphere of a third of the box, or rods of 32 cells 48 apart, which leave 85 % of the cells in
 * the blocks that stay. */
static lamina_geometry *make_bodies(lamina_context *ctx, const char *row, const lamina_solver_options *options)
{
  const bool sphere = strstr(row, ":sphere") != NULL, rods = strstr(row, ":rods") != NULL;
  const lamina_int3 n = options->cells;
  lamina_geometry *made = NULL;
  if (!sphere && !rods)
    return NULL;
  session_require(ctx, lamina_geometry_create(ctx, &made), "bodies");
  if (sphere) {
    const lamina_real3 centre = {(double)n.x / 2, (double)n.y / 2, (double)n.z / 2};
    session_require(ctx, lamina_geometry_add_sphere(made, centre, (double)n.x / 6, NULL), "bodies");
  }
  for (int i = 24; rods && i < n.x; i += 48)
    for (int j = 24; j < n.y; j += 48) {
      const lamina_cylinder rod = {.from = {i, j, 0}, .to = {i, j, 1}, .radius = 16.0, .is_endless = true};
      session_require(ctx, lamina_geometry_add_cylinder(made, &rod, NULL), "bodies");
    }
  return made;
}

static void set_mode(const char *mode, lamina_solver_options *options)
{
  const size_t length = strcspn(mode, "@");
  const bool is_plain = length == 5 && strncmp(mode, "plain", length) == 0;
  options->no_overlap = is_plain;
  options->copy_messages = is_plain || (length == 8 && strncmp(mode, "messages", length) == 0);
  if (length == 8 && strncmp(mode, "periodic", length) == 0)
    for (int face = 0; face < LAMINA_FACE_COUNT; face++)
      options->faces[face] = (lamina_face){.kind = LAMINA_FACE_PERIODIC};
  if (is_mode(mode, length, "sparse") || is_mode(mode, length, "sphere") || is_mode(mode, length, "rods"))
    options->grid = LAMINA_GRID_SPARSE;
  setenv("LAMINA_CUDA_REPLAY", mode[length] == '@' ? mode + length + 1 : "graphs", 1);
}

lamina_solver_options session_parse_row(const char *row)
{
  char words[9][32] = {{0}};
  const int count = sscanf(row, "%31[^:]:%31[^:]:%31[^:]:%31[^:]:%31[^:]:%31[^:]:%31[^:]:%31[^:]:%31s", words[0],
                           words[1], words[2], words[3], words[4], words[5], words[6], words[7], words[8]);
  if (count < 6) {
    fprintf(stderr, "session: '%s' is no row\n", row);
    exit(2);
  }
  lamina_solver_options options = session_cavity(atoi(words[5]));
  long long box[3];
  if (sscanf(words[5], "%lldx%lldx%lld", &box[0], &box[1], &box[2]) == 3)
    options.cells = (lamina_int3){box[0], box[1], box[2]};
  options.lattice = (lamina_lattice)find_word(words[0], lattice_at, "lattice");
  options.collision = (lamina_collision)find_word(words[1], collision_at, "collision");
  options.precision = strcmp(words[2], "f64") == 0 ? LAMINA_F64 : LAMINA_F32;
  options.storage = strcmp(words[2], "f16") == 0 ? LAMINA_STORAGE_F16 : LAMINA_STORAGE_FULL;
  options.streaming = (lamina_streaming)find_word(words[3], streaming_at, "streaming");
  options.layout = (lamina_layout)find_word(words[4], layout_at, "layout");
  options.partitions = count > 6 ? atoi(words[6]) : 1;
  set_mode(words[7], &options);
  session_use_devices(&options, count > 8 ? atoi(words[8]) : 1);
  return options;
}

/* The same plane of a smooth flow everywhere: quick to make, different in every cell of a plane. */
static void fill(lamina_context *ctx, lamina_solver *solver, const lamina_solver_options *options)
{
  const size_t bytes = (size_t)lamina_solver_plane_bytes(solver);
  char *plane = malloc(bytes);
  unsigned noise = 1;
  const size_t count = bytes / (options->precision == LAMINA_F64 ? sizeof(double) : sizeof(float));
  for (size_t i = 0; i < count; i++) {
    noise = noise * 1664525u + 1013904223u;
    const double value = 1e-3 * ((double)(noise >> 8) / 16777216.0 - 0.5);
    if (options->precision == LAMINA_F64)
      ((double *)plane)[i] = value;
    else
      ((float *)plane)[i] = (float)value;
  }
  for (lamina_index z = 0; z < lamina_solver_plane_count(solver); z++)
    session_require(ctx, lamina_solver_set_plane(solver, z, plane), "fill");
  free(plane);
}

static double run_seconds(lamina_context *ctx, lamina_solver *solver, lamina_index steps)
{
  const double begin = now();
  session_require(ctx, lamina_solver_run(solver, steps), "run");
  return now() - begin;
}

static int compare_doubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static lamina_spread time_steps(lamina_context *ctx, lamina_solver *solver, double seconds)
{
  double us[SAMPLES];
  (void)run_seconds(ctx, solver, 64);
  const double once = run_seconds(ctx, solver, 64) / 64.0;
  lamina_index steps = (lamina_index)(seconds / once) / 16 * 16 + 16;
  for (int i = 0; i < SAMPLES; i++)
    us[i] = 1e6 * run_seconds(ctx, solver, steps) / (double)steps;
  qsort(us, SAMPLES, sizeof *us, compare_doubles);
  return (lamina_spread){us[SAMPLES / 2], us[0], us[SAMPLES - 1]};
}

static void time_row(const char *row, double seconds)
{
  const double begin = now();
  lamina_context *ctx = open_context();
  lamina_solver_options options = session_parse_row(row);
  lamina_solver *solver = NULL;
  lamina_geometry *bodies = make_bodies(ctx, row, &options);
  options.geometry = bodies;
  session_require(ctx, lamina_solver_create(ctx, &options, &solver), row);
  lamina_geometry_destroy(bodies);
  fill(ctx, solver, &options);
  const double ready = now();
  const lamina_spread us = time_steps(ctx, solver, seconds);
  lamina_solver_info info;
  lamina_solver_get_info(solver, &info);
  const double cells = (double)info.cells; /* with fluid */
  const lamina_spread mlups = {cells / us.median, cells / us.high, cells / us.low};
  session_print(json_pack("{s:s, s:s, s:i, s:o, s:o, s:f, s:f, s:i, s:I, s:f}", "task", "time", "row", row, "devices",
                          options.device_count > 0 ? options.device_count : 1, "mlups", spread(mlups), "us_per_step",
                          spread(us), "gb_per_s", 1e-3 * mlups.median * info.bytes_per_update, "bytes_per_cell",
                          info.bytes_per_cell, "alpha", info.alpha, "beta_values", (json_int_t)info.beta_values,
                          "setup_s", ready - begin));
  lamina_solver_destroy(solver);
  lamina_context_destroy(ctx);
}

/* A first word "seconds=0.1" is the length of a sample. */
int session_time(int row_count, char **rows)
{
  double seconds = SAMPLE_SECONDS;
  const int first = row_count > 0 && sscanf(rows[0], "seconds=%lf", &seconds) == 1;
  int devices = 1;
  for (int i = first; i < row_count; i++) {
    const int count = session_parse_row(rows[i]).device_count;
    devices = count > devices ? count : devices;
  }
  session_holder holder = session_hold_devices(devices);
  for (int i = first; i < row_count; i++)
    time_row(rows[i], seconds);
  session_release_devices(&holder);
  return 0;
}

int session_halo(void)
{
  static const char *const lattices[] = {"d3q19", "d3q27"}, *const layouts[] = {"soa", "disaggregated", "plane"};
  static const int sizes[] = {64, 128, 256}, partitions[] = {1, 2, 4, 8};
  for (int l = 0; l < 2; l++)
    for (int n = 0; n < 3; n++)
      for (int layout = 0; layout < 3; layout++)
        for (int p = 0; p < 4; p++) {
          char row[128];
          snprintf(row, sizeof row, "%s:bgk:f32:esoteric_pull:%s:%d:%d", lattices[l], layouts[layout], sizes[n],
                   partitions[p]);
          time_row(row, SAMPLE_SECONDS);
        }
  return 0;
}
