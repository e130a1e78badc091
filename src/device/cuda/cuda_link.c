/* SPDX-License-Identifier: Apache-2.0 */
/* The injector of the host link. One thread of the host keeps two launches of the injector under way, so that the link
 * is never idle between them, and one of the probe, which is timed on the device's own clock. */
#include <math.h>

#include <lamina/accelerator.h>

#include "cuda_cache.h"
#include "cuda_internal.h"
#include "cuda_link.h"

enum { BLOCK = 256, UNDER_WAY = 2, PROBE_ELEMENTS = 1 << 18 };
static const uint64_t DEFAULT_BYTES = (uint64_t)256 << 20;
static const double PIECE_SECONDS = 0.003, BYTES_PER_ELEMENT = 16;

struct lamina_link_injector {
  lmi_cuda_device *cuda;
  lmi_cu_module module;
  lmi_cu_function sweep;
  lmi_cu_stream probe_stream;
  lmi_cu_event ends[UNDER_WAY], probe_begin, probe_end;
  void *host;
  lmi_cu_address memory;          /* the same, as the device sees it */
  int64_t elements, probe_begins; /* of all; where the probe's third starts */
  int64_t at, probe_at;           /* where the next piece starts */
  double rate;                    /* elements a second of the last setting: how long a piece must be */
};

/* One call of run. */
typedef struct link_job {
  const lamina_link_run *run;
  double carry; /* of the flops' fraction */
  int64_t elements[UNDER_WAY];
  int next, count; /* of the launches under way */
  double done;     /* elements */
} link_job;

static lamina_status check(const lamina_link_injector *in, lmi_cu_result result, const char *what)
{
  return lmi_cuda_check(in->cuda->base.ctx, &in->cuda->api, result, what);
}

static lmi_cu_stream stream_of(const lamina_link_injector *in)
{
  return in->cuda->units[0].stream;
}

/* ---- opening and closing ---- */

static lamina_status load_text(lamina_link_injector *in)
{
  lmi_cuda_device *cuda = in->cuda;
  lamina_context *ctx = cuda->base.ctx;
  const lmi_cuda_target target = {cuda->units[0].architecture, cuda->driver};
  lmi_cubin cubin = {0};
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status,
               lmi_cuda_obtain(ctx, &cuda->nvrtc, "link",
                               "#include \"prelude_cuda.h\"\n#define LMK_LINK_TEXT 1\n#include \"link_cuda.h\"\n",
                               &target, &cubin),
               cleanup);
  LMI_TRY_GOTO(status, check(in, cuda->api.module_load(&in->module, cubin.data), "loading the injector"), cleanup);
  status = check(in, cuda->api.module_function(&in->sweep, in->module, "lmk_link_sweep"), "lmk_link_sweep");
cleanup:
  lmi_cubin_free(ctx, &cubin);
  return status;
}

static lamina_status take_memory(lamina_link_injector *in, uint64_t bytes)
{
  const lmi_cuda_api *api = &in->cuda->api;
  LMI_TRY(check(in, api->host_allocate(&in->host, (size_t)bytes, LMI_CU_HOST_ALLOC_PORTABLE | LMI_CU_HOST_ALLOC_MAPPED),
                "pinning the injector's host memory"));
  LMI_TRY(check(in, api->host_device_pointer(&in->memory, in->host, 0), "mapping host memory"));
  in->elements = (int64_t)(bytes / sizeof(double));
  in->probe_begins = in->elements - in->elements / 3;
  in->probe_at = in->probe_begins;
  double *values = in->host;
  for (int64_t i = 0; i < in->elements; i++)
    values[i] = 1;
  return LAMINA_OK;
}

static lamina_status make_events(lamina_link_injector *in)
{
  const lmi_cuda_api *api = &in->cuda->api;
  LMI_TRY(check(in, api->stream_create(&in->probe_stream, LMI_CU_STREAM_NON_BLOCKING), "making a stream"));
  for (int i = 0; i < UNDER_WAY; i++)
    LMI_TRY(check(in, api->event_create(&in->ends[i], LMI_CU_EVENT_DISABLE_TIMING), "making an event"));
  LMI_TRY(check(in, api->event_create(&in->probe_begin, LMI_CU_EVENT_DEFAULT), "making an event"));
  return check(in, api->event_create(&in->probe_end, LMI_CU_EVENT_DEFAULT), "making an event");
}

