/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between ranks from and into memory of devices. Where the MPI library takes addresses of devices it gets
 * them; elsewhere messages go through pinned memory of the host, packed there into one run each. */
#include "cuda_internal.h"

typedef struct cuda_exchange {
  lmi_exchange base;
  lmi_cuda_device *cuda;
  lmi_exchange *inner;
  lmi_message *messages; /* in memory of devices; NULL: MPI takes them as they are */
  size_t count;
  char *pinned; /* all messages, one after the other */
} cuda_exchange;

enum { MESSAGE_ALIGNMENT = 256 };

static lamina_status check(const lmi_cuda_device *cuda, lmi_cu_result result, const char *what)
{
  return lmi_cuda_check(cuda->base.ctx, &cuda->api, result, what);
}

static size_t room_of(const lmi_message *message)
{
  return (message->bytes * message->rows + MESSAGE_ALIGNMENT - 1) / MESSAGE_ALIGNMENT * MESSAGE_ALIGNMENT;
}

/* Between a message on a device and its packed copy. */
static lamina_status move(const cuda_exchange *made, const lmi_message *message, char *host)
{
  const lmi_cuda_device *cuda = made->cuda;
  const int u = lmi_cuda_unit_of(cuda, message->partition);
  const lmi_cu_address device = (lmi_cu_address)(uintptr_t)message->memory;
  const lmi_cu_address packed = (lmi_cu_address)(uintptr_t)host;
  const bool in = message->is_receive;
  const lmi_cu_copy_2d rows = {
    .source_type = LMI_CU_MEMORY_UNIFIED,
    .source_device = in ? packed : device,
    .source_pitch = in || message->rows == 1 ? message->bytes : message->pitch,
    .target_type = LMI_CU_MEMORY_UNIFIED,
    .target_device = in ? device : packed,
    .target_pitch = in && message->rows > 1 ? message->pitch : message->bytes,
    .bytes = message->bytes,
    .rows = message->rows,
  };
  LMI_TRY(lmi_cuda_enter(cuda, u));
  if (message->rows > 1)
    return check(cuda, cuda->api.copy_rows(&rows, cuda->units[u].stream), "moving a message of rows");
  return check(cuda,
               in ? cuda->api.copy_to_device(device, host, message->bytes, cuda->units[u].stream)
                  : cuda->api.copy_to_host(host, device, message->bytes, cuda->units[u].stream),
               "moving a message");
}

static lamina_status move_all(const cuda_exchange *made, bool receives)
{
  const lmi_cuda_device *cuda = made->cuda;
  char *host = made->pinned;
  for (size_t i = 0; i < made->count && made->messages != NULL; i++) {
    if (made->messages[i].is_receive == receives)
      LMI_TRY(move(made, &made->messages[i], host));
    host += room_of(&made->messages[i]);
  }
  for (int u = 0; u < cuda->unit_count; u++) {
    LMI_TRY(lmi_cuda_enter(cuda, u));
    LMI_TRY(check(cuda, cuda->api.stream_synchronize(cuda->units[u].stream), "moving messages"));
  }
  return LAMINA_OK;
}

/* What is sent was computed before: the replay has waited for it. */
static lamina_status start(lmi_exchange *exchange)
{
  const cuda_exchange *made = (const cuda_exchange *)exchange;
  LMI_TRY(move_all(made, false));
  return made->inner->ops->start(made->inner);
}

static void advance(lmi_exchange *exchange)
{
  const cuda_exchange *made = (const cuda_exchange *)exchange;
  made->inner->ops->advance(made->inner);
}

static lamina_status finish(lmi_exchange *exchange)
{
  const cuda_exchange *made = (const cuda_exchange *)exchange;
  LMI_TRY(made->inner->ops->finish(made->inner));
  return move_all(made, true);
}

static void destroy(lmi_exchange *exchange)
{
  cuda_exchange *made = (cuda_exchange *)exchange;
  lamina_context *ctx = made->cuda->base.ctx;
  lmi_exchange_destroy(made->inner);
  if (made->pinned != NULL && lmi_cuda_enter(made->cuda, 0) == LAMINA_OK)
    (void)made->cuda->api.host_free(made->pinned);
  lmi_free(ctx, made->messages);
  lmi_free(ctx, made);
}

static const lmi_exchange_ops CUDA_OPS = {start, advance, finish, destroy};

/* Plans the messages of packed copies. */
static lamina_status plan_staged(cuda_exchange *made, const lmi_message *messages)
{
  lamina_context *ctx = made->cuda->base.ctx;
  const lmi_cuda_api *api = &made->cuda->api;
  lmi_message *packed = NULL;
  void *pinned = NULL;
  size_t bytes = MESSAGE_ALIGNMENT;
  lamina_status status = LAMINA_OK;
  LMI_TRY(LMI_ALLOC(ctx, made->count, &made->messages));
  for (size_t i = 0; i < made->count; i++) {
    made->messages[i] = messages[i];
    bytes += room_of(&messages[i]);
  }
  LMI_TRY(lmi_cuda_enter(made->cuda, 0));
  LMI_TRY(check(made->cuda, api->host_allocate(&pinned, bytes, LMI_CU_HOST_ALLOC_PORTABLE),
                "allocating pinned memory for messages"));
  made->pinned = pinned;
  LMI_TRY(LMI_ALLOC(ctx, made->count, &packed));
  for (size_t i = 0, at = 0; i < made->count; at += room_of(&messages[i]), i++) {
    packed[i] = messages[i];
    packed[i].memory = made->pinned + at;
    packed[i].bytes = packed[i].pitch = messages[i].bytes * messages[i].rows;
    packed[i].rows = 1;
  }
  status = lmi_exchange_create(ctx, packed, made->count, &made->inner);
  lmi_free(ctx, packed);
  return status;
}

lamina_status lmi_cuda_exchange(lmi_device *device, const lmi_message *messages, size_t count, lmi_exchange **exchange)
{
  cuda_exchange *made = NULL;
  *exchange = NULL;
  LMI_TRY(LMI_ALLOC(device->ctx, 1, &made));
  *made = (cuda_exchange){.cuda = (lmi_cuda_device *)device, .count = count};
  const lamina_status status = lmi_ranks_take_device_memory(device->ctx)
                                 ? lmi_exchange_create(device->ctx, messages, count, &made->inner)
                                 : plan_staged(made, messages);
  if (status != LAMINA_OK) {
    destroy(&made->base);
    return status;
  }
  made->base = (lmi_exchange){&CUDA_OPS, made->inner->messages, made->inner->bytes};
  *exchange = &made->base;
  return LAMINA_OK;
}
