/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of the store: integers, doubles, text. */
#include <inttypes.h>
#include <string.h>

#include "hdf5_store_internal.h"

/* Opens a group or dataset, and makes the group when it is missing. */
static hid_t open_object(const lmi_store *store, const char *object)
{
  const hid_t opened = H5Oopen(store->file, object, H5P_DEFAULT);
  if (opened >= 0 || !store->is_writing)
    return opened;
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const hid_t made = H5Gcreate2(store->file, object, links, H5P_DEFAULT, H5P_DEFAULT);
  H5Pclose(links);
  return made;
}

/* What an attribute is: type in the file and in memory, and how many. */
typedef struct attribute_shape {
  hid_t type;
  hsize_t count; /* 0: one scalar */
} attribute_shape;

static lamina_status put_attribute(lmi_store *store, const char *object, const char *name, attribute_shape shape,
                                   const void *values)
{
  if (store->is_member)
    return LAMINA_OK;
  LMI_REQUIRE(store->ctx, store->is_writing && store->file >= 0, LAMINA_ERROR_ARGUMENT,
              "%s takes no attribute (%s) after its first plane", store->path, name);
  const lmi_hdf5_quiet quiet = lmi_hdf5_quiet_begin();
  const hid_t owner = open_object(store, object);
  const hid_t space = shape.count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &shape.count, NULL);
  const hid_t attribute = H5Acreate2(owner, name, shape.type, space, H5P_DEFAULT, H5P_DEFAULT);
  const herr_t written = H5Awrite(attribute, shape.type, values);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Oclose(owner);
  lmi_hdf5_quiet_end(quiet);
  LMI_REQUIRE(store->ctx, written >= 0, LAMINA_ERROR_SYSTEM, "libhdf5 cannot put the attribute %s of %s into %s", name,
              object, store->path);
  return LAMINA_OK;
}

lamina_status lmi_store_put_ints(lmi_store *store, const char *object, const char *name, const int64_t *values,
                                 size_t count)
{
  return put_attribute(store, object, name, (attribute_shape){H5T_NATIVE_INT64, count}, values);
}

lamina_status lmi_store_put_reals(lmi_store *store, const char *object, const char *name, const double *values,
                                  size_t count)
{
  return put_attribute(store, object, name, (attribute_shape){H5T_NATIVE_DOUBLE, count}, values);
}

static bool is_ascii(const char *text)
{
  for (; *text != '\0'; text++)
    if ((unsigned char)*text > 127)
      return false;
  return true;
}

/* Fixed length, since readers of VTKHDF before 9.3 know no other; an empty text has one zero byte. */
static hid_t text_type(const char *text)
{
  const size_t length = strlen(text);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, length > 0 ? length : 1);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, is_ascii(text) ? H5T_CSET_ASCII : H5T_CSET_UTF8);
  return type;
}

lamina_status lmi_store_put_text(lmi_store *store, const char *object, const char *name, const char *text)
{
  LMI_REQUIRE(store->ctx, strlen(text) <= LMI_STORE_MAX_TEXT, LAMINA_ERROR_ARGUMENT,
              "the text %s of %zu bytes is too long for %s (%d)", name, strlen(text), store->path,
              (int)LMI_STORE_MAX_TEXT);
  const hid_t type = text_type(text);
  const lamina_status status = put_attribute(store, object, name, (attribute_shape){type, 0}, text);
  H5Tclose(type);
  return status;
}

lamina_status lmi_store_put_group(lmi_store *store, const char *path)
{
  if (store->is_member)
    return LAMINA_OK;
  const lmi_hdf5_quiet quiet = lmi_hdf5_quiet_begin();
  const hid_t group = store->file >= 0 ? open_object(store, path) : H5I_INVALID_HID;
  H5Oclose(group);
  lmi_hdf5_quiet_end(quiet);
  LMI_REQUIRE(store->ctx, group >= 0, LAMINA_ERROR_SYSTEM, "libhdf5 cannot put the group %s into %s", path,
              store->path);
  return LAMINA_OK;
}

lamina_status lmi_store_put_table(lmi_store *store, const char *path, const int32_t *values, size_t rows,
                                  size_t columns)
{
  if (store->is_member)
    return LAMINA_OK;
  LMI_REQUIRE(store->ctx, store->is_writing && store->file >= 0 && rows > 0 && columns > 0, LAMINA_ERROR_ARGUMENT,
              "%s takes no table (%s) after its first plane, or an empty one", store->path, path);
  const lmi_hdf5_quiet quiet = lmi_hdf5_quiet_begin();
  const hid_t space = H5Screate_simple(2, (const hsize_t[]){rows, columns}, NULL);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  H5Pset_obj_track_times(creation, false);
  const hid_t dataset = H5Dcreate2(store->file, path, H5T_NATIVE_INT32, space, links, creation, H5P_DEFAULT);
  const herr_t written = H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(dataset);
  H5Pclose(creation);
  H5Pclose(links);
  H5Sclose(space);
  lmi_hdf5_quiet_end(quiet);
  LMI_REQUIRE(store->ctx, written >= 0, LAMINA_ERROR_SYSTEM, "libhdf5 cannot put the table %s into %s", path,
              store->path);
  return LAMINA_OK;
}

