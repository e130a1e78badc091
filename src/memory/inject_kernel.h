/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LMI_INJECT_KERNEL_H
#define LMI_INJECT_KERNEL_H

#include <stddef.h>

/* Reads each double of `lines` cache lines, does `flops` >= 1 operations with it that wait for one another, and writes
 * it back. Values that are 1 stay 1. 16 bytes and `flops` flops an element. */
void lmi_inject_lines(double *values, ptrdiff_t lines, int flops, double zero);

#endif
