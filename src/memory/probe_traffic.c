/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "probe.h"
#include "probe_kernels.h"

typedef struct traffic_set {
  lamina_traffic traffic;
  char *a, *b; /* b: the second array of a copy */
  int64_t lines;
  lmi_stream_kernel *update;
  lmi_copy_kernel *copy;
} traffic_set;

static const struct {
  const char *name;
  int factor;
} TRAFFIC[] = {
#define ROW(name, value, word, factor, text) {word, factor},
  LAMINA_TRAFFIC_LIST(ROW)
#undef ROW
};

const char *lamina_traffic_name(lamina_traffic traffic)
{
  return (size_t)traffic < LMI_COUNT(TRAFFIC) ? TRAFFIC[traffic].name : NULL;
}

lamina_traffic_probe lamina_traffic_probe_default(void)
{
  return (lamina_traffic_probe){
    .traffic = LAMINA_TRAFFIC_READ, .repetitions = 7, .placement = {LAMINA_NODE_ANY, LAMINA_NODE_ANY}};
}

static bool is_copy(lamina_traffic traffic)
{
  return traffic == LAMINA_TRAFFIC_COPY || traffic == LAMINA_TRAFFIC_COPY_STREAMING;
}

static void touch_work(void *user, int thread, int threads, int64_t sweeps)
{
  const traffic_set *set = user;
  int64_t begin = 0, end = 0;
  lmi_probe_share(set->lines, thread, threads, &begin, &end);
  (void)sweeps;
  memset(set->a + begin * LMI_LINE_BYTES, 0, (size_t)(end - begin) * LMI_LINE_BYTES);
  if (set->b != NULL)
    memset(set->b + begin * LMI_LINE_BYTES, 0, (size_t)(end - begin) * LMI_LINE_BYTES);
}

/* A value that must be computed although nobody needs it. */
static void keep(uint64_t value)
{
  volatile uint64_t sink = value;
  (void)sink;
}

static void one_sweep(const traffic_set *set, int64_t begin, int64_t lines)
{
  char *a = set->a + begin * LMI_LINE_BYTES;
  switch (set->traffic) {
  case LAMINA_TRAFFIC_READ: keep(lmi_kernel_read(a, lines)); break;
  case LAMINA_TRAFFIC_WRITE: lmi_kernel_write(a, lines); break;
  case LAMINA_TRAFFIC_UPDATE: set->update(a, 0, lines, 64); break;
  case LAMINA_TRAFFIC_COPY:
  case LAMINA_TRAFFIC_COPY_STREAMING: set->copy(set->b + begin * LMI_LINE_BYTES, a, lines); break;
  }
}

static void traffic_work(void *user, int thread, int threads, int64_t sweeps)
{
  const traffic_set *set = user;
  int64_t begin = 0, end = 0;
  lmi_probe_share(set->lines, thread, threads, &begin, &end);
  for (int64_t sweep = 0; sweep < sweeps; sweep++)
    one_sweep(set, begin, end - begin);
}

static lamina_status choose_kernels(lamina_context *ctx, lamina_traffic traffic, traffic_set *set)
{
  LMI_REQUIRE(ctx, lamina_traffic_name(traffic) != NULL, LAMINA_ERROR_ARGUMENT, "there is no kind of traffic %d",
              (int)traffic);
  set->traffic = traffic;
  set->update = lmi_stream_kernel_find(1, 8);
  set->copy = traffic == LAMINA_TRAFFIC_COPY_STREAMING ? lmi_kernel_copy_streaming() : lmi_kernel_copy;
  LMI_REQUIRE(ctx, set->copy != NULL, LAMINA_UNAVAILABLE, "this build has no stores that pass the caches");
  return LAMINA_OK;
}

lamina_status lamina_machine_traffic(lamina_context *ctx, const lamina_traffic_probe *probe, lamina_bandwidth *result)
{
  *result = (lamina_bandwidth){0};
  traffic_set set = {0};
  int threads = probe->threads;
  uint64_t bytes = probe->array_bytes;
  LMI_TRY(choose_kernels(ctx, probe->traffic, &set));
  LMI_TRY(lmi_probe_check_counts(ctx, &threads, probe->repetitions));
  if (bytes == 0)
    LMI_TRY(lmi_probe_default_bytes(ctx, &bytes));
  set.lines = (int64_t)(bytes / LMI_LINE_BYTES);
  LMI_REQUIRE(ctx, set.lines >= threads, LAMINA_ERROR_ARGUMENT, "an array of %llu bytes has less than a line a thread",
              (unsigned long long)bytes);

  /* One allocation for both arrays, so that what is left is checked for both. The second begins a few lines past a
   * page. */
  const size_t second = (size_t)bytes + 4096 - bytes % 4096 + 5 * LMI_LINE_BYTES;
  lmi_probe_site site;
  lmi_probe_array array = {0};
  lamina_spread seconds;
  LMI_TRY(lmi_probe_site_open(ctx, probe->placement, &site));
  lamina_status status = LAMINA_OK;
  const size_t needed = is_copy(probe->traffic) ? second + (size_t)bytes : (size_t)bytes;
  LMI_TRY_GOTO(status, lmi_probe_array_create(ctx, &site, needed, false, &array), cleanup);
  set.a = array.memory;
  set.b = is_copy(probe->traffic) ? set.a + second : NULL;
  const lmi_probe_plan plan = {traffic_work, &set, threads, probe->repetitions};
  LMI_TRY_GOTO(status, lmi_probe_run(ctx, &site, &plan, touch_work, &seconds), cleanup);

  const double moved = (double)set.lines * LMI_LINE_BYTES * TRAFFIC[probe->traffic].factor;
  result->gb_per_s = lmi_spread_rate(1e-9 * moved, seconds);
  result->million_elements = lmi_spread_rate(1e-6 * (double)set.lines * (LMI_LINE_BYTES / 8.0), seconds);
  result->array_bytes = bytes;
  result->threads = threads;
  result->repetitions = probe->repetitions;
  result->placed = lmi_probe_array_is_placed(&site, &array);
cleanup:
  lmi_probe_array_destroy(ctx, &array);
  lmi_probe_site_close(&site);
  return status;
}
