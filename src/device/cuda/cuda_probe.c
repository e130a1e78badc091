/* SPDX-License-Identifier: Apache-2.0 */
/* Ceilings of a device. Samples are timed with events on the device's own clock, long enough for its resolution; data
 * is not zero, which some devices move faster. */
#include <stdlib.h>

#include <lamina/accelerator.h>

#include "base/spread.h"
#include "cuda_cache.h"
#include "cuda_probe.h"

static const double SAMPLE_MS = 15.0;

enum { BLOCK = 256 };

static lamina_status check(const lmi_cuda_probe *probe, lmi_cu_result result, const char *what)
{
  return lmi_cuda_check(probe->cuda->base.ctx, &probe->cuda->api, result, what);
}

static lmi_cu_stream stream_of(const lmi_cuda_probe *probe)
{
  return probe->cuda->units[0].stream;
}

/* ---- opening and closing ---- */

static lamina_status load_texts(lmi_cuda_probe *probe, const lamina_accelerator_probe *shape)
{
  lmi_cuda_device *cuda = probe->cuda;
  lamina_context *ctx = cuda->base.ctx;
  static const char *const types[] = {[2] = "uint32_t", [4] = "float", [8] = "double"};
  static const char *const mixes[] = {
    [2] = "((value) ^ ((sum) & 0x10001u))",
    [4] = "((value) * 0.999f + (sum) * 0.00005f)",
    [8] = "((value) * 0.999 + (sum) * 0.00005)",
  };
  const lmi_cuda_target target = {cuda->units[0].architecture, cuda->driver};
  const int64_t tile = shape->tile_cells / (shape->element_bytes == 2 ? 2 : 1);
  lmi_text text = {0};
  lmi_cubin cubin = {0};
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status,
               lmi_text_append(ctx, &text,
                               "#include \"prelude_cuda.h\"\n#define LMK_PROBE_STREAMS %d\n"
                               "#define LMK_PROBE_ELEMENT %s\n#define LMK_PROBE_TILE %lld\n"
                               "#define LMK_PROBE_MIX(value, sum) %s\n#include \"probe_cuda.h\"\n",
                               shape->streams, types[shape->element_bytes], (long long)tile,
                               mixes[shape->element_bytes]),
               cleanup);
  LMI_TRY_GOTO(status, lmi_cuda_obtain(ctx, &cuda->nvrtc, "probe", text.data, &target, &cubin), cleanup);
  LMI_TRY_GOTO(status, check(probe, cuda->api.module_load(&probe->module, cubin.data), "loading the probe"), cleanup);
  LMI_TRY_GOTO(
    status,
    check(probe, cuda->api.module_function(&probe->streams, probe->module, "lmk_probe_streams"), "lmk_probe_streams"),
    cleanup);
  LMI_TRY_GOTO(status,
               check(probe, cuda->api.module_function(&probe->copy, probe->module, "lmk_probe_copy"), "lmk_probe_copy"),
               cleanup);
  status = check(probe, cuda->api.module_function(&probe->empty, probe->module, "lmk_probe_empty"), "lmk_probe_empty");
cleanup:
  lmi_cubin_free(ctx, &cubin);
  lmi_text_free(ctx, &text);
  return status;
}

void lmi_probe_close(lmi_cuda_probe *probe)
{
  if (probe->cuda == NULL)
    return;
  const lmi_cuda_api *api = &probe->cuda->api;
  if (probe->graph != NULL)
    (void)api->graph_exec_destroy(probe->graph);
  for (int i = 0; i < 2; i++)
    if (probe->memory[i] != 0)
      (void)api->memory_free(probe->memory[i]);
  if (probe->host != NULL)
    (void)api->host_free(probe->host);
  if (probe->begin != NULL)
    (void)api->event_destroy(probe->begin);
  if (probe->end != NULL)
    (void)api->event_destroy(probe->end);
  if (probe->module != NULL)
    (void)api->module_unload(probe->module);
  lmi_cuda_ops.close(&probe->cuda->base);
  probe->cuda = NULL;
}

lamina_status lmi_probe_open(lamina_context *ctx, const lamina_accelerator_probe *shape,
                             const lmi_device_options *options, lmi_cuda_probe *probe)
{
  *probe = (lmi_cuda_probe){0};
  lmi_device *device = NULL;
  LMI_TRY(lmi_cuda_ops.open(ctx, options, &device));
  probe->cuda = (lmi_cuda_device *)device;
  LMI_TRY(load_texts(probe, shape));
  LMI_TRY(check(probe, probe->cuda->api.event_create(&probe->begin, LMI_CU_EVENT_DEFAULT), "making an event"));
  return check(probe, probe->cuda->api.event_create(&probe->end, LMI_CU_EVENT_DEFAULT), "making an event");
}

