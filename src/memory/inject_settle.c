/* SPDX-License-Identifier: Apache-2.0 */
/* From a calibration of some other day to a level on the machine of this moment: a feedback on the injector's own
 * traffic. */
#include <lamina/inject.h>

#include <math.h>

#include "inject_fit.h"
#include "injector.h"

enum { WINDOWS = 32, MEAN_WINDOWS = 4 };
static const double WINDOW_SECONDS = 0.06, PEAK_SECONDS = 0.3, WARM_SECONDS = 0.05;

lamina_status lamina_inject_peak(lamina_context *ctx, const lamina_injector_calibration *calibration, double *gb_per_s)
{
  lamina_injector *injector = NULL;
  lamina_injector_setting setting = lamina_injector_setting_default();
  double most = 0;
  setting.array_bytes = calibration->array_bytes;
  setting.placement = calibration->placement;
  for (size_t i = 0; i < calibration->point_count; i++)
    if (calibration->points[i].fitted_gb_per_s > most) {
      most = calibration->points[i].fitted_gb_per_s;
      setting.threads = calibration->points[i].threads;
    }
  LMI_TRY(lamina_inject_start(ctx, &setting, &injector));
  lmi_sleep_seconds(WARM_SECONDS);
  *gb_per_s = lmi_injector_watch(injector, PEAK_SECONDS);
  lamina_inject_stop(injector, NULL);
  return LAMINA_OK;
}

/* Where memory bounds the traffic it hardly answers to flops: steps are larger than the error asks for, and shrink as
 * the windows go by, so that the noise of single windows is averaged out. */
double lmi_next_flops(double flops, double rate, double wanted, int window)
{
  const double gain = 1.5 / (1 + 0.15 * window), most_step = 1 + 1.0 / (1 + 0.2 * window);
  const double step = pow(fmax(rate, 1e-3 * wanted) / wanted, gain);
  return fmax(1, flops * fmin(most_step, fmax(1 / most_step, step)));
}

/* Steers one thread count. The answer is the setting whose windows in a row came nearest. */
static lamina_status steer(lamina_context *ctx, double wanted, double slack, lamina_injector_setting *setting,
                           double *reached)
{
  lamina_injector *injector = NULL;
  double best_error = INFINITY, best_flops = setting->flops_per_element;
  *reached = 0;
  LMI_TRY(lamina_inject_start(ctx, setting, &injector));
  lmi_sleep_seconds(WARM_SECONDS);
  for (int window = 0; window < WINDOWS && best_error > slack; window++) {
    const double flops = lmi_injector_flops(injector);
    double rate = lmi_injector_watch(injector, WINDOW_SECONDS);
    if (fabs(rate - wanted) < 2 * slack) /* near: look longer before believing it */
      rate =
        (rate + (MEAN_WINDOWS - 1) * lmi_injector_watch(injector, (MEAN_WINDOWS - 1) * WINDOW_SECONDS)) / MEAN_WINDOWS;
    if (fabs(rate - wanted) < best_error) {
      best_error = fabs(rate - wanted);
      best_flops = flops;
      *reached = rate;
    }
    if (flops <= 1 && rate < wanted - slack && window > MEAN_WINDOWS)
      break; /* these threads cannot do more */
    lmi_injector_set_flops(injector, lmi_next_flops(flops, rate, wanted, window));
  }
  setting->flops_per_element = best_flops;
  lamina_inject_stop(injector, NULL);
  return LAMINA_OK;
}

lamina_status lamina_inject_settle(lamina_context *ctx, const lamina_injector_calibration *calibration,
                                   const lamina_settle_options *options, lamina_injector_setting *setting,
                                   double *reached_gb_per_s)
{
  const double wanted = options->wanted_gb_per_s, slack = options->slack_gb_per_s;
  LMI_REQUIRE(ctx, wanted > 0 && slack > 0, LAMINA_ERROR_ARGUMENT,
              "a traffic of %g within %g GB/s; both must be positive", wanted, slack);
  LMI_TRY(steer(ctx, wanted, slack, setting, reached_gb_per_s));
  while (*reached_gb_per_s < wanted - 2 * slack) {
    lamina_injector_setting more;
    if (options->most_threads > 0 && setting->threads >= options->most_threads)
      return LAMINA_OK;
    const lamina_status status = lamina_inject_choose(ctx, calibration, options->loi, setting->threads + 1, &more);
    if (status == LAMINA_ERROR_ARGUMENT) { /* there are no more threads: this is how far it goes */
      lamina_error_clear(ctx);
      return LAMINA_OK;
    }
    LMI_TRY(status);
    *setting = more;
    LMI_TRY(steer(ctx, wanted, slack, setting, reached_gb_per_s));
  }
  return LAMINA_OK;
}
