/* SPDX-License-Identifier: Apache-2.0 */
/* Joining, leaving and agreeing through MPI. Messages of halos are ranks_mpi_exchange.c. */
#define _GNU_SOURCE
#include "ranks_mpi.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/* One call of MPI counts in int. */
static const size_t PIECE_BYTES = (size_t)1 << 30;

lamina_status lmi_mpi_check(lamina_context *ctx, int code, const char *sentence)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS)
    return LAMINA_OK;
  MPI_Error_string(code, text, &length);
  return lmi_fail(ctx, LAMINA_ERROR_COMMUNICATION, "%s on rank %d: %s", sentence, ctx->rank, text);
}

/* ---- joining ---- */

static lamina_status require_running(lamina_context *ctx, const lamina_ranks_options *options, bool *finalises)
{
  int is_running = 0, is_over = 0, level = 0;
  *finalises = false;
  LMI_TRY(lmi_mpi_check(ctx, MPI_Initialized(&is_running), "MPI_Initialized"));
  LMI_TRY(lmi_mpi_check(ctx, MPI_Finalized(&is_over), "MPI_Finalized"));
  LMI_REQUIRE(ctx, !is_over, LAMINA_ERROR_ARGUMENT, "MPI has ended in this process: ranks cannot be joined any more");
  if (!is_running) {
    LMI_REQUIRE(ctx, options->starts_mpi, LAMINA_ERROR_ARGUMENT,
                "MPI is not running: call MPI_Init_thread first, or set starts_mpi");
    *finalises = true;
    return lmi_mpi_check(ctx, MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
  }
  LMI_TRY(lmi_mpi_check(ctx, MPI_Query_thread(&level), "MPI_Query_thread"));
  LMI_REQUIRE(ctx, level >= MPI_THREAD_FUNNELED, LAMINA_ERROR_ARGUMENT,
              "MPI was started for one thread: start it with MPI_Init_thread and MPI_THREAD_FUNNELED");
  return LAMINA_OK;
}

/* Ranks of one host that are bound to processors of their own keep those; where several may use the same, each takes
 * its part. */
static lamina_status share_processors(lamina_context *ctx, MPI_Comm host)
{
  cpu_set_t own, all;
  if (ctx->chose_threads || sched_getaffinity(0, sizeof own, &own) != 0)
    return LAMINA_OK;
  int wanted = CPU_COUNT(&own);
  const int mine = wanted;
  LMI_TRY(lmi_mpi_check(ctx, MPI_Allreduce(&own, &all, (int)sizeof own, MPI_BYTE, MPI_BOR, host), "MPI_Allreduce"));
  LMI_TRY(lmi_mpi_check(ctx, MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_INT, MPI_SUM, host), "MPI_Allreduce"));
  const int share = (int)((int64_t)mine * CPU_COUNT(&all) / (wanted > 0 ? wanted : 1));
  ctx->threads = share > 0 ? share : 1;
  return LAMINA_OK;
}

static lamina_status find_places(lamina_context *ctx)
{
  const struct lmi_rank_state *ranks = ctx->ranks;
  MPI_Comm host = MPI_COMM_NULL;
  LMI_TRY(lmi_mpi_check(ctx, MPI_Comm_rank(ranks->work, &ctx->rank), "MPI_Comm_rank"));
  LMI_TRY(lmi_mpi_check(ctx, MPI_Comm_size(ranks->work, &ctx->rank_count), "MPI_Comm_size"));
  LMI_TRY(lmi_mpi_check(ctx, MPI_Comm_split_type(ranks->work, MPI_COMM_TYPE_SHARED, ctx->rank, MPI_INFO_NULL, &host),
                        "MPI_Comm_split"));
  lamina_status status = lmi_mpi_check(ctx, MPI_Comm_rank(host, &ctx->local_rank), "MPI_Comm_rank");
  if (status == LAMINA_OK)
    status = lmi_mpi_check(ctx, MPI_Comm_size(host, &ctx->local_rank_count), "MPI_Comm_size");
  if (status == LAMINA_OK)
    status = share_processors(ctx, host);
  MPI_Comm_free(&host);
  return status;
}

