/* SPDX-License-Identifier: Apache-2.0 */
#include "transport_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ranks.h"
#include <lamina/accelerator.h>

/* Few steps would measure how a device is woken, not how it goes on: runs there are so long at least. */
enum { QUEUED_STEPS = 512 };

enum { REPETITIONS = 50, UNKNOWNS = 3, MOST_MESSAGES = 16, SIZES = 5, COUNTS = 3, SAMPLES = SIZES * COUNTS };

static const size_t message_bytes[SIZES] = {1024, 4096, 16384, 49152, 98304};
static const int message_counts[COUNTS] = {1, 4, MOST_MESSAGES};
static const double SAMPLE_SECONDS = 0.02;
static const double PATIENCE = 5.0; /* times the wanted seconds: threads that others keep from running take longer */

lamina_status lmi_time_copies(lmi_device *device, const lmi_program *program, double seconds, double *step_us)
{
  lmi_fault fault;
  int64_t steps = 2;
  const int64_t least = strcmp(device->ops->name, "cuda") == 0 ? QUEUED_STEPS : 2;
  double best = HUGE_VAL;
  const double limit = lmi_clock_seconds() + PATIENCE * seconds;
  int64_t goes_on = 1;
  for (int i = 0; i < REPETITIONS + 1 && goes_on; i++) {
    const double start = lmi_clock_seconds();
    LMI_TRY(device->ops->replay(device, program, 0, steps, &fault));
    const double each = (lmi_clock_seconds() - start) / (double)steps;
    if (i > 0)
      best = each < best ? each : best;
    else
      steps = each > 0.0 ? least + (int64_t)fmin(seconds / REPETITIONS / each, 1e7) : least;
    goes_on = i < 2 || lmi_clock_seconds() < limit;
    LMI_TRY(lmi_ranks_broadcast(device->ctx, 0, &steps, sizeof steps));
    LMI_TRY(lmi_ranks_broadcast(device->ctx, 0, &goes_on, sizeof goes_on));
  }
  LMI_TRY(lmi_ranks_broadcast(device->ctx, 0, &best, sizeof best));
  *step_us = 1e6 * best;
  return LAMINA_OK;
}

/* Gaussian elimination with pivots on a 3 x 4 matrix; false when it is singular. */
static bool solve(double m[UNKNOWNS][UNKNOWNS + 1], double *x)
{
  for (int k = 0; k < UNKNOWNS; k++) {
    int pivot = k;
    for (int i = k + 1; i < UNKNOWNS; i++)
      pivot = fabs(m[i][k]) > fabs(m[pivot][k]) ? i : pivot;
    if (m[pivot][k] == 0.0)
      return false;
    for (int j = 0; j <= UNKNOWNS; j++) {
      const double swapped = m[k][j];
      m[k][j] = m[pivot][j];
      m[pivot][j] = swapped;
    }
    for (int i = 0; i < UNKNOWNS; i++)
      for (int j = UNKNOWNS; i != k && j >= k; j--)
        m[i][j] -= m[k][j] * m[i][k] / m[k][k];
  }
  for (int k = 0; k < UNKNOWNS; k++)
    x[k] = m[k][UNKNOWNS] / m[k][k];
  return true;
}

void lmi_transport_fit(const lmi_transport_sample *samples, int count, lamina_transport *transport)
{
  double m[UNKNOWNS][UNKNOWNS + 1] = {{0}}, x[UNKNOWNS] = {0};
  for (int s = 0; s < count; s++) {
    const double weight = 1.0 / (samples[s].us * samples[s].us);
    const double row[UNKNOWNS + 1] = {1.0, samples[s].messages, samples[s].bytes * 1e-3, samples[s].us};
    for (int i = 0; i < UNKNOWNS; i++)
      for (int j = 0; j <= UNKNOWNS; j++)
        m[i][j] += weight * row[i] * row[j];
  }
  const bool solved = solve(m, x);
  transport->sync_us = solved && x[0] > 0.0 ? x[0] : (double)NAN;
  transport->setup_us = solved && x[1] > 0.0 ? x[1] : (double)NAN;
  transport->gb_per_s = solved && x[2] > 0.0 ? 1.0 / x[2] : (double)NAN;
}

/* Buffers of a ping-pong: each thread has room for its messages on both sides. */
typedef struct ping_pong {
  lmi_device *device;
  int threads;
  size_t bytes; /* of one side */
  char *side[2];
  lmi_copy *copies[2];
} ping_pong;

static lamina_status open_ping_pong(lamina_context *ctx, ping_pong *game)
{
  const lmi_device_options options = {.threads = game->threads};
  const size_t copies = (size_t)game->threads * MOST_MESSAGES;
  game->bytes = copies * message_bytes[SIZES - 1];
  LMI_TRY(lmi_backend_find("cpu")->open(ctx, &options, &game->device));
  for (int i = 0; i < 2; i++) {
    LMI_TRY(LMI_ALLOC(ctx, game->bytes, &game->side[i]));
    LMI_TRY(LMI_ALLOC(ctx, copies, &game->copies[i]));
  }
  return LAMINA_OK;
}

static void close_ping_pong(lamina_context *ctx, ping_pong *game)
{
  for (int i = 0; i < 2; i++) {
    lmi_free(ctx, game->side[i]);
    lmi_free(ctx, game->copies[i]);
  }
  if (game->device != NULL)
    game->device->ops->close(game->device);
}

