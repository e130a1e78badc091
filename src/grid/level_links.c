/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks at jumps are cut into chunks; each gets lists and patterns of its own, on any thread, and these are joined in
 * the order of the chunks: the tables do not depend on the number of threads. */
#include "level_links.h"

#include <math.h>
#include <string.h>

enum { CHUNK_BLOCKS = 128, FIRST_ROOM = 64 };

/* An array that grows. */
typedef struct list {
  void *items;
  size_t count, room;
} list;

/* Patterns found so far, and by the hash of a pattern its number + 1. */
typedef struct pattern_set {
  list patterns, terms;
  uint32_t *slots;
  size_t slot_count;
} pattern_set;

/* By face, what a unit of its velocity along an axis adds to the mass. */
typedef struct wall_mass {
  double of[LMK_FACES][3];
} wall_mass;

typedef struct chunk {
  int32_t first, end; /* blocks */
  list links, cells, aside;
  pattern_set set;
  wall_mass mass; /* in volumes of the level */
  lamina_status status;
} chunk;

typedef struct builder {
  lamina_context *ctx;
  const lmi_levels *levels;
  lmi_blocks *blocks;
  const lmi_velocities *velocities;
  lmi_level_scheme scheme;
  lmi_level_links *links;
  int32_t *numbers[LMI_MAX_LEVELS];
  pattern_set set;
  wall_mass mass; /* in volumes of the finest level, over a step of the coarsest */
} builder;

/* ---- lists ---- */

/* Appends `count` items; called from several threads. */
static lamina_status append(lamina_context *ctx, list *to, size_t size, const void *items, size_t count)
{
  lamina_status status = LAMINA_OK;
  if (to->count + count > to->room) {
    void *larger = NULL;
    const size_t doubled = to->room > 0 ? 2 * to->room : FIRST_ROOM;
    const size_t room = doubled > to->count + count ? doubled : to->count + count;
#pragma omp critical(lamina_level_memory)
    status = lmi_alloc_array(ctx, room, size, &larger);
    if (status != LAMINA_OK)
      return status;
    if (to->count > 0)
      memcpy(larger, to->items, to->count * size);
#pragma omp critical(lamina_level_memory)
    lmi_free(ctx, to->items);
    to->items = larger;
    to->room = room;
  }
  if (count > 0)
    memcpy((char *)to->items + to->count * size, items, count * size);
  to->count += count;
  return LAMINA_OK;
}

/* ---- patterns ---- */

static size_t hash_terms(const lmk_jump_term *terms, size_t count)
{
  uint64_t hash = count;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &terms[i].weight, sizeof bits);
    hash = (hash ^ bits ^ (uint64_t)terms[i].q << 8 ^ terms[i].from) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return (size_t)hash;
}

static bool equals_pattern(const pattern_set *set, uint32_t number, const lmk_jump_term *terms, size_t count)
{
  const lmk_jump_pattern *pattern = (const lmk_jump_pattern *)set->patterns.items + number;
  const lmk_jump_term *own = (const lmk_jump_term *)set->terms.items + pattern->first;
  return pattern->count == count && memcmp(own, terms, count * sizeof *terms) == 0;
}

static void fill_slots(pattern_set *set)
{
  const lmk_jump_pattern *patterns = set->patterns.items;
  for (uint32_t i = 0; i < set->patterns.count; i++) {
    const lmk_jump_term *terms = (const lmk_jump_term *)set->terms.items + patterns[i].first;
    size_t slot = hash_terms(terms, patterns[i].count) % set->slot_count;
    while (set->slots[slot] != 0)
      slot = (slot + 1) % set->slot_count;
    set->slots[slot] = i + 1;
  }
}

static lamina_status require_slots(lamina_context *ctx, pattern_set *set)
{
  lamina_status status = LAMINA_OK;
  if (2 * (set->patterns.count + 1) <= set->slot_count)
    return LAMINA_OK;
  const size_t wanted = set->slot_count > 0 ? 4 * set->slot_count : 4 * FIRST_ROOM;
#pragma omp critical(lamina_level_memory)
  {
    lmi_free(ctx, set->slots);
    set->slots = NULL;
    status = LMI_ALLOC(ctx, wanted, &set->slots);
  }
  LMI_TRY(status);
  set->slot_count = wanted;
  fill_slots(set);
  return LAMINA_OK;
}

