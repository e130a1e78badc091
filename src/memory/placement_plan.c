/* SPDX-License-Identifier: Apache-2.0 */
/* What should move: a greedy knapsack over objects and time. Objects are taken by lines per page, hottest first, as
 * long as the fast tier has room at every moment of their lives and its share of the traffic is below its share of the
 * bandwidth. The first that does not fit whole is split; page by page that is the optimum of the relaxed problem,
 * object by object it is near it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile_store.h"

#include <lamina/placement.h>

enum { MOMENTS = 256, CANDIDATES_MAX = 1024, WEIGHT_MAX = 8 };
static const double LEAST_SPLIT = 0.02, LEAST_ROOM = 0.01, LATENCY_COVERAGE = 0.01, IDLE_PERCENT = 10;

#define TEXT_CASE(name, text) \
  case name:                  \
    return text;
#define NAME_OF(name, value, text, description) TEXT_CASE(name, text)
#define DESCRIPTION_OF(name, value, text, description) TEXT_CASE(name, description)

const char *lamina_advice_name(lamina_advice_kind kind)
{
  switch (kind) {
    LAMINA_ADVICE_LIST(NAME_OF)
  default: return NULL;
  }
}

const char *lamina_advice_text(lamina_advice_kind kind)
{
  switch (kind) {
    LAMINA_ADVICE_LIST(DESCRIPTION_OF)
  default: return NULL;
  }
}

/* One object as the knapsack sees it. */
typedef struct candidate {
  size_t object;
  uint64_t lines, pages, first_touch;
  double density;
  bool is_placed;
  uint32_t live[MOMENTS]; /* pages alive in each moment of the program */
} candidate;

typedef struct planner {
  const lamina_profile *profile;
  const lamina_replay_options *options;
  lamina_plan *plan;
  candidate *candidates;
  size_t candidate_count;
  uint32_t *candidate_of; /* object -> candidate + 1 */
  lamina_object_placement *places;
  double used[MOMENTS]; /* pages of the fast tier */
  double room;          /* its pages */
  uint64_t last_order, total_lines;
  double placed_lines;
} planner;

/* Files that were mapped before the program could decide anything (its libraries) have a name but no block. */
static bool is_movable(const lamina_profile_object *object)
{
  const bool is_library = object->kind == LAMINA_OBJECT_MAPPED && object->blocks == 0;
  return object->kind != LAMINA_OBJECT_STACK && object->kind != LAMINA_OBJECT_OTHER && !is_library;
}

/* ---- candidates ---- */

static void find_candidates(planner *p)
{
  for (size_t i = 0; i < p->profile->objects.count && p->candidate_count < CANDIDATES_MAX; i++) {
    if (!is_movable(&p->profile->objects.data[i]) || p->profile->objects.data[i].page_bytes == 0)
      continue;
    p->candidates[p->candidate_count++] = (candidate){.object = i, .first_touch = UINT64_MAX};
    p->candidate_of[i] = (uint32_t)p->candidate_count;
  }
}

static size_t moment_of(const planner *p, uint64_t order)
{
  return (size_t)((double)order / ((double)p->last_order + 1) * MOMENTS);
}

static uint64_t page_lines(const lamina_profile *profile, const lmi_profile_page *page)
{
  uint64_t lines = 0;
  for (uint32_t i = 0; i < page->count_count; i++) {
    const lmi_profile_page_counts *counts = &profile->counts.data[page->first_count + i];
    lines += counts->misses == LAMINA_UNCOUNTED ? counts->accesses : counts->misses;
    lines += counts->writebacks == UINT32_MAX ? 0 : counts->writebacks;
  }
  return lines;
}

static void add_page(planner *p, const lmi_profile_page *page)
{
  const uint64_t lines = page_lines(p->profile, page);
  p->total_lines += lines;
  if (p->candidate_of[page->object] == 0)
    return;
  candidate *c = &p->candidates[p->candidate_of[page->object] - 1];
  const size_t begin = moment_of(p, page->touched);
  const size_t end = page->released > page->touched ? moment_of(p, page->released) : MOMENTS - 1;
  c->lines += lines;
  c->pages++;
  c->first_touch = page->touched < c->first_touch ? page->touched : c->first_touch;
  for (size_t moment = begin; moment <= end; moment++)
    c->live[moment]++;
}

