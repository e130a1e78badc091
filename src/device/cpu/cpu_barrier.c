/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cpu_barrier.h"

#include <sched.h>

/* About 10 microseconds: several times what a barrier of running threads takes. */
enum { SPINS = 4000 };

static void relax_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

void lmi_cpu_barrier_wait(lmi_cpu_barrier *barrier, int threads)
{
  const unsigned round = atomic_load_explicit(&barrier->round, memory_order_relaxed);
  if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 == threads) {
    atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&barrier->round, round + 1, memory_order_release);
    return;
  }
  for (int spin = 0; atomic_load_explicit(&barrier->round, memory_order_acquire) == round; spin++) {
    if (spin < SPINS)
      relax_processor();
    else
      sched_yield();
  }
}
