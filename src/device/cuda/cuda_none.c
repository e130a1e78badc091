/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for the cuda backend in a build without it. */
#include "device/device.h"

#include <lamina/accelerator.h>

static lamina_status refuse(lamina_context *ctx)
{
  return lmi_fail(ctx, LAMINA_UNAVAILABLE, "this build has no cuda backend: configure with -DLAMINA_CUDA=ON");
}

static lamina_status none_open(lamina_context *ctx, const lmi_device_options *options, lmi_device **device)
{
  (void)options;
  *device = NULL;
  return refuse(ctx);
}

lamina_status lamina_accelerator_read(lamina_context *context, int ordinal, lamina_accelerator *accelerator)
{
  (void)ordinal;
  *accelerator = (lamina_accelerator){0};
  return refuse(context);
}

lamina_accelerator_probe lamina_accelerator_probe_default(void)
{
  const lamina_accelerator_probe probe = {.streams = 19, .element_bytes = 4, .cells = 16777216, .repetitions = 5};
  return probe;
}

lamina_status lamina_accelerator_stream_ceiling(lamina_context *context, const lamina_accelerator_probe *probe,
                                                lamina_bandwidth *result)
{
  (void)probe;
  *result = (lamina_bandwidth){0};
  return refuse(context);
}

const char *lamina_link_name(lamina_link link)
{
  (void)link;
  return NULL;
}

lamina_status lamina_accelerator_link(lamina_context *context, int ordinal, lamina_link link, uint64_t bytes,
                                      int repetitions, lamina_bandwidth *result)
{
  (void)ordinal;
  (void)link;
  (void)bytes;
  (void)repetitions;
  *result = (lamina_bandwidth){0};
  return refuse(context);
}

lamina_status lamina_accelerator_measure_setup(lamina_context *context, int ordinal, int repetitions,
                                               lamina_accelerator_setup *setup)
{
  (void)ordinal;
  (void)repetitions;
  *setup = (lamina_accelerator_setup){0};
  return refuse(context);
}

lamina_status lamina_accelerator_measure_peer(lamina_context *context, int from, int to, int repetitions,
                                              lamina_accelerator_peer *peer)
{
  (void)from;
  (void)to;
  (void)repetitions;
  *peer = (lamina_accelerator_peer){0};
  return refuse(context);
}

const lmi_device_ops lmi_cuda_ops = {.name = "cuda", .open = none_open};

lamina_status lamina_link_injector_create(lamina_context *context, int ordinal, uint64_t array_bytes,
                                          lamina_link_injector **injector)
{
  (void)ordinal;
  (void)array_bytes;
  *injector = NULL;
  return refuse(context);
}

lamina_status lamina_link_injector_run(lamina_link_injector *injector, const lamina_link_run *run,
                                       lamina_link_traffic *traffic)
{
  (void)injector;
  (void)run;
  *traffic = (lamina_link_traffic){0};
  return LAMINA_UNAVAILABLE; /* there is no injector to call it with */
}

void lamina_link_injector_destroy(lamina_link_injector *injector)
{
  (void)injector;
}
