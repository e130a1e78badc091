/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, memory and kernels of the cuda backend. Slabs are dealt out to the devices in turn. */
#include "cuda_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_cache.h"

lamina_status lmi_cuda_enter(const lmi_cuda_device *cuda, int unit)
{
  return lmi_cuda_check(cuda->base.ctx, &cuda->api, cuda->api.context_set(cuda->units[unit].context),
                        "making a device current");
}

/* ---- opening ---- */

static lamina_status read_attributes(lmi_cuda_device *cuda, lmi_cuda_unit *unit)
{
  const lmi_cuda_api *api = &cuda->api;
  int major = 0, minor = 0;
  LMI_TRY(lmi_cuda_check(cuda->base.ctx, api, api->device_name(unit->name, (int)sizeof unit->name, unit->device),
                         "reading a device's name"));
  LMI_TRY(lmi_cuda_check(cuda->base.ctx, api, api->device_attribute(&major, LMI_CU_ATTRIBUTE_MAJOR, unit->device),
                         "reading a device's compute capability"));
  LMI_TRY(lmi_cuda_check(cuda->base.ctx, api, api->device_attribute(&minor, LMI_CU_ATTRIBUTE_MINOR, unit->device),
                         "reading a device's compute capability"));
  unit->architecture = 10 * major + minor;
  return LAMINA_OK;
}

static lamina_status open_unit(lmi_cuda_device *cuda, int ordinal)
{
  lamina_context *ctx = cuda->base.ctx;
  const lmi_cuda_api *api = &cuda->api;
  int count = 0;
  LMI_TRY(lmi_cuda_check(ctx, api, api->device_count(&count), "counting devices"));
  LMI_REQUIRE(ctx, ordinal >= 0 && ordinal < count, LAMINA_ERROR_ARGUMENT,
              "device %d: this machine has devices 0 to %d", ordinal, count - 1);
  for (int i = 0; i < cuda->unit_count; i++)
    LMI_REQUIRE(ctx, cuda->units[i].ordinal != ordinal, LAMINA_ERROR_ARGUMENT,
                "device %d is named twice: use more partitions to cut the box on one device", ordinal);
  lmi_cuda_unit *unit = &cuda->units[cuda->unit_count];
  unit->ordinal = ordinal;
  LMI_TRY(lmi_cuda_check(ctx, api, api->device_get(&unit->device, ordinal), "opening a device"));
  LMI_TRY(read_attributes(cuda, unit));
  LMI_TRY(lmi_cuda_check(ctx, api, api->context_retain(&unit->context, unit->device), "starting a device"));
  cuda->unit_count++; /* from here on close() releases it */
  LMI_TRY(lmi_cuda_enter(cuda, cuda->unit_count - 1));
  LMI_TRY(lmi_cuda_check(ctx, api, api->stream_create(&unit->stream, LMI_CU_STREAM_NON_BLOCKING), "making a stream"));
  LMI_TRY(lmi_cuda_check(ctx, api, api->event_create(&unit->done, LMI_CU_EVENT_DISABLE_TIMING), "making an event"));
  LMI_TRY(lmi_cuda_check(ctx, api, api->memory_allocate(&unit->watch, sizeof(lmk_watch)),
                         "allocating the watch on non-finite values"));
  return lmi_cuda_check(ctx, api, api->set_bytes(unit->watch, 0, sizeof(lmk_watch), unit->stream), "setting the watch");
}

/* Where all devices can reach each other's memory, kernels store straight into a neighbour's slab. */
static void enable_peers(lmi_cuda_device *cuda)
{
  cuda->reaches_all = true;
  for (int i = 0; i < cuda->unit_count; i++)
    for (int j = 0; j < cuda->unit_count; j++) {
      int can = 0;
      if (i == j)
        continue;
      const bool reaches = cuda->api.device_peer(&can, cuda->units[i].device, cuda->units[j].device) == 0 && can &&
                           cuda->api.context_set(cuda->units[i].context) == 0 &&
                           cuda->api.context_enable_peer(cuda->units[j].context, 0) == 0;
      cuda->reaches_all = cuda->reaches_all && reaches;
    }
}

