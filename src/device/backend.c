/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "device.h"

#define TABLE_ROW(name) &lmi_##name##_ops,
static const lmi_device_ops *const backends[] = {LMI_BACKENDS(TABLE_ROW)};

const lmi_device_ops *lmi_backend_find(const char *name)
{
  for (size_t i = 0; i < LMI_COUNT(backends); i++)
    if (strcmp(backends[i]->name, name) == 0)
      return backends[i];
  return NULL;
}

/* Partition and plane in one number, so that the least of all ranks is the first fault: there are fewer than 2^22 slabs
 * and 2^40 planes. */
enum { PLANE_BITS = 40 };

lamina_status lmi_agree_on_fault(lamina_context *ctx, int64_t step, lmi_fault *fault)
{
  int64_t key = fault->found ? (int64_t)fault->partition << PLANE_BITS | fault->plane : INT64_MAX;
  LMI_TRY(lmi_ranks_least(ctx, &key, 1));
  if (key != INT64_MAX)
    *fault = (lmi_fault){true, step, (int)(key >> PLANE_BITS), key & (((int64_t)1 << PLANE_BITS) - 1)};
  return LAMINA_OK;
}
