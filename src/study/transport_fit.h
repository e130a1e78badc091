/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of messages between slabs of one process, or of several ranks, measured by ping-pong through the backend's
 * own replay. */
#ifndef LMI_TRANSPORT_FIT_H
#define LMI_TRANSPORT_FIT_H

#include "device/device.h"
#include <lamina/bench.h>

/* Microseconds of one step of a program without launches: the lower quartile of many short runs, `seconds` in all.
 * Steps of the program must not depend on where a run starts. Collective: all ranks get the time of the first. */
LAMINA_NODISCARD lamina_status lmi_time_copies(lmi_device *device, const lmi_program *program, double seconds,
                                               double *step_us);

/* Least squares of us = sync + messages * setup + bytes / b with relative errors. NAN where a number came out negative:
 * the points say nothing of it. */
void lmi_transport_fit(const lamina_transport_point *points, int count, lamina_transport *transport);

/* Memory and threads of a ping-pong, to be played again: a shared machine changes the speed of its caches within
 * seconds. Its memory is allocated in pieces as large as those of a field, up to 16 MiB: small ones have no huge pages,
 * and MPI copies from other pages more slowly. Collective. */
typedef struct lmi_ping_pong lmi_ping_pong;
LAMINA_NODISCARD lamina_status lmi_ping_pong_open(lamina_context *ctx, double field_bytes, lmi_ping_pong **game);
void lmi_ping_pong_close(lmi_ping_pong *game); /* NULL does nothing */

/* Measures those points of the transport anew, `seconds` for each, that say something of such an exchange. */
LAMINA_NODISCARD lamina_status lmi_ping_pong_refresh(lmi_ping_pong *game, double messages, double bytes, double seconds,
                                                     lamina_transport *transport);

#endif