static lamina_status open_one(lamina_context *ctx, const lamina_accelerator_probe *shape, lmi_cuda_probe *probe)
{
  const lmi_device_options options = {.ordinals = &shape->ordinal, .ordinal_count = 1};
  return lmi_probe_open(ctx, shape, &options, probe);
}

/* Filled with a bit pattern that is a small number in every format. */
static lamina_status take_memory(lmi_cuda_probe *probe, int which, uint64_t bytes)
{
  const lmi_cuda_api *api = &probe->cuda->api;
  LMI_TRY(probe->cuda->base.ops->require_room(&probe->cuda->base, bytes, bytes, 1));
  LMI_TRY(check(probe, api->memory_allocate(&probe->memory[which], bytes), "allocating the probe's memory"));
  return check(probe, api->set_bytes(probe->memory[which], 0x11, bytes, stream_of(probe)),
               "filling the probe's memory");
}

/* ---- timing ---- */

static lamina_status time_once(const lmi_cuda_probe *probe, const lmi_cuda_work *work, int times, double *milliseconds)
{
  const lmi_cuda_api *api = &probe->cuda->api;
  float elapsed = 0.0f;
  LMI_TRY(check(probe, api->event_record(probe->begin, stream_of(probe)), "timing"));
  LMI_TRY(work->issue(probe, work, times));
  LMI_TRY(check(probe, api->event_record(probe->end, stream_of(probe)), "timing"));
  LMI_TRY(check(probe, api->event_synchronize(probe->end), "timing"));
  LMI_TRY(check(probe, api->event_elapsed(&elapsed, probe->begin, probe->end), "timing"));
  *milliseconds = (double)elapsed;
  return LAMINA_OK;
}

/* Milliseconds of one `work`: warmed up, then samples of at least SAMPLE_MS. */
lamina_status lmi_probe_time(const lmi_cuda_probe *probe, const lmi_cuda_work *work, int repetitions, lamina_spread *ms)
{
  double samples[LMI_PROBE_MAX_REPETITIONS], once = 0.0;
  LMI_TRY(time_once(probe, work, 2, &once));
  LMI_TRY(time_once(probe, work, 4, &once));
  const double wanted = once > 0.0 ? 4.0 * SAMPLE_MS / once : 1.0;
  const int times = wanted < 1.0 ? 1 : wanted > 10000.0 ? 10000 : (int)wanted;
  for (int i = 0; i < repetitions; i++) {
    LMI_TRY(time_once(probe, work, times, &samples[i]));
    samples[i] /= times;
  }
  *ms = lmi_spread_of(samples, (size_t)repetitions);
  return LAMINA_OK;
}

static lamina_bandwidth make_bandwidth(const lamina_spread *ms, double bytes, double elements, uint64_t array_bytes,
                                       int repetitions)
{
  const double gb = bytes / 1e6, million = elements / 1e3; /* over milliseconds */
  return (lamina_bandwidth){
    .gb_per_s = {gb / ms->median, gb / ms->high, gb / ms->low},
    .million_elements = {million / ms->median, million / ms->high, million / ms->low},
    .array_bytes = array_bytes,
    .repetitions = repetitions,
    .placed = true,
  };
}

/* ---- what is timed ---- */

static lamina_status issue_streams(const lmi_cuda_probe *probe, const lmi_cuda_work *work, int times)
{
  const lamina_accelerator_probe *shape = &work->shape;
  int64_t count = shape->cells / (shape->element_bytes == 2 ? 2 : 1), stride = count;
  lmi_cu_address memory = probe->memory[0];
  void *parameters[] = {&memory, &count, &stride};
  const unsigned blocks = (unsigned)((count + BLOCK - 1) / BLOCK);
  for (int i = 0; i < times; i++)
    LMI_TRY(check(
      probe, probe->cuda->api.launch(probe->streams, blocks, 1, 1, BLOCK, 1, 1, 0, stream_of(probe), parameters, NULL),
      "launching the probe"));
  return LAMINA_OK;
}

