/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and their mappings. Pages and objects are in observed_pages.c. */
#define _GNU_SOURCE
#include "observed.h"

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

static const uint32_t NO_FILE = UINT32_MAX;

lamina_status lmi_observed_grow(lamina_context *ctx, void **data, size_t *capacity, size_t count, size_t size)
{
  if (count < *capacity)
    return LAMINA_OK;
  void *grown = NULL;
  const size_t more = 2 * *capacity + 16;
  LMI_TRY(lmi_alloc_array(ctx, more, size, &grown));
  if (count > 0)
    memcpy(grown, *data, count * size);
  lmi_free(ctx, *data);
  *data = grown;
  *capacity = more;
  return LAMINA_OK;
}

lamina_status lmi_observed_open(lamina_context *ctx, lmi_observed *observed)
{
  *observed = (lmi_observed){.ctx = ctx, .page_shift = 12, .phase_count = 1};
  return lmi_string_copy(ctx, "(none)", &observed->phase_names[0]);
}

static void free_process(lamina_context *ctx, lmi_observed_process *process)
{
  lmi_free(ctx, process->command);
  lmi_free(ctx, process->mappings);
  lmi_free(ctx, process->objects);
  lmi_free(ctx, process->pages);
  lmi_free(ctx, process->threads);
  lmi_free(ctx, process->changes);
  lmi_free(ctx, process->footprint);
  lmi_free(ctx, process);
}

void lmi_observed_close(lmi_observed *observed)
{
  if (observed->ctx == NULL)
    return;
  for (size_t i = 0; i < observed->process_count; i++)
    free_process(observed->ctx, observed->processes[i]);
  for (size_t i = 0; i < observed->phase_count; i++)
    lmi_free(observed->ctx, observed->phase_names[i]);
  lmi_free(observed->ctx, observed->processes);
  lmi_code_files_free(observed->ctx, &observed->files);
  *observed = (lmi_observed){0};
}

lmi_observed_process *lmi_observed_find(lmi_observed *observed, uint32_t pid)
{
  for (size_t i = observed->process_count; i-- > 0;)
    if (observed->processes[i]->pid == pid && !observed->processes[i]->has_ended)
      return observed->processes[i];
  return NULL;
}

/* The number a process has under MPI, out of its environment. */
static int read_rank(uint32_t pid)
{
  static const char *const keys[] = {"OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "PMIX_RANK=", "SLURM_PROCID="};
  char path[64], block[16384];
  snprintf(path, sizeof path, "/proc/%u/environ", pid);
  FILE *file = fopen(path, "re");
  if (file == NULL)
    return -1;
  const size_t length = fread(block, 1, sizeof block - 1, file);
  fclose(file);
  block[length] = '\0';
  for (size_t at = 0; at < length; at += strlen(block + at) + 1) {
    for (size_t k = 0; k < LMI_COUNT(keys); k++) {
      int64_t rank = 0;
      if (strncmp(block + at, keys[k], strlen(keys[k])) == 0 && lmi_parse_int64(block + at + strlen(keys[k]), &rank))
        return (int)rank;
    }
  }
  return -1;
}

/* The whole command line while the process is there, else its short name. */
static lamina_status read_command(lamina_context *ctx, uint32_t pid, const char *fallback, char **command)
{
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
  FILE *file = fopen(path, "re");
  size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file != NULL)
    fclose(file);
  while (length > 0 && text[length - 1] == '\0')
    length--;
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < ' ')
      text[i] = ' ';
  text[length] = '\0';
  return lmi_string_copy(ctx, length > 0 ? text : fallback, command);
}

static lamina_status add_process(lmi_observed *observed, uint32_t pid, uint32_t parent, uint64_t time,
                                 lmi_observed_process **process)
{
  lamina_context *ctx = observed->ctx;
  LMI_TRY(lmi_observed_grow(ctx, (void **)&observed->processes, &observed->process_capacity, observed->process_count,
                            sizeof *observed->processes));
  LMI_TRY(LMI_ALLOC(ctx, 1, process));
  (*process)->pid = pid;
  (*process)->parent = parent;
  (*process)->rank = -1;
  (*process)->started = time;
  observed->processes[observed->process_count++] = *process;
  LMI_TRY(lmi_observed_grow(ctx, (void **)&(*process)->objects, &(*process)->object_capacity, 0,
                            sizeof *(*process)->objects));
  snprintf((*process)->objects[0].name, sizeof(*process)->objects[0].name, "(other)");
  (*process)->objects[0].file = NO_FILE;
  (*process)->object_count = 1;
  return LAMINA_OK;
}

