/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: the seal first, then libhdf5 for the description, then planes by their place. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hdf5_store_internal.h"

static lamina_status open_description(lmi_store *store)
{
  lmi_seal seal;
  LMI_TRY(lmi_seal_check(store->ctx, store->path, store->descriptor, store->kind, &seal));
  store->array_count = seal.block_count;
  store->kind.version = seal.kind.version;
  memcpy(store->blocks, seal.blocks, seal.block_count * sizeof seal.blocks[0]);

  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  H5Pset_fapl_stdio(access); // as when writing: the name behind the descriptor may be gone
  char name[64];
  store->file = H5Fopen(lmi_descriptor_path(store->descriptor, name), H5F_ACC_RDONLY, access);
  H5Pclose(access);
  LMI_REQUIRE(store->ctx, store->file >= 0, LAMINA_ERROR_CASE, "%s is damaged: libhdf5 cannot read its description",
              store->path);
  return LAMINA_OK;
}

lamina_status lmi_store_open(lamina_context *ctx, const char *path, lmi_store_kind kind, lmi_store **store)
{
  *store = NULL;
  lmi_store *made = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  *made = (lmi_store){
    .ctx = ctx, .kind = kind, .file = H5I_INVALID_HID, .descriptor = -1, .output = {.ctx = ctx, .descriptor = -1}};
  lamina_status status = lmi_string_copy(ctx, path, &made->path);
  if (status == LAMINA_OK) {
    made->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (made->descriptor < 0)
      status = lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "cannot read %s", path);
  }
  if (status == LAMINA_OK) {
    const lmi_hdf5_quiet quiet = lmi_hdf5_quiet_begin();
    status = open_description(made);
    lmi_hdf5_quiet_end(quiet);
  }
  if (status == LAMINA_OK)
    *store = made;
  else
    lmi_store_close(made);
  return status;
}

int lmi_store_version(const lmi_store *store)
{
  return store->kind.version;
}

/* Shape, precision and place of a dataset; false when it is none of ours. */
static bool describe_dataset(hid_t dataset, lmi_store_array *array, uint64_t *offset)
{
  const hid_t space = H5Dget_space(dataset);
  const hid_t type = H5Dget_type(dataset);
  hsize_t sizes[H5S_MAX_RANK] = {0};
  array->rank = H5Sget_simple_extent_ndims(space);
  bool is_ours =
    array->rank >= 1 && array->rank <= LMI_STORE_MAX_RANK && H5Sget_simple_extent_dims(space, sizes, NULL) >= 0;
  for (int d = 0; is_ours && d < array->rank; d++)
    array->dims[d] = sizes[d];
  const bool is_f64 = H5Tequal(type, H5T_NATIVE_DOUBLE) > 0;
  is_ours = is_ours && (is_f64 || H5Tequal(type, H5T_NATIVE_FLOAT) > 0);
  array->precision = is_f64 ? LAMINA_F64 : LAMINA_F32;
  *offset = H5Dget_offset(dataset);
  H5Tclose(type);
  H5Sclose(space);
  return is_ours;
}

/* The block whose place and size are the dataset's, or array_count. Uneven planes are one plane in the seal. */
static size_t match_block(const lmi_store *store, const lmi_store_array *array, uint64_t offset)
{
  uint64_t plane = array->precision == LAMINA_F64 ? sizeof(double) : sizeof(float);
  for (int d = 1; d < array->rank; d++)
    if (__builtin_mul_overflow(plane, array->dims[d], &plane))
      return store->array_count;
  uint64_t planes = array->dims[0];
  if (array->rows != NULL) {
    if (__builtin_mul_overflow(plane, planes, &plane))
      return store->array_count;
    planes = 1;
  }
  size_t i = 0;
  while (i < store->array_count && !(store->blocks[i].offset == offset && store->blocks[i].plane_bytes == plane &&
                                     store->blocks[i].planes == planes))
    i++;
  return i;
}

static lamina_status load_checksums(lmi_store *store, const char *array_path, size_t index)
{
  if (store->crc[index] != NULL)
    return LAMINA_OK;
  const uint64_t planes = lmi_store_plane_count(store, index);
  LMI_TRY(LMI_ALLOC(store->ctx, (size_t)planes, &store->crc[index]));
  char path[LMI_CHECKSUM_PATH_BYTES];
  const hid_t dataset = H5Dopen2(store->file, lmi_checksum_path(array_path, path), H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  herr_t read = -1;
  if (H5Sget_simple_extent_npoints(space) == (hssize_t)planes)
    read = H5Dread(dataset, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, store->crc[index]);
  H5Sclose(space);
  H5Dclose(dataset);
  LMI_REQUIRE(store->ctx, read >= 0, LAMINA_ERROR_CASE, "%s is damaged: it lacks the checksums of %s", store->path,
              array_path);
  return LAMINA_OK;
}

static lamina_status find_array(lmi_store *store, const char *path, lmi_store_array *array, size_t *index)
{
  const hid_t dataset = H5Dopen2(store->file, path, H5P_DEFAULT);
  uint64_t offset = 0;
  const bool is_ours = dataset >= 0 && describe_dataset(dataset, array, &offset);
  H5Dclose(dataset);
  LMI_REQUIRE(store->ctx, is_ours, LAMINA_ERROR_CASE, "%s has no array %s of this machine's floating-point types",
              store->path, path);
  *index = match_block(store, array, offset);
  LMI_REQUIRE(store->ctx, *index < store->array_count, LAMINA_ERROR_CASE,
              "%s is damaged: the array %s is not where the seal says", store->path, path);
  if (array->rows != NULL && store->cuts[*index] == NULL) {
    const lamina_status cut = lmi_store_cut(store, *index, array, store->blocks[*index].plane_bytes);
    if (cut == LAMINA_ERROR_ARGUMENT) {
      lamina_error_clear(store->ctx);
      return lmi_fail(store->ctx, LAMINA_ERROR_CASE, "%s is damaged: the array %s does not hold what its planes need",
                      store->path, path);
    }
    LMI_TRY(cut);
  }
  return load_checksums(store, path, *index);
}

lamina_status lmi_store_find_array(lmi_store *store, const char *path, lmi_store_array *array, size_t *index)
{
  *array = (lmi_store_array){.path = path, .rows = array->rows, .plane_count = array->plane_count};
  const lmi_hdf5_quiet quiet = lmi_hdf5_quiet_begin();
  const lamina_status status = find_array(store, path, array, index);
  lmi_hdf5_quiet_end(quiet);
  return status;
}

lamina_status lmi_store_read_plane(lmi_store *store, size_t index, uint64_t plane, void *data)
{
  LMI_REQUIRE(store->ctx,
              index < store->array_count && plane < lmi_store_plane_count(store, index) && store->crc[index] != NULL,
              LAMINA_ERROR_ARGUMENT, "%s has no plane %" PRIu64 " of an array %zu", store->path, plane, index);
  const lmi_store_range range = lmi_store_plane_range(store, index, plane);
  const size_t bytes = (size_t)range.bytes;
  LMI_TRY(lmi_read_at(store->ctx, store->path, store->descriptor, range.offset, data, bytes));
  LMI_REQUIRE(store->ctx, lmi_crc32(0, data, bytes) == store->crc[index][plane], LAMINA_ERROR_CASE,
              "%s is damaged: plane %" PRIu64 " of array %zu does not match its checksum", store->path, plane, index);
  return LAMINA_OK;
}
