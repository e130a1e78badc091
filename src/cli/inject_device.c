/* SPDX-License-Identifier: Apache-2.0 */
#include "inject_device.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "injector_file.h"
#include "lamina/inject.h"
#include "lamina/interference.h"
#include "machine_table.h"

enum { PROBE_BLOCKS = 8, MOST_SAMPLES = 1 << 20 };
static const double IDLE_SECONDS = 1;

static lamina_status calibrate(lmi_call *call, const lmi_device_wish *wish, lamina_injector_calibration **calibration)
{
  lamina_calibrate_options sweep = lamina_calibrate_options_default();
  sweep.array_bytes = wish->array_bytes;
  sweep.progress = lmi_machine_progress;
  const lamina_status status = lamina_link_calibrate(call->ctx, wish->ordinal, &sweep, calibration);
  lmi_machine_progress_end();
  LMI_TRY(status);
  LMI_TRY(lamina_injector_calibration_save(call->ctx, *calibration, wish->calibration));
  fprintf(stderr, "lamina: wrote %s\n", wish->calibration);
  return LAMINA_OK;
}

/* A file of another device, or of the processor's memory, would set levels that nobody asked for. */
static lamina_status load(lmi_call *call, const lmi_device_wish *wish, lamina_injector_calibration **calibration)
{
  lamina_accelerator device;
  if (access(wish->calibration, F_OK) != 0) {
    fprintf(stderr, "lamina: there is no %s yet; calibrating\n", wish->calibration);
    return calibrate(call, wish, calibration);
  }
  LMI_TRY(lamina_accelerator_read(call->ctx, wish->ordinal, &device));
  LMI_TRY(lamina_injector_calibration_load(call->ctx, wish->calibration, calibration));
  if (strcmp((*calibration)->processor, device.name) == 0)
    return LAMINA_OK;
  const lamina_status status =
    lmi_fail(call->ctx, LAMINA_ERROR_CASE, "%s is of %s, not of device %d (%s); make one with --calibrate",
             wish->calibration, (*calibration)->processor, wish->ordinal, device.name);
  lamina_injector_calibration_destroy(call->ctx, *calibration);
  *calibration = NULL;
  return status;
}

/* The times of the probe's pieces over their median beside no injection. */
static lamina_status idle_median(lmi_call *call, lamina_link_injector *injector, double *samples,
                                 lamina_five_numbers *idle, size_t *count)
{
  lamina_link_traffic traffic;
  const lamina_link_run run = {.probe_blocks = PROBE_BLOCKS,
                               .flops_per_element = 1,
                               .seconds = IDLE_SECONDS,
                               .probe_seconds = samples,
                               .probe_room = MOST_SAMPLES};
  LMI_TRY(lamina_link_injector_run(injector, &run, &traffic));
  *count = traffic.probe_count < MOST_SAMPLES ? traffic.probe_count : MOST_SAMPLES;
  *idle = lamina_five_numbers_of(samples, *count);
  LMI_REQUIRE(call->ctx, idle->median > 0, LAMINA_ERROR_DEVICE, "the device's clock cannot time a piece of the probe");
  return LAMINA_OK;
}

static void divide(lamina_five_numbers *numbers, double by)
{
  numbers->min /= by;
  numbers->q1 /= by;
  numbers->median /= by;
  numbers->q3 /= by;
  numbers->max /= by;
}

static json_t *five_json(const lamina_five_numbers *n, size_t count)
{
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:I}", "min", n->min, "q1", n->q1, "median", n->median, "q3", n->q3,
                   "max", n->max, "pieces", (json_int_t)count);
}