/* ---- reading ---- */

static lamina_status fail_missing(const lmi_store *store, const char *object, const char *name)
{
  return lmi_fail(store->ctx, LAMINA_ERROR_CASE, "%s lacks the attribute %s of %s, or it has another type", store->path,
                  name, object);
}

/* Reads numbers; HDF5 converts between sizes, not between kinds. */
static lamina_status get_numbers(lmi_store *store, const char *object, const char *name, attribute_shape shape,
                                 void *values)
{
  const lmi_hdf5_quiet quiet = lmi_hdf5_quiet_begin();
  const hid_t attribute = H5Aopen_by_name(store->file, object, name, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Aget_space(attribute);
  const hid_t type = H5Aget_type(attribute);
  herr_t read = -1;
  if (H5Tget_class(type) == H5Tget_class(shape.type) && H5Sget_simple_extent_npoints(space) == (hssize_t)shape.count)
    read = H5Aread(attribute, shape.type, values);
  H5Tclose(type);
  H5Sclose(space);
  H5Aclose(attribute);
  lmi_hdf5_quiet_end(quiet);
  return read >= 0 ? LAMINA_OK : fail_missing(store, object, name);
}

lamina_status lmi_store_get_ints(lmi_store *store, const char *object, const char *name, int64_t *values, size_t count)
{
  return get_numbers(store, object, name, (attribute_shape){H5T_NATIVE_INT64, count}, values);
}

lamina_status lmi_store_get_reals(lmi_store *store, const char *object, const char *name, double *values, size_t count)
{
  return get_numbers(store, object, name, (attribute_shape){H5T_NATIVE_DOUBLE, count}, values);
}

static lamina_status read_text_attribute(lmi_store *store, hid_t attribute, char **text)
{
  const hid_t type = H5Aget_type(attribute);
  const size_t bytes = H5Tget_size(type);
  const bool is_text = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && bytes > 0 &&
                       bytes <= LMI_STORE_MAX_TEXT && H5Aget_storage_size(attribute) == bytes;
  lamina_status status = is_text ? LMI_ALLOC(store->ctx, bytes + 1, text) : LAMINA_ERROR_CASE;
  if (status == LAMINA_OK && H5Aread(attribute, type, *text) < 0)
    status = LAMINA_ERROR_CASE;
  H5Tclose(type);
  return status;
}

lamina_status lmi_store_get_text(lmi_store *store, const char *object, const char *name, char **text)
{
  *text = NULL;
  const lmi_hdf5_quiet quiet = lmi_hdf5_quiet_begin();
  const hid_t attribute = H5Aopen_by_name(store->file, object, name, H5P_DEFAULT, H5P_DEFAULT);
  const lamina_status status = attribute >= 0 ? read_text_attribute(store, attribute, text) : LAMINA_ERROR_CASE;
  H5Aclose(attribute);
  lmi_hdf5_quiet_end(quiet);
  if (status == LAMINA_OK)
    return LAMINA_OK;
  lmi_free(store->ctx, *text);
  *text = NULL;
  return status == LAMINA_ERROR_CASE ? fail_missing(store, object, name) : status;
}

static lamina_status read_table(lmi_store *store, hid_t dataset, size_t columns, size_t *rows, int32_t **values)
{
  hsize_t sizes[H5S_MAX_RANK] = {0};
  const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  const bool fits = H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, sizes, NULL) >= 0 &&
                    sizes[0] > 0 && sizes[1] == columns && H5Tget_class(type) == H5T_INTEGER &&
                    H5Dget_storage_size(dataset) == sizes[0] * columns * sizeof **values;
  *rows = (size_t)sizes[0];
  lamina_status status =
    fits ? lmi_alloc_array(store->ctx, *rows * columns, sizeof **values, (void **)values) : LAMINA_ERROR_CASE;
  if (status == LAMINA_OK && H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0)
    status = LAMINA_ERROR_CASE;
  H5Tclose(type);
  H5Sclose(space);
  return status;
}

lamina_status lmi_store_get_table(lmi_store *store, const char *path, size_t columns, size_t *rows, int32_t **values)
{
  *values = NULL;
  const lmi_hdf5_quiet quiet = lmi_hdf5_quiet_begin();
  const hid_t dataset = H5Dopen2(store->file, path, H5P_DEFAULT);
  const lamina_status status = dataset >= 0 ? read_table(store, dataset, columns, rows, values) : LAMINA_ERROR_CASE;
  H5Dclose(dataset);
  lmi_hdf5_quiet_end(quiet);
  if (status == LAMINA_OK)
    return LAMINA_OK;
  lmi_free(store->ctx, *values);
  *values = NULL;
  return status == LAMINA_ERROR_CASE ? lmi_fail(store->ctx, LAMINA_ERROR_CASE,
                                                "%s lacks the table %s, or it has another shape", store->path, path)
                                     : status;
}
