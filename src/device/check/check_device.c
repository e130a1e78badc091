/* SPDX-License-Identifier: Apache-2.0 */
/* The checking backend: the host backend on memory that is poisoned when it is made. A value that is read before
 * anything wrote it is a NaN, and the replay reports it as a fault. Tests run every case on it too. */
#include <string.h>

#include "check_exchange.h"
#include "device/device.h"

/* All bits set is a NaN in single and double precision. */
enum { POISON = 0xff };

static lamina_status check_open(lamina_context *ctx, const lmi_device_options *options, lmi_device **device)
{
  LMI_TRY(lmi_cpu_ops.open(ctx, options, device));
  (*device)->ops = &lmi_check_ops;
  return LAMINA_OK;
}

static void check_close(lmi_device *device)
{
  lmi_cpu_ops.close(device);
}

static lamina_status check_allocate(lmi_device *device, int partition, size_t bytes, void **memory)
{
  LMI_TRY(lmi_cpu_ops.allocate(device, partition, bytes, memory));
  memset(*memory, POISON, bytes);
  return LAMINA_OK;
}

static void check_release(lmi_device *device, int partition, void *memory, size_t bytes)
{
  lmi_cpu_ops.release(device, partition, memory, bytes);
}

static lamina_status check_dense_kernels(lmi_device *device, const lmi_dense_key *key, lmi_dense_kernels *kernels)
{
  return lmi_cpu_ops.dense_kernels(device, key, kernels);
}

static lamina_status check_block_kernels(lmi_device *device, const lmi_dense_key *key, lmi_block_kernels *kernels)
{
  return lmi_cpu_ops.block_kernels(device, key, kernels);
}

static lamina_status check_cells_kernel(lmi_device *device, const lamina_kernel_text *text, lamina_precision type,
                                        const lmi_kernel **kernel)
{
  return lmi_cpu_ops.cells_kernel(device, text, type, kernel);
}

static lamina_status check_exchange(lmi_device *device, const lmi_message *messages, size_t count,
                                    lmi_exchange **exchange)
{
  return lmi_check_exchange_create(device->ctx, messages, count, exchange);
}

static lamina_status check_replay(lmi_device *device, const lmi_program *program, int64_t start, int64_t count,
                                  lmi_fault *fault)
{
  return lmi_cpu_ops.replay(device, program, start, count, fault);
}

static void check_transfers(const lmi_device *device, lmi_transfers *transfers)
{
  lmi_cpu_ops.transfers(device, transfers);
}

static lamina_status check_run_planes(lmi_device *device, const lmi_launch *launch, size_t bytes_per_plane)
{
  return lmi_cpu_ops.run_planes(device, launch, bytes_per_plane);
}

const lmi_device_ops lmi_check_ops = {
  .name = "check",
  .open = check_open,
  .close = check_close,
  .allocate = check_allocate,
  .release = check_release,
  .dense_kernels = check_dense_kernels,
  .block_kernels = check_block_kernels,
  .crosses_jumps = true,
  .cells_kernel = check_cells_kernel,
  .exchange = check_exchange,
  .replay = check_replay,
  .transfers = check_transfers,
  .run_planes = check_run_planes,
};