/* The number of the pattern with these terms, which is added if it is new. */
static lamina_status number_pattern(lamina_context *ctx, pattern_set *set, const lmk_jump_term *terms, size_t count,
                                    uint32_t *number)
{
  LMI_TRY(require_slots(ctx, set));
  size_t slot = hash_terms(terms, count) % set->slot_count;
  while (set->slots[slot] != 0 && !equals_pattern(set, set->slots[slot] - 1, terms, count))
    slot = (slot + 1) % set->slot_count;
  if (set->slots[slot] == 0) {
    const lmk_jump_pattern pattern = {(uint32_t)set->terms.count, (uint32_t)count};
    LMI_REQUIRE(ctx, set->patterns.count < LMK_JUMP_MAX_PATTERNS, LAMINA_ERROR_ARGUMENT,
                "the jumps between levels have more than %d different links: refine whole regions, not scattered cells",
                (int)LMK_JUMP_MAX_PATTERNS);
    LMI_TRY(append(ctx, &set->terms, sizeof *terms, terms, count));
    LMI_TRY(append(ctx, &set->patterns, sizeof pattern, &pattern, 1));
    set->slots[slot] = (uint32_t)set->patterns.count;
  }
  *number = set->slots[slot] - 1;
  return LAMINA_OK;
}

static void free_set(lamina_context *ctx, pattern_set *set)
{
  lmi_free(ctx, set->patterns.items);
  lmi_free(ctx, set->terms.items);
  lmi_free(ctx, set->slots);
  *set = (pattern_set){0};
}

/* ---- what moving walls add to the mass ---- */

static void add_wall_mass(const builder *b, int face, int q, double weight, wall_mass *mass)
{
  for (int a = 0; a < 3; a++)
    mass->of[face][a] += weight * b->velocities->weight[q] * b->velocities->c[q][a];
}

/* Does a wall that moves in its own plane add mass? */
static bool walls_add_mass(const builder *b)
{
  for (int face = 0; face < LMK_FACES; face++)
    for (int a = 0; a < 3; a++)
      if (a != face / 2 && fabs(b->mass.of[face][a]) > 1e-9)
        return true;
  return false;
}

/* ---- a chunk ---- */

/* Appends the sum in `trace` as the link of (bit, q), without terms that cancelled. */
static lamina_status emit_link(const builder *b, chunk *to, const lmi_trace *trace, int bit, int q)
{
  lmk_jump_term terms[LMI_TRACE_TERMS];
  int32_t cells[LMI_TRACE_TERMS];
  size_t count = 0;
  uint32_t pattern = 0;
  for (int i = 0; i < trace->count; i++) {
    const lmi_trace_term *term = &trace->terms[i];
    if (fabs(term->weight) < 1e-12)
      continue;
    cells[count] = term->cell;
    if (term->from == LMK_FROM_WALL)
      add_wall_mass(b, term->cell - 1, term->q, term->weight, &to->mass);
    if (term->from == LMK_FROM_ASIDE) {
      const lmk_aside_entry entry = {term->cell, term->q};
      cells[count] = (int32_t)to->aside.count;
      LMI_TRY(append(b->ctx, &to->aside, sizeof entry, &entry, 1));
    }
    terms[count++] = (lmk_jump_term){term->weight, (float)term->weight, (uint8_t)term->q, (uint8_t)term->from, {0, 0}};
  }
  LMI_TRY(number_pattern(b->ctx, &to->set, terms, count, &pattern));
  const lmk_jump_link link = {(uint32_t)to->cells.count, pattern << 11 | (uint32_t)q << 6 | (uint32_t)bit};
  LMI_TRY(append(b->ctx, &to->cells, sizeof *cells, cells, count));
  return append(b->ctx, &to->links, sizeof link, &link, 1);
}

static int64_t word_of(const builder *b, int level, int32_t block)
{
  const int32_t *place = b->blocks[level].parts[0].places + 3 * (int64_t)block;
  const int64_t *words = b->levels->level[level].words;
  return (place[2] * words[1] + place[1]) * words[0] + place[0];
}

/* `first` gets, for each block, how many links it has. */
static lamina_status list_block(const builder *b, lmi_trace *trace, int level, int32_t block, int half, chunk *to)
{
  const int64_t word = word_of(b, level, block);
  for (uint64_t leaves = b->blocks[level].parts[0].active[block]; leaves != 0; leaves &= leaves - 1) {
    const int bit = __builtin_ctzll(leaves);
    int64_t at[3];
    bool is_ring;
    lmi_level_cell(b->levels, level, word, bit, at);
    if (!lmi_levels_is_near(b->levels, level, at, &is_ring))
      continue;
    for (int q = 0; q < b->velocities->count; q++) {
      lmi_trace_population(trace, level, at, is_ring, q, half);
      if (trace->count > 0)
        LMI_TRY(emit_link(b, to, trace, bit, q));
    }
  }
  return LAMINA_OK;
}

