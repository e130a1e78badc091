/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of messages between slabs of one process, or of several ranks, measured by ping-pong through the backend's
 * own replay. */
#ifndef LMI_TRANSPORT_FIT_H
#define LMI_TRANSPORT_FIT_H

#include "device/device.h"
#include <lamina/bench.h>

/* Microseconds of one step of a program without launches: the least of many short runs, `seconds` in all, so that one
 * of them meets no other work of the machine. Steps of the program must not depend on where a run starts. Collective:
 * all ranks get the time of the first. */
LAMINA_NODISCARD lamina_status lmi_time_copies(lmi_device *device, const lmi_program *program, double seconds,
                                               double *step_us);

/* One sample of a fit: `messages` messages of `bytes` in all took `us`. */
typedef struct lmi_transport_sample {
  double messages, bytes, us;
} lmi_transport_sample;

/* Least squares of us = sync + messages * setup + bytes / b with relative errors. NAN where a number came out negative:
 * the samples say nothing of it. */
void lmi_transport_fit(const lmi_transport_sample *samples, int count, lamina_transport *transport);

#endif
