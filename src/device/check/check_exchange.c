/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "check_exchange.h"

#include <stdlib.h>
#include <time.h>

typedef struct check_exchange {
  lmi_exchange base;
  lamina_context *ctx;
  lmi_exchange *inner;
  uint64_t random; /* state of the generator; differs from rank to rank */
  int64_t longest_us;
} check_exchange;

/* xorshift64: good enough to be late in ever new ways. */
static uint64_t draw(check_exchange *made)
{
  made->random ^= made->random << 13;
  made->random ^= made->random >> 7;
  made->random ^= made->random << 17;
  return made->random;
}

static void be_late(check_exchange *made)
{
  if (made->longest_us == 0)
    return;
  const struct timespec delay = {.tv_nsec = (long)(draw(made) % (uint64_t)made->longest_us) * 1000};
  nanosleep(&delay, NULL);
}

static lamina_status start(lmi_exchange *exchange)
{
  check_exchange *made = (check_exchange *)exchange;
  be_late(made);
  return made->inner->ops->start(made->inner);
}

static void advance(lmi_exchange *exchange)
{
  check_exchange *made = (check_exchange *)exchange;
  if (draw(made) % 4 == 0)
    be_late(made);
  made->inner->ops->advance(made->inner);
}

static lamina_status finish(lmi_exchange *exchange)
{
  check_exchange *made = (check_exchange *)exchange;
  be_late(made);
  return made->inner->ops->finish(made->inner);
}

static void destroy(lmi_exchange *exchange)
{
  check_exchange *made = (check_exchange *)exchange;
  lmi_exchange_destroy(made->inner);
  lmi_free(made->ctx, made);
}

static const lmi_exchange_ops CHECK_OPS = {start, advance, finish, destroy};

static int64_t longest_delay(void)
{
  enum { LONGEST_US = 100000 };
  int64_t us = 0;
  const char *text = getenv("LAMINA_CHECK_DELAY_US");
  return text != NULL && lmi_parse_int64(text, &us) && us > 0 && us <= LONGEST_US ? us : 0;
}

lamina_status lmi_check_exchange_create(lamina_context *ctx, const lmi_message *messages, size_t count,
                                        lmi_exchange **exchange)
{
  check_exchange *made = NULL;
  *exchange = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  made->longest_us = longest_delay();
  made->random = (uint64_t)(lmi_clock_seconds() * 1e9) * 2 + 1 + ((uint64_t)lamina_rank(ctx) << 40);
  const lamina_status status = lmi_exchange_create(ctx, messages, count, &made->inner);
  if (status != LAMINA_OK) {
    lmi_free(ctx, made);
    return status;
  }
  made->base = (lmi_exchange){&CHECK_OPS, made->inner->messages, made->inner->bytes};
  *exchange = &made->base;
  return LAMINA_OK;
}