static void list_chunk(const builder *b, int level, int half, uint32_t *first, chunk *to)
{
  lmi_trace trace = {
    .levels = b->levels,
    .numbers = b->numbers,
    .velocities = *b->velocities,
    .scheme = b->scheme,
    .whole_walls = b->links->whole_walls,
  };
  for (int32_t block = to->first; block < to->end && to->status == LAMINA_OK; block++) {
    const size_t before = to->links.count;
    to->status = list_block(b, &trace, level, block, half, to);
    first[block + 1] = (uint32_t)(to->links.count - before);
  }
}

static void free_chunk(lamina_context *ctx, chunk *c)
{
  lmi_free(ctx, c->links.items);
  lmi_free(ctx, c->cells.items);
  lmi_free(ctx, c->aside.items);
  free_set(ctx, &c->set);
}

/* ---- a level ---- */

/* Runs of blocks at jumps, in pieces. */
static lamina_status cut_chunks(const builder *b, int level, chunk **chunks, size_t *count)
{
  const lmi_block_part *part = &b->blocks[level].parts[0];
  list made = {0};
  lamina_status status = LAMINA_OK;
  for (int kind = 0; kind < LMI_BLOCK_KINDS && status == LAMINA_OK; kind++) {
    const lmi_block_run run = part->runs[0][kind];
    const bool is_jump = kind == LMI_BLOCK_JUMP || kind == LMI_BLOCK_SPECIAL_JUMP;
    for (int32_t at = 0; is_jump && at < run.count && status == LAMINA_OK; at += CHUNK_BLOCKS) {
      const int32_t end = at + CHUNK_BLOCKS < run.count ? at + CHUNK_BLOCKS : run.count;
      const chunk piece = {.first = run.first + at, .end = run.first + end};
      status = append(b->ctx, &made, sizeof piece, &piece, 1);
    }
  }
  *chunks = made.items;
  *count = made.count;
  return status;
}

/* Entries of the chunk follow those of the chunks before. */
static void shift_aside(const chunk *c, int32_t by)
{
  const lmk_jump_link *links = c->links.items;
  int32_t *cells = c->cells.items;
  for (size_t i = 0; i < c->links.count; i++) {
    const lmk_jump_pattern *pattern = (const lmk_jump_pattern *)c->set.patterns.items + lmk_jump_pattern_of(links[i]);
    const lmk_jump_term *terms = (const lmk_jump_term *)c->set.terms.items + pattern->first;
    for (uint32_t t = 0; t < pattern->count; t++)
      if (terms[t].from == LMK_FROM_ASIDE)
        cells[links[i].first + t] += by;
  }
}

/* Renames the chunk's patterns to those of the whole, and appends its links and cells. */
static lamina_status join_chunk(builder *b, const chunk *c, uint32_t *renamed, lmi_link_list *to, list *aside)
{
  const lmk_jump_pattern *patterns = c->set.patterns.items;
  const lmk_jump_link *links = c->links.items;
  for (size_t i = 0; i < c->set.patterns.count; i++)
    LMI_TRY(number_pattern(b->ctx, &b->set, (const lmk_jump_term *)c->set.terms.items + patterns[i].first,
                           patterns[i].count, &renamed[i]));
  if (c->aside.count > 0) {
    shift_aside(c, (int32_t)aside->count);
    LMI_TRY(append(b->ctx, aside, sizeof(lmk_aside_entry), c->aside.items, c->aside.count));
  }
  for (size_t i = 0; i < c->links.count; i++)
    to->links[to->link_count + (int64_t)i] = (lmk_jump_link){
      links[i].first + (uint32_t)to->cell_count,
      renamed[lmk_jump_pattern_of(links[i])] << 11 | (links[i].packed & 0x7ffu),
    };
  if (c->cells.count > 0)
    memcpy(to->cells + to->cell_count, c->cells.items, c->cells.count * sizeof *to->cells);
  to->link_count += (int64_t)c->links.count;
  to->cell_count += (int64_t)c->cells.count;
  return LAMINA_OK;
}

