/* SPDX-License-Identifier: Apache-2.0 */
/* What two devices of one host can send each other: what starting a copy costs, and how fast a large one is. */
#include "cuda_probe.h"

static const uint64_t LARGE_BYTES = (uint64_t)256 << 20;

enum { SMALL_BYTES = 64 };

static lamina_status check(const lmi_cuda_probe *probe, lmi_cu_result result, const char *what)
{
  return lmi_cuda_check(probe->cuda->base.ctx, &probe->cuda->api, result, what);
}

static lamina_status take_memory(lmi_cuda_probe *probe)
{
  const lmi_cuda_api *api = &probe->cuda->api;
  for (int u = 0; u < 2; u++) {
    const lmi_cu_stream stream = probe->cuda->units[u].stream;
    LMI_TRY(lmi_cuda_enter(probe->cuda, u));
    LMI_TRY(check(probe, api->memory_allocate(&probe->memory[u], LARGE_BYTES), "allocating the probe's memory"));
    LMI_TRY(check(probe, api->set_bytes(probe->memory[u], 0x11, LARGE_BYTES, stream), "filling the probe's memory"));
    LMI_TRY(check(probe, api->stream_synchronize(stream), "filling the probe's memory"));
  }
  return lmi_cuda_enter(probe->cuda, 0);
}

static lamina_status issue_chain(const lmi_cuda_probe *probe, const lmi_cuda_work *work, int times)
{
  const lmi_cuda_api *api = &probe->cuda->api;
  for (int i = 0; i < times * LMI_PROBE_CHAIN; i++)
    LMI_TRY(check(
      probe, api->copy_on_device(probe->memory[1], probe->memory[0], (size_t)work->bytes, probe->cuda->units[0].stream),
      "copying to the other device"));
  return LAMINA_OK;
}

static lamina_status issue_one_way(const lmi_cuda_probe *probe, const lmi_cuda_work *work, int times)
{
  const lmi_cuda_api *api = &probe->cuda->api;
  for (int i = 0; i < times; i++)
    LMI_TRY(check(
      probe, api->copy_on_device(probe->memory[1], probe->memory[0], (size_t)work->bytes, probe->cuda->units[0].stream),
      "copying to the other device"));
  return LAMINA_OK;
}

/* Halves of both memories cross; the first device's stream waits for the other's. */
static lamina_status issue_both_ways(const lmi_cuda_probe *probe, const lmi_cuda_work *work, int times)
{
  const lmi_cuda_api *api = &probe->cuda->api;
  const lmi_cuda_unit *units = probe->cuda->units;
  const size_t half = (size_t)work->bytes / 2;
  LMI_TRY(check(probe, api->stream_wait(units[1].stream, probe->begin, 0), "ordering streams"));
  for (int i = 0; i < times; i++) {
    LMI_TRY(check(probe, api->copy_on_device(probe->memory[1], probe->memory[0], half, units[0].stream),
                  "copying to the other device"));
    LMI_TRY(check(probe, api->copy_on_device(probe->memory[0] + half, probe->memory[1] + half, half, units[1].stream),
                  "copying from the other device"));
  }
  LMI_TRY(check(probe, api->event_record(units[1].done, units[1].stream), "ordering streams"));
  return check(probe, api->stream_wait(units[0].stream, units[1].done, 0), "ordering streams");
}

static lamina_spread rate(const lamina_spread *ms, double bytes)
{
  return (lamina_spread){1e-6 * bytes / ms->median, 1e-6 * bytes / ms->high, 1e-6 * bytes / ms->low};
}

static lamina_status read_link(const lmi_cuda_probe *probe, lamina_accelerator_peer *peer)
{
  const lmi_cuda_api *api = &probe->cuda->api;
  const lmi_cuda_unit *units = probe->cuda->units;
  int atomics = 0;
  peer->direct = probe->cuda->reaches_all;
  LMI_TRY(check(
    probe,
    api->device_peer_attribute(&peer->performance_rank, LMI_CU_PEER_PERFORMANCE_RANK, units[0].device, units[1].device),
    "asking for the link between devices"));
  LMI_TRY(check(probe,
                api->device_peer_attribute(&atomics, LMI_CU_PEER_NATIVE_ATOMICS, units[0].device, units[1].device),
                "asking for the link between devices"));
  peer->native_atomics = atomics != 0;
  return LAMINA_OK;
}

static lamina_status measure(lmi_cuda_probe *probe, int repetitions, lamina_accelerator_peer *peer)
{
  const lmi_cuda_work small = {.issue = issue_chain, .bytes = SMALL_BYTES};
  const lmi_cuda_work one_way = {.issue = issue_one_way, .bytes = LARGE_BYTES};
  const lmi_cuda_work both_ways = {.issue = issue_both_ways, .bytes = LARGE_BYTES};
  lamina_spread ms;
  LMI_TRY(read_link(probe, peer));
  LMI_TRY(take_memory(probe));
  LMI_TRY(lmi_probe_time_chain(probe, &small, repetitions, false, &peer->copy_us));
  LMI_TRY(lmi_probe_time(probe, &one_way, repetitions, &ms));
  peer->gb_per_s = rate(&ms, (double)LARGE_BYTES);
  LMI_TRY(lmi_probe_time(probe, &both_ways, repetitions, &ms));
  peer->gb_per_s_both_ways = rate(&ms, (double)LARGE_BYTES);
  peer->in_graphs = lmi_probe_time_chain(probe, &small, repetitions, true, &peer->graph_copy_us) == LAMINA_OK;
  if (!peer->in_graphs)
    lamina_error_clear(probe->cuda->base.ctx);
  return LAMINA_OK;
}

lamina_status lamina_accelerator_measure_peer(lamina_context *context, int from, int to, int repetitions,
                                              lamina_accelerator_peer *peer)
{
  *peer = (lamina_accelerator_peer){0};
  LMI_REQUIRE(context, repetitions >= 1 && repetitions <= LMI_PROBE_MAX_REPETITIONS, LAMINA_ERROR_ARGUMENT,
              "%d repetitions: 1 to %d are possible", repetitions, (int)LMI_PROBE_MAX_REPETITIONS);
  const int ordinals[2] = {from, to};
  const lmi_device_options options = {.ordinals = ordinals, .ordinal_count = 2};
  const lamina_accelerator_probe shape = lamina_accelerator_probe_default();
  lmi_cuda_probe probe = {0};
  lamina_status status = lmi_probe_open(context, &shape, &options, &probe);
  if (status == LAMINA_OK)
    status = measure(&probe, repetitions, peer);
  lmi_probe_close(&probe);
  return status;
}