/* Copy i is made by thread i modulo the threads: on the way back each thread takes what another one wrote. */
static lamina_status play(const ping_pong *game, int messages, size_t bytes, lmi_transport_sample *sample)
{
  const int threads = game->threads;
  for (int way = 0; way < 2; way++)
    for (int i = 0; i < threads * messages; i++) {
      const int place = i / threads * threads + (i + way) % threads;
      const size_t at = (size_t)place * message_bytes[SIZES - 1];
      game->copies[way][i] = (lmi_copy){
        .target = game->side[1 - way] + at, .source = game->side[way] + at, .bytes = bytes, .rows = 1, .pitch = bytes};
    }
  const size_t copies = (size_t)threads * (size_t)messages;
  const lmi_phase phases[2] = {{.copies = game->copies[0], .copy_count = copies},
                               {.copies = game->copies[1], .copy_count = copies}};
  const lmi_step_phases steps[2] = {{&phases[0], 1}, {&phases[1], 1}};
  const lmi_program program = {.steps = steps, .step_count = 2, .version = 1};
  *sample = (lmi_transport_sample){.messages = messages, .bytes = (double)messages * (double)bytes};
  return lmi_time_copies(game->device, &program, SAMPLE_SECONDS, &sample->us);
}

/* ---- between ranks: a ring, in which all send up at the same time, as slabs do ---- */

static void list_ring(const ping_pong *game, int messages, size_t bytes, lmi_message *list)
{
  const lamina_context *ctx = game->device->ctx;
  const int rank = lamina_rank(ctx), ranks = lamina_rank_count(ctx);
  for (int i = 0; i < messages; i++) {
    const size_t at = (size_t)i * message_bytes[SIZES - 1];
    list[2 * i] = (lmi_message){.memory = game->side[0] + at, .peer = (rank + 1) % ranks, .is_receive = false};
    list[2 * i + 1] =
      (lmi_message){.memory = game->side[1] + at, .peer = (rank + ranks - 1) % ranks, .is_receive = true};
    for (int end = 0; end < 2; end++) {
      lmi_message *message = &list[2 * i + end];
      message->bytes = message->pitch = bytes;
      message->rows = 1;
      message->tag = i;
    }
  }
}

static lamina_status play_ring(const ping_pong *game, int messages, size_t bytes, lmi_transport_sample *sample)
{
  lmi_message list[2 * MOST_MESSAGES];
  lmi_exchange *exchange = NULL;
  list_ring(game, messages, bytes, list);
  LMI_TRY(lmi_exchange_create(game->device->ctx, list, 2 * (size_t)messages, &exchange));
  const lmi_phase phase = {.exchange = exchange};
  const lmi_step_phases step = {&phase, 1};
  const lmi_program program = {.steps = &step, .step_count = 1, .version = 1, .agrees = true};
  *sample = (lmi_transport_sample){.messages = messages, .bytes = (double)messages * (double)bytes};
  const lamina_status status = lmi_time_copies(game->device, &program, SAMPLE_SECONDS, &sample->us);
  lmi_exchange_destroy(exchange);
  return status;
}

lamina_status lamina_transport_measure(lamina_context *ctx, lamina_transport *transport)
{
  lamina_status status = LAMINA_OK;
  lmi_transport_sample samples[SAMPLES];
  ping_pong game = {.threads = lamina_context_thread_count(ctx)};
  memset(transport, 0, sizeof *transport);
  const bool has_ranks = lamina_rank_count(ctx) > 1;
  snprintf(transport->name, sizeof transport->name, has_ranks ? "mpi" : "threads");
  LMI_TRY_GOTO(status, open_ping_pong(ctx, &game), cleanup);
  for (int i = 0; i < SAMPLES; i++) {
    const int messages = message_counts[i % COUNTS];
    const size_t bytes = message_bytes[i / COUNTS];
    LMI_TRY_GOTO(status,
                 has_ranks ? play_ring(&game, messages, bytes, &samples[i]) : play(&game, messages, bytes, &samples[i]),
                 cleanup);
  }
  lmi_transport_fit(samples, SAMPLES, transport);
cleanup:
  close_ping_pong(ctx, &game);
  return status;
}

lamina_status lamina_transport_measure_device(lamina_context *ctx, int ordinal, lamina_transport *transport)
{
  enum { REPETITIONS_OF_PROBES = 5 };
  const uint64_t bytes = (uint64_t)256 << 20;
  lamina_accelerator_setup setup;
  lamina_bandwidth copy;
  memset(transport, 0, sizeof *transport);
  LMI_TRY(lamina_accelerator_measure_setup(ctx, ordinal, REPETITIONS_OF_PROBES, &setup));
  LMI_TRY(lamina_accelerator_link(ctx, ordinal, LAMINA_LINK_DEVICE_COPY, bytes, REPETITIONS_OF_PROBES, &copy));
  snprintf(transport->name, sizeof transport->name, "graph");
  transport->sync_us = setup.graph_launch_us.median;
  transport->setup_us = setup.graph_copy_us.median;
  transport->gb_per_s = 0.5 * copy.gb_per_s.median; /* of what is sent: a copy reads and writes it */
  return LAMINA_OK;
}