static lamina_status issue_copy_kernel(const lmi_cuda_probe *probe, uint64_t bytes)
{
  lmi_cu_address source = 0, target = probe->memory[0];
  int64_t count = (int64_t)(bytes / sizeof(uint64_t));
  LMI_TRY(check(probe, probe->cuda->api.host_device_pointer(&source, probe->host, 0), "mapping host memory"));
  void *parameters[] = {&source, &target, &count};
  const unsigned blocks = (unsigned)((count / 2 + BLOCK - 1) / BLOCK);
  return check(probe,
               probe->cuda->api.launch(probe->copy, blocks, 1, 1, BLOCK, 1, 1, 0, stream_of(probe), parameters, NULL),
               "launching the probe");
}

static lamina_status issue_link(const lmi_cuda_probe *probe, const lmi_cuda_work *work, int times)
{
  const lmi_cuda_api *api = &probe->cuda->api;
  const lmi_cu_stream stream = stream_of(probe);
  const size_t bytes = (size_t)work->bytes;
  for (int i = 0; i < times; i++)
    switch (work->link) {
    case LAMINA_LINK_DEVICE_COPY:
      LMI_TRY(check(probe, api->copy_on_device(probe->memory[1], probe->memory[0], bytes, stream), "copying"));
      break;
    case LAMINA_LINK_TO_DEVICE:
      LMI_TRY(check(probe, api->copy_to_device(probe->memory[0], probe->host, bytes, stream), "copying"));
      break;
    case LAMINA_LINK_TO_HOST:
      LMI_TRY(check(probe, api->copy_to_host(probe->host, probe->memory[0], bytes, stream), "copying"));
      break;
    case LAMINA_LINK_READ_HOST: LMI_TRY(issue_copy_kernel(probe, work->bytes)); break;
    }
  return LAMINA_OK;
}

/* LMI_PROBE_CHAIN of them, one after the other. */
static lamina_status issue_launches(const lmi_cuda_probe *probe, const lmi_cuda_work *work, int times)
{
  int64_t nothing = 0;
  void *parameters[] = {&nothing};
  (void)work;
  for (int i = 0; i < times * LMI_PROBE_CHAIN; i++)
    LMI_TRY(check(probe, probe->cuda->api.launch(probe->empty, 1, 1, 1, 1, 1, 1, 0, stream_of(probe), parameters, NULL),
                  "launching nothing"));
  return LAMINA_OK;
}

static lamina_status issue_copies(const lmi_cuda_probe *probe, const lmi_cuda_work *work, int times)
{
  for (int i = 0; i < times * LMI_PROBE_CHAIN; i++)
    LMI_TRY(check(
      probe, probe->cuda->api.copy_on_device(probe->memory[1], probe->memory[0], (size_t)work->bytes, stream_of(probe)),
      "copying little"));
  return LAMINA_OK;
}

static lamina_status issue_graph(const lmi_cuda_probe *probe, const lmi_cuda_work *work, int times)
{
  (void)work;
  for (int i = 0; i < times; i++)
    LMI_TRY(check(probe, probe->cuda->api.graph_launch(probe->graph, stream_of(probe)), "launching a graph"));
  return LAMINA_OK;
}

/* ---- the public calls ---- */

lamina_status lamina_accelerator_read(lamina_context *context, int ordinal, lamina_accelerator *accelerator)
{
  *accelerator = (lamina_accelerator){0};
  lmi_device *device = NULL;
  const lmi_device_options options = {.ordinals = &ordinal, .ordinal_count = 1};
  LMI_TRY(lmi_cuda_ops.open(context, &options, &device));
  const lmi_cuda_device *cuda = (const lmi_cuda_device *)device;
  const lmi_cuda_unit *unit = &cuda->units[0];
  size_t free_bytes = 0, total_bytes = 0;
  int l2_bytes = 0;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(
    status,
    lmi_cuda_check(context, &cuda->api, cuda->api.memory_info(&free_bytes, &total_bytes), "asking for free memory"),
    cleanup);
  LMI_TRY_GOTO(status,
               lmi_cuda_check(context, &cuda->api,
                              cuda->api.device_attribute(&l2_bytes, LMI_CU_ATTRIBUTE_L2_BYTES, unit->device),
                              "asking for the cache"),
               cleanup);
  LMI_TRY_GOTO(status,
               lmi_cuda_check(context, &cuda->api,
                              cuda->api.device_attribute(&accelerator->multiprocessors,
                                                         LMI_CU_ATTRIBUTE_MULTIPROCESSORS, unit->device),
                              "counting multiprocessors"),
               cleanup);
  for (size_t i = 0; i < sizeof unit->name; i++)
    accelerator->name[i] = unit->name[i];
  accelerator->compute_capability = unit->architecture;
  accelerator->driver_version = cuda->driver;
  accelerator->memory_bytes = total_bytes;
  accelerator->free_bytes = free_bytes;
  accelerator->l2_bytes = (uint64_t)l2_bytes;
cleanup:
  lmi_cuda_ops.close(device);
  return status;
}

