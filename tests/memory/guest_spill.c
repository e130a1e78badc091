/* SPDX-License-Identifier: Apache-2.0 */
/* For the two-node guest: 300 MiB that are written once, then 200 MiB that are used. Node 0 cannot hold both. */
#include <lamina/phase.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLD_BYTES = 300 << 20, HOT_BYTES = 200 << 20, ROUNDS = 4 };

int main(void)
{
  char *cold = malloc(COLD_BYTES), *hot = malloc(HOT_BYTES);
  volatile long sum = 0;
  if (cold == NULL || hot == NULL)
    return 1;
  lamina_phase_name_object(cold, COLD_BYTES, "cold");
  lamina_phase_name_object(hot, HOT_BYTES, "hot");
  memset(cold, 1, COLD_BYTES);
  memset(hot, 1, HOT_BYTES);
  lamina_phase_start("use");
  for (int round = 0; round < ROUNDS; round++)
    for (size_t i = 0; i < HOT_BYTES; i += 64)
      sum += hot[i];
  lamina_phase_stop();
  printf("%ld\n", sum);
  return 0;
}
