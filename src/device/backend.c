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