lamina_accelerator_probe lamina_accelerator_probe_default(void)
{
  const lamina_accelerator_probe probe = {.streams = 19, .element_bytes = 4, .cells = 16777216, .repetitions = 5};
  return probe;
}

static lamina_status check_shape(lamina_context *ctx, const lamina_accelerator_probe *shape)
{
  LMI_REQUIRE(ctx, shape->streams >= 1 && shape->streams <= 32, LAMINA_ERROR_ARGUMENT,
              "%d streams: 1 to 32 are possible", shape->streams);
  LMI_REQUIRE(ctx, shape->element_bytes == 2 || shape->element_bytes == 4 || shape->element_bytes == 8,
              LAMINA_ERROR_ARGUMENT, "elements of %d bytes: 2, 4 or 8 are possible", shape->element_bytes);
  LMI_REQUIRE(ctx, shape->cells >= 2 && shape->cells % 2 == 0 && shape->cells < (lamina_index)1 << 38,
              LAMINA_ERROR_ARGUMENT, "%lld cells: an even number below 2^38 is needed", (long long)shape->cells);
  LMI_REQUIRE(ctx,
              shape->tile_cells >= 0 && shape->tile_cells % 2 == 0 &&
                (shape->tile_cells == 0 || shape->cells % shape->tile_cells == 0),
              LAMINA_ERROR_ARGUMENT, "tiles of %lld cells: an even divisor of the %lld cells is needed",
              (long long)shape->tile_cells, (long long)shape->cells);
  LMI_REQUIRE(ctx, shape->repetitions >= 1 && shape->repetitions <= LMI_PROBE_MAX_REPETITIONS, LAMINA_ERROR_ARGUMENT,
              "%d repetitions: 1 to %d are possible", shape->repetitions, (int)LMI_PROBE_MAX_REPETITIONS);
  return LAMINA_OK;
}

lamina_status lamina_accelerator_stream_ceiling(lamina_context *context, const lamina_accelerator_probe *probe,
                                                lamina_bandwidth *result)
{
  *result = (lamina_bandwidth){0};
  LMI_TRY(check_shape(context, probe));
  const uint64_t bytes = (uint64_t)probe->cells * (uint64_t)probe->streams * (uint64_t)probe->element_bytes;
  const lmi_cuda_work work = {.issue = issue_streams, .shape = *probe};
  lmi_cuda_probe opened;
  lamina_spread ms;
  lamina_status status = open_one(context, probe, &opened);
  if (status == LAMINA_OK)
    status = take_memory(&opened, 0, bytes);
  if (status == LAMINA_OK)
    status = lmi_probe_time(&opened, &work, probe->repetitions, &ms);
  if (status == LAMINA_OK)
    *result = make_bandwidth(&ms, 2.0 * (double)bytes, (double)probe->cells, bytes, probe->repetitions);
  lmi_probe_close(&opened);
  return status;
}

#define LINK_NAME(name, value, word, factor, text) word,
#define LINK_FACTOR(name, value, word, factor, text) factor,
static const char *const link_names[] = {LAMINA_LINK_LIST(LINK_NAME)};
static const int link_factors[] = {LAMINA_LINK_LIST(LINK_FACTOR)};

const char *lamina_link_name(lamina_link link)
{
  return (size_t)link < LMI_COUNT(link_names) ? link_names[link] : NULL;
}

static lamina_status open_link(lamina_context *ctx, int ordinal, lamina_link link, uint64_t bytes,
                               lmi_cuda_probe *probe)
{
  lamina_accelerator_probe shape = lamina_accelerator_probe_default();
  shape.ordinal = ordinal;
  LMI_TRY(open_one(ctx, &shape, probe));
  LMI_TRY(take_memory(probe, 0, bytes));
  if (link == LAMINA_LINK_DEVICE_COPY)
    return take_memory(probe, 1, bytes);
  return check(
    probe,
    probe->cuda->api.host_allocate(&probe->host, (size_t)bytes, LMI_CU_HOST_ALLOC_PORTABLE | LMI_CU_HOST_ALLOC_MAPPED),
    "pinning host memory");
}

