/* SPDX-License-Identifier: Apache-2.0 */
/* Planes between a slab and host memory, a buffer at a time: the host never holds a second copy of the field. Two
 * buffers take turns. While one crosses the link, threads of the host empty or fill the other: a link is several times
 * as fast as one thread copies. The host's buffers are pinned; where the system refuses that, the driver copies from
 * and to the caller's memory itself. */
#include "cuda_internal.h"

#include <string.h>

static const size_t STAGING_BYTES = (size_t)32 << 20;

static lamina_status check(const lmi_cuda_device *cuda, lmi_cu_result result, const char *what)
{
  return lmi_cuda_check(cuda->base.ctx, &cuda->api, result, what);
}

void lmi_cuda_free_staging(const lmi_cuda_device *cuda, lmi_cuda_unit *unit)
{
  for (int i = 0; i < LMI_CUDA_STAGES; i++) {
    lmi_cuda_stage *stage = &unit->stages[i];
    if (stage->memory != 0)
      (void)cuda->api.memory_free(stage->memory);
    if (stage->pinned != NULL)
      (void)cuda->api.host_free(stage->pinned);
    if (stage->moved != NULL)
      (void)cuda->api.event_destroy(stage->moved);
    *stage = (lmi_cuda_stage){0};
  }
  unit->stage_bytes = 0;
}

static lamina_status make_stage(const lmi_cuda_device *cuda, lmi_cuda_stage *stage, size_t bytes)
{
  const lmi_cuda_api *api = &cuda->api;
  LMI_TRY(check(cuda, api->memory_allocate(&stage->memory, bytes), "allocating staging memory for planes"));
  LMI_TRY(check(cuda, api->event_create(&stage->moved, LMI_CU_EVENT_DISABLE_TIMING), "making an event"));
  if (api->host_allocate(&stage->pinned, bytes, LMI_CU_HOST_ALLOC_PORTABLE) != 0)
    stage->pinned = NULL;
  return LAMINA_OK;
}

/* Room for at least one plane; made once for the largest plane that was asked for. */
static lamina_status require_staging(const lmi_cuda_device *cuda, lmi_cuda_unit *unit, size_t bytes_per_plane)
{
  const size_t wanted = bytes_per_plane > STAGING_BYTES ? bytes_per_plane : STAGING_BYTES;
  if (unit->stage_bytes >= wanted)
    return LAMINA_OK;
  lmi_cuda_free_staging(cuda, unit);
  for (int i = 0; i < LMI_CUDA_STAGES; i++)
    LMI_TRY(make_stage(cuda, &unit->stages[i], wanted));
  unit->stage_bytes = wanted;
  return LAMINA_OK;
}

/* A part of the planes on its way. */
typedef struct part {
  int64_t first, count;
  char *host; /* the caller's */
  size_t bytes;
  lmi_cuda_stage *stage;
} part;

static void copy_on_host(const lmi_cuda_device *cuda, char *target, const char *source, size_t bytes)
{
  const size_t slice = (size_t)1 << 20;
#pragma omp parallel for num_threads(lamina_context_thread_count(cuda->base.ctx)) schedule(static)
  for (size_t at = 0; at < bytes; at += slice)
    memcpy(target + at, source + at, bytes - at < slice ? bytes - at : slice);
}

static lamina_status launch_part(lmi_cuda_device *cuda, const lmi_launch *launch, const part *p)
{
  if (launch->kernel->is_blocks)
    return lmi_cuda_launch_block_planes(cuda, launch, p->stage->memory, p->first, p->count,
                                        p->bytes / (size_t)p->count);
  return lmi_cuda_launch_planes(cuda, launch, p->stage->memory, p->first, p->count);
}

static lamina_status send_part(lmi_cuda_device *cuda, const lmi_cuda_unit *unit, const lmi_launch *launch,
                               const part *p)
{
  const lmi_cuda_api *api = &cuda->api;
  const char *source = p->host;
  if (p->stage->pinned != NULL) {
    /* What was sent from here before has left. */
    LMI_TRY(check(cuda, api->event_synchronize(p->stage->moved), "moving planes"));
    copy_on_host(cuda, p->stage->pinned, p->host, p->bytes);
    source = p->stage->pinned;
  }
  LMI_TRY(
    check(cuda, api->copy_to_device(p->stage->memory, source, p->bytes, unit->stream), "copying planes to the device"));
  LMI_TRY(check(cuda, api->event_record(p->stage->moved, unit->stream), "moving planes"));
  return launch_part(cuda, launch, p);
}

static lamina_status fetch_part(lmi_cuda_device *cuda, const lmi_cuda_unit *unit, const lmi_launch *launch,
                                const part *p)
{
  const lmi_cuda_api *api = &cuda->api;
  char *target = p->stage->pinned != NULL ? p->stage->pinned : p->host;
  LMI_TRY(launch_part(cuda, launch, p));
  LMI_TRY(
    check(cuda, api->copy_to_host(target, p->stage->memory, p->bytes, unit->stream), "copying planes from the device"));
  return check(cuda, api->event_record(p->stage->moved, unit->stream), "moving planes");
}

static lamina_status finish_fetch(const lmi_cuda_device *cuda, const part *p)
{
  LMI_TRY(check(cuda, cuda->api.event_synchronize(p->stage->moved), "moving planes"));
  if (p->stage->pinned != NULL)
    copy_on_host(cuda, p->host, p->stage->pinned, p->bytes);
  return LAMINA_OK;
}