/* Of several ranks each has one device: ranks of a host take those that were named, or all there are, in turn. */
static lamina_status open_share(lmi_cuda_device *cuda, const lmi_device_options *options)
{
  int count = options->ordinal_count;
  const int rank = lmi_local_rank(cuda->base.ctx);
  if (count == 0)
    LMI_TRY(lmi_cuda_check(cuda->base.ctx, &cuda->api, cuda->api.device_count(&count), "counting devices"));
  LMI_TRY(open_unit(cuda, options->ordinal_count > 0 ? options->ordinals[rank % count] : rank % count));
  enable_peers(cuda);
  return LAMINA_OK;
}

static lamina_status open_units(lmi_cuda_device *cuda, const lmi_device_options *options)
{
  lamina_context *ctx = cuda->base.ctx;
  const int wanted = options->ordinal_count > 0 ? options->ordinal_count : 1;
  LMI_REQUIRE(ctx, wanted <= LMI_CUDA_MAX_UNITS, LAMINA_ERROR_ARGUMENT, "%d devices: at most %d are possible", wanted,
              (int)LMI_CUDA_MAX_UNITS);
  if (lamina_rank_count(ctx) > 1)
    return open_share(cuda, options);
  for (int i = 0; i < wanted; i++)
    LMI_TRY(open_unit(cuda, options->ordinal_count > 0 ? options->ordinals[i] : 0));
  enable_peers(cuda);
  return LAMINA_OK;
}

/* LAMINA_CUDA_REPLAY=streams: each step is put on streams anew; late: none starts before the last has ended; both for
 * comparisons. meetings: devices wait for each other without events (cuda_meet.c); not the usual way before it has been
 * measured. */
static void choose_replay(lmi_cuda_device *cuda)
{
  const char *wanted = getenv("LAMINA_CUDA_REPLAY");
  cuda->graphs = wanted == NULL || strcmp(wanted, "streams") != 0;
  cuda->early = wanted == NULL || strcmp(wanted, "late") != 0;
  cuda->meetings = wanted != NULL && strcmp(wanted, "meetings") == 0;
}

static void cuda_close(lmi_device *device);

static lamina_status cuda_open(lamina_context *ctx, const lmi_device_options *options, lmi_device **device)
{
  *device = NULL;
  lmi_cuda_device *made = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->base = (lmi_device){.ops = &lmi_cuda_ops, .ctx = ctx};
  choose_replay(made);
  LMI_TRY_GOTO(status, lmi_cuda_api_open(ctx, &made->api), cleanup);
  LMI_TRY_GOTO(status, lmi_nvrtc_api_open(ctx, &made->nvrtc), cleanup);
  LMI_TRY_GOTO(status, lmi_cuda_check(ctx, &made->api, made->api.driver_version(&made->driver), "asking the driver"),
               cleanup);
  LMI_TRY_GOTO(status, open_units(made, options), cleanup);
  LMI_TRY_GOTO(status, lmi_cuda_enter(made, 0), cleanup);
  *device = &made->base;
cleanup:
  if (status != LAMINA_OK)
    cuda_close(&made->base);
  return status;
}

/* ---- closing: nothing here can fail upward ---- */

static void free_newest_set(lmi_cuda_device *cuda)
{
  lmi_cuda_set *set = cuda->sets;
  cuda->sets = set->next;
  for (int u = 0; u < cuda->unit_count; u++)
    if (set->modules[u] != NULL && lmi_cuda_enter(cuda, u) == LAMINA_OK)
      (void)cuda->api.module_unload(set->modules[u]);
  lmi_free(cuda->base.ctx, set);
}

static void cuda_close(lmi_device *device)
{
  if (device == NULL)
    return;
  lmi_cuda_device *cuda = (lmi_cuda_device *)device;
  lmi_cuda_drop_captures(cuda);
  lmi_cuda_free_lanes(cuda);
  lmi_cuda_free_tables(cuda);
  lmi_cuda_free_modules(cuda);
  while (cuda->sets != NULL)
    free_newest_set(cuda);
  for (int u = 0; u < cuda->unit_count; u++) {
    lmi_cuda_unit *unit = &cuda->units[u];
    if (lmi_cuda_enter(cuda, u) != LAMINA_OK)
      continue;
    lmi_cuda_free_staging(cuda, unit);
    if (u == 0 && cuda->sums.memory != 0)
      (void)cuda->api.memory_free(cuda->sums.memory);
    if (unit->watch != 0)
      (void)cuda->api.memory_free(unit->watch);
    if (unit->done != NULL)
      (void)cuda->api.event_destroy(unit->done);
    if (unit->stream != NULL)
      (void)cuda->api.stream_destroy(unit->stream);
    (void)cuda->api.context_release(unit->device);
  }
  lmi_nvrtc_api_close(&cuda->nvrtc);
  lmi_cuda_api_close(&cuda->api);
  lmi_free(device->ctx, cuda);
}

