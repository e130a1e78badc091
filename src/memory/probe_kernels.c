/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_kernels.h"

/* X(streams, type, bytes of one element) */
#define LMK_STREAM_SHAPES(X) \
  X(1, float, 4)             \
  X(1, double, 8) X(9, float, 4) X(9, double, 8) X(19, float, 4) X(19, double, 8) X(27, float, 4) X(27, double, 8)

#define LMK_STREAMS 1
#define LMK_REAL float
#define LMK_CELL cell_1_float
#define LMK_KERNEL update_1_float
#include "probe_stream_text.h"

#define LMK_STREAMS 1
#define LMK_REAL double
#define LMK_CELL cell_1_double
#define LMK_KERNEL update_1_double
#include "probe_stream_text.h"

#define LMK_STREAMS 9
#define LMK_REAL float
#define LMK_CELL cell_9_float
#define LMK_KERNEL update_9_float
#include "probe_stream_text.h"

#define LMK_STREAMS 9
#define LMK_REAL double
#define LMK_CELL cell_9_double
#define LMK_KERNEL update_9_double
#include "probe_stream_text.h"

#define LMK_STREAMS 19
#define LMK_REAL float
#define LMK_CELL cell_19_float
#define LMK_KERNEL update_19_float
#include "probe_stream_text.h"

#define LMK_STREAMS 19
#define LMK_REAL double
#define LMK_CELL cell_19_double
#define LMK_KERNEL update_19_double
#include "probe_stream_text.h"

#define LMK_STREAMS 27
#define LMK_REAL float
#define LMK_CELL cell_27_float
#define LMK_KERNEL update_27_float
#include "probe_stream_text.h"

#define LMK_STREAMS 27
#define LMK_REAL double
#define LMK_CELL cell_27_double
#define LMK_KERNEL update_27_double
#include "probe_stream_text.h"

lmi_stream_kernel *lmi_stream_kernel_find(int streams, int element_bytes)
{
  static const struct {
    int streams, element_bytes;
    lmi_stream_kernel *kernel;
  } table[] = {
#define LMK_ROW(count, type, bytes) {count, bytes, update_##count##_##type},
    LMK_STREAM_SHAPES(LMK_ROW)
#undef LMK_ROW
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (table[i].streams == streams && table[i].element_bytes == element_bytes)
      return table[i].kernel;
  return NULL;
}

typedef uint64_t word4 __attribute__((vector_size(32), aligned(32), may_alias));

/* 64 bytes read a line; two sums hide the latency of the addition. */
uint64_t lmi_kernel_read(const void *from, ptrdiff_t lines)
{
  const word4 *in = from;
  word4 a = {0}, b = {0};
  for (ptrdiff_t line = 0; line < lines; line++, in += 2) {
    a += in[0];
    b += in[1];
  }
  a += b;
  return a[0] + a[1] + a[2] + a[3];
}

/* 64 bytes written a line. */
void lmi_kernel_write(void *to, ptrdiff_t lines)
{
  word4 *out = to;
  const word4 value = {1, 2, 3, 4};
  for (ptrdiff_t line = 0; line < lines; line++, out += 2) {
    out[0] = value;
    out[1] = value;
  }
}

/* 64 bytes read and 64 written a line. */
void lmi_kernel_copy(void *to, const void *from, ptrdiff_t lines)
{
  word4 *out = to;
  const word4 *in = from;
  for (ptrdiff_t line = 0; line < lines; line++, in += 2, out += 2) {
    const word4 a = in[0], b = in[1];
    out[0] = a;
    out[1] = b;
  }
}

/* One load of a pointer a step; four steps a branch. */
const void *lmi_kernel_chase(const void *start, int64_t count)
{
  const void *const *at = start;
  for (int64_t step = 0; step < count; step += 4)
    at = (const void *const *)*(const void *const *)*(const void *const *)*(const void *const *)*at;
  return at;
}
