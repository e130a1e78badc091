/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_kernels.h"

const lmi_flops_kernel *lmi_flops_kernels_512(size_t *count, const char **reason)
{
  *reason = "512-bit vectors are an x86-64 feature";
  *count = 0;
  return NULL;
}
