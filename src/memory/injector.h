/* SPDX-License-Identifier: Apache-2.0 */
/* An injector while it runs: its traffic so far, and its setting, which may be changed. */
#ifndef LMI_INJECTOR_H
#define LMI_INJECTOR_H

#include <lamina/inject.h>

#include "base/base.h"

/* Read and written since its start. */
double lmi_injector_bytes(const lamina_injector *injector);

double lmi_injector_flops(const lamina_injector *injector);
void lmi_injector_set_flops(lamina_injector *injector, double flops);

/* GB/s over the next `seconds`. Blocking. */
double lmi_injector_watch(const lamina_injector *injector, double seconds);

/* Sleeps through signals. */
void lmi_sleep_seconds(double seconds);

#endif
