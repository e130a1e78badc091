/* SPDX-License-Identifier: Apache-2.0 */
/* Planes between a slab and host memory, a staging buffer at a time: the host never holds a second copy of the field.
 */
#include "cuda_internal.h"

static const size_t STAGING_BYTES = (size_t)32 << 20;

/* Room for at least one plane; made once for the largest plane that was asked for. */
static lamina_status require_staging(lmi_cuda_device *cuda, lmi_cuda_unit *unit, size_t bytes_per_plane)
{
  const size_t wanted = bytes_per_plane > STAGING_BYTES ? bytes_per_plane : STAGING_BYTES;
  if (unit->staging_bytes >= wanted)
    return LAMINA_OK;
  if (unit->staging != 0)
    LMI_TRY(lmi_cuda_check(cuda->base.ctx, &cuda->api, cuda->api.memory_free(unit->staging), "freeing staging memory"));
  unit->staging = 0;
  unit->staging_bytes = 0;
  LMI_TRY(lmi_cuda_check(cuda->base.ctx, &cuda->api, cuda->api.memory_allocate(&unit->staging, wanted),
                         "allocating staging memory for planes"));
  unit->staging_bytes = wanted;
  return LAMINA_OK;
}

static lamina_status move_chunk(const lmi_cuda_device *cuda, const lmi_launch *launch, const lmi_cuda_unit *unit,
                                int64_t first, int64_t count, size_t bytes_per_plane)
{
  lamina_context *ctx = cuda->base.ctx;
  const lmk_planes *planes = launch->arguments;
  char *host = (char *)planes->buffer + (size_t)(first - planes->first) * bytes_per_plane;
  const size_t bytes = (size_t)count * bytes_per_plane;
  const bool is_import = launch->kernel->role == LMI_CUDA_IMPORT;
  if (is_import)
    LMI_TRY(lmi_cuda_check(ctx, &cuda->api, cuda->api.copy_to_device(unit->staging, host, bytes, unit->stream),
                           "copying planes to the device"));
  LMI_TRY(lmi_cuda_launch_planes(cuda, launch, unit->staging, first, count));
  if (!is_import)
    LMI_TRY(lmi_cuda_check(ctx, &cuda->api, cuda->api.copy_to_host(host, unit->staging, bytes, unit->stream),
                           "copying planes from the device"));
  return lmi_cuda_check(ctx, &cuda->api, cuda->api.stream_synchronize(unit->stream), "moving planes");
}

lamina_status lmi_cuda_run_planes(lmi_device *device, const lmi_launch *launch, size_t bytes_per_plane)
{
  lmi_cuda_device *cuda = (lmi_cuda_device *)device;
  const int u = lmi_cuda_unit_of(cuda, launch->partition);
  lmi_cuda_unit *unit = &cuda->units[u];
  LMI_TRY(lmi_cuda_enter(cuda, u));
  LMI_TRY(require_staging(cuda, unit, bytes_per_plane));
  const int64_t at_once = (int64_t)(unit->staging_bytes / bytes_per_plane), end = launch->first + launch->count;
  for (int64_t z = launch->first; z < end; z += at_once) {
    const int64_t count = end - z < at_once ? end - z : at_once;
    LMI_TRY(move_chunk(cuda, launch, unit, z, count, bytes_per_plane));
  }
  return LAMINA_OK;
}
