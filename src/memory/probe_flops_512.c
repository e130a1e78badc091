/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled for x86-64-v4; nothing in here runs before the processor was asked. The exact tracer knows such functions by
 * avx512 in their names. */
#include "probe_kernels.h"

typedef float float16 __attribute__((vector_size(64)));
typedef double double8 __attribute__((vector_size(64)));

#define LMK_KERNEL avx512_float
#define LMK_VALUE float16
#define LMK_REAL float
#define LMK_SUM(v) ((double)((v)[0] + (v)[15]))
#include "probe_flops_text.h"

#define LMK_KERNEL avx512_double
#define LMK_VALUE double8
#define LMK_REAL double
#define LMK_SUM(v) ((v)[0] + (v)[7])
#include "probe_flops_text.h"

const lmi_flops_kernel *lmi_flops_kernels_512(size_t *count, const char **reason)
{
  static const lmi_flops_kernel table[] = {{512, 4, 24 * 16, avx512_float}, {512, 8, 24 * 8, avx512_double}};
  __builtin_cpu_init();
  const bool present = __builtin_cpu_supports("avx512f");
  *reason = "this processor has no 512-bit vectors";
  *count = present ? sizeof table / sizeof table[0] : 0;
  return table;
}
