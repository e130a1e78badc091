/* SPDX-License-Identifier: Apache-2.0 */
/* What layers use of ranks (lamina/mpi.h): agreeing, sharing values, and messages between memory of two ranks.
 *
 * All calls named "collective" are made by every rank in the same order; with one rank they do nothing and succeed, and
 * MPI is not touched. The thread that calls is the one that joined, or thread 0 of a team it started. */
#ifndef LMI_RANKS_H
#define LMI_RANKS_H

#include <lamina/mpi.h>

#include "base.h"

/* ---- who is there; not collective ---- */

/* This rank among those of its host, from 0, and how many those are. */
int lmi_local_rank(const lamina_context *ctx);
int lmi_local_rank_count(const lamina_context *ctx);

/* Whether the MPI library takes addresses of device memory. */
bool lmi_ranks_take_device_memory(const lamina_context *ctx);

/* ---- values; collective ---- */

LAMINA_NODISCARD lamina_status lmi_ranks_broadcast(lamina_context *ctx, int root, void *data, size_t bytes);

/* The smallest of each value over all ranks; the sum in whole numbers; all bits that any rank has set. */
LAMINA_NODISCARD lamina_status lmi_ranks_least(lamina_context *ctx, int64_t *values, size_t count);
LAMINA_NODISCARD lamina_status lmi_ranks_sum(lamina_context *ctx, int64_t *values, size_t count);
LAMINA_NODISCARD lamina_status lmi_ranks_merge_bits(lamina_context *ctx, void *bits, size_t bytes);

/* Sends `up` to the next rank and `down` to the one before, and takes what they send: in a ring, so that the first and
 * last rank are neighbours too. All are `bytes` long. */
LAMINA_NODISCARD lamina_status lmi_ranks_shift(lamina_context *ctx, const void *up, const void *down, void *from_below,
                                               void *from_above, size_t bytes);

/* The same status on every rank: the one of the lowest rank that failed, with its sentence; OK when none did. */
LAMINA_NODISCARD lamina_status lmi_ranks_settle(lamina_context *ctx, lamina_status own);

/* ---- the end of a program ---- */

/* Meets the other ranks for the last time. A rank that failed waits `patience` seconds for the others and then gives
 * up: false, and the caller ends them with lmi_ranks_end_all. *speaks: this rank is the lowest of those that failed, or
 * rank 0 when none did. */
bool lmi_ranks_meet_at_end(lamina_context *ctx, lamina_status own, double patience, bool *speaks);

/* Ends all ranks now with this exit code. Does not return where there are several. */
void lmi_ranks_end_all(lamina_context *ctx, int exit_code);

/* ---- messages ---- */

/* One end of a message: `rows` runs of `bytes`, each `pitch` bytes after the one before. The other end has the same
 * tag, and no other message between these two ranks in the same exchange has it. */
typedef struct lmi_message {
  void *memory;
  size_t bytes, rows, pitch;
  int partition; /* whose memory it is */
  int peer;      /* rank at the other end */
  int tag;       /* 0 to 32767 */
  bool is_receive;
} lmi_message;

/* Messages that are sent together, again and again, from and into the memory they were planned with: nothing is packed
 * or copied here. Started, now and then advanced, finished; then it may be started again. */
typedef struct lmi_exchange lmi_exchange;
typedef struct lmi_exchange_ops {
  lamina_status (*start)(lmi_exchange *exchange);
  void (*advance)(lmi_exchange *exchange);
  lamina_status (*finish)(lmi_exchange *exchange);
  void (*destroy)(lmi_exchange *exchange);
} lmi_exchange_ops;

struct lmi_exchange {
  const lmi_exchange_ops *ops;
  uint64_t messages, bytes; /* sent by one run */
};

/* Messages in memory that MPI can reach. Not collective. Errors: UNAVAILABLE without MPI, COMMUNICATION, MEMORY. */
LAMINA_NODISCARD lamina_status lmi_exchange_create(lamina_context *ctx, const lmi_message *messages, size_t count,
                                                   lmi_exchange **exchange);
void lmi_exchange_destroy(lmi_exchange *exchange); /* NULL does nothing */

/* ---- for src/base alone: what joining leaves in the context, and how it is taken back ---- */

struct lmi_rank_state;
void lmi_ranks_leave(lamina_context *ctx);

#endif
