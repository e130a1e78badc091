/* SPDX-License-Identifier: Apache-2.0 */
/* Switches the two prefetchers of the L2 (streamer and adjacent line) off on all processors, and back to what they
 * were: bits 0 and 1 of MSR 0x1a4 on Intel processors, through /dev/cpu/N/msr, which is root's. It changes the whole
 * machine, so it is given back whatever happens: a guardian process waits for the end of this one, however it ends, and
 * writes the old values.
 *
 *   LMI_TRY(lmi_prefetch_switch_open(ctx, NULL, &prefetchers));      they are off from here
 *   ... run the program ...
 *   lmi_prefetch_switch_close(ctx, &prefetchers);                    and as before from here */
#ifndef LMI_PREFETCH_SWITCH_H
#define LMI_PREFETCH_SWITCH_H

#include <sys/types.h>

#include "base/base.h"

typedef struct lmi_prefetch_register {
  int file; /* of one processor */
  uint64_t before;
} lmi_prefetch_register;

typedef struct lmi_prefetch_switch {
  lmi_prefetch_register *registers;
  size_t count;
  pid_t guardian;
  int lifeline; /* closed with this process: then the guardian acts */
} lmi_prefetch_switch;

/* `root`: prefix of /proc and /dev, NULL: this machine. Errors: UNAVAILABLE (another processor, no msr module, no
 * right, with the way out), MEMORY, SYSTEM; then nothing is changed. */
LAMINA_NODISCARD lamina_status lmi_prefetch_switch_open(lamina_context *ctx, const char *root,
                                                        lmi_prefetch_switch *prefetchers);
void lmi_prefetch_switch_close(lamina_context *ctx, lmi_prefetch_switch *prefetchers);

#endif
