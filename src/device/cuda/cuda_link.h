/* SPDX-License-Identifier: Apache-2.0 */
/* The injector of the host link, opened for tests. */
#ifndef LMI_CUDA_LINK_H
#define LMI_CUDA_LINK_H

#include <lamina/accelerator.h>

#include "base/base.h"

/* What the injector reads and writes, in host memory. Not while it runs. */
double *lmi_link_values(lamina_link_injector *injector, int64_t *count);

#endif
