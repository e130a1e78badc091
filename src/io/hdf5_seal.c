/* SPDX-License-Identifier: Apache-2.0 */
/* The seal: text in the first 4096 bytes, for example
 *
 *   LAMINA fields 1
 *   bytes 8432
 *   array 6144 1024 2          offset, bytes of a plane, planes; by rising offset
 *   crc32 1d0c9a3e             of the lines above and of every byte behind the block that is in no array
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "hdf5_store_internal.h"

enum { READ_BYTES = 1 << 16 };

uint32_t lmi_crc32(uint32_t crc, const void *data, size_t bytes)
{
  return (uint32_t)crc32_z(crc, data, bytes);
}

lamina_status lmi_read_at(lamina_context *ctx, const char *path, int descriptor, uint64_t offset, void *data,
                          size_t bytes)
{
  char *next = data;
  while (bytes > 0) {
    const ssize_t got = pread(descriptor, next, bytes, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "cannot read %s", path);
    LMI_REQUIRE(ctx, got > 0, LAMINA_ERROR_CASE, "%s is cut short: nothing at byte %" PRIu64, path, offset);
    next += got;
    offset += (uint64_t)got;
    bytes -= (size_t)got;
  }
  return LAMINA_OK;
}

static lamina_status crc_of_range(lamina_context *ctx, const char *path, int descriptor, uint64_t begin, uint64_t end,
                                  uint32_t *crc)
{
  unsigned char buffer[READ_BYTES];
  while (begin < end) {
    const size_t bytes = end - begin < sizeof buffer ? (size_t)(end - begin) : sizeof buffer;
    LMI_TRY(lmi_read_at(ctx, path, descriptor, begin, buffer, bytes));
    *crc = lmi_crc32(*crc, buffer, bytes);
    begin += bytes;
  }
  return LAMINA_OK;
}

/* Goes on from the checksum of the seal's own lines through all that lies between the arrays. */
static lamina_status crc_outside_arrays(lamina_context *ctx, const char *path, int descriptor, const lmi_seal *seal,
                                        uint32_t *crc)
{
  uint64_t begin = LMI_SEAL_BYTES;
  for (size_t i = 0; i < seal->block_count; i++) {
    const lmi_store_block *block = &seal->blocks[i];
    LMI_TRY(crc_of_range(ctx, path, descriptor, begin, block->offset, crc));
    begin = block->offset + block->plane_bytes * block->planes;
  }
  return crc_of_range(ctx, path, descriptor, begin, seal->bytes, crc);
}

static int compare_offsets(const void *a, const void *b)
{
  const lmi_store_block *left = a, *right = b;
  return (left->offset > right->offset) - (left->offset < right->offset);
}

void lmi_seal_sort(lmi_seal *seal)
{
  qsort(seal->blocks, seal->block_count, sizeof seal->blocks[0], compare_offsets);
}