static lamina_status join_chunks(builder *b, int level, int half, const chunk *chunks, size_t count)
{
  lamina_status status = LAMINA_OK;
  lmi_level_link_set *set = &b->links->level[level];
  lmi_link_list *to = &set->half[half];
  size_t links = 0, cells = 0, patterns = 0;
  uint32_t *renamed = NULL;
  list aside = {0};
  for (size_t i = 0; i < count; i++) {
    LMI_TRY(chunks[i].status);
    links += chunks[i].links.count;
    cells += chunks[i].cells.count;
    patterns = chunks[i].set.patterns.count > patterns ? chunks[i].set.patterns.count : patterns;
  }
  LMI_REQUIRE(b->ctx, cells < UINT32_MAX, LAMINA_ERROR_ARGUMENT,
              "the jumps of level %d have more than 2^32 terms: refine whole regions, not scattered cells", level);
  LMI_TRY(LMI_ALLOC(b->ctx, links, &to->links));
  LMI_TRY(LMI_ALLOC(b->ctx, cells, &to->cells));
  LMI_TRY(LMI_ALLOC(b->ctx, patterns, &renamed));
  for (size_t i = 0; i < count && status == LAMINA_OK; i++)
    status = join_chunk(b, &chunks[i], renamed, to, &aside);
  lmi_free(b->ctx, renamed);
  if (half == 1) {
    set->aside = aside.items;
    set->aside_count = (int64_t)aside.count;
  }
  return status;
}

/* In volumes of the finest level over a step of the coarsest; both halves of a level count. */
static double mass_scale(const builder *b, int level)
{
  const int top = b->levels->count - 1;
  return pow(b->levels->is_flat ? 4.0 : 8.0, level) * (level == top ? 1.0 : pow(2.0, top - 1 - level));
}

static void add_chunk_mass(builder *b, int level, const chunk *chunks, size_t count)
{
  const double scale = mass_scale(b, level);
  for (size_t i = 0; i < count; i++)
    for (int face = 0; face < LMK_FACES; face++)
      for (int a = 0; a < 3; a++)
        b->mass.of[face][a] += scale * chunks[i].mass.of[face][a];
}

/* What cut links add, where no jump takes their place. Both kinds of links are sorted by bit, then q. */
static void add_cut_mass(builder *b, int level, int half)
{
  const lmi_block_part *part = &b->blocks[level].parts[0];
  const lmi_link_list *jumps = &b->links->level[level].half[half];
  const double scale = mass_scale(b, level);
  for (int32_t block = 0; block < part->blocks; block++) {
    uint32_t j = jumps->first[block];
    for (int32_t k = part->link_first[block]; k < part->link_first[block + 1]; k++) {
      const lmk_block_link cut = part->links[k];
      const uint32_t end = jumps->first[block + 1];
      while (j < end && (lmk_jump_bit(jumps->links[j]) < cut.bit ||
                         (lmk_jump_bit(jumps->links[j]) == cut.bit && lmk_jump_q(jumps->links[j]) < cut.q)))
        j++;
      const bool is_replaced =
        j < end && lmk_jump_bit(jumps->links[j]) == cut.bit && lmk_jump_q(jumps->links[j]) == cut.q;
      if (cut.wall != 0 && !is_replaced)
        add_wall_mass(b, cut.wall - 1, cut.q, scale, &b->mass);
    }
  }
}

static lamina_status list_level(builder *b, int level, int half)
{
  lamina_status status = LAMINA_OK;
  lmi_link_list *to = &b->links->level[level].half[half];
  const int32_t blocks = b->blocks[level].parts[0].blocks;
  chunk *chunks = NULL;
  size_t count = 0;
  LMI_TRY_GOTO(status, LMI_ALLOC(b->ctx, (size_t)blocks + 1, &to->first), cleanup);
  LMI_TRY_GOTO(status, cut_chunks(b, level, &chunks, &count), cleanup);
#pragma omp parallel for num_threads(lamina_context_thread_count(b->ctx)) schedule(dynamic, 1) if (count > 1)
  for (size_t i = 0; i < count; i++)
    list_chunk(b, level, half, to->first, &chunks[i]);
  LMI_TRY_GOTO(status, join_chunks(b, level, half, chunks, count), cleanup);
  for (int32_t block = 0; block < blocks; block++)
    to->first[block + 1] += to->first[block];
  add_chunk_mass(b, level, chunks, count);
  add_cut_mass(b, level, half);
cleanup:
  for (size_t i = 0; i < count; i++)
    free_chunk(b->ctx, &chunks[i]);
  lmi_free(b->ctx, chunks);
  return status;
}

/* ---- all levels ---- */

static void free_lists(lamina_context *ctx, lmi_level_links *links)
{
  for (int level = 0; level < LMI_MAX_LEVELS; level++) {
    lmi_level_link_set *set = &links->level[level];
    for (int half = 0; half < 2; half++) {
      lmi_free(ctx, set->half[half].first);
      lmi_free(ctx, set->half[half].links);
      lmi_free(ctx, set->half[half].cells);
    }
    lmi_free(ctx, set->aside);
    *set = (lmi_level_link_set){0};
  }
}