/* ---- memory ---- */

/* Room kept for kernels, staging and the driver's own needs. */
static const uint64_t MARGIN_BYTES = (uint64_t)256 << 20;

static lamina_status require_room_on(const lmi_cuda_device *cuda, int u, uint64_t bytes, double bytes_per_cell)
{
  size_t free_bytes = 0, total_bytes = 0;
  const lmi_cuda_unit *unit = &cuda->units[u];
  LMI_TRY(lmi_cuda_enter(cuda, u));
  LMI_TRY(lmi_cuda_check(cuda->base.ctx, &cuda->api, cuda->api.memory_info(&free_bytes, &total_bytes),
                         "asking for free memory"));
  const double usable = free_bytes > MARGIN_BYTES ? (double)(free_bytes - MARGIN_BYTES) : 0.0;
  if ((double)bytes <= usable)
    return LAMINA_OK;
  char need[32], have[32];
  return lmi_fail(cuda->base.ctx, LAMINA_ERROR_MEMORY,
                  "device %d (%s) would have to hold %s of fields, but %s of its memory is free: about %.0f million "
                  "cells fit (take fewer cells, in-place streaming, a smaller precision or more devices)",
                  unit->ordinal, unit->name, lmi_format_bytes((double)bytes, need),
                  lmi_format_bytes((double)free_bytes, have), usable / bytes_per_cell / 1e6);
}

static lamina_status cuda_require_room(lmi_device *device, uint64_t bytes, uint64_t cells, int partitions)
{
  const lmi_cuda_device *cuda = (const lmi_cuda_device *)device;
  LMI_REQUIRE(device->ctx, partitions < LMI_CUDA_MAX_PARTITIONS, LAMINA_ERROR_ARGUMENT,
              "%d partitions: the cuda backend takes fewer than %d", partitions, (int)LMI_CUDA_MAX_PARTITIONS);
  const double bytes_per_cell = (double)bytes / (double)cells;
  const uint64_t share = (bytes + (uint64_t)partitions - 1) / (uint64_t)partitions;
  for (int u = 0; u < cuda->unit_count; u++) {
    const int owned = (partitions - u + cuda->unit_count - 1) / cuda->unit_count;
    LMI_TRY(require_room_on(cuda, u, share * (uint64_t)owned, bytes_per_cell));
  }
  return LAMINA_OK;
}

static lamina_status cuda_allocate(lmi_device *device, int partition, size_t bytes, void **memory)
{
  lmi_cuda_device *cuda = (lmi_cuda_device *)device;
  lmi_cu_address address = 0;
  char text[32];
  *memory = NULL;
  LMI_TRY(lmi_cuda_enter(cuda, lmi_cuda_unit_of(cuda, partition)));
  if (lmi_cuda_check(device->ctx, &cuda->api, cuda->api.memory_allocate(&address, bytes), "cuMemAlloc") != LAMINA_OK)
    return lmi_fail_within(device->ctx, LAMINA_ERROR_MEMORY, "allocating %s for slab %d",
                           lmi_format_bytes((double)bytes, text), partition);
  *memory = (void *)(uintptr_t)address;
  return LAMINA_OK;
}

static void cuda_release(lmi_device *device, int partition, void *memory, size_t bytes)
{
  (void)bytes;
  lmi_cuda_device *cuda = (lmi_cuda_device *)device;
  if (lmi_cuda_enter(cuda, lmi_cuda_unit_of(cuda, partition)) == LAMINA_OK)
    (void)cuda->api.memory_free((lmi_cu_address)(uintptr_t)memory);
}

