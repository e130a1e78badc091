/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "code_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 4096, BLOCKS = 64, MOST_SECTIONS = 65536, MOST_SEGMENTS = 256 };
static const uint64_t MOST_SYMBOL_BYTES = (uint64_t)256 << 20;

typedef struct symbol {
  uint64_t address, size;
  uint32_t name; /* offset in names */
} symbol;

struct lmi_code_file {
  char *path;
  int fd;
  struct {
    uint64_t number; /* of the block, plus one; 0: empty */
    size_t bytes;
    uint8_t data[BLOCK_BYTES];
  } cache[BLOCKS];
  bool symbols_tried;
  symbol *symbols; /* sorted by address */
  size_t symbol_count;
  char *names;
  size_t names_bytes;
  Elf64_Phdr segments[MOST_SEGMENTS];
  size_t segment_count;
};

lamina_status lmi_code_files_find(lamina_context *ctx, lmi_code_files *files, const char *path, size_t *index)
{
  for (*index = 0; *index < files->count; (*index)++)
    if (strcmp(files->files[*index]->path, path) == 0)
      return LAMINA_OK;
  if (files->count == files->capacity) {
    lmi_code_file **grown = NULL;
    LMI_TRY(LMI_ALLOC(ctx, 2 * files->capacity + 16, &grown));
    if (files->count > 0)
      memcpy(grown, files->files, files->count * sizeof *grown);
    lmi_free(ctx, files->files);
    files->files = grown;
    files->capacity = 2 * files->capacity + 16;
  }
  lmi_code_file *file = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &file));
  const lamina_status status = lmi_string_copy(ctx, path, &file->path);
  if (status != LAMINA_OK) {
    lmi_free(ctx, file);
    return status;
  }
  file->fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  struct stat info;
  if (file->fd >= 0 && (fstat(file->fd, &info) != 0 || !S_ISREG(info.st_mode))) {
    close(file->fd); /* a device that was mapped: reading it could do anything */
    file->fd = -1;
  }
  files->files[files->count++] = file;
  return LAMINA_OK;
}

void lmi_code_files_free(lamina_context *ctx, lmi_code_files *files)
{
  for (size_t i = 0; i < files->count; i++) {
    lmi_code_file *file = files->files[i];
    if (file->fd >= 0)
      close(file->fd);
    lmi_free(ctx, file->path);
    lmi_free(ctx, file->symbols);
    lmi_free(ctx, file->names);
    lmi_free(ctx, file);
  }
  lmi_free(ctx, files->files);
  *files = (lmi_code_files){0};
}

const char *lmi_code_file_path(const lmi_code_file *file)
{
  return file->path;
}

const char *lmi_code_file_name(const lmi_code_file *file)
{
  const char *slash = strrchr(file->path, '/');
  return slash != NULL && slash[1] != '\0' ? slash + 1 : file->path;
}

size_t lmi_code_file_read(lmi_code_file *file, uint64_t offset, uint8_t *buffer, size_t size)
{
  size_t done = 0;
  while (file->fd >= 0 && done < size) {
    const uint64_t number = (offset + done) / BLOCK_BYTES;
    const size_t within = (size_t)((offset + done) % BLOCK_BYTES), slot = (size_t)(number % BLOCKS);
    if (file->cache[slot].number != number + 1) {
      const ssize_t got = pread(file->fd, file->cache[slot].data, BLOCK_BYTES, (off_t)(number * BLOCK_BYTES));
      file->cache[slot].number = number + 1;
      file->cache[slot].bytes = got > 0 ? (size_t)got : 0;
    }
    const size_t there = file->cache[slot].bytes > within ? file->cache[slot].bytes - within : 0;
    const size_t take = there < size - done ? there : size - done;
    if (take == 0)
      break;
    memcpy(buffer + done, file->cache[slot].data + within, take);
    done += take;
  }
  return done;
}

