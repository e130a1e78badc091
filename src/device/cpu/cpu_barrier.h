/* SPDX-License-Identifier: Apache-2.0 */
/* Where the threads of a replay meet between phases. OpenMP's own barrier spins for long: right on a machine of one's
 * own, a hundredfold slower where another program holds one of the processors and the partner cannot run. This one
 * spins for about as long as a barrier takes when all are running and then gives its processor away. Thread sanitizer
 * understands it. */
#ifndef LMI_CPU_BARRIER_H
#define LMI_CPU_BARRIER_H

#include <stdatomic.h>

typedef struct lmi_cpu_barrier {
  _Alignas(64) atomic_int arrived;
  _Alignas(64) atomic_uint round;
} lmi_cpu_barrier;

/* Start with {0}. Every one of `threads` threads calls it; all writes before the call are seen by all after it. */
void lmi_cpu_barrier_wait(lmi_cpu_barrier *barrier, int threads);

#endif
