/* SPDX-License-Identifier: Apache-2.0 */
/* The container under fields and checkpoints: an HDF5 file whose arrays are contiguous blocks of planes.
 *
 * HDF5 describes the file; the planes are written and read by this module at the places HDF5 gave them. So a full disk
 * is met by plain writes that report it (libhdf5 1.10 ends the process when it cannot flush), sizes are 64-bit
 * throughout, and several ranks fill one file without the MPI build of HDF5: the first one lays it out and tells the
 * others where the arrays lie, each writes its planes there, and the first one seals it. So the calls marked
 * "collective" are made by all ranks of the context; with one rank they mean nothing else.
 *
 * The first 4096 bytes are HDF5's user block and hold the seal: a few lines of text with kind, version, length, the
 * places of the arrays and a CRC-32 of all that is not a plane. It is checked before libhdf5 sees the file, since 1.10
 * trusts what it parses. Planes have a CRC-32 each, in the datasets /lamina/crc32/PATH. */
#ifndef LMI_HDF5_STORE_H
#define LMI_HDF5_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lamina/context.h>
#include <lamina/types.h>

enum { LMI_STORE_MAX_ARRAYS = 56, LMI_STORE_MAX_RANK = 4, LMI_STORE_MAX_TEXT = 60000 };

/* An array of planes: dims[0] of them, or planes of several rows where `rows` says how many. */
typedef struct lmi_store_array {
  const char *path; /* "/VTKHDF/CellData/velocity": the groups above are made as needed */
  lamina_precision precision;
  int rank; /* 1 to LMI_STORE_MAX_RANK */
  uint64_t dims[LMI_STORE_MAX_RANK];
  const uint64_t *rows; /* of dims[0] in each plane, 0 is possible; their sum is dims[0]. NULL: one each */
  uint64_t plane_count; /* where rows are given */
} lmi_store_array;

/* What a file is, in its seal. */
typedef struct lmi_store_kind {
  const char *name; /* "fields", "checkpoint" */
  int version;      /* when reading: the newest this program understands */
} lmi_store_kind;

typedef struct lmi_store lmi_store;

/* ---- writing: create, put attributes, write planes, finish, close ---- */

/* Reserves the space and lays the arrays out. Errors: FILE, MEMORY, ARGUMENT (sizes). On failure nothing is left.
 * Collective: the same status on all ranks. */
LAMINA_NODISCARD lamina_status lmi_store_create(lamina_context *ctx, const char *path, lmi_store_kind kind,
                                                const lmi_store_array *arrays, size_t array_count, lmi_store **store);

/* Attributes of the object at `object` (a group made on the way, or an array). All before the first plane. Not
 * collective: those of the first rank count. */
LAMINA_NODISCARD lamina_status lmi_store_put_ints(lmi_store *store, const char *object, const char *name,
                                                  const int64_t *values, size_t count);
LAMINA_NODISCARD lamina_status lmi_store_put_reals(lmi_store *store, const char *object, const char *name,
                                                   const double *values, size_t count);
LAMINA_NODISCARD lamina_status lmi_store_put_text(lmi_store *store, const char *object, const char *name,
                                                  const char *text);

/* An empty group, for readers that ask for it. */
LAMINA_NODISCARD lamina_status lmi_store_put_group(lmi_store *store, const char *path);

/* A small table of integers as a dataset; part of the description, as attributes are. */
LAMINA_NODISCARD lamina_status lmi_store_put_table(lmi_store *store, const char *path, const int32_t *values,
                                                   size_t rows, size_t columns);

/* Ends the attributes: planes follow. `so_far` is what this rank met since create(); the call passes it on, or another
 * rank's. Collective. With one rank the first plane does the same. */
LAMINA_NODISCARD lamina_status lmi_store_begin_planes(lmi_store *store, lamina_status so_far);

/* One plane, in any order and on any one rank. From several threads for different planes once the first call has
 * returned. */
LAMINA_NODISCARD lamina_status lmi_store_write_plane(lmi_store *store, size_t array, uint64_t plane, const void *data);

/* Seals, syncs, gives the file its name. ARGUMENT when a plane is missing. Collective: the same status on all ranks. */
LAMINA_NODISCARD lamina_status lmi_store_finish(lmi_store *store);

/* ---- reading ---- */

/* Errors: FILE (cannot be read), CASE (not of this kind, truncated, damaged, newer). */
LAMINA_NODISCARD lamina_status lmi_store_open(lamina_context *ctx, const char *path, lmi_store_kind kind,
                                              lmi_store **store);

/* Which version of its kind the file has. */
int lmi_store_version(const lmi_store *store);

/* CASE when the attribute is missing or has another shape. *text is released with lmi_free. */
LAMINA_NODISCARD lamina_status lmi_store_get_ints(lmi_store *store, const char *object, const char *name,
                                                  int64_t *values, size_t count);
LAMINA_NODISCARD lamina_status lmi_store_get_reals(lmi_store *store, const char *object, const char *name,
                                                   double *values, size_t count);
LAMINA_NODISCARD lamina_status lmi_store_get_text(lmi_store *store, const char *object, const char *name, char **text);

/* CASE when it is missing or has another number of columns. *values is released with lmi_free. */
LAMINA_NODISCARD lamina_status lmi_store_get_table(lmi_store *store, const char *path, size_t columns, size_t *rows,
                                                   int32_t **values);

/* Finds an array; `array` gets rank, dims and precision, *index what lmi_store_read_plane wants. An array of uneven
 * planes is found when array->rows and plane_count, set by the caller, are those it was written with. */
LAMINA_NODISCARD lamina_status lmi_store_find_array(lmi_store *store, const char *path, lmi_store_array *array,
                                                    size_t *index);
LAMINA_NODISCARD lamina_status lmi_store_read_plane(lmi_store *store, size_t index, uint64_t plane, void *data);

/* Bytes of the largest plane of an array. */
size_t lmi_store_plane_bytes(const lmi_store *store, size_t index);

/* Closes; a file that was not finished is removed. NULL does nothing. */
void lmi_store_close(lmi_store *store);

#endif