static bool read_exact(const lmi_code_file *file, uint64_t offset, void *buffer, size_t size)
{
  return pread(file->fd, buffer, size, (off_t)offset) == (ssize_t)size;
}

static int by_address(const void *a, const void *b)
{
  const symbol *x = a, *y = b;
  return (x->address > y->address) - (x->address < y->address);
}

/* Takes the functions of one symbol table. */
static lamina_status take_table(lamina_context *ctx, lmi_code_file *file, const Elf64_Shdr *table,
                                const Elf64_Shdr *strings)
{
  Elf64_Sym *entries = NULL;
  const size_t count = (size_t)(table->sh_size / sizeof *entries);
  if (table->sh_size > MOST_SYMBOL_BYTES || strings->sh_size > MOST_SYMBOL_BYTES || strings->sh_size == 0)
    return LAMINA_OK;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &entries), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)strings->sh_size + 1, &file->names), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, count, &file->symbols), cleanup);
  file->names_bytes = (size_t)strings->sh_size;
  if (!read_exact(file, table->sh_offset, entries, count * sizeof *entries) ||
      !read_exact(file, strings->sh_offset, file->names, file->names_bytes))
    goto cleanup;
  for (size_t i = 0; i < count; i++) {
    if (ELF64_ST_TYPE(entries[i].st_info) == STT_FUNC && entries[i].st_value != 0 &&
        entries[i].st_name < file->names_bytes)
      file->symbols[file->symbol_count++] =
        (symbol){.address = entries[i].st_value, .size = entries[i].st_size, .name = entries[i].st_name};
  }
  qsort(file->symbols, file->symbol_count, sizeof *file->symbols, by_address);
cleanup:
  lmi_free(ctx, entries);
  return status;
}

/* The full table if there is one, else the dynamic one. Anything odd leaves the file without names. */
static lamina_status read_symbols(lamina_context *ctx, lmi_code_file *file)
{
  Elf64_Ehdr header;
  Elf64_Shdr *sections = NULL;
  file->symbols_tried = true;
  if (file->fd < 0 || !read_exact(file, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof *sections ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > MOST_SEGMENTS)
    return LAMINA_OK;
  if (read_exact(file, header.e_phoff, file->segments, header.e_phnum * sizeof(Elf64_Phdr)))
    file->segment_count = header.e_phnum;
  LMI_TRY(LMI_ALLOC(ctx, header.e_shnum, &sections));
  lamina_status status = LAMINA_OK;
  const Elf64_Shdr *chosen = NULL;
  if (read_exact(file, header.e_shoff, sections, header.e_shnum * sizeof *sections)) {
    for (size_t i = 0; i < header.e_shnum; i++)
      if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && chosen == NULL))
        chosen = &sections[i];
    if (chosen != NULL && chosen->sh_link < header.e_shnum)
      status = take_table(ctx, file, chosen, &sections[chosen->sh_link]);
  }
  lmi_free(ctx, sections);
  return status;
}

const char *lmi_code_file_function(lamina_context *ctx, lmi_code_file *file, uint64_t offset, uint64_t *address)
{
  *address = offset;
  if (!file->symbols_tried && read_symbols(ctx, file) != LAMINA_OK)
    lamina_error_clear(ctx); /* names are a convenience: without memory for them there are none */
  for (size_t i = 0; i < file->segment_count; i++) {
    const Elf64_Phdr *segment = &file->segments[i];
    if (segment->p_type == PT_LOAD && offset >= segment->p_offset && offset - segment->p_offset < segment->p_filesz)
      *address = offset - segment->p_offset + segment->p_vaddr;
  }
  size_t low = 0, high = file->symbol_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (file->symbols[middle].address <= *address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return NULL;
  const symbol *found = &file->symbols[low - 1];
  if (found->size > 0 && *address >= found->address + found->size)
    return NULL;
  return file->names[found->name] != '\0' ? file->names + found->name : NULL;
}
