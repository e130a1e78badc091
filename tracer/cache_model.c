/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache_model.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { STREAM_STEP = 4, STREAM_AHEAD = 4, STREAM_BURST = 2, STREAM_CONFIDENT = 2, LINES_PER_PAGE = 64 };

static void start_cache(lmt_cache *cache, lmt_geometry geometry)
{
  cache->mask = geometry.sets > 0 ? geometry.sets - 1 : 0;
  cache->last_way = geometry.ways > 0 ? geometry.ways - 1 : 0;
}

void lmt_model_start(lmt_model *model, const lmt_model_options *options, lmt_page_table *table)
{
  model->options = *options;
  model->table = table;
  start_cache(&model->l1, options->l1);
  start_cache(&model->l2, options->l2);
  start_cache(&model->llc, options->llc);
  model->llc.sets = lmt_reserve(sizeof(lmt_set) * options->llc.sets);
}

void lmt_core_start(const lmt_model *model, lmt_core *core)
{
  core->l1 = lmt_reserve(sizeof(lmt_set) * model->options.l1.sets);
  core->l2 = model->options.l2.sets > 0 ? lmt_reserve(sizeof(lmt_set) * model->options.l2.sets) : NULL;
}

void lmt_model_set_core(lmt_model *model, lmt_core *core)
{
  if (model->core != NULL)
    lmt_model_flush(model);
  model->core = core;
  model->l1.sets = core->l1;
  model->l2.sets = core->l2;
}

static inline lmt_set *set_of(const lmt_cache *cache, uint32_t line)
{
  return &cache->sets[line & cache->mask];
}

/* Way of `line`, or -1. */
static inline int find(const lmt_set *set, uint32_t line)
{
  const uint32_t match = lmt_set_match(set, line);
  return match != 0 ? __builtin_ctz(match) : -1;
}

static void write_back(lmt_model *model, uint32_t line)
{
  model->core->counts.memory_write_lines++;
  model->table->pages.lines[line / LINES_PER_PAGE].writebacks++;
}

/* A line comes from memory into a page of several objects: one of them is credited at once. */
static __attribute__((noinline)) void credit_granule(lmt_model *model, uint32_t line, uint32_t granule)
{
  const uint32_t first = line % LINES_PER_PAGE * (64 >> LMT_GRANULE_BITS);
  model->table->objects[lmt_granule_object(model->table, line / LINES_PER_PAGE, first + granule)].misses++;
}

/* True when the line had to come from memory. Whether it does is a coin toss where a table is looked up at random, so
 * hit and miss are one path of arithmetic. */
static inline bool access_llc(lmt_model *model, uint32_t line, uint32_t granule)
{
  lmt_set *set = set_of(&model->llc, line);
  const uint32_t page = line / LINES_PER_PAGE;
  const uint32_t match = lmt_set_match(set, line);
  const uint32_t is_miss = match == 0;
  const uint32_t found = (uint32_t)__builtin_ctz(match | 1u << LMT_WAYS_MAX);
  const uint32_t way = found < model->llc.last_way ? found : model->llc.last_way;
  const uint32_t held = set->way[way];
  lmt_set_front(set, way, line | (held & LMT_DIRTY & (is_miss - 1)));
  model->core->counts.memory_read_lines += is_miss;
  model->table->pages.lines[page].misses += is_miss;
  if (UNLIKELY(held & (0 - is_miss) & LMT_DIRTY))
    write_back(model, held & LMT_LINE_MASK);
  if (UNLIKELY(is_miss & (uint32_t)(model->table->pages.accesses[page] >> 63)))
    credit_granule(model, line, granule);
  return is_miss;
}

/* A dirty line leaves the L2 (or the L1, where there is no L2). */
static void dirty_llc(lmt_model *model, uint32_t line)
{
  lmt_set *set = set_of(&model->llc, line);
  const int way = find(set, line);
  if (way >= 0)
    set->way[way] |= LMT_DIRTY;
  else
    write_back(model, line);
}

static inline void evict_l2(lmt_model *model, uint32_t victim)
{
  if (victim & LMT_PREFETCHED)
    model->core->counts.l2_prefetches_useless++;
  if (victim & LMT_DIRTY) {
    model->core->counts.l2_writebacks++;
    dirty_llc(model, victim & LMT_LINE_MASK);
  }
}

static void evict_l1(lmt_model *model, uint32_t victim)
{
  const uint32_t line = victim & LMT_LINE_MASK;
  model->core->counts.l1_writebacks++;
  lmt_set *set = model->l2.sets != NULL ? set_of(&model->l2, line) : NULL;
  const int way = set != NULL ? find(set, line) : -1;
  if (way >= 0)
    set->way[way] |= LMT_DIRTY;
  else
    dirty_llc(model, line);
}

static void prefetch(lmt_model *model, uint32_t line)
{
  lmt_set *set = set_of(&model->l2, line);
  if (lmt_set_match(set, line) != 0)
    return;
  model->core->counts.l2_prefetches++;
  model->core->counts.l2_lines_in++;
  const uint32_t victim = set->way[model->l2.last_way];
  lmt_set_front(set, model->l2.last_way, line | LMT_PREFETCHED);
  (void)access_llc(model, line, 0);
  evict_l2(model, victim);
}

