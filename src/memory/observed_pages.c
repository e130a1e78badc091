/* SPDX-License-Identifier: Apache-2.0 */
/* Samples and first touches on their way to pages and objects. */
#include <stdio.h>
#include <string.h>

#include "observed.h"

enum { SMALL_PAGE_SHIFT = 12, LARGE_PAGE_SHIFT = 21 };
static const uint32_t NO_FILE = UINT32_MAX;
static const size_t MOST_PAGES = (size_t)1 << 22; /* of one process; then pages are counted in units of 2 MiB */
static const uint64_t STACK_REACH = (uint64_t)64 << 20;

/* ---- the table of pages ---- */

static size_t place_of(const lmi_observed_page *pages, size_t capacity, uint64_t number, uint32_t phase)
{
  uint64_t hash = (number * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)phase * UINT64_C(0xd6e8feb86659fd93));
  size_t at = (size_t)((hash ^ hash >> 29) & (capacity - 1));
  while (pages[at].number != 0 && !(pages[at].number == number + 1 && pages[at].phase == phase))
    at = (at + 1) & (capacity - 1);
  return at;
}

/* A table of `capacity` places (a power of two) with all pages in it, each number shifted right by `coarser` bits. */
static lamina_status rebuild(lamina_context *ctx, lmi_observed_process *process, size_t capacity, unsigned coarser)
{
  lmi_observed_page *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, capacity, &made));
  size_t count = 0;
  for (size_t i = 0; i < process->page_capacity; i++) {
    const lmi_observed_page *old = &process->pages[i];
    if (old->number == 0)
      continue;
    const uint64_t number = (old->number - 1) >> coarser;
    lmi_observed_page *page = &made[place_of(made, capacity, number, old->phase)];
    if (page->number == 0) {
      *page = *old;
      page->number = number + 1;
      count++;
      continue;
    }
    page->samples += old->samples;
    if (old->touched != 0 && (page->touched == 0 || old->touched < page->touched))
      page->touched = old->touched;
  }
  lmi_free(ctx, process->pages);
  process->pages = made;
  process->page_capacity = capacity;
  process->page_count = count;
  return LAMINA_OK;
}

static lamina_status make_coarse(lmi_observed *observed)
{
  for (size_t i = 0; i < observed->process_count; i++)
    LMI_TRY(rebuild(observed->ctx, observed->processes[i], observed->processes[i]->page_capacity,
                    LARGE_PAGE_SHIFT - SMALL_PAGE_SHIFT));
  observed->page_shift = LARGE_PAGE_SHIFT;
  return LAMINA_OK;
}

static lamina_status page_at(lmi_observed *observed, lmi_observed_process *process, uint64_t address, uint32_t phase,
                             lmi_observed_page **page)
{
  if (process->page_count > MOST_PAGES && observed->page_shift == SMALL_PAGE_SHIFT)
    LMI_TRY(make_coarse(observed));
  if (2 * process->page_count >= process->page_capacity)
    LMI_TRY(rebuild(observed->ctx, process, process->page_capacity > 0 ? 2 * process->page_capacity : 1024, 0));
  const uint64_t number = address >> observed->page_shift;
  *page = &process->pages[place_of(process->pages, process->page_capacity, number, phase)];
  if ((*page)->number == 0) {
    (*page)->number = number + 1;
    (*page)->phase = phase;
    process->page_count++;
  }
  return LAMINA_OK;
}

/* ---- objects ---- */

/* The object of this kind and site, made at its first use. Beyond the limit everything is "(other)". */
static lamina_status object_of(lmi_observed *observed, lmi_observed_process *process, lamina_object_kind kind,
                               uint32_t file, uint64_t function, const char *name, uint32_t *index)
{
  for (uint32_t i = 1; i < process->object_count; i++) {
    const lmi_observed_object *object = &process->objects[i];
    if (object->kind == kind && object->file == file && object->function == function &&
        strcmp(object->name, name) == 0) {
      *index = i;
      return LAMINA_OK;
    }
  }
  *index = LMI_OBSERVED_NO_OBJECT;
  if (process->object_count >= LMI_OBSERVED_MOST_OBJECTS)
    return LAMINA_OK;
  LMI_TRY(lmi_observed_grow(observed->ctx, (void **)&process->objects, &process->object_capacity, process->object_count,
                            sizeof *process->objects));
  lmi_observed_object *object = &process->objects[process->object_count];
  *object = (lmi_observed_object){.kind = kind, .file = file, .function = function};
  snprintf(object->name, sizeof object->name, "%s", name);
  *index = (uint32_t)process->object_count++;
  return LAMINA_OK;
}

