/* SPDX-License-Identifier: Apache-2.0 */
/* The part of lamina bench machine that measures an accelerator. */
#ifndef LMI_BENCH_DEVICE_H
#define LMI_BENCH_DEVICE_H

#include "cli.h"

/* Copies, streams in place, the link to the host, and what it costs to start something, of one device. */
LAMINA_NODISCARD lamina_status lmi_bench_device(lmi_call *call, int ordinal, int repetitions, bool json);

#endif
