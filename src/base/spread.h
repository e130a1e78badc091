/* SPDX-License-Identifier: Apache-2.0 */
/* Median, least and greatest of what was measured several times. */
#ifndef LMI_SPREAD_H
#define LMI_SPREAD_H

#include <lamina/machine.h>

/* Sorts the values. One that was not measured (NAN) makes all three so: not measured is never a number. */
lamina_spread lmi_spread_of(double *values, size_t count);

#endif
