/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled kernels kept on disk, by a hash of everything that decides them: texts, architecture, compiler, driver. A
 * cache that cannot be read or written is as good as none: kernels are then compiled again. */
#ifndef LMI_CUDA_CACHE_H
#define LMI_CUDA_CACHE_H

#include "cuda_compile.h"

typedef struct lmi_cuda_target {
  int architecture; /* 90 for compute capability 9.0 */
  int driver;       /* version; 0 where there is none */
} lmi_cuda_target;

/* The cubin of a text: out of the cache ($LAMINA_KERNEL_CACHE, $XDG_CACHE_HOME/lamina/kernels or
 * ~/.cache/lamina/kernels; an empty LAMINA_KERNEL_CACHE switches it off), or compiled and put there. */
LAMINA_NODISCARD lamina_status lmi_cuda_obtain(lamina_context *ctx, const lmi_nvrtc_api *nvrtc, const char *name,
                                               const char *text, const lmi_cuda_target *target, lmi_cubin *cubin);

#endif