/* ---- kernels ---- */

static lamina_status find_function(const lmi_cuda_device *cuda, lmi_cu_module module, const char *name,
                                   lmi_cu_function *function)
{
  return lmi_cuda_check(cuda->base.ctx, &cuda->api, cuda->api.module_function(function, module, name), name);
}

static const struct {
  lmi_cuda_text text;
  lmi_cuda_role role;
  int variant;
  const char *name;
} functions[] = {
  {LMI_CUDA_DENSE, LMI_CUDA_STEP, 0, "lmk_step_even"},
  {LMI_CUDA_DENSE, LMI_CUDA_STEP, 1, "lmk_step_odd"},
  {LMI_CUDA_DENSE, LMI_CUDA_IMPORT, 0, "lmk_import_planes"},
  {LMI_CUDA_DENSE, LMI_CUDA_EXPORT, 0, "lmk_export_planes"},
  {LMI_CUDA_DENSE, LMI_CUDA_MOMENTS, 0, "lmk_moments"},
  {LMI_CUDA_BLOCKS, LMI_CUDA_STEP, 0, "lmk_block_step_simple"},
  {LMI_CUDA_BLOCKS, LMI_CUDA_STEP, 1, "lmk_block_step_any"},
  {LMI_CUDA_BLOCKS, LMI_CUDA_IMPORT, 0, "lmk_block_import"},
  {LMI_CUDA_BLOCKS, LMI_CUDA_EXPORT, 0, "lmk_block_export"},
  {LMI_CUDA_BLOCKS, LMI_CUDA_MOMENTS, 0, "lmk_block_moments"},
  {LMI_CUDA_SPECIAL, LMI_CUDA_STEP, 0, "lmk_block_step_simple"},
  {LMI_CUDA_SPECIAL, LMI_CUDA_STEP, 1, "lmk_block_step_any"},
  {LMI_CUDA_SPECIAL, LMI_CUDA_SETTLE, 0, "lmk_block_settle"},
};

static lamina_status load_on_unit(lmi_cuda_device *cuda, const char *name, const char *text, int u, lmi_cuda_set *set)
{
  lmi_cubin cubin;
  const lmi_cuda_target target = {cuda->units[u].architecture, cuda->driver};
  LMI_TRY(lmi_cuda_enter(cuda, u));
  LMI_TRY(lmi_cuda_obtain(cuda->base.ctx, &cuda->nvrtc, name, text, &target, &cubin));
  const lamina_status loaded =
    lmi_cuda_check(cuda->base.ctx, &cuda->api, cuda->api.module_load(&set->modules[u], cubin.data), "loading a kernel");
  lmi_cubin_free(cuda->base.ctx, &cubin);
  LMI_TRY(loaded);
  const lmi_cu_module module = set->modules[u];
  for (size_t i = 0; i < LMI_COUNT(functions); i++)
    if (functions[i].text == set->text)
      LMI_TRY(find_function(cuda, module, functions[i].name,
                            &set->kernels[functions[i].role].functions[u][functions[i].variant]));
  LMI_TRY(find_function(cuda, module, "lmk_meet", &set->meet[u]));
  return find_function(cuda, module, "lmk_watch_advance", &set->advance[u]);
}

static bool is_same_key(const lmi_dense_key *a, const lmi_dense_key *b)
{
  return a->lattice == b->lattice && a->collision == b->collision && a->precision == b->precision &&
         a->storage == b->storage && a->streaming == b->streaming && a->layout == b->layout && a->force == b->force &&
         a->nx == b->nx && a->ny == b->ny && a->wraps_x == b->wraps_x && a->wraps_y == b->wraps_y &&
         a->wraps_z == b->wraps_z && a->direct == b->direct && a->joined == b->joined && a->special == b->special;
}

static lamina_status write_text(lamina_context *ctx, const lmi_dense_key *key, lmi_cuda_text kind, lmi_text *text)
{
  return kind == LMI_CUDA_DENSE ? lmi_cuda_dense_text(ctx, key, text) : lmi_cuda_block_text(ctx, key, text);
}