static void gather(planner *p)
{
  for (size_t i = 0; i < p->profile->pages.count; i++) {
    const lmi_profile_page *page = &p->profile->pages.data[i];
    const uint64_t last = page->released > page->touched ? page->released : page->touched;
    p->last_order = last > p->last_order ? last : p->last_order;
  }
  for (size_t i = 0; i < p->profile->pages.count; i++)
    add_page(p, &p->profile->pages.data[i]);
  for (size_t i = 0; i < p->candidate_count; i++)
    p->candidates[i].density =
      p->candidates[i].pages > 0 ? (double)p->candidates[i].lines / (double)p->candidates[i].pages : 0;
}

static int compare_density(const void *a, const void *b)
{
  const candidate *x = a, *y = b;
  if (x->density != y->density)
    return x->density > y->density ? -1 : 1;
  return x->object < y->object ? -1 : 1;
}

/* ---- filling the fast tier ---- */

/* The largest part of an object for which there is room at every moment. */
static double part_that_fits(const planner *p, const candidate *c)
{
  double part = 1;
  for (size_t moment = 0; moment < MOMENTS; moment++) {
    const double left = p->room - p->used[moment];
    if (c->live[moment] > 0 && part * c->live[moment] > left)
      part = left > 0 ? left / c->live[moment] : 0;
  }
  return part;
}

static void take(planner *p, candidate *c, double part, int rest)
{
  for (size_t moment = 0; moment < MOMENTS; moment++)
    p->used[moment] += part * c->live[moment];
  p->places[c->object] = (lamina_object_placement){.tier = 0, .rest = rest, .fraction = part};
  p->placed_lines += part * (double)c->lines; /* at least: its hottest pages come first */
  c->is_placed = true;
}

static void advise(planner *p, lamina_advice advice, const candidate *c)
{
  advice.object = c->object;
  advice.lines_per_page = c->density;
  p->plan->advice[p->plan->count++] = advice;
}

/* Small whole numbers whose ratio comes nearest to part : 1 - part. */
static void weights_of(double part, int weights[2])
{
  double best = 2;
  for (int fast = 1; fast <= WEIGHT_MAX; fast++)
    for (int slow = 1; slow <= WEIGHT_MAX; slow++) {
      const double distance = fabs((double)fast / (fast + slow) - part);
      if (distance < best - 1e-12) {
        best = distance;
        weights[0] = fast;
        weights[1] = slow;
      }
    }
}

/* The part of an object that brings the fast tier's traffic to its share of the bandwidth. */
static double part_for_balance(const planner *p, const candidate *c)
{
  const double target = p->plan->is_latency_bound ? 1 : p->plan->before->r_bw[0];
  const double missing = target * (double)p->total_lines - p->placed_lines;
  return c->lines == 0 || missing <= 0 ? 0 : missing / (double)c->lines;
}

static void consider(planner *p, candidate *c)
{
  const double fits = part_that_fits(p, c), balance = part_for_balance(p, c);
  if (c->lines == 0 || fits < LEAST_SPLIT || balance < LEAST_SPLIT)
    return;
  lamina_advice advice = {.kind = LAMINA_ADVICE_FAST, .fraction = 1};
  if (balance < 1 && balance <= fits) {
    advice.kind = LAMINA_ADVICE_INTERLEAVE;
    advice.fraction = balance;
    weights_of(balance, advice.weights);
  } else if (fits < 1) {
    advice.kind = LAMINA_ADVICE_SPLIT;
    advice.fraction = fits;
  }
  take(p, c, advice.fraction, advice.kind == LAMINA_ADVICE_INTERLEAVE ? 1 : -1);
  advise(p, advice, c);
}

/* ---- what should make room ---- */

static bool is_large(const planner *p, const candidate *c)
{
  return (double)c->pages >= LEAST_ROOM * p->room;
}

/* Cold objects that were touched before a hot one are what first touch puts in its place. */
static void move_cold_away(planner *p)
{
  uint64_t latest_hot = 0;
  for (size_t i = 0; i < p->candidate_count; i++)
    if (p->candidates[i].is_placed && p->candidates[i].first_touch > latest_hot)
      latest_hot = p->candidates[i].first_touch;
  for (size_t i = 0; i < p->candidate_count; i++) {
    const candidate *c = &p->candidates[i];
    if (c->is_placed || !is_large(p, c) || c->first_touch >= latest_hot)
      continue;
    p->places[c->object] = (lamina_object_placement){.tier = 1, .rest = -1, .fraction = 1};
    advise(p, (lamina_advice){.kind = LAMINA_ADVICE_SLOW, .tier = 1, .fraction = 1}, c);
  }
}

