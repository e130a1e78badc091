/* SPDX-License-Identifier: Apache-2.0 */
/* AVX-512 in a program file: Valgrind cannot run it, so it is looked for before hours are spent. Only the functions of
 * the symbol table are decoded, each from its first byte: code is then not mistaken for data, nor the other way round.
 */
#define _POSIX_C_SOURCE 200809L
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "decode_x86.h"
#include "trace_launch.h"

static const uint64_t FILE_BYTES_MAX = UINT64_C(1) << 30;

typedef struct image {
  const uint8_t *bytes;
  uint64_t size;
} image;

/* `count` things of `size` at `offset`, or NULL when they do not lie in the file. */
static const void *part(const image *file, uint64_t offset, uint64_t count, uint64_t size)
{
  if (size > 0 && count > file->size / size)
    return NULL;
  if (offset > file->size || count * size > file->size - offset || offset % 8 != 0)
    return NULL;
  return file->bytes + offset;
}

static const Elf64_Ehdr *header_of(const image *file)
{
  const Elf64_Ehdr *header = part(file, 0, 1, sizeof *header);
  if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_machine != EM_X86_64 || header->e_shentsize != sizeof(Elf64_Shdr))
    return NULL;
  return header;
}

static bool is_dispatched(const char *name)
{
  return strstr(name, "evex") != NULL || strstr(name, "avx512") != NULL || strstr(name, "AVX512") != NULL ||
         strstr(name, "skylakex") != NULL || strstr(name, "SKYLAKEX") != NULL || strstr(name, "arch_x86_64_v4") != NULL;
}

static uint64_t count_evex(const uint8_t *code, uint64_t size)
{
  uint64_t count = 0;
  for (uint64_t at = 0; at < size;) {
    lmi_x86_instruction instruction;
    if (!lmi_x86_decode(code + at, size - at, &instruction) || instruction.length == 0)
      break;
    count += instruction.is_evex;
    at += instruction.length;
  }
  return count;
}

static void scan_function(const image *file, const Elf64_Shdr *section, const Elf64_Sym *symbol, const char *name,
                          lmi_evex_found *found)
{
  const uint64_t offset = symbol->st_value - section->sh_addr + section->sh_offset;
  if (symbol->st_value < section->sh_addr || offset > file->size || symbol->st_size > file->size - offset ||
      is_dispatched(name))
    return;
  const uint64_t count = count_evex(file->bytes + offset, symbol->st_size);
  if (count > 0 && found->instructions == 0)
    snprintf(found->function, sizeof found->function, "%s", name);
  found->instructions += count;
}

/* Name of a symbol, or "" when its string table is broken. */
static const char *name_of(const image *file, const Elf64_Shdr *strings, uint32_t offset)
{
  if (strings->sh_offset > file->size || strings->sh_size > file->size - strings->sh_offset ||
      offset >= strings->sh_size)
    return "";
  const char *name = (const char *)file->bytes + strings->sh_offset + offset;
  return memchr(name, '\0', strings->sh_size - offset) != NULL ? name : "";
}

static void scan_symbols(const image *file, const Elf64_Shdr *sections, uint16_t section_count, const Elf64_Shdr *table,
                         lmi_evex_found *found)
{
  const uint64_t count = table->sh_size / sizeof(Elf64_Sym);
  const Elf64_Sym *symbols = part(file, table->sh_offset, count, sizeof *symbols);
  if (symbols == NULL || table->sh_link >= section_count)
    return;
  for (uint64_t i = 0; i < count; i++) {
    const Elf64_Sym *symbol = &symbols[i];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx >= section_count)
      continue;
    const Elf64_Shdr *section = &sections[symbol->st_shndx];
    if (section->sh_flags & SHF_EXECINSTR && section->sh_type == SHT_PROGBITS)
      scan_function(file, section, symbol, name_of(file, &sections[table->sh_link], symbol->st_name), found);
  }
}

static void scan_image(const image *file, lmi_evex_found *found)
{
  const Elf64_Ehdr *header = header_of(file);
  if (header == NULL)
    return;
  const Elf64_Shdr *sections = part(file, header->e_shoff, header->e_shnum, sizeof *sections);
  for (uint16_t i = 0; sections != NULL && i < header->e_shnum; i++)
    if (sections[i].sh_type == SHT_SYMTAB)
      scan_symbols(file, sections, header->e_shnum, &sections[i], found);
}

lamina_status lmi_find_evex(lamina_context *ctx, const char *path, lmi_evex_found *found)
{
  struct stat status;
  uint8_t *bytes = NULL;
  *found = (lmi_evex_found){0};
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return LAMINA_OK;
  lamina_status result = LAMINA_OK;
  if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode) || (uint64_t)status.st_size > FILE_BYTES_MAX)
    goto cleanup;
  LMI_TRY_GOTO(result, LMI_ALLOC(ctx, (size_t)status.st_size, &bytes), cleanup);
  const size_t read = fread(bytes, 1, (size_t)status.st_size, file);
  scan_image(&(image){.bytes = bytes, .size = read}, found);
cleanup:
  lmi_free(ctx, bytes);
  fclose(file);
  return result;
}
