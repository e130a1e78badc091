/* SPDX-License-Identifier: Apache-2.0 */
#include "transport_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/ranks.h"
#include <lamina/accelerator.h>

/* Few steps would measure how a device is woken, not how it goes on: runs there are so long at least. */
enum { QUEUED_STEPS = 512 };

enum { REPETITIONS = 50, UNKNOWNS = 3, MOST_MESSAGES = 18, SIZES = 27, COUNTS = 5, FIELDS = 2 };

/* A little more than powers of two, as planes with their frame are: MPI libraries change their protocol at powers. */
static const size_t LEAST_BYTES = 1088;
static const int message_counts[COUNTS] = {1, 2, 6, 10, MOST_MESSAGES};

/* Of all messages of one sender; of all memory of a ping-pong. */
static const size_t MOST_BYTES = (size_t)16 << 20, MOST_MEMORY = (size_t)512 << 20;
static const double SAMPLE_SECONDS = 0.01;
static const double PATIENCE = 5.0; /* times the wanted seconds: threads that others keep from running take longer */

/* Other work of the machine makes most of what is above it; below it are runs that a lucky cache made. */
static double lower_quartile(double *times, int count)
{
  for (int i = 1; i < count; i++)
    for (int j = i; j > 0 && times[j] < times[j - 1]; j--) {
      const double swapped = times[j];
      times[j] = times[j - 1];
      times[j - 1] = swapped;
    }
  return times[count / 4];
}

