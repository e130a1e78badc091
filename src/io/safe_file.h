/* SPDX-License-Identifier: Apache-2.0 */
/* A file that has its name only when it is complete: written as NAME.part, synced, renamed, and the folder synced. What
 * is interrupted leaves the file of that name as it was; the next writer takes the left .part over. Two writers of one
 * name at a time: the second is refused. */
#ifndef LMI_SAFE_FILE_H
#define LMI_SAFE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lamina/context.h>

typedef struct lmi_safe_file {
  lamina_context *ctx;
  int descriptor; /* -1: closed */
  char *path, *part;
  bool is_joined; /* another rank made it, and will commit or discard it */
} lmi_safe_file;

/* Errors: FILE, MEMORY. On failure the file is closed and nothing is left behind. Discard or commit releases it. */
LAMINA_NODISCARD lamina_status lmi_safe_file_create(lamina_context *ctx, const char *path, lmi_safe_file *file);

/* Takes `bytes` of the disk now, so that a full disk is met here and not in mid-write. File systems that cannot reserve
 * are let pass. */
LAMINA_NODISCARD lamina_status lmi_safe_file_reserve(const lmi_safe_file *file, uint64_t bytes);

/* Appends, or writes at an offset. */
LAMINA_NODISCARD lamina_status lmi_safe_file_write(const lmi_safe_file *file, const void *data, size_t bytes);
LAMINA_NODISCARD lamina_status lmi_safe_file_write_at(const lmi_safe_file *file, const void *data, size_t bytes,
                                                      uint64_t offset);

/* Opens what another rank is writing under this name, to write into it too. `inode` is what lmi_safe_file_inode told
 * that rank. Errors: FILE when this host does not see that file within a few seconds: the ranks share no file system.
 */
LAMINA_NODISCARD lamina_status lmi_safe_file_join(lamina_context *ctx, const char *path, uint64_t inode,
                                                  lmi_safe_file *file);
uint64_t lmi_safe_file_inode(const lmi_safe_file *file); /* 0: unknown */

/* Puts what this rank wrote on the disk, without giving the file its name. */
LAMINA_NODISCARD lamina_status lmi_safe_file_sync(const lmi_safe_file *file);

/* Syncs, renames, syncs the folder, releases. On failure it is discarded. */
LAMINA_NODISCARD lamina_status lmi_safe_file_commit(lmi_safe_file *file);

/* Removes and releases what was not committed; a second call does nothing. */
void lmi_safe_file_discard(lmi_safe_file *file);

/* A whole file from memory. */
LAMINA_NODISCARD lamina_status lmi_safe_file_put(lamina_context *ctx, const char *path, const void *data, size_t bytes);

/* A whole regular file into memory, a zero byte behind it. FILE when it cannot be read or is larger than `limit`. */
LAMINA_NODISCARD lamina_status lmi_file_read_all(lamina_context *ctx, const char *path, size_t limit, char **data,
                                                 size_t *bytes);

#endif