lamina_status lmi_observed_start(lmi_observed *observed, uint32_t pid, uint32_t parent, uint64_t time)
{
  lmi_observed_process *process = NULL, *origin = lmi_observed_find(observed, parent);
  if (lmi_observed_find(observed, pid) != NULL)
    return LAMINA_OK;
  LMI_TRY(add_process(observed, pid, parent, time, &process));
  LMI_TRY(lmi_string_copy(observed->ctx, origin != NULL ? origin->command : "?", &process->command));
  if (origin == NULL || origin->mapping_count == 0)
    return LAMINA_OK;
  LMI_TRY(LMI_ALLOC(observed->ctx, origin->mapping_count, &process->mappings));
  memcpy(process->mappings, origin->mappings, origin->mapping_count * sizeof *process->mappings);
  process->mapping_count = process->mapping_capacity = origin->mapping_count;
  for (size_t i = 0; i < process->mapping_count; i++)
    process->mappings[i].object = LMI_OBSERVED_NO_OBJECT;
  return LAMINA_OK;
}

lamina_status lmi_observed_exec(lmi_observed *observed, uint32_t pid, const char *command, uint64_t time)
{
  lmi_observed_process *old = lmi_observed_find(observed, pid), *process = NULL;
  const uint32_t parent = old != NULL ? old->parent : 0;
  const int image = old != NULL ? old->image + 1 : 0;
  const bool is_blank = old != NULL && old->samples == 0 && old->touches == 0 && old->mapping_count == 0;
  if (old != NULL && !is_blank)
    lmi_observed_end(old, "exec", time);
  if (is_blank)
    process = old;
  else
    LMI_TRY(add_process(observed, pid, parent, time, &process));
  process->image = is_blank ? old->image : image;
  process->rank = read_rank(pid);
  lmi_free(observed->ctx, process->command);
  process->command = NULL;
  return read_command(observed->ctx, pid, command, &process->command);
}

void lmi_observed_end(lmi_observed_process *process, const char *how, uint64_t time)
{
  if (process->has_ended)
    return;
  process->has_ended = true;
  process->stopped = time;
  snprintf(process->ended, sizeof process->ended, "%s", how);
}

/* ---- mappings ---- */

