/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"
#include "probe_kernels.h"

enum { ROUNDS = 100000 };

lamina_flops_probe lamina_flops_probe_default(void)
{
  return (lamina_flops_probe){.width_bits = 0, .element_bytes = 8, .repetitions = 7};
}

static void flops_work(void *user, int thread, int threads, int64_t sweeps)
{
  const lmi_flops_kernel *kernel = user;
  (void)thread;
  (void)threads;
  for (int64_t sweep = 0; sweep < sweeps; sweep++) {
    const volatile double sink = kernel->run(ROUNDS, 0.5); /* keeps the chains; its value does not matter */
    (void)sink;
  }
}

lamina_status lamina_machine_flops(lamina_context *ctx, const lamina_flops_probe *probe, lamina_flops *result)
{
  *result = (lamina_flops){0};
  int threads = probe->threads;
  const int width = probe->width_bits;
  LMI_REQUIRE(ctx, width == 0 || width == 128 || width == 256 || width == 512, LAMINA_ERROR_ARGUMENT,
              "vectors of %d bits; there are 0 (scalar), 128, 256 and 512", width);
  LMI_REQUIRE(ctx, probe->element_bytes == 4 || probe->element_bytes == 8, LAMINA_ERROR_ARGUMENT,
              "elements of %d bytes; there are 4 and 8", probe->element_bytes);
  LMI_TRY(lmi_probe_check_counts(ctx, &threads, probe->repetitions));
  const char *reason = NULL;
  const lmi_flops_kernel *kernel = lmi_flops_kernel_find(width, probe->element_bytes, &reason);
  LMI_REQUIRE(ctx, kernel != NULL, LAMINA_UNAVAILABLE, "%s", reason);

  lmi_probe_site site;
  lamina_spread seconds;
  LMI_TRY(lmi_probe_site_open(ctx, (lamina_placement){LAMINA_NODE_ANY, LAMINA_NODE_ANY}, &site));
  const lmi_probe_plan plan = {flops_work, (void *)(uintptr_t)kernel, threads, probe->repetitions};
  const lamina_status status = lmi_probe_run(ctx, &site, &plan, NULL, &seconds);
  lmi_probe_site_close(&site);
  LMI_TRY(status);
  result->gflop_per_s = lmi_spread_rate(1e-9 * ROUNDS * kernel->flops_per_round * threads, seconds);
  result->threads = threads;
  return LAMINA_OK;
}
