/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for the cuda backend in a build without it. */
#include "device/device.h"

static lamina_status none_open(lamina_context *ctx, const lmi_device_options *options, lmi_device **device)
{
  (void)options;
  *device = NULL;
  return lmi_fail(ctx, LAMINA_UNAVAILABLE, "this build has no cuda backend: configure with -DLAMINA_CUDA=ON");
}

const lmi_device_ops lmi_cuda_ops = {.name = "cuda", .open = none_open};
