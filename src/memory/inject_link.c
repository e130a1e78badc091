/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of interference on the link between a device and the host's memory: the arithmetic of the processor's injector
 * on the device's. */
#include <lamina/inject.h>

#include <math.h>
#include <stdio.h>

#include "inject_fit.h"

/* Blocks enough to fill the links of today (each has 2 KiB under way for about a microsecond), and few enough to leave
 * the other multiprocessors to the program. */
enum { BLOCKS = 64, MOST_BLOCKS = 65535, WINDOWS = 40, MEAN_WINDOWS = 4 };
static const double FLOPS[] = {1,    16,   32,   64,   128,  192,   256,   384,   512,   768,
                               1024, 1536, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
static const double WINDOW_SECONDS = 0.05, PEAK_SECONDS = 0.3, WARM_SECONDS = 0.05, SLACK = 0.005, MOST_FLOPS = 1e6;

static lamina_status watch(lamina_link_injector *injector, int blocks, double flops, double seconds, double *gb_per_s)
{
  const lamina_link_run run = {.blocks = blocks, .flops_per_element = flops, .seconds = seconds};
  lamina_link_traffic traffic;
  LMI_TRY(lamina_link_injector_run(injector, &run, &traffic));
  *gb_per_s = traffic.gb_per_s;
  return LAMINA_OK;
}

static lamina_status sweep(lamina_context *ctx, lamina_link_injector *injector, const lamina_calibrate_options *options,
                           lamina_injector_calibration *calibration)
{
  char text[96];
  double ignored = 0;
  LMI_TRY(watch(injector, BLOCKS, 1, WARM_SECONDS, &ignored));
  for (size_t i = 0; i < LMI_COUNT(FLOPS); i++) {
    lamina_calibration_point *point = &calibration->points[i];
    *point = (lamina_calibration_point){.threads = BLOCKS, .flops_per_element = FLOPS[i]};
    snprintf(text, sizeof text, "%d blocks, %g flops an element", BLOCKS, FLOPS[i]);
    if (options->progress != NULL)
      options->progress(options->user, text, (int)i, (int)LMI_COUNT(FLOPS));
    LMI_TRY(watch(injector, BLOCKS, FLOPS[i], options->seconds, &point->gb_per_s));
    calibration->point_count++;
  }
  LMI_TRY(lmi_fit_points(ctx, calibration->points, calibration->point_count));
  calibration->peak_gb_per_s = calibration->points[0].fitted_gb_per_s;
  return LAMINA_OK;
}

lamina_status lamina_link_calibrate(lamina_context *ctx, int ordinal, const lamina_calibrate_options *options,
                                    lamina_injector_calibration **calibration)
{
  lamina_injector_calibration *made = NULL;
  lamina_link_injector *injector = NULL;
  lamina_accelerator device;
  lamina_status status = LAMINA_OK;
  *calibration = NULL;
  LMI_TRY(lamina_accelerator_read(ctx, ordinal, &device));
  LMI_TRY_GOTO(status, lamina_link_injector_create(ctx, ordinal, options->array_bytes, &injector), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, 1, &made), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, LMI_COUNT(FLOPS), &made->points), cleanup);
  snprintf(made->processor, sizeof made->processor, "%s", device.name);
  made->placement = (lamina_placement){LAMINA_NODE_ANY, LAMINA_NODE_ANY};
  made->array_bytes = options->array_bytes;
  LMI_TRY_GOTO(status, sweep(ctx, injector, options, made), cleanup);
  *calibration = made;
  made = NULL;
cleanup:
  lamina_link_injector_destroy(injector);
  lamina_injector_calibration_destroy(ctx, made);
  return status;
}

/* The answer is the setting whose windows in a row came nearest. */
static lamina_status steer(lamina_link_injector *injector, double wanted, double slack, lamina_link_injection *setting)
{
  double best_error = (double)INFINITY, flops = setting->flops_per_element;
  for (int window = 0; window < WINDOWS && best_error > slack; window++) {
    double rate = 0, more = 0;
    LMI_TRY(watch(injector, setting->blocks, flops, WINDOW_SECONDS, &rate));
    if (fabs(rate - wanted) < 2 * slack) { /* near: look longer before believing it */
      LMI_TRY(watch(injector, setting->blocks, flops, (MEAN_WINDOWS - 1) * WINDOW_SECONDS, &more));
      rate = (rate + (MEAN_WINDOWS - 1) * more) / MEAN_WINDOWS;
    }
    if (fabs(rate - wanted) < best_error) {
      best_error = fabs(rate - wanted);
      setting->flops_per_element = flops;
    }
    flops = fmin(MOST_FLOPS, lmi_next_flops(flops, rate, wanted, window));
  }
  return LAMINA_OK;
}

lamina_status lamina_link_inject(lamina_context *ctx, lamina_link_injector *injector,
                                 const lamina_injector_calibration *calibration, const lamina_link_level *level,
                                 lamina_link_injection *result)
{
  lamina_injector_setting chosen;
  lamina_link_traffic traffic;
  double ignored = 0;
  *result = (lamina_link_injection){0};
  LMI_TRY(lamina_inject_choose(ctx, calibration, level->loi, 0, &chosen));
  result->blocks = chosen.threads;
  result->flops_per_element = fmin(MOST_FLOPS, chosen.flops_per_element);
  LMI_TRY(watch(injector, result->blocks, 1, WARM_SECONDS, &ignored));
  LMI_TRY(watch(injector, result->blocks, 1, PEAK_SECONDS, &result->peak_gb_per_s));
  if (level->loi < 100) {
    LMI_TRY(steer(injector, 0.01 * level->loi * result->peak_gb_per_s, SLACK * result->peak_gb_per_s, result));
  } else {
    result->flops_per_element = 1;
    result->blocks = (int)fmin(MOST_BLOCKS, 0.01 * level->loi * chosen.threads);
  }
  const lamina_link_run run = {.blocks = result->blocks,
                               .flops_per_element = result->flops_per_element,
                               .seconds = level->seconds,
                               .probe_blocks = level->probe_blocks,
                               .probe_seconds = level->probe_seconds,
                               .probe_room = level->probe_room};
  LMI_TRY(lamina_link_injector_run(injector, &run, &traffic));
  result->seconds = traffic.seconds;
  result->gb_per_s = traffic.gb_per_s;
  result->achieved_loi = 100 * traffic.gb_per_s / result->peak_gb_per_s;
  result->probe_count = traffic.probe_count;
  return LAMINA_OK;
}
