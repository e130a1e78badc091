/* SPDX-License-Identifier: Apache-2.0 */
/* The order of launches on a stack of levels (lbm-spec 7.4). One step of level l with everything finer inside it:
 *
 *   level l - 1, first half     (blocks of level l away from jumps run beside it: they need nothing finer)
 *   level l, blocks at jumps    (they read level l - 1 before and after its first half)
 *   level l - 1, second half    (writes over what level l - 1 had at the start: hence after the jump blocks)
 *
 * Populations that leave the finer level, cross a corner of the coarser one and come back in the second half are set
 * aside beside the jump blocks, before they are written over. */
#include <string.h>

#include "level_flow.h"

typedef struct plan {
  lamina_context *ctx;
  const lmi_level_flow *flow;
  lmi_launch *launches;
  size_t launch_count, launch_room;
  lmi_phase *phases; /* launch_count set; pointers once all launches are known */
  size_t phase_count, phase_room;
  lmi_launch *pending; /* of coarser levels, for the next phase */
  size_t pending_count;
  int parity; /* the buffer the coarsest level reads */
} plan;

static lamina_status grow(lamina_context *ctx, void **memory, size_t size, size_t used, size_t *room)
{
  if (used < *room)
    return LAMINA_OK;
  void *larger = NULL;
  const size_t wanted = *room < 16 ? 16 : *room * 2;
  LMI_TRY(lmi_alloc_array(ctx, wanted, size, &larger));
  if (used > 0)
    memcpy(larger, *memory, used * size);
  lmi_free(ctx, *memory);
  *memory = larger;
  *room = wanted;
  return LAMINA_OK;
}

static lamina_status add_launch(plan *p, const lmi_launch *launch)
{
  if (launch->count == 0)
    return LAMINA_OK;
  void *memory = p->launches;
  LMI_TRY(grow(p->ctx, &memory, sizeof *p->launches, p->launch_count, &p->launch_room));
  p->launches = memory;
  p->launches[p->launch_count++] = *launch;
  p->phases[p->phase_count - 1].launch_count++;
  return LAMINA_OK;
}

/* Begins a phase with what waits for one. */
static lamina_status begin_phase(plan *p)
{
  void *memory = p->phases;
  LMI_TRY(grow(p->ctx, &memory, sizeof *p->phases, p->phase_count, &p->phase_room));
  p->phases = memory;
  p->phases[p->phase_count++] = (lmi_phase){0};
  for (size_t i = 0; i < p->pending_count; i++)
    LMI_TRY(add_launch(p, &p->pending[i]));
  p->pending_count = 0;
  return LAMINA_OK;
}

static const lmk_block_step *arguments_of(const plan *p, int level, int k)
{
  const lmi_level_state *state = &p->flow->state[level];
  const int top = p->flow->levels.count - 1;
  if (level == top)
    return &state->steps[0][p->parity];
  return &state->steps[level + 1 == top ? p->parity : k / 2 % 2][k % 2];
}

/* A launch of a kernel over the blocks of a kind, into the current phase, or kept for the next one. */
static lamina_status launch_kind(plan *p, const lmi_kernel *kernel, int level, int k, lmi_block_kind kind, bool later)
{
  const lmi_block_run *run = &p->flow->blocks[level].parts[0].runs[0][kind];
  const lmi_launch launch = {
    .kernel = kernel,
    .arguments = arguments_of(p, level, k),
    .first = run->first,
    .count = run->count,
    .partition = level,
  };
  if (!later)
    return add_launch(p, &launch);
  p->pending[p->pending_count++] = launch;
  return LAMINA_OK;
}

static lamina_status keep_aside(plan *p, int level)
{
  const int64_t entries = p->flow->links.level[level].aside_count;
  const lmi_launch launch = {.kernel = p->flow->kernels.aside,
                             .arguments = &p->flow->state[level].keep,
                             .partition = level,
                             .count = (entries + LMK_ASIDE_RUN - 1) / LMK_ASIDE_RUN};
  return add_launch(p, &launch);
}