lamina_status lamina_accelerator_link(lamina_context *context, int ordinal, lamina_link link, uint64_t bytes,
                                      int repetitions, lamina_bandwidth *result)
{
  *result = (lamina_bandwidth){0};
  LMI_REQUIRE(context, lamina_link_name(link) != NULL, LAMINA_ERROR_ARGUMENT, "link %d is not in the list", (int)link);
  LMI_REQUIRE(context, bytes >= 16 && bytes % 16 == 0, LAMINA_ERROR_ARGUMENT, "%llu bytes: a multiple of 16 is needed",
              (unsigned long long)bytes);
  LMI_REQUIRE(context, repetitions >= 1 && repetitions <= LMI_PROBE_MAX_REPETITIONS, LAMINA_ERROR_ARGUMENT,
              "%d repetitions: 1 to %d are possible", repetitions, (int)LMI_PROBE_MAX_REPETITIONS);
  const lmi_cuda_work work = {.issue = issue_link, .link = link, .bytes = bytes};
  lmi_cuda_probe opened;
  lamina_spread ms;
  lamina_status status = open_link(context, ordinal, link, bytes, &opened);
  if (status == LAMINA_OK)
    status = lmi_probe_time(&opened, &work, repetitions, &ms);
  if (status == LAMINA_OK)
    *result = make_bandwidth(&ms, (double)bytes * link_factors[link], (double)bytes, bytes, repetitions);
  lmi_probe_close(&opened);
  return status;
}

static lamina_status capture_chain(lmi_cuda_probe *probe, const lmi_cuda_work *chain)
{
  const lmi_cuda_api *api = &probe->cuda->api;
  lmi_cu_graph graph = NULL;
  if (probe->graph != NULL)
    (void)api->graph_exec_destroy(probe->graph);
  probe->graph = NULL;
  LMI_TRY(check(probe, api->stream_begin_capture(stream_of(probe), LMI_CU_CAPTURE_RELAXED), "capturing"));
  const lamina_status issued = chain->issue(probe, chain, 1);
  const lmi_cu_result ended = api->stream_end_capture(stream_of(probe), &graph);
  LMI_TRY(issued);
  LMI_TRY(check(probe, ended, "capturing"));
  const lmi_cu_result made = api->graph_instantiate(&probe->graph, graph, 0);
  (void)api->graph_destroy(graph);
  return check(probe, made, "making a graph");
}

/* Milliseconds of a chain to microseconds of a link of it. */
lamina_status lmi_probe_time_chain(lmi_cuda_probe *probe, const lmi_cuda_work *chain, int repetitions, bool in_graph,
                                   lamina_spread *us)
{
  const lmi_cuda_work replay = {.issue = issue_graph};
  if (in_graph)
    LMI_TRY(capture_chain(probe, chain));
  LMI_TRY(lmi_probe_time(probe, in_graph ? &replay : chain, repetitions, us));
  const double scale = 1e3 / LMI_PROBE_CHAIN;
  *us = (lamina_spread){us->median * scale, us->low * scale, us->high * scale};
  return LAMINA_OK;
}

lamina_status lamina_accelerator_measure_setup(lamina_context *context, int ordinal, int repetitions,
                                               lamina_accelerator_setup *setup)
{
  *setup = (lamina_accelerator_setup){0};
  LMI_REQUIRE(context, repetitions >= 1 && repetitions <= LMI_PROBE_MAX_REPETITIONS, LAMINA_ERROR_ARGUMENT,
              "%d repetitions: 1 to %d are possible", repetitions, (int)LMI_PROBE_MAX_REPETITIONS);
  const lmi_cuda_work launches = {.issue = issue_launches}, copies = {.issue = issue_copies, .bytes = 64};
  lmi_cuda_probe opened;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, open_link(context, ordinal, LAMINA_LINK_DEVICE_COPY, 4096, &opened), cleanup);
  LMI_TRY_GOTO(status, lmi_probe_time_chain(&opened, &launches, repetitions, false, &setup->launch_us), cleanup);
  LMI_TRY_GOTO(status, lmi_probe_time_chain(&opened, &copies, repetitions, false, &setup->copy_us), cleanup);
  LMI_TRY_GOTO(status, lmi_probe_time_chain(&opened, &launches, repetitions, true, &setup->graph_launch_us), cleanup);
  LMI_TRY_GOTO(status, lmi_probe_time_chain(&opened, &copies, repetitions, true, &setup->graph_copy_us), cleanup);
cleanup:
  lmi_probe_close(&opened);
  return status;
}