lamina_status lamina_link_injector_create(lamina_context *context, int ordinal, uint64_t array_bytes,
                                          lamina_link_injector **injector)
{
  *injector = NULL;
  const uint64_t bytes = array_bytes != 0 ? array_bytes : DEFAULT_BYTES;
  LMI_REQUIRE(context, bytes >= 65536 && bytes < (uint64_t)1 << 40, LAMINA_ERROR_ARGUMENT,
              "an array of %llu bytes; 65536 to 2^40 are allowed", (unsigned long long)bytes);
  lamina_link_injector *made = NULL;
  lmi_device *device = NULL;
  LMI_TRY(LMI_ALLOC(context, 1, &made));
  const lmi_device_options options = {.ordinals = &ordinal, .ordinal_count = 1};
  lamina_status status = lmi_cuda_ops.open(context, &options, &device);
  if (status != LAMINA_OK) {
    lmi_free(context, made);
    return status;
  }
  made->cuda = (lmi_cuda_device *)device;
  LMI_TRY_GOTO(status, load_text(made), cleanup);
  LMI_TRY_GOTO(status, take_memory(made, bytes), cleanup);
  LMI_TRY_GOTO(status, make_events(made), cleanup);
  *injector = made;
  made = NULL;
cleanup:
  lamina_link_injector_destroy(made);
  return status;
}

void lamina_link_injector_destroy(lamina_link_injector *in)
{
  if (in == NULL)
    return;
  const lmi_cuda_api *api = &in->cuda->api;
  lamina_context *ctx = in->cuda->base.ctx;
  (void)api->stream_synchronize(stream_of(in));
  if (in->probe_stream != NULL) {
    (void)api->stream_synchronize(in->probe_stream);
    (void)api->stream_destroy(in->probe_stream);
  }
  for (int i = 0; i < UNDER_WAY; i++)
    if (in->ends[i] != NULL)
      (void)api->event_destroy(in->ends[i]);
  if (in->probe_begin != NULL)
    (void)api->event_destroy(in->probe_begin);
  if (in->probe_end != NULL)
    (void)api->event_destroy(in->probe_end);
  if (in->host != NULL)
    (void)api->host_free(in->host);
  if (in->module != NULL)
    (void)api->module_unload(in->module);
  lmi_cuda_ops.close(&in->cuda->base);
  lmi_free(ctx, in);
}

double *lmi_link_values(lamina_link_injector *injector, int64_t *count)
{
  *count = injector->elements;
  return injector->host;
}

/* ---- running ---- */

static lamina_status launch(const lamina_link_injector *in, int64_t first, int64_t count, int blocks, int flops,
                            lmi_cu_stream stream)
{
  lmi_cu_address values = in->memory + (uint64_t)first * sizeof(double);
  double zero = 0;
  int32_t chain = flops;
  void *parameters[] = {&values, &count, &chain, &zero};
  return check(in, in->cuda->api.launch(in->sweep, (unsigned)blocks, 1, 1, BLOCK, 1, 1, 0, stream, parameters, NULL),
               "launching the injector");
}

/* Whole counts on either side of a fraction, in the proportion that gives it. */
static int next_flops(double wanted, double *carry)
{
  const double exact = wanted + *carry, whole = fmax(1, floor(exact + 0.5));
  *carry = exact - whole;
  return (int)whole;
}

static lamina_status start_piece(lamina_link_injector *in, link_job *job)
{
  const int64_t least = (int64_t)job->run->blocks * BLOCK, wanted = (int64_t)(in->rate * PIECE_SECONDS);
  int64_t count = wanted > 4 * least ? wanted : 4 * least;
  if (in->at >= in->probe_begins)
    in->at = 0;
  if (count > in->probe_begins - in->at)
    count = in->probe_begins - in->at;
  LMI_TRY(
    launch(in, in->at, count, job->run->blocks, next_flops(job->run->flops_per_element, &job->carry), stream_of(in)));
  LMI_TRY(check(in, in->cuda->api.event_record(in->ends[job->next], stream_of(in)), "following the injector"));
  in->at += count;
  job->elements[job->next] = count;
  job->next = (job->next + 1) % UNDER_WAY;
  job->count++;
  return LAMINA_OK;
}