static bool fuses(const lmi_level_flow *flow, int level)
{
  return level == 0 ? flow->fuses_finest : flow->fuses_coarse;
}

/* One phase for a fused step. A step in two halves needs two: what a block sends must stay until all have it. */
static lamina_status finish_level(plan *p, int level, int k, bool is_plain_done)
{
  const lmi_level_flow *flow = p->flow;
  const lmi_block_kernels *kernels = &flow->kernels;
  const bool splits = flow->scheme == LMI_LEVEL_VOLUMETRIC, splits_plain = splits && !fuses(flow, level);
  LMI_TRY(begin_phase(p));
  if (!is_plain_done)
    LMI_TRY(launch_kind(p, splits_plain ? kernels->stream : kernels->step, level, k, LMI_BLOCK_PLAIN, false));
  LMI_TRY(launch_kind(p, splits ? kernels->stream : kernels->jump, level, k, LMI_BLOCK_JUMP, false));
  if (level > 0)
    LMI_TRY(keep_aside(p, level - 1));
  if (!splits)
    return LAMINA_OK;
  LMI_TRY(begin_phase(p));
  if (splits_plain)
    LMI_TRY(launch_kind(p, kernels->collide, level, k, LMI_BLOCK_PLAIN, false));
  return launch_kind(p, kernels->collide, level, k, LMI_BLOCK_JUMP, false);
}

/* Step k of a level in a step of the coarsest, with all finer ones inside. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as there are levels
static lamina_status add_step(plan *p, int level, int k)
{
  const lmi_level_flow *flow = p->flow;
  const bool ahead = level > 0 && flow->overlaps && fuses(flow, level);
  if (ahead)
    LMI_TRY(launch_kind(p, flow->kernels.step, level, k, LMI_BLOCK_PLAIN, true));
  if (level > 0)
    LMI_TRY(add_step(p, level - 1, 2 * k));
  LMI_TRY(finish_level(p, level, k, ahead));
  return level > 0 ? add_step(p, level - 1, 2 * k + 1) : LAMINA_OK;
}

enum { PERIOD = 2 };

/* Phases and launches go to the schedule, which frees them. */
static void hand_over(plan *p, const size_t *ends, lmi_schedule *schedule)
{
  const lmi_launch *launch = p->launches;
  for (size_t i = 0; i < p->phase_count; i++) {
    p->phases[i].launches = launch;
    launch += p->phases[i].launch_count;
  }
  size_t begin = 0;
  for (int e = 0; e < PERIOD; e++) {
    schedule->steps[e] = (lmi_step_phases){p->phases + begin, ends[e] - begin};
    begin = ends[e];
  }
  schedule->launches = p->launches;
  schedule->phases = p->phases;
  schedule->program.steps = schedule->steps;
  schedule->program.step_count = PERIOD;
  p->launches = NULL;
  p->phases = NULL;
}

lamina_status lmi_level_program(lamina_context *ctx, lmi_level_flow *flow)
{
  lamina_status status = LAMINA_OK;
  plan p = {.ctx = ctx, .flow = flow};
  lmi_schedule fresh = {.program.version = flow->schedule.program.version + 1};
  size_t ends[PERIOD];
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, LMI_MAX_LEVELS, &p.pending), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, PERIOD, &fresh.steps), cleanup);
  for (p.parity = 0; p.parity < PERIOD; p.parity++) {
    LMI_TRY_GOTO(status, add_step(&p, flow->levels.count - 1, 0), cleanup);
    ends[p.parity] = p.phase_count;
  }
  hand_over(&p, ends, &fresh);
  lmi_schedule_free(ctx, &flow->schedule);
  flow->schedule = fresh;
  fresh = (lmi_schedule){0};

cleanup:
  lmi_free(ctx, p.pending);
  lmi_free(ctx, p.launches);
  lmi_free(ctx, p.phases);
  lmi_schedule_free(ctx, &fresh);
  return status;
}
