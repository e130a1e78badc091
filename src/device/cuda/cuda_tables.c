/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the host's tables on devices, found by the host's addresses. */
#include "cuda_internal.h"

static lamina_status check(const lmi_cuda_device *cuda, lmi_cu_result result, const char *what)
{
  return lmi_cuda_check(cuda->base.ctx, &cuda->api, result, what);
}

static lmi_cuda_mirror *find(const lmi_cuda_device *cuda, int unit, const void *host)
{
  lmi_cuda_mirror *mirror = cuda->mirrors;
  while (mirror != NULL && (mirror->host != host || mirror->unit != unit))
    mirror = mirror->next;
  return mirror;
}

/* An empty table has a copy too: its address is never read through. */
static lamina_status make(lmi_cuda_device *cuda, int unit, const void *host, size_t bytes, lmi_cuda_mirror **made)
{
  lmi_cuda_mirror *mirror = NULL;
  LMI_TRY(LMI_ALLOC(cuda->base.ctx, 1, &mirror));
  *mirror = (lmi_cuda_mirror){.host = host, .bytes = bytes, .unit = unit, .next = cuda->mirrors};
  cuda->mirrors = mirror; /* from here on close() frees it */
  *made = mirror;
  LMI_TRY(lmi_cuda_enter(cuda, unit));
  return check(cuda, cuda->api.memory_allocate(&mirror->memory, bytes > 0 ? bytes : 1), "allocating tables of blocks");
}

static lamina_status fill(const lmi_cuda_device *cuda, const lmi_cuda_mirror *mirror, const void *data, size_t bytes)
{
  const lmi_cu_stream stream = cuda->units[mirror->unit].stream;
  LMI_TRY(lmi_cuda_enter(cuda, mirror->unit));
  if (bytes > 0)
    LMI_TRY(check(cuda, cuda->api.copy_to_device(mirror->memory, data, bytes, stream), "copying tables of blocks"));
  return check(cuda, cuda->api.stream_synchronize(stream), "copying tables of blocks");
}

lamina_status lmi_cuda_add_table(lmi_cuda_device *cuda, int unit, const void *host, const void *data, size_t bytes)
{
  lmi_cuda_mirror *mirror = NULL;
  if (host == NULL || find(cuda, unit, host) != NULL)
    return LAMINA_OK;
  LMI_TRY(make(cuda, unit, host, bytes, &mirror));
  return fill(cuda, mirror, data, bytes);
}

void *lmi_cuda_table(const lmi_cuda_device *cuda, int unit, const void *host)
{
  const lmi_cuda_mirror *mirror = host != NULL ? find(cuda, unit, host) : NULL;
  return mirror != NULL ? (void *)(uintptr_t)mirror->memory : NULL;
}

void *lmi_cuda_sent(const lmi_cuda_device *cuda, const void *inside)
{
  const uintptr_t at = (uintptr_t)inside;
  for (const lmi_cuda_mirror *m = cuda->mirrors; m != NULL && inside != NULL; m = m->next)
    if (m->is_sent && m->unit == 0 && at >= (uintptr_t)m->host && at - (uintptr_t)m->host < m->bytes)
      return (void *)(uintptr_t)(m->memory + (at - (uintptr_t)m->host));
  return NULL;
}

lamina_status lmi_cuda_send_table(lmi_device *device, const void *table, size_t bytes)
{
  lmi_cuda_device *cuda = (lmi_cuda_device *)device;
  lmi_cuda_mirror *mirror = find(cuda, 0, table);
  LMI_REQUIRE(device->ctx, cuda->unit_count == 1 || cuda->reaches_all, LAMINA_UNAVAILABLE,
              "open faces, slip, curved and moving bodies, and loads on %d devices need devices that reach each "
              "other's memory; use one",
              cuda->unit_count);
  if (mirror == NULL)
    LMI_TRY(make(cuda, 0, table, bytes, &mirror));
  mirror->is_sent = true;
  return fill(cuda, mirror, table, bytes);
}

lamina_status lmi_cuda_fetch_table(lmi_device *device, void *table, size_t bytes)
{
  const lmi_cuda_device *cuda = (const lmi_cuda_device *)device;
  const lmi_cuda_mirror *mirror = find(cuda, 0, table);
  if (mirror == NULL) /* never sent: nothing there is newer */
    return LAMINA_OK;
  const lmi_cu_stream stream = cuda->units[0].stream;
  LMI_TRY(lmi_cuda_enter(cuda, 0));
  LMI_TRY(check(cuda, cuda->api.copy_to_host(table, mirror->memory, bytes, stream), "fetching boundary data"));
  return check(cuda, cuda->api.stream_synchronize(stream), "fetching boundary data");
}

void lmi_cuda_free_tables(lmi_cuda_device *cuda)
{
  while (cuda->mirrors != NULL) {
    lmi_cuda_mirror *mirror = cuda->mirrors;
    cuda->mirrors = mirror->next;
    if (mirror->memory != 0 && lmi_cuda_enter(cuda, mirror->unit) == LAMINA_OK)
      (void)cuda->api.memory_free(mirror->memory);
    lmi_free(cuda->base.ctx, mirror);
  }
}
