/* SPDX-License-Identifier: Apache-2.0 */
/* From a key to a cubin: the text of a kernel for a combination, its compilation by NVRTC, and what the compiler says
 * about registers, stack and spills. Needs no device. */
#ifndef LMI_CUDA_COMPILE_H
#define LMI_CUDA_COMPILE_H

#include "cuda_api.h"
#include "cuda_shape.h"

typedef struct lmi_cubin {
  char *data;
  size_t bytes;
  char *log; /* of the compiler; NULL when it came out of the cache */
} lmi_cubin;

/* The #include and #define lines that specialise the kernel texts for a key. ARGUMENT when no collision is shipped for
 * it. */
LAMINA_NODISCARD lamina_status lmi_cuda_dense_text(lamina_context *ctx, const lmi_dense_key *key, lmi_text *text);
/* The same for blocks; of the key lattice, collision, precision, storage and force count. */
LAMINA_NODISCARD lamina_status lmi_cuda_block_text(lamina_context *ctx, const lmi_dense_key *key, lmi_text *text);

/* Compiles for compute capability `architecture` (90 for 9.0). DEVICE with the kernel's name and the compiler's first
 * complaint. */
LAMINA_NODISCARD lamina_status lmi_cuda_compile(lamina_context *ctx, const lmi_nvrtc_api *nvrtc, const char *name,
                                                const char *text, int architecture, lmi_cubin *cubin);
void lmi_cubin_free(lamina_context *ctx, lmi_cubin *cubin);

/* "d3q19-bgk-f32-esoteric_pull-plane": for messages. `name` holds 96 bytes. */
void lmi_cuda_kernel_name(const lmi_dense_key *key, char name[96]);

/* What one kernel of a compiler's log uses. */
typedef struct lmi_kernel_resources {
  int registers;
  int stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes;
} lmi_kernel_resources;

/* false when the log does not speak of that kernel. */
bool lmi_cuda_read_resources(const char *log, const char *kernel, lmi_kernel_resources *resources);

#endif