lamina_status lmi_seal_write(const lmi_safe_file *file, const lmi_seal *seal)
{
  char text[LMI_SEAL_BYTES] = {0};
  int length =
    snprintf(text, sizeof text, "LAMINA %s %d\nbytes %" PRIu64 "\n", seal->kind.name, seal->kind.version, seal->bytes);
  for (size_t i = 0; i < seal->block_count; i++) {
    const lmi_store_block *block = &seal->blocks[i];
    length += snprintf(text + length, sizeof text - (size_t)length, "array %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                       block->offset, block->plane_bytes, block->planes);
  }
  uint32_t crc = lmi_crc32(0, text, (size_t)length);
  LMI_TRY(crc_outside_arrays(file->ctx, file->path, file->descriptor, seal, &crc));
  snprintf(text + length, sizeof text - (size_t)length, "crc32 %08" PRIx32 "\n", crc);
  return lmi_safe_file_write_at(file, text, sizeof text, 0);
}

/* ---- reading the lines: no library reads numbers as strictly as a seal wants it ---- */

static bool take_text(const char **at, const char *expected)
{
  const size_t length = strlen(expected);
  if (strncmp(*at, expected, length) != 0)
    return false;
  *at += length;
  return true;
}

static bool take_number(const char **at, char end, uint64_t *value)
{
  if (**at < '0' || **at > '9')
    return false;
  char *behind = NULL;
  errno = 0;
  *value = strtoull(*at, &behind, 10);
  if (errno != 0 || *behind != end)
    return false;
  *at = behind + 1;
  return true;
}

static bool take_crc(const char **at, uint32_t *crc)
{
  if (!take_text(at, "crc32 ") || strspn(*at, "0123456789abcdef") != 8)
    return false;
  *crc = (uint32_t)strtoul(*at, NULL, 16);
  *at += 8;
  return **at == '\n';
}

/* Arrays must lie one behind the other, inside the file. */
static bool block_fits(const lmi_seal *seal, const lmi_store_block *block)
{
  uint64_t begin = LMI_SEAL_BYTES;
  if (seal->block_count > 0) {
    const lmi_store_block *last = &seal->blocks[seal->block_count - 1];
    begin = last->offset + last->plane_bytes * last->planes;
  }
  uint64_t bytes = 0, end = 0;
  return block->plane_bytes > 0 && block->planes > 0 && block->offset >= begin &&
         !__builtin_mul_overflow(block->plane_bytes, block->planes, &bytes) &&
         !__builtin_add_overflow(block->offset, bytes, &end) && end <= seal->bytes;
}

static bool take_block(const char **at, lmi_seal *seal)
{
  lmi_store_block block = {0};
  if (!take_number(at, ' ', &block.offset) || !take_number(at, ' ', &block.plane_bytes) ||
      !take_number(at, '\n', &block.planes))
    return false;
  if (seal->block_count == LMI_STORE_MAX_ARRAYS || !block_fits(seal, &block))
    return false;
  seal->blocks[seal->block_count++] = block;
  return true;
}

/* Everything behind the first line; *lines gets the length of what the checksum covers. */
static bool parse_lines(const char *text, const char *at, lmi_seal *seal, size_t *lines)
{
  if (!take_text(&at, "bytes ") || !take_number(&at, '\n', &seal->bytes) || seal->bytes < LMI_SEAL_BYTES)
    return false;
  while (take_text(&at, "array "))
    if (!take_block(&at, seal))
      return false;
  *lines = (size_t)(at - text);
  return take_crc(&at, &seal->crc32);
}

static bool parse_first_line(const char **at, lmi_seal *seal)
{
  if (!take_text(at, "LAMINA "))
    return false;
  const size_t length = strspn(*at, "abcdefghijklmnopqrstuvwxyz");
  if (length == 0 || length >= sizeof seal->kind_name || (*at)[length] != ' ')
    return false;
  memcpy(seal->kind_name, *at, length);
  seal->kind_name[length] = '\0';
  *at += length + 1;
  uint64_t version = 0;
  if (!take_number(at, '\n', &version) || version > INT32_MAX)
    return false;
  seal->kind = (lmi_store_kind){.name = seal->kind_name, .version = (int)version};
  return true;
}

static lamina_status refuse_foreign(lamina_context *ctx, const char *path, const char *text, uint64_t bytes,
                                    lmi_store_kind kind)
{
  LMI_REQUIRE(ctx, bytes > 0, LAMINA_ERROR_CASE, "%s is empty", path);
  LMI_REQUIRE(ctx, memcmp(text, "\211HDF\r\n\032\n", 8) != 0, LAMINA_ERROR_CASE,
              "%s is an HDF5 file of another program; a %s file written by lamina is needed", path, kind.name);
  return lmi_fail(ctx, LAMINA_ERROR_CASE, "%s is not a %s file written by lamina", path, kind.name);
}

static lamina_status read_text(lamina_context *ctx, const char *path, int descriptor, char *text, uint64_t *bytes)
{
  struct stat info;
  if (fstat(descriptor, &info) != 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "cannot read %s", path);
  LMI_REQUIRE(ctx, !S_ISDIR(info.st_mode), LAMINA_ERROR_FILE, "cannot read %s: it is a folder", path);
  LMI_REQUIRE(ctx, S_ISREG(info.st_mode), LAMINA_ERROR_FILE, "cannot read %s: it is not a regular file", path);
  *bytes = (uint64_t)info.st_size;
  const size_t present = *bytes < LMI_SEAL_BYTES ? (size_t)*bytes : LMI_SEAL_BYTES;
  return lmi_read_at(ctx, path, descriptor, 0, text, present);
}

lamina_status lmi_seal_check(lamina_context *ctx, const char *path, int descriptor, lmi_store_kind kind, lmi_seal *seal)
{
  char text[LMI_SEAL_BYTES + 1] = {0};
  uint64_t bytes = 0;
  *seal = (lmi_seal){0};
  LMI_TRY(read_text(ctx, path, descriptor, text, &bytes));
  const char *at = text;
  if (!parse_first_line(&at, seal))
    return refuse_foreign(ctx, path, text, bytes, kind);
  LMI_REQUIRE(ctx, strcmp(seal->kind_name, kind.name) == 0, LAMINA_ERROR_CASE, "%s is a %s file; a %s file is needed",
              path, seal->kind_name, kind.name);
  LMI_REQUIRE(ctx, seal->kind.version <= kind.version, LAMINA_ERROR_CASE,
              "%s has version %d of the %s format and this lamina reads up to %d: use a newer lamina", path,
              seal->kind.version, kind.name, kind.version);
  size_t lines = 0;
  LMI_REQUIRE(ctx, parse_lines(text, at, seal, &lines), LAMINA_ERROR_CASE,
              "%s is damaged: its first %d bytes do not hold what lamina wrote", path, (int)LMI_SEAL_BYTES);
  LMI_REQUIRE(ctx, bytes >= seal->bytes, LAMINA_ERROR_CASE,
              "%s is cut short: %" PRIu64 " of %" PRIu64 " bytes are there", path, bytes, seal->bytes);
  LMI_REQUIRE(ctx, bytes == seal->bytes, LAMINA_ERROR_CASE,
              "%s is damaged: %" PRIu64 " bytes where %" PRIu64 " were written", path, bytes, seal->bytes);
  uint32_t crc = lmi_crc32(0, text, lines);
  LMI_TRY(crc_outside_arrays(ctx, path, descriptor, seal, &crc));
  LMI_REQUIRE(ctx, crc == seal->crc32, LAMINA_ERROR_CASE,
              "%s is damaged, or was changed by another program: its description does not match its checksum", path);
  return LAMINA_OK;
}