static lamina_status add_set(lmi_cuda_device *cuda, const lmi_dense_key *key, lmi_cuda_text kind)
{
  lamina_context *ctx = cuda->base.ctx;
  lmi_cuda_set *set = NULL;
  lmi_text text = {0};
  char name[96];
  LMI_TRY(LMI_ALLOC(ctx, 1, &set));
  set->key = *key;
  set->text = kind;
  set->next = cuda->sets;
  cuda->sets = set;
  for (int role = LMI_CUDA_STEP; role < LMI_CUDA_ROLES; role++)
    set->kernels[role] = (lmi_kernel){
      .role = (lmi_cuda_role)role,
      .shape = kind == LMI_CUDA_DENSE ? lmi_cuda_shape_for(key) : lmi_cuda_block_shape_for(key),
      .nx = key->nx,
      .ny = key->ny,
      .direct = key->direct && kind == LMI_CUDA_DENSE,
      .joined = key->joined && kind == LMI_CUDA_DENSE,
      .is_blocks = kind != LMI_CUDA_DENSE,
      .value_bytes = role == LMI_CUDA_MOMENTS || key->precision == LAMINA_F64 ? sizeof(double) : sizeof(float),
    };
  lmi_cuda_kernel_name(key, name);
  lamina_status status = write_text(ctx, key, kind, &text);
  for (int u = 0; u < cuda->unit_count && status == LAMINA_OK; u++)
    status = load_on_unit(cuda, name, text.data, u, set);
  lmi_text_free(ctx, &text);
  if (status != LAMINA_OK)
    free_newest_set(cuda);
  return status;
}

lamina_status lmi_cuda_require_set(lmi_cuda_device *cuda, const lmi_dense_key *key, lmi_cuda_text text,
                                   const lmi_cuda_set **found)
{
  lmi_cuda_set *set = cuda->sets;
  while (set != NULL && (set->text != text || !is_same_key(&set->key, key)))
    set = set->next;
  if (set == NULL)
    LMI_TRY(add_set(cuda, key, text));
  *found = set != NULL ? set : cuda->sets;
  return LAMINA_OK;
}

static lamina_status cuda_dense_kernels(lmi_device *device, const lmi_dense_key *asked, lmi_dense_kernels *kernels)
{
  lmi_cuda_device *cuda = (lmi_cuda_device *)device;
  lmi_dense_key own = *asked;
  const lmi_dense_key *const key = &own;
  own.direct = asked->direct && cuda->reaches_all;
  own.joined = own.direct && cuda->unit_count == 1;
  const double places = (double)(key->nx + 128) * (double)(key->ny + 2);
  LMI_REQUIRE(device->ctx, places < 2147483648.0, LAMINA_ERROR_ARGUMENT,
              "planes of %lld x %lld cells: the cuda backend takes at most 2^31 places a plane", (long long)key->nx,
              (long long)key->ny);
  const lmi_cuda_set *found = NULL;
  LMI_TRY(lmi_cuda_require_set(cuda, key, LMI_CUDA_DENSE, &found));
  *kernels = (lmi_dense_kernels){&found->kernels[LMI_CUDA_STEP], &found->kernels[LMI_CUDA_IMPORT],
                                 &found->kernels[LMI_CUDA_EXPORT], &found->kernels[LMI_CUDA_MOMENTS]};
  return LAMINA_OK;
}

static void cuda_shape_plane(const lmi_dense_key *key, lmi_plane_shape *shape)
{
  *shape = lmi_cuda_shape_for(key).plane;
}

const lmi_device_ops lmi_cuda_ops = {
  .name = "cuda",
  .open = cuda_open,
  .close = cuda_close,
  .shape_plane = cuda_shape_plane,
  .require_room = cuda_require_room,
  .allocate = cuda_allocate,
  .release = cuda_release,
  .dense_kernels = cuda_dense_kernels,
  .block_kernels = lmi_cuda_block_kernels,
  .exchange = lmi_cuda_exchange,
  .send_table = lmi_cuda_send_table,
  .fetch_table = lmi_cuda_fetch_table,
  .replay = lmi_cuda_replay,
  .run_planes = lmi_cuda_run_planes,
  .keep_planes = lmi_cuda_keep_planes,
  .send = lmi_cuda_send,
  .fetch = lmi_cuda_fetch,
  .sum_planes = lmi_cuda_sum_planes,
};