/* The stream of a page; a page without one takes the place of the oldest stream. */
static inline lmt_stream *stream_of(lmt_core *core, uint32_t line, bool *is_new)
{
  const uint32_t page = line / LINES_PER_PAGE;
  const uint32_t match = lmt_set_match(&core->stream_page, page);
  *is_new = match == 0;
  if (match != 0)
    return &core->stream[__builtin_ctz(match)];
  const uint32_t place = core->next_stream++ % LMT_STREAMS;
  const int8_t position = (int8_t)(line % LINES_PER_PAGE);
  core->stream_page.way[place] = page;
  core->stream[place] = (lmt_stream){.last = position, .front = position};
  return &core->stream[place];
}

/* Two lines further along the stream, at most four ahead of the access, inside the page. */
static void run_ahead(lmt_model *model, lmt_stream *stream, uint32_t line)
{
  const int direction = stream->direction;
  const int position = (int)(line % LINES_PER_PAGE);
  const int limit = position + direction * STREAM_AHEAD;
  int front = (stream->front - position) * direction > 0 ? stream->front : position;
  for (int burst = 0; burst < STREAM_BURST && front != limit; burst++) {
    front += direction;
    if (front < 0 || front >= LINES_PER_PAGE)
      break;
    prefetch(model, line - (uint32_t)position + (uint32_t)front);
    stream->front = (int8_t)front;
  }
}

/* True when the access belongs to a running stream. */
static inline bool follow_stream(lmt_model *model, uint32_t line)
{
  bool is_new;
  lmt_stream *stream = stream_of(model->core, line, &is_new);
  const int position = (int)(line % LINES_PER_PAGE);
  const int step = position - stream->last;
  if (is_new)
    return false;
  if (step == 0)
    return true;
  const int8_t direction = step > 0 ? 1 : -1;
  if (step * direction <= STREAM_STEP) {
    if (direction != stream->direction)
      *stream = (lmt_stream){.direction = direction, .confidence = 1, .front = (int8_t)position};
    else if (stream->confidence < STREAM_CONFIDENT)
      stream->confidence++;
  }
  stream->last = (int8_t)position;
  if (stream->confidence < STREAM_CONFIDENT)
    return false;
  run_ahead(model, stream, line);
  return true;
}

static inline void access_l2(lmt_model *model, uint32_t line, uint32_t granule)
{
  lmt_core_counts *counts = &model->core->counts;
  lmt_set *set = set_of(&model->l2, line);
  const int way = find(set, line);
  if (LIKELY(way < 0)) {
    const uint32_t victim = set->way[model->l2.last_way];
    counts->l2_misses++;
    counts->l2_lines_in++;
    lmt_set_front(set, model->l2.last_way, line);
    evict_l2(model, victim);
    counts->llc_misses += access_llc(model, line, granule);
  } else {
    const uint32_t held = set->way[way];
    counts->l2_prefetches_useful += (held & LMT_PREFETCHED) != 0;
    lmt_set_front(set, (uint32_t)way, held & ~LMT_PREFETCHED);
  }
  const bool in_stream = model->options.stream_prefetch && follow_stream(model, line);
  if (way < 0 && !in_stream && model->options.adjacent_prefetch)
    prefetch(model, line ^ 1);
}

void lmt_model_flush(lmt_model *model)
{
  lmt_core_counts *counts = &model->core->counts;
  for (uint32_t i = 0; i < model->miss_count; i++) {
    const lmt_miss *miss = &model->miss[i];
    if (miss->victim & LMT_DIRTY)
      evict_l1(model, miss->victim);
    if (LIKELY(model->l2.sets != NULL))
      access_l2(model, miss->line, miss->granule);
    else
      counts->llc_misses += access_llc(model, miss->line, miss->granule);
  }
  counts->l1_misses += model->miss_count;
  model->miss_count = 0;
}

/* Asks the host for the sets that flush will need. Inlined by force: gcc 12 takes a function that only prefetches for
 * one without effect and drops the call. */
static inline __attribute__((always_inline)) void announce(const lmt_model *model, uint32_t line)
{
  __builtin_prefetch(set_of(&model->llc, line), 1);
  if (model->l2.sets != NULL)
    __builtin_prefetch(set_of(&model->l2, line), 1);
}

void lmt_l1_search(lmt_model *model, lmt_set *set, uint32_t line, uint64_t address)
{
  const uint32_t match = lmt_set_match(set, line);
  if (LIKELY(match != 0)) {
    const uint32_t way = (uint32_t)__builtin_ctz(match);
    lmt_set_front(set, way, set->way[way]);
    return;
  }
  lmt_miss *miss = &model->miss[model->miss_count++];
  *miss = (lmt_miss){.line = line,
                     .victim = set->way[model->l1.last_way],
                     .granule = (uint32_t)(address >> LMT_GRANULE_BITS) & ((64 >> LMT_GRANULE_BITS) - 1)};
  announce(model, line);
  if (model->options.adjacent_prefetch)
    announce(model, line ^ 1);
  lmt_set_front(set, model->l1.last_way, line);
  if (UNLIKELY(model->miss_count == LMT_MISSES_MAX))
    lmt_model_flush(model);
}