static lamina_status show(lmi_call *call, const lmi_device_wish *wish, const lamina_link_injection *result,
                          const lamina_five_numbers *idle, size_t idle_count, const lamina_five_numbers *beside)
{
  if (wish->json) {
    json_t *object = json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:i}", "device", wish->ordinal, "asked_loi",
                               wish->loi, "achieved_loi", result->achieved_loi, "seconds", result->seconds, "gb_per_s",
                               result->gb_per_s, "peak_gb_per_s", result->peak_gb_per_s, "flops_per_element",
                               result->flops_per_element, "blocks", result->blocks);
    json_object_set_new(object, "interference_coefficient",
                        wish->probe ? five_json(beside, result->probe_count) : json_null());
    json_object_set_new(object, "interference_coefficient_idle",
                        wish->probe ? five_json(idle, idle_count) : json_null());
    return lmi_print_json(call, object);
  }
  printf("%.1f s, %d blocks, %.1f flops an element: %.1f GB/s on the link of device %d, level of interference %.1f "
         "(asked: %.1f)\n",
         result->seconds, result->blocks, result->flops_per_element, result->gb_per_s, wish->ordinal,
         result->achieved_loi, wish->loi);
  if (wish->probe)
    printf("interference coefficient    min     q1  median     q3    max  pieces\n"
           "  beside the injection    %5.2f  %5.2f  %6.2f  %5.2f  %5.2f  %6zu\n"
           "  idle link               %5.2f  %5.2f  %6.2f  %5.2f  %5.2f  %6zu\n",
           beside->min, beside->q1, beside->median, beside->q3, beside->max, result->probe_count, idle->min, idle->q1,
           idle->median, idle->q3, idle->max, idle_count);
  return LAMINA_OK;
}

static lamina_status inject(lmi_call *call, const lmi_device_wish *wish, const lamina_injector_calibration *calibration)
{
  lamina_link_injector *injector = NULL;
  double *samples = NULL, median = 1;
  size_t idle_count = 0;
  lamina_five_numbers idle = {0}, beside = {0};
  lamina_link_injection result;
  lamina_status status = LAMINA_OK;
  lamina_link_level level = {.loi = wish->loi, .seconds = wish->seconds};
  LMI_TRY(lamina_link_injector_create(call->ctx, wish->ordinal, calibration->array_bytes, &injector));
  LMI_TRY_GOTO(status, LMI_ALLOC(call->ctx, MOST_SAMPLES, &samples), cleanup);
  if (wish->probe) {
    LMI_TRY_GOTO(status, idle_median(call, injector, samples, &idle, &idle_count), cleanup);
    median = idle.median;
    divide(&idle, median);
    level.probe_blocks = PROBE_BLOCKS;
    level.probe_seconds = samples;
    level.probe_room = MOST_SAMPLES;
  }
  LMI_TRY_GOTO(status, lamina_link_inject(call->ctx, injector, calibration, &level, &result), cleanup);
  if (wish->probe) {
    beside =
      lamina_five_numbers_of(samples, result.probe_count < MOST_SAMPLES ? result.probe_count : (size_t)MOST_SAMPLES);
    divide(&beside, median);
  }
  status = show(call, wish, &result, &idle, idle_count, &beside);
cleanup:
  lamina_link_injector_destroy(injector);
  lmi_free(call->ctx, samples);
  return status;
}

static lamina_status show_points(lmi_call *call, const lmi_device_wish *wish,
                                 const lamina_injector_calibration *calibration)
{
  if (!wish->json)
    printf("greatest traffic on the link of device %d: %.1f GB/s read and written = level 100\n\n", wish->ordinal,
           calibration->peak_gb_per_s);
  json_t *rows = NULL;
  LMI_TRY(lmi_injector_show_levels(call, calibration, "blocks", wish->json ? &rows : NULL));
  return !wish->json ? LAMINA_OK
                     : lmi_print_json(call, json_pack("{s:i, s:f, s:o}", "device", wish->ordinal, "peak_gb_per_s",
                                                      calibration->peak_gb_per_s, "levels", rows));
}

lamina_status lmi_inject_device(lmi_call *call, const lmi_device_wish *wish)
{
  lamina_injector_calibration *calibration = NULL;
  LMI_TRY(wish->calibrate ? calibrate(call, wish, &calibration) : load(call, wish, &calibration));
  const lamina_status status = wish->loi > 0 ? inject(call, wish, calibration) : show_points(call, wish, calibration);
  lamina_injector_calibration_destroy(call->ctx, calibration);
  return status;
}
