/* SPDX-License-Identifier: Apache-2.0 */
/* Writing. libhdf5 lays the file out in memory (a memfd: arrays are holes in it); the description is then copied into
 * the real file, whose space was reserved before, and the planes are written beside it. */
#define _GNU_SOURCE
#include "hdf5_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ranks.h"
#include "hdf5_store_internal.h"

/* Generous room for the description: groups, attributes, checksums come on top of the planes. */
static const uint64_t DESCRIPTION_BYTES = 1 << 20;

/* Arrays of this size and more begin on a page, so that other programs can map them. */
enum { ALIGNED_BYTES = 1 << 16, PAGE_BYTES = 4096 };

lmi_hdf5_quiet lmi_hdf5_quiet_begin(void)
{
  lmi_hdf5_quiet quiet = {0};
  H5Eget_auto2(H5E_DEFAULT, &quiet.function, &quiet.user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return quiet;
}

void lmi_hdf5_quiet_end(lmi_hdf5_quiet quiet)
{
  H5Eset_auto2(H5E_DEFAULT, quiet.function, quiet.user);
}

const char *lmi_descriptor_path(int descriptor, char *buffer)
{
  snprintf(buffer, 64, "/proc/self/fd/%d", descriptor);
  return buffer;
}

const char *lmi_checksum_path(const char *array_path, char *buffer)
{
  snprintf(buffer, LMI_CHECKSUM_PATH_BYTES, "/lamina/crc32%s", array_path);
  return buffer;
}

uint64_t lmi_store_plane_count(const lmi_store *store, size_t index)
{
  return store->cuts[index] != NULL ? store->cut_count[index] : store->blocks[index].planes;
}

lmi_store_range lmi_store_plane_range(const lmi_store *store, size_t index, uint64_t plane)
{
  const lmi_store_block *block = &store->blocks[index];
  const uint64_t *cuts = store->cuts[index];
  if (cuts == NULL)
    return (lmi_store_range){block->offset + plane * block->plane_bytes, block->plane_bytes};
  return (lmi_store_range){block->offset + cuts[plane], cuts[plane + 1] - cuts[plane]};
}

size_t lmi_store_plane_bytes(const lmi_store *store, size_t index)
{
  uint64_t largest = 0;
  if (store->cuts[index] == NULL)
    return (size_t)store->blocks[index].plane_bytes;
  for (uint64_t plane = 0; plane < store->cut_count[index]; plane++) {
    const uint64_t bytes = lmi_store_plane_range(store, index, plane).bytes;
    largest = bytes > largest ? bytes : largest;
  }
  return (size_t)largest;
}

lamina_status lmi_store_cut(lmi_store *store, size_t index, const lmi_store_array *array, uint64_t bytes)
{
  uint64_t *cuts = NULL;
  const uint64_t row_bytes = array->dims[0] > 0 ? bytes / array->dims[0] : 0;
  if (array->rows == NULL)
    return LAMINA_OK;
  LMI_TRY(LMI_ALLOC(store->ctx, (size_t)array->plane_count + 1, &cuts));
  lmi_free(store->ctx, store->cuts[index]);
  store->cuts[index] = cuts;
  store->cut_count[index] = array->plane_count;
  uint64_t rows = 0;
  for (uint64_t plane = 0; plane < array->plane_count && array->rows[plane] <= array->dims[0] - rows; plane++) {
    rows += array->rows[plane];
    cuts[plane + 1] = rows * row_bytes;
  }
  LMI_REQUIRE(store->ctx, cuts[array->plane_count] == bytes, LAMINA_ERROR_ARGUMENT,
              "the planes of %s in %s do not fill its %" PRIu64 " rows", array->path, store->path, array->dims[0]);
  return LAMINA_OK;
}

static size_t element_bytes(lamina_precision precision)
{
  return precision == LAMINA_F64 ? sizeof(double) : sizeof(float);
}

static lamina_status measure_array(lamina_context *ctx, const char *path, const lmi_store_array *array,
                                   lmi_store_block *block, uint64_t *total)
{
  LMI_REQUIRE(ctx, array->rank >= 1 && array->rank <= LMI_STORE_MAX_RANK, LAMINA_ERROR_ARGUMENT,
              "an array of rank %d cannot be stored (1 to %d)", array->rank, (int)LMI_STORE_MAX_RANK);
  LMI_REQUIRE(ctx, strlen(array->path) < LMI_CHECKSUM_PATH_BYTES - 32, LAMINA_ERROR_ARGUMENT,
              "the name of the array %.40s... is too long", array->path);
  uint64_t plane = element_bytes(array->precision), bytes = 0;
  bool fits = array->dims[0] > 0;
  for (int d = 1; d < array->rank; d++)
    fits = fits && array->dims[d] > 0 && !__builtin_mul_overflow(plane, array->dims[d], &plane);
  fits =
    fits && !__builtin_mul_overflow(plane, array->dims[0], &bytes) && !__builtin_add_overflow(*total, bytes, total);
  LMI_REQUIRE(ctx, fits && *total <= INT64_MAX / 2, LAMINA_ERROR_ARGUMENT,
              "cannot write %s: the array %s is empty or larger than a file can be", path, array->path);
  *block = array->rows == NULL ? (lmi_store_block){.plane_bytes = plane, .planes = array->dims[0]}
                               : (lmi_store_block){.plane_bytes = bytes, .planes = 1};
  return LAMINA_OK;
}

/* Creates a contiguous dataset whose place is fixed now and filled later. */
static lamina_status add_dataset(lmi_store *store, const char *path, hid_t type, int rank, const uint64_t *dims,
                                 uint64_t *offset)
{
  hsize_t sizes[LMI_STORE_MAX_RANK];
  for (int d = 0; d < rank; d++)
    sizes[d] = dims[d];
  const hid_t space = H5Screate_simple(rank, sizes, NULL);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(creation, false); // the same content makes the same bytes
  const hid_t dataset = H5Dcreate2(store->file, path, type, space, links, creation, H5P_DEFAULT);
  const haddr_t place = dataset >= 0 ? H5Dget_offset(dataset) : HADDR_UNDEF;
  H5Dclose(dataset);
  H5Pclose(creation);
  H5Pclose(links);
  H5Sclose(space);
  LMI_REQUIRE(store->ctx, place != HADDR_UNDEF, LAMINA_ERROR_SYSTEM, "libhdf5 cannot lay out %s in %s", path,
              store->path);
  *offset = place;
  return LAMINA_OK;
}

static lamina_status add_array(lmi_store *store, size_t index, const lmi_store_array *array)
{
  lmi_store_block *block = &store->blocks[index];
  const hid_t type = array->precision == LAMINA_F64 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
  LMI_TRY(add_dataset(store, array->path, type, array->rank, array->dims, &block->offset));
  char path[LMI_CHECKSUM_PATH_BYTES];
  const uint64_t planes = lmi_store_plane_count(store, index);
  return add_dataset(store, lmi_checksum_path(array->path, path), H5T_NATIVE_UINT32, 1, &planes,
                     &store->crc_offset[index]);
}

static lamina_status open_layout(lmi_store *store)
{
  store->descriptor = memfd_create("lamina-layout", MFD_CLOEXEC);
  if (store->descriptor < 0)
    return lmi_fail_errno(store->ctx, LAMINA_ERROR_SYSTEM, errno, "cannot lay out %s in memory", store->path);
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_userblock(creation, LMI_SEAL_BYTES);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  H5Pset_fapl_stdio(access); // the default driver asks for the real path, which a memfd has not
  H5Pset_alignment(access, ALIGNED_BYTES, PAGE_BYTES);
  char name[64];
  store->file = H5Fcreate(lmi_descriptor_path(store->descriptor, name), H5F_ACC_TRUNC, creation, access);
  H5Pclose(creation);
  H5Pclose(access);
  LMI_REQUIRE(store->ctx, store->file >= 0, LAMINA_ERROR_SYSTEM,
              "libhdf5 cannot lay out %s in memory (is /proc mounted?)", store->path);
  return LAMINA_OK;
}

static lamina_status lay_out(lmi_store *store, const lmi_store_array *arrays)
{
  uint64_t bytes = 0;
  for (size_t i = 0; i < store->array_count; i++) {
    lmi_store_block *block = &store->blocks[i];
    LMI_TRY(measure_array(store->ctx, store->path, &arrays[i], block, &bytes));
    LMI_TRY(lmi_store_cut(store, i, &arrays[i], block->plane_bytes * block->planes));
    const size_t planes = (size_t)lmi_store_plane_count(store, i);
    LMI_TRY(LMI_ALLOC(store->ctx, planes, &store->crc[i]));
    LMI_TRY(LMI_ALLOC(store->ctx, planes, &store->is_written[i]));
  }
  if (store->is_member)
    return LAMINA_OK;
  uint64_t checksums = 0;
  for (size_t i = 0; i < store->array_count; i++)
    checksums += lmi_store_plane_count(store, i) * sizeof(uint32_t);
  LMI_TRY(lmi_safe_file_create(store->ctx, store->path, &store->output));
  LMI_TRY(lmi_safe_file_reserve(&store->output, bytes + checksums + DESCRIPTION_BYTES));
  LMI_TRY(open_layout(store));
  for (size_t i = 0; i < store->array_count; i++)
    LMI_TRY(add_array(store, i, &arrays[i]));
  return LAMINA_OK;
}

lamina_status lmi_store_create(lamina_context *ctx, const char *path, lmi_store_kind kind,
                               const lmi_store_array *arrays, size_t array_count, lmi_store **store)
{
  *store = NULL;
  LMI_REQUIRE(ctx, array_count >= 1 && array_count <= LMI_STORE_MAX_ARRAYS, LAMINA_ERROR_ARGUMENT,
              "%zu arrays cannot be stored in one file (1 to %d)", array_count, (int)LMI_STORE_MAX_ARRAYS);
  lmi_store *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  *made = (lmi_store){.ctx = ctx,
                      .kind = kind,
                      .is_writing = true,
                      .is_member = lamina_rank(ctx) > 0,
                      .file = H5I_INVALID_HID,
                      .descriptor = -1,
                      .output = {.ctx = ctx, .descriptor = -1},
                      .array_count = array_count};
  const lmi_hdf5_quiet quiet = lmi_hdf5_quiet_begin();
  lamina_status status = lmi_string_copy(ctx, path, &made->path);
  if (status == LAMINA_OK)
    status = lay_out(made, arrays);
  lmi_hdf5_quiet_end(quiet);
  status = lmi_ranks_settle(ctx, status);
  if (status == LAMINA_OK)
    *store = made;
  else
    lmi_store_close(made);
  return status;
}

/* Copies all of the layout that is in no array. The arrays' places are still holes in memory and stay what was
 * reserved. */
static lamina_status copy_description(lmi_store *store, const lmi_seal *seal)
{
  unsigned char buffer[1 << 14];
  uint64_t at = 0;
  for (size_t i = 0; i <= seal->block_count; i++) {
    const uint64_t end = i < seal->block_count ? seal->blocks[i].offset : seal->bytes;
    while (at < end) {
      const size_t bytes = end - at < sizeof buffer ? (size_t)(end - at) : sizeof buffer;
      LMI_TRY(lmi_read_at(store->ctx, store->path, store->descriptor, at, buffer, bytes));
      LMI_TRY(lmi_safe_file_write_at(&store->output, buffer, bytes, at));
      at += bytes;
    }
    if (i < seal->block_count)
      at += seal->blocks[i].plane_bytes * seal->blocks[i].planes;
  }
  return LAMINA_OK;
}

/* The seal without its checksum. */
static lmi_seal describe(const lmi_store *store, uint64_t bytes)
{
  lmi_seal seal = {.kind = store->kind, .bytes = bytes, .block_count = store->array_count};
  memcpy(seal.blocks, store->blocks, store->array_count * sizeof store->blocks[0]);
  lmi_seal_sort(&seal);
  return seal;
}

/* Ends the layout: from here on only planes are written. */
static lamina_status close_layout(lmi_store *store)
{
  if (store->file < 0)
    return LAMINA_OK;
  const lmi_hdf5_quiet quiet = lmi_hdf5_quiet_begin();
  const herr_t closed = H5Fclose(store->file);
  lmi_hdf5_quiet_end(quiet);
  store->file = H5I_INVALID_HID;
  const off_t bytes = lseek(store->descriptor, 0, SEEK_END);
  LMI_REQUIRE(store->ctx, closed >= 0 && bytes > 0, LAMINA_ERROR_SYSTEM, "libhdf5 cannot complete the layout of %s",
              store->path);
  if (ftruncate(store->output.descriptor, bytes) != 0)
    return lmi_fail_errno(store->ctx, LAMINA_ERROR_FILE, errno, "cannot write %s", store->path);
  const lmi_seal seal = describe(store, (uint64_t)bytes);
  LMI_TRY(copy_description(store, &seal));
  close(store->descriptor);
  store->descriptor = -1;
  return LAMINA_OK;
}

/* What the first rank tells the others of its file. */
typedef struct shared_layout {
  uint64_t inode;
  lmi_store_block blocks[LMI_STORE_MAX_ARRAYS];
} shared_layout;

lamina_status lmi_store_begin_planes(lmi_store *store, lamina_status so_far)
{
  shared_layout layout = {0};
  if (lamina_rank_count(store->ctx) == 1)
    return so_far;
  if (so_far == LAMINA_OK && !store->is_member)
    so_far = close_layout(store);
  LMI_TRY(lmi_ranks_settle(store->ctx, so_far));
  if (!store->is_member) {
    layout.inode = lmi_safe_file_inode(&store->output);
    memcpy(layout.blocks, store->blocks, sizeof layout.blocks);
  }
  LMI_TRY(lmi_ranks_broadcast(store->ctx, 0, &layout, sizeof layout));
  lamina_status status = LAMINA_OK;
  if (store->is_member) {
    memcpy(store->blocks, layout.blocks, sizeof layout.blocks);
    status = lmi_safe_file_join(store->ctx, store->path, layout.inode, &store->output);
  }
  return lmi_ranks_settle(store->ctx, status);
}

lamina_status lmi_store_write_plane(lmi_store *store, size_t array, uint64_t plane, const void *data)
{
  LMI_REQUIRE(store->ctx,
              store->is_writing && array < store->array_count && plane < lmi_store_plane_count(store, array),
              LAMINA_ERROR_ARGUMENT, "%s has no plane %" PRIu64 " of an array %zu to write", store->path, plane, array);
  LMI_TRY(close_layout(store));
  const lmi_store_range range = lmi_store_plane_range(store, array, plane);
  LMI_TRY(lmi_safe_file_write_at(&store->output, data, (size_t)range.bytes, range.offset));
  store->crc[array][plane] = lmi_crc32(0, data, (size_t)range.bytes);
  store->is_written[array][plane] = 1;
  return LAMINA_OK;
}

static lamina_status write_checksums(lmi_store *store)
{
  for (size_t i = 0; i < store->array_count; i++) {
    const size_t planes = (size_t)lmi_store_plane_count(store, i);
    const unsigned char *missing = memchr(store->is_written[i], 0, planes);
    LMI_REQUIRE(store->ctx, missing == NULL, LAMINA_ERROR_ARGUMENT,
                "cannot finish %s: plane %td of array %zu was not written", store->path, missing - store->is_written[i],
                i);
    LMI_TRY(lmi_safe_file_write_at(&store->output, store->crc[i], planes * sizeof(uint32_t), store->crc_offset[i]));
  }
  return LAMINA_OK;
}

/* The last of the members' work, and what the first rank must know of it. */
static lamina_status collect_planes(lmi_store *store)
{
  lamina_context *ctx = store->ctx;
  LMI_TRY(lmi_ranks_settle(ctx, store->is_member ? lmi_safe_file_sync(&store->output) : LAMINA_OK));
  for (size_t i = 0; i < store->array_count; i++) {
    const size_t planes = (size_t)lmi_store_plane_count(store, i);
    LMI_TRY(lmi_ranks_merge_bits(ctx, store->crc[i], planes * sizeof *store->crc[i]));
    LMI_TRY(lmi_ranks_merge_bits(ctx, store->is_written[i], planes));
  }
  return LAMINA_OK;
}

static lamina_status complete(lmi_store *store)
{
  LMI_TRY(close_layout(store));
  LMI_TRY(write_checksums(store));
  const off_t bytes = lseek(store->output.descriptor, 0, SEEK_END);
  if (bytes < 0)
    return lmi_fail_errno(store->ctx, LAMINA_ERROR_FILE, errno, "cannot write %s", store->path);
  const lmi_seal seal = describe(store, (uint64_t)bytes);
  LMI_TRY(lmi_seal_write(&store->output, &seal));
  return lmi_safe_file_commit(&store->output);
}

lamina_status lmi_store_finish(lmi_store *store)
{
  LMI_REQUIRE(store->ctx, store->is_writing && store->output.descriptor >= 0, LAMINA_ERROR_ARGUMENT,
              "%s is finished already", store->path);
  if (lamina_rank_count(store->ctx) > 1)
    LMI_TRY(collect_planes(store));
  const lamina_status status = lmi_ranks_settle(store->ctx, store->is_member ? LAMINA_OK : complete(store));
  if (store->is_member)
    lmi_safe_file_discard(&store->output);
  return status;
}

void lmi_store_close(lmi_store *store)
{
  if (store == NULL)
    return;
  if (store->file >= 0) {
    const lmi_hdf5_quiet quiet = lmi_hdf5_quiet_begin();
    H5Fclose(store->file);
    lmi_hdf5_quiet_end(quiet);
  }
  if (store->descriptor >= 0)
    close(store->descriptor);
  lmi_safe_file_discard(&store->output);
  for (size_t i = 0; i < LMI_STORE_MAX_ARRAYS; i++) {
    lmi_free(store->ctx, store->crc[i]);
    lmi_free(store->ctx, store->cuts[i]);
    lmi_free(store->ctx, store->is_written[i]);
  }
  lmi_free(store->ctx, store->path);
  lmi_free(store->ctx, store);
}
