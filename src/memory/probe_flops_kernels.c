/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_kernels.h"

typedef float float4 __attribute__((vector_size(16)));
typedef float float8 __attribute__((vector_size(32)));
typedef double double2 __attribute__((vector_size(16)));
typedef double double4 __attribute__((vector_size(32)));

#define LMK_KERNEL scalar_float
#define LMK_VALUE float
#define LMK_REAL float
#define LMK_SUM(v) ((double)(v))
#include "probe_flops_text.h"

#define LMK_KERNEL scalar_double
#define LMK_VALUE double
#define LMK_REAL double
#define LMK_SUM(v) (v)
#include "probe_flops_text.h"

#define LMK_KERNEL wide128_float
#define LMK_VALUE float4
#define LMK_REAL float
#define LMK_SUM(v) ((double)((v)[0] + (v)[3]))
#include "probe_flops_text.h"

#define LMK_KERNEL wide128_double
#define LMK_VALUE double2
#define LMK_REAL double
#define LMK_SUM(v) ((v)[0] + (v)[1])
#include "probe_flops_text.h"

#define LMK_KERNEL wide256_float
#define LMK_VALUE float8
#define LMK_REAL float
#define LMK_SUM(v) ((double)((v)[0] + (v)[7]))
#include "probe_flops_text.h"

#define LMK_KERNEL wide256_double
#define LMK_VALUE double4
#define LMK_REAL double
#define LMK_SUM(v) ((v)[0] + (v)[3])
#include "probe_flops_text.h"

static const lmi_flops_kernel *find(const lmi_flops_kernel *rows, size_t count, int width_bits, int element_bytes)
{
  for (size_t i = 0; i < count; i++)
    if (rows[i].width_bits == width_bits && rows[i].element_bytes == element_bytes)
      return &rows[i];
  return NULL;
}

const lmi_flops_kernel *lmi_flops_kernel_find(int width_bits, int element_bytes, const char **reason)
{
  static const lmi_flops_kernel table[] = {
    {0, 4, 24, scalar_float},
    {0, 8, 24, scalar_double},
    {128, 4, 24 * 4, wide128_float},
    {128, 8, 24 * 2, wide128_double},
#if defined(__AVX__) /* elsewhere the compiler would make two narrower ones of each */
    {256, 4, 24 * 8, wide256_float},
    {256, 8, 24 * 4, wide256_double},
#endif
  };
  *reason = "this build has no vectors of that width";
  const lmi_flops_kernel *row = find(table, sizeof table / sizeof table[0], width_bits, element_bytes);
  if (row != NULL || width_bits != 512)
    return row;
  size_t count = 0;
  const lmi_flops_kernel *wide = lmi_flops_kernels_512(&count, reason);
  return find(wide, count, width_bits, element_bytes);
}