/* Waits for the oldest launch. */
static lamina_status finish_piece(lamina_link_injector *in, link_job *job)
{
  const int oldest = (job->next + UNDER_WAY - job->count) % UNDER_WAY;
  LMI_TRY(check(in, in->cuda->api.event_synchronize(in->ends[oldest]), "running the injector"));
  job->done += (double)job->elements[oldest];
  job->count--;
  return LAMINA_OK;
}

static lamina_status start_probe(lamina_link_injector *in, int blocks)
{
  const lmi_cuda_api *api = &in->cuda->api;
  const int64_t room = in->elements - in->probe_begins, count = room < PROBE_ELEMENTS ? room : PROBE_ELEMENTS;
  if (in->probe_at + count > in->elements)
    in->probe_at = in->probe_begins;
  LMI_TRY(check(in, api->event_record(in->probe_begin, in->probe_stream), "timing the probe"));
  LMI_TRY(launch(in, in->probe_at, count, blocks, 1, in->probe_stream));
  in->probe_at += count;
  return check(in, api->event_record(in->probe_end, in->probe_stream), "timing the probe");
}

static lamina_status finish_probe(const lamina_link_injector *in, const lamina_link_run *run,
                                  lamina_link_traffic *traffic)
{
  const lmi_cuda_api *api = &in->cuda->api;
  float milliseconds = 0;
  LMI_TRY(check(in, api->event_synchronize(in->probe_end), "running the probe"));
  LMI_TRY(check(in, api->event_elapsed(&milliseconds, in->probe_begin, in->probe_end), "timing the probe"));
  if (run->probe_seconds != NULL && traffic->probe_count < run->probe_room)
    run->probe_seconds[traffic->probe_count] = 1e-3 * (double)milliseconds;
  traffic->probe_count++;
  return LAMINA_OK;
}

static lamina_status check_run(lamina_context *ctx, const lamina_link_run *run)
{
  LMI_REQUIRE(ctx, run->blocks >= 0 && run->blocks <= 65535 && run->probe_blocks >= 0 && run->probe_blocks <= 65535,
              LAMINA_ERROR_ARGUMENT, "%d blocks and %d of the probe; 0 to 65535 are allowed", run->blocks,
              run->probe_blocks);
  LMI_REQUIRE(ctx, run->blocks > 0 || run->probe_blocks > 0, LAMINA_ERROR_ARGUMENT,
              "neither an injection nor a probe: one of them needs blocks");
  LMI_REQUIRE(ctx, run->blocks == 0 || (run->flops_per_element >= 1 && run->flops_per_element <= 1e6),
              LAMINA_ERROR_ARGUMENT, "%g flops an element; 1 to 1000000 are allowed", run->flops_per_element);
  LMI_REQUIRE(ctx, run->seconds >= 0.001 && run->seconds <= 1e7, LAMINA_ERROR_ARGUMENT,
              "injecting for %g s; 0.001 to 1e7 are allowed", run->seconds);
  return LAMINA_OK;
}

/* Until the time is over; what is then under way is waited for, and counts. */
static lamina_status keep_busy(lamina_link_injector *in, link_job *job, lamina_link_traffic *traffic)
{
  const lamina_link_run *run = job->run;
  const double start = lmi_clock_seconds();
  for (double now = start; now < start + run->seconds; now = lmi_clock_seconds()) {
    while (run->blocks > 0 && job->count < UNDER_WAY)
      LMI_TRY(start_piece(in, job));
    if (run->probe_blocks > 0) {
      LMI_TRY(start_probe(in, run->probe_blocks));
      LMI_TRY(finish_probe(in, run, traffic));
    }
    if (run->blocks == 0)
      continue;
    LMI_TRY(finish_piece(in, job));
    in->rate = job->done / (lmi_clock_seconds() - start);
  }
  while (job->count > 0)
    LMI_TRY(finish_piece(in, job));
  traffic->seconds = lmi_clock_seconds() - start;
  traffic->bytes = (uint64_t)(BYTES_PER_ELEMENT * job->done);
  traffic->gb_per_s = 1e-9 * BYTES_PER_ELEMENT * job->done / traffic->seconds;
  return LAMINA_OK;
}

lamina_status lamina_link_injector_run(lamina_link_injector *injector, const lamina_link_run *run,
                                       lamina_link_traffic *traffic)
{
  *traffic = (lamina_link_traffic){0};
  LMI_TRY(check_run(injector->cuda->base.ctx, run));
  link_job job = {.run = run};
  injector->rate = 0; /* of another setting: the first piece is short */
  return keep_busy(injector, &job, traffic);
}
