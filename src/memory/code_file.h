/* SPDX-License-Identifier: Apache-2.0 */
/* Program and library files of a process under observation: their code, and the names of their functions. Files are
 * read as they lie on disk; one that was replaced meanwhile gives wrong names, which is checked by nobody but rare. */
#ifndef LMI_CODE_FILE_H
#define LMI_CODE_FILE_H

#include "base/base.h"

typedef struct lmi_code_file lmi_code_file;

/* Every file that was asked for, each opened once. Zero to start with. */
typedef struct lmi_code_files {
  lmi_code_file **files;
  size_t count, capacity;
} lmi_code_files;

/* Position of the file in the list, opened at the first call; it may turn out unreadable, then it gives no code. */
LAMINA_NODISCARD lamina_status lmi_code_files_find(lamina_context *ctx, lmi_code_files *files, const char *path,
                                                   size_t *index);
void lmi_code_files_free(lamina_context *ctx, lmi_code_files *files);

const char *lmi_code_file_path(const lmi_code_file *file);
/* Behind the last slash. */
const char *lmi_code_file_name(const lmi_code_file *file);

/* Copies bytes at an offset of the file; returns how many there are. */
size_t lmi_code_file_read(lmi_code_file *file, uint64_t offset, uint8_t *buffer, size_t size);

/* Name of the function that holds the byte at `offset` of the file and its address as linked; NULL when it has no
 * symbol. */
const char *lmi_code_file_function(lamina_context *ctx, lmi_code_file *file, uint64_t offset, uint64_t *address);

#endif