lamina_status lamina_ranks_join(lamina_context *context, const lamina_ranks_options *options)
{
  const lamina_ranks_options chosen = options != NULL ? *options : lamina_ranks_options_default();
  LMI_REQUIRE(context, context->ranks == NULL, LAMINA_ERROR_ARGUMENT, "this context has joined ranks before");
  bool finalises = false;
  struct lmi_rank_state *made = NULL;
  LMI_TRY(require_running(context, &chosen, &finalises));
  LMI_TRY(LMI_ALLOC(context, 1, &made));
  *made = (struct lmi_rank_state){.work = MPI_COMM_NULL, .end = MPI_COMM_NULL, .finalises = finalises};
  context->ranks = made;
  const MPI_Comm given = chosen.communicator != NULL ? *(const MPI_Comm *)chosen.communicator : MPI_COMM_WORLD;
  lamina_status status = lmi_mpi_check(context, MPI_Comm_dup(given, &made->work), "MPI_Comm_dup");
  if (status == LAMINA_OK)
    status = lmi_mpi_check(context, MPI_Comm_dup(given, &made->end), "MPI_Comm_dup");
  if (status == LAMINA_OK) {
    MPI_Comm_set_errhandler(made->work, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(made->end, MPI_ERRORS_RETURN);
    status = find_places(context);
  }
  if (status != LAMINA_OK)
    lmi_ranks_leave(context);
  return status;
}

void lmi_ranks_leave(lamina_context *ctx)
{
  struct lmi_rank_state *ranks = ctx->ranks;
  int is_over = 0;
  if (ranks == NULL)
    return;
  MPI_Finalized(&is_over);
  if (!is_over && ranks->work != MPI_COMM_NULL)
    MPI_Comm_free(&ranks->work);
  if (!is_over && ranks->end != MPI_COMM_NULL)
    MPI_Comm_free(&ranks->end);
  if (!is_over && ranks->finalises)
    MPI_Finalize();
  lmi_free(ctx, ranks);
  ctx->ranks = NULL;
  ctx->rank = ctx->local_rank = 0;
  ctx->rank_count = ctx->local_rank_count = 1;
}

/* ---- who is there ---- */

const char *lamina_ranks_library(void)
{
#if defined(OPEN_MPI)
#define NUMBER_TEXT_(number) #number
#define NUMBER_TEXT(number) NUMBER_TEXT_(number)
  return "Open MPI " NUMBER_TEXT(OMPI_MAJOR_VERSION) "." NUMBER_TEXT(OMPI_MINOR_VERSION) "." NUMBER_TEXT(
    OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
  return "MPICH " MPICH_VERSION;
#else
  return "MPI";
#endif
}

#if defined(OPEN_MPI) && defined(MPIX_CUDA_AWARE_SUPPORT)
static bool reaches_devices(void)
{
  return MPIX_Query_cuda_support() == 1;
}
#else
static bool reaches_devices(void)
{
  return false;
}
#endif

bool lmi_ranks_take_device_memory(const lamina_context *ctx)
{
  return ctx->ranks != NULL && reaches_devices();
}

/* ---- values ---- */

lamina_status lmi_ranks_broadcast(lamina_context *ctx, int root, void *data, size_t bytes)
{
  char *next = data;
  while (ctx->rank_count > 1 && bytes > 0) {
    const size_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
    LMI_TRY(lmi_mpi_check(ctx, MPI_Bcast(next, (int)piece, MPI_BYTE, root, ctx->ranks->work), "MPI_Bcast"));
    next += piece;
    bytes -= piece;
  }
  return LAMINA_OK;
}

static lamina_status reduce(lamina_context *ctx, void *values, size_t count, MPI_Datatype type, MPI_Op operation)
{
  if (ctx->rank_count == 1)
    return LAMINA_OK;
  LMI_REQUIRE(ctx, count <= PIECE_BYTES, LAMINA_ERROR_ARGUMENT, "%zu values in one reduction over ranks", count);
  return lmi_mpi_check(ctx, MPI_Allreduce(MPI_IN_PLACE, values, (int)count, type, operation, ctx->ranks->work),
                       "MPI_Allreduce");
}

lamina_status lmi_ranks_least(lamina_context *ctx, int64_t *values, size_t count)
{
  return reduce(ctx, values, count, MPI_INT64_T, MPI_MIN);
}

lamina_status lmi_ranks_sum(lamina_context *ctx, int64_t *values, size_t count)
{
  return reduce(ctx, values, count, MPI_INT64_T, MPI_SUM);
}

lamina_status lmi_ranks_merge_bits(lamina_context *ctx, void *bits, size_t bytes)
{
  return reduce(ctx, bits, bytes, MPI_BYTE, MPI_BOR);
}

lamina_status lmi_ranks_shift(lamina_context *ctx, const void *up, const void *down, void *from_below, void *from_above,
                              size_t bytes)
{
  enum { UP_TAG = 1, DOWN_TAG = 2 };
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int above = (ctx->rank + 1) % ctx->rank_count, below = (ctx->rank + ctx->rank_count - 1) % ctx->rank_count;
  LMI_TRY(lmi_mpi_make_type(ctx, bytes, 1, bytes, &type));
  const MPI_Comm work = ctx->ranks->work;
  int code = MPI_Sendrecv(up, 1, type, above, UP_TAG, from_below, 1, type, below, UP_TAG, work, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS)
    code = MPI_Sendrecv(down, 1, type, below, DOWN_TAG, from_above, 1, type, above, DOWN_TAG, work, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
  return lmi_mpi_check(ctx, code, "MPI_Sendrecv");
}

/* ---- the end ---- */

/* Asks now and then instead of spinning: the others may be busy for long. */
static bool await(MPI_Request *request, double patience)
{
  const struct timespec pause = {.tv_nsec = 2000000};
  const double limit = lmi_clock_seconds() + patience;
  int is_done = 0;
  while (MPI_Test(request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done) {
    if (patience >= 0 && lmi_clock_seconds() > limit)
      return false;
    nanosleep(&pause, NULL);
  }
  return is_done != 0;
}

bool lmi_ranks_meet_at_end(lamina_context *ctx, lamina_status own, double patience, bool *speaks)
{
  *speaks = true;
  if (ctx->rank_count == 1)
    return true;
  int64_t mine = own == LAMINA_OK ? INT64_MAX : ctx->rank, least = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Iallreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, ctx->ranks->end, &request) != MPI_SUCCESS)
    return false;
  if (!await(&request, own == LAMINA_OK ? -1.0 : patience))
    return false;
  *speaks = least == INT64_MAX ? ctx->rank == 0 : least == ctx->rank;
  return true;
}

void lmi_ranks_end_all(lamina_context *ctx, int exit_code)
{
  if (ctx->rank_count > 1)
    MPI_Abort(ctx->ranks->end, exit_code);
}
