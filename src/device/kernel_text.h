/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of src/kernel as text, embedded at build time: what a compiler on the device is given. */
#ifndef LMI_KERNEL_TEXT_H
#define LMI_KERNEL_TEXT_H

#include <stddef.h>

typedef struct lmi_kernel_text {
  const char *name; /* "step.h": as the kernels include each other */
  const char *text; /* ends with a zero byte */
  size_t bytes;     /* without it */
} lmi_kernel_text;

extern const lmi_kernel_text lmi_kernel_texts[];
extern const size_t lmi_kernel_text_count;

#endif
