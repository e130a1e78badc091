/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the store share; for src/io/hdf5_*.c only. */
#ifndef LMI_HDF5_STORE_INTERNAL_H
#define LMI_HDF5_STORE_INTERNAL_H

#include <hdf5.h>

#include "base/base.h"
#include "hdf5_store.h"
#include "safe_file.h"

enum { LMI_SEAL_BYTES = 4096 };

/* Where an array lies in the file. An array of uneven planes is one plane here; `cuts` of the store tells more. */
typedef struct lmi_store_block {
  uint64_t offset, plane_bytes, planes;
} lmi_store_block;

/* The lines of the user block. */
typedef struct lmi_seal {
  lmi_store_kind kind;
  char kind_name[32];
  uint64_t bytes; /* of the file */
  size_t block_count;
  lmi_store_block blocks[LMI_STORE_MAX_ARRAYS]; /* by rising offset */
  uint32_t crc32;
} lmi_seal;

/* Puts the blocks in the order of the file: what the two calls below rely on. */
void lmi_seal_sort(lmi_seal *seal);

/* Reads what is not an array, makes its checksum, writes the user block. */
LAMINA_NODISCARD lamina_status lmi_seal_write(const lmi_safe_file *file, const lmi_seal *seal);

/* Reads the user block and compares everything it promises. */
LAMINA_NODISCARD lamina_status lmi_seal_check(lamina_context *ctx, const char *path, int descriptor,
                                              lmi_store_kind kind, lmi_seal *seal);

uint32_t lmi_crc32(uint32_t crc, const void *data, size_t bytes);

/* Where the checksums of an array are kept. `buffer` holds LMI_CHECKSUM_PATH_BYTES. */
enum { LMI_CHECKSUM_PATH_BYTES = 512 };
const char *lmi_checksum_path(const char *array_path, char *buffer);

/* Reads exactly `bytes` at `offset`; CASE when the file ends before. */
LAMINA_NODISCARD lamina_status lmi_read_at(lamina_context *ctx, const char *path, int descriptor, uint64_t offset,
                                           void *data, size_t bytes);

/* libhdf5 prints its errors unless told not to; the setting of the caller's thread is put back. */
typedef struct lmi_hdf5_quiet {
  H5E_auto2_t function;
  void *user;
} lmi_hdf5_quiet;
lmi_hdf5_quiet lmi_hdf5_quiet_begin(void);
void lmi_hdf5_quiet_end(lmi_hdf5_quiet quiet);

/* Files are opened by descriptor, so that what was checked is what is read. 64 bytes hold the name. */
const char *lmi_descriptor_path(int descriptor, char *buffer);

/* Planes of an array, and where one lies in the file. */
uint64_t lmi_store_plane_count(const lmi_store *store, size_t index);
typedef struct lmi_store_range {
  uint64_t offset, bytes;
} lmi_store_range;
lmi_store_range lmi_store_plane_range(const lmi_store *store, size_t index, uint64_t plane);

/* Cuts an array into the planes its description asks for, `bytes` being its length. ARGUMENT when they do not fill it.
 */
LAMINA_NODISCARD lamina_status lmi_store_cut(lmi_store *store, size_t index, const lmi_store_array *array,
                                             uint64_t bytes);

struct lmi_store {
  lamina_context *ctx;
  char *path;
  lmi_store_kind kind;
  bool is_writing;
  bool is_member;       /* writing: of the ranks that only add planes */
  hid_t file;           /* < 0: closed */
  int descriptor;       /* writing: the layout in memory; reading: the file; -1: closed */
  lmi_safe_file output; /* writing */
  size_t array_count;
  lmi_store_block blocks[LMI_STORE_MAX_ARRAYS];
  uint64_t *cuts[LMI_STORE_MAX_ARRAYS]; /* uneven planes: where each begins in the array, one more than there are */
  uint64_t cut_count[LMI_STORE_MAX_ARRAYS];
  uint64_t crc_offset[LMI_STORE_MAX_ARRAYS]; /* writing: place of the checksum datasets */
  uint32_t *crc[LMI_STORE_MAX_ARRAYS];
  unsigned char *is_written[LMI_STORE_MAX_ARRAYS];
};

#endif
