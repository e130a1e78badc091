/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cuda_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/kernel_text.h"
#include <lamina/version.h>

/* A file: this, then the cubin. */
typedef struct cache_header {
  char magic[16];
  uint64_t bytes, check;
} cache_header;

static const char magic[16] = "lamina cubin 1\n";
static const uint64_t MAX_CUBIN_BYTES = (uint64_t)64 << 20;

enum { PATH_BYTES = 1024 };

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
  const unsigned char *byte = data;
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ byte[i]) * 0x100000001b3u;
  return hash;
}

static uint64_t hash_all(uint64_t seed, const lmi_nvrtc_api *nvrtc, const char *text, const lmi_cuda_target *target)
{
  int compiler[2] = {0, 0};
  (void)nvrtc->version(&compiler[0], &compiler[1]);
  uint64_t hash = hash_bytes(seed, text, strlen(text));
  hash = hash_bytes(hash, target, sizeof *target);
  hash = hash_bytes(hash, compiler, sizeof compiler);
  hash = hash_bytes(hash, lamina_version(), strlen(lamina_version()));
  for (size_t i = 0; i < lmi_kernel_text_count; i++)
    hash = hash_bytes(hash, lmi_kernel_texts[i].text, lmi_kernel_texts[i].bytes);
  return hash;
}

/* false: there is no place for a cache, or it is switched off. */
static bool find_folder(char folder[PATH_BYTES])
{
  const char *own = getenv("LAMINA_KERNEL_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = 0;
  if (own != NULL)
    length = snprintf(folder, PATH_BYTES, "%s", own);
  else if (xdg != NULL && xdg[0] == '/')
    length = snprintf(folder, PATH_BYTES, "%s/lamina/kernels", xdg);
  else if (home != NULL && home[0] == '/')
    length = snprintf(folder, PATH_BYTES, "%s/.cache/lamina/kernels", home);
  return length > 0 && length < PATH_BYTES - 64;
}

static bool find_file(const lmi_nvrtc_api *nvrtc, const char *text, const lmi_cuda_target *target,
                      char path[PATH_BYTES])
{
  if (!find_folder(path))
    return false;
  const size_t used = strlen(path);
  snprintf(path + used, PATH_BYTES - used, "/%016llx%016llx.cubin",
           (unsigned long long)hash_all(0xcbf29ce484222325u, nvrtc, text, target),
           (unsigned long long)hash_all(0x84222325cbf29ce4u, nvrtc, text, target));
  return true;
}

static bool read_header(FILE *file, cache_header *header)
{
  return fread(header, sizeof *header, 1, file) == 1 && memcmp(header->magic, magic, sizeof magic) == 0 &&
         header->bytes > 0 && header->bytes <= MAX_CUBIN_BYTES;
}

/* Leaves cubin->data NULL when the file is absent or damaged. */
static lamina_status read_cache(lamina_context *ctx, const char *path, lmi_cubin *cubin)
{
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return LAMINA_OK;
  lamina_status status = LAMINA_OK;
  cache_header header;
  bool is_whole = read_header(file, &header);
  if (is_whole)
    LMI_TRY_GOTO(status, LMI_ALLOC(ctx, (size_t)header.bytes, &cubin->data), cleanup);
  is_whole = is_whole && fread(cubin->data, 1, (size_t)header.bytes, file) == header.bytes &&
             hash_bytes(0, cubin->data, (size_t)header.bytes) == header.check && fgetc(file) == EOF;
  cubin->bytes = is_whole ? (size_t)header.bytes : 0;
  if (!is_whole) {
    lmi_log(ctx, LAMINA_LOG_WARNING, "the kernel cache %s is damaged: compiling again", path);
    lmi_cubin_free(ctx, cubin);
  }
cleanup:
  fclose(file);
  return status;
}

/* Creates the folders above `path`, one after the other. */
static void make_folders(char *path)
{
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(path, 0700);
    *slash = '/';
  }
}

static bool write_all(FILE *file, const lmi_cubin *cubin)
{
  cache_header header = {.bytes = cubin->bytes, .check = hash_bytes(0, cubin->data, cubin->bytes)};
  memcpy(header.magic, magic, sizeof magic);
  return fwrite(&header, sizeof header, 1, file) == 1 && fwrite(cubin->data, 1, cubin->bytes, file) == cubin->bytes;
}

/* Under a name of its own, then renamed: other processes see a whole file or none. */
static void write_cache(lamina_context *ctx, char path[PATH_BYTES], const lmi_cubin *cubin)
{
  char part[PATH_BYTES + 16];
  make_folders(path);
  snprintf(part, sizeof part, "%s.XXXXXX", path);
  const int descriptor = mkstemp(part);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
  if (file == NULL) {
    lmi_log(ctx, LAMINA_LOG_REMARK, "compiled kernels are not kept: %s cannot be written (%s)", path, strerror(errno));
    if (descriptor >= 0)
      close(descriptor);
    return;
  }
  const bool is_written = write_all(file, cubin);
  const bool is_closed = fclose(file) == 0;
  if (!is_written || !is_closed || rename(part, path) != 0)
    (void)unlink(part);
}

lamina_status lmi_cuda_obtain(lamina_context *ctx, const lmi_nvrtc_api *nvrtc, const char *name, const char *text,
                              const lmi_cuda_target *target, lmi_cubin *cubin)
{
  *cubin = (lmi_cubin){0};
  char path[PATH_BYTES];
  const bool has_cache = find_file(nvrtc, text, target, path);
  if (has_cache)
    LMI_TRY(read_cache(ctx, path, cubin));
  if (cubin->data != NULL)
    return LAMINA_OK;
  LMI_TRY(lmi_cuda_compile(ctx, nvrtc, name, text, target->architecture, cubin));
  if (has_cache)
    write_cache(ctx, path, cubin);
  return LAMINA_OK;
}