lamina_status lmi_time_copies(lmi_device *device, const lmi_program *program, double seconds, double *step_us)
{
  lmi_fault fault;
  int64_t steps = 2;
  const int64_t least = strcmp(device->ops->name, "cuda") == 0 ? QUEUED_STEPS : 2;
  double times[REPETITIONS];
  int count = 0;
  const double limit = lmi_clock_seconds() + PATIENCE * seconds;
  int64_t goes_on = 1;
  for (int i = 0; i < REPETITIONS + 1 && goes_on; i++) {
    const double start = lmi_clock_seconds();
    LMI_TRY(device->ops->replay(device, program, 0, steps, &fault));
    const double each = (lmi_clock_seconds() - start) / (double)steps;
    if (i > 0)
      times[count++] = each;
    else
      steps = each > 0.0 ? least + (int64_t)fmin(seconds / REPETITIONS / each, 1e7) : least;
    goes_on = i < 2 || lmi_clock_seconds() < limit;
    LMI_TRY(lmi_ranks_broadcast(device->ctx, 0, &steps, sizeof steps));
    LMI_TRY(lmi_ranks_broadcast(device->ctx, 0, &goes_on, sizeof goes_on));
  }
  double quartile = lower_quartile(times, count);
  LMI_TRY(lmi_ranks_broadcast(device->ctx, 0, &quartile, sizeof quartile));
  *step_us = 1e6 * quartile;
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

/* Factors in the length of messages, and in all bytes of an exchange, at which a point says little. */
static const double LENGTHS = 1.15, VOLUMES = 1.4, NEAR = 0.01;

/* How much a point says of an exchange of messages of `length`, `bytes` in all; `reach` 1 or, where no point is near,
 * more. */
static double nearness(const lamina_transport_point *p, double length, double bytes, double reach)
{
  const double r = log(p->bytes / p->messages / length) / log(LENGTHS), s = log(p->bytes / bytes) / log(VOLUMES);
  return exp(-0.5 * (r * r + s * s) / (reach * reach));
}

/* The least reach, of powers of two, at which the points say something together. */
static double reach_of(const lamina_transport *transport, double length, double bytes)
{
  const double enough = 0.3;
  double reach = 0.5, sum = 0.0;
  while (sum < enough && reach < 1024.0) {
    reach *= 2.0;
    sum = 0.0;
    for (int i = 0; i < transport->point_count; i++)
      sum += nearness(&transport->points[i], length, bytes, reach);
  }
  return reach;
}

/* The weighted normal equations of us = x0 + messages x1 + kilobytes x2. */
static void add_equation(double m[UNKNOWNS][UNKNOWNS + 1], const lamina_transport_point *p, double weight)
{
  const double row[UNKNOWNS + 1] = {1.0, p->messages, p->bytes * 1e-3, p->us};
  for (int i = 0; i < UNKNOWNS; i++)
    for (int j = 0; j <= UNKNOWNS; j++)
      m[i][j] += weight / (p->us * p->us) * row[i] * row[j];
}

void lmi_transport_fit(const lamina_transport_point *points, int count, lamina_transport *transport)
{
  double m[UNKNOWNS][UNKNOWNS + 1] = {{0}}, x[UNKNOWNS] = {0};
  for (int i = 0; i < count; i++)
    add_equation(m, &points[i], 1.0);
  const bool solved = solve(m, x);
  transport->sync_us = solved && x[0] > 0.0 ? x[0] : (double)NAN;
  transport->setup_us = solved && x[1] > 0.0 ? x[1] : (double)NAN;
  transport->gb_per_s = solved && x[2] > 0.0 ? 1.0 / x[2] : (double)NAN;
}

/* Solves with the unknowns of `set` alone, the others 0; false where one comes out negative. `loss` is what is left of
 * the squares but for a constant. */
static bool solve_subset(const double full[UNKNOWNS][UNKNOWNS + 1], int set, double *x, double *loss)
{
  double m[UNKNOWNS][UNKNOWNS + 1];
  memcpy(m, full, sizeof m);
  for (int i = 0; i < UNKNOWNS; i++)
    for (int j = 0; j <= UNKNOWNS; j++)
      if ((set >> i & 1) == 0 || (j < UNKNOWNS && (set >> j & 1) == 0))
        m[i][j] = i == j ? 1.0 : 0.0;
  if (!solve(m, x))
    return false;
  *loss = 0.0;
  for (int i = 0; i < UNKNOWNS; i++) {
    if (x[i] < 0.0)
      return false;
    *loss -= x[i] * full[i][UNKNOWNS];
  }
  return true;
}

double lamina_transport_time(const lamina_transport *transport, double messages, double bytes)
{
  double m[UNKNOWNS][UNKNOWNS + 1] = {{0}}, best = 0.0, time = (double)NAN;
  if (transport->point_count == 0)
    return transport->sync_us + messages * transport->setup_us + bytes / (1e3 * transport->gb_per_s);
  const double length = bytes / messages, reach = reach_of(transport, length, bytes);
  for (int i = 0; i < transport->point_count; i++)
    add_equation(m, &transport->points[i], nearness(&transport->points[i], length, bytes, reach));
  for (int set = 1; set < 1 << UNKNOWNS; set++) {
    double x[UNKNOWNS], loss = 0.0;
    if (!solve_subset((const double(*)[UNKNOWNS + 1]) m, set, x, &loss) || loss >= best)
      continue;
    best = loss;
    time = x[0] + messages * x[1] + bytes * 1e-3 * x[2];
  }
  return time;
}

/* Buffers of a ping-pong: each thread has room for its messages on both sides, in two fields that take turns as those
 * of two-grid streaming do: what fits a cache once may not fit it twice. */
struct lmi_ping_pong {
  lamina_context *ctx;
  lmi_device *device;
  int threads;
  double seconds; /* for a point */
  size_t most;    /* bytes of one sender in a field */
  size_t bytes;   /* of one side of a field */
  char *side[FIELDS][2];
  lmi_copy *copies[FIELDS][2];
};

static lamina_status fill_ping_pong(lmi_ping_pong *game, size_t most_bytes)
{
  const lmi_device_options options = {.threads = game->threads};
  const size_t senders = (size_t)game->threads, fitting = MOST_MEMORY / (2 * FIELDS * senders);
  game->most = most_bytes < fitting ? most_bytes : fitting;
  game->bytes = senders * game->most;
  LMI_TRY(lmi_backend_find("cpu")->open(game->ctx, &options, &game->device));
  for (int i = 0; i < 2 * FIELDS; i++) {
    void *memory = NULL; /* as that of fields: the size of pages counts */
    LMI_TRY(game->device->ops->allocate(game->device, 0, game->bytes, &memory));
    memset(memory, 1, game->bytes); /* else reads would meet the one page of zeros that stands for all untouched ones */
    game->side[i / 2][i % 2] = memory;
    LMI_TRY(LMI_ALLOC(game->ctx, senders * MOST_MESSAGES, &game->copies[i / 2][i % 2]));
  }
  return LAMINA_OK;
}

lamina_status lmi_ping_pong_open(lamina_context *ctx, double field_bytes, lmi_ping_pong **game)
{
  lamina_status status = LMI_ALLOC(ctx, 1, game);
  if (status == LAMINA_OK) {
    **game = (struct lmi_ping_pong){.ctx = ctx, .threads = lamina_context_thread_count(ctx)};
    status = fill_ping_pong(*game, field_bytes < (double)MOST_BYTES ? (size_t)field_bytes : MOST_BYTES);
  }
  status = lmi_ranks_settle(ctx, status);
  if (status != LAMINA_OK) {
    lmi_ping_pong_close(*game);
    *game = NULL;
  }
  return status;
}

void lmi_ping_pong_close(lmi_ping_pong *game)
{
  if (game == NULL)
    return;
  for (int i = 0; i < 2 * FIELDS; i++) {
    if (game->side[i / 2][i % 2] != NULL)
      game->device->ops->release(game->device, 0, game->side[i / 2][i % 2], game->bytes);
    lmi_free(game->ctx, game->copies[i / 2][i % 2]);
  }
  if (game->device != NULL)
    game->device->ops->close(game->device);
  lmi_free(game->ctx, game);
}

/* Copy i is made by thread i modulo the threads: on the way back each thread takes what another one wrote. */
static lamina_status play(const lmi_ping_pong *game, int messages, size_t bytes, lamina_transport_point *point)
{
  const int threads = game->threads;
  const size_t copies = (size_t)threads * (size_t)messages;
  lmi_phase phases[2 * FIELDS];
  lmi_step_phases steps[2 * FIELDS];
  for (int turn = 0; turn < 2 * FIELDS; turn++) {
    const int way = turn % 2;
    char *const *side = game->side[turn / 2];
    lmi_copy *list = game->copies[turn / 2][way];
    for (int i = 0; i < threads * messages; i++) {
      const size_t at = (size_t)(i / threads * threads + (i + way) % threads) * bytes;
      list[i] =
        (lmi_copy){.target = side[1 - way] + at, .source = side[way] + at, .bytes = bytes, .rows = 1, .pitch = bytes};
    }
    phases[turn] = (lmi_phase){.copies = list, .copy_count = copies};
    steps[turn] = (lmi_step_phases){&phases[turn], 1};
  }
  const lmi_program program = {.steps = steps, .step_count = LMI_COUNT(steps), .version = 1};
  *point = (lamina_transport_point){.messages = messages, .bytes = (double)messages * (double)bytes};
  return lmi_time_copies(game->device, &program, game->seconds, &point->us);
}

/* ---- between ranks: a ring, in which all send up at the same time, as slabs do ---- */

static void list_ring(const lmi_ping_pong *game, int field, int messages, size_t bytes, lmi_message *list)
{
  const lamina_context *ctx = game->device->ctx;
  const int rank = lamina_rank(ctx), ranks = lamina_rank_count(ctx);
  for (int i = 0; i < messages; i++) {
    const size_t at = (size_t)i * bytes;
    list[2 * i] = (lmi_message){.memory = game->side[field][0] + at, .peer = (rank + 1) % ranks, .is_receive = false};
    list[2 * i + 1] =
      (lmi_message){.memory = game->side[field][1] + at, .peer = (rank + ranks - 1) % ranks, .is_receive = true};
    for (int end = 0; end < 2; end++) {
      lmi_message *message = &list[2 * i + end];
      message->bytes = message->pitch = bytes;
      message->rows = 1;
      message->tag = i;
    }
  }
}

static lamina_status play_ring(const lmi_ping_pong *game, int messages, size_t bytes, lamina_transport_point *point)
{
  lamina_status status = LAMINA_OK;
  lmi_message list[2 * MOST_MESSAGES];
  lmi_exchange *exchanges[FIELDS] = {NULL};
  lmi_phase phases[FIELDS];
  lmi_step_phases steps[FIELDS];
  for (int field = 0; field < FIELDS; field++) {
    list_ring(game, field, messages, bytes, list);
    LMI_TRY_GOTO(status, lmi_exchange_create(game->device->ctx, list, 2 * (size_t)messages, &exchanges[field]),
                 cleanup);
    phases[field] = (lmi_phase){.exchange = exchanges[field]};
    steps[field] = (lmi_step_phases){&phases[field], 1};
  }
  const lmi_program program = {.steps = steps, .step_count = FIELDS, .version = 1, .agrees = true};
  *point = (lamina_transport_point){.messages = messages, .bytes = (double)messages * (double)bytes};
  status = lmi_time_copies(game->device, &program, game->seconds, &point->us);
cleanup:
  for (int field = 0; field < FIELDS; field++)
    lmi_exchange_destroy(exchanges[field]);
  return status;
}

static lamina_status measure_point(const lmi_ping_pong *game, lamina_transport_point *point)
{
  const int messages = (int)point->messages;
  const size_t bytes = (size_t)(point->bytes / point->messages);
  return lamina_rank_count(game->ctx) > 1 ? play_ring(game, messages, bytes, point)
                                          : play(game, messages, bytes, point);
}

lamina_status lmi_ping_pong_refresh(lmi_ping_pong *game, double messages, double bytes, double seconds,
                                    lamina_transport *transport)
{
  game->seconds = seconds;
  for (int i = 0; i < transport->point_count; i++)
    if (transport->points[i].bytes <= (double)game->most &&
        nearness(&transport->points[i], bytes / messages, bytes, 1.0) > NEAR)
      LMI_TRY(measure_point(game, &transport->points[i]));
  return LAMINA_OK;
}

/* Two lengths an octave, whole cache lines. */
static size_t length_of(int size)
{
  const double length = (double)LEAST_BYTES * pow(2.0, 0.5 * size);
  return (size_t)(length / LMI_LINE_BYTES + 0.5) * LMI_LINE_BYTES;
}

static lamina_status measure_all(lmi_ping_pong *game, lamina_transport *transport)
{
  game->seconds = SAMPLE_SECONDS;
  for (int i = 0; i < SIZES * COUNTS; i++) {
    const int messages = message_counts[i % COUNTS];
    const size_t bytes = length_of(i / COUNTS);
    if ((size_t)messages * bytes > game->most)
      continue;
    lamina_transport_point *point = &transport->points[transport->point_count++];
    *point = (lamina_transport_point){.messages = messages, .bytes = (double)messages * (double)bytes};
    LMI_TRY(measure_point(game, point));
  }
  lmi_transport_fit(transport->points, transport->point_count, transport);
  return LAMINA_OK;
}

lamina_status lamina_transport_measure(lamina_context *ctx, lamina_transport *transport)
{
  lmi_ping_pong *game = NULL;
  memset(transport, 0, sizeof *transport);
  snprintf(transport->name, sizeof transport->name, lamina_rank_count(ctx) > 1 ? "mpi" : "threads");
  LMI_TRY(lmi_ping_pong_open(ctx, (double)MOST_BYTES, &game));
  const lamina_status status = measure_all(game, transport);
  lmi_ping_pong_close(game);
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