/* An anonymous mapping is known by the function that touched it first. */
static lamina_status site_object(lmi_observed *observed, lmi_observed_process *process, uint64_t ip, uint32_t *index)
{
  char name[208] = "mapped, first touched by unknown code";
  uint64_t function = 0;
  uint32_t file = NO_FILE;
  const size_t i = lmi_observed_first_behind(process, ip);
  if (i < process->mapping_count && process->mappings[i].start <= ip && process->mappings[i].kind == LMI_MAPPING_FILE) {
    const lmi_mapping *code = &process->mappings[i];
    lmi_code_file *program = observed->files.files[code->file];
    file = code->file;
    const char *symbol = lmi_code_file_function(observed->ctx, program, code->offset + (ip - code->start), &function);
    if (symbol != NULL)
      snprintf(name, sizeof name, "mapped, first touched by %.80s in %.60s", symbol, lmi_code_file_name(program));
    else
      snprintf(name, sizeof name, "mapped, first touched in %.60s", lmi_code_file_name(program));
    function = 0; /* the name says it; several places of one function are one site */
  }
  return object_of(observed, process, LAMINA_OBJECT_MAPPED, file, function, name, index);
}

static lamina_status file_object(lmi_observed *observed, lmi_observed_process *process, const lmi_mapping *mapping,
                                 uint32_t *index)
{
  char name[208];
  const char *file = lmi_code_file_name(observed->files.files[mapping->file]);
  snprintf(name, sizeof name, "%.120s %s", file, mapping->is_code ? "(code)" : "(data)");
  return object_of(observed, process, LAMINA_OBJECT_STATIC, mapping->file, 0, name, index);
}

/* malloc writes its own header into the first page of a mapping before the program gets it; in a static program the
 * allocator has no file of its own, only names. */
static bool is_allocator(lamina_context *ctx, lmi_code_file *file, uint64_t offset)
{
  static const char *const files[] = {"libc.so", "libc-", "libtcmalloc", "libjemalloc"};
  static const char *const functions[] = {"sysmalloc", "_int_malloc", "malloc", "__libc_malloc", "mmap_chunk"};
  uint64_t address = 0;
  for (size_t i = 0; i < LMI_COUNT(files); i++)
    if (strncmp(lmi_code_file_name(file), files[i], strlen(files[i])) == 0)
      return true;
  const char *function = lmi_code_file_function(ctx, file, offset, &address);
  for (size_t i = 0; function != NULL && i < LMI_COUNT(functions); i++)
    if (strncmp(function, functions[i], strlen(functions[i])) == 0)
      return true;
  return false;
}

static bool is_allocator_header(const lmi_observed *observed, const lmi_observed_process *process,
                                const lmi_mapping *mapping, const lmi_observed_access *access)
{
  const size_t i = lmi_observed_first_behind(process, access->ip);
  if (mapping->kind != LMI_MAPPING_ANONYMOUS || (access->address - mapping->start) >> SMALL_PAGE_SHIFT != 0 ||
      i == process->mapping_count || process->mappings[i].start > access->ip ||
      process->mappings[i].kind != LMI_MAPPING_FILE)
    return false;
  const lmi_mapping *code = &process->mappings[i];
  return is_allocator(observed->ctx, observed->files.files[code->file], code->offset + (access->ip - code->start));
}

