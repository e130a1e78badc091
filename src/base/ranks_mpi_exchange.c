/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of halos as persistent requests: planned once, then started and waited for without a decision. A message
 * that is one range goes as bytes; a type that knows the gaps serves the others, so nothing is packed here. */
#include <limits.h>
#include <string.h>

#include "ranks_mpi.h"

typedef struct mpi_exchange {
  lmi_exchange base;
  lamina_context *ctx;
  MPI_Request *requests; /* receives first: a message that finds its receive waiting goes straight to its place */
  int count;
} mpi_exchange;

static lamina_status start(lmi_exchange *exchange)
{
  mpi_exchange *made = (mpi_exchange *)exchange;
  return lmi_mpi_check(made->ctx, MPI_Startall(made->count, made->requests), "starting messages");
}

/* Most MPI libraries move data only while they are called. */
static void advance(lmi_exchange *exchange)
{
  mpi_exchange *made = (mpi_exchange *)exchange;
  int is_done = 0;
  MPI_Testall(made->count, made->requests, &is_done, MPI_STATUSES_IGNORE); /* an error is met again by finish() */
}

static lamina_status finish(lmi_exchange *exchange)
{
  mpi_exchange *made = (mpi_exchange *)exchange;
  return lmi_mpi_check(made->ctx, MPI_Waitall(made->count, made->requests, MPI_STATUSES_IGNORE),
                       "waiting for messages");
}

static void destroy(lmi_exchange *exchange)
{
  mpi_exchange *made = (mpi_exchange *)exchange;
  for (int i = 0; made->requests != NULL && i < made->count; i++)
    if (made->requests[i] != MPI_REQUEST_NULL)
      MPI_Request_free(&made->requests[i]);
  lmi_free(made->ctx, made->requests);
  lmi_free(made->ctx, made);
}

static const lmi_exchange_ops EXCHANGE_OPS = {start, advance, finish, destroy};

/* `bytes` bytes in a row, as large pieces and a rest. */
static int make_run(size_t bytes, MPI_Datatype *run)
{
  const size_t piece_bytes = (size_t)1 << 20;
  int lengths[2] = {(int)(bytes / piece_bytes), (int)(bytes % piece_bytes)};
  const MPI_Aint places[2] = {0, (MPI_Aint)(bytes - bytes % piece_bytes)};
  MPI_Datatype pieces[2] = {MPI_DATATYPE_NULL, MPI_BYTE};
  if (bytes <= INT_MAX)
    return MPI_Type_contiguous((int)bytes, MPI_BYTE, run);
  int code = MPI_Type_contiguous((int)piece_bytes, MPI_BYTE, &pieces[0]);
  if (code != MPI_SUCCESS)
    return code;
  code = MPI_Type_create_struct(2, lengths, places, pieces, run);
  MPI_Type_free(&pieces[0]);
  return code;
}

lamina_status lmi_mpi_make_type(lamina_context *ctx, size_t bytes, size_t rows, size_t pitch, MPI_Datatype *type)
{
  MPI_Datatype run = MPI_DATATYPE_NULL;
  LMI_REQUIRE(ctx, rows <= INT_MAX, LAMINA_ERROR_ARGUMENT, "a message of %zu runs: at most %d are possible", rows,
              INT_MAX);
  LMI_TRY(lmi_mpi_check(ctx, make_run(bytes, &run), "describing a message"));
  int code = MPI_Type_create_hvector((int)rows, 1, (MPI_Aint)pitch, run, type);
  MPI_Type_free(&run);
  LMI_TRY(lmi_mpi_check(ctx, code, "describing a message"));
  return lmi_mpi_check(ctx, MPI_Type_commit(type), "describing a message");
}

static lamina_status plan_message(mpi_exchange *made, const lmi_message *message)
{
  lamina_context *ctx = made->ctx;
  const MPI_Comm work = ctx->ranks->work;
  MPI_Request *request = &made->requests[made->count];
  MPI_Datatype type = MPI_BYTE;
  const bool is_plain = message->rows == 1 && message->bytes <= INT_MAX;
  if (!is_plain)
    LMI_TRY(lmi_mpi_make_type(ctx, message->bytes, message->rows, message->pitch, &type));
  const int count = is_plain ? (int)message->bytes : 1;
  const int code = message->is_receive
                     ? MPI_Recv_init(message->memory, count, type, message->peer, message->tag, work, request)
                     : MPI_Send_init(message->memory, count, type, message->peer, message->tag, work, request);
  if (!is_plain)
    MPI_Type_free(&type); /* the request keeps what it needs */
  LMI_TRY(lmi_mpi_check(ctx, code, "planning a message"));
  made->count++;
  return LAMINA_OK;
}

lamina_status lmi_exchange_create(lamina_context *ctx, const lmi_message *messages, size_t count,
                                  lmi_exchange **exchange)
{
  lamina_status status = LAMINA_OK;
  mpi_exchange *made = NULL;
  *exchange = NULL;
  LMI_REQUIRE(ctx, count <= INT_MAX, LAMINA_ERROR_ARGUMENT, "%zu messages in one step", count);
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->base.ops = &EXCHANGE_OPS;
  made->ctx = ctx;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &made->requests), cleanup);
  for (int receives = 1; receives >= 0; receives--)
    for (size_t i = 0; i < count; i++)
      if (messages[i].is_receive == (receives == 1))
        LMI_TRY_GOTO(status, plan_message(made, &messages[i]), cleanup);
  for (size_t i = 0; i < count; i++)
    if (!messages[i].is_receive) {
      made->base.messages++;
      made->base.bytes += messages[i].bytes * messages[i].rows;
    }
  *exchange = &made->base;
cleanup:
  if (status != LAMINA_OK)
    destroy(&made->base);
  return status;
}
