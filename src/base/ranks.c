/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks, as far as it does not depend on there being an MPI library. */
#include "ranks.h"

#include <stdio.h>

#include "context_internal.h"

lamina_ranks_options lamina_ranks_options_default(void)
{
  return (lamina_ranks_options){0};
}

int lamina_rank(const lamina_context *context)
{
  return context->rank;
}

int lamina_rank_count(const lamina_context *context)
{
  return context->rank_count;
}

int lmi_local_rank(const lamina_context *ctx)
{
  return ctx->local_rank;
}

int lmi_local_rank_count(const lamina_context *ctx)
{
  return ctx->local_rank_count;
}

/* Rank and status in one number, so that the least of all is the lowest rank that failed. */
static int64_t failure_key(const lamina_context *ctx, lamina_status own)
{
  return own == LAMINA_OK ? INT64_MAX : (int64_t)ctx->rank << 32 | (int64_t)own;
}

lamina_status lmi_ranks_settle(lamina_context *ctx, lamina_status own)
{
  if (ctx->rank_count == 1)
    return own;
  int64_t key = failure_key(ctx, own);
  LMI_TRY(lmi_ranks_least(ctx, &key, 1));
  if (key == INT64_MAX)
    return LAMINA_OK;
  const int root = (int)(key >> 32);
  char sentence[LMI_MESSAGE_BYTES];
  snprintf(sentence, sizeof sentence, "%s", lamina_error_message(ctx));
  LMI_TRY(lmi_ranks_broadcast(ctx, root, sentence, sizeof sentence));
  lamina_error_clear(ctx);
  return lmi_fail(ctx, (lamina_status)(key & 0xff), "%s", sentence);
}

void lmi_exchange_destroy(lmi_exchange *exchange)
{
  if (exchange != NULL)
    exchange->ops->destroy(exchange);
}
