/* SPDX-License-Identifier: Apache-2.0 */
#include <immintrin.h>

#include "probe_kernels.h"

/* 64 bytes read and 64 written a line; the fence makes the stores part of the time that is measured. */
static void copy_streaming(void *to, const void *from, ptrdiff_t lines)
{
  __m256i *out = to;
  const __m256i *in = from;
  for (ptrdiff_t line = 0; line < lines; line++, in += 2, out += 2) {
    const __m256i a = _mm256_load_si256(in), b = _mm256_load_si256(in + 1);
    _mm256_stream_si256(out, a);
    _mm256_stream_si256(out + 1, b);
  }
  _mm_sfence();
}

lmi_copy_kernel *lmi_kernel_copy_streaming(void)
{
  return copy_streaming;
}
