/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache_model.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define INLINE static inline __attribute__((always_inline))

enum { STREAM_STEP = 4, STREAM_AHEAD = 4, STREAM_BURST = 2, STREAM_CONFIDENT = 2, LINES_PER_PAGE = 64 };

#define MOVES(i)                                                                                         \
  {                                                                                                      \
    0, 0, i >= 2 ? 1 : 2, i >= 3 ? 2 : 3, i >= 4 ? 3 : 4, i >= 5 ? 4 : 5, i >= 6 ? 5 : 6, i >= 7 ? 6 : 7 \
  }
const uint32_t lmt_set_moves[LMT_NARROW_WAYS][LMT_NARROW_WAYS] __attribute__((aligned(64))) = {
  {0, 1, 2, 3, 4, 5, 6, 7}, MOVES(1), MOVES(2), MOVES(3), MOVES(4), MOVES(5), MOVES(6), MOVES(7)};
#undef MOVES

static void start_cache(lmt_cache *cache, lmt_geometry geometry)
{
  cache->mask = geometry.sets > 0 ? geometry.sets - 1 : 0;
  cache->last_way = geometry.ways > 0 ? geometry.ways - 1 : 0;
  cache->width = geometry.ways <= LMT_NARROW_WAYS ? LMT_NARROW : LMT_WIDE;
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
INLINE int find(const lmt_set *set, uint32_t line, lmt_width width)
{
  const uint32_t match = lmt_set_match(set, line, width);
  return match != 0 ? __builtin_ctz(match) : -1;
}

/* ---- last level and memory ---- */

static void write_back(lmt_model *model, uint32_t line)
{
  model->core->counts.memory_write_lines++;
  model->table->pages.tally[line / LINES_PER_PAGE].writebacks++;
}

/* A line comes from memory into a page of several objects: one of them is credited at once. */
static __attribute__((noinline)) void credit_granule(lmt_model *model, uint32_t line, uint32_t granule)
{
  const uint32_t first = line % LINES_PER_PAGE * (64 >> LMT_GRANULE_BITS);
  model->table->objects[lmt_granule_object(model->table, line / LINES_PER_PAGE, first + granule)].misses++;
}

/* One when the line had to come from memory. Whether it does is a coin toss where a table is looked up at random, so
 * hit and miss are one path of arithmetic. */
INLINE uint32_t read_llc(lmt_model *model, const lmt_request *request, lmt_width width)
{
  const uint32_t line = request->line;
  lmt_set *set = set_of(&model->llc, line);
  lmt_tally *tally = &model->table->pages.tally[line / LINES_PER_PAGE];
  const uint32_t match = lmt_set_match(set, line, width);
  const uint32_t is_miss = match == 0;
  const uint32_t way = (uint32_t)__builtin_ctz(match | 1u << model->llc.last_way);
  const uint32_t held = set->way[way];
  lmt_set_front(set, way, line | (held & LMT_DIRTY & (is_miss - 1)), width);
  tally->misses += is_miss;
  if (UNLIKELY(held & (0 - is_miss) & LMT_DIRTY))
    write_back(model, held & LMT_LINE_MASK);
  if (UNLIKELY(is_miss & (uint32_t)(tally->accesses >> 63)))
    credit_granule(model, line, request->kind >> LMT_GRANULE_SHIFT);
  return is_miss;
}

/* A dirty line of the level above: it stays where it is, or passes on to memory. */
INLINE void write_llc(lmt_model *model, uint32_t line, lmt_width width)
{
  lmt_set *set = set_of(&model->llc, line);
  const int way = find(set, line, width);
  if (way >= 0)
    set->way[way] |= LMT_DIRTY;
  else
    write_back(model, line);
}

INLINE void answer_all(lmt_model *model, lmt_width width)
{
  lmt_core_counts *counts = &model->core->counts;
  const lmt_request *request = model->request, *end = request + model->request_count;
  uint64_t misses = 0, demand_misses = 0;
  for (; request < end; request++) {
    if (request->kind & LMT_WRITE_BACK) {
      write_llc(model, request->line, width);
      continue;
    }
    const uint32_t is_miss = read_llc(model, request, width);
    misses += is_miss;
    demand_misses += is_miss & request->kind;
  }
  counts->memory_read_lines += misses;
  counts->llc_misses += demand_misses;
  model->request_count = 0;
}

/* ---- the L2 and its prefetcher ---- */

INLINE void ask_llc(lmt_model *model, uint32_t line, uint32_t kind)
{
  model->request[model->request_count++] = (lmt_request){.line = line, .kind = kind};
  __builtin_prefetch(set_of(&model->llc, line), 1);
}

INLINE void evict_l2(lmt_model *model, uint32_t victim)
{
  model->core->counts.l2_prefetches_useless += (victim & LMT_PREFETCHED) != 0;
  if (victim & LMT_DIRTY) {
    model->core->counts.l2_writebacks++;
    ask_llc(model, victim & LMT_LINE_MASK, LMT_WRITE_BACK);
  }
}

INLINE void evict_l1(lmt_model *model, uint32_t victim, lmt_width width)
{
  const uint32_t line = victim & LMT_LINE_MASK;
  model->core->counts.l1_writebacks++;
  lmt_set *set = model->l2.sets != NULL ? set_of(&model->l2, line) : NULL;
  const int way = set != NULL ? find(set, line, width) : -1;
  if (way >= 0)
    set->way[way] |= LMT_DIRTY;
  else
    ask_llc(model, line, LMT_WRITE_BACK);
}

INLINE void prefetch(lmt_model *model, uint32_t line, lmt_width width)
{
  lmt_set *set = set_of(&model->l2, line);
  if (lmt_set_match(set, line, width) != 0)
    return;
  model->core->counts.l2_prefetches++;
  model->core->counts.l2_lines_in++;
  const uint32_t victim = set->way[model->l2.last_way];
  lmt_set_front(set, model->l2.last_way, line | LMT_PREFETCHED, width);
  ask_llc(model, line, 0);
  evict_l2(model, victim);
}

/* The stream of a page; a page without one takes the place of the oldest stream. */
static inline lmt_stream *stream_of(lmt_core *core, uint32_t line, bool *is_new)
{
  const uint32_t page = line / LINES_PER_PAGE;
  const uint32_t match = lmt_set_match(&core->stream_page, page, LMT_WIDE);
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
INLINE void run_ahead(lmt_model *model, lmt_stream *stream, uint32_t line, lmt_width width)
{
  const int direction = stream->direction;
  const int position = (int)(line % LINES_PER_PAGE);
  const int limit = position + direction * STREAM_AHEAD;
  int front = (stream->front - position) * direction > 0 ? stream->front : position;
  for (int burst = 0; burst < STREAM_BURST && front != limit; burst++) {
    front += direction;
    if (front < 0 || front >= LINES_PER_PAGE)
      break;
    prefetch(model, line - (uint32_t)position + (uint32_t)front, width);
    stream->front = (int8_t)front;
  }
}

/* True when the access belongs to a running stream. */
INLINE bool follow_stream(lmt_model *model, uint32_t line, lmt_width width)
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
  run_ahead(model, stream, line, width);
  return true;
}

INLINE void access_l2(lmt_model *model, const lmt_miss *miss, lmt_width width)
{
  lmt_core_counts *counts = &model->core->counts;
  const uint32_t line = miss->line;
  lmt_set *set = set_of(&model->l2, line);
  const int way = find(set, line, width);
  if (LIKELY(way < 0)) {
    const uint32_t victim = set->way[model->l2.last_way];
    counts->l2_misses++;
    counts->l2_lines_in++;
    lmt_set_front(set, model->l2.last_way, line, width);
    evict_l2(model, victim);
    ask_llc(model, line, LMT_DEMAND | miss->granule << LMT_GRANULE_SHIFT);
  } else {
    const uint32_t held = set->way[way];
    counts->l2_prefetches_useful += (held & LMT_PREFETCHED) != 0;
    lmt_set_front(set, (uint32_t)way, held & ~LMT_PREFETCHED, width);
  }
  const bool in_stream = model->options.stream_prefetch && follow_stream(model, line, width);
  if (way < 0 && !in_stream && model->options.adjacent_prefetch)
    prefetch(model, line ^ 1, width);
}

INLINE void pass_all(lmt_model *model, lmt_width width)
{
  const lmt_miss *miss = model->miss, *end = miss + model->miss_count;
  for (; miss < end; miss++) {
    if (miss->victim & LMT_DIRTY)
      evict_l1(model, miss->victim, width);
    if (model->l2.sets != NULL)
      access_l2(model, miss, width);
    else
      ask_llc(model, miss->line, LMT_DEMAND | miss->granule << LMT_GRANULE_SHIFT);
  }
  model->core->counts.l1_misses += model->miss_count;
  model->miss_count = 0;
}

void lmt_model_flush(lmt_model *model)
{
  if (model->l2.width == LMT_NARROW)
    pass_all(model, LMT_NARROW);
  else
    pass_all(model, LMT_WIDE);
  if (model->llc.width == LMT_NARROW)
    answer_all(model, LMT_NARROW);
  else
    answer_all(model, LMT_WIDE);
}

/* ---- the L1 ---- */

INLINE bool search(lmt_model *model, lmt_set *set, uint32_t line, uint64_t address, lmt_width width)
{
  const uint32_t match = lmt_set_match(set, line, width);
  if (LIKELY(match != 0)) {
    const uint32_t way = (uint32_t)__builtin_ctz(match);
    lmt_set_front(set, way, set->way[way], width);
    return true;
  }
  lmt_miss *miss = &model->miss[model->miss_count++];
  *miss = (lmt_miss){.line = line,
                     .victim = set->way[model->l1.last_way],
                     .granule = (uint32_t)(address >> LMT_GRANULE_BITS) & ((64 >> LMT_GRANULE_BITS) - 1)};
  lmt_set_front(set, model->l1.last_way, line, width);
  return false;
}

void lmt_l1_search(lmt_model *model, lmt_set *set, uint32_t line, uint64_t address)
{
  const bool is_hit = model->l1.width == LMT_NARROW ? search(model, set, line, address, LMT_NARROW)
                                                    : search(model, set, line, address, LMT_WIDE);
  if (is_hit)
    return;
  if (model->l2.sets != NULL)
    __builtin_prefetch(set_of(&model->l2, line), 1);
  if (UNLIKELY(model->miss_count == LMT_MISSES_MAX))
    lmt_model_flush(model);
}
