/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest program of somebody else. */
#include <lamina/lamina.h>
#include <stdio.h>

int main(void)
{
  lamina_context *context = NULL;
  const lamina_status status = lamina_context_create(NULL, &context);
  if (status != LAMINA_OK) {
    fprintf(stderr, "%s\n", lamina_status_text(status));
    return 1;
  }
  printf("lamina %s, %d threads, %s has %d velocities\n", lamina_version(), lamina_context_thread_count(context),
         lamina_lattice_name(LAMINA_D3Q19), lamina_lattice_velocities(LAMINA_D3Q19));
  lamina_context_destroy(context);
  return 0;
}