size_t lmi_observed_first_behind(const lmi_observed_process *process, uint64_t address)
{
  size_t low = 0, high = process->mapping_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (process->mappings[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

lamina_status lmi_observed_insert(lamina_context *ctx, lmi_observed_process *process, size_t at, lmi_mapping mapping)
{
  LMI_TRY(lmi_observed_grow(ctx, (void **)&process->mappings, &process->mapping_capacity, process->mapping_count,
                            sizeof *process->mappings));
  memmove(process->mappings + at + 1, process->mappings + at, (process->mapping_count - at) * sizeof mapping);
  process->mappings[at] = mapping;
  process->mapping_count++;
  return LAMINA_OK;
}

static void erase(lmi_observed_process *process, size_t at)
{
  process->mapping_count--;
  memmove(process->mappings + at, process->mappings + at + 1,
          (process->mapping_count - at) * sizeof *process->mappings);
}

/* Cuts [start, end) out of everything that is mapped there. */
lamina_status lmi_observed_clear(lamina_context *ctx, lmi_observed_process *process, uint64_t start, uint64_t end)
{
  for (size_t i = lmi_observed_first_behind(process, start);
       i < process->mapping_count && process->mappings[i].start < end;) {
    lmi_mapping *there = &process->mappings[i];
    if (there->start < start && there->end > end) {
      lmi_mapping upper = *there;
      upper.offset += end - upper.start;
      upper.start = end;
      there->end = start;
      return lmi_observed_insert(ctx, process, i + 1, upper);
    }
    if (there->start < start) {
      there->end = start;
      i++;
    } else if (there->end > end) {
      there->offset += end - there->start;
      there->start = end;
      return LAMINA_OK;
    } else {
      erase(process, i);
    }
  }
  return LAMINA_OK;
}

/* The kernel reports a new anonymous mapping together with the old ones it was merged with: what lies inside stays as
 * it was, only the rest is new. */
static lamina_status fill_gaps(lamina_context *ctx, lmi_observed_process *process, lmi_mapping whole)
{
  uint64_t at = whole.start;
  while (at < whole.end) {
    const size_t i = lmi_observed_first_behind(process, at);
    const bool inside = i < process->mapping_count && process->mappings[i].start < whole.end;
    if (inside && process->mappings[i].start <= at) {
      at = process->mappings[i].end;
      continue;
    }
    lmi_mapping gap = whole;
    gap.start = at;
    gap.end = inside ? process->mappings[i].start : whole.end;
    LMI_TRY(lmi_observed_insert(ctx, process, i, gap));
    at = gap.end;
  }
  return LAMINA_OK;
}

/* Memory without a file that begins where a file's data ends is its zero-initialised part. */
static uint32_t file_before(const lmi_observed_process *process, uint64_t start)
{
  const size_t i = lmi_observed_first_behind(process, start);
  if (i == 0 || process->mappings[i - 1].end != start || process->mappings[i - 1].is_code)
    return NO_FILE;
  return process->mappings[i - 1].kind == LMI_MAPPING_FILE ? process->mappings[i - 1].file : NO_FILE;
}

static lmi_mapping_kind kind_of(const char *name)
{
  if (name[0] == '/' && name[1] != '/')
    return strncmp(name, "/dev/zero", 9) == 0 ? LMI_MAPPING_ANONYMOUS : LMI_MAPPING_FILE;
  if (strcmp(name, "//anon") == 0 || name[0] == '\0')
    return LMI_MAPPING_ANONYMOUS;
  if (strcmp(name, "[heap]") == 0)
    return LMI_MAPPING_HEAP;
  return strncmp(name, "[stack", 6) == 0 ? LMI_MAPPING_STACK : LMI_MAPPING_OTHER;
}

lamina_status lmi_observed_map(lmi_observed *observed, lmi_observed_process *process, uint64_t start, uint64_t bytes,
                               uint64_t offset, bool is_code, const char *name)
{
  lamina_context *ctx = observed->ctx;
  lmi_mapping mapping = {.start = start,
                         .end = start + bytes,
                         .offset = offset,
                         .kind = kind_of(name),
                         .is_code = is_code,
                         .file = NO_FILE,
                         .object = LMI_OBSERVED_NO_OBJECT};
  if (bytes == 0 || mapping.end < start)
    return LAMINA_OK;
  if (mapping.kind == LMI_MAPPING_FILE) {
    size_t index = 0;
    LMI_TRY(lmi_code_files_find(ctx, &observed->files, name, &index));
    mapping.file = (uint32_t)index;
  } else if (mapping.kind == LMI_MAPPING_ANONYMOUS) {
    mapping.file = file_before(process, start);
  }
  const size_t i = lmi_observed_first_behind(process, start);
  const bool grows =
    mapping.kind != LMI_MAPPING_FILE && i < process->mapping_count && process->mappings[i].start < mapping.end &&
    process->mappings[i].end - process->mappings[i].start < bytes && process->mappings[i].kind == mapping.kind;
  if (grows)
    return fill_gaps(ctx, process, mapping);
  LMI_TRY(lmi_observed_clear(ctx, process, mapping.start, mapping.end));
  return lmi_observed_insert(ctx, process, lmi_observed_first_behind(process, start), mapping);
}

size_t lmi_observed_code(void *view, uint64_t address, uint8_t *buffer, size_t size)
{
  lmi_code_view *code = view;
  const size_t i = lmi_observed_first_behind(code->process, address);
  if (i == code->process->mapping_count || code->process->mappings[i].start > address)
    return 0;
  const lmi_mapping *mapping = &code->process->mappings[i];
  const size_t there = mapping->end - address < size ? (size_t)(mapping->end - address) : size;
  if (mapping->kind == LMI_MAPPING_FILE)
    return lmi_code_file_read(code->observed->files.files[mapping->file], mapping->offset + (address - mapping->start),
                              buffer, there);
  /* Code that was made at run time is only in the process itself. */
  const struct iovec local = {buffer, there}, remote = {(void *)(uintptr_t)address, there};
  const ssize_t got = process_vm_readv((pid_t)code->process->pid, &local, 1, &remote, 1, 0);
  return got > 0 ? (size_t)got : 0;
}