static lamina_status mapping_object(lmi_observed *observed, lmi_observed_process *process, lmi_mapping *mapping,
                                    const lmi_observed_access *access, uint32_t *index)
{
  const bool is_stack = access->stack >= mapping->start && access->stack < mapping->end;
  if (mapping->kind == LMI_MAPPING_OTHER)
    *index = LMI_OBSERVED_NO_OBJECT;
  else if (mapping->kind == LMI_MAPPING_HEAP)
    LMI_TRY(object_of(observed, process, LAMINA_OBJECT_HEAP, NO_FILE, 0, "heap (brk)", index));
  else if (mapping->kind == LMI_MAPPING_STACK || is_stack)
    LMI_TRY(object_of(observed, process, LAMINA_OBJECT_STACK, NO_FILE, 0, "stacks", index));
  else if (mapping->file != NO_FILE)
    LMI_TRY(file_object(observed, process, mapping, index));
  else
    LMI_TRY(site_object(observed, process, access->ip, index));
  mapping->object = *index;
  process->objects[*index].blocks++;
  process->objects[*index].bytes += mapping->end - mapping->start;
  return LAMINA_OK;
}

/* Memory that somebody else touched first (pthread_create does) and a thread then runs on. */
static lamina_status become_stack(lmi_observed *observed, lmi_observed_process *process, lmi_mapping *mapping,
                                  uint32_t *index)
{
  const uint64_t bytes = mapping->end - mapping->start;
  process->objects[mapping->object].blocks--;
  process->objects[mapping->object].bytes -= bytes;
  LMI_TRY(object_of(observed, process, LAMINA_OBJECT_STACK, NO_FILE, 0, "stacks", index));
  process->objects[*index].blocks++;
  process->objects[*index].bytes += bytes;
  mapping->object = *index;
  return LAMINA_OK;
}

static lamina_status find_object(lmi_observed *observed, lmi_observed_process *process,
                                 const lmi_observed_access *access, uint32_t *index)
{
  const size_t i = lmi_observed_first_behind(process, access->address);
  const bool is_mapped = i < process->mapping_count && process->mappings[i].start <= access->address;
  *index = LMI_OBSERVED_NO_OBJECT;
  if (is_mapped) {
    lmi_mapping *mapping = &process->mappings[i];
    const bool is_stack = access->stack >= mapping->start && access->stack < mapping->end;
    if (is_stack && process->objects[mapping->object].kind == LAMINA_OBJECT_MAPPED)
      return become_stack(observed, process, mapping, index);
    *index = mapping->object;
    if (*index == LMI_OBSERVED_NO_OBJECT && !is_allocator_header(observed, process, &process->mappings[i], access))
      return mapping_object(observed, process, &process->mappings[i], access, index);
    return LAMINA_OK;
  }
  /* The first stack is mapped before anybody looks. */
  if (access->stack != 0 && access->address + STACK_REACH > access->stack &&
      access->address < access->stack + STACK_REACH)
    return object_of(observed, process, LAMINA_OBJECT_STACK, NO_FILE, 0, "stacks", index);
  return LAMINA_OK;
}

/* ---- taking what the sources give ---- */

lamina_status lmi_observed_count_thread(lmi_observed *observed, lmi_observed_process *process, uint32_t tid)
{
  for (size_t i = 0; i < process->thread_count; i++) {
    if (process->threads[i].id == tid) {
      process->threads[i].samples++;
      return LAMINA_OK;
    }
  }
  LMI_TRY(lmi_observed_grow(observed->ctx, (void **)&process->threads, &process->thread_capacity, process->thread_count,
                            sizeof *process->threads));
  process->threads[process->thread_count++] = (lmi_observed_thread){.id = tid, .samples = 1};
  return LAMINA_OK;
}

lamina_status lmi_observed_take(lmi_observed *observed, lmi_observed_process *process,
                                const lmi_observed_access *access)
{
  uint32_t object = LMI_OBSERVED_NO_OBJECT;
  lmi_observed_page *page = NULL;
  LMI_TRY(find_object(observed, process, access, &object));
  LMI_TRY(page_at(observed, process, access->address, lmi_observed_phase_at(process, access->time), &page));
  page->object = object;
  if (access->first_touch) {
    process->touches++;
    if (page->touched == 0)
      page->touched = process->touches;
    return LAMINA_OK;
  }
  page->samples++;
  process->samples++;
  process->objects[object].accesses++;
  return LAMINA_OK;
}

