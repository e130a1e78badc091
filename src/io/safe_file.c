/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

/* Whether `part` still names the file behind the descriptor: another writer may have renamed it while we waited. */
static bool names_descriptor(const char *part, int descriptor)
{
  struct stat named, held;
  return stat(part, &named) == 0 && fstat(descriptor, &held) == 0 && named.st_ino == held.st_ino &&
         named.st_dev == held.st_dev;
}

static lamina_status open_part(lmi_safe_file *file)
{
  file->descriptor = open(file->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
  if (file->descriptor < 0)
    return lmi_fail_errno(file->ctx, LAMINA_ERROR_FILE, errno, "cannot write %s", file->path);
  struct stat info;
  if (fstat(file->descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(file->descriptor);
    file->descriptor = -1;
    return lmi_fail(file->ctx, LAMINA_ERROR_FILE, "cannot write %s: %s is in the way and not a regular file",
                    file->path, file->part);
  }
  // File systems without locks answer something else than EWOULDBLOCK; they are let pass.
  const bool is_taken = flock(file->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_taken || !names_descriptor(file->part, file->descriptor)) {
    close(file->descriptor); // and leave the other writer's file alone
    file->descriptor = -1;
    return lmi_fail(file->ctx, LAMINA_ERROR_FILE, "cannot write %s: another process is writing it", file->path);
  }
  if (ftruncate(file->descriptor, 0) != 0)
    return lmi_fail_errno(file->ctx, LAMINA_ERROR_FILE, errno, "cannot write %s", file->path);
  return LAMINA_OK;
}

lamina_status lmi_safe_file_create(lamina_context *ctx, const char *path, lmi_safe_file *file)
{
  *file = (lmi_safe_file){.ctx = ctx, .descriptor = -1};
  LMI_REQUIRE(ctx, path != NULL && path[0] != '\0', LAMINA_ERROR_ARGUMENT, "a file to write needs a name");
  struct stat info;
  const bool exists = stat(path, &info) == 0;
  LMI_REQUIRE(ctx, !exists || !S_ISDIR(info.st_mode), LAMINA_ERROR_FILE,
              "cannot write %s: it is a folder; give the name of a file", path);
  LMI_REQUIRE(ctx, !exists || S_ISREG(info.st_mode), LAMINA_ERROR_FILE,
              "cannot write %s: it is a device or pipe, and only a regular file can be replaced by a complete one",
              path);

  const size_t length = strlen(path);
  lamina_status status = lmi_string_copy(ctx, path, &file->path);
  if (status == LAMINA_OK)
    status = LMI_ALLOC(ctx, length + sizeof ".part", &file->part);
  if (status == LAMINA_OK) {
    snprintf(file->part, length + sizeof ".part", "%s.part", path);
    status = open_part(file);
  }
  if (status != LAMINA_OK)
    lmi_safe_file_discard(file);
  return status;
}

lamina_status lmi_safe_file_reserve(const lmi_safe_file *file, uint64_t bytes)
{
  char text[32];
  lmi_format_bytes((double)bytes, text);
  struct rlimit limit;
  // Asked first: going over this limit is a signal that ends the process.
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur)
    return lmi_fail(file->ctx, LAMINA_ERROR_FILE,
                    "cannot write %s: it needs %s and the file size limit of this process is %llu bytes (ulimit -f)",
                    file->path, text, (unsigned long long)limit.rlim_cur);
  LMI_REQUIRE(file->ctx, bytes <= INT64_MAX, LAMINA_ERROR_FILE, "cannot write %s: no file can hold %s", file->path,
              text);
  if (bytes == 0 || fallocate(file->descriptor, 0, 0, (off_t)bytes) == 0)
    return LAMINA_OK;
  const int reason = errno;
  if (reason == EOPNOTSUPP || reason == ENOSYS || reason == EINTR)
    return LAMINA_OK;
  return lmi_fail_errno(file->ctx, LAMINA_ERROR_FILE, reason, "cannot write %s: no room for %s", file->path, text);
}

uint64_t lmi_safe_file_inode(const lmi_safe_file *file)
{
  struct stat info;
  return fstat(file->descriptor, &info) == 0 ? (uint64_t)info.st_ino : 0;
}

/* A network file system may show a new file a little later on another host. */
static bool open_joined(lmi_safe_file *file, uint64_t inode)
{
  enum { TRIES = 100, PAUSE_NS = 50000000 };
  const struct timespec pause = {.tv_nsec = PAUSE_NS};
  for (int i = 0; i < TRIES; i++) {
    file->descriptor = open(file->part, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file->descriptor >= 0 && (inode == 0 || lmi_safe_file_inode(file) == inode))
      return true;
    if (file->descriptor >= 0)
      close(file->descriptor);
    file->descriptor = -1;
    nanosleep(&pause, NULL);
  }
  return false;
}

lamina_status lmi_safe_file_join(lamina_context *ctx, const char *path, uint64_t inode, lmi_safe_file *file)
{
  *file = (lmi_safe_file){.ctx = ctx, .descriptor = -1, .is_joined = true};
  char host[256] = "";
  const size_t length = strlen(path);
  lamina_status status = lmi_string_copy(ctx, path, &file->path);
  if (status == LAMINA_OK)
    status = LMI_ALLOC(ctx, length + sizeof ".part", &file->part);
  if (status == LAMINA_OK) {
    snprintf(file->part, length + sizeof ".part", "%s.part", path);
    gethostname(host, sizeof host - 1);
    if (!open_joined(file, inode))
      status = lmi_fail(ctx, LAMINA_ERROR_FILE,
                        "cannot write %s: a rank on %s does not see the file that the first rank made; the output "
                        "folder must lie on a file system that all ranks share",
                        path, host);
  }
  if (status != LAMINA_OK)
    lmi_safe_file_discard(file);
  return status;
}

static lamina_status write_failed(const lmi_safe_file *file)
{
  return lmi_fail_errno(file->ctx, LAMINA_ERROR_FILE, errno, "cannot write %s", file->path);
}

lamina_status lmi_safe_file_write(const lmi_safe_file *file, const void *data, size_t bytes)
{
  const char *next = data;
  while (bytes > 0) {
    const ssize_t written = write(file->descriptor, next, bytes);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return write_failed(file);
    next += written;
    bytes -= (size_t)written;
  }
  return LAMINA_OK;
}

lamina_status lmi_safe_file_write_at(const lmi_safe_file *file, const void *data, size_t bytes, uint64_t offset)
{
  const char *next = data;
  while (bytes > 0) {
    const ssize_t written = pwrite(file->descriptor, next, bytes, (off_t)offset);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return write_failed(file);
    next += written;
    offset += (uint64_t)written;
    bytes -= (size_t)written;
  }
  return LAMINA_OK;
}

lamina_status lmi_safe_file_sync(const lmi_safe_file *file)
{
  return fsync(file->descriptor) == 0 ? LAMINA_OK : write_failed(file);
}

/* A rename is safe against a power cut only when the folder is on the disk as well. */
static void sync_folder(const char *path)
{
  char folder[4096] = ".";
  const char *slash = strrchr(path, '/');
  if (slash != NULL && (size_t)(slash - path) < sizeof folder)
    snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
  const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  fsync(descriptor); // some file systems refuse it for folders; the file itself is complete either way
  close(descriptor);
}

lamina_status lmi_safe_file_commit(lmi_safe_file *file)
{
  lamina_status status = LAMINA_OK;
  if (fsync(file->descriptor) != 0 || rename(file->part, file->path) != 0)
    status = write_failed(file);
  if (status == LAMINA_OK) {
    sync_folder(file->path);
    close(file->descriptor); // only now: the lock keeps others off the name until the rename
    file->descriptor = -1;
  }
  lmi_safe_file_discard(file);
  return status;
}

void lmi_safe_file_discard(lmi_safe_file *file)
{
  if (file->descriptor >= 0) {
    if (!file->is_joined)
      unlink(file->part);
    close(file->descriptor);
  }
  file->descriptor = -1;
  lmi_free(file->ctx, file->path);
  lmi_free(file->ctx, file->part);
  file->path = NULL;
  file->part = NULL;
}

lamina_status lmi_safe_file_put(lamina_context *ctx, const char *path, const void *data, size_t bytes)
{
  lmi_safe_file file;
  LMI_TRY(lmi_safe_file_create(ctx, path, &file));
  lamina_status status = lmi_safe_file_reserve(&file, bytes);
  if (status == LAMINA_OK)
    status = lmi_safe_file_write(&file, data, bytes);
  if (status == LAMINA_OK)
    return lmi_safe_file_commit(&file);
  lmi_safe_file_discard(&file);
  return status;
}

static lamina_status read_descriptor(lamina_context *ctx, const char *path, int descriptor, size_t limit, char **data,
                                     size_t *bytes)
{
  struct stat info;
  if (fstat(descriptor, &info) != 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "cannot read %s", path);
  LMI_REQUIRE(ctx, !S_ISDIR(info.st_mode), LAMINA_ERROR_FILE, "cannot read %s: it is a folder", path);
  LMI_REQUIRE(ctx, S_ISREG(info.st_mode), LAMINA_ERROR_FILE, "cannot read %s: it is not a regular file", path);
  LMI_REQUIRE(ctx, (uint64_t)info.st_size <= limit, LAMINA_ERROR_FILE,
              "cannot read %s: it has %lld bytes, at most %zu are read", path, (long long)info.st_size, limit);
  LMI_TRY(LMI_ALLOC(ctx, (size_t)info.st_size + 1, data));
  while (*bytes < (size_t)info.st_size) {
    const ssize_t got = read(descriptor, *data + *bytes, (size_t)info.st_size - *bytes);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "cannot read %s", path);
    if (got == 0)
      break;
    *bytes += (size_t)got;
  }
  return LAMINA_OK;
}

lamina_status lmi_file_read_all(lamina_context *ctx, const char *path, size_t limit, char **data, size_t *bytes)
{
  *data = NULL;
  *bytes = 0;
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "cannot read %s", path);
  const lamina_status status = read_descriptor(ctx, path, descriptor, limit, data, bytes);
  close(descriptor);
  if (status != LAMINA_OK) {
    lmi_free(ctx, *data);
    *data = NULL;
    *bytes = 0;
  }
  return status;
}
