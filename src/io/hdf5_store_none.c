/* SPDX-License-Identifier: Apache-2.0 */
/* The store of a build without HDF5: every call says so. */
#include "base/base.h"
#include "hdf5_store.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* refusing looks at nothing */

static lamina_status refuse(lamina_context *ctx, const char *path)
{
  return lmi_fail(ctx, LAMINA_UNAVAILABLE,
                  "%s needs HDF5, which this lamina was built without: install libhdf5-dev and build again", path);
}

lamina_status lmi_store_create(lamina_context *ctx, const char *path, lmi_store_kind kind,
                               const lmi_store_array *arrays, size_t array_count, lmi_store **store)
{
  *store = NULL;
  return refuse(ctx, path);
}

lamina_status lmi_store_open(lamina_context *ctx, const char *path, lmi_store_kind kind, lmi_store **store)
{
  *store = NULL;
  return refuse(ctx, path);
}

/* No store exists, so what takes one is never reached. */
#define LMI_NO_STORE(name, ...)   \
  lamina_status name(__VA_ARGS__) \
  {                               \
    return LAMINA_UNAVAILABLE;    \
  }
LMI_NO_STORE(lmi_store_put_ints, lmi_store *s, const char *o, const char *n, const int64_t *v, size_t c)
LMI_NO_STORE(lmi_store_put_reals, lmi_store *s, const char *o, const char *n, const double *v, size_t c)
LMI_NO_STORE(lmi_store_put_text, lmi_store *s, const char *o, const char *n, const char *t)
LMI_NO_STORE(lmi_store_put_group, lmi_store *s, const char *p)
LMI_NO_STORE(lmi_store_put_table, lmi_store *s, const char *p, const int32_t *v, size_t r, size_t c)
LMI_NO_STORE(lmi_store_begin_planes, lmi_store *s, lamina_status f)
LMI_NO_STORE(lmi_store_write_plane, lmi_store *s, size_t a, uint64_t p, const void *d)
LMI_NO_STORE(lmi_store_finish, lmi_store *s)
LMI_NO_STORE(lmi_store_get_ints, lmi_store *s, const char *o, const char *n, int64_t *v, size_t c)
LMI_NO_STORE(lmi_store_get_reals, lmi_store *s, const char *o, const char *n, double *v, size_t c)
LMI_NO_STORE(lmi_store_get_text, lmi_store *s, const char *o, const char *n, char **t)
LMI_NO_STORE(lmi_store_get_table, lmi_store *s, const char *p, size_t c, size_t *r, int32_t **v)
LMI_NO_STORE(lmi_store_find_array, lmi_store *s, const char *p, lmi_store_array *a, size_t *i)
LMI_NO_STORE(lmi_store_read_plane, lmi_store *s, size_t i, uint64_t p, void *d)

int lmi_store_version(const lmi_store *store)
{
  return 0;
}

size_t lmi_store_plane_bytes(const lmi_store *store, size_t index)
{
  return 0;
}

void lmi_store_close(lmi_store *store)
{
}
