/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops of the probes. They are compiled apart from the rest (x86-64-v3, contraction off, no library calls in
 * place of loops): see CMakeLists.txt. Each states its bytes where it is defined. */
#ifndef LMI_PROBE_KERNELS_H
#define LMI_PROBE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Works on `lines` cache lines of each stream from `base` on, in place; `stride` and `prefetch` in elements. */
typedef void lmi_stream_kernel(void *base, ptrdiff_t stride, ptrdiff_t lines, ptrdiff_t prefetch);

/* NULL when no kernel of this shape was compiled. */
lmi_stream_kernel *lmi_stream_kernel_find(int streams, int element_bytes);

/* Of `lines` 64-byte lines. Reading gives a value that depends on every byte, so that no load can be left out. */
uint64_t lmi_kernel_read(const void *from, ptrdiff_t lines);
void lmi_kernel_write(void *to, ptrdiff_t lines);
void lmi_kernel_copy(void *to, const void *from, ptrdiff_t lines);

/* As copy, with stores that pass the caches; NULL where the processor has none. */
typedef void lmi_copy_kernel(void *to, const void *from, ptrdiff_t lines);
lmi_copy_kernel *lmi_kernel_copy_streaming(void);

/* `count` loads, each at the address the one before gave; returns the last. */
const void *lmi_kernel_chase(const void *start, int64_t count);

/* Independent multiply-add chains: `rounds` rounds of `flops_per_round` operations. */
typedef struct lmi_flops_kernel {
  int width_bits, element_bytes;
  double flops_per_round;
  double (*run)(int64_t rounds, double factor);
} lmi_flops_kernel;

/* NULL, with the reason, when this processor or this build cannot do it. */
const lmi_flops_kernel *lmi_flops_kernel_find(int width_bits, int element_bytes, const char **reason);

/* The 512-bit rows live in a file of their own with its own instruction set; empty elsewhere. */
const lmi_flops_kernel *lmi_flops_kernels_512(size_t *count, const char **reason);

#endif