static uint64_t end_of_program(const lamina_profile *profile)
{
  uint64_t end = 0;
  for (size_t i = 0; i < profile->processes.count; i++) {
    const uint64_t instructions = profile->processes.data[i].counts.of[LAMINA_COUNT_INSTRUCTIONS];
    if (instructions != LAMINA_UNCOUNTED && instructions > end)
      end = instructions;
  }
  return end;
}

static void advise_freeing(planner *p)
{
  const double end = (double)end_of_program(p->profile);
  for (size_t i = 0; i < p->candidate_count && end > 0; i++) {
    const candidate *c = &p->candidates[i];
    const lamina_profile_object *object = &p->profile->objects.data[c->object];
    const bool can_be_freed = object->kind == LAMINA_OBJECT_HEAP || object->kind == LAMINA_OBJECT_MAPPED;
    const double released = object->last_release == LAMINA_UNCOUNTED ? end : (double)object->last_release;
    const double idle = 100 * (released - (double)object->last_use) / end;
    if (can_be_freed && is_large(p, c) && idle >= IDLE_PERCENT)
      advise(p,
             (lamina_advice){
               .kind = LAMINA_ADVICE_FREE, .fraction = 1, .last_use_percent = 100 * (double)object->last_use / end},
             c);
  }
}

/* ---- the plan ---- */

static bool waits_for_latency(const lamina_profile *profile)
{
  lamina_counts all = lmi_counts_none();
  for (size_t i = 0; i < profile->phases.count; i++)
    lmi_counts_add(&all, &profile->phases.data[i].counts);
  return lamina_counts_prefetch(&all).coverage < LATENCY_COVERAGE; /* false for NAN */
}

static lamina_status fill(planner *p)
{
  const lamina_profile *profile = p->profile;
  lamina_context *ctx = profile->ctx;
  lamina_replay_options after = *p->options;
  LMI_TRY(lamina_profile_replay(profile, p->options, &p->plan->before));
  LMI_TRY(LMI_ALLOC(ctx, CANDIDATES_MAX, &p->candidates));
  LMI_TRY(LMI_ALLOC(ctx, profile->objects.count, &p->candidate_of));
  LMI_TRY(LMI_ALLOC(ctx, profile->objects.count, &p->places));
  LMI_TRY(LMI_ALLOC(ctx, 3 * CANDIDATES_MAX, &p->plan->advice));
  for (size_t i = 0; i < profile->objects.count; i++)
    p->places[i].tier = -1;
  p->plan->is_latency_bound = waits_for_latency(profile);
  find_candidates(p);
  gather(p);
  qsort(p->candidates, p->candidate_count, sizeof *p->candidates, compare_density);
  if (p->plan->before->capacity_bytes[0] != UINT64_MAX && p->options->tier_count > 1) {
    const uint64_t whole_pages = p->plan->before->capacity_bytes[0] / profile->summary.page_bytes;
    p->room = (double)whole_pages;
    for (size_t i = 0; i < p->candidate_count; i++)
      consider(p, &p->candidates[i]);
    move_cold_away(p);
    advise_freeing(p);
  }
  after.objects = p->places;
  return lamina_profile_replay(profile, &after, &p->plan->after);
}

lamina_status lamina_profile_plan(const lamina_profile *profile, const lamina_replay_options *options,
                                  lamina_plan **plan)
{
  lamina_context *ctx = profile->ctx;
  planner p = {.profile = profile, .options = options};
  *plan = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &p.plan));
  const lamina_status status = fill(&p);
  lmi_free(ctx, p.candidates);
  lmi_free(ctx, p.candidate_of);
  lmi_free(ctx, p.places);
  if (status == LAMINA_OK)
    *plan = p.plan;
  else
    lamina_plan_destroy(ctx, p.plan);
  return status;
}

void lamina_plan_destroy(lamina_context *context, lamina_plan *plan)
{
  if (plan == NULL)
    return;
  lamina_replay_destroy(context, plan->before);
  lamina_replay_destroy(context, plan->after);
  lmi_free(context, plan->advice);
  lmi_free(context, plan);
}
