/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the exact tracer (`lamina record --source trace`). Header-only; outside the tracer a request is a handful
 * of register instructions without effect. Programs rather use the phase markers, which come here too.
 *
 *   lamina_trace_request(LAMINA_TRACE_PHASE_START, (uintptr_t)"solve", 0, 0);
 *   lamina_trace_request(LAMINA_TRACE_NAME_OBJECT, (uintptr_t)array, bytes, (uintptr_t)"level0/private");
 *
 * The sequence is the one every Valgrind tool listens for on x86-64; elsewhere nothing is done. */
#ifndef LAMINA_TRACE_H
#define LAMINA_TRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  LAMINA_TRACE_PHASE_START = 0x4C4D0001, /* name */
  LAMINA_TRACE_PHASE_STOP = 0x4C4D0002,
  LAMINA_TRACE_NAME_OBJECT = 0x4C4D0003, /* address, bytes, name */
};

/* 1 under the tracer, else 0. Texts are copied. */
static inline uint64_t lamina_trace_request(uint64_t request, uint64_t a, uint64_t b, uint64_t c)
{
  uint64_t result = 0;
#if defined(__x86_64__) && defined(__GNUC__)
  const volatile uint64_t arguments[6] = {request, a, b, c, 0, 0};
  __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                   : "=d"(result)
                   : "a"(&arguments[0]), "0"(result)
                   : "cc", "memory");
#else
  (void)request, (void)a, (void)b, (void)c;
#endif
  return result;
}

#ifdef __cplusplus
}
#endif

#endif
