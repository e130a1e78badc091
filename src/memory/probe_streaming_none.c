/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_kernels.h"

lmi_copy_kernel *lmi_kernel_copy_streaming(void)
{
  return NULL;
}