static lamina_status list_all(builder *b)
{
  b->mass = (wall_mass){0};
  for (int level = 0; level < b->levels->count; level++)
    for (int half = 0; half < (level == b->levels->count - 1 ? 1 : 2); half++)
      LMI_TRY(list_level(b, level, half));
  return LAMINA_OK;
}

/* With whole walls some cut links get nothing from the wall that cuts them. */
static void drop_walls(const builder *b)
{
  lmi_trace trace = {.levels = b->levels, .velocities = *b->velocities, .whole_walls = true};
  for (int level = 0; level < b->levels->count; level++) {
    const lmi_block_part *part = &b->blocks[level].parts[0];
    for (int32_t block = 0; block < part->blocks; block++)
      for (int32_t k = part->link_first[block]; k < part->link_first[block + 1]; k++) {
        int64_t at[3];
        lmi_level_cell(b->levels, level, word_of(b, level, block), part->links[k].bit, at);
        if (part->links[k].wall != 0 && lmi_trace_wall(&trace, level, at, part->links[k].q) < 0)
          part->links[k].wall = 0;
      }
  }
}

static lamina_status number_blocks(builder *b)
{
  for (int level = 0; level < b->levels->count; level++) {
    const int64_t *words = b->levels->level[level].words;
    LMI_TRY(LMI_ALLOC(b->ctx, (size_t)(words[0] * words[1] * words[2]), &b->numbers[level]));
    for (int32_t block = 0; block < b->blocks[level].parts[0].blocks; block++)
      b->numbers[level][word_of(b, level, block)] = block;
  }
  return LAMINA_OK;
}

static lamina_status build(builder *b)
{
  LMI_TRY(number_blocks(b));
  LMI_TRY(list_all(b));
  if (walls_add_mass(b)) {
    free_lists(b->ctx, b->links);
    free_set(b->ctx, &b->set);
    b->links->whole_walls = true;
    drop_walls(b);
    LMI_TRY(list_all(b));
  }
  return LAMINA_OK;
}

lamina_status lmi_level_links_create(lamina_context *ctx, const lmi_levels *levels, lmi_blocks *blocks,
                                     const lmi_velocities *velocities, lmi_level_scheme scheme, lmi_level_links *links)
{
  *links = (lmi_level_links){0};
  builder b = {
    .ctx = ctx, .levels = levels, .blocks = blocks, .velocities = velocities, .scheme = scheme, .links = links};
  const lamina_status status = build(&b);
  links->patterns = b.set.patterns.items;
  links->terms = b.set.terms.items;
  links->pattern_count = (int64_t)b.set.patterns.count;
  links->term_count = (int64_t)b.set.terms.count;
  lmi_free(ctx, b.set.slots);
  for (int level = 0; level < LMI_MAX_LEVELS; level++)
    lmi_free(ctx, b.numbers[level]);
  if (status != LAMINA_OK)
    lmi_level_links_free(ctx, links);
  return status;
}

void lmi_level_links_free(lamina_context *ctx, lmi_level_links *links)
{
  free_lists(ctx, links);
  lmi_free(ctx, links->patterns);
  lmi_free(ctx, links->terms);
  *links = (lmi_level_links){0};
}

lmk_jumps lmi_level_jumps(const lmi_level_links *links, int level, int half)
{
  const lmi_link_list *of = &links->level[level].half[half];
  return (lmk_jumps){
    .first = of->first,
    .links = of->links,
    .cells = of->cells,
    .patterns = links->patterns,
    .terms = links->terms,
    .link_count = of->link_count,
    .cell_count = of->cell_count,
    .pattern_count = links->pattern_count,
    .term_count = links->term_count,
  };
}

uint64_t lmi_level_links_bytes(const lmi_level_links *links)
{
  uint64_t bytes = (uint64_t)links->pattern_count * sizeof *links->patterns;
  bytes += (uint64_t)links->term_count * sizeof *links->terms;
  for (int level = 0; level < LMI_MAX_LEVELS; level++) {
    const lmi_level_link_set *set = &links->level[level];
    bytes += (uint64_t)set->aside_count * sizeof *set->aside;
    for (int half = 0; half < 2; half++)
      bytes += (uint64_t)set->half[half].link_count * sizeof *set->half[half].links +
               (uint64_t)set->half[half].cell_count * sizeof *set->half[half].cells;
  }
  return bytes;
}
