/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks where the library was built without MPI: one, and nobody to talk to. */
#include "context_internal.h"
#include "ranks.h"

static const char ADVICE[] = "this lamina was built without MPI: configure it with -DLAMINA_MPI=ON";

lamina_status lamina_ranks_join(lamina_context *context, const lamina_ranks_options *options)
{
  (void)options;
  return lmi_fail(context, LAMINA_UNAVAILABLE, "%s", ADVICE);
}

const char *lamina_ranks_library(void)
{
  return "";
}

bool lmi_ranks_take_device_memory(const lamina_context *ctx)
{
  (void)ctx;
  return false;
}

lamina_status lmi_ranks_broadcast(lamina_context *ctx, int root, void *data, size_t bytes)
{
  (void)ctx, (void)root, (void)data, (void)bytes;
  return LAMINA_OK;
}

// NOLINTNEXTLINE(readability-non-const-parameter): with more ranks the values change
lamina_status lmi_ranks_least(lamina_context *ctx, int64_t *values, size_t count)
{
  (void)ctx, (void)values, (void)count;
  return LAMINA_OK;
}

// NOLINTNEXTLINE(readability-non-const-parameter): with more ranks the values change
lamina_status lmi_ranks_sum(lamina_context *ctx, int64_t *values, size_t count)
{
  (void)ctx, (void)values, (void)count;
  return LAMINA_OK;
}

lamina_status lmi_ranks_merge_bits(lamina_context *ctx, void *bits, size_t bytes)
{
  (void)ctx, (void)bits, (void)bytes;
  return LAMINA_OK;
}

lamina_status lmi_ranks_shift(lamina_context *ctx, const void *up, const void *down, void *from_below, void *from_above,
                              size_t bytes)
{
  (void)up, (void)down, (void)from_below, (void)from_above, (void)bytes;
  return lmi_fail(ctx, LAMINA_UNAVAILABLE, "%s", ADVICE);
}

bool lmi_ranks_meet_at_end(lamina_context *ctx, lamina_status own, double patience, bool *speaks)
{
  (void)ctx, (void)own, (void)patience;
  *speaks = true;
  return true;
}

void lmi_ranks_end_all(lamina_context *ctx, int exit_code)
{
  (void)ctx, (void)exit_code;
}

lamina_status lmi_exchange_create(lamina_context *ctx, const lmi_message *messages, size_t count,
                                  lmi_exchange **exchange)
{
  (void)messages, (void)count;
  *exchange = NULL;
  return lmi_fail(ctx, LAMINA_UNAVAILABLE, "%s", ADVICE);
}

void lmi_ranks_leave(lamina_context *ctx)
{
  (void)ctx;
}