/* ---- phases and names ---- */

static lamina_status phase_index(lmi_observed *observed, const char *name, uint32_t *index)
{
  for (*index = 0; *index < observed->phase_count; (*index)++)
    if (strcmp(observed->phase_names[*index], name) == 0)
      return LAMINA_OK;
  if (observed->phase_count == LMI_OBSERVED_MOST_PHASES) {
    *index = 0;
    return LAMINA_OK;
  }
  LMI_TRY(lmi_string_copy(observed->ctx, name, &observed->phase_names[observed->phase_count]));
  observed->phase_count++;
  return LAMINA_OK;
}

lamina_status lmi_observed_phase(lmi_observed *observed, lmi_observed_process *process, const char *name, uint64_t time)
{
  const size_t deepest = LMI_COUNT(process->open_phases);
  if (name == NULL) {
    if (process->open_count > 0)
      process->open_count--;
  } else {
    uint32_t index = 0;
    LMI_TRY(phase_index(observed, name, &index));
    if (process->open_count < deepest)
      process->open_phases[process->open_count] = index;
    process->open_count++;
  }
  const size_t depth = process->open_count < deepest ? process->open_count : deepest;
  LMI_TRY(lmi_observed_grow(observed->ctx, (void **)&process->changes, &process->change_capacity, process->change_count,
                            sizeof *process->changes));
  process->changes[process->change_count++] =
    (lmi_phase_change){.time = time, .phase = depth > 0 ? process->open_phases[depth - 1] : 0};
  return LAMINA_OK;
}

uint32_t lmi_observed_phase_at(const lmi_observed_process *process, uint64_t time)
{
  size_t low = 0, high = process->change_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (process->changes[middle].time <= time)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? process->changes[low - 1].phase : 0;
}

lamina_status lmi_observed_name(lmi_observed *observed, lmi_observed_process *process, uint64_t address, uint64_t bytes,
                                const char *name)
{
  uint32_t index = 0;
  if (bytes == 0 || address + bytes < address)
    return LAMINA_OK;
  LMI_TRY(object_of(observed, process, LAMINA_OBJECT_NAMED, NO_FILE, 0, name, &index));
  LMI_TRY(lmi_observed_clear(observed->ctx, process, address, address + bytes));
  LMI_TRY(lmi_observed_insert(
    observed->ctx, process, lmi_observed_first_behind(process, address),
    (lmi_mapping){
      .start = address, .end = address + bytes, .kind = LMI_MAPPING_ANONYMOUS, .file = NO_FILE, .object = index}));
  process->objects[index].blocks++;
  process->objects[index].bytes += bytes;
  const uint64_t first = address >> observed->page_shift, last = (address + bytes - 1) >> observed->page_shift;
  for (size_t i = 0; i < process->page_capacity; i++) {
    lmi_observed_page *page = &process->pages[i];
    if (page->number == 0 || page->number - 1 < first || page->number - 1 > last || page->object == index)
      continue;
    process->objects[page->object].accesses -= page->samples;
    process->objects[index].accesses += page->samples;
    page->object = index;
  }
  return LAMINA_OK;
}

lamina_status lmi_observed_footprint(lmi_observed *observed, lmi_observed_process *process,
                                     const lamina_footprint_point *point)
{
  uint64_t total = 0;
  LMI_TRY(lmi_observed_grow(observed->ctx, (void **)&process->footprint, &process->footprint_capacity,
                            process->footprint_count, sizeof *process->footprint));
  process->footprint[process->footprint_count++] = *point;
  for (size_t i = 0; i < LAMINA_TIERS_MAX; i++)
    if (point->tier_bytes[i] != LAMINA_UNCOUNTED)
      total += point->tier_bytes[i];
  if (total > process->peak_bytes)
    process->peak_bytes = total;
  return LAMINA_OK;
}