static lamina_status move_parts(lmi_cuda_device *cuda, lmi_cuda_unit *unit, const lmi_launch *launch,
                                size_t bytes_per_plane)
{
  const lmk_planes *rows = launch->arguments;
  const lmk_block_planes *blocks = launch->arguments;
  char *const buffer = launch->kernel->is_blocks ? blocks->buffer : rows->buffer;
  const int64_t buffer_plane = launch->kernel->is_blocks ? blocks->first : rows->first;
  const bool is_import = launch->kernel->role == LMI_CUDA_IMPORT;
  const int64_t at_once = (int64_t)(unit->stage_bytes / bytes_per_plane), end = launch->first + launch->count;
  part before = {.count = 0};
  for (int64_t z = launch->first, i = 0; z < end; z += at_once, i++) {
    const int64_t count = end - z < at_once ? end - z : at_once;
    const part now = {
      .first = z,
      .count = count,
      .host = buffer + (size_t)(z - buffer_plane) * bytes_per_plane,
      .bytes = (size_t)count * bytes_per_plane,
      .stage = &unit->stages[i % LMI_CUDA_STAGES],
    };
    LMI_TRY(is_import ? send_part(cuda, unit, launch, &now) : fetch_part(cuda, unit, launch, &now));
    if (!is_import && before.count > 0)
      LMI_TRY(finish_fetch(cuda, &before));
    before = now;
  }
  if (!is_import && before.count > 0)
    LMI_TRY(finish_fetch(cuda, &before));
  return check(cuda, cuda->api.stream_synchronize(unit->stream), "moving planes");
}

lamina_status lmi_cuda_run_planes(lmi_device *device, const lmi_launch *launch, size_t bytes_per_plane)
{
  lmi_cuda_device *cuda = (lmi_cuda_device *)device;
  const int u = lmi_cuda_unit_of(cuda, launch->partition);
  LMI_TRY(lmi_cuda_enter(cuda, u));
  LMI_TRY(require_staging(cuda, &cuda->units[u], bytes_per_plane));
  return move_parts(cuda, &cuda->units[u], launch, bytes_per_plane);
}

/* Moments that stay: on the first unit they are written where they are to be, from others they come through a stage. */
lamina_status lmi_cuda_keep_planes(lmi_device *device, const lmi_launch *launch, size_t bytes_per_plane)
{
  lmi_cuda_device *cuda = (lmi_cuda_device *)device;
  const int u = lmi_cuda_unit_of(cuda, launch->partition);
  const lmk_planes *rows = launch->arguments;
  const lmk_block_planes *blocks = launch->arguments;
  const lmi_cu_address target = (lmi_cu_address)(uintptr_t)(launch->kernel->is_blocks ? blocks->buffer : rows->buffer);
  lmi_cuda_unit *unit = &cuda->units[u];
  lmi_cuda_stage whole = {.memory = target};
  part p = {launch->first, launch->count, NULL, (size_t)launch->count * bytes_per_plane, &whole};
  LMI_TRY(lmi_cuda_enter(cuda, u));
  if (u == 0)
    return launch_part(cuda, launch, &p);
  LMI_TRY(require_staging(cuda, unit, bytes_per_plane));
  const int64_t at_once = (int64_t)(unit->stage_bytes / bytes_per_plane), end = launch->first + launch->count;
  for (int64_t z = launch->first; z < end; z += at_once) {
    const int64_t count = end - z < at_once ? end - z : at_once;
    p = (part){z, count, NULL, (size_t)count * bytes_per_plane, &unit->stages[0]};
    LMI_TRY(launch_part(cuda, launch, &p));
    LMI_TRY(check(cuda,
                  cuda->api.copy_on_device(target + (size_t)(z - launch->first) * bytes_per_plane,
                                           unit->stages[0].memory, p.bytes, unit->stream),
                  "gathering planes"));
  }
  return check(cuda, cuda->api.stream_synchronize(unit->stream), "gathering planes");
}

lamina_status lmi_cuda_send(lmi_device *device, int partition, void *memory, const void *host, size_t bytes)
{
  const lmi_cuda_device *cuda = (const lmi_cuda_device *)device;
  const int u = lmi_cuda_unit_of(cuda, partition);
  const lmi_cu_stream stream = cuda->units[u].stream;
  LMI_TRY(lmi_cuda_enter(cuda, u));
  LMI_TRY(check(cuda, cuda->api.copy_to_device((lmi_cu_address)(uintptr_t)memory, host, bytes, stream),
                "copying to the device"));
  return check(cuda, cuda->api.stream_synchronize(stream), "copying to the device");
}

lamina_status lmi_cuda_fetch(lmi_device *device, int partition, void *host, const void *memory, size_t bytes)
{
  const lmi_cuda_device *cuda = (const lmi_cuda_device *)device;
  const int u = lmi_cuda_unit_of(cuda, partition);
  const lmi_cu_stream stream = cuda->units[u].stream;
  LMI_TRY(lmi_cuda_enter(cuda, u));
  LMI_TRY(check(cuda, cuda->api.copy_to_host(host, (lmi_cu_address)(uintptr_t)memory, bytes, stream),
                "copying from the device"));
  return check(cuda, cuda->api.stream_synchronize(stream), "copying from the device");
}
